"""Blocks of findings in task files: the engine's own are those whose hash is on record. Any other
block is part of the text, whoever wrote it."""

from __future__ import annotations

import json

from qrspi.core.digest import sha256
from qrspi.core.records.json_fields import string
from qrspi.core.text import findings_block
from qrspi.core.tree import Tree, content

FILE = "reviews/plan/quality.jsonl"
LIMIT = 64 * 1024 * 1024


def digest(block: str) -> str:
    return sha256(block.encode()).hexdigest()


def without_own(tree: Tree, data: bytes) -> bytes:
    blocks = findings_block.texts(data)
    if not blocks or not {digest(block) for block in blocks} <= _on_record(tree):
        return data
    return findings_block.without(data)


def _on_record(tree: Tree) -> frozenset[str]:
    lines = content(tree, FILE, LIMIT).split(b"\n")
    return frozenset(found for line in lines if (found := _block(line)))


def _block(line: bytes) -> str:
    try:
        document = json.loads(line or b"{}")
    except (ValueError, RecursionError):
        return ""
    return string(document, "block_sha256") if isinstance(document, dict) else ""
