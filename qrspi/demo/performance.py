"""A whole run with scripted agents, for people who want to see one before they start one. The
commands are the real ones, called in this process."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

from qrspi.core.artifacts import task_file
from qrspi.core.gates.checkpoints import checkpoint_board
from qrspi.core.gates.checkpoints.checkpoint_board import Board
from qrspi.core.gates.quality import quality_records
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import approvals
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.tree import Fault, Tree, entries
from qrspi.demo import narration, scripted_parts, stage
from qrspi.demo.narration import Beat
from qrspi.demo.stage import Answer, Beats, Stage
from qrspi.demo.story import Story
from qrspi.world.git import scratch_repository

MOST_TURNS = 200
NEXT = Beat("command", "qrspi next")

PARTS: dict[str, Callable[[Stage, Answer], Beats]] = {
    "author": scripted_parts.author,
    "review": scripted_parts.review,
    "verify": scripted_parts.verify,
    "apply-fixes": scripted_parts.fix,
    "dispatch-tasks": scripted_parts.implement,
    "decide": scripted_parts.decide,
    "approve": scripted_parts.approve,
    "blocked": scripted_parts.configure,
}


class Tally(NamedTuple):
    steps: int
    approved_by_a_person: int
    approved_by_cascade: int
    rounds: int
    narrow_rounds: int
    findings_kept: int  # the paused ones among them
    findings_dropped: int
    findings_paused: int
    tasks: int
    merges: int
    commits: int
    texts_rejected: int = 0
    checkpoints_reviewed: int = 0


def play(story: Story, repository: str) -> Generator[Beat, None, Tally]:
    here = yield from stage.begin(story, repository)
    yield from _under_headings(_turns(here))
    return _checked(here, _tally(here))


def _turns(here: Stage) -> Beats:
    for _ in range(MOST_TURNS):
        answer = yield from here.type("next")
        if answer["complete"]:
            return
        following = answer["next"]
        if following["action"] not in PARTS:
            raise RuntimeError(f"the run waits for something the story does not know: {following}")
        yield from PARTS[following["action"]](here, following)
    raise RuntimeError(f"the run is not complete after {MOST_TURNS} turns")


def _under_headings(beats: Beats) -> Beats:
    """A heading where the next step of the route begins; the `next` that begins it comes below."""
    step = ""
    held: tuple[Beat, ...] = ()
    for beat in beats:
        if beat == NEXT:
            held = (beat,)
            continue
        now = narration.about({"step": beat.step}).step if beat.step else step
        if now != step:
            step = now
            yield Beat("step", narration.PURPOSES[step], step)
        yield from (*held, beat)
        held = ()


def _checked(here: Stage, tally: Tally) -> Tally:
    """A demonstration that does not show what it promises is broken, and says so."""
    unplayed, expected = here.script.unplayed(), here.story.expected
    if unplayed:
        raise RuntimeError(f"the run ended without these scenes of the story: {unplayed}")
    counted = tally._asdict()
    other = {name: counted[name] for name, value in expected.items() if counted[name] != value}
    if other:
        raise RuntimeError(f"the run came to {other}, and the story to {expected}")
    return tally


def _tally(stage: Stage) -> Tally:
    tree = stage.tree
    rounds = list(_manifests(tree, "reviews"))
    loops = [narration.loop(tree, {"step": one.step, "round": one.round}) for one in rounds]
    triaged = [item for loop in loops for item in loop.triaged]
    audit = tree.read("cascade-audit.log")
    cascades = 0 if isinstance(audit, Fault) else audit.count(b"\n")
    records = approvals.read(tree.read(approvals.FILE))
    assert not isinstance(records, Problem)
    people = sum(record.event == "approve" for record in records)
    history = scratch_repository.history(stage.repository)
    return Tally(
        steps=len(narration.config(tree).route or ()),
        approved_by_a_person=people - cascades,
        approved_by_cascade=cascades,
        rounds=len(rounds),
        narrow_rounds=sum(manifest.choice.narrow for manifest in rounds),
        findings_kept=sum(item.verdict != "drop" for item in triaged),
        findings_dropped=sum(item.verdict == "drop" for item in triaged),
        findings_paused=sum(item.verdict == "pause" for item in triaged),
        tasks=len(task_file.read_keys(tree)),
        merges=history.merges,
        commits=history.commits,
        texts_rejected=_rejected(tree),
        checkpoints_reviewed=_reviewed(tree),
    )


def _rejected(tree: Tree) -> int:
    records = quality_records.read(tree).by_task.values()
    return sum(record.line.startswith("REJECT ") for known in records for record in known)


def _reviewed(tree: Tree) -> int:
    board = checkpoint_board.read(tree)
    return len(board.reviews) if isinstance(board, Board) else 0


def _manifests(tree: Tree, folder: str) -> Iterator[Manifest]:
    for entry in entries(tree, folder):
        path = f"{folder}/{entry.name}"
        if entry.kind == "dir" and entry.name.startswith("round-"):
            yield narration.manifest(tree, f"{path}/.dispatch-manifest.json")
        elif entry.kind == "dir":
            yield from _manifests(tree, path)
