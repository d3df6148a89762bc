"""What is said of a closed round, and what follows it."""

from __future__ import annotations

import pytest

from qrspi.core.config import reader as configs
from qrspi.core.filenames import RoundPaths
from qrspi.core.model import Triaged
from qrspi.core.pipeline import subject_of
from qrspi.core.records import approvals
from qrspi.core.records.approvals import Mark, Record
from qrspi.core.records.decisions import RoundDecisions
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds.loop import Loop
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.rounds.pause_file import Pause
from qrspi.core.steps import after_round
from qrspi.core.steps.after_round import Gate
from qrspi.core.steps.facts import Facts, gather
from tests import runs
from tests.core import round_files
from tests.core.rounds.test_loop import CHANGED, Files
from tests.runs import ASKING, artifact, clean, config, finding, manifest, score, tree

TEXT = artifact()
SENT = Manifest("goals", 1, "", ("quality-claude",))
KEPT = Triaged(round_files.finding(), 90, "keep", "score 90 reaches 70 for correctness")
PAUSED = KEPT._replace(verdict="pause")
NAME = KEPT.finding.name


def closed(**more: object) -> Loop:
    """A round of the engine's own, on record."""
    loop = Loop(subject_of("goals"), "closed", 1, 1, manifest=SENT)
    paths = RoundPaths("reviews/goals", 1)
    return loop._replace(paths=paths)._replace(**more)  # type: ignore[arg-type]


BY_PERSON = Record("decide", "goals", "", 1, finding=NAME, option="skip")
SKIPPED = Pause({NAME: "skip"})
ISSUES = "Reviews found issues in round 1"
UNRECORDED = "no decision is on record"
STATUSES: dict[str, tuple[Loop, tuple[str, bool]]] = {
    "clean": (closed(clean=True, fresh=True), ("Reviews passed clean in round 1", True)),
    "clean, and changed since": (
        closed(clean=True),
        (
            "Reviews passed clean in round 1; the text has changed since and is not re-verified",
            False,
        ),
    ),
    "no round": (closed(round=0, clean=True, fresh=True), ("Not reviewed", False)),
    "open": (closed(stage="fixing", triaged=(KEPT,)), ("Not reviewed", False)),
    "clean without a manifest": (
        closed(manifest=None, clean=True, fresh=True),
        ("Not reviewed", False),
    ),
    "nothing kept, without a manifest": (closed(manifest=None), ("Not reviewed", False)),
    "called clean beside a finding, without a manifest": (
        closed(manifest=None, clean=True, fresh=True, triaged=(KEPT,)),
        ("Not reviewed", False),
    ),
    "findings, without a manifest": (
        closed(manifest=None, triaged=(KEPT,)),
        (f"{ISSUES} which were fixed but not re-verified", False),
    ),
    "opened by nobody": (
        closed(opening="unproven", clean=True, fresh=True),
        ("Round 1 is unproven: no record says that qrspi opened it", False),
    ),
    "adopted": (
        closed(opening="adopted", clean=True, fresh=True),
        ("Reviews passed clean in round 1", True),
    ),
    "made elsewhere": (
        closed(imported=True, manifest=None, because=("closed by an anchor",)),
        (
            "Round 1 was made elsewhere and is unproven (closed by an anchor; no decision is on "
            "record)",
            False,
        ),
    ),
    "made elsewhere and open": (
        closed(imported=True, manifest=None, stage="guarded"),
        ("Not reviewed", False),
    ),
    "skipped by a person": (
        closed(skipped=True, decided=RoundDecisions(menu={"skip": BY_PERSON})),
        ("Round 1 was skipped by a person", False),
    ),
    "skipped by a file": (
        closed(skipped=True),
        (
            f"Round 1 was skipped by reviews/goals/round-01-verifier-disabled.md; {UNRECORDED}",
            False,
        ),
    ),
    "nothing kept, and dispositions": (
        closed(),
        (f"Round 1 was closed by a dispositions file; {UNRECORDED}", False),
    ),
    "all decided by a person": (
        closed(triaged=(PAUSED,), pause=SKIPPED, decided=RoundDecisions({NAME: BY_PERSON})),
        (f"{ISSUES} which were skipped by a person", False),
    ),
    "all decided by a file": (
        closed(triaged=(PAUSED,), pause=SKIPPED),
        (f"{ISSUES}, closed by a pause file; {UNRECORDED}", False),
    ),
    "a finding for a person that nobody asked": (
        closed(triaged=(PAUSED,)),
        (f"{ISSUES}, closed by a dispositions file; {UNRECORDED}", False),
    ),
    "a fixer that changed nothing": (
        closed(triaged=(KEPT,), fresh=True),
        (f"{ISSUES}; the text was not changed", False),
    ),
    "fixed": (
        closed(triaged=(KEPT,)),
        (f"{ISSUES} which were fixed but not re-verified", False),
    ),
}


