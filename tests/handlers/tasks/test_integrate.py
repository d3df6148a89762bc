"""Merging tasks into the feature branch, reviewing the whole, running CI."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi.core.code_steps import gate_records
from qrspi.core.code_steps.gate_records import Merge
from qrspi.core.errors import Halt
from qrspi.core.tree import Fault
from qrspi.handlers.decisions import approve, rewind
from qrspi.world.files.run_tree import DiskTree
from tests.deliveries import full, quick, task
from tests.handlers.refusals import refusal
from tests.handlers.workshop import Workshop
from tests.runs import RUN

REVIEWERS = ("integration-claude", "security-claude")
CONFLICT = "integration-round-01/merge-task-02"


def implemented(root: Path, code: dict[str, str] | None = None) -> Workshop:
    """Every task has ended; the batch gate was passed."""
    shop = Workshop(root / "project", full(), code)
    implement(shop)
    shop.resolve("continue")
    return shop


def implement(shop: Workshop) -> None:
    shop.next()
    shop.take("task-01", "a.py", "task-01\n")
    shop.take("task-02", "b.py", "task-02\n")
    shop.next()
    shop.take("task-03", "c.py", "task-03\n")
    shop.next()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return implemented(tmp_path_factory.mktemp("implemented")).keep()


@pytest.fixture
def shop(kept: Workshop) -> Workshop:
    return kept.restore()


def merges(shop: Workshop) -> tuple[Merge, ...]:
    return gate_records.merges(DiskTree(shop.run).read("integration.md"))


def firsts(shop: Workshop) -> list[str]:
    """The subjects along the feature branch itself, newest first."""
    return shop.git("log", "--first-parent", "--format=%s").splitlines()


@pytest.mark.rule("INT-01", "SEC-17")
@pytest.mark.parametrize("first", [True, False], ids=["meanwhile", "afterwards"])
def test_a_file_that_another_task_renamed_is_merged(tmp_path: Path, first: bool) -> None:
    text = "".join(f"line_{number} = {number}\n" for number in range(20))
    shop = Workshop(tmp_path / "project", full(), {"a.py": text})
    shop.next()
    renaming, editing = ("task-01", "task-02") if first else ("task-02", "task-01")
    shop.git("mv", "a.py", "new name.py", at=shop.tree(renaming))
    shop.take(renaming, "b.py", "b = 1\n")
    shop.take(editing, "a.py", text.replace("= 7", "= 77"))
    shop.next()
    shop.take("task-03", "c.py", "c = 1\n")
    shop.next()
    shop.resolve("continue")
    shop.next()
    assert "line_7 = 77" in shop.git("show", "main:new name.py")


@pytest.mark.rule("INT-01", "SEC-14")
@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "in a clone"])
def test_a_reviewed_task_on_a_stage_is_merged_after_its_parents(
    tmp_path: Path, elsewhere: bool
) -> None:
    """Each parent is merged by itself, so git sees the task part with the branch at one of them."""
    shop = Workshop(tmp_path / "project", full())
    shop.next()
    shop.take("task-01", "a.py", "task-01\n")
    shop.take("task-02", "b.py", "task-02\n")
    shop.next()
    shop.finish("task-03", "c.py", "task-03\n")
    shop.next()
    shop.resolve("continue")
    if elsewhere:
        shop.git("branch", "-D", "qrspi/user-auth/stage-after-W1")
    assert shop.did()[0] == "merge"
    assert [one.result for one in merges(shop)] == ["merged"] * 3


@pytest.mark.rule("INT-01", "INT-02", "INT-03", "CMT-06", "DIF-02", "LIV-15")
def test_the_branches_are_merged_in_wave_order_reviewed_and_checked(shop: Workshop) -> None:
    assert shop.records()[-1]["step"] == "implement"
    assert shop.did() == ["merge", "prepare-round"]
    assert [(one.key, one.result) for one in merges(shop)] == [
        ("task-01", "merged"),
        ("task-02", "merged"),
        ("task-03", "merged"),
    ]
    assert [line for line in firsts(shop) if line.startswith("Merge")] == [
        f"Merge qrspi/user-auth/task-0{number} into main" for number in (3, 2, 1)
    ]
    for one in merges(shop):
        assert shop.git("rev-parse", f"{one.commit}^2") == one.tip
    assert [(shop.root / name).read_text() for name in ("a.py", "b.py", "c.py")] == [
        "task-01\n",
        "task-02\n",
        "task-03\n",
    ]
    # main is the base branch itself, so the diff is everything it holds
    diff = (shop.run / "reviews/integration/round-01.diff").read_bytes()
    empty = shop.git("hash-object", "-t", "tree", "/dev/null")
    tip = shop.git("rev-parse", "main")
    assert diff == shop.git_bytes("diff", empty, tip, "--", ":(top)", ":(exclude)docs/qrspi")
    assert b"docs/qrspi" not in diff
    shop.review("integrate", 1, REVIEWERS)
    assert shop.did() == ["assemble", "ci"]
    assert shop.has("reviews/ci/round-01.log")
    assert "exit: 0\n" in shop.read("reviews/ci/round-01-review.md")
    answer = shop.answer
    assert (answer.action, answer.because) == (
        "approve",
        ("Reviews passed clean in round 1", "the CI command passed"),
    )
    assert shop.did() == []


@pytest.mark.rule("INT-03")
def test_integrate_diffs_the_branch_against_where_it_left_the_base(tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "project", full(feature_branch="topic"))
    shop.git("checkout", "-q", "-b", "topic")
    left = shop.git("rev-parse", "main")
    implement(shop)
    shop.git(
        "branch", "-f", "main", shop.git("commit-tree", "-p", "main", "-m", "on", "main^{tree}")
    )
    shop.resolve("continue")
    shop.next()
    tip = shop.git("rev-parse", "topic")
    diff = (shop.run / "reviews/integration/round-01.diff").read_bytes()
    assert diff == shop.git_bytes("diff", left, tip, "--", "a.py", "b.py", "c.py")


@pytest.mark.rule("INT-03", "RUN-04")
def test_a_dirty_work_tree_or_another_branch_is_refused(shop: Workshop) -> None:
    before = shop.git("rev-parse", "main")
    (shop.root / "a.py").write_text("mine\n")
    refused = refusal(shop.next)
    assert (str(refused), refused.exit_code) == (
        f"the work tree at {shop.root} has changes that are not committed (a.py): commit or put "
        "them away, then run `qrspi next 2026-05-17-user-auth` again",
        3,
    )
    shop.git("checkout", "-q", "a.py")
    shop.git("checkout", "-q", "-b", "elsewhere")
    assert str(refusal(shop.next)) == (
        f"{shop.root} is on elsewhere, not on the feature branch main: "
        f"`git -C {shop.root} switch main`, then run `qrspi next 2026-05-17-user-auth` again"
    )
    assert (shop.git("rev-parse", "main"), shop.has("integration.md")) == (before, False)


@pytest.mark.rule("INT-03")
def test_a_staged_file_of_the_run_is_refused_before_git_does(shop: Workshop) -> None:
    shop.write("config.md", shop.read("config.md").replace("---\n", "---\n# mine\n", 1))
    shop.git("add", str(shop.run / "config.md"))
    before = shop.git("rev-parse", "main")
    refused = refusal(shop.next)
    assert (str(refused), refused.exit_code) == (
        f"a change is staged in {shop.root} (docs/qrspi/2026-05-17-user-auth/config.md), and git "
        "merges nothing as long as there is one: commit it, or unstage it with "
        f"`git -C {shop.root} restore --staged -- .`, then run "
        "`qrspi next 2026-05-17-user-auth` again",
        3,
    )
    assert (shop.git("rev-parse", "main"), shop.has("integration.md")) == (before, False)
    shop.git("restore", "--staged", ".")
    shop.next()
    assert shop.has("integration.md")


@pytest.mark.rule("RUN-04", "SEC-01")
def test_the_daemon_neither_merges_nor_runs_a_command(shop: Workshop) -> None:
    before = shop.git("rev-parse", "main")
    assert shop.did(actor="watch") == []
    assert shop.answer.kind == "merge"
    assert shop.git("rev-parse", "main") == before


@pytest.mark.rule("INT-01")
def test_a_merge_that_was_made_before_a_kill_is_recognised(shop: Workshop) -> None:
    shop.next()
    made = merges(shop)
    shop.git("rm", "-q", "--cached", "docs/qrspi/2026-05-17-user-auth/integration.md")
    (shop.run / "integration.md").unlink()
    shop.git("commit", "-q", "-m", "lost")
    before = shop.git("rev-list", "--count", "main")
    shop.next()
    assert merges(shop) == made
    assert int(shop.git("rev-list", "--count", "main")) == int(before) + 1  # the record alone


@pytest.mark.rule("INT-01")
def test_a_conflict_is_taken_back_and_becomes_a_task(shop: Workshop) -> None:
    (shop.root / "b.py").write_text("somebody else's\n")
    shop.commit("meanwhile")
    assert shop.did() == ["merge", "start-tasks"]
    assert [(one.key, one.result) for one in merges(shop)] == [
        ("task-01", "merged"),
        ("task-02", "conflict"),
    ]
    assert shop.git("status", "--porcelain", "--untracked-files=no") == ""
    order = shop.read("fixes/integration-round-01/merge-task-02.md")
    assert order.startswith(
        "---\nstatus: approved\nfix_round: integration-round-01\ntarget_files: [b.py]\n---\n"
    )
    assert (shop.answer.kind, shop.answer.missing) == ("implement", (CONFLICT,))
    tip = merges(shop)[1].tip
    place = shop.tree(CONFLICT)
    shop.git("merge", "-q", "-s", "ours", tip, at=place)
    shop.take(CONFLICT, "b.py", "both\n")
    shop.next()
    assert [(one.key, one.result) for one in merges(shop)] == [
        ("task-01", "merged"),
        ("task-02", "contained"),
        (CONFLICT, "merged"),
        ("task-03", "merged"),
    ]
    assert (shop.root / "b.py").read_text() == "both\n"
    assert shop.answer.action == "review"


@pytest.mark.rule("INT-01", "DSP-01")
def test_findings_about_the_whole_become_a_task_and_are_settled_by_it(shop: Workshop) -> None:
    shop.next()
    shop.review("integrate", 1, REVIEWERS, wrong="The seams do not fit.")
    assert shop.did() == ["assemble", "write-repairs", "start-tasks"]
    key = "integration-round-01/review-round-01"
    assert "- integration-claude.R1-F01 (medium correctness): `reviews/integration/round-01/" in (
        shop.read(f"fixes/{key}.md")
    )
    shop.deliver(key, "seam.py", "fits\n")
    shop.next()
    shop.review(key, 1)
    assert shop.did() == [
        "assemble",
        "merge",
        "settle",
        "commit-round",
        "choose-loop",
        "prepare-round",
    ]
    commit = next(one.commit for one in merges(shop) if one.key == key)
    assert shop.read("reviews/integration/round-01-dispositions.md") == (
        "# Round 01 dispositions\n\n- integration-claude.R1-F01: "
        f"fixes/integration-round-01/review-round-01.md (clean, merged as {commit[:12]})\n"
    )
    assert (shop.answer.action, shop.answer.round) == ("review", 2)


@pytest.mark.rule("INT-02")
def test_a_failing_ci_command_becomes_a_task_and_is_run_again(tmp_path: Path) -> None:
    broken = "echo 'FAILED tests/x.py::y'; test -e mended\n"
    shop = implemented(tmp_path, {"ci.sh": broken})
    shop.next()
    shop.review("integrate", 1, REVIEWERS)
    assert shop.did() == ["assemble", "ci", "start-tasks"]
    assert shop.read("reviews/ci/round-01.log") == "FAILED tests/x.py::y\n"
    assert "- tests/x.py::y\n" in shop.read("reviews/ci/round-01-review.md")
    key = "ci-round-01/ci-command"
    assert "- tests/x.py::y\n" in shop.read(f"fixes/{key}.md")
    shop.take(key, "mended", "yes\n")
    shop.next()
    shop.review("integrate", 2, REVIEWERS)
    assert shop.did() == ["assemble", "ci"]
    fields = gate_records.fields(DiskTree(shop.run).read("integration.md"))
    assert {name: fields[name] for name in ("ci_exit", "ci_log", "ci_merges")} == {
        "ci_exit": "0",
        "ci_log": "reviews/ci/round-02.log",
        "ci_merges": "4",
    }
    assert shop.answer.kind == "approve"


@pytest.mark.rule("LIV-01", "LIV-02")
def test_a_review_from_before_a_rewind_is_no_review_of_what_is_there_now(shop: Workshop) -> None:
    shop.next()
    shop.review("integrate", 1, REVIEWERS)
    shop.next()
    shop.make(lambda job: approve.plan(job, "integrate"))
    shop.make(lambda job: rewind.plan(job, "integrate"))
    assert shop.did() == ["ci"]
    before = "Reviews passed clean in round 1, before the rewind; not reviewed since"
    answer = shop.answer
    assert answer.summary.startswith(f"{before}. ")
    assert answer.because[0] == before
    assert [(one.key, one.command) for one in answer.options[:2]] == [
        ("loop", f"qrspi resolve {RUN} loop"),
        ("approve", f"qrspi approve {RUN} integrate --unreviewed"),
    ]
    shop.resolve("loop")
    assert shop.did() == ["prepare-round"]
    assert shop.answer.round == 2


@pytest.mark.rule("INT-01")
def test_a_merge_under_way_is_not_disturbed(shop: Workshop) -> None:
    other = shop.git("commit-tree", "-m", "somebody's", "main^{tree}")
    (shop.root / ".git" / "MERGE_HEAD").write_text(f"{other}\n")
    with pytest.raises(Halt, match="a merge is under way"):
        shop.next()


@pytest.mark.rule("RUN-06")
def test_what_people_write_around_the_count_stays() -> None:
    record = b"---\nstatus: draft\n---\n\n# Mine\n\nBefore.\n"
    first = gate_records.drafted(record, "", "counted", {"phase": 1})
    assert first == (
        b"---\nstatus: draft\nphase: 1\n---\n\n# Mine\n\nBefore.\n\n"
        b"<!-- counted by qrspi: begin -->\n\ncounted\n\n<!-- counted by qrspi: end -->\n"
    )
    second = gate_records.drafted(first + b"\nAfter.\n", "", "again", {})
    assert second == first.replace(b"\ncounted\n", b"\nagain\n") + b"\nAfter.\n"
    new = gate_records.drafted(Fault("absent"), "Title", "counted", {"status": "draft"})
    assert isinstance(new, bytes)
    assert new.startswith(b"---\nstatus: draft\n---\n\n# Title\n\n<!-- counted")


@pytest.mark.rule("SEC-17")
def test_a_branch_that_kept_up_with_its_feature_branch_is_merged(tmp_path: Path) -> None:
    """Its own merge says nothing of its own, though others changed the same file."""
    shop = Workshop(tmp_path / "project", quick(), {"a.py": "a = 0\n\n\n\nb = 0\n"})
    shop.next()
    (shop.root / "a.py").write_text("a = 0\n\n\n\nb = 1\n")
    shop.git("commit", "-q", "-m", "by its person", "a.py")
    shop.git("merge", "-q", "-m", "keep up", "main", at=shop.tree("task-01"))
    shop.finish("task-01", "a.py", "a = 1\n\n\n\nb = 1\n")
    shop.resolve("continue")
    shop.next()
    assert shop.git("show", "main:a.py") == "a = 1\n\n\n\nb = 1"


@pytest.mark.rule("SEC-17")
@pytest.mark.parametrize("way", ["on its own", "kept up", "anew"])
def test_a_merged_task_is_done_again_in_the_lines_that_it_wrote(tmp_path: Path, way: str) -> None:
    """Reviewers see the whole of it each time, without the line that stood there between."""
    files = {**quick(), "tasks/task-02.md": task(2, files="b.py")}
    shop = Workshop(tmp_path / "project", files, {"a.py": "a = 0\n\n\n\nb = 0\n"})
    shop.next()
    shop.finish("task-01", "a.py", "a = 1\n\n\n\nb = 0\n")
    shop.finish("task-02", "a.py" if way == "on its own" else "b.py", "a = 0\n\n\n\nb = 2\n")
    merged_again(shop, 0)
    for number in (2, 3):
        if way != "on its own":
            how = ("merge", "-q", "-m", "x") if way == "kept up" else ("reset", "-q", "--hard")
            shop.git(*how, "main", at=shop.tree("task-01"))
        shop.deliver("task-01", "a.py", f"a = {number}\n\n\n\nb = 0\n")
        merged_again(shop, number)
        last = "b = 2" if way == "on its own" else "b = 0"
        assert shop.git("show", "main:a.py") == f"a = {number}\n\n\n\n{last}"


def merged_again(shop: Workshop, number: int) -> None:
    if number:
        shop.make(lambda job: rewind.plan(job, "implement"))
        shop.next()
        shop.review("task-01", number)
        shop.next()
    shop.resolve("continue")
    shop.next()


@pytest.mark.rule("OUT-03", "LIV-01")
def test_merges_before_a_refused_one_are_on_record_and_told(shop: Workshop) -> None:
    start = "reviews/tasks/task-03/start.md"
    recorded = shop.read(start)
    base = next(line for line in recorded.splitlines() if line.startswith("base_commit"))
    shop.write(start, recorded.replace(base, f"base_commit: {'f' * 40}").encode())
    refused = refusal(shop.next)
    assert refused.problem.code == "no-descendant"
    (done,) = refused.done
    assert (done.handler, [note.split()[:2] for note in done.notes]) == (
        "merge",
        [["merged", "task-01"], ["merged", "task-02"]],
    )
    assert [one.key for one in merges(shop)] == ["task-01", "task-02"]
    assert "integration.md" not in shop.git("status", "--porcelain")
