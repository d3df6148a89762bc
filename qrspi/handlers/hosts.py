"""Add qrspi to the settings of a host, or remove it, completely or not at all; and what `doctor`
says about it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping

from qrspi.core.errors import Refusal, accepted
from qrspi.core.hints import Any
from qrspi.core.installing import install_plan
from qrspi.core.installing.host_parts import HOSTS, HostName, Level, Part, parts
from qrspi.core.installing.install_plan import Plan
from qrspi.core.named_tuple import NamedTuple
from qrspi.world.files import own_files
from qrspi.world.hosts import host_files, install_record


class SettingsPlace(NamedTuple):
    level: Level
    root: str
    record: str


def planned(host: HostName, place: SettingsPlace) -> Plan:
    mine = _parts(host, place)
    known = install_record.read(place.record)
    return accepted(
        install_plan.install(host, mine, known, lambda file: host_files.text(place.root, file))
    )


def planned_removal(host: HostName, place: SettingsPlace) -> Plan:
    known = install_record.read(place.record)
    return install_plan.uninstall(
        host, _parts(host, place), known, lambda file: host_files.text(place.root, file)
    )


def carry_out(plan: Plan, place: SettingsPlace, *, removing: bool) -> None:
    """The record is there before the first file it is about, until after the last it undoes."""
    changed = [change for change in plan.changes if change.is_change]
    for change in changed:
        host_files.must_be_writable(place.root, change.file)
    if not removing:
        install_record.write(place.record, plan.record)
    for change in changed:
        host_files.write(place.root, change.file, change.after)
    if removing:
        install_record.write(place.record, plan.record)


def _parts(host: HostName, place: SettingsPlace) -> tuple[Part, ...]:
    return parts(host, place.level, host_files.skill())


_SETTINGS: dict[HostName, tuple[str, ...]] = {
    "claude-code": (".claude/settings.json", ".claude/settings.local.json"),
    "codex": (".codex/config.toml",),
    "copilot": (".github/hooks/qrspi.json", ".copilot/settings.json", ".copilot/config.json"),
}
PLUGIN = "qrspi@qrspi"


class Standing(NamedTuple):
    is_fine: bool
    message: str
    hint: str = ""


def places(project: str | None, environment: Mapping[str, str]) -> tuple[SettingsPlace, ...]:
    user = SettingsPlace("user", host_files.home(), own_files.settings_folder(environment))
    if project is None or project == user.root:
        return (user,)
    return SettingsPlace("project", project, install_record.of_project(project)), user


def look(project: str | None) -> Iterator[Standing]:
    places_found = places(project, os.environ)
    there: list[tuple[HostName, SettingsPlace]] = []
    for place in places_found:
        for host in HOSTS:
            standing = _standing(host, place)
            if standing:
                there.append((host, place))
                yield standing
    if there:
        yield from _switched_off(there, places_found)
        yield from _twice(there, places_found)


def _standing(host: HostName, place: SettingsPlace) -> Standing | None:
    mine = parts(host, place.level, host_files.skill())
    states = {part.file: _state(part, place) for part in mine}
    hooks, skill = mine[0].file, mine[2].file
    if states[hooks] is None and states[skill] is None:
        return None  # the other files may be there for another host
    where = "in this project" if place.level == "project" else "in your home"
    wrong = [file for file, current in states.items() if current is not True]
    if not wrong:
        return Standing(True, f"{host}: installed {where}")
    level = "" if place.level == "project" else " --user"
    names = ", ".join(wrong)
    hint = f"qrspi install {host}{level} --yes"
    return Standing(False, f"{host}: installed {where}, and out of date: {names}", hint)


def _state(part: Part, place: SettingsPlace) -> bool | None:
    try:
        return install_plan.is_current(part, host_files.text(place.root, part.file))
    except Refusal:
        return None


def _documents(
    found: tuple[SettingsPlace, ...], files: tuple[str, ...]
) -> Iterator[tuple[str, Any]]:
    for place in found:
        for file in files:
            try:
                text = host_files.text(place.root, file) or ""
                document = _toml(text) if file.endswith(".toml") else json.loads(text or "{}")
            except (Refusal, ValueError):
                continue
            if isinstance(document, dict):
                yield f"{'~/' if place.level == 'user' else ''}{file}", document


def _toml(text: str) -> Any:
    import tomllib  # few machines have such a file

    return tomllib.loads(text)


def _switched_off(
    there: list[tuple[HostName, SettingsPlace]], places_found: tuple[SettingsPlace, ...]
) -> Iterator[Standing]:
    for host in dict(there):
        for file, settings in _documents(places_found, _SETTINGS[host]):
            for what in _off(settings):
                yield Standing(False, f"{host}: {what} in {file}")


def _off(settings: dict[str, Any]) -> Iterator[str]:
    features, servers = settings.get("features"), settings.get("disabledMcpjsonServers")
    if settings.get("disableAllHooks") is True:
        yield "hooks are switched off by disableAllHooks"
    if isinstance(features, dict) and features.get("hooks") is False:
        yield "hooks are switched off by features.hooks"
    if isinstance(servers, list) and "qrspi" in servers:
        yield "the MCP server is switched off by disabledMcpjsonServers"


def _twice(
    there: list[tuple[HostName, SettingsPlace]], found: tuple[SettingsPlace, ...]
) -> Iterator[Standing]:
    levels = {host: [place.level for one, place in there if one == host] for host, _ in there}
    for host, at in levels.items():
        if len(at) > 1:
            text = f"{host}: its hooks run twice, from this project and from your home"
            yield Standing(False, text, f"qrspi uninstall {host} --user --yes")
    if "copilot" in levels and "claude-code" in levels:
        text = "copilot: its hooks run twice, as it runs those of .claude/settings.json too"
        yield Standing(False, f"{text}; both give the same answer")
    for file, settings in _documents(found, _SETTINGS["claude-code"]):
        plugins = settings.get("enabledPlugins")
        if "claude-code" in levels and isinstance(plugins, dict) and plugins.get(PLUGIN) is True:
            text = f"claude-code: its hooks run twice, as {file} has the plugin {PLUGIN} too"
            yield Standing(False, text, "qrspi uninstall claude-code --yes")
