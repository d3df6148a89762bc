"""What a step's text is: its artifact and the companions that belong to it."""

from __future__ import annotations

from qrspi.core.filenames import is_dropping
from qrspi.core.pipeline import STEP, Subject
from qrspi.core.tree import Fault, Tree
from qrspi.core.yaml import frontmatter


def companions(tree: Tree, step: str) -> tuple[str, ...]:
    """Run-relative paths of the files that travel with a step's artifact, sorted."""
    found: list[str] = []
    for pattern in STEP[step].companions:
        folder, _, name = pattern.rpartition("/")
        first, _, last = name.partition("*")
        entries = tree.entries(folder)
        for entry in () if isinstance(entries, Fault) else entries:
            if entry.kind == "file" and _fits(entry.name, first, last, name):
                found.append(f"{folder}/{entry.name}" if folder else entry.name)
    return tuple(sorted(found))


def _fits(name: str, first: str, last: str, pattern: str) -> bool:
    if "*" not in pattern:
        return name == pattern
    long_enough = len(name) >= len(first) + len(last)
    return long_enough and name.startswith(first) and name.endswith(last) and not is_dropping(name)


def is_companion(step: str, path: str) -> bool:
    """Whether a run-relative path, there or not, has the name of a companion."""
    folder, _, name = path.rpartition("/")
    for pattern in STEP[step].companions:
        place, _, shape = pattern.rpartition("/")
        first, _, last = shape.partition("*")
        if place == folder and _fits(name, first, last, shape):
            return True
    return False


def paths(tree: Tree, step: str) -> tuple[str, ...]:
    """The artifact, then its companions."""
    return (STEP[step].artifact, *companions(tree, step))


def body_hash(tree: Tree, subject: Subject) -> str:
    """The hash approvals and manifests keep of a step's text; '' when there is no artifact."""
    files = (subject.artifact,) if subject.is_task else paths(tree, subject.step)
    bodies = []
    for path in files:
        data = tree.read(path)
        if isinstance(data, Fault):
            if path == files[0]:
                return ""
            continue
        bodies.append(frontmatter.body(data))
    return frontmatter.body_hash(bodies)
