"""`mcp`: how long a host waits for the first answer, against importing the SDK."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from lab import QRSPI, Lab, Measure

IMPORT = (sys.executable, "-c", "import mcp.server.mcpserver")
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}
STATUS = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "status"}}


def measure(lab: Lab) -> Iterator[Measure]:
    project = lab.scratch / "one"
    project.mkdir()
    new_run = [str(QRSPI), "--root", ".", "init", "first-light", "--pipeline", "quick"]
    subprocess.run(new_run, cwd=project, check=True, capture_output=True)
    _answered(project)
    rounds = [(_imported(project), *_answered(project)) for _ in range(9)]
    imported, first, status = (statistics.median(column) for column in zip(*rounds, strict=True))
    unit = "× importing the SDK"
    note = f"{first * 1000:.0f} ms, of which the SDK takes {imported * 1000:.0f}"
    yield Measure("mcp, first answer", first / imported, unit, 1.3, note)
    note = f"{status * 1000:.0f} ms"
    yield Measure("  and status after it, for the first time", status / imported, unit, note=note)


def _imported(project: Path) -> float:
    start = time.perf_counter()
    subprocess.run(IMPORT, cwd=project, check=True)
    return time.perf_counter() - start


def _answered(project: Path) -> tuple[float, float]:
    """From the start of the process to its first answer, and from there to the next one."""
    start = time.perf_counter()
    command = (QRSPI, "mcp", "--write")
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=project, stdin=pipe, stdout=pipe, text=True) as server:
        assert server.stdin
        assert server.stdout
        first = _asked(server, HELLO) - start
        begun = time.perf_counter()
        return first, _asked(server, STATUS) - begun


def _asked(server: subprocess.Popen[str], message: object) -> float:
    assert server.stdin
    assert server.stdout
    server.stdin.write(json.dumps(message) + "\n")
    server.stdin.flush()
    assert "result" in json.loads(server.stdout.readline())
    return time.perf_counter()
