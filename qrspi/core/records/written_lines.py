"""Which lines of the record of decisions a command wrote, as far as anybody knows.

The trail of this machine has the hash of the record before and after each command; a commit of the
engine names the lines that it brings. A line that neither knows was left by a command that was
killed in between, or written by anybody who can write a file. Where it approves something, it is a
claim, and a person is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from qrspi.core.digest import sha256
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import approvals, audit_trail
from qrspi.core.records.approvals import Record
from qrspi.core.tree import Tree, Vouched, content

SIGNATURE = "QRSPI-Record:"
_LENGTH = 16  # of a line's name; a message must hold the names of thousands of decisions
_IN_A_ROW = 10
_TAKEN_IN = ("adopt", "import")  # they vouch for what was decided elsewhere
Change = tuple[str, str]  # the record's hashes before and after a command; '' for no file


class Foreign(NamedTuple):
    number: int
    record: Record


def name_of(line: bytes) -> str:
    return sha256(line.rstrip(b"\r\n")).hexdigest()[:_LENGTH]


def signatures(lines: Iterable[bytes]) -> Iterator[str]:
    names = list(dict.fromkeys(map(name_of, lines)))
    for at in range(0, len(names), _IN_A_ROW):
        yield " ".join((SIGNATURE, *names[at : at + _IN_A_ROW]))


def vouched(messages: Iterable[str], before: bytes) -> Vouched:
    """By the messages of commits, and by the record as it was before the first that names any."""
    lines = [line for text in messages for line in text.split("\n")]
    names = {name for line in lines if line.startswith(SIGNATURE) for name in line.split()[1:]}
    return Vouched(frozenset(names.union(map(name_of, _lines(before)))), signs=bool(names))


def foreign(
    tree: Tree, commit: str | None, *, closely: bool, size: int = audit_trail.NEAR
) -> tuple[Foreign, ...]:
    """Approvals that nobody is known to have given by a command. Without `closely`, what this
    machine's trail begins with is believed, and git is hardly ever asked."""
    data = content(tree, approvals.FILE, approvals.LIMIT)
    unknown = _unknown(tree, data, audit_trail.hashes_of(tree, approvals.FILE, size), closely)
    found = [Foreign(number, one) for number, line in unknown if (one := _approval(line))]
    known = tree.vouched(approvals.FILE) if found else None
    if known is None or (commit == "off" and not known.signs):
        return ()
    lines = dict(unknown)
    return tuple(one for one in found if name_of(lines[one.number]) not in known.names)


def not_settled(tree: Tree, commit: str | None, records: Sequence[Record]) -> tuple[Foreign, ...]:
    """Those about whose step nobody has decided since; the whole trail is looked at."""
    found = foreign(tree, commit, closely=True, size=audit_trail.LIMIT)
    claimed = [one.record for one in found]
    left = []
    for one in found:
        later = records[records.index(one.record) + 1 :] if one.record in records else ()
        if not any(other.mark(one.record.step) and other not in claimed for other in later):
            left.append(one)
    return tuple(left)


def _approval(line: bytes) -> Record | None:
    record = approvals.parsed(line)
    return record if isinstance(record, Record) and record.event == "approve" else None


def without(records: Sequence[Record], foreign: tuple[Foreign, ...]) -> Sequence[Record]:
    """Of the same line twice, the later one."""
    left = list(records)
    for one in reversed(foreign):
        at = next((at for at in reversed(range(len(left))) if left[at] == one.record), -1)
        if at >= 0:
            del left[at]
    return tuple(left) if foreign else records


def new_since(tree: Tree, before: bytes, changes: Iterable[Change]) -> Iterator[bytes]:
    """What the engine can sign: lines that are not in `before`, and are a command's. `changes` are
    those that are not on the trail yet."""
    data = content(tree, approvals.FILE, approvals.LIMIT)
    if data == before:
        return
    written = (*audit_trail.hashes_of(tree, approvals.FILE, audit_trail.NEAR), *changes)
    there = frozenset(map(name_of, _lines(before)))
    unknown = {number for number, _ in _unknown(tree, data, written, closely=True)}
    for number, line in enumerate(_lines(data), 1):
        if number not in unknown and name_of(line) not in there:
            yield line


class Left(NamedTuple):
    """A line that a killed command left: hashes of the record before it, and with it."""

    before: str
    after: str


def left_of(tree: Tree, line: bytes) -> Left | None:
    """The last line, where it says what `line` is about to say and no command is known for it."""
    data = content(tree, approvals.FILE, approvals.LIMIT)
    written = audit_trail.hashes_of(tree, approvals.FILE, audit_trail.NEAR)
    unknown, lines = _unknown(tree, data, written, closely=True), _lines(data)
    if not unknown or unknown[-1][0] != len(lines) or not data.endswith(b"\n"):
        return None
    was, now = approvals.parsed(unknown[-1][1]), approvals.parsed(line.rstrip(b"\n"))
    if not isinstance(was, Record) or not isinstance(now, Record):
        return None
    if was._replace(when="") != now._replace(when=""):
        return None
    rest = data[: len(data) - len(lines[-1])]
    return Left(sha256(rest).hexdigest() if rest else "", sha256(data).hexdigest())


def _unknown(
    tree: Tree, data: bytes, written: Sequence[Change], closely: bool
) -> list[tuple[int, bytes]]:
    """The lines that are between no two hashes of one command, with their numbers."""
    start = written[0][0] if written else ""
    strict = closely and (start or not written) and not _is_taken_on_trust(tree)
    follows = all(one[1] == other[0] for one, other in pairwise(written))
    if not strict and (not written or (follows and sha256(data).hexdigest() == written[-1][1])):
        return []  # as nearly always
    lines = _lines(data)
    ends = dict(_ends(lines))
    known = set() if strict else set(range(ends.get(start, 0)))
    for before, after in written:
        if before in ends and after in ends:
            known.update(range(ends[before], ends[after]))
    return [(at + 1, line) for at, line in enumerate(lines) if at not in known and line.strip()]


def _is_taken_on_trust(tree: Tree) -> bool:
    """What stands before the first change on the trail: of a trail too long to be read to its
    beginning, or of a run that was taken in as it was."""
    data = tree.tail(audit_trail.FILE, audit_trail.NEAR)
    if isinstance(data, bytes) and len(data) >= audit_trail.NEAR:
        return True
    first = (line for line in audit_trail.lines(tree, audit_trail.NEAR) if _writes(line))
    return next((line.event in _TAKEN_IN for line in first), False)


def _writes(line: audit_trail.Line) -> bool:
    return any(touched.path == approvals.FILE for touched in line.files)


def _ends(lines: list[bytes]) -> Iterator[tuple[str, int]]:
    """How many lines the record had, by its hash."""
    hashed = sha256()
    yield "", 0
    for count, line in enumerate(lines, 1):
        hashed.update(line)
        yield hashed.hexdigest(), count


def _lines(data: bytes) -> list[bytes]:
    return [line + b"\n" for line in data.split(b"\n")[:-1]] + [
        rest for rest in (data[data.rfind(b"\n") + 1 :],) if rest
    ]
