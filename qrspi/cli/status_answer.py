"""What `status` says: where runs stand, and whether a daemon looks after them."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from qrspi.core.derivation.derive import derive
from qrspi.core.errors import Halt
from qrspi.core.model import Problem, RunState
from qrspi.core.tree import Fault
from qrspi.render import run_page as states
from qrspi.render.colour import painter
from qrspi.world.files.run_tree import DiskTree, inside_git
from qrspi.world.runs import heartbeat, locate
from qrspi.world.runs.heartbeat import Daemon

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qrspi.cli.session import Session
    from qrspi.world.runs.locate import RunDir


MANY = 50  # runs, from which on they are remembered between two looks


class Request(NamedTuple):
    run: str | None = None
    everything: bool = False  # closed runs too
    explain: bool = False
    checklist: bool = False


class Standing(NamedTuple):
    runs: tuple[RunState, ...]
    daemon: Daemon | None
    thorough: bool  # whether changes after an approval were looked for


def show(session: Session, request: Request) -> None:
    with _uncollected():
        tell(session, request, look(session, request))


def tell(session: Session, request: Request, found: Standing, before: tuple[str, ...] = ()) -> None:
    """Only the one of the two that is asked for is made."""
    if session.json:
        session.emit(document(found))
    else:
        session.answer({}, [*before, *lines(session, request, found)])


@contextmanager
def _uncollected() -> Iterator[None]:
    """Nearly everything that is made here is shown; searching it for garbage again and again
    took an eighth of the time of `status --all`."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def look(session: Session, request: Request) -> Standing:
    runs = _runs(session, request)
    steps = len(runs) == 1 or session.json or request.explain or request.checklist
    found = _derived(session, runs, steps)
    if not (request.run or session.root.only or request.everything):
        found = {run: state for run, state in found.items() if not state.closed}
    if len(found) == 1 < len(runs):
        found = _derived(session, tuple(found), True)
    daemon = heartbeat.daemon(session.root.runs_dir)
    return Standing(tuple(found.values()), daemon, thorough=len(found) <= 1)


def _derived(session: Session, runs: tuple[RunDir, ...], steps: bool) -> dict[RunDir, RunState]:
    runs_dir = session.root.runs_dir
    in_git = inside_git(runs_dir)
    if len(runs) < MANY:
        alone = len(runs) == 1
        trees = (DiskTree(run.path, in_git, glance=True) for run in runs)
        found = [derive(tree, thorough=alone, steps=steps) for tree in trees]
    else:
        from qrspi.world.runs import cached_states as overview

        found = overview.states(runs_dir, _told(session, runs), in_git=in_git, steps=steps)
    pairs = zip(runs, found, strict=True)
    return {run: state._replace(path=session.run_path(run)) for run, state in pairs}


def _runs(session: Session, request: Request) -> tuple[RunDir, ...]:
    if request.run or session.root.only:
        return (session.run(request.run),)
    runs = locate.list_runs(session.root)
    if isinstance(runs, Fault):
        text = f"cannot list {session.root.runs_dir}: {runs.detail or runs.kind}"
        raise Halt(Problem("unreadable", text, file=session.root.runs_dir))
    return runs


def _told(session: Session, runs: tuple[RunDir, ...]) -> Iterable[RunDir]:
    """Many runs take a while: a person at a terminal is told how far we are."""
    if not session.progress:
        return runs
    from qrspi.cli.progress_line import told

    return told(runs, "reading runs")


def document(found: Standing) -> dict[str, Any]:
    return {
        "schema": "qrspi/status/v1",
        "runs": [states.run_document(state) for state in found.runs],
        "daemon": found.daemon._asdict() if found.daemon else None,
        "thorough": found.thorough,
    }


def lines(session: Session, request: Request, found: Standing) -> list[str]:
    if not found.runs:
        return [_nothing(session, request)]
    shown = states.Look(session.width, painter(session.color), request.explain)
    if request.checklist:
        return _joined([states.checklist(state, shown) for state in found.runs])
    if len(found.runs) == 1 or request.explain:
        pages = _joined([states.run_page(state, shown) for state in found.runs])
    else:
        pages = states.board(found.runs, shown)
    return [*pages, "", *_footer(found)]


def _nothing(session: Session, request: Request) -> str:
    where = session.root.runs_dir
    if request.everything or session.root.only:
        return f"No runs in {where}. Start one with `qrspi init SLUG`."
    return f"No open runs in {where}. Start one with `qrspi init SLUG`; `--all` shows closed ones."


def _footer(found: Standing) -> list[str]:
    told = [states.daemon_line(found.daemon)]
    if not found.thorough:
        told.append("Changes after an approval are looked for by `qrspi status RUN` only.")
    return told


def _joined(pages: list[list[str]]) -> list[str]:
    return [line for page in pages for line in (*page, "")][:-1]
