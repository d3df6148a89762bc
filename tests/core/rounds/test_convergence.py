from __future__ import annotations

import pytest

from qrspi.core.config import reader as configs
from qrspi.core.model import Decision, Problem
from qrspi.core.pipeline import subject_of
from qrspi.core.records.approvals import Record
from qrspi.core.rounds import convergence, scope_set
from qrspi.core.rounds.convergence import ChosenReviewers, ScopeSetFile
from qrspi.core.rounds.scope_set import ScopeSet
from qrspi.core.tree import Fault
from tests import runs

SHA, OTHER = "a" * 40, "b" * 40
EARLY = (
    " (rounds 1–2 broaden by default; absence may indicate tagger failure or zero-kept-findings)"
)


def tags(*lines: str) -> ScopeSet:
    return ScopeSet(lines)


A, AB, BA, ABC, CD = (
    tags("## A"),
    tags("## A", "## B"),
    tags("## B", "## A"),
    tags("## A", "## B", "## C"),
    tags("## C", "## D"),
)
FULL = tags("## A", "<full>")
EMPTY = tags()
BAD = Problem("bad_scope_set", "tag line 'x y' has neither …")


def decide(
    number: int = 3,
    previous: ScopeSetFile = AB,
    current: ScopeSetFile = AB,
    *,
    step: str = "design",
    tagger_enabled: bool = True,
    flag: bool = False,
    head_parent: str | None = SHA,
    previous_anchor: str | None = SHA,
    in_git: bool = True,
) -> Decision:
    return convergence.decide(
        number,
        step=step,
        tagger_enabled=tagger_enabled,
        flag=flag,
        previous=previous,
        current=current,
        head_parent=head_parent,
        previous_anchor=previous_anchor,
        in_git=in_git,
    )


@pytest.mark.rule("CNV-05", "CNV-06", "CNV-07", "CNV-08", "CNV-09", "CNV-12")
@pytest.mark.parametrize(
    ("previous", "current", "rule", "hint"),
    [
        (AB, AB, "CNV-07", ("## A", "## B")),
        (AB, BA, "CNV-07", ("## B", "## A")),
        (AB, A, "CNV-08", ("## A", "## B")),
        (A, AB, "CNV-09", ()),
        (AB, CD, "CNV-09", ()),
        (ABC, CD, "CNV-09", ()),
        (FULL, FULL, "CNV-05", ()),
        (FULL, A, "CNV-05", ()),
        (A, FULL, "CNV-05", ()),
        (EMPTY, FULL, "CNV-05", ()),
        (EMPTY, EMPTY, "CNV-06", ()),
        (EMPTY, A, "CNV-06", ()),
        (A, EMPTY, "CNV-06", ()),
        (tags("## <full>"), tags("## <full>"), "CNV-07", ("## <full>",)),
    ],
)
def test_the_sets_decide(
    previous: ScopeSet, current: ScopeSet, rule: str, hint: tuple[str, ...]
) -> None:
    assert decide(3, previous, current) == Decision(4, bool(hint), rule, hint)


@pytest.mark.rule("CNV-01")
@pytest.mark.parametrize(("step", "enabled"), [("design", False), ("test", True), ("test", False)])
@pytest.mark.parametrize("flag", [False, True])
def test_without_a_tagger_it_broadens_in_silence(step: str, enabled: bool, flag: bool) -> None:
    found = decide(3, None, None, step=step, tagger_enabled=enabled, flag=flag)
    assert found == Decision(4, False, "CNV-01", consumes_flag=flag)


@pytest.mark.rule("CNV-02")
def test_a_backward_loop_broadens_and_its_flag_is_used_up() -> None:
    assert decide(flag=True) == Decision(4, False, "CNV-02", consumes_flag=True)


@pytest.mark.rule("CNV-02")
def test_a_flag_that_cannot_be_deleted_is_told() -> None:
    assert convergence.flag_persists(3) == (
        "Round 03: backward-loop flag delete failed — flag persists; manual remove may be required"
    )


@pytest.mark.rule("CNV-03")
def test_the_second_round_is_always_broad() -> None:
    assert decide(1, None, AB) == Decision(2, False, "CNV-03")


@pytest.mark.rule("CNV-07")
def test_the_third_round_is_the_first_that_can_narrow() -> None:
    assert decide(2) == Decision(3, True, "CNV-07", ("## A", "## B"))


def absent_earlier(number: int) -> str:
    return (
        f"Round {number - 1:02d} scope-set absent (no earlier scope-tagger output?)"
        f" — broadening for round {number + 1:02d}"
    )


def absent(number: int) -> str:
    return f"Round {number:02d} scope-set absent — broadening for round {number + 1:02d}"


