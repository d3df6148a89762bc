"""Who is at the keyboard: the machine says so, and not what anybody can set."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from qrspi.world.machine import git_person


@pytest.mark.rule("SEC-24")
def test_no_variable_makes_somebody_else_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("USER", "LOGNAME", "USERNAME", "LNAME", "SUDO_USER"):
        monkeypatch.setenv(name, "ada-boss")
    known = pwd.getpwuid(os.getuid()).pw_name
    assert (git_person.user(), git_person.at(str(tmp_path))) == (known, known)
