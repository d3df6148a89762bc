"""One headless session of a real host program against the scripted model, cut off from the world.

    unshare -n python -m tests.hosts.drive < SPEC

In a network namespace of its own there is nothing but loopback, so the model must live in it
too: this process is both. SPEC and the answer are JSON documents.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.hosts.scripted_model import Call, Say, Turn, scripted

TIMEOUT = 120


def main() -> None:
    spec = json.load(sys.stdin)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with scripted([_turn(one) for one in spec["turns"]]) as model:
        port = str(model.port)
        for file, text in spec["files"].items():
            Path(file).write_text(text.replace("PORT", port))
        done = subprocess.run(
            spec["argv"],
            cwd=spec["directory"],
            env={name: value.replace("PORT", port) for name, value in spec["environment"].items()},
            input=spec["stdin"],
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
        answer = {
            "status": done.returncode,
            "stdout": done.stdout,
            "stderr": done.stderr,
            "requests": model.requests,
        }
    json.dump(answer, sys.stdout)


def _turn(words: list[Any]) -> Turn:
    return Say(words[0]) if len(words) == 1 else Call(words[0], words[1])


if __name__ == "__main__":
    main()
