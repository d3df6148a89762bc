"""A person's yes: the bytes and the commit it makes, what it refuses, how a kill is made good."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qrspi.core.code_steps import test_results
from qrspi.core.code_steps.test_results import Results
from qrspi.core.derivation.derive import derive, survey
from qrspi.core.pipeline import ROUTES, STEP, subject_of
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import read_with_care
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import ChangeSet
from qrspi.handlers.decisions import approve
from qrspi.handlers.decisions.approve import Consent
from qrspi.handlers.jobs.job import Job, Options
from tests import deliveries, runs
from tests.handlers.gates import (
    DRAFT,
    NOW,
    TEXT,
    USER,
    WHO,
    Files,
    Gate,
    made_good,
    reviewed_clean,
)
from tests.handlers.refusals import halt, refusal
from tests.handlers.workshop import Workshop
from tests.runs import approved, artifact, config

pytestmark = pytest.mark.usefixtures("fixed_time")

UNREVIEWED = Consent(unreviewed=True)


def yes(job: Job) -> ChangeSet:
    return approve.plan(job, approve.step_of(job, None), UNREVIEWED)


def before(*steps: str, **more: bytes) -> dict[str, bytes]:
    """A full run whose steps up to these are approved."""
    return {"config.md": config(), **approved(*steps)} | more


PLAN_TEXT = artifact(body="# Plan\n")
TASK = b"---\nstatus: draft # for now\ntitle: One\n---\n\n# Task 01: One\n"
PLAN = {
    "config.md": config(),
    **approved("goals", "questions", "research", "design", "phasing", "structure"),
    "plan.md": PLAN_TEXT,
    "tasks/task-01.md": TASK,
    "tasks/task-02a.md": artifact(body="# Task 02a: Two\n"),
    "tasks/notes.md": artifact(body="Notes.\n"),
}


@pytest.mark.rule("APR-02", "APV-01", "FM-06")
def test_a_yes_is_one_record_one_word_and_one_commit(tmp_path: Path) -> None:
    text = TEXT.replace(b"status: draft", b"status:   draft  # hm\r\nowner: Ada")
    gate = Gate(tmp_path / "shop", DRAFT | {"goals.md": text} | reviewed_clean("goals", TEXT))
    gate.write("../../../notes.txt", "mine")
    gate.git("add", "notes.txt")
    gate.write("design.md", artifact())
    before = gate.files()
    _, done = gate.make(yes)
    record = {
        "event": "approve",
        "step": "goals",
        "body_hash": runs.text_hash(TEXT, front=b"# hm\nowner: Ada"),
        "round": 1,
        "who": WHO,
        "when": NOW,
        "surface": "cli",
        "user": USER,
        "option": "unreviewed",
        "route": runs.ON_FULL,
        "safeguards": runs.ASKED,
    }
    assert gate.records() == [record]
    assert gate.files() == before | {
        "goals.md": text.replace(b"draft", b"approved", 1),
        "approvals.jsonl": (json.dumps(record) + "\n").encode(),
    }
    assert gate.subjects() == ["docs(qrspi): approve goals for user-auth", "start"]
    assert gate.git("rev-parse", "HEAD") == done.commit
    assert gate.committed() == ["approvals.jsonl", "goals.md"]
    run = gate.run.relative_to(gate.root).as_posix()
    assert gate.status() == ["A  notes.txt", f"?? {run}/design.md"]


@pytest.mark.rule("APR-02")
def test_the_commit_takes_the_companions_and_the_review_files(tmp_path: Path) -> None:
    files = before("goals", "questions") | {
        "research/summary.md": TEXT,
        "research/q02-web.md": TEXT,
    }
    gate = Gate(tmp_path / "shop", files)
    gate.write("research/q01-code.md", "# One\n")
    (gate.run / "research/q02-web.md").unlink()
    for path, data in reviewed_clean("research", TEXT).items():
        gate.write(path, data)
    gate.write("reviews/design/round-01/x.md", "another step's")
    gate.write("notes.md", "mine")
    gate.make(yes)
    assert gate.committed() == [
        "approvals.jsonl",
        "research/q01-code.md",
        "research/q02-web.md",
        "research/summary.md",
        "reviews/research/round-01.diff",
        "reviews/research/round-01/.dispatch-manifest.json",
        "reviews/research/round-01/quality-claude.clean.md",
    ]


@pytest.mark.rule("APR-04", "RP-01", "INT-03")
def test_a_plan_takes_its_tasks_along_and_records_where_the_code_stood(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", PLAN)
    gate.git("checkout", "-q", "-b", "feature/sign-in")
    start = gate.git("rev-parse", "HEAD")
    move, _ = gate.make(yes)
    assert [edit.path for edit in move.edits] == [
        "approvals.jsonl",
        "tasks/task-01.md",
        "tasks/task-02a.md",
        "plan.md",
    ]
    written = gate.files()
    assert (
        written["plan.md"]
        == (
            f"---\nstatus: approved\nfeature_branch: feature/sign-in\n"
            f"phase_start_commit: {start}\n---\n\n# Plan\n"
        ).encode()
    )
    assert written["tasks/task-01.md"] == TASK.replace(b"draft", b"approved")
    assert written["tasks/task-02a.md"].startswith(b"---\nstatus: approved\n")
    assert written["tasks/notes.md"] == PLAN["tasks/notes.md"]
    assert gate.subjects()[0] == "docs(qrspi): approve plan for user-auth"
    assert gate.git("rev-parse", "HEAD~1") == start


@pytest.mark.rule("RP-01")
def test_a_plan_that_is_approved_again_keeps_its_start(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", PLAN)
    start = gate.git("rev-parse", "HEAD")
    gate.make(yes)
    text = gate.files()["plan.md"].replace(b"status: approved", b"status: draft")
    gate.write("plan.md", text + b"\nMore.\n")
    gate.commit("more")
    gate.make(yes)
    assert f"phase_start_commit: {start}\n".encode() in gate.files()["plan.md"]
    assert [record["event"] for record in gate.records()] == ["approve", "approve"]


@pytest.mark.rule("LIV-22")
def test_a_start_that_is_null_is_filled(tmp_path: Path) -> None:
    plan = PLAN["plan.md"].replace(b"\n---\n", b"\nphase_start_commit: null\n---\n", 1)
    gate = Gate(tmp_path / "shop", PLAN | {"plan.md": plan})
    start = gate.git("rev-parse", "HEAD")
    gate.make(yes)
    assert f"phase_start_commit: {start}\n".encode() in gate.files()["plan.md"]


@pytest.mark.rule("RP-01")
def test_a_new_phase_has_a_new_start(tmp_path: Path) -> None:
    route = approved("parallelize", "implement", "integrate", "test")
    plan = b"---\nstatus: replan-draft\nphase_start_commit: " + b"a" * 40 + b"\n---\n\n# Plan\n"
    files = PLAN | route | {"plan.md": plan, "replan-pending.md": b"---\nphase: 1\n---\n"}
    gate = Gate(tmp_path / "shop", files)
    start = gate.git("rev-parse", "HEAD")
    gate.make(yes)
    assert f"phase_start_commit: {start}\n".encode() in gate.files()["plan.md"]
    assert gate.status_of("plan") == b"status: approved"


@pytest.mark.rule("RP-01", "RUN-08")
def test_the_code_may_be_in_another_repository(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", PLAN | {"config.md": config(code_path="../code")})
    code = Gate(tmp_path / "code", {"x": b""})
    code.git("checkout", "-q", "-b", "trunk")
    gate.make(yes)
    commit = code.git("rev-parse", "HEAD")
    assert gate.files()["plan.md"].startswith(
        f"---\nstatus: approved\nfeature_branch: trunk\nphase_start_commit: {commit}\n".encode()
    )


@pytest.mark.rule("RP-01", "LIV-12")
def test_on_a_detached_head_nothing_is_approved(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", PLAN)
    gate.git("checkout", "-q", "--detach")
    before = gate.files()
    refused = refusal(gate.make, yes)
    assert refused.exit_code == 3
    assert refused.problem.hint == f"git -C {gate.root} switch -c NAME"
    assert gate.files() == before
    gate.options = Options(no_commit=True)
    gate.make(yes)
    assert b"feature_branch" not in gate.files()["plan.md"]


@pytest.mark.rule("RP-01", "CMT-03", "SEC-24")
def test_outside_git_git_is_not_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ada")
    gate = Gate(tmp_path / "shop", PLAN, git=False)
    _, done = gate.make(yes)
    assert done.commit is None
    assert gate.files()["plan.md"] == PLAN_TEXT.replace(b"draft", b"approved")
    assert [record["who"] for record in gate.records()] == [USER]


@pytest.mark.rule("APV-01", "SEC-24")
def test_a_name_that_is_given_stands_beside_who_it_is(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", DRAFT)
    gate.make(lambda job: approve.plan(job, "goals", Consent("Grace Hopper", True)))
    (record,) = gate.records()
    said = {key: record[key] for key in ("who", "user", "as", "option")}
    assert said == {"who": WHO, "user": USER, "as": "Grace Hopper", "option": "unreviewed"}


PHASING = artifact("approved", "# Phasing\n\n## Phase 1: One\n\nx\n\n## Phase 2: Two\n\ny\n")
AT_TEST = {
    **PLAN,
    **approved("plan", "parallelize", "implement", "integrate"),
    "phasing.md": PHASING,
    "tasks/task-01.md": artifact("approved"),
    "tasks/task-02a.md": artifact("approved"),
    "test-results.md": TEXT,
    test_results.results_file(1): test_results.render(Results(1, "true", "", 0), "Passed."),
}


def yes_to_test(job: Job) -> ChangeSet:
    """As when the tests have passed: by then the run waits for a person."""
    answer = job.next._replace(action="approve", who="human", kind="approve")
    return approve.plan(job._replace(next=answer), "test", UNREVIEWED)


@pytest.mark.rule("RP-02")
def test_the_end_of_a_phase_is_marked_before_it_is_approved(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", AT_TEST)
    move, _ = gate.make(yes_to_test)
    assert [edit.path for edit in move.edits] == [
        "approvals.jsonl",
        "replan-pending.md",
        "test-results.md",
    ]
    marker = f"---\nphase: 1\ntimestamp: {NOW}\n---\n".encode()
    assert gate.files()["replan-pending.md"] == marker
    assert gate.committed() == ["approvals.jsonl", "replan-pending.md", "test-results.md"]


@pytest.mark.rule("RP-02")
@pytest.mark.parametrize("phasing", [PHASING.replace(b"## Phase 2", b"### Phase 2"), None])
def test_the_last_phase_has_no_marker(tmp_path: Path, phasing: bytes | None) -> None:
    gate = Gate(tmp_path / "shop", AT_TEST | ({"phasing.md": phasing} if phasing else {}))
    if phasing is None:
        gate.write("phases/phase-01/done.md", "x")
    gate.make(yes_to_test)
    assert "replan-pending.md" not in gate.files()
    assert gate.job().next.action == "done"


ASKED = artifact(body=runs.ASKING)
REFUSED = [
    (
        "not current",
        before("goals") | {"questions.md": ASKED, "design.md": TEXT},
        "design",
        "design is not the current step, the run is at questions: next is to open questions "
        "round 1",
    ),
    (
        "approved already",
        before("goals") | {"questions.md": ASKED},
        "goals",
        "goals.md is approved already: next is to open questions round 1",
    ),
    (
        "missing",
        before("goals"),
        "questions",
        "questions.md does not exist: next is to write questions",
    ),
    (
        "invalid",
        before() | {"goals.md": b"---\nstatus: draft\nstatus: approved\n---\n"},
        "goals",
        "goals.md:3:1: repeated key 'status'; correct it first",
    ),
    (
        "not in the route",
        before(),
        "ux",
        "ux is no part of this run's route: goals, questions, research, design, phasing, "
        "structure, plan, parallelize, implement, integrate, test",
    ),
    (
        "a field the step uses is bad",
        DRAFT | {"config.md": config(second_reviewer="maybe")},
        "goals",
        "config.md: second_reviewer is `maybe`; expected true or false",
    ),
    (
        "a prerequisite is not approved",
        {
            "config.md": config("quick", route="[goals, research, plan, implement, test]"),
            **approved("goals"),
            "research/summary.md": TEXT,
        },
        "research",
        "research cannot be approved: approve questions.md first",
    ),
    (
        "a task cannot be read",
        PLAN | {"tasks/task-03.md": b"---\nstatus: draft\n"},
        "plan",
        "tasks/task-03.md:1:1: frontmatter without an end: no further line is '---' alone; "
        "correct it before the plan is approved",
    ),
    (
        "complete",
        before(*ROUTES["full"]),
        None,
        f"{runs.RUN} is complete: there is nothing left to approve",
    ),
]


@pytest.mark.rule("APR-01", "ST-04")
@pytest.mark.parametrize(
    ("files", "step", "line"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_what_cannot_be_approved(tmp_path: Path, files: Files, step: str | None, line: str) -> None:
    gate = Gate(tmp_path / "shop", files)
    now = left_alone(gate)
    refused = refusal(
        gate.make, lambda job: approve.plan(job, approve.step_of(job, step), UNREVIEWED)
    )
    assert (refused.exit_code, str(refused)) == (3, line)
    assert left_alone(gate) == now


def left_alone(gate: Gate) -> tuple[dict[str, bytes], list[str], list[str]]:
    return gate.files(), gate.subjects(), gate.status()


@pytest.mark.rule("APR-03")
@pytest.mark.parametrize("surface", ["mcp", "watch", "dispatch", "cascade"])
@pytest.mark.parametrize("step", ["goals", "design"])
def test_goals_and_design_are_for_people(tmp_path: Path, surface: str, step: str) -> None:
    earlier = ("goals", "questions", "research") if step == "design" else ()
    gate = Gate(tmp_path / "shop", before(*earlier) | {f"{step}.md": TEXT})
    gate.options = gate.options._replace(actor=surface)
    refused = refusal(gate.make, yes)
    line = f"{step} is approved by a person, not through {surface}"
    assert str(refused) == line
    gate.options = gate.options._replace(actor="web")
    gate.make(yes)
    assert gate.records()[-1]["surface"] == "web"


@pytest.mark.rule("APR-03")
@pytest.mark.parametrize(("surface", "allowed"), [("mcp", True), ("watch", False)])
def test_a_host_may_approve_other_steps(tmp_path: Path, surface: str, allowed: bool) -> None:
    gate = Gate(tmp_path / "shop", before("goals") | {"questions.md": TEXT})
    gate.options = gate.options._replace(actor=surface)
    if allowed:
        gate.make(yes)
    else:
        refusal(gate.make, yes)
    assert (gate.run / "approvals.jsonl").exists() is allowed


@pytest.mark.rule("APR-01")
def test_a_clean_review_needs_no_word_more(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", DRAFT | reviewed_clean("goals", TEXT))
    gate.next()
    seen = approve.standing(gate.job(), "goals")
    assert (seen.review, seen.clean) == ("Reviews passed clean in round 1", True)
    gate.make(lambda job: approve.plan(job, "goals"))
    assert gate.status_of("goals") == b"status: approved"


CHANGED = artifact(body="# Text\n\n## Approach\n\nOther words.\n")
ROUND = "reviews/goals/round-01"
FOUND = {
    f"{ROUND}/.dispatch-manifest.json": runs.manifest(body=CHANGED),
    f"{ROUND}/scope-claude.clean.md": runs.clean("scope-claude"),
    f"{ROUND}/quality-claude.finding-F01.md": runs.finding(),
    f"{ROUND}/quality-claude.finding-F01.score.yml": runs.score(90),
    f"{ROUND}-dispositions.md": b"Fixed.\n",
    f"{ROUND}-commit.txt": b"a" * 40 + b"\n",
}
UNANSWERED = {"reviews/goals/round-02/.dispatch-manifest.json": runs.manifest(round=2, body=TEXT)}
NOT_CLEAN = [
    ("never reviewed", {}, "Not reviewed; round 1 is not finished"),
    (
        "in the middle of a round",
        {f"{ROUND}/.dispatch-manifest.json": runs.manifest(body=TEXT)},
        "Not reviewed; round 1 is not finished",
    ),
    (
        "changed since",
        reviewed_clean("goals", CHANGED),
        "Reviews passed clean in round 1; the text has changed since and is not re-verified; "
        "round 2 is not finished",
    ),
    (
        "clean, and looked at again",
        reviewed_clean("goals", TEXT) | UNANSWERED,
        "Not reviewed; round 2 is not finished",
    ),
    (
        "fixed",
        FOUND | {"reviews/goals/loop.md": b"---\nmode: present\n---\n"},
        "Reviews found issues in round 1 which were fixed but not re-verified",
    ),
    (
        "fixed, and looked at again",
        FOUND,
        "Reviews found issues in round 1 which were fixed but not re-verified; "
        "round 2 is not finished",
    ),
]


@pytest.mark.rule("APR-01", "ST-10")
@pytest.mark.parametrize(
    ("files", "review"), [row[1:] for row in NOT_CLEAN], ids=[row[0] for row in NOT_CLEAN]
)
def test_only_clean_needs_no_word(tmp_path: Path, files: Files, review: str) -> None:
    gate = Gate(tmp_path / "shop", DRAFT | files)
    gate.next()
    now = gate.files()
    refused = refusal(gate.make, lambda job: approve.plan(job, "goals"))
    problem = refused.problem
    assert problem.message == f"{review}: goals.md is approved all the same only with --unreviewed"
    following = gate.job().next
    all_the_same = f"qrspi approve {runs.RUN} goals --unreviewed"
    assert problem.hint == (all_the_same if following.action == "approve" else following.command)
    assert gate.files() == now
    shown = approve.standing(gate.job(), "goals")
    gate.make(lambda job: approve.plan(job, "goals", Consent(shown=shown)))
    assert gate.status_of("goals") == b"status: approved"


@pytest.mark.rule("ENG-06")
def test_a_yes_is_for_the_text_that_was_shown(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", DRAFT)
    shown = approve.standing(gate.job(), "goals")
    gate.write("goals.md", CHANGED)
    refused = refusal(gate.make, lambda job: approve.plan(job, "goals", Consent(shown=shown)))
    line = "goals.md or its reviews changed while you were asked: look at it again"
    assert str(refused) == line
    assert gate.files()["goals.md"] == CHANGED


@pytest.mark.rule("ENG-04", "APV-01", "APR-04")
@pytest.mark.parametrize("files", [DRAFT, PLAN], ids=["goals", "plan"])
def test_the_same_command_finishes_after_a_kill(tmp_path: Path, files: dict[str, bytes]) -> None:
    gates = made_good(Gate(tmp_path / "shop", files), yes)
    events = [[record["event"] for record in gate.records()] for gate in gates]
    assert events == [["approve"]] * (3 if files is DRAFT else 5)


@pytest.mark.rule("ENG-04")
def test_a_record_of_another_text_does_not_count(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", DRAFT)
    gate.make_first(yes, 1)
    gate.write("goals.md", CHANGED)
    gate.make(yes)
    hashes = [record["body_hash"] for record in gate.records()]
    assert hashes == [runs.text_hash(TEXT), runs.text_hash(CHANGED)]


@pytest.mark.rule("CMT-03", "ENG-04")
def test_a_hook_that_refuses_leaves_the_approval_to_be_committed(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", DRAFT)
    gate.hook("pre-commit", "echo not today >&2; exit 1")
    assert str(halt(gate.make, yes)) == "git commit exited 1: not today"
    assert gate.status_of("goals") == b"status: approved"
    (gate.root / ".git/hooks/pre-commit").unlink()
    move, done = gate.make(yes)
    assert (move.edits, done.commit) == ((), gate.git("rev-parse", "HEAD"))
    assert gate.subjects() == ["docs(qrspi): approve goals for user-auth", "start"]
    assert [record["step"] for record in gate.records()] == ["goals"]


@pytest.mark.rule("ENG-05")
@pytest.mark.parametrize("obstacle", ["index.lock", "MERGE_HEAD"])
def test_where_git_cannot_commit_nothing_is_written(tmp_path: Path, obstacle: str) -> None:
    gate = Gate(tmp_path / "shop", DRAFT)
    (gate.root / ".git" / obstacle).write_text(gate.git("rev-parse", "HEAD"))
    before = gate.files()
    halt(gate.make, yes)
    assert gate.files() == before


@pytest.mark.rule("ENG-05")
def test_unknown_to_git_nobody_approves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(tmp_path / "shop", DRAFT)
    gate.git("config", "user.useConfigOnly", "true")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME")
        monkeypatch.delenv(f"GIT_{role}_EMAIL")
    before = gate.files()
    assert halt(gate.make, yes).problem.code == "no-identity"
    assert gate.files() == before


@pytest.mark.rule("AUD-01")
def test_the_trail_names_each_file(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", DRAFT)
    gate.make(yes)
    line = json.loads((gate.run / ".qrspi/audit.jsonl").read_text())
    assert (line["actor"], line["event"], line["step"]) == ("cli", "approve", "goals")
    assert [file["path"] for file in line["files"]] == ["approvals.jsonl", "goals.md"]


@pytest.mark.rule("EVD-04", "CAP-03")
def test_what_was_unapproved_unchanged_is_not_reviewed_again(tmp_path: Path) -> None:
    from qrspi.handlers.decisions import rewind

    gate = Gate(tmp_path / "shop", DRAFT | reviewed_clean("goals", TEXT))
    gate.next()
    gate.make(lambda job: approve.plan(job, "goals"))
    gate.make(lambda job: rewind.unapprove(job, "goals"))
    answer = gate.job().next
    assert (answer.action, answer.because) == ("approve", ("Reviews passed clean in round 1",))


def test_looking_writes_nothing(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", DRAFT)
    approve.plan(gate.job(), "goals", UNREVIEWED)
    assert not (gate.run / ".qrspi").exists()
    assert isinstance(change_set.look(gate.workspace(), gate.options), Job)


@pytest.mark.rule("ENG-04")
def test_an_index_that_a_killed_git_left_behind_is_brought_along(tmp_path: Path) -> None:
    """Between a commit and its index a kill leaves the commit's own reversal staged."""
    gate = Gate(tmp_path / "shop", DRAFT)
    gate.write("../../../mine.txt", "staged")
    gate.git("add", "mine.txt")
    index = gate.root / ".git/index"
    old = index.read_bytes()
    gate.make(yes)
    index.write_bytes(old)
    assert len(gate.status()) == 4
    refused = refusal(
        gate.make, lambda job: approve.plan(job, approve.step_of(job, None), UNREVIEWED)
    )
    assert str(refused) == "goals.md is approved already: next is to write questions"
    assert gate.status() == ["A  mine.txt"]


