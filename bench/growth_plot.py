"""A plot of times against the size of a run: SVG, by hand."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 110, 40, 50
INKS = ("#0b62a3", "#b0480e", "#3b7d23", "#7a3b9a", "#555555")
MARKS = ("", "6 3", "2 3", "8 3 2 3", "1 2")  # for those who do not tell the colours apart


def draw(times: Mapping[str, Sequence[float]], sizes: Sequence[float]) -> str:
    """Both axes are logarithmic: what is linear rises with the grey line, what is flat lies."""
    seconds = [one for taken in times.values() for one in taken]
    low, high = (
        10 ** math.floor(math.log10(min(seconds))),
        10 ** math.ceil(math.log10(max(seconds))),
    )
    view = _View(sizes[0], sizes[-1], low, high)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="13">',
        "<title>Seconds of each command against the size of the run</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        *_axes(view, sizes),
        _line(view, sizes, [low * 2 * size / sizes[0] for size in sizes], "#cccccc", "", "linear"),
    ]
    for (name, taken), ink, mark in zip(times.items(), INKS, MARKS, strict=False):
        parts.append(_line(view, sizes, taken, ink, mark, name))
    return "\n".join([*parts, "</svg>", ""])


class _View:
    def __init__(self, small: float, large: float, low: float, high: float) -> None:
        self.low, self.high = low, high
        self._small, self._wide = math.log(small), math.log(large / small)
        self._tall = math.log(high / low)

    def x(self, size: float) -> float:
        return LEFT + (math.log(size) - self._small) / self._wide * (WIDTH - LEFT - RIGHT)

    def y(self, seconds: float) -> float:
        return HEIGHT - BOTTOM - math.log(seconds / self.low) / self._tall * (HEIGHT - TOP - BOTTOM)


def _axes(view: _View, sizes: Sequence[float]) -> Iterable[str]:
    yield f'<text x="{LEFT}" y="22">seconds of the processor, against the size of the run</text>'
    at = view.low
    while at <= view.high * 1.001:
        y = view.y(at)
        yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#e4e4e4"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{at:g} s</text>'
        at *= 10
    for size in sizes:
        name = "whole" if size == 1 else f"1/{1 / size:.0f}"
        yield f'<text x="{view.x(size):.1f}" y="{HEIGHT - 20}" text-anchor="middle">{name}</text>'


def _line(
    view: _View, sizes: Sequence[float], taken: Sequence[float], ink: str, mark: str, name: str
) -> str:
    points = [(view.x(size), view.y(one)) for size, one in zip(sizes, taken, strict=True)]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    dashes = f' stroke-dasharray="{mark}"' if mark else ""
    x, y = points[-1]
    return (
        f'<path d="{path}" fill="none" stroke="{ink}" stroke-width="2"{dashes}/>'
        f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" fill="{ink}">{name}</text>'
    )
