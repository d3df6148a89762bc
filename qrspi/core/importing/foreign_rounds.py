"""A folder that was made elsewhere: its files, its rounds, and what is odd about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from qrspi.core.config.reader import Config
from qrspi.core.filenames import (
    RoundPaths,
    is_dropping,
    is_own_review,
    paused_round,
    round_number,
    rounds_in,
)
from qrspi.core.findings import guard
from qrspi.core.model import Code, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEPS, Subject, subject, subject_of
from qrspi.core.records import approvals, import_record
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.tree import Tree, entries
from qrspi.core.yaml import frontmatter

MOST_FILES = 100_000
_ENGINES = ".qrspi"
# What somebody decided elsewhere was decided by nobody here.
_DECIDED = (approvals.FILE, approvals.CASCADES)
_OWN = frozenset(("config.md", import_record.FILE, import_record.LISTING))
_EXAMPLES = 5


class Oddity(NamedTuple):
    kind: str  # in words
    times: int
    examples: tuple[str, ...] = ()


class ForeignRounds(NamedTuple):
    files: tuple[str, ...]  # all that is hashed, in order
    left_out: tuple[str, ...]  # with the reason
    rounds: Mapping[str, tuple[int, ...]]  # by the folder of reviews; none is the engine's


def look(tree: Tree, *, copied: bool = False) -> ForeignRounds | Problem:
    """A copy does not include repositories, the engine's own folder and the record of decisions."""
    files: list[str] = []
    left_out: list[str] = []
    for path, kind in _walk(tree, ""):
        if len(files) > MOST_FILES:
            text = f"the folder holds more than {MOST_FILES} files: expected one run"
            return Problem("too-large", text, expected=f"at most {MOST_FILES} files")
        if kind in _KINDS.values():
            left_out.append(f"{path} is {kind}, which is not followed")
        elif _is_a_part(path) and not (copied and path in _DECIDED):
            files.append(path)
        elif copied:
            left_out.append(f"{path} is left out")
    return ForeignRounds(tuple(sorted(files)), tuple(left_out), _rounds(tree, files))


_KINDS = {"link": "a link", "other": "a pipe, socket or device"}


def _walk(tree: Tree, folder: str) -> Iterator[tuple[str, str]]:
    for entry in entries(tree, folder):
        path = f"{folder}/{entry.name}" if folder else entry.name
        if path in _OWN or is_dropping(entry.name):
            continue
        if entry.kind == "dir" and _is_a_part(path):
            yield from _walk(tree, path)
        else:
            yield path, _KINDS.get(entry.kind, "file")


def _is_a_part(path: str) -> bool:
    """Whoever works in a folder with a .git runs what that names. Some disks, and git, take
    capitals for the same name."""
    is_odd = path == _ENGINES or path.startswith("-")  # git would take that for an option
    return not is_odd and path.rpartition("/")[2].lower() != ".git"


def _rounds(tree: Tree, files: list[str]) -> dict[str, tuple[int, ...]]:
    by_folder: defaultdict[str, set[int]] = defaultdict(set)
    for path in files:
        folder, _, _ = path.rpartition("/")
        reviews, _, name = folder.rpartition("/")
        if reviews.startswith("reviews/") and (number := round_number(name)):
            by_folder[reviews].add(number)
    kept: dict[str, tuple[int, ...]] = {}
    for folder in sorted(by_folder):
        foreign = [one for one in sorted(by_folder[folder]) if not _is_ours(tree, folder, one)]
        if foreign:
            kept[folder] = tuple(foreign)
    return kept


def _is_ours(tree: Tree, folder: str, number: int) -> bool:
    path = RoundPaths(folder, number).manifest
    manifest = manifests.read(tree.read(path, manifests.LIMIT), path)
    return isinstance(manifest, Manifest) or (manifest is None and tree.knows(path))


def reviewed_in(folder: str) -> Subject | None:
    """The subject of the rounds in a folder; None when it is neither a step nor a task."""
    named = next((step.name for step in STEPS[::-1] if step.reviews == folder), None)
    reviewed = subject_of(named) if named else subject(folder.removeprefix("reviews/tasks/"))
    return reviewed if reviewed and reviewed.reviews == folder else None


