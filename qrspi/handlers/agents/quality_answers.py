"""A quality reviewer that the engine did not send itself: whom it would send, and its answer."""

from __future__ import annotations

from qrspi.core.agents.roles import Role
from qrspi.core.errors import Halt, Refusal
from qrspi.core.gates.quality.quality_gate import STEP, asked
from qrspi.core.model import Next, Problem
from qrspi.core.tree import Fault
from qrspi.handlers.agents import quality_reviews
from qrspi.handlers.agents.assignments import Assignment, assignments
from qrspi.handlers.gates.quality import Reached, Wanted
from qrspi.handlers.jobs.job import Job


def whom(job: Job, wanted: Wanted) -> str:
    """The reviewer of this task, in words."""
    order = _order(job, wanted)
    role: Role = order.role
    model = f" ({order.model.vendor}, {order.model.model})" if order.model else ""
    if order.means.prints:
        return f"{role.name}{model} would be sent over {order.means.transport}"
    return f"the prompt for {role.name}{model} would wait in {order.prompt_file}"


def _order(job: Job, wanted: Wanted) -> Assignment:
    key = wanted.spec.key
    asking = Next("decide", "agent", "", (), step=STEP, asks=(asked(key),))
    found = assignments(job._replace(next=asking, loop=None), drafts={key: wanted.spec})
    if found.unready:
        raise Halt(found.unready[0].problem)
    return found.ready[0]


def handed_in(job: Job, wanted: Wanted, answer: bytes, *, is_draft: bool) -> Reached:
    """A verdict from an answer that somebody brings."""
    if not is_draft:
        _refuse_outdated(job, wanted)
    text = answer.decode("utf-8", "replace")
    found = quality_reviews.judged(wanted, text)
    return Reached(found, "handed-in", quality_reviews.digest(text))


def _refuse_outdated(job: Job, wanted: Wanted) -> None:
    """An answer to another text than the one that is there is no verdict about it."""
    order = _order(job, wanted)
    waiting = job.workspace.read(order.prompt_file)
    if isinstance(waiting, Fault) or waiting == order.prompt:
        return
    key = wanted.spec.key
    text = (
        f"{order.prompt_file} asked about another text of {key} than there is now, so its answer "
        "is no verdict: have the task reviewed again"
    )
    hint = f"qrspi quality check {job.run} {key} --mode live"
    raise Refusal(Problem("prompt-outdated", text, order.prompt_file, hint=hint))
