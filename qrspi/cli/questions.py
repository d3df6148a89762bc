"""Questions to a person at a terminal: a numbered menu, and the number as the answer."""

from __future__ import annotations

from collections.abc import Sequence

import click

from qrspi.render.escape import one_line


def choose(question: str, options: Sequence[str]) -> int:
    """Which of the options, from 0. Asked on stderr: stdout is for the answer of the command."""
    for line in (question, *(f"  {at}) {one_line(text)}" for at, text in enumerate(options, 1))):
        click.echo(line, err=True)
    number: int = click.prompt("Number", type=click.IntRange(1, len(options)), err=True)
    return number - 1
