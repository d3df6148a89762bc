from __future__ import annotations

import pytest

from qrspi.core.findings.printed_reply import Split, files_of, refusal, split, split_any
from qrspi.core.model import Problem
from qrspi.core.tree import Entry

B = b"<<<FINDING-BOUNDARY>>>\n"
EXPECTED = "NO_FINDINGS, or findings that each begin with a line <<<FINDING-BOUNDARY>>>"


def files(reply: bytes) -> list[tuple[str, bytes]]:
    result = split(reply, "quality-codex", 3)
    assert isinstance(result, Split)
    return [(name.removeprefix("quality-codex."), data) for name, data in result.files]


@pytest.mark.rule("SPL-01")
@pytest.mark.parametrize("reply", [b"NO_FINDINGS", b"NO_FINDINGS\n", b"NO_FINDINGS\r\n"])
def test_no_findings_becomes_a_clean_sentinel(reply: bytes) -> None:
    sentinel = b"---\nreviewer: quality-codex\nround: 3\nfindings: 0\n---\n"
    assert split(reply, "quality-codex", 3) == Split(
        (("quality-codex.clean.md", sentinel),), clean=True
    )


@pytest.mark.rule("SPL-02")
@pytest.mark.parametrize(
    ("reply", "split_into"),
    [
        (B + b"one\n", [("finding-F01.md", b"one\n")]),
        (B + b"one", [("finding-F01.md", b"one\n")]),
        (B + b"one\n\n\n", [("finding-F01.md", b"one\n")]),
        (B + b"\n  \n\none\n", [("finding-F01.md", b"one\n")]),
        (B + b"  one\n", [("finding-F01.md", b"  one\n")]),
        (B + b"one\n" + B + b"two\n", [("finding-F01.md", b"one\n"), ("finding-F02.md", b"two\n")]),
        (B + b"one\n" + B + b" \n" + B + b"two\n" + B, [
            ("finding-F01.md", b"one\n"),
            ("finding-F02.md", b"two\n"),
        ]),
        (B + b"one\n\ntwo\n", [("finding-F01.md", b"one\n\ntwo\n")]),
        (B + b"a <<<FINDING-BOUNDARY>>>\n", [("finding-F01.md", b"a <<<FINDING-BOUNDARY>>>\n")]),
        (B + b"one\n <<<FINDING-BOUNDARY>>>\n", [
            ("finding-F01.md", b"one\n <<<FINDING-BOUNDARY>>>\n")
        ]),
        (B + b"one\n<<<FINDING-BOUNDARY>>> \n", [
            ("finding-F01.md", b"one\n<<<FINDING-BOUNDARY>>> \n")
        ]),
        ((B + b"one\n").replace(b"\n", b"\r\n"), [("finding-F01.md", b"one\r\n")]),
        (b"\xef\xbb\xbf" + B + b"one\n", [("finding-F01.md", b"one\n")]),
        (B + b"\xff\x00\n", [("finding-F01.md", b"\xff\x00\n")]),
        (b"\n\n" + B + b"NO_FINDINGS\n", [("finding-F01.md", b"NO_FINDINGS\n")]),
    ],
)  # fmt: skip
def test_each_boundary_starts_a_file(reply: bytes, split_into: list[tuple[str, bytes]]) -> None:
    assert files(reply) == split_into
    result = split(reply, "quality-codex", 3)
    assert isinstance(result, Split)
    assert (result.clean, result.warnings) == (False, ())


@pytest.mark.rule("SPL-02")
def test_the_hundredth_file_has_three_digits() -> None:
    names = [name for name, _ in files((B + b"x\n") * 101)]
    assert names[98:] == ["finding-F99.md", "finding-F100.md", "finding-F101.md"]


