"""Change the decisions of `core`, one at a time, and see whether a test notices.

    python tools/mutants.py [MODULE…]

A module's tests are collected once, and run once to see which functions of it each test calls. For
each mutant a child is forked, whose function is given the changed code, and the tests that call it
are run there until one fails. tests/mutants.txt lists, with the reason of each, the mutants that
mean the same as what was written. Status 1: others live, and more than 15 of 100.
"""

from __future__ import annotations

import ast
import copy
import importlib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
KNOWN = ROOT / "tests" / "mutants.txt"
ENOUGH = 0.85
SECONDS = 60  # of work, after which a mutant that runs for ever counts as noticed

# The modules that "Where a decision lives" names, and the tests that are about them.
TESTS: dict[str, tuple[str, ...]] = {
    "derivation.derive": ("derivation", "steps", "records", "gates", "code_steps"),
    "rounds.loop": ("rounds", "steps", "derivation", "records"),
    "rounds.round_list": ("rounds", "steps", "derivation"),
    "rounds.convergence": ("rounds",),
    "findings.guard": ("findings", "validation"),
    "findings.triage": ("findings", "rounds"),
    "steps.after_round": ("steps", "rounds", "derivation"),
    "steps.review_action": ("steps", "rounds", "derivation", "artifacts", "findings"),
    "steps.permits": ("steps", "records", "derivation", "code_steps"),
    "steps.facts": ("steps", "derivation", "records", "rounds", "code_steps"),
    "records.approvals": ("records", "steps"),
    "code_steps.task_state": ("code_steps",),
}

Compared = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


class Mutant(NamedTuple):
    module: str
    function: str  # with its class
    line: int
    change: str  # as the list of known ones has it
    code: CodeType

    @property
    def name(self) -> str:
        return f"{self.module} {self.function}: {self.change}"


def mutants(module: str) -> Iterator[Mutant]:
    file = _file(module)
    for alone in _statements(ast.parse(file.read_text())):
        for path, function in _functions(alone):
            for at, node in enumerate(_body(function)):
                for number in range(len(_changes(node))):
                    text, changed = _changed(alone, path, at, number)
                    code = _code(compile(changed, str(file), "exec"), path.split("."))
                    yield Mutant(module, path, getattr(node, "lineno", 0), text, code)


def _statements(tree: ast.Module) -> Iterator[ast.Module]:
    """Each by itself, since it is copied and compiled once for each mutant."""
    imports = (one for one in tree.body if isinstance(one, ast.ImportFrom))
    future = [one for one in imports if one.module == "__future__"]
    for statement in tree.body:
        yield ast.Module([*future, statement], [])


def _changed(alone: ast.Module, path: str, at: int, number: int) -> tuple[str, ast.Module]:
    changed = copy.deepcopy(alone)
    place = next(one for name, one in _functions(changed) if name == path)
    target = _body(place)[at]
    before = ast.unparse(target)
    _changes(target)[number]()
    text = f"{before} -> {ast.unparse(target)}"
    return " ".join(text.split()), ast.fix_missing_locations(changed)


def _file(module: str) -> Path:
    return ROOT / "qrspi" / "core" / f"{module.replace('.', '/')}.py"


def _functions(tree: ast.AST, inside: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield f"{inside}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{inside}{node.name}.")


def _body(function: ast.FunctionDef) -> list[ast.AST]:
    """Defaults and annotations are no part of its code."""
    return [node for statement in function.body for node in ast.walk(statement)]


