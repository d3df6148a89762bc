"""Findings in chats and in files that hold many of them."""

from __future__ import annotations

import pytest

from qrspi.core.findings import pasted_text as dumps
from qrspi.core.findings.split_reply import Split
from qrspi.core.model import Problem

HEAD = "---\nfinding_id: R1-F01\n---\n"


def texts(source: str) -> list[str]:
    found = dumps.read(source.encode(), "quality-claude", 1)
    assert isinstance(found, Split), found
    return [data.decode() for _, data in found.files]


@pytest.mark.rule("PRF-02")
@pytest.mark.parametrize(
    ("source", "found"),
    [
        (f"{HEAD}One.\n", [f"{HEAD}One.\n"]),
        (f"{HEAD}One.\n\n\n{HEAD}Two.", [f"{HEAD}One.\n", f"{HEAD}Two.\n"]),
        (f"Hello.\n{HEAD}One.\n", [f"{HEAD}One.\n"]),
        (f"```\n{HEAD}One.\n```\nBye.\n", [f"{HEAD}One.\n"]),
        (f"~~~~md\n{HEAD}```\ncode\n```\n~~~~\n", [f"{HEAD}```\ncode\n```\n"]),
        (f"{HEAD}```\ncode\n```\n", [f"{HEAD}```\ncode\n```\n"]),
        (f"{HEAD}One.\n```md\n{HEAD}Two.\n```\n", [f"{HEAD}One.\n", f"{HEAD}Two.\n"]),
        (f"{HEAD}One.\n\n---\n\nMore.\n", [f"{HEAD}One.\n\n---\n\nMore.\n"]),
        (f"{HEAD}One.\n---\n{HEAD}Two.\n", [f"{HEAD}One.\n---\n", f"{HEAD}Two.\n"]),
        ("  ---\n  id: F01\n  ---\n  One.\n", ["---\nid: F01\n---\nOne.\n"]),
        (f"{HEAD}One.\r\n".replace("\n", "\r\n"), [f"{HEAD}One.\n"]),
        ("\ufeff" + HEAD + "One.\n", [f"{HEAD}One.\n"]),
    ],
)
def test_each_frontmatter_with_an_id_opens_a_finding(source: str, found: list[str]) -> None:
    assert texts(source) == found


@pytest.mark.rule("PRF-02", "SPL-03")
@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            b"Nothing.\n",
            "the reply of quality-claude has no finding; expected NO_FINDINGS, or findings that "
            "each begin with a line <<<FINDING-BOUNDARY>>>, or their frontmatter",
        ),
        (
            b"\xff---\nid: x\n---\n",
            "the reply of quality-claude has bytes that are not UTF-8, first at 1; expected text",
        ),
        (
            b"---\nid: F01\n---\nx\n" * 5001,
            "the reply of quality-claude has 5001 findings; expected at most 5000",
        ),
        (
            b"x" * (8 * 1024 * 1024 + 1),
            "the reply of quality-claude has 8388609 bytes; expected at most 8388608 bytes",
        ),
    ],
    ids=["none", "bytes", "many", "large"],
)
def test_what_is_no_dump(source: bytes, message: str) -> None:
    found = dumps.read(source, "quality-claude", 1)
    assert isinstance(found, Problem)
    assert found.message == message


def test_what_is_left_out_is_counted() -> None:
    found = dumps.read(f"Hello.\n\n```md\n{HEAD}One.\n```\n\nBye.\n".encode(), "q-claude", 1)
    assert isinstance(found, Split)
    assert [item.message for item in found.warnings] == [
        "the text of q-claude has 2 lines outside its findings; only the kept original has them"
    ]
