"""Laws of reading shell commands: any text is read, and quoting hides nothing."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.hosts import shell_writes

CWD = "/home/ada/shop"
PATH = "docs/qrspi/2026-05-17-user-auth/goals.md"
SIGNS = list("'\"\\$`(){}<>|&;\n #~*é\0")
WORDS = "cd tee sed\t-i git\tcheckout python\t-c for\tx\tin X= $X eval bash\t-c find -exec {} <<E"
PIECES = st.sampled_from(
    [*SIGNS, *(f"{word} ".replace("\t", " ") for word in WORDS.split(" ")), "\nE\n", PATH]
)


def written(command: str) -> list[str]:
    return [write.path for write in shell_writes.writes(command, CWD, {"HOME": "/home/ada"}, CWD)]


@pytest.mark.rule("HST-16")
@given(st.lists(PIECES, max_size=25).map("".join))
def test_any_text_is_read(command: str) -> None:
    assert all(path.startswith("/") for path in written(command))


NAMES = st.text(
    alphabet=st.characters(exclude_characters="/\0*?[{},~\ue000\ue001\ue002", codec="utf-8"),
    min_size=1,
    max_size=12,
).filter(lambda name: name not in (".", "..") and not name.startswith("-"))


@pytest.mark.rule("HST-16")
@given(NAMES)
def test_a_quoted_name_is_the_name(name: str) -> None:
    path = f"docs/qrspi/run/{name}"
    quoted = shlex.quote(path)
    for command in (
        f"echo x > {quoted}",
        f"rm {quoted}",
        f"cd docs; tee ../{quoted}",
    ):
        assert written(command) == [f"{CWD}/{path}"], command
