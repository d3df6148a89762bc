"""How much waits for a person, and how answers are sent: what a change on the page waits for."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from qrspi.cli.in_process import Commands
from qrspi.cli.session import Session
from qrspi.web.server import serve
from qrspi.web.server.live import InboxCount, Live
from tests import scenes

ONE, TWO, THREE = (f"2026-05-17-{slug}" for slug in ("one", "two", "three"))


class Count:
    """A project, its inbox, and the number that the page has for it."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
        self.root = root
        scenes.project(root, *names)
        monkeypatch.chdir(root)
        self.commands = Commands(Session(), "web")
        self.live = Live(str(root / "docs" / "qrspi"))
        self.number = InboxCount(self.commands, self.live)

    def now(self) -> int:
        return self.number.now()

    def listed(self) -> int:
        return len(self.commands.ask("inbox")["items"])

    def ask(self, name: str) -> None:
        """From here on the run waits for a person."""
        run = self.root / "docs" / "qrspi" / name
        scenes.advance(run)
        scenes.review_clean(run)
        scenes.advance(run)


@pytest.mark.rule("WEB-13", "WEB-21")
def test_only_a_run_that_changed_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = Count(tmp_path, monkeypatch, ONE, TWO, THREE)
    assert count.now() == 0
    count.ask(ONE)
    count.ask(TWO)
    assert count.now() == 0  # nobody has said that anything changed
    count.live.changed(frozenset((TWO, ".qrspi", "no-such-run")))
    assert count.now() == 1
    count.live.changed()
    assert count.now() == count.listed() == 2


@pytest.mark.rule("WEB-21")
def test_the_count_is_that_of_the_inbox_however_runs_come_and_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An only run is looked at more closely: only then is it seen that its text was edited."""
    count = Count(tmp_path, monkeypatch, ONE, TWO)
    run = tmp_path / "docs" / "qrspi" / ONE
    count.ask(ONE)
    shown = [(count.now(), count.listed())]
    changes = (
        (ONE, ("approve", ONE, "goals")),
        (TWO, ("close", TWO, "--reason=later")),
        (TWO, ("reopen", TWO)),
        (ONE, ("close", ONE, "--reason=later")),
        (ONE, ("reopen", ONE)),
    )
    for name, words in changes:
        assert count.commands.run(*words).status == 0
        if words[0] == "approve":
            text = (run / "goals.md").read_bytes().replace(b"loads", b"is quick")
            scenes.save(run / "goals.md", text)
        count.live.changed(frozenset((name,)))
        shown.append((count.now(), count.listed()))
    assert [ours for ours, _ in shown] == [theirs for _, theirs in shown]
    assert len({ours for ours, _ in shown}) > 1


@pytest.mark.rule("WEB-13", "WEB-21")
def test_an_answer_does_not_wait_until_its_headers_are_confirmed() -> None:
    made = serve.listening("127.0.0.1", 0)
    with ThreadPoolExecutor(1) as aside:  # a browser's loop may run in this thread
        assert aside.submit(asyncio.run, _nodelay(made)).result() == 1


async def _nodelay(made: socket.socket) -> int:
    """Of a connection as the server gets it."""
    found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def meet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken = writer.get_extra_info("socket")
        found.set_result(taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async with await asyncio.start_server(meet, sock=made):
        _, writer = await asyncio.open_connection(*made.getsockname()[:2])
        answer = await found
        writer.close()
        return answer
