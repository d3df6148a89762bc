"""Task files for tests of the quality gate, written down in a few words."""

from __future__ import annotations

from qrspi.core.gates.quality import task_spec
from qrspi.core.gates.quality.task_spec import Spec
from qrspi.core.tree import MemoryTree

NOW = "2026-05-17T09:30:00Z"
PROJECT = MemoryTree({"links.py": b"", "web/app.py": b""})

DESCRIPTION = "Links that members get by mail are kept for an hour, in memory."
CRITERIA = """\
- `pytest tests/test_links.py` passes.
- A link that is an hour old is refused with status 410."""
PLAN = """\
1. Write `links.py` with a dictionary from token to member.
2. Add `tests/test_links.py` with a test for each criterion.
3. Run `pytest` and mend whatever it reports until it passes."""
CONTEXT = "Mails are sent by another task."


def task(
    *,
    title: str = "Keep sign-in links",
    description: str = DESCRIPTION,
    criteria: str = CRITERIA,
    plan: str = PLAN,
    context: str | None = CONTEXT,
    number: int = 1,
    **fields: str,
) -> bytes:
    """A good task, but for what is said otherwise; '' leaves a section or a field out."""
    front = {"status": "draft", "working_directory": ".", **fields}
    lines = "".join(f"{key}: {value}\n" for key, value in front.items() if value)
    parts = {
        "Description": description,
        "Acceptance Criteria": criteria,
        "Execution Plan": plan,
        "Context": context,
    }
    body = "".join(f"\n## {name}\n\n{text}\n" for name, text in parts.items() if text)
    return f"---\n{lines}---\n# Task {number:02d}: {title}\n{body}".encode()


def spec(**more: str) -> Spec:
    found = task_spec.read(task(**more), "task-01")  # type: ignore[arg-type]
    assert isinstance(found, Spec)
    return found


def reply(verdict: str = "", gaps: str = "- a gap", fixes: str = "- a fix", **marks: str) -> str:
    """An answer whose axes are all good, but for those that are named."""
    axes = {
        "goal": "◯",
        "boundary": "◯",
        "verifiability": "◯",
        "reproducibility": "◯",
        "hidden_context": "◯",
    } | marks
    word = "REJECT" if "✗" in axes.values() else "NEEDS_REFINEMENT" if "△" in axes.values() else ""
    lines = "\n".join(f"- {axis.replace('_', ' ')}: {mark} — so." for axis, mark in axes.items())
    return (
        f"## Verdict: {verdict or word or 'PASS'}\n\n## Per-axis findings\n{lines}\n\n"
        f"## Specific gaps\n{gaps}\n\n## Suggested concrete fixes\n{fixes}\n"
    )
