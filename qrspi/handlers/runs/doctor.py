"""What is odd about this machine, this project and its runs. Nothing is repaired here."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from qrspi.core.config import reader as configs
from qrspi.core.derivation.derive import derive, derive_among
from qrspi.core.errors import Halt, attempt
from qrspi.core.filenames import is_dropping, is_own_at_top, is_run_name, slug_of
from qrspi.core.fleet import broker_address
from qrspi.core.hints import Literal
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import CLOSED, MARKER, REQUEST, STEPS, Subject, subject
from qrspi.core.proof import approval_proof
from qrspi.core.proof import vanished as proof
from qrspi.core.proof.run_history import SHALLOW, RunHistory
from qrspi.core.records import approvals, step_text, vanished
from qrspi.core.rounds import round_list, unread_files
from qrspi.core.text import shell_words
from qrspi.core.tree import CONFIG_LIMIT, Fault, entries
from qrspi.world.files import atomic_write, json_log, lock, mounts
from qrspi.world.files.run_tree import DiskTree, inside_git
from qrspi.world.git import command, repository, run_log, runs_elsewhere, worktrees
from qrspi.world.runs import heartbeat, locate, machine_signs
from qrspi.world.runs.committed_tree import CommittedTree
from qrspi.world.runs.locate import Root, RunDir
from qrspi.world.runs.workspace import LOCK

LOGS = ("approvals.jsonl", ".qrspi/audit.jsonl", ".qrspi/spend.jsonl")


class Sign(NamedTuple):
    """`problem` keeps something from going on; `note` is worth knowing."""

    level: Literal["ok", "note", "problem"]
    about: str
    message: str
    hint: str = ""


def examine(root: Root | None) -> list[Sign]:
    signs = [Sign("ok", "python", f"Python {sys.version.split()[0]}")]
    signs.append(_git(needed=root is not None and inside_git(root.runs_dir)))
    if os.environ.get(broker_address.VARIABLE):
        from qrspi.handlers.runs import broker_signs

        signs += broker_signs.look(root)
    if root is None:
        message = "no docs/qrspi here or above in this project"
        return [*signs, *_git_here(os.getcwd()), _without_runs(message, os.getcwd())]
    signs += [*_no_repository(root), *_git_here(root.runs_dir)]
    return [*signs, *_folder(root), *_runs(root), *_work_trees(root)]


def _without_runs(message: str, place: str) -> Sign:
    if way := runs_elsewhere.way(place):
        return Sign("note", "runs", f"{message}: {way.text}", way.command)
    start = 'qrspi init "TEXT" --pipeline quick'
    return Sign("note", "runs", f"{message}: no run was started yet", start)


def _git(needed: bool) -> Sign:
    try:
        return Sign("ok", "git", f"git version {command.version()}")
    except Halt as halt:
        return Sign("problem" if needed else "note", "git", halt.problem.message)


def _no_repository(root: Root) -> Iterator[Sign]:
    if not inside_git(root.runs_dir):
        message = "this project is in no git repository: nothing is committed, and tasks need one"
        yield Sign("note", "git", message, shell_words.command("git", "init", root.project))


def _git_here(folder: str) -> Iterator[Sign]:
    try:
        repo = repository.find(folder)
        if repo and repository.identity(repo) is None:
            message = "nobody told git who you are, so nothing can be committed: set user.name "
            yield Sign("problem", "git", f"{message}and user.email in its configuration")
        if repo:
            repository.refuse_if_under_way(repo, "run the same command")
    except Halt as halt:
        if halt.problem.code in ("git-under-way", "index-locked"):
            yield Sign("problem", "git", halt.problem.message, halt.problem.hint)
        # Otherwise it was already said that git does not work.


def _work_trees(root: Root) -> Iterator[Sign]:
    """Those of tasks whose run is complete, closed or gone."""
    try:
        repo = repository.find(root.runs_dir)
        trees = worktrees.worktrees(repo) if repo and worktrees.has_any(repo) else ()
    except Halt:
        return
    runs = {slug_of(run.name): run for run in locate.readable_runs(root)}
    for tree in trees:
        slug, inside, _ = tree.path.partition(f"/{worktrees.FOLDER}/")[2].partition("/")
        run = runs.get(slug)
        if not inside or (run and not _is_over(run)):
            continue
        whose = f"of {run.name}, which is over" if run else "of no run that is here"
        hint = f"qrspi task clean {run.name}" if run else ""
        yield Sign("note", "work trees", f"{tree.path} is left {whose}", hint)


def _is_over(run: RunDir) -> bool:
    state = derive_among(CommittedTree(run.path), thorough=True)
    return state.complete or state.closed


def _folder(root: Root) -> Iterator[Sign]:
    others = locate.others(root)
    if isinstance(others, Fault):
        message = f"cannot list {root.runs_dir}: {others.reason}"
        yield Sign("problem", "runs", message)
        return
    if not atomic_write.is_writable(root.runs_dir):
        message = f"{root.runs_dir} cannot be written: runs can be looked at, not carried on"
        yield Sign("problem", "runs", message)
    left = atomic_write.leftovers(DiskTree(root.runs_dir), depth=0)
    yield from (
        _leftover(f"{root.runs_dir}/{name}", "the next run that is started") for name in left
    )
    kinds = {entry.name: entry.kind for entry in entries(DiskTree(root.runs_dir), "")}
    for name in others:
        if name not in left:
            yield _no_run(root, name, kinds.get(name, ""))
    yield from _watching(root)


def _no_run(root: Root, name: str, kind: str) -> Sign:
    if kind != "dir":
        what = "a link, which is not followed" if kind == "link" else "not a folder"
        return Sign("note", "runs", f"{name} is not a run: it is {what}")
    if not is_run_name(name):
        return Sign("note", "runs", locate.odd_name(name))
    from qrspi.handlers.runs import start_run

    message = f"{name} is not a run: it has neither config.md nor goals.md"
    if way := runs_elsewhere.way(root.project, name):
        return Sign("note", "runs", f"{message}; {way.text}", way.command)
    inside = entries(DiskTree(root.runs_dir), name)
    adoptable = start_run.holds_artifacts([entry.name for entry in inside])
    words = ("qrspi", "init", "--adopt", f"{root.runs_dir}/{name}", "--pipeline", "quick")
    return Sign("note", "runs", message, shell_words.command(*words) if adoptable else "")


def _watching(root: Root) -> Iterator[Sign]:
    if not mounts.gives_events(root.runs_dir):
        message = f"{root.runs_dir} is on a file system that tells of no changes: they are polled"
        yield Sign("note", "daemon", message)
    daemon = heartbeat.daemon(root.runs_dir)
    yield Sign("ok", "daemon", f"watching, process {daemon.pid}" if daemon else "none is watching")


def _leftover(path: str, remover: str) -> Sign:
    message = f"{path} is left of a command that was killed; {remover} removes it"
    return Sign("note", "leftover", message)


def _runs(root: Root) -> Iterator[Sign]:
    found = locate.readable_runs(root)
    if not found and not isinstance(locate.list_runs(root), Fault):
        yield _without_runs(f"none in {root.runs_dir}", root.project)
    for run in found:
        yield from _run_beside(run)


def _run_beside(run: RunDir) -> list[Sign]:
    """One run that cannot be looked at hides no other."""
    signs = attempt(lambda: list(_run(run)))
    if isinstance(signs, Problem):
        return [_sign("problem", run.name, signs)]
    return signs or [Sign("ok", run.name, "nothing is odd")]


def _run(run: RunDir) -> Iterator[Sign]:
    tree = CommittedTree(run.path)
    state = machine_signs.told(derive(tree, run.path), run.path)
    yield from (_sign("problem", run.name, error) for error in state.errors)
    if state.next.kind in ("trust", "prerequisite"):
        why = state.next.summary.removesuffix(".")
        yield Sign("problem", run.name, why, state.next.command)
    notes = (warning for warning in state.warnings if warning.code != "vanished")
    yield from (_sign("note", run.name, warning) for warning in notes)
    known = {warning.message for warning in state.warnings}
    missed = vanished.from_run(tree)
    for gone in missed:
        if gone.expected == vanished.ELSEWHERE:
            yield _sign("note", run.name, gone)
        elif gone.file not in vanished.LOGS:  # git tells more of these
            yield _sign("problem", run.name, gone)
    told_already = (*state.errors, *(one for one in missed if one.file not in vanished.LOGS))
    yield from _named_elsewhere(tree, run, {one.file for one in told_already})
    for reviewed in _subjects(tree):
        odd = *round_list.odd_names(tree, reviewed), *_unread(tree, reviewed)
        notes = (item for item in odd if item.message not in known)
        yield from (_sign("note", run.name, item) for item in notes)
    yield from _unknown(tree, run.name)
    broken = {error.file for error in state.errors}
    for log in (log for log in LOGS if log not in broken):
        yield from _log(tree, run.name, log)
    left = atomic_write.leftovers(tree)
    yield from (_leftover(f"{run.name}/{path}", "the next command on it") for path in left)
    if lock.state(tree, LOCK) == "left":
        message = f"{LOCK}: its last holder was killed; the lock is free, and the next command on "
        yield Sign("note", run.name, f"{message}the run cleans up")


def _unread(tree: CommittedTree, reviewed: Subject) -> tuple[Problem, ...]:
    """Imported here: nearly every project has only known names."""
    config = configs.read(tree.read("config.md", CONFIG_LIMIT))
    return unread_files.of_loop(tree, reviewed, config)


def _named_elsewhere(tree: CommittedTree, run: RunDir, known: set[str]) -> Iterator[Sign]:
    """What git or a decision names, and is gone."""
    decided = approvals.read(tree.read(approvals.FILE, approvals.LIMIT))
    records = () if isinstance(decided, Problem) else tuple(decided)
    history = _history(run)
    if history and history.is_shallow:
        yield Sign("note", run.name, SHALLOW)
    config = configs.read(tree.read("config.md", CONFIG_LIMIT))
    claimed = approval_proof.by_hand(tree, config, records)
    for gap in (*proof.check(tree, history, records), *claimed):
        if gap.file not in known:
            yield Sign("problem", run.name, f"{gap.file}: {gap.because}")


def _history(run: RunDir) -> RunHistory | None:
    try:
        repo = repository.find(run.path)
        return run_log.of_run(repo) if repo else None
    except Halt:
        return None  # git's own trouble is reported elsewhere


_KNOWN = frozenset(
    """config.md approvals.jsonl cascade-audit.log pull-request.md roadmap.md orchestration.db
    orchestration.db-wal orchestration.db-shm .gitignore .gitattributes""".split()
)


def _unknown(tree: DiskTree, run: str) -> Iterator[Sign]:
    known = {*_KNOWN, *(step.artifact for step in STEPS), MARKER, CLOSED, REQUEST}
    for entry in entries(tree, ""):
        name = entry.name
        if entry.kind == "dir" or name in known or is_dropping(name) or is_own_at_top(name):
            continue
        if any(step_text.is_companion(step.name, name) for step in STEPS):
            continue
        yield Sign("note", run, f"{name} is not a file that qrspi knows, and is left alone")


def _log(tree: DiskTree, run: str, log: str) -> Iterator[Sign]:
    size = tree.size(log)
    if isinstance(size, int) and size > approvals.LIMIT:
        message = f"{log} has {size:,} bytes, and is not looked through: the most is"
        yield Sign("problem", run, f"{message} {approvals.LIMIT:,}")
        return
    wrong = (line for line in json_log.read(tree, log) if isinstance(line, Problem))
    yield from (Sign("note", run, line.message) for line in wrong)


def _sign(level: Literal["note", "problem"], run: str, problem: Problem) -> Sign:
    usual = "explain" if level == "problem" else ""
    usual = "config validate" if problem.file == "config.md" else usual
    goes_on = problem.hint if level == "problem" else ""
    return Sign(level, run, problem.message, goes_on or (usual and f"qrspi {usual} {run}"))


def _subjects(tree: DiskTree) -> Iterator[Subject]:
    folders = {step.reviews: step.name for step in STEPS}
    keys = [*folders.values(), *(entry.name for entry in entries(tree, "reviews/tasks"))]
    subjects = (subject(key) for key in keys)
    yield from (reviewed for reviewed in subjects if reviewed)
