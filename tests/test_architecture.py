"""What the folders promise: arrows point one way, one door per outside thing."""

from __future__ import annotations

import ast
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.sources import PACKAGE, TOGETHER, Module, calls, modules, nodes

pytestmark = TOGETHER

ROOT = PACKAGE.parent


Rule = Callable[[Module], Iterator[ast.AST]]


def _imports(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield f"{'.' * node.level}{node.module or ''}", node


def _top(name: str) -> str:
    return name.partition(".")[0]


# Closed on purpose: a module that is not here has to be looked at before core may use it.
PURE = frozenset(
    """__future__ _json _sha2 _sha256 abc ast base64 binascii bisect collections collections.abc
    difflib enum fractions functools hashlib heapq html itertools json keyword math operator re
    shlex string textwrap tomllib types typing unicodedata urllib.parse zlib""".split()
)
WORLDLY_CALLS = frozenset("open print input exec eval compile __import__ breakpoint".split())


def core_touches_nothing(module: Module) -> Iterator[ast.AST]:
    if module.layer != "core":
        return
    for name, node in _imports(module.tree):
        if not (name in PURE or name.startswith("qrspi.core") or _top(name) == "ruamel"):
            yield node
    for name, node in calls(module.tree):
        if name in WORLDLY_CALLS:
            yield node


def only_one_module_reads_yaml(module: Module) -> Iterator[ast.AST]:
    """core/yaml/reader.py is the door; behind it, its full reader knows the library."""
    for name, node in _imports(module.tree):
        if _top(name) in ("ruamel", "yaml") and module.path != "core/yaml/full_reader.py":
            yield node
    if module.path != "core/yaml/reader.py":
        yield from _names(module.tree, "full_reader")


def _names(tree: ast.AST, own: str) -> Iterator[ast.AST]:
    """Where a module of ours is imported, whichever way."""
    for node in nodes(tree):
        if isinstance(node, ast.alias | ast.ImportFrom):
            name = node.name if isinstance(node, ast.alias) else node.module or ""
            if name.endswith(own):
                yield node


def only_one_module_knows_git(module: Module) -> Iterator[ast.AST]:
    """world/git/command.py is the door; behind it, user_git.py knows the library."""
    if module.path == "world/git/command.py":
        return
    for name, node in _imports(module.tree):
        if _top(name) in ("git", "gitdb") and module.path != "world/git/user_git.py":
            yield node
    yield from _names(module.tree, "user_git")
    for node in nodes(module.tree):
        if isinstance(node, ast.List | ast.Tuple) and node.elts and _says_git(node.elts[0]):
            yield node


def _says_git(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "git"


def only_one_module_knows_watchdog(module: Module) -> Iterator[ast.AST]:
    for name, node in _imports(module.tree):
        if _top(name) == "watchdog" and module.path != "world/watch/watchdog_events.py":
            yield node


def only_one_module_knows_sqlite(module: Module) -> Iterator[ast.AST]:
    for name, node in _imports(module.tree):
        if _top(name) == "sqlite3" and module.path != "world/files/orchestration_db.py":
            yield node


def only_the_world_starts_processes(module: Module) -> Iterator[ast.AST]:
    if module.layer == "world":
        return
    for name, node in _imports(module.tree):
        if _top(name) in ("subprocess", "multiprocessing", "pty"):
            yield node
    for name, node in calls(module.tree):
        if name.startswith(("os.system", "os.popen", "os.exec", "os.spawn", "os.fork", "os.posix")):
            yield node


WRITING_METHODS = frozenset(
    """write_text write_bytes mkdir unlink rmdir symlink_to hardlink_to rmtree copytree copyfile
    copy2 makedirs""".split()
)
WRITING_OS = frozenset(
    f"os.{name}"
    for name in """open write replace rename renames unlink remove removedirs link symlink truncate
    ftruncate chmod chown utime fsync mkfifo""".split()
)


def only_the_world_writes(module: Module) -> Iterator[ast.AST]:
    if module.layer == "world":
        return
    for name, node in _imports(module.tree):
        if name == "tempfile":
            yield node
    for name, call in calls(module.tree):
        method = name.rpartition(".")[2]
        by_name = method in WRITING_METHODS or name in WRITING_OS
        if (by_name or _opens_for_writing(method, call)) and not _to_nowhere(call):
            yield call


def _to_nowhere(call: ast.Call) -> bool:
    return bool(call.args) and ast.unparse(call.args[0]) == "os.devnull"


def _opens_for_writing(method: str, call: ast.Call) -> bool:
    """A mode that is not a literal counts: nobody can read there that it only reads."""
    if method != "open":
        return False
    by_keyword = [word.value for word in call.keywords if word.arg == "mode"]
    by_place = call.args[1:2] if isinstance(call.func, ast.Name) else call.args[:1]
    return any(
        not isinstance(mode, ast.Constant) or bool(set(str(mode.value)) & set("wax+"))
        for mode in (*by_keyword, *by_place)
    )


BOUNDARY = "cli/boundary.py"
ATTEMPT = "core/errors.py"  # for what is done to many runs, so that one hides no other
THREADS = "world/agents/thread_pool.py"  # raises in the main thread what a worker caught
HOOKS = "cli/plain_hook.py"  # a host takes a hook that fails for a no to every tool


def only_the_boundary_catches_everything(module: Module) -> Iterator[ast.AST]:
    if module.path in (BOUNDARY, ATTEMPT, THREADS, HOOKS):
        return
    for node in nodes(module.tree):
        if isinstance(node, ast.ExceptHandler) and _is_catch_all(node.type):
            yield node


def _is_catch_all(caught: ast.expr | None) -> bool:
    if caught is None:
        return True
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(ast.unparse(name) in ("Exception", "BaseException") for name in names)


def only_cli_and_render_print(module: Module) -> Iterator[ast.AST]:
    if module.layer in ("cli", "render"):
        return
    for name, node in calls(module.tree):
        if name in ("print", "click.echo", "click.secho", "sys.stdout.write"):
            yield node


def records_are_named_tuples(module: Module) -> Iterator[ast.AST]:
    for name, node in _imports(module.tree):
        if name == "dataclasses":
            yield node


RULES: tuple[Rule, ...] = (
    core_touches_nothing,
    only_one_module_reads_yaml,
    only_one_module_knows_git,
    only_one_module_knows_watchdog,
    only_one_module_knows_sqlite,
    only_the_world_starts_processes,
    only_the_world_writes,
    only_the_boundary_catches_everything,
    only_cli_and_render_print,
    records_are_named_tuples,
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_keeps_the_rule(rule: Rule) -> None:
    broken = [
        f"qrspi/{module.path}:{getattr(node, 'lineno', 0)}: {ast.unparse(node).splitlines()[0]}"
        for module in modules()
        for node in rule(module)
    ]
    assert broken == []


@pytest.mark.parametrize(
    ("rule", "path", "source"),
    [
        (core_touches_nothing, "core/x.py", "import os"),
        (core_touches_nothing, "core/x.py", "from pathlib import Path"),
        (core_touches_nothing, "core/x.py", "def f():\n    from datetime import datetime"),
        (core_touches_nothing, "core/x.py", "import qrspi.world.git"),
        (core_touches_nothing, "core/x.py", "open('x')"),
        (core_touches_nothing, "core/x.py", "print('x')"),
        (only_one_module_reads_yaml, "world/x.py", "import ruamel.yaml"),
        (only_one_module_reads_yaml, "core/x.py", "from ruamel.yaml import YAML"),
        (only_one_module_reads_yaml, "core/x.py", "from qrspi.core.yaml import full_reader"),
        (only_one_module_reads_yaml, "core/x.py", "from qrspi.core.yaml.full_reader import read"),
        (only_one_module_knows_git, "world/x.py", "import git"),
        (only_one_module_knows_git, "world/x.py", "run(['git', 'diff'])"),
        (only_one_module_knows_git, "world/x.py", "from qrspi.world.git import user_git"),
        (only_one_module_knows_watchdog, "world/watch/watcher.py", "import watchdog.events"),
        (only_one_module_knows_sqlite, "world/files/run_tree.py", "import sqlite3"),
        (only_the_world_starts_processes, "engine.py", "import subprocess"),
        (only_the_world_starts_processes, "engine.py", "os.execvp('x', [])"),
        (only_the_world_writes, "cli/x.py", "path.write_text('x')"),
        (only_the_world_writes, "cli/x.py", "open('x', 'w')"),
        (only_the_world_writes, "cli/x.py", "path.open('ab')"),
        (only_the_world_writes, "cli/x.py", "open('x', mode=how)"),
        (only_the_world_writes, "cli/x.py", "os.replace(a, b)"),
        (only_the_world_writes, "cli/x.py", "shutil.rmtree(a)"),
        (only_the_world_writes, "cli/x.py", "import tempfile"),
        (only_the_boundary_catches_everything, "engine.py", "try: f()\nexcept: pass"),
        (only_the_boundary_catches_everything, "engine.py", "try: f()\nexcept Exception: pass"),
        (
            only_the_boundary_catches_everything,
            "engine.py",
            "try: f()\nexcept (OSError, BaseException): pass",
        ),
        (only_cli_and_render_print, "engine.py", "print('x')"),
        (records_are_named_tuples, "engine.py", "from dataclasses import dataclass"),
    ],
)
def test_the_rule_sees_what_breaks_it(rule: Rule, path: str, source: str) -> None:
    assert len(list(rule(Module(path, ast.parse(source))))) == 1


@pytest.mark.parametrize(
    ("rule", "path", "source"),
    [
        (only_one_module_reads_yaml, "core/yaml/full_reader.py", "from ruamel.yaml import YAML"),
        (
            only_one_module_reads_yaml,
            "core/yaml/reader.py",
            "from qrspi.core.yaml import full_reader",
        ),
        (core_touches_nothing, "core/x.py", "from qrspi.core.model import Problem"),
        (core_touches_nothing, "world/x.py", "import os"),
        (only_one_module_knows_git, "world/git/command.py", "run(['git', 'diff'])"),
        (
            only_one_module_knows_watchdog,
            "world/watch/watchdog_events.py",
            "from watchdog import events",
        ),
        (only_one_module_knows_sqlite, "world/files/orchestration_db.py", "import sqlite3"),
        (only_the_world_writes, "cli/x.py", "open('x')"),
        (only_the_world_writes, "cli/x.py", "path.open('rb')"),
        (only_the_world_writes, "cli/x.py", "os.dup2(os.open(os.devnull, os.O_WRONLY), 1)"),
        (only_the_world_writes, "cli/x.py", "open('x', 'rb')"),
        (only_the_world_writes, "cli/x.py", "text.replace('a', 'b')"),
        (only_the_world_writes, "world/x.py", "os.replace(a, b)"),
        (only_the_boundary_catches_everything, "engine.py", "try: f()\nexcept OSError: pass"),
        (only_the_boundary_catches_everything, BOUNDARY, "try: f()\nexcept Exception: pass"),
        (only_the_boundary_catches_everything, THREADS, "try: f()\nexcept Exception: pass"),
    ],
)
def test_the_rule_lets_honest_code_be(rule: Rule, path: str, source: str) -> None:
    assert list(rule(Module(path, ast.parse(source)))) == []


def test_the_layers_hold() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_modules_are_named_for_their_subject() -> None:
    vague = {"utils", "util", "helpers", "helper", "common", "manager", "base", "misc", "shared"}
    parts = {part for module in modules() for part in Path(module.path).with_suffix("").parts}
    assert parts & vague == set()


# The version is read by whoever builds the package, and `qrspi.cli:main` is what is installed.
WITH_CODE = {PACKAGE / "__init__.py", PACKAGE / "cli" / "__init__.py"}


def test_a_package_file_is_empty() -> None:
    filled = {file for file in PACKAGE.rglob("__init__.py") if file.read_bytes()}
    assert filled - WITH_CODE == set()


def test_no_module_is_longer_than_400_lines() -> None:
    lengths = {file: file.read_bytes().count(b"\n") for file in PACKAGE.rglob("*.py")}
    assert {file: length for file, length in lengths.items() if length > 400} == {}


ONE_FILE_FOR_EACH_VERB = PACKAGE / "cli" / "verbs"


def test_no_room_has_more_than_15_modules() -> None:
    rooms = {file.parent for file in PACKAGE.rglob("*.py")} - {ONE_FILE_FOR_EACH_VERB}
    sizes = {room: len(set(room.glob("*.py")) - {room / "__init__.py"}) for room in rooms}
    assert {room: size for room, size in sizes.items() if size > 15} == {}


def test_functions_are_short() -> None:
    lengths = sorted(
        (node.end_lineno or 0) - node.lineno + 1
        for module in modules()
        for node in nodes(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    ninetieth = lengths[len(lengths) * 9 // 10]
    assert (statistics.median(lengths) <= 10, ninetieth <= 30) == (True, True), (
        f"median {statistics.median(lengths)}, ninetieth percentile {ninetieth}"
    )
