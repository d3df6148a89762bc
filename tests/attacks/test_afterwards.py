"""To have code shipped that was changed after its tests passed and its reviewers were done."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests import runs
from tests.attacks.arena import Arena
from tests.attacks.trial import attack
from tests.deliveries import config, quick
from tests.handlers.tasks.test_integrate import REVIEWERS, implemented
from tests.handlers.workshop import Workshop
from tests.project import about

pytestmark = pytest.mark.rule("SEC-16", "SEC-17", "LIV-06")
Way = Callable[[Workshop], None]


def commit(shop: Workshop) -> None:
    (shop.root / "a.py").write_text("bad\n")
    shop.git("commit", "-q", "-a", "-m", "tidy")


def amended(shop: Workshop) -> None:
    (shop.root / "a.py").write_text("bad\n")
    shop.git("commit", "-q", "-a", "--amend", "--no-edit")


def merged(shop: Workshop) -> None:
    shop.git("switch", "-q", "-c", "side")
    commit(shop)
    shop.git("switch", "-q", "main")
    shop.git("merge", "-q", "--no-ff", "-m", "take it over", "side")


def among_records(shop: Workshop) -> None:
    """With a message and files of the engine's own."""
    (shop.run / "test-results.md").touch()
    (shop.root / "a.py").write_text("bad\n")
    shop.git("add", "--all")
    shop.git("commit", "-q", "-m", "docs(qrspi): draft test for user-auth")


def put_back(shop: Workshop) -> None:
    """The branch leads to an earlier commit, with the records of now."""
    shop.git("checkout", "-q", "HEAD~4", "--", "a.py")
    shop.git("commit", "-q", "--allow-empty", "-m", "as it was")
    commit(shop)


WAYS = {
    "a commit": commit,
    "an amended commit": amended,
    "a merge": merged,
    "beside records": among_records,
    "an older commit": put_back,
}


def shop_at_test(arena: Arena, command: str) -> Workshop:
    """Its tests have passed, and all its reviewers found nothing."""
    gates = f"gates: {{test_command: '{command}'}}\n"
    shop = Workshop(arena.project, {**quick(), "config.md": config("quick", gates)})
    assert arena.qrspi("trust", "--yes").code == 0
    shop.next()
    shop.finish("task-01", "a.py", "good\n")
    arena.qrspi("next")
    arena.qrspi("resolve", "continue")
    arena.qrspi("next")
    clean(shop, 1)
    assert "Reviews passed clean in round 1." in arena.qrspi("next").flat
    return shop


def clean(shop: Workshop, number: int) -> None:
    folder = shop.run / about("test").reviews / f"round-{number:02d}"
    for tag in shop.manifest("test", number)["expected_tags"]:
        (folder / f"{tag}.clean.md").write_bytes(runs.clean(tag, number))


@attack("an agent", "the tests that passed before a change of the code speak for it", WAYS)
def test_the_tests(arena: Arena, way: Way) -> None:
    shop = shop_at_test(arena, "grep -q good a.py")
    way(shop)
    said = arena.qrspi("status", "--explain").flat
    assert "passed" not in said and "the code has changed since" in said
    refused = arena.qrspi("approve", "test", "--yes", "--json")
    assert (refused.code, refused.json["code"]) == (3, "not-ready")
    assert "The tests failed" in arena.qrspi("next").text
    assert "State: failed" in shop.read("pull-request.md")


@attack("an agent", "the review before a change of the code speaks for it", WAYS)
def test_the_review(arena: Arena, way: Way) -> None:
    shop = shop_at_test(arena, "true")
    way(shop)
    refused = arena.qrspi("approve", "test", "--yes", "--json")
    assert refused.code == 3, refused.text
    arena.qrspi("next")
    assert "+bad" in shop.read("reviews/test/round-02.diff")
    assert arena.qrspi("approve", "test", "--yes").code == 3


@attack("an agent", "CI and the review of the whole before a change of the code speak for it", WAYS)
def test_the_whole(arena: Arena, way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QRSPI_TRUST", str(arena.top))
    shop = implemented(arena.top, {"ci.sh": "! grep -q bad a.py\n"})
    shop.next()
    shop.review("integrate", 1, REVIEWERS)
    assert shop.did() == ["assemble", "ci"]
    assert shop.answer.kind == "approve"
    way(shop)
    assert "the code has changed since" in arena.qrspi("status", "--explain").flat
    refused = arena.qrspi("approve", "integrate", "--yes", "--json")
    assert (refused.code, refused.json["code"]) == (3, "not-ready")
    assert shop.did() == ["prepare-round"]
    assert "+bad" in shop.read("reviews/integration/round-02.diff")
    shop.review("integrate", 2, REVIEWERS)
    assert shop.did() == ["assemble", "ci", "start-tasks"], "CI fails over the code of now"
