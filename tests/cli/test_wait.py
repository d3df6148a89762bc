"""`qrspi wait`: woken when somebody is needed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jsonschema
import pytest

from tests import runs, scenes
from tests.cli.conftest import COMMAND, Call
from tests.patience import LIMIT, until

SCHEMA = json.loads(Path(__file__).parents[2].joinpath("schemas/wait.schema.json").read_text())


@contextmanager
def waiting(project: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A command that listens and has looked, as it says."""
    argv = [COMMAND, "-v", "--root", project, "wait", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(argv, text=True, **pipes) as process:
        try:
            assert process.stderr
            assert process.stderr.readline().startswith(f"waiting for {runs.RUN} until ")
            yield process
        finally:
            process.kill()


@pytest.mark.rule("APV-03")
def test_a_host_is_woken_when_a_person_is_needed(tmp_path: Path) -> None:
    run = scenes.prepared(tmp_path)
    with waiting(tmp_path, "--for", "human", "--json") as process:
        scenes.review_clean(run)
        assert process.poll() is None
        scenes.advance(run)
        out = process.communicate(timeout=LIMIT)[0]
    document = json.loads(out)
    jsonschema.validate(document, SCHEMA)
    assert (process.returncode, document["for"], document["happened"]) == (0, "human", True)
    assert document["changed"] == ["steps", "next"]
    assert document["next"]["command"] is None  # a person decides
    assert [one["command"] for one in document["next"]["options"]] == [
        f"qrspi --root {tmp_path} approve {runs.RUN} goals",
        f"qrspi --root {tmp_path} reject {runs.RUN} goals -m TEXT",
    ]


@pytest.mark.rule("APV-03")
def test_any_change_of_where_it_stands_is_one(tmp_path: Path) -> None:
    run = scenes.prepared(tmp_path)
    clean = run / scenes.ROUND / "scope-claude.clean.md"

    def changes_its_mind() -> bool:
        """Whatever was there when the waiting began, it changes."""
        clean.unlink() if clean.exists() else scenes.save(clean, runs.clean("scope-claude"))
        return process.poll() is not None

    with waiting(tmp_path) as process:
        until(changes_its_mind)
        out, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, err) == (0, "")
    assert re.match("Next: Send (1 reviewer|2 reviewers) of goals round 1 ", out)


def test_who_is_needed_already_is_told_at_once(tmp_path: Path, process: Call) -> None:
    scenes.prepared(tmp_path)
    done = process("--root", tmp_path, "wait", "--for", "agent", "--json")
    assert (done.code, done.json["happened"], done.json["changed"]) == (0, True, [])
    assert done.json["next"]["action"] == "review"


def test_the_time_may_be_over_before(tmp_path: Path, process: Call) -> None:
    scenes.prepared(tmp_path)
    done = process("--root", tmp_path, "wait", "--for", "human", "--timeout", "0")
    assert (done.code, done.out.splitlines()[0], done.err) == (124, "Nothing happened in time.", "")
    done = process("--root", tmp_path, "wait", "--timeout", "0.1", "--json")
    jsonschema.validate(done.json, SCHEMA)
    assert (done.code, done.json["happened"]) == (124, False)


def test_nobody_is_waited_for_in_vain(tmp_path: Path, process: Call) -> None:
    run = scenes.project(tmp_path)
    (run / "closed.md").write_text("---\nreason: enough\n---\n")
    refused = process("--root", tmp_path, "wait", "--for", "human")
    assert refused == (
        3,
        "",
        f"run {runs.RUN} is closed: nobody will be needed\n"
        f"  qrspi --root {tmp_path} status {runs.RUN}\n",
    )


def test_a_run_that_vanishes_is_not_waited_for(tmp_path: Path) -> None:
    run = scenes.prepared(tmp_path)
    with waiting(tmp_path, "--for", "human") as process:
        run.rename(tmp_path / "elsewhere")
        out, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, out, err) == (
        4,
        "",
        f"run {runs.RUN} is gone: it was deleted or renamed meanwhile\n"
        f"  qrspi --root {tmp_path} status\n",
    )
    shutil.rmtree(tmp_path / "elsewhere")


def test_whoever_waits_is_told_that_nobody_works(tmp_path: Path, process: Call) -> None:
    scenes.project(tmp_path)
    done = process("--root", tmp_path, "wait", "--for", "human", "--timeout", "0")
    assert (done.code, done.err) == (
        124,
        f"nobody does what can be done now: run `qrspi next {runs.RUN}`, or have `qrspi watch` "
        "do it\n",
    )