@pytest.mark.rule("APR-01", "LIV-01")
@pytest.mark.parametrize(("loop", "said"), STATUSES.values(), ids=STATUSES.keys())
def test_the_sentence_that_goes_with_an_approval(loop: Loop, said: tuple[str, bool]) -> None:
    assert after_round.review_status(loop) == said


@pytest.mark.parametrize(
    ("number", "stage", "is_open"),
    [
        (1, "reviewing", True),
        (1, "paused", True),
        (1, "closed", False),
        (1, "abandoned", False),
        (0, "none", False),
        (0, "reviewing", False),
    ],
)
def test_which_rounds_are_open(number: int, stage: str, is_open: bool) -> None:
    assert after_round.is_open(closed(round=number, stage=stage)) is is_open


def round_of(step: str, number: int, *, kept: bool = False, fixed: bool = False) -> Files:
    place = f"reviews/{step}/round-{number:02d}"
    stem = f"{place}/quality-claude.finding-F01"
    text = artifact(body=ASKING) if step == "questions" else TEXT
    sent = manifest(step, number, tags=["quality-claude"], body=text)
    files = {f"{place}/.dispatch-manifest.json": sent}
    if kept:
        files[f"{stem}.md"] = finding(round=number, step=step)
        files[f"{stem}.score.yml"] = score(90)
    else:
        files[f"{place}/quality-claude.clean.md"] = clean(round=number)
    return files | ({f"{place}-dispositions.md": b"Fixed.\n"} if fixed else {})


def look(files: Files, step: str = "goals", *records: Record) -> tuple[Facts, Loop]:
    log = b"".join(map(approvals.render, records))
    view = tree(files, {"approvals.jsonl": log} if log else {})
    settings = configs.read(files["config.md"])
    assert settings.route
    facts = gather(view, settings, settings.route)[0]._replace(step=step)
    about = subject_of(step)
    return facts, loops.evaluate(view, about, settings, facts.base, facts.records)


GOALS: Files = {"config.md": config(), "goals.md": TEXT}
OPEN: Files = {"reviews/goals/round-02/.dispatch-manifest.json": manifest(round=2, body=TEXT)}
SKIP: Files = {"reviews/goals/round-01-verifier-disabled.md": b"---\nreason: x\n---\n"}


def returned(event: str, number: int) -> Record:
    mark = Mark("goals", runs.text_hash(TEXT), number)
    return Record(event, *mark, resets=(mark,))


FOUND_AND_FIXED = GOALS | round_of("goals", 1, kept=True, fixed=True)
STANDINGS: dict[str, tuple[Files, tuple[Record, ...], str]] = {
    "closed": (FOUND_AND_FIXED, (), f"{ISSUES}; the text was not changed"),
    "a round is open after one with findings": (
        FOUND_AND_FIXED | OPEN,
        (),
        f"{ISSUES}; the text was not changed",
    ),
    "a round is open after a clean one": (
        GOALS | round_of("goals", 1) | OPEN,
        (),
        "Not reviewed",
    ),
    "a round is open after one that was skipped": (
        GOALS | OPEN | SKIP | {"reviews/goals/round-01/.dispatch-manifest.json": manifest()},
        (),
        f"Round 1 was skipped by reviews/goals/round-01-verifier-disabled.md; {UNRECORDED}",
    ),
    "only an open round": (GOALS | OPEN, (), "Not reviewed"),
    "a round is open after one of an earlier loop": (
        FOUND_AND_FIXED | OPEN,
        (returned("reject", 1),),
        "Not reviewed",
    ),
    "rewound": (FOUND_AND_FIXED, (returned("rewind", 1),), "Not reviewed"),
    "rewound and reviewed again": (
        FOUND_AND_FIXED | round_of("goals", 2, kept=True, fixed=True),
        (returned("rewind", 1),),
        "Reviews found issues in round 2; the text was not changed",
    ),
    "rejected": (
        FOUND_AND_FIXED,
        (returned("reject", 1),),
        f"{ISSUES}; the text was not changed",
    ),
}


