"""Where the runs are, and which one is meant."""

import errno
import os
import stat
from collections.abc import Mapping
from typing import NamedTuple

from qrspi.core.errors import Halt, Misuse
from qrspi.core.filenames import RUNS, WORKTREES, is_dropping, is_run_name, slug_of
from qrspi.core.model import Problem
from qrspi.core.tree import Fault
from qrspi.world.files.run_tree import fault_of
from qrspi.world.runs import project_search

OWN = ".qrspi"
LISTED = 5  # names of runs that one line has room for


NOWHERE = Problem(
    "no-directory",
    "the current directory no longer exists: change to one that does, "
    "or name the project with --root and its full path",
)


class Root(NamedTuple):
    project: str
    runs_dir: str
    only: str | None = None  # the one run that --root named


class RunDir(NamedTuple):
    name: str
    path: str


def current_directory() -> str | None:
    """None when the directory the process stands in was deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None


def find_root(cwd: str | None, root_option: str | None, env: Mapping[str, str]) -> Root:
    """The project whose runs a command is about. One of another user is refused."""
    return _ours(_found_root(cwd, root_option, env))


def _found_root(cwd: str | None, root_option: str | None, env: Mapping[str, str]) -> Root:
    said = _said(root_option, env)
    if said:
        return _named_root(_absolute(cwd, *said), *said)
    start = _at_home(_standing(cwd))
    looked_at = project_search.candidates(start)
    found = next((at for at in looked_at if _is_dir(_runs_in(at))), None)
    if found:
        return _project(found)
    if _there(f"{start}/{RUNS}"):
        raise Misuse(_no_directory(f"{start}/{RUNS}"))
    end = looked_at[-1]
    where = start if end == start else f"{start} or a parent up to {end}"
    raise Misuse(
        Problem(
            "no-root",
            f"no {RUNS} in {where}: go to the project, name it with --root, "
            "or start a first run with `qrspi init SLUG --pipeline quick`",
            file=start,
            expected=f"a directory with {RUNS}",
            hint="qrspi init SLUG --pipeline quick",
        )
    )


def root_for_init(cwd: str | None, root_option: str | None, env: Mapping[str, str]) -> Root:
    """As `find_root`, but a project without runs yet is good: here, or where its `.git` is."""
    return _ours(_root_for_init(cwd, root_option, env))


def _root_for_init(cwd: str | None, root_option: str | None, env: Mapping[str, str]) -> Root:
    said = _said(root_option, env)
    if said:
        path = _absolute(cwd, *said)
        return _known_root(path) or _new_project(path)
    start = _at_home(_standing(cwd), for_new=True)
    near = (at for at in project_search.candidates(start) if _is_dir(_runs_in(at)))
    found = next(near, None) or project_search.top(start) or start
    if _is_dir(f"{found}/{RUNS}"):
        return _project(found)
    if _there(f"{found}/{RUNS}"):
        raise Misuse(_no_directory(f"{found}/{RUNS}"))
    return _new_project(found)


def list_runs(root: Root) -> tuple[RunDir, ...] | Fault:
    """The runs below a root, by name."""
    found = runs_and_odd(root)
    return found if isinstance(found, Fault) else found[0]


def runs_and_odd(root: Root) -> tuple[tuple[RunDir, ...], tuple[str, ...]] | Fault:
    """The runs, and the names of folders that would be runs if it were not for their names."""
    names = _directories(root)
    if isinstance(names, Fault):
        return names
    there = [name for name in names if _is_visible(name) and is_run(f"{root.runs_dir}/{name}")]
    runs = (RunDir(name, f"{root.runs_dir}/{name}") for name in there if is_run_name(name))
    return tuple(runs), tuple(name for name in there if not is_run_name(name))


def run_named(root: Root, name: str) -> RunDir | None:
    """The run with exactly this directory name, as `list_runs` would list it."""
    path = f"{root.runs_dir}/{name}"
    if not name or "/" in name or not _may_be_run(name) or root.only not in (None, name):
        return None
    return RunDir(name, path) if not os.path.islink(path) and is_run(path) else None


def others(root: Root) -> tuple[str, ...] | Fault:
    """Names in the runs folder that are taken for no run, links among them."""
    runs = list_runs(root)
    if isinstance(runs, Fault):
        return runs
    taken = {OWN, *(run.name for run in runs)}
    return tuple(sorted(set(os.listdir(root.runs_dir)) - taken))


def odd_name(name: str) -> str:
    return f"{name!r} is taken for no run: a run's name has only letters, digits, '.', '_' and '-'"


def is_run(path: str) -> bool:
    """A directory with a config or goals. One that may not be looked into counts as a run, so
    that what hides it is said and not passed over."""
    return _there(f"{path}/config.md") or _there(f"{path}/goals.md")


def resolve(root: Root, word: str) -> RunDir | Problem:
    """The run a word names: its directory, its slug, or a unique prefix of either."""
    runs = list_runs(root)
    if isinstance(runs, Fault):
        return _no_listing(root, runs)
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
        return _no_listing(root, runs)
    return inside(root, cwd) or one_of(root, runs)


def inside(root: Root, cwd: str | None) -> RunDir | None:
    """The run that the current directory is in, or whose task's work tree it is in."""
    runs = list_runs(root)
    here = () if isinstance(runs, Fault) or not cwd else runs
    found = next((run for run in here if f"{cwd}/".startswith(f"{run.path}/")), None)
    return found or (_of_task(here, cwd) if cwd else None)


