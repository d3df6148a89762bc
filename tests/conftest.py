"""What every test shares: deterministic Hypothesis, a git that reads no one's own config."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "suite",
    deadline=None,
    max_examples=int(os.environ.get("QRSPI_EXAMPLES", "100")),
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")

# What a shell starts in the background ignores ^C, and so would every program a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _plain_world(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the machine changes an answer."""
    for name in (
        "QRSPI_ROOT",
        "QRSPI_NOW",
        "COPILOT_CLI",
        "CLAUDECODE",
        "NO_COLOR",
        "CI",
        "GIT_DIR",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ada Example")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ada@example.org")
