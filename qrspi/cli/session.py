"""What every command shares: where the runs are, how to answer."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from typing import Any

import click

from qrspi.core.model import Problem
from qrspi.core.refusal import Misuse
from qrspi.core.tree import Fault
from qrspi.world import locate
from qrspi.world.locate import Root, RunDir


def _can_enter(run: RunDir, step: str) -> bool:
    from qrspi.core.derive import survey
    from qrspi.core.facts import unmet
    from qrspi.core.pipeline import subject
    from qrspi.world.disk import DiskTree

    facts = survey(DiskTree(run.path)).facts
    about = subject(step)
    return facts is not None and about is not None and not unmet(facts, about.step)


class Session:
    """The global options, and the one way out for results."""

    def __init__(self) -> None:
        self.root_option: str | None = None
        self.json = False
        self.color: bool | None = None
        self.quiet = False
        self.verbose = False
        self.lock_timeout = 10.0
        self._root: Root | None = None

    @property
    def root(self) -> Root:
        if self._root is None:
            self._root = locate.find_root(locate.current_directory(), self.root_option, os.environ)
        return self._root

    def use_new_root(self) -> Root:
        """For `init`, which may be the first to make a runs folder."""
        self._root = locate.root_for_init(locate.current_directory(), self.root_option, os.environ)
        return self._root

    def run(self, word: str | None) -> RunDir:
        """The run that a word names, or the only one, or the one we stand in."""
        if word is None and self.root.only:
            word = self.root.only
        here = locate.current_directory()
        found = locate.resolve(self.root, word) if word else locate.default(self.root, here)
        if isinstance(found, Problem):
            raise Misuse(found)
        return found

    def run_for(self, word: str | None, step: str | None) -> RunDir:
        """With a step and no run, only runs that can enter the step are meant."""
        here = locate.current_directory()
        inside = locate.inside(self.root, here)
        if word or step is None or self.root.only or inside:
            return self.run(word)
        runs = locate.list_runs(self.root)
        ready = () if isinstance(runs, Fault) else tuple(r for r in runs if _can_enter(r, step))
        found = locate.one_of(self.root, ready, step)
        if isinstance(found, Problem):
            raise Misuse(found)
        return found

    def run_path(self, run: RunDir) -> str:
        """How the run is named to people: relative to the project."""
        return os.path.relpath(run.path, self.root.project)

    @property
    def interactive(self) -> bool:
        return not self.json and sys.stdin.isatty() and sys.stdout.isatty()

    @property
    def width(self) -> int:
        import shutil

        return shutil.get_terminal_size().columns if sys.stdout.isatty() else 80

    def answer(self, document: dict[str, Any], lines: Iterable[str]) -> None:
        """The result, once: a document for programs or lines for people."""
        if self.json:
            self.emit(document)
        else:
            click.echo("\n".join(lines), color=self.color)

    def emit(self, document: dict[str, Any]) -> None:
        click.echo(json.dumps(document, ensure_ascii=True))

    def note(self, text: str) -> None:
        """A diagnostic: never part of the answer."""
        if not self.quiet:
            click.echo(text, err=True, color=self.color)
