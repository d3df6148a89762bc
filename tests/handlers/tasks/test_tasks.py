"""Tasks from their work trees to their end, in real repositories."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from qrspi.core import trust
from qrspi.core.code_steps import baseline, shipping
from qrspi.core.derivation import waiting
from qrspi.core.derivation.derive import derive, survey
from qrspi.core.errors import Halt, Misuse, Refusal
from qrspi.core.filenames import prompt_file
from qrspi.core.model import Ask
from qrspi.core.records import task_records as taskfiles
from qrspi.core.records.task_records import Report, ReportStatus, Start
from qrspi.core.tree import Fault
from qrspi.engine import rehearse
from qrspi.handlers.changes import task_base
from qrspi.handlers.history import prove
from qrspi.handlers.tasks import commands, merge, reports
from qrspi.handlers.tasks import start as task_start
from qrspi.handlers.tasks.start import Started
from qrspi.world.consent.permits import Permit
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.processes import configured_command
from tests import deliveries, runs
from tests.deliveries import TAGS, config, full, quick, task
from tests.handlers.workshop import Workshop
from tests.markers import named_only

ONE = "task-01"


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path / "project", full())


@pytest.fixture
def small(tmp_path: Path) -> Workshop:
    return Workshop.brought(tmp_path / "project", with_a_task_started)


def with_a_task_started(root: Path) -> Workshop:
    """A quick run whose one task is started."""
    shop = Workshop(root, quick())
    shop.next()
    return shop


def start(shop: Workshop, key: str = ONE) -> Started:
    workspace = shop.workspace()
    with workspace.locked():
        return task_start.start(shop.job()._replace(workspace=workspace), key)


def refused(act: Callable[[], object], error: type[Refusal] = Refusal) -> str:
    with pytest.raises(error) as caught:
        act()
    return str(caught.value)


def record(shop: Workshop, key: str = ONE) -> Start:
    found = taskfiles.start(DiskTree(shop.run), key)
    assert isinstance(found, Start)
    return found


# starting


@pytest.mark.rule("IMP-04", "RUN-04")
def test_a_task_gets_a_branch_a_work_tree_and_a_record(shop: Workshop) -> None:
    tip = shop.git("rev-parse", "main")
    assert shop.did() == ["start-tasks"]
    assert shop.branches() == ["main", "qrspi/user-auth/task-01", "qrspi/user-auth/task-02"]
    assert shop.git("rev-parse", "HEAD", at=shop.tree(ONE)) == tip
    assert record(shop)[:5] == (
        "qrspi/user-auth/task-01",
        "feature branch tip",
        tip,
        ".worktrees/user-auth/task-01",
        "main",
    )
    assert ".worktrees/" in (shop.root / ".git/info/exclude").read_text().splitlines()
    assert [line for line in shop.status() if "docs/qrspi" not in line] == []
    assert (shop.answer.kind, shop.answer.missing) == ("implement", (ONE, "task-02"))
    assert shop.did() == []


@pytest.mark.rule("IMP-04")
def test_a_task_starts_from_the_tip_of_another_or_from_a_stage(shop: Workshop) -> None:
    shop.next()
    first = shop.take(ONE, "a.py", "a = 1\n")
    second = shop.take("task-02", "b.py", "b = 1\n")
    made = start(shop, "task-03")
    assert made.start.built_on == f"task-01 {first}, task-02 {second}"
    stage = shop.git("rev-parse", "qrspi/user-auth/stage-after-W1")
    assert (made.start.base, made.start.base_commit) == ("stage-after-W1", stage)
    parents = shop.git("rev-list", "--parents", "--max-count=1", stage).split()[1:]
    assert parents == [first, second]
    assert (
        shop.git("log", "-1", "--format=%s", stage) == "Merge task-01, task-02 into stage-after-W1"
    )
    assert sorted(path.name for path in shop.tree("x").parent.iterdir()) == [
        ONE,
        "task-02",
        "task-03",
    ]


@pytest.mark.rule("IMP-04", "LIV-14")
def test_parents_must_be_reviewed(shop: Workshop) -> None:
    assert refused(lambda: start(shop, "task-03")) == (
        "task-03 starts from stage-after-W1, and task-01 is not reviewed yet (it is ready)"
    )
    shop.next()
    shop.take(ONE, "a.py", "a = 1\n")
    shop.deliver("task-02", "b.py", "b = 1\n")
    before = shop.branches()
    assert refused(lambda: start(shop, "task-03")) == (
        "task-03 starts from stage-after-W1, and task-02 is not reviewed yet (it is reviewing)"
    )
    assert shop.did() == ["prepare-round"]
    assert shop.branches() == before
    shop.review("task-02", 1)
    assert shop.did() == ["assemble", "start-tasks"]
    assert shop.answer.missing == ("task-03",)


@pytest.mark.rule("LIV-14")
def test_who_builds_on_a_task_that_is_left_out_is_stuck(tmp_path: Path) -> None:
    tasks = {"tasks/task-01.md": task(1), "tasks/task-02.md": task(2, needs="task-01")}
    shop = Workshop(tmp_path / "project", quick(tasks))
    shop.next()
    shop.deliver(ONE, "a.py", "a = 1\n")
    shop.make(lambda job: reports.skip(job, ONE, "not wanted"))
    assert shop.answer.because == ("task-02 builds on task-01, which was left out",)
    assert shop.did() == []


def chained(tmp_path: Path) -> Workshop:
    """task-02 stands ready on the commit of task-01 that was reviewed; then there is another."""
    tasks = {"tasks/task-01.md": task(1), "tasks/task-02.md": task(2, needs="task-01")}
    shop = Workshop(tmp_path / "project", quick(tasks))
    shop.next()
    shop.finish(ONE, "a.py", "a = 1\n")
    assert record(shop, "task-02").base_commit == shop.git("rev-parse", "HEAD", at=shop.tree(ONE))
    return shop


def once_more(shop: Workshop) -> str:
    """The implementer of task-01 reports another commit, and it is clean too."""
    commit = shop.deliver(ONE, "a.py", "a = 2\n")
    shop.next()
    shop.review(ONE, 2)
    return commit


def on_merged(tmp_path: Path) -> tuple[Workshop, str]:
    """task-03 repairs what is merged, and builds on task-01, whose commit is given too."""
    tasks = {"tasks/task-01.md": task(1), "tasks/task-02.md": task(2)}
    shop = Workshop(tmp_path / "project", quick(tasks), {"test.sh": "exit 1\n"})
    shop.next()
    one = shop.take(ONE, "a.py", "a = 1\n")
    shop.take("task-02", "b.py", "b = 1\n")
    shop.next()
    shop.resolve("continue")
    shop.next()
    shop.resolve("fix")
    shop.write("tasks/task-03.md", task(3, needs="task-01"))
    shop.write("plan.md", runs.artifact("draft", "# Plan\n\nRepair it.\n"))
    shop.approve("plan")
    shop.next()
    return shop, one


@pytest.mark.rule("LIV-14")
def test_a_task_that_builds_on_merged_ones_starts_from_all_that_is_merged(tmp_path: Path) -> None:
    shop, one = on_merged(tmp_path)
    known = record(shop, "task-03")
    assert known.built_on == f"task-01 {one}"
    assert known.base == "feature branch tip, with task-01 merged"
    assert (shop.tree("task-03") / "b.py").exists(), "task-02 is merged as well"
    assert shop.answer.missing == ("task-03",)
    assert shop.did() == []
    shop.take("task-03", "c.py", "c = 1\n")
    shop.next()
    assert shop.answer.options[0].label == "approve implementation.md, and merge task-03 into main"


@pytest.mark.rule("IMP-08", "LIV-14")
def test_a_report_of_nothing_is_refused_also_on_merged_ones(tmp_path: Path) -> None:
    shop, _ = on_merged(tmp_path)
    said = refused(lambda: shop.report("task-03"))
    assert f"since the task began at {record(shop, 'task-03').base_commit[:12]}" in said


@pytest.mark.rule("LIV-14", "SEC-14")
def test_its_reviewers_see_what_is_new_since_it_left_the_feature_branch(tmp_path: Path) -> None:
    shop, _ = on_merged(tmp_path)
    begun = record(shop, "task-03").base_commit
    shop.deliver("task-03", "c.py", "c = 1\n")
    prepared = shop.next().performed[0]
    assert [note for note in prepared.notes if "began at" in note] == []
    assert changed_in(shop, "task-03") == ["c.py"]
    commit = shop.git("rev-parse", "HEAD", at=shop.tree("task-03"))
    shop.git("merge", "-q", "--no-ff", "-m", "by hand", commit)
    found = task_base.find(shop.job(), "task-03", record(shop, "task-03"), commit)
    assert found == (begun, ""), "also once it is merged"


@pytest.mark.rule("SEC-14")
def test_a_moved_base_of_such_a_task_hides_no_commit_either(tmp_path: Path) -> None:
    shop, _ = on_merged(tmp_path)
    bad = shop.work("task-03", "bad.py", "steal()\n")
    shop.work("task-03", "c.py", "c = 1\n")
    moved = record(shop, "task-03")._replace(base_commit=bad)
    shop.write(taskfiles.start_file("task-03"), taskfiles.render_start("task-03", moved))
    shop.report("task-03")
    shop.next()
    assert changed_in(shop, "task-03") == ["bad.py", "c.py"]


@pytest.mark.rule("LIV-15")
def test_no_diff_of_a_task_shows_the_runs(small: Workshop) -> None:
    small.work(ONE, "a.py", "a = 1\n")
    small.write("notes.md", b"what people wrote on the feature branch\n")
    small.git("add", "docs/qrspi")
    small.git("commit", "-q", "-m", "notes")
    small.git("merge", "-q", "--no-edit", "main", at=small.tree(ONE))
    small.report(ONE)
    small.next()
    assert changed_in(small, ONE) == ["a.py"]


@pytest.mark.rule("SEC-17")
def test_a_merge_into_the_runs_is_undone_also_after_a_kill(small: Workshop) -> None:
    (small.tree(ONE) / "docs/qrspi").mkdir(parents=True, exist_ok=True)
    commit = small.take(ONE, "docs/qrspi/other.md", "mine\n")
    small.next()
    small.resolve("continue")
    before = small.git("rev-parse", "HEAD")
    line = f"QRSPI-Merge: {small.run.name}/{ONE} {commit}"
    small.git("merge", "-q", "--no-ff", "-m", f"Merge it\n\n{line}", commit)
    assert refused(lambda: small.perform(merge.handle)).startswith(
        "task-01: to merge it changes docs/qrspi/other.md, which no task writes; "
    )
    assert small.git("rev-parse", "HEAD") == before


def changed_in(shop: Workshop, key: str) -> list[str]:
    """The files that the first round's diff shows."""
    lines = shop.read(f"reviews/tasks/{key}/round-01.diff").splitlines()
    return [line.rpartition(" b/")[2] for line in lines if line.startswith("diff --git")]


