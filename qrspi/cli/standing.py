"""What `status` says: where runs stand, and whether a daemon looks after them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from qrspi.core.derive import derive
from qrspi.core.model import Problem, RunState
from qrspi.core.refusal import Halt
from qrspi.core.tree import Fault
from qrspi.render import states
from qrspi.render.paint import painter
from qrspi.world import heartbeat, locate
from qrspi.world.disk import DiskTree, inside_git
from qrspi.world.heartbeat import Daemon

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qrspi.cli.session import Session
    from qrspi.world.locate import RunDir


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
    found = look(session, request)
    session.answer(document(found), lines(session, request, found))


def look(session: Session, request: Request) -> Standing:
    runs = _runs(session, request)
    in_git = inside_git(session.root.runs_dir)

    def at(run: RunDir, *, thorough: bool, steps: bool = True) -> RunState:
        tree = DiskTree(run.path, in_git)
        return derive(tree, session.run_path(run), thorough=thorough, steps=steps)

    named, alone = request.run or session.root.only, len(runs) == 1
    steps = alone or session.json or request.explain or request.checklist
    found = [(run, at(run, thorough=alone, steps=steps)) for run in _told(session, runs)]
    kept = [(run, one) for run, one in found if named or request.everything or not one.closed]
    if len(kept) == 1 and not alone:
        kept = [(run, at(run, thorough=True)) for run, _ in kept]
    daemon = heartbeat.daemon(session.root.runs_dir)
    return Standing(tuple(state for _, state in kept), daemon, thorough=len(kept) <= 1)


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
    if len(runs) < 50 or not session.progress:
        return runs
    from qrspi.cli.progress import told

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
