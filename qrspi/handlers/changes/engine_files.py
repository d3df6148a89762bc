"""What every engine commit takes along, so that a fresh clone derives the same state."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from qrspi.core.code_steps import baseline, integrate, test_results
from qrspi.core.filenames import MANIFEST, is_own_at_top, is_own_review, round_number
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import CLOSED, MARKER
from qrspi.core.records import approvals, audit_trail, evidence, written_lines
from qrspi.core.records.vanished import DECISIONS
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.steps.cascade import FILE as CASCADES
from qrspi.core.tree import Fault, Tree, entries
from qrspi.world.git import commits
from qrspi.world.git.refs import head
from qrspi.world.git.repository import Repo
from qrspi.world.runs.workspace import Workspace

_ALWAYS = ("config.md", approvals.FILE, CASCADES, MARKER, CLOSED)


class Own(NamedTuple):
    """Paths to give to git, and the lines that say which manifests in them are the engine's."""

    paths: tuple[str, ...]
    signatures: tuple[str, ...] = ()


def find(tree: Workspace, repo: Repo) -> Own:
    """A round's diff without its folder reads as a round that was lost, so rounds go as a whole."""
    top = (entry.name for entry in entries(tree, "") if is_own_at_top(entry.name))
    folders = tuple(_rounds(tree, "reviews"))
    known = _on_record(repo, folders)
    signed = {folder: _signed(tree, folder) for folder in folders if folder not in known}
    rounds = (folder for folder in folders if signed.get(folder, True))
    files = tuple(_files(tree, "reviews"))
    pages = _pages(tree, repo, sorted(_named_pages(tree).intersection(files)))
    paths = (*_ALWAYS, *top, *files, *rounds)
    return Own(paths, (*(line for line in signed.values() if line), *pages, *decided(tree)))


def decided(tree: Workspace) -> Iterator[str]:
    """The lines of the record that this commit brings, and that commands wrote."""
    own = [one for one in tree.changes if one.path == approvals.FILE]
    changes = [(one.before or "", one.after or "") for one in own]
    before = tree.committed_of(DECISIONS).get(approvals.FILE, b"")
    return written_lines.signatures(written_lines.new_since(tree, before, changes))


def _named_pages(tree: Tree) -> set[str]:
    """About the tests, and CI."""
    results = range(1, test_results.highest(tree) + 1)
    reviews = range(1, len(entries(tree, integrate.CI_FOLDER)) + 1)
    return {
        baseline.FILE,
        baseline.FAILURES,
        *map(test_results.results_file, results),
        *map(integrate.ci_review_file, reviews),
    }


def _pages(tree: Workspace, repo: Repo, paths: Sequence[str]) -> Iterator[str]:
    """Of those that HEAD has otherwise. The trail has not yet what this very command wrote."""
    now = {change.path: change.after for change in tree.changes}
    known = commits.contents(repo, "HEAD", paths) if paths and head(repo) else {}
    for path in paths:
        data = tree.read(path)
        if isinstance(data, Fault) or data == known.get(path):
            continue
        digest = hashlib.sha256(data).hexdigest()
        if now.get(path) == digest or audit_trail.wrote(tree, path, (digest,)):
            yield evidence.signature(path, digest)


def _on_record(repo: Repo, folders: tuple[str, ...]) -> frozenset[str]:
    """Rounds whose manifest is in HEAD; none of them while one was renewed since."""
    names = set(commits.names(repo, "HEAD"))
    known = {folder: f"{folder}/{MANIFEST}" for folder in folders}
    known = {folder: path for folder, path in known.items() if path in names}
    same = known and commits.is_on_record(repo, tuple(known.values()))
    return frozenset(known if same else ())


def _files(tree: Tree, folder: str) -> Iterator[str]:
    for entry in entries(tree, folder):
        path = f"{folder}/{entry.name}"
        if entry.kind == "dir" and not entry.name.startswith("round-"):
            yield from _files(tree, path)
        elif entry.kind == "file" and is_own_review(entry.name):
            yield path


def _rounds(tree: Tree, folder: str) -> Iterator[str]:
    for entry in entries(tree, folder):
        path = f"{folder}/{entry.name}"
        if entry.kind == "dir" and round_number(entry.name):
            yield path
        elif entry.kind == "dir":
            yield from _rounds(tree, path)


def _signed(tree: Tree, folder: str) -> str:
    """Only for what the trail knows: an agent can write a manifest too."""
    path = f"{folder}/{MANIFEST}"
    data = tree.read(path)
    manifest = None if isinstance(data, Fault) else manifests.read(data)
    if isinstance(data, Fault) or not isinstance(manifest, Manifest):
        return ""
    opened = manifests.opening(tree, path, data, manifest, ()) == "opened"
    return manifests.signed_line(manifest) if opened else ""
