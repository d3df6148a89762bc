"""Every code that is listed is one that something says."""

import ast
from pathlib import Path
from typing import get_args

from qrspi.core import codes

PACKAGE = Path(codes.__file__).parents[1]


def texts_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_every_listed_code_is_used() -> None:
    modules = [path for path in PACKAGE.rglob("*.py") if path != Path(codes.__file__)]
    used = set().union(*map(texts_in, modules))
    assert [code for code in get_args(codes.Code) if code not in used] == []


def test_no_code_is_listed_twice_and_each_group_is_sorted() -> None:
    lines = Path(codes.__file__).read_text().partition("Literal[\n")[2].splitlines()
    listed = [line.strip(' ",') for line in lines if line.strip().startswith('"')]
    groups = "\n".join(lines).split("    # ")[1:]
    for group in groups:
        _, *names = group.rstrip("]\n").splitlines()
        assert names == sorted(names)
    assert sorted(listed) == sorted(get_args(codes.Code))
