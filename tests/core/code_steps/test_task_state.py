"""Where one task stands, and what is asked of whom: the ways that a task leaves the usual one."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from qrspi.core.code_steps import task_state
from qrspi.core.code_steps.batch import Item
from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.derivation.derive import survey
from qrspi.core.model import Next
from qrspi.core.records import import_record, task_records
from qrspi.core.records.import_record import ImportRecord
from qrspi.core.records.task_records import Refused, Reopened, Report, Start
from tests.deliveries import BASE, FIRST, SECOND, ended, full, reported, round_of, started, task
from tests.runs import RUN, finding, tree
from tests.task_texts import task as judged

Files = Mapping[str, bytes]
ONE = Item("task-01", "tasks/task-01.md")
THREE = Item("task-03", "tasks/task-03.md", needs=("task-01",))
TEXT = task(1, files="a.py", phase=1)
WRONG = finding("spec-claude", step="task-01", cites="a.py:L1")
START = Start("qrspi/user-auth/task-01", "feature branch tip", BASE, ".worktrees/user-auth/task-01")


def state(
    *parts: Files, item: Item = ONE, earlier: TaskState | None = None, **fields: str
) -> TaskState:
    facts = survey(tree(full(**fields), *parts, in_git=True)).facts
    assert facts is not None
    return task_state.evaluate(facts, item, {earlier.key: earlier} if earlier else {})


def following(found: TaskState) -> Next:
    assert found.next is not None
    return found.next


COMMITS: dict[str, tuple[Start | None, Report | None, str]] = {
    "not started": (None, Report("DONE", FIRST), ""),
    "not reported": (START, None, ""),
    "blocked": (START, Report("BLOCKED", ""), ""),
    "the one it began with": (START, Report("DONE", BASE), ""),
    "its own": (START, Report("DONE", FIRST), FIRST),
}


@pytest.mark.parametrize(("start", "report", "commit"), COMMITS.values(), ids=COMMITS.keys())
def test_the_commit_of_a_task(start: Start | None, report: Report | None, commit: str) -> None:
    assert TaskState(ONE, "reviewing", start=start, report=report).commit == commit


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (None, ""),
        (Report("DONE", FIRST, text="All well."), ""),
        (Report("DONE_WITH_CONCERNS", FIRST, text="It is slow."), "It is slow."),
    ],
)
def test_only_doubts_are_concerns(report: Report | None, said: str) -> None:
    assert TaskState(ONE, "clean", report=report).concerns == said
    assert TaskState(ONE, "clean", report=report).cycle == 1


REFUSED = [("", f"qrspi task start {RUN} task-01"), ("git branch -D x", "git branch -D x")]


@pytest.mark.parametrize(("hint", "command"), REFUSED, ids=["by qrspi", "by its hint"])
def test_a_task_that_could_not_start_says_why(hint: str, command: str) -> None:
    why = Refused("the branch is somebody's", hint)
    record = task_records.render_refused("task-01", why)
    found = state({task_records.refused_file("task-01"): record})
    assert (found.state, following(found).command) == ("refused", command)
    assert following(found).summary == (
        "task-01 could not be started: the branch is somebody's. Then run "
        f"`qrspi task start {RUN} task-01`."
    )


@pytest.mark.parametrize(
    ("ending", "what"),
    [("skipped-by-user", "was left out"), ("accepted-with-issues", "ended without a commit")],
)
def test_a_task_on_one_without_a_commit_is_stuck(ending: str, what: str) -> None:
    lost = state(ended("task-01", ending))
    found = state(item=THREE, earlier=lost)
    assert (found.state, found.because) == ("stuck", (f"task-03 builds on task-01, which {what}",))
    assert [option.key for option in following(found).options] == ["skip"]


def test_a_task_waits_for_the_review_of_what_it_builds_on() -> None:
    found = state(item=THREE, earlier=state(started("task-01")))
    assert (found.state, found.next) == ("waiting", None)
    assert found.because == ("task-01 is not reviewed yet: it is implementing",)


def test_a_blocked_task_is_for_a_person() -> None:
    found = state(reported("task-01", status="BLOCKED"))
    assert (found.state, following(found).who, following(found).round) == ("blocked", "human", 0)
    assert following(found).summary == (
        "task-01 is blocked, says its implementer. When the cause is gone, `qrspi task retry "
        f"{RUN} task-01` sends it again, with `-m` and your answer where it asks something; `qrspi "
        f"task skip {RUN} task-01 --reason TEXT` leaves the "
        "task out."
    )
    assert following(found).command == f"qrspi task retry {RUN} task-01"
    assert [option.key for option in following(found).options] == ["retry", "skip"]
    assert following(found).inputs == (
        "tasks/task-01.md",
        "reviews/tasks/task-01/report.md",
    )


def test_the_reason_of_a_blocked_task_is_said_in_one_line() -> None:
    words = "There is no `b.py`:\n\n`qrspi approve` first?"
    told = task_records.render_report("task-01", Report("BLOCKED", "", "", words))
    files = {**started("task-01"), task_records.report_file("task-01"): told}
    assert following(state(files)).because == (
        "task-01 is blocked, says its implementer: There is no 'b.py': 'qrspi approve' first?",
    )


def test_a_task_that_was_sent_back_waits_for_a_new_commit() -> None:
    back = task_records.render_reopened("task-01", Reopened(FIRST, 1))
    record = {task_records.reopened_file("task-01"): back}
    found = state(reported("task-01"), record)
    assert found.because == ("task-01: it was sent back and nothing new is reported",)
    assert state(reported("task-01", SECOND), record).state == "reviewing"


LEFT = {"reviews/tasks/task-01/round-01-backward-loop.flag": b""}


@pytest.mark.parametrize(
    ("commit", "why", "name"),
    [
        (FIRST, "task-01: its last round was left, and nothing new is there", "implementing"),
        (SECOND, "a loop back left this round", "reviewing"),
    ],
    ids=["the same commit", "a new one"],
)
def test_a_round_that_was_left_needs_a_new_commit(commit: str, why: str, name: str) -> None:
    found = state(reported("task-01", commit), round_of("task-01", body=TEXT), LEFT)
    assert (found.state, found.because) == (name, (why,))


def rounds(count: int) -> dict[str, bytes]:
    made: dict[str, bytes] = {}
    for number in range(1, count + 1):
        wrong = WRONG.replace(b"R1-", f"R{number}-".encode())
        wrong = wrong.replace(b"round: 1", f"round: {number}".encode())
        made |= round_of(
            "task-01", number, body=TEXT, finding=wrong, dispositions=b"Done.\n", commit=FIRST
        )
        made[f"reviews/tasks/task-01/round-{number:02d}-commit.txt"] = b"a" * 40 + b"\n"
    return made


@pytest.mark.rule("IMP-09")
@pytest.mark.parametrize(
    ("count", "name", "why"),
    [
        (3, "implementing", "task-01: no commit is reported since round 3"),
        (4, "undecided", "task-01 had 3 fix cycles and round 4 still has findings"),
    ],
)
def test_after_three_fix_cycles_a_person_decides(count: int, name: str, why: str) -> None:
    found = state(reported("task-01"), rounds(count))
    assert (found.state, found.because) == (name, (why,))


def test_a_failed_review_of_a_task_is_for_a_person() -> None:
    failed = round_of("task-01", body=TEXT, finding=WRONG, score=None)
    name = "reviews/tasks/task-01/round-01/spec-claude.finding-F01.score.yml"
    verdict = {name: b"score: VERIFY_FAILED\nreason: It broke.\n"}
    found = state(reported("task-01"), failed, verdict)
    assert (found.state, following(found).kind) == ("undecided", "failure")


def test_later_reviewers_wait_for_the_earlier_ones() -> None:
    silent = ("spec-claude", "silent-failure-claude", "security-claude")
    found = state(reported("task-01"), round_of("task-01", body=TEXT, silent=silent))
    assert found.because == (
        "spec-claude has written nothing yet",
        "2 more are sent when they have",
    )
    last = state(reported("task-01"), round_of("task-01", body=TEXT, silent=silent[2:]))
    assert last.because == ("security-claude has written nothing yet",)


def test_tests_are_written_first_where_the_config_says_so() -> None:
    found = state(started("task-01"), test_writer="on")
    assert (found.awaits_tests, found.because) == (True, ("task-01: its tests are written first",))
    usual = state(started("task-01"))
    assert (usual.awaits_tests, usual.because) == (False, ("task-01: nobody has reported yet",))


def told_of_tests(report: bytes) -> dict[str, bytes]:
    return {**started("task-01"), task_records.tests_file("task-01"): report}


@pytest.mark.rule("IMP-02")
def test_who_cannot_write_the_tests_stops_the_task() -> None:
    blocked = task_records.render_report("task-01", Report("BLOCKED", ""))
    found = state(told_of_tests(blocked), test_writer="on")
    assert (found.state, following(found).kind) == ("blocked", "task")
    assert found.because == ("task-01 is blocked, says its test writer",)
    broken = state(told_of_tests(b"---\nstatus: perhaps\n---\n"), test_writer="on")
    assert (broken.state, following(broken).action) == ("broken", "blocked")


IMPORTED = ImportRecord("then", "Ann", "there", "", "", {"reviews/tasks/task-01": (1,)}, {})


@pytest.mark.rule("IMPT-05")
@pytest.mark.parametrize(
    ("rounds_", "more", "name"),
    [
        ({"reviews/tasks/task-01": (1,)}, {}, "imported"),
        ({"reviews/tasks/task-02": (1,)}, {}, "ready"),
        ({"reviews/tasks/task-01": (1,)}, started("task-01"), "implementing"),
        (None, {}, "ready"),
    ],
    ids=["its rounds", "those of another", "begun here", "no import"],
)
def test_a_task_that_was_worked_on_elsewhere_is_for_a_person(
    rounds_: dict[str, tuple[int, ...]] | None, more: Files, name: str
) -> None:
    page = import_record.head(IMPORTED._replace(rounds=rounds_ or {})).encode()
    assert state({import_record.FILE: page} if rounds_ else {}, more).state == name


ON_ONE = Start(
    *("qrspi/user-auth/task-03", "task-01", FIRST, ".worktrees/user-auth/task-03"),
    built_on=f"task-01 {FIRST}",
)


@pytest.mark.rule("IMP-04")
@pytest.mark.parametrize(
    ("reviewed", "stays", "name"),
    [(FIRST, "", "implementing"), (SECOND, "", "ready"), (SECOND, SECOND, "implementing")],
    ids=["as it was", "it moved", "it moved and the task stays"],
)
def test_a_task_begins_again_when_what_it_builds_on_has_moved(
    reviewed: str, stays: str, name: str
) -> None:
    start = ON_ONE._replace(stays_without=f"task-01 {stays}" if stays else "")
    files = {task_records.start_file("task-03"): task_records.render_start("task-03", start)}
    before = TaskState(ONE, "clean", start=START, report=Report("DONE", reviewed))
    found = state(files, item=THREE, earlier=before)
    assert (found.state, bool(found.moved)) == (name, reviewed == SECOND)


@pytest.mark.rule("IMP-09", "PSE-05")
def test_a_round_whose_findings_were_all_left_is_for_a_person() -> None:
    """Nobody is to change anything, and yet the task is not clean."""
    scope = finding("spec-claude", step="task-01", kind="scope", cites="a.py:L1")
    files = round_of("task-01", body=TEXT, finding=scope, score=None, dispositions=b"Done.\n")
    files["reviews/tasks/task-01/round-01-commit.txt"] = b"a" * 40 + b"\n"
    name = "reviews/task-01-loop-pause-round-01.md"
    files[name] = b"---\ndecisions:\n  spec-claude.R1-F01: skip\n---\n"
    found = state(reported("task-01"), files)
    assert (found.state, following(found).who) == ("undecided", "human")
    assert found.because[0].startswith("task-01: Reviews found issues in round 1")


@pytest.mark.rule("QV-13")
@pytest.mark.parametrize(("quality", "name"), [("cache-only", "held"), ("off", "ready")])
def test_a_task_without_a_pass_is_held_where_the_gate_is_on(quality: str, name: str) -> None:
    text = judged(status="approved")
    config = full()["config.md"].replace(b"gates:\n", f"gates:\n  quality: {quality}\n".encode())
    facts = survey(tree(full(), {"config.md": config, ONE.file: text}, in_git=True)).facts
    assert facts is not None
    (found,) = task_state.survey(facts, (ONE,))
    assert found.state == name


ACCEPTED = {**reported("task-01"), **ended("task-01", "accepted-with-issues")}
CLOSED = {
    "reviews/tasks/task-01/round-01-dispositions.md": b"# Done\n",
    "reviews/tasks/task-01/round-01-commit.txt": b"a" * 40 + b"\n",
}
LATER = {**reported("task-01", SECOND), **ended("task-01", "accepted-with-issues")}


@pytest.mark.rule("IMP-10", "LIV-01")
@pytest.mark.parametrize(
    ("parts", "state_then", "why"),
    [
        ((ACCEPTED,), "accepted-with-issues", ()),
        ((ACCEPTED, round_of("task-01", body=TEXT, finding=WRONG)), "accepted-with-issues", ()),
        (
            (ACCEPTED, round_of("task-01", body=TEXT, finding=WRONG), CLOSED),
            "accepted-with-issues",
            (),
        ),
        (
            (ACCEPTED, round_of("task-01", body=TEXT, finding=WRONG, score=1), CLOSED),
            "accepted",
            ("round 1 has no finding that is still open",),
        ),
        (
            (LATER, round_of("task-01", body=TEXT, finding=WRONG), CLOSED),
            "accepted",
            ("a commit after round 1 answers its findings; nobody has reviewed it",),
        ),
    ],
    ids=["never reviewed", "open", "not applied", "dropped", "answered by a commit"],
)
def test_issues_that_were_settled_are_issues_no_more(
    parts: tuple[Files, ...], state_then: str, why: tuple[str, ...]
) -> None:
    found = state({"tasks/task-01.md": TEXT}, *parts)
    assert (found.state, found.because[1:], found.terminal) == (state_then, why, True)
