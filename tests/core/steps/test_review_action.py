"""What each stage of a review loop asks for next, in the words that people and agents read."""

from __future__ import annotations

import pytest

from qrspi.core.config.vendors import Command
from qrspi.core.derivation import option_commands
from qrspi.core.derivation.derive import derive
from qrspi.core.filenames import RoundPaths
from qrspi.core.model import Next, Problem
from qrspi.core.pipeline import subject_of
from qrspi.core.records.approvals import Record
from qrspi.core.records.decisions import RoundDecisions
from qrspi.core.rounds.loop import Loop
from qrspi.core.rounds.pause_file import Pause
from qrspi.core.steps import review_action, stopped_rounds
from tests.core import round_files
from tests.core.rounds.test_loop import Files
from tests.core.steps.test_after_round import (
    FULL,
    GOALS,
    KEPT,
    NAME,
    PAUSED,
    QUICK,
    SKIPPED,
    TWICE,
    choice,
    closed,
    look,
    round_of,
)
from tests.core.steps.test_isolation import GOALS as WANTED
from tests.core.steps.test_isolation import LEAK
from tests.runs import ASKING, RUN, approved, artifact, config, tree

READ = round_files.round_of({KEPT.finding: 90})
ONCE = "once `commands` or `providers` in config.md say how, and prints examples until then"
DISPOSITIONS = "reviews/goals/round-01-dispositions.md"


def from_loop(loop: Loop, files: Files = GOALS) -> Next:
    return review_action.from_loop(look(files)[0], loop)


def about(step: str, **more: object) -> Loop:
    found = subject_of(step)
    return closed(subject=found, paths=RoundPaths(found.reviews, 1), **more)


BY_ENGINE: dict[str, tuple[Loop, tuple[str, str, str]]] = {
    "scored": (
        closed(stage="scored"),
        ("assemble", "", "Collect the findings of round 1 of goals"),
    ),
    "scored, of a task": (
        about("task-01", stage="scored"),
        ("assemble", "assemble-task", "Collect the findings of round 1 of task-01"),
    ),
    "committing": (
        closed(stage="committing"),
        ("commit-round", "", "Put on record round 1 of goals"),
    ),
    "left": (closed(stage="abandoned"), ("prepare-round", "", "Prepare round 2 of goals")),
}


@pytest.mark.rule("ST-06")
@pytest.mark.parametrize(("loop", "said"), BY_ENGINE.values(), ids=BY_ENGINE.keys())
def test_what_the_engine_does_by_itself(loop: Loop, said: tuple[str, str, str]) -> None:
    found = from_loop(loop)
    what = f"{said[2]}: run `qrspi next {RUN}`."
    assert (found.action, found.kind, found.summary, found.who) == (*said[:2], what, "engine")


@pytest.mark.rule("DSP-01")
def test_dispositions_that_are_too_long_are_not_put_on_record() -> None:
    found = from_loop(closed(stage="committing"), GOALS | {DISPOSITIONS: b"line\n" * 31})
    assert (found.action, found.kind, found.summary) == (
        "blocked",
        "dispositions",
        f"{DISPOSITIONS}: 31 lines; expected at most 30. Correct it, then run `qrspi next {RUN}`.",
    )
    assert [ask.kind for ask in found.asks] == ["fix"]
    fine = from_loop(closed(stage="committing"), GOALS | {DISPOSITIONS: b"line\n"})
    assert fine.action == "commit-round"


def test_a_round_that_nobody_prepared_is_not_put_on_record() -> None:
    found = review_action.commit_next(look(GOALS)[0], closed(stage="committing", manifest=None))
    assert (found.action, found.kind) == ("blocked", "precondition")


def test_a_round_from_elsewhere_that_is_open_is_asked_about() -> None:
    found = from_loop(closed(stage="guarded", manifest=None, imported=True))
    assert (found.kind, found.summary, found.command) == (
        "imported-round",
        "Round 1 of goals was made elsewhere and is not closed: "
        f"`qrspi resolve {RUN} close`, or with take-over in place of close.",
        f"qrspi resolve {RUN} close",
    )


