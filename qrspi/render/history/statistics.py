"""`qrspi stats`, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from qrspi.core.findings.triage import THRESHOLDS
from qrspi.core.history.statistics import BUCKETS, NEAR, Statistics, Tally
from qrspi.core.model import counted
from qrspi.render.terminal import table

_BAR = 30  # cells


def document(runs: Sequence[str], stats: Statistics) -> dict[str, Any]:
    groups = {"type": stats.by_type, "reviewer": stats.by_reviewer, "model": stats.by_model}
    return {
        "schema": "qrspi/stats/v1",
        "runs": list(runs),
        "rounds": stats.rounds,
        "findings": _tally(stats.all),
        "by": {key: [_tally(tally) for tally in tallies] for key, tallies in groups.items()},
        "to_clean": [{**one._asdict(), "clean": one.clean or None} for one in stats.to_clean],
        "re_raised": {"count": stats.re_raised, "share": round(stats.share, 4)},
        "cost": {
            "usd": round(stats.spent.usd, 6),
            "calls": stats.spent.calls,
            "unpriced": stats.spent.unpriced,
            "per_kept": None if stats.per_kept is None else round(stats.per_kept, 6),
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


def lines(runs: Sequence[str], stats: Statistics, *, draws: bool, width: int) -> list[str]:
    every, whose = stats.all, runs[0] if len(runs) == 1 else counted(len(runs), "run")
    head = (
        f"{whose}: {counted(stats.rounds, 'round')}, {counted(every.found, 'finding')}, "
        f"{every.kept} kept, {every.skipped} skipped, {every.dropped} dropped"
    )
    loops = ["", *_to_clean(stats, several=len(runs) > 1)] if stats.to_clean else []
    if not every.found:
        return [head, *loops]
    groups = {"TYPE": stats.by_type, "REVIEWER": stats.by_reviewer, "MODEL": stats.by_model}
    columns = ("FOUND", "KEPT", "SKIPPED", "DROPPED", f"BY {NEAR} OR LESS", "NEAREST")
    below: list[str] = []
    for title, tallies in groups.items():
        below += ["", *table((title, *columns), [_row(tally) for tally in tallies], width)]
    return [head, "", *_closeness(every, draws), *below, *loops, "", *_sums(stats)]


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


def _sums(stats: Statistics) -> Iterator[str]:
    yield f"Came back after they were settled or gone: {stats.re_raised} ({stats.share:.0%})"
    if stats.per_kept is None:
        yield "Nobody said what agents cost."
        return
    rest = f", without {counted(stats.spent.unpriced, 'call')}" if stats.spent.unpriced else ""
    yield f"A kept finding cost {stats.per_kept:.4f} USD ({stats.spent.usd:.4f} USD in all{rest})"
