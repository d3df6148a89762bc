"""What a step's text is: its artifact and the companions that belong to it."""

from __future__ import annotations

from qrspi.core.filenames import is_dropping
from qrspi.core.pipeline import STEP, Subject, subject_of
from qrspi.core.tree import Fault, Tree, entries
from qrspi.core.yaml import frontmatter


def companions(tree: Tree, step: str) -> tuple[str, ...]:
    return tuple(path for folder, names in _beside(tree, step) for path in _below(folder, names))


def _beside(tree: Tree, step: str) -> list[tuple[str, list[str]]]:
    """The folder of the companions with their names in it, where the step can have any."""
    if not STEP[step].companions:
        return []
    patterns = [pattern.rpartition("/") for pattern in STEP[step].companions]
    folder = patterns[0][0]
    files = [name for name, kind in entries(tree, folder) if kind == "file"]
    return [(folder, sorted(name for _, _, shape in patterns for name in _fitting(files, shape)))]


def _below(folder: str, names: list[str]) -> list[str]:
    return [f"{folder}/{name}" for name in names] if folder else names


def _fitting(names: list[str], shape: str) -> list[str]:
    first, star, last = shape.partition("*")
    if not star:
        return [shape] if shape in names else []
    fitting = [one for one in names if one.startswith(first) and one.endswith(last, len(first))]
    # What editors leave behind is named for no step: it begins or ends in another way.
    return fitting if first else [name for name in fitting if not is_dropping(name)]


def is_companion(step: str, path: str) -> bool:
    folder, _, name = path.rpartition("/")
    patterns = (pattern.rpartition("/") for pattern in STEP[step].companions)
    return any(place == folder and _fitting([name], shape) for place, _, shape in patterns)


def paths(tree: Tree, step: str) -> tuple[str, ...]:
    return (STEP[step].artifact, *companions(tree, step))


VERSION = "v2:"  # before it, a hash was over the bodies alone


def body_hash(tree: Tree, subject: Subject) -> str:
    """The hash of a step's text that approvals and manifests keep: the names and contents of its
    files, without the fields that the engine sets. '' when there is no artifact."""
    parts = _parts(_files(tree, subject))
    return VERSION + frontmatter.body_hash(parts) if parts else ""


def _parts(files: dict[str, bytes]) -> list[bytes]:
    parts = [part for path, data in files.items() for part in (_name(path), _text(path, data))]
    if _with_nul(files):
        # A NUL also separates the files. With their lengths, one file that contains two cannot pass
        # for two.
        parts = [b"%d:%b" % (len(part), part) for part in parts]
    return parts


def file_hash(tree: Tree, path: str) -> str:
    """The same of one file alone; '' when it is not there."""
    data = tree.read(path)
    return "" if isinstance(data, Fault) else frontmatter.body_hash((_text(path, data),))


def is_unchanged(tree: Tree, subject: Subject, known: str) -> bool:
    if not known.startswith(VERSION):
        return False
    files, digest = _files(tree, subject), known.removeprefix(VERSION)
    # Few texts have white space at line ends, and to look for it takes half as long as to hash.
    return bool(files) and (
        _hash_as_is(files) == digest or frontmatter.body_hash(_parts(files)) == digest
    )


def _hash_as_is(files: dict[str, bytes]) -> str:
    """The same as `body_hash` of a text without white space at line ends; '' of one with a NUL."""
    if _with_nul(files):
        return ""
    pieces: list[bytes] = []
    keys = _engine_fields(next(iter(files)))
    for path, parts in zip(files, frontmatter.each_without(files.values(), keys), strict=True):
        pieces += _name(path), *parts
    return frontmatter.hash_as_is(b"\0".join(pieces))


def _name(path: str) -> bytes:
    """As it is on disk, where any byte may be in it."""
    return path.encode(errors="surrogateescape")


def _with_nul(files: dict[str, bytes]) -> list[str]:
    # Asked for bytes, Python first makes and drops an error about an integer.
    return [path for path, data in files.items() if 0 in data]


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
    data = tree.read(subject.artifact)
    if isinstance(data, Fault):
        return {}
    found = {subject.artifact: data}
    for folder, names in () if subject.is_task else _beside(tree, subject.step):
        each = zip(_below(folder, names), tree.read_each(folder, names), strict=True)
        found.update((path, data) for path, data in each if not isinstance(data, Fault))
    if subject.artifact.startswith("tasks/") or subject.step == "plan":
        return {path: _authored(tree, path, data) for path, data in found.items()}
    return found


def texts(tree: Tree, step: str) -> dict[str, bytes]:
    """The files of a step's text, without the fields that the engine sets."""
    files = _files(tree, subject_of(step))
    return {path: _text(path, data) for path, data in files.items()}


def _text(path: str, data: bytes) -> bytes:
    return frontmatter.without(data, _engine_fields(path))


def _engine_fields(path: str) -> tuple[str, ...]:
    return _WITH_CI if path == "integration.md" else ENGINE_FIELDS


ENGINE_FIELDS = ("status", "phase_start_commit", "feature_branch", "quality_verdict")
# The engine writes these into integration.md after the CI command: no reason for a new review.
CI_FIELDS = ("ci_exit", "ci_log", "ci_merges", "ci_resets")
_WITH_CI = (*ENGINE_FIELDS, *CI_FIELDS)


def _authored(tree: Tree, path: str, data: bytes) -> bytes:
    """A quality review's block in a task is not part of its text."""
    if path.startswith("tasks/") and b"\n--- Quality Review Findings " in data:
        from qrspi.core.records import quality_blocks

        data = quality_blocks.without_own(tree, data)
    return data
