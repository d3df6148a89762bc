"""Where a review loop stands: each stage of the table, and what follows a closed round."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from qrspi.core.config import reader as configs
from qrspi.core.derivation import compaction_advice
from qrspi.core.derivation.awaited_files import awaited
from qrspi.core.derivation.derive import derive
from qrspi.core.pipeline import Subject, subject
from qrspi.core.records import approvals
from qrspi.core.records.approvals import Mark, Record
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds import pause_file, round_list
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import after_round
from qrspi.core.steps.facts import Facts, gather
from qrspi.core.tree import MemoryTree
from tests import runs
from tests.runs import artifact, clean, config, finding, manifest, score, tree

PLACE = "reviews/goals"
ROUND = f"{PLACE}/round-01"
TEXT = artifact()
Files = dict[str, bytes]


def goals() -> Subject:
    found = subject("goals")
    assert found is not None
    return found


def opened(number: int = 1, **more: object) -> Files:
    text = {"config.md": config(), "goals.md": TEXT}
    place = f"{PLACE}/round-{number:02d}/.dispatch-manifest.json"
    return {**text, place: manifest(round=number, body=TEXT, **more)}


FOUND: Files = {
    f"{ROUND}/quality-claude.finding-F01.md": finding(),
    f"{ROUND}/scope-claude.clean.md": clean("scope-claude"),
}
SCORED: Files = {**FOUND, f"{ROUND}/quality-claude.finding-F01.score.yml": score(90)}
CLEAN: Files = {
    f"{ROUND}/quality-claude.clean.md": clean(),
    f"{ROUND}/scope-claude.clean.md": clean("scope-claude"),
}
PAUSED: Files = {
    **CLEAN,
    f"{ROUND}/scope-claude.finding-F01.md": finding("scope-claude", kind="scope"),
}
SKIP: Files = {f"{ROUND}-verifier-disabled.md": b"---\nreason: x\n---\n"}
ANCHOR: Files = {f"{ROUND}-commit.txt": b"a" * 40 + b"\n"}
DISPOSED: Files = {f"{ROUND}-dispositions.md": b"Fixed.\n"}


def on_record(event: str, **said: str) -> Files:
    return {"approvals.jsonl": approvals.render(Record(event, "goals", "", 1, **said))}


def evaluated(files: Mapping[str, bytes], *, in_git: bool = True, base: int = 0) -> Loop:
    view = MemoryTree(files, in_git=in_git)
    return loops.evaluate(view, goals(), configs.read(files["config.md"]), base)


def with_engine_files(files: Files) -> Files:
    """The files, and what assembling would have written for them."""
    loop = evaluated(files)
    kept = f"# scope-set for round 1\n# total_findings_kept: {loop.kept}\n"
    written = {
        f"{ROUND}-verified.md": loop.verified,
        f"{ROUND}-scope-set.txt": kept.encode() + (b"## Approach\n" if loop.kept else b""),
    }
    if pause_file.waiting(loop.triaged) and loop.pause is None:
        written["reviews/goals-loop-pause-round-01.md"] = pause_file.render(
            "goals", 1, loop.triaged
        )
    return files | written


STAGES: list[tuple[str, Files, str]] = [
    ("no round", {"config.md": config(), "goals.md": TEXT}, "none"),
    ("an empty directory", {"config.md": config(), f"{ROUND}/.DS_Store": b""}, "none"),
    ("nobody wrote yet", opened(), "reviewing"),
    ("one of two wrote", opened() | {f"{ROUND}/quality-claude.clean.md": clean()}, "reviewing"),
    (
        "a finding is malformed",
        opened() | CLEAN | {f"{ROUND}/quality-claude.finding-F01.md": b"no frontmatter\n"},
        "guarded",
    ),
    (
        "one is malformed, one is not there",
        opened() | {f"{ROUND}/quality-claude.finding-F01.md": b"no frontmatter\n"},
        "guarded",
    ),
    ("a finding has no score", opened() | FOUND, "verifying"),
    (
        "a verifier failed",
        opened()
        | SCORED
        | {f"{ROUND}/quality-claude.finding-F01.score.yml": score("VERIFY_FAILED")},
        "failed",
    ),
    (
        "an outside scope set is malformed",
        opened() | SCORED | {f"{ROUND}-scope-set.txt": b"###### \n"},
        "failed",
    ),
    ("scored, not assembled", opened() | SCORED, "scored"),
    ("assembled, to be fixed", with_engine_files(opened() | SCORED), "fixing"),
    (
        "verified file altered",
        with_engine_files(opened() | SCORED) | {f"{ROUND}-verified.md": b"x"},
        "scored",
    ),
    ("a person must decide", with_engine_files(opened() | PAUSED), "paused"),
    ("fixed, not committed", with_engine_files(opened() | SCORED) | DISPOSED, "committing"),
    ("fixed and committed", opened() | DISPOSED | ANCHOR, "closed"),
    ("clean", with_engine_files(opened() | CLEAN), "closed"),
    ("left by a loop back", opened() | {f"{ROUND}-backward-loop.flag": b""}, "abandoned"),
]


@pytest.mark.rule("RND-01", "RND-04", "ST-06")
@pytest.mark.parametrize(("case", "files", "stage"), STAGES, ids=[row[0] for row in STAGES])
def test_stage(case: str, files: Files, stage: str) -> None:
    assert evaluated(files).stage == stage


@pytest.mark.rule("CMT-03")
def test_outside_git_a_round_is_closed_without_an_anchor() -> None:
    assert evaluated(opened() | DISPOSED, in_git=False).stage == "closed"
    assert evaluated(opened() | DISPOSED, in_git=True).stage != "closed"


@pytest.mark.rule("RND-03")
def test_a_round_with_a_later_one_is_not_looked_at() -> None:
    loop = evaluated(opened() | opened(2) | FOUND)
    assert (loop.round, loop.stage) == (2, "reviewing")


def of_rounds(*numbers: int) -> MemoryTree:
    return MemoryTree({f"{PLACE}/round-{number:02d}/x.md": b"x" for number in numbers})


@pytest.mark.rule("CAP-01", "CAP-03")
@pytest.mark.parametrize(("base", "capped"), [(0, True), (1, True), (2, False)])
def test_only_rounds_after_the_base_count(base: int, capped: bool) -> None:
    rounds = of_rounds(*range(1, round_list.AUTONOMOUS + 2))
    assert (round_list.cap(rounds, goals(), base) is not None) is capped


@pytest.mark.rule("RUN-07")
@pytest.mark.parametrize(
    ("numbers", "lines"),
    [
        ((1, 2), []),
        ((1, 3), ["reviews/goals: round 02 is missing below round 03"]),
        ((3, 4), ["reviews/goals: rounds 01-02 are missing below round 03"]),
    ],
)
def test_a_gap_is_told_in_one_line(numbers: tuple[int, ...], lines: list[str]) -> None:
    odd = round_list.odd_names(of_rounds(*numbers), goals())
    assert [one.message for one in odd] == lines


@pytest.mark.parametrize(("upto", "latest"), [(4, (3, 4)), (3, (2, 3)), (1, (1,))])
def test_the_latest_rounds_up_to_one(upto: int, latest: tuple[int, ...]) -> None:
    assert round_list.latest(of_rounds(1, 2, 3, 4), goals(), upto, 2) == latest


@pytest.mark.rule("CAP-03")
def test_a_round_of_an_earlier_loop_is_left() -> None:
    assert evaluated(opened() | FOUND, base=1).stage == "abandoned"


@pytest.mark.rule("FLR-01", "FLR-04")
@pytest.mark.parametrize(
    ("files", "stage"),
    [
        (opened() | SKIP, "scored"),
        (opened() | FOUND | SKIP, "scored"),
        (
            opened()
            | SCORED
            | SKIP
            | {f"{ROUND}/quality-claude.finding-F01.score.yml": score("VERIFY_FAILED")},
            "scored",
        ),
    ],
    ids=["missing output", "missing score", "failed verifier"],
)
def test_a_skip_covers_what_is_missing(files: Files, stage: str) -> None:
    assert evaluated(files).stage == stage


@pytest.mark.rule("FLR-04")
def test_a_skip_does_not_cover_a_malformed_finding() -> None:
    bad = {f"{ROUND}/quality-claude.finding-F01.md": b"no frontmatter\n"}
    assert evaluated(opened() | CLEAN | bad | SKIP).stage == "guarded"


@pytest.mark.rule("FLR-03")
def test_the_failure_line_names_the_first_and_counts_the_rest() -> None:
    second = {f"{ROUND}/quality-claude.finding-F02.md": finding(number=2)}
    files = opened() | FOUND | second
    files[f"{ROUND}/quality-claude.finding-F01.score.yml"] = score("VERIFY_FAILED")
    files[f"{ROUND}/quality-claude.finding-F02.score.yml"] = score("VERIFY_FAILED")
    answer = derive(tree(files)).next
    assert (answer.action, answer.summary) == (
        "decide",
        "Verifier returned VERIFY_FAILED for 2 findings",
    )
    assert [option.key for option in answer.options] == ["skip", "retry", "stop"]
    stems = [f"quality-claude.finding-F0{at}" for at in (1, 2)]
    scores = [f"{ROUND}/{stem}.score.yml" for stem in stems]
    assert list(answer.missing) == stems
    assert [(one.file, one.kind) for one in awaited(answer)] == [(one, "score") for one in scores]
    assert answer.inputs[:2] == (f"{ROUND}/{stems[0]}.md", scores[0])


@pytest.mark.rule("LIV-18")
def test_who_gave_a_bad_score_is_asked_for_another_and_shown_the_finding() -> None:
    wrong = {f"{ROUND}/quality-claude.finding-F01.score.yml": b"score: 7e1\n"}
    answer = derive(tree(opened() | FOUND | wrong)).next
    assert [(ask.kind, ask.target) for ask in answer.asks] == [
        ("verify", "quality-claude.finding-F01")
    ]
    assert f"{ROUND}/quality-claude.finding-F01.md" in answer.inputs
    assert [one.file for one in awaited(answer)] == list(wrong)


@pytest.mark.rule("LIV-18")
def test_what_an_agent_wrote_wrongly_is_for_the_agent_and_told_whole() -> None:
    bad = {f"{ROUND}/quality-claude.finding-F0{at}.md": b"no frontmatter\n" for at in (1, 2)}
    state = derive(tree(opened() | bad))
    answer = state.next
    assert (answer.action, answer.who, answer.kind) == ("review", "agent", "fix-files")
    assert [problem.file for problem in state.errors] == list(bad)
    assert answer.because == tuple(problem.message for problem in state.errors)
    assert answer.inputs == (*bad, "goals.md")
    assert [ask.target for ask in answer.asks] == ["scope-claude", "quality-claude"]
    assert compaction_advice.checkpoint(answer) is None
    assert [option.key for option in answer.options] == ["retry", "stop"]
    assert answer.summary == (
        "2 faults in what was written for goals round 1: whoever wrote it corrects it; "
        f"scope-claude may be sent meanwhile. To have all that this agent wrote made again: "
        f"`qrspi resolve {state.run} retry`."
    )


@pytest.mark.rule("LIV-02", "LIV-18")
def test_nobody_is_sent_again_for_the_file_of_a_stranger() -> None:
    bad = {f"{ROUND}/spec-claude.clean.md": b"no frontmatter\n"}
    answered = {f"{ROUND}/{tag}.clean.md": clean(tag) for tag in ("quality-claude", "scope-claude")}
    state = derive(tree(opened() | answered | bad))
    assert [option.key for option in state.next.options] == ["stop"]
    assert state.next.command == f"qrspi next {state.run}"
    assert state.next.summary.split(": ", 1)[1] == (
        "whoever wrote it corrects it. Or move the file away, or name the tag under "
        f"extra_reviewers in config.md, then run `qrspi next {state.run}`."
    )


def answer_for(files: Files, **more: bytes) -> tuple[str, str, tuple[str, ...]]:
    found = derive(tree(files, more)).next
    return found.action, found.who, found.because


FIXED: Files = opened() | SCORED | DISPOSED
CHANGED = {"goals.md": artifact(body="# Text\n\n## Approach\n\nBetter words.\n")}
LOOP = {f"{PLACE}/loop.md": b"---\nmode: loop\n---\n"}
PRESENT = {f"{PLACE}/loop.md": b"---\nmode: present\n---\n"}


@pytest.mark.rule("APR-01", "RND-04")
def test_a_clean_round_goes_to_the_gate() -> None:
    files = with_engine_files(opened() | CLEAN)
    assert answer_for(files) == ("approve", "human", ("Reviews passed clean in round 1",))


@pytest.mark.rule("ST-10")
def test_a_clean_round_counts_only_for_the_text_it_saw() -> None:
    files = with_engine_files(opened() | CLEAN) | CHANGED
    found = derive(tree(files)).next
    assert (found.action, found.round) == ("prepare-round", 2)
    assert found.because[-1] == (
        "Reviews passed clean in round 1; the text has changed since and is not re-verified"
    )


@pytest.mark.rule("RND-05", "RND-06")
def test_after_the_first_round_the_question_is_asked_once() -> None:
    found = derive(tree(FIXED, CHANGED)).next
    assert (found.action, found.kind) == ("decide", "loop")
    assert [option.label for option in found.options] == [
        "Present for review",
        "Loop until clean (recommended)",
    ]
    assert derive(tree(FIXED, CHANGED, LOOP)).next.action == "prepare-round"
    assert answer_for(FIXED | CHANGED | PRESENT) == (
        "approve",
        "human",
        ("Reviews found issues in round 1 which were fixed but not re-verified",),
    )


@pytest.mark.rule("EVD-04")
def test_a_fixer_that_changed_nothing_ends_the_loop() -> None:
    assert answer_for(FIXED | LOOP) == (
        "approve",
        "human",
        ("Reviews found issues in round 1; the text was not changed",),
    )


@pytest.mark.rule("PSE-06", "APR-01", "LIV-01", "SEC-20")
def test_when_all_was_skipped_the_loop_ends_at_the_gate() -> None:
    files = with_engine_files(opened() | PAUSED)
    pause = "reviews/goals-loop-pause-round-01.md"
    files[pause] = files[pause].replace(b": pending", b": skip")
    assert evaluated(files).stage == "committing"
    claim = "Reviews found issues in round 1, closed by a pause file; no decision is on record"
    assert answer_for(files | DISPOSED | CHANGED) == ("approve", "human", (claim,))
    record = on_record("decide", finding="scope-claude.R1-F01", option="skip")
    assert answer_for(files | DISPOSED | CHANGED | record) == (
        "approve",
        "human",
        ("Reviews found issues in round 1 which were skipped by a person",),
    )


@pytest.mark.rule("RND-04", "LIV-01", "SEC-20")
def test_a_skipped_round_without_findings_is_not_clean() -> None:
    files = opened() | SKIP
    files = with_engine_files(files)
    marker = f"{ROUND}-verifier-disabled.md"
    claim = f"Round 1 was skipped by {marker}; no decision is on record"
    assert answer_for(files) == ("approve", "human", (claim,))
    files |= on_record("resolve", option="skip")
    assert answer_for(files) == ("approve", "human", ("Round 1 was skipped by a person",))


@pytest.mark.rule("ST-04")
def test_files_that_were_never_prepared_block_and_are_never_closed() -> None:
    files = {"config.md": config(), "goals.md": TEXT, **CLEAN}
    found = derive(tree(files)).next
    assert (found.action, found.kind) == ("blocked", "precondition")
    assert found.summary == (
        "precondition-violation: reviews/goals/round-01 holds files but was never prepared. `qrspi "
        "import docs/qrspi/2026-05-17-user-auth` takes it in as made elsewhere, `qrspi round "
        "prepare 2026-05-17-user-auth goals --adopt` as a round of this run."
    )


def test_a_manifest_that_cannot_be_read_is_not_called_missing() -> None:
    manifest = "reviews/goals/round-01/.dispatch-manifest.json"
    files = {"config.md": config(), "goals.md": TEXT, **CLEAN, manifest: b"{"}
    found = derive(tree(files)).next
    assert (found.action, found.kind, found.summary, found.because) == (
        "blocked",
        "precondition",
        f"precondition-violation: {manifest}: the round's manifest is text that is not JSON, "
        "expected the JSON that preparing wrote; restore it from git. `qrspi import "
        "docs/qrspi/2026-05-17-user-auth` takes it in as made elsewhere, `qrspi round prepare "
        "2026-05-17-user-auth goals --adopt` as a round of this run.",
        (f"{manifest} cannot be read, so nobody knows who was sent",),
    )


@pytest.mark.rule("LIV-21")
@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"[]", "a JSON list"),
        (b'{"reviewers": []}', "without a proper 'step'"),
        (manifest(expected_tags=[1]), "without a proper 'expected_tags'"),
    ],
)
def test_a_manifest_of_another_shape_is_none_with_a_warning(data: bytes, found: str) -> None:
    file = "reviews/goals/round-01/.dispatch-manifest.json"
    files = {"config.md": config(), "goals.md": TEXT, **CLEAN, file: data}
    state = derive(tree(files))
    assert (state.next.kind, state.next.because) == (
        "precondition",
        ("reviews/goals/round-01 has no manifest, so nobody knows who was sent",),
    )
    assert [(item.code, item.message) for item in state.warnings] == [
        (
            "manifest-shape",
            f"{file}: the round's manifest is {found}, expected the JSON that preparing wrote",
        )
    ]
    closed = derive(tree(files | DISPOSED | ANCHOR))
    assert (closed.steps[0].stage, [item.code for item in closed.warnings]) == (
        "closed",
        ["manifest-shape"],
    )


ROWS: list[tuple[str, list[bool], bool, bool]] = [
    ("nine on their own", [False] * 9, False, False),
    ("ten on their own", [False] * 10, True, False),
    ("pauses are free", [False] * 9 + [True] * 4, False, False),
    ("five pauses in a row", [False] + [True] * 5, True, True),
    ("pauses with a gap", [True, True, False, True, True], False, False),
    ("twenty in all", ([False] + [True] * 3) * 5, True, True),
]


@pytest.mark.rule("CAP-01", "CAP-02")
@pytest.mark.parametrize(("case", "pauses_", "capped", "escape"), ROWS, ids=[r[0] for r in ROWS])
def test_caps(case: str, pauses_: list[bool], capped: bool, escape: bool) -> None:
    cap = round_list.reached(pauses_)
    assert (cap is not None, bool(cap and cap.escape)) == (capped, escape)


def quick(*parts: Files) -> Files:
    merged: Files = {}
    for part in parts:
        merged |= {path.replace("goals", "questions"): data for path, data in part.items()}
    merged["config.md"] = config("quick")
    merged["goals.md"] = artifact("approved")
    merged["questions.md"] = TEXT
    place = "reviews/questions/round-01"
    merged[f"{place}/.dispatch-manifest.json"] = manifest(
        "questions", tags=["quality-claude"], body=TEXT
    )
    return {path: data for path, data in merged.items() if "scope-claude" not in path}


@pytest.mark.rule("CSC-01", "CSC-02", "CSC-03")
@pytest.mark.parametrize(
    ("case", "files", "fires"),
    [
        ("clean in round 1", quick(CLEAN), True),
        ("a forged clean beside a finding", quick(CLEAN, SCORED), False),
        ("a full pipeline", quick(CLEAN) | {"config.md": config("full")}, False),
        ("a person skipped", quick(CLEAN, SKIP), False),
        (
            "nobody is to be left out",
            quick(CLEAN) | {"config.md": config("quick", cascade="off")},
            False,
        ),
        (
            "the text changed since",
            quick(CLEAN) | {"questions.md": artifact(body="# New\n")},
            False,
        ),
        ("an unknown file", quick(CLEAN) | {"reviews/questions/round-01/R01-F01.md": b"x"}, False),
        (
            "a paused round",
            quick(CLEAN) | {"reviews/questions-loop-pause-round-01.md": b"---\ndecisions:\n---\n"},
            False,
        ),
        (
            "a first round that was made elsewhere",
            quick(CLEAN) | {"import.md": b"---\nrounds:\n  reviews/questions: [1]\n---\n"},
            False,
        ),
    ],
)
def test_when_a_clean_round_approves_by_itself(case: str, files: Files, fires: bool) -> None:
    about = subject("questions")
    assert about is not None
    view, settings = MemoryTree(files, in_git=False), configs.read(files["config.md"])
    loop = loops.evaluate(view, about, settings)
    closed = loop._replace(stage="closed", clean=loop.kept == 0 and not loop.skipped)
    assert after_round.cascades(facts_of(view), closed) is fires


def facts_of(view: MemoryTree) -> Facts:
    settings = configs.read(view.read("config.md"))
    assert settings.route
    return gather(view, settings, settings.route)[0]._replace(step="questions")


@pytest.mark.rule("CSC-01")
@pytest.mark.parametrize("step", ["goals", "design", "phasing", "structure", "parallelize"])
def test_only_three_steps_ever_cascade(step: str) -> None:
    assert step not in after_round.CASCADING


@pytest.mark.rule("CSC-02")
def test_the_second_round_cascades_only_after_fixes() -> None:
    files = quick(CLEAN)
    later = {path.replace("round-01", "round-02"): data for path, data in files.items()}
    for path in later:
        later[path] = (
            later[path].replace(b"round: 1", b"round: 2").replace(b'"round": 1', b'"round": 2')
        )
    about = subject("questions")
    assert about is not None
    for disposed in (False, True):
        both = files | later
        if disposed:
            both["reviews/questions/round-01-dispositions.md"] = b"Fixed.\n"
        view, settings = MemoryTree(both, in_git=False), configs.read(both["config.md"])
        loop = loops.evaluate(view, about, settings)._replace(stage="closed", clean=True)
        assert loop.round == 2
        assert after_round.cascades(facts_of(view), loop) is disposed


@pytest.mark.rule("CAP-03")
def test_a_rejection_starts_a_new_loop() -> None:
    mark = Mark("goals", runs.text_hash(TEXT), 3)
    records = (Record("approve", "goals", "x", 2), Record("reject", *mark, resets=(mark,)))
    assert approvals.loop_base(records, "goals") == 3
    assert approvals.loop_base(records[:1], "goals") == 0


EDITED = {"goals.md": artifact(body="# Text\n\n## Approach\n\nOther words.\n")}


@pytest.mark.rule("LIV-16")
def test_a_round_that_nobody_answered_is_renewed_when_the_text_changes() -> None:
    assert derive(tree(opened())).next.action == "review"
    answer = derive(tree(opened() | EDITED)).next
    assert (answer.action, answer.who, answer.round) == ("prepare-round", "engine", 1)
    assert answer.because == (
        "goals.md has changed since the round was opened, and nobody has answered yet",
    )


@pytest.mark.rule("LIV-16")
def test_whose_answers_do_not_count_is_said_once() -> None:
    one = {f"{ROUND}/quality-claude.clean.md": clean()}
    state = derive(tree(opened() | one | EDITED))
    assert state.next.action == "review"
    assert [item.message for item in state.warnings if item.code == "text-changed"] == [
        "goals.md has changed since round 1 was opened: what quality-claude wrote is about the "
        "earlier text and does not count as a review of this one; another round will follow"
    ]
    untouched = derive(tree(opened() | one)).warnings
    assert not any(item.code == "text-changed" for item in untouched)


@pytest.mark.rule("LIV-21")
def test_a_closed_round_is_closed_whatever_its_pause_file_says() -> None:
    pause = {"reviews/goals-loop-pause-round-01.md": b"---\ndecisions: 1\n---\n"}
    assert evaluated(opened() | SCORED | DISPOSED | ANCHOR | pause).stage == "closed"
    answer = derive(tree(opened() | SCORED | pause)).next
    assert (answer.action, answer.who, answer.kind) == ("blocked", "human", "records")
    assert answer.missing == tuple(pause)


@pytest.mark.rule("LIV-21")
def test_the_number_of_a_round_is_never_given_twice() -> None:
    left = {"reviews/goals/round-02-dispositions.md": b"Fixed.\n"}
    answer = derive(tree({"config.md": config(), "goals.md": TEXT} | left)).next
    assert (answer.action, answer.round) == ("prepare-round", 3)
    results = {"reviews/goals/round-01-results.md": b"x", "reviews/goals/round-01.diff": b"x"}
    answer = derive(tree({"config.md": config(), "goals.md": TEXT} | results)).next
    assert (answer.action, answer.round) == ("prepare-round", 1)
    assert evaluated(opened() | left).round == 1


@pytest.mark.rule("LIV-19")
@pytest.mark.parametrize(
    ("mode", "opening"),
    [("raisers", "unproven"), ("all", "tampered")],
)
def test_a_manifest_that_nothing_proves_may_leave_out_whom_later_rounds_leave_out(
    mode: str, opening: str
) -> None:
    extra = "{goals: [a-claude, b-claude]}"
    tags = ("quality-claude", "scope-claude", "a-claude", "b-claude")
    files = {"config.md": config(later_rounds=mode, extra_reviewers=extra), "goals.md": TEXT}
    for number in (1, 2):
        place = f"{PLACE}/round-{number:02d}"
        files[f"{place}/.dispatch-manifest.json"] = manifest(round=number, tags=tags, body=TEXT)
        files[f"{place}/quality-claude.finding-F01.md"] = finding(round=number)
    sent = manifest(round=3, tags=tags[:2], body=TEXT)
    files[f"{PLACE}/round-03/.dispatch-manifest.json"] = sent

    class Unsigned(MemoryTree):
        def signed(self, line: str) -> bool:
            return False

    settings = configs.read(files["config.md"])
    assert loops.evaluate(Unsigned(files), goals(), settings).opening == opening


@pytest.mark.rule("SEC-17")
def test_what_no_reviewer_could_read_is_named_at_the_gate() -> None:
    unseen = [
        {"path": "docs/logo.png", "size": 2048, "sha256": "ab" * 32},
        {"path": "old`.bin", "size": 0, "sha256": ""},
        {"path": "no size"},
    ]
    files = with_engine_files({**opened(unseen=unseen), **CLEAN})
    found = derive(tree(files)).next
    assert (found.action, found.because) == (
        "approve",
        (
            "Reviews passed clean in round 1",
            "No reviewer could read 'docs/logo.png', which is binary (2048 bytes, sha256 "
            f"{'ab' * 32})",
            "No reviewer could read 'old'.bin', which is deleted",
        ),
    )
    assert f"{found.because[1]}. {found.because[2]}. Read goals.md" in found.summary
