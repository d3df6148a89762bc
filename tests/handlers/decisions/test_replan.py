"""Between two phases."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi.core.code_steps import batch
from qrspi.core.derivation import waiting
from qrspi.core.derivation.derive import derive, survey
from qrspi.core.errors import Misuse, Refusal
from qrspi.core.filenames import prompt_file
from qrspi.core.model import Ask
from qrspi.core.pipeline import ROUTES
from qrspi.core.steps.facts import artifact_status
from qrspi.handlers import history
from qrspi.handlers.changes import change_set
from qrspi.handlers.decisions import approve, reject, replan
from qrspi.handlers.decisions.approve import Consent
from qrspi.render.run_page import next_document
from qrspi.world.files.run_tree import DiskTree
from tests import runs
from tests.deliveries import PUT_AWAY, finished
from tests.handlers.refusals import refusal
from tests.handlers.shop import Shop
from tests.handlers.workshop import Workshop

LATER = ("parallelize", "implement", "integrate", "test")


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path / "project", finished())


def statuses(shop: Workshop | Shop, steps: tuple[str, ...]) -> list[str]:
    return [artifact_status(DiskTree(shop.run), step)[0] for step in steps]


def task_statuses(shop: Workshop) -> dict[str, str]:
    tasks = sorted((shop.run / "tasks").glob("task-*.md"))
    return {path.stem: path.read_text().splitlines()[1].removeprefix("status: ") for path in tasks}


def minor(shop: Workshop) -> None:
    shop.make(replan.minor)


@pytest.mark.rule("RP-03", "ST-02", "FM-02")
def test_a_minor_replan_opens_the_plan_and_what_is_left_to_do(shop: Workshop) -> None:
    assert (shop.answer.action, shop.answer.who) == ("replan", "human")
    minor(shop)
    assert task_statuses(shop) == {
        "task-01": "approved",
        "task-02": "approved",
        "task-03": "approved",
        "task-04": "replan-draft",
    }
    assert statuses(shop, ("plan",)) == ["replan-draft"]
    state = derive(shop.workspace())
    assert (state.current_step, state.next.action, state.next.kind) == (
        "replan",
        "replan",
        "replan-edit",
    )
    assert shop.did() == []
    assert [(line["event"], line["replan"]) for line in shop.records()] == [("replan", "minor")]
    with pytest.raises(Refusal, match="that was chosen already"):
        minor(shop)


PROPOSED = "---\nstatus: draft\n---\n# Replan after phase 1\n\n## What changes\n\nLittle.\n"


@pytest.fixture
def unproposed(tmp_path: Path) -> Shop:
    """Nobody has said yet what the finished phase means for the next one."""
    files = finished()
    del files["replan.md"]
    return Shop(tmp_path / "shop", files)


@pytest.mark.rule("RP-03", "PRM-05")
def test_an_agent_may_propose_what_changes_and_a_person_decides(unproposed: Shop) -> None:
    shop = unproposed
    answer = shop.next().state.next
    assert (answer.who, answer.asks) == ("human", (Ask("author", "replan"),))
    assert answer.summary.endswith(
        f"; `qrspi prompt {shop.run.name} author` prints what to tell an agent that proposes it "
        "first, in replan.md."
    )
    prompt = shop.read(prompt_file(answer.asks[0]))
    assert "# Author of the replan\n" in prompt
    for path in ("tasks/task-04.md", "test-results.md", "reviews/tasks/task-02/outcome.md"):
        assert f"\n{shop.run}/{path}\n" in prompt
    shop.write("replan.md", PROPOSED)
    answer = shop.next().state.next
    assert (answer.asks, answer.inputs) == ((), ("replan.md",))
    assert answer.summary == (
        "Phase 1 is done and another follows: read replan.md, then say how the plan changes with "
        f"`qrspi replan minor {shop.run.name}` or `qrspi replan major {shop.run.name} --to STEP`."
    )


@pytest.mark.rule("RP-03", "REJ-01", "PRM-05")
def test_a_proposal_that_is_rejected_is_asked_for_again(unproposed: Shop) -> None:
    shop = unproposed
    shop.write("replan.md", PROPOSED)
    shop.make(lambda job: reject.plan(job, "replan", b"The cache was slow."))
    answer = shop.next().state.next
    assert answer.asks == (Ask("author", "replan"),)
    prompt = shop.read(prompt_file(answer.asks[0]))
    assert f"\nfeedback_paths:\n{shop.run}/feedback/replan-round-01.md\n" in prompt
    assert f"\nexisting_paths:\n{shop.run}/replan.md\n" in prompt
    shop.write("replan.md", PROPOSED.replace("Little", "The cache"))
    assert shop.next().state.next.asks == ()


@pytest.mark.rule("RP-03", "PRM-07")
def test_a_proposal_is_sent_for_once_and_then_a_person_is_asked(unproposed: Shop) -> None:
    shop = unproposed
    shop.reply("author.md", PROPOSED)
    for _ in range(2):
        done = shop.driven()
        assert done.failures == () and done.outcome.state.next.kind == "replan"
    assert shop.read("replan.md") == PROPOSED
    assert [one["name"] for one in shop.ledger()] == ["author"]
    assert shop.subjects()[0] == "docs(qrspi): draft replan for user-auth"


@pytest.mark.rule("RP-03", "RP-07", "CAP-03", "APV-01")
def test_when_the_plan_is_approved_again_the_phase_is_put_away(shop: Workshop) -> None:
    before = {name: (shop.run / name).read_bytes() for name in PUT_AWAY}
    counted = sum(len(loop.rounds) for loop in history.of_run(str(shop.run)).loops)
    minor(shop)
    shop.write("plan.md", shop.read("plan.md") + "\nMore of it.\n")
    shop.approve("plan")
    assert shop.did() == ["archive-phase"]
    assert sum(len(loop.rounds) for loop in history.of_run(str(shop.run)).loops) == counted
    assert shop.archived() >= PUT_AWAY
    home = shop.run / "phases/phase-01"
    assert {name: (home / name).read_bytes() for name in PUT_AWAY} == before
    gone = PUT_AWAY - {"parallelization.md"}
    assert shop.left() & gone == set()
    assert {"reviews/plan-loop-pause-round-01.md", "tasks/task-04.md"} <= shop.left()
    assert shop.has("reviews/plan/round-01/quality-claude.clean.md")
    assert statuses(shop, LATER) == ["draft", "missing", "missing", "missing"]
    assert not shop.has("replan-pending.md")
    state = derive(shop.workspace())
    assert (state.phase, state.current_step, state.next.action) == (2, "parallelize", "author")
    facts = survey(shop.workspace()).facts
    assert facts and [item.key for item in batch.drawn_up(facts).items] == ["task-04"]
    assert [problem.code for problem in state.warnings if "after-approval" in problem.code] == []
    phase = next(line for line in shop.records() if line["event"] == "phase")
    assert [(mark["step"], mark["round"]) for mark in phase["resets"]] == [
        (step, 0) for step in LATER
    ]
    assert shop.status() == []
    assert shop.git("log", "-2", "--format=%s").splitlines() == [
        "docs(qrspi): begin phase 2 of user-auth",
        "docs(qrspi): archive phase 1 of user-auth",
    ]


@pytest.mark.rule("RP-05", "CMT-06")
def test_a_clone_of_the_next_phase_derives_the_same(shop: Workshop, tmp_path: Path) -> None:
    minor(shop)
    shop.approve("plan")
    shop.next()
    shop.git("clone", "-q", str(shop.root), str(tmp_path / "clone"))
    twin = tmp_path / "clone" / shop.run.relative_to(shop.root)
    assert derive(DiskTree(twin)) == derive(DiskTree(shop.run))


@pytest.mark.rule("RP-05")
@pytest.mark.parametrize("count", [1, 2, 6, 11, 12, 14, 15, 17, 18, 19])
def test_a_phase_that_is_half_put_away_is_finished(shop: Workshop, count: int) -> None:
    minor(shop)
    shop.approve("plan")
    workspace = shop.workspace()
    with workspace.locked():
        steps = replan.archive_steps(change_set.look(workspace, shop.options), 1)
        assert len(steps) == 20
        for step in steps[:count]:
            step()
    if count < 19:
        assert shop.answer.kind == "archive-phase"
        assert shop.did() == ["archive-phase"]
    assert shop.archived() >= PUT_AWAY
    assert shop.left() & (PUT_AWAY - {"parallelization.md"}) == set()
    assert [line["event"] for line in shop.records()].count("phase") == 1
    state = derive(shop.workspace())
    assert (state.phase, state.current_step, state.next.action) == (2, "parallelize", "author")
    assert not shop.has("replan-pending.md")


# major


@pytest.mark.rule("RP-04")
@pytest.mark.parametrize("target", ["goals", "design", "phasing", "structure", "plan"])
def test_a_major_replan_resets_the_target_and_all_after_it(tmp_path: Path, target: str) -> None:
    shop = Workshop(tmp_path / "project", finished())
    shop.make(lambda job: replan.major(job, target))
    route = ROUTES["full"]
    at = route.index(target)
    assert statuses(shop, route[:at]) == ["approved"] * at
    assert statuses(shop, route[at:]) == ["draft"] * (len(route) - at)
    assert set(task_statuses(shop).values()) == {"draft"}
    state = derive(shop.workspace())
    assert (state.current_step, state.next.action) == (target, "author")
    assert not shop.has("replan-pending.md")
    assert [line for line in shop.status() if "reviews/" not in line] == []


@pytest.mark.rule("RP-04", "RP-05")
@pytest.mark.parametrize("count", [1, 2, 5, 9, 13, 14])
def test_a_major_replan_that_was_cut_off_is_finished_in_order(tmp_path: Path, count: int) -> None:
    """One run, cut off further and further on; its twin is what should come of it."""
    shop = Workshop(tmp_path / "project", finished())
    workspace = shop.workspace()
    with workspace.locked():
        move = replan.major(change_set.look(workspace, shop.options), "design")
        assert [edit.path for edit in move.edits][:2] == ["approvals.jsonl", "design.md"]
        assert (move.edits[-1].kind, move.edits[-1].path) == ("remove", "replan-pending.md")
        for edit in move.edits[:count]:
            change_set.write(workspace, edit)
    if count < len(move.edits):
        assert shop.answer.kind == "replan-major"
        assert shop.did() == ["replan-major"]
    route = ROUTES["full"]
    assert statuses(shop, route[3:]) == ["draft"] * len(route[3:])
    assert len(shop.records()) == 1
    assert derive(shop.workspace()).current_step == "design"


@pytest.mark.rule("RP-04")
def test_a_change_of_unknown_scope_is_major(shop: Workshop) -> None:
    text = (
        "# Replan\n\nNot `scope-unknown` here.\n\n## What changes\n\n- the store: `scope-unknown`\n"
    )
    shop.write("replan.md", runs.artifact("draft", text))
    assert str(refusal(minor, shop)) == (
        "replan.md classes a change as scope-unknown, which is a major one: `qrspi replan major "
        "2026-05-17-user-auth --to STEP`"
    )
    shop.write(
        "replan.md", runs.artifact("draft", text.replace("the store: `scope-unknown`", "no"))
    )
    minor(shop)


@pytest.mark.rule("RP-02", "RP-03", "RP-04")
def test_there_is_nothing_to_replan_before_a_phase_is_done(shop: Workshop) -> None:
    (shop.run / "replan-pending.md").unlink()
    for build in (replan.minor, lambda job: replan.major(job, "plan")):
        assert str(refusal(shop.make, build)).startswith(
            "no phase is finished: replan-pending.md is not there;"
        )
    with pytest.raises(Misuse) as misuse:
        shop.make(lambda job: replan.major(job, "test"))
    assert str(misuse.value) == (
        "'test' is not a step to go back to; expected one of goals, design, phasing, structure, "
        "plan"
    )


@pytest.mark.rule("RP-03")
def test_a_run_outside_git_is_put_away_too(tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "project", finished(), git=False)
    minor(shop)
    shop.approve("plan")
    assert shop.did() == ["archive-phase"]
    assert shop.archived() >= PUT_AWAY


def approved(shop: Shop) -> None:
    shop.make(lambda job: approve.plan(job, "plan", Consent(unreviewed=True)))


def without_next_tasks(tmp_path: Path) -> Shop:
    files = finished()
    del files["tasks/task-04.md"]
    shop = Shop(tmp_path / "shop", files)
    shop.make(replan.minor)
    return shop


PLAN_TAGS = (
    *("quality-claude", "scope-claude", "spec-claude", "security-claude"),
    *("goal-traceability-claude", "test-coverage-claude", "silent-failure-claude"),
)
NEXT_TASK = runs.artifact("draft", "# Task 04: More\n").replace(b"status", b"phase: 2\nstatus", 1)


@pytest.mark.rule("RP-03", "LIV-03", "PRM-05")
def test_an_agent_is_asked_to_change_the_plan_for_the_next_phase(tmp_path: Path) -> None:
    shop = without_next_tasks(tmp_path)
    state = shop.next().state
    document = next_document(state.next)
    assert (document["who"], document["kind"], document["step"]) == ("agent", "replan-edit", "plan")
    assert [one["file"] for one in document["missing"]] == ["plan.md", "tasks/task-04.md"]
    assert document["waits_for"] == ["plan.md", "tasks/task-04.md"]
    assert document["command"] == f"qrspi next {shop.run.name}"
    assert {"replan.md", "phasing.md", "structure.md", "test-results.md", "plan.md"} <= set(
        document["inputs"]
    )
    [path] = document["prompts"]
    prompt = shop.read(path)
    assert "# Author of the plan\n" in prompt
    assert "Phase 1 is over, and the plan is open for phase 2: change `plan.md`" in prompt
    assert "\nphase: 2\n" in prompt
    for path in ("replan.md", "test-results.md"):
        assert f"\n{shop.run}/{path}\n" in prompt
    assert f"\nexisting_paths:\n{shop.run}/plan.md\n" in prompt


@pytest.mark.rule("RP-03")
def test_a_plan_without_a_task_for_the_next_phase_is_not_approved(tmp_path: Path) -> None:
    shop = without_next_tasks(tmp_path)
    with pytest.raises(Refusal, match=r"plan\.md has no task for the next phase"):
        approved(shop)
    shop.write("plan.md", shop.read("plan.md") + "\nMore of it.\n")
    assert shop.next().state.next.because == ("no task of the next phase has a file",)
    assert shop.has("replan-pending.md")


@pytest.mark.rule("RP-03", "LIV-17")
def test_a_plan_that_names_a_task_without_a_file_is_not_reviewed(tmp_path: Path) -> None:
    shop = without_next_tasks(tmp_path)
    plan = shop.read("plan.md")
    shop.write("tasks/task-04.md", NEXT_TASK)
    shop.write("plan.md", f"{plan}\n## Tasks\n\n| Task |\n|---|\n| task-04 |\n| task-05 |\n")
    following = shop.next().state.next
    assert (following.kind, following.asks) == ("plan-tasks", (Ask("author", "plan"),))
    assert [reason.partition(": ")[2] for reason in following.because] == [
        "task-05 has no file tasks/task-05.md; write it, or take the task out of the plan"
    ]


@pytest.mark.rule("RP-03", "RND-02", "LIV-19", "CAP-03", "APR-03")
def test_the_plan_of_the_next_phase_is_reviewed_before_a_person_is_called(tmp_path: Path) -> None:
    shop = without_next_tasks(tmp_path)
    shop.write("tasks/task-04.md", NEXT_TASK)
    shop.write("plan.md", f"{shop.read('plan.md')}\nMore of it.\n")
    state = shop.next().state
    assert (state.current_step, state.next.step, state.next.round) == ("replan", "plan", 2)
    assert tuple(ask.target for ask in state.next.asks) == PLAN_TAGS
    assert "+# Task 04: More" in shop.read("reviews/plan/round-02.diff")
    for tag in PLAN_TAGS:
        shop.write(f"reviews/plan/round-02/{tag}.clean.md", runs.clean(tag, 2))
    state = shop.next().state
    assert (state.current_step, state.next.who, state.next.kind) == ("replan", "human", "approve")
    assert " since Ada Example opened it for the next phase on " in state.next.care[0]
    assert state.next.because == ("Reviews passed clean in round 2",)
    assert state.next.command == f"qrspi approve {shop.run.name} plan"
    (item,) = waiting.items([state])
    assert (item.kind, item.step, item.command) == ("approve", "plan", state.next.command)
    shop.make(lambda job: approve.plan(job, "plan"))
    assert "archive-phase" in [one.handler for one in shop.next().performed]
    assert derive(shop.workspace()).phase == 2


@pytest.mark.rule("RP-03", "REJ-01")
def test_a_changed_plan_that_is_rejected_is_written_again(tmp_path: Path) -> None:
    shop = without_next_tasks(tmp_path)
    shop.write("tasks/task-04.md", NEXT_TASK)
    shop.next()
    shop.make(lambda job: reject.plan(job, "plan", b"Too much of it."))
    following = shop.next().state.next
    assert (following.who, following.asks) == ("agent", (Ask("author", "plan"),))
    assert "feedback/plan-round-02.md" in following.inputs
    prompt = shop.read(prompt_file(following.asks[0]))
    assert "Phase 1 is over" in prompt and f"\n{shop.run}/replan.md\n" in prompt


@pytest.mark.rule("RP-03", "PRM-07")
def test_the_plan_of_the_next_phase_is_taken_from_what_an_agent_prints(tmp_path: Path) -> None:
    shop = without_next_tasks(tmp_path)
    task = NEXT_TASK.decode()
    shop.reply("author.md", f"{shop.read('plan.md')}\nMore.\n<<<FILE tasks/task-04.md>>>\n{task}")
    for tag in PLAN_TAGS:
        shop.reply(f"{tag}.md", "NO_FINDINGS\n")
    done = shop.driven()
    assert (done.failures, done.outcome.state.next.kind) == ((), "approve")
    assert statuses(shop, ("plan",)) == ["replan-draft"]
    assert shop.read("tasks/task-04.md").endswith("# Task 04: More\n")
