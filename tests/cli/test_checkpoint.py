"""`qrspi checkpoint` as people, agents and programs call it, while implementers write SQL."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from qrspi.core.gates.checkpoints.checkpoint_ruling import FACTS, SITUATION, STRATEGY
from tests import deliveries
from tests.checkpoints import ask, messages, request, rows, script, states
from tests.cli.conftest import COMMAND, Call, Result
from tests.daemons import Daemon
from tests.handlers.workshop import Workshop

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
RUN = "2026-05-17-user-auth"
ON = 'gates:\n  checkpoints: on\n  test_command: "sh test.sh"\n'
OFF = ON.replace("  checkpoints: on\n", "")
WHO = "Ada Example <ada@example.org>"
NOW = "2026-05-17T09:30:00Z"


def files(gates: str = ON) -> dict[str, bytes]:
    estimated = deliveries.task(1, files="a.py").replace(b"enf", b"context_estimate: 15\nenf", 1)
    tasks = {"tasks/task-01.md": estimated, "tasks/task-02.md": deliveries.task(2, files="b.py")}
    return deliveries.quick(tasks, gates=gates)


class Shop(Workshop):
    @property
    def database(self) -> Path:
        return self.run / "orchestration.db"

    def trail(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.read(".qrspi/audit.jsonl").splitlines()]

    def reviews(self) -> list[list[str]]:
        return [line["notes"] for line in self.trail() if line["event"] == "checkpoint-review"]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Checkpoints are on, and both tasks are started."""
    shop = Shop(tmp_path.resolve() / "project", files())
    monkeypatch.chdir(shop.root)
    shop.next()
    return shop


def checked(result: Result, name: str) -> Any:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(result.json)
    return result.json


def snapshot(shop: Shop) -> list[Any]:
    tables = ("tasks", "messages", "reviews", "faults")
    return [rows(shop.database, f"SELECT * FROM orchestration_{name}") for name in tables]


def odd(state: dict[str, Any]) -> list[dict[str, Any]]:
    """The warnings of a run that was approved before it had records."""
    return [one for one in state["warnings"] if one["code"] != "approved-without-record"]