@pytest.mark.rule("CNV-04", "CNV-11")
@pytest.mark.parametrize(
    ("number", "previous", "current", "rule", "diagnostics"),
    [
        (3, None, AB, "CNV-04", (absent_earlier(3),)),
        (3, None, None, "CNV-04", (absent_earlier(3),)),
        (3, AB, None, "CNV-04", (absent(3),)),
        (12, AB, None, "CNV-04", (absent(12),)),
        (2, AB, None, "CNV-04", (absent(2) + EARLY,)),
        (2, None, AB, "CNV-04", (absent_earlier(2) + EARLY,)),
        (2, None, None, "CNV-04", (absent_earlier(2) + EARLY,)),
        (1, None, None, "CNV-03", (absent(1) + EARLY,)),
        (3, AB, BAD, "CNV-04", (scope_set.malformed_line(3, BAD.message),)),
        (3, BAD, AB, "CNV-04", (scope_set.malformed_line(2, BAD.message),)),
        (3, BAD, None, "CNV-04", (absent(3), scope_set.malformed_line(2, BAD.message))),
    ],
)
def test_a_missing_set_broadens_with_its_cause(
    number: int,
    previous: ScopeSetFile,
    current: ScopeSetFile,
    rule: str,
    diagnostics: tuple[str, ...],
) -> None:
    found = decide(number, previous, current)
    assert found == Decision(number + 1, False, rule, diagnostics=diagnostics)


@pytest.mark.rule("CNV-11")
def test_the_texts_of_missing_sets() -> None:
    assert decide(3, None, AB).diagnostics == (
        "Round 02 scope-set absent (no earlier scope-tagger output?) — broadening for round 04",
    )
    assert decide(3, AB, None).diagnostics == (
        "Round 03 scope-set absent — broadening for round 04",
    )
    assert decide(1, None, None).diagnostics == (
        "Round 01 scope-set absent — broadening for round 02 (rounds 1–2 broaden by default;"
        " absence may indicate tagger failure or zero-kept-findings)",
    )


@pytest.mark.rule("CNV-11", "CNV-02")
def test_a_missing_set_is_told_whichever_rule_decides() -> None:
    found = decide(3, AB, None, flag=True)
    assert found == Decision(4, False, "CNV-02", (), (absent(3),), consumes_flag=True)


@pytest.mark.rule("CNV-10")
@pytest.mark.parametrize(
    ("parent", "anchor", "expected", "actual"),
    [
        (SHA, OTHER, OTHER, SHA),
        (None, OTHER, OTHER, "(none)"),
        (SHA, None, "(none)", SHA),
        (None, None, "(none)", "(none)"),
    ],
)
@pytest.mark.parametrize("current", [AB, A])
def test_a_commit_in_between_broadens(
    parent: str | None, anchor: str | None, expected: str, actual: str, current: ScopeSet
) -> None:
    found = decide(3, AB, current, head_parent=parent, previous_anchor=anchor)
    line = (
        "HEAD~1 is not the prior per-round commit — broadening for round 04"
        f" (expected {expected}; HEAD~1 is {actual})"
    )
    assert found == Decision(4, False, "CNV-10", diagnostics=(line,))


@pytest.mark.rule("CNV-10")
def test_the_anchor_is_not_looked_at_when_nothing_narrows() -> None:
    found = decide(3, AB, CD, head_parent=None, previous_anchor=None)
    assert found == Decision(4, False, "CNV-09")


@pytest.mark.rule("CMT-03")
def test_outside_git_it_never_narrows() -> None:
    found = decide(in_git=False, head_parent=None, previous_anchor=None)
    assert found == Decision(4, False, "CNV-10")


@pytest.mark.rule("CNV-01", "CNV-02", "CNV-03", "CNV-04", "CNV-05", "CNV-06")
def test_rules_are_tried_in_order() -> None:
    """Every condition holds at first; taking away the deciding one lets the next decide."""
    assert decide(1, None, FULL, tagger_enabled=False, flag=True).rule == "CNV-01"
    assert decide(1, None, FULL, flag=True).rule == "CNV-02"
    assert decide(1, None, FULL).rule == "CNV-03"
    assert decide(3, None, FULL).rule == "CNV-04"
    assert decide(3, EMPTY, FULL).rule == "CNV-05"
    assert decide(3, EMPTY, A).rule == "CNV-06"
    assert decide(3, A, A, head_parent=OTHER).rule == "CNV-10"
    assert decide(3, A, A).rule == "CNV-07"


