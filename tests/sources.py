"""The package's own modules, parsed once for all the tests that look through them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "qrspi"

# For the modules of such tests: one worker takes them all, and parses once.
TOGETHER = pytest.mark.xdist_group("sources")


class Module(NamedTuple):
    path: str  # below qrspi/, as in "core/model.py"
    tree: ast.Module

    @property
    def layer(self) -> str:
        return self.path.partition("/")[0]


@cache
def modules() -> list[Module]:
    """Parsed when a test asks: every worker imports this file."""
    return [
        Module(file.relative_to(PACKAGE).as_posix(), ast.parse(file.read_text("utf-8")))
        for file in sorted(PACKAGE.rglob("*.py"))
    ]


@cache
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Nearly every rule asks for all of them."""
    return tuple(ast.walk(tree))


@cache
def calls(tree: ast.AST) -> tuple[tuple[str, ast.Call], ...]:
    return tuple((written(node.func), node) for node in nodes(tree) if isinstance(node, ast.Call))


def written(node: ast.expr) -> str:
    """As `ast.unparse` writes it, which takes its time over a plain `a.b.c`."""
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute(value=ast.Name() | ast.Attribute()):
            return f"{written(node.value)}.{node.attr}"
    return ast.unparse(node)