@pytest.mark.rule("CK-01", "CK-10", "GTD-22", "GTD-23", "GTD-24")
def test_init_makes_a_row_for_each_task_file(
    tmp_path: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Shop(tmp_path.resolve() / "project", files(gates=""))
    monkeypatch.chdir(shop.root)
    would = checked(qrspi("checkpoint", "init", "--dry-run", "--json"), "checkpoint-init")
    assert (would["made"], would["tasks"]) == (True, ["task-01", "task-02"])
    assert not shop.database.exists()
    made = qrspi("checkpoint", "init")
    assert made.out.splitlines()[0] == "Made orchestration.db, with new rows of task-01, task-02."
    asked = [line.partition("[ ] ")[2] for line in made.out.splitlines() if "[ ]" in line]
    assert asked == [*FACTS, *STRATEGY]
    assert states(shop.database) == {"task-01": "watching", "task-02": "watching"}
    (shop.run / "tasks/task-03.md").write_bytes(deliveries.task(3))
    again = checked(qrspi("checkpoint", "init", "--json"), "checkpoint-init")
    assert (again["made"], again["tasks"]) == (False, ["task-03"])
    assert again["checklists"] == {
        "facts": list(FACTS),
        "strategy": list(STRATEGY),
        "situation": list(SITUATION),
    }
    assert [line["event"] for line in shop.trail()] == ["checkpoint-rows", "checkpoint-rows"]


@pytest.mark.rule("GTD-07")
def test_git_never_sees_the_database(shop: Shop, qrspi: Call) -> None:
    ask(shop.database)
    qrspi("status")  # leaves what SQLite keeps beside it
    shop.git("add", "--all")
    assert "orchestration" not in shop.git("ls-files")
    excluded = (shop.root / ".git/info/exclude").read_text().splitlines()
    assert [line for line in excluded if "orchestration" in line] == [
        f"/docs/qrspi/*/orchestration.db{end}" for end in ("", "-wal", "-shm", "-journal")
    ]


@pytest.mark.rule("GTD-07")
def test_the_implementers_prompt_has_the_path_of_the_database(shop: Shop) -> None:
    prompt = shop.read(".qrspi/dispatch/task-01/cycle-01/implementer-task-01.md")
    assert f"\norchestration_db: {shop.database}\n" in prompt


@pytest.mark.rule("GTD-09")
def test_starting_a_task_sets_its_row_and_next_adds_the_rows_of_new_ones(shop: Shop) -> None:
    assert states(shop.database) == {"task-01": "working", "task-02": "working"}
    ask(shop.database)
    (shop.run / "tasks/task-03.md").write_bytes(deliveries.task(3, files="c.py"))
    assert shop.did() == ["checkpoint-rows", "start-tasks"]
    assert states(shop.database) == {
        "task-01": "needs_review",
        "task-02": "working",
        "task-03": "working",
    }


@pytest.mark.rule("GTD-09")
@pytest.mark.parametrize("state", ["needs_review", "review_failed", "error"])
def test_what_is_undecided_is_not_done(shop: Shop, qrspi: Call, state: str) -> None:
    commit = shop.work("task-01", "a.py", "a = 1\n")
    set_state = "UPDATE orchestration_tasks SET last_heartbeat = datetime('now'), state ="
    script(shop.database, f"{set_state} '{state}'")
    words = ("task", "report", "task-01", "--commit", commit, "--status")
    for status in ("DONE", "DONE_WITH_CONCERNS"):
        done = qrspi(*words, status, "-m", "x")
        assert (done.code, done.err.splitlines()[0]) == (
            3,
            f"task-01 is {state} in orchestration.db, so it is not done: expected an approved "
            "review",
        )
    assert not shop.has("reviews/tasks/task-01/report.md")
    assert qrspi(*words, "BLOCKED", "-m", "It is not reviewed.").code == 0
    script(shop.database, f"{set_state} 'review_approved'")
    assert qrspi(*words, "DONE").code == 0


@pytest.mark.rule("GTD-23")
def test_the_commands_work_with_the_gate_off_and_then_stop_nobody(
    tmp_path: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Shop(tmp_path.resolve() / "project", files(gates=OFF))
    monkeypatch.chdir(shop.root)
    shop.next()
    assert not shop.database.exists()
    refused = qrspi("checkpoint", "list")
    assert (refused.code, refused.err.splitlines()[0]) == (
        3,
        f"orchestration.db is not there: make it with `qrspi checkpoint init {RUN}`",
    )
    qrspi("checkpoint", "init")
    ask(shop.database)
    commit = shop.work("task-01", "a.py", "a = 1\n")
    assert qrspi("task", "report", "1", "--status", "DONE", "--commit", commit).code == 0
    assert qrspi("checkpoint", "review").code == 0


@pytest.mark.rule("CK-04", "GTD-24")
def test_a_review_is_answered(shop: Shop, qrspi: Call) -> None:
    ask(shop.database)
    before = snapshot(shop)
    would = checked(qrspi("checkpoint", "review", "--dry-run", "--json"), "checkpoint-review")
    assert (would["dry_run"], snapshot(shop)) == (True, before)
    found = checked(
        qrspi("checkpoint", "review", "1", "-m", "Good.", "--json"), "checkpoint-review"
    )
    assert {key: found[key] for key in ("task", "checkpoint", "cycle", "score", "verdict")} == {
        "task": "task-01",
        "checkpoint": 1,
        "cycle": 1,
        "score": 2,
        "verdict": "approve",
    }
    text = "REVIEW APPROVED: Good.\n     Proceed with remaining steps."
    assert (found["message"], messages(shop.database, "approval")) == (text, [text])
    assert states(shop.database)["task-01"] == "review_approved"
    assert found["flags"] == [
        "context usage of 40% is over twice the estimate of 15%: the task may need another session"
    ]
    assert shop.reviews() == [
        [f"review 1: checkpoint 1, request 1: approve (smoothness 2), by {WHO}"]
    ]


@pytest.mark.rule("CK-04", "GTD-19")
@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        (request(5), (), "task-01 reports a smoothness of 5: read docs/proposal.md first, then"),
        ("Checkpoint: 1 of 2", (), "task-01: its request reports no smoothness, so say how"),
        (request(), ("--score", "7"), "task-01: a score of 7 sends it back, so say what must"),
        (request(), ("task-02",), "task-02 is working and does not ask for review"),
        (request(), ("task-09",), "task-09 has no row in orchestration.db; there is task-01, "),
    ],
)
def test_a_refused_review_changes_nothing(
    shop: Shop, qrspi: Call, text: str, words: tuple[str, ...], message: str
) -> None:
    ask(shop.database, text=text)
    before = snapshot(shop)
    done = qrspi("checkpoint", "review", *words)
    assert (done.code, done.out, snapshot(shop)) == (3, "", before)
    assert done.err.startswith(message)


