"""What design, phasing and plan must say about wireframes in a run that requires them.

A run requires them with `visual_fidelity_required: true`. Each phase or task says whether it draws
anything; `UI: no` and `ui: false` settle it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from qrspi.core.artifacts import phases, task_file
from qrspi.core.artifacts.task_file import Task
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Problem
from qrspi.core.pipeline import Subject
from qrspi.core.text import headings
from qrspi.core.text.tables import Line, lines_of, shown
from qrspi.core.tree import Fault, Tree
from qrspi.core.yaml import frontmatter

if TYPE_CHECKING:
    from qrspi.core.config.reader import Config

_DRAWN = frozenset("css scss sass less html htm jsx tsx vue svelte astro".split())
_ABOUT_UI = re.compile(r"\bUI\b|\b[Uu]ser [Ii]nterface\b|\b[Ss]creens?\b")
_SAYS_UI = re.compile(r"[-*+ \t]*\**UI\**:\**[ \t]*(\w+)", re.IGNORECASE)
_NO = ("no", "none", "false")
_BINDING = re.compile(r" {0,3}#{2,6}[ \t](?=.*wireframe)(?=.*binding)", re.IGNORECASE)
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_CITED = re.compile(
    r"wireframes?\b[^:\n]*:[\s*]*(?!(?:none|tbd|n/a|-)\b)[^\s*]"
    r"|\S\.(?:png|jpe?g|gif|svg|webp|pdf|fig|excalidraw|drawio)\b",
    re.IGNORECASE,
)


def missing(tree: Tree, subject: Subject, config: Config) -> tuple[Problem, ...]:
    look = _LOOKS.get(subject.key)
    if look is None or config.visual_fidelity_required is not True:
        return ()
    return tuple(look(tree))


def _problem(file: str, place: str, what: str, expected: str) -> Problem:
    text = f"{place}: {what}; expected {expected}, because config.md sets visual_fidelity_required"
    return Problem("no-wireframes", text, file=file, found=what, expected=expected)


def _lines(data: bytes) -> list[Line]:
    return list(shown(lines_of(data)))


def _design(tree: Tree) -> Iterator[Problem]:
    data = tree.read("design.md")
    if isinstance(data, Fault):
        return
    lines = _lines(data)
    bindings = (at for at, line in enumerate(lines, start=1) if _BINDING.match(line.text))
    if not any(_has_text(lines[at:]) for at in bindings):
        what, expected = "no section binds wireframes", "a section '## Wireframe Binding'"
        yield _problem("design.md", "design.md", what, expected)


def _has_text(lines: list[Line]) -> bool:
    for line in lines:
        if _HEADING.match(line.text):
            return False
        if line.text.strip():
            return True
    return False


def _phasing(tree: Tree) -> Iterator[Problem]:
    data = tree.read("phasing.md")
    if isinstance(data, Fault):
        return
    lines = _lines(data)
    for span in headings.read(data).spans:
        number = phases.number_of(span.title)
        held = [line.text for line in lines if span.start <= line.number <= span.end]
        if number and _draws(held) and not any(map(_CITED.search, held)):
            place = f"phasing.md:{span.start}"
            what = f"phase {number} is about the user interface and cites no wireframe"
            yield _problem("phasing.md", place, what, "a line 'Wireframes: PATH' or 'UI: no'")


def _draws(lines: list[str]) -> bool:
    declared = [match[1].lower() for line in lines if (match := _SAYS_UI.match(line))]
    return declared[0] not in _NO if declared else any(map(_ABOUT_UI.search, lines))


def _plan(tree: Tree) -> Iterator[Problem]:
    for task in task_file.read_all(tree)[0].values():
        if task.visual_check is None and _is_drawn(task, tree.head(task.file)):
            what = "a task of the user interface has no visual_fidelity_check"
            expected = "visual_fidelity_check in its frontmatter, or 'ui: false'"
            yield _problem(task.file, task.file, what, expected)


def _is_drawn(task: Task, head: bytes | Fault) -> bool:
    declared = frontmatter.text(frontmatter.fields(head), "ui")
    if declared is not None:
        return declared.lower() not in _NO
    drawn = any(name.rpartition(".")[2].lower() in _DRAWN for name in task.target_files)
    return drawn or bool(_ABOUT_UI.search(task.title))


_LOOKS: dict[str, Callable[[Tree], Iterator[Problem]]] = {
    "design": _design,
    "phasing": _phasing,
    "plan": _plan,
}
