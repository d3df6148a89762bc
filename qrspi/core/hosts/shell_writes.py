"""The files that a shell command would write, as far as its words show. This prevents accidents:
an agent that wants to hide a write can do so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qrspi.core.hosts.shell_calls import Call, Scope, call_of, printed_by, said
from qrspi.core.hosts.shell_grammar import END, VARIABLE, commands
from qrspi.core.hosts.shell_writers import WRITERS, operands
from qrspi.core.hosts.work_limit import MOST, TooMuch, Work
from qrspi.core.hosts.written_files import Source, Text, Unseen, Write

_SHELLS = frozenset("sh bash zsh dash ksh".split())
_WRITING = (">", ">>", ">|", "&>", "&>>", "<>", ">&")


def writes(text: str, cwd: str, known: Mapping[str, str], top: str) -> tuple[Write, ...]:
    """`known` are variables with their values, `top` the folder of the project."""
    if len(text) > MOST:
        raise TooMuch
    return tuple(_all(text, Scope(cwd, known, top, Work())))


def _all(text: str, scope: Scope) -> Iterator[Write]:
    piped: Source | None = None
    for command in commands(text, scope.work):
        if not command.words and command.joint in ("(", ")"):
            if command.joint == "(":
                scope.outside.append(scope.cwd)
            elif scope.outside:
                scope.cwd = scope.outside.pop()
            continue
        call = call_of(command, scope, piped if command.joint in ("|", "|&") else None)
        printed = printed_by(call) if call else None
        source = printed or Unseen(said(command))
        for redirect in command.redirects:
            if redirect.operator in _WRITING:
                by = _into(redirect.operator, source)
                yield from (Write(path, by) for path in scope.paths(redirect.target))
        if call and (call.name == "eval" or call.name in _SHELLS):
            yield from _shell(call)
        elif call and call.name in WRITERS:
            yield from WRITERS[call.name](call)
        piped = printed


def _shell(call: Call) -> Iterator[Write]:
    """`bash -lc 'TEXT'`, `eval TEXT`, and a here-document for a shell."""
    texts = [said(call.command)] if call.name == "eval" else []
    for at, word in enumerate(call.words):
        if word.startswith("-") and word.endswith("c") and call.name in _SHELLS:
            texts += call.words[at + 1 : at + 2]
    if call.name in _SHELLS and not operands(call.words):
        texts += [one.target for one in call.command.redirects if one.operator == "<<"]
    for text in texts:
        inner = text.removeprefix("eval").lstrip() if call.name == "eval" else text
        yield from _all(inner.replace(VARIABLE, "$").replace(END, ""), call.scope)


def _into(operator: str, by: Source) -> Source:
    appends = operator in (">>", "&>>")
    return by._replace(append=True) if appends and isinstance(by, Text) else by
