"""Words of printed commands, quoted like `shlex.quote`, which `status` would have to import."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PLAIN = r"[A-Za-z0-9_@%+=:,./-]+"


def quoted(word: str) -> str:
    if re.fullmatch(_PLAIN, word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


def command(*words: str) -> str:
    return " ".join(map(quoted, words))


def git(place: str, *words: str) -> str:
    """Runs wherever it is read: somebody may stand in the work tree of a task."""
    return command("git", "-C", place, *words)


_OURS = r"(?:(?<=`)|(?<=: )|(?<![^ ])(?<=  )|^)qrspi (?=[a-z])"


def at_root(text: str, root: str) -> str:
    """Its commands, for somebody who stands elsewhere and has to say where the runs are."""
    return re.sub(_OURS, lambda _: f"{command('qrspi', '--root', root)} ", text)


def answers(command: str, keys: Sequence[str]) -> str:
    """How a menu is answered, as one command and the words that may end it instead: to a shell
    `a|b` is a pipe, which runs the command with the first word."""
    first, *others = keys
    listed = " or ".join(filter(None, (", ".join(others[:-1]), *others[-1:])))
    return f"`{command} {first}`" + (f", or with {listed} in place of {first}" if others else "")
