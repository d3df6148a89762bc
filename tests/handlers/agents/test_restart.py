"""Commands that are killed or interrupted while agents work, and what the next one makes of it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from qrspi.core.agents import dispatch_record
from qrspi.core.records import audit_trail, evidence
from qrspi.handlers.agents import unused_answers
from qrspi.handlers.changes import change_set
from qrspi.handlers.jobs.job import Options
from qrspi.world.agents import dispatch_folder
from tests import runs
from tests.handlers.shop import NOTHING, QUESTIONS, Shop, at_questions, commands, in_review, printed
from tests.project import trap
from tests.world import chat_server

COMMAND = Path(sys.executable).with_name("qrspi")


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.005)


def patient(shop: Shop, answer: str) -> None:
    """An agent that says it was called, waits for leave, then answers."""
    folder = shop.root.parent
    shop.agent(
        f"cat > /dev/null; echo called >> {folder}/calls\n"
        f"while ! [ -e {folder}/go ]; do sleep 0.01; done\nprintf %s '{answer}'"
    )


def calls(shop: Shop) -> int:
    file = shop.root.parent / "calls"
    return len(file.read_text().splitlines()) if file.exists() else 0


STARTED: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def _none_is_left() -> Iterator[None]:
    """A test that fails must not leave its program to the next one."""
    yield
    while STARTED:
        with STARTED.pop() as process:
            process.kill()


def started(shop: Shop, *words: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [COMMAND, "next", "--dispatch", *words],
        cwd=shop.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    STARTED.append(process)
    return process


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    shop = in_review(tmp_path / "shop", commands=commands(tmp_path / "agent"))
    patient(shop, NOTHING)
    return shop


@pytest.mark.rule("MAN-02", "ENG-04", "TRN-07")
def test_a_kill_between_the_reply_and_the_files_pays_nothing_twice(shop: Shop) -> None:
    process = started(shop)
    until(lambda: calls(shop) == 2)
    folder = shop.run / ".qrspi/dispatch/design/round-01"
    with shop.workspace().locked():
        (shop.root.parent / "go").touch()
        until(lambda: len(list(folder.glob("*.reply"))) == 2)
        process.kill()
        process.communicate(timeout=60)
        assert list((shop.run / "reviews/design/round-01").glob("*.clean.md")) == []
    driven = shop.driven(folder=False)
    assert (driven.failures, calls(shop)) == ((), 2)
    assert driven.outcome.state.next.action == "approve"
    assert shop.statuses("design") == {
        "quality-claude": "complete-clean",
        "scope-claude": "complete-clean",
    }
    assert sorted(one["name"] for one in shop.ledger()) == ["quality-claude", "scope-claude"]


@pytest.mark.rule("TRN-08", "MAN-02")
def test_an_interrupt_leaves_what_can_be_taken_up(shop: Shop) -> None:
    process = started(shop)
    until(lambda: calls(shop) == 2)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert (process.returncode, told.splitlines()[-1]) == (130, "interrupted")
    assert told.splitlines()[-3] == (
        "0 of 2 agents had answered: the same command goes on from there. "
        "2 calls were under way, at a cost that nobody knows; "
        f"`qrspi spend {shop.run.name}` counts them"
    )
    assert shop.statuses("design") == {
        "quality-claude": "dispatched",
        "scope-claude": "dispatched",
    }
    assert _outcomes(shop) == [("quality-claude", "interrupted"), ("scope-claude", "interrupted")]
    (shop.root.parent / "go").touch()
    driven = shop.driven(folder=False)
    assert (driven.failures, calls(shop)) == ((), 4)
    assert driven.outcome.state.next.action == "approve"
    assert _outcomes(shop)[2:] == [("quality-claude", "done"), ("scope-claude", "done")]


@pytest.mark.rule("TRN-08", "SPD-01")
def test_whoever_was_not_sent_yet_costs_nothing(shop: Shop) -> None:
    process = started(shop, "--jobs", "1")
    until(lambda: calls(shop) == 1)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert "1 call was under way" in told.splitlines()[-3]
    assert [one["outcome"] for one in shop.ledger()] == ["interrupted"]
    assert sorted(shop.statuses("design").values()) == ["dispatched", "pending"]


@pytest.mark.rule("SPD-01", "TRN-09")
def test_a_call_of_a_killed_command_counts_when_the_next_one_sends(shop: Shop) -> None:
    """And nobody whose turn had not come: with one at a time, one call was begun."""
    process = started(shop, "--jobs", "1")
    until(lambda: calls(shop) == 1)
    process.kill()
    process.communicate(timeout=60)
    assert shop.ledger() == []
    (shop.root.parent / "go").touch()
    shop.write("config.md", shop.read("config.md").replace("---\n", "---\nbudget: {calls: 2}\n", 1))
    driven = shop.driven(folder=False)
    assert driven.stopped
    assert driven.stopped.code == "budget-calls"
    assert sorted(str(one["outcome"]) for one in shop.ledger()) == ["done", "interrupted"]
    first = next(one for one in shop.ledger() if one["outcome"] == "interrupted")
    assert (first["step"], first["round"], first["usd"], first["calls"]) == ("design", 1, None, 1)


def _outcomes(shop: Shop) -> list[tuple[str, str]]:
    """By who was sent first: those who were sent together answer in any order."""
    lines = [(str(one["name"]), str(one["outcome"])) for one in shop.ledger()]
    return sorted(lines[:2]) + sorted(lines[2:])


@pytest.mark.rule("TRN-08")
def test_an_interrupt_waits_for_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, released = threading.Semaphore(0), threading.Event()

    def think(handler: BaseHTTPRequestHandler) -> None:
        asked.release()
        released.wait(60)
        handler.close_connection = True

    with chat_server.running() as server:
        server.behaviours = [think]
        provider = (
            f"{{claude: {{base_url: '{server.base_url}', api_key_env: SHOP_API_KEY, "
            "transport_type: openai-chat-completions}}"
        )
        shop = in_review(tmp_path / "shop", providers=provider)
        monkeypatch.setenv("SHOP_API_KEY", "not-a-key-but-long-enough")
        process = started(shop)
        for _ in range(2):
            assert asked.acquire(timeout=60)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
        released.set()
    assert (process.returncode, told.split()[-1]) == (130, "interrupted")
    assert "Traceback" not in told


@pytest.mark.rule("TRN-08")
def test_the_run_is_free_while_agents_work(shop: Shop) -> None:
    process = started(shop)
    until(lambda: calls(shop) == 2)
    with shop.workspace().locked(0.5):
        pass
    second = subprocess.run(
        [COMMAND, "next", "--dispatch", "--lock-timeout", "0.01"],
        cwd=shop.root,
        capture_output=True,
        text=True,
    )
    assert (second.returncode, second.stdout) == (5, "")
    assert second.stderr.startswith(
        f"agents of run {runs.RUN} are being sent by process {process.pid} (qrspi next), "
        "waited 0.01 s: try again when it is done\n"
    )
    (shop.root.parent / "go").touch()
    process.communicate(timeout=60)
    assert (process.returncode, calls(shop)) == (0, 2)


@pytest.mark.rule("MAN-02", "ENG-04")
def test_a_kill_between_a_draft_and_its_commit_is_made_good(tmp_path: Path) -> None:
    shop = at_questions(tmp_path / "shop")
    shop.reply("author.md", QUESTIONS)
    shop.sent()
    assert shop.git("log", "-1", "--format=%s") == "docs(qrspi): draft questions for user-auth"
    shop.git("reset", "-q", "--soft", "HEAD~1")
    shop.git("restore", "--staged", ".")
    shop.left(".qrspi/dispatch/questions/author", "taking")
    (shop.replies / "author.md").unlink()
    shop.reply("quality-claude.md", NOTHING)
    driven = shop.driven()
    assert driven.failures == ()
    assert shop.subjects() == [
        "docs(qrspi): review round 01 of questions for user-auth",
        "docs(qrspi): draft questions for user-auth",
        "start",
    ]
    assert shop.dispatch("questions/author")["state"] == "taken"
    assert len(shop.ledger()) == 2


@pytest.mark.rule("MAN-02", "ENG-04")
def test_a_kill_between_fixed_text_and_dispositions_is_made_good(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop", verifier_enabled="false")
    shop.reply("quality-claude.md", printed(runs.finding(step="design", cites="design.md:L8")))
    shop.reply("scope-claude.md", NOTHING)
    driven = shop.driven()
    assert [one.code for one in driven.failures] == ["transport-no-script"]
    before = shop.data("design.md")
    fixed = "---\nstatus: draft\n---\n# Design\n\n## Approach\n\nAnother way.\n"
    reply = f"{fixed}<<<FILE dispositions>>>\n- quality-claude.R1-F01: applied.\n"
    shop.reply("fixer.md", reply)
    spent = shop.data(".qrspi/spend.jsonl")
    shop.sent()
    (shop.replies / "fixer.md").unlink()
    shop.write(".qrspi/spend.jsonl", spent)
    (shop.run / "reviews/design/round-01-dispositions.md").unlink()
    files = {"design.md": dispatch_folder.atomic_write.sha256(before)}
    shop.left(".qrspi/dispatch/design/round-01/fixer", "taking", **files)
    sent = shop.sent()
    assert (sent.failures, len(shop.ledger())) == ((), spent.count(b"\n") + 1)
    assert shop.read("reviews/design/round-01-dispositions.md") == (
        "- quality-claude.R1-F01: applied.\n"
    )
    assert shop.read("design.md") == fixed


@pytest.mark.rule("SPD-01", "MAN-02")
def test_what_was_paid_and_not_written_down_is_entered_later(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop")
    shop.priced("quality-claude", NOTHING, usd=0.25)
    shop.reply("scope-claude.md", "no answer at all\n")
    shop.driven()
    ledger = shop.run / ".qrspi/spend.jsonl"
    ledger.unlink()
    shop.left(".qrspi/dispatch/design/round-01/quality-claude", "sent")
    shop.reply("scope-claude.md", NOTHING)
    shop.driven()
    assert [(one["name"], one["usd"]) for one in shop.ledger()] == [
        ("quality-claude", 0.25),
        ("scope-claude", None),
    ]
    assert shop.dispatch("design/round-01/quality-claude")["state"] == "taken"


@pytest.mark.rule("TRN-10")
def test_a_captured_answer_that_is_none_is_not_found_for_ever(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop")
    shop.priced("quality-claude", NOTHING)
    shop.reply("scope-claude.md", NOTHING)
    shop.driven(calls=0)
    place = ".qrspi/dispatch/design/round-01/quality-claude"
    shop.left(place, "sent", b"half of an ans")
    assert [one.code for one in shop.driven().failures] == ["reply-not-json"]
    assert shop.dispatch("design/round-01/quality-claude")["state"] == "failed"
    assert shop.driven().failures == ()


BROKER = """
echo "$1 $2" >> {log}
case $1 in
launch) cat > /dev/null; echo "job-$$";;
await) [ -e {log}.ready ] || exec sleep 1000; printf NO_FINDINGS > "$4";;
esac
"""


@pytest.mark.rule("TRN-03", "MAN-02")
def test_a_launched_job_is_awaited_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = (
        "{claude: {base_url: 'https://api.example.com/v1', api_key_env: SHOP_API_KEY, "
        "transport_type: codex-broker}}"
    )
    shop = in_review(tmp_path / "shop", providers=provider)
    log = tmp_path / "log"
    monkeypatch.setenv("QRSPI_BROKER", str(trap(tmp_path / "broker", BROKER.format(log=log))))
    monkeypatch.setenv("SHOP_API_KEY", "not-a-key-but-long-enough")
    process = started(shop)
    until(lambda: log.exists() and log.read_text().count("await") == 2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert shop.ledger() == []
    (tmp_path / "log.ready").touch()
    driven = shop.driven(folder=False)
    assert (driven.failures, driven.outcome.state.next.action) == ((), "approve")
    said = log.read_text().splitlines()
    assert (len([line for line in said if line.startswith("launch")]), len(said)) == (2, 6)
    awaited = [line for line in said if line.startswith("await")]
    assert len(set(awaited)) == 2


@pytest.mark.rule("EXE-04")
def test_an_answer_to_a_closed_round_is_marked_late(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop")
    shop.reply("quality-claude.md", NOTHING)
    shop.reply("scope-claude.md", "nothing to use\n")
    shop.driven()
    with dispatch_folder.held(str(shop.run), 1, "test") as held:
        place = ".qrspi/dispatch/design/round-09/scope-claude"
        record = dispatch_record.Record("0" * 64, "scope-claude", role="reviewer-scope", model="m")
        held.keep(place, record)
        held.capture(place, b"NO_FINDINGS\n")
    shop.driven()
    assert shop.dispatch("design/round-09/scope-claude")["state"] == "late"
    assert [one["round"] for one in shop.ledger() if one["outcome"] == "late"] == [9]


def test_a_record_that_was_tampered_with_is_no_record(tmp_path: Path) -> None:
    shop = at_questions(tmp_path / "shop")
    shop.reply("author.md", QUESTIONS)
    shop.write(".qrspi/dispatch/questions/jobs.jsonl", '{"name": "author"}\n[]\n{torn')
    shop.write(".qrspi/dispatch/questions/author.reply", "# Not asked for\n")
    shop.sent()
    assert shop.read("questions.md") == QUESTIONS


@pytest.mark.rule("SEC-21", "ENG-04")
def test_a_kill_between_the_files_and_the_trail_is_put_on_record_later(shop: Shop) -> None:
    (shop.root.parent / "go").touch()
    shop.driven(folder=False)
    file = "reviews/design/round-01/quality-claude.clean.md"
    place = shop.run / ".qrspi/dispatch/design/round-01"
    trail = shop.run / ".qrspi/audit.jsonl"
    told = [line for line in trail.read_bytes().splitlines(keepends=True) if b".clean.md" in line]
    for line in told:
        trail.write_bytes(trail.read_bytes().replace(line, b""))
    jobs = place / "jobs.jsonl"
    kept = [line for line in jobs.read_text().splitlines() if '"state": "sent"' in line]
    jobs.write_text("\n".join(kept) + "\n")
    (shop.run / "reviews/design/round-01/scope-claude.clean.md").write_bytes(
        runs.clean("scope-claude") + b"Changed.\n"
    )
    known = evidence.origins(audit_trail.lines(shop.workspace()))
    assert evidence_of(shop, file, known) == "found"
    with (
        shop.workspace().locked() as workspace,
        dispatch_folder.held(str(shop.run), 1, "test") as box,
    ):
        unused_answers.settle(change_set.look(workspace, Options()), box)
    known = evidence.origins(audit_trail.lines(shop.workspace()))
    assert evidence_of(shop, file, known) == "dispatched"
    changed = "reviews/design/round-01/scope-claude.clean.md"
    assert evidence_of(shop, changed, known) == "found"


def evidence_of(shop: Shop, path: str, known: evidence.Origins) -> str:
    digest = dispatch_folder.atomic_write.sha256(shop.data(path))
    return evidence.of_answer(known, path, digest).evidence


@pytest.mark.rule("SEC-19")
@pytest.mark.parametrize("state", ["sent", "taking"])
@pytest.mark.parametrize("forged", ["another id", "the id, another reply"])
def test_a_forged_answer_is_no_answer(shop: Shop, state: str, forged: str) -> None:
    """Whoever is waited for is sent, whatever lies in the folder."""
    (shop.root.parent / "go").touch()
    shop.driven(folder=False)
    place = shop.run / ".qrspi/dispatch/design/round-01"
    sent = [json.loads(line) for line in (place / "jobs.jsonl").read_text().splitlines()]
    last = {one["name"]: one for one in sent}
    reviews = shop.run / "reviews/design"
    for file in (*reviews.glob("round-01/*.clean.md"), *reviews.glob("round-01-verified.md")):
        file.unlink()
    text = b"NO_FINDINGS, says nobody\n"
    for name, one in last.items():
        (place / f"{name}.reply").write_bytes(text)
        other = {"job_id": "0" * 64, "answer": dispatch_folder.atomic_write.sha256(text)}
        one |= {"state": state, "files": {}} | (other if forged == "another id" else {})
    (place / "jobs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in last.values()))
    shop.driven(folder=False)
    assert calls(shop) == 4
    assert {file.read_text() for file in place.glob("*.reply")} == {NOTHING}


def taking(shop: Shop, place: str, reply: str, forged: str) -> None:
    """As a killed command would leave it, had it sent somebody."""
    with dispatch_folder.held(str(shop.run), 1, "test") as held:
        record = held.record(place)
        assert record
        answer = held.capture(place, reply.encode())
        job = "0" * 64 if forged == "no id" else record.job_id
        if forged == "another question":
            held.keep_asked(place, b"Something else.\n")
        held.keep(place, record._replace(state="taking", job_id=job, answer=answer))


FORGED = ["no id", "no question", "another question"]


@pytest.mark.rule("SEC-19")
@pytest.mark.parametrize("forged", FORGED)
def test_a_draft_that_is_being_written_counts_by_its_id(tmp_path: Path, forged: str) -> None:
    shop = at_questions(tmp_path / "shop")
    assert [one.code for one in shop.driven().failures] == ["transport-no-script"]
    taking(shop, ".qrspi/dispatch/questions/author", f"{QUESTIONS}\nForged.\n", forged)
    shop.reply("author.md", QUESTIONS)
    shop.sent()
    assert shop.read("questions.md") == QUESTIONS


@pytest.mark.rule("SEC-19")
@pytest.mark.parametrize("forged", FORGED)
def test_a_fix_that_is_being_written_counts_by_its_id(tmp_path: Path, forged: str) -> None:
    shop = in_review(tmp_path / "shop", verifier_enabled="false")
    shop.reply("quality-claude.md", printed(runs.finding(step="design", cites="design.md:L8")))
    shop.reply("scope-claude.md", NOTHING)
    assert [one.code for one in shop.driven().failures] == ["transport-no-script"]
    before = shop.read("design.md")
    text = "---\nstatus: draft\n---\n# Forged\n"
    reply = f"{text}<<<FILE dispositions>>>\n- quality-claude.R1-F01: applied.\n"
    taking(shop, ".qrspi/dispatch/design/round-01/fixer", reply, forged)
    assert [one.code for one in shop.sent().failures] == ["transport-no-script"]
    assert shop.read("design.md") == before


@pytest.mark.rule("SEC-19", "SEC-21")
def test_an_answer_of_another_id_is_not_put_on_record_as_dispatched(shop: Shop) -> None:
    (shop.root.parent / "go").touch()
    shop.driven(folder=False)
    file = "reviews/design/round-01/quality-claude.clean.md"
    trail = shop.run / ".qrspi/audit.jsonl"
    lines = trail.read_bytes().splitlines(keepends=True)
    trail.write_bytes(b"".join(line for line in lines if b".clean.md" not in line))
    jobs = shop.run / ".qrspi/dispatch/design/round-01/jobs.jsonl"
    sent = [json.loads(line) for line in jobs.read_text().splitlines()]
    forged = [one | {"job_id": "0" * 64} for one in sent if one["state"] == "sent"]
    jobs.write_text("".join(json.dumps(one) + "\n" for one in forged))
    with (
        shop.workspace().locked() as workspace,
        dispatch_folder.held(str(shop.run), 1, "test") as box,
    ):
        unused_answers.settle(change_set.look(workspace, Options()), box)
    known = evidence.origins(audit_trail.lines(shop.workspace()))
    assert evidence_of(shop, file, known) == "found"