def oddities(tree: Tree, foreign: ForeignRounds, config: Config) -> tuple[Oddity, ...]:
    """Grouped by kind, so that a thousand findings do not fill a thousand lines."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for kind, example in _odd(tree, foreign, config):
        groups[kind].append(example)
    return tuple(Oddity(kind, len(all_), tuple(all_[:_EXAMPLES])) for kind, all_ in groups.items())


def _odd(tree: Tree, foreign: ForeignRounds, config: Config) -> Iterator[tuple[str, str]]:
    for folder, numbers in foreign.rounds.items():
        reviewed = reviewed_in(folder)
        if reviewed is None:
            yield "folders of reviews that belong to no step and no task", folder
            continue
        for number in numbers:
            yield from _odd_round(tree, reviewed, number, config)
    for folder in _folders(foreign):
        yield from _odd_names(tree, folder)
    yield from _claims(tree)
    yield from (("files that are left out", line) for line in foreign.left_out)
    yield from (("fields of config.md that nothing reads", one.field) for one in config.warnings)


def _odd_round(
    tree: Tree, reviewed: Subject, number: int, config: Config
) -> Iterator[tuple[str, str]]:
    paths = RoundPaths(reviewed.reviews, number)
    there = manifests.read(tree.read(paths.manifest, manifests.LIMIT), paths.manifest)
    if isinstance(there, Problem):
        yield "manifests of other tools", paths.manifest
    read = guard.read_round(tree, reviewed, number, config, None, elsewhere=True)
    for problem in read.violations:
        yield f"{_words(problem)}, not read", problem.message
    for problem in read.warnings:
        how = "left alone" if problem.code in _UNREAD else "read all the same"
        yield f"{_words(problem)}, {how}", problem.message
    for stem in read.unscored:
        yield "findings without a score", f"{paths.directory}/{stem}.md"


_KIND: dict[Code, str] = {
    "artifact_differs": "findings that name another artifact",
    "bad_enum": "words that a field does not know",
    "bad_finding_id": "ids of another form",
    "bad_name": "scores under other names",
    "bad_sentinel": "clean marks of another form",
    "combined_findings": "several findings in one file",
    "contradictory_clean": "clean marks beside findings",
    "finding_id_round": "ids of another round",
    "malformed_yaml": "fields written in another way",
    "missing_field": "files that lack a field",
    "missing_reason": "scores without a reason",
    "newline_normalised": "files that end without a newline",
    "no_line_range": "citations without lines",
    "orphan_sidecar": "scores without their finding",
    "round_mismatch": "files that name another round",
    "reviewer_mismatch": "files that name another reviewer",
    "score_unparseable": "scores that are no number",
    "unknown_field": "fields that nothing reads",
    "unknown_file": "files under unknown names",
}


_UNREAD: tuple[Code, ...] = ("unknown_field", "unknown_file", "orphan_sidecar")


def _words(problem: Problem) -> str:
    return _KIND.get(problem.code, problem.code.replace("_", " "))


def _folders(foreign: ForeignRounds) -> list[str]:
    parents = (path.rpartition("/")[0] for path in foreign.files if path.startswith("reviews/"))
    return sorted(set(parents) | {parent.rpartition("/")[0] for parent in foreign.rounds} - {""})


def _odd_names(tree: Tree, folder: str) -> Iterator[tuple[str, str]]:
    """Files beside the rounds of a folder. What is in a round is judged with the round."""
    if round_number(folder.rpartition("/")[2]):
        return
    listed = entries(tree, folder)
    rounds = rounds_in(listed)
    for entry in listed:
        odd = entry.name.startswith("round-") and round_number(entry.name) is None
        if entry.kind == "dir" and odd:
            yield "folders beside rounds that nothing reads", f"{folder}/{entry.name}"
        elif entry.kind == "file" and not _is_known(entry.name, bool(rounds)):
            yield "files beside rounds that nothing reads", f"{folder}/{entry.name}"


def _is_known(name: str, beside: bool) -> bool:
    return is_own_review(name) or name.endswith("-dispositions.md") or not beside


def _claims(tree: Tree) -> Iterator[tuple[str, str]]:
    for entry in entries(tree, "reviews"):
        if paused_round(entry.name) is None:
            continue
        fields = frontmatter.fields(tree.read(f"reviews/{entry.name}"))
        if resolution := frontmatter.text(fields, "resolution"):
            by = frontmatter.text(fields, "resolved_by")
            who = f", by {by}, it says" if by else ""
            line = f"reviews/{entry.name}: {resolution}{who}"
            yield "pause files that decide about a whole round", line
