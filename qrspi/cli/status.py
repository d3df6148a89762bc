"""`qrspi status`: where runs stand."""

from __future__ import annotations

import click

from qrspi.cli.app import Verb
from qrspi.cli.session import Session
from qrspi.core.derive import derive
from qrspi.core.model import Problem, RunState
from qrspi.core.refusal import Halt
from qrspi.core.tree import Fault
from qrspi.render import states
from qrspi.world import locate
from qrspi.world.disk import DiskTree, inside_git


@click.command("status", cls=Verb)
@click.argument("run", required=False)
@click.option("--all", "everything", is_flag=True, help="Closed runs too.")
@click.option("--explain", is_flag=True, help="Say why, and which files were read for it.")
@click.option("--checklist", is_flag=True, help="One line a step: [ ], [~] or [x].")
@click.pass_obj
def command(
    session: Session, run: str | None, everything: bool, explain: bool, checklist: bool
) -> None:
    """Where runs stand: a table, then the next action in one sentence.

    Without RUN all open runs are shown.
    """
    found = one_run(session, run) if run or session.root.only else all_runs(session, everything)
    document = {
        "schema": "qrspi/status/v1",
        "runs": [states.run_document(state) for state in found],
    }
    session.answer(document, _lines(session, found, explain, checklist))


def one_run(session: Session, word: str | None) -> list[RunState]:
    run = session.run(word)
    return [derive(DiskTree(run.path), session.run_path(run))]


def all_runs(session: Session, everything: bool) -> list[RunState]:
    """Every run; bodies are not hashed, so edits after approval are left to `status RUN`."""
    runs = locate.list_runs(session.root)
    if isinstance(runs, Fault):
        text = f"cannot list {session.root.runs_dir}: {runs.detail or runs.kind}"
        raise Halt(Problem("unreadable", text, file=session.root.runs_dir))
    in_git = inside_git(session.root.runs_dir)
    found = [
        derive(DiskTree(run.path, in_git), session.run_path(run), thorough=len(runs) == 1)
        for run in runs
    ]
    return [state for state in found if everything or not state.closed]


def _lines(session: Session, found: list[RunState], explain: bool, checklist: bool) -> list[str]:
    if not found:
        return [f"No runs in {session.root.runs_dir}. Start one with `qrspi init SLUG`."]
    if checklist:
        return _joined([[state.run, *states.checklist(state)] for state in found])
    if len(found) == 1 or explain:
        pages = [states.run_page(state, explain=explain, width=session.width) for state in found]
        return _joined(pages)
    return states.board(found, session.width)


def _joined(pages: list[list[str]]) -> list[str]:
    return [line for page in pages for line in (*page, "")][:-1]
