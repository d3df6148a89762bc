"""Whether the engine opened a round, as far as that is on record.

Anybody who can write a file can write a manifest. One that stands in the trail, or is signed by a
commit of the engine, is the engine's own; a person may take any other up, which is on record too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from qrspi.core.filenames import RoundPaths
from qrspi.core.records import audit_trail
from qrspi.core.records.approvals import Record
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.tree import Fault, Tree

if TYPE_CHECKING:
    from qrspi.core.config.reader import Config
    from qrspi.core.rounds.loop import Loop

# tampered: and it leaves out somebody whom the matrix and config.md name.
Opening = Literal["opened", "adopted", "unproven", "tampered"]
ADOPT = "adopt"
SIGNATURE = "QRSPI-Manifest:"


def of(
    tree: Tree, path: str, data: bytes, manifest: Manifest, records: Iterable[Record]
) -> Opening:
    """Who must review is not asked here; `unproven` asks it of a round that nothing proves."""
    hashes = _hashes(data, manifest)
    if any(one.event == ADOPT and one.file == path and one.file_hash in hashes for one in records):
        return "adopted"
    if audit_trail.wrote(tree, path, hashes):
        return "opened"
    if any(tree.signed(f"{SIGNATURE} {found}") for found in hashes):
        return "opened"
    return "unproven"


def unproven(tree: Tree, loop: Loop, config: Config, records: tuple[Record, ...]) -> Loop:
    """A round that nothing proves: everybody whom matrix, config.md and earlier rounds name is
    expected, whatever its manifest says."""
    assert loop.manifest is not None
    tags = _due(tree, loop, config, loop.manifest, records)
    less = not set(tags) <= set(loop.manifest.expected_tags)
    return loop._replace(
        opening="tampered" if less else "unproven",
        manifest=loop.manifest._replace(expected_tags=tags),
    )


def _due(
    tree: Tree, loop: Loop, config: Config, manifest: Manifest, records: tuple[Record, ...]
) -> tuple[str, ...]:
    # Imported here: nearly every round is proven.
    from qrspi.core.findings import guard
    from qrspi.core.rounds import later_rounds

    tags = guard.due(tree, loop.subject, config, manifest)
    base = later_rounds.base(loop.subject, records)
    return later_rounds.choose(tree, loop.subject, config, tags, loop.number, base).tags


def doubt(loop: Loop) -> str:
    """Said of an open round, and of one that would read as clean."""
    if loop.opening == "tampered":
        return f"{loop.paths.manifest} is not as qrspi wrote it, and leaves reviewers out"
    return f"{loop.paths.manifest} is on no record of qrspi, so nobody knows who was sent"


def signature(tree: Tree, paths: RoundPaths) -> tuple[str, ...]:
    """The line by which a commit of the engine says that this manifest is its own."""
    data = tree.read(paths.manifest)
    return () if isinstance(data, Fault) else (f"{SIGNATURE} {_sha256(data)}",)


def _hashes(data: bytes, manifest: Manifest) -> tuple[str, str]:
    """What stays the same in it, and as it is: trails and commits of older engines have that."""
    return digest(manifest), _sha256(data)


def digest(manifest: Manifest) -> str:
    """What the trail keeps of a round that is opened."""
    return _sha256(manifests.render(manifests.as_opened(manifest)))


def _sha256(data: bytes) -> str:
    import hashlib  # a run without a round does not need it

    return hashlib.sha256(data).hexdigest()
