"""Put qrspi into the settings of a host, and take it out again: all of it, or nothing."""

from __future__ import annotations

from qrspi.core.errors import Refusal
from qrspi.core.installing import install_plan
from qrspi.core.installing.host_parts import HostName, Level, Part, parts
from qrspi.core.installing.install_plan import Plan
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.world.hosts import host_files, install_record


class Place(NamedTuple):
    """Where files of hosts lie, and where it is kept what was put into them."""

    level: Level
    root: str
    record: str


def planned(host: HostName, place: Place) -> Plan:
    mine = _parts(host, place)
    known = install_record.read(place.record)
    plan = install_plan.install(host, mine, known, lambda file: host_files.text(place.root, file))
    if isinstance(plan, Problem):
        raise Refusal(plan)
    return plan


def planned_removal(host: HostName, place: Place) -> Plan:
    known = install_record.read(place.record)
    return install_plan.uninstall(
        host, _parts(host, place), known, lambda file: host_files.text(place.root, file)
    )


def carry_out(plan: Plan, place: Place, *, removing: bool) -> None:
    """The record is written while it is needed: before the first file that it is about, and
    after the last that it undoes."""
    changed = [change for change in plan.changes if change.is_change]
    for change in changed:
        host_files.must_be_writable(place.root, change.file)
    if not removing:
        install_record.write(place.record, plan.record)
    for change in changed:
        host_files.write(place.root, change.file, change.after)
    if removing:
        install_record.write(place.record, plan.record)


def _parts(host: HostName, place: Place) -> tuple[Part, ...]:
    return parts(host, place.level, host_files.skill())