def _changes(node: ast.AST) -> list[Callable[[], None]]:
    """What can be made different about it, in place."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in Compared:
            return [lambda: node.ops.__setitem__(0, Compared[type(op)]())]
        case ast.BoolOp(op=op):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            return [lambda: setattr(node, "op", other)]
        case ast.UnaryOp(op=ast.Not()):
            doubled = ast.UnaryOp(ast.Not(), node.operand)
            return [lambda: setattr(node, "operand", doubled)]
        case ast.Constant(value=bool(value)):
            return [lambda: setattr(node, "value", not value)]
        case ast.Constant(value=int(value)):
            return [lambda: setattr(node, "value", value + 1)]
        case ast.IfExp():
            return [lambda: setattr(node, "test", ast.UnaryOp(ast.Not(), node.test))]
        case ast.If():
            return [lambda: setattr(node, "test", ast.UnaryOp(ast.Not(), node.test))]
        case ast.Return(value=ast.Constant(value=None)):
            return []
        case ast.Return(value=ast.expr()):
            return [lambda: setattr(node, "value", ast.Constant(None))]
        case ast.BinOp(op=ast.Add()):
            return [lambda: setattr(node, "op", ast.Sub())]
        case ast.BinOp(op=ast.Sub()):
            return [lambda: setattr(node, "op", ast.Add())]
        case _:
            return []


def _code(code: CodeType, path: list[str]) -> CodeType:
    for name in path:
        code = next(
            one for one in code.co_consts if isinstance(one, CodeType) and one.co_name == name
        )
    return code


def _found(mutant: Mutant) -> Any:
    found: Any = importlib.import_module(f"qrspi.core.{mutant.module}")
    for name in mutant.function.split("."):
        found = vars(found)[name]
    return getattr(found, "fget", found)  # of a property


def _is_kept(mutant: Mutant) -> bool:
    """Whether its answers are: it is called for whoever comes first, and others depend on it."""
    return hasattr(_found(mutant), "cache_info")


def live(mutant: Mutant) -> FunctionType:
    found = _found(mutant)
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    assert isinstance(found, FunctionType), mutant.name
    return found


class Breeder:
    """A plugin of pytest, which runs the collected tests once for each mutant."""

    def __init__(self, module: str) -> None:
        self._module = module
        self.killed = 0
        self.alive: list[Mutant] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        calls = _in_a_child(lambda: _callers(session.items, _file(self._module)))
        assert calls, f"the tests of {self._module} fail as they are"
        every = range(len(session.items))
        for mutant in mutants(self._module):
            numbers = every if _is_kept(mutant) else calls.get(mutant.function, ())
            items = [session.items[number] for number in numbers]
            if _in_a_child(partial(_survives, mutant, items)):
                self.alive.append(mutant)
            else:
                self.killed += 1
        return True


def _in_a_child(work: Callable[[], Any]) -> Any:
    """What it gives, as JSON can say it; None when it raises or runs for ever. What it keeps in
    memory is gone for the next."""
    ours, theirs = os.pipe()
    if os.fork() == 0:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        try:
            os.write(theirs, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as answer:
        text = answer.read()
    os.wait()
    return json.loads(text) if text else None


def _survives(mutant: Mutant, items: list[pytest.Item]) -> bool:
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    live(mutant).__code__ = mutant.code
    return _all_pass(items)


def _callers(items: list[pytest.Item], file: Path) -> dict[str, list[int]] | None:
    """The functions of a file, and which of the tests call each; None when one of them fails."""
    found: dict[str, list[int]] = {}
    for number, item in enumerate(items):
        called: set[str] = set()

        def notice(frame: FrameType, *_: object, called: set[str] = called) -> None:
            if frame.f_code.co_filename == str(file):
                called.add(frame.f_code.co_qualname)

        sys.settrace(notice)
        passes = _all_pass([item])
        sys.settrace(None)
        if not passes:
            return None
        for name in called:
            found.setdefault(name, []).append(number)
    return found


def _all_pass(items: list[pytest.Item]) -> bool:
    from _pytest.runner import runtestprotocol

    for item, following in zip(items, [*items[1:], None], strict=True):
        try:
            reports = runtestprotocol(item, log=False, nextitem=following)
        except BaseException:
            return False
        if any(report.failed for report in reports):
            return False
    return True


def known() -> dict[str, str]:
    """Mutants that mean the same, and why: two lines each."""
    lines = KNOWN.read_text().splitlines() if KNOWN.exists() else []
    told = [line for line in lines if line and not line.startswith("#")]
    return dict(zip(told[::2], (why.strip() for why in told[1::2]), strict=True))


def main(wanted: list[str]) -> int:
    same = known()
    total = dead = 0
    for module in wanted or list(TESTS):
        breeder = Breeder(module)
        tests = [str(ROOT / "tests" / "core" / room) for room in TESTS[module]]
        arguments = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly"]
        pytest.main([*arguments, *tests], plugins=[breeder])
        alive = [mutant for mutant in breeder.alive if mutant.name not in same]
        count = breeder.killed + len(alive)
        total, dead = total + count, dead + breeder.killed
        explained = len(breeder.alive) - len(alive)
        print(f"{module}: {breeder.killed} of {count} killed, {explained} explained", flush=True)
        for mutant in alive:
            print(f"  line {mutant.line}  {mutant.name}")
    print(f"all: {dead} of {total} killed, {dead / max(total, 1):.0%}")
    return int(dead < ENOUGH * total)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
