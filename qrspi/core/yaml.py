"""The one door to YAML: text in, one mapping of scalars, lists and mappings out, or a Problem.

Two readers stand behind it. The flat one takes what it surely understands, which is
nearly every real file, in microseconds; the rest goes to ruamel.yaml.
"""

from __future__ import annotations

import json
import re

from qrspi.core import flat
from qrspi.core.model import Problem
from qrspi.core.nodes import Document as Document
from qrspi.core.nodes import Node as Node
from qrspi.core.nodes import Scalar as Scalar
from qrspi.core.tree import FRONTMATTER_LIMIT

# ruamel.yaml takes U+0085, U+2028 and U+2029 for line ends in some places and not in
# others, and a byte order mark for nothing; YAML 1.2 has no control characters at all.
_REFUSED = re.compile(
    "[^\t\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


def parse(text: str, file: str = "", *, first_line: int = 1) -> dict[str, Node] | Problem:
    """Exactly one mapping; a text of nothing but comments is an empty one.

    `first_line` is where the text starts in the file, for messages; past line 1 the
    document has already begun.
    """
    text = text.removeprefix("\ufeff")
    fields = flat.read(text)
    if fields is not None:
        return fields
    document = compose(text, file, first_line=first_line)
    return document if isinstance(document, Problem) else document.fields


def compose(text: str, file: str = "", *, first_line: int = 1) -> Document | Problem:
    """As parse, with the places of the fields."""
    problem = _refusal(text, file, first_line)
    if problem:
        return problem
    # Imported here: half the cold start of `status`, and few files need it.
    from qrspi.core import yaml_events

    try:
        return yaml_events.read(text, begun=first_line > 1)
    except yaml_events.Defect as defect:
        return _problem(defect.reason, file, defect.line + first_line - 1, defect.column)
    except RecursionError:
        return _problem("nested too deeply", file, first_line, 1)


def _refusal(text: str, file: str, first_line: int) -> Problem | None:
    if len(text) > FRONTMATTER_LIMIT or len(text.encode("utf-8", "replace")) > FRONTMATTER_LIMIT:
        return _problem(f"larger than {FRONTMATTER_LIMIT // 1024} KiB", file, first_line, 1)
    match = _REFUSED.search(text)
    if not match:
        return None
    before = text[: match.start()]
    line = before.count("\n")
    column = len(before) - before.rfind("\n")
    reason = f"the character U+{ord(match[0]):04X}, which is not allowed here"
    return _problem(reason, file, first_line + line, column)


def _problem(reason: str, file: str, line: int, column: int) -> Problem:
    place = f"{file}:{line}:{column}" if file else f"line {line}, column {column}"
    return Problem("invalid-yaml", f"{place}: {reason}", file=file)


_SAFE_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*")
_WORDS = frozenset("null true false yes no on off y n".split())


def quote(text: str) -> str:
    """A one-line scalar that every reader takes for this string."""
    if _SAFE_PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    escaped = json.dumps(text, ensure_ascii=False)
    return _REFUSED.sub(lambda match: f"\\u{ord(match[0]):04x}", escaped)