@pytest.mark.rule("CK-06", "GTD-19")
def test_several_are_reviewed_one_after_the_other(shop: Shop, qrspi: Call) -> None:
    ask(shop.database, "task-02")
    ask(shop.database, "task-01")
    first = checked(qrspi("checkpoint", "review", "--json"), "checkpoint-review")
    assert (first["task"], first["waiting"]) == ("task-02", ["task-01"])
    second = checked(qrspi("checkpoint", "review", "--json"), "checkpoint-review")
    assert (second["task"], second["waiting"]) == ("task-01", [])
    assert qrspi("checkpoint", "review").err.splitlines()[0] == "no task asks for review"


@pytest.mark.rule("GTD-19")
def test_of_two_reviewers_at_once_the_second_is_refused(shop: Shop) -> None:
    ask(shop.database)
    command = [COMMAND, "checkpoint", "review", "task-01", "-m"]
    both = [
        subprocess.Popen([*command, word], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for word in ("One.", "Two.")
    ]
    told = [(one.communicate(timeout=60)[1], one.returncode) for one in both]
    assert sorted(code for _, code in told) == [0, 3]
    assert len(messages(shop.database, "approval")) == len(shop.reviews()) == 1


@pytest.mark.rule("CK-05", "GTD-08")
def test_the_sixth_request_is_a_persons(shop: Shop, qrspi: Call) -> None:
    for number in range(1, 6):
        ask(shop.database, text=request(7))
        found = checked(qrspi("checkpoint", "review", "--json"), "checkpoint-review")
        assert (found["cycle"], found["state"]) == (number, "review_failed")
    ask(shop.database, text=request(7))
    person = f"qrspi checkpoint review {RUN} task-01 --anyway --score N -m TEXT"
    for _ in range(2):
        done = qrspi("checkpoint", "review", "task-01")
        assert (done.code, done.err.splitlines()) == (
            3,
            [
                "task-01 asked 6 times for review of checkpoint 1, 5 are the most: it is escalated "
                "to a person, and its state is error",
                f"  {person}",
            ],
        )
        assert states(shop.database)["task-01"] == "error"
        assert len(messages(shop.database, "emergency")) == 1
    items = checked(qrspi("inbox", "--json"), "inbox")["items"]
    assert [(one["kind"], one["step"], one["command"]) for one in items] == [
        ("cap", "task-01", person)
    ]
    (warning,) = odd(checked(qrspi("status", "--json"), "status")["runs"][0])
    assert (warning["code"], warning["message"]) == (
        "checkpoint-waits",
        f"task-01 asked 6 times for review of checkpoint 1, 5 are the most: a person decides: "
        f"`{person}`",
    )
    word = ("checkpoint", "review", "task-01", "--anyway")
    assert qrspi(*word, "--score", "3").code == 2
    decided = checked(qrspi(*word, "--score", "3", "-m", "Ok.", "--json"), "checkpoint-review")
    assert (decided["anyway"], decided["state"]) == (True, "review_approved")
    assert "a person's word after too many requests" in shop.reviews()[-1][0]
    ask(shop.database, text=request(7))
    again = checked(qrspi("checkpoint", "review", "--json"), "checkpoint-review")
    assert again["cycle"] == 1
    assert checked(qrspi("inbox", "--json"), "inbox")["items"] == []


@pytest.mark.rule("CK-09", "GTD-24")
def test_who_waits_is_shown_everywhere(shop: Shop, qrspi: Call) -> None:
    ask(shop.database, text=request(5))
    command = f"qrspi checkpoint review {RUN} task-01 --read"
    text = "task-01 asks for review of checkpoint 1 of 2 (request 1 of at most 5)"
    answer = checked(qrspi("status", "--json"), "status")["runs"][0]["next"]
    assert (answer["who"], answer["summary"]) == (
        "agent",
        f"{text}. `qrspi checkpoint list {RUN} task-01` shows what it says; answer with "
        f"`{command}`.",
    )
    assert checked(qrspi("next", "--json"), "next")["next"]["command"] == command
    (item,) = checked(qrspi("inbox", "--json"), "inbox")["items"]
    assert (item["kind"], item["summary"], item["command"]) == ("task", f"{text}.", command)
    listed = qrspi("checkpoint", "list")
    assert listed.out.splitlines() == [
        "TASK     STATE         CHECKPOINT  REQUEST  SMOOTHNESS  VERDICT",
        "task-01  needs_review  1 of 2      1        -           -",
        "task-02  working       -           -        -           -",
        "",
        f"{text}:",
        f"  $ {command}",
    ]
    found = checked(qrspi("checkpoint", "list", "01", "--json"), "checkpoint-list")
    assert [(one["task"], one["command"]) for one in found["tasks"]] == [("task-01", command)]
    assert found["tasks"][0]["request"]["Proposal"] == "docs/proposal.md"


@pytest.mark.rule("CK-10", "GTD-22")
def test_the_checklists_are_printed_and_the_answers_kept(
    shop: Shop, qrspi: Call, tmp_path: Path
) -> None:
    warning = "INSERT INTO orchestration_messages (task_id, message, message_type) VALUES "
    script(shop.database, f"{warning} ('task-02', 'context at 80%', 'context_warning')")
    shown = qrspi("checkpoint", "list", "task-02").out
    assert "  context warning: context at 80%" in shown.splitlines()
    assert [question for question in (*FACTS, *STRATEGY, *SITUATION) if question not in shown] == []
    ask(shop.database)
    answers = tmp_path / "answers.json"
    answers.write_text('{"situation": ["no", "one, low"], "facts": {"8": true}}')
    done = qrspi("checkpoint", "review", "--answers", answers)
    assert [question for question in SITUATION if question not in done.out] == []
    ((kept,),) = rows(shop.database, "SELECT answers FROM orchestration_reviews")
    left = "unanswered"
    assert json.loads(kept) == {
        "facts": [left] * 7 + [True],
        "strategy": [left] * 7,
        "situation": ["no", "one, low", *[left] * 4],
    }


@pytest.mark.rule("CK-02", "GTD-20", "GTD-24")
def test_lint_prints_changes_without_a_heartbeat_until_they_are_seen(
    shop: Shop, qrspi: Call
) -> None:
    clean = qrspi("checkpoint", "lint")
    assert (clean.code, clean.out) == (0, "Every change of state came with its heartbeat.\n")
    script(shop.database, "UPDATE orchestration_tasks SET state = 'error', last_heartbeat = NULL")
    found = qrspi("checkpoint", "lint", "--json")
    document = checked(found, "checkpoint-lint")
    assert (found.code, document["ok"]) == (3, False)
    assert [(one["task"], one["old"], one["new"]) for one in document["faults"]] == [
        ("task-01", "working", "error"),
        ("task-02", "working", "error"),
    ]
    assert qrspi("checkpoint", "lint", "--seen", "--dry-run").code == 0
    assert qrspi("checkpoint", "lint").code == 3
    assert qrspi("checkpoint", "lint", "--seen").code == 0
    assert qrspi("checkpoint", "lint").code == 0


@pytest.mark.rule("CK-02", "GTD-16")
def test_the_engine_keeps_its_own_rule_whatever_its_clock_says(
    tmp_path: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Shop(tmp_path.resolve() / "project", files())
    monkeypatch.chdir(shop.root)
    monkeypatch.setenv("QRSPI_NOW", NOW)
    shop.next()
    ask(shop.database)
    assert qrspi("checkpoint", "review").code == 0
    beats = rows(shop.database, "SELECT DISTINCT last_heartbeat FROM orchestration_tasks")
    assert beats == [("2026-05-17 09:30:00",)]
    assert qrspi("checkpoint", "lint").code == 0


@pytest.mark.rule("CK-09", "GTD-16")
def test_a_heartbeat_that_stays_away_is_told(
    shop: Shop, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    beat = "UPDATE orchestration_tasks SET last_heartbeat = '2026-05-17 09:30:00'"
    script(shop.database, f"{beat} WHERE task_id = 'task-01'")
    script(shop.database, "UPDATE orchestration_tasks SET last_heartbeat = '2026-05-17 09:35:00' "
           "WHERE task_id = 'task-02'")  # fmt: skip
    monkeypatch.setenv("QRSPI_NOW", "2026-05-17T09:39:00Z")
    assert odd(checked(qrspi("status", "--json"), "status")["runs"][0]) == []
    monkeypatch.setenv("QRSPI_NOW", "2026-05-17T09:39:01Z")
    for words, name in ((("status", "--json"), "status"), (("next", "--json"), "next")):
        document = checked(qrspi(*words), name)
        (warning,) = odd(document["runs"][0] if name == "status" else document)
        assert (warning["code"], warning["message"]) == (
            "stale-heartbeat",
            "task-01 is working and has shown no heartbeat for 9 minutes: is anybody at it?",
        )
    (told,) = checked(qrspi("checkpoint", "list", "--json"), "checkpoint-list")["warnings"]
    assert told["code"] == "stale-heartbeat"


@pytest.mark.rule("CK-09", "GTD-20")
def test_who_has_reported_owes_no_heartbeat_until_somebody_is_at_it_again(
    shop: Shop, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    beat = "UPDATE orchestration_tasks SET state = 'working', last_heartbeat ="
    script(shop.database, f"{beat} '2026-05-17 09:30:00' WHERE task_id = 'task-01'")
    script(shop.database, f"{beat} '2026-05-17 11:00:00' WHERE task_id = 'task-02'")
    commit = shop.work("task-01", "a.py", "a = 1\n")
    monkeypatch.setenv("QRSPI_NOW", "2026-05-17T09:31:00Z")
    assert qrspi("task", "report", "1", "--status", "DONE", "--commit", commit).code == 0
    monkeypatch.setenv("QRSPI_NOW", "2026-05-17T11:05:00Z")
    assert odd(checked(qrspi("status", "--json"), "status")["runs"][0]) == []
    assert checked(qrspi("checkpoint", "list", "--json"), "checkpoint-list")["warnings"] == []
    script(shop.database, f"{beat} '2026-05-17 10:00:00' WHERE task_id = 'task-01'")
    (told,) = odd(checked(qrspi("status", "--json"), "status")["runs"][0])
    assert told["message"].startswith(
        "task-01 is working and has shown no heartbeat for 65 minutes"
    )


@pytest.mark.rule("CK-09")
def test_who_sends_implementers_reads_how_their_rows_stand(shop: Shop, qrspi: Call) -> None:
    ask(shop.database, text=request(6))
    assert qrspi("checkpoint", "review").code == 0
    found = checked(qrspi("status", "--json"), "status")["runs"][0]["next"]
    assert found["because"] == [
        "task-01: nobody has reported yet",
        "task-02: nobody has reported yet",
        "task-01 is review_failed in orchestration.db: whoever is at it mends what the review "
        "names, and asks again",
        "task-02 is working in orchestration.db",
    ]


@pytest.mark.rule("PPL-01")
def test_the_board_is_told_wherever_a_run_is_explained(shop: Shop, qrspi: Call) -> None:
    ask(shop.database, text=request(6))
    qrspi("checkpoint", "review")
    told = [
        "tasks in orchestration.db: 1 review_failed, 1 working",
        "task-01: reviewed at worst 6 of 9",
    ]
    assert qrspi("status", "--explain").out.splitlines()[-3:] == [
        "Gates:",
        *(f"  {line}" for line in told),
    ]
    assert checked(qrspi("explain", "--json"), "explain")["reasons"][-6:-4] == told
    brief = qrspi("brief").out.splitlines()
    at = brief.index("## Gates")
    assert brief[at : at + 4] == ["## Gates", "", *(f"- {line}" for line in told)]


@pytest.mark.rule("CK-07", "GTD-20", "GTD-24")
def test_the_summary_of_the_phase(shop: Shop, qrspi: Call) -> None:
    assert qrspi("checkpoint", "summary").out.splitlines()[-1] == "Nothing is reviewed yet."
    for score in (7, 1):
        ask(shop.database, "task-01", request(score))
        qrspi("checkpoint", "review")
    ask(shop.database, "task-02", request(0))
    qrspi("checkpoint", "review")
    assert qrspi("checkpoint", "summary").out.splitlines() == [
        "Phase 1 Smoothness Summary:",
        "  task-01: 7/9 (Major blockers)",
        "  task-02: 0/9 (Perfect execution)",
        "  Average: 3.5/9",
        "  Worst: 7/9",
        "Plan is adequate but instructions could be more precise.",
        "task-01 is an outlier: a problem of that task, not of the plan.",
    ]
    document = checked(qrspi("checkpoint", "summary", "--json"), "checkpoint-summary")
    assert (document["average"], document["worst"], document["outlier"]) == (3.5, 7, "task-01")


PROPOSAL = "---\ntype: rag-addition\n---\n"
KNOWN = "# Links\n\nA link is used once and ends after an hour.\n"


def propose(shop: Shop, **texts: str) -> None:
    folder = shop.run / "knowledge/proposals"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text)


def known(shop: Shop) -> dict[str, str]:
    folder = shop.run / "knowledge"
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*.md"))
    }


def overlapping(shop: Shop) -> None:
    (shop.run / "knowledge").mkdir()
    (shop.run / "knowledge/links.md").write_text(KNOWN)
    propose(
        shop,
        again=f"{PROPOSAL}a LINK is used once, and ends after an hour!",
        links=f"{PROPOSAL}A link is used once and ends after seven days.",
        mails=f"{PROPOSAL}Mails leave through a queue.",
        other="---\ntype: proposal\n---\nA link is used once.\n",
    )


@pytest.mark.rule("CK-08", "GTD-21", "GTD-24")
def test_proposals_are_taken_into_the_knowledge_of_the_run(shop: Shop, qrspi: Call) -> None:
    overlapping(shop)
    before = known(shop)
    would = checked(qrspi("checkpoint", "knowledge", "--dry-run", "--json"), "checkpoint-knowledge")
    assert known(shop) == before
    found = checked(qrspi("checkpoint", "knowledge", "--json"), "checkpoint-knowledge")
    assert found["done"] == would["done"]
    assert [tuple(one.values()) for one in found["done"]] == [
        ("knowledge/proposals/again.md", "duplicate", "deleted", "knowledge/links.md"),
        ("knowledge/proposals/links.md", "partial", "ingested", "knowledge/links-2.md"),
        ("knowledge/proposals/mails.md", "unique", "ingested", "knowledge/mails.md"),
    ]
    assert known(shop) == {
        "links.md": KNOWN,
        "links-2.md": before["proposals/links.md"],
        "mails.md": before["proposals/mails.md"],
        "proposals/other.md": before["proposals/other.md"],
    }
    assert [line["event"] for line in shop.trail()].count("checkpoint-knowledge") == 3


@pytest.mark.rule("CK-08")
def test_what_overlaps_in_part_is_merged_when_asked(shop: Shop, qrspi: Call) -> None:
    overlapping(shop)
    assert qrspi("checkpoint", "knowledge", "--merge").out.splitlines()[1] == (
        "knowledge/proposals/links.md: partial, merged (knowledge/links.md)"
    )
    assert known(shop)["links.md"] == (f"{KNOWN}\nA link is used once and ends after seven days.\n")


@pytest.mark.rule("CK-08", "GTD-21")
def test_a_completed_task_brings_its_knowledge_unless_somebody_waits(
    shop: Shop, qrspi: Call
) -> None:
    propose(shop, mails=f"{PROPOSAL}Mails leave through a queue.")
    ask(shop.database, "task-01", request(checkpoint="1 of 2"))
    assert (
        checked(qrspi("checkpoint", "review", "--json"), "checkpoint-review")["knowledge"] is None
    )
    ask(shop.database, "task-01", request(checkpoint="2 of 2"))
    ask(shop.database, "task-02", request(checkpoint="1 of 1"))
    first = checked(qrspi("checkpoint", "review", "--json"), "checkpoint-review")["knowledge"]
    assert first == {
        "done": [],
        "deferred": True,
        "because": ["task-02 is needs_review and comes first"],
        "left": ["knowledge/proposals/mails.md"],
    }
    second = checked(qrspi("checkpoint", "review", "--json"), "checkpoint-review")["knowledge"]
    assert (second["deferred"], [one["action"] for one in second["done"]]) == (False, ["ingested"])


@pytest.mark.rule("CK-08")
def test_a_review_that_arrives_in_the_middle_goes_first(shop: Shop, qrspi: Call) -> None:
    from qrspi.handlers.gates import checkpoint_knowledge
    from qrspi.handlers.jobs.job import Options
    from qrspi.world.runs.workspace import Workspace

    class Interrupted(Workspace):
        def remove(self, path: str) -> bool:
            ask(shop.database)
            return super().remove(path)

    overlapping(shop)
    workspace = Interrupted(shop.run)
    with workspace.locked():
        found = checkpoint_knowledge.process(workspace, Options())
    assert ([one.proposal for one in found.done], found.deferred, found.left) == (
        ["knowledge/proposals/again.md"],
        True,
        ("knowledge/proposals/links.md", "knowledge/proposals/mails.md"),
    )


@pytest.mark.rule("GTD-07")
def test_an_unusable_database_stops_its_commands_and_warns_elsewhere(
    shop: Shop, qrspi: Call
) -> None:
    commit = shop.work("task-01", "a.py", "a = 1\n")
    shop.database.write_bytes(b"not a database\n" * 100)
    line = (
        "orchestration.db is not an SQLite database: expected the database that checkpoint init "
        "makes; move it away, and that makes a new one"
    )
    propose(shop, links=f"{PROPOSAL}Mails leave through a queue.\n")
    for action in ("init", "list", "review", "summary", "lint", "knowledge"):
        done = qrspi("checkpoint", action)
        assert (action, done.code, done.err.splitlines()[0]) == (action, 4, line)
    assert qrspi("checkpoint", "review", "--json").json["file"] == "orchestration.db"
    reported = qrspi("task", "report", "1", "--status", "DONE", "--commit", commit)
    assert (reported.code, reported.err.splitlines()[0]) == (4, line)
    for words in (("status", "--json"), ("next", "--json")):
        document = qrspi(*words).json
        state = document["runs"][0] if words[0] == "status" else document
        assert [(one["code"], one["message"]) for one in odd(state)] == [
            ("database-unusable", line)
        ]
    started = qrspi("task", "start", "1")
    assert (started.code, qrspi("inbox").code) == (0, 0)
    assert shop.database.read_bytes() == b"not a database\n" * 100
    assert list(known(shop)) == ["proposals/links.md"]


HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.stdin:
    connection.execute(statement)
    print(flush=True)
"""


@pytest.mark.rule("CK-09", "DMN-01")
def test_the_daemon_notices_rows_as_it_notices_files(shop: Shop) -> None:
    """Also those of a program that keeps the database open, of which no event tells."""
    command = [sys.executable, "-c", HOLDER, str(shop.database)]
    with (
        Daemon(shop.root, "--sweep", "3600") as daemon,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as agent,
    ):
        assert agent.stdin and agent.stdout

        def says(state: str, beat: str, task: str) -> None:
            assert agent.stdin and agent.stdout
            update = f"UPDATE orchestration_tasks SET state = '{state}', last_heartbeat = {beat}"
            agent.stdin.write(f"{update} WHERE task_id = '{task}'\n")
            agent.stdin.flush()
            agent.stdout.readline()

        ask(shop.database)
        told = daemon.until(lambda line: line.get("next", {}).get("step") == "task-01")
        assert (told["event"], told["next"]["kind"]) == ("waits", "checkpoint-task")
        says("error", "datetime('now')", "task-02")
        told = daemon.until(lambda line: line.get("next", {}).get("step") == "task-02")
        assert (told["next"]["who"], told["next"]["kind"]) == ("human", "checkpoint-task")
        says("working", "datetime('now', '-10 minutes')", "task-02")
        assert daemon.heard("stale")["code"] == "stale-heartbeat"
        agent.stdin.close()
    schema = json.loads((SCHEMAS / "watch.schema.json").read_text("utf-8"))
    for line in daemon.log:
        Draft202012Validator(schema).validate(line)
