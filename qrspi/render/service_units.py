"""How the system's own supervisor starts the daemon and keeps it running."""

from __future__ import annotations

import plistlib
from collections.abc import Callable, Sequence

_SYSTEMD = """\
# ~/.config/systemd/user/qrspi-watch.service
#   systemctl --user daemon-reload && systemctl --user enable --now qrspi-watch
[Unit]
Description=qrspi watch {shown}

[Service]
ExecStart={command}
Restart=on-failure
# 5: another daemon watches these runs already.
RestartPreventExitStatus=5
KillMode=mixed
TimeoutStopSec=10

[Install]
WantedBy=default.target
"""


def systemd(argv: Sequence[str], root: str) -> str:
    command = " ".join(map(_systemd_word, argv))
    return _SYSTEMD.format(command=command, shown=_specifiers(root))


def _systemd_word(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    escaped = _specifiers(escaped)
    return f'"{escaped}"' if not word or set(word) & set(" \t'\";") else escaped


def _specifiers(text: str) -> str:
    return text.replace("%", "%%").replace("\n", "\\n")


def launchd(argv: Sequence[str], root: str) -> str:
    """To be kept as ~/Library/LaunchAgents/qrspi.watch.plist."""
    job = {
        "Label": "qrspi.watch",
        "ProgramArguments": list(argv),
        "WorkingDirectory": root,
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
    }
    return plistlib.dumps(job, sort_keys=False).decode()


UNITS: dict[str, Callable[[Sequence[str], str], str]] = {"systemd": systemd, "launchd": launchd}
