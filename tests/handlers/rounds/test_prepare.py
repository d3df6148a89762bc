"""Opening a round: the diff, the manifest, and everything that keeps it from being opened."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qrspi.handlers.decisions import decide_findings
from qrspi.handlers.jobs.job import Options
from qrspi.handlers.rounds import round_commands
from qrspi.world.runs.dry_run import DryRunWorkspace
from tests import runs
from tests.handlers import reviewing
from tests.handlers.refusals import halt, refusal
from tests.handlers.reviewing import BODY, Reviewing, files, text

DIFF = """\
diff --git a/docs/qrspi/2026-05-17-user-auth/design.md b/docs/qrspi/2026-05-17-user-auth/design.md
new file mode 100644
index 0000000..c7d369a
--- /dev/null
+++ b/docs/qrspi/2026-05-17-user-auth/design.md
@@ -0,0 +1,13 @@
+---
+status: draft
+---
+
+# Design
+
+## Approach
+
+One way.
+
+## Risks
+
+None.
"""
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
ROUND = "reviews/design/round-01"


@pytest.fixture
def project(tmp_path: Path) -> Reviewing:
    return reviewing.make(tmp_path / "shop")


@pytest.mark.rule("RND-02", "DIF-03", "MAN-01", "CNV-13")
def test_a_first_round_is_a_diff_and_a_manifest(project: Reviewing) -> None:
    before = project.there()
    opened = project.prepare()
    assert project.there() - before == {
        "reviews",
        "reviews/design",
        f"{ROUND}.diff",
        ROUND,
        f"{ROUND}/.dispatch-manifest.json",
    }
    assert project.data(f"{ROUND}.diff").decode() == DIFF
    assert opened.done.files == (f"{ROUND}.diff", f"{ROUND}/.dispatch-manifest.json")
    manifest = project.manifest()
    for entry in manifest["dispatches"]:
        entry["dispatch_spec"].pop("prompt_file")
    assert manifest == {
        "schema": "qrspi/manifest/v1",
        "step": "design",
        "round": 1,
        "body_hash": runs.text_hash(text(), "design.md"),
        "commit": "",
        "anyway": False,
        "decision": {
            "decision": "broaden",
            "rule": "CNV-03",
            "ref": EMPTY_TREE,
            "ref_commit": None,
            "scope_hint": None,
            "diagnostics": [],
            "current_set": [],
            "previous_set": [],
        },
        "expected_tags": ["quality-claude", "scope-claude"],
        "dispatches": [
            {
                "tag": tag,
                "agent": agent,
                "mode": "first_party",
                "status": "pending",
                "dispatch_spec": {
                    "subagent_type": agent,
                    "host": "plain",
                    "vendor": "claude",
                    "model": model,
                },
            }
            for tag, agent, model in (
                ("quality-claude", "reviewer-quality", "large"),
                ("scope-claude", "reviewer-scope", "middle"),
            )
        ],
        "engine_files": {},
    }


@pytest.mark.rule("AUD-01")
def test_the_trail_tells_of_the_diff_too(project: Reviewing) -> None:
    project.prepare()
    (line,) = project.trail()
    assert (line["event"], line["step"], line["round"]) == ("prepare-round", "design", 1)
    assert [file["path"] for file in line["files"]] == [
        f"{ROUND}.diff",
        f"{ROUND}/.dispatch-manifest.json",
    ]
    assert all(file["before"] is None and len(file["after"]) == 64 for file in line["files"])


@pytest.mark.rule("DIF-03")
def test_on_a_branch_the_diff_is_against_the_base_branch(project: Reviewing) -> None:
    main = project.git("rev-parse", "HEAD")
    project.git("checkout", "-q", "-b", "feature")
    project.write("design.md", text(BODY.replace("One", "Another")))
    opened = project.prepare()
    assert (opened.manifest.choice.ref, opened.manifest.choice.ref_commit) == ("main", main)
    assert b"-One way.\n+Another way.\n" in project.data(f"{ROUND}.diff")


@pytest.mark.rule("DIF-02", "CMT-03")
def test_outside_git_there_is_no_diff_and_no_error(tmp_path: Path) -> None:
    project = reviewing.make(tmp_path / "shop", git=False)
    opened = project.prepare()
    assert opened.done.files == (f"{ROUND}/.dispatch-manifest.json",)
    assert opened.diff_file is None
    assert project.manifest()["decision"]["ref"] is None


def refused(
    project: Reviewing, step: str = "design", number: int | None = None, **more: bool
) -> str:
    """The line it is refused with; nothing may have been changed."""
    before = {name: (project.run / name).lstat().st_mtime_ns for name in project.there()}
    caught = refusal(project.prepare, step, number, **more)
    assert {name: (project.run / name).lstat().st_mtime_ns for name in project.there()} == before
    return str(caught)


@pytest.mark.rule("RND-01")
@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["quality-claude.finding-F01.md"], "quality-claude.finding-F01.md"),
        (["b.txt", "a.txt"], "a.txt and 1 more"),
        ([".dispatch-manifest.json", ".x.swp"], ".dispatch-manifest.json"),
    ],
)
def test_no_round_is_opened_over_files(project: Reviewing, names: list[str], found: str) -> None:
    for name in names:
        project.write(f"{ROUND}/{name}", b"{}\n" if name.endswith(".json") else b"x\n")
    assert refused(project) == (
        f"precondition-violation: {ROUND} already holds {found}; expected no files before "
        "reviewers are sent"
    )


@pytest.mark.rule("RND-01")
def test_an_empty_directory_and_editors_left_overs_are_no_round(project: Reviewing) -> None:
    project.write(f"{ROUND}/.DS_Store", b"")
    assert project.prepare().paths.directory == ROUND


@pytest.mark.rule("RND-01", "FND-12")
@pytest.mark.parametrize(
    ("made", "error"),
    [
        ("a file", "Not a directory (file)"),
        ("a symlink", "Not a directory (symlink)"),
        ("no directory above", "Not a directory (symlink)"),
    ],
)
def test_unlisted_is_not_absent(project: Reviewing, tmp_path: Path, made: str, error: str) -> None:
    reviews = project.run / "reviews" / "design"
    if made == "no directory above":
        reviews.parent.mkdir()
        reviews.symlink_to(tmp_path)
    else:
        reviews.mkdir(parents=True)
        place = reviews / "round-01"
        place.write_text("") if made == "a file" else place.symlink_to(tmp_path)
    assert str(halt(project.prepare)) == (
        f"IO error on round-directory check at {ROUND}: {error}; cannot verify emptiness "
        "precondition. Resolve the IO condition and retry, or escalate to the user."
    )


@pytest.mark.rule("DIF-01")
class TestTheOrderOfTheDiff:
    UNTRACKED = "artifact {} is untracked — commit before reviewer dispatch"

    def test_an_untracked_artifact_is_said_first(self, tmp_path: Path) -> None:
        project = reviewing.make(tmp_path / "shop", {"config.md": runs.config(base_branch="gone")})
        project.put(files(base_branch="gone"))
        project.write("reviews", b"a file where a directory should be")
        assert refused(project) == self.UNTRACKED.format("design.md")

    def test_every_task_of_a_plan_must_be_tracked(self, tmp_path: Path) -> None:
        steps = runs.approved("goals", "questions", "research", "design", "phasing", "structure")
        plan = {"plan.md": text(), "tasks/task-01.md": text()}
        project = reviewing.make(tmp_path / "shop", files(steps, plan))
        project.write("tasks/task-02.md", text())
        assert refused(project, "plan") == self.UNTRACKED.format("tasks/task-02.md")

    def test_then_the_base_branch(self, tmp_path: Path) -> None:
        project = reviewing.make(tmp_path / "shop", files(base_branch="gone"))
        assert refused(project) == (
            "config.md: base_branch is 'gone', which names no commit here; set base_branch in "
            "config.md to a branch of this repository"
        )

    def test_then_the_directory(self, project: Reviewing) -> None:
        project.write("reviews", b"")
        assert str(halt(project.prepare)) == "mkdir exited 20: Not a directory"

    def test_then_a_stale_file_is_removed_and_a_directory_is_not(self, project: Reviewing) -> None:
        (project.run / f"{ROUND}.diff").mkdir(parents=True)
        assert str(halt(project.prepare)) == "rm exited 21: Is a directory"
        assert ROUND not in project.there()

    def test_a_stale_diff_is_replaced(self, project: Reviewing) -> None:
        project.write(f"{ROUND}.diff", b"stale")
        project.prepare()
        assert project.data(f"{ROUND}.diff").decode() == DIFF


@pytest.mark.rule("EVD-04")
class TestTheSameText:
    @pytest.fixture
    def reviewed(self, project: Reviewing) -> Reviewing:
        project.hold_round(clean=("quality-claude", "scope-claude"))
        return project

    def test_it_is_not_reviewed_twice(self, reviewed: Reviewing) -> None:
        assert refused(reviewed) == (
            "design.md is the very text that round 01 reviewed: change it first, or review it "
            "again with `qrspi round prepare 2026-05-17-user-auth design --anyway`"
        )

    def test_white_space_at_line_ends_is_no_change(self, reviewed: Reviewing) -> None:
        reviewed.write("design.md", text(BODY.replace("way.\n", "way.  \n")))
        assert refused(reviewed).startswith("design.md is the very text")

    def test_unless_a_person_wants_to(self, reviewed: Reviewing) -> None:
        assert reviewed.prepare(anyway=True).paths.number == 2
        assert reviewed.manifest(number=2)["anyway"] is True

    def test_a_changed_text_is(self, reviewed: Reviewing) -> None:
        reviewed.write("design.md", text(BODY + "More.\n"))
        assert reviewed.prepare(anyway=True).manifest.anyway is False


@pytest.mark.rule("RUN-07")
@pytest.mark.parametrize("number", [2, 7])
def test_rounds_are_opened_in_order(project: Reviewing, number: int) -> None:
    assert refused(project, number=number) == (
        f"round {number:02d} of design is not the next one: expected 01"
    )
    assert project.prepare(number=1).paths.number == 1


@pytest.mark.rule("RND-01")
def test_an_open_round_is_finished_first(project: Reviewing) -> None:
    project.prepare()
    project.hand_in(("## Approach", 90))
    still = " (it is open: the verified file is missing or stale)"
    assert refused(project) == (
        f"precondition-violation: {ROUND} already holds .dispatch-manifest.json and 3 more; "
        f"expected no files before reviewers are sent{still}"
    )
    assert refused(project, number=2) == (
        f"round 02 of design is not the next one: expected 01{still}"
    )


@pytest.mark.rule("ST-04")
def test_what_the_step_builds_on_must_be_approved(tmp_path: Path) -> None:
    contents = files({"research/summary.md": text(), "goals.md": text()})
    project = reviewing.make(tmp_path / "shop", contents)
    assert refused(project) == (
        "design cannot be reviewed: approve goals.md, research/summary.md first"
    )


@pytest.mark.rule("CFG-14")
def test_settings_that_the_step_uses_must_be_good(tmp_path: Path) -> None:
    project = reviewing.make(tmp_path / "shop", files(guard="lax", question_budget="7"))
    assert refused(project) == "config.md: guard is `lax`; expected tolerant or strict"
    project.write("config.md", runs.config(question_budget="7"))
    assert project.prepare().paths.number == 1


def test_an_artifact_that_is_not_there_is_not_reviewed(tmp_path: Path) -> None:
    contents = files()
    del contents["design.md"]
    project = reviewing.make(tmp_path / "shop", contents, git=False)
    assert refused(project) == (
        "design.md does not exist or cannot be read: write it before it is reviewed"
    )


@pytest.mark.rule("CFG-08")
@pytest.mark.parametrize(
    ("step", "written"),
    [
        ("design", b"scope_tagger_enabled: true\nvisual_fidelity_required: false\n"),
        ("questions", b"scope_tagger_enabled: true\n"),
    ],
)
def test_missing_settings_are_written_back(tmp_path: Path, step: str, written: bytes) -> None:
    dropped = ("verifier_enabled", "scope_tagger_enabled", "visual_fidelity_required")
    config = runs.config(drop=dropped)
    contents = files({"questions.md": text(), "config.md": config})
    if step == "design":
        contents["questions.md"] = text(status="approved")
    project = reviewing.make(tmp_path / "shop", contents)
    done = project.prepare(step).done
    assert project.data("config.md") == config.removesuffix(b"---\n") + written + b"---\n"
    fields = [line.split(b":")[0].decode() for line in written.splitlines()]
    values = {"scope_tagger_enabled": "true", "visual_fidelity_required": "false"}
    assert done.notes == tuple(
        f"{field} missing from config.md — backfilling default '{values[field]}' for this run"
        for field in fields
    )


def looped(project: Reviewing, *rounds: str) -> None:
    """Rounds that each found something in one section and were fixed and committed."""
    for number, section in enumerate(rounds, 1):
        project.prepare()
        project.hand_in((section, 90), number=number)
        project.assemble()
        project.write(
            f"reviews/design/round-{number:02d}-scope-set.txt",
            f"# total_findings_kept: 1\n{section}\n".encode(),
        )
        project.close(number, f"{BODY}\nFix {number}.\n")


@pytest.mark.rule("CNV-07", "CNV-12", "CNV-13", "DIF-03")
def test_a_third_round_about_the_same_part_looks_at_the_last_fixes(project: Reviewing) -> None:
    looped(project, "## Approach", "## Approach")
    opened = project.prepare()
    assert project.manifest(number=3)["decision"] == {
        "decision": "narrow",
        "rule": "CNV-07",
        "ref": "HEAD~1",
        "ref_commit": project.git("rev-parse", "HEAD~1"),
        "scope_hint": ["## Approach"],
        "diagnostics": [],
        "current_set": ["## Approach"],
        "previous_set": ["## Approach"],
    }
    assert b"-Fix 1.\n+Fix 2.\n" in project.data(opened.paths.diff)


@pytest.mark.rule("LIV-19")
def test_a_later_round_has_the_diff_since_the_last_reviewed_text(project: Reviewing) -> None:
    looped(project, "## Approach", "## Risks")
    opened = project.prepare()
    since = project.data("reviews/design/round-03-since.diff")
    assert since.endswith(b"-Fix 1.\n+Fix 2.\n") and since.count(b"@@") == 2
    assert project.data(opened.paths.diff).count(b"\n+") > 10
    assert opened.done.files[:2] == (opened.paths.diff, opened.paths.since)


@pytest.mark.rule("LIV-19")
def test_the_diff_since_counts_from_the_reviewed_text(project: Reviewing) -> None:
    looped(project, "## Approach")
    for number in (1, 2):
        project.write("design.md", text(f"{BODY}\nBy hand {number}.\n"))
        project.commit(f"by hand {number}")
    project.prepare()
    assert project.data("reviews/design/round-02-since.diff").endswith(b"+\n+By hand 2.\n")


@pytest.mark.rule("LIV-19")
def test_a_text_that_was_never_committed_leaves_no_diff_since(project: Reviewing) -> None:
    project.write("design.md", text(f"{BODY}\nUncommitted.\n"))
    looped(project, "## Approach")
    opened = project.prepare()
    assert not project.has(opened.paths.since)
    assert opened.done.files == (opened.paths.diff, opened.paths.manifest)


@pytest.mark.rule("LIV-19")
def test_a_task_that_is_gone_since_the_last_round_is_in_the_diff(tmp_path: Path) -> None:
    steps = runs.approved("design", "phasing", "structure")
    tasks = {f"tasks/task-0{at}.md": text(f"# Task {at}\n") for at in (1, 2)}
    project = reviewing.make(tmp_path / "shop", files(steps, {"plan.md": text()}, tasks))
    project.prepare("plan")
    for tag in project.manifest("plan")["expected_tags"]:
        project.write(f"reviews/plan/round-01/{tag}.clean.md", runs.clean(tag))
    project.settle("plan")
    (project.run / "tasks/task-02.md").unlink()
    project.write("plan.md", text(f"{BODY}\nOne task.\n"))
    project.commit("one task")
    since = project.data(project.prepare("plan").paths.since)
    assert b"-# Task 2\n" in since and b"+One task.\n" in since and b"# Task 1" not in since


@pytest.mark.rule("LIV-19")
def test_raisers_are_named_in_the_manifest_with_the_reason(tmp_path: Path) -> None:
    more = "{design: [a-claude, b-claude]}"
    contents = files(later_rounds="raisers", extra_reviewers=more)
    project = reviewing.make(tmp_path / "shop", contents)
    for number in (1, 2):
        project.prepare()
        project.hand_in(
            ("## Approach", 90), number=number, clean=("scope-claude", "a-claude", "b-claude")
        )
        project.settle()
        project.close(number, f"{BODY}\nFix {number}.\n")
    opened = project.prepare()
    why = (
        "later_rounds is raisers: not sent to round 3, as they had no finding in an earlier one, "
        "are a-claude, b-claude; scope-claude had none either and looks again"
    )
    assert opened.manifest.expected_tags == ("quality-claude", "scope-claude")
    assert (opened.manifest.chosen, project.manifest(number=3)["chosen"]) == (why, why)
    assert why in opened.done.notes


@pytest.mark.rule("CNV-09")
def test_a_new_part_makes_it_look_at_everything_again(project: Reviewing) -> None:
    looped(project, "## Approach", "## Risks")
    choice = project.prepare().manifest.choice
    assert (choice.rule, choice.narrow, choice.ref) == ("CNV-09", False, EMPTY_TREE)


@pytest.mark.rule("CNV-10")
def test_a_commit_in_between_makes_it_look_at_everything_again(project: Reviewing) -> None:
    looped(project, "## Approach", "## Approach")
    anchor = project.data("reviews/design/round-01-commit.txt").decode().strip()
    parent = project.git("rev-parse", "HEAD")
    project.write("goals.md", text(BODY, "approved"))
    project.commit("by hand")
    done = project.prepare().done
    assert done.notes == (
        "HEAD~1 is not the prior per-round commit — broadening for round 03 "
        f"(expected {anchor}; HEAD~1 is {parent})",
    )


@pytest.mark.rule("CNV-10", "LIV-11")
def test_a_decision_on_record_in_between_leaves_it_at_the_last_fixes(project: Reviewing) -> None:
    looped(project, "## Approach")
    before = project.git("rev-parse", "HEAD")
    project.prepare()
    project.hand_in(("## Approach", 90), number=2, kind="intent")
    project.settle()
    project.next()
    project.make(lambda job: decide_findings.plan(job, ["quality-claude.R2-F01"], "apply"))
    project.close(2, f"{BODY}\nFix 2.\n")
    opened = project.prepare()
    choice = opened.manifest.choice
    assert (choice.rule, choice.ref, choice.ref_commit) == ("CNV-07", "HEAD~2", before)
    assert b"-Fix 1.\n+Fix 2.\n" in project.data(opened.paths.diff)


@pytest.mark.rule("CNV-02", "CNV-13", "BWL-02")
def test_a_flag_is_used_up_by_the_round_it_broadens(project: Reviewing) -> None:
    looped(project, "## Approach", "## Approach")
    flag = "reviews/design/round-02-backward-loop.flag"
    project.write(flag, b"")
    assert project.prepare().manifest.choice.rule == "CNV-02"
    assert flag not in project.there()


@pytest.mark.rule("DIF-06")
def test_a_task_that_was_deleted_is_in_the_diff(tmp_path: Path) -> None:
    steps = runs.approved("design", "phasing", "structure")
    tasks = {f"tasks/task-0{at}.md": text(f"# Task {at}\n") for at in (1, 2)}
    project = reviewing.make(tmp_path / "shop", files(steps, tasks, {"plan.md": text()}))
    project.git("checkout", "-q", "-b", "feature")
    (project.run / "tasks/task-02.md").unlink()
    diff = project.data(project.prepare("plan").paths.diff).decode()
    assert diff.count("diff --git") == 1
    assert "deleted file mode 100644" in diff
    assert diff.endswith("-# Task 2\n")


class TestSteps:
    """Those that review code."""

    @pytest.fixture
    def built(self, tmp_path: Path) -> Reviewing:
        steps = runs.approved(*"design phasing structure plan parallelize implement".split())
        records = {"integration.md": text(), "test-results.md": text()}
        tasks = {"tasks/task-01.md": text(status="approved")}
        config = runs.config(review_depth="quick", review_mode="loop")
        contents = files(steps, records, tasks, {"config.md": config})
        return reviewing.make(tmp_path / "shop", contents)

    @pytest.mark.rule("DIF-02", "INT-03")
    def test_integrate_diffs_the_branch_against_where_it_left(self, built: Reviewing) -> None:
        start = built.git("rev-parse", "HEAD")
        built.git("checkout", "-q", "-b", "feature")
        (built.root / "code.py").write_text("print()\n")
        tip = built.commit("code")
        built.git("checkout", "-q", "main")
        (built.root / "other.py").write_text("print()\n")
        built.commit("meanwhile")
        built.git("checkout", "-q", "feature")
        opened = built.prepare("integrate")
        choice = opened.manifest.choice
        assert (choice.ref, choice.ref_commit, opened.manifest.commit) == ("main", start, tip)
        assert built.data(opened.paths.diff).decode().startswith("diff --git a/code.py b/code.py\n")

    @pytest.mark.rule("DIF-02", "LIV-07")
    def test_test_shows_what_the_tests_ran_over(self, built: Reviewing) -> None:
        built.write("integration.md", text(status="approved"))
        built.commit("integrated")
        opened = built.prepare("test")
        assert opened.diff_file == opened.paths.diff
        assert opened.manifest.commit == built.git("rev-parse", "HEAD")
        assert opened.manifest.expected_tags == (
            "spec-claude",
            "code-quality-claude",
            "goal-traceability-claude",
        )

    @pytest.mark.rule("IMP-07", "MTX-04")
    def test_a_task_is_compared_with_where_its_branch_began(self, built: Reviewing) -> None:
        start = built.git("rev-parse", "HEAD")
        place = built.root / ".worktrees" / "user-auth" / "task-01"
        built.git("worktree", "add", "-q", "-b", "qrspi/user-auth/task-01", str(place))
        (place / "code.py").write_text("print()\n")
        built.git("add", "code.py", at=place)
        built.git("commit", "-qm", "task", at=place)
        opened = built.prepare("task-01")
        assert opened.paths.directory == "reviews/tasks/task-01/round-01"
        assert opened.manifest.commit == built.git("rev-parse", "HEAD", at=place)
        assert opened.manifest.choice.ref_commit == start
        assert b"+++ b/code.py\n" in built.data(opened.paths.diff)
        assert not built.has(opened.paths.since)

    def test_a_task_without_a_work_tree_is_named(self, built: Reviewing) -> None:
        assert refused(built, "task-01") == (
            "task-01 has no work tree with a commit to review: start it with "
            "`qrspi task start 2026-05-17-user-auth task-01`"
        )


@pytest.mark.rule("OUT-10")
def test_a_rehearsal_changes_nothing(project: Reviewing) -> None:
    before = project.there()
    stage = DryRunWorkspace(project.run)
    design = reviewing.about("design")
    opened = round_commands.open_round(stage, design, None, Options(dry_run=True))
    assert opened.done.files == (f"{ROUND}.diff", f"{ROUND}/.dispatch-manifest.json")
    assert project.there() == before
    assert not (project.run / ".qrspi").exists()


@pytest.mark.rule("CNV-04", "MTX-04")
def test_the_rounds_of_another_subject_say_nothing(tmp_path: Path) -> None:
    """implement-gate and integrate share a directory of reviews."""
    project = reviewing.make(tmp_path / "shop", {"config.md": runs.config()})
    shared = "reviews/integration"
    for number, step in ((1, "implement-gate"), (2, "integrate")):
        manifest = runs.manifest(step, number)
        project.write(f"{shared}/round-{number:02d}/.dispatch-manifest.json", manifest)
        project.write(f"{shared}/round-{number:02d}-scope-set.txt", b"src/app.py\n")
    found = round_commands.converge(project.workspace(), reviewing.about("integrate"), None)
    assert (found.decision.round, found.decision.rule) == (3, "CNV-04")
    assert found.decision.diagnostics[0].startswith("Round 01 scope-set absent")


@pytest.mark.rule("LIV-16")
def test_a_round_is_renewed_in_place_while_nobody_has_answered(project: Reviewing) -> None:
    project.prepare()
    before = project.there()
    first = project.manifest()
    project.write("design.md", text(BODY.replace("One way.", "Another way.")))
    project.commit("other words")
    assert project.prepare().done.round == 1
    assert project.there() == before
    assert b"+Another way." in project.data(f"{ROUND}.diff")
    assert project.manifest()["body_hash"] != first["body_hash"]


@pytest.mark.rule("LIV-21")
def test_a_base_that_is_no_branch_stops_a_round(tmp_path: Path) -> None:
    project = reviewing.make(tmp_path / "shop", files(base_branch="a..b"))
    assert _refused(project).startswith("config.md: base_branch ")


@pytest.mark.rule("LIV-21")
def test_a_tier_that_is_none_stops_a_round_before_it_is_opened(tmp_path: Path) -> None:
    given = files()
    none = re.sub(rb"(medium|high): \{[^}]*\}", rb"\1: none", given["config.md"])
    project = reviewing.make(tmp_path / "shop", given | {"config.md": none})
    assert " is none, and the role reviewer-" in _refused(project)


def _refused(project: Reviewing) -> str:
    before = project.there()
    caught = refusal(project.prepare)
    assert project.there() == before
    return str(caught)