@pytest.mark.parametrize(
    ("step", "tags", "said"),
    [
        (
            "goals",
            ("quality-claude", "scope-claude"),
            "Send 2 reviewers of goals round 1 (quality-claude, scope-claude); each writes into "
            f"reviews/goals/round-01. `qrspi next {RUN} --dispatch` sends them all {ONCE}; `qrspi "
            f"prompt {RUN} quality-claude` prints what to tell the first.",
        ),
        (
            "research",
            ("quality-claude",),
            "Send 1 reviewer of research round 1 (quality-claude); it prints, and `qrspi ingest "
            f"FILE {RUN} research --tag quality-claude` takes it in. `qrspi "
            f"prompt {RUN} quality-claude` prints what to tell it.",
        ),
    ],
)
def test_who_is_sent_and_where_they_hand_in(step: str, tags: tuple[str, ...], said: str) -> None:
    waits = READ._replace(silent_tags=tags)
    assert from_loop(about(step, stage="reviewing", files=waits, fresh=True)).summary == said


@pytest.mark.rule("LIV-25")
def test_nothing_more_is_needed_to_send_where_a_command_is_configured() -> None:
    waits = READ._replace(silent_tags=("quality-claude",))
    loop, facts = about("goals", stage="reviewing", files=waits, fresh=True), look(GOALS)[0]
    reached = facts.config._replace(commands={"claude": Command(("claude",))})
    said = review_action.from_loop(facts._replace(config=reached), loop).summary
    assert f"`qrspi next {RUN} --dispatch` sends" in said
    assert ONCE not in said


BAD = Problem("missing_sidecar", "One has no score")
WORSE = Problem("malformed_yaml", "One cannot be read")


@pytest.mark.rule("FLR-03")
@pytest.mark.parametrize(
    ("failures", "line", "keys"),
    [
        ((), "", ["retry", "stop"]),
        ((BAD,), "One has no score", ["skip", "retry", "stop"]),
        ((BAD, BAD), "One has no score (+1 more)", ["skip", "retry", "stop"]),
        ((BAD, BAD, WORSE), "One has no score (+2 more)", ["retry", "stop"]),
    ],
)
def test_the_failure_menu(failures: tuple[Problem, ...], line: str, keys: list[str]) -> None:
    found = from_loop(closed(stage="failed", failures=failures))
    assert (found.summary, [option.key for option in found.options]) == (line, keys)
    assert found.command == f"qrspi resolve {RUN} retry"


WAITING = Pause({NAME: "pending"})
PROPOSED = PAUSED._replace(verdict="propose")
OTHER = PAUSED._replace(finding=round_files.finding(2))


@pytest.mark.rule("PSE-02", "PSE-03")
@pytest.mark.parametrize(
    ("loop", "back"),
    [
        (about("design", triaged=(PAUSED,), pause=WAITING), True),
        (about("goals", triaged=(PAUSED,), pause=WAITING), False),
        (about("design", triaged=(PROPOSED,), pause=WAITING), False),
        (about("design", triaged=(PROPOSED, OTHER), pause=WAITING), False),
        (about("design", triaged=(PAUSED,), pause=SKIPPED), False),
        (about("design", triaged=(PAUSED,)), False),
    ],
    ids=["paused", "the first step", "proposed", "another is decided", "decided", "not asked yet"],
)
def test_when_one_can_go_back_from_a_finding(loop: Loop, back: bool) -> None:
    keys = ["apply", "skip", "loop-back"] if back else ["apply", "skip"]
    options = stopped_rounds.pause_options(look(GOALS)[0], loop)
    assert [option.key for option in options] == keys


