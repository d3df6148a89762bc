"""The files that a program inside a shell command would write: `python -c …`, `node -e …`.

Python is parsed, so that a program that only reads a run is distinguished from one that writes it.
For other languages there are only two questions: does it write at all, and which names does it
contain?
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_WRITES = re.compile(
    r"write|append(?:File)?\b|unlink|rename|truncate|copyFile|\brm(?:Sync)?\(|['\"][wa]\+?['\"]"
    r"|['\"]>|>>|FileUtils|\.puts\b"
)
_LITERAL = re.compile(r"""(['"`])((?:(?!\1)[^\\\n]|\\.)+)\1""")


def written(code: str, program: str, arguments: Sequence[str]) -> tuple[str, ...]:
    """Paths as the program names them. Its arguments may stand for any of them."""
    if not program.startswith("python"):
        named = [match[2] for match in _LITERAL.finditer(code)]
        return (*named, *arguments) if _WRITES.search(code) else ()
    # Imported here: it takes 5 ms, and few commands contain a program.
    import ast

    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    from qrspi.core.hosts import python_code

    return tuple(_known(python_code.written(tree), arguments))


def _known(paths: tuple[str, ...], arguments: Sequence[str]) -> Iterator[str]:
    yield from paths
    if paths and "sys.argv" in paths:
        yield from arguments
