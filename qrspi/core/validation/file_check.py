"""One file of a run by itself: what is wrong with it, and what is only odd."""

from __future__ import annotations

from qrspi.core import reviewers
from qrspi.core.artifacts import parallelization
from qrspi.core.artifacts import task_file as taskfiles
from qrspi.core.artifacts.branch_map import Plan
from qrspi.core.config import reader as configs
from qrspi.core.findings import near_names, round_files
from qrspi.core.findings.submission import Place
from qrspi.core.hints import assert_never
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject, subject, subject_of
from qrspi.core.rounds import convergence, dispositions, pause_file, scope_set
from qrspi.core.rounds import manifest as manifests
from qrspi.core.tree import BODY_LIMIT, CONFIG_LIMIT, FINDING_LIMIT, Fault
from qrspi.core.validation.file_kinds import FileKind, Kind
from qrspi.core.yaml import frontmatter


class Inspected(NamedTuple):
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


def limit(kind: Kind) -> int:
    """Bytes of such a file that are read at most."""
    if kind in ("finding", "clean", "sidecar"):
        return FINDING_LIMIT
    return {"config": CONFIG_LIMIT, "manifest": manifests.LIMIT}.get(kind, BODY_LIMIT)


def inspect(kind: FileKind, file: str, content: bytes | Fault, strict: bool = False) -> Inspected:
    """`file` is the path as people are told of it."""
    if isinstance(content, Fault):
        return Inspected((unopened(file, content),))
    match kind.kind:
        case "config":
            return _config(content, file)
        case "artifact" | "companion":
            return _artifact(content, file, kind.kind)
        case "task":
            return _task(content, file)
        case "parallelization":
            return _parallelization(content, file)
        case "finding" | "clean" | "sidecar":
            return _submission(kind, file, content, strict)
        case "manifest":
            read = manifests.read(content, file)
            return _one(read if isinstance(read, Problem) else None)
        case "scope-set":
            return _one(_scope_set(content, file))
        case "dispositions":
            return Inspected(dispositions.problems(content, file, kind.number))
        case "anchor":
            return _one(_anchor(content, file))
        case "pause":
            pause = pause_file.read(content, file)
            return _one(pause if isinstance(pause, Problem) else None)
        case "loop-choice":
            return _one(_loop_choice(content, file))
        case "unknown":
            return Inspected(_unknown(kind, file))
        case "log" | "other":
            return Inspected()
        case _:
            assert_never(kind.kind)


def unopened(file: str, fault: Fault) -> Problem:
    match fault.kind:
        case "absent":
            return Problem("absent", f"{file} is not there", file, expected="a file")
        case "not-a-file":
            found = fault.detail or "something else"
            message = f"{file} is a {found}; expected a regular file; it is not opened"
            return Problem("not-a-file", message, file, found=found, expected="a regular file")
        case "too-large":
            message = f"{file} has {fault.found}; expected {fault.expected}; it is not read"
            return Problem("too-large", message, file, found=fault.found, expected=fault.expected)
        case "unreadable":
            return Problem("unreadable", f"{file} cannot be read: {fault.reason}", file)
        case _:
            assert_never(fault.kind)


def _one(problem: Problem | None) -> Inspected:
    return Inspected((problem,) if problem else ())


def _config(content: bytes, file: str) -> Inspected:
    report = configs.validate(configs.read(content))
    problems, warnings = (
        tuple(item._replace(file=file, message=_placed(item.message, file)) for item in items)
        for items in report
    )
    return Inspected(problems, warnings)


def _placed(message: str, file: str) -> str:
    """A message about config.md, with the name of this file."""
    rest = message.removeprefix("config.md")
    return f"{file}{rest}" if rest != message else message


def _artifact(content: bytes, file: str, kind: Kind) -> Inspected:
    status, problem = frontmatter.status(content, file)
    if status == "invalid":
        return _one(problem)
    return Inspected((), (problem,) if problem and kind == "artifact" else ())


def _task(content: bytes, file: str) -> Inspected:
    key = file.rpartition("/")[2].removesuffix(".md")
    read = taskfiles.read(content, key)
    if isinstance(read, Problem):
        path = taskfiles.task_path(key)
        return _one(read._replace(file=file, message=read.message.replace(path, file, 1)))
    # A repair is not planned: what it needs of a task's fields is in its text.
    unsaid = None if _own_field(content, "fix_round") else taskfiles.unsaid(content, file)
    odd = (frontmatter.status(content, file)[1], unsaid)
    return Inspected((), tuple(problem for problem in odd if problem))


def _parallelization(content: bytes, file: str) -> Inspected:
    status = _artifact(content, file, "artifact")
    read = parallelization.read(content)
    problems = () if isinstance(read, Plan) else read
    placed = (item._replace(file=file, message=_in_file(item.message, file)) for item in problems)
    return Inspected((*status.problems, *placed), status.warnings)


def _in_file(message: str, file: str) -> str:
    rest = message.removeprefix("parallelization.md")
    return f"{file}{rest}" if rest != message else f"{file}: {message}"


def _submission(kind: FileKind, file: str, content: bytes, strict: bool) -> Inspected:
    assert kind.name is not None
    place = Place(kind.subject or _own_subject(content), kind.number or _own_round(content))
    examined = round_files.examine(kind.name, file, content, place, strict=strict)
    if kind.subject:
        return Inspected(examined.violations, examined.warnings)
    known = (item for item in examined.warnings if item.field not in ("artifact", "round"))
    return Inspected(examined.violations, (*_astray(file), *known))


def _unknown(kind: FileKind, file: str) -> tuple[Problem, ...]:
    """Whether a second model reviews too is not known of a single file."""
    assert kind.subject is not None
    tags = reviewers.routed_tags(kind.subject, configs.Config(second_reviewer=True))
    return near_names.alone(file.rpartition("/")[2], file, sorted(tags))


def _astray(file: str) -> tuple[Problem, ...]:
    """A single file may lie anywhere; a file of a run's reviews may not."""
    if "/reviews/" not in f"/{file}":
        return ()
    expected = "a folder round-NN of the reviews of a step or a task"
    message = f"{file}: lies in no round, so nobody counts it; expected {expected}"
    return (Problem("astray", message, file, expected=expected),)


def _own_field(content: bytes, field: str) -> str:
    return frontmatter.text(frontmatter.fields(content), field) or ""


def _own_subject(content: bytes) -> Subject:
    """Outside a round's folder, a file's own fields say what it is about."""
    return subject(_own_field(content, "artifact")) or subject_of("goals")


def _own_round(content: bytes) -> int:
    text = _own_field(content, "round")
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 5 else 1


def _scope_set(content: bytes, file: str) -> Problem | None:
    read = scope_set.read(content)
    if not isinstance(read, Problem):
        return None
    return read._replace(message=f"{file}: {read.message}", file=file)


def _anchor(content: bytes, file: str) -> Problem | None:
    if convergence.anchor(content):
        return None
    expected = "the full id of one commit on a line of its own"
    return Problem("bad-anchor", f"{file}: expected {expected}", file, expected=expected)


def _loop_choice(content: bytes, file: str) -> Problem | None:
    mode = _own_field(content, "mode")
    if mode in ("present", "loop"):
        return None
    message = f"{file}: mode is {mode!r}; expected present or loop"
    expected = "present or loop"
    return Problem("bad-loop-choice", message, file, "mode", found=mode, expected=expected)
