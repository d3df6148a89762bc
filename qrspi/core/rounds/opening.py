"""Whether the engine opened a round, as far as that is on record.

Anybody who can write a file can write a manifest. One that stands in the trail, or is signed by a
commit of the engine, is the engine's own; a person may take any other up, which is on record too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from qrspi.core.filenames import RoundPaths
from qrspi.core.records import audit_trail
from qrspi.core.records.approvals import Record
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.tree import Fault, Tree

# tampered: and it leaves out somebody whom the matrix and config.md name.
Opening = Literal["opened", "adopted", "unproven", "tampered"]
ADOPT = "adopt"
SIGNATURE = "QRSPI-Manifest:"


def of(
    tree: Tree, path: str, data: bytes, manifest: Manifest, records: Iterable[Record]
) -> Opening:
    """Who must review is not looked at here: of a round that nothing proves, that is asked next."""
    hashes = _hashes(data, manifest)
    if any(one.event == ADOPT and one.file == path and one.file_hash in hashes for one in records):
        return "adopted"
    if audit_trail.wrote(tree, path, hashes):
        return "opened"
    if any(tree.signed(f"{SIGNATURE} {found}") for found in hashes):
        return "opened"
    return "unproven"


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
