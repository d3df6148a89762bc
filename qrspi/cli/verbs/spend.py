"""`qrspi spend`: what a run's agents cost, and entering what a host has spent."""

from __future__ import annotations

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.answers import spend as spend_answer
from qrspi.cli.app import DefaultingGroup
from qrspi.cli.session import Session
from qrspi.core.agents import spend
from qrspi.core.agents.spend import LedgerEntry
from qrspi.handlers.agents import ledger
from qrspi.render import agents, problems
from qrspi.world.machine import clock


@click.group("spend", cls=DefaultingGroup)
def command() -> None:
    """Calls, tokens, cost and time of a run's agents, per step, round, role and model.

    `qrspi spend [RUN]` prints them; `qrspi spend add` enters what a host has spent.
    """


@command.action("show")
@arguments.run
def show(session: Session, run: str | None) -> None:
    """The ledger in groups, then the sum, then what budgets in config.md leave."""
    spend_answer.show(session, run)


@command.action("add")
@arguments.run
@click.option("--step", required=True, help="A step, implement-gate or task-NN.")
@click.option("--role", required=True, help="Who was sent: reviewer-quality, verifier, …")
@click.option("--model", required=True, help="The model that answered.")
@click.option("--round", "number", type=click.IntRange(min=1), help="The round of a review.")
@click.option("--vendor", default="", help="The vendor of the model.")
@click.option("--name", default="", help="Which agent: a reviewer's tag.")
@click.option("--calls", type=click.IntRange(0, 10**9), default=1, help="How many calls (1).")
@click.option("--input-tokens", type=click.IntRange(0, 10**14), default=0, help="Tokens sent.")
@click.option("--output-tokens", type=click.IntRange(0, 10**14), default=0, help="Tokens got.")
@click.option("--usd", type=click.FloatRange(0, 10**12), help="What it cost, if that is known.")
@click.option("--seconds", type=click.FloatRange(0, 10**12), default=0.0, help="How long it took.")
@arguments.dry_run("what would be entered", "enter nothing")
def add(
    session: Session,
    /,
    run: str | None,
    step: str,
    number: int | None,
    dry_run: bool,
    **fields: object,
) -> None:
    """Enter what a host has spent on this run, so that budgets count it."""
    run_dir = session.run(run)
    usage = "qrspi spend add [RUN] --step STEP --role ROLE --model MODEL"
    subject = run_words.a_subject(step, usage)
    values = {"step": subject.key, "round": number or 0, "source": "host", **fields}
    entry = LedgerEntry(**{"time": clock.now_utc(), **values})  # type: ignore[arg-type]
    workspace = run_words.workspace(run_dir.path, dry_run)
    with workspace.locked(session.lock_timeout, "qrspi spend add"):
        session.note(*problems.marked("warning", ledger.append(workspace, (entry,))))
    document = {
        "schema": "qrspi/spend-add/v1",
        "run": run_dir.name,
        "entry": spend.render(entry),
        "dry_run": dry_run,
    }
    session.answer(document, [agents.entered_line(entry, dry_run)])
