"""What an agent wrote is put aside, to be made again: kept under another name, with the reasons."""

from __future__ import annotations

from collections.abc import Iterator

from qrspi.core.filenames import (
    CleanName,
    FindingName,
    RoundFile,
    SidecarName,
    parse_round_file,
    split_marker,
)
from qrspi.core.findings import rejected
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.rounds.loop import Loop
from qrspi.core.tree import Tree, entries
from qrspi.handlers.changes.change_set import Edit

NOBODY: frozenset[str] = frozenset()


class Aside(NamedTuple):
    kept: tuple[Edit, ...]  # made first
    gone: tuple[Edit, ...]
    removed: tuple[str, ...]
    marked: tuple[str, ...]  # reviewers of whom there are files

    @property
    def edits(self) -> tuple[Edit, ...]:
        return (*self.kept, *self.gone)


def plan(tree: Tree, loop: Loop, tags: frozenset[str], stems: frozenset[str] = NOBODY) -> Aside:
    """All files of these reviewers, and these scores. While the marker exists, no file of the
    reviewer counts: nobody ever sees half of them."""
    paths = files(tree, loop)
    removed = [path for path, kind in paths if _is_theirs(kind, tags, stems)]
    names = (path.rpartition("/")[2].removeprefix(".") for path, _ in paths)
    marked = sorted(tags & {name.partition(".")[0] for name in names})
    markers = [f"{loop.paths.directory}/{split_marker(tag)}" for tag in marked]
    gone = (
        *(Edit("write", path, "its files count as none") for path in markers),
        *(Edit("remove", path, "to be made again") for path in removed),
        *(Edit("remove", path, "its files are gone") for path in markers),
    )
    kept = tuple(_kept(tree, loop, removed))
    return Aside(kept, gone, tuple(removed), tuple(marked))


def files(tree: Tree, loop: Loop) -> tuple[tuple[str, RoundFile], ...]:
    return tuple(
        (f"{loop.paths.directory}/{entry.name}", parse_round_file(entry.name))
        for entry in entries(tree, loop.paths.directory)
        if entry.kind == "file"
    )


def _kept(tree: Tree, loop: Loop, removed: list[str]) -> Iterator[Edit]:
    if not removed or loop.files is None:
        return
    why = rejected.reasons(loop.files)
    for path, data in rejected.copies(tree, loop.paths, removed, why).items():
        yield Edit("create", path, "kept", data)


def _is_theirs(kind: RoundFile, tags: frozenset[str], stems: frozenset[str]) -> bool:
    match kind:
        case FindingName(tag=tag) | CleanName(tag=tag):
            return tag in tags
        case SidecarName(stem=stem):
            return stem in stems or stem.rpartition(".finding-")[0] in tags
        case _:
            return False
