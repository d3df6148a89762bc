"""import.md: which rounds of a run were made elsewhere, and what became of the open ones.

Such a round has no manifest that the engine wrote. Only rounds in this list count as made
elsewhere, so nobody can hide a round of the engine by removing its manifest.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from qrspi.core.filenames import RoundPaths
from qrspi.core.hints import Literal, get_args
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import Fault, Tree
from qrspi.core.yaml import frontmatter, writer
from qrspi.core.yaml.nodes import Node, Scalar

FILE = "import.md"
LISTING = "import-files.txt"  # the sha256 of every imported file
Choice = Literal["take-over", "close", "leave"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
LIMIT = 4 * 1024 * 1024


class ImportRecord(NamedTuple):
    imported: str  # when
    by: str
    source: str  # where it was taken from: `from` in the file
    config_before: str  # sha256 of config.md; '' when there was none
    config_after: str
    rounds: Mapping[str, tuple[int, ...]] = {}  # by the folder of reviews
    open: Mapping[str, Choice] = {}  # by the folder of the round


NOTHING = ImportRecord("", "", "", "", "")


def of_run(tree: Tree) -> ImportRecord:
    """What the run's import.md lists. An unreadable one lists nothing."""
    data = tree.read(FILE, LIMIT)
    return NOTHING if isinstance(data, Fault) else _read(data)


@lru_cache(maxsize=16)  # every loop of a run asks
def _read(data: bytes) -> ImportRecord:
    fields = frontmatter.fields(data)
    when, by, source, before, after = (frontmatter.text(fields, key) or "" for key in _TEXTS)
    return ImportRecord(
        imported=when,
        by=by,
        source=source,
        config_before=before,
        config_after=after,
        rounds=_rounds(fields),
        open=_open(fields),
    )


_TEXTS = ("imported", "by", "from", "config_before", "config_after")


def _rounds(fields: Mapping[str, Node]) -> dict[str, tuple[int, ...]]:
    node = fields.get("rounds")
    listed = node if isinstance(node, dict) else {}
    return {folder: _numbers(numbers) for folder, numbers in listed.items()}


def _numbers(node: Node) -> tuple[int, ...]:
    if isinstance(node, (Scalar, dict)):
        return ()
    texts = (item.text for item in node if isinstance(item, Scalar))
    return tuple(int(text) for text in texts if text.isdecimal() and len(text) < 5)


def _open(fields: Mapping[str, Node]) -> dict[str, Choice]:
    node = fields.get("open")
    listed = node if isinstance(node, dict) else {}
    choices = {key: value.text for key, value in listed.items() if isinstance(value, Scalar)}
    return {key: choice for key, text in choices.items() for choice in CHOICES if choice == text}


def head(record: ImportRecord) -> str:
    texts = (record.imported, record.by, record.source, record.config_before, record.config_after)
    lines = [f"{key}: {writer.quote(value)}" for key, value in zip(_TEXTS, texts, strict=True)]
    rounds = {folder: ", ".join(map(str, one)) for folder, one in record.rounds.items()}
    lines += _block("rounds", {folder: f"[{numbers}]" for folder, numbers in rounds.items()})
    lines += _block("open", record.open)
    return "\n".join(("---", *lines, "---", ""))


def _block(key: str, values: Mapping[str, str]) -> list[str]:
    if not values:
        return [f"{key}: {{}}"]
    return [f"{key}:", *(f"  {writer.quote(name)}: {value}" for name, value in values.items())]


def with_choice(data: bytes, folder: str, choice: Choice) -> bytes:
    record = _read(data)
    changed = record._replace(open={**record.open, folder: choice})
    return head(changed).encode() + frontmatter.body(data)


def lists(tree: Tree, paths: RoundPaths) -> bool:
    """Whether the round was made elsewhere. A round whose manifest is in git but lost in the run is
    the engine's."""
    if paths.number not in of_run(tree).rounds.get(paths.reviews, ()):
        return False
    gone = tree.head(paths.manifest) == Fault("absent")
    return not (gone and tree.knows(paths.manifest))


def last(tree: Tree, reviews: str) -> int:
    return max(of_run(tree).rounds.get(reviews, ()), default=0)
