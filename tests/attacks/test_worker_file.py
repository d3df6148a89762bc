"""To have a worker start or contact what its user has not listed, through its own file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from qrspi.core.agents.transports import Means
from qrspi.core.config.vendors import Command
from qrspi.world.agents import transports
from qrspi.world.agents.dispatch_context import DispatchContext
from qrspi.world.agents.request import Request
from qrspi.world.consent import permits
from tests.attacks.arena import SECRET, Arena
from tests.attacks.trial import attack
from tests.users import NOBODY

pytestmark = pytest.mark.rule("EXE-06", "SEC-09")
GOOD = '[commands.claude]\nargv = ["claude"]\nmodels = ["opus"]\n'


def settings(arena: Arena, text: str = GOOD) -> Path:
    file = arena.top / "settings/qrspi/worker.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def refused(arena: Arena) -> str:
    """It does not start, and says why in one line."""
    (arena.project).mkdir()
    said = arena.qrspi("worker")
    assert said.code != 0 and "worker.toml" in said.err, said.text
    assert "Traceback" not in said.text
    return said.flat


def linked(file: Path) -> None:
    file.rename(file.with_name("other.toml"))
    file.symlink_to("other.toml")


def planted(file: Path) -> None:
    """Another user's link to a folder of a clone, whose files are all the user's own."""
    clone = file.parents[2] / "clone"
    file.parent.rename(clone)
    file.parent.symlink_to(clone)
    os.chown(file.parents[1], NOBODY, NOBODY)


@attack(
    "another user",
    "what a worker may do is written by somebody else",
    {
        "a file that others may write": lambda file: file.chmod(0o666),
        "a file that a group may write": lambda file: file.chmod(0o660),
        "a file of theirs": lambda file: os.chown(file, NOBODY, NOBODY),
        "a link": linked,
        "a link of theirs to a folder of a clone": planted,
        "settings that others may write": lambda file: file.parent.chmod(0o777),
        "settings of theirs": lambda file: os.chown(file.parent, NOBODY, NOBODY),
        "a pipe": lambda file: (file.unlink(), os.mkfifo(file)),
        "a folder": lambda file: (file.unlink(), file.mkdir()),
    },
)
def test_not_the_users_own(
    arena: Arena, way: Callable[[Path], object], request: pytest.FixtureRequest
) -> None:
    if os.geteuid() and "theirs" in request.node.callspec.id:
        pytest.skip("only root can give files away")
    way(settings(arena))
    refused(arena)


@attack(
    "a clone",
    "a file that was copied from a clone says more than it seems to",
    {
        "a vendor twice": f"{GOOD}{GOOD}",
        "a key twice": f'{GOOD}argv = ["evil"]\n',
        "a vendor in two ways": GOOD
        + '[providers.claude]\nbase_url = "https://a.example"\napi_key_env = "KEY"\n'
        + 'models = ["opus"]\n',
        "ten million bytes": GOOD + "#" * 10_000_000,
        "deep": f"a = {'[' * 100_000}",
        "no text": "\udcff\udcfe",
        "a shell": f'{GOOD}shell = "touch x"\n',
        "another setting": f'{GOOD}[environment]\nPATH = "/tmp"\n',
        "one text for all words": '[commands.claude]\nargv = "sh -c x"\nmodels = ["opus"]\n',
        "a NUL": '[commands.claude]\nargv = ["sh\\u0000"]\nmodels = ["opus"]\n',
        "a model that is an option": '[commands.claude]\nargv = ["c"]\nmodels = ["--x"]\n',
        "a key in place of its name": "[providers.a]\nbase_url = "
        f'"https://a.example"\napi_key_env = "{SECRET}"\nmodels = ["m"]\n',
        "an address in clear": '[providers.a]\nbase_url = "http://a.example"\n'
        'api_key_env = "KEY"\nmodels = ["m"]\n',
    },
)
def test_says_more(arena: Arena, way: str) -> None:
    settings(arena, "").write_bytes(way.encode(errors="surrogateescape"))
    assert len(refused(arena)) < 1000


@attack(
    "a clone",
    "a program is found where somebody stands, and not where its user has it",
    {"from here": "./evil", "a bare name": "evil", "upwards": "../evil", "in a folder": "a/evil"},
)
def test_a_relative_program(arena: Arena, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call is made in an empty folder; the worker itself stands in a clone."""
    clone, empty = arena.top / "clone/a", arena.top / "calls/empty"
    for folder in (clone, empty):
        folder.mkdir(parents=True)
    for place in ("clone/evil", "clone/a/evil", "evil"):
        arena.program(place)
    monkeypatch.chdir(clone)
    means = Means("command", "text", command=Command((way,)), vendor="claude")
    assert means.named is not None
    request = Request(
        name="quality-claude",
        step="",
        round=0,
        prompt=b"x",
        means=means,
        model="opus",
        directory=str(empty),
        permit=permits.by_own_file(means.named),
        seconds=10.0,
    )
    with DispatchContext() as wire:
        answer = transports.send(request, wire).whole()
    assert answer.problem is not None and answer.problem.code == "transport-no-program"
