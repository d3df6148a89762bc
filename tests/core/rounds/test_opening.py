"""What proves who opened a round: a record of these very bytes at this very place."""

from __future__ import annotations

import hashlib

import pytest

from qrspi.core.records.approvals import Record
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.tree import MemoryTree
from tests import runs

PATH = "reviews/goals/round-01/.dispatch-manifest.json"
DATA = runs.manifest()
HASH = hashlib.sha256(DATA).hexdigest()
TAKEN_UP = Record("adopt", "goals", "", 1, file=PATH, file_hash=HASH)


@pytest.mark.rule("SEC-18")
@pytest.mark.parametrize(
    ("records", "opening"),
    [
        ((TAKEN_UP,), "adopted"),
        ((), "unproven"),
        ((TAKEN_UP._replace(file_hash="0" * 64),), "unproven"),
        ((TAKEN_UP._replace(file_hash=""),), "unproven"),
        ((TAKEN_UP._replace(file=PATH.replace("01", "02")),), "unproven"),
        ((TAKEN_UP._replace(event="approve"),), "unproven"),
    ],
)
def test_who_takes_a_round_up_takes_up_this_one(records: tuple[Record, ...], opening: str) -> None:
    manifest = manifests.read(DATA, PATH)
    assert isinstance(manifest, Manifest)
    tree = MemoryTree({PATH: DATA}, signs=False)
    assert manifests.opening(tree, PATH, DATA, manifest, records) == opening
