"""What is read without the package `json` is what it reads, and what it refuses is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core import plain_json

ODD: tuple[str | bytes, ...] = (
    "",
    "null\r\n\t ",
    ' {"a": 1}',
    '{"a": 1, "a": 2}',
    '{"a": 1} x',
    "[1, 2.50, -1e400, Infinity, -Infinity]",
    "[1,]",
    "\ufeff{}",
    b"\xef\xbb\xbf{}",
    b"\xff",
    b'"\xed\xa0\x80"',
    '"\x01"',
    "[-]",
    "1" * 5000,
    "[" * 100_000,
    *('{"é": "1"}'.encode(form) for form in ("utf-8", "utf-16", "utf-16-le", "utf-32-be")),
)


def said(read: Callable[[str | bytes], Any], text: str | bytes) -> str:
    try:
        return repr(read(text))
    except (ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_odd_texts_are_read_as_ever(text: str | bytes) -> None:
    assert said(plain_json.loads, text) == said(json.loads, text)


@given(st.recursive(st.none() | st.integers() | st.floats() | st.text(), st.lists))
def test_any_value_comes_back(value: Any) -> None:
    text = plain_json.dumps({"it": value}, indent=1)
    assert said(plain_json.loads, text) == said(json.loads, text)
    assert said(plain_json.loads, text.encode()) == said(json.loads, text)


CODE = """
import sys
from qrspi.core.plain_json import loads
for text in (b'{"a": [1, "b"]}' + bytes([10]), " 1"):
    print(loads(text), "json" in sys.modules)
"""


def test_the_package_is_imported_for_what_is_not_plainly_json() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout == "{'a': [1, 'b']} False\n1 True\n"


@pytest.mark.rule("SEC-03")
@pytest.mark.parametrize("text", ['{"n"', '{"n": }', '["', "[1", '"\\x"', '{"a": 1,}'])
def test_what_is_not_json_is_told_where_json_was_never_imported(text: str) -> None:
    code = f"""
from qrspi.core import plain_json
import sys
assert "json" not in sys.modules
try:
    plain_json.loads({text!r})
except ValueError as error:
    print(type(error).__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("JSONDecodeError\n", 0), done.stderr
