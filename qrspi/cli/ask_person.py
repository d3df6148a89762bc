"""Questions to a person at a terminal: a numbered menu, and the number as the answer."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from qrspi.core.derivation.compaction_advice import ADVICE
from qrspi.render.safe_text import one_line


def choose(question: str, options: Sequence[str]) -> int:
    """Which of the options, from 0. Asked on stderr: stdout is for the answer of the command."""
    for line in (question, *(f"  {at}) {one_line(text)}" for at, text in enumerate(options, 1))):
        click.echo(line, err=True)
    number: int = click.prompt("Number", type=click.IntRange(1, len(options)), err=True)
    return number - 1


def confirm(question: str) -> bool:
    """A question that says (y/n) itself; anything but yes is no."""
    click.echo(ADVICE, err=True)
    click.echo(f"{one_line(question)} ", nl=False, err=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
