"""Task files: what each says about itself, and which of them a batch takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from qrspi.core import filenames
from qrspi.core.model import Problem, Status
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text.tables import lines_of, shown
from qrspi.core.tree import Entry, Fault, Tree, entries
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.nodes import Node, Scalar

NEEDS_COLUMN = ("dependencies", "depends on", "logical deps")  # its names in people's tables
ADVISED = ("enforcement", "allowed_files", "constraints")


class VisualCheck(NamedTuple):
    wireframe_paths: tuple[str, ...]
    screenshot_paths: tuple[str, ...]


class Task(NamedTuple):
    key: str
    title: str
    status: Status
    phase: int | None
    target_files: tuple[str, ...]
    dependencies: tuple[str, ...]
    visual_check: VisualCheck | None = None
    allowed_files: tuple[str, ...] = ()  # nothing: it sets no limit

    @property
    def file(self) -> str:
        return task_path(self.key)


def is_light(head: bytes | Fault) -> bool:
    """Whether the task changes words or settings, but not how code behaves."""
    return frontmatter.text(frontmatter.fields(head), "task_type") in ("text", "docs", "config")


def plain_path(path: str) -> str:
    return path.removeprefix("./")


def task_path(key: str) -> str:
    return f"tasks/{key}.md"


def read_all(tree: Tree) -> tuple[dict[str, Task], tuple[Problem, ...]]:
    tasks: dict[str, Task] = {}
    problems: list[Problem] = []
    for key in read_keys(tree):
        match read(tree.read(task_path(key)), key):
            case Task() as task:
                tasks[key] = task
            case Problem() as problem:
                problems.append(problem)
    return tasks, tuple(problems)


def read_keys(tree: Tree) -> tuple[str, ...]:
    """The keys of the task files. Other names in the folder never count."""
    names = (filenames.task_file_key(entry.name) for entry in _files(tree, "tasks"))
    return tuple(sorted((key for key in names if key), key=filenames.task_order))


def _files(tree: Tree, path: str) -> Iterator[Entry]:
    return (entry for entry in entries(tree, path) if entry.kind == "file")


def read(content: bytes | Fault, key: str) -> Task | Problem:
    file = task_path(key)
    if isinstance(content, Fault):
        detail = content.reason
        return Problem("task-unreadable", f"{file} cannot be read: {detail}", file, found=detail)
    front = frontmatter.read(content, file)
    if isinstance(front, Problem):
        return front
    fields = front.fields if front else {}
    phase = _phase(fields, file)
    if isinstance(phase, Problem):
        return phase
    body = content[front.body :] if front else content
    lines = tuple(line.text for line in shown(lines_of(body)))
    needs = _listed(fields, "dependencies", lines, "Dependencies")
    files = _listed(fields, "target_files", lines, "Target files")
    return Task(
        key=key,
        title=_title(lines),
        status=frontmatter.status(content, file)[0],
        phase=phase,
        target_files=tuple(file for file in files if not is_unread(file)),
        dependencies=tuple(map(dependency, needs)),
        visual_check=_visual_check(fields.get("visual_fidelity_check")),
        allowed_files=tuple(_files_in(fields, "allowed_files")),
    )


_NUMBER = re.compile(r"[1-9][0-9]{0,5}")


def _phase(fields: Mapping[str, Node], file: str) -> int | Problem | None:
    node = fields.get("phase")
    if node is None:
        return None
    if isinstance(node, Scalar) and node.plain and _NUMBER.fullmatch(node.text):
        return int(node.text)
    found = node.raw if isinstance(node, Scalar) else "a list or block"
    expected = "a whole number from 1"
    message = f"{file}: phase is {found}; expected {expected}"
    return Problem("field-invalid", message, file, "phase", found, expected)


_TITLE = re.compile(r"#[ \t]+(?:Task[ \t]+[\w-]+[ \t]*:)?(.*)", re.IGNORECASE)


def _title(lines: tuple[str, ...]) -> str:
    match = next(filter(None, map(_TITLE.fullmatch, lines)), None)
    return match[1].rstrip(" \t#").lstrip() if match else ""


def _listed(
    fields: Mapping[str, Node], key: str, lines: tuple[str, ...], label: str
) -> Iterator[str]:
    """A list in the frontmatter, else the bullet `- **Label:** a (new), b`."""
    if key in fields:
        yield from _texts(fields[key])
        return
    bullet = re.compile(rf"[ \t]*[-*+][ \t]+\*\*{label}:\*\*(.*)", re.IGNORECASE)
    yield from next((items(match[1]) for line in lines if (match := bullet.fullmatch(line))), ())


def _files_in(fields: Mapping[str, Node], key: str) -> Iterator[str]:
    for text in _texts(fields[key]) if key in fields else ():
        yield from items(text)


def _texts(node: Node) -> Iterator[str]:
    if isinstance(node, Scalar):
        yield from items(node.text)
    elif isinstance(node, tuple):
        yield from (part.text for part in node if isinstance(part, Scalar) and part.text)


_REMARK = re.compile(r"\([^()]*\)")
_QUOTED = re.compile(r"`([^`]+)`")
_BETWEEN = re.compile(r"(?:[,;]|<br */?>)(?![^{}]*\})")  # not inside of {a,b}
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_MORE = re.compile(r"\+ *[0-9]+\b|\.\.\.|…|\b(?:more|others|etc)\b", re.IGNORECASE)
NOTHING = frozenset({"", "none", "n/a", "-", "–", "—"})
_MOST = 256  # that a cell can come to


def items(text: str) -> tuple[str, ...]:
    """`a.py` (new), b.py; c/{d,e}.py → a.py, b.py, c/d.py, c/e.py."""
    parts = (item for part in _BETWEEN.split(_REMARK.sub("", text)) for item in _items(part))
    whole = (each for part in parts for each in _expanded(part))
    return tuple(part for part in whole if part.casefold() not in NOTHING)


def _items(part: str) -> Iterator[str]:
    """What stands between back-ticks, and any words after it that say that there is more."""
    quoted = _QUOTED.findall(part)
    yield from (one.strip() for one in quoted or [part])
    rest = _QUOTED.sub("", part).strip()
    if quoted and _MORE.search(rest):
        yield rest


def _expanded(path: str) -> list[str]:
    paths = [path]
    while len(paths) < _MOST and (match := _BRACES.search(paths[0])):
        ways = [way.strip() for way in match[1].split(",")]
        paths = [one.replace(match[0], way, 1) for one in paths for way in ways]
    return paths


def is_unread(file: str) -> bool:
    return _MORE.search(file) is not None and not _PATH.search(file)


_PATH = re.compile(r"[\w)\]}*]/|/[\w*]|\w\.\w")


def dependency(word: str) -> str:
    """People write `Task 1` for task-01. A text that names no task stays unchanged."""
    return filenames.task_named(word) or filenames.task_key(word) or word


def _visual_check(node: Node | None) -> VisualCheck | None:
    if node is None or node == {} or node == () or (isinstance(node, Scalar) and not node.text):
        return None
    block = node if isinstance(node, dict) else {}
    wireframes, screenshots = (
        tuple(_texts(block[name])) if name in block else ()
        for name in ("wireframe_paths", "screenshot_paths")
    )
    return VisualCheck(wireframes, screenshots)


def scan(tree: Tree) -> tuple[Problem, ...]:
    """Advice that never blocks: what task files do not say about their implementation."""
    problems = (unsaid(tree.head(task_path(key)), task_path(key)) for key in read_keys(tree))
    return tuple(problem for problem in problems if problem)


def unsaid(head: bytes | Fault, file: str) -> Problem | None:
    status = frontmatter.status(head, file)[0]
    front = None if isinstance(head, Fault) else frontmatter.read(head, file)
    if status not in ("approved", "draft") or isinstance(front, Problem):
        return None
    missing = tuple(name for name in ADVISED if not front or name not in front.fields)
    if not missing:
        return None
    listed = ", ".join(missing)
    return Problem("task-incomplete", f"{file}: no {listed} in its frontmatter", file, listed)


def quick_batch(tasks: Iterable[Task]) -> tuple[str, ...]:
    keys = (task.key for task in tasks if task.status == "approved" and not is_baseline(task.key))
    return tuple(sorted(keys, key=filenames.task_order))


def is_baseline(key: str) -> bool:
    return key.startswith("task-00")


def fix_batch(tree: Tree, fixes: filenames.FixRound) -> tuple[str, ...]:
    names = (entry.name for entry in _files(tree, fixes.directory))
    wanted = (name for name in names if name.endswith(".md") and not filenames.is_dropping(name))
    return tuple(f"{fixes.directory}/{name}" for name in wanted)
