from __future__ import annotations

import pytest

from qrspi.core.findings import triage
from qrspi.core.model import Clean, Round
from qrspi.core.rounds import verified_file
from tests.core.round_files import clean, finding, round_of, sidecar


def assembled(read: Round, enabled: str = "true", *, skipped: bool = False) -> bytes:
    triaged = triage.partition(read, verifier_enabled=enabled != "false", skipped=skipped)
    return verified_file.assemble(read, triaged, enabled)


@pytest.mark.rule("ASM-01")
def test_the_whole_file() -> None:
    first = finding(1, "style", tag="quality-claude", data=b"---\na: 1\n---\nFirst.\n")
    second = finding(2, "scope", tag="quality-claude", data=b"---\na: 2\n---\nSecond.\n")
    other = finding(1, "clarity", tag="quality-codex", data=b"---\na: 3\n---\nThird.\n")
    read = round_of([first, second, other], cleans=[clean("scope-codex"), clean("scope-claude")])
    scores = {first.stem: sidecar(first, 79), other.stem: sidecar(other, None)}
    assert assembled(read._replace(sidecars=scores)).decode() == (
        "---\n"
        "verifier_enabled: true\n"
        "scored: 1\n"
        "kept: 2\n"
        "dropped: 1\n"
        "failed: 1\n"
        "clean: 2\n"
        "---\n"
        "\n"
        "<!-- @@FINDING: quality-claude.finding-F01 @@ -->\n"
        "---\na: 1\n---\nFirst.\n"
        "<!-- @@SCORE: quality-claude.finding-F01.score @@ -->\n"
        "score: 79\nreason: Checked.\n"
        "<!-- @@FINDING: quality-claude.finding-F02 @@ -->\n"
        "---\na: 2\n---\nSecond.\n"
        "<!-- @@FINDING: quality-codex.finding-F01 @@ -->\n"
        "---\na: 3\n---\nThird.\n"
        "<!-- @@SCORE: quality-codex.finding-F01.score @@ -->\n"
        "score: VERIFY_FAILED\nreason: Checked.\n"
        "<!-- @@CLEAN: scope-claude.clean @@ -->\n"
        "---\nreviewer: scope-claude\n---\n"
        "<!-- @@CLEAN: scope-codex.clean @@ -->\n"
        "---\nreviewer: scope-codex\n---\n"
    )


@pytest.mark.rule("ASM-01")
def test_an_empty_round_is_its_header() -> None:
    assert assembled(round_of()) == (
        b"---\nverifier_enabled: true\nscored: 0\nkept: 0\ndropped: 0\nfailed: 0\nclean: 0\n---\n\n"
    )


@pytest.mark.rule("ASM-01")
@pytest.mark.parametrize("written", ["true", "false", '"true"'])
def test_the_header_says_what_config_says(written: str) -> None:
    assert assembled(round_of(), written).split(b"\n")[1] == f"verifier_enabled: {written}".encode()


@pytest.mark.rule("ASM-01")
@pytest.mark.parametrize(
    ("enabled", "skipped", "counts"),
    [
        ("true", False, ["scored: 1", "kept: 0", "dropped: 1"]),
        ("true", True, ["scored: 1", "kept: 1", "dropped: 0"]),
        ("false", False, ["scored: 1", "kept: 1", "dropped: 0"]),
    ],
)
def test_what_is_kept_depends_on_verifier_and_skip(
    enabled: str, skipped: bool, counts: list[str]
) -> None:
    header = assembled(round_of({finding(1, "style"): 10}), enabled, skipped=skipped).decode()
    assert header.split("\n")[2:5] == counts


def names(data: bytes) -> list[str]:
    return [line for line in data.decode().split("\n") if line.startswith("<!-- @@")]