@pytest.mark.rule("LIV-14")
def test_an_untouched_work_tree_on_an_older_base_is_rebuilt(tmp_path: Path) -> None:
    shop = chained(tmp_path)
    commit = once_more(shop)
    assert shop.did() == ["assemble", "start-tasks"]
    known = record(shop, "task-02")
    assert (known.base_commit, known.built_on) == (commit, f"task-01 {commit}")
    assert shop.git("rev-parse", "HEAD", at=shop.tree("task-02")) == commit
    assert (shop.tree("task-02") / "a.py").read_text() == "a = 2\n"
    assert (shop.answer.kind, shop.did()) == ("implement", [])


@pytest.mark.rule("LIV-14")
@pytest.mark.parametrize("committed", [True, False])
def test_a_work_tree_with_work_in_it_stays_and_is_named(tmp_path: Path, committed: bool) -> None:
    shop = chained(tmp_path)
    (shop.tree("task-02") / "new.py").write_text("b = 1\n")
    if committed:
        shop.work("task-02", "b.py", "b = 1\n")
    old = record(shop, "task-02").base_commit
    head = shop.git("rev-parse", "HEAD", at=shop.tree("task-02"))
    commit = once_more(shop)
    done = shop.next()
    said = (
        "task-02 has work of its own in .worktrees/user-auth/task-02 and stays on what it began "
        f"with: task-01 was at {old[:12]} and is at {commit[:12]} now"
    )
    assert [note for one in done.performed for note in one.notes if "stays" in note] == [said]
    assert [warning.message for warning in done.state.warnings] == [said]
    assert shop.git("rev-parse", "HEAD", at=shop.tree("task-02")) == head
    assert (shop.tree("task-02") / "new.py").read_text() == "b = 1\n"
    assert (shop.answer.kind, shop.did()) == ("implement", [])


@pytest.mark.rule("LIV-14")
def test_a_stage_of_earlier_commits_is_made_again(shop: Workshop) -> None:
    shop.next()
    shop.finish(ONE, "a.py", "a = 1\n")
    shop.finish("task-02", "b.py", "b = 1\n")
    old = shop.git("rev-parse", "qrspi/user-auth/stage-after-W1")
    commit = once_more(shop)
    shop.next()
    stage = shop.git("rev-parse", "qrspi/user-auth/stage-after-W1")
    assert stage != old
    assert commit in shop.git("rev-list", stage).split()
    assert record(shop, "task-03").base_commit == stage
    (shop.root / "mine.txt").write_text("mine\n")
    shop.git("branch", "-f", "qrspi/user-auth/stage-after-W1", shop.commit("mine"))
    shutil.rmtree(shop.run / "reviews/tasks/task-03")
    assert refused(lambda: start(shop, "task-03")) == (
        "branch qrspi/user-auth/stage-after-W1 is there and has commits that this run did not "
        "make: rename it, then start the task again"
    )


