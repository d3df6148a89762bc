"""A project in git with one run, and agents that answer from a folder or from a shell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qrspi import engine_with_agents
from qrspi.core.agents.dispatch_record import State
from qrspi.core.config.blocks import Limits
from qrspi.core.model import Problem
from qrspi.engine_with_agents import Driven
from qrspi.handlers.agents import fan_out
from qrspi.handlers.agents.dispatch_options import How, Sending
from qrspi.handlers.agents.fan_out import FanOut
from qrspi.handlers.jobs.job import Options
from qrspi.world.agents import dispatch_folder
from tests import runs
from tests.project import EngineProject, trap

QUESTIONS = "---\nstatus: draft\n---\n# Questions\n\n1. [codebase] Where are users kept?\n"
NOTHING = "NO_FINDINGS\n"


class Told:
    """Remembers what a dispatcher said."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.names: list[str] = []
        self.failed: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def begun(self, names: tuple[str, ...]) -> None:
        self.names += names

    def cut_off(self, run: str, calls: int, going_on: int) -> None: ...

    def ended(self, name: str, problem: Problem | None) -> None:
        if problem:
            self.failed.append(name)


class Shop(EngineProject):
    def __init__(self, root: Path, files: Mapping[str, bytes], *, git: bool = True) -> None:
        super().__init__(root, files, git=git)
        self.replies = root.parent / "replies"
        self.replies.mkdir()
        self.told = Told()

    def reply(self, name: str, text: str) -> None:
        """What an agent answers from the folder."""
        file = self.replies / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def find_nothing(self) -> None:
        for name in ("quality-claude", "scope-claude"):
            self.reply(f"{name}.md", NOTHING)

    def left(self, place: str, state: State, reply: bytes | None = None, **files: str) -> None:
        """As a killed command would leave the record of a dispatch, and perhaps its answer."""
        with dispatch_folder.held(str(self.run), 1, "test") as held:
            record = held.record(place)
            assert record
            held.keep(place, record._replace(state=state, files=files))
            if reply is not None:
                held.capture(place, reply)

    def priced(self, name: str, text: str, usd: float = 0.5, tokens: int = 100) -> None:
        """The same, with what it costs."""
        result = {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "result": text,
            "total_cost_usd": usd,
            "usage": {"input_tokens": tokens, "output_tokens": tokens // 10},
        }
        self.reply(f"{name}.json", json.dumps(result))

    def agent(self, script: str) -> Path:
        """A program that answers as `commands.claude` would."""
        return trap(self.root.parent / "agent", script)

    def sent(self, *, folder: bool = True, **more: Any) -> FanOut:
        """One fan-out."""
        with self._dispatcher(folder, more) as dispatcher:
            found = dispatcher.fan_out()
        assert found is not None
        return found

    def driven(self, *, folder: bool = True, **more: Any) -> Driven:
        """As far as it goes."""
        options = Options(no_commit=more.pop("no_commit", False))
        workspace = self.workspace()
        sending = self._sending(folder, more)
        with fan_out.opened(workspace, options, sending, self.told) as dispatcher:
            return engine_with_agents.drive(workspace, options, dispatcher)

    def _dispatcher(self, folder: bool, more: dict[str, Any]) -> Any:
        workspace = self.workspace()
        options = Options(lock_timeout=more.pop("lock_timeout", 10.0))
        return fan_out.opened(workspace, options, self._sending(folder, more), self.told)

    def _sending(self, folder: bool, more: dict[str, Any]) -> Sending:
        scripts = str(self.replies) if folder else ""
        limits = Limits(more.pop("usd", None), more.pop("tokens", None), more.pop("calls", None))
        return Sending(limits=limits, how=How(more.pop("tier", None), scripts), **more)

    def dispatch(self, place: str) -> dict[str, Any]:
        """The newest record of a dispatch."""
        folder, _, name = place.rpartition("/")
        lines = self.lines(f".qrspi/dispatch/{folder}/jobs.jsonl")
        return [line for line in lines if line["name"] == name][-1]

    def ledger(self) -> list[dict[str, Any]]:
        return self.lines(".qrspi/spend.jsonl")

    def statuses(self, step: str, number: int = 1) -> dict[str, str]:
        return {one["tag"]: one["status"] for one in self.manifest(step, number)["dispatches"]}


def at_questions(root: Path, **more: Any) -> Shop:
    """Goals are approved; questions are to be written."""
    config = more.pop("config", None) or runs.config("full", **more)
    return Shop(root, {"config.md": config, "goals.md": runs.artifact("approved")})


def in_review(root: Path, *, step: str = "design", **more: Any) -> Shop:
    """A design is to be reviewed, by two."""
    config = more.pop("config", None) or runs.config("full", **more)
    approved = runs.approved("goals", "questions", "research")
    text = runs.artifact(body="# Design\n\n## Approach\n\nOne way.\n")
    return Shop(root, {"config.md": config, **approved, f"{step}.md": text})


def commands(agent: Path | str, **more: str) -> str:
    """A block for config.md that sends `claude` over a program."""
    rest = "".join(f", {name}: {value}" for name, value in more.items())
    return f"{{claude: {{argv: ['{agent}']{rest}}}}}"


def printed(*findings: bytes) -> str:
    return "".join(f"<<<FINDING-BOUNDARY>>>\n{one.decode()}" for one in findings)
