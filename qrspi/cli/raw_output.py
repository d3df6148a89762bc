"""Results that are bytes and go out as they are."""

from __future__ import annotations

import sys

from qrspi.cli.session import Enough


def pour(data: bytes) -> None:
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise Enough from None


def as_text(data: bytes) -> dict[str, str]:
    """For JSON, which has no bytes."""
    try:
        return {"encoding": "utf-8", "content": data.decode()}
    except UnicodeDecodeError:
        from base64 import b64encode

        return {"encoding": "base64", "content": b64encode(data).decode()}
