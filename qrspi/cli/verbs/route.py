"""`qrspi route`: the steps of a run, and changing them."""

from __future__ import annotations

import click

from qrspi.cli.app import VerbGroup
from qrspi.cli.run_words import run_and
from qrspi.cli.session import Session
from qrspi.core.config import reader as configs
from qrspi.core.config import route as routes
from qrspi.core.errors import Misuse, Refusal
from qrspi.core.model import Problem
from qrspi.core.pipeline import ROUTES, STEP
from qrspi.core.steps.facts import artifact_status
from qrspi.core.tree import CONFIG_LIMIT
from qrspi.handlers.runs import change_config as configure
from qrspi.render import config_page as pages
from qrspi.render.columns import table
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.runs.workspace import Workspace


@click.group("route", cls=VerbGroup)
def command() -> None:
    """Look at the steps of a run, or choose others.

    RUN may stand before or behind the action word.
    """


@command.command("show")
@click.argument("run", required=False)
@click.pass_obj
def show(session: Session, run: str | None) -> None:
    """The steps in order, with the state of each artifact."""
    found = session.run(run)
    tree = DiskTree(found.path)
    config = configs.read(tree.read("config.md", CONFIG_LIMIT))
    if config.route is None:
        wrong = [item for item in config.problems if item.field in ("route", "")]
        raise Refusal(*(configs.for_run(item, found.name) for item in wrong or config.problems))
    name = routes.template_of(config.route)
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


@command.command("set")
@click.argument("words", nargs=-1, metavar="[RUN] quick|full|full-ux")
@click.option("--dry-run", is_flag=True, help="Say what would change; change nothing.")
@click.pass_obj
def set_(session: Session, words: tuple[str, ...], dry_run: bool) -> None:
    """Change to another route, as long as the plan is not approved.

    The pipeline and the question budget in config.md change with it, in one write.
    """
    run, name = run_and(words, tuple(ROUTES), "qrspi route set [RUN] quick|full|full-ux")
    if name is None:
        said = f"{run!r} is no route" if run else "a route is needed"
        text = f"{said}; expected quick, full or full-ux"
        raise Misuse(Problem("usage", text, hint="qrspi route set quick|full|full-ux"))
    found = session.run(run)
    change = configure.routing(name)
    if dry_run:
        edit = configure.rehearse(DiskTree(found.path), change)
    else:
        workspace = Workspace(found.path)
        edit = configure.perform(workspace, "route set", change, session.lock_timeout)
    lines = pages.changed_lines(edit.before, edit.after)
    document = {
        "schema": "qrspi/route-set/v1",
        "run": found.name,
        "name": name,
        "route": list(ROUTES[name]),
        "changed": edit.changed,
        "lines": lines,
        "dry_run": dry_run,
    }
    session.answer(document, pages.edit_lines(lines, dry_run))
