"""The files that a shell command would write, as far as its words show. This prevents accidents:
an agent that wants to hide a write can do so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from qrspi.core.hosts.shell_calls import Call, Scope, call_of, printed_by, said
from qrspi.core.hosts.shell_grammar import END, VARIABLE, Command, commands
from qrspi.core.hosts.shell_writers import WRITERS, operands
from qrspi.core.hosts.work_limit import MOST, TooMuch, Work
from qrspi.core.hosts.written_files import (
    SOMEWHERE,
    Copied,
    Gone,
    Source,
    Text,
    Unseen,
    Write,
    absolute,
)

_SHELLS = frozenset("sh bash zsh dash ksh".split())
_TEXT_FOLLOWS = re.compile("-[a-zA-Z]*c[a-zA-Z]*")
_SHELL_VALUES = ("-o", "+o", "-O", "+O", "-euo", "-eo", "--rcfile", "--init-file")
_WRITING = (">", ">>", ">|", "&>", "&>>", "<>", ">&")


def writes(text: str, cwd: str, known: Mapping[str, str], top: str) -> tuple[Write, ...]:
    """`known` are variables with their values, `top` the folder of the project."""
    if len(text) > MOST:
        raise TooMuch
    scope, made = Scope(cwd, known, top, Work()), dict[str, Source]()
    found = [_by_what_was_made(write, made) for write in _all(text, scope)]
    certain = [write for write in found if write.path != SOMEWHERE]
    if len(certain) == len(found) or "approved" not in text:
        return tuple(certain)
    return (*certain, *(Write(path, Unseen(text), guessed=True) for path in _named(text, scope)))


def _by_what_was_made(write: Write, made: dict[str, Source]) -> Write:
    """What is copied may have been written by the same command a moment before."""
    if isinstance(write.by, Copied) and write.by.path in made:
        write = write._replace(by=made[write.by.path])
    if not isinstance(write.by, Gone):
        made[write.path] = write.by
    return write


def _named(text: str, scope: Scope) -> Iterator[str]:
    """Whatever in a command may be the name of a file, or lead to some."""
    for word in dict.fromkeys(_WORD.findall(text)):
        if "/" in word or word.endswith(".md"):
            path = absolute(word, scope.top if word.startswith("docs") else scope.cwd)
            yield from (path, f"{path}/**/*.md") if "." not in word.rpartition("/")[2] else (path,)
            if word.startswith("*"):
                yield f"{scope.top}/docs/qrspi/*/{word}"


_WORD = re.compile(r"[\w./*?\[\]{}~-]+")


def _all(text: str, scope: Scope) -> Iterator[Write]:
    piped: Source | None = None
    listed = commands(text, scope.work)
    groups = _Groups(listed)
    for at, command in enumerate(listed):
        if _is_bracket(command):
            if command.joint == "(":
                scope.outside.append(scope.cwd)
            elif scope.outside:
                scope.cwd = scope.outside.pop()
            continue
        call = call_of(command, scope, piped if command.joint in ("|", "|&") else None)
        printed = printed_by(call) if call else None
        source = groups.source(at) or printed or Unseen(said(command))
        for redirect in command.redirects:
            if redirect.operator in _WRITING:
                by = _into(redirect.operator, source)
                paths = scope.paths(redirect.target) or (SOMEWHERE,)
                yield from (Write(path, by) for path in paths)
        if call and (call.name == "eval" or call.name in _SHELLS):
            yield from _shell(call)
        elif call and call.name in WRITERS:
            yield from WRITERS[call.name](call)
        piped = printed


def _is_bracket(command: Command) -> bool:
    return not (command.words or command.redirects) and command.joint in ("(", ")")


_OPENS = frozenset("{ for while until if case select".split())
_CLOSES = frozenset("} done fi esac".split())


class _Groups:
    """What `{ …; } > FILE`, `( … ) > FILE`, `done > FILE` and `exec > FILE` write: all that the
    commands between print."""

    def __init__(self, listed: tuple[Command, ...]) -> None:
        self._listed = listed
        self._begins: dict[int, int] = {}  # by where it is closed, where it was opened
        opened: list[int] = []
        for at, command in enumerate(listed):
            opened += [at] * sum(word in _OPENS for word in _leading(command))
            if command.words[:1] and command.words[0] in _CLOSES and opened:
                self._begins[at] = opened.pop()
            elif _is_bracket(command) and command.joint == "(":
                opened.append(at)
            elif _is_bracket(command) and opened:
                self._begins[at + 1] = opened.pop()  # its redirections stand by themselves

    def source(self, at: int) -> Source | None:
        command = self._listed[at]
        if not command.redirects:
            return None
        if command.words == ("exec",):
            return Unseen("\n".join(map(said, self._listed[at:])))
        stands_alone = not command.words or command.words[0] in _CLOSES
        if at not in self._begins or not stands_alone:
            return None
        return Unseen("\n".join(map(said, self._listed[self._begins[at] : at + 1])))


def _leading(command: Command) -> Iterator[str]:
    """The keywords before a command."""
    for word in command.words:
        if word not in _OPENS and word not in ("do", "then", "else", "elif", "!"):
            return
        yield word


def _shell(call: Call) -> Iterator[Write]:
    """`bash -lc 'TEXT'`, `eval TEXT`, and a here-document for a shell."""
    texts = [said(call.command)] if call.name == "eval" else []
    for at, word in enumerate(call.words):
        if _TEXT_FOLLOWS.fullmatch(word) and call.name in _SHELLS:
            texts += operands(call.words[at + 1 :], _SHELL_VALUES)[:1]
    if call.name in _SHELLS and not operands(call.words, _SHELL_VALUES):
        texts += [one.target for one in call.command.redirects if one.operator == "<<"]
    for text in texts:
        inner = text.removeprefix("eval").lstrip() if call.name == "eval" else text
        yield from _all(inner.replace(VARIABLE, "$").replace(END, ""), call.scope)


def _into(operator: str, by: Source) -> Source:
    appends = operator in (">>", "&>>")
    return by._replace(append=True) if appends and isinstance(by, Text) else by
