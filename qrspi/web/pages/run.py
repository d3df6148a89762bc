"""`/runs/RUN`: where it stands, why, and the answers it asks for."""

from __future__ import annotations

from qrspi.cli.in_process import Commands
from qrspi.core.pipeline import subject
from qrspi.web.answers import gates
from qrspi.web.answers.shown_texts import ShownTexts
from qrspi.web.html import Page
from qrspi.web.pages import board, step
from qrspi.web.parts import agents, navigation, review_rounds, words
from qrspi.world.runs.committed_tree import CommittedTree


def page(commands: Commands, texts: ShownTexts, name: str) -> Page:
    document = commands.ask("status", name)
    run = document["runs"][0]
    tree = CommittedTree(f"{commands.session.root.runs_dir}/{name}")
    name_of_step = run["next"]["step"] or run["current_step"] or ""
    reviewed = subject(name_of_step)
    rounds = review_rounds.of_step(tree, reviewed) if reviewed else ()
    asked = gates.text_asked(run)
    context = {
        "run": run,
        "step": name_of_step,
        "who": "nobody" if run["closed"] else run["next"]["who"],
        "title_of_next": _title(run["closed"], run["next"]["who"]),
        "why": () if run["closed"] else gates.why(run),
        "why_closed": board.why_closed(commands, run),
        "errors": gates.errors(run),
        "forms": gates.of_run(run),
        "aside": gates.aside(run),
        "held": gates.held(run),
        "read": step.text(commands, texts, run, asked) if asked else None,
        "rounds": rounds,
        "plot": review_rounds.plot(rounds),
        "agents": agents.awaited(commands, run),
        "tabs": navigation.run_tabs(name, ""),
        "track": navigation.stops(run),
        "last": board.last_change(commands, name),
    }
    return Page("run.html", name, context, name)


def _title(closed: bool, who: str) -> str:
    if closed:
        return "Set aside"
    return "Nothing is left to do" if who == "nobody" else words.WHO[who]
