"""To have a menu approve, through a server of a host that may not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests import runs
from tests.attacks.arena import Arena, workshop
from tests.attacks.trial import attack
from tests.deliveries import config
from tests.handlers.workshop import Workshop
from tests.mcp.host import serving
from tests.quick import say_clean

pytestmark = pytest.mark.rule("SEC-20", "HST-03")


def after_a_batch(shop: Workshop) -> None:
    shop.next()
    shop.finish("task-01", "a.py", "good\n")
    shop.next()


def after_tests(shop: Workshop) -> None:
    after_a_batch(shop)
    shop.resolve("continue")
    shop.next()
    say_clean(shop.run, "test")
    shop.next()


def mended_settings(shop: Workshop) -> None:
    old = (shop.run / "config.md").read_text()
    (shop.run / "config.md").write_text(
        old.replace("verifier_enabled: true", "verifier_enabled: 1")
    )


@attack(
    "an agent",
    "an answer to a menu approves, or changes settings, where no tool may approve",
    {
        "implement": (after_a_batch, "continue"),
        "implement, by number": (after_a_batch, "1"),
        "test": (after_tests, "ship"),
        "settings": (mended_settings, "1"),
    },
)
def test_a_menu_that_approves(arena: Arena, way: tuple[Callable[[Workshop], None], str]) -> None:
    prepare, option = way
    settings = config("quick", "gates: {test_command: 'true'}\n")
    shop = workshop(arena, **{"config.md": settings})
    assert arena.qrspi("trust", "--yes").code == 0
    prepare(shop)
    before = runs.contents(shop.run)
    with serving(arena.project, "--write") as host:
        said = host.refusal("resolve", run=shop.run.name, option=option)
    assert said.startswith("not-offered: ") and "--allow-approve" in said, said
    assert runs.contents(shop.run) == before
