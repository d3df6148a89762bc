"""When to recommend that a host compacts its context: before a fan-out, before a new step, and with
every question to a person."""

from qrspi.core.model import Next
from qrspi.core.named_tuple import NamedTuple

ADVICE = "Before responding, consider running /compact — context may be saturated."


class Compaction(NamedTuple):
    type: str  # pre-fanout, pre-handoff, piggyback
    subject: str = ""
    description: str = ""


_REASONS = {
    "review": "reviewers are about to be sent in parallel",
    "verify": "verifiers are about to be sent in parallel",
    "dispatch-tasks": "implementers are about to be sent in parallel",
    "author": "the step before is on record and a new one begins",
}


def checkpoint(following: Next) -> Compaction | None:
    if following.who == "human":
        return Compaction("piggyback")
    reason = _REASONS.get(following.action)
    if following.who != "agent" or reason is None or following.kind == "fix-files":
        return None  # whoever wrote a file corrects it, and a reviewer may be at it still
    kind = "pre-handoff" if following.action == "author" else "pre-fanout"
    subject = f"Recommend /compact ({kind}) — {following.step}"
    return Compaction(kind, subject, f"{kind}: {reason}. User decides whether to /compact.")


def line(advice: Compaction) -> str:
    """The same for an agent that reads text."""
    if advice.type == "piggyback":
        return ADVICE
    reason = advice.description.partition(": ")[2].partition(". ")[0]
    return f"**Compaction checkpoint: {advice.type}.** {reason[:1].upper()}{reason[1:]}."
