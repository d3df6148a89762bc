"""Where a round and its answers come from: qrspi sent for them, somebody handed them in, or the
round was made elsewhere."""

from __future__ import annotations

from qrspi.core.digest import sha256
from qrspi.core.findings.submission import HINTS, in_order
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Clean, Finding, Problem, Round, Sidecar
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import audit_trail, evidence
from qrspi.core.records.evidence import Evidence
from qrspi.core.tree import Fault, Tree, exists
from qrspi.core.yaml import frontmatter

if TYPE_CHECKING:
    from qrspi.core.rounds.loop import Loop


def taken_in(tree: Tree, loop: Loop) -> Loop:
    """Nobody is sent for such a round, and its files are not corrected."""
    from qrspi.core.records import import_record

    assert loop.files is not None
    missing = tuple(problem for problem in loop.files.blocking if problem.code != "missing_output")
    read = loop.files._replace(unfinished=(), silent_tags=(), blocking=missing)
    choice = import_record.of_run(tree).open.get(loop.paths.directory, "")
    silent, folder = loop.files.silent_tags, loop.paths.directory
    loop = loop._replace(imported=True, choice=choice, files=read)
    if not (silent and loop.taken_over):
        return loop
    text = (
        f"{folder} was made elsewhere and has nothing of {', '.join(silent)}: nobody is sent for "
        "it, it is never clean, and a round of everybody follows"
    )
    warning = Problem("made-elsewhere", text, file=folder)
    return loop._replace(warnings=(*loop.warnings, warning))


def with_stage(tree: Tree, loop: Loop) -> Loop:
    if closer := closed_by(tree, loop):
        return loop._replace(stage="closed", because=(f"closed by {closer}",))
    why = f"{loop.paths.directory} was made elsewhere, and nothing says that it is closed"
    return loop._replace(stage="guarded", because=(why,))


def closed_by(tree: Tree, loop: Loop) -> str:
    """The first reason, if there are several; '' when it is open."""
    if exists(tree, loop.paths.dispositions):
        return "a dispositions file"
    if exists(tree, loop.paths.anchor):
        return "an anchor"
    artifact = loop.subject.artifact
    if frontmatter.status(tree.head(artifact), artifact)[0] == "approved":
        return f"the approval of {artifact}"
    return "its import" if loop.choice == "close" or loop.subject.is_task else ""


def sentence(loop: Loop) -> str:
    how = loop.because[0] if loop.because else "open"
    known = loop.decided.findings or loop.decided.menu
    recorded = "" if known else "; no decision is on record"
    return f"Round {loop.round} was made elsewhere and is unproven ({how}{recorded})"


class CameBy(NamedTuple):
    file: str  # run-relative
    evidence: Evidence
    reply: str = ""  # sha256 of what came back, or was handed in


def answers(tree: Tree, read: Round) -> tuple[CameBy, ...]:
    known = evidence.origins(audit_trail.lines(tree))
    handed: tuple[Finding | Clean | Sidecar, ...]
    handed = (*read.findings, *read.cleans, *read.sidecars.values())
    names = sorted(one.file for one in handed)
    return tuple(_came(tree, f"{read.directory}/{name}", known) for name in names)


def _came(tree: Tree, path: str, known: evidence.Origins) -> CameBy:
    data = tree.read(path)
    digest = "" if isinstance(data, Fault) else sha256(data).hexdigest()
    origin = evidence.of_answer(known, path, digest)
    return CameBy(path, origin.evidence, origin.reply)


def only_dispatched(tree: Tree, read: Round) -> Round:
    """Any other answer is a violation. Its writer cannot correct it; `retry` has it made again."""
    wrong = tuple(_refused(one) for one in answers(tree, read) if one.evidence != "dispatched")
    return read._replace(
        violations=in_order((*read.violations, *wrong)),
        blocking=in_order((*read.blocking, *wrong)),
    )


def _refused(answer: CameBy) -> Problem:
    return Problem(
        "not_dispatched",
        f"{answer.file}: it was {answer.evidence.replace('-', ' ')}, and config.md lets only what "
        "qrspi sent for count; expected an answer that was dispatched",
        file=answer.file,
        found=answer.evidence,
        expected="dispatched",
        hint=HINTS["not_dispatched"],
    )
