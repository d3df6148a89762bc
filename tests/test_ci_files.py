"""`action.yml` and `.pre-commit-hooks.yaml`, run as CI runs them, in a scratch repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests import runs, scenes
from tests.project import Project

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


def document(name: str) -> Any:
    return YAML(typ="safe").load((ROOT / name).read_text("utf-8"))


def shell(command: str, project: Path, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command],
        cwd=project,
        env={"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(project), "CI": "1", **environment},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def action(project: Path) -> list[tuple[int, str]]:
    """Each step of the composite action, with what it was given filled in."""
    told = document("action.yml")
    assert told["runs"]["using"] == "composite"
    given = {name: one["default"] for name, one in told["inputs"].items()} | {"package": ""}

    def filled(text: str) -> str:
        return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: given[found[1]], text)

    return [
        shell(
            step["run"],
            project / filled(step.get("working-directory", ".")),
            **{name: filled(value) for name, value in step.get("env", {}).items()},
        )
        for step in told["runs"]["steps"]
    ]


def pre_commit(project: Path) -> list[tuple[int, str]]:
    """Each hook with the files that it asks for, as pre-commit hands them over."""
    tracked = Project(project).git("ls-files").splitlines()
    found = []
    for hook in document(".pre-commit-hooks.yaml"):
        names = [name for name in tracked if re.search(hook["files"], name)]
        words = names if hook.get("pass_filenames", True) else []
        found.append(shell(" ".join([hook["entry"], *words]), project))
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A run with one closed round."""
    root = tmp_path.resolve()
    run = scenes.clean(root)
    scenes.advance(run)
    scenes.commit_all(root)
    return root


@pytest.mark.rule("HST-13")
def test_a_good_run_passes(project: Path) -> None:
    assert [status for status, _ in action(project)] == [0, 0, 0], action(project)
    assert [status for status, _ in pre_commit(project)] == [0, 0], pre_commit(project)


@pytest.mark.rule("HST-13")
def test_a_review_that_was_skipped_fails(project: Path) -> None:
    run = project / "docs/qrspi" / runs.RUN
    (run / "reviews/goals/round-01/scope-claude.clean.md").unlink()
    (run / "goals.md").write_bytes(runs.artifact("approved", scenes.BODY))
    scenes.commit_all(project)
    assert [status for status, _ in action(project)] == [0, 0, 3]
    assert [status for status, _ in pre_commit(project)] == [0, 3]


@pytest.mark.rule("HST-13")
def test_a_file_of_the_wrong_shape_fails(project: Path) -> None:
    run = project / "docs/qrspi" / runs.RUN
    (run / "goals.md").write_text("---\nstatus: [\n---\n")
    scenes.commit_all(project)
    assert action(project)[1][0] == 3
    assert pre_commit(project)[0][0] == 3