@pytest.mark.rule("CNV-07")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# scope-set for round 1\n#\n# warning: x\n## A\nplan.md\n", ("## A", "plan.md")),
        ("#no space\n", ("#no space",)),
        ("## A  \n\n## A\r\n", ("## A",)),
        ("", ()),
    ],
)
def test_tag_lines_are_what_is_no_comment(text: str, found: tuple[str, ...]) -> None:
    assert scope_set.tag_lines(text.encode()) == found


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (Fault("absent"), None),
        (b"a.md\n", ScopeSet(("a.md",))),
        (Fault("unreadable", "Permission denied"), "Permission denied"),
        (Fault("not-a-file"), "it is not a regular file"),
        (b"\xff\n", "byte 1 is not UTF-8"),
    ],
)
def test_absent_and_unreadable_sets_are_told_apart(
    content: bytes | Fault, found: ScopeSet | str | None
) -> None:
    loaded = scope_set.load(content)
    assert (loaded.message if isinstance(loaded, Problem) else loaded) == found


@pytest.mark.rule("CNV-10", "CMT-02")
@pytest.mark.parametrize(
    ("content", "sha"),
    [
        (f"{SHA}\n".encode(), SHA),
        (SHA.encode(), SHA),
        (b"", None),
        (f"{SHA} {SHA}\n".encode(), None),
        (f"{SHA[:39]}\n".encode(), None),
        (f"{SHA.upper()}\n".encode(), None),
        (b"HEAD\n", None),
        (Fault("absent"), None),
        (Fault("unreadable", "Permission denied"), None),
    ],
)
def test_an_anchor_is_one_whole_commit_id(content: bytes | Fault, sha: str | None) -> None:
    assert convergence.anchor(content) == sha


@pytest.mark.rule("CNV-13")
def test_every_rule_has_a_reason_in_words() -> None:
    assert list(convergence.REASONS) == [f"CNV-{number:02d}" for number in range(1, 11)]


TAGS = ("a", "b", "c", "d")
PLAN = subject_of("plan")


def said(*rounds: str) -> dict[str, bytes]:
    """For each round the tags that wrote a finding; the others found nothing."""
    files: dict[str, bytes] = {}
    for number, raised in enumerate(rounds, 1):
        for tag in TAGS:
            word = "finding-F01" if tag in raised else "clean"
            files[f"reviews/plan/round-{number:02d}/{tag}.{word}.md"] = b"x"
    return files


def chosen(
    number: int, files: dict[str, bytes], mode: str = "raisers", base: int = 0
) -> ChosenReviewers:
    config = configs.read(runs.config(later_rounds=mode))
    return convergence.choose_reviewers(runs.tree(files), PLAN, config, TAGS, number, base)


@pytest.mark.rule("LIV-19")
@pytest.mark.parametrize(
    ("number", "rounds", "base", "expected"),
    [
        pytest.param(2, ("a",), 0, "abcd", id="the second round has everybody"),
        pytest.param(3, ("a", "b"), 0, "abc", id="those with a finding in any round, and one"),
        pytest.param(4, ("a", "", "b"), 0, "abd", id="the one more takes turns"),
        pytest.param(5, ("a", "", "b", ""), 0, "abc", id="and comes again"),
        pytest.param(3, ("", ""), 0, "a", id="nobody had anything: one"),
        pytest.param(3, ("abc", "a"), 0, "abcd", id="only one is left over"),
        pytest.param(4, ("a", "b", "c"), 3, "abcd", id="a new loop begins with everybody"),
        pytest.param(6, ("a", "b", "c", "", ""), 3, "a", id="earlier loops say nothing"),
    ],
)
def test_raisers_and_one_more(
    number: int, rounds: tuple[str, ...], base: int, expected: str
) -> None:
    found = chosen(number, said(*rounds), base=base)
    assert found.tags == tuple(expected)
    assert bool(found.because) == (found.tags != TAGS)
    assert chosen(number, said(*rounds), "all", base) == ChosenReviewers(TAGS)


@pytest.mark.rule("LIV-19")
def test_it_says_who_is_left_out_and_why() -> None:
    assert chosen(3, said("a", "")).because == (
        "later_rounds is raisers: not sent to round 3, as they had no finding in an earlier one, "
        "are c, d; b had none either and looks again"
    )


@pytest.mark.rule("CAP-03")
@pytest.mark.parametrize(("key", "base"), [("task-01", 1), ("implement-gate", 3), ("plan", 0)])
def test_a_rejection_of_a_task_or_of_all_begins_its_own_rounds_anew(key: str, base: int) -> None:
    records = (Record("reject", "implement", "", 3), Record("reject", "task-01", "", 1))
    assert convergence.base_of(subject_of(key), records) == base
