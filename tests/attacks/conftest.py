"""Every attack is made in an arena, and what must hold is looked at after each."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.arena import SECRET, VARIABLE, Arena

TABLE = "QRSPI_ATTACKS"  # set by `make attacks`: the table is printed at the end


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("prepared")


@pytest.fixture
def arena(
    tmp_path: Path,
    store: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Arena]:
    allow_nothing(monkeypatch, tmp_path)
    monkeypatch.chdir("/")
    arena = Arena(tmp_path.resolve(), store, capsys)
    yield arena
    os.chdir("/")
    arena.held()


def allow_nothing(world: pytest.MonkeyPatch, home: Path) -> None:
    """As somebody who has allowed nothing yet, and has a secret."""
    world.delenv("QRSPI_TRUST")
    world.setenv("XDG_CONFIG_HOME", str(home / "settings"))
    world.setenv("HOME", str(home / "home"))
    world.setenv(VARIABLE, SECRET)
    world.setenv("QRSPI_NOW", "2026-05-17T09:30:00Z")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Reports of another process carry properties alone."""
    if mark := item.get_closest_marker("attack"):
        found, module = mark.args[0], item.path.stem.removeprefix("test_").replace("_", " ")
        item.user_properties.append(("attack", (module, found.who, found.tries)))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if os.environ.get(TABLE) != "table":
        return
    rows: dict[tuple[str, str, str], Counter[str]] = {}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.getreports(outcome):
            for name, found in report.user_properties:
                if name == "attack" and (outcome != "skipped" or report.skipped):
                    rows.setdefault(tuple(found), Counter())[outcome] += 1
    for line in lines(rows):
        terminalreporter.write_line(line)


def lines(rows: dict[tuple[str, str, str], Counter[str]]) -> Iterator[str]:
    before = ""
    for (module, who, tries), count in sorted(rows.items()):
        if module != before:
            yield f"\n{module}"
        before = module
        through, ways = count["failed"] + count["error"], sum(count.values())
        verdict = "GOT THROUGH" if through else "skipped" if count["skipped"] == ways else "held"
        yield f"  {verdict:11} {ways:3}  {who}: {tries}"
    total: Counter[str] = sum(rows.values(), Counter())
    through = total["failed"] + total["error"]
    yield f"\n{total['passed']} attacks held, {through} got through, {total['skipped']} skipped"