@pytest.mark.rule("LIV-14")
def test_what_is_in_the_way_of_one_task_stops_that_one_only(shop: Workshop) -> None:
    message = foreign_branch(shop)
    done = shop.next()
    assert [one.handler for one in done.performed] == ["start-tasks", "write-prompts"]
    assert (shop.answer.kind, shop.answer.missing) == ("implement", ("task-02",))
    shop.take("task-02", "b.py", "b = 1\n")
    answer = shop.answer
    assert (answer.who, answer.command) == (
        "human",
        "git branch -m qrspi/user-auth/task-01 qrspi/user-auth/task-01-old",
    )
    assert answer.summary == (
        f"task-01 could not be started: {message}. Then run `qrspi task start "
        "2026-05-17-user-auth task-01`."
    )
    assert shop.did() == []
    shop.git(*answer.command.split()[1:])
    start(shop)
    assert (shop.answer.kind, shop.answer.missing) == ("implement", (ONE,))


@pytest.mark.rule("IMP-04")
def test_a_stage_that_conflicts_stops_with_the_files(shop: Workshop) -> None:
    shop.next()
    shop.take(ONE, "a.py", "a = 1\n")
    shop.take("task-02", "a.py", "a = 2\n")
    before = shop.git("for-each-ref")
    assert refused(lambda: start(shop, "task-03")) == (
        "stage-after-W1 cannot be made: task-02 conflicts with task-01, task-02 in a.py; settle it "
        "on the branch of task-02, or give the task another base"
    )
    assert shop.git("for-each-ref") == before
    assert not shop.tree("stage-after-W1").exists()
    assert "task-03" not in shop.git("worktree", "list")


@pytest.mark.rule("IMP-02", "IMP-04")
def test_the_branch_map_names_the_branch(tmp_path: Path) -> None:
    plan = deliveries.PLAN.replace("| task-01 | |", "| task-01 | `work/first` |")
    shop = Workshop(tmp_path / "project", {**full(), "parallelization.md": plan.encode()})
    assert start(shop).start.branch == "work/first"


@pytest.mark.rule("IMP-04")
@pytest.mark.parametrize("key", ["task-04", "task-77", "ci-round-01/x"])
def test_only_tasks_of_the_phase_are_started(shop: Workshop, key: str) -> None:
    assert refused(lambda: start(shop, key)) == (
        f"{key} is not a task of phase 1; there is task-01, task-02, task-03"
    )


@pytest.mark.rule("ST-04", "IMP-06")
def test_nothing_is_started_before_the_plan_is_approved(tmp_path: Path) -> None:
    files = full()
    files["parallelization.md"] = files["parallelization.md"].replace(b"approved", b"draft", 1)
    early = Workshop(tmp_path / "early", files)
    assert refused(lambda: start(early)) == ("no task can start: approve parallelization.md first")
    plain = full()["config.md"].replace(b"review_depth: quick\n", b"")
    unasked = Workshop(tmp_path / "unasked", {**full(), "config.md": plain})
    assert refused(lambda: start(unasked)) == (
        "config.md: review_depth is missing; expected quick or deep"
    )
    assert (early.branches(), unasked.branches()) == (["main"], ["main"])


def branch_only(shop: Workshop) -> None:
    """Killed before the work tree: the branch stands where the feature branch stood."""
    shop.git("branch", "qrspi/user-auth/task-01")
    (shop.root / "a.py").write_text("a = 9\n")
    shop.commit("meanwhile")


def whole(shop: Workshop) -> None:
    """Killed before the record."""
    place = str(shop.tree(ONE))
    shop.git("worktree", "add", "-q", "-b", "qrspi/user-auth/task-01", place)


def gone(shop: Workshop) -> None:
    whole(shop)
    shutil.rmtree(shop.tree(ONE))


def half(shop: Workshop) -> None:
    place = str(shop.tree(ONE))
    shop.git("branch", "qrspi/user-auth/task-01")
    lock = ("--lock", "--reason", "initializing")
    shop.git("worktree", "add", "-q", "--no-checkout", *lock, place, "qrspi/user-auth/task-01")


@pytest.mark.rule("IMP-04")
@pytest.mark.parametrize(
    ("leave", "how"),
    [(branch_only, "made"), (whole, "reused"), (gone, "repaired"), (half, "repaired")],
)
def test_what_a_killed_command_left_is_used_or_repaired(
    shop: Workshop, leave: Callable[[Workshop], None], how: str
) -> None:
    leave(shop)
    made = start(shop)
    assert (made.how, made.start.base_commit) == (how, shop.git("rev-parse", "main"))
    assert shop.git("status", "--porcelain", at=shop.tree(ONE)) == ""
    assert shop.git("rev-parse", "HEAD", at=shop.tree(ONE)) == made.start.base_commit
    assert start(shop).how == "reused"


@pytest.mark.rule("LIV-11", "LIV-02")
def test_in_a_clone_next_makes_the_work_trees_that_implementers_are_sent_to(
    shop: Workshop,
) -> None:
    shop.next()
    places = [shop.tree(key) for key in (ONE, "task-02")]
    for place in places:
        shop.git("worktree", "remove", "--force", str(place))
    commit = shop.git("rev-parse", "HEAD")
    (planned,) = rehearse(shop.workspace(), shop.options).performed
    assert (planned.handler, [place.exists() for place in places]) == ("start-tasks", [False] * 2)
    done = shop.next()
    assert [place.exists() for place in places] == [True, True]
    assert [(one.handler, one.files) for one in done.performed] == [("start-tasks", ())]
    assert shop.git("rev-parse", "HEAD") == commit
    assert shop.next().performed == ()


@pytest.mark.rule("LIV-11", "LIV-02")
def test_in_a_clone_next_makes_the_work_tree_that_a_review_is_about(shop: Workshop) -> None:
    shop.next()
    shop.deliver(ONE, "a.py", "a = 1\n")
    for opened in (False, True):
        shop.git("worktree", "remove", "--force", str(shop.tree(ONE)))
        did = [one.handler for one in shop.next().performed]
        assert did[0] == "start-tasks" and ("prepare-round" in did) is not opened
        assert (shop.tree(ONE) / "a.py").read_text() == "a = 1\n"


@pytest.mark.rule("IMP-04")
def test_a_record_from_another_machine_brings_the_branch_back(shop: Workshop) -> None:
    shop.next()
    done = shop.deliver(ONE, "a.py", "a = 1\n")
    shop.git("worktree", "remove", "--force", str(shop.tree(ONE)))
    shop.git("branch", "-D", "qrspi/user-auth/task-01")
    assert start(shop).how == "made"
    assert shop.git("rev-parse", "HEAD", at=shop.tree(ONE)) == done
    shop.git("worktree", "remove", "--force", str(shop.tree(ONE)))
    shop.git("branch", "-D", "qrspi/user-auth/task-01")
    lost = record(shop)._replace(base_commit="f" * 40)
    shop.write(taskfiles.start_file(ONE), taskfiles.render_start(ONE, lost))
    (shop.run / taskfiles.report_file(ONE)).unlink()
    assert refused(lambda: start(shop)) == (
        "task-01: neither its branch qrspi/user-auth/task-01 nor the commit it started from "
        f"(ffffffffffff) is in {shop.root}: fetch them, then start it again"
    )


