"""Every command that the engine prints runs as printed, from where it was printed.

`Watch` looks at what each command of a test says, copies the project as it is at that moment, and
runs every command it finds there when the test is over, in that copy, under the same path. A new
message with a command in it is covered by whatever test makes the engine say it.

A text with `[RUN]` in it is not a command but how one is written: only its spelling is held to, and
it alone may say `a|b`. Pasted into a shell, a command with `a|b` is a pipe that runs the first.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import runs

Run = Callable[[list[str]], tuple[int, str]]  # words of a qrspi command: its exit status, its JSON

# These wait for something to happen, or take over the terminal.
ENDLESS = ("watch", "wait", "ui", "mcp", "worker")
# A person at a terminal is asked instead; git alone knows which branch is the default one.
ASKS_A_PERSON = ("confirmation-needed", "consent-needed", "declined", "branch-not-named")
# Whoever is told with which command to end runs it in the end: after the last review.
NOT_YET = ("checkpoint-open", "evidence-missing")
# Whoever set `commit: off` commits; until they have, `next` says with which command.
LEFT_TO_PEOPLE = ("untracked-artifact",)
# What an agent prints is its own: here its file is empty, which is said once its text is awaited.
IN_THE_FILE = ("reply-malformed",)
# Beside the run of a test: a command that means one run has to name it.
OTHER_RUN = "2020-01-01-another-run"

_COMMAND = r"(?:qrspi|git) [^`\n]*"
_QUOTED = re.compile(f"`({_COMMAND})`")
_MENU = re.compile(
    f"`({_COMMAND}) ([a-z-]+)`,\\s+or\\s+with\\s+([a-z,\\s-]+)\\s+in\\s+place\\s+of\\s+\\2"
)
_IN_LINE = re.compile(f"(?: +|\\$ |.*: )({_COMMAND})")
_WHOLE = re.compile(f"(?:{_COMMAND}|#.*)?")
_PLACEHOLDER = re.compile(r"(?<![\w-])(?!HEAD|DONE)[A-Z][A-Z-]*(?![\w-])")
_CHOICE = re.compile(r"[a-z-]+(\|[a-z-]+)+")
_VARIES = re.compile(r"[0-9a-f]{12,}|\d+|/tmp/\S+")


class Known:
    """What was tried already in this run of the tests, by whichever worker."""

    def __init__(self, factory: pytest.TempPathFactory, name: str) -> None:
        base = factory.getbasetemp()
        among_workers = "PYTEST_XDIST_WORKER" in os.environ
        self._folder = (base.parent if among_workers else base) / name
        self._folder.mkdir(exist_ok=True)

    def is_new(self, *key: object) -> bool:
        """True once for each key."""
        try:
            (self._folder / hashlib.sha256(repr(key).encode()).hexdigest()).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


class Seen(NamedTuple):
    cwd: str
    commands: tuple[str, ...]
    folder: Path
    copy: Path


def found_in(text: str) -> tuple[str, ...]:
    """The commands in what was printed, text or JSON, each once."""
    try:
        document = json.loads(text)
    except ValueError:
        return tuple(dict.fromkeys(_in_text(text)))
    return tuple(dict.fromkeys(_in_json(document)))


def _in_text(text: str) -> Iterator[str]:
    flat = re.sub(r"`[^`]*`", lambda found: found[0].replace("\n", " "), text)
    yield from (re.sub(r"\s+", " ", found) for found in _quoted(flat))
    lines = text.split("\n")
    if all(map(_WHOLE.fullmatch, lines)):
        yield from (line for line in lines if line and not line.startswith("#"))
    else:
        yield from (found[1].strip() for line in lines if (found := _IN_LINE.fullmatch(line)))


def _in_json(value: Any, key: str = "") -> Iterator[str]:
    match value:
        case dict():
            for name, item in value.items():
                yield from _in_json(item, name)
        case list():
            for item in value:
                yield from _in_json(item, key)
        case str() if key in ("command", "hint", "options"):
            found = re.fullmatch(f"(?:.*: )?({_COMMAND})", value)
            yield from (found[1],) if found else _quoted(value)
        case str():
            yield from _quoted(value)


def _quoted(text: str) -> Iterator[str]:
    """Also with each word that is said to go in place of the last one."""
    yield from _QUOTED.findall(text)
    for command, _, others in _MENU.findall(text):
        yield from (f"{command} {one}" for one in re.split(r",\s+|\s+or\s+", others))


def is_piped(command: str) -> bool:
    """Whether a shell makes a pipe of it: `resolve skip|retry` runs `resolve skip`."""
    shell = shlex.shlex(command, posix=True, punctuation_chars="|")
    shell.whitespace_split = True
    return "[RUN]" not in command and "|" in shell


def spellings(command: str) -> tuple[str, ...]:
    """`decide [RUN] FINDING skip|apply` is how two commands are written."""
    words = command.split(" ")
    for at, word in enumerate(words):
        if _CHOICE.fullmatch(word):
            return tuple(
                one
                for choice in word.split("|")
                for one in spellings(" ".join([*words[:at], choice, *words[at + 1 :]]))
            )
    return (command,)


class Watch:
    """Collects while a test runs; `verdicts` runs what was collected."""

    def __init__(self, top: Path, spare: Path, known: Known) -> None:
        self._top = top
        self._spare = spare
        self._known = known
        self._seen: list[Seen] = []

    def look(self, said: str, state: dict[str, Any] | None = None) -> None:
        """`state` is what is next, where the text itself may not tell. Help is about every run and
        none: what it names is how commands are called."""
        cwd = Path.cwd()
        if '"dry_run": true' in said:  # its `next` is about the run as it would be
            return
        if said.startswith("Usage: ") or not cwd.is_relative_to(self._top) or cwd == self._top:
            return
        place = str(len(cwd.parts) - len(self._top.parts))
        known = (_standing(state) if state else _state(said), place)
        commands = [one for one in found_in(said) if self._is_new(one, known)]
        if not commands:
            return
        folder = self._top / cwd.relative_to(self._top).parts[0]
        copy = self._spare / f"seen-{len(self._seen)}"
        _copy(folder, copy)
        self._seen.append(Seen(str(cwd), tuple(commands), folder, copy))

    def _is_new(self, command: str, state: tuple[object, ...]) -> bool:
        return self._known.is_new(_VARIES.sub("N", command), *state)

    def verdicts(self, run: Run) -> list[str]:
        """A line for each command that the program which printed it does not take."""
        wrong = []
        for seen in self._seen:
            for command in seen.commands:
                if is_piped(command):
                    wrong.append(f"`{command}` in {seen.cwd}: a pipe, when it is pasted")
                    continue
                for spelled in spellings(command):
                    self._restore(seen)
                    if problem := Attempt(run).refused(spelled):
                        wrong.append(f"`{spelled}` in {seen.cwd}: {problem}")
        return wrong

    def _restore(self, seen: Seen) -> None:
        os.chdir("/")
        shutil.rmtree(seen.folder, ignore_errors=True)
        _copy(seen.copy, seen.folder)
        os.chdir(seen.cwd)


def _copy(folder: Path, to: Path) -> None:
    shutil.copytree(folder, to, True, copy_function=_copy_file, ignore_dangling_symlinks=True)


def _copy_file(source: str, to: str) -> None:
    """Holes stay holes: a log of 20 GB that nobody wrote would fill the disk."""
    found = Path(source).stat()
    if stat.S_ISFIFO(found.st_mode):
        os.mkfifo(to)
        return
    if found.st_size > 2**20 and found.st_blocks * 512 < found.st_size:
        subprocess.run(["cp", "-p", "--", source, to], check=True)
    else:
        shutil.copy2(source, to)


def _state(said: str) -> tuple[str, ...]:
    """Where the run stood, as far as the output tells: the same words may be right elsewhere."""
    try:
        document = json.loads(said)
    except ValueError:
        lines = said.split("\n")
        return (_VARIES.sub("N", next((one for one in lines if "Next: " in one), lines[0])),)
    found = document.get("runs") or [document]
    answer = found[0].get("next") if isinstance(found[0], dict) else None
    if not isinstance(answer, dict):
        return (str(document.get("code", "")),)
    return _standing(answer)


def _standing(answer: dict[str, Any]) -> tuple[str, ...]:
    return (str(answer.get("action")), str(answer.get("kind")), str(answer.get("step")))


class Attempt:
    """A command as a person would run it, where it was printed."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._name = _named_run()

    def refused(self, command: str) -> str:
        """Why it cannot be run; nothing if it can."""
        try:
            filled = self._filled(command)
        except LookupError as reason:
            return f"cannot be filled in: {reason!r}"
        words = shlex.split(filled)
        if "--commit HEAD" in filled:
            self._new_commit(filled)
        if words[0] == "git" or any(word in (">", "<", "|", "&&") for word in words):
            return _in_shell(filled)
        if "[RUN]" in command and self._name == "none":
            return ""
        if "--watch" in words or any(word in ENDLESS for word in words[1:3]):
            return ""
        with _beside_another_run():
            return self._said_no(words[1:], refusals=(2,) if "[" in command else (1, 2, 3))

    def _said_no(self, words: list[str], refusals: tuple[int, ...]) -> str:
        code, _ = self._run(words)
        if code not in refusals:
            return ""
        code, said = self._run([*words, "--json"])
        told = json.loads(said) if said.startswith("{") else {}
        answered = told.get("schema", "qrspi/error/v1") != "qrspi/error/v1"  # a check's own verdict
        if (
            answered
            or told.get("code") in (*ASKS_A_PERSON, *NOT_YET, *LEFT_TO_PEOPLE, *IN_THE_FILE)
            or code not in refusals
        ):
            return ""
        return f"exit {code}: {told.get('message', said)[:300]}"

    def _filled(self, command: str) -> str:
        """What a person would put in the place of words in capitals."""
        self._name = next((word for word in command.split() if _is_run(word)), self._name)
        plain = re.sub(r"\[RUN\]", "RUN", command).replace("…", "").replace('"TEXT"', "TEXT")
        plain = re.sub(r" \[[^\]]*\]", "", plain).replace("|-", "")
        if "[" in plain:
            raise LookupError("brackets")
        return _PLACEHOLDER.sub(lambda found: shlex.quote(self._value(found[0], plain)), plain)

    def _value(self, word: str, command: str) -> str:
        if word in _ANYWHERE:
            return _ANYWHERE[word]
        match word:
            case "FILE":
                return _handed_in(command)
            case "RUN":
                return self._name
            case "DIR":
                return str(next(Path.cwd().glob("docs/qrspi/*"), Path.cwd()))
            case "BRANCH":
                return _git("branch", "--show-current")
            case "SHA":
                return self._new_commit(command)
            case "FINDING":
                return self._finding("loop-back" in command)
            case "STEP" if "--to " in command:
                return self._earlier_step(command)
            case "STEP":
                return str(self._next()["step"])
            case "TASK" | "TAG":
                return str((self._next()["waits_for"] or ["task-01"])[0])
            case "OPTION":
                return str((self._next()["options"] or [{"key": "stop"}])[0]["key"])
        raise LookupError(f"nobody knows what stands for {word}")

    def _new_commit(self, command: str) -> str:
        """What an implementer makes before it reports."""
        beside = next(_folders()).parents[2]  # code may lie in another repository
        trees = sorted(one.parent for one in beside.glob("*/.worktrees/*/*/.git"))
        meant = [one for one in trees if one.name in command] or trees
        where = str(meant[0]) if meant else "."
        _git("-C", where, "commit", "-q", "--allow-empty", "-m", "work")
        return _git("-C", where, "rev-parse", "HEAD")

    def _finding(self, going_back: bool) -> str:
        held = self._next().get("held") or [{"name": "quality-claude.R1-F01", "verdict": "pause"}]
        return str(next(one["name"] for one in held if not going_back or one["verdict"] == "pause"))

    def _earlier_step(self, command: str) -> str:
        for held in self._next().get("held", ()):
            if held["name"] in command and held["targets"]:
                return str(held["targets"][0])
        approved = [step["step"] for step in self._state()["steps"] if step["status"] == "approved"]
        major = ("goals", "design", "phasing", "structure", "plan")
        steps = [one for one in approved if one in major or "replan" not in command]
        return str((steps or ["goals"])[-1])

    def _next(self) -> dict[str, Any]:
        answer: dict[str, Any] = self._state()["next"]
        return answer

    def _state(self) -> dict[str, Any]:
        code, said = self._run(["status", self._name, "--json"])
        if code:
            raise LookupError(f"no state of {self._name!r}")
        state: dict[str, Any] = json.loads(said)["runs"][0]
        return state


