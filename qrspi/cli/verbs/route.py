"""`qrspi route`: the steps of a run, and changing them."""

from __future__ import annotations

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.app import VerbGroup
from qrspi.cli.session import Session
from qrspi.core.config import problems as config_problems
from qrspi.core.config import reader as configs
from qrspi.core.config.edit import template_of
from qrspi.core.errors import Refusal
from qrspi.core.pipeline import ROUTES, STEP
from qrspi.core.steps.facts import artifact_status
from qrspi.core.tree import CONFIG_LIMIT
from qrspi.handlers.runs import change_config
from qrspi.render import config_page
from qrspi.render.terminal import table
from qrspi.world.files.run_tree import DiskTree

USAGE = "qrspi route set [RUN] quick|full|full-ux"


@click.group("route", cls=VerbGroup)
def command() -> None:
    """Look at the steps of a run, or choose others.

    RUN may stand before or behind the action word.
    """


@command.action("show")
@arguments.run
def show(session: Session, run: str | None) -> None:
    """The steps in order, with the state of each artifact."""
    found = session.run(run)
    tree = DiskTree(found.path)
    config = configs.read(tree.read("config.md", CONFIG_LIMIT))
    if config.route is None:
        wrong = [item for item in config.problems if item.field in ("route", "")]
        raise Refusal(*(config_problems.for_run(item, tree) for item in wrong or config.problems))
    name = template_of(config.route)
    steps = [(step, STEP[step].artifact, artifact_status(tree, step)[0]) for step in config.route]
    document = {
        "schema": "qrspi/route-show/v1",
        "run": found.name,
        "name": name,
        "route": list(config.route),
        "steps": [
            {"step": step, "artifact": artifact, "status": status}
            for step, artifact, status in steps
        ],
    }
    title = f"{found.name}: {f'the {name} route' if name else 'a route of its own'}"
    head = ("STEP", "ARTIFACT", "STATUS")
    session.answer(document, [title, "", *table(head, steps, session.width)])


@command.action("set")
@arguments.words("[RUN] quick|full|full-ux")
@arguments.dry_run("what would change")
def set_(session: Session, words: tuple[str, ...], dry_run: bool) -> None:
    """Change to another route, as long as the plan is not approved.

    The pipeline and the question budget in config.md change with it, in one write.
    """
    run, name = run_words.run_and_known(words, tuple(ROUTES), USAGE)
    if name is None:
        said = f"{run!r} is no route" if run else "a route is needed"
        hint = USAGE
        raise run_words.misuse(f"{said}; expected quick, full or full-ux", hint=hint)
    found = session.run(run)
    workspace, change = run_words.workspace(found.path, dry_run), change_config.routing(name)
    edit = change_config.perform(
        workspace, "route set", change, session.lock_timeout, session.surface
    )
    document = {
        "schema": "qrspi/route-set/v1",
        "run": found.name,
        "name": name,
        "route": list(ROUTES[name]),
        **config_page.edit_document(edit, dry_run),
    }
    session.answer(document, config_page.edit_lines(edit, dry_run))
