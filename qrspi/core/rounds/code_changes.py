"""Whether the code is still that of an earlier commit, which was tested or reviewed."""

from __future__ import annotations

from qrspi.core.config.reader import Config
from qrspi.core.pipeline import STEP
from qrspi.core.text import shortened
from qrspi.core.tree import Tree
from qrspi.core.yaml import frontmatter

_LINE, _NAMED = 60, 3


def since(tree: Tree, config: Config, commit: str) -> str:
    """In words, with the commits; '' when nothing but runs has changed, or nobody can tell."""
    found = tree.code_since(commit, _branch(tree, config), config.code_path or "")
    if not found:
        return ""
    named = shortened.few([shortened.remark(one, _LINE) for one in found], _NAMED)
    return f"the code has changed since {commit[:12]} ({named})"


def _branch(tree: Tree, config: Config) -> str:
    """'' for the one that is checked out."""
    plan = frontmatter.fields(tree.head(STEP["plan"].artifact))
    return config.feature_branch or frontmatter.filled(plan, "feature_branch") or ""
