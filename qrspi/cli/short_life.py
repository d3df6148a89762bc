"""What a process does without that runs one command and ends."""

from __future__ import annotations

import gc
import os
import sys
from _frozen_importlib_external import SourceFileLoader, spec_from_file_location

TYPE_CHECKING = False  # as type checkers know it
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from typing import NoReturn

_AWAIT_THE_END = {"atexit", "cProfile", "threading"}


class _ByName:
    """Python looks for a module in the listings of all folders, and for five kinds of files. Ours
    are where their names say, and a command imports a hundred."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, _: object = None) -> ModuleSpec | None:
        if path is None or not name.startswith("qrspi."):
            return None
        place = f"{path[0]}/{name.rpartition('.')[2]}"
        for file, within in ((f"{place}.py", None), (f"{place}/__init__.py", [place])):
            if os.path.isfile(file):  # noqa: PTH113
                loader = SourceFileLoader(name, file)
                return spec_from_file_location(
                    name, file, loader=loader, submodule_search_locations=within
                )
        return None


def begin() -> None:
    # A command makes some ten thousand objects, most of them modules, and keeps them. Searching
    # them for garbage every seven hundred was a twentieth of its time.
    gc.set_threshold(50_000)
    sys.meta_path.insert(0, _ByName)


def end(status: int) -> NoReturn:
    """At once, unless a module was imported by which somebody may wait for the end: Python would
    first take all objects apart."""
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
    except (OSError, ValueError):
        sys.exit(status)  # Python tries again, and complains
    if _AWAIT_THE_END.isdisjoint(sys.modules):
        os._exit(status)
    gc.freeze()  # a last search for garbage is a tenth of a `status`
    sys.exit(status)