def foreign_folder(shop: Workshop) -> str:
    shop.tree(ONE).mkdir(parents=True)
    (shop.tree(ONE) / "mine.txt").write_text("mine\n")
    return (
        f"{shop.tree(ONE)} is there and is no work tree of branch qrspi/user-auth/task-01: move it "
        "away, then run the same command again"
    )


def foreign_branch(shop: Workshop) -> str:
    shop.git("checkout", "-q", "-b", "qrspi/user-auth/task-01")
    (shop.root / "mine.txt").write_text("mine\n")
    shop.commit("mine")
    shop.git("checkout", "-q", "main")
    return (
        "branch qrspi/user-auth/task-01 is there and has commits that this run did not make: "
        "rename it, then start the task again"
    )


def checked_out_elsewhere(shop: Workshop) -> str:
    place = shop.root.parent / "elsewhere"
    shop.git("worktree", "add", "-q", "-b", "qrspi/user-auth/task-01", str(place))
    return (
        f"branch qrspi/user-auth/task-01 is checked out at {place}: expected at {shop.tree(ONE)} "
        f"or nowhere; leave it there with `git -C {place} switch --detach`, which keeps all files"
    )


def a_link(shop: Workshop) -> str:
    away = shop.root.parent / "away"
    away.mkdir()
    (shop.root / ".worktrees").symlink_to(away)
    return (
        f"{shop.root}/.worktrees is a symbolic link: work trees are only made in real directories "
        "below it"
    )


@pytest.mark.rule("IMP-04", "RUN-04")
@pytest.mark.parametrize("leave", [foreign_folder, foreign_branch, checked_out_elsewhere, a_link])
def test_what_others_own_is_refused(shop: Workshop, leave: Callable[[Workshop], str]) -> None:
    message = leave(shop)
    before = shop.git("for-each-ref"), shop.git("worktree", "list")
    assert refused(lambda: start(shop)) == message
    assert (shop.git("for-each-ref"), shop.git("worktree", "list")) == before
    assert DiskTree(shop.run).head(taskfiles.start_file(ONE)) == Fault("absent")


@pytest.mark.rule("RUN-10")
def test_the_whole_name_is_used_where_the_slug_would_collide(shop: Workshop) -> None:
    other = shop.run.with_name("2026-06-01-user-auth")
    other.mkdir()
    assert start(shop).start.branch == "qrspi/user-auth/task-01"
    (other / "goals.md").write_text("---\nstatus: draft\n---\n")
    assert start(shop, "task-02").start.branch == "qrspi/user-auth/task-02"
    shutil.rmtree(shop.run / "reviews")
    for key in (ONE, "task-02"):
        shop.git("worktree", "remove", str(shop.tree(key)))
    again = start(shop).start
    assert (again.branch, again.worktree) == (
        "qrspi/2026-05-17-user-auth/task-01",
        ".worktrees/2026-05-17-user-auth/task-01",
    )


@pytest.mark.rule("RUN-08")
def test_the_code_may_lie_beside_the_run(tmp_path: Path) -> None:
    code = Workshop(tmp_path / "app", {})
    shop = Workshop(tmp_path / "papers", quick(code_path="../app"))
    assert start(shop).start.branch == "qrspi/user-auth/task-01"
    assert code.branches() == ["main", "qrspi/user-auth/task-01"]
    assert shop.branches() == ["main"]
    nowhere = Workshop(tmp_path / "other", quick(code_path="../missing"))
    (tmp_path / "missing").mkdir()
    assert refused(lambda: start(nowhere)) == (
        "../missing is in no git repository, and implement needs one for the code: make one with "
        "`git init`, or name another with code_path in config.md"
    )


@pytest.mark.rule("INT-03", "IMP-04")
def test_the_feature_branch_is_configured_recorded_or_checked_out(tmp_path: Path) -> None:
    bare = quick(feature_branch="")
    files = {**bare, "plan.md": b"---\nstatus: approved\nfeature_branch: topic\n---\n# Plan\n"}
    shop = Workshop(tmp_path / "project", files)
    assert refused(lambda: start(shop)) == (
        f"the feature branch topic has no commit in {shop.root}: make a first one there"
    )
    shop.git("checkout", "-q", "-b", "topic")
    (shop.root / "a.py").write_text("a = 5\n")
    topic = shop.commit("topic")
    shop.git("checkout", "-q", "main")
    assert start(shop).start[2:5] == (topic, ".worktrees/user-auth/task-01", "topic")
    plain = Workshop(tmp_path / "other", bare)
    plain.git("checkout", "-q", "--detach")
    assert refused(lambda: start(plain)) == (
        f"HEAD of {plain.root} is on no branch, and nothing says which branch the tasks end up on: "
        "`qrspi config set 2026-05-17-user-auth feature_branch NAME`"
    )


# reporting


@pytest.mark.rule("IMP-11")
def test_a_report_is_an_implementers_word(small: Workshop) -> None:
    commit = small.work(ONE, "a.py", "a = 1\n")
    small.make(lambda job: reports.report(job, ONE, "DONE", commit[:9], "Did *it*.\n"))
    found = taskfiles.report(DiskTree(small.run), ONE)
    assert isinstance(found, Report)
    assert (found.status, found.commit, found.text) == ("DONE", commit, "Did *it*.")
    assert small.did() == ["prepare-round"]
    assert small.answer.action == "review"


@pytest.mark.rule("IMP-11")
@pytest.mark.parametrize(
    ("commit", "error", "message"),
    [
        (None, Misuse, "a report of DONE names the commit that was made: --commit SHA"),
        (
            "0123456789abcdef0123456789abcdef01234567",
            Refusal,
            "task-01: '0123456789abcdef0123456789abcdef01234567' is not a commit in {root}: "
            "expected the one that was made",
        ),
        (
            "--all",
            Refusal,
            "the ref '--all': expected the name of a branch or commit, which never begins with '-'",
        ),
    ],
)
def test_a_report_that_cannot_be(
    small: Workshop, commit: str | None, error: type[Refusal], message: str
) -> None:
    def report() -> None:
        small.make(lambda job: reports.report(job, ONE, "DONE", commit, ""))

    assert refused(report, error) == message.format(root=small.root)
    assert not small.has(taskfiles.report_file(ONE))


@pytest.mark.rule("IMP-11")
def test_reviewers_are_not_sent_to_a_blocked_task(tmp_path: Path) -> None:
    small = Workshop(tmp_path / "project", quick())
    assert refused(lambda: small.report(ONE)) == (
        "task-01 is not started, so there is nothing to report: `qrspi task start "
        "2026-05-17-user-auth task-01`"
    )
    small.next()
    small.make(lambda job: reports.report(job, ONE, "BLOCKED", None, "What is a link?"))
    assert (small.answer.kind, small.answer.step) == ("task", ONE)
    assert small.did() == []
    small.deliver(ONE, "a.py", "a = 1\n")
    assert small.did() == ["prepare-round"]


