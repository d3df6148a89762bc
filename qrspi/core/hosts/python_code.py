"""The files that a small Python program would write, by its calls and the texts in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from qrspi.core.hosts.work_limit import Work

_METHODS = frozenset(
    """write_text write_bytes unlink rename replace touch rmdir symlink_to hardlink_to truncate
    """.split()
)
_FUNCTIONS = frozenset(  # of os and shutil; the last argument is what is written
    """remove unlink rename replace truncate link symlink rmtree move copy copyfile copy2 copytree
    """.split()
)
ARGUMENTS = "sys.argv"


_Values = dict[str, list[ast.expr]]


def written(tree: ast.Module, work: Work) -> tuple[str, ...]:
    """Every text that goes into the name of a written file. Each may be the file's path."""
    values = _assigned(tree)
    targets = (target for node in ast.walk(tree) for target in _targets(node))
    return tuple(dict.fromkeys(text for target in targets for text in _texts(target, values, work)))


def _assigned(tree: ast.Module) -> _Values:
    found: _Values = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                pairs = [(target, value) for target in targets]
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                pairs = [(target, value)]
            case ast.With(items=items):
                pairs = [(i.optional_vars, i.context_expr) for i in items if i.optional_vars]
            case _:
                continue
        for target, value in pairs:
            for name in ast.walk(target):
                if isinstance(name, ast.Name):
                    found.setdefault(name.id, []).append(value)
    return found


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions that name what a call writes."""
    match node:
        case ast.Call(func=ast.Name(id="open"), args=[path, *rest], keywords=words):
            if _writes(rest, words):
                yield path
        case ast.Call(func=ast.Attribute(value=path, attr="open"), args=rest, keywords=words):
            if _writes(rest, words):
                yield path
        case ast.Call(func=ast.Attribute(value=ast.Name(id="os" | "shutil"), attr=name), args=args):
            if name in _FUNCTIONS:
                yield from args if name in ("rename", "replace", "move") else args[-1:]
        case ast.Call(func=ast.Attribute(value=path, attr=name), args=args) if name in _METHODS:
            if name != "replace" or len(args) == 1:  # a text's `replace` has two
                yield path
                yield from args if name in ("rename", "replace") else ()


def _writes(rest: list[ast.expr], words: list[ast.keyword]) -> bool:
    modes = [*rest[:1], *(word.value for word in words if word.arg == "mode")]
    texts = [one.value for one in modes if isinstance(one, ast.Constant)]
    return any(isinstance(text, str) and set(text) & set("wax+") for text in texts)


def _texts(target: ast.expr, values: _Values, work: Work) -> Iterator[str]:
    """The path, where all its parts are known; otherwise every text that may belong to it."""
    known = _paths(target, values, work)
    if known:
        yield from known
        return
    seen: set[str] = set()
    todo: list[ast.AST] = [target]
    while todo:
        node = todo.pop()
        work.spend(1)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.Attribute) and node.attr == "argv":
            yield ARGUMENTS
        elif isinstance(node, ast.Name) and node.id not in seen:
            seen.add(node.id)
            todo += values.get(node.id, [])
        todo += ast.iter_child_nodes(node)


_DEEPEST = 20  # a name that stands for itself would loop for ever


def _paths(node: ast.expr, values: _Values, work: Work, depth: int = 0) -> list[str]:
    """`Path('a') / 'b'`, `'a/' + b`, `os.path.join(a, b)`, `f'{a}/b'`, `Path(a).glob('*')`."""
    work.spend(1)
    if depth > _DEEPEST:
        return []

    def parts(separator: str, *nodes: ast.expr) -> list[str]:
        found = [""]
        for at, one in enumerate(nodes):
            more = _paths(one, values, work, depth + 1)
            found = [f"{a}{separator if at else ''}{b}" for a in found for b in more]
            work.spend(sum(map(len, found)))
        return found

    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.Name(id=name):
            each = values.get(name, [])
            return [path for one in each for path in _paths(one, values, work, depth + 1)]
        case ast.List(elts=each) | ast.Tuple(elts=each):
            return [path for one in each for path in _paths(one, values, work, depth + 1)]
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return parts("/", left, right)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return parts("", left, right)
        case ast.JoinedStr(values=each):
            return parts("", *each)
        case ast.FormattedValue(value=one):
            return parts("", one)
        case ast.Call(func=ast.Name(id="Path") | ast.Attribute(attr="Path" | "join"), args=each):
            return parts("/", *each)
        case ast.Call(func=ast.Attribute(value=one, attr="glob" | "joinpath"), args=[two]):
            is_module = isinstance(one, ast.Name) and one.id == "glob"
            return parts("", two) if is_module else parts("/", one, two)
        case ast.Call(func=ast.Attribute(value=one, attr="rglob"), args=[two]):
            return parts("/**/", one, two)
        case _:
            return []
