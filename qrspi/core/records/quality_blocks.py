"""Blocks of findings in task files: the engine's own are those whose hash is on record. Any other
block is part of the text, whoever wrote it."""

from __future__ import annotations

from qrspi.core.digest import sha256
from qrspi.core.records import approvals
from qrspi.core.records.json_fields import string, table
from qrspi.core.text import findings_block
from qrspi.core.tree import Tree, content

FILE = approvals.QUALITY
LIMIT = 64 * 1024 * 1024


def digest(block: str) -> str:
    return sha256(block.encode()).hexdigest()


def without_own(tree: Tree, data: bytes) -> bytes:
    blocks = findings_block.texts(data)
    if not blocks or not {digest(block) for block in blocks} <= _on_record(tree):
        return data
    return findings_block.without(data)


def _on_record(tree: Tree) -> frozenset[str]:
    lines = (line for line in content(tree, FILE, LIMIT).split(b"\n") if line)
    blocks = (string(table(line) or {}, "block_sha256") for line in lines)
    return frozenset(filter(None, blocks))