def _of_task(runs: tuple[RunDir, ...], cwd: str) -> RunDir | None:
    """Work trees lie in a folder named for the run: by its slug, or by its whole name."""
    folder = cwd.partition(f"/{WORKTREES}/")[2].partition("/")[0]
    named = [run for run in runs if run.name == folder]
    found = named or [run for run in runs if slug_of(run.name) == folder]
    return found[0] if len(found) == 1 else None


def one_of(root: Root, candidates: tuple[RunDir, ...], step: str = "") -> RunDir | Problem:
    """The only candidate; with `step`, the candidates are the runs that can enter it."""
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        names = tuple(run.name for run in candidates)
        state = f"ready for {step}" if step else "here"
        return _several(f"{len(names)} runs are {state}: say which", names)
    if step:
        message = (
            f"no run in {root.runs_dir} is ready for {step}: `qrspi status` says what each needs"
        )
        return Problem("no-run", message, file=root.runs_dir, hint="qrspi status")
    message = f"no run in {root.runs_dir}: start one with `qrspi init SLUG --pipeline quick`"
    return Problem("no-run", message, file=root.runs_dir, hint="qrspi init SLUG --pipeline quick")


def _said(root_option: str | None, env: Mapping[str, str]) -> tuple[str, str] | None:
    if root_option is not None:
        return "--root", root_option
    return ("QRSPI_ROOT", env["QRSPI_ROOT"]) if env.get("QRSPI_ROOT") else None


def _absolute(cwd: str | None, source: str, said: str) -> str:
    if not said or "\0" in said:
        raise Misuse(Problem("bad-root", f"{source} names no directory", found=said))
    return os.path.realpath(said if said.startswith("/") else f"{_standing(cwd)}/{said}")


def _standing(cwd: str | None) -> str:
    if cwd is None:
        raise Misuse(NOWHERE)
    return cwd


def _at_home(start: str, *, for_new: bool = False) -> str:
    """In a linked work tree, whose `.git` is a file, the same folder of the work tree that has
    the runs."""
    top = project_search.top(start)
    if top is None or not os.path.isfile(f"{top}/.git"):
        return start
    from qrspi.world.runs import linked_worktree

    return linked_worktree.home(start, for_new=for_new)


