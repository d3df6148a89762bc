"""What a run names and its user has to allow, and what the user allows by setting it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qrspi.core import trust
from qrspi.core.config import reader as configs
from qrspi.core.config.problems import FILE
from qrspi.core.errors import Refusal
from qrspi.core.tree import CONFIG_LIMIT, Fault
from qrspi.core.trust import NamedThing
from qrspi.world.consent import permits
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.git import repository
from qrspi.world.machine import clock
from qrspi.world.runs import role_files


def named_by(run: str, project: str) -> tuple[NamedThing, ...]:
    content = DiskTree(run).read(FILE, CONFIG_LIMIT)
    config = () if isinstance(content, Fault) else _in_config(content, project)
    return (*config, *role_files.own_texts(run, project))


def _in_config(content: bytes, project: str) -> Iterator[NamedThing]:
    config = configs.read(content)
    yield from trust.in_config(config)
    if config.code_path and (outside := repository.outside_of(project, config.code_path)):
        yield outside


def allow(project: str, named: tuple[NamedThing, ...], by: str) -> None:
    permits.allow(project, named, by, clock.now_utc())


def allow_config(project: str, content: bytes) -> tuple[str, ...]:
    return _allowed(project, tuple(_in_config(content, project)), "init")


def allow_settings(
    project: str, keys: Sequence[str], before: bytes, after: bytes
) -> tuple[str, ...]:
    """What the user sets is thereby allowed. Notes tell what could not be remembered.

    If a field is part of something larger (such as a provider's address), the rest must have been
    allowed before, or be new.
    """
    known = {one.field: one for one in _in_config(before, project)}

    def is_set(named: NamedThing) -> bool:
        if any(f"{named.field}.".startswith(f"{key}.") for key in keys):
            return True
        if not any(key.startswith(f"{named.field}.") for key in keys):
            return False
        return named.field not in known or not permits.lacking(project, (known[named.field],))

    now = tuple(one for one in _in_config(after, project) if is_set(one))
    return _allowed(project, now, "config set")


def _allowed(project: str, named: tuple[NamedThing, ...], by: str) -> tuple[str, ...]:
    """The setting itself holds even if this fails: then `next` asks."""
    try:
        allow(project, named, by)
    except Refusal as refusal:
        return (f"not remembered as allowed: {refusal.problem.message}",)
    return ()