@pytest.mark.rule("IMP-11", "LIV-14")
@pytest.mark.parametrize("commit", ["HEAD", "HEAD~0", "@"])
def test_without_its_work_tree_head_is_not_the_work_of_a_task(small: Workshop, commit: str) -> None:
    (small.root / "more.py").write_text("more = 1\n")
    small.commit("something else")
    small.git("worktree", "remove", str(small.tree(ONE)))
    assert refused(
        lambda: small.make(lambda job: reports.report(job, ONE, "DONE", commit, ""))
    ) == (
        f"the work tree of task-01 is not at {small.tree(ONE)}: make it again with "
        f"`qrspi task start {small.run.name} task-01`"
    )


@pytest.mark.rule("IMP-11", "IMP-12")
def test_a_blocked_task_is_sent_again_with_the_reason(small: Workshop) -> None:
    assert refused(lambda: small.make(lambda job: reports.retry(job, ONE, ""))) == (
        "task-01 is implementing: only a task that is blocked is sent again like this"
    )
    small.make(lambda job: reports.report(job, ONE, "BLOCKED", None, "What is a link?"))
    small.make(lambda job: reports.retry(job, ONE, "A link is a token.", "Grace"))
    record = small.lines("approvals.jsonl")[-1]
    assert (record["event"], record["step"], record["option"]) == ("task", ONE, "retry")
    small.next()
    assert (small.answer.kind, small.answer.missing) == ("implement", (ONE,))
    prompt = named_only(small.read(prompt_file(small.answer.asks[0])))
    assert "\nWhat is a link?\n" in prompt and "\nA link is a token.\n" in prompt
    small.make(lambda job: reports.report(job, ONE, "BLOCKED", None, "And what is a token?"))
    assert small.answer.because[0].endswith("says its implementer: And what is a token?")
    small.make(lambda job: reports.retry(job, ONE, ""))
    small.deliver(ONE, "a.py", "a = 1\n")
    assert not small.has(taskfiles.again_file(ONE))
    assert taskfiles.again_file(ONE) not in small.git("status", "--porcelain")
    assert taskfiles.again_file(ONE) not in [gap.file for gap in prove(str(small.run)).gaps]
    assert small.did() == ["prepare-round"]
    log = small.read(taskfiles.log_file(ONE))
    assert "\nWhat is a link?\n" in log and "\nstatus: DONE\n" in log


@pytest.mark.rule("IMP-09", "IMP-11")
def test_a_task_that_is_blocked_in_a_fix_cycle_goes_on_in_it(small: Workshop) -> None:
    small.deliver(ONE, "a.py", "a = 1\n")
    small.next()
    small.review(ONE, 1, wrong="It is wrong.")
    small.next()
    assert small.answer.action == "apply-fixes"
    small.make(lambda job: reports.report(job, ONE, "BLOCKED", None, "No."))
    assert small.answer.kind == "task"
    small.make(lambda job: reports.retry(job, ONE, ""))
    (finding,) = [path for path in small.answer.inputs if "finding" in path]
    assert finding == f"reviews/tasks/{ONE}/round-01/{TAGS[0]}.finding-F01.md"
    assert small.answer.asks == (Ask("implement", ONE, 2),)
    small.deliver(ONE, "a.py", "a = 2\n")
    assert small.did() == ["settle", "commit-round", "prepare-round"]


# rounds


@pytest.mark.rule("IMP-08")
def test_a_round_is_prepared_for_the_commit_that_was_reported(small: Workshop) -> None:
    first = small.work(ONE, "a.py", "a = 1\n")
    second = small.work(ONE, "a.py", "a = 2\n")
    small.report(ONE, first)
    assert refused(small.next) == (
        f"task-01: HEAD of .worktrees/user-auth/task-01 is {second[:12]}, but {first[:12]} was "
        "reported; check that commit out there, or report this one: `qrspi task report "
        f"2026-05-17-user-auth task-01 --status DONE --commit {second[:12]}`"
    )
    assert not small.has("reviews/tasks/task-01/round-01")
    small.report(ONE, second)
    assert small.did() == ["prepare-round"]


@pytest.mark.rule("IMP-08", "LIV-14")
def test_a_report_without_a_commit_is_refused(small: Workshop) -> None:
    base = record(small).base_commit
    nothing = (
        "task-01: nothing is committed in .worktrees/user-auth/task-01 since the task began at "
        f"{base[:12]}"
    )
    assert refused(lambda: small.report(ONE)) == nothing
    (small.tree(ONE) / "a.py").write_text("a = 1\n")
    (small.tree(ONE) / "new.py").write_text("b = 1\n")
    assert refused(lambda: small.report(ONE)) == f"{nothing}; not committed there: a.py, new.py"
    assert not small.has(taskfiles.report_file(ONE))
    small.make(lambda job: reports.report(job, ONE, "BLOCKED", "HEAD", "What is a link?"))
    assert small.answer.kind == "task"


@pytest.mark.rule("IMP-08")
def test_without_a_new_commit_the_implementer_is_sent_again(small: Workshop) -> None:
    said = Report("DONE", record(small).base_commit)
    small.write(taskfiles.report_file(ONE), taskfiles.render_report(ONE, said))
    assert small.did() == []
    assert (small.answer.kind, small.answer.because) == (
        "implement",
        ("task-01: what was reported is the commit it started from",),
    )


@pytest.mark.rule("LIV-14")
def test_concerns_are_said(small: Workshop) -> None:
    commit = small.work(ONE, "a.py", "a = 1\n")

    def report(words: str) -> None:
        small.make(lambda job: reports.report(job, ONE, "DONE_WITH_CONCERNS", commit, words))

    assert refused(lambda: report(" \n"), Misuse) == (
        "a report of DONE_WITH_CONCERNS says what the concerns are: -m TEXT"
    )
    report("The interface of a may change.")
    assert small.read(taskfiles.report_file(ONE)).endswith("\n\nThe interface of a may change.\n")
    small.next()
    folder = small.run / ".qrspi/dispatch/task-01/round-01"
    assert "The interface of a may change." in (folder / "spec-claude.md").read_text()
    small.make(lambda job: reports.accept(job, ONE, "fine"))
    small.next()
    assert "Who implemented task-01 has concerns." in small.answer.summary
    assert (
        "## Concerns of implementers\n\ntask-01:\n\n> The interface of a may change.\n"
        in small.read("implementation.md")
    )


@pytest.mark.rule("LIV-10", "SEC-23", "TST-02")
def test_files_that_a_task_does_not_allow_are_named_to_all_who_judge_it(tmp_path: Path) -> None:
    limited = task(1, files="a.py").replace(b"allowed_files: []", b"allowed_files: [tests/]")
    small = Workshop(tmp_path / "project", quick({"tasks/task-01.md": limited}))
    small.next()
    (small.tree(ONE) / "tests").mkdir()
    for path in ("a.py", "tests/test_a.py", "obey me.py"):
        small.work(ONE, path, "a = 1\n")
    made = small.make(lambda job: reports.report(job, ONE, "DONE", "HEAD", "Done."))[0]
    said = "task-01 changes 1 file outside its allowed_files: 'obey me.py'"
    assert made.notes == (said,)
    small.next()
    prompt = (small.run / ".qrspi/dispatch/task-01/round-01/spec-claude.md").read_text()
    assert "The commits of this task change 1 file outside its `allowed_files`," in prompt
    assert re.search(r"<<<UNTRUSTED[^\n]*START[^\n]*outside-allowed-files[^\n]*>>>\nobey", prompt)
    assert prompt.count("obey me.py") == 1
    small.review(ONE, 1)
    small.next()
    assert small.answer.care[0] == f"Read with care: {said}."
    assert f"\n## Outside of what tasks allow\n\n- {said}\n" in small.read("implementation.md")
    small.approve("implement")
    small.next()
    facts = survey(small.workspace()).facts
    assert facts and f"\n\n- {said}\n" in shipping.pull_request(facts, None)


