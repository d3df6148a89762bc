"""`qrspi comment`: words of people about lines of an artifact."""

from __future__ import annotations

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.app import DefaultingGroup
from qrspi.cli.decision_command import DecisionCommand
from qrspi.cli.session import Session
from qrspi.core.errors import refused
from qrspi.core.filenames import RUNS
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP
from qrspi.core.records import comments
from qrspi.handlers.decisions import comment as handler
from qrspi.render.history import comments as pages
from qrspi.world.files.run_tree import DiskTree


@click.group("comment", cls=DefaultingGroup)
def command() -> None:
    """Comments on lines of an artifact, which move with their text.

    `qrspi comment [RUN] FILE:L12-L20 -m TEXT` makes one; whoever writes the text next reads it.
    """


@command.action("add")
@arguments.words("[RUN] FILE:LINES")
@click.option("-m", "--message", default="", metavar="TEXT", help="What there is to say.")
@arguments.person()
@arguments.dry_run("what would be written")
def add(session: Session, words: tuple[str, ...], message: str, who: str, dry_run: bool) -> None:
    """Say something about lines of an artifact."""
    usage = "qrspi comment [RUN] FILE:L12-L20 -m TEXT"
    run, cited = run_words.run_and_name(words, usage)
    named, cited = _in_run(cited)
    decision = DecisionCommand(session, "comment add", run or named)
    made = decision.decide(lambda job: handler.make(job, cited, message, who), dry_run=dry_run)
    verb, id = "Commented" if made.done else "Would comment", made.change.concerns[0]
    step = comments.step_of(cited.partition(":")[0])
    then = f"Whoever writes {STEP[step].artifact} next reads it; a comment alone sends nobody."
    decision.answer(made, f"{verb} on {cited}: {id}. {then}", id=id)


def _in_run(cited: str) -> tuple[str | None, str]:
    """`docs/qrspi/RUN/goals.md:L3` names its run as well."""
    before, separator, rest = cited.partition(f"{RUNS}/")
    run, _, path = rest.partition("/")
    return (run, path) if separator and path and before in ("", "./") else (None, cited)


@command.action("list")
@arguments.run
@click.option("--all", "everything", is_flag=True, help="Also those that are resolved.")
def list_(session: Session, run: str | None, everything: bool) -> None:
    """Open comments, each with where its lines are now."""
    run_dir = session.run(run)
    tree = DiskTree(run_dir.path)
    known = comments.read(tree)
    if isinstance(known, Problem):
        raise refused(known)
    shown = [comments.placed(tree, comment) for comment in known if everything or comment.open]
    session.answer(pages.document(run_dir.name, shown), pages.lines(run_dir.name, shown))


@command.action("resolve")
@arguments.words("[RUN] ID")
@arguments.person()
@arguments.dry_run("what would be written")
def resolve(session: Session, words: tuple[str, ...], who: str, dry_run: bool) -> None:
    """Say that a comment is dealt with."""
    run, id = run_words.run_and_name(words, "qrspi comment resolve [RUN] ID")
    decision = DecisionCommand(session, "comment resolve", run)
    made = decision.decide(lambda job: handler.resolve(job, id, who), dry_run=dry_run)
    decision.answer(made, f"{'Resolved' if made.done else 'Would resolve'}: {id}", id=id)
