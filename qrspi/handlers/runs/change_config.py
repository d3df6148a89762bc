"""Change config.md: one field, what a renamed field needs, or the route."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, NoReturn

from qrspi.core.config import edit as config_edit
from qrspi.core.config import reader as configs
from qrspi.core.config import route
from qrspi.core.config.problems import FILE
from qrspi.core.errors import Misuse, Refusal
from qrspi.core.model import Problem
from qrspi.core.pipeline import ROUTABLE
from qrspi.core.steps import facts
from qrspi.core.tree import CONFIG_LIMIT, Fault, Tree
from qrspi.handlers.jobs import audit_trail as audit
from qrspi.handlers.jobs.job import Performed
from qrspi.world.runs.workspace import Workspace

MISTAKES = ("field-unknown", "unknown-route")  # in the command, not in the run


class Edit(NamedTuple):
    """config.md before and after, and in words what was done."""

    before: bytes
    after: bytes
    notes: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        return self.before != self.after


Change = Callable[[Tree, bytes], Edit]


def rehearse(tree: Tree, change: Change) -> Edit:
    """What `perform` would do."""
    content = tree.read(FILE, CONFIG_LIMIT)
    if isinstance(content, Fault):
        _refuse(tree, *configs.read(content).problems)
    return change(tree, content)


def perform(workspace: Workspace, event: str, change: Change, lock_timeout: float) -> Edit:
    with workspace.locked(lock_timeout, f"qrspi {event}"):
        edit = rehearse(workspace, change)
        if edit.changed:
            workspace.replace(FILE, edit.before, edit.after)
            done = Performed(event.replace(" ", "-"), "", files=(FILE,), notes=edit.notes)
            audit.record(workspace, "cli", done)
    return edit


def setting(key: str, value: str) -> Change:
    def change(tree: Tree, before: bytes) -> Edit:
        approved = facts.artifact_status(tree, "plan")[0] == "approved"
        after = config_edit.set_value(before, key, value, plan_approved=approved)
        return Edit(before, after if isinstance(after, bytes) else _refuse(tree, *after))

    return change


def migrating(tree: Tree, before: bytes) -> Edit:
    found = config_edit.migrate(before)
    if isinstance(found, Problem):
        _refuse(tree, found)
    return Edit(before, found.data, found.plan)


def routing(name: str) -> Change:
    def change(tree: Tree, before: bytes) -> Edit:
        statuses = {step: facts.artifact_status(tree, step)[0] for step in ROUTABLE}
        after = route.change(configs.read(before), statuses, name, before)
        return Edit(before, after if isinstance(after, bytes) else _refuse(tree, after))

    return change


def _refuse(tree: Tree, *problems: Problem) -> NoReturn:
    named = (configs.for_run(problem, tree.name) for problem in problems)
    raise (Misuse if problems[0].code in MISTAKES else Refusal)(*named)