@pytest.mark.rule("APR-01", "LIV-01")
@pytest.mark.parametrize(("files", "records", "said"), STANDINGS.values(), ids=STANDINGS.keys())
def test_how_reviews_stand_at_any_stage(
    files: Files, records: tuple[Record, ...], said: str
) -> None:
    assert after_round.standing(*look(files, "goals", *records)) == (said, False)


NEW_TEXT = CHANGED["goals.md"]
QUICK: Files = {
    "config.md": config("quick"),
    "goals.md": artifact("approved"),
    "questions.md": NEW_TEXT,
}
TWICE = round_of("questions", 1, kept=True, fixed=True) | round_of(
    "questions", 2, kept=True, fixed=True
)


def choice(step: str, more: str = "") -> Files:
    return {f"reviews/{step}/loop.md": f"---\nmode: loop\n{more}---\n".encode()}


FULL: Files = {"config.md": config(), "goals.md": artifact("approved"), "questions.md": NEW_TEXT}
QUICK_GOALS: Files = {"config.md": config("quick"), "goals.md": NEW_TEXT}
FURTHER: dict[str, tuple[Files, str, str]] = {
    "the first round keeps findings": (
        QUICK | round_of("questions", 1, kept=True, fixed=True) | choice("questions"),
        "questions",
        "prepare",
    ),
    "the second does too": (QUICK | TWICE | choice("questions"), "questions", "ask-again"),
    "a person said how it goes on": (
        QUICK | TWICE | choice("questions", "caps_from: 2\n"),
        "questions",
        "prepare",
    ),
    "a person said so after the first": (
        QUICK | TWICE | choice("questions", "again_after: 1\n"),
        "questions",
        "ask-again",
    ),
    "a person wants another": (
        QUICK | TWICE | choice("questions", "again_after: 2\n"),
        "questions",
        "prepare",
    ),
    "a full run": (FULL | TWICE | choice("questions"), "questions", "prepare"),
    "a step that a person approves": (
        QUICK_GOALS
        | round_of("goals", 1, kept=True, fixed=True)
        | round_of("goals", 2, kept=True, fixed=True)
        | choice("goals"),
        "goals",
        "prepare",
    ),
}


@pytest.mark.rule("RND-06", "CSC-02")
@pytest.mark.parametrize(("files", "step", "then"), FURTHER.values(), ids=FURTHER.keys())
def test_how_far_a_loop_goes_by_itself(files: Files, step: str, then: str) -> None:
    assert after_round.after_closed(*look(files, step)).then == then


@pytest.mark.rule("CAP-03", "ST-10")
@pytest.mark.parametrize(
    ("number", "fresh", "gate"),
    [
        (1, True, Gate("approve", f"{ISSUES}; the text was not changed")),
        (1, False, Gate("prepare", f"{ISSUES} which were fixed but not re-verified")),
        (
            2,
            False,
            Gate("ask", "Reviews found issues in round 2 which were fixed but not re-verified"),
        ),
    ],
    ids=["the same text", "another text", "a round of this loop"],
)
def test_a_round_of_an_earlier_loop_is_about_its_own_text(
    number: int, fresh: bool, gate: Gate
) -> None:
    facts, _ = look(GOALS, "goals", returned("reject", 1))
    loop = closed(round=number, triaged=(KEPT,), fresh=fresh)
    assert after_round.after_closed(facts, loop) == gate


def test_no_reviewer_has_remarked_anything_before_a_round_is_read() -> None:
    assert after_round.remarks(closed()) == ()


@pytest.mark.parametrize(("more", "end"), [(0, ""), (1, "…")], ids=["just fits", "too long"])
def test_a_long_remark_is_one_line_and_cut(more: int, end: str) -> None:
    one = round_files.clean("quality-claude")
    said = one._replace(data=one.data + b"a" * 149 + b"\n\n\n" + b"b" * (150 + more) + b"\n")
    (line,) = after_round.remarks(closed(files=round_files.round_of(cleans=[said])))
    shown = f"{'a' * 149} {'b' * 150}{end}"
    assert line == f'reviews/goals/round-01/{said.file} says besides: "{shown}"'
