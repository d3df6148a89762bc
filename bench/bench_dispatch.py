"""Sending agents: two hundred verifiers over HTTP against the time that waiting alone takes, and
memory against the size of replies."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from lab import Lab, Measure, finding, peak_megabytes

RUN = "2026-01-01-sample-run"
KEY = "BENCH_API_KEY"
LATENCY = 0.05
COUNT, JOBS = 200, 32

SERVER = """
import json, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
latency, size = float(sys.argv[1]), int(sys.argv[2])
choice = {"message": {"content": "score: 80\\nreason: Seen."}, "finish_reason": "stop"}
body = json.dumps({"choices": [choice], "padding": "#" * size}).encode()
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(latency)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        pass
class Server(ThreadingHTTPServer):
    request_queue_size = 256
server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""
CLAIM = "The second claim contradicts the first, and whoever builds on it has to choose."
CONFIG = """\
---
created: 2026-01-01
pipeline: full
second_reviewer: false
route: [goals, questions, research, design, phasing, structure, plan, parallelize, implement, \
integrate, test]
verifier_enabled: true
scope_tagger_enabled: true
visual_fidelity_required: false
model_routing:
  extra-low: none
  low: {{vendor: shop, model: small}}
  medium: {{vendor: shop, model: small}}
  high: {{vendor: shop, model: small}}
  extra-high: none
providers:
  shop: {{base_url: 'http://127.0.0.1:{port}/v1', api_key_env: {key}, \
transport_type: openai-chat-completions}}
---
"""


@contextmanager
def server(latency: float, size: int) -> Iterator[int]:
    command = [sys.executable, "-c", SERVER, str(latency), str(size)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def write_run(root: Path, port: int, count: int) -> Path:
    """A round outside git in which `count` findings wait for their score."""
    run = root / "docs" / "qrspi" / RUN
    run.mkdir(parents=True)
    (run / "config.md").write_text(CONFIG.format(port=port, key=KEY))
    (run / "goals.md").write_text("---\nstatus: draft\n---\n# Goals\n\n## One\n\nA claim.\n")
    _open_round(run)
    directory = run / "reviews/goals/round-01"
    clean = "---\nreviewer: scope-claude\nround: 1\nfindings: 0\n---\n"
    (directory / "scope-claude.clean.md").write_text(clean)
    for number in range(1, count + 1):
        name = f"quality-claude.finding-F{number:02d}.md"
        (directory / name).write_text(finding("quality-claude", number, CLAIM))
    return run


def _open_round(run: Path) -> None:
    """By the engine itself: a round that somebody else opened proves nothing."""
    from qrspi.core.pipeline import subject
    from qrspi.handlers.jobs.job import Options
    from qrspi.handlers.rounds import round_commands
    from qrspi.world.runs.workspace import Workspace

    goals = subject("goals")
    assert goals is not None
    round_commands.open_round(Workspace(str(run), in_git=False), goals, None, Options())


class Silent:
    def note(self, text: str) -> None: ...

    def begun(self, names: tuple[str, ...]) -> None: ...

    def ended(self, name: str, problem: object) -> None: ...

    def cut_off(self, run: str, calls: int, going_on: int) -> None: ...


class Spent(NamedTuple):
    seconds: float
    processor: float  # what other programs on the machine cannot stretch


def send(run: Path, jobs: int, count: int) -> Spent:
    """What one fan-out takes, from choosing whom to send to the last score on disk."""
    from qrspi.handlers.agents import fan_out
    from qrspi.handlers.agents.dispatch_options import Sending
    from qrspi.handlers.jobs.job import Options
    from qrspi.world.runs.workspace import Workspace

    os.environ[KEY] = "not-a-key-but-long-enough"
    os.environ["QRSPI_TRUST"] = "/"
    workspace = Workspace(str(run), in_git=False)
    with fan_out.opened(workspace, Options(), Sending(jobs=jobs), Silent()) as desk:
        start = time.perf_counter(), time.process_time()
        sent = desk.fan_out()
        taken = Spent(time.perf_counter() - start[0], time.process_time() - start[1])
    assert sent and not sent.failures, sent
    assert len(sent.performed.files) == count, len(sent.performed.files)
    return taken


def waiting_alone(count: int, jobs: int) -> float:
    return math.ceil(count / jobs) * LATENCY


def memory(size: int, count: int, jobs: int) -> float:
    """Megabytes that so many replies of this size take."""
    with tempfile.TemporaryDirectory() as scratch, server(0, size) as port:
        run = str(write_run(Path(scratch), port, count))
        code = (
            f"import bench_dispatch as b, pathlib; b.send(pathlib.Path({run!r}), {jobs}, {count})"
        )
        return peak_megabytes(code)


def measure(lab: Lab) -> Iterator[Measure]:
    ideal = waiting_alone(COUNT, JOBS)
    with server(LATENCY, 0) as port:
        send(write_run(lab.scratch / "warm", port, 2), 2, 2)
        times = [
            send(write_run(lab.scratch / str(at), port, COUNT), JOBS, COUNT) for at in range(3)
        ]
    taken = min(one.seconds for one in times)
    what = f"{COUNT} dispatches of {LATENCY * 1000:.0f} ms, {JOBS} at once"
    note = f"{taken * 1000:.0f} ms, waiting alone {ideal * 1000:.0f} ms"
    yield Measure(what, taken / ideal, "× waiting alone", None, note)
    each = min(one.processor for one in times) / COUNT
    yield Measure("processor time of a dispatch", each * 1000, "ms", None, "prompt to score")
    small, large = (memory(size, 64, 4) for size in (100, 4_000_000))
    note = f"of 100 bytes {small:.0f} MB"
    yield Measure("memory for 64 replies of 4 MB, 4 at once", large, "MB", None, note)
