"""The gates of code: the batch gate, ship or fix, and a run from its first task to its end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from qrspi.core.code_steps import gate_records, test_results
from qrspi.core.errors import Refusal
from qrspi.core.records import task_records
from qrspi.core.records.task_records import Reopened
from qrspi.handlers.changes import change_set
from qrspi.handlers.decisions import reject, rewind
from qrspi.handlers.menus import menu
from qrspi.handlers.tasks import commands
from qrspi.world.files.run_tree import DiskTree
from tests import deliveries
from tests.deliveries import full, quick, task
from tests.handlers.refusals import refusal
from tests.handlers.workshop import Workshop
from tests.project import RUN

ONE = "task-01"
GATE = ("implement-gate-claude",)
TESTERS = ("spec-claude", "code-quality-claude", "goal-traceability-claude")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """At the batch gate of a quick run with two tasks."""
    tasks = {
        "tasks/task-01.md": task(1, files="a.py"),
        "tasks/task-02.md": task(2, files="b.py"),
    }
    shop = Workshop(tmp_path_factory.mktemp("batch") / "project", quick(tasks))
    shop.next()
    shop.finish(ONE, "a.py", "a = 1\n")
    shop.take("task-02", "b.py", "b = 1\n")
    shop.next()
    return shop.keep()


@pytest.fixture
def shop(kept: Workshop) -> Workshop:
    return kept.restore()


@pytest.mark.rule("IMP-10", "RUN-06", "OUT-07")
def test_the_record_of_the_batch_says_how_each_task_ended(shop: Workshop) -> None:
    commits = [shop.git("rev-parse", f"qrspi/user-auth/task-0{n}")[:12] for n in (1, 2)]
    assert shop.read("implementation.md") == (
        "---\nstatus: draft\nphase: 1\n---\n\n# Implementation of phase 1\n\n"
        "<!-- counted by qrspi: begin -->\n\n"
        "| Task | Title | State | Branch | Commit | Rounds |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
        f"| task-01 | Part 1 | clean | qrspi/user-auth/task-01 | {commits[0]} | 1 |\n"
        "| task-02 | Part 2 | accepted-with-issues | qrspi/user-auth/task-02 | "
        f"{commits[1]} | - |\n"
        "\n## Decided by a person\n\n- task-02 (accepted-with-issues): Looks good.\n\n"
        "<!-- counted by qrspi: end -->\n"
    )
    assert shop.git("log", "-1", "--format=%s") == "docs(qrspi): draft implement for user-auth"


@pytest.mark.rule("IMP-10", "APR-02", "APV-01")
def test_continue_approves_and_stop_does_nothing(shop: Workshop) -> None:
    assert shop.resolve("stop").edits == ()
    shop.resolve("continue", "Grace Example")
    line = shop.records()[-1]
    assert (line["event"], line["step"], line["as"]) == ("approve", "implement", "Grace Example")
    assert "status: approved" in shop.read("implementation.md")
    assert shop.git("log", "-1", "--format=%s") == "docs(qrspi): approve implement for user-auth"
    assert (shop.answer.kind, shop.answer.missing) == ("merge", (ONE, "task-02"))
    committed = shop.git("ls-files", "--", "reviews/tasks", at=shop.run).split()
    assert "reviews/tasks/task-01/round-01/spec-claude.clean.md" in committed


@pytest.mark.rule("IMP-10", "MTX-04")
def test_all_tasks_are_reviewed_together_as_often_as_asked_for(shop: Workshop) -> None:
    shop.resolve("rerun-reviews")
    assert shop.did() == ["prepare-round"]
    assert (shop.answer.action, shop.answer.step, shop.answer.missing) == (
        "review",
        "implement-gate",
        GATE,
    )
    shop.review("implement-gate", 1, GATE)
    assert shop.did() == ["assemble", "commit-round"]
    assert "Reviews passed clean in round 1." in shop.answer.summary
    shop.resolve("rerun-reviews")
    assert shop.did() == ["prepare-round"]
    assert shop.answer.round == 2


@pytest.mark.rule("LIV-01", "IMP-10")
def test_a_review_of_all_tasks_from_before_a_rewind_is_not_taken_for_one_since(
    shop: Workshop,
) -> None:
    shop.resolve("rerun-reviews")
    shop.next()
    shop.review("implement-gate", 1, GATE)
    shop.next()
    shop.resolve("continue")
    shop.make(lambda job: rewind.plan(job, "implement"))
    shop.next()
    answer = shop.answer
    assert "Reviews passed clean in round 1, before the rewind; not reviewed since." in (
        answer.summary
    )
    assert [one.key for one in answer.options[:2]] == ["rerun-reviews", "continue"]
    shop.resolve("rerun-reviews")
    assert shop.did() == ["prepare-round"]


@pytest.mark.rule("IMP-10")
def test_fix_sends_back_what_is_open_and_what_the_whole_review_found(shop: Workshop) -> None:
    shop.resolve("rerun-reviews")
    shop.next()
    shop.review("implement-gate", 1, GATE, wrong="It does not add up.")
    shop.next()
    assert shop.answer.kind == "batch"
    shop.resolve("fix")
    path = "reviews/integration/round-01/implement-gate-claude.finding-F01.md"
    sent = task_records.reopened(DiskTree(shop.run), ONE)
    assert isinstance(sent, Reopened)
    assert (sent.round, sent.findings) == (1, (path,))
    assert not shop.has("reviews/tasks/task-02/outcome.md")
    assert (shop.answer.kind, shop.answer.missing) == ("implement", (ONE, "task-02"))
    assert path in shop.answer.inputs
    assert shop.git("log", "-1", "--format=%s") == (
        "docs(qrspi): send back tasks of implement for user-auth"
    )
    shop.deliver(ONE, "a.py", "a = 2\n")
    shop.next()
    shop.review(ONE, 2)
    shop.take("task-02", "b.py", "b = 2\n")
    assert shop.did() == ["assemble", "draft-implementation", "commit-round"]
    shop.resolve("continue")


@pytest.mark.rule("IMP-10", "LIV-02")
def test_nothing_to_fix_is_offered_when_all_is_clean(tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "project", quick())
    shop.next()
    shop.finish(ONE, "a.py", "a = 1\n")
    assert [option.key for option in shop.answer.options] == ["continue", "rerun-reviews", "stop"]
    assert str(refusal(shop.resolve, "fix")) == (
        "'fix' is not offered now, next is the approval of implement; options: continue, "
        "rerun-reviews, stop"
    )


@pytest.mark.rule("REJ-01")
def test_a_rejected_batch_names_the_feedback(shop: Workshop) -> None:
    shop.make(lambda job: reject.plan(job, "implement", b"Not like this."))
    answer = shop.answer
    assert (answer.action, answer.inputs) == (
        "author",
        ("implementation.md", "feedback/implement-round-01.md"),
    )
    shop.write("implementation.md", shop.read("implementation.md") + "\nLike this, because.\n")
    assert shop.answer.kind == "batch"


# tasks that count no more


REVIEWS = "reviews/tasks/task-01"


def without_report(shop: Workshop) -> None:
    (shop.run / REVIEWS / "report.md").unlink()


def without_a_review(shop: Workshop) -> None:
    (shop.run / REVIEWS / "round-01" / "spec-claude.clean.md").unlink()


def with_more_proof(shop: Workshop) -> None:
    shop.write(
        "config.md", shop.read("config.md").replace("---\n", "---\nevidence: dispatched\n", 1)
    )


LOST = (without_report, without_a_review, with_more_proof)


def stopped(shop: Workshop) -> None:
    """By one action, whatever is tried; and nothing of it is merged."""
    before = shop.git("rev-parse", "main:a.py")
    answer = shop.answer
    assert (answer.step, answer.action, answer.who, answer.kind, answer.missing) == (
        "test",
        "blocked",
        "human",
        "prerequisite",
        (ONE,),
    )
    assert shop.did() == []
    for attempt in (partial(shop.resolve, "ship"), partial(shop.approve, "test")):
        with pytest.raises(Refusal, match="task-01 is "):
            attempt()
    assert shop.git("rev-parse", "main:a.py") == before
    assert f"`qrspi rewind {shop.run.name} --to implement`" in answer.summary


@pytest.mark.rule("INT-01", "TST-01")
@pytest.mark.parametrize("lose", LOST)
def test_a_task_that_is_clean_no_more_stops_the_merge_of_all(
    shop: Workshop, lose: Callable[[Workshop], None]
) -> None:
    shop.resolve("continue")
    lose(shop)
    stopped(shop)
    assert not shop.has("test-results.md")
    assert "b.py" not in shop.git("ls-tree", "--name-only", "main").split()
    shop.make(lambda job: rewind.plan(job, "implement"))
    assert shop.answer.step in (ONE, "implement")


@pytest.mark.rule("INT-01", "TST-01")
@pytest.mark.parametrize("lose", LOST)
def test_a_task_that_is_clean_no_more_is_not_shipped(
    shop: Workshop, lose: Callable[[Workshop], None]
) -> None:
    shop.resolve("continue")
    assert shop.did()[:2] == ["merge", "run-tests"]
    shop.review("test", 1, TESTERS)
    shop.next()
    assert shop.answer.kind == "test"
    lose(shop)
    stopped(shop)


@pytest.mark.rule("INT-01")
def test_nothing_is_merged_anew_while_a_task_is_clean_no_more(shop: Workshop) -> None:
    """The record calls both merged, and the branch has neither any more."""
    shop.resolve("continue")
    start = shop.git("rev-parse", "main")
    shop.next()
    shop.git("rm", "-q", "b.py")
    tree = shop.git("write-tree")
    made = shop.git("commit-tree", tree, "-p", start, "-m", "all of it")
    shop.git("checkout", "-q", "-B", "main", made)
    without_report(shop)
    stopped(shop)
    assert "b.py" not in shop.git("ls-tree", "--name-only", "main").split()


# test


def ran(root: Path, script: str) -> Workshop:
    """A quick run whose tests have run."""
    shop = Workshop(root / "project", quick(), {"test.sh": script})
    shop.next()
    shop.take(ONE, "a.py", "a = 1\n")
    shop.next()
    shop.resolve("continue")
    assert shop.did()[:2] == ["merge", "run-tests"]
    return shop


def after_tests(root: Path, script: str) -> Workshop:
    """A quick run whose tests passed and whose results are reviewed."""
    shop = ran(root, script)
    shop.review("test", 1, TESTERS)
    shop.next()
    return shop


@pytest.mark.rule("TST-01", "TST-02", "BWL-03", "LIV-07")
def test_a_quick_run_ships(tmp_path: Path) -> None:
    shop = after_tests(tmp_path, "cat a.py\n")
    assert shop.read("reviews/test/round-01.log") == "a = 1\n"
    assert "+a = 1\n" in shop.read("reviews/test/round-01.diff")
    results = test_results.newest(DiskTree(shop.run))
    assert results is not None
    assert (results.state, results.merges, results.command) == ("passed", 1, "sh test.sh")
    text = shop.read("pull-request.md")
    assert text.startswith("# Text\n\n<!-- counted by qrspi: begin -->\n\n## Summary\n\n| Task |")
    assert "- [plan](docs/qrspi/2026-05-17-user-auth/plan.md)\n" in text
    assert shop.answer.kind == "test"
    shop.resolve("ship")
    assert shop.answer.action == "done"
    assert not shop.has("replan-pending.md")
    assert "pull-request.md" in shop.git("ls-files", at=shop.run).split()


@pytest.mark.rule("ENG-04")
def test_a_record_that_a_kill_left_uncommitted_is_committed(tmp_path: Path) -> None:
    """git was killed when it had added the new file; what a person writes later is left alone."""
    shop = after_tests(tmp_path, "cat a.py\n")
    shop.git("reset", "-q", "--soft", "HEAD~1")
    assert any(line.endswith("pull-request.md") for line in shop.status())
    assert shop.did() == ["commit-drafts"]
    assert (shop.status(), shop.subjects()[0]) == ([], "docs(qrspi): draft test for user-auth")
    assert shop.did() == []
    shop.write("pull-request.md", shop.read("pull-request.md") + "\nMine.\n")
    assert shop.did() == []


@pytest.mark.rule("ENG-04")
def test_an_answer_left_uncommitted_by_a_kill_is_committed_by_the_same(tmp_path: Path) -> None:
    shop = after_tests(tmp_path, "cat a.py\n")
    shop.resolve("ship")
    records = shop.records()
    shop.git("reset", "-q", "--mixed", "HEAD~1")
    assert [line[3:] for line in shop.status()] == [f"{RUN}/{name}" for name in SHIPPED]
    shop.resolve("ship")
    assert (shop.status(), shop.records()) == ([], records)
    with pytest.raises(Refusal, match="no menu is open: the run is complete"):
        shop.resolve("ship")


SHIPPED = ("approvals.jsonl", "test-results.md")


@pytest.mark.rule("ENG-04")
def test_the_daemon_asks_git_of_no_waiting_run(tmp_path: Path) -> None:
    shop = after_tests(tmp_path, "cat a.py\n")
    shop.git("reset", "-q", "--soft", "HEAD~1")
    assert shop.did(actor="watch") == []


@pytest.mark.rule("ENG-04", "BWL-03")
def test_a_fix_that_was_killed_leaves_no_failure_pending(tmp_path: Path) -> None:
    shop = ran(tmp_path, "echo 'FAILED tests/x.py::y - boom'; exit 1\n").keep()
    fix = partial(menu.plan, key="fix", more=menu.More())
    count = len(shop.make(fix)[0].edits)
    for at in range(1, count + 1):
        shop.restore()
        with (workspace := shop.workspace()).locked():
            for edit in fix(change_set.look(workspace, shop.options)).edits[:at]:
                change_set.write(workspace, edit)
        if shop.answer.step == "test":
            shop.resolve("fix")
        assert "| pending |" not in shop.read("reviews/test/round-01-results.md"), at
        assert "feedback/plan-round-01.md" in shop.files(), at
        events = [one["event"] for one in shop.records() if one.get("option") != "continue"]
        assert events[-2:] == ["resolve", "rewind"], at
        assert events.count("resolve") == 1, at


@pytest.mark.rule("BWL-03", "TST-01")
def test_fix_goes_back_to_the_plan_and_says_why(tmp_path: Path) -> None:
    shop = ran(tmp_path, "echo 'FAILED tests/x.py::y - boom'; exit 1\n")
    assert shop.answer.because[0] == "The tests failed: 1 failure (tests/x.py::y)"
    shop.resolve("fix")
    assert [shop.read(name).splitlines()[1] for name in ("plan.md", "implementation.md")] == [
        "status: draft"
    ] * 2
    assert shop.read("tasks/task-01.md").splitlines()[1] == "status: draft"
    assert "| 1 | tests/x.py::y | fix |\n" in shop.read("reviews/test/round-01-results.md")
    assert shop.status() == []
    feedback = shop.read("feedback/plan-round-01.md")
    assert (
        "\n## User Feedback\n\nThe tests failed: 1 failure (tests/x.py::y). A person chose to "
        "fix it: plan what that takes; tasks that are done stay as they are, "
        "so add a task for the repair.\n\nSee reviews/test/round-01-results.md:\n\n"
        "- tests/x.py::y\n"
    ) in feedback
    answer = shop.answer
    assert (answer.action, answer.step, "feedback/plan-round-01.md" in answer.inputs) == (
        "author",
        "plan",
        True,
    )


@pytest.mark.rule("TST-03", "IMP-05")
def test_failures_known_from_before_are_listed_and_not_asked_about(tmp_path: Path) -> None:
    script = (
        "echo 'FAILED tests/old.py::a'; test ! -e new || echo 'FAILED tests/new.py::b'; exit 1\n"
    )
    shop = Workshop(tmp_path / "project", quick(), {"test.sh": script})
    shop.perform(commands.take_baseline)
    shop.resolve("proceed")
    shop.next()
    shop.take(ONE, "new", "yes\n")
    shop.next()
    shop.resolve("continue")
    shop.next()
    assert shop.read("reviews/test/baseline-failures.md") == (
        "# Failures known from before\n\n## Failures\n\n- tests/old.py::a\n"
    )
    results = test_results.newest(DiskTree(shop.run))
    assert results is not None
    assert results.failures == (("tests/old.py::a", "known"), ("tests/new.py::b", "pending"))


@pytest.mark.rule("TST-01", "INT-01", "RP-02")
def test_a_full_run_decides_failure_by_failure_and_repairs_some(tmp_path: Path) -> None:
    script = "test -e mended || { echo 'FAILED x::one'; echo 'FAILED x::two'; exit 1; }\n"
    config = deliveries.config("full", 'gates:\n  test_command: "sh test.sh"\n')
    shop = Workshop(tmp_path / "project", {**full(), "config.md": config}, {"test.sh": script})
    shop.next()
    for key, path in ((ONE, "a.py"), ("task-02", "b.py")):
        shop.take(key, path, f"{key}\n")
    shop.next()
    shop.take("task-03", "c.py", "task-03\n")
    shop.next()
    shop.resolve("continue")
    shop.next()
    shop.review("integrate", 1, ("integration-claude", "security-claude"))
    shop.next()
    shop.approve("integrate")
    assert shop.did() == ["run-tests"]
    assert shop.answer.kind == "test-failure"
    shop.resolve("fix")
    assert shop.answer.missing == ("x::two",)
    shop.resolve("leave")
    assert "| 1 | x::one | fix |\n| 2 | x::two | leave |" in shop.read("test-results.md")
    assert shop.did() == ["write-repairs", "start-tasks"]
    key = "test-round-01/failures-round-01"
    assert "- x::one\n" in shop.read(f"fixes/{key}.md")
    shop.take(key, "mended", "yes\n")
    assert shop.did() == ["merge", "run-tests", "prepare-round"]
    merges = gate_records.merges(DiskTree(shop.run).read("test-results.md"))
    assert [(one.key, one.result) for one in merges] == [(key, "merged")]
    shop.review("test", 1, TESTERS, wrong="No test of the empty case.")
    assert shop.did() == ["assemble", "write-repairs", "start-tasks"]
    again = "test-round-02/review-round-01"
    shop.take(again, "test_empty.py", "pass\n")
    assert shop.did() == [
        "merge",
        "run-tests",
        "settle",
        "commit-round",
        "choose-loop",
        "prepare-round",
    ]
    shop.review("test", 2, TESTERS)
    shop.next()
    assert [option.label for option in shop.answer.options if option.key == "ship"] == [
        "approve the results and end phase 1; a replan leads to the next, and nothing is pushed"
    ]
    shop.approve("test")
    assert shop.read("replan-pending.md").startswith("---\nphase: 1\n")
    assert shop.answer.action == "replan"


@pytest.mark.rule("TST-01")
def test_tests_that_were_sent_back_are_run_again(tmp_path: Path) -> None:
    shop = after_tests(tmp_path, "date +%N\n")
    shop.make(lambda job: reject.plan(job, "test", b"Once more."))
    assert shop.did() == ["run-tests"]
    assert shop.has("reviews/test/round-02-results.md")


@pytest.mark.rule("RUN-04", "SEC-01")
def test_the_daemon_runs_no_tests(tmp_path: Path) -> None:
    marker = tmp_path / "it-ran"
    shop = Workshop(tmp_path / "project", quick(), {"test.sh": f"touch {marker}\n"})
    shop.next()
    shop.take(ONE, "a.py", "a = 1\n")
    shop.next()
    shop.resolve("continue")
    assert shop.did(actor="watch") == []
    assert not marker.exists()
