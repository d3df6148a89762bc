"""The branch that tasks are merged into."""

from __future__ import annotations

from collections.abc import Mapping

from qrspi.core.filenames import slug_of
from qrspi.core.model import Next, Option
from qrspi.core.pipeline import STEP
from qrspi.core.steps.facts import Facts
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.nodes import Node

_BRANCH = "feature_branch"


def name(facts: Facts) -> str:
    """The branch that a person named, or else the one that the plan was approved on; '' while
    neither is on record. Nothing is merged into the default branch unless a person named it."""
    return facts.config.feature_branch or frontmatter.filled(_plan_fields(facts), _BRANCH)


def _plan_fields(facts: Facts) -> Mapping[str, Node]:
    return frontmatter.fields(facts.tree.head(STEP["plan"].artifact))


def is_unnamed(facts: Facts) -> bool:
    """An approval of the plan on the default branch leaves its field open."""
    return _BRANCH in _plan_fields(facts) and not name(facts)


def ask(facts: Facts, keys: tuple[str, ...]) -> Next:
    onto = f"qrspi next {facts.run} --onto BRANCH"
    # Not `qrspi/<slug>`: git keeps the tasks' branches below that name.
    own = f"feature/{slug_of(facts.run)}"
    verb = "are" if len(keys) > 1 else "is"
    why = "the plan was approved on the default branch, and nobody has named a branch"
    return Next(
        action="decide",
        who="human",
        summary=f"Which branch {verb} {', '.join(keys)} merged into? Say it with `{onto}`: the "
        f"default branch, or one of your own, such as {own}.",
        because=(why,),
        step=facts.step,
        missing=keys,
        options=(Option("onto", "merge into this branch", onto),),
        command=onto,
        kind="onto",
    )
