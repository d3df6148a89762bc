"""A round on record: its commit, nobody else's work, and the anchor that names it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from qrspi.handlers.jobs.job import Options
from qrspi.handlers.rounds import round_commands
from qrspi.handlers.rounds.round_commands import Recorded
from tests import runs
from tests.handlers import reviewing
from tests.handlers.refusals import halt, refusal
from tests.handlers.reviewing import Reviewing, about, files, text

ROUND = "reviews/design/round-01"
ANCHOR = f"{ROUND}-commit.txt"
RUN = "docs/qrspi/2026-05-17-user-auth"
FIXED = "# Design\n\n## Approach\n\nA better way.\n"


def commit(project: Reviewing, step: str = "design", *, adopt: bool = False) -> Recorded:
    return round_commands.commit(project.workspace(), about(step), None, Options(), adopt)


@pytest.fixture
def fixed(tmp_path: Path) -> Reviewing:
    """Reviewed, assembled, fixed; not committed."""
    project = reviewing.make(tmp_path / "shop")
    project.hold_round(("## Approach", 90))
    project.write("design.md", text(FIXED))
    project.write(f"{ROUND}-dispositions.md", "# Done\n\nApplied.\n")
    return project


def changed(project: Reviewing, name: str = "HEAD") -> list[str]:
    said = project.git("show", "--name-only", "--format=", name).splitlines()
    return [line.removeprefix(f"{RUN}/") for line in said]


COVERED = [
    "design.md",
    f"{ROUND}-dispositions.md",
    f"{ROUND}-scope-set.txt",
    f"{ROUND}-verified.md",
    f"{ROUND}.diff",
    f"{ROUND}/.dispatch-manifest.json",
    f"{ROUND}/kept-findings.txt",
    f"{ROUND}/quality-claude.finding-F01.md",
    f"{ROUND}/quality-claude.finding-F01.score.yml",
    f"{ROUND}/scope-claude.clean.md",
]


@pytest.mark.rule("CMT-01", "CMT-02")
def test_it_is_one_commit_of_the_rounds_files_and_an_anchor(fixed: Reviewing) -> None:
    made = commit(fixed).commit
    assert made == fixed.git("rev-parse", "HEAD")
    assert fixed.data(ANCHOR).decode() == f"{made}\n"
    assert changed(fixed) == COVERED
    manifest = subprocess.run(
        ["sha256sum", fixed.run / ROUND / ".dispatch-manifest.json"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()[0]
    assert fixed.git("log", "-1", "--format=%B") == (
        "docs(qrspi): review round 01 of design for user-auth\n\n"
        f"QRSPI-Round: 2026-05-17-user-auth/design/01\nQRSPI-Manifest: {manifest}"
    )


@pytest.mark.rule("CMT-01")
def test_the_next_one_takes_the_anchor_and_the_rest_of_the_loop(fixed: Reviewing) -> None:
    commit(fixed)
    fixed.hold_round(("## Approach", 90), number=2, kind="scope")
    pause = "reviews/design-loop-pause-round-02.md"
    fixed.write(pause, fixed.data(pause).replace(b"pending", b"apply"))
    fixed.write("reviews/design/loop.md", "---\nmode: loop\n---\n")
    fixed.close(2, FIXED + "\nMore.\n")
    assert set(changed(fixed)) >= {ANCHOR, pause, "reviews/design/loop.md"}
    assert fixed.status() == ["?? " + f"{RUN}/reviews/design/round-02-commit.txt"]


@pytest.mark.rule("CMT-01")
def test_nothing_of_the_users_own_is_swept_in_or_disturbed(fixed: Reviewing) -> None:
    fixed.write("goals.md", text("# Goals\n\nEdited.\n", "approved"))
    (fixed.root / "staged.py").write_text("x = 1\n")
    fixed.git("add", "staged.py", f"{RUN}/goals.md")
    fixed.write("goals.md", text("# Goals\n\nEdited twice.\n", "approved"))
    (fixed.root / "new.py").write_text("y = 1\n")
    before = [line for line in fixed.status() if "reviews" not in line and "design" not in line]
    commit(fixed)
    assert changed(fixed) == COVERED
    after = [line for line in fixed.status() if "round-01-commit" not in line]
    assert after == before
    assert before == [f"MM {RUN}/goals.md", "A  staged.py", "?? new.py"]


@pytest.mark.rule("CMT-02")
def test_a_kill_between_commit_and_anchor_is_repaired(fixed: Reviewing) -> None:
    made = commit(fixed).commit
    (fixed.run / ANCHOR).unlink()
    (fixed.root / "later.py").write_text("x = 1\n")
    fixed.commit("by hand")
    assert commit(fixed).commit == made
    assert fixed.git("rev-list", "--count", "HEAD") == "3"


@pytest.mark.rule("CMT-02")
def test_next_repairs_it_too(fixed: Reviewing) -> None:
    made = commit(fixed).commit
    (fixed.run / ANCHOR).unlink()
    fixed.next()
    assert fixed.data(ANCHOR).decode() == f"{made}\n"


@pytest.mark.rule("CMT-02")
@pytest.mark.parametrize("line", [0, 1], ids=["round", "manifest"])
def test_a_commit_that_only_looks_alike_is_not_taken(fixed: Reviewing, line: int) -> None:
    """Rounds restart at 01 in a new phase: half of the trailers is not enough."""
    from qrspi.handlers.rounds.commit import trailers
    from qrspi.handlers.rounds.named_round import to_read

    job = to_read(fixed.workspace(), about("design"), None, Options())
    marks = list(trailers(job.workspace, job.run, job.round_loop))
    marks[line] += "0"
    fixed.git("commit", "-q", "--allow-empty", "-m", "other", "-m", "\n".join(marks))
    other = fixed.git("rev-parse", "HEAD")
    assert commit(fixed).commit not in (None, other)


@pytest.mark.rule("CMT-03", "CMT-05")
def test_a_hook_that_fails_stops_the_round_with_its_words(fixed: Reviewing) -> None:
    fixed.hook("pre-commit", "echo 'no Fridays' >&2; exit 1")
    head = fixed.git("rev-parse", "HEAD")
    assert str(halt(commit, fixed)) == "git commit exited 1: no Fridays"
    assert fixed.git("rev-parse", "HEAD") == head
    assert ANCHOR not in fixed.there()
    assert all(line.startswith((" M", "??")) for line in fixed.status())


@pytest.mark.rule("CMT-03", "CMT-05")
def test_the_users_hooks_run(fixed: Reviewing) -> None:
    fixed.hook("post-commit", 'touch "$(git rev-parse --show-toplevel)/ran"')
    commit(fixed)
    assert (fixed.root / "ran").exists()


@pytest.mark.rule("CMT-01")
@pytest.mark.parametrize(("mark", "what"), [("MERGE_HEAD", "merge"), ("rebase-merge", "rebase")])
def test_nothing_is_committed_during_a_merge(fixed: Reviewing, mark: str, what: str) -> None:
    place = fixed.root / ".git" / mark
    place.mkdir() if mark == "rebase-merge" else place.write_text(fixed.git("rev-parse", "HEAD"))
    halted = halt(commit, fixed)
    assert halted.exit_code == 4
    assert str(halted) == (
        f"a {what} is under way in {fixed.root}: finish or abort it, then commit again"
    )


@pytest.mark.rule("CMT-06", "CFG-08")
def test_engine_files_and_a_backfill_go_along(fixed: Reviewing) -> None:
    fixed.write("config.md", runs.config() + b"# a note of mine\n")
    fixed.commit("notes")
    fixed.write("config.md", runs.config(drop=["verifier_enabled"]) + b"# a note of mine\n")
    fixed.commit("older config")
    fixed.write("reviews/goals/round-01-verified.md", b"x\n")
    fixed.write("approvals.jsonl", b"\n")
    fixed.assemble()
    commit(fixed)
    assert set(changed(fixed)) - set(COVERED) == {
        "approvals.jsonl",
        "config.md",
        "reviews/goals/round-01-verified.md",
    }


@pytest.mark.rule("CMT-06", "LIV-11")
def test_a_config_that_a_person_edited_goes_along(fixed: Reviewing) -> None:
    """The state is derived from it, in a clone too."""
    fixed.write("config.md", runs.config(review_depth="deep"))
    commit(fixed)
    assert "config.md" in changed(fixed)


@pytest.mark.rule("CMT-06", "ENG-07")
def test_a_fresh_clone_derives_the_same_state(fixed: Reviewing, tmp_path: Path) -> None:
    from qrspi.core.derivation.derive import derive
    from qrspi.world.runs.committed_tree import CommittedTree

    commit(fixed)
    fixed.write("reviews/design/loop.md", "---\nmode: loop\n---\n")
    fixed.hold_round(("## Approach", 90), number=2)
    fixed.close(2, FIXED + "\nMore.\n")
    (fixed.run / "reviews/design/round-02-commit.txt").rename(tmp_path / "kept-anchor")
    fixed.git("clone", "-q", str(fixed.root), str(tmp_path / "clone"))
    clone = CommittedTree(tmp_path / "clone" / RUN)
    here = derive(CommittedTree(fixed.run))
    missed = [
        one for one in here.warnings if one.code == "vanished"
    ]  # of which a clone has no trail
    assert [one.file for one in missed] == ["reviews/design/round-02-commit.txt"]
    rest = tuple(one for one in here.warnings if one not in missed)
    assert derive(clone) == here._replace(warnings=rest)


@pytest.mark.rule("CMT-06", "DIF-06")
def test_a_task_that_was_deleted_is_deleted_in_the_commit(tmp_path: Path) -> None:
    steps = runs.approved("design", "phasing", "structure")
    tasks = {f"tasks/task-0{at}.md": text(f"# Task {at}\n") for at in (1, 2)}
    project = reviewing.make(tmp_path / "shop", files(steps, tasks, {"plan.md": text()}))
    opened = project.prepare("plan")
    folder = opened.paths.directory
    finding = runs.finding(step="plan", cites="plan.md:L7", kind="scope")
    project.write(f"{folder}/quality-claude.finding-F01.md", finding)
    for tag in opened.manifest.expected_tags[1:]:
        project.write(f"{folder}/{tag}.clean.md", runs.clean(tag))
    project.settle("plan")
    pause = "reviews/plan-loop-pause-round-01.md"
    project.write(pause, project.data(pause).replace(b"pending", b"apply"))
    (project.run / "tasks/task-02.md").unlink()
    project.write("reviews/plan/round-01-dispositions.md", "# Done\n")
    commit(project, "plan")
    assert project.git("ls-tree", "--name-only", "HEAD", f"{RUN}/tasks/") == (
        f"{RUN}/tasks/task-01.md"
    )


class TestDispositions:
    @pytest.mark.rule("DSP-01")
    def test_too_long_ones_are_refused_and_next_says_so(self, fixed: Reviewing) -> None:
        path = f"{ROUND}-dispositions.md"
        fixed.write(path, "line\n" * 31)
        line = f"{path}: 31 lines; expected at most 30"
        assert str(refusal(commit, fixed)) == line
        answer = fixed.next().state.next
        assert (answer.action, answer.because) == ("blocked", (line,))
        assert fixed.git("rev-list", "--count", "HEAD") == "1"

    @pytest.mark.rule("DSP-01")
    def test_observations_are_validated(self, fixed: Reviewing) -> None:
        fixed.write(
            f"{ROUND}-dispositions.md",
            "# Done\n\n## Sub-Threshold Observations\n\n```yaml\nobservations:\n"
            "  - summary: s\n    defect_class: d\n    representative_score: 40\n"
            "    threshold: 70\n    finding_paths: [round-01/../x.md]\n```\n",
        )
        assert refusal(commit, fixed).problem.field == "observations[1].finding_paths"

    @pytest.mark.rule("DSP-01", "PSE-06")
    def test_when_nothing_was_applied_the_engine_says_so_itself(self, tmp_path: Path) -> None:
        project = reviewing.make(tmp_path / "shop")
        project.hold_round(("## Approach", 90), kind="scope")
        pause = "reviews/design-loop-pause-round-01.md"
        project.write(pause, project.data(pause).replace(b"pending", b"skip"))
        found = commit(project)
        assert found.done.files == (f"{ROUND}-dispositions.md", ANCHOR)
        assert project.data(f"{ROUND}-dispositions.md").decode() == (
            "# Round 01 dispositions\n\nNothing was applied.\n\n"
            "- quality-claude.R1-F01: skip, says the pause file; no decision is on record\n"
        )
        assert f"{ROUND}-dispositions.md" in changed(project)


class TestWithoutOurCommit:
    @pytest.mark.rule("CMT-04")
    def test_next_leaves_it_to_you(self, fixed: Reviewing) -> None:
        outcome = fixed.next(no_commit=True)
        assert fixed.git("rev-list", "--count", "HEAD") == "1"
        answer = outcome.state.next
        adopt = "qrspi round commit 2026-05-17-user-auth design --adopt"
        assert (answer.who, answer.command) == ("human", adopt)
        assert answer.summary == (
            f"Commit the files of round 1 of design yourself, then run `{adopt}`."
        )

    @pytest.mark.rule("CMT-04")
    def test_your_commit_is_adopted(self, fixed: Reviewing) -> None:
        made = fixed.commit("my own words")
        assert commit(fixed, adopt=True).commit == made
        assert fixed.data(ANCHOR).decode() == f"{made}\n"

    @pytest.mark.rule("CMT-04")
    def test_not_one_that_leaves_files_out(self, fixed: Reviewing) -> None:
        fixed.git("add", f"{RUN}/{ROUND}")
        fixed.git("commit", "-qm", "half")
        refused = refusal(commit, fixed, adopt=True)
        head = fixed.git("rev-parse", "HEAD")[:12]
        assert str(refused) == (
            f"HEAD ({head}) leaves {ROUND}.diff out: commit the files of round 01 of design, "
            "then adopt that commit"
        )

    @pytest.mark.rule("CMT-01", "CMT-04")
    def test_not_one_that_leaves_the_anchor_before_out(self, fixed: Reviewing) -> None:
        commit(fixed)
        fixed.hold_round(("## Approach", 90), number=2)
        fixed.write("design.md", text(FIXED + "\nMore.\n"))
        fixed.write("reviews/design/round-02-dispositions.md", "# Done\n\nApplied.\n")
        fixed.git("add", "--all", "--", ".", f":!{RUN}/{ANCHOR}")
        fixed.git("commit", "-qm", "without it")
        refused = refusal(commit, fixed, adopt=True)
        head = fixed.git("rev-parse", "HEAD")[:12]
        assert str(refused) == (
            f"HEAD ({head}) leaves {ANCHOR} out: commit the files of round 02 of design, "
            "then adopt that commit"
        )

    @pytest.mark.rule("CMT-04")
    def test_not_one_that_leaves_the_mark_of_a_skipped_round_out(self, fixed: Reviewing) -> None:
        skipped = f"{ROUND}-verifier-disabled.md"
        fixed.write(skipped, "skip\n")
        fixed.git("add", "--all", "--", ".", f":!{RUN}/{skipped}")
        fixed.git("commit", "-qm", "without it")
        assert f"leaves {skipped} out:" in str(refusal(commit, fixed, adopt=True))

    @pytest.mark.rule("CMT-04")
    def test_not_one_about_something_else(self, fixed: Reviewing) -> None:
        assert f"does not touch {ROUND}:" in str(refusal(commit, fixed, adopt=True))

    @pytest.mark.rule("CMT-04")
    def test_not_one_that_says_it_is_another_round(self, fixed: Reviewing) -> None:
        fixed.git("add", "--all")
        other = "QRSPI-Round: 2026-05-17-user-auth/design/02"
        fixed.git("commit", "-qm", "x", "-m", other)
        assert f"says '{other}', expected" in str(refusal(commit, fixed, adopt=True))


@pytest.mark.rule("CMT-03")
def test_outside_git_there_is_no_commit_and_no_anchor(tmp_path: Path) -> None:
    project = reviewing.make(tmp_path / "shop", git=False)
    project.hold_round(("## Approach", 90))
    project.write(f"{ROUND}-dispositions.md", "# Done\n")
    assert commit(project) == Recorded(None, commit(project).done)
    assert ANCHOR not in project.there()


@pytest.mark.rule("RND-04")
def test_a_clean_round_needs_no_commit(tmp_path: Path) -> None:
    project = reviewing.make(tmp_path / "shop")
    project.hold_round(clean=("quality-claude", "scope-claude"))
    assert commit(project).commit is None
    assert project.git("rev-list", "--count", "HEAD") == "1"


@pytest.mark.parametrize(
    ("state", "why"),
    [
        ("reviewing", "scope-claude has written nothing yet"),
        ("fixing", "1 finding to be applied"),
    ],
)
def test_a_round_with_work_left_is_not_committed(tmp_path: Path, state: str, why: str) -> None:
    project = reviewing.make(tmp_path / "shop")
    project.prepare()
    project.hand_in(("## Approach", 90), clean=() if state == "reviewing" else ("scope-claude",))
    if state == "fixing":
        project.settle()
    assert str(refusal(commit, project)) == (
        f"round 01 of design is not ready to be committed: {why}"
    )


def test_committing_twice_is_one_commit(fixed: Reviewing) -> None:
    first = commit(fixed)
    second = commit(fixed)
    assert (second.commit, second.done.files) == (first.commit, ())
    assert fixed.git("rev-list", "--count", "HEAD") == "2"
