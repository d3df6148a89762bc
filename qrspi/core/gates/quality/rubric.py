"""The first look at a task's text: rules that need no judgement, in one table. An error rejects
the task before a reviewer is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from qrspi.core.gates import plan_words
from qrspi.core.gates.quality.task_spec import Spec
from qrspi.core.hints import Literal
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text.shortened import few
from qrspi.core.tree import Fault, Tree

Level = Literal["error", "warning"]

ECHO = 0.8  # of a criterion's words, in the title
FEWEST, MOST = 3, 7  # steps
SHORT, TOO_SHORT = 30, 25  # characters of an average step
_PLACEHOLDERS = ("[draft-ac]", "[draft-ep]", "[needs-refine]")
_QUOTE = 60


class Remark(NamedTuple):
    rule: str
    level: Level
    text: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}"


Said = tuple[Level, str]
Check = Callable[[Spec, Tree], Iterator[Said]]


def _checkable(spec: Spec, code: Tree) -> Iterator[Said]:
    listed = plan_words.criteria(spec.criteria)
    if not listed:
        yield "error", "there is no acceptance criterion"
    vague = [text for text in listed if not plan_words.is_checkable(text)]
    if vague:
        level: Level = "error" if len(vague) > 1 else "warning"
        yield level, f"nothing that can be checked is named in {_quoted(vague)}"


def _no_echo(spec: Spec, code: Tree) -> Iterator[Said]:
    title = set(plan_words.words(spec.title))
    listed = [words for text in _criteria(spec) if (words := plan_words.words(text))]
    repeated = [sum(word in title for word in words) / len(words) for words in listed]
    echoes = [share for share in repeated if share >= ECHO]
    if listed and len(echoes) == len(listed):
        yield "error", "every criterion only repeats the title"
    elif echoes and 2 * len(echoes) >= len(listed):
        yield "warning", f"{len(echoes)} of {len(listed)} criteria only repeat the title"


def _grounded(spec: Spec, code: Tree) -> Iterator[Said]:
    ground = plan_words.meaningful(f"{spec.description}\n{spec.context}")
    loose = [
        text
        for text in _criteria(spec)
        if "[inferred]" not in text.casefold() and not plan_words.meaningful(text) & ground
    ]
    if loose:
        text = f"neither the description nor the context speaks of {_quoted(loose)}"
        yield "warning", f"{text}; mark what you concluded with [INFERRED]"


def _criteria(spec: Spec) -> list[str]:
    return plan_words.criteria(spec.criteria)


def _unfinished(text: str, still: str) -> Iterator[Said]:
    marks = [mark.upper() for mark in _PLACEHOLDERS if mark in text.casefold()]
    if marks:
        yield "error", f"{still} {', '.join(marks)}"


def _counted(spec: Spec, code: Tree) -> Iterator[Said]:
    count = len(plan_words.steps(spec.plan))
    if count < FEWEST:
        yield "error", f"the execution plan has {count} numbered steps, expected {FEWEST} to {MOST}"
    elif count > MOST:
        yield "warning", f"the execution plan has {count} steps, expected {FEWEST} to {MOST}"


def _said_in_full(spec: Spec, code: Tree) -> Iterator[Said]:
    steps = plan_words.steps(spec.plan)
    if not steps:
        return
    average = sum(map(len, steps)) / len(steps)
    if average < SHORT:
        level: Level = "error" if average < TOO_SHORT else "warning"
        yield level, f"a step has {average:.0f} characters on average, expected {SHORT} or more"
    bare = [
        step for step in steps if not (plan_words.has_verb(step) and plan_words.has_target(step))
    ]
    if bare:
        yield "warning", f"not said what is done to what in {_quoted(bare)}"


def _concrete(spec: Spec, code: Tree) -> Iterator[Said]:
    if not plan_words.names_artifact(spec.plan):
        yield "warning", "the execution plan names no file, no code and no address"


def _in_place(spec: Spec, code: Tree) -> Iterator[Said]:
    if spec.is_human:
        return
    yield from _working_directory(spec, code)
    for path in dict.fromkeys(plan_words.paths(spec.plan)):
        if plan_words.is_absolute(path):
            yield "error", f"the execution plan names the absolute path {path[:_QUOTE]}"
        elif not path.startswith("/") and plan_words.inside(path) is None:
            text = f"the path {path[:_QUOTE]} in the execution plan leads out of the project"
            yield "error", text


def _working_directory(spec: Spec, code: Tree) -> Iterator[Said]:
    said = spec.working_directory
    if not said:
        text = "no working_directory in the frontmatter, which an agent needs"
        yield "error", f"{text}: `working_directory: .` is the project itself"
        return
    path = plan_words.inside(said)
    if path is None:
        yield "error", f"working_directory is {said[:_QUOTE]}, which is outside the project"
    elif isinstance(code.entries(path), Fault):
        yield "error", f"working_directory is {said[:_QUOTE]}, which is not a folder of the project"


def _quoted(texts: list[str]) -> str:
    cut = (text if len(text) <= _QUOTE else f"{text[: _QUOTE - 1]}…" for text in texts)
    return few([f"“{text}”" for text in cut], 3)


RULES: dict[str, Check] = {
    "R-AC1": _checkable,
    "R-AC2": _no_echo,
    "R-AC3": _grounded,
    "R-AC4": lambda spec, _: _unfinished(spec.criteria, "the acceptance criteria still have"),
    "R-EP1": _counted,
    "R-EP2": _said_in_full,
    "R-EP3": _concrete,
    "R-EP4": _in_place,
    "R-EP5": lambda spec, _: _unfinished(spec.plan, "the execution plan still has"),
}
FINISHED = ("R-AC4", "R-EP5")  # all that is required of a task that needs no review


def remarks(spec: Spec, code: Tree, rules: Iterable[str] = tuple(RULES)) -> tuple[Remark, ...]:
    """`code` is the project that the paths of the text belong to."""
    return tuple(
        Remark(rule, level, text) for rule in rules for level, text in RULES[rule](spec, code)
    )
