"""import.md: what was found in a run from elsewhere, how it was read, and how to undo it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qrspi.core.digest import sha256
from qrspi.core.importing.foreign_rounds import Oddity, reviewed_in
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import import_record
from qrspi.core.records.import_record import ImportRecord
from qrspi.core.yaml import frontmatter


class Page(NamedTuple):
    record: ImportRecord
    run: str
    changes: tuple[str, ...]
    oddities: tuple[Oddity, ...]
    adopted: tuple[str, ...]  # artifacts that say approved
    standing: str  # where the run stands, in a sentence
    old_config: bytes | None


def render(page: Page) -> bytes:
    record = page.record
    parts = [
        f"\n# {page.run} was made elsewhere\n\nIt was imported from {record.source} on "
        f"{record.imported[:10]} by {record.by}. {page.standing}\n",
        _rounds(record),
        _listed("Approved without a record", page.adopted),
        _listed("What was changed", page.changes or ("nothing",)),
        "\n## What is odd\n" if page.oddities else "",
        *map(_oddity, page.oddities),
        _config(page.old_config),
        _undo(page),
    ]
    text = import_record.head(record) + "".join(parts)
    return text.encode(errors="surrogateescape")


def _listed(title: str, lines: Iterable[str]) -> str:
    items = "".join(map(_item, lines))
    return f"\n## {title}\n\n{items}" if items else ""


def _item(text: str) -> str:
    return f"- {' '.join(map(_shown, text.split()))}\n"


def _shown(word: str) -> str:
    """Names of files are somebody else's words, and import.md may be read at a terminal."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in word)


def _rounds(record: ImportRecord) -> str:
    lines = [_of_folder(folder, numbers) for folder, numbers in record.rounds.items()]
    lines += [f"{folder} was open: {choice}" for folder, choice in record.open.items()]
    if not lines:
        return "\n## Rounds\n\nThere is none from elsewhere.\n"
    return _listed("Rounds, all of them unproven", lines)


def _of_folder(folder: str, numbers: tuple[int, ...]) -> str:
    subject = reviewed_in(folder)
    word = subject.key if subject else "no step and no task, so nothing reads them"
    return f"{folder} ({word}): {', '.join(map(str, numbers))}"


def _oddity(oddity: Oddity) -> str:
    more = oddity.times - len(oddity.examples)
    lines = [*oddity.examples, *([f"and {more} more"] if more else [])]
    title = f"\n### {oddity.kind[:1].upper()}{oddity.kind[1:]}: {oddity.times}\n\n"
    return title + "".join(map(_item, lines))


def _config(old: bytes | None) -> str:
    if old is None:
        return "\n## config.md before\n\nThere was none.\n"
    text = old.decode(errors="surrogateescape")
    longest = max(len(line) - len(line.lstrip("`")) for line in text.split("\n"))
    fence = "`" * max(3, longest + 1)
    end = "" if text.endswith("\n") else "\n"
    return f"\n## config.md before\n\n{fence}\n{text}{end}{fence}\n"


def _undo(page: Page) -> str:
    back = "put the text above back into config.md" if page.old_config else "delete config.md"
    return (
        f"\n## To undo it\n\nDelete {import_record.FILE} and {import_record.LISTING}, and {back}. "
        "No other file was changed.\n"
    )


def listing(hashes: Mapping[str, str]) -> bytes:
    """As `sha256sum -c` reads it: a leading mark shows a name with a newline or a backslash."""
    return "".join(map(_sum, hashes.items())).encode(errors="surrogateescape")


def _sum(item: tuple[str, str]) -> str:
    path, digest = item
    escaped = path.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return f"{'' if escaped == path else chr(92)}{digest}  {escaped}\n"


def read_listing(data: bytes) -> dict[str, str]:
    values: dict[str, str] = {}
    for line in data.decode(errors="surrogateescape").split("\n"):
        digest, _, path = line.partition("  ")
        if not path:
            continue
        if digest.startswith("\\"):
            path = path.replace("\\n", "\n").replace("\\r", "\r").replace("\\\\", "\\")
        values[path] = digest.removeprefix("\\")
    return values


def added(
    data: bytes, record: ImportRecord, rounds: Mapping[str, tuple[int, ...]], day: str
) -> bytes:
    lines = [_of_folder(folder, numbers) for folder, numbers in rounds.items()]
    text = import_record.head(record) + frontmatter.body(data).decode(errors="surrogateescape")
    return (text + _listed(f"Added on {day}", lines)).encode(errors="surrogateescape")


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()
