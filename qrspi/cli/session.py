"""What every command shares: where the runs are, how to answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from qrspi.core.derivation.compaction_advice import Compaction, line
from qrspi.core.errors import Halt, Misuse, attempt
from qrspi.core.hints import TYPE_CHECKING, Any, TextIO
from qrspi.core.model import Problem
from qrspi.core.tree import Fault
from qrspi.render.terminal import folded, one_line
from qrspi.world.machine import hosts
from qrspi.world.runs import locate, project_root
from qrspi.world.runs.locate import Root, RunDir

if TYPE_CHECKING:
    from qrspi.handlers.jobs.job import Options

_SENTENCES = ("command", "hint", "summary", "label", "message")
UNBOUNDED = 10_000  # columns, where there is no terminal: nothing is cut for a pipe


def _can_enter(run: RunDir, step: str) -> bool:
    from qrspi.core.derivation.derive import survey
    from qrspi.core.pipeline import subject
    from qrspi.core.steps.facts import unmet
    from qrspi.world.files.run_tree import DiskTree

    found = attempt(lambda: survey(DiskTree(run.path), ask_git=False))
    facts = None if isinstance(found, Problem) else found.facts
    named = subject(step)
    return facts is not None and named is not None and not unmet(facts, named.step)


def _or_a_step(unknown: Problem) -> Problem:
    """A word that stands alone is a step or a run; it may be a misspelt step."""
    from qrspi.core.findings.near_names import nearest
    from qrspi.core.pipeline import STEP

    step = nearest(unknown.found, STEP)
    question = f"; did you mean the step {step}?" if step else ""
    return unknown._replace(message=f"{unknown.message}{question}")


def _on_the_way(missing: Problem, place: str, word: str = "") -> Problem:
    """Where git has the run, nobody is told to begin another one."""
    from qrspi.world.git import runs_elsewhere

    if missing.code not in ("no-root", "no-run", "unknown-run") or (missing.found and not word):
        return missing
    way = runs_elsewhere.way(place, word)
    if way is None:
        return missing
    what, _, rest = missing.message.rpartition(": ")
    rest = f"here {rest}" if missing.options else f"or {rest.removeprefix('there is none; ')}"
    text = f"{what}: {way.text}; {rest}"
    return missing._replace(message=text, hint=way.command or missing.hint)


class NoStdout(Halt):
    """The answer cannot be written."""


class Enough(Exception):
    """The reader of the answer is gone (`| head -1`). Not Python's BrokenPipeError, for which click
    would end the command with status 1."""


TEST_COMMAND = "Which command runs the tests? (none: there is none; empty: ask me later)"


class Session:
    surface = "cli"  # the surface at which decisions are made
    handed: bytes | None = None  # replaces standard input
    words: tuple[str, ...] = ()  # of the command, as they were typed
    may_approve = True  # and change settings, which may ask for less at a gate

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
            here = project_root.current_directory()
            try:
                self._root = project_root.find_root(here, self.root_option, os.environ)
            except Misuse as misuse:
                raise Misuse(_on_the_way(misuse.problem, here or "")) from None
        return self._root

    @property
    def root_if_any(self) -> Root | None:
        """None in a place without runs, unless somebody named the place."""
        try:
            return self.root
        except Misuse as misuse:
            if misuse.problem.code == "no-root" and not misuse.problem.found:
                return None
            raise

    def use_new_root(self) -> Root:
        """For `init`, which may be the first to make a runs folder."""
        self._root = project_root.root_for_init(
            project_root.current_directory(), self.root_option, os.environ
        )
        return self._root

    def run(self, word: str | None, verb: str = "status") -> RunDir:
        """The run that a word names, or the only one, or the one of the current directory or
        branch. `verb` is what a refusal shows with a run filled in."""
        if word is None and self.root.only:
            word = self.root.only
        if word:
            return self._one(locate.resolve(self.root, word))
        chosen = locate.default(self.root, project_root.current_directory())
        if isinstance(chosen, Problem) and chosen.code == "ambiguous-run":
            from qrspi.cli import meant_run

            chosen = meant_run.find(self.root) or chosen
        if isinstance(chosen, Problem) and chosen.options:
            chosen = chosen._replace(hint=f"qrspi {verb} {chosen.options[0]}")
        return self._one(chosen)

    def run_for(self, word: str | None, step: str | None) -> RunDir:
        """With a step and no run, only runs that can enter the step are considered."""
        if word or step is None or self.root.only:
            return self.run(word)
        if locate.inside(self.root, project_root.current_directory()):
            return self.run(word)
        runs = locate.list_runs(self.root)
        if isinstance(runs, Fault) or len(runs) == 1:
            return self.run(word)
        ready = tuple(run for run in runs if _can_enter(run, step))
        return self._one(locate.one_of(self.root, ready, step))

    def _one(self, chosen: RunDir | Problem) -> RunDir:
        """Of several runs, a person at a terminal picks one."""
        if not isinstance(chosen, Problem):
            return chosen
        if chosen.code == "unreadable":
            raise Halt(chosen)
        if chosen.code == "unknown-run":
            chosen = _on_the_way(chosen, self.root.project, chosen.found)
            raise Misuse(_or_a_step(chosen))
        if chosen.code == "no-run":
            chosen = _on_the_way(chosen, self.root.project)
        if chosen.code != "ambiguous-run" or not self.interactive:
            raise Misuse(chosen)
        names = chosen.options
        return self._one(locate.resolve(self.root, names[self.choose("Which run?", names)]))

    def options(self, dry_run: bool, *, anyway: bool = False) -> Options:
        from qrspi.handlers.jobs.job import Options  # what only reads asks for none

        return Options(self.surface, anyway=anyway, lock_timeout=self.lock_timeout, dry_run=dry_run)

    def runs(self) -> tuple[RunDir, ...]:
        runs = locate.list_runs(self.root)
        if isinstance(runs, Fault):
            raise Halt(locate.no_listing(self.root, runs))
        return runs

    def run_path(self, run: RunDir) -> str:
        """The run's name for people: relative to the project."""
        return run.path.removeprefix(f"{self.root.project.rstrip('/')}/")

    @property
    def interactive(self) -> bool:
        return not self.json and _is_terminal(sys.stdin) and _is_terminal(sys.stdout)

    def choose(self, question: str, options: Sequence[str]) -> int:
        """Which of the options a person picks, from 0. Asked on stderr, since stdout is for the
        answer."""
        import click

        say(question)
        numbers = [str(number) for number in range(1, len(options) + 1)]
        for number, option in zip(numbers, options, strict=True):
            say(f"  {number}) {one_line(option)}")

        def chosen(typed: str) -> int:
            if typed.strip() not in numbers:
                raise click.UsageError(f"type a number from 1 to {len(numbers)}")
            return numbers.index(typed.strip())

        at: int = click.prompt("Number", value_proc=chosen, err=True)
        return at

    def ask(self, question: str) -> str:
        """A line that a person types; '' when they leave it empty."""
        import click

        return str(click.prompt(question, default="", show_default=False, err=True)).strip()

    def confirm(self, question: str) -> bool:
        """A question that says (y/n) itself. Nothing is a no; other words are asked about again."""
        while True:
            say(one_line(question), end=" ")
            word = sys.stdin.readline().strip().lower()
            if word in ("y", "yes", "n", "no", ""):
                return word in ("y", "yes")
            say("Type y or n.")

    @property
    def draws(self) -> bool:
        """Whether stdout may be drawn over."""
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
        return _width(sys.stdout)

    def answer(self, document: dict[str, Any], lines: Iterable[str]) -> None:
        """The result, once: a document for programs or lines for people."""
        if self.json:
            self.emit(document)
        else:
            advice = (document.get("next") or {}).get("compaction")
            self.show([*lines, *self.for_an_agent(Compaction(**advice) if advice else None)])

    def for_an_agent(self, advice: Compaction | None) -> list[str]:
        """A host that reads text is told when to compact its context. A person is not."""
        if self.quiet or advice is None or hosts.detect(os.environ) == "plain":
            return []
        return ["", line(advice)]

    def show(self, lines: Iterable[str]) -> None:
        lines = map(self.reachable, lines)
        if _is_terminal(sys.stdout):
            lines = folded(lines, self.width)
        self.write("\n".join(lines) + "\n")

    def reachable(self, line: str) -> str:
        """A printed command repeats the --root that the user gave."""
        if self.root_option is None:
            return line
        from qrspi.core.text.shell_words import at_root

        return at_root(line, self.root_option)

    def _with_root(self, value: Any, key: str = "") -> Any:
        """The same for a document: in sentences of the engine, never in what agents wrote."""
        if self.root_option is None or key in ("held", "findings"):
            return value
        if isinstance(value, dict):
            return {name: self._with_root(item, name) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._with_root(item, key) for item in value]
        return self.reachable(value) if isinstance(value, str) and key in _SENTENCES else value

    def emit(self, document: dict[str, Any]) -> None:
        # Imported here: it costs a cold start 2 ms, and people do not need it.
        import json

        self.write(json.dumps(self._with_root(document)) + "\n")

    def write(self, text: str) -> None:
        try:
            _put(sys.stdout, text)
        except BrokenPipeError:
            raise Enough from None
        except OSError as error:
            raise NoStdout(Problem("cannot-write", f"cannot write: {error.strerror}")) from None

    def write_raw(self, data: bytes) -> None:
        try:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise Enough from None

    def tell(self, lines: Iterable[str]) -> None:
        for text in lines:
            say(text)

    def note(self, *texts: str) -> None:
        """Diagnostics: never part of the answer."""
        for text in () if self.quiet else texts:
            say(one_line(text))


def say(text: str, end: str = "\n") -> None:
    """A line on stderr, whether or not anybody can read it."""
    lines = folded(text.split("\n"), _width(sys.stderr)) if _is_terminal(sys.stderr) else (text,)
    try:
        _put(sys.stderr, "\n".join(lines) + end)
    except OSError:
        return


def _width(stream: TextIO | None) -> int:
    """COLUMNS, else the terminal's own; a pipe has none."""
    width = os.environ.get("COLUMNS", "")
    if width.isascii() and width.isdigit() and 0 < len(width) < 5 and int(width):
        return int(width)
    if stream is None or not _is_terminal(stream):
        return UNBOUNDED
    return os.get_terminal_size(stream.fileno()).columns or 80


def _put(stream: TextIO | None, text: str) -> None:
    """In one write, since `print` would write the line end separately. A stream that was closed
    before we began is None."""
    if stream is not None:
        stream.write(text)
        stream.flush()


def _is_terminal(stream: TextIO | None) -> bool:
    """A stream that was closed before we began is None."""
    return stream is not None and not stream.closed and stream.isatty()
