"""A run over workers, from its prompts to its files."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path

import pytest

from qrspi.core.agents.dispatch_record import Record
from qrspi.handlers.agents import awaited_agents
from qrspi.world.agents.dispatch_folder import read_records
from qrspi.world.fleet.run_mail import BrokerGone, RunMail
from tests.fleet.machines import LIMIT, Fleet
from tests.handlers.shop import Shop
from tests.patience import until
from tests.project import trap


def records(shop: Shop) -> list[Record]:
    found = read_records(str(shop.run), ".qrspi/dispatch/design/round-01")
    return [found[name] for name in sorted(found)]


def listed(shop: Shop) -> list[tuple[str, str, str]]:
    return [(one.name, one.transport, one.state) for one in awaited_agents.line(shop.workspace())]


@pytest.mark.rule("EXE-01", "EXE-05", "EXE-08", "EXE-17", "EXE-21")
def test_reviewers_are_asked_by_a_worker_and_the_engine_writes_the_files(fleet: Fleet) -> None:
    shop = fleet.shop()
    fleet.agent()
    fleet.go()
    worker = fleet.worker()
    status, said = fleet.engine(shop).ended()
    name = worker.said().split()[1].rstrip(":")
    assert status == 0, said
    assert said.splitlines()[0] == "[transport: celery]"
    assert f"done on {name}: " in said and f"started on {name}: " in said and "queued: " in said
    assert "\nNext: Reviews passed clean in round 1. Read design.md, then `qrspi approve" in said
    trail = shop.lines(".qrspi/audit.jsonl")
    answers = [one for line in trail for one in line.get("answers", [])]
    assert {(one["agent"], one["worker"]) for one in answers} == {
        ("quality-claude", name),
        ("scope-claude", name),
    }
    assert len(fleet.calls()) == 2
    for prompt in fleet.prompts():
        assert str(fleet.folder) not in prompt
        assert "\n<<<UNTRUSTED-ARTIFACT-START id=diff" in prompt


@pytest.mark.rule("EXE-08", "EXE-20")
def test_a_queue_that_nobody_serves_is_told_and_interrupting_takes_its_jobs_back(
    fleet: Fleet,
) -> None:
    shop = fleet.shop()
    fleet.agent()
    engine = fleet.engine(shop)
    unserved = (
        f"no worker serves {fleet.vendor}: jobs wait in the broker for 24 hours; start one with "
        f"`qrspi worker` on a machine whose worker.toml allows {fleet.vendor}"
    )
    until(lambda: unserved in engine.said().splitlines(), "nobody serves it", LIMIT)
    assert listed(shop) == [
        ("quality-claude", "celery", "queued"),
        ("scope-claude", "celery", "queued"),
    ]
    engine.send_signal(signal.SIGINT)
    status, said = engine.ended()
    assert (status, said.splitlines()[-1]) == (130, "interrupted")
    assert [(one.state, one.ticket) for one in records(shop)] == [("pending", "")] * 2
    assert shop.statuses("design") == {"quality-claude": "pending", "scope-claude": "pending"}
    worker = fleet.worker()
    until(lambda: worker.said().count(" taken back ") == 2, "both are taken back", LIMIT)
    assert fleet.calls() == []


@pytest.mark.rule("EXE-08", "EXE-20", "EXE-14")
def test_what_has_started_goes_on_after_an_interrupt_and_is_found_by_the_next_command(
    fleet: Fleet,
) -> None:
    shop = fleet.shop()
    fleet.agent()
    worker = fleet.worker(concurrency=1)
    engine = fleet.engine(shop)
    fleet.until_called(1)
    until(lambda: "started on" in engine.said(), "it is told", LIMIT)
    assert sorted(state for _, _, state in listed(shop)) == ["queued", "started"]
    engine.send_signal(signal.SIGINT)
    status, said = engine.ended()
    assert status == 130
    assert said.splitlines()[-3] == (
        "0 of 2 agents had answered: the same command goes on from there. 1 goes on "
        "at workers, and the rest was taken back"
    )
    fleet.go()
    until(lambda: " done " in worker.said() and " taken back " in worker.said(), "done", LIMIT)
    status, said = fleet.engine(shop).ended()
    assert (status, len(fleet.calls())) == (0, 2), said
    assert [one["calls"] for one in shop.ledger()] == [1, 1]


@pytest.mark.rule("EXE-20")
def test_a_command_ends_while_many_wait_and_each_leaves_when_it_is_told(
    fleet: Fleet,
) -> None:
    mail = RunMail(fleet.broker.address, "m", str(fleet.folder), lambda word: None)
    told: list[object] = []

    def wait(job: str) -> None:
        with mail.words(job) as word:
            waiting.wait()
            told.append(word())

    waiting = threading.Barrier(201)
    threads = [threading.Thread(target=wait, args=(str(one),)) for one in range(200)]
    for thread in threads:
        thread.start()
    waiting.wait()
    often = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with mail:
            pass
        for thread in threads:
            thread.join(LIMIT)
    finally:
        sys.setswitchinterval(often)
    assert [type(word) for word in told] == [BrokerGone] * 200


@pytest.mark.rule("EXE-06", "EXE-16")
def test_a_model_that_the_worker_does_not_allow_is_refused_and_says_so(fleet: Fleet) -> None:
    shop = fleet.shop()
    fleet.agent()
    fleet.settings(models=["small"])
    worker = fleet.worker()
    status, said = fleet.engine(shop).ended()
    name = worker.said().split()[1].rstrip(":")
    refused = sorted(line for line in said.splitlines() if line.startswith("failed: "))
    assert status == 4
    assert refused == [
        f"failed: {agent}: this worker does not allow the model {model} of {fleet.vendor} ({name})"
        for agent, model in (("quality-claude", "large"), ("scope-claude", "middle"))
    ]
    assert fleet.calls() == [] and shop.ledger() == []


@pytest.mark.rule("EXE-03", "EXE-06", "EXE-17")
def test_a_program_of_a_worker_sees_an_empty_folder_and_no_broker(fleet: Fleet) -> None:
    shop = fleet.shop()
    told = fleet.folder / "told"
    script = f"cat > /dev/null; (pwd; ls -A; env) >> {told}; echo NO_FINDINGS"
    trap(fleet.folder / "agent", script)
    fleet.worker()
    assert fleet.engine(shop).ended()[0] == 0
    lines = told.read_text().splitlines()
    assert "QRSPI_TRUSTED=0" in lines
    assert not [line for line in lines if "amqp" in line or line.startswith("QRSPI_ROOT=")]
    folders = [line for line in lines if "/qrspi-call-" in line and line.startswith("/")]
    assert len(set(folders)) == 2 and not any(Path(folder).exists() for folder in folders)


@pytest.mark.rule("EXE-06", "TRN-06")
def test_a_key_that_an_agent_repeats_never_leaves_the_worker(fleet: Fleet) -> None:
    shop = fleet.shop()
    trap(fleet.folder / "agent", "cat > /dev/null; echo NO_FINDINGS; echo $SHOP_API_KEY")
    worker = fleet.worker(SHOP_API_KEY="a-secret-of-the-worker")
    fleet.engine(shop).ended()
    every = [file for file in shop.run.rglob("*") if file.is_file()]
    kept = [*every, *(fleet.folder / "worker/state").rglob("*"), worker.log]
    told = [file for file in kept if file.is_file() and b"a-secret-of" in file.read_bytes()]
    assert told == []
    assert (
        b"[redacted]"
        in (shop.run / ".qrspi/dispatch/design/round-01/scope-claude.reply").read_bytes()
    )


@pytest.mark.rule("EXE-21")
@pytest.mark.parametrize("signals", [1, 2])
def test_a_worker_that_is_told_to_end(fleet: Fleet, signals: int) -> None:
    """Once, it finishes what it is at. Twice, somebody else does."""
    shop = fleet.shop()
    fleet.agent()
    first = fleet.worker("first", concurrency=2)
    engine = fleet.engine(shop)
    fleet.until_called(2)
    for _ in range(signals):
        first.send_signal(signal.SIGTERM)
        until(lambda: "no new jobs: " in first.said(), "it was heard", LIMIT)
    if signals == 1:
        fleet.go()
        assert first.ended()[0] == 0
        assert first.said().count(" done ") == 2
    else:
        first.wait(LIMIT)
        fleet.worker("second")
        fleet.until_called(4)
        fleet.go()
    status, said = engine.ended()
    assert (status, len(fleet.calls())) == (0, 2 * signals), said


@pytest.mark.rule("EXE-14", "EXE-21")
def test_limits_count_what_is_queued(fleet: Fleet) -> None:
    shop = fleet.shop()
    fleet.agent()
    fleet.go()
    fleet.worker()
    words = ("next", "--dispatch", "--executor", "celery", "--max-calls", "1")
    status, said = fleet.engine(shop, *words).ended()
    assert (status, len(fleet.calls())) == (0, 1), said
    assert "stopped before the next call: the limit given with this command is reached" in said
