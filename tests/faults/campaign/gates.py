"""The gates on tasks: their texts are judged, plans audited, implementers' requests answered."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests import checkpoints, deliveries
from tests.faults import test_kill_quality as quality
from tests.faults.campaign.cases import Maker, Scene
from tests.faults.campaign.processes import Command
from tests.faults.test_kill_checkpoints import KNOWLEDGE, REVIEWED, TEXTS
from tests.faults.test_kill_gates import Case
from tests.handlers.gates import Gate

REPLY = ".qrspi/dispatch/quality/task-01.reply"
ONE = "task-01"


def judged(case: Case, folder: Path) -> Scene:
    """Beside the project stands a reviewer that knows whether it has answered before."""
    gate = Gate(folder / "shop", case.files, git=False)
    again = folder / "again"
    (folder / "agent.sh").write_text(
        f"cat > /dev/null; [ ! -e {gate.run / REPLY} ] || touch {again}\n"
        f"cat <<'END'\n{quality.ANSWER}END\n"
    )

    def whole() -> None:
        quality.whole(gate)
        assert not again.exists(), "an answer that came was asked for again"

    return Scene(gate, gate.run, tuple(case.words.split()), whole)


def begun(folder: Path) -> Scene:
    """All of the database is there, or nothing."""
    shop = Gate(folder / "shop", deliveries.quick(), git=False)
    database = shop.run / "orchestration.db"

    def whole() -> None:
        if database.exists():
            assert checkpoints.states(database) == {ONE: "watching"}

    return Scene(shop, shop.run, ("checkpoint", "init"), whole, partial(_told, database))


def reviewed(folder: Path) -> Scene:
    """A review is given once and told once."""
    shop = Gate(folder / "shop", deliveries.quick(), git=False)
    database = shop.run / "orchestration.db"
    assert Command(("checkpoint", "init"), shop.root).begin().finish() == 0
    checkpoints.ask(database, text=checkpoints.request(3))

    def whole() -> None:
        assert checkpoints.rows(database, "PRAGMA integrity_check") == [("ok",)]
        given = checkpoints.states(database)[ONE] == "review_approved"
        told = checkpoints.messages(database, "approval")
        assert len(told) == int(given) == len(checkpoints.rows(database, REVIEWED))

    words = ("checkpoint", "review", ONE)
    return Scene(shop, shop.run, words, whole, partial(_told, database))


def _told(database: Path) -> tuple[Any, ...]:
    kinds = ("review_request", "approval")
    return checkpoints.states(database), *(checkpoints.messages(database, kind) for kind in kinds)


def learned(words: tuple[str, ...], folder: Path) -> Scene:
    """No knowledge is lost or doubled."""
    shop = Gate(folder / "shop", deliveries.quick() | KNOWLEDGE, git=False)

    def whole() -> None:
        there = "".join(path.read_text() for path in (shop.run / "knowledge").rglob("*.md"))
        assert [text for text in TEXTS if text not in there] == []

    return Scene(shop, shop.run, ("checkpoint", "knowledge", *words), whole)


def makers() -> dict[str, Maker]:
    of_texts: dict[str, Callable[[Path], Scene]] = {
        name: partial(judged, case) for name, case in quality.CASES.items()
    }
    return of_texts | {
        "checkpoint-init": begun,
        "checkpoint-review": reviewed,
        "knowledge": partial(learned, ()),
        "knowledge-merged": partial(learned, ("--merge",)),
    }
