"""A command finds its modules by their names, and ends at once where nobody waits for its end."""

from __future__ import annotations

import subprocess
import sys
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from pkgutil import walk_packages

import qrspi
from qrspi.cli.short_life import _ByName


def told(spec: ModuleSpec | None) -> tuple[object, ...]:
    assert spec is not None
    folders = spec.submodule_search_locations
    return type(spec.loader), spec.origin, spec.cached, spec.has_location, folders and [*folders]


def test_modules_are_found_where_python_finds_them() -> None:
    names = [module.name for module in walk_packages(qrspi.__path__, "qrspi.")]
    assert len(names) > 100
    for name in names:
        path = [str(Path(*qrspi.__path__, *name.split(".")[1:-1]))]
        assert told(_ByName.find_spec(name, path)) == told(PathFinder.find_spec(name, path))


def test_everything_else_is_left_to_python() -> None:
    path = [*qrspi.__path__]
    assert [_ByName.find_spec(*asked) for asked in (("json", None), ("qrspi", None))] == [None] * 2
    assert _ByName.find_spec("qrspi.nothing", path) is None
    assert _ByName.find_spec("other.engine", path) is None


BYE = "import atexit, sys; atexit.register(print, 'bye')"


def last_word(before: str) -> str:
    code = f"{before}; sys.argv[1:] = ['schema', 'status']; from qrspi.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()[-1]


def test_a_command_ends_at_once() -> None:
    assert last_word(f"{BYE}; del sys.modules['atexit']") == "}"


def test_it_ends_as_usual_where_something_may_be_left_to_do() -> None:
    assert last_word(BYE) == "bye"
