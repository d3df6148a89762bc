"""Settings of this user alone, outside every repository."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from qrspi.core.fleet import own_file
from qrspi.core.model import Code, Problem
from qrspi.core.tree import Fault
from qrspi.world.files.run_tree import DiskTree

LIMIT = 1024 * 1024
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def settings_folder(environment: Mapping[str, str]) -> str:
    return folder(environment, "XDG_CONFIG_HOME", "~/.config")


def folder(environment: Mapping[str, str], variable: str, otherwise: str) -> str:
    """A relative path in the variable is ignored, as the specification of XDG says."""
    named = environment.get(variable, "")
    home = named if named.startswith("/") else os.path.expanduser(otherwise)
    return f"{home.rstrip('/')}/qrspi"


def is_ours(path: str) -> bool:
    found = os.stat(path)
    return found.st_uid == os.geteuid() and not found.st_mode & _OTHERS_WRITE


def exchangeable(path: str) -> str | None:
    """The folder above, or above that, in which somebody else could put another in its place."""
    folder = os.path.dirname(path)
    places = (folder, os.path.dirname(folder))
    return next((place for place in places if not _is_kept(os.stat(place))), None)


def _is_kept(found: os.stat_result) -> bool:
    """Whether nobody else can rename what is in it. Many systems give each user a group."""
    if found.st_uid not in (os.geteuid(), 0):
        return False
    own_group = found.st_gid == os.getegid()
    others = stat.S_IWOTH if own_group else _OTHERS_WRITE
    return not found.st_mode & others or bool(found.st_mode & stat.S_ISVTX)


def toml(path: str, code: Code) -> dict[str, object] | Problem | None:
    table = _toml(path)
    if isinstance(table, str):
        return own_file.fault(code, path, "", table, "a TOML file of your own")
    return table


def _toml(path: str) -> dict[str, object] | str | None:
    """A text says why the file cannot be used."""
    folder, _, name = path.rpartition("/")
    data = DiskTree(folder).read(name, LIMIT)
    if isinstance(data, Fault):
        return None if data.kind == "absent" else data.reason
    if not is_ours(path):
        return "a file that is not yours, or that others may write"
    if place := exchangeable(path):
        return f"a file in {place}, which is not yours, or which others may write"
    # Imported here: few have such a file.
    import tomllib

    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError:
        return "bytes that are not UTF-8"
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return f"no TOML ({str(error)[:200]})"
