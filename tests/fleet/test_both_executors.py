"""What holds for threads of the command holds for workers: the same run, over both."""

from __future__ import annotations

import json

import pytest

from tests import runs
from tests.fleet.machines import Fleet
from tests.handlers.shop import Shop, printed
from tests.project import trap

FINDING = runs.finding(step="design", cites="design.md:L7")
AGENT = """
prompt=$(cat)
case "$prompt" in
*"reviewer_tag: quality-claude"*) {quality};;
*"reviewer_tag: "*) printf NO_FINDINGS;;
*) {verifier};;
esac
"""


@pytest.fixture(params=["local", "celery"])
def executor(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def shop_of(fleet: Fleet, executor: str, **says: str) -> Shop:
    """The same agents, as programs of config.md or of a worker."""
    said = {"quality": "printf NO_FINDINGS", "verifier": "echo score: 90", **says}
    agent = trap(fleet.folder / "agent", AGENT.format(**said))
    wires = f"{{{fleet.vendor}: {{argv: ['{agent}']}}}}"
    shop = fleet.shop(**({"commands": wires} if executor == "local" else {}))
    if executor == "celery":
        fleet.worker()
    return shop


def sent(fleet: Fleet, shop: Shop, executor: str, *more: str) -> tuple[int, str]:
    return fleet.engine(shop, "next", "--dispatch", "--executor", executor, *more).ended()


@pytest.mark.rule("EXE-01", "EXE-04")
def test_a_finding_is_scored_and_kept(fleet: Fleet, executor: str) -> None:
    file = fleet.folder / "printed"
    file.write_text(printed(FINDING))
    says = {"quality": f"cat {file}", "verifier": "printf 'score: 90\\nreason: Seen.\\n'"}
    shop = shop_of(fleet, executor, **says)
    _, said = sent(fleet, shop, executor, "--max-calls", "3")
    folder = shop.run / "reviews/design/round-01"
    assert sorted(one.name for one in folder.iterdir() if not one.name.startswith(".")) == [
        "kept-findings.txt",
        "quality-claude.finding-F01.md",
        "quality-claude.finding-F01.score.yml",
        "scope-claude.clean.md",
    ], said
    assert sorted(one["name"] for one in shop.ledger()) == [
        "quality-claude",
        "scope-claude",
        "verify-quality-claude.finding-F01",
    ]


@pytest.mark.rule("EXE-01", "TRN-08")
def test_one_failure_does_not_cancel_the_others(fleet: Fleet, executor: str) -> None:
    shop = shop_of(fleet, executor, quality="echo no luck >&2; exit 3")
    status, said = sent(fleet, shop, executor)
    agent = fleet.folder / "agent"
    assert status == 4
    assert f"failed: quality-claude: {agent} exited 3: no luck" in said.splitlines()
    assert (shop.run / "reviews/design/round-01/scope-claude.clean.md").exists()
    assert shop.statuses("design") == {"quality-claude": "failed", "scope-claude": "complete-clean"}
    outcomes = {one["name"]: one["outcome"] for one in shop.ledger()}
    assert outcomes == {"quality-claude": "failed", "scope-claude": "done"}


@pytest.mark.rule("EXE-01", "EXE-17")
def test_what_a_call_cost_is_counted(fleet: Fleet, executor: str) -> None:
    priced = {"type": "result", "subtype": "success", "is_error": False, "result": "NO_FINDINGS"}
    priced |= {"total_cost_usd": 0.25, "usage": {"input_tokens": 7, "output_tokens": 2}}
    file = fleet.folder / "priced.json"
    file.write_text(json.dumps(priced))
    trap(fleet.folder / "agent", f"cat > /dev/null; cat {file}")
    wires = f"{{{fleet.vendor}: {{argv: ['{fleet.folder}/agent'], reply: claude-json}}}}"
    shop = fleet.shop(**({"commands": wires} if executor == "local" else {}))
    if executor == "celery":
        fleet.settings(reply="claude-json")
        fleet.worker()
    status, said = sent(fleet, shop, executor)
    assert status == 0, said
    assert [(one["usd"], one["input_tokens"]) for one in shop.ledger()] == [(0.25, 7)] * 2
