"""settings.toml: this user's defaults. It lies with the user and never in a repository, where a
stranger could choose who gets the prompts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from qrspi.core.fleet import own_file
from qrspi.core.model import Problem

FILE = "settings.toml"
EXECUTORS = ("local", "celery")

_bad = partial(own_file.fault, "bad-settings")


def executor(document: Mapping[str, object], project: str, file: str) -> str | Problem:
    """What it says about this project, else about all; '' when it says nothing."""
    projects = document.get("projects", {})
    for name in document:
        if name not in ("executor", "projects"):
            return _bad(file, "", f"the key {name!r}", "executor or [projects.'/PATH']")
    if not isinstance(projects, dict):
        return _bad(file, "projects", "no table", "[projects.'/PATH']")
    for path, block in projects.items():
        if problem := _wrong_project(path, block, file):
            return problem
    own = projects.get(project, {})
    field = f"projects.{project!r}.executor" if "executor" in own else "executor"
    chosen = own.get("executor", document.get("executor", ""))
    if chosen != "" and chosen not in EXECUTORS:
        return _bad(file, field, repr(chosen), f"one of {', '.join(EXECUTORS)}")
    return str(chosen)


def _wrong_project(path: str, block: object, file: str) -> Problem | None:
    if not path.startswith("/"):
        return _bad(file, "projects", repr(path), "the absolute path of a project")
    if not isinstance(block, dict) or block.keys() - {"executor"}:
        return _bad(file, f"projects.{path!r}", "something else", "executor = 'local' or 'celery'")
    return None
