"""What is said of a run that a person has closed: since when, why, and how it is taken up again."""

from __future__ import annotations

from qrspi.core.model import Next
from qrspi.core.pipeline import CLOSED
from qrspi.core.text import shortened
from qrspi.core.tree import Fault, Tree
from qrspi.core.yaml import frontmatter

_SHOWN = 120


def ask(tree: Tree) -> Next:
    command = f"qrspi reopen {tree.name}"
    why = f"The run is closed{since(tree.read(CLOSED))}"
    return Next("done", "nobody", f"{why}; `{command}` takes it up again.", (why,), command=command)


def since(content: bytes | Fault) -> str:
    if isinstance(content, Fault):
        return ""
    when = frontmatter.text(frontmatter.fields(content), "closed")
    reason = frontmatter.body(content).decode("utf-8", "replace").strip().partition("\n")[0]
    told = f" since {shortened.remark(when, 30)}" if when else ""
    reason = shortened.remark(reason, _SHOWN).rstrip(".")
    return f"{told}, because: {reason}" if reason else told
