"""`qrspi simulate`: a run's history with other settings."""

from __future__ import annotations

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.findings.triage import THRESHOLDS
from qrspi.core.history import simulation
from qrspi.core.history.simulation import Settings
from qrspi.core.model import ChangeType
from qrspi.core.rounds.round_list import AUTONOMOUS
from qrspi.handlers import history
from qrspi.render.history import simulation as pages


@verb("simulate")
@arguments.run
@click.option(
    "--threshold",
    "scores",
    multiple=True,
    metavar="TYPE=SCORE",
    help="The score from which findings of a type are kept.",
)
@click.option(
    "--cap", type=click.IntRange(1), default=AUTONOMOUS, help="Rounds on their own before a person."
)
@click.option("--verifier", type=click.Choice(["on", "off"]), help="Default: as it was.")
def command(
    session: Session, run: str | None, scores: tuple[str, ...], cap: int, verifier: str | None
) -> None:
    """Replay a run's rounds with other settings: where would its loops have gone another way?

    Nothing is written, and the same files give the same answer.
    """
    run_dir = session.run(run)
    thresholds = {**THRESHOLDS, **dict(map(_score, scores))}
    settings = Settings(thresholds, cap, None if verifier is None else verifier == "on")
    loops = [simulation.replay(one, settings) for one in history.loops(run_dir.path)]
    document = pages.document(run_dir.name, settings, loops)
    session.answer(document, pages.lines(run_dir.name, settings, loops))


def _score(text: str) -> tuple[ChangeType, int]:
    name, _, digits = text.partition("=")
    kind = next((one for one in THRESHOLDS if one == name), None)
    if kind and digits.isascii() and digits.isdigit() and len(digits) < 4 and int(digits) <= 101:
        return kind, int(digits)
    listed = ", ".join(THRESHOLDS)
    expected = f"TYPE=SCORE, TYPE one of {listed}, SCORE from 0 to 101"
    text = f"--threshold is {text!r}; expected {expected}"
    hint = "qrspi simulate [RUN] --threshold style=85"
    raise run_words.misuse(text, field="--threshold", found=name, expected=expected, hint=hint)