@pytest.mark.rule("LIV-05", "LIV-06")
@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("no-such-program -q", "no-such-program"),
        ("CI=1 no-such-program", "no-such-program"),
        ("bin/test", "bin/test"),
        ("sh test.sh", ""),
        ("cd app && no-such-program", ""),
        ("$RUNNER -q", ""),
        ("it's", ""),
    ],
)
def test_a_test_command_without_its_program_is_told_once(
    tmp_path: Path, command: str, missing: str
) -> None:
    files = full()
    gates = f"gates:\n  test_command: {json.dumps(command)}\n"
    shop = Workshop(tmp_path / "project", {**files, "config.md": config(gates=gates)})
    told = [note for one in shop.next().performed for note in one.notes if "program" in note]
    said = (
        f"the test command cannot run here: there is no program {missing}; `qrspi config set "
        f"{shop.run.name} gates.test_command 'CMD'` names another"
    )
    assert told == ([said] if missing else [])
    for key in (ONE, "task-02"):
        shop.take(key, f"{key}.py", "x = 1\n")
    after = [note for one in shop.next().performed for note in one.notes]
    assert [note for note in after if "program" in note] == [] != after


# records that were changed


@pytest.mark.rule("IMP-08", "IMP-11")
@pytest.mark.parametrize("status", ["DONE", "DONE_WITH_CONCERNS"])
@pytest.mark.parametrize("before", ["at once", "after it was blocked"])
def test_no_judged_commit_comes_again(small: Workshop, status: ReportStatus, before: str) -> None:
    commit = small.deliver(ONE, "a.py", "a = 1\n")
    small.report(ONE, status=status)  # nobody has looked at it yet
    small.next()
    small.review(ONE, 1, wrong="It is wrong.")
    small.next()
    if before != "at once":
        small.report(ONE, status="BLOCKED")
    (small.tree(ONE) / "b.py").write_text("b = 1\n")
    assert refused(lambda: small.report(ONE, commit, status)) == (
        "task-01: nothing is committed in .worktrees/user-auth/task-01 since round 1 looked at "
        f"{commit[:12]}; not committed there: b.py; commit what settles its findings there and "
        "report that, or say why nothing is to be done: `qrspi task report "
        f"{small.run.name} task-01 --status BLOCKED -m TEXT`"
    )
    small.report(ONE, status="BLOCKED")
    assert small.answer.because == ("task-01 is blocked, says its implementer: Done.",)
    small.work(ONE, "b.py", "b = 2\n")
    small.report(ONE, status=status)
    assert "prepare-round" in small.did()


@pytest.mark.rule("SEC-14")
def test_a_commit_that_does_not_descend_from_the_base_is_refused(small: Workshop) -> None:
    base = record(small).base_commit
    tree = small.git("rev-parse", "HEAD^{tree}")
    orphan = small.git("commit-tree", "-m", "from nowhere", tree)
    said = (
        f"task-01: commit {orphan[:12]} does not descend from {base[:12]}, which the task began "
        "with: expected a commit made in .worktrees/user-auth/task-01"
    )
    assert refused(lambda: small.report(ONE, orphan)) == said
    forged = Report("DONE", orphan)
    small.write(taskfiles.report_file(ONE), taskfiles.render_report(ONE, forged))
    small.git("reset", "-q", "--hard", orphan, at=small.tree(ONE))
    assert refused(small.next) == said
    assert not small.has("reviews/tasks/task-01/round-01")


@pytest.mark.rule("SEC-14")
def test_a_base_that_was_moved_hides_no_commit_from_reviewers(small: Workshop) -> None:
    known = record(small)
    bad = small.work(ONE, "bad.py", "steal()\n")
    small.deliver(ONE, "a.py", "a = 1\n")
    moved = known._replace(base_commit=bad)
    small.write(taskfiles.start_file(ONE), taskfiles.render_start(ONE, moved))
    done = small.next().performed[0]
    assert done.notes[0] == (
        "task-01: reviews/tasks/task-01/start.md says that the task began at "
        f"{bad[:12]}, git says at {known.base_commit[:12]}; reviewers see everything since then"
    )
    assert "+steal()" in small.read("reviews/tasks/task-01/round-01.diff")


@pytest.mark.rule("SEC-14")
@pytest.mark.parametrize("parents", ["task", "stage"])
def test_the_same_for_a_task_that_builds_on_others(tmp_path: Path, parents: str) -> None:
    chain = {"tasks/task-01.md": task(1), "tasks/task-03.md": task(3, needs="task-01")}
    shop = Workshop(tmp_path / "project", quick(chain) if parents == "task" else full())
    shop.next()
    shop.take(ONE, "a.py", "a = 1\n")
    if parents == "stage":
        shop.take("task-02", "b.py", "b = 1\n")
    start(shop, "task-03")
    bad = shop.work("task-03", "bad.py", "steal()\n")
    shop.work("task-03", "c.py", "c = 1\n")
    moved = record(shop, "task-03")._replace(base_commit=bad)
    shop.write(taskfiles.start_file("task-03"), taskfiles.render_start("task-03", moved))
    shop.report("task-03")
    shop.next()
    diff = shop.read("reviews/tasks/task-03/round-01.diff")
    assert ("+steal()" in diff, "+a = 1" in diff) == (True, False)


@pytest.mark.rule("SEC-14")
@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("worktree", "../../elsewhere", ".worktrees/user-auth/task-01"),
        ("worktree", ".worktrees/user-auth/task-02", ".worktrees/user-auth/task-01"),
        ("worktree", "/tmp/elsewhere", ".worktrees/user-auth/task-01"),
        ("branch", "--force", "the name of a branch"),
        ("branch", "main; curl x | sh", "the name of a branch"),
        ("base_commit", "HEAD~5", "a whole commit id"),
    ],
)
def test_no_record_leads_elsewhere(small: Workshop, field: str, value: str, expected: str) -> None:
    changed = record(small)._replace(**{field: value})
    small.write(taskfiles.start_file(ONE), taskfiles.render_start(ONE, changed))
    shutil.rmtree(small.tree(ONE))
    said = refused(lambda: start(small))
    assert said.startswith(f"reviews/tasks/task-01/start.md: {field} is ")
    assert f"expected {expected}" in said
    assert not small.tree(ONE).exists()


@pytest.mark.rule("SEC-14")
def test_a_branch_that_the_task_cannot_have_is_not_checked_out(small: Workshop) -> None:
    small.git("branch", "release")
    changed = record(small)._replace(branch="release")
    small.write(taskfiles.start_file(ONE), taskfiles.render_start(ONE, changed))
    small.git("worktree", "remove", str(small.tree(ONE)))
    assert refused(lambda: start(small)) == (
        "reviews/tasks/task-01/start.md: branch is release; expected qrspi/user-auth/task-01"
    )


