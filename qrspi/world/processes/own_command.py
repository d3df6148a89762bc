"""This program in an interpreter of its own."""

from __future__ import annotations

import site
import sys


def words() -> list[str]:
    """Isolated: it imports nothing from the project it stands in, nor from PYTHONPATH."""
    return [sys.executable, *_isolation(__file__), "-m", "qrspi"]


def _isolation(place: str) -> list[str]:
    """`-I` also leaves out the user's own packages; a user who installed us there keeps them."""
    own = site.getusersitepackages()
    return ["-E", "-P"] if place.startswith(f"{own}/") else ["-I"]
