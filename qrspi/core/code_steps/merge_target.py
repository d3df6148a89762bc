"""The branch that tasks are merged into: one that a person named, or else the one that the plan was
approved on. Nothing is merged into the default branch unless a person named that branch."""

from __future__ import annotations

from qrspi.core.filenames import slug_of
from qrspi.core.model import Next
from qrspi.core.pipeline import STEP
from qrspi.core.steps.facts import Facts
from qrspi.core.yaml import frontmatter

FIELD = "feature_branch"


def known(facts: Facts) -> str:
    """'' while it is not on file."""
    return facts.config.feature_branch or recorded(facts)


def recorded(facts: Facts) -> str:
    """The branch that the approval of the plan wrote into it."""
    return frontmatter.filled(frontmatter.fields(facts.tree.head(STEP["plan"].artifact)), FIELD)


def is_unnamed(facts: Facts) -> bool:
    """Whether the plan was approved on the default branch, and nobody has said more: then it
    leaves the field open."""
    fields = frontmatter.fields(facts.tree.head(STEP["plan"].artifact))
    return FIELD in fields and not known(facts)


def ask(facts: Facts, keys: tuple[str, ...]) -> Next:
    name = f"qrspi next {facts.run} --onto BRANCH"
    # Not `qrspi/<slug>`: git keeps the branches of tasks below that name.
    own = f"feature/{slug_of(facts.run)}"
    verb = "are" if len(keys) > 1 else "is"
    why = "the plan was approved on the default branch, and nobody has named a branch"
    return Next(
        action="decide",
        who="human",
        summary=f"Which branch {verb} {', '.join(keys)} merged into? Say it with `{name}`: the "
        f"default branch, or one that you make for it (`git switch -c {own}`).",
        because=(why,),
        step=facts.step,
        missing=keys,
        command=name,
        kind="onto",
    )
