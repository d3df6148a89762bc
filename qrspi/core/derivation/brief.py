"""A run explained: one page that tells a newcomer how it stands, and the reasons, from the route
down to the one next action. To fit, whole parts are left out, the least important first."""

from __future__ import annotations

from collections.abc import Iterator

from qrspi.core.derivation.derive import Survey
from qrspi.core.filenames import prompt_file
from qrspi.core.model import Next, RunState, Triaged
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import MARKER, STEP, prerequisites
from qrspi.core.records.approvals import Record
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps.facts import Facts, approval_of, unmet
from qrspi.core.text.shortened import in_short


class Part(NamedTuple):
    title: str
    lines: tuple[str, ...]


class Page(NamedTuple):
    parts: tuple[Part, ...]
    left_out: tuple[str, ...]  # titles

    @property
    def text(self) -> str:
        sections = ["\n".join((f"## {part.title}", "", *part.lines)) for part in self.parts]
        if self.left_out:
            sections.append(f"(left out to fit: {', '.join(self.left_out)})")
        return "\n\n".join(sections) + "\n"


def page(survey: Survey, most: int) -> Page:
    """The parts that fit into `most` characters, in the order in which a reader needs them. The
    first part, what to do next, is never left out."""
    parts = _parts(survey)
    for kept in range(len(parts), 0, -1):
        fitting = Page(parts[:kept], tuple(part.title for part in parts[kept:]))
        if len(fitting.text) <= most:
            return fitting
    return Page(parts[:1], tuple(part.title for part in parts[1:]))


def _parts(survey: Survey) -> tuple[Part, ...]:
    state, facts = survey.state, survey.facts
    shown = (
        Part(f"{state.run}: what is next", _now(state.next)),
        Part("Open findings", _findings(survey)),
        Part("Open comments", _comments(survey)),
        Part("Files to read", _files(state)),
        Part("Where each step stands", _steps(state)),
        Part("Decisions so far", _decisions(facts) if facts else ()),
        Part("Gates", tuple(f"- {line}" for line in (_gates(facts) if facts else ()))),
        Part("Warnings", tuple(f"- {item.message}" for item in (*state.errors, *state.warnings))),
    )
    return tuple(part for part in shown if part.lines)


def _now(following: Next) -> tuple[str, ...]:
    lines = [following.summary, *(f"- {line}" for line in following.care)]
    lines += [f"- because {reason}" for reason in following.because]
    lines += [f"- `{option.key}`: {option.label}" for option in following.options]
    return (*lines, f"- run `{following.onward}`") if following.onward else tuple(lines)


def _findings(survey: Survey) -> tuple[str, ...]:
    loop = survey.loop
    if loop is None or loop.stage == "closed":
        return ()
    decided = loop.pause.decisions if loop.pause else {}
    return tuple(
        _finding(item)
        for item in loop.triaged
        if item.verdict != "drop" and decided.get(item.finding.name) != "skip"
    )


def _finding(item: Triaged) -> str:
    finding = item.finding
    kind = f"{finding.severity}, {finding.effective_type}"
    return f"- {finding.name} ({kind}): {in_short(finding.message)}"


def _comments(survey: Survey) -> tuple[str, ...]:
    facts = survey.facts
    if facts is None or "feedback" not in facts.names:
        return ()
    from qrspi.core.records import comments

    open_ = (placed for step in facts.route for placed in comments.open_about(facts.tree, step))
    return tuple(
        f"- {one.comment.id} {one.cited}: {in_short(one.comment.message)}" for one in open_
    )


def _files(state: RunState) -> tuple[str, ...]:
    asks = (*state.next.asks, *state.next.beside)
    names = dict.fromkeys((*state.next.inputs, *map(prompt_file, asks)))
    return tuple(f"- {state.path}/{name}" if state.path else f"- {name}" for name in names)


def _steps(state: RunState) -> tuple[str, ...]:
    return tuple(
        f"- {step.step}: {step.standing}" + (f", rounds: {step.rounds}" if step.rounds else "")
        for step in state.steps
    )


def _decisions(facts: Facts) -> tuple[str, ...]:
    told = (record for record in reversed(facts.records) if record.event not in _OF_SETTINGS)
    return tuple(dict.fromkeys(map(_record, told)))


_OF_SETTINGS = ("init", "settings", "route")  # config.md has them


def _gates(facts: Facts) -> tuple[str, ...]:
    if facts.config.gates is None or not facts.tasks:
        return ()
    from qrspi.core.gates import gates_brief

    return gates_brief.lines(facts.tree, facts.config.gates, facts.tasks)


def _record(record: Record) -> str:
    artifact = STEP[record.step].artifact if record.step in STEP else record.step
    by = f" by {record.who}" if record.who else ""
    on = f" on {record.when[:10]}" if record.when else ""
    option = " ".join(record.option.split())
    if record.event in _ANSWERS:
        return f"- {_ANSWERS[record.event]}: {option}, said{by}{on}"
    chosen = f" {option}" if option else ""
    return f"- {artifact}: {record.event}{chosen}{by}{on}"


# Records of a setting, which are about no text.
_ANSWERS = {"test-command": "what runs the tests", "onto": "the branch for tasks"}


def reasons(survey: Survey) -> tuple[str, ...]:
    """A line each, in the order in which they were decided."""
    facts, loop, because = survey.facts, survey.loop, survey.state.next.because
    if facts is None:
        return because
    lines = (*_step(facts), *(_loop(loop) if loop else ()), *_gates(facts), *because)
    return tuple(dict.fromkeys(lines))


def _step(facts: Facts) -> Iterator[str]:
    yield f"the route in config.md is {', '.join(facts.route)}"
    approved = [_approved(facts, s) for s in facts.route if facts.statuses[s] == "approved"]
    yield f"approved: {', '.join(approved)}" if approved else "nothing is approved yet"
    if not facts.step:
        yield f"nothing of the route is left, and there is no {MARKER}"
    elif facts.step == "replan":
        yield f"{MARKER} is there, and whatever is not approved waits for it"
    else:
        status = facts.statuses[facts.step]
        first = "the first of the route that is not approved"
        yield f"{STEP[facts.step].artifact} is {status}: {first}"
    yield from _needs(facts)


def _approved(facts: Facts, step: str) -> str:
    by_engine = approval_of(facts, step) == "engine"
    return f"{STEP[step].artifact}{' (by the engine)' if by_engine else ''}"


def _needs(facts: Facts) -> Iterator[str]:
    steps = prerequisites(facts.step, facts.route) if facts.step else ()
    if needs := [STEP[need].artifact for need in steps]:
        missing = unmet(facts, facts.step)
        state = f"not approved: {', '.join(missing)}" if missing else "all approved"
        yield f"{facts.step} needs {', '.join(needs)}: {state}"


def _loop(loop: Loop) -> Iterator[str]:
    if loop.round:
        yield f"the newest review of {loop.subject.key} is round {loop.round}: {loop.stage}"
    yield from loop.because
