from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.gates.quality import verdict_line
from qrspi.core.gates.quality.verdict_line import AXES, Line

NOW, SOON, WEEK = "2026-05-17T09:30:00Z", "2026-05-24T09:29:59Z", "2026-05-24T09:30:00Z"
VAGUE = Line("NEEDS_REFINEMENT", "1a2b3c4d", NOW, ("goal", "boundary"), WEEK)


@pytest.mark.rule("QV-02")
@pytest.mark.parametrize(
    ("line", "text"),
    [
        (Line("PASS", "1a2b3c4d", NOW), f"PASS hash=1a2b3c4d @{NOW} v1"),
        (
            Line("REJECT", "00000000", NOW, ("R-AC1", "R-EP4")),
            f"REJECT hash=00000000 @{NOW} v1 axes=R-AC1,R-EP4",
        ),
        (
            VAGUE,
            f"NEEDS_REFINEMENT hash=1a2b3c4d @{NOW} v1 axes=goal,boundary suppressed-until={WEEK}",
        ),
    ],
)
def test_a_line_and_its_text(line: Line, text: str) -> None:
    assert verdict_line.render(line) == text
    assert verdict_line.read(text) == line


@pytest.mark.rule("QV-02")
def test_what_is_not_known_yet_is_left_alone() -> None:
    text = f"PASS hash=1a2b3c4d @{NOW} v1 model=x colour=y"
    assert verdict_line.read(text) == Line("PASS", "1a2b3c4d", NOW)


@pytest.mark.rule("QV-02", "GTD-04")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "PASS",
        f"pass hash=1a2b3c4d @{NOW} v1",
        f"PASS hash=1A2B3C4D @{NOW} v1",
        f"PASS hash=1a2b3c4 @{NOW} v1",
        f"PASS hash=1a2b3c4d {NOW} v1",
        "PASS hash=1a2b3c4d @today v1",
        f"PASS hash=1a2b3c4d @{NOW} v2",
        f"PASS hash=1a2b3c4d @{NOW}",
        f"PASS hash=1a2b3c4d @{NOW} v1 and more",
        f"PASS  hash=1a2b3c4d @{NOW} v1",
        f"UNREVIEWED hash=1a2b3c4d @{NOW} v1",
        f"PASS hash=1a2b3c4d @{NOW} v1 suppressed-until={WEEK}",
        f"REJECT hash=1a2b3c4d @{NOW} v1 axes=goal suppressed-until=2026-05-24T09:30:01Z",
        f"REJECT hash=1a2b3c4d @{NOW} v1 axes=goal suppressed-until=ever",
    ],
)
def test_what_is_no_line(text: str) -> None:
    assert verdict_line.read(text) is None


@given(st.text())
def test_any_text_is_a_line_or_none(text: str) -> None:
    line = verdict_line.read(text)
    assert line is None or verdict_line.read(verdict_line.render(line)) == line


@pytest.mark.rule("QV-06", "GTD-16")
@pytest.mark.parametrize(("now", "frozen"), [(NOW, True), (SOON, True), (WEEK, False)])
def test_a_suppression_ends(now: str, frozen: bool) -> None:
    assert verdict_line.is_suppressed(VAGUE, now) is frozen
    assert not verdict_line.is_suppressed(VAGUE._replace(suppressed_until=""), now)


@pytest.mark.rule("QV-07", "GTD-04")
@pytest.mark.parametrize(
    ("before", "after", "until"),
    [
        (("goal",), ("boundary", "goal"), WEEK),
        (("goal",), ("boundary",), ""),
        ((), ("goal",), ""),
        (("R-AC1",), ("R-AC1",), ""),
        (("R-AC1", "goal"), ("goal",), WEEK),
        (None, AXES, ""),
    ],
)
def test_the_same_axis_twice_in_a_row_freezes(
    before: tuple[str, ...] | None, after: tuple[str, ...], until: str
) -> None:
    old = None if before is None else Line("REJECT", "00000000", "2026-01-01T00:00:00Z", before)
    assert verdict_line.suppression(old, Line("NEEDS_REFINEMENT", "1" * 8, NOW, after)) == until


@pytest.mark.rule("QV-07")
def test_a_pass_is_never_frozen_and_freezes_nothing() -> None:
    bad, good = VAGUE, Line("PASS", "1" * 8, NOW)
    assert verdict_line.suppression(bad, good) == verdict_line.suppression(good, bad) == ""
