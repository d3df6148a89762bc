"""`qrspi simulate`, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from qrspi.core.history.simulation import Replayed, ReplayedLoop, Settings
from qrspi.core.model import counted


def document(run: str, settings: Settings, loops: Sequence[ReplayedLoop]) -> dict[str, Any]:
    return {
        "schema": "qrspi/simulate/v1",
        "run": run,
        "settings": {
            "thresholds": dict(settings.thresholds),
            "cap": settings.cap,
            "verifier": {None: "as-it-was", True: "on", False: "off"}[settings.verifier],
        },
        "differs": any(loop.differs for loop in loops),
        "loops": [_loop(loop) for loop in loops],
    }


def _loop(loop: ReplayedLoop) -> dict[str, Any]:
    return {
        "step": loop.step,
        "differs": loop.differs,
        "because": loop.because or None,
        "rounds": [
            {**replayed._asdict(), "changed": [change._asdict() for change in replayed.changed]}
            for replayed in loop.rounds
        ],
        "left": list(loop.left),
    }


def lines(run: str, settings: Settings, loops: Sequence[ReplayedLoop]) -> list[str]:
    lines = [f"{run}, replayed with {_settings(settings)}; nothing was changed."]
    for loop in loops:
        same = "it would have gone the same way" if loop.rounds else "no round has come to its end"
        lines += ["", f"{loop.step}: {loop.because or same}"]
        lines += [line for replayed in loop.rounds for line in _round(replayed)]
        lines += [
            f"  round {number}: abandoned, or still open: not counted" for number in loop.left
        ]
    return lines if loops else [*lines, "", "There is no round to replay."]


def _settings(settings: Settings) -> str:
    scores = ", ".join(f"{kind} {score}" for kind, score in settings.thresholds.items())
    words = [f"thresholds {scores}", f"a cap of {counted(settings.cap, 'round')}"]
    if settings.verifier is not None:
        words.append(f"the verifier {'on' if settings.verifier else 'off'}")
    return ", ".join(words)


def _round(replayed: Replayed) -> Iterator[str]:
    if not replayed.reached:
        yield f"  round {replayed.round}: would not have been made"
        return
    now = f"{replayed.kept} kept, {replayed.then}"
    would = f"{replayed.would_keep} kept, {replayed.would_then}"
    yield f"  round {replayed.round}: {now}" + ("" if now == would else f" -> {would}")
    for change in replayed.changed:
        yield f"    {change.finding}: {change.was} -> {change.would_be} ({change.because})"
