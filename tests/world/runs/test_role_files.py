"""Overriding a role: the run's file first, then the project's, then the shipped one."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi.core.agents import roles
from qrspi.core.agents.roles import Role
from qrspi.core.model import Problem
from qrspi.world.runs import role_files


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "docs/qrspi/2026-05-17-user-auth").mkdir(parents=True)
    return tmp_path


def _run(project: Path) -> Path:
    return project / "docs/qrspi/2026-05-17-user-auth"


def _write(place: Path, name: str, text: str) -> Path:
    file = place / ".qrspi/agents" / f"{name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def _role(text: str, name: str = "verifier") -> str:
    return f"---\nname: {name}\ntier: high\n---\n{text}\n"


def _problem(answer: Role | Problem) -> str:
    assert isinstance(answer, Problem)
    return answer.message


@pytest.mark.rule("PRM-05")
def test_the_nearest_file_wins(project):
    assert role_files.load("verifier", _run(project), project) == role_files.shipped("verifier")
    ours = _write(project, "verifier", _role("The project's."))
    assert role_files.load("verifier", _run(project), project) == Role(
        "verifier", "high", None, "The project's.", str(ours)
    )
    mine = _write(_run(project), "verifier", _role("The run's."))
    assert role_files.load("verifier", _run(project), project) == Role(
        "verifier", "high", None, "The run's.", str(mine)
    )


@pytest.mark.rule("PRM-05", "MTX-03")
def test_a_reviewer_of_ones_own_needs_a_text(project):
    name = roles.for_tag("stitching-audit-claude")
    assert _problem(role_files.load(name, _run(project), project)) == (
        "no role named 'reviewer-stitching-audit' is shipped; expected "
        ".qrspi/agents/reviewer-stitching-audit.md in the run or the project"
    )
    _write(project, name, _role("Look at the seams.", name))
    assert isinstance(role_files.load(name, _run(project), project), Role)


@pytest.mark.rule("PRM-05")
@pytest.mark.parametrize("name", ["../verifier", "a/b", "", "shared/emit-files", "nobody"])
def test_names_that_no_role_has(project, name):
    assert _problem(role_files.load(name, _run(project), project)) == (
        f"no role named {name!r} is shipped; expected .qrspi/agents/{name}.md in the run or the "
        "project"
    )


@pytest.mark.rule("PRM-05", "SEC-02")
def test_an_override_that_cannot_be_used_is_not_passed_over(project):
    file = _write(_run(project), "verifier", "no frontmatter")
    assert _problem(role_files.load("verifier", _run(project), project)) == (
        f"{file}: frontmatter: found none, expected frontmatter with name and tier"
    )
    file.write_text(_role("x" * roles.LIMIT))
    assert _problem(role_files.load("verifier", _run(project), project)) == (
        f"{file} cannot be read: it is too large, {file.stat().st_size:,} bytes, "
        "expected at most 262,144 bytes; "
        "expected a readable text file"
    )
    file.unlink()
    file.symlink_to(project / "elsewhere.md")
    assert _problem(role_files.load("verifier", _run(project), project)) == (
        f"{file} cannot be read: it is a symlink; expected a readable text file"
    )


@pytest.mark.rule("PRM-05")
def test_the_contracts_parts_stay_the_packages(project):
    before = role_files.shared_parts()["emit-print"]
    _write(project, "emit-print", "Do as you like.")
    role_files.shared_parts.cache_clear()
    assert role_files.shared_parts()["emit-print"] == before
