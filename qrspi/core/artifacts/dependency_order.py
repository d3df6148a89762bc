"""What must come before what: order in a graph of named things and their needs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

Needs = Mapping[str, Collection[str]]  # every name that is needed is a key too


def settled(needs: Needs) -> Iterator[str]:
    """The names, each after everything it needs. Names in cycles, or behind them, are left out."""
    dependants: dict[str, list[str]] = {name: [] for name in needs}
    open_needs = {name: len(set(wanted)) for name, wanted in needs.items()}
    for name, wanted in needs.items():
        for need in set(wanted):
            dependants[need].append(name)
    ready = sorted((name for name, count in open_needs.items() if not count), reverse=True)
    while ready:
        name = ready.pop()
        yield name
        for dependant in sorted(dependants[name], reverse=True):
            open_needs[dependant] -= 1
            if not open_needs[dependant]:
                ready.append(dependant)


def cycles(needs: Needs) -> tuple[tuple[str, ...], ...]:
    """Paths along the needs. Each begins at its smallest name, and no name is in two of them."""
    stuck = set(needs) - set(settled(needs))
    visited: set[str] = set()
    paths = [_cycle_from(name, needs, stuck, visited) for name in sorted(stuck)]
    return tuple(sorted(path for path in paths if path))


def _cycle_from(start: str, needs: Needs, stuck: set[str], visited: set[str]) -> tuple[str, ...]:
    """Each stuck name needs a stuck name, so the walk returns to itself or to an earlier one."""
    path: dict[str, None] = {}
    name = start
    while name not in visited:
        visited.add(name)
        path[name] = None
        name = min(need for need in needs[name] if need in stuck)
    if name not in path:
        return ()
    names = list(path)
    loop = names[names.index(name) :]
    first = loop.index(min(loop))
    return (*loop[first:], *loop[:first])


def depths(needs: Needs, weightless: Collection[str] = ()) -> dict[str, int]:
    """How many steps each name is from the start. A weightless name adds no step."""
    depth_of: dict[str, int] = {}
    for name in settled(needs):
        before = max((depth_of[need] for need in needs[name]), default=0)
        depth_of[name] = before if name in weightless else before + 1
    return depth_of


def behind(start: str, needs: Needs) -> frozenset[str]:
    needed: set[str] = set()
    waiting = list(needs[start])
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += needs[name]
    return frozenset(needed)