@pytest.mark.rule("SPL-03")
@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (b"", "nothing"),
        (b"\n \n", "nothing"),
        (b"I found two problems.\n", "no finding"),
        (b"NO_FINDINGS\n\n", "no finding"),
        (b"NO_FINDINGS.\n", "no finding"),
        (b" NO_FINDINGS", "no finding"),
        (b"no_findings", "no finding"),
        (B, "no finding"),
        (B + b"\n" + B + b"  \n", "no finding"),
        (b"<<<finding-boundary>>>\none\n", "no finding"),
    ],
)
def test_anything_else_is_an_error_and_no_file(reply: bytes, found: str) -> None:
    problem = split(reply, "quality-codex", 3)
    assert isinstance(problem, Problem)
    assert problem.message == f"the reply of quality-codex has {found}; expected {EXPECTED}"


@pytest.mark.rule("SPL-03")
def test_text_before_the_first_boundary_is_discarded_with_a_warning() -> None:
    result = split(b"NO_FINDINGS, but:\n" + B + b"one\n", "quality-codex", 3)
    assert isinstance(result, Split)
    assert result.files == (("quality-codex.finding-F01.md", b"one\n"),)
    assert [problem.message for problem in result.warnings] == [
        "the reply of quality-codex has 18 bytes before the first <<<FINDING-BOUNDARY>>>; "
        "they are discarded"
    ]


@pytest.mark.rule("SEC-02")
@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (
            B + b"x" * 8 * 1024 * 1024,
            "the reply of quality-codex has 8388631 bytes; expected at most 8388608 bytes",
        ),
        (
            (B + b"x\n") * 5001,
            "the reply of quality-codex has 5001 findings; expected at most 5000",
        ),
    ],
    ids=["bytes", "findings"],
)
def test_a_reply_beyond_the_limits_is_not_split(reply: bytes, message: str) -> None:
    problem = split(reply, "quality-codex", 3)
    assert isinstance(problem, Problem)
    assert problem.message == message


NAMES = [
    ".dispatch-manifest.json",
    ".quality-codex.split",
    "quality-claude.finding-F01.md",
    "quality-codex.finding-F01.md",
    "quality-codex.finding-F01.score.yml",
    "quality-codex.clean.md",
]


@pytest.mark.rule("SPL-04", "SPL-05")
@pytest.mark.parametrize(
    ("names", "present"),
    [
        (NAMES, NAMES[3:]),
        (NAMES[:3], []),
        (["quality-codex.NO_FINDINGS"], ["quality-codex.NO_FINDINGS"]),
        (["quality-codex.finding-F01.md~", "quality-codex-2.clean.md"], []),
        (["quality-codex.path-filtered.md", "quality-codex.skipped.md"], []),
    ],
)
def test_the_files_of_one_reviewer_are_told_from_the_others(
    names: list[str], present: list[str]
) -> None:
    entries = [Entry(name, "file") for name in names]
    assert list(files_of(entries, "quality-codex")) == present
    refused = refusal(entries, "quality-codex", "reviews/design/round-03")
    assert (refused is not None) is bool(present)


@pytest.mark.rule("SPL-05")
def test_a_directory_with_files_of_the_reviewer_is_refused() -> None:
    entries = [Entry(name, "file") for name in NAMES]
    refused = refusal(entries, "quality-codex", "reviews/design/round-03")
    assert refused is not None
    assert refused.message == (
        "reviews/design/round-03 already has 3 files of quality-codex, "
        "first quality-codex.finding-F01.md; expected none before a split"
    )


HEAD = "---\nfinding_id: R1-F01\n---\n"


def texts(source: str) -> list[str]:
    found = split_any(source.encode(), "quality-claude", 1)
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
    found = split_any(source, "quality-claude", 1)
    assert isinstance(found, Problem)
    assert found.message == message


def test_what_is_left_out_is_counted() -> None:
    found = split_any(f"Hello.\n\n```md\n{HEAD}One.\n```\n\nBye.\n".encode(), "q-claude", 1)
    assert isinstance(found, Split)
    assert [item.message for item in found.warnings] == [
        "the text of q-claude has 2 lines outside its findings; only the kept original has them"
    ]
