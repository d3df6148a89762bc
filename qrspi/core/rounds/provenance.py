"""Where a round and its answers come from: qrspi sent for them, somebody handed them in, or the
round was made elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from qrspi.core.digest import sha256
from qrspi.core.findings.submission import HINTS, in_order
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Problem, Round
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import audit_trail, evidence, import_record
from qrspi.core.records.evidence import Evidence
from qrspi.core.tree import Fault, Tree, exists
from qrspi.core.yaml import frontmatter

if TYPE_CHECKING:
    from qrspi.core.rounds.loop import Loop


def taken_in(tree: Tree, loop: Loop) -> Loop:
    """Nobody is sent for such a round, and its files are not corrected."""
    assert loop.files is not None
    missing = tuple(one for one in loop.files.blocking if one.code != "missing_output")
    read = loop.files._replace(unfinished=(), silent_tags=(), blocking=missing)
    choice = import_record.of_run(tree).open.get(loop.paths.directory, "")
    loop = loop._replace(imported=True, choice=choice)
    silent = loop.files.silent_tags if loop.files and loop.taken_over else ()
    return loop._replace(files=read, warnings=(*loop.warnings, *_silent(loop, silent)))


def _silent(loop: Loop, tags: tuple[str, ...]) -> tuple[Problem, ...]:
    if not tags:
        return ()
    folder = loop.paths.directory
    text = (
        f"{folder} was made elsewhere and has nothing of {', '.join(tags)}: nobody is sent for "
        "it, it is never clean, and a round of everybody follows"
    )
    return (Problem("made-elsewhere", text, file=folder),)


def with_stage(tree: Tree, loop: Loop) -> Loop:
    """For a round that is not taken over."""
    if closer := closed_by(tree, loop):
        return loop._replace(stage="closed", because=(f"closed by {closer}",))
    why = f"{loop.paths.directory} was made elsewhere, and nothing says that it is closed"
    return loop._replace(stage="guarded", because=(why,))


def closed_by(tree: Tree, loop: Loop) -> str:
    """What ends it (the first of several reasons); '' when it is open."""
    if exists(tree, loop.paths.dispositions):
        return "a dispositions file"
    if exists(tree, loop.paths.anchor):
        return "an anchor"
    artifact = loop.subject.artifact
    if frontmatter.status(tree.head(artifact), artifact)[0] == "approved":
        return f"the approval of {artifact}"
    return "its import" if loop.choice == "close" or loop.subject.is_task else ""


def sentence(loop: Loop) -> str:
    """How the reviews of a step stand when this is its newest round."""
    how = loop.because[0] if loop.because else "open"
    known = loop.decided.findings or loop.decided.menu
    recorded = "" if known else "; no decision is on record"
    return f"Round {loop.round} was made elsewhere and is unproven ({how}{recorded})"


class CameBy(NamedTuple):
    file: str  # run-relative
    evidence: Evidence
    reply: str = ""  # sha256 of what came back, or was handed in


def answers(tree: Tree, read: Round) -> tuple[CameBy, ...]:
    """Findings, clean sentinels and scores, by name."""
    known = evidence.origins(audit_trail.lines(tree))
    return tuple(_came(tree, f"{read.directory}/{name}", known) for name in sorted(_names(read)))


def _names(read: Round) -> Iterator[str]:
    yield from (one.file for one in read.findings)
    yield from (one.file for one in read.cleans)
    yield from (one.file for one in read.sidecars.values())


def _came(tree: Tree, path: str, known: evidence.Origins) -> CameBy:
    data = tree.read(path)
    digest = "" if isinstance(data, Fault) else sha256(data).hexdigest()
    found = evidence.of_answer(known, path, digest)
    return CameBy(path, found.evidence, found.reply)


def only_dispatched(tree: Tree, read: Round) -> Round:
    """For a run in which only such answers count: any other is a violation. Its writer cannot
    correct it; `retry` has it made again."""
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
