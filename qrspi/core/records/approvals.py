"""The record of what people decided: approvals.jsonl, one object a line.

A record names the step, the hash of its text and its highest round. Other steps that it reset (a
rewind resets several) stand in `resets`. The newest record of a step distinguishes a rewound step
from a command that was killed half way. Decisions about a finding, a menu, a task or the whole run
stand in the same file, and change no step by themselves.

A record that cannot be read never counts as "nobody decided": it is a Problem. A line is appended
in one write, so a kill can leave the beginning of a last line, without its newline. Such a line
says nothing: its command did not end, and is run again. The next append puts it aside.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from qrspi.core import plain_json
from qrspi.core.hints import Any, Literal
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import decision_line
from qrspi.core.records.decision_line import BadLine, LongRecord
from qrspi.core.tree import Fault

FILE = "approvals.jsonl"
CASCADES = "cascade-audit.log"  # what a quick run approved by itself
QUALITY = "reviews/plan/quality.jsonl"  # verdicts about tasks
COMMENTS = "feedback/comments.jsonl"
LIMIT = 64 * 1024 * 1024
LONG = 64 * 1024  # some three hundred records: from here on it pays to parse few of them
LONGEST_WORDS = 20_000  # characters; a record of thousands of decisions stays readable
RESETTING = ("reject", "unapprove", "rewind", "replan", "phase")
ABOUT_STEPS = ("approve", *RESETTING)
CASCADE = "cascade"  # the surface of what a quick run approved by itself
Approval = Literal["person", "engine", "unrecorded", "claimed"]
OBJECTIONS = ("reject", "unapprove", "rewind")


class Mark(NamedTuple):
    step: str
    body_hash: str
    round: int


class MadeFrom(NamedTuple):
    """A file of research, and what it was made from: hashes of both."""

    file: str
    file_hash: str
    made_from: str


class Part(NamedTuple):
    """A section of an artifact, or a companion as a whole."""

    file: str
    section: str
    part_hash: str


class Record(NamedTuple):
    event: str  # one of ABOUT_STEPS; or decide, resolve, task, close, reopen, test-…
    step: str
    body_hash: str
    round: int
    who: str = ""  # as git signs
    when: str = ""
    surface: str = ""
    resets: tuple[Mark, ...] = ()
    note: str = ""  # words for people; nothing is decided by them
    feedback: str = ""  # of a reject or a rewind: the file with the reasons
    finding: str = ""  # of a rewind: the finding that a loop back is made for
    replan: str = ""  # between two phases: minor, or major, which is a rewind
    phase: int = 0  # the one that is put away
    user: str = ""  # as the machine knows them
    named: str = ""  # who they said they are: `as` in the file
    option: str = ""  # what was chosen from the options
    file: str = ""  # the file that also contains the decision, run-relative
    file_hash: str = ""  # its sha256 with the decision in it; '' when it is removed
    tests: str = ""  # of test's approval: passed, failed, not-run
    route: str = ""  # of the run, when a step was decided about: pipeline and steps
    safeguards: str = ""  # what config.md asked of reviews and gates
    reason: str = ""  # of test's approval: why, although tests or findings speak against it
    made: tuple[MadeFrom, ...] = ()  # of research, when it or its questions are taken back
    parts: tuple[Part, ...] = ()  # of the texts that are taken back

    @property
    def person(self) -> str:
        """As sentences name them: without an address, and never only by a name they gave."""
        name = self.who.partition(" <")[0] or self.user
        return f"{name} as {self.named}" if name and self.named else name

    def mark(self, step: str) -> Mark | None:
        if self.event not in ABOUT_STEPS:
            return None
        if step == self.step:
            return Mark(self.step, self.body_hash, self.round)
        return next((mark for mark in self.resets if mark.step == step), None)


def render(record: Record) -> bytes:
    document: dict[str, Any] = record._asdict()
    for key in ("resets", "made", "parts"):
        document[key] = [one._asdict() for one in document[key]]
    for key in _IF_SAID:
        if not document[key]:
            del document[key]
    if record.named:
        document["as"] = document.pop("named")
    return (plain_json.dumps(document, ensure_ascii=False) + "\n").encode()


_IF_SAID = (
    *("resets", "note", "feedback", "finding", "replan", "phase"),
    *("user", "named", "option", "file", "file_hash", "tests", "route", "safeguards"),
    *("reason", "made", "parts"),
)


@lru_cache(maxsize=1)  # a command looks at its run more than once
def read(content: bytes | Fault) -> Sequence[Record] | Problem:
    """All records in order, or the first problem that makes them unknown."""
    if isinstance(content, Fault):
        return _unreadable(content, FILE, "the record of decisions") or ()
    data = _untorn(content)
    records = decision_line.read_long(data, parsed) if len(content) > LONG else None
    if records is None:
        records = _read_short(data)
    return _bad_line(records) if isinstance(records, BadLine) else records


def _read_short(data: bytes) -> tuple[Record, ...] | BadLine:
    records: list[Record] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        found = parsed(line)
        if isinstance(found, str):
            return BadLine(number, found)
        if found:
            records.append(found)
    return tuple(records)


def _untorn(content: bytes) -> bytes:
    tail = content[content.rfind(b"\n") + 1 :]
    return content.removesuffix(tail) if decision_line.is_torn(tail) else content


def parsed(line: bytes) -> Record | str | None:
    """What is wrong with a line where it is not a record; None for an empty one."""
    return _plain(line) or (_line(line) if line.strip() else None)


def newest_first(records: Iterable[Record], *texts: str) -> Iterator[Record]:
    """Of thousands of records, only those whose line has one of these texts as `render` writes it,
    and a few others. The caller looks at each."""
    if isinstance(records, LongRecord):
        matching: Iterator[Record] = records.newest_first(*texts)
        return matching
    return reversed(tuple(records))


def naming(step: str) -> str:
    return f'"step": "{step}"'


MADE = '"made": ['  # in the line of every record that says what was made from what


def told_of(event: str, step: str = "") -> str:
    """How the line of such an event begins."""
    return f'"event": "{event}", {naming(step)}' if step else f'"event": "{event}"'


def route_text(pipeline: str | None, route: Iterable[str] | None) -> str:
    return f"{pipeline or ''}: {' '.join(route)}" if route else ""


def newest_on_a_route(records: Iterable[Record]) -> Record | None:
    """Records about steps say on which route they were made, and so does a change by command."""
    return next((record for record in newest_first(records, '"route": ') if record.route), None)


def newest_with_safeguards(records: Iterable[Record]) -> Record | None:
    """Approvals by a person say what config.md asked then, and so does a change by command."""
    return next((one for one in newest_first(records, '"safeguards": ') if one.safeguards), None)


def lost(place: str, file: str = FILE) -> Problem:
    """Git has the record of decisions and the run does not, so nobody knows what was decided."""
    restore = restoring(place, file)
    text = f"{file}: {_WHAT.get(file, 'the record')} is gone, and git has it: restore it with "
    expected = "the file that git has"
    return Problem("record-gone", f"{text}`{restore}`", file, "", "absent", expected, restore)


_WHAT = {FILE: "the record of decisions", CASCADES: "the log of approvals without a person"}


def restoring(place: str, file: str) -> str:
    from qrspi.core.text.shell_words import command

    # Also where git was told not to look at the file.
    way = ("checkout", "--ignore-skip-worktree-bits", "HEAD", "--", file)
    return command("git", "-C", place, *way)


def no_cascades(fault: Fault) -> Problem | None:
    return _unreadable(fault, CASCADES, "the log of approvals without a person")


def _unreadable(fault: Fault, file: str, what: str) -> Problem | None:
    expected = "a regular file"
    match fault.kind:
        case "absent":
            return None
        case "unreadable":
            found, expected = f"unreadable ({fault.detail})", "a readable file"
        case "not-a-file":
            found = f"a {fault.detail}"
        case "too-large":
            found, expected = f"of {fault.found}", f"at most {LIMIT:,} bytes"
    text = f"{file}: {what} is {found}, expected {expected}: put it right"
    return Problem("unreadable", text, file, found=found, expected=expected)


def _bad_line(bad: BadLine) -> Problem:
    where, expected = f"line {bad.number}", "a record of a decision"
    text = f"{FILE} {where} is {bad.found}, expected {expected}: correct it or restore the file"
    return Problem("bad-record", text, FILE, where, bad.found, expected)


def _plain(line: bytes) -> Record | None:
    fields: dict[str, Any] | None = decision_line.fields(line)
    return Record(**{**fields, "round": int(fields["round"])}) if fields else None


def _line(line: bytes) -> Record | str:
    try:
        document = plain_json.loads_text(line)
    except (ValueError, RecursionError):
        return "text that is not JSON"
    if not isinstance(document, dict):
        return f"a JSON {type(document).__name__}"
    return _record(document)


_TEXTS = (
    *("who", "when", "surface", "note", "feedback", "finding", "replan"),
    *("user", "option", "file", "file_hash", "tests", "route", "reason"),
    "safeguards",
)


def _record(document: dict[str, Any]) -> Record | str:
    texts = {key: document.get(key, "") for key in _TEXTS}
    named = document.get("as", "")
    for key, value in {"event": document.get("event"), **texts, "as": named}.items():
        if not isinstance(value, str):
            return f"without a proper '{key}'"
    mark, resets = _mark(document), document.get("resets", [])
    if isinstance(mark, str):
        return mark
    if not isinstance(resets, list):
        return "without a proper 'resets'"
    marks = tuple(map(_mark, resets))
    good = tuple(one for one in marks if isinstance(one, Mark))
    if good != marks:
        return "without a proper 'resets'"
    phase = document.get("phase", 0)
    if type(phase) is not int:
        return "without a proper 'phase'"
    made, parts = (_rows(document.get(key, []), kind) for key, kind in _ROWS.items())
    if made is None or parts is None:
        return f"without a proper '{'made' if made is None else 'parts'}'"
    record = Record(document["event"], *mark, **texts, resets=good, phase=phase, named=named)
    return _in_fields(record._replace(made=made, parts=parts))


_ROWS: dict[str, Any] = {"made": MadeFrom, "parts": Part}


def _rows(items: Any, kind: Any) -> tuple[Any, ...] | None:
    if not isinstance(items, list):
        return None
    dicts = [one for one in items if isinstance(one, dict)]
    rows: list[list[Any]] = [[one.get(key) for key in kind._fields] for one in dicts]
    good = len(rows) == len(items) and all(isinstance(text, str) for row in rows for text in row)
    return tuple(kind(*row) for row in rows) if good else None


def _in_fields(record: Record) -> Record:
    """Older records say in their note what has a field of its own now."""
    note = record.note
    match record.event:
        case "reject" if note.startswith("feedback/"):
            return record._replace(feedback=note)
        case "rewind" if note == "replan major":
            return record._replace(replan="major")
        case "rewind" if note.startswith("loop back for "):
            return record._replace(finding=note.removeprefix("loop back for "))
        case "phase" if (number := note.removeprefix("phase ")).isdecimal():
            return record._replace(phase=int(number))
        case _:
            return record


def _mark(item: Any) -> Mark | str:
    fields = item if isinstance(item, dict) else {}
    for key, kind in (("step", str), ("body_hash", str), ("round", int)):
        if type(fields.get(key)) is not kind:
            return f"without a proper '{key}'"
    return Mark(*(fields[key] for key in Mark._fields))


def newest(records: Iterable[Record], step: str) -> Record | None:
    """The last one that is about the step, as if it were about nothing else."""
    for record in newest_first(records, naming(step)):
        if mark := record.mark(step):
            own = record.step == step
            return record if own else record._replace(**mark._asdict())
    return None


def last_approval(records: Iterable[Record], step: str) -> Record | None:
    record = newest(records, step)
    return record if record and record.event == "approve" else None


def is_objected_to(records: Iterable[Record], step: str) -> bool:
    for record in newest_first(records, naming(step)):
        if record.mark(step) is None:
            continue
        if record.event in OBJECTIONS:
            return True
        if record.event == "approve" and record.surface != CASCADE:
            return False
    return False


def loop_base(records: Iterable[Record], step: str) -> int:
    """The highest round before the present review loop; rounds up to it do not count."""
    for record in newest_first(records, naming(step)):
        if record.event in RESETTING and (mark := record.mark(step)):
            return mark.round
    return 0


def approval(records: Iterable[Record], step: str) -> Approval:
    known = last_approval(records, step)
    if known is None:
        return "unrecorded"
    return "engine" if known.surface == CASCADE else "person"
