"""The command that a tool call stands for, as its words."""

from __future__ import annotations

from qrspi.core.named_tuple import NamedTuple


class Call(NamedTuple):
    words: tuple[str, ...]
    text: bytes = b""  # what the command finds on its standard input


def call(command: str, *names: str, text: str = "", **options: str | float | None) -> Call:
    """No word of a model is taken for an option: a value stands after `=`, a name after `--`."""
    given = ((key.replace("_", "-"), value) for key, value in options.items())
    said = (f"--{key}={value}" for key, value in given if value not in (None, ""))
    return Call((*command.split(), *said, "--", *filter(None, names)), text.encode())
