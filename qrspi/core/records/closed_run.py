"""closed.md: when a run was set aside, and why."""

from __future__ import annotations

from qrspi.core.tree import Fault
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.frontmatter import Front

FILE = "closed.md"
_SHOWN = 120


def render(when: str, reason: str) -> bytes:
    return f"---\nclosed: {when}\n---\n\n{reason.strip()}\n".encode()


def summary(content: bytes | Fault) -> str:
    """` since …, because …`, as far as the file says."""
    if isinstance(content, Fault):
        return ""
    front = frontmatter.read(content)
    when = frontmatter.text(front.fields, "closed") if isinstance(front, Front) else None
    reason = frontmatter.body(content).decode("utf-8", "replace").strip().partition("\n")[0]
    since = f" since {when}" if when else ""
    return f"{since}, because: {reason[:_SHOWN]}" if reason else since
