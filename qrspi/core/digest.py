"""SHA-256 as the interpreter has it: `hashlib` loads OpenSSL, a fifteenth of a cold `status`."""

from __future__ import annotations

from qrspi.core.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        from _sha256 import sha256
    except ImportError:  # Python 3.12 and later, or an interpreter built with OpenSSL's alone
        try:
            from _sha2 import sha256
        except ImportError:
            from hashlib import sha256

__all__ = ["sha256"]
