"""Which earlier artifact a finding is really about: where a loop back would go."""

from __future__ import annotations

from qrspi.core.model import Finding
from qrspi.core.pipeline import STEP
from qrspi.core.records import step_text as bodies
from qrspi.core.text import citations


def upstream(route: tuple[str, ...], step: str) -> tuple[str, ...]:
    """The steps before `step`. A finding about questions can only be about goals, one about
    research about goals or questions, and so on down the route."""
    return route[: route.index(step)] if step in route else route


def targets(finding: Finding, steps: tuple[str, ...], run: str) -> tuple[str, ...]:
    """Those of the steps whose text the finding cites, the earliest first. One is the target;
    among several a person chooses."""
    cited = {_owner(entry, steps, run) for entry in finding.referenced_files}
    return tuple(step for step in steps if step in cited)


def _owner(entry: str, steps: tuple[str, ...], run: str) -> str | None:
    citation = citations.parse(entry)
    path = _inside_run(citation.path, run) if citation else None
    if path is None:
        return None
    return next((step for step in steps if _belongs(path, step)), None)


def _belongs(path: str, step: str) -> bool:
    return path == STEP[step].artifact or bodies.is_companion(step, path)


def _inside_run(path: str, run: str) -> str | None:
    """Reviewers cite `goals.md`, `docs/qrspi/<run>/goals.md` and whole absolute paths."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        return None
    if run in parts:
        at = len(parts) - parts[::-1].index(run)
        return "/".join(parts[at:])
    return None if path.startswith("/") else "/".join(parts)