def _named_root(path: str, source: str, said: str) -> Root:
    root = _known_root(path)
    if root:
        return root
    expected = f"a project with {RUNS}, that folder itself, or one run"
    problem = Problem("no-root", "", path, found=said, expected=expected)
    if not _is_dir(path):
        what = "is no directory" if _there(path) else "is not there"
        raise Misuse(problem._replace(message=f"{source} {said} {what}: expected {expected}"))
    start = f"{_at_root(said)} init SLUG --pipeline quick"
    raise Misuse(
        problem._replace(
            message=f"{source} {said} holds no {RUNS} and is no run: expected {expected}; "
            f"`{start}` starts a first run there",
            hint=start,
        )
    )


def _known_root(path: str) -> Root | None:
    """A project, its runs folder, or one run; None when the path is none of them."""
    if _is_dir(f"{path}/{RUNS}"):
        return _project(path)
    parent, _, name = path.rpartition("/")
    if _may_be_run(name) and _is_dir(path) and is_run(path):
        return Root(_project_of(parent), parent, name)
    root = Root(_project_of(path), path)
    if path.endswith(f"/{RUNS}") and _is_dir(path):
        return root
    runs = list_runs(root)
    return None if isinstance(runs, Fault) or not runs else root


def _no_directory(path: str) -> Problem:
    message = f"{path} is there, but is no directory: expected the folder that runs are in"
    return Problem("no-root", message, file=path, expected="a directory")


def _project(path: str) -> Root:
    """A committed symlink must not make the engine write into some other directory."""
    runs_dir = os.path.realpath(f"{path}/{RUNS}")
    if f"{runs_dir}/".startswith(f"{os.path.realpath(path).rstrip('/')}/"):
        return Root(path, runs_dir)
    raise Misuse(
        Problem(
            "root-leads-out",
            f"{path}/{RUNS} is a link that leads out of the project, to {runs_dir}: "
            f"name that folder itself with --root {runs_dir}",
            file=f"{path}/{RUNS}",
            found=runs_dir,
            expected="a directory inside the project",
            hint=f"{_at_root(runs_dir)} status",
        )
    )


def _at_root(path: str) -> str:
    from qrspi.core.text.shell_words import command

    return command("qrspi", "--root", path)


def _new_project(path: str) -> Root:
    return Root(path, f"{path.rstrip('/')}/{RUNS}")


def _project_of(runs_dir: str) -> str:
    return runs_dir.removesuffix(f"/{RUNS}") or "/"


def _runs_in(folder: str) -> str:
    return f"{folder.rstrip('/')}/{RUNS}"


def _ours(root: Root) -> Root:
    for path in dict.fromkeys((root.project, root.runs_dir)):
        if not project_search.is_ours(path):
            # Imported here: git is asked only about a project of somebody else.
            from qrspi.world.runs import foreign_project

            foreign_project.check(path)
    return root


def _directories(root: Root) -> list[str] | Fault:
    if root.only is not None:
        return [root.only]
    try:
        with os.scandir(root.runs_dir) as listing:
            return sorted(entry.name for entry in listing if entry.is_dir(follow_symlinks=False))
    except OSError as error:
        return fault_of(error)


def _may_be_run(name: str) -> bool:
    return is_run_name(name) and _is_visible(name)


def _is_visible(name: str) -> bool:
    """Hidden directories are a tool's own, and so is a run that `init` never finished."""
    return not name.startswith(".") and not is_dropping(name)


def _begins(name: str, prefix: str) -> bool:
    return name.startswith(prefix) or slug_of(name).startswith(prefix)


def _there(path: str) -> bool:
    """Whether anything is there; what cannot be looked at is."""
    try:
        os.lstat(path)
    except OSError as error:
        return error.errno not in (errno.ENOENT, errno.ENOTDIR)
    return True


def _is_dir(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise Halt(
            Problem(
                "unreadable",
                f"cannot read {path}: {os.strerror(error.errno or 0)}",
                file=path,
                hint="name the project with --root",
            )
        ) from None


def _no_listing(root: Root, fault: Fault) -> Problem:
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
    return "there is none; `qrspi init SLUG --pipeline quick` starts one"
