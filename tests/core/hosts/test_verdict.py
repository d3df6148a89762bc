"""Which changes of a run are refused, and with which words."""

from __future__ import annotations

import pytest

from qrspi.core.derivation.derive import survey
from qrspi.core.hosts import verdict
from qrspi.core.hosts.verdict import Change
from qrspi.core.hosts.written_files import RunFile
from qrspi.core.steps.facts import Facts
from tests import runs

DRAFT, APPROVED = runs.artifact(), runs.artifact("approved")


def facts(*approved: str) -> Facts:
    found = survey(runs.tree({"config.md": runs.config()}, runs.approved(*approved))).facts
    assert found
    return found


def change(
    name: str, before: bytes | None = None, after: bytes | None = None, **more: object
) -> Change:
    return Change(RunFile("/shop", runs.RUN, name), before, after)._replace(**more)


ENGINE = """
    approvals.jsonl cascade-audit.log replan-pending.md closed.md request.md import.md
    cascade-clean-goals-quality-claude.md .qrspi/audit.jsonl .qrspi/lock .qrspi/dispatch/jobs.jsonl
    .qrspi/dispatch/goals/round-01/quality-claude.md phases/phase-01/plan.md
    reviews/goals/round-01/.dispatch-manifest.json reviews/goals/round-01/kept-findings.txt
    reviews/goals/round-01.diff reviews/goals/round-01-verified.md
    reviews/goals/round-01-scope-set.txt reviews/goals/round-01-commit.txt
    reviews/goals-loop-pause-round-01.md reviews/tasks/task-01/report.md
    reviews/tasks/task-01/round-02-commit.txt
""".split()
AGENTS = """
    goals.md config.md research/q1.md tasks/task-01.md future-ideas.md notes.txt
    reviews/goals/round-01/quality-claude.finding-F01.md
    reviews/goals/round-01/quality-claude.finding-F01.score.yml
    reviews/goals/round-01/quality-claude.clean.md reviews/goals/round-01-dispositions.md
    .qrspi/dispatch/goals/round-01/quality-claude.reply feedback/goals-round-01.md
""".split()


@pytest.mark.rule("HST-06")
@pytest.mark.parametrize("name", ENGINE)
def test_files_of_the_engine_are_written_by_the_engine(name: str) -> None:
    assert verdict.is_engine_owned(name)
    said = verdict.refusal(change(name, after=b"x"), None)
    assert said == (
        f"{name} belongs to the engine: only qrspi commands write it. "
        f"`qrspi next {runs.RUN}` says what is to be done."
    )


@pytest.mark.rule("HST-06")
@pytest.mark.parametrize("name", AGENTS)
def test_what_agents_hand_in_passes(name: str) -> None:
    steps = ("goals", "questions", "research", "design", "phasing", "structure")
    assert verdict.refusal(change(name, after=DRAFT), facts(*steps)) is None


def test_a_record_that_is_gone_may_come_back_as_git_has_it() -> None:
    back = change("approvals.jsonl", after=b"{}", restored=True)
    assert verdict.refusal(back, None) is None
    assert verdict.refusal(back._replace(before=b"{}\n{}"), None) is not None


SETS_APPROVED = [
    "sed\n-i\ns/draft/approved/\ngoals.md",
    "sed\n-i\n2s/.*/status: approved/\ngoals.md",
    "perl\n-pi\n-e\ns/^status: .*/status: approved/\ngoals.md",
    'printf\n---\\nstatus: "approved"\\n---\\n',
    "python3\n-c\np.write_text(p.read_text().replace('draft', 'approved'))",
    'yq\n-i\n.status = "approved"\ngoals.md',
]
LEAVES_IT = [
    "sed\n-i\ns/vendors/approved vendors/\ngoals.md",
    "sed\n-i\ns/draft of the page/page/\ngoals.md",
    "echo\nThe list of approved vendors has a status of its own.",
]


@pytest.mark.rule("HST-06")
@pytest.mark.parametrize("words", SETS_APPROVED)
def test_a_program_that_sets_approved_is_refused(words: str) -> None:
    said = verdict.refusal(change("goals.md", DRAFT, words=words), facts())
    assert said == (
        "goals.md: `status: approved` is set by an approval and not by hand. When its review is "
        f"done, a person runs `qrspi approve {runs.RUN} goals`; until then `qrspi next {runs.RUN}` "
        "goes on."
    )


@pytest.mark.rule("HST-06")
@pytest.mark.parametrize("words", LEAVES_IT)
def test_a_program_that_only_speaks_of_approval_passes(words: str) -> None:
    assert verdict.refusal(change("goals.md", DRAFT, words=words), facts()) is None


@pytest.mark.rule("HST-06")
def test_a_text_that_becomes_approved_is_refused_and_one_that_stays_so_is_not() -> None:
    assert verdict.refusal(change("goals.md", DRAFT, APPROVED), facts()) is not None
    assert verdict.refusal(change("goals.md", None, APPROVED), facts()) is not None
    assert verdict.refusal(change("tasks/task-01.md", DRAFT, APPROVED), None) is not None
    assert verdict.refusal(change("goals.md", APPROVED, APPROVED + b"More.\n"), facts()) is None
    assert (
        verdict.refusal(change("goals.md", DRAFT, DRAFT + b"status: approved\n"), facts()) is None
    )
    assert verdict.refusal(change("goals.md", APPROVED, DRAFT), facts()) is None


@pytest.mark.rule("HST-06")
def test_a_later_artifact_waits_for_the_earlier_one() -> None:
    said = verdict.refusal(change("design.md", after=DRAFT), facts("goals", "questions"))
    assert said == (
        "design.md comes after research/summary.md, which is not approved yet. "
        f"`qrspi next {runs.RUN}` says what research waits for."
    )
    assert verdict.refusal(change("tasks/task-01.md", words="x"), facts("goals")) is not None
    assert verdict.refusal(change("questions.md", after=DRAFT), facts("goals")) is None
    assert verdict.refusal(change("design.md", before=DRAFT), facts("goals")) is None  # removed
    assert verdict.refusal(change("replan.md", after=DRAFT), facts("goals")) is None


@pytest.mark.rule("HST-06")
def test_a_folder_with_records_is_not_changed_as_a_whole() -> None:
    said = verdict.refusal(change("", is_folder=True), None)
    assert said == (
        f"{runs.RUN} holds records of the engine, and is not changed as a whole: name the files "
        "that you mean. "
        f"`qrspi close {runs.RUN} --reason TEXT` sets a run aside."
    )
    assert verdict.refusal(change("reviews/goals", is_folder=True), None) is not None
    assert verdict.refusal(change("tasks", is_folder=True), None) is None
