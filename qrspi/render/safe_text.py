"""Text from agents and artifacts, made safe to print: what would move a cursor, hide or
reorder letters is shown instead of obeyed."""

from __future__ import annotations

_BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_HIDDEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u2028\u2029"
_TABLE = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"
}
_TABLE |= {ord(char): f"\\u{ord(char):04x}" for char in _BIDI + _HIDDEN}


def visible(text: str) -> str:
    """Keeps new lines and tabs; everything else that is not a visible character is spelt out."""
    shown = text.translate(_TABLE)
    return shown.encode("utf-8", "backslashreplace").decode()


def one_line(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text  # nearly always, and `status --all` asks ten times for each run
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")
