"""Runs that git has and that are not here: gone from the disk, or on a branch that is not checked
out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from qrspi.core.errors import Halt
from qrspi.core.filenames import RUNS, slug_of
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text.shell_words import command as shell
from qrspi.world.git import branches, command, repository
from qrspi.world.git.refs import head
from qrspi.world.git.repository import Repo

_SHOWN = 3


class Way(NamedTuple):
    text: str  # where they are, without a full stop
    command: str  # what goes there; '' where a person has to choose


def way(place: str, word: str = "") -> Way | None:
    """To the run that a word names, by its beginning, or to any."""
    try:
        repo = repository.find(place)
        return _way(repo, word.rstrip("/")) if repo and head(repo) else None
    except Halt:
        return None  # git's own trouble is told elsewhere


def _way(repo: Repo, word: str) -> Way | None:
    others = branches.free(repo)
    gone, *listed = _runs(repo, ["HEAD", *others], word)
    if gone:
        return _gone(gone)
    found: dict[str, list[str]] = {}
    for branch, runs in zip(others, listed, strict=True):
        for run in runs:
            found.setdefault(run, []).append(branch)
    return _on_branches(found) if found else None


def _runs(repo: Repo, commits: Sequence[str], word: str) -> list[list[str]]:
    args = ("ls-tree", "-d", "-z", "--name-only", "--full-tree")
    listings = command.read_each(repo.path, [[*args, one, f"{RUNS}/"] for one in commits])
    names = ([path.rpartition("/")[2] for path in one.items] for one in listings)
    return [[name for name in each if _is_meant(name, word)] for each in names]


def _is_meant(run: str, word: str) -> bool:
    return run.startswith(word) or slug_of(run).startswith(word)


def _gone(runs: Sequence[str]) -> Way:
    one = runs[0] if len(runs) == 1 else ""
    back = shell("git", "checkout", "HEAD", "--", f":/{RUNS}/{one}".rstrip("/"))
    if one:
        return Way(f"{one} is gone here, and `{back}` brings it back", back)
    return Way(f"{len(runs)} runs are gone here, and `{back}` brings them back", back)


def _on_branches(found: Mapping[str, list[str]]) -> Way:
    if len(found) > 1:
        shown = [f"{run} on {_own(run, on) or on[0]}" for run, on in list(found.items())[:_SHOWN]]
        rest = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        return Way(
            f"other branches have {', '.join(shown)}{rest}: `git switch BRANCH` goes there", ""
        )
    [(run, on)] = found.items()
    if branch := _own(run, on):
        switch = shell("git", "switch", branch)
        return Way(f"{run} is on branch {branch}: `{switch}` goes there", switch)
    return Way(f"{run} is on {', '.join(on[:_SHOWN])}: `git switch BRANCH` goes there", "")


def _own(run: str, on: Sequence[str]) -> str:
    """The only branch that has it, else the one that `init` made for it; '' when nothing tells."""
    own = [one for one in on if one in (f"qrspi/{slug_of(run)}", f"qrspi/{run}")]
    return on[0] if len(on) == 1 else next(iter(own), "")


def holding(repo: Repo, paths: Sequence[str]) -> tuple[str, frozenset[str]]:
    """The branch that has most of some files of a run which were never on this one, and those that
    it has."""
    names, files = branches.free(repo), command.literal(paths)
    log = ("log", "-z", "--no-renames", "--relative", "--name-only", "--format=", "HEAD", "--")
    args = ("ls-tree", "-r", "-z", "--name-only")
    known, *listed = command.read_each(
        repo.path, [[*log, *files], *([*args, name, "."] for name in names)]
    )
    wanted = set(paths).difference(path.strip("\n") for path in known.items)
    had = {name: wanted.intersection(one.items) for name, one in zip(names, listed, strict=True)}
    most = max(map(len, had.values()), default=0)
    on = [name for name, files in had.items() if most and len(files) == most]
    branch = _own(os.path.basename(repo.path), on) if on else ""
    return branch, frozenset(had.get(branch, ()))
