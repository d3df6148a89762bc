"""What every command shares: where the runs are, how to answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any, TextIO

from qrspi.core.errors import Halt, Misuse
from qrspi.core.model import Problem
from qrspi.core.tree import Fault
from qrspi.world.runs import locate
from qrspi.world.runs.locate import Root, RunDir

UNBOUNDED = 10_000  # columns of what is no terminal: nothing is cut for a pipe


def _can_enter(run: RunDir, step: str) -> bool:
    from qrspi.core.derivation.derive import survey
    from qrspi.core.pipeline import subject
    from qrspi.core.steps.facts import unmet
    from qrspi.world.files.run_tree import DiskTree

    facts = survey(DiskTree(run.path)).facts
    about = subject(step)
    return facts is not None and about is not None and not unmet(facts, about.step)


class NoStdout(Halt):
    """The answer cannot be written."""


class Enough(Exception):
    """The reader of the answer is gone (`| head -1`). Not the error that Python raises then: click
    would end the command with status 1 for that."""


class Session:
    """The global options, and the one way out for results."""

    def __init__(self) -> None:
        self.root_option: str | None = None
        self.json = False
        self.plain = False
        self.quiet = False
        self.verbose = False
        self.lock_timeout = 10.0
        self._root: Root | None = None

    @property
    def root(self) -> Root:
        if self._root is None:
            self._root = locate.find_root(locate.current_directory(), self.root_option, os.environ)
        return self._root

    @property
    def root_if_any(self) -> Root | None:
        """A place without runs is no error, unless somebody said that there are some."""
        try:
            return self.root
        except Misuse as misuse:
            if misuse.problem.code == "no-root" and not misuse.problem.found:
                return None
            raise

    def use_new_root(self) -> Root:
        """For `init`, which may be the first to make a runs folder."""
        self._root = locate.root_for_init(locate.current_directory(), self.root_option, os.environ)
        return self._root

    def run(self, word: str | None) -> RunDir:
        """The run that a word names, or the only one, or the one we stand in."""
        if word is None and self.root.only:
            word = self.root.only
        here = locate.current_directory()
        return self._one(
            locate.resolve(self.root, word) if word else locate.default(self.root, here)
        )

    def run_for(self, word: str | None, step: str | None) -> RunDir:
        """With a step and no run, only runs that can enter the step are meant."""
        here = locate.current_directory()
        inside = locate.inside(self.root, here)
        if word or step is None or self.root.only or inside:
            return self.run(word)
        runs = locate.list_runs(self.root)
        if isinstance(runs, Fault) or len(runs) == 1:
            return self.run(word)
        ready = tuple(run for run in runs if _can_enter(run, step))
        return self._one(locate.one_of(self.root, ready, step))

    def _one(self, found: RunDir | Problem) -> RunDir:
        """Of several runs a person at a terminal picks one."""
        if not isinstance(found, Problem):
            return found
        if found.code == "unreadable":
            raise Halt(found)
        if found.code != "ambiguous-run" or not self.interactive:
            raise Misuse(found)
        from qrspi.cli.ask_person import choose

        names = found.options
        return self._one(locate.resolve(self.root, names[choose("Which run?", names)]))

    def run_path(self, run: RunDir) -> str:
        """How the run is named to people: relative to the project."""
        return run.path.removeprefix(f"{self.root.project.rstrip('/')}/")

    @property
    def interactive(self) -> bool:
        return not self.json and _is_terminal(sys.stdin) and _is_terminal(sys.stdout)

    @property
    def draws(self) -> bool:
        """Whether what is on stdout may be drawn over."""
        return not self.json and self._draws(sys.stdout)

    @property
    def color(self) -> bool:
        return self.draws and not self.plain and not os.environ.get("NO_COLOR")

    @property
    def progress(self) -> bool:
        """Whether a line on stderr may be drawn and erased."""
        return not self.quiet and self._draws(sys.stderr)

    @staticmethod
    def _draws(stream: TextIO | None) -> bool:
        dumb = os.environ.get("TERM", "dumb") == "dumb" or os.environ.get("CI")
        return _is_terminal(stream) and not dumb

    @property
    def width(self) -> int:
        """COLUMNS, else the terminal's own; a pipe has none."""
        said = os.environ.get("COLUMNS", "")
        if said.isascii() and said.isdigit() and 0 < len(said) < 5 and int(said):
            return int(said)
        if not _is_terminal(sys.stdout):
            return UNBOUNDED
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80

    def answer(self, document: dict[str, Any], lines: Iterable[str]) -> None:
        """The result, once: a document for programs or lines for people."""
        if self.json:
            self.emit(document)
        else:
            self.show(lines)

    def show(self, lines: Iterable[str]) -> None:
        self.write("\n".join(self._fitting(lines)) + "\n")

    def _fitting(self, lines: Iterable[str]) -> Iterable[str]:
        if not _is_terminal(sys.stdout):
            return lines
        from qrspi.render.folding import folded

        return folded(lines, self.width)

    def emit(self, document: dict[str, Any]) -> None:
        # Imported here: it costs a cold start 2 ms, and people do not need it.
        import json

        self.write(json.dumps(document) + "\n")

    def write(self, text: str) -> None:
        try:
            _put(sys.stdout, text)
        except BrokenPipeError:
            raise Enough from None
        except OSError as error:
            raise NoStdout(Problem("cannot-write", f"cannot write: {error.strerror}")) from None

    def note(self, text: str) -> None:
        """A diagnostic: never part of the answer."""
        if not self.quiet:
            say(text)


def say(text: str) -> None:
    """A line on stderr, whether or not anybody can read it."""
    try:
        _put(sys.stderr, f"{text}\n")
    except OSError:
        return


def _put(stream: TextIO | None, text: str) -> None:
    """In one piece; `print` writes what ends a line by itself. None: closed before we began."""
    if stream is not None:
        stream.write(text)
        stream.flush()


def _is_terminal(stream: TextIO | None) -> bool:
    """A stream that was closed before we began is None."""
    return stream is not None and not stream.closed and stream.isatty()
