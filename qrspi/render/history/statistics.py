"""`qrspi stats`, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from qrspi.core.findings.triage import THRESHOLDS
from qrspi.core.history.statistics import BUCKETS, NEAR, Statistics, Tally
from qrspi.core.model import counted
from qrspi.render.terminal import table

_BAR = 30  # cells


def document(runs: Sequence[str], found: Statistics) -> dict[str, Any]:
    groups = {"type": found.by_type, "reviewer": found.by_reviewer, "model": found.by_model}
    return {
        "schema": "qrspi/stats/v1",
        "runs": list(runs),
        "rounds": found.rounds,
        "findings": _tally(found.all),
        "by": {key: [_tally(tally) for tally in tallies] for key, tallies in groups.items()},
        "to_clean": [{**one._asdict(), "clean": one.clean or None} for one in found.to_clean],
        "re_raised": {"count": found.re_raised, "share": round(found.share, 4)},
        "cost": {
            "usd": round(found.spent.usd, 6),
            "calls": found.spent.calls,
            "unpriced": found.spent.unpriced,
            "per_kept": None if found.per_kept is None else round(found.per_kept, 6),
        },
    }


def _tally(tally: Tally) -> dict[str, Any]:
    return {
        "name": tally.name,
        "threshold": next((at for kind, at in THRESHOLDS.items() if kind == tally.name), None),
        "found": tally.found,
        "kept": tally.kept,
        "skipped": tally.skipped,
        "dropped": tally.dropped,
        "near": tally.near,
        "distances": list(tally.distances),
    }


def lines(runs: Sequence[str], found: Statistics, *, draws: bool, width: int) -> list[str]:
    every, whose = found.all, runs[0] if len(runs) == 1 else counted(len(runs), "run")
    head = (
        f"{whose}: {counted(found.rounds, 'round')}, {counted(every.found, 'finding')}, "
        f"{every.kept} kept, {every.skipped} skipped, {every.dropped} dropped"
    )
    loops = ["", *_to_clean(found, several=len(runs) > 1)] if found.to_clean else []
    if not every.found:
        return [head, *loops]
    groups = {"TYPE": found.by_type, "REVIEWER": found.by_reviewer, "MODEL": found.by_model}
    columns = ("FOUND", "KEPT", "SKIPPED", "DROPPED", f"BY {NEAR} OR LESS", "NEAREST")
    below: list[str] = []
    for title, tallies in groups.items():
        below += ["", *table((title, *columns), [_row(tally) for tally in tallies], width)]
    return [head, "", *_closeness(every, draws), *below, *loops, "", *_sums(found)]


def _closeness(every: Tally, draws: bool) -> Iterator[str]:
    if not every.distances:
        yield "No score dropped a finding."
        return
    yield "Points below the threshold, of findings that were dropped:"
    most = max(every.buckets)
    for (low, high), count in zip(BUCKETS, every.buckets, strict=True):
        label = f"{low}-{high}" if high < 100 else f"over {low - 1}"
        bar = "█" * -(-count * _BAR // most) if draws and count else ""
        yield f"  {label:>7}  {count:4}  {bar}".rstrip()


def _row(tally: Tally) -> tuple[str, ...]:
    nearest = str(tally.distances[0]) if tally.distances else "-"
    counts = (tally.found, tally.kept, tally.skipped, tally.dropped, tally.near)
    return tally.name, *map(str, counts), nearest


def _to_clean(statistics: Statistics, *, several: bool) -> Iterator[str]:
    for step in statistics.to_clean:
        after = f"clean in round {step.clean}" if step.clean else "never clean"
        run = f"{step.run} " if several else ""
        yield f"{run}{step.step}: {counted(step.rounds, 'round')}, {after}"


def _sums(found: Statistics) -> Iterator[str]:
    yield f"Came back after they were settled or gone: {found.re_raised} ({found.share:.0%})"
    if found.per_kept is None:
        yield "Nobody said what agents cost."
        return
    rest = f", without {counted(found.spent.unpriced, 'call')}" if found.spent.unpriced else ""
    yield f"A kept finding cost {found.per_kept:.4f} USD ({found.spent.usd:.4f} USD in all{rest})"
