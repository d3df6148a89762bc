"""To have a finding, a record, a round or a step vanish without anybody missing it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import quick, runs, scenes
from tests.attacks.arena import Arena
from tests.attacks.trial import attack

pytestmark = pytest.mark.rule("SEC-22", "SEC-23")
Change = Callable[[Path], object]


def noticed(arena: Arena, word: str) -> None:
    """`doctor` names it as a problem, and `status` warns."""
    found = arena.qrspi("doctor")
    assert word in found.flat, f"doctor: {found.text}"
    said = arena.qrspi("status")
    assert word in said.flat, f"status: {said.text}"


def recorded(root: Path) -> Path:
    """A round with a finding is fixed and on record, a second one is open."""
    run = scenes.fixed(root)
    scenes.advance(run)
    return run


def remove(path: str) -> Change:
    def change(run: Path) -> None:
        if (run / path).is_dir():
            shutil.rmtree(run / path)
        else:
            (run / path).unlink()

    return change


def rename(path: str, to: str) -> Change:
    return lambda run: (run / path).rename(run / to)


@attack(
    "an agent",
    "something of a round that is on record is taken away",
    {
        "the round": (remove(scenes.ROUND), "round-01"),
        "the round, renamed": (rename(scenes.ROUND, "reviews/goals/old"), "round-01"),
        "a finding": (remove(f"{scenes.ROUND}/{scenes.FINDING}"), scenes.FINDING),
        "a finding, renamed": (
            rename(f"{scenes.ROUND}/{scenes.FINDING}", f"{scenes.ROUND}/x.bak"),
            scenes.FINDING,
        ),
        "its score": (remove(f"{scenes.ROUND}/{scenes.SCORE}"), scenes.SCORE),
        "what was kept": (remove(scenes.VERIFIED), "round-01-verified.md"),
        "its commit": (remove(scenes.ANCHOR), "round-01-commit.txt"),
        "who was sent": (remove(f"{scenes.ROUND}/.dispatch-manifest.json"), "round-01"),
        "all reviews": (remove("reviews"), "reviews"),
    },
)
def test_of_a_round(arena: Arena, way: tuple[Change, str]) -> None:
    run = arena.scene(recorded)
    change, word = way
    change(run)
    noticed(arena, word)


@attack(
    "an agent",
    "something that a commit has is taken away, and the trail with it",
    {
        "what became of a round": scenes.DISPOSITIONS,
        "a finding": f"{scenes.ROUND}/{scenes.FINDING}",
        "its score": f"{scenes.ROUND}/{scenes.SCORE}",
        "what was kept": scenes.VERIFIED,
        "its commit": scenes.ANCHOR,
        "who was sent": f"{scenes.ROUND}/.dispatch-manifest.json",
    },
)
def test_of_a_commit(arena: Arena, way: str) -> None:
    """Also when the deletion itself is committed."""
    run = arena.scene(recorded)
    arena.commit()
    shutil.rmtree(run / ".qrspi")
    (run / way).unlink()
    for _ in range(2):
        assert way in arena.qrspi("doctor").flat
        arena.commit()


@attack(
    "an agent",
    "a finding of the open round is taken away after it was read",
    {
        "the finding": remove(f"{scenes.ROUND}/{scenes.FINDING}"),
        "renamed": rename(f"{scenes.ROUND}/{scenes.FINDING}", f"{scenes.ROUND}/x.bak"),
        "the round": remove(scenes.ROUND),
        "for a clean word": lambda run: exchanged(run),
        "with what was made from it": lambda run: (
            exchanged(run),
            (run / scenes.VERIFIED).unlink(),
        ),
    },
)
def test_of_an_open_round(arena: Arena, way: Change) -> None:
    """The round was assembled: what it kept is on file."""
    run = arena.scene(assembled)
    way(run)
    for _ in range(2):
        arena.qrspi("next")
        assert "Reviews passed clean" not in arena.qrspi("status").flat
    assert arena.qrspi("approve", "goals").code == 3


def exchanged(run: Path) -> None:
    (run / scenes.ROUND / scenes.FINDING).unlink()
    (run / scenes.ROUND / scenes.SCORE).unlink()
    (run / scenes.ROUND / "quality-claude.clean.md").write_bytes(runs.clean())


def assembled(root: Path) -> Path:
    run = scenes.assembled(root)
    assert (run / scenes.VERIFIED).exists()
    return run


@attack(
    "an agent",
    "a record is taken away",
    {
        "of decisions": (remove("approvals.jsonl"), "approvals.jsonl"),
        "of what was done": (remove(".qrspi/audit.jsonl"), "audit.jsonl"),
        "of decisions, emptied": (
            lambda run: (run / "approvals.jsonl").write_bytes(b""),
            "no record says who approved",
        ),
        "the settings": (remove("config.md"), "config.md"),
    },
)
def test_a_record(arena: Arena, way: tuple[Change, str]) -> None:
    run = arena.scene(decided)
    change, word = way
    change(run)
    noticed(arena, word)


def decided(root: Path) -> Path:
    run = scenes.clean(root)
    scenes.advance(run)
    from qrspi.handlers.decisions import approve
    from qrspi.handlers.decisions.approve import Consent
    from qrspi.handlers.jobs.job import Options
    from qrspi.world.runs.workspace import Workspace
    from tests.project import decided as decide

    decide(Workspace(run), Options(), lambda job: approve.plan(job, "goals", Consent()))
    scenes.commit_all(root)
    return run


@attack(
    "an agent",
    "steps are left out by hand",
    {
        "a shorter route": {"route": "[goals, plan, implement, test]"},
        "another pipeline": {"pipeline": "quick"},
        "without tests": {"route": "[goals, questions, research, design, plan, implement]"},
        "another order": {"route": "[goals, plan, questions, research, design, implement, test]"},
    },
)
def test_steps(arena: Arena, way: dict[str, str]) -> None:
    run = arena.scene(decided)
    text = (run / "config.md").read_text()
    for key, value in way.items():
        old = next(line for line in text.splitlines() if line.startswith(f"{key}:"))
        text = text.replace(old, f"{key}: {value}")
    (run / "config.md").write_text(text)
    said = arena.qrspi("status").flat
    assert "and no command did that since" in said or "in pipeline order" in said, said


STRICT = {
    "second_reviewer": "true",
    "evidence": "dispatched",
    "approvals": "recorded",
    "guard": "strict",
    "review_depth": "deep",
    "review_mode": "loop",
    "visual_fidelity_required": "true",
    "scope_tagger_enabled": "false",
    "extra_reviewers": "{questions: [perf-claude]}",
    "gates": "{audit: on, quality: live, test_command: make test}",
    "validators": "{citation_density_floor: 0.5}",
}


def strict(root: Path) -> Path:
    """A quick run whose questions are reviewed, and in which a person wants to see every step."""
    return quick.make(root, "questions", git=True, **STRICT)


def lower(**fields: str) -> Change:
    def change(run: Path) -> None:
        text = (run / "config.md").read_text()
        for key, value in fields.items():
            old = next(line for line in text.splitlines() if line.startswith(f"{key}:"))
            text = text.replace(old, value and f"{key}: {value}")
        (run / "config.md").write_text(text)

    return change


@attack(
    "an agent",
    "fewer look at it, or less counts, because config.md was changed by hand",
    {
        "one reviewer of a kind": lower(second_reviewer="false"),
        "any answer": lower(evidence="any"),
        "no answer is scored": lower(verifier_enabled="false"),
        "approvals without a record": lower(approvals="marker"),
        "nobody is asked": lower(cascade="on"),
        "nobody is asked, as nobody said so": lower(cascade=""),
        "odd files pass": lower(guard="tolerant"),
        "fewer for each task": lower(review_depth="quick"),
        "once for each task": lower(review_mode="single"),
        "later rounds see less": lower(scope_tagger_enabled="true"),
        "no pictures": lower(visual_fidelity_required="false"),
        "nobody of one's own": lower(extra_reviewers=""),
        "another of one's own": lower(extra_reviewers="{questions: [kind-claude]}"),
        "no audit": lower(gates="{quality: live, test_command: make test}"),
        "no gates": lower(gates=""),
        "other tests": lower(gates="{audit: on, quality: live, test_command: 'true'}"),
        "fewer citations": lower(validators="{citation_density_floor: 0}"),
    },
)
def test_settings(arena: Arena, way: Change) -> None:
    run = arena.scene(strict)
    assert arena.qrspi("config", "set", "cascade", "off", "verifier_enabled", "true").code == 0
    way(run)
    for look in ("status", "doctor", "verify"):
        said = arena.qrspi(look).flat
        assert "is no longer" in said and "and no command did that since" in said, (look, said)


def questions(root: Path) -> Path:
    return quick.make(root, "questions", git=True)


@attack(
    "an agent",
    "a step approves itself once config.md asks for less by hand",
    {
        "nobody is asked": ("cascade", "off", "on"),
        "one reviewer of a kind": ("second_reviewer", "true", "false"),
        "any answer": ("evidence", "dispatched", "any"),
        "odd files pass": ("guard", "strict", "tolerant"),
        "nobody of one's own": ("extra_reviewers", "{questions: [perf-claude]}", "{}"),
        "no answer is scored": ("verifier_enabled", "true", "false"),
    },
)
def test_lowered_and_clean(arena: Arena, way: tuple[str, str, str]) -> None:
    run = arena.scene(questions)
    field, strictly, less = way
    if field == "verifier_enabled":  # as it is already
        assert arena.qrspi("config", "set", "evidence", "dispatched").code == 0
        assert arena.qrspi("config", "set", "evidence", "any").code == 0
    else:
        assert arena.qrspi("config", "set", field, strictly).code == 0
    lower(**{field: less})(run)
    arena.qrspi("next")
    quick.say_clean(run, "questions")
    arena.qrspi("next")
    assert "status: approved" not in (run / "questions.md").read_text()
    asked = arena.qrspi("status", "--json").json["runs"][0]["next"]
    assert (asked["action"], asked["who"]) == ("approve", "human")
    assert f"{field}" in asked["summary"] and "is no longer" in asked["summary"]


def under_it(run: Path) -> None:
    """As if somebody had decided so: the record says what config.md says."""
    log = run / "approvals.jsonl"
    was = runs.lines(run, log.name)[-1]
    less = was["safeguards"].replace("; second_reviewer: true", "")
    assert less != was["safeguards"]
    with log.open("a") as file:
        file.write(f"{json.dumps({**was, 'safeguards': less})}\n")


@attack(
    "an agent",
    "a step approves itself once config.md asks for less, and so does a line put on record by hand",
    {"at the end": (), "before another": ("config", "set", "later_rounds", "all")},
    no_more="a line stands at the end or before another",
)
def test_lowered_on_record(arena: Arena, way: tuple[str, ...]) -> None:
    run = arena.scene(questions)
    assert arena.qrspi("config", "set", "second_reviewer", "true").code == 0
    lower(second_reviewer="false")(run)
    under_it(run)
    if way:
        assert arena.qrspi(*way).code == 0
    arena.qrspi("next")
    quick.say_clean(run, "questions")
    arena.qrspi("next")
    assert "status: approved" not in (run / "questions.md").read_text()
    asked = arena.qrspi("status", "--json").json["runs"][0]["next"]
    assert (asked["action"], asked["who"]) == ("approve", "human")
    assert "has lines that no command here put there" in asked["summary"]
