"""Whatever stands in a round directory, the guard answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.config.reader import Config
from qrspi.core.filenames import FindingName
from qrspi.core.findings import guard
from qrspi.core.findings.printed_reply import Split, split
from qrspi.core.findings.round_files import examine
from qrspi.core.findings.submission import HINTS, Place, finished
from qrspi.core.model import Finding, Problem, Round
from qrspi.core.pipeline import subject
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.tree import FINDING_LIMIT, MemoryTree

WORDS = (
    "--- finding_id finding id severity change_type referenced_files message artifact round "
    "reviewer reviewer_tag score verifier_score reason skip_reason path_filtered findings status "
    "R3-F01 F01 high style scope 85 0 3 VERIFY_FAILED quality-claude claude clean none [ ] { } "
    "- : , # & * ! | > \" ' ` <<: \\ feedback/x.md design.md:L3 (line 3) ``` ~~~ "
    "<!-- @@FINDING: @@SCORE: <<<UNTRUSTED-ARTIFACT-START id=a>>> <<<UNTRUSTED-ARTIFACT-END "
    "id=a>>> <<<FINDING-BOUNDARY>>> NO_FINDINGS"
).split()
GAPS = ("", " ", "\n", "\r\n", ": ", "\n---\n", "\t", "\x00", "\ufeff", "\u2028", "\x85")

likely = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GAPS)), max_size=40).map(
    lambda parts: "".join(word + gap for word, gap in parts).encode()
)
framed = st.tuples(likely, likely).map(lambda parts: b"---\n" + parts[0] + b"\n---\n" + parts[1])
contents = st.one_of(st.binary(max_size=300), likely, framed, st.text(max_size=100).map(str.encode))

tags = st.sampled_from(("quality-claude", "scope-claude", "visual-fidelity-claude", "stranger"))
endings = st.sampled_from(
    """.finding-F01.md .finding-F02.md .finding-F01.score.yml .finding-F01.score.md
    .finding-F02.verifier.md .clean.md .no-findings.md .NO_FINDINGS .skipped.md .path-filtered.md
    .bypass-attempt-01.md .override.md""".split()
)
known = st.tuples(tags, endings).map("".join)
names = st.one_of(
    known, known, known, st.text(min_size=1, max_size=20).filter(lambda n: "/" not in n)
)
rounds = st.dictionaries(names, contents, max_size=8)

DESIGN = subject("design")
TASK = subject("task-01")
MANIFEST = Manifest("task-01", 3, "", ("spec-claude", "visual-fidelity-claude"))


def read(files: dict[str, bytes], *, task: bool, strict: bool) -> Round:
    about = TASK if task else DESIGN
    assert about is not None
    tree = MemoryTree({f"{about.reviews}/round-03/{name}": data for name, data in files.items()})
    config = Config(second_reviewer=False, guard="strict" if strict else "tolerant")
    return guard.read_round(tree, about, 3, config, MANIFEST if task else None)


def is_whole(problem: Problem) -> bool:
    return bool(problem.code and problem.file) and problem.message.startswith(problem.file)


@pytest.mark.rule("GRD-03")
@given(files=rounds, task=st.booleans(), strict=st.booleans())
def test_any_names_and_any_bytes_are_answered(
    files: dict[str, bytes], task: bool, strict: bool
) -> None:
    round = read(files, task=task, strict=strict)
    assert all(is_whole(problem) for problem in (*round.violations, *round.warnings))
    everything = round.blocking
    order = list(HINTS)
    ranks = [order.index(problem.code) for problem in everything]
    assert ranks == sorted(ranks)
    assert set(round.violations) <= set(everything)


@pytest.mark.rule("GRD-03", "FND-13")
@given(files=rounds, task=st.booleans())
def test_strict_refuses_whatever_tolerant_refuses(files: dict[str, bytes], task: bool) -> None:
    tolerant = read(files, task=task, strict=False)
    strict = read(files, task=task, strict=True)
    assert set(tolerant.violations) <= set(strict.violations)
    assert {*tolerant.violations, *tolerant.warnings} == {*strict.violations, *strict.warnings}
    assert tolerant.findings == strict.findings


@pytest.mark.rule("FND-09")
@given(files=rounds)
def test_once_normalised_nothing_is_left_to_normalise(files: dict[str, bytes]) -> None:
    round = read(files, task=False, strict=False)
    normal = {
        name: finished(data) if name in round.unfinished else data for name, data in files.items()
    }
    again = read(normal, task=False, strict=False)
    assert again.unfinished == ()
    assert again._replace(warnings=()) == round._replace(unfinished=(), warnings=())


@pytest.mark.rule("CSC-03", "GRD-01")
@given(files=rounds)
def test_every_expected_tag_is_silent_or_has_a_file(files: dict[str, bytes]) -> None:
    round = read(files, task=False, strict=False)
    for tag in round.expected_tags:
        written = any(name.startswith(f"{tag}.") for name in files)
        assert tag in round.silent_tags or written


fields = st.fixed_dictionaries(
    {
        "number": st.integers(1, 999),
        "severity": st.sampled_from(("low", "medium", "high")),
        "kind": st.sampled_from(("style", "clarity", "correctness", "scope", "intent")),
        "start": st.integers(1, 5000),
        "length": st.integers(0, 50),
        "message": st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1)
        .map(str.strip)
        .filter(lambda text: text and "@@" not in text and "feedback/" not in text)
        .filter(lambda text: not text.startswith(("finding_id", "\ufeff"))),
    }
)


@pytest.mark.rule("FND-01")
@given(values=fields)
def test_a_finding_that_is_written_by_the_contract_is_read_back(values: dict[str, str]) -> None:
    cited = f"design.md:L{values['start']}-L{int(values['start']) + int(values['length'])}"
    finding_id = f"R3-F{int(values['number']):02d}"
    text = (
        f"---\nfinding_id: {finding_id}\nseverity: {values['severity']}\n"
        f"change_type: {values['kind']}\nreferenced_files: [{cited}]\nartifact: design\nround: 3\n"
        f"reviewer: quality-claude\n---\n{values['message']}\n"
    )
    assert DESIGN is not None
    name = FindingName("quality-claude", int(values["number"]))
    result = examine(name, "x.md", text.encode(), Place(DESIGN, 3), strict=True)
    assert (result.violations, result.warnings) == ((), ())
    assert isinstance(result.record, Finding)
    assert result.record.finding_id == finding_id
    assert result.record.severity == values["severity"]
    assert result.record.effective_type == result.record.change_type == values["kind"]
    assert result.record.referenced_files == (cited,)
    assert result.record.message == values["message"]
    assert result.record.data == text.encode()


@pytest.mark.rule("SPL-02", "SPL-03")
@given(reply=st.one_of(contents, likely))
def test_a_reply_is_split_into_whole_files_or_refused(reply: bytes) -> None:
    result = split(reply, "quality-codex", 3)
    if isinstance(result, Split):
        assert result.files
        for at, (name, data) in enumerate(result.files, 1):
            assert name in (f"quality-codex.finding-F{at:02d}.md", "quality-codex.clean.md")
            assert data.strip()
            assert finished(data) == data
    else:
        assert b"\n<<<FINDING-BOUNDARY>>>\nx" not in b"\n" + reply


segment = st.text(st.characters(exclude_categories=("Cs",)), min_size=1).filter(
    lambda text: text.strip() and "<<<" not in text and "\r" not in text and "\ufeff" not in text
)


@pytest.mark.rule("SPL-02")
@given(segments=st.lists(segment, min_size=1, max_size=5))
def test_what_was_joined_by_boundaries_is_split_again(segments: list[str]) -> None:
    reply = "".join(f"<<<FINDING-BOUNDARY>>>\n{text}\n" for text in segments)
    result = split(reply.encode(), "quality-codex", 3)
    assert isinstance(result, Split)
    texts = [data.decode() for _, data in result.files]
    assert [text.strip() for text in texts] == [text.strip() for text in segments]


HOSTILE = {
    "fences": b"```a\n",
    "rules": b"---\nid",
    "markers": b"<<<UNTRUSTED-ARTIFACT-START id=a>>>feedback/",
    "boundaries": b"<!-- @@",
    "feedback": b"feedback/",
    "ids": b"\nfinding_id",
    "blanks": b" \n",
    "words": b"whole ",
}


@pytest.mark.rule("GRD-03")
@pytest.mark.parametrize("kind", HOSTILE)
def test_the_largest_hostile_text_is_answered(kind: str) -> None:
    """Anything that looks at each piece again for every other would take minutes here."""
    head = (
        b"---\nfinding_id: R3-F01\nseverity: high\nchange_type: style\nround: 3\n"
        b"referenced_files: [design.md]\nartifact: design\nreviewer: quality-claude\n---\n"
    )
    text = head + HOSTILE[kind] * ((FINDING_LIMIT - len(head)) // len(HOSTILE[kind]))
    files = {
        "quality-claude.finding-F01.md": text,
        "quality-claude.finding-F01.score.md": HOSTILE[kind] * 1000,
        "scope-claude.clean.md": text,
    }
    assert read(files, task=False, strict=False).silent_tags == ()
