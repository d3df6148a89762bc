"""A server that meets bad luck: clients that vanish, many calls, huge ones, runs that break."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests import runs, scenes
from tests.cli.conftest import COMMAND, Call
from tests.mcp.host import Host, serving
from tests.patience import until

RUN = runs.RUN
HELLO: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a host", "version": "1"},
    },
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mcp").resolve() / "shop"
    scenes.advance(scenes.project(root))
    return root


@pytest.fixture(scope="module")
def host(project: Path) -> Iterator[Host]:
    with serving(project, "--write") as host:
        yield host


def started(project: Path, *options: str) -> subprocess.Popen[str]:
    """The bare process, spoken to line by line."""
    return subprocess.Popen(
        [COMMAND, "mcp", *options],
        cwd=project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def say(server: subprocess.Popen[str], *messages: object) -> None:
    assert server.stdin
    for one in messages:
        server.stdin.write((one if isinstance(one, str) else json.dumps(one)) + "\n")
    server.stdin.flush()


def hear(server: subprocess.Popen[str]) -> Any:
    assert server.stdout
    return json.loads(server.stdout.readline())


def tool(name: str, number: int = 2, **arguments: object) -> dict[str, object]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@pytest.mark.rule("HST-03")
@pytest.mark.parametrize("how", ["closed", "killed", "deaf"])
def test_it_ends_with_its_client(how: str, project: Path) -> None:
    server = started(project)
    say(server, HELLO)
    hear(server)
    assert server.stdin and server.stdout and server.stderr
    if how == "deaf":  # nobody reads its answers any more
        server.stdout.close()
        say(server, {"jsonrpc": "2.0", "method": "notifications/initialized"}, tool("status"))
    if how == "killed":
        server.send_signal(signal.SIGTERM)
    else:
        server.stdin.close()
    server.wait(20)
    assert server.stderr.read() == ""
    assert server.returncode == (-signal.SIGTERM if how == "killed" else 0)
    for stream in (server.stdin, server.stdout, server.stderr):
        stream.close()


@pytest.mark.rule("HST-03")
def test_no_server_is_left_when_its_host_is_killed(project: Path, tmp_path: Path) -> None:
    """The host is killed in the middle of a call."""
    script = (
        "import json, subprocess, sys\n"
        "words = json.loads(sys.argv[1])\n"
        "server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "server.stdin.write(sys.argv[2].encode() + b'\\n'); server.stdin.flush()\n"
        "server.stdout.readline()\n"
        "print(server.pid, flush=True)\n"
        "server.stdin.write(sys.argv[3].encode() + b'\\n'); server.stdin.flush()\n"
        "server.wait()\n"
    )
    words = [sys.executable, "-c", script, json.dumps([str(COMMAND), "mcp"])]
    words += [json.dumps(HELLO), json.dumps(tool("verify"))]
    host = subprocess.Popen(words, cwd=project, stdout=subprocess.PIPE, text=True)
    assert host.stdout
    number = int(host.stdout.readline())
    host.kill()
    host.wait()
    host.stdout.close()
    until(lambda: not Path(f"/proc/{number}/fd/0").exists())


@pytest.mark.rule("HST-04")
def test_ten_calls_at_once(host: Host, project: Path, process: Call) -> None:
    tools = ("status", "next_step", "explain", "show_round", "verify") * 2
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda name: host.document(name, run=RUN), tools))
    assert answers[:5] == answers[5:]
    assert answers[0] == process("status", RUN, "--json", cwd=project).json


@pytest.mark.rule("HST-04", "ENG-03")
def test_of_ten_that_write_at_once_one_is_taken(host: Host, project: Path) -> None:
    run = scenes.add_run(project, "2026-05-18-many-writers")
    scenes.commit_all(project)
    scenes.advance(run)
    about = {"run": run.name, "step": "goals", "round": 1, "tag": "quality-claude"}
    with ThreadPoolExecutor(10) as pool:
        calls = [
            pool.submit(host.call, "submit_findings", **about, text="NO_FINDINGS")
            for _ in range(10)
        ]
    results = [call.result() for call in calls]
    assert sum(not one.is_error for one in results) == 1
    said = {one.content[0].text.partition(":")[0] for one in results if one.is_error}
    assert said == {"already-there"}
    assert (run / scenes.ROUND / "quality-claude.clean.md").exists()


@pytest.mark.rule("HST-04")
def test_a_megabyte_is_taken_in(host: Host, project: Path) -> None:
    files = {"config.md": runs.config(), **runs.approved("goals"), **runs.on_record("goals")}
    run = runs.on_disk(project, files, "2026-05-18-long-text")
    scenes.commit_all(project)
    asked = "---\nstatus: draft\n---\n# Questions\n\n1. [web] Why?\n"
    long = asked + "A line of a long text.\n" * 50_000
    host.document("submit_artifact", run=run.name, step="questions", text=long)
    assert (run / "questions.md").read_text() == long
    said = host.refusal("status", run="x" * 1_000_000)
    assert said.startswith("unknown-run: ")


@pytest.mark.rule("HST-04")
def test_a_run_that_breaks_is_said_and_mended(host: Host, project: Path) -> None:
    run = scenes.add_run(project, "2026-05-18-breaking-one")
    scenes.commit_all(project)
    good = (run / "config.md").read_bytes()
    assert host.document("status", run=run.name)["runs"][0]["errors"] == []
    (run / "config.md").write_bytes(b"---\nroute: [\n---\n")
    assert host.document("status", run=run.name)["runs"][0]["errors"] != []
    arguments = {"run": run.name, "step": "goals", "text": "# Goals\n"}
    assert host.refusal("submit_artifact", **arguments).startswith("config-unreadable: ")
    (run / "config.md").write_bytes(good)
    assert host.document("advance", run=run.name)["next"]["action"] == "review"
    run.rename(run.with_name("2026-05-18-renamed-one"))
    assert host.refusal("next_step", run=run.name).startswith("unknown-run: ")
    assert host.document("next_step", run="2026-05-18-renamed-one")["current_step"] == "goals"


@pytest.mark.rule("HST-04")
def test_a_name_that_is_no_text_is_told(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "shop"
    run = scenes.project(root)
    scenes.advance(run)
    os.close(os.open(os.fsencode(run / scenes.ROUND) + b"/odd-\xff.md", os.O_CREAT | os.O_WRONLY))
    with serving(root) as host:
        assert "odd-" in json.dumps(host.document("next_step", run=RUN))


@pytest.mark.rule("HST-04")
def test_noise_is_answered_and_survived(project: Path) -> None:
    server = started(project)
    say(server, HELLO)
    hear(server)
    say(server, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    say(server, "no json at all", '{"jsonrpc": "2.0"}', "[]", '"\\ud800"', "\x00")
    say(server, {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": 3}})
    say(server, tool("status", 8, run=RUN))
    answers = [hear(server)]
    while answers[-1].get("id") != 8:
        answers.append(hear(server))
    assert answers[-1]["result"]["structuredContent"]["runs"][0]["run"] == RUN
    server.communicate(timeout=20)
    assert server.returncode == 0


@pytest.mark.rule("HST-04")
def test_where_there_are_no_runs_it_says_so_until_there_are(tmp_path: Path) -> None:
    with serving(tmp_path.resolve()) as host:
        assert host.refusal("status").splitlines()[0].startswith("no-root: no docs/qrspi in ")
        listed = host.portal.call(host.client.list_resources).resources
        assert [one.uri for one in listed] == ["qrspi://runs"]
        scenes.project(tmp_path.resolve())
        assert host.document("status")["runs"][0]["run"] == RUN


def test_without_the_library_it_says_what_to_install(project: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util, sys\n"
        "real = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *a: None if name == 'mcp' else real(name, *a)\n"
    )
    done = subprocess.run(
        [COMMAND, "mcp"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == (
        "the MCP server needs mcp, which is not installed\n  pip install 'qrspi[mcp]'\n"
    )
