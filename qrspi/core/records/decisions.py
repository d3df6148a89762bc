"""Which decisions of people are on record.

Without such a line, what a pause file, a skip marker, an outcome or dispositions say is only a
claim: anybody who can write a file can make one.

The same holds of a `status: approved`: its record says who approved, and whether it was exactly
this text. In a run whose config says `approvals: recorded`, a text without one is a draft that
claims too much.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP, subject_of
from qrspi.core.records import approvals, step_text
from qrspi.core.records.approvals import Record, newest_first, told_of
from qrspi.core.tree import Tree

if TYPE_CHECKING:
    from qrspi.core.records.task_records import Ending, TaskOutcome

_NAMED = 3  # files
UNRECORDED = "no decision is on record"


_CHOSE = {"apply": "taken up", "skip": "skipped", "loop-back": "sent back"}


class Claim(NamedTuple):
    step: str
    known: Record | None
    only_body: bool = False  # the record is of its body, and says nothing of the rest
    gone: tuple[str, ...] = ()  # what was approved with it and is gone
    restore: str = ""  # the command that brings back the first of them
    changed: tuple[str, ...] = ()  # the files that are not what was approved
    line: int = 0  # of an approval that is in the record, and that no command wrote


class RoundDecisions(NamedTuple):
    findings: Mapping[str, Record] = {}  # the newest about each
    menu: Mapping[str, Record] = {}  # the newest for each option chosen

    def proves(self, finding: str, choice: str) -> bool:
        record = self.findings.get(finding)
        return record is not None and record.option == choice

    def said_of(self, finding: str, choice: str) -> str:
        """Who chose it, and when; '' without a record of it."""
        if not self.proves(finding, choice) or choice not in _CHOSE:
            return ""
        record = self.findings[finding]
        on = f" on {record.when[:10]}" if record.when else ""
        return f"{_CHOSE[choice]} by {record.person or 'somebody'}{on}"

    def skip_of(self, finding: str) -> Record | None:
        return self.findings[finding] if self.proves(finding, "skip") else None


def of_round(records: Iterable[Record], key: str, number: int) -> RoundDecisions:
    findings: dict[str, Record] = {}
    menu: dict[str, Record] = {}
    for record in _of_this_phase(records, key, "decide", "resolve"):
        if (record.step, record.round) != (key, number):
            continue
        if record.event == "decide":
            findings[record.finding] = record
        elif record.event == "resolve":
            menu[record.option] = record
    return RoundDecisions(findings, menu)


def of_task(records: Iterable[Record], key: str) -> Record | None:
    """What a person last said about it, which may be another end than its file has."""
    decided_on = _of_this_phase(records, key, "task")
    own = [record for record in decided_on if record.event == "task" and record.step == key]
    return own[-1] if own else None


def end_of(
    records: Iterable[Record], key: str, outcome: TaskOutcome
) -> tuple[Ending, Record | None]:
    """What a person said counts, whatever the file says."""
    from qrspi.core.records.task_records import ENDINGS  # many runs have no task

    decided = of_task(records, key)
    ending = next((one for one in ENDINGS if decided and decided.option == one), None)
    return (ending, decided) if ending else (outcome.ending, None)


def ended(outcome: TaskOutcome, decided: Record | None) -> str:
    if decided is None:
        return f"outcome.md says {outcome.ending}; {UNRECORDED}: {outcome.reason}"
    if decided.option != outcome.ending:
        on = f"{decided.person or 'somebody'} decided on {decided.when[:10]}"
        return f"outcome.md says {outcome.ending}, and {on}: {decided.option}, which counts"
    return f"{decided.person} decided so on {decided.when[:10]}: {outcome.reason}"


def _of_this_phase(records: Iterable[Record], key: str, *events: str) -> list[Record]:
    """At least those of these events. After a phase is put away, rounds and tasks are numbered from
    01 again."""
    newest: list[Record] = []
    texts = (*(told_of(event, key) for event in events), told_of("phase"))
    for record in newest_first(records, *texts):
        newest.append(record)
        if record.event == "phase" and (record.mark(key) or "task-" in key or "gate" in key):
            break
    return newest[::-1]


def claim(tree: Tree, records: Iterable[Record], step: str) -> Claim | None:
    """None when the approval of exactly this text is on record."""
    known, subject = approvals.last_approval(records, step), subject_of(step)
    if known is None:
        return Claim(step, known)
    if step_text.is_unchanged(tree, subject, known.body_hash):
        return None
    return Claim(step, known, step_text.only_body_is_known(tree, subject, known.body_hash))


def problem(run: str, claimed: Claim) -> Problem:
    if claimed.gone:
        return lost(claimed)
    artifact, command = STEP[claimed.step].artifact, f"qrspi unapprove {run} {claimed.step}"
    why = "nobody approved it"
    if claimed.line:
        return _by_hand(run, claimed)
    if claimed.known:
        what = "its body alone, as far as the record says" if claimed.only_body else "another text"
        if any(file != artifact for file in claimed.changed) and not claimed.only_body:
            # Imported here: nearly every approved text is what was approved.
            from qrspi.core.text.shortened import few

            what = f"another text of {few(claimed.changed, _NAMED)}"
        why = f"{claimed.known.person or 'somebody'} approved {what}"
        why += f" on {claimed.known.when[:10]}" if claimed.known.when else ""
    text = f"{artifact} says approved, but {why}: it counts as a draft; `{command}` makes it one"
    return Problem("claims-approval", text, artifact, "status", "approved", "draft", command)


def _by_hand(run: str, claimed: Claim) -> Problem:
    artifact, command = STEP[claimed.step].artifact, f"qrspi approve {run} {claimed.step}"
    text = f"{not_written(claimed.line)}: {artifact} counts as a draft; `{command}` approves it"
    return Problem("claims-approval", text, artifact, "status", "approved", "draft", command)


def not_written(line: int) -> str:
    where = f"{approvals.FILE}: line {line}"
    return f"{where} was not written by `qrspi approve`, as far as the trail and git know"


def lost(claimed: Claim) -> Problem:
    """The artifact is still what was approved; a file that belongs to it is not there."""
    artifact, verb = STEP[claimed.step].artifact, "is" if len(claimed.gone) == 1 else "are"
    by = claimed.known.person if claimed.known else ""
    back = f"bring it back with `{claimed.restore}`" if claimed.restore else "write it anew"
    text = f"{', '.join(claimed.gone)}, which {by or 'somebody'} approved with {artifact}, {verb} "
    text += f"gone, so {artifact} counts as a draft: {back}"
    return Problem("vanished", text, claimed.gone[0], found="absent", hint=claimed.restore)


def unrecorded(run: str, steps: Iterable[str]) -> tuple[Problem, ...]:
    names = [STEP[step].artifact for step in steps]
    if not names:
        return ()
    verb = "says" if len(names) == 1 else "say"
    text = f"{', '.join(names)} {verb} approved, and no record says who approved"
    text += f"; `qrspi log {run}` shows what is on record"
    return (Problem("approved-without-record", text, file=names[0]),)
