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
    """A relative XDG_CONFIG_HOME is ignored, as its specification says."""
    said = environment.get("XDG_CONFIG_HOME", "")
    home = said if said.startswith("/") else os.path.expanduser("~/.config")
    return f"{home.rstrip('/')}/qrspi"


def is_ours(path: str) -> bool:
    """Whether only this user can have written it."""
    found = os.stat(path)
    return found.st_uid == os.geteuid() and not found.st_mode & _OTHERS_WRITE


def toml(path: str, code: Code) -> dict[str, object] | Problem | None:
    """What a file of settings says; None when it is absent."""
    found = _toml(path)
    if isinstance(found, str):
        return own_file.fault(code, path, "", found, "a TOML file of your own")
    return found


def _toml(path: str) -> dict[str, object] | str | None:
    """A text says why the file cannot be used."""
    folder, _, name = path.rpartition("/")
    data = DiskTree(folder).read(name, LIMIT)
    if isinstance(data, Fault):
        return None if data.kind == "absent" else data.reason
    if not is_ours(path):
        return "a file that is not yours, or that others may write"
    # Imported here: few have such a file.
    import tomllib

    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError:
        return "bytes that are not UTF-8"
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return f"no TOML ({str(error)[:200]})"
