"""The engine's audit trail, read back. It explains what was changed, and proves what the engine
wrote itself: a file is the engine's when a line has its hash."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from qrspi.core.hints import TYPE_CHECKING, Any
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records.json_fields import items, string, table, whole
from qrspi.core.tree import Fault, Tree

if TYPE_CHECKING:
    from qrspi.core.records.approvals import Record

FILE = ".qrspi/audit.jsonl"
LIMIT = 64 * 1024 * 1024  # only so many bytes at the end of a long trail are read
NEAR = 256 * 1024  # where the last lines nearly always are


class Touched(NamedTuple):
    """A file that was changed. A hash is None where there was no file before, or is none now."""

    path: str
    before: str | None = None  # sha256
    after: str | None = None
    moved_to: str = ""


class Answer(NamedTuple):
    agent: str
    reply: str  # sha256 of the very bytes
    files: tuple[str, ...] = ()  # run-relative
    job: str = ""  # '' when the engine did not ask
    worker: str = ""  # who asked for it, if it was not the engine itself


class Line(NamedTuple):
    time: str
    actor: str
    event: str
    step: str = ""
    round: int | None = None
    files: tuple[Touched, ...] = ()
    outcome: str = ""
    notes: tuple[str, ...] = ()
    who: str = ""  # of a decision: the person who made it
    opened: str = ""  # of a round that was opened: what its manifest says, as a hash
    answers: tuple[Answer, ...] = ()  # that were taken in


def render(line: Line) -> dict[str, Any]:
    return {
        "time": line.time,
        "actor": line.actor,
        "event": line.event,
        "step": line.step,
        "round": line.round,
        "files": [_fields(touched, "moved_to") for touched in line.files],
        "outcome": line.outcome,
        "notes": list(line.notes),
        **({"who": line.who} if line.who else {}),
        **({"opened": line.opened} if line.opened else {}),
        **({"answers": [_fields(one, "worker") for one in line.answers]} if line.answers else {}),
    }


def _fields(record: Touched | Answer, optional: str) -> dict[str, Any]:
    fields = record._asdict().items()
    return {key: value for key, value in fields if value or key != optional}


def read(record: Mapping[str, Any], number: int) -> Line | Problem:
    """What a line of the trail says; its number counts from the end when it is negative."""
    for key in ("time", "actor", "event"):
        if not isinstance(record.get(key), str):
            return _foreign(number, key)
    return Line(
        time=record["time"],
        actor=record["actor"],
        event=record["event"],
        step=string(record, "step"),
        round=whole(record, "round"),
        files=tuple(map(_touched, items(record, "files", dict))),
        outcome=string(record, "outcome"),
        notes=items(record, "notes", str),
        who=string(record, "who"),
        opened=string(record, "opened"),
        answers=tuple(map(_answer, items(record, "answers", dict))),
    )


def of_decision(record: Record) -> Line:
    """What `approvals.jsonl` keeps of a line, where the trail is not."""
    return Line(
        time=record.when,
        actor=record.surface,
        event=record.event,
        step=record.step,
        round=record.round or None,
        outcome="done",
        notes=tuple(filter(None, (record.note, record.option, record.finding))),
        who=record.person,
    )


def _foreign(number: int, key: str) -> Problem:
    where = f"line {number}" if number > 0 else f"line {-number} from the end"
    text = f"{FILE} {where} has no '{key}': it is not a line of the trail, the other lines are"
    return Problem("foreign-line", text, FILE, key, expected="a line that qrspi wrote")


def _touched(item: Mapping[str, Any]) -> Touched:
    before, after = (string(item, key) or None for key in ("before", "after"))
    return Touched(string(item, "path"), before, after, string(item, "moved_to"))


def _answer(item: Mapping[str, Any]) -> Answer:
    agent, reply, job, by = (string(item, key) for key in ("agent", "reply", "job", "worker"))
    return Answer(agent, reply, items(item, "files", str), job, by)


def lines(tree: Tree, size: int = LIMIT) -> tuple[Line, ...]:
    return tuple(_parsed(_last(tree, size).split(b"\n")))


def paths(tree: Tree, start: str, size: int = LIMIT) -> frozenset[str]:
    """Every path with this prefix that any line names. No line is parsed for it."""
    return frozenset(path for path in named(_last(tree, size), start) if "\\" not in path)


def named(data: bytes, start: str) -> Iterator[str]:
    """The paths with this prefix, as these lines write them: with escapes, if there are any."""
    rests = (rest.partition(b'"') for rest in data.split(f'"path": "{start}'.encode())[1:])
    return (start + rest.decode(errors="replace") for rest, end, _ in rests if end)


def since(tree: Tree, path: str) -> bytes:
    """The trail from the last line on that wrote `path`; from the start when none did."""
    text, data = f'"path": "{path}"'.encode(), b""
    for size in (NEAR, LIMIT):  # nearly always the last bytes are enough, however long it is
        data = _last(tree, size)
        if (at := data.rfind(text)) >= 0:
            return data[data.rfind(b"\n", 0, at) + 1 :]
    return data


def hashes_of(tree: Tree, path: str, size: int) -> tuple[tuple[str, str], ...]:
    """Of a file before and after each line that wrote it, as those say, the last one last; '' for
    no file. Nothing is parsed."""
    parts = _last(tree, size).split(f'"path": "{path}", "before": '.encode())[1:]
    ends = (part.partition(b"}")[0].partition(b', "after": ') for part in parts)
    return tuple((_hash(before), _hash(after)) for before, _, after in ends if after)


def _hash(text: bytes) -> str:
    """Of a value as JSON has it, and whatever follows."""
    return text[1:65].decode("ascii", "replace") if text.startswith(b'"') else ""


def may_come_anew(data: bytes, path: str) -> bool:
    """Whether some line wrote the file where there was none, although it had been named before."""
    text = f'"path": "{path}"'.encode()
    return data.rfind(text + b', "before": null') > data.find(text)


def about(data: bytes, below: str) -> tuple[Line, ...]:
    """The lines with `below` in a path, and those that move any file."""
    start = below.encode()
    touching = (line for line in data.split(b"\n") if start in line or b'"moved_to"' in line)
    return tuple(_parsed(touching))


def wrote(tree: Tree, path: str, hashes: Iterable[str], *, lately: bool = False) -> bool:
    """Whether a line says that the engine opened a round, or wrote a file, with one of these
    hashes. They are looked for before anything is parsed, and first at the end, which keeps
    `status` quick."""
    wanted = tuple(hashes)
    sizes = (NEAR,) if lately else (NEAR, LIMIT)
    return any(_wrote(_last(tree, size), path, wanted) for size in sizes)


def _wrote(data: bytes, path: str, wanted: tuple[str, ...]) -> bool:
    lines = (line for one in wanted for line in _parsed(_lines_with(data, one.encode())))
    return any(
        line.opened in wanted
        or any(touched.path == path and touched.after in wanted for touched in line.files)
        for line in lines
    )


def _last(tree: Tree, size: int) -> bytes:
    data = tree.tail(FILE, size)
    if isinstance(data, Fault):
        return b""
    return data if len(data) < size else data[data.find(b"\n") + 1 :]


def _lines_with(data: bytes, text: bytes) -> Iterator[bytes]:
    at = data.find(text)
    while at >= 0:
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        yield data[data.rfind(b"\n", 0, at) + 1 : end]
        at = data.find(text, end)


def _parsed(texts: Iterable[bytes]) -> Iterator[Line]:
    for number, text in enumerate(texts, 1):
        document = table(text) if text else None
        line = read(document, number) if document is not None else None
        if isinstance(line, Line):
            yield line
