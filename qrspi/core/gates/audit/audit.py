"""Is the plan ready to be carried out? This is a count over its files; nobody is asked. It scores
three weighted dimensions of a hundred points each, with what raised or lowered them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from qrspi.core import plain_json
from qrspi.core.artifacts import task_file
from qrspi.core.artifacts.task_file import Task
from qrspi.core.gates import plan_words
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import step_text
from qrspi.core.tree import CONFIG_LIMIT, Fault, Tree, content, entries

_CONTEXT = re.compile(r"context-(?!$)(?:phase-([1-9][0-9]{0,3})|.+)\.json")
_CITED = re.compile(r"(?<![\w./-])([\w@.-]+(?:/[\w@.-]+)*):L[0-9]{1,9}\b")
_MANY_CITATIONS = 10_000


class Context(NamedTuple):
    general: tuple[str, ...]
    of_phase: Mapping[int, tuple[str, ...]]
    cited: tuple[str, ...]  # from research; used where there is no context file
    findings: tuple[str, ...] = ()

    def files(self, phase: int) -> tuple[str, ...]:
        own = (*self.general, *self.of_phase.get(phase, ()))
        return tuple(dict.fromkeys(own or self.cited))

    def is_cited(self, phase: int) -> bool:
        """Whether research alone says which files matter."""
        return not (self.general or self.of_phase.get(phase))


class Audited(NamedTuple):
    reviews: tuple[Review, ...]

    @property
    def verdict(self) -> Verdict:
        return overall(self.reviews)


def audit(tree: Tree, project: Tree, phase: int) -> Audited:
    """One review for each phase that has tasks, and always one for the current phase."""
    tasks, problems = task_file.read_all(tree)
    planned = [task for key, task in tasks.items() if not task_file.is_baseline(key)]
    numbers = sorted({phase, *(task.phase or phase for task in planned)})
    code = Code(project)
    context = _context(tree, code)
    unread = tuple(problem.message for problem in problems)
    targets = _targets(planned)
    plan = _text(tree, "plan.md")
    reviews = []
    for number in numbers:
        own = [task for task in planned if (task.phase or phase) == number]
        coverage = _coverage(context.files(number), targets, _targets(own), code)
        coverage = coverage._replace(is_cited=context.is_cited(number))
        text = "\n".join((plan, *(_text(tree, task.file) for task in own)))
        reviews.append(_review(number, own, coverage, (*context.findings, *unread), text))
    return Audited(tuple(reviews))


def _review(
    number: int, tasks: list[Task], coverage: Coverage, odd: tuple[str, ...], text: str
) -> Review:
    count = len(tasks)
    # What a plan should mention and this one does not costs no points.
    unsaid = {
        subject: f"neither plan.md nor the tasks say a word about {subject}"
        for subject, words in _SUBJECTS.items()
        if not re.search(words, text, re.IGNORECASE)
    }
    dimensions: tuple[Dimension, ...] = (
        feasibility(coverage, (*odd, *_without_targets(tasks))),
        risk(count, _of(unsaid, "breaking changes", "side effects", "rollback")),
        completeness(count, _of(unsaid, "test plan", "edge cases", "documentation")),
    )
    review = Review(f"phase-{number}", dimensions, count)
    return review._replace(raises=raises(review))


def _of(unsaid: Mapping[str, str], *subjects: str) -> tuple[str, ...]:
    return tuple(unsaid[subject] for subject in subjects if subject in unsaid)


_SUBJECTS = {
    "breaking changes": r"break|backward|compatib|deprecat|contract",
    "side effects": r"side.effect|affect|impact|depend|caller",
    "rollback": r"roll.?back|revert|undo|feature flag|switch(?:ed)? off|backup|way back",
    "test plan": r"\btests?\b|\btested\b|\btesting\b",
    "edge cases": r"edge.case|boundar|empty|invalid|malformed|missing|error|fail|limit",
    "documentation": r"document|readme|changelog|\bdocs?\b|manual",
}


def _without_targets(tasks: list[Task]) -> tuple[str, ...]:
    silent = [task.key for task in tasks if not task.target_files]
    return (f"no target files are named by {', '.join(silent)}",) if silent else ()


def _targets(tasks: Iterable[Task]) -> tuple[str, ...]:
    plain = (_plain(path) for task in tasks for path in task.target_files)
    return tuple(dict.fromkeys(path for path in plain if path))


def _plain(path: str) -> str:
    """One spelling for each path. A path that leads out of the project stays unchanged."""
    inside = plan_words.inside(path.strip())
    return path.strip() if inside is None else inside


def _coverage(
    context: tuple[str, ...], all_targets: tuple[str, ...], own: tuple[str, ...], code: Code
) -> Coverage:
    exact = frozenset(all_targets)
    uncovered = tuple(file for file in context if not _is_covered(file, exact))
    strange = tuple(path for path in own if plan_words.inside(path) is None or not code.near(path))
    return Coverage(context, uncovered, strange, len(own))


def _is_covered(file: str, targets: frozenset[str]) -> bool:
    """A target itself, or in a folder that is one."""
    parts = file.split("/")
    return any("/".join(parts[:count]) in targets for count in range(1, len(parts) + 1))


class Code:
    """What the project holds, folder by folder; each is listed once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._kinds: dict[str, dict[str, str]] = {}

    def has(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        return name in self._in(folder)

    def near(self, path: str) -> bool:
        """The path itself, or a file beside it."""
        return self.has(path) or "file" in self._in(path.rpartition("/")[0]).values()

    def _in(self, folder: str) -> dict[str, str]:
        if folder not in self._kinds:
            self._kinds[folder] = {entry.name: entry.kind for entry in entries(self._tree, folder)}
        return self._kinds[folder]


def _context(tree: Tree, code: Code) -> Context:
    general: list[str] = []
    of_phase: dict[int, tuple[str, ...]] = {}
    findings: list[str] = []
    for entry in entries(tree, ""):
        match = _CONTEXT.fullmatch(entry.name)
        if not match:
            continue
        files = _relevant(tree.read(entry.name, CONFIG_LIMIT))
        if isinstance(files, str):
            findings.append(f"{entry.name} is left out: {files}")
        elif match[1]:
            of_phase[int(match[1])] = files
        else:
            general += files
    return Context(tuple(general), of_phase, _cited(tree, code), tuple(findings))


def _relevant(data: bytes | Fault) -> tuple[str, ...] | str:
    expected = 'expected {"relevant_files": ["path", …]}'
    if isinstance(data, Fault):
        return f"it cannot be read ({data.reason})"
    try:
        document = plain_json.loads_text(data)
    except (ValueError, RecursionError):
        return f"it is not JSON, {expected}"
    files = document.get("relevant_files") if isinstance(document, dict) else None
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        return f"it has no list of relevant_files, {expected}"
    return tuple(path for file in files if (path := _plain(file)))


def _cited(tree: Tree, code: Code) -> tuple[str, ...]:
    """The files that research cites by line and that are really there."""
    paths: dict[str, None] = {}
    for path in step_text.paths(tree, "research"):
        for match in _CITED.finditer(_text(tree, path)):
            if len(paths) < _MANY_CITATIONS:
                paths.setdefault(_plain(match[1]))
    return tuple(path for path in paths if plan_words.inside(path) and code.has(path))


def _text(tree: Tree, path: str) -> str:
    return content(tree, path).decode("utf-8", "replace")


Verdict = Literal["approved", "concerns", "rejected"]

WEIGHTS = {"technical_feasibility": 4, "risk_assessment": 3, "completeness": 3}  # tenths
UNCOVERED, COVERAGE_FLOOR = 15, 40
DEPARTS = 10
NO_CONTEXT = 70
MANY_TASKS = 10
APPROVED, CONCERNS = 80, 60
_FEW, _MANY = 90, 50
_SOME, _NONE = 85, 30


class Move(NamedTuple):
    points: int
    because: str
    remedy: str = ""  # what would bring them back


class Dimension(NamedTuple):
    name: str
    moves: tuple[Move, ...]
    findings: tuple[str, ...] = ()

    @property
    def score(self) -> int:
        return sum(move.points for move in self.moves)


class Review(NamedTuple):
    id: str  # of a phase
    dimensions: tuple[Dimension, ...]
    tasks: int
    raises: tuple[str, ...] = ()  # what would give more points

    @property
    def total_score(self) -> int:
        return total(self.dimensions)

    @property
    def verdict(self) -> Verdict:
        return "rejected" if not self.tasks else verdict(self.total_score)


def total(dimensions: Iterable[Dimension]) -> int:
    """Counted in tenths, so that a half is exact. Halves are rounded to the even number."""
    tenths = sum(WEIGHTS[dimension.name] * dimension.score for dimension in dimensions)
    whole, rest = divmod(tenths, 10)
    return whole + (rest > 5 or (rest == 5 and whole % 2 == 1))


def verdict(score: int) -> Verdict:
    if score >= APPROVED:
        return "approved"
    return "concerns" if score >= CONCERNS else "rejected"


def overall(reviews: Iterable[Review]) -> Verdict:
    verdicts = {review.verdict for review in reviews}
    order: tuple[Verdict, ...] = ("rejected", "concerns")
    return next((word for word in order if word in verdicts), "approved")


class Coverage(NamedTuple):
    context: tuple[str, ...]  # files that matter, as research or a context file says
    uncovered: tuple[str, ...]  # those of them that no task targets
    strange: tuple[str, ...]  # targets that neither exist nor lie beside something that does
    targets: int
    is_cited: bool = False  # research alone speaks of these files, and some may only be read

    @property
    def departs(self) -> bool:
        return 2 * len(self.strange) > self.targets


def feasibility(found: Coverage, findings: tuple[str, ...] = ()) -> Dimension:
    lines = [*findings, *(f"no task targets {file}" for file in found.uncovered)]
    if found.departs:
        lines.append(
            f"potentially outdated: {len(found.strange)} of {found.targets} target files neither "
            "exist nor lie beside existing ones"
        )
    if not found.context:
        lines.append("nothing says which files matter: neither research nor a context file")
        moves: tuple[Move, ...] = (Move(NO_CONTEXT, "no context to compare the targets with"),)
        return Dimension("technical_feasibility", moves, tuple(lines))
    moves = (Move(100, "to begin with"), *_uncovered(found))
    if found.departs:
        remedy = "target files that exist, or that lie beside existing ones"
        moves += (Move(-DEPARTS, "the plan departs from existing patterns", remedy),)
    return Dimension("technical_feasibility", moves, tuple(lines))


_LISTS = "or list in context-*.json, instead of research, which files the plan has to change"


def _uncovered(found: Coverage) -> tuple[Move, ...]:
    """Whoever cites a file does not say that it is to be changed."""
    left = 100 - COVERAGE_FLOOR
    moves = []
    for file in found.uncovered:
        points = min(UNCOVERED, left)
        left -= points
        more = "" if points == UNCOVERED else f" (never below {COVERAGE_FLOOR})"
        cited = ", which research cites" if found.is_cited else ""
        remedy = f"have a task target {file}"
        remedy += f" if the plan changes it, {_LISTS}" if found.is_cited else ""
        moves.append(Move(-points, f"no task targets {file}{cited}{more}", remedy))
    return tuple(moves)


def risk(tasks: int, findings: tuple[str, ...]) -> Dimension:
    if tasks <= MANY_TASKS:
        moves = (Move(_FEW, f"{tasks} {'task' if tasks == 1 else 'tasks'}, at most {MANY_TASKS}"),)
        return Dimension("risk_assessment", moves, findings)
    why = f"{tasks} tasks, more than {MANY_TASKS}: the scope may have grown"
    return Dimension("risk_assessment", (Move(_MANY, why),), (why, *findings))


def completeness(tasks: int, findings: tuple[str, ...]) -> Dimension:
    if tasks:
        return Dimension("completeness", (Move(_SOME, "there are tasks"),), findings)
    why = "no tasks are defined"
    return Dimension("completeness", (Move(_NONE, why),), (why, *findings))


def raises(review: Review) -> tuple[str, ...]:
    """What would give more points, the best first."""
    by_name = {dimension.name: dimension for dimension in review.dimensions}
    moves: list[tuple[int, str]] = []
    for move in by_name["technical_feasibility"].moves:
        if move.points < 0:
            moves.append((-move.points * 4, move.remedy))
        elif move.points == NO_CONTEXT:
            moves.append(((100 - NO_CONTEXT) * 4, "cite files as path:L12 in research"))
    if by_name["risk_assessment"].score == _MANY:
        text = f"plan {MANY_TASKS} tasks or fewer in one phase"
        moves.append(((_FEW - _MANY) * 3, text))
    if by_name["completeness"].score == _NONE:
        moves.append(((_SOME - _NONE) * 3, "write the tasks in tasks/task-NN.md"))
    ordered = sorted(moves, key=lambda one: -one[0])
    return tuple(f"{text} (+{tenths / 10:g})" for tenths, text in ordered if tenths)
