"""One page that tells a newcomer how the run stands. Whole parts are left out to fit, the least
needed first; the same files always give the same page."""

from __future__ import annotations

from qrspi.core.derivation.derive import Survey
from qrspi.core.filenames import prompt_file
from qrspi.core.model import RunState, Triaged
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP
from qrspi.core.records.approvals import Record


class Part(NamedTuple):
    title: str
    lines: tuple[str, ...]


class Page(NamedTuple):
    parts: tuple[Part, ...]
    left_out: tuple[str, ...]  # titles

    @property
    def text(self) -> str:
        return _text(self.parts, self.left_out)


def page(survey: Survey, most: int) -> Page:
    """The parts that fit into `most` characters, in the order a reader needs them. The first
    part, what to do next, is never left out."""
    parts = _parts(survey)
    for kept in range(len(parts), 0, -1):
        found = Page(parts[:kept], tuple(part.title for part in parts[kept:]))
        if len(found.text) <= most:
            return found
    return Page(parts[:1], tuple(part.title for part in parts[1:]))


def _text(parts: tuple[Part, ...], left_out: tuple[str, ...]) -> str:
    sections = ["\n".join((f"## {part.title}", "", *part.lines)) for part in parts]
    if left_out:
        sections.append(f"(left out to fit: {', '.join(left_out)})")
    return "\n\n".join(sections) + "\n"


def _parts(survey: Survey) -> tuple[Part, ...]:
    state = survey.state
    found = (
        Part(f"{state.run}: what is next", _now(state)),
        Part("Open findings", _findings(survey)),
        Part("Open comments", _comments(survey)),
        Part("Files to read", _files(state)),
        Part("Where each step stands", _steps(state)),
        Part("Decisions so far", _decisions(survey)),
        Part("Gates", _gates(survey)),
        Part("Warnings", tuple(f"- {item.message}" for item in (*state.errors, *state.warnings))),
    )
    return tuple(part for part in found if part.lines)


def _now(state: RunState) -> tuple[str, ...]:
    answer = state.next
    lines = [answer.summary, *(f"- {line}" for line in answer.care)]
    lines += [f"- because {reason}" for reason in answer.because]
    lines += [f"- `{option.key}`: {option.label}" for option in answer.options]
    return (*lines, f"- run `{answer.command}`") if answer.command else tuple(lines)


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
    first = finding.message.strip().partition("\n")[0]
    return f"- {finding.name} ({finding.severity}, {finding.effective_type}): {first}"


def _comments(survey: Survey) -> tuple[str, ...]:
    facts = survey.facts
    if facts is None or "feedback" not in facts.names:
        return ()
    from qrspi.core.records import comments

    found = (one for step in facts.route for one in comments.open_about(facts.tree, step))
    return tuple(f"- {one.comment.id} {one.cited}: {_first(one.comment.message)}" for one in found)


def _first(text: str) -> str:
    return text.strip().partition("\n")[0]


def _files(state: RunState) -> tuple[str, ...]:
    asks = (*state.next.asks, *state.next.beside)
    names = dict.fromkeys((*state.next.inputs, *map(prompt_file, asks)))
    return tuple(f"- {state.path}/{name}" if state.path else f"- {name}" for name in names)


def _steps(state: RunState) -> tuple[str, ...]:
    return tuple(
        f"- {step.step}: {step.standing}" + (f", rounds: {step.rounds}" if step.rounds else "")
        for step in state.steps
    )


def _decisions(survey: Survey) -> tuple[str, ...]:
    records = survey.facts.records if survey.facts else ()
    return tuple(_record(record) for record in reversed(records))


def _gates(survey: Survey) -> tuple[str, ...]:
    """What the gates on plans and tasks have said, where one is on."""
    facts = survey.facts
    if facts is None or facts.config.gates is None or not facts.tasks:
        return ()
    from qrspi.core.gates import gates_brief

    found = gates_brief.lines(facts.tree, facts.config.gates, facts.tasks)
    return tuple(f"- {line}" for line in found)


def _record(record: Record) -> str:
    artifact = STEP[record.step].artifact if record.step in STEP else record.step
    by = f" by {record.who}" if record.who else ""
    on = f" on {record.when[:10]}" if record.when else ""
    return f"- {artifact}: {record.event}{by}{on}"
