"""Of which runs git has something else than at the last question, by two processes for all runs."""

from __future__ import annotations

from qrspi.core.errors import Refusal
from qrspi.world.git import command, repository
from qrspi.world.git.repository import Repo
from qrspi.world.git.tracked_files import let_go, list_once

InGit = tuple[str, bytes]  # a run's tree in HEAD, a hash of its entries in the index


class RunsInGit:
    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._seen: dict[str, InGit] | None = None

    def forget(self) -> None:
        self._seen = None

    def let_go(self) -> None:
        """The index may be large, and is listed when it is needed."""
        let_go()

    def changed(self) -> frozenset[str] | None:
        before, self._seen = self._seen, _seen(self._folder)
        if before is None or self._seen is None:
            return None
        now, names = self._seen, before.keys() | self._seen.keys()
        return frozenset(name for name in names if before.get(name) != now.get(name))


def _seen(folder: str) -> dict[str, InGit] | None:
    try:
        repo = repository.find(folder)
        if repo is None:
            return None
        trees, entries = _trees(repo), list_once(repo).by_child()
    except Refusal:
        return None
    names = trees.keys() | entries.keys()
    return {name: (trees.get(name, ""), entries.get(name, b"")) for name in names}


def _trees(repo: Repo) -> dict[str, str]:
    output = command.read(repo.path, ["ls-tree", "-z", "HEAD"], ok=(0, 128))
    if output.status and "Not a valid object name HEAD" not in output.err:
        raise command.failure("ls-tree", output)
    rows = (line.partition("\t") for line in output.items)
    return {name: what for what, _, name in rows}
