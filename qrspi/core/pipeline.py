"""The tables of the pipeline: steps, artifacts, routes, prerequisites, review subjects."""

from collections.abc import Container
from functools import lru_cache

from qrspi.core.filenames import is_repair, task_key
from qrspi.core.named_tuple import NamedTuple


class Step(NamedTuple):
    name: str
    artifact: str
    reviews: str
    many_files: bool
    companions: tuple[str, ...] = ()  # patterns beside the artifact that belong to it


STEPS: tuple[Step, ...] = (
    Step("goals", "goals.md", "reviews/goals", False),
    Step("questions", "questions.md", "reviews/questions", False),
    Step("research", "research/summary.md", "reviews/research", True, ("research/q*.md",)),
    Step("design", "design.md", "reviews/design", False),
    Step("phasing", "phasing.md", "reviews/phasing", False, ("roadmap.md", "future-*.md")),
    Step("ux", "ux.md", "reviews/ux", False),
    Step("structure", "structure.md", "reviews/structure", False),
    Step("plan", "plan.md", "reviews/plan", True, ("tasks/*.md",)),
    Step("parallelize", "parallelization.md", "reviews/parallelize", False),
    Step("implement", "implementation.md", "reviews/integration", True),
    Step("integrate", "integration.md", "reviews/integration", True),
    Step("test", "test-results.md", "reviews/test", True),
    Step("replan", "replan.md", "reviews/replan", False),
)
STEP: dict[str, Step] = {step.name: step for step in STEPS}
ORDER: dict[str, int] = {step.name: at for at, step in enumerate(STEPS)}
ROUTABLE: tuple[str, ...] = tuple(step.name for step in STEPS if step.name != "replan")
CODE_STEPS = ("implement", "integrate", "test")
MARKER = "replan-pending.md"
CLOSED = "closed.md"  # a run that was set aside
REQUEST = "request.md"  # what somebody wants, in their own words

_FULL = (
    "goals questions research design phasing structure plan parallelize implement integrate test"
)
ROUTES: dict[str, tuple[str, ...]] = {
    "quick": tuple("goals questions research plan implement test".split()),
    "full": tuple(_FULL.split()),
    "full-ux": tuple(_FULL.replace("phasing", "phasing ux").split()),
}


def is_full(route: tuple[str, ...]) -> bool:
    """Full means that tasks are parallelized before they are implemented."""
    return (
        "parallelize" in route
        and "implement" in route
        and route.index("parallelize") < route.index("implement")
    )


_NEEDS: dict[str, tuple[str, ...]] = {
    "goals": (),
    "questions": ("goals",),
    "research": ("questions",),
    "design": ("goals", "research"),
    "phasing": ("goals", "questions", "research", "design"),
    "ux": ("goals", "research", "design", "phasing"),
    "structure": ("goals", "research", "design", "phasing"),
    "parallelize": ("plan", "phasing"),
    "integrate": ("design", "phasing", "structure", "parallelize"),
    "replan": ("plan", "design", "phasing"),
}
_NEEDS_FULL: dict[str, tuple[str, ...]] = {
    "plan": ("goals", "research", "design", "phasing", "structure"),
    "implement": ("plan", "phasing", "parallelize"),
    "test": ("goals", "design", "phasing", "integrate"),
}
_NEEDS_QUICK: dict[str, tuple[str, ...]] = {
    "plan": ("goals", "research"),
    "implement": ("plan",),
    "test": ("goals", "research", "implement"),
}


def prerequisites(step: str, route: tuple[str, ...]) -> tuple[str, ...]:
    """Their artifacts must be approved before `step` is worked on."""
    by_kind = _NEEDS_FULL if is_full(route) else _NEEDS_QUICK
    needs = by_kind.get(step) or _NEEDS[step]
    if step == "structure" and "ux" in route:
        needs = (*needs, "ux")
    return needs


def upstream(step: str, route: tuple[str, ...], names: Container[str]) -> tuple[str, ...]:
    """The files that a step is made from, run-relative. `names` are the files in the run's folder,
    since not every run has a request. Code also depends on the design, in a route that has one, and
    is held against the goals."""
    if step == "goals":
        return (REQUEST,) if REQUEST in names else ()
    needs = prerequisites(step, route)
    if step == "implement":
        needs = tuple(one for one in route if one in (*needs, "goals", "design", "structure"))
    return tuple(STEP[need].artifact for need in needs)


def needs_tasks(step: str) -> bool:
    return step in ("parallelize", "implement")


class Subject(NamedTuple):
    """What a round reviews: a step, the implement gate, one task, or one repair."""

    key: str
    step: str
    reviews: str
    many_files: bool

    @property
    def is_task(self) -> bool:
        return self.key.startswith("task-") or self.is_repair

    @property
    def is_repair(self) -> bool:
        """A task from `fixes/`, named by its folder and file: `ci-round-01/ci-command`."""
        return "/" in self.key

    @property
    def artifact(self) -> str:
        """Run-relative: the step's artifact, or the task's own file."""
        if self.key in STEP:
            return STEP[self.key].artifact
        if self.is_repair:
            return f"fixes/{self.key}.md"
        return f"tasks/{self.key}.md" if self.is_task else STEP[self.step].artifact


def subject_of(key: str) -> Subject:
    known = subject(key)
    assert known is not None, key
    return known


@lru_cache(maxsize=256)  # one look at a run asks some ten times
def subject(word: str) -> Subject | None:
    """The subject a STEP argument names: a step, `implement-gate`, a task or a repair."""
    if word in STEP:
        step = STEP[word]
        return Subject(word, word, step.reviews, step.many_files)
    if word == "implement-gate":
        return Subject(word, "implement", "reviews/integration", True)
    key = word if is_repair(word) else task_key(word)
    if key and (word.startswith("task-") or key == word):
        return Subject(key, "implement", f"reviews/tasks/{key}", True)
    return None