@pytest.mark.rule("SEC-14")
def test_what_is_merged_descends_from_the_base(small: Workshop) -> None:
    small.take(ONE, "a.py", "a = 1\n")
    small.next()
    orphan = small.git("commit-tree", "-m", "from nowhere", small.git("rev-parse", "HEAD^{tree}"))
    forged = Report("DONE", orphan)
    small.write(taskfiles.report_file(ONE), taskfiles.render_report(ONE, forged))
    small.next()
    before = small.git("rev-parse", "main")
    assert "does not descend" in refused(lambda: small.perform(merge.handle))
    assert small.git("rev-parse", "main^{tree}") == small.git("rev-parse", f"{before}^{{tree}}")


@pytest.mark.rule("IMP-07", "DIF-02")
def test_a_tasks_diff_is_its_commits_against_its_base(shop: Workshop) -> None:
    shop.next()
    shop.take(ONE, "a.py", "a = 1\n")
    shop.take("task-02", "b.py", "b = 1\n")
    start(shop, "task-03")
    shop.deliver("task-03", "c.py", "c = 1\n")
    shop.next()
    base = record(shop, "task-03").base_commit
    written = (shop.run / "reviews/tasks/task-03/round-01.diff").read_bytes()
    assert written == shop.git_bytes("diff", base, "HEAD", at=shop.tree("task-03"))
    manifest = shop.read("reviews/tasks/task-03/round-01/.dispatch-manifest.json")
    head = shop.git("rev-parse", "HEAD", at=shop.tree("task-03"))
    assert (f'"commit": "{head}"' in manifest, f'"ref_commit": "{base}"' in manifest) == (
        True,
        True,
    )


@pytest.mark.rule("IMP-09", "IMP-10", "CMT-02", "CMT-06")
def test_findings_go_back_to_the_implementer_until_a_round_is_clean(small: Workshop) -> None:
    small.deliver(ONE, "a.py", "a = 1\n")
    small.next()
    small.review(ONE, 1, wrong="It must be two.")
    assert small.did() == ["assemble"]
    assert (small.answer.action, small.answer.kind) == ("apply-fixes", "implement")
    second = small.deliver(ONE, "a.py", "a = 2\n")
    assert small.did() == ["settle", "commit-round", "prepare-round"]
    assert small.read("reviews/tasks/task-01/round-01-dispositions.md") == (
        f"# Round 01 dispositions\n\n- spec-claude.R1-F01: reported as settled in {second[:12]}\n"
    )
    anchor = small.read("reviews/tasks/task-01/round-01-commit.txt").strip()
    message = small.git("log", "-1", "--format=%B", anchor)
    assert "QRSPI-Round: 2026-05-17-user-auth/task-01/01" in message.splitlines()
    committed = small.git("ls-tree", "-r", "--name-only", anchor, "reviews", at=small.run)
    assert {
        "reviews/tasks/task-01/start.md",
        "reviews/tasks/task-01/report.md",
        "reviews/tasks/task-01-review.md",
    } <= set(committed.split())
    since = small.read("reviews/tasks/task-01/round-02-since.diff")
    assert since.endswith("-a = 1\n+a = 2\n")
    small.review(ONE, 2)
    assert small.did() == ["assemble", "draft-implementation"]
    assert small.answer.kind == "batch"


@pytest.mark.rule("IMP-12")
def test_prompts_and_answers_are_kept_word_for_word(small: Workshop) -> None:
    implementer = small.read(".qrspi/dispatch/task-01/cycle-01/implementer-task-01.md")
    small.deliver(ONE, "a.py", "a = 1\n")
    small.next()
    asked = small.read(".qrspi/dispatch/task-01/round-01/spec-claude.md")
    small.review(ONE, 1, wrong="A fence:\n```\n````\nand the end.")
    small.next()
    log = small.read("reviews/tasks/task-01-review.md")
    answers = [
        small.read(f"reviews/tasks/task-01/round-01/{name}")
        for name in ("spec-claude.finding-F01.md", "security-claude.clean.md")
    ]
    assert [text in log for text in (implementer, asked, *answers)] == [True] * 4
    assert "`````text\n---\nfinding_id: R1-F01" in log


@pytest.mark.rule("IMP-10")
def test_a_person_accepts_or_skips_with_a_reason(small: Workshop) -> None:
    def accept(reason: str) -> None:
        small.make(lambda job: reports.accept(job, ONE, reason))

    assert refused(lambda: accept("fine")) == (
        "task-01 has no commit that could be accepted; to leave it out: `qrspi task skip "
        "2026-05-17-user-auth task-01 --reason TEXT`"
    )
    small.deliver(ONE, "a.py", "a = 1\n")
    assert refused(lambda: accept(" "), Misuse) == "say why: --reason TEXT"
    accept("Good: enough\nfor now.")
    text = small.read("reviews/tasks/task-01/outcome.md")
    assert text.splitlines()[1:4] == [
        "task: task-01",
        "outcome: accepted-with-issues",
        'who: "Ada Example <ada@example.org>"',
    ]
    assert text.endswith("---\n\nGood: enough\nfor now.\n")
    assert small.did() == ["draft-implementation"]
    assert refused(lambda: accept("again")) == (
        "task-01 has come to its end already: accepted-with-issues"
    )
    assert refused(lambda: small.report(ONE)) == (
        "task-01 has come to its end, accepted-with-issues: no report changes that"
    )


# the baseline


def take(shop: Workshop) -> None:
    shop.perform(commands.take_baseline)


@pytest.mark.rule("IMP-05")
def test_the_baseline_is_taken_in_a_work_tree_that_goes_again(tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "project", full(), {"test.sh": "pwd; git rev-parse HEAD\n"})
    (shop.root / "test.sh").write_text("exit 1\n")  # not committed: of no interest
    take(shop)
    place, commit = shop.read("reviews/baseline.log").split()
    assert (place, commit) == (str(shop.tree("baseline")), shop.git("rev-parse", "main"))
    assert not shop.tree("baseline").exists()
    assert shop.git("worktree", "list", "--porcelain").count("worktree ") == 1
    assert "exit: 0" in shop.read("reviews/baseline.md")
    assert shop.answer.kind == "start-tasks"


@pytest.mark.rule("IMP-05")
def test_without_a_command_there_is_no_baseline(tmp_path: Path) -> None:
    config = deliveries.config("full", gates="")
    shop = Workshop(tmp_path / "project", {**full(), "config.md": config})
    assert refused(lambda: take(shop)) == (
        "config.md: gates.test_command is missing; expected the command to run"
    )


FAILING = {"test.sh": "echo 'FAILED tests/x.py::y'; exit 3\n"}


