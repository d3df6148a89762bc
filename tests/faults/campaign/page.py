"""The same run, answered on the page: its server is killed while it does what was asked for."""

from __future__ import annotations

import json
import os
import select
from http.client import HTTPConnection
from pathlib import Path
from typing import ClassVar, NamedTuple
from urllib.parse import urlencode, urlsplit

from qrspi.core.pipeline import subject
from qrspi.core.records import step_text
from qrspi.world.files.run_tree import DiskTree
from tests.faults.campaign.processes import Words, ended, killed, said, start
from tests.faults.campaign.rounds import Rounds
from tests.faults.campaign.strikes import Deed

SERVER = ("ui", "--no-open", "--json", "--port", "0")
EXITS = {303: 0, 409: 3}  # how the command behind an answer exits


class Form(NamedTuple):
    """What a browser sends."""

    run: str
    verb: str
    fields: tuple[tuple[str, str], ...]
    project: Path

    @property
    def name(self) -> str:
        return f"page: {self.verb}"

    def begin(self) -> Sent:
        ours, theirs = os.pipe()
        pid = start(SERVER, self.project, output=theirs)
        os.close(theirs)
        with os.fdopen(ours) as output:
            line = output.readline()
        assert line, (ended(pid), self.told())
        address = urlsplit(json.loads(line)["url"])
        connection = HTTPConnection("127.0.0.1", address.port or 0, timeout=60)
        token = address.query.removeprefix("token=")
        headers = {
            "Cookie": f"qrspi-{address.port}={token}",
            "Sec-Fetch-Site": "same-origin",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        path = f"/runs/{self.run}/{self.verb}"
        connection.request("POST", path, urlencode(self.fields), headers)
        return Sent(pid, connection)

    def told(self) -> str:
        return said(self.project).read_text("utf-8", "replace")


class Sent(NamedTuple):
    pid: int
    connection: HTTPConnection

    def kill(self, whole_group: bool) -> bool:
        """A server lives on when it has answered: then there is nothing left to disturb."""
        is_answered = bool(select.select([self.connection.sock], [], [], 0)[0])
        struck = killed(self.pid, whole_group)
        self.connection.close()
        return struck and not is_answered

    def finish(self) -> int:
        answer = self.connection.getresponse()
        answer.read()
        self.connection.close()
        killed(self.pid, whole_group=True)
        return EXITS.get(answer.status, answer.status)


class Page(Rounds):
    part: ClassVar = "page"

    def _deed(self, words: Words) -> Deed:
        verb, run, *rest = words
        return Form(run, verb, tuple(self._fields(verb, rest).items()), self.project)

    def _fields(self, verb: str, rest: list[str]) -> dict[str, str]:
        match verb:
            case "approve":
                about = subject(rest[0])
                assert about is not None
                text = step_text.body_hash(DiskTree(self.run), about)
                return {"step": rest[0], "hash": text, "unreviewed": "yes"}
            case "reject":
                return {"step": rest[0], "text": rest[-1]}
            case "decide":
                return {"finding": rest[0], "choice": rest[1]}
            case "resolve":
                return {"key": rest[0]}
            case _:
                return {}
