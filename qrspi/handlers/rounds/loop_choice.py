"""How a review loop goes on after its first round, and what it leaves when it stops."""

from __future__ import annotations

from qrspi.core.filenames import escape_file, loop_choice
from qrspi.core.rounds import finding_history, round_list
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import after_round
from qrspi.core.tree import Fault, Tree
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import Edit, with_fields
from qrspi.handlers.jobs.job import Job, Performed

_BODY = b"---\nmode: loop\n---\n"


def handle(job: Job) -> Performed:
    """With nobody to ask, the recommended default is taken, and the record says so."""
    loop = job.round_loop
    mode = "present" if job.options.present else "loop"
    by = "answered by a person" if job.is_answered else _why(job)
    path = loop_choice(loop.subject.reviews)
    fields = {"mode": mode, "chosen": by}
    if (job.next.kind, mode) == ("loop-again", "loop"):
        fields["again_after"] = str(loop.round)
    data = text(job.workspace, loop.subject.reviews, fields)
    edit = Edit("write", path, mode, data)
    who = _on_record(job, loop, mode, edit) if job.is_answered else ""
    job.workspace.write(path, data)
    sentence = f"{_GOES_ON[mode]} ({by})"
    return Performed("choose-loop", loop.subject.key, loop.round, (path,), (sentence,), who=who)


_GOES_ON = {
    "loop": "reviews go on until a round is clean",
    "present": "a person is shown each round",
}


def _why(job: Job) -> str:
    if job.options.present:
        return "chosen with --present"
    repeats = job.facts.config.review_mode == "loop"
    return after_round.CONFIGURED if repeats else after_round.UNASKED


def _on_record(job: Job, loop: Loop, mode: str, edit: Edit) -> str:
    record = change_set.decision(job, "resolve", loop.subject.key, loop.round, edit)
    line = change_set.on_record(job, record._replace(option=mode))
    job.workspace.append(line.path, line.data)
    return line.who


def text(tree: Tree, reviews: str, fields: dict[str, str]) -> bytes:
    path = loop_choice(reviews)
    data = tree.read(path)
    return with_fields(_BODY if isinstance(data, Fault) else data, fields, path)


def write_escape(job: Job) -> Performed:
    loop, written = job.round_loop, escape_edit(job)
    job.workspace.write(written.path, written.data)
    return Performed("escape", loop.subject.key, loop.round, (written.path,))


def escape_edit(job: Job) -> Edit:
    loop, facts = job.round_loop, job.facts
    base = max(facts.base, after_round.read_choice(job.workspace, loop.subject).caps_from)
    cap = round_list.cap(job.workspace, loop.subject, base)
    assert cap is not None
    data = finding_history.escape_report(job.workspace, loop, facts.config, facts.base, cap.reason)
    path = escape_file(loop.subject.key, loop.round)
    return Edit("write", path, "what is unresolved, with its history", data)