@pytest.mark.rule("IMP-05", "OUT-07")
def test_auto_fix_puts_a_repair_before_everything(tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "project", full(), FAILING)
    take(shop)
    assert shop.answer.kind == "baseline"
    plan = shop.read("parallelization.md")
    shop.resolve("auto-fix")
    assert shop.read("parallelization.md") == plan + (
        "\n## Runtime Adjustments\n\n| Task | Branch | Base |\n|---|---|---|\n"
        "| task-00 | qrspi/user-auth/task-00 | feature branch tip |\n"
    )
    repair = shop.read("tasks/task-00.md")
    assert repair.startswith("---\nstatus: approved\n")
    assert "- tests/x.py::y\n" in repair
    assert [(line["event"], line["step"]) for line in shop.records()] == [
        ("resolve", "implement"),
        ("approve", "plan"),
        ("approve", "parallelize"),
    ]
    assert (
        shop.git("log", "-1", "--format=%s") == "docs(qrspi): auto-fix the baseline for user-auth"
    )
    assert shop.answer.missing == ("task-00",)
    shop.next()
    shop.finish("task-00", "test.sh", "exit 0\n")
    assert record(shop, ONE).base == "task-00 tip"


@pytest.mark.rule("IMP-05", "TST-03")
def test_proceed_remembers_what_failed_and_stop_changes_nothing(tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "project", full(), FAILING)
    take(shop)
    shop.resolve("stop")
    assert shop.answer.kind == "baseline"
    shop.resolve("proceed")
    assert shop.read("reviews/baseline-failures.md").endswith("## Failures\n\n- tests/x.py::y\n")
    assert shop.answer.kind == "start-tasks"


@pytest.mark.rule("LIV-06", "IMP-05")
@pytest.mark.parametrize("status", [126, 127])
def test_a_command_that_cannot_start_is_no_failing_baseline(status: int, tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "project", full(), {"test.sh": f"exit {status}\n"})
    take(shop)
    said = f"the tests were not run: `sh test.sh` could not be started (exit {status})"
    answer = shop.answer
    assert [option.key for option in answer.options] == ["proceed", "stop"]
    assert answer.because == (f"before the first task {said}; their output: {baseline.LOG}",)
    assert answer.command == f"qrspi config set {shop.run.name} gates.test_command 'CMD'"
    assert f"Before the first task {said}" in shop.read(baseline.FILE)
    assert "## Failures" not in shop.read(baseline.FILE)
    shop.resolve("proceed")
    assert not shop.has(baseline.FAILURES)
    assert shop.answer.kind == "start-tasks"


@pytest.mark.rule("LIV-06")
def test_a_corrected_command_ends_the_question_about_the_baseline(tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "project", full(), {"test.sh": "exit 127\n"})
    take(shop)
    assert shop.answer.kind == "baseline"
    shop.write("config.md", deliveries.config("full", gates="gates: {test_command: make}\n"))
    assert shop.answer.kind == "start-tasks"


def is_alive(process: int) -> bool:
    """A zombie that nobody has reaped yet is not."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def allowed(line: str) -> Permit:
    return Permit(trust.shell("gates.test_command", line))


@pytest.mark.rule("IMP-05", "SEC-05")
def test_a_command_ends_with_its_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "abcdefghijklmnop")
    ran = configured_command.run(
        allowed("sleep 60 & echo $!; echo $SHOP_TOKEN; echo bad >&2; exit 7"), str(tmp_path)
    )
    child, *said = ran.text.split()
    assert (ran.status, said) == (7, ["[redacted]", "bad"])
    assert not is_alive(int(child))
    slow = configured_command.run(allowed("echo begun; sleep 60"), str(tmp_path), timeout=0.2)
    assert (slow.status, slow.text) == (124, "begun\n")
    much = configured_command.run(allowed("yes | head -c 100000"), str(tmp_path), limit=1000)
    assert (len(much.output) < 1100, b"[99000 bytes left out]" in much.output) == (True, True)
    with pytest.raises(Halt, match="cannot be started"):
        configured_command.run(allowed("true"), str(tmp_path / "missing"))


@pytest.mark.rule("IMP-01")
def test_tasks_of_a_quick_run_chain_their_branches(tmp_path: Path) -> None:
    tasks = {"tasks/task-01.md": task(1), "tasks/task-02.md": task(2, needs="task-01")}
    shop = Workshop(tmp_path / "project", quick(tasks))
    shop.next()
    first = shop.finish(ONE, "a.py", "a = 1\n")
    assert record(shop, "task-02")[1:3] == ("task-01 tip", first)


@pytest.mark.rule("IMP-07")
def test_a_deep_review_has_eight_reviewers_in_three_turns(tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "project", quick(review_depth="deep"))
    shop.next()
    shop.deliver(ONE, "a.py", "a = 1\n")
    turns = []
    while shop.next() and shop.answer.action == "review":
        turns.append(shop.answer.missing)
        shop.review(ONE, 1, shop.answer.missing)
    assert turns == [
        ("spec-claude",),
        TAGS[1:],
        ("goal-traceability-claude", "test-coverage-claude", "code-simplifier-claude"),
    ]


@pytest.mark.rule("LIV-03", "LIV-18")
def test_a_report_that_cannot_be_read_is_told_while_others_go_on(tmp_path: Path) -> None:
    tasks = {f"tasks/task-0{n}.md": task(n, files=f"{n}.py") for n in (1, 2)}
    shop = Workshop(tmp_path / "project", quick(tasks))
    shop.next()
    shop.write(taskfiles.report_file("task-02"), b"all done\n")
    state = derive(shop.workspace())
    assert (state.next.who, state.next.missing) == ("agent", ("task-01",))
    assert state.next.summary.endswith(" task-02 waits for a person: `qrspi inbox` says why.")
    (item,) = waiting.items((state,))
    assert (item.step, "reviews/tasks/task-02/report.md" in item.summary) == ("task-02", True)


@pytest.mark.rule("IMP-11")
def test_who_is_blocked_says_why(small: Workshop) -> None:
    said = refused(lambda: small.make(lambda job: reports.report(job, ONE, "BLOCKED", None, " ")))
    assert said == "a report of BLOCKED says what keeps it from going on: -m TEXT"


@pytest.mark.rule("IMP-09", "LIV-03")
def test_a_blocked_task_waits_for_a_person_while_others_go_on(tmp_path: Path) -> None:
    tasks = {f"tasks/task-0{n}.md": task(n, files=f"{n}.py") for n in (1, 2)}
    shop = Workshop(tmp_path / "project", quick(tasks))
    shop.next()
    shop.make(lambda job: reports.report(job, ONE, "BLOCKED", None, "What is a link?"))
    state = derive(shop.workspace())
    said = " task-01 waits for a person: `qrspi inbox` says why."
    assert (state.next.who, state.next.missing) == ("agent", ("task-02",))
    assert state.next.summary.endswith(said)
    retry = f"qrspi task retry {runs.RUN} task-01"
    assert [(item.kind, item.step, item.command) for item in waiting.items((state,))] == [
        ("task", "task-01", retry)
    ]
    shop.make(lambda job: reports.report(job, "task-02", "BLOCKED", None, "And what is that?"))
    steps = [item.step for item in waiting.items((derive(shop.workspace()),))]
    assert steps == ["task-01", "task-02"]
