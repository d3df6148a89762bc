"""Laws of lineage, whatever reviewers write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.rounds import lineage
from qrspi.core.rounds.lineage import FindingRecord, RoundFindings

WORDS = st.lists(st.sampled_from("cache token queue retry upload arrow owner".split()), max_size=6)
RECORDS = st.builds(
    FindingRecord,
    st.sampled_from(["quality-claude", "scope-codex"]),
    st.sampled_from(["R1-F01", "R1-F02", "R1-F03"]),
    st.sampled_from(["## A", "## B", "<full>"]),
    st.text() | WORDS.map(" ".join),
    st.sampled_from(["keep", "drop", "pause", "propose"]),
    st.sampled_from(["", "apply", "skip", "pending"]),
)
ROUNDS = st.lists(st.lists(RECORDS, max_size=5).map(tuple), max_size=5).map(
    lambda rows: [RoundFindings(at, row) for at, row in enumerate(rows, 1)]
)


@pytest.mark.rule("EVD-01")
@given(ROUNDS)
def test_every_finding_belongs_to_exactly_one_course(rounds: list[RoundFindings]) -> None:
    found = lineage.trace(rounds)
    assert found == lineage.trace(rounds)
    last = rounds[-1].records if rounds else ()
    assert [one.sightings[-1].round for one in found.findings] == [len(rounds)] * len(last)
    for record, one in zip(last, found.findings, strict=True):
        assert record in [seen.record for seen in one.sightings]
        assert one.state in ("new", "persisting", "re-raised")
        assert (one.earlier is not None) == (one.state == "re-raised")
    for one in found.resolved:
        assert one.sightings[-1].round < len(rounds)


@pytest.mark.rule("EVD-01", "EVD-02")
@given(st.lists(RECORDS, min_size=1, max_size=5, unique_by=lambda one: (one.tag, one.message)))
def test_a_round_that_is_repeated_has_nothing_new(records: list[FindingRecord]) -> None:
    rounds = [RoundFindings(at, tuple(records)) for at in (1, 2)]
    found = lineage.trace(rounds)
    assert "new" not in {one.state for one in found.findings}
    assert found.resolved == ()
