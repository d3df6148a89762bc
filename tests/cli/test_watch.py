"""`qrspi watch`: for all runs what `next` does for one, and nothing that is for a person."""

from __future__ import annotations

import hashlib
import json
import os
import plistlib
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from qrspi.world.runs import heartbeat
from qrspi.world.runs.workspace import Workspace
from tests import runs, scenes
from tests.cli.conftest import Call
from tests.daemons import Daemon
from tests.patience import LIMIT, until
from tests.project import trap

SCHEMA = json.loads(Path(__file__).parents[2].joinpath("schemas/watch.schema.json").read_text())
SECOND = "2026-05-18-other-run"


def did(daemon: Daemon, handler: str, run: str = runs.RUN, number: int = 1) -> dict[str, Any]:
    return daemon.heard("performed", run=run, handler=handler, round=number)


def waits(daemon: Daemon, who: str, action: str, run: str = runs.RUN) -> dict[str, Any]:
    """The line that says so; every line is what the schema says."""
    line = daemon.until(
        lambda line: (
            line["event"] == "waits"
            and (line["run"], line["next"]["who"], line["next"]["action"]) == (run, who, action)
        )
    )
    for told in daemon.log:
        jsonschema.validate(told, SCHEMA)
    return line


def snapshot(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Every file below, so that a rewrite with the same bytes is noticed too."""
    return {
        file.relative_to(folder).as_posix(): (
            file.lstat().st_ino,
            file.lstat().st_mtime_ns,
            hashlib.sha256(file.read_bytes()).hexdigest(),
        )
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != "heartbeat.json"
    }


@pytest.mark.rule("DMN-01", "DMN-05")
def test_a_round_goes_on_as_its_files_come_and_stops_before_a_person(tmp_path: Path) -> None:
    run = scenes.project(tmp_path)
    with Daemon(tmp_path) as daemon:
        assert daemon.log[0]["event"] == "started"
        assert any(line.get("handler") == "prepare-round" for line in daemon.log)
        scenes.review(run)
        did(daemon, "assemble")
        line = waits(daemon, "agent", "apply-fixes")
        assert line["path"] == f"docs/qrspi/{runs.RUN}"
        scenes.fix(run)
        did(daemon, "commit-round")
        did(daemon, "choose-loop")
        did(daemon, "prepare-round", number=2)
        for tag in scenes.TAGS:
            clean = run / "reviews/goals/round-02" / f"{tag}.clean.md"
            clean.write_bytes(runs.clean(tag, 2))
        did(daemon, "assemble", number=2)
        waits(daemon, "human", "approve")
        assert daemon.stop() == 0
        assert daemon.log[-1]["event"] == "stopped"
    assert b"status: draft" in (run / "goals.md").read_bytes()
    assert daemon.errors == ""


@pytest.mark.rule("DMN-01")
@pytest.mark.parametrize("step", ["goals", "design"])
def test_goals_and_design_are_never_approved_by_the_daemon(tmp_path: Path, step: str) -> None:
    """Not even in a quick run, where other steps approve themselves when their review is clean."""
    route = ["goals", "questions", "research", "design", "plan", "implement", "test"]
    earlier = route[: route.index(step)]
    files = {
        "config.md": runs.config("quick", route=f"[{', '.join(route)}]"),
        **runs.approved(*earlier),
        f"{step}.md": runs.artifact(),
    }
    run = runs.on_disk(tmp_path, files)
    scenes.advance(run)
    with Daemon(tmp_path) as daemon:
        for tag in scenes.TAGS:
            folder = run / f"reviews/{step}/round-01"
            scenes.save(folder / f"{tag}.clean.md", runs.clean(tag))
        waits(daemon, "human", "approve")
    assert b"status: draft" in (run / f"{step}.md").read_bytes()
    assert not (run / "approvals.jsonl").exists()


@pytest.mark.rule("DMN-01")
def test_new_runs_renamed_runs_and_deleted_runs_are_noticed(tmp_path: Path) -> None:
    run = scenes.project(tmp_path)
    with Daemon(tmp_path) as daemon:
        other = scenes.add_run(tmp_path, SECOND, by_hand=True)
        daemon.heard("failed", run=SECOND)  # its goals are in no commit yet
        scenes.commit_all(tmp_path)
        did(daemon, "prepare-round", SECOND)
        renamed = other.with_name("2026-05-19-new-name")
        other.rename(renamed)
        daemon.heard("gone", run=SECOND)
        scenes.review(renamed)
        waits(daemon, "agent", "apply-fixes", renamed.name)
        shutil.rmtree(renamed)
        daemon.heard("gone", run=renamed.name)
        scenes.review(run)
        did(daemon, "assemble")
        assert daemon.stop() == 0


@pytest.mark.rule("DMN-01", "DMN-02", "DMN-07")
def test_the_folder_of_all_runs_may_go_and_come_back(tmp_path: Path) -> None:
    run = scenes.prepared(tmp_path / "project")
    docs = tmp_path / "project" / "docs"
    with Daemon(tmp_path / "project") as daemon:
        docs.rename(tmp_path / "aside")
        daemon.heard("gone", run=runs.RUN)
        shutil.copytree(tmp_path / "aside", docs)
        until(lambda: heartbeat.daemon(str(run.parent)), "the daemon took its place again")
        scenes.review(run)
        did(daemon, "assemble")
        assert daemon.stop() == 0


@pytest.mark.rule("DMN-03", "DMN-08")
def test_whoever_takes_the_place_of_a_lost_mark_is_the_daemon(tmp_path: Path) -> None:
    run = scenes.prepared(tmp_path)
    with Daemon(tmp_path, "--sweep", "0.2") as first:
        first.pause()
        shutil.rmtree(run.parent / ".qrspi")
        with Daemon(tmp_path) as second:
            first.go_on()
            assert first._ended() == 5
            last = first.log[-1]
            assert last == {**last, "schema": "qrspi/error/v1", "code": "busy"}
            assert f"process {second.process.pid} (qrspi watch)" in last["message"]


@pytest.mark.rule("DMN-02")
def test_a_second_pass_over_unchanged_files_writes_nothing(tmp_path: Path) -> None:
    scenes.assembled(tmp_path)
    scenes.add_run(tmp_path, SECOND)
    scenes.commit_all(tmp_path)
    scenes.advance(tmp_path / "docs" / "qrspi" / SECOND)
    with Daemon(tmp_path, "--sweep", "0.1") as daemon:
        before = snapshot(tmp_path)
        beat = tmp_path / "docs/qrspi/.qrspi/heartbeat.json"
        seen: set[int] = set()

        def several_looks() -> bool:
            seen.add(beat.stat().st_ino)
            return len(seen) > 3

        until(several_looks)
        assert snapshot(tmp_path) == before
        assert daemon.stop() == 0
    assert [line["event"] for line in daemon.log] == ["started", "looked", "stopped"]


@pytest.mark.rule("DMN-02")
def test_a_lost_event_is_healed_by_the_sweep(tmp_path: Path) -> None:
    """A file that is written through an open descriptor, long after it was opened."""
    run = scenes.prepared(tmp_path)
    scenes.review(run)
    score = run / scenes.ROUND / scenes.SCORE
    score.write_bytes(b"")
    with Daemon(tmp_path, "--sweep", "0.2") as daemon, score.open("r+b", buffering=0) as file:
        file.write(runs.score(85))
        did(daemon, "assemble")


@pytest.mark.rule("DMN-07")
def test_polling_finds_what_events_would(tmp_path: Path) -> None:
    run = scenes.prepared(tmp_path)
    with Daemon(tmp_path, "--poll", "--sweep", "0.2") as daemon:
        assert daemon.log[0]["manner"] == "looking every 0.2 s (as you asked)"
        scenes.review(run)
        did(daemon, "assemble")


@pytest.mark.rule("DMN-03", "DMN-08")
def test_a_second_daemon_is_refused_and_one_shots_are_not(tmp_path: Path, process: Call) -> None:
    run = scenes.prepared(tmp_path)
    with Daemon(tmp_path) as daemon:
        refused = process("--root", tmp_path, "watch")
        assert refused == (
            5,
            "",
            f"these runs are watched already, by process {daemon.process.pid} (qrspi watch): "
            f"one daemon is enough\n  qrspi --root {tmp_path} status\n",
        )
        assert process("--root", tmp_path, "next").code == 0
        told = process("--root", tmp_path, "status").out.splitlines()[-1]
        assert told.startswith(f"A daemon watches these runs: process {daemon.process.pid}")
        scenes.review(run)
        did(daemon, "assemble")


@pytest.mark.rule("DMN-04")
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_in_good_order(tmp_path: Path, sign: signal.Signals) -> None:
    scenes.prepared(tmp_path)
    with Daemon(tmp_path) as daemon:
        assert (daemon.stop(sign), daemon.log[-1]["event"], daemon.errors) == (0, "stopped", "")


@pytest.mark.rule("DMN-04")
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_what_was_begun_is_finished_before_it_ends(tmp_path: Path, sign: signal.Signals) -> None:
    """The signal goes to git too, as ^C does, in the middle of a commit."""
    run = scenes.fixed(tmp_path)
    begun, go_on = tmp_path / "begun", tmp_path / "go-on"
    wait = f"touch {begun}; while [ ! -e {go_on} ]; do sleep 0.01; done"
    trap(tmp_path / ".git/hooks/pre-commit", wait)
    argv = [sys.executable, "-m", "qrspi", "--root", str(tmp_path), "watch"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True) as daemon:
        until(begun.exists)
        os.killpg(daemon.pid, sign)
        go_on.touch()
        log = daemon.communicate(timeout=LIMIT)[0].decode()
    assert daemon.returncode == 0, log
    assert (run / scenes.ANCHOR).read_text().strip() == scenes.git(tmp_path, "rev-parse", "HEAD")
    assert log.splitlines()[-1].endswith(" stopped")


@pytest.mark.rule("DMN-05", "ENG-05")
def test_a_run_that_fails_is_told_once_and_the_others_go_on(tmp_path: Path) -> None:
    run = scenes.fixed(tmp_path)
    scenes.add_run(tmp_path, SECOND)
    scenes.git(tmp_path, "add", "docs/qrspi/" + SECOND)
    scenes.git(tmp_path, "commit", "-q", "-m", "other", "--", "docs/qrspi/" + SECOND)
    lock = tmp_path / ".git" / "index.lock"
    lock.touch()
    with Daemon(tmp_path, "--sweep", "0.5") as daemon:
        did_prepare = [line["run"] for line in daemon.log if line.get("handler") == "prepare-round"]
        assert did_prepare == [SECOND]
        scenes.review(tmp_path / "docs" / "qrspi" / SECOND)
        did(daemon, "assemble", SECOND)
        failures = [line for line in daemon.log if line["event"] == "failed"]
        assert [(line["run"], line["code"]) for line in failures] == [(runs.RUN, "index-locked")]
        lock.unlink()
        did(daemon, "commit-round")
        assert (run / scenes.ANCHOR).exists()


@pytest.mark.rule("DMN-08")
def test_a_commit_by_somebody_else_lets_a_run_go_on(tmp_path: Path) -> None:
    scenes.project(tmp_path, commit=False)
    with Daemon(tmp_path, "--sweep", "600") as daemon:
        (line,) = [line for line in daemon.log if line["event"] == "failed"]
        assert line["message"] == (
            "artifact goals.md is untracked — commit before reviewer dispatch"
        )
        scenes.commit_all(tmp_path)
        did(daemon, "prepare-round")


@pytest.mark.rule("ENG-02", "DMN-03")
def test_a_run_that_another_command_holds_is_looked_at_again(tmp_path: Path) -> None:
    run = scenes.reviewed(tmp_path)
    with Workspace(run).locked() as held, Daemon(tmp_path, "--sweep", "600") as daemon:
        assert [line["event"] for line in daemon.log] == ["started", "looked"]
        held.write("nothing.md", b"")
    with daemon:
        pass


def test_a_closed_run_is_left_alone(tmp_path: Path) -> None:
    run = scenes.project(tmp_path)
    (run / "closed.md").write_bytes(b"---\nreason: no longer wanted\n---\n")
    with Daemon(tmp_path, "--sweep", "0.1") as daemon:
        scenes.add_run(tmp_path, SECOND)
        scenes.commit_all(tmp_path)
        did(daemon, "prepare-round", SECOND)
        assert daemon.stop() == 0
    assert sorted(os.listdir(run)) == ["closed.md", "config.md", "goals.md"]


def test_committing_can_be_left_to_people(tmp_path: Path) -> None:
    run = scenes.fixed(tmp_path)
    head = scenes.git(tmp_path, "rev-parse", "HEAD")
    with Daemon(tmp_path, "--no-commit") as daemon:
        line = waits(daemon, "human", "commit-round")
    adopt = f"qrspi --root {tmp_path} round commit {runs.RUN} goals --adopt"
    assert line["next"]["command"] == adopt
    assert (scenes.git(tmp_path, "rev-parse", "HEAD"), (run / scenes.ANCHOR).exists()) == (
        head,
        False,
    )


def with_agents(root: Path, script: str) -> Path:
    """A run whose agents are a program that leaves a mark each time it is started."""
    agent = trap(root / "agent", f"cat > /dev/null; touch {root}/sent.$$; {script}")
    run = scenes.project(root / "project", commit=False)
    config = runs.config(commands=f"{{claude: {{argv: ['{agent}']}}}}")
    (run / "config.md").write_bytes(config)
    scenes.commit_all(root / "project")
    return run


@pytest.mark.rule("DMN-01")
def test_it_also_sends_agents_when_told_to(tmp_path: Path) -> None:
    with_agents(tmp_path, "echo NO_FINDINGS")
    with Daemon(tmp_path / "project", "--dispatch") as daemon:
        daemon.heard("sent", run=runs.RUN)
        waits(daemon, "human", "approve")
        assert daemon.stop() == 0
    assert len(list(tmp_path.glob("sent.*"))) == 2


def test_without_being_told_to_it_sends_nobody(tmp_path: Path) -> None:
    with_agents(tmp_path, "echo NO_FINDINGS")
    with Daemon(tmp_path / "project", "--sweep", "0.2") as daemon:
        assert daemon.log[-1]["waiting"]["agent"] == 1
        assert daemon.stop() == 0
    assert list(tmp_path.glob("sent.*")) == []


@pytest.mark.rule("SPD-02")
def test_what_failed_is_not_paid_for_again_by_itself(tmp_path: Path) -> None:
    run = with_agents(tmp_path, "echo no more credit >&2; exit 1")
    with Daemon(tmp_path / "project", "--dispatch", "--sweep", "0.2") as daemon:
        failed = daemon.heard("failed", run=runs.RUN)
        again = f"qrspi --root {tmp_path}/project next {runs.RUN} --dispatch"
        assert failed["hint"] == again
        before = len(list(tmp_path.glob("sent.*")))
        for number in range(3):
            scenes.save(run / "notes.md", b"%d" % number)
        scenes.add_run(tmp_path / "project", SECOND, by_hand=True)
        daemon.heard("failed", run=SECOND)
        assert daemon.stop() == 0
    assert len(list(tmp_path.glob("sent.*"))) == before
    assert len([line for line in daemon.log if line.get("run") == runs.RUN and "code" in line]) == 1


@pytest.mark.rule("DMN-04", "TRN-10")
def test_agents_end_with_the_daemon(tmp_path: Path) -> None:
    with_agents(tmp_path, "exec sleep 600")
    with Daemon(tmp_path / "project", "--dispatch") as daemon:
        until(lambda: len(list(tmp_path.glob("sent.*"))) == 2)
        assert daemon.stop() == 0
    for mark in tmp_path.glob("sent.*"):
        until(lambda pid=mark.suffix[1:]: not Path(f"/proc/{pid}").exists(), "the agent is gone")


def hook(folder: Path, script: str) -> str:
    """A command that keeps each document it is given in a file of its own."""
    return str(trap(folder / "hook", f"cat > {folder}/told.$$\n{script}"))


def told(folder: Path) -> list[dict[str, Any]]:
    documents = []
    for file in sorted(folder.glob("told.*")):
        document = json.loads(file.read_text())
        jsonschema.validate(document, SCHEMA)
        documents.append(document)
    return documents


@pytest.mark.rule("DMN-06")
def test_a_person_is_called_once_for_each_question(tmp_path: Path) -> None:
    run = scenes.prepared(tmp_path / "project")
    scenes.review_clean(run)
    command = hook(tmp_path, f"touch {tmp_path}/done.$$")
    with Daemon(tmp_path / "project", "--on-human", command, "--sweep", "0.1") as daemon:
        waits(daemon, "human", "approve")
        until(lambda: list(tmp_path.glob("done.*")))
        for number in range(5):
            scenes.save(run / "notes.md", b"%d" % number)
        other = scenes.add_run(tmp_path / "project", SECOND)
        (other / "config.md").write_bytes(b"---\nroute: nonsense\n---\n")
        waits(daemon, "human", "blocked", SECOND)
        until(lambda: len(list(tmp_path.glob("done.*"))) == 2)
        assert daemon.stop() == 0
    documents = {document["run"]: document for document in told(tmp_path)}
    assert len(told(tmp_path)) == 2
    asked = documents[runs.RUN]["next"]
    assert asked["options"][0]["command"] == f"qrspi approve {runs.RUN} goals"
    assert documents[SECOND]["next"]["kind"] == "config"


@pytest.mark.rule("DMN-06")
def test_a_person_is_called_for_a_run_that_cannot_go_on(tmp_path: Path) -> None:
    scenes.project(tmp_path / "project", commit=False)
    command = hook(tmp_path, f"touch {tmp_path}/done.$$")
    with Daemon(tmp_path / "project", "--on-human", command):
        until(lambda: list(tmp_path.glob("done.*")))
    (document,) = told(tmp_path)
    assert (document["event"], document["code"]) == ("failed", "untracked-artifact")


@pytest.mark.rule("DMN-06")
def test_a_file_that_is_being_written_calls_nobody(tmp_path: Path) -> None:
    """An empty finding breaks the contract, for as long as its writer needs to fill it."""
    run = scenes.prepared(tmp_path / "project")
    command = hook(tmp_path, "")
    with Daemon(tmp_path / "project", "--on-human", command) as daemon:
        finding = run / scenes.ROUND / scenes.FINDING
        for _ in range(20):
            finding.write_bytes(b"")
            finding.write_bytes(runs.finding())
        scenes.review(run)
        waits(daemon, "agent", "apply-fixes")
        assert daemon.stop() == 0
    assert told(tmp_path) == []


@pytest.mark.rule("DMN-06", "DMN-04")
@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("sleep 600", None),
        ("echo no bell >&2; exit 7", "`{}` exited 7: no bell"),
    ],
    ids=["hangs", "fails"],
)
def test_a_bad_hook_disturbs_nobody(tmp_path: Path, script: str, message: str | None) -> None:
    run = scenes.prepared(tmp_path / "project")
    scenes.review_clean(run)
    command = hook(tmp_path, script)
    with Daemon(tmp_path / "project", "--on-human", command) as daemon:
        waits(daemon, "human", "approve")
        if message:
            line = daemon.heard("failed", code="hook-failed")
            assert line["message"] == message.format(command)
        else:
            until(lambda: told(tmp_path))
        scenes.save(run / "goals.md", runs.artifact(body="# Other\n"))
        did(daemon, "prepare-round", number=2)
        assert (daemon.stop(), daemon.errors) == (0, "")


def test_a_hook_that_is_no_command_line_is_refused(tmp_path: Path, process: Call) -> None:
    scenes.project(tmp_path)
    refused = process("--root", tmp_path, "watch", "--on-human", "notify 'me")
    assert (refused.code, refused.err.splitlines()[0]) == (
        2,
        "Invalid value for --on-human: No closing quotation: notify 'me",
    )


def test_a_hook_that_is_no_command_is_refused(tmp_path: Path, process: Call) -> None:
    scenes.project(tmp_path)
    refused = process("--root", tmp_path, "watch", "--on-human", "no-such-bell now")
    assert (refused.code, refused.err.splitlines()[0]) == (
        2,
        "Invalid value for --on-human: there is no command 'no-such-bell'",
    )


@pytest.mark.rule("DMN-05")
def test_the_log_for_people(tmp_path: Path) -> None:
    run = scenes.prepared(tmp_path)
    scenes.review(run)
    (run / scenes.ROUND / scenes.SCORE).unlink()
    scenes.advance(run)
    argv = [sys.executable, "-m", "qrspi", "--root", str(tmp_path), "watch"]
    environment = {**os.environ, "QRSPI_NOW": "2026-05-17T09:30:00Z"}
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=environment) as daemon:
        assert daemon.stdout
        log = [daemon.stdout.readline() for _ in range(2)]
        scenes.save(run / scenes.ROUND / scenes.SCORE, runs.score(85))
        log += [daemon.stdout.readline() for _ in range(3)]
        daemon.terminate()
        log += daemon.communicate()[0].splitlines(keepends=True)
    now = "2026-05-17T09:30:00Z"
    assert "".join(log).replace(str(tmp_path), "/shop") == (
        f"{now} watching /shop/docs/qrspi, listening for changes, looking at everything every "
        f"30 s\n"
        f"{now} runs that wait: 1 for agents\n"
        f"{now} {runs.RUN}: done: collect the findings of goals round 1\n"
        f"{now} {runs.RUN}: done: write the prompts of goals round 1\n"
        f"{now} {runs.RUN}: waits for agents: Apply 1 finding to goals.md and say what was done "
        f"in reviews/goals/round-01-dispositions.md. "
        f"`qrspi --root /shop prompt {runs.RUN} fixer` prints what to tell "
        f"it.\n"
        f"{now} stopped\n"
    )


@pytest.mark.rule("DMN-05", "ENG-05")
def test_the_log_tells_what_cannot_go_on_and_how_it_could(tmp_path: Path) -> None:
    scenes.project(tmp_path, commit=False)
    with Daemon(tmp_path, "--log-format", "text", ready=False) as daemon:
        until(lambda: "runs that failed" in "".join(daemon.text))
        assert daemon.stop() == 0
    file = f"docs/qrspi/{runs.RUN}/goals.md"
    said = [line.partition("Z ")[2] for line in daemon.text[1:]]
    assert said == [
        f"{runs.RUN}: failed: artifact goals.md is untracked — commit before reviewer dispatch\n",
        f"{runs.RUN}:   git -C {tmp_path} add -- {file}\n",
        "runs that failed: 1\n",
        "stopped\n",
    ]


def by_this_interpreter(project: Path, *words: str) -> str:
    """A unit names the interpreter, which has several names."""
    argv = [sys.executable, "-m", "qrspi", "--root", str(project), *words]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


@pytest.mark.rule("DMN-05")
def test_a_unit_for_systemd(tmp_path: Path) -> None:
    project = tmp_path / "a 100% $odd 'place'"
    scenes.project(project)
    words = ("watch", "--print-unit", "systemd", "--no-commit", "--on-human", 'say "%h"')
    unit = by_this_interpreter(project, *words)
    assert f"Description=qrspi watch {tmp_path}/a 100%% $odd 'place'\n" in unit
    command = next(line for line in unit.splitlines() if line.startswith("ExecStart="))
    runs_dir = f"\"{tmp_path}/a 100%% $$odd 'place'/docs/qrspi\""
    assert command == (
        f"ExecStart={sys.executable} -I -m qrspi --root {runs_dir} watch --no-commit --sweep 30 "
        '--on-human "say \\"%%h\\"" --log-format text'
    )
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    file = tmp_path / "qrspi-watch.service"
    file.write_text(unit)
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--user", file], capture_output=True, text=True
    )
    assert file.name not in checked.stderr, checked.stderr


@pytest.mark.rule("DMN-05")
def test_a_unit_for_launchd(tmp_path: Path) -> None:
    project = tmp_path / "a <place> & more"
    scenes.project(project)
    words = ("watch", "--print-unit", "launchd", "--dispatch", "--sweep", "5")
    job = plistlib.loads(by_this_interpreter(project, *words).encode())
    assert job["ProgramArguments"] == [
        *(sys.executable, "-I", "-m", "qrspi", "--root", f"{project}/docs/qrspi"),
        *("watch", "--dispatch", "--sweep", "5", "--log-format", "text"),
    ]
    assert (job["RunAtLoad"], job["KeepAlive"]) == (True, {"SuccessfulExit": False})


@pytest.mark.rule("SPE-03")
def test_only_the_commands_that_stay_import_watchdog(tmp_path: Path) -> None:
    scenes.project(tmp_path)
    for words in (["next", "--dry-run"], ["watch", "--print-unit", "systemd"], ["watch", "--help"]):
        argv = [sys.executable, "-X", "importtime", "-m", "qrspi", "--root", str(tmp_path), *words]
        done = subprocess.run(argv, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        assert "watchdog" not in imported, words
