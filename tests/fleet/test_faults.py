"""Workers, engines and brokers that are killed, frozen and restarted while agents work: every job
has one result, and what was paid for is not paid for again."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from qrspi.core.fleet import queues
from tests.fleet.broker import free_ports, mute
from tests.fleet.machines import LIMIT, Fleet, Program
from tests.handlers.shop import Shop
from tests.patience import until


def one_result(shop: Shop) -> None:
    """Each agent has answered once, by the files, the ledger and the trail."""
    folder = shop.run / "reviews/design/round-01"
    assert sorted(file.name for file in folder.glob("*.clean.md")) == [
        "quality-claude.clean.md",
        "scope-claude.clean.md",
    ]
    assert sorted(one["name"] for one in shop.ledger()) == ["quality-claude", "scope-claude"]
    lines = shop.lines(".qrspi/audit.jsonl")
    agents = [one["agent"] for line in lines for one in line.get("answers", [])]
    assert sorted(agents) == ["quality-claude", "scope-claude"]


def ended_well(engine: Program) -> None:
    status, said = engine.ended()
    assert status == 0, said


@pytest.mark.rule("EXE-02", "EXE-09", "EXE-18")
def test_a_worker_is_killed_in_mid_call(fleet: Fleet) -> None:
    shop = fleet.shop()
    fleet.agent()
    first = fleet.worker("first")
    engine = fleet.engine(shop)
    fleet.until_called(2)
    second = fleet.worker("second")
    first.kill()
    first.wait()
    fleet.until_called(4)
    fleet.go()
    ended_well(engine)
    one_result(shop)
    assert fleet.calls() == [first.pid] * 2 + [second.pid] * 2


@pytest.mark.rule("EXE-09", "EXE-13")
def test_two_workers_are_lost_over_a_job(fleet: Fleet) -> None:
    shop = fleet.shop()
    fleet.agent()
    workers = [fleet.worker(name) for name in ("first", "second")]
    engine = fleet.engine(shop, "next", "--dispatch", "--executor", "celery", "--jobs", "1")
    for times, _ in enumerate(workers, 1):
        fleet.until_called(times)
        by = fleet.calls()[-1]
        next(one for one in workers if one.pid == by).kill()
    until(lambda: "failed: " in engine.said(), "it is told", LIMIT)
    assert (
        "failed: quality-claude: it was handed out twice and not finished, by workers that were "
        "lost or a broker that was restarted, so it is not handed out again"
    ) in engine.said().splitlines()
    third = fleet.worker("third")
    fleet.go()
    status, _ = engine.ended()
    assert (status, len(fleet.calls()), fleet.calls()[-1]) == (4, 3, third.pid)


@pytest.mark.rule("EXE-09", "EXE-18")
def test_a_frozen_worker_is_replaced_and_its_late_answer_dropped(fleet: Fleet) -> None:
    shop = fleet.shop()
    fleet.agent()
    first = fleet.worker("first")
    engine = fleet.engine(shop)
    fleet.until_called(2)
    second = fleet.worker("second")
    first.send_signal(signal.SIGSTOP)
    fleet.until_called(4)
    fleet.go()
    ended_well(engine)
    first.send_signal(signal.SIGCONT)
    until(lambda: first.said().count(" done ") == 2, "the first is done too", LIMIT)
    one_result(shop)
    assert fleet.calls() == [first.pid] * 2 + [second.pid] * 2
    # Its words lie in the queue of the run until the next command, which drops them.
    status, said = fleet.engine(shop, "dispatch", "run", "--executor", "celery").ended()
    assert status == 0, said
    one_result(shop)


@pytest.mark.rule("EXE-09", "EXE-12", "EXE-13", "EXE-14")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_broker_is_restarted_with_jobs_queued_and_running(
    fleet: Fleet, number: signal.Signals
) -> None:
    shop = fleet.shop()
    fleet.agent()
    worker = fleet.worker(concurrency=1)
    engine = fleet.engine(shop)
    fleet.until_called(1)
    until(lambda: "started on" in engine.said(), "one has started", LIMIT)
    until(lambda: "queued: " in engine.said(), "the other is queued", LIMIT)
    queue = queues.of_vendor(fleet.vendor).name
    until(lambda: fleet.broker.remembers(queue), "the queue is on the broker's disk", LIMIT)
    fleet.broker.restart(number)
    fleet.go()
    ended_well(engine)
    one_result(shop)
    assert fleet.calls() == [worker.pid] * 2
    assert worker.poll() is None
    # One line for what was called, one for what came a second time, and nothing of Celery's.
    told = [line.split()[4:] for line in worker.said().splitlines()[1:]]
    ways = [" ".join(words[1:-2]) for words in told]
    assert ways.count("done") == 2 and set(ways) <= {"done", "answered before"}, worker.said()


@pytest.mark.rule("EXE-09", "EXE-04", "EXE-12", "EXE-14")
def test_the_engine_is_killed_while_it_waits_and_nothing_is_paid_twice(fleet: Fleet) -> None:
    shop = fleet.shop()
    fleet.agent()
    worker = fleet.worker(concurrency=1)
    engine = fleet.engine(shop)
    fleet.until_called(1)
    until(lambda: "queued: " in engine.said(), "both are queued", LIMIT)
    until(lambda: len(tickets(shop)) == 2, "both are on record", LIMIT)
    engine.kill()
    engine.wait()
    fleet.go()
    until(lambda: worker.said().count(" done ") == 2, "both are done", LIMIT)
    ended_well(fleet.engine(shop))
    one_result(shop)
    assert len(fleet.calls()) == 2


def tickets(shop: Shop) -> set[str]:
    lines = shop.lines(".qrspi/dispatch/design/round-01/jobs.jsonl")
    return {line["name"] for line in lines if line["ticket"]}


@pytest.mark.rule("EXE-14")
def test_a_job_that_the_engine_awaits_again_is_not_published_again(fleet: Fleet) -> None:
    """Killed and started anew while the worker is at it."""
    shop = fleet.shop()
    fleet.agent()
    fleet.worker()
    first = fleet.engine(shop)
    fleet.until_called(2)
    until(lambda: len(tickets(shop)) == 2, "both are on record", LIMIT)
    first.kill()
    first.wait()
    second = fleet.engine(shop)
    until(lambda: "[transport: celery]" in second.said(), "it waits", LIMIT)
    queue = fleet.broker.standing(queues.of_vendor(fleet.vendor).name)
    assert queue is not None and queue.waiting == 0
    fleet.go()
    ended_well(second)
    one_result(shop)
    assert len(fleet.calls()) == 2


@pytest.mark.rule("EXE-05", "EXE-09", "EXE-19")
def test_no_broker_is_one_line_and_nothing_is_half_done(fleet: Fleet) -> None:
    shop = fleet.shop()
    shop_before = {file: file.read_bytes() for file in shop.run.rglob("*") if file.is_file()}
    port = free_ports(1)[0]
    narrow = fleet.broker.new_user("narrow", may="^other")
    with mute() as muted:
        for url, line in (
            ("", "QRSPI_BROKER_URL is not set: it names the broker that workers take dispatches"),
            (
                f"amqp://me:secret-word@127.0.0.1:{port}/",
                f"the broker amqp://127.0.0.1:{port} cannot be reached: Connection refused",
            ),
            (
                f"amqp://me:secret-word@127.0.0.1:{muted}/",
                f"the broker amqp://127.0.0.1:{muted} cannot be reached: no answer within 4 s",
            ),
            (
                f"amqps://me:secret-word@127.0.0.1:{muted}/",
                f"the broker amqps://127.0.0.1:{muted} cannot be reached: no answer within 4 s",
            ),
            (
                f"amqp://guest:secret-word@127.0.0.1:{fleet.broker.port}/",
                f"amqp://127.0.0.1:{fleet.broker.port}: it refuses this user or password",
            ),
            (
                f"amqp://guest:guest@127.0.0.1:{fleet.broker.port}/elsewhere",
                f"amqp://127.0.0.1:{fleet.broker.port}: the virtual host is not there, or this "
                "user may not enter it",
            ),
            (
                f"amqp://narrow:{narrow}@127.0.0.1:{fleet.broker.port}/",
                f"amqp://127.0.0.1:{fleet.broker.port}: this user may not declare queues and "
                "exchanges that begin with qrspi",
            ),
        ):
            status, said = fleet.engine(shop, QRSPI_BROKER_URL=url).ended()
            assert status == 4, said
            assert said.startswith(line), said
            assert "secret-word" not in said and narrow not in said
    after = {file: file.read_bytes() for file in shop.run.rglob("*") if file.is_file()}
    named = {file.relative_to(shop.run).as_posix() for file in after.keys() - shop_before.keys()}
    assert not [name for name in named if "/dispatch/" in name], named
    assert all(after[file] == data for file, data in shop_before.items())


@pytest.mark.rule("EXE-01", "EXE-05", "EXE-16", "EXE-19")
@pytest.mark.parametrize(
    ("settings", "url", "status", "line"),
    [
        (None, "", 3, "worker.toml is not there: it lists the vendors and models that this"),
        ("argv = [\n", "", 3, "worker.toml: found no TOML ("),
        ("[commands.claude]\n", "", 3, "worker.toml: commands.claude.argv: found nothing, exp"),
        ('[commands.a]\nargv=["x"]\nmodels=["m"]\n', "", 4, "QRSPI_BROKER_URL is not set: "),
        (
            '[commands.a]\nargv=["x"]\nmodels=["m"]\ntimeout=90\n',
            "redis://localhost/0?visibility_timeout=60",
            3,
            "a Redis with a visibility timeout of 60 s, which hands a call out twice that takes "
            "longer, and calls may take 90 s",
        ),
    ],
)
def test_a_worker_that_cannot_start(
    tmp_path: Path, settings: str | None, url: str, status: int, line: str
) -> None:
    """No broker is needed for that."""
    from tests.fleet.machines import QRSPI

    file = tmp_path / "config/qrspi/worker.toml"
    file.parent.mkdir(parents=True)
    if settings is not None:
        file.write_text(settings)
    import os
    import subprocess

    env = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "config"), "QRSPI_BROKER_URL": url}
    done = subprocess.run([QRSPI, "worker"], env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (status, "")
    assert line in done.stderr.splitlines()[0]
    assert len(done.stderr.splitlines()) <= 2
