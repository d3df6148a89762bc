"""Workers over a real broker against threads of the command itself: what a dispatch costs more, how
much of the throughput is left, memory against the number of jobs, and how soon a lost worker or a
broker that is not there is known.

    QRSPI_BENCH_FLEET=200x25 python bench/run.py fleet     200 runs of 25 dispatches: the goal

Without the variable 20 runs of 25. Needs rabbitmq-server (root's `make setup` installs it).
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import bench_dispatch
from bench_dispatch import KEY, server
from lab import QRSPI, Lab, Measure, peak_megabytes

from qrspi.core.fleet import job_message
from qrspi.core.fleet.result_message import Started
from qrspi.world.fleet.run_mail import BrokerGone, Delivered, RunMail
from tests.fleet.broker import SERVER, Broker, free_ports, mute
from tests.patience import until

WORKERS, CONCURRENCY = 4, 16
# At a time. Threads are five for each: 25 dispatches fill them evenly, which is the best they can
# do, and all of them make as many calls at once as the workers.
ENGINES, THREADS = 13, 5
SECONDS = 2.0
ALONE, TURNS = 40, 9  # dispatches one after the other, by both ways in turn
SETTINGS = """\
[providers.shop]
base_url = "http://127.0.0.1:{port}/v1"
api_key_env = "{key}"
models = ["small"]
"""


class Stopwatch:
    """Told by the dispatcher when each agent has ended."""

    def __init__(self) -> None:
        self.at: list[float] = []

    def note(self, text: str) -> None: ...

    def begun(self, names: tuple[str, ...]) -> None:
        self.at.append(time.perf_counter())

    def ended(self, name: str, problem: object) -> None:
        assert problem is None, problem
        self.at.append(time.perf_counter())

    def cut_off(self, run: str, calls: int, going_on: int) -> None: ...

    @property
    def each(self) -> float:
        """Several are taken in together, so only the whole tells what one takes."""
        return (self.at[-1] - self.at[0]) / (len(self.at) - 1)


def send(run: str, executor: str, jobs: int, count: int) -> Stopwatch:
    from qrspi.handlers.agents import fan_out
    from qrspi.handlers.agents.dispatch_options import How, Sending
    from qrspi.handlers.jobs.job import Options
    from qrspi.world.runs.workspace import Workspace

    os.environ[KEY] = "not-a-key-but-long-enough"
    os.environ["QRSPI_TRUST"] = "/"
    watch = Stopwatch()
    sending = Sending(jobs=jobs, how=How(executor="celery" if executor == "celery" else "local"))
    with fan_out.opened(Workspace(run, in_git=False), Options(), sending, watch) as desk:
        sent = desk.fan_out()
    assert sent and not sent.failures and len(sent.performed.files) == count, sent
    return watch


@contextmanager
def workers(
    lab: Lab, broker: Broker, port: int, count: int, concurrency: int
) -> Iterator[list[int]]:
    """Their process ids, when all of them serve."""
    home = lab.scratch / f"home-{port}"
    (home / "qrspi").mkdir(parents=True)
    (home / "qrspi/worker.toml").write_text(SETTINGS.format(port=port, key=KEY))
    env = os.environ | {"XDG_CONFIG_HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    env |= {"QRSPI_BROKER_URL": broker.url, KEY: "not-a-key-but-long-enough"}
    command = [str(QRSPI), "worker", "--concurrency", str(concurrency)]
    quiet = subprocess.DEVNULL
    with ExitStack() as stack:
        started = [
            stack.enter_context(subprocess.Popen(command, env=env, stdout=quiet, stderr=quiet))
            for _ in range(count)
        ]
        for one in started:
            stack.callback(one.kill)
        until(lambda: _consumers(broker) == count, "all workers serve", 120)
        yield [one.pid for one in started]


def _consumers(broker: Broker) -> int:
    standing = broker.standing("qrspi.jobs.shop")
    return standing.consumers if standing else 0


def apart(run: Path, executor: str, jobs: int, count: int) -> None:
    """One engine, as a process of its own."""
    code = f"import bench_fleet; bench_fleet.send({str(run)!r}, {executor!r}, {jobs}, {count})"
    here = str(Path(__file__).parent)
    subprocess.run([sys.executable, "-c", code], cwd=here, check=True, capture_output=True)


def throughput(lab: Lab, port: int, executor: str, runs: int, count: int) -> float:
    """Dispatches a second."""
    folder = lab.scratch / f"many-{executor}"
    made = [bench_dispatch.write_run(folder / str(at), port, count) for at in range(runs)]
    jobs = THREADS if executor == "local" else count
    began = time.perf_counter()
    with ThreadPoolExecutor(ENGINES) as pool:
        list(pool.map(lambda run: apart(run, executor, jobs, count), made))
    return runs * count / (time.perf_counter() - began)


def memory(lab: Lab, port: int, count: int) -> float:
    run = bench_dispatch.write_run(lab.scratch / f"memory-{count}", port, count)
    code = f"import bench_fleet as b; b.send({str(run)!r}, 'celery', 64, {count})"
    return peak_megabytes(code)


def most_memory(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1000


def measure(lab: Lab) -> Iterator[Measure]:
    if not SERVER.exists():
        yield Measure("workers over a broker", 0, "", None, "not measured: no rabbitmq-server")
        return
    runs, count = map(int, os.environ.get("QRSPI_BENCH_FLEET", "20x25").split("x"))
    broker = Broker(lab.scratch / "broker")
    broker.start()
    os.environ["QRSPI_BROKER_URL"] = broker.url
    try:
        with server(0, 0) as port, workers(lab, broker, port, 1, 1) as (worker,):
            yield from _alone(lab, port)
            yield from _memories(lab, port, worker)
        broker.delete("qrspi.jobs.shop")
        yield from _taken_over(lab, broker)
        yield from _absent(lab, broker)
        with server(SECONDS, 0) as port, workers(lab, broker, port, WORKERS, CONCURRENCY):
            yield from _many(lab, port, runs, count)
    finally:
        broker.close()


def _alone(lab: Lab, port: int) -> Iterator[Measure]:
    pairs = [tuple(_each(lab, port, one, at) for one in ("local", "celery")) for at in range(TURNS)]
    more = statistics.median(celery - local for local, celery in pairs)
    local, celery = (statistics.median(column) for column in zip(*pairs, strict=True))
    bare = more / 1000 / lab.interpreter
    note = f"{bare:.1f} × python -c pass; {celery:.1f} ms, by the command itself {local:.1f} ms"
    yield Measure("a dispatch over a broker costs more", more, "ms", 15, note)


def _each(lab: Lab, port: int, executor: str, turn: int) -> float:
    run = bench_dispatch.write_run(lab.scratch / f"alone-{executor}-{turn}", port, ALONE)
    return send(str(run), executor, 1, ALONE).each * 1000


def _memories(lab: Lab, port: int, worker: int) -> Iterator[Measure]:
    few, many = memory(lab, port, 50), memory(lab, port, 500)
    note = f"{few:.0f} MB, {many:.0f} MB; the worker {most_memory(worker):.0f} MB"
    yield Measure("memory of the engine for 500 jobs", many / few, "× for 50", 1.25, note)


def _taken_over(lab: Lab, broker: Broker) -> Iterator[Measure]:
    """How soon another worker begins with the job of one that is killed, or frozen."""
    for how, sign, goal in (("killed", signal.SIGKILL, 1), ("frozen", signal.SIGSTOP, 30)):
        with server(60, 0) as port, workers(lab, broker, port, 2, 1):
            took = _begun_elsewhere(broker, how, sign)
        broker.delete("qrspi.jobs.shop")
        yield Measure(f"a {how} worker's job begins elsewhere", took, "s", goal)


def _begun_elsewhere(broker: Broker, how: str, sign: signal.Signals) -> float:
    with RunMail(broker.address, "bench", f"/{how}", lambda word: None) as mail:
        mail.listen()
        parts = (f"goals/1/{how}/1", "shop", "small", "A prompt.")
        made = job_message.made(*parts, mail.reply_queue, mail.ticket)
        mail.publish(made)
        with mail.words(made.job) as hear:
            first = _starts(hear)
            os.kill(int(first.worker.rpartition("-")[2]), sign)
            began = time.perf_counter()
            assert _starts(hear).worker != first.worker
            return time.perf_counter() - began


def _starts(hear: Callable[[], Delivered | BrokerGone]) -> Started:
    said = hear()
    assert isinstance(said, Delivered) and isinstance(said.word, Started), said
    said.kept()
    return said.word


def _absent(lab: Lab, broker: Broker) -> Iterator[Measure]:
    """From the start of the command to its end."""
    run = bench_dispatch.write_run(lab.scratch / "absent", 1, 1)
    nobody = free_ports(1)[0]
    with mute() as silent:
        ways = {
            "absent": f"amqp://127.0.0.1:{nobody}/",
            "mute": f"amqp://127.0.0.1:{silent}/",
            "mute over TLS": f"amqps://127.0.0.1:{silent}/",
            "a wrong password": f"amqp://guest:wrong@127.0.0.1:{broker.port}/",
        }
        took = {way: _refused(run, url) for way, url in ways.items()}
    note = ", ".join(f"{way} {seconds:.1f} s" for way, seconds in took.items())
    yield Measure("no broker is said within", max(took.values()), "s", 5, note)


def _refused(run: Path, url: str) -> float:
    words = [str(QRSPI), "next", "--dispatch", "--executor", "celery"]
    began = time.perf_counter()
    env = os.environ | {"QRSPI_BROKER_URL": url, "QRSPI_TRUST": "/"}
    done = subprocess.run(words, cwd=run.parents[2], env=env, capture_output=True, text=True)
    assert done.returncode == 4 and len(done.stderr.splitlines()) == 1, done
    return time.perf_counter() - began


def _many(lab: Lab, port: int, runs: int, count: int) -> Iterator[Measure]:
    local, fleet = (throughput(lab, port, one, runs, count) for one in ("local", "celery"))
    what = f"{runs * count} dispatches of {SECONDS:g} s over {WORKERS} × {CONCURRENCY}"
    allowed = WORKERS * CONCURRENCY / SECONDS
    note = f"{fleet:.1f}/s, local {local:.1f}/s, waiting alone {allowed:.1f}/s"
    yield Measure(what, local / fleet, "× the time of local", 1.25, note)
