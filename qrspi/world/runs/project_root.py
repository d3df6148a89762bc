"""Which project a command is about, and whether it is ours."""

import os
import stat
from collections.abc import Iterator, Mapping

from qrspi.core.errors import Halt, Misuse
from qrspi.core.filenames import RUNS
from qrspi.core.model import Problem
from qrspi.core.tree import Fault
from qrspi.world.runs import project_search
from qrspi.world.runs.locate import Root, is_run, is_there, list_runs, may_be_run

NOWHERE = Problem(
    "no-directory",
    "the current directory no longer exists: change to one that does, "
    "or name the project with --root and its full path",
)


def current_directory() -> str | None:
    """None when the current directory was deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None


def find_root(cwd: str | None, root_option: str | None, env: Mapping[str, str]) -> Root:
    """The project whose runs a command is about. Another user's project is refused."""
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
    if is_there(f"{start}/{RUNS}"):
        raise Misuse(_no_directory(f"{start}/{RUNS}"))
    end = looked_at[-1]
    where = start if end == start else f"{start} or a parent up to {end}"
    raise Misuse(
        Problem(
            "no-root",
            f"no {RUNS} in {where}: go to the project, name it with --root, "
            'or start a first run with `qrspi init "TEXT" --pipeline quick`',
            file=start,
            expected=f"a directory with {RUNS}",
            hint='qrspi init "TEXT" --pipeline quick',
        )
    )


def root_for_init(cwd: str | None, root_option: str | None, env: Mapping[str, str]) -> Root:
    """As `find_root`, but a project may have no runs yet: then it is here, or where its `.git`
    is."""
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
    if is_there(f"{found}/{RUNS}"):
        raise Misuse(_no_directory(f"{found}/{RUNS}"))
    return _new_project(found)


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
    """In a linked work tree, whose `.git` is a file, the same folder in the work tree that has the
    runs."""
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
        what = "is not a directory" if is_there(path) else "is not there"
        raise Misuse(problem._replace(message=f"{source} {said} {what}: expected {expected}"))
    start = f'{_at_root(said)} init "TEXT" --pipeline quick'
    raise Misuse(
        problem._replace(
            message=f"{source} {said} holds no {RUNS} and is not a run: expected {expected}; "
            f"`{start}` starts a first run there",
            hint=start,
        )
    )


def _known_root(path: str) -> Root | None:
    """A project, its runs folder, or one run; None when the path is none of them."""
    if _is_dir(f"{path}/{RUNS}"):
        return _project(path)
    parent, _, name = path.rpartition("/")
    if may_be_run(name) and _is_dir(path) and is_run(path):
        return Root(_project_of(parent), parent, name)
    root = Root(_project_of(path), path)
    if path.endswith(f"/{RUNS}") and _is_dir(path):
        return root
    runs = list_runs(root)
    return None if isinstance(runs, Fault) or not runs else root


def _no_directory(path: str) -> Problem:
    message = f"{path} is there, but is not a directory: expected the folder that runs are in"
    return Problem("no-root", message, file=path, expected="a directory")


def _project(path: str) -> Root:
    """A committed symlink must not make the engine write into another directory."""
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
            _refuse_unless_safe(path)
    return root


def _refuse_unless_safe(path: str) -> None:
    """Another user's project: refused as git refuses it, and allowed as git allows it."""
    # Imported here: git is asked only about a project of somebody else.
    from qrspi.world.git import command

    real = os.path.realpath(path)
    names = {real, project_search.top(real)}
    if not any(_allows(entry, name) for entry in _safe_directories() for name in names if name):
        raise command.not_owner(project_search.top(real) or real)


def _safe_directories() -> tuple[str, ...]:
    """What the user's own settings list. `/` is in no repository, so no repository's settings
    count."""
    from qrspi.world.git import command

    args = ["config", "--type=path", "-z", "--get-all", "safe.directory"]
    said = command.read("/", args, ok=(0, 1)).out
    return tuple(_since_last_reset(os.fsdecode(said).split("\0")[:-1]))


def _since_last_reset(entries: list[str]) -> Iterator[str]:
    """An empty entry cancels all entries before it."""
    last = max((at for at, entry in enumerate(entries) if not entry), default=-1)
    yield from entries[last + 1 :]


def _allows(entry: str, name: str) -> bool:
    if entry == "*":
        return True
    if entry.endswith("/*"):
        return name.startswith(entry[:-1])
    return os.path.realpath(entry) == name


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
