"""A fault in a TOML file of this user's own, in one line."""

from __future__ import annotations

from qrspi.core.model import Code, Problem


def fault(code: Code, file: str, field: str, found: str, expected: str) -> Problem:
    where = f"{file}: {field}" if field else file
    text, hint = f"{where}: found {found}, expected {expected}", f"edit {file}"
    return Problem(code, text, file, field, found=found, expected=expected, hint=hint)
