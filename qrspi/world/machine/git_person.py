"""Who is at the keyboard, as a record names them."""

from __future__ import annotations

import os

from qrspi.world.git import repository


def at(path: str) -> str:
    """As git would sign a commit made at `path`; outside git, the user's name here."""
    repo = repository.find(path)
    return (repository.identity(repo) if repo else None) or user()


def user() -> str:
    """As the machine knows them, whatever the environment says."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"user {os.getuid()}"  # a container's user need not be in any list
