"""Which files of the run an agent is to read for what it is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from qrspi.core.filenames import VERIFIED, RoundPaths
from qrspi.core.hints import assert_never
from qrspi.core.model import Ask, Next
from qrspi.core.pipeline import CODE_STEPS, MARKER, STEP, Subject, subject_of, upstream
from qrspi.core.records import step_text
from qrspi.core.steps.facts import Facts
from qrspi.core.tree import Tree, entries

# Made from the plan with every task of it
_OVER_TASKS = ("parallelize", "integrate", "test", "replan")


_RESULTS = tuple(STEP[step].artifact for step in CODE_STEPS)


def inputs(facts: Facts, following: Next) -> tuple[str, ...]:
    """Those that the action names, and those of each agent that may be sent for it."""
    named = [path for ask in (*following.asks, *following.beside) for path in _of(facts, ask)]
    if following.kind == "fix-files":
        named += _of_round(facts, subject_of(following.step), following.round)
    return tuple(dict.fromkeys((*following.inputs, *_there(facts.tree, named))))


def _there(tree: Tree, paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        folder, _, name = path.rpartition("/")
        if any(entry.name == name and entry.kind == "file" for entry in entries(tree, folder)):
            yield path


def _of(facts: Facts, ask: Ask) -> Iterator[str]:
    subject = subject_of("plan" if ask.kind == "quality" else ask.subject)
    match ask.kind:
        case "research-question" | "quality":
            pass  # the question, or the task, is all that they are told
        case "author" | "fix":
            yield from text(facts, subject)
            yield from made_from(facts, subject)
        case "review":
            yield from _of_round(facts, subject, ask.round)
        case "verify":
            yield f"{RoundPaths(subject.reviews, ask.round).directory}/{ask.target}.md"
            yield from _of_round(facts, subject, ask.round)
        case "implement":
            yield from made_from(facts, subject)
        case _:
            assert_never(ask.kind)


def _of_round(facts: Facts, subject: Subject, number: int) -> Iterator[str]:
    paths = RoundPaths(subject.reviews, number)
    yield from (*text(facts, subject), paths.diff, paths.since)
    if subject.is_task:
        from qrspi.core.records import task_records

        yield task_records.report_file(subject.key)
    yield from made_from(facts, subject)


def text(facts: Facts, subject: Subject) -> tuple[str, ...]:
    if subject.is_task:
        return (subject.artifact,)
    return step_text.paths(facts.tree, facts.step)


def made_from(facts: Facts, subject: Subject | None) -> tuple[str, ...]:
    """What a text is compared with: the steps before it, and for code what came of the tasks."""
    files = upstream(facts.step, facts.route, facts.names)
    if facts.step in _OVER_TASKS:
        files += tuple(one for one in step_text.paths(facts.tree, "plan") if one not in files)
    if facts.step == "test":
        files += evidence(facts)
    if facts.step == "replan" or is_replanned(facts):
        results = (STEP["replan"].artifact, *_RESULTS)
        came = (*_there(facts.tree, results), *of_tasks(facts), *settled(facts))
        came = tuple(path for path in came if path not in text(facts, subject_of(facts.step)))
        files += tuple(path for path in dict.fromkeys(came) if path not in files)
    return files + _of_all(facts, subject) if subject else files


def is_replanned(facts: Facts) -> bool:
    """Whether the plan is written for a phase after one that is over."""
    return facts.step == "plan" and MARKER in facts.names


def _of_all(facts: Facts, subject: Subject) -> tuple[str, ...]:
    """What came of all tasks, for whoever looks at them together."""
    if subject.key == "implement-gate":
        return of_tasks(facts)
    if not subject.is_repair:
        return ()
    from qrspi.core.code_steps import implementers

    return settled(facts) if implementers.is_acceptance(subject.key) else ()


def settled(facts: Facts) -> tuple[str, ...]:
    """What reviews of this phase's code found: a defect that was fixed wants a test."""
    from qrspi.core.code_steps import batch
    from qrspi.core.records import task_records

    keys = (item.key for item in batch.read(facts).items)
    folders = (*map(task_records.folder, keys), STEP["integrate"].reviews)
    return tuple(
        f"{folder}/{entry.name}"
        for folder in folders
        for entry in entries(facts.tree, folder)
        if entry.name.endswith(VERIFIED)
    )


def of_tasks(facts: Facts) -> tuple[str, ...]:
    """What a review of all tasks together is compared with: their texts, and how each ended."""
    from qrspi.core.code_steps import baseline, batch

    items = batch.read(facts).items
    known = _there(facts.tree, (baseline.FILE,))
    return (*known, *(path for item in items for path in (item.file, *_outcomes(facts, item.key))))


def _outcomes(facts: Facts, key: str) -> Iterator[str]:
    from qrspi.core.records import task_records

    folder = task_records.folder(key)
    for entry in entries(facts.tree, folder):
        if entry.kind == "file" and entry.name.endswith(".md"):
            yield f"{folder}/{entry.name}"


def evidence(facts: Facts) -> tuple[str, ...]:
    """What the tests said, and which tests hold the criteria."""
    from qrspi.core.code_steps import batch, implementers, test_results
    from qrspi.core.records import task_records

    number = test_results.highest(facts.tree)
    keys = (item.key for item in batch.repairs(facts.tree).items)
    reports = (task_records.report_file(key) for key in keys if implementers.is_acceptance(key))
    named = (test_results.results_file(number), test_results.log_file(number), *reports)
    return tuple(_there(facts.tree, named))
