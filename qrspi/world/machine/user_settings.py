"""What this user has set for all commands, read when a command needs it."""

from __future__ import annotations

from collections.abc import Mapping

from qrspi.core.errors import Refusal
from qrspi.core.fleet import user_settings
from qrspi.core.model import Problem
from qrspi.world.files import own_files


def executor(environment: Mapping[str, str], project: str) -> str:
    """Who carries dispatches out; '' when nothing is set."""
    file = f"{own_files.settings_folder(environment)}/{user_settings.FILE}"
    said = own_files.toml(file)
    if isinstance(said, str):
        raise Refusal(user_settings.bad(file, "", said, "a TOML file of your own"))
    found = user_settings.executor(said or {}, project, file)
    if isinstance(found, Problem):
        raise Refusal(found)
    return found
