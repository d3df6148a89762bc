"""What a step's text is: its artifact and the companions that belong to it."""

from __future__ import annotations

from qrspi.core.filenames import is_dropping
from qrspi.core.pipeline import STEP, Subject
from qrspi.core.tree import Fault, Tree, entries
from qrspi.core.yaml import frontmatter


def companions(tree: Tree, step: str) -> tuple[str, ...]:
    """Run-relative paths of the files that travel with a step's artifact, sorted."""
    found: list[str] = []
    for pattern in STEP[step].companions:
        folder, _, name = pattern.rpartition("/")
        first, _, last = name.partition("*")
        for entry in entries(tree, folder):
            if entry.kind == "file" and _fits(entry.name, first, last, name):
                found.append(f"{folder}/{entry.name}" if folder else entry.name)
    return tuple(sorted(found))


def _fits(name: str, first: str, last: str, pattern: str) -> bool:
    if "*" not in pattern:
        return name == pattern
    long_enough = len(name) >= len(first) + len(last)
    return long_enough and name.startswith(first) and name.endswith(last) and not is_dropping(name)


def is_companion(step: str, path: str) -> bool:
    folder, _, name = path.rpartition("/")
    for pattern in STEP[step].companions:
        place, _, shape = pattern.rpartition("/")
        first, _, last = shape.partition("*")
        if place == folder and _fits(name, first, last, shape):
            return True
    return False


def paths(tree: Tree, step: str) -> tuple[str, ...]:
    return (STEP[step].artifact, *companions(tree, step))


VERSION = "v2:"  # before it, a hash was over the bodies alone


def body_hash(tree: Tree, subject: Subject) -> str:
    """The hash of a step's text that approvals and manifests keep: the names and contents of its
    files, without the fields that the engine sets. '' when there is no artifact."""
    files = _files(tree, subject)
    if not files:
        return ""
    parts = [part for path, data in files.items() for part in (path.encode(), _text(path, data))]
    if any(b"\0" in data for data in files.values()):
        # A NUL also separates the files. With their lengths, one file that contains two cannot pass
        # for two.
        parts = [b"%d:%b" % (len(part), part) for part in parts]
    return VERSION + frontmatter.body_hash(parts)


def file_hash(tree: Tree, path: str) -> str:
    """The same of one file alone; '' when it is not there."""
    data = tree.read(path)
    return "" if isinstance(data, Fault) else frontmatter.body_hash((_text(path, data),))


def is_unchanged(tree: Tree, subject: Subject, known: str) -> bool:
    return known.startswith(VERSION) and body_hash(tree, subject) == known


def only_body_is_known(tree: Tree, subject: Subject, known: str) -> bool:
    """Whether this is a hash of the bodies alone, and they are unchanged. Nobody can tell whether
    anything else has changed."""
    if known.startswith(VERSION):
        return False
    files = _files(tree, subject)
    return bool(files) and frontmatter.body_hash(map(frontmatter.body, files.values())) == known


def may_be_unchanged(tree: Tree, subject: Subject, known: str) -> bool:
    return is_unchanged(tree, subject, known) or only_body_is_known(tree, subject, known)


def _files(tree: Tree, subject: Subject) -> dict[str, bytes]:
    """The artifact, then its companions as far as they can be read; nothing without an artifact."""
    names = (subject.artifact,) if subject.is_task else paths(tree, subject.step)
    found: dict[str, bytes] = {}
    for path in names:
        data = tree.read(path)
        if not isinstance(data, Fault):
            found[path] = _authored(tree, path, data)
        elif path == names[0]:
            return {}
    return found


def _text(path: str, data: bytes) -> bytes:
    more = CI_FIELDS if path == STEP["integrate"].artifact else ()
    return frontmatter.without(data, (*ENGINE_FIELDS, *more)) + b"\0" + frontmatter.body(data)


ENGINE_FIELDS = ("status", "phase_start_commit", "feature_branch", "quality_verdict")
# The engine writes these into integration.md after the CI command: no reason for a new review.
CI_FIELDS = ("ci_exit", "ci_log", "ci_merges", "ci_resets")


def _authored(tree: Tree, path: str, data: bytes) -> bytes:
    """A quality review's block in a task is not part of its text."""
    if path.startswith("tasks/") and b"\n--- Quality Review Findings " in data:
        from qrspi.core.records import quality_blocks

        data = quality_blocks.without_own(tree, data)
    return data
