"""A route that was changed by hand, as `status` tells it."""

from __future__ import annotations

import pytest

from qrspi.core.derivation.derive import derive
from qrspi.core.records import approvals
from qrspi.core.records.approvals import Record
from qrspi.core.tree import MemoryTree
from tests import runs

APPROVED = Record("approve", "goals", "", 0, "Ada <ada@example.org>", "2026-01-05T10:00:00Z")
SINCE = "and no command did that since the last decision of Ada (approve goals, 2026-01-05): "


def warned(records: tuple[Record, ...], config: bytes, **more: bytes) -> list[str]:
    log = b"".join(map(approvals.render, records))
    files = {"config.md": config, "goals.md": runs.artifact(), approvals.FILE: log}
    state = derive(MemoryTree(files | {f"{name}.md": data for name, data in more.items()}))
    return [one.message for one in state.warnings if one.code == "route-changed"]


@pytest.mark.rule("SEC-22")
def test_steps_that_left_the_route_are_named() -> None:
    config = runs.config("full").replace(b"design, phasing, ", b"")
    assert warned((APPROVED._replace(route=runs.ON_FULL),), config) == [
        f"config.md: design, phasing left the route, {SINCE}put it back"
    ]


@pytest.mark.rule("SEC-22")
def test_another_pipeline_is_named_with_what_puts_it_back() -> None:
    config = runs.config("full").replace(b"pipeline: full", b"pipeline: quick")
    (said,) = warned((APPROVED._replace(route=runs.ON_FULL),), config)
    assert said.startswith(
        f"config.md: the pipeline became quick, {SINCE}put it back: `qrspi route"
    )
    assert said.endswith(" full`")


@pytest.mark.rule("SEC-22")
def test_a_whole_other_route_can_be_confirmed_until_texts_of_it_are_approved() -> None:
    records = (APPROVED._replace(route=runs.ON_QUICK),)
    (said,) = warned(records, runs.config("full"))
    assert " came into the route and the pipeline became full, " in said
    assert said.endswith(" full` to put it on record")
    (said,) = warned(records, runs.config("full"), plan=runs.artifact(status="approved"))
    assert said.endswith(f"{SINCE}put it back")


@pytest.mark.rule("SEC-22")
@pytest.mark.parametrize(
    "records",
    [
        (),
        (APPROVED,),
        (APPROVED._replace(route=runs.ON_FULL),),
        (APPROVED._replace(route=runs.ON_QUICK), Record("route", "", "", 0, route=runs.ON_FULL)),
        (APPROVED._replace(route=runs.ON_FULL), APPROVED),
    ],
    ids=["none", "an old one", "the same", "changed by command", "an old one after it"],
)
def test_a_route_that_its_records_know_is_no_matter(records: tuple[Record, ...]) -> None:
    assert warned(records, runs.config("full")) == []
