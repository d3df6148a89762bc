"""Answers that a person had made again: kept under another name, with the reasons, which the agent
is told when it is sent again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qrspi.core import filenames, plain_json
from qrspi.core.filenames import RoundPaths, parse_round_file, reasons_file
from qrspi.core.model import Problem, Round
from qrspi.core.records.json_fields import string, table
from qrspi.core.tree import Fault, Tree, content, entries

_ABSENT = ("missing_output", "missing_sidecar")


def reasons(read: Round) -> bytes:
    faults = (item for item in read.blocking if item.code not in _ABSENT)
    lines = ({"agent": agent(item), "message": item.message} for item in faults)
    return "".join(f"{plain_json.dumps(line)}\n" for line in lines).encode()


def about(read: Round, name: str) -> tuple[str, ...]:
    """What is wrong with the files of this agent."""
    return tuple(fault.message for fault in read.violations if agent(fault) == name)


def agent(problem: Problem) -> str:
    """A reviewer's tag; for a verifier, the finding that it scores."""
    name = parse_round_file(problem.file.rpartition("/")[2])
    if isinstance(name, filenames.SidecarName):
        return name.stem
    from qrspi.core.findings import guard

    return guard.blamed(problem)


def copies(
    tree: Tree, paths: RoundPaths, rejected: Iterable[str], why: bytes
) -> Mapping[str, bytes]:
    """The files to write, by path, before the rejected ones are removed. A number is also free when
    its files say the same, so a killed command is repeated under the same number. It may have put
    some of the faults right already: their reasons stand there beside those that are left."""
    texts = {path: tree.read(path) for path in rejected}
    kept = {path: data for path, data in texts.items() if isinstance(data, bytes)}
    number = 1
    while any(_differs(tree, path, data) for path, data in _numbered(paths, kept, why, number)):
        number += 1
    wanted = _numbered(paths, kept, why, number)
    return {path: data for path, data in wanted if isinstance(tree.read(path), Fault)}


def _numbered(
    paths: RoundPaths, kept: Mapping[str, bytes], why: bytes, number: int
) -> list[tuple[str, bytes]]:
    named = [(filenames.rejected_file(path, number), data) for path, data in kept.items()]
    return [*named, *([(f"{paths.directory}/{reasons_file(number)}", why)] if why else ())]


def _differs(tree: Tree, path: str, data: bytes) -> bool:
    present = tree.read(path)
    if not isinstance(present, bytes):
        return present.kind != "absent"
    if path.endswith(".jsonl"):
        return not set(data.splitlines()) <= set(present.splitlines())
    return present != data


def number_of(path: str) -> int:
    """0 for a file that is not a copy, and no list of reasons."""
    match parse_round_file(path.rpartition("/")[2]):
        case (
            filenames.Rejected(number=number) | filenames.EngineName(kind="reasons", number=number)
        ):
            return number
    return 0


def told(tree: Tree, paths: RoundPaths, agent: str) -> tuple[str, ...]:
    """Why the last answer of this agent in this round was not taken."""
    names = (parse_round_file(entry.name) for entry in entries(tree, paths.directory))
    own = (name for name in names if isinstance(name, filenames.EngineName))
    numbers = (name.number for name in own if name.kind == "reasons")
    for number in sorted(numbers, reverse=True):
        data = content(tree, f"{paths.directory}/{reasons_file(number)}")
        lines = [table(line) or {} for line in data.splitlines()]
        texts = tuple(string(line, "message") for line in lines if string(line, "agent") == agent)
        if texts:
            return texts
    return ()
