"""One simple command of a shell at a time: its folder, and what its words stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from qrspi.core.hosts.shell_grammar import END, UNKNOWN, VARIABLE, Command
from qrspi.core.hosts.work_limit import Work
from qrspi.core.hosts.written_files import (
    SOMEWHERE,
    Committed,
    Copied,
    Source,
    Text,
    Unseen,
    Write,
    absolute,
)
from qrspi.core.named_tuple import NamedTuple

_MOST = 64  # words that one word may stand for
_PATH = 100  # the work that each path makes later, when it is looked up
_KEYWORDS = frozenset("if then elif else do while until ! {".split())
_WRAPPERS = frozenset(
    "sudo env nohup command exec nice builtin stdbuf ionice setsid timeout busybox time".split()
)
_WITH_VALUE = {
    "timeout": ("-k", "-s"),
    "stdbuf": ("-i", "-o", "-e"),
    "ionice": ("-c", "-n", "-p"),
    "time": ("-f", "-o"),
}
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


class Scope:
    """The folder of the shell and its variables, while its commands are followed one by one."""

    def __init__(self, cwd: str, known: Mapping[str, str], top: str, work: Work) -> None:
        self.cwd, self.top, self.work = cwd, top, work
        self.variables: dict[str, tuple[str, ...]] = {
            name: (value,) for name, value in known.items()
        }
        self.variables["PWD"] = (cwd,)
        self.outside: list[str] = []  # the folders of the shells around this one

    def expanded(self, word: str) -> tuple[str, ...]:
        """What a word may stand for; nothing when that cannot be known."""
        if word == "~" or word.startswith("~/"):
            word = f"{self.variables.get('HOME', ('~',))[0]}{word[1:]}"
        found = [word]
        while any(VARIABLE in one for one in found):
            found = [two for one in found for two in self._with_values(one)][:_MOST]
            self.work.spend(sum(map(len, found)))
        return tuple(two for one in found for two in _braces(one, self.work) if UNKNOWN not in two)

    def _with_values(self, word: str) -> list[str]:
        before, inside, rest = word.partition(VARIABLE)
        if not inside:
            return [word]
        name, _, after = rest.partition(END)
        return [f"{before}{value}{after}" for value in self.variables.get(name, (UNKNOWN,))]

    def paths(self, word: str) -> tuple[str, ...]:
        found = tuple(absolute(one, self.cwd) for one in self.expanded(word) if one)
        self.work.spend(_PATH * len(found))
        return found

    def enter(self, words: Sequence[str]) -> None:
        """`cd`. An unknown folder is most likely the top of the project."""
        named = [word for word in words if not word.startswith("-") or word == "-"]
        found = self.paths(named[0]) if named else self.paths("~")
        self.cwd = found[0] if found and named != ["-"] else self.top
        self.variables["PWD"] = (self.cwd,)


class Call(NamedTuple):
    name: str
    words: tuple[str, ...]
    command: Command
    scope: Scope
    piped: Source | None  # the output of the command before it

    @property
    def said(self) -> str:
        return said(self.command)

    def on(self, words: Sequence[str], by: Source) -> Iterator[Write]:
        for word in words:
            found = self.scope.paths(word)
            yield from (Write(path, by) for path in found or ([SOMEWHERE] if word else []))


def call_of(command: Command, scope: Scope, piped: Source | None) -> Call | None:
    """None for a command that only sets variables, and for one without a known name."""
    words = list(command.words)
    at = 0
    while words[at : at + 1] and words[at] in _KEYWORDS:
        at += 1
    words = words[at:]
    if words[:1] == ["for"] and words[2:3] == ["in"]:
        scope.variables[words[1]] = tuple(one for w in words[3:] for one in scope.expanded(w))
        return None
    words = _without_assignments(words, scope)
    while words and words[0].rpartition("/")[2] in _WRAPPERS:
        scope.work.spend(len(words))
        words = _without_assignments(_unwrapped(words), scope)
    found = scope.expanded(words[0]) if words else ()
    if not found:
        return None
    return Call(found[0].rpartition("/")[2], tuple(words[1:]), command, scope, piped)


def _without_assignments(words: list[str], scope: Scope) -> list[str]:
    exporting = words[:1] in (["export"], ["local"], ["declare"], ["readonly"])
    for at, word in enumerate(words):
        match = _ASSIGNMENT.fullmatch(word)
        if match:
            scope.variables[match[1]] = scope.expanded(match[2]) or (UNKNOWN,)
        elif not (exporting and (at == 0 or word.startswith("-"))):
            return words[at:]
    return []


def _unwrapped(words: list[str]) -> list[str]:
    """`sudo -u me tee FILE` is `tee FILE`."""
    name, at = words[0].rpartition("/")[2], 1
    timed, with_value = name == "timeout", _WITH_VALUE.get(name, ("-u", "-n", "-g", "-C"))
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in with_value else 1
    return words[at + 1 if timed else at :]


def said(command: Command) -> str:
    here = (one.target for one in command.redirects if one.operator in ("<<", "<<<"))
    return "\n".join((*command.words, *here))


def printed_by(call: Call) -> Source:
    """The text that a command prints, where that is certain."""
    redirects = call.command.redirects
    here = next((one.target for one in redirects if one.operator == "<<"), None)
    operands = [word for word in call.words if not word.startswith("-")]
    if call.name in ("cat", "tee") and (not operands or call.name == "tee"):
        return Text(here) if here is not None else call.piped or Unseen(call.said)
    if call.name == "cat" and len(operands) == 1 and (paths := call.scope.paths(operands[0])):
        return Copied(paths[0])
    if call.name == "git" and operands[:1] in (["show"], ["cat-file"]) and ":" in operands[-1]:
        return Committed(operands[-1])
    before = f"{call.piped.words}\n" if isinstance(call.piped, Unseen) else ""
    call.scope.work.spend(len(before))
    return Unseen(before + call.said)


def _braces(word: str, work: Work) -> list[str]:
    """`{a,b}` is two words; braces without a comma stay as they are."""
    match = re.fullmatch(r"(.*?)\{([^{},]*,[^{}]*)\}(.*)", word, re.DOTALL)
    if not match:
        return [word]
    each = [f"{match[1]}{part}{match[3]}" for part in match[2].split(",")]
    work.spend(sum(map(len, each[:_MOST])))
    return [two for one in each[:_MOST] for two in _braces(one, work)][:_MOST]
