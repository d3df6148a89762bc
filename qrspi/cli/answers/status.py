"""What `status` says: where runs stand, and whether a daemon looks after them."""

from __future__ import annotations

import gc
import sys
import time
from contextlib import contextmanager

from qrspi.core.derivation.compaction_advice import checkpoint
from qrspi.core.errors import Halt
from qrspi.core.hints import TYPE_CHECKING, Any, TypeVar
from qrspi.core.model import RunState, counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import Fault
from qrspi.render import run_page
from qrspi.render.terminal import one_line, painter
from qrspi.world.files.run_tree import inside_git
from qrspi.world.runs import heartbeat, locate, machine_signs
from qrspi.world.runs.heartbeat import Daemon

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qrspi.cli.session import Session
    from qrspi.world.runs.locate import RunDir


MANY = 50  # from this many runs on, their states are kept between two looks
PATIENCE, PAUSE = 0.5, 0.1  # seconds until a line of progress is drawn, and between two
_ERASE = "\r\x1b[K"
T = TypeVar("T")


class Request(NamedTuple):
    run: str | None = None
    everything: bool = False  # closed runs too
    explain: bool = False
    checklist: bool = False


class Standing(NamedTuple):
    runs: tuple[RunState, ...]
    daemon: Daemon | None
    thorough: bool  # whether changes after an approval were looked for
    gates: tuple[tuple[str, ...], ...] = ()  # of each run what its gates say, where why is asked
    left_out: int = 0  # closed runs


def show(session: Session, **asked: Any) -> None:
    """Asked as the fields of `Request`."""
    request = Request(**asked)
    with _uncollected():
        tell(session, request, look(session, request))


def tell(session: Session, request: Request, found: Standing, before: tuple[str, ...] = ()) -> None:
    if session.json:
        session.answer(document(found), _when_read(session, request, found))
    else:
        shown = [*before, *lines(session, request, found)]
        advice = checkpoint(found.runs[0].next) if len(found.runs) == 1 else None
        session.show([*shown, *session.for_an_agent(advice)])


