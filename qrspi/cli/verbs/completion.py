"""`qrspi completion`: completion of words for a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from qrspi.cli.app import application, verb
from qrspi.cli.session import Session

_WHERE = {
    "bash": "~/.bashrc",
    "zsh": "~/.zshrc",
    "fish": "~/.config/fish/completions/qrspi.fish",
}


@verb("completion")
@click.argument("shell", type=click.Choice(list(_WHERE)))
def command(session: Session, shell: str) -> None:
    """Print the script that completes qrspi's words.

    For bash and zsh put `eval "$(qrspi completion SHELL)"` into the shell's startup file.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    source = kind(application, {}, "qrspi", "_QRSPI_COMPLETE").source()
    document = {"schema": "qrspi/completion/v1", "shell": shell, "script": source}
    session.answer(document, [f"# goes into {_WHERE[shell]}", source.strip()])
