"""The pause file of a round: findings that wait for a person, and what was decided."""

from collections.abc import Iterable, Mapping

from qrspi.core.hints import Literal, get_args
from qrspi.core.model import Finding, Problem, Triaged
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP
from qrspi.core.records import step_text
from qrspi.core.tree import Fault
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.nodes import Node, Scalar

Choice = Literal["pending", "apply", "skip", "loop-back"]
CHOICES: tuple[str, ...] = get_args(Choice)


class Pause(NamedTuple):
    decisions: Mapping[str, Choice]  # by finding name, in the order of the round
    all_of_them: Choice = "pending"  # one decision for all of them, in a file from elsewhere

    @property
    def undecided(self) -> tuple[str, ...]:
        return tuple(name for name, choice in self.decisions.items() if choice == "pending")

    @property
    def skipped(self) -> tuple[str, ...]:
        return tuple(name for name, choice in self.decisions.items() if choice == "skip")


def waiting(triaged: Iterable[Triaged]) -> tuple[Triaged, ...]:
    return tuple(item for item in triaged if item.verdict in ("pause", "propose"))


def render(step: str, number: int, triaged: Iterable[Triaged]) -> bytes:
    items = tuple(triaged)
    held = waiting(items)
    applied = sum(item.verdict == "keep" for item in items)
    decisions = "".join(f"  {item.finding.name}: pending\n" for item in held)
    head = f"---\nstep: {step}\nround: {number}\ndecisions:\n{decisions}---\n"
    title = f"\n# Round {number:02d} of {step} waits for a person\n\n"
    count = f"To be applied without asking: {applied}\n"
    return (head + title + count + "".join(map(_section, held))).encode(errors="backslashreplace")


def _section(item: Triaged) -> str:
    finding = item.finding
    kind = "Paused" if item.verdict == "pause" else "Proposed"
    escalated = f" (escalated from {finding.change_type})" if finding.escalated else ""
    return (
        f"\n## {kind}: {finding.name}\n\n"
        f"{finding.severity} · {finding.effective_type}{escalated} · {item.because}\n"
        f"Cites: {cited(finding)}\n\n{quoted(finding)}"
    )


def cited(finding: Finding) -> str:
    """On one line, whatever a reviewer put into a path."""
    return ", ".join(" ".join(entry.split()) for entry in finding.referenced_files) or "nothing"


def quoted(finding: Finding) -> str:
    """Each line after a mark, so that nothing a reviewer wrote becomes a heading here."""
    return "".join(f"> {line}\n" for line in finding.message.strip().splitlines())


def read(content: bytes | Fault, file: str) -> Pause | Problem | None:
    if isinstance(content, Fault):
        return None if content.kind == "absent" else _bad(file, content.kind)
    front = frontmatter.read(content, file)
    if isinstance(front, Problem):
        return front
    decisions = front.fields.get("decisions") if front else None
    if front and decisions is None and (resolution := _resolution(front.fields)):
        return Pause({}, resolution)
    if isinstance(decisions, Scalar) and not decisions.text:
        return Pause({})
    if not isinstance(decisions, dict):
        return _bad(file, "no list of decisions")
    return _checked(decisions, file)


def _resolution(fields: Mapping[str, Node]) -> Choice | None:
    """Other tools decide about a whole round: `status: resolved`, `resolution: skip`."""
    resolution = frontmatter.text(fields, "resolution")
    return next((one for one in get_args(Choice) if one == resolution), None)


def _checked(decisions: Mapping[str, object], file: str) -> Pause | Problem:
    read: dict[str, Choice] = {}
    for name, node in decisions.items():
        text = node.text if isinstance(node, Scalar) else "a nested value"
        if text not in CHOICES:
            return _bad(file, text, field=f"decisions.{name}")
        read[name] = text  # type: ignore[assignment]  # narrowed by the membership test
    return Pause(read)


def _bad(file: str, found: str, field: str = "decisions") -> Problem:
    expected = ", ".join(CHOICES)
    text = f"{file}: {field} is {found}, expected {expected}"
    hint = "correct the line by hand; each finding has exactly one decision"
    return Problem(
        "bad-pause-file", text, file=file, field=field, found=found, expected=expected, hint=hint
    )


def of_round(pause: Pause, triaged: Iterable[Triaged]) -> Pause:
    """A finding that came after the file was written waits like the others; one that is gone waits
    no longer."""
    names = (item.finding.name for item in waiting(triaged))
    decided = {name: choice for name, choice in pause.decisions.items() if choice != "pending"}
    return Pause({**dict.fromkeys(names, pause.all_of_them), **decided})


def decide(
    data: bytes, choices: Mapping[str, Choice], file: str, triaged: Iterable[Triaged] = ()
) -> bytes | Problem:
    """Every other byte stays. Findings in `triaged` that the file does not list yet are added."""
    pause = read(data, file)
    if not isinstance(pause, Pause):
        return pause or _bad(file, "nothing")
    late = [item for item in waiting(triaged) if item.finding.name not in pause.decisions]
    front = frontmatter.read(data, file)
    assert isinstance(front, frontmatter.Front)
    block = data[front.start : front.end]
    block += b"".join(f"  {item.finding.name}: pending\n".encode() for item in late)
    for name, choice in choices.items():
        block = _replaced(block, name, pause.decisions.get(name, "pending"), choice)
    added = "".join(map(_section, late)).encode(errors="backslashreplace")
    changed = data[: front.start] + block + data[front.end :] + added
    listed: dict[str, Choice] = {item.finding.name: "pending" for item in late}
    meant = Pause({**pause.decisions, **listed, **choices})
    if read(changed, file) == meant:
        return changed
    message = f"{file}: the decisions cannot be changed and the rest be kept as it is written"
    hint = "write one `<tag>.<id>: pending` a line below `decisions:`"
    return Problem("not-editable", f"{message}; {hint}", file, "decisions", hint=hint)


def _replaced(block: bytes, name: str, old: Choice, new: Choice) -> bytes:
    lines = block.split(b"\n")
    for at, line in enumerate(lines):
        key, colon, value = line.partition(b":")
        if colon and key.strip().strip(b"'\"") == name.encode() and key[:1] in b" \t":
            lines[at] = key + colon + value.replace(old.encode(), new.encode(), 1)
            break
    return b"\n".join(lines)


def upstream(route: tuple[str, ...], step: str) -> tuple[str, ...]:
    """The steps that a finding about `step` can go back to."""
    return route[: route.index(step)] if step in route else route


def targets(finding: Finding, steps: tuple[str, ...], run: str) -> tuple[str, ...]:
    """The steps whose text the finding cites, the earliest first; among several a person
    chooses."""
    cited = {_owner(entry, steps, run) for entry in finding.referenced_files}
    return tuple(step for step in steps if step in cited)


def _owner(entry: str, steps: tuple[str, ...], run: str) -> str | None:
    # A run without a pause need not know how files are cited.
    from qrspi.core.text import citations

    citation = citations.parse(entry)
    path = _inside_run(citation.path, run) if citation else None
    if path is None:
        return None
    for step in steps:
        if path == STEP[step].artifact or step_text.is_companion(step, path):
            return step
    return None


def _inside_run(path: str, run: str) -> str | None:
    """Reviewers cite `goals.md`, `docs/qrspi/<run>/goals.md` and absolute paths."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        return None
    if run in parts:
        at = len(parts) - parts[::-1].index(run)
        return "/".join(parts[at:])
    return None if path.startswith("/") else "/".join(parts)
