"""How far up a project is searched for. A folder above one's own may belong to anybody, like
/tmp."""

import os


def candidates(start: str) -> tuple[str, ...]:
    """Folders that may be the project, nearest first: up to the top of the repository. Outside git,
    as long as they are ours and on one file system."""
    end = top(start)
    if end:
        return tuple(at for at in _upwards(start) if f"{at}/".startswith(f"{end.rstrip('/')}/"))
    found = [start]
    for at in _upwards(start)[1:]:
        if not is_ours(at) or _is_mount(found[-1], at):
            break
        found.append(at)
    return tuple(found)


def around(run: str) -> str:
    """The folder that contains docs/qrspi; for a run kept elsewhere, the folder around it."""
    return run.rpartition("/")[0].removesuffix("/docs/qrspi") or "/"


def with_runs(start: str) -> str | None:
    """The nearest of them that has runs; None for somebody else's."""
    found = next((at for at in candidates(start) if os.path.isdir(f"{at}/docs/qrspi")), None)
    return found if found and is_ours(found) and is_ours(f"{found}/docs/qrspi") else None


def top(start: str) -> str | None:
    """The top of the repository of a folder; like git, this does not look beyond a mount."""
    below = start
    for at in _upwards(start):
        if _is_mount(below, at):
            return None
        if os.path.lexists(f"{at.rstrip('/')}/.git"):
            return at
        below = at
    return None


def is_ours(path: str) -> bool:
    """As git judges it: a user who became root by sudo still owns their files. What does not exist
    yet will be ours."""
    try:
        owner = os.lstat(path).st_uid
    except OSError:
        return True
    return owner == os.geteuid() or (not os.geteuid() and str(owner) == os.environ.get("SUDO_UID"))


def _upwards(start: str) -> tuple[str, ...]:
    parts = start.rstrip("/").split("/")
    return tuple("/".join(parts[:count]) or "/" for count in range(len(parts), 0, -1))


def _is_mount(below: str, above: str) -> bool:
    inner, outer = _device(below), _device(above)
    return None not in (inner, outer) and inner != outer


def _device(path: str) -> int | None:
    try:
        return os.stat(path).st_dev
    except OSError:
        return None
