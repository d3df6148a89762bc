"""`/runs/RUN`: where it stands, why, and the answers it asks for."""

from __future__ import annotations

from qrspi.cli.in_process import Commands
from qrspi.core.pipeline import STEP, subject
from qrspi.web import gates, review_rounds
from qrspi.web.pages import board
from qrspi.web.pages.step import Text, text
from qrspi.web.shown_texts import ShownTexts
from qrspi.web.templates import Page
from qrspi.world.files.run_tree import DiskTree


def page(commands: Commands, texts: ShownTexts, name: str) -> Page:
    document = commands.ask("status", name)
    run = document["runs"][0]
    tree = DiskTree(f"{commands.session.root.runs_dir}/{name}")
    step = run["next"]["step"] or run["current_step"] or ""
    about = subject(step)
    rounds = review_rounds.of_step(tree, about) if about else ()
    read: Text | None = None
    if run["next"]["kind"] == "approve" and step in STEP and not run["closed"]:
        read = text(commands, texts, run, step)
    context = {
        "run": run,
        "step": step,
        "forms": gates.of_run(run),
        "aside": gates.aside(run),
        "decisions": gates.decisions(run),
        "read": read,
        "rounds": rounds,
        "plot": review_rounds.plot(rounds),
        "last": board.last_change(commands, name),
        "has_tasks": "implement" in run["route"],
        "daemon": document["daemon"],
    }
    return Page("run.html", name, context, name)
