from __future__ import annotations

from typing import Any

import pytest

from qrspi.core.yaml import reader
from qrspi.core.yaml.nodes import json_value


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("approved", "approved"),
        ('"approved"', "approved"),
        ("true", True),
        ("yes", "yes"),
        ('"true"', "true"),
        ("", None),
        ("~", None),
        ("null", None),
        ("'null'", "null"),
        ("3", 3),
        ("-3", -3),
        ("007", 7),
        ("'3'", "3"),
        ("0.5", 0.5),
        ("1e5", "1e5"),
        ("1.5e3", 1500.0),
        ("0x10", "0x10"),
        ("12345678901234567890", "12345678901234567890"),
        ("2026-05-17", "2026-05-17"),
        ("[goals, 2, true]", ["goals", 2, True]),
        ("{vendor: claude, model: none}", {"vendor": "claude", "model": "none"}),
        ("[]", []),
    ],
)
def test_a_node_is_the_value_that_yaml_says_it_is(source: str, expected: Any) -> None:
    fields = reader.parse(f"key: {source}\n")
    assert isinstance(fields, dict)
    found = json_value(fields["key"])
    assert (found, type(found)) == (expected, type(expected))
