"""Which runs a project has, and which one is meant."""

import errno
import os

from qrspi.core.filenames import WORKTREES, is_dropping, is_run_name, slug_of
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import Fault
from qrspi.world.files.run_tree import fault_of

OWN = ".qrspi"
LISTED = 5  # names of runs that one line has room for


class Root(NamedTuple):
    project: str
    runs_dir: str
    only: str | None = None  # the one run that --root named


class RunDir(NamedTuple):
    name: str
    path: str


def list_runs(root: Root) -> tuple[RunDir, ...] | Fault:
    """The runs below a root, by name."""
    found = runs_and_odd(root)
    return found if isinstance(found, Fault) else found[0]


def readable_runs(root: Root) -> tuple[RunDir, ...]:
    """The runs; none when their folder cannot be listed."""
    runs = list_runs(root)
    return () if isinstance(runs, Fault) else runs


def runs_and_odd(root: Root) -> tuple[tuple[RunDir, ...], tuple[str, ...]] | Fault:
    """The runs, and the names of folders that would be runs if it were not for their names."""
    names = _directories(root)
    if isinstance(names, Fault):
        return names
    there = [name for name in names if _is_visible(name) and is_run(f"{root.runs_dir}/{name}")]
    odd = tuple(name for name in there if not is_run_name(name))
    proper = [name for name in there if name not in odd] if odd else there
    return tuple(RunDir(name, f"{root.runs_dir}/{name}") for name in proper), odd


def run_named(root: Root, name: str) -> RunDir | None:
    """The run with exactly this directory name, as `list_runs` would list it."""
    path = f"{root.runs_dir}/{name}"
    if not name or "/" in name or not may_be_run(name) or root.only not in (None, name):
        return None
    return RunDir(name, path) if not os.path.islink(path) and is_run(path) else None


def others(root: Root) -> tuple[str, ...] | Fault:
    """Names in the runs folder that are not runs, links among them."""
    runs = list_runs(root)
    if isinstance(runs, Fault):
        return runs
    taken = {OWN, *(run.name for run in runs)}
    return tuple(sorted(set(os.listdir(root.runs_dir)) - taken))


def odd_name(name: str) -> str:
    return f"{name!r} cannot be a run: a run's name has only letters, digits, '.', '_' and '-'"


def is_run(path: str) -> bool:
    """A directory with a config or goals. One that we cannot look into counts too, so that the
    reason is reported and the run not silently left out."""
    return is_there(f"{path}/config.md") or is_there(f"{path}/goals.md")


def resolve(root: Root, word: str) -> RunDir | Problem:
    """The run a word names: its directory, its slug, or a unique prefix of either."""
    runs = list_runs(root)
    if isinstance(runs, Fault):
        return no_listing(root, runs)
    wanted = word.rstrip("/")
    matches = (
        [run for run in runs if run.name == wanted]
        or [run for run in runs if slug_of(run.name) == wanted]
        or [run for run in runs if wanted and _begins(run.name, wanted)]
    )
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = tuple(run.name for run in matches)
        return _several(f"{word!r} could be any of {len(names)} runs", names, word)
    names = _near(wanted, runs)
    return Problem(
        "unknown-run",
        f"no run {word!r} in {root.runs_dir}: {_listed(names, len(runs))}",
        file=root.runs_dir,
        found=word,
        expected="a run's directory name, its slug, or a unique prefix of either",
        hint="qrspi status",
        options=names,
    )


def default(root: Root, cwd: str | None) -> RunDir | Problem:
    """The run the current directory is in, else the only one."""
    runs = list_runs(root)
    if isinstance(runs, Fault):
        return no_listing(root, runs)
    return inside(root, cwd) or one_of(root, runs)


def inside(root: Root, cwd: str | None) -> RunDir | None:
    """The run that the current directory is in, or whose task's work tree it is in."""
    here = readable_runs(root) if cwd else ()
    found = next((run for run in here if f"{cwd}/".startswith(f"{run.path}/")), None)
    return found or (_of_task(here, cwd) if cwd else None)


def _of_task(runs: tuple[RunDir, ...], cwd: str) -> RunDir | None:
    """Work trees lie in a folder named for the run: by its slug, or by its whole name."""
    folder = cwd.partition(f"/{WORKTREES}/")[2].partition("/")[0]
    named = [run for run in runs if run.name == folder]
    found = named or [run for run in runs if slug_of(run.name) == folder]
    return found[0] if len(found) == 1 else None


def one_of(
    root: Root, candidates: tuple[RunDir, ...], step: str = "", state: str = "here"
) -> RunDir | Problem:
    """The only candidate; with `step`, the candidates are the runs that can enter it."""
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        names = tuple(run.name for run in candidates)
        state = f"ready for {step}" if step else state
        return _several(f"{len(names)} runs are {state}: say which", names)
    if step:
        message = (
            f"no run in {root.runs_dir} is ready for {step}: `qrspi status` says what each needs"
        )
        return Problem("no-run", message, file=root.runs_dir, hint="qrspi status")
    message = f'no run in {root.runs_dir}: start one with `qrspi init "TEXT" --pipeline quick`'
    return Problem("no-run", message, file=root.runs_dir, hint='qrspi init "TEXT" --pipeline quick')


def _directories(root: Root) -> list[str] | Fault:
    if root.only is not None:
        return [root.only]
    try:
        with os.scandir(root.runs_dir) as listing:
            return sorted(entry.name for entry in listing if entry.is_dir(follow_symlinks=False))
    except OSError as error:
        return fault_of(error)


def may_be_run(name: str) -> bool:
    return is_run_name(name) and _is_visible(name)


def _is_visible(name: str) -> bool:
    """Hidden directories are a tool's own, and so is a run that `init` never finished."""
    return not name.startswith(".") and not is_dropping(name)


def _begins(name: str, prefix: str) -> bool:
    return name.startswith(prefix) or slug_of(name).startswith(prefix)


def is_there(path: str) -> bool:
    """Whether anything is there; what cannot be looked at counts as there."""
    if os.access(path, os.F_OK):
        return True  # half the time of the careful way, which a link to nothing needs
    try:
        os.lstat(path)
    except OSError as error:
        return error.errno not in (errno.ENOENT, errno.ENOTDIR)
    return True


def no_listing(root: Root, fault: Fault) -> Problem:
    text = f"cannot list {root.runs_dir}: {fault.reason}"
    return Problem("unreadable", text, file=root.runs_dir)


def _several(message: str, names: tuple[str, ...], found: str = "") -> Problem:
    return Problem(
        "ambiguous-run",
        f"{message}: {_some(names)}",
        found=found,
        expected="one run",
        hint="qrspi status",
        options=names,
    )


def _some(names: tuple[str, ...]) -> str:
    rest = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {rest} more" if rest > 0 else "")


def _near(word: str, runs: tuple[RunDir, ...]) -> tuple[str, ...]:
    """All runs where they are few; else those whose names come near."""
    if len(runs) <= LISTED:
        return tuple(run.name for run in runs)
    from difflib import get_close_matches

    known = {name: run.name for run in runs for name in (slug_of(run.name), run.name)}
    found = get_close_matches(word[:200], known, LISTED)
    return tuple(dict.fromkeys(known[name] for name in found))


def _listed(names: tuple[str, ...], count: int) -> str:
    if names:
        return f"{'there is' if len(names) == count else 'the nearest is'} {', '.join(names)}"
    if count:
        return f"none of the {count} runs has a name like it; `qrspi status --all` lists them"
    return 'there is none; `qrspi init "TEXT" --pipeline quick` starts one'