@pytest.mark.rule("PSE-02")
@pytest.mark.parametrize(
    ("step", "back"),
    [("goals", ""), ("design", f", or `qrspi decide {RUN} {NAME} loop-back --to STEP`")],
)
def test_what_a_person_is_asked_about_a_finding(step: str, back: str) -> None:
    found = from_loop(about(step, stage="paused", triaged=(PAUSED,), pause=WAITING))
    assert found.summary == (
        f"1 finding of {step} round 1 for you to decide: `qrspi decide {RUN} {NAME} "
        f"apply`, or with skip in place of apply{back}."
    )
    assert found.command == f"qrspi decide {RUN} {NAME} apply"


FRESH = closed(triaged=(KEPT,), fresh=True)
BY_PERSON = {NAME: Record("decide", "goals", "", 1, finding=NAME, option="skip")}
SETTLED = closed(triaged=(PAUSED,), pause=SKIPPED, decided=RoundDecisions(BY_PERSON))
UNREVIEWED = (
    f" `qrspi resolve {RUN} loop` has it reviewed again (recommended). Or read goals.md, then "
    f"`qrspi approve {RUN} goals --unreviewed` or `qrspi reject {RUN} goals -m TEXT`."
)
READY = f" Read goals.md, then `qrspi approve {RUN} goals` or `qrspi reject {RUN} goals -m TEXT`."
ISSUES = "Reviews found issues in round 1"


@pytest.mark.rule("APR-01", "LIV-01", "LIV-02")
@pytest.mark.parametrize(
    ("loop", "said", "keys"),
    [
        (closed(clean=True, fresh=True), f"Reviews passed clean in round 1.{READY}", []),
        (FRESH, f"{ISSUES}; the text was not changed.{UNREVIEWED}", ["loop"]),
        (SETTLED._replace(fresh=True), f"{ISSUES} which were skipped by a person.{READY}", []),
        (SETTLED, f"{ISSUES} which were skipped by a person.{UNREVIEWED}", ["loop"]),
    ],
    ids=["clean", "nothing changed", "settled", "settled, and changed since"],
)
def test_what_is_said_at_the_gate(loop: Loop, said: str, keys: list[str]) -> None:
    found = from_loop(loop)
    assert (found.action, found.summary) == ("approve", said)
    assert [option.key for option in found.options] == [*keys, "approve", "reject"]
    assert [option.key for option in found.menu] == keys
    assert found.command == (f"qrspi resolve {RUN} loop" if keys else f"qrspi approve {RUN} goals")
    assert option_commands.named(RUN, found).runnable == ""  # who runs it has decided


TEN: Files = FULL | choice("questions")
for number in range(1, 11):
    TEN |= round_of("questions", number, kept=True, fixed=True)
FIXED = "which were fixed but not re-verified"
QUESTION = f"1) Present for review 2) Loop until clean (recommended): `qrspi resolve {RUN} loop`."


@pytest.mark.rule("RND-06", "CAP-01")
@pytest.mark.parametrize(
    ("files", "kind", "said"),
    [
        (
            FULL | round_of("questions", 1, kept=True, fixed=True),
            "loop",
            f"{ISSUES} {FIXED}. {QUESTION}",
        ),
        (
            QUICK | TWICE | choice("questions"),
            "loop-again",
            f"Reviews found issues in round 2 {FIXED}; a quick run corrects by itself once, and "
            f"the next round kept findings too. {QUESTION}",
        ),
        (
            TEN,
            "cap",
            "The review loop of questions stops here: 10 rounds ran on their own, the "
            "limit is 10; it is stagnant. "
            f"`qrspi resolve {RUN} present`, or with continue or rewind in place of present.",
        ),
    ],
    ids=["ask", "ask again", "cap"],
)
def test_what_a_person_is_asked_after_a_round(files: Files, kind: str, said: str) -> None:
    found = review_action.from_loop(*look(files, "questions"))
    assert (found.who, found.kind, found.summary) == ("human", kind, said)


@pytest.mark.rule("CSC-01")
def test_a_quick_run_says_that_it_approves_by_itself() -> None:
    files = QUICK | {"questions.md": artifact(body=ASKING)} | round_of("questions", 1)
    facts, loop = look(files, "questions")
    found = review_action.from_loop(facts, loop._replace(stage="closed", clean=True))
    assert (found.who, found.kind, found.summary) == (
        "engine",
        "cascade",
        "Reviews passed clean in round 1, and a quick run approves a clean questions by itself: "
        f"run `qrspi next {RUN}`.",
    )