def _when_read(session: Session, request: Request, found: Standing) -> Iterator[str]:
    """Lines that are made only if somebody reads them."""
    yield from lines(session, request, found)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Nearly everything made here is shown, so there is little garbage; searching for it took an
    eighth of the time of `status --all`."""
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
    everything = len(found)
    if not (request.run or session.root.only or request.everything):
        found = {run: state for run, state in found.items() if not state.closed}
    # Runs that have ended stand last.
    left_out = everything - len(found)
    found = dict(sorted(found.items(), key=lambda pair: pair[1].complete or pair[1].closed))
    if len(found) == 1 < len(runs):
        found = _derived(session, tuple(found), True)
    daemon = heartbeat.daemon(session.root.runs_dir)
    gates = tuple(map(_gates, found)) if request.explain else ()
    return Standing(tuple(found.values()), daemon, len(found) <= 1, gates, left_out)


def _gates(run: RunDir) -> tuple[str, ...]:
    from qrspi.core.gates import gates_brief
    from qrspi.world.runs.committed_tree import CommittedTree

    return gates_brief.of_run(CommittedTree(run.path))


def _derived(session: Session, runs: tuple[RunDir, ...], steps: bool) -> dict[RunDir, RunState]:
    runs_dir = session.root.runs_dir
    in_git = inside_git(runs_dir)
    if len(runs) < MANY:
        found = _each(runs, in_git, thorough=len(runs) == 1, steps=steps)
    else:
        from qrspi.world.runs import state_cache

        telling = _counted if session.progress else iter
        found = state_cache.states(runs_dir, runs, in_git=in_git, steps=steps, telling=telling)
    pairs = zip(runs, found, strict=True)
    return {
        run: machine_signs.told(state._replace(path=session.run_path(run)), run.path)
        for run, state in pairs
    }


def _each(runs: Sequence[RunDir], in_git: bool, *, thorough: bool, steps: bool) -> list[RunState]:
    # Imported here: of many runs the states may all be known.
    from qrspi.core.derivation.derive import derive, derive_among
    from qrspi.world.runs.committed_tree import CommittedTree

    look = derive if len(runs) == 1 else derive_among
    trees = (CommittedTree(run.path, in_git, glance=True) for run in runs)
    return [look(tree, thorough=thorough, steps=steps) for tree in trees]


def glance(session: Session, runs: Sequence[RunDir]) -> tuple[RunState, ...]:
    """Some of many runs, as a look at all of them finds these."""
    found = _each(runs, inside_git(session.root.runs_dir), thorough=False, steps=False)
    pairs = zip(runs, found, strict=True)
    return tuple(machine_signs.told(state, run.path) for run, state in pairs)


def _runs(session: Session, request: Request) -> tuple[RunDir, ...]:
    if request.run or session.root.only:
        return (session.run(request.run),)
    found = locate.runs_and_odd(session.root)
    if isinstance(found, Fault):
        raise Halt(locate.no_listing(session.root, found))
    runs, odd = found
    session.note(*(locate.odd_name(name) for name in odd))
    return runs


def _counted(runs: Sequence[RunDir]) -> Iterator[RunDir]:
    return counting(runs, "reading runs")


def counting(items: Sequence[T], what: str) -> Iterator[T]:
    """Where many items take a while, a line on stderr counts them, and is erased at the end.
    Nothing is drawn in the first half second."""
    due, drawn = time.monotonic() + PATIENCE, False
    try:
        for at, item in enumerate(items):
            if time.monotonic() >= due:
                _draw(f"{_ERASE}{what}: {at} of {len(items)}")
                due, drawn = time.monotonic() + PAUSE, True
            yield item
    finally:
        if drawn:
            _draw(_ERASE)


def _draw(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def document(found: Standing) -> dict[str, Any]:
    return {
        "schema": "qrspi/status/v1",
        "runs": [run_page.run_document(state) for state in found.runs],
        "daemon": found.daemon._asdict() if found.daemon else None,
        "thorough": found.thorough,
    }


def lines(session: Session, request: Request, found: Standing) -> list[str]:
    if not found.runs:
        return [_nothing(session, request)]
    shown = run_page.Look(session.width, painter(session.color), request.explain)
    if request.checklist:
        return _joined([run_page.checklist(state, shown) for state in found.runs])
    if len(found.runs) == 1 or request.explain:
        pages = _joined([_page(found, at, shown) for at in range(len(found.runs))])
    else:
        pages = run_page.board(found.runs, shown)
    footer = _footer(found)
    return [*pages, "", *footer] if footer else pages


def _page(found: Standing, at: int, look: run_page.Look) -> list[str]:
    said = found.gates[at] if found.gates else ()
    told = ["", "Gates:", *(f"  {one_line(line)}" for line in said)] if said else []
    return [*run_page.run_page(found.runs[at], look), *told]


def _nothing(session: Session, request: Request) -> str:
    where = session.root.runs_dir
    if request.everything or session.root.only:
        return f'No runs in {where}. Start one with `qrspi init "TEXT" --pipeline quick`.'
    from qrspi.world.git import runs_elsewhere

    start = 'Start one with `qrspi init "TEXT" --pipeline quick`'
    way = None if session.runs() else runs_elsewhere.way(session.root.project)
    if way:
        return f"No runs in {where}: {way.text}. {start}."
    return f"No open runs in {where}. {start}; `--all` shows closed ones."


def _footer(found: Standing) -> list[str]:
    told = [run_page.daemon_line(found.daemon)] if found.daemon else []
    if found.left_out:
        verb, them = ("is", "it") if found.left_out == 1 else ("are", "them")
        told.append(
            f"{counted(found.left_out, 'closed run')} {verb} left out; `--all` shows {them}."
        )
    if not found.thorough:
        told.append("Changes after an approval are looked for by `qrspi status RUN` only.")
    return told


def _joined(pages: list[list[str]]) -> list[str]:
    return [line for page in pages for line in (*page, "")][:-1]
