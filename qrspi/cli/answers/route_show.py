"""What `route show` says: the steps in order, with the state of each artifact."""

from __future__ import annotations

from qrspi.cli.session import Session
from qrspi.core.config import problems as config_problems
from qrspi.core.config import reader as configs
from qrspi.core.config.edit import template_of
from qrspi.core.errors import Refusal
from qrspi.core.pipeline import STEP
from qrspi.core.steps.facts import artifact_status
from qrspi.core.tree import CONFIG_LIMIT
from qrspi.render.terminal import table
from qrspi.world.files.run_tree import DiskTree


def show(session: Session, run: str | None = None) -> None:
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
