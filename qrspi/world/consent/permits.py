"""The one door: whatever a repository names is started or contacted only with a `Permit`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from qrspi.core import trust
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.trust import ConsentNeeded, NamedThing

TRUST = "QRSPI_TRUST"  # folders, separated like PATH: everything named there is allowed


class Permit(NamedTuple):
    """This user's consent. No other module creates one, and what is started is taken from it."""

    named: NamedThing


def permit(project: str, run: str, named: NamedThing) -> Permit:
    require(project, run, (named,))
    return Permit(named)


def by_own_file(named: NamedThing) -> Permit:
    """For what no repository names: the user's own worker.toml lists it, which is the consent."""
    return Permit(named)


def must_cover(held: Permit | None, named: NamedThing | None) -> None:
    if named is not None and (held is None or held.named != named):
        raise RuntimeError(f"{named.field} is used without a permit")


def require(project: str, run: str, named: Iterable[NamedThing]) -> None:
    if missing := lacking(project, named):
        raise ConsentNeeded(os.path.realpath(project), run, missing)


def lacking(project: str, named: Iterable[NamedThing]) -> tuple[NamedThing, ...]:
    wanted = tuple(dict.fromkeys(named))
    if not wanted or is_trusted(project, os.environ):
        return ()
    # Imported here: most runs name nothing.
    from qrspi.world.consent import allowed_things

    place, real = allowed_things.folder(os.environ), os.path.realpath(project)
    return tuple(one for one in wanted if not allowed_things.holds(place, real, one))


def allow(project: str, named: Iterable[NamedThing], by: str, time: str) -> None:
    from qrspi.world.consent import allowed_things

    place = allowed_things.folder(os.environ)
    for thing in lacking(project, named):
        allowed_things.keep(place, os.path.realpath(project), thing, by, time)


def is_trusted(project: str, environment: Mapping[str, str]) -> bool:
    """Only the user's own environment can say so: anything in a repository can be forged. A
    relative name would be wherever one stands, so it counts for nothing."""
    real = os.path.realpath(project)
    named = environment.get(TRUST, "").split(os.pathsep)
    folders = (os.path.realpath(name) for name in named if os.path.isabs(name))
    return any(real == folder or real.startswith(f"{folder.rstrip('/')}/") for folder in folders)


def folder_outside(project: str, code_path: str) -> NamedThing | None:
    real, inside = os.path.realpath(os.path.join(project, code_path)), os.path.realpath(project)
    if f"{real}/".startswith(f"{inside.rstrip('/')}/"):
        return None
    return trust.folder(real)