@pytest.mark.rule("ASM-01")
def test_findings_stand_by_tag_then_number() -> None:
    shuffled = [
        finding(100, tag="b-claude"),
        finding(2, tag="b-claude"),
        finding(99, tag="b-claude"),
        finding(1, tag="a-claude"),
        finding(1, tag="B-claude"),
        finding(1, tag="a"),
    ]
    assert names(assembled(round_of(shuffled))) == [
        "<!-- @@FINDING: B-claude.finding-F01 @@ -->",
        "<!-- @@FINDING: a.finding-F01 @@ -->",
        "<!-- @@FINDING: a-claude.finding-F01 @@ -->",
        "<!-- @@FINDING: b-claude.finding-F02 @@ -->",
        "<!-- @@FINDING: b-claude.finding-F99 @@ -->",
        "<!-- @@FINDING: b-claude.finding-F100 @@ -->",
    ]


@pytest.mark.rule("ASM-01", "FND-05", "FND-13")
@pytest.mark.parametrize(
    ("extension", "name"),
    [
        ("score.yml", "quality-claude.finding-F01.score"),
        ("score.md", "quality-claude.finding-F01.score"),
        ("verifier.md", "quality-claude.finding-F01.verifier"),
    ],
)
def test_a_sidecar_is_named_without_its_last_extension(extension: str, name: str) -> None:
    one = finding(1)
    read = round_of([one], sidecars=[(one, sidecar(one, 90, extension))])
    assert names(assembled(read))[1] == f"<!-- @@SCORE: {name} @@ -->"


@pytest.mark.rule("ASM-01", "FND-13")
@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("scope-claude.clean.md", "scope-claude.clean"),
        ("scope-claude.no-findings.md", "scope-claude.no-findings"),
        ("scope-claude.NO_FINDINGS", "scope-claude.NO_FINDINGS"),
    ],
)
def test_every_kind_of_clean_file_is_counted_and_shown(file: str, name: str) -> None:
    data = assembled(round_of(cleans=[Clean("scope-claude", file, b"\n")]))
    assert data.decode().split("\n", 6)[6] == f"clean: 1\n---\n\n<!-- @@CLEAN: {name} @@ -->\n\n"


@pytest.mark.rule("FND-07", "ASM-01")
def test_an_escalated_finding_carries_its_mark() -> None:
    one = finding(1, "style", counts_as="intent", data=b"---\na: 1\n---\nText.\n")
    assert assembled(round_of({one: 5})).decode() == (
        "---\nverifier_enabled: true\nscored: 1\nkept: 1\ndropped: 0\nfailed: 0\nclean: 0\n---\n\n"
        "<!-- @@FINDING: quality-claude.finding-F01 @@ -->\n"
        "<!-- @@ESCALATED: quality-claude.finding-F01 from style @@ -->\n"
        "---\na: 1\n---\nText.\n"
        "<!-- @@SCORE: quality-claude.finding-F01.score @@ -->\n"
        "score: 5\nreason: Checked.\n"
    )


@pytest.mark.rule("RND-03")
@pytest.mark.parametrize(
    ("data", "value"),
    [
        (assembled(round_of(), "true"), "true"),
        (assembled(round_of(), "false"), "false"),
        (b"", None),
        (b"verifier_enabled: true\n", None),
        (b"---\nscored: 1\nverifier_enabled: true\n", None),
        (b"---\nverifier_enabled: true", None),
        (b"---\nverifier_enabled: \xff\n", "�"),
    ],
)
def test_a_verified_file_says_what_it_was_assembled_under(data: bytes, value: str | None) -> None:
    assert verified_file.recorded_verifier(data) == value


@pytest.mark.rule("ASM-02")
def test_the_kept_list_has_run_relative_paths_in_the_same_order() -> None:
    rows = {
        finding(2, "style", tag="b-claude"): 90,
        finding(1, "style", tag="b-claude"): 10,
        finding(1, "scope", tag="a-claude"): 0,
    }
    triaged = triage.partition(round_of(rows), verifier_enabled=True, skipped=False)
    paths = verified_file.kept_paths("reviews/design/round-01", triaged)
    assert verified_file.kept_list(paths) == (
        b"reviews/design/round-01/a-claude.finding-F01.md\n"
        b"reviews/design/round-01/b-claude.finding-F02.md\n"
    )


@pytest.mark.rule("ASM-02")
def test_a_kept_list_of_nothing_is_empty() -> None:
    assert verified_file.kept_list(()) == b""
