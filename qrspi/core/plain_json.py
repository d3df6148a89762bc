"""`json`, imported with the first text that is written, or that is not plainly JSON: with the
patterns that it compiles it takes a tenth as long as starting Python."""

from __future__ import annotations

from functools import cache

from qrspi.core.hints import Any

__all__ = ["dumps", "loads", "loads_text"]


class _AsUsual:
    """What the interpreter's scanner asks of a decoder."""

    strict = True
    object_hook = object_pairs_hook = array_hook = None
    parse_float, parse_int, parse_constant = float, int, float


@cache
def _scanner() -> Any:
    try:
        from _json import make_scanner

        return make_scanner(_AsUsual)  # type: ignore[arg-type]
    except (ImportError, AttributeError):  # an interpreter that has none, or asks for more
        return None


def loads(text: str | bytes) -> Any:
    if scan := _scanner():
        try:
            plain = text.decode() if isinstance(text, bytes) else text
            value, end = scan(plain, 0)
            if not plain[end:].strip(" \t\r\n"):
                return value
        except (StopIteration, ValueError, SystemError):
            pass  # the last where the scanner looks for the error that `json` would have defined
    import json  # it says what is wrong, or reads what is JSON all the same

    return json.loads(text)


def loads_text(text: str | bytes) -> Any:
    """The same of what is written again or printed: JSON can spell half a character, which no file
    can contain."""
    value = loads(text)
    if (b"\\ud" if isinstance(text, bytes) else "\\ud") in text.lower():  # type: ignore[operator]
        dumps(value, ensure_ascii=False).encode()
    return value


def dumps(value: Any, **how: Any) -> str:
    import json

    return json.dumps(value, **how)
