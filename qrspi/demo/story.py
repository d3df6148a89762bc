"""The script: what each agent hands in when it is asked, and what the person says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache

from qrspi.core.filenames import round_name
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import Fault, entries
from qrspi.world.files.run_tree import DiskTree

Files = dict[str, bytes]


class Story(NamedTuple):
    name: str  # of its folder: full, quick or gates
    pipeline: str
    slug: str
    about: str
    settings: Mapping[str, str]  # what config.md is still to be told before the code steps
    menus: Mapping[str, str]  # the answer to each menu, by its kind
    decisions: Mapping[str, str]  # by step and finding
    expected: Mapping[str, int]  # what the summary must come to
    opening: Mapping[str, str] = {}  # what config.md is told at once


@cache
def _shelf() -> DiskTree:
    from importlib.resources import files

    return DiskTree(str(files("qrspi") / "data" / "demo"))


def load(name: str) -> Story:
    return Story(name, **json.loads(_content(f"{name}/story.json")))


def project() -> Files:
    return dict(_files("project"))


class Script:
    """Each scene is played once: an agent that is asked for the same thing again plays the next."""

    def __init__(self, story: Story) -> None:
        self._folder = story.name
        self._asked: Counter[str] = Counter()

    def scene(self, step: str, part: str, number: int = 0, *, once: bool = False) -> Files:
        """With `once` there is one scene, however often it is asked for."""
        place = f"{step}/{round_name(number)}/{part}" if number else f"{step}/{part}"
        self._asked[place] = 1 if once else self._asked[place] + 1
        times = self._asked[place]
        return dict(_files(f"{self._folder}/{place}{f'-{times}' if times > 1 else ''}"))

    def unplayed(self) -> list[str]:
        played = {
            place if time == 1 else f"{place}-{time}"
            for place, times in self._asked.items()
            for time in range(1, times + 1)
        }
        return sorted(set(_scenes(self._folder)) - played)


def _scenes(folder: str) -> Iterator[str]:
    for step in _folders(folder):
        for inner in _folders(f"{folder}/{step}"):
            parts = _folders(f"{folder}/{step}/{inner}") if inner.startswith("round-") else ()
            yield from (f"{step}/{inner}/{part}" for part in parts)
            if not inner.startswith("round-"):
                yield f"{step}/{inner}"


def _folders(path: str) -> list[str]:
    entries = _shelf().entries(path)
    assert not isinstance(entries, Fault)
    return [entry.name for entry in entries if entry.kind == "dir"]


def _files(folder: str) -> Iterator[tuple[str, bytes]]:
    for entry in entries(_shelf(), folder):
        path = f"{folder}/{entry.name}"
        if entry.kind == "dir":
            yield from ((f"{entry.name}/{name}", data) for name, data in _files(path))
        else:
            # Code is stored as text, so that no tool takes it for a module of this package.
            name = entry.name.removesuffix(".txt") if ".py." in entry.name else entry.name
            yield name, _content(path)


def _content(path: str) -> bytes:
    data = _shelf().read(path)
    assert not isinstance(data, Fault), f"{path}: {data}"
    return data
