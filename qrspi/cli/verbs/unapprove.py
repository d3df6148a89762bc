"""`qrspi unapprove`: take the yes to one step back."""

from __future__ import annotations

from qrspi.cli import arguments, run_words
from qrspi.cli.app import verb
from qrspi.cli.decision_command import DecisionCommand
from qrspi.cli.session import Session
from qrspi.core.pipeline import STEP
from qrspi.core.steps import permits
from qrspi.handlers.decisions import rewind

USAGE = "qrspi unapprove [RUN] STEP"


@verb("unapprove")
@arguments.words("[RUN] STEP")
@arguments.person()
@arguments.dry_run()
def command(session: Session, words: tuple[str, ...], who: str, dry_run: bool) -> None:
    """Return one artifact to draft and list what was built on it; nothing else is reset."""
    run, word = run_words.run_and_step(words, USAGE)
    step = run_words.a_step(word, USAGE)
    if step is None:
        text = "say which step is not approved any more"
        raise run_words.misuse(text, field="STEP", hint=USAGE)
    decision = DecisionCommand(session, "unapprove", run, step)
    with decision.deciding(dry_run=dry_run) as job:
        made = decision.make(job, rewind.unapprove(job, step, who))
    built_on_it = [
        {"step": other, "artifact": STEP[other].artifact, "status": job.facts.statuses[other]}
        for other in permits.dependents(job.facts, step)
    ]
    artifact = STEP[step].artifact
    head = f"{artifact} {'is' if made.done else 'would be'} a draft again."
    below = ["Built on it, and left as it is:"] if built_on_it else []
    below += [f"  {item['artifact']} ({item['status']})" for item in built_on_it]
    decision.answer(made, head, below, artifact=artifact, dependents=built_on_it)
