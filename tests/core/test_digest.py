from __future__ import annotations

import hashlib
import subprocess
import sys

CODE = """
import sys
from qrspi.core.digest import sha256
for part in (b"", b"a" * 1_000_000, b"b" * 100_000):
    print(sha256(part).hexdigest(), "hashlib" in sys.modules)
"""


def test_openssl_is_loaded_once_it_pays_and_says_the_same() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    parts = ((b"", False), (b"a" * 1_000_000, False), (b"b" * 100_000, True))
    said = [f"{hashlib.sha256(part).hexdigest()} {loaded}" for part, loaded in parts]
    assert done.stdout.splitlines() == said
