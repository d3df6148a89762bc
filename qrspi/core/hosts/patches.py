"""The files that a patch changes: in Codex's own format, and in git's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qrspi.core.hosts.written_files import Gone, Text, Unseen, Write, absolute

_HEAD = re.compile(r"\*\*\* (Add File|Update File|Delete File|Move to): (.+)")


def writes_of_patch(text: str, cwd: str) -> Iterator[Write]:
    """`*** Begin Patch`, then a head for each file, and its lines with `+`, `-` or a blank."""
    kind, path, lines = "", "", list[str]()
    for line in [*text.splitlines(), "*** End Patch"]:
        head = _HEAD.fullmatch(line.rstrip())
        if head and head[1] == "Move to":
            yield Write(absolute(head[2], cwd), Unseen("\n".join(lines)))
        elif head or line.startswith("*** End Patch"):
            yield from _finished(kind, path, lines, cwd)
            kind, path, lines = (head[1], head[2], []) if head else ("", "", [])
        else:
            lines.append(line)


def _finished(kind: str, path: str, lines: list[str], cwd: str) -> Iterator[Write]:
    added = [line[1:] for line in lines if line.startswith("+")]
    if kind == "Add File":
        yield Write(absolute(path, cwd), Text("".join(f"{line}\n" for line in added)))
    elif kind == "Update File":
        yield Write(absolute(path, cwd), Unseen("\n".join(added)))
    elif kind == "Delete File":
        yield Write(absolute(path, cwd), Gone())


def writes_of_diff(text: str, cwd: str) -> Iterator[Write]:
    """`+++ b/path` and the lines that it adds."""
    path, added = "", list[str]()
    for line in [*text.splitlines(), "+++ "]:
        if line.startswith("+++ "):
            if path:
                yield Write(absolute(path, cwd), Unseen("\n".join(added)))
            path, added = line[4:].partition("\t")[0].strip().removeprefix("b/"), []
        elif line.startswith("+"):
            added.append(line[1:])
