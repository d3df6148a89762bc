"""SHA-256 as the interpreter has it: `hashlib` loads OpenSSL, a fifteenth of a cold `status`.
OpenSSL is up to five times as fast, so it is loaded once enough was hashed for it to pay."""

from __future__ import annotations

from qrspi.core.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from hashlib import _Hash as Hash
    from hashlib import sha256 as _own
else:
    try:
        from _sha256 import sha256 as _own
    except ImportError:  # Python 3.12 and later, or an interpreter built with OpenSSL's alone
        try:
            from _sha2 import sha256 as _own
        except ImportError:
            from hashlib import sha256 as _own

__all__ = ["expect_much", "of_parts", "sha256"]

_MUCH = 1024 * 1024
_hashed = 0


def sha256(data: bytes = b"") -> Hash:
    global _hashed
    _hashed += len(data)
    if _hashed <= _MUCH:
        return _own(data)
    import hashlib

    return hashlib.sha256(data)


def expect_much() -> None:
    """Loads OpenSSL before it pays."""
    import hashlib  # noqa: F401

    global _hashed
    _hashed += _MUCH


def of_parts(parts: Iterable[bytes]) -> str:
    """With the length of each, so that other parts of the same bytes have another hash."""
    return sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).hexdigest()