_ANYWHERE = {
    "TEXT": "because people asked for it",
    "REASON": "because",
    "SLUG": "another-thing",
    "NAME": "another-thing",
    "CMD": "true",
    "NUMBER": "1",
    "N": "1",
    "KEY": "second_reviewer",
    "VALUE": "false",
    "ROLE": "author",
    "MODEL": "some-model",
    "VENDOR": "some-vendor",
}


def _handed_in(command: str) -> str:
    """A file as the command wants it: a reply in which nothing was found, or just any."""
    return _reply().name if command.startswith("qrspi ingest") else os.devnull


@cache
def _reply() -> Any:
    file = tempfile.NamedTemporaryFile("w", suffix=".txt")  # noqa: SIM115  (until we end)
    file.write("NO_FINDINGS\n")
    file.flush()
    return file


def _folders() -> Iterator[Path]:
    """Where runs are, from here up."""
    for above in (Path.cwd(), *Path.cwd().parents):
        if (above / "docs/qrspi").is_dir():
            yield above / "docs/qrspi"


def _named_run() -> str:
    """The run that was spoken of: where one stands, else the first there is."""
    for folder in _folders():
        names = sorted(one.name for one in folder.iterdir() if (one / "config.md").is_file())
        inside = [name for name in names if Path.cwd().is_relative_to(folder / name)]
        return (inside or names or ["none"])[0]
    return "none"


def _is_run(word: str) -> bool:
    return any((folder / word).is_dir() for folder in _folders()) and "/" not in word


@contextmanager
def _beside_another_run() -> Iterator[None]:
    """Alone in its project, a run need not be named; elsewhere it must be."""
    folder = next(_folders(), None)
    if folder is None or not any((one / "config.md").is_file() for one in folder.iterdir()):
        yield
        return
    other = folder / OTHER_RUN
    other.mkdir(exist_ok=True)
    (other / "config.md").write_bytes(runs.config())
    (other / "goals.md").write_bytes(runs.artifact())
    try:
        yield
    finally:
        shutil.rmtree(other, ignore_errors=True)


def _in_shell(command: str) -> str:
    """With settings of git of its own, so that what it sets there ends with it."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with tempfile.NamedTemporaryFile() as settings:
        done = subprocess.run(
            command,
            shell=True,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PATH": path, "GIT_CONFIG_GLOBAL": settings.name},
        )
    return done.stderr.strip() if done.returncode else ""


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], capture_output=True, text=True).stdout.strip()
