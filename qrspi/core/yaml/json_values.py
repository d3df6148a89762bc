"""A YAML node as the JSON value that it stands for, by YAML 1.2's core schema."""

from __future__ import annotations

import re
from typing import Any

from qrspi.core.yaml.nodes import Node, Scalar

_WORDS = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_WHOLE = r"[-+]?[0-9]{1,15}"
_DECIMAL = r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]{1,2})?"


def value(node: Node) -> Any:
    """Numbers that JSON could not hold exactly stay the texts they are."""
    if isinstance(node, Scalar):
        return _scalar(node)
    if isinstance(node, dict):
        return {key: value(item) for key, item in node.items()}
    return [value(item) for item in node]


def _scalar(node: Scalar) -> Any:
    if not node.plain:
        return node.text
    if node.text in _WORDS:
        return _WORDS[node.text]
    if re.fullmatch(_WHOLE, node.text):
        return int(node.text)
    return float(node.text) if re.fullmatch(_DECIMAL, node.text) else node.text