@pytest.mark.rule("APV-01", "SEC-01")
def test_nobody_elses_record_stands_in_for_a_yes(tmp_path: Path) -> None:
    """Whoever can write into the run can write a record too; it approves nothing."""
    gate = Gate(tmp_path / "shop", DRAFT)
    forged = {"event": "approve", "step": "goals", "body_hash": runs.text_hash(TEXT), "round": 0}
    gate.write("approvals.jsonl", json.dumps({**forged, "who": "Mallory"}) + "\n")
    assert gate.job().facts.step == "goals"
    gate.make(yes)
    assert [record["who"] for record in gate.records()] == ["Mallory", WHO]


@pytest.mark.rule("LIV-08", "LIV-10")
def test_the_very_file_that_changed_after_an_approval_is_named(tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "project", deliveries.full(approvals="recorded"))
    for step in ROUTES["full"][:7]:
        text = shop.read(STEP[step].artifact)
        shop.write(STEP[step].artifact, text.replace("status: approved", "status: draft"))
        shop.approve(step)
    shop.write("tasks/task-02.md", shop.read("tasks/task-02.md") + "\nMore.\n")
    told = {item.code: item.message for item in derive(shop.workspace()).warnings[::-1]}
    assert told["edited-after-approval"].startswith(
        "tasks/task-02.md changed after it was approved"
    )
    assert told["edited-after-approval"].endswith("plan` makes plan.md a draft again")
    assert "approved another text of tasks/task-02.md on " in told["claims-approval"]
    found = survey(shop.workspace())
    assert found.facts
    care = read_with_care.lines(found.facts, Loop(subject_of("plan")))[0]
    assert care.startswith("Read with care: tasks/task-02.md has changed since ")