@pytest.mark.rule("CSC-01")
@pytest.mark.parametrize("event", ["reject", "unapprove", "rewind"])
def test_a_quick_run_says_why_a_clean_round_waits_for_a_person(event: str) -> None:
    files = QUICK | {"questions.md": artifact(body=ASKING)} | round_of("questions", 1)
    facts, loop = look(files, "questions")
    objected = facts._replace(records=(Record(event, "questions", "", 0),))
    found = review_action.from_loop(objected, loop._replace(stage="closed", clean=True))
    why = "A person went back to it, so a person approves it"
    assert (found.who, found.kind, found.because) == (
        "human",
        "approve",
        ("Reviews passed clean in round 1", why),
    )
    assert f"Reviews passed clean in round 1. {why}. Read questions.md" in found.summary


@pytest.mark.parametrize(("required", "kind"), [("true", "wireframes"), ("false", "")])
def test_a_text_without_wireframes_is_not_reviewed_where_they_are_required(
    required: str, kind: str
) -> None:
    done = approved("goals", "questions", "research")
    files = {"config.md": config(visual_fidelity_required=required), "design.md": artifact()}
    found = derive(tree(files, done)).next
    assert (found.kind, [ask.kind for ask in found.asks]) == (kind, ["author"] if kind else [])


def test_a_text_with_its_wireframes_is_reviewed() -> None:
    done = approved("goals", "questions", "research")
    body = "# Design\n\n## Wireframe Binding\n\nwireframes/sign-in.png\n"
    files = {"config.md": config(visual_fidelity_required="true"), "design.md": artifact(body=body)}
    assert derive(tree(files, done)).next.action == "prepare-round"


def test_only_the_author_of_questions_is_told_of_words_of_the_goals() -> None:
    leaks = artifact(body=f"# Questions\n\n1. [web] {LEAK}?\n")
    base = {"config.md": config(), "goals.md": WANTED}
    asked = derive(tree(base, {"questions.md": leaks})).next
    assert (asked.kind, [ask.kind for ask in asked.asks]) == ("isolation", ["author"])
    answered = {
        "questions.md": artifact("approved", "# Questions\n\n1. [web] What is known?\n"),
        "research/q01-web.md": artifact(body=f"# Q\n\n{LEAK}\n"),
        "research/summary.md": artifact(body="# Summary\n\nNothing.\n"),
    }
    found = derive(tree(base, answered)).next
    assert (found.kind, found.asks) == ("isolation", ())


@pytest.mark.rule("LIV-25")
def test_in_research_it_is_said_how_what_is_printed_is_taken_in() -> None:
    one = round_files.finding(1)
    waits = about("research", stage="verifying", files=READ._replace(unscored=(one.stem,)))
    way = f"qrspi submit score FILE {RUN} research --round 1 --finding {one.stem}"
    assert f"a verifier prints, and `{way}` takes it in." in from_loop(waits).summary
    kept = PAUSED._replace(verdict="keep")
    for step in ("research", "design"):
        fixing = from_loop(about(step, stage="fixing", triaged=(kept,))).summary
        taken = f"; `qrspi submit artifact FILE {RUN} research` takes in what it prints."
        assert fixing.endswith(taken) is (step == "research")


@pytest.mark.parametrize(("numbers", "said"), [((1,), "it needs"), ((1, 2), "each needs")])
def test_how_many_findings_are_to_be_scored(numbers: tuple[int, ...], said: str) -> None:
    waiting = tuple(round_files.finding(one).stem for one in numbers)
    files = READ._replace(unscored=waiting)
    summary = from_loop(closed(stage="verifying", files=files)).summary
    folder = "reviews/goals/round-01"
    assert f"round 1: {said} a .score.yml beside it in {folder}" in summary
