"""What git's history says of one run: a few questions, however long the history is."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import lru_cache

from qrspi.core.proof.run_history import Before, Commit, RunHistory
from qrspi.core.records import written_lines
from qrspi.core.records.vanished import LOGS
from qrspi.core.records.written_lines import SIGNATURE
from qrspi.core.tree import Earlier, Vouched
from qrspi.world.git import branches, command, commits
from qrspi.world.git.refs import head
from qrspi.world.git.repository import Repo, commit_by_files

_LOG = ("log", "-z", "--no-renames", "--name-only", "--encoding=UTF-8", "--no-color")
_FORMAT = "--format=%x00%H%x00%B%x00"
# Each parent of a merge by itself, and no branch left out: a merge can drop what one side decided.
_CHANGES = (
    *("log", "--patch", "--unified=0", "--text", "--full-history", "--diff-merges=separate"),
    *("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--no-prefix", "--relative"),
    *("-O/dev/null", "--format=%x00%H %P", "HEAD", "--"),
)
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def of_run(repo: Repo) -> RunHistory:
    """`repo` is asked from the run's folder."""
    if head(repo) is None:
        return RunHistory()
    log = [*_LOG, "--no-ext-diff", "--no-textconv", _FORMAT, "HEAD", "--", "."]
    files = ["ls-tree", "-r", "-z", "--name-only", "HEAD", "."]
    changes = [*_CHANGES, *command.literal(LOGS)]
    logged, listed, changed = command.read_each(repo.path, [log, files, changes])
    prefix = "" if repo.from_root(".") == "." else f"{repo.from_root('.')}/"
    present = frozenset(listed.items)
    return RunHistory(
        commits=tuple(_commits(os.fsdecode(logged.out), prefix)),
        present=present,
        logs=commits.contents(repo, "HEAD", [log for log in LOGS if log in present]),
        cut=tuple(_cut(repo, changed.out)),
        is_shallow=_is_shallow(repo),
    )


# A record has thousands of lines at most, and the newest commits have all of them.
_EVER = ("log", "--all", "--reflog", "--full-history", "--max-count=500", "--format=%H", "--")


def earlier(repo: Repo, path: str, digests: Collection[str]) -> tuple[Earlier, ...]:
    """From branches that are not checked out, too, and from what was checked out before a reset."""
    asked = [*_EVER, *command.literal([path])]
    shas = command.read(repo.path, asked, ok=(0, 128)).out.decode("ascii", "replace").split()
    found: dict[str, Earlier] = {}
    for (sha, _), data in commits.blobs(repo, [(sha, path) for sha in shas]).items():
        digest = hashlib.sha256(data).hexdigest()
        if digest in digests and digest not in found:
            found[digest] = Earlier(digest, data, sha, branches.with_commit(repo, sha))
    return tuple(found.values())


def vouched(repo: Repo, path: str) -> Vouched:
    """While HEAD is the same commit it says the same."""
    if head(repo) is None:
        return Vouched(frozenset(), signs=False)
    if commit := commit_by_files(repo):
        return _of_commit(repo, commit, path)
    return _of_commit.__wrapped__(repo, "HEAD", path)


@lru_cache(maxsize=4)
def _of_commit(repo: Repo, commit: str, path: str) -> Vouched:
    """Of a run that older engines worked on, what it had before the first commit that signs; of a
    history that is cut off, whatever it has."""
    args = ["rev-list", "--max-count=5000", "--encoding=UTF-8", "--fixed-strings"]
    which = [f"--grep={SIGNATURE}", "--format=%x00%H%x00%B", commit, "--", *command.literal([path])]
    _, *parts = command.read(repo.path, [*args, *which]).text.split("\0")
    shas, messages = parts[::2], parts[1::2]
    first = f"{shas[-1]}^" if shas and not _is_shallow(repo) else commit
    return written_lines.vouched(messages, commits.content(repo, first, path) or b"")


def _cut(repo: Repo, changes: bytes) -> Iterator[Before]:
    """A merge takes out what any of its parents has and it has not."""
    asked = [(sha, parent, file) for sha, parents, file in _cutting(changes) for parent in parents]
    found = commits.blobs(repo, [(parent, file) for _, parent, file in asked])
    for sha, parent, file in asked:
        if data := found.get((parent, file)):
            yield Before(sha, file, data)


def _cutting(changes: bytes) -> dict[tuple[str, tuple[str, ...], str], None]:
    """Commits with their parents, and the log of which they take a line away. A line of a log
    begins with a brace, and no line of a diff but those of its files with a d, so nothing that is
    written into a log can be taken for another file."""
    sha = file = ""
    parents: tuple[str, ...] = ()
    found: dict[tuple[str, tuple[str, ...], str], None] = {}
    for line in changes.split(b"\n"):
        if line.startswith(b"\0"):
            sha, *above = line[1:].decode("ascii", "replace").split(" ")
            parents = tuple(filter(None, above))
        elif line.startswith(b"diff --git "):
            file = os.fsdecode(line.rpartition(b" ")[2])
        elif line.startswith(b"-{") and file in LOGS:
            found[sha, parents, file] = None
    return found


def _is_shallow(repo: Repo) -> bool:
    with suppress(OSError):
        return os.stat(f"{repo.common_dir}/shallow").st_size > 0
    return False


def _commits(output: str, prefix: str) -> Iterator[Commit]:
    """A commit begins with an empty part; no name of a file is empty."""
    parts = output.split("\0")
    at = 0
    while at < len(parts):
        if parts[at] or at + 2 >= len(parts) or not _COMMIT.fullmatch(parts[at + 1]):
            at += 1
            continue
        end = next((one for one in range(at + 4, len(parts)) if not parts[one]), len(parts))
        names = (name.lstrip("\n") for name in parts[at + 4 : end])
        files = tuple(name.removeprefix(prefix) for name in names if name.startswith(prefix))
        yield Commit(parts[at + 1], parts[at + 2], files)
        at = end
