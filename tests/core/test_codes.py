"""Every code that is listed is one that something says."""

import ast
from pathlib import Path
from typing import get_args

from qrspi.core import codes
from tests.sources import TOGETHER, modules, nodes


@TOGETHER
def test_every_listed_code_is_used() -> None:
    used = {
        node.value
        for path, tree in modules()
        if path != "core/codes.py"
        for node in nodes(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert [code for code in get_args(codes.Code) if code not in used] == []


def test_no_code_is_listed_twice_and_each_group_is_sorted() -> None:
    lines = Path(codes.__file__).read_text().partition("Literal[\n")[2].splitlines()
    listed = [line.strip(' ",') for line in lines if line.strip().startswith('"')]
    groups = "\n".join(lines).split("    # ")[1:]
    for group in groups:
        _, *names = group.rstrip("]\n").splitlines()
        assert names == sorted(names)
    assert sorted(listed) == sorted(get_args(codes.Code))
