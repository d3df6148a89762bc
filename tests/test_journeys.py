"""docs/architecture.md lists the files of three journeys: a finding, an approval, a dispatch.

Each journey is made in a real repository while every call is watched. A file is to be opened by
somebody who follows the journey when one of its functions is handed one of the values that travel,
or gives one back, alone or in a list. Tools do not count: what reads YAML and config.md, names
files, runs git, writes to disk or renders serves all journeys alike.
"""

from __future__ import annotations

import contextlib
import re
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest

from qrspi import engine
from qrspi.cli import main
from qrspi.core.agents.dispatch_record import Record as Dispatched
from qrspi.core.agents.replies import Reply, Usage
from qrspi.core.agents.spend import LedgerEntry
from qrspi.core.derivation.derive import Survey
from qrspi.core.findings.submission import Submission
from qrspi.core.model import Ask, Decision, Finding, Next, Round, Sidecar, Triaged
from qrspi.core.records.approvals import Mark, Record
from qrspi.core.rounds.loop import Loop
from qrspi.core.rounds.scope_set import ScopeSet
from qrspi.core.steps import facts
from qrspi.handlers.agents.answer_files import Taken
from qrspi.handlers.agents.assignments import Assignment
from qrspi.handlers.agents.obtain_answer import Obtained
from qrspi.handlers.changes.change_set import ChangeSet, Done, Edit
from qrspi.handlers.decisions.approve import Consent, Standing
from qrspi.handlers.jobs.job import Job, Options, Performed
from qrspi.world.agents.request import Answer, Request
from qrspi.world.runs.workspace import Workspace
from tests import runs, scenes
from tests.world import chat_server

PAGE = (Path(__file__).parent.parent / "docs" / "architecture.md").read_text("utf-8")
ROOMS = tuple(
    f"qrspi.{room}"
    for room in """engine handlers core.artifacts core.records core.findings core.rounds core.steps
    core.gates core.code_steps core.derivation core.agents world.agents""".split()
)
OPTIMIZED = 0x1  # functions have it; the bodies of modules and classes have not


class Journey(NamedTuple):
    travels: tuple[type, ...]
    make: Callable[[Path], contextlib.AbstractContextManager[Callable[[], object]]]
    most: int | None = None


class Trace:
    """The files that a value passes, in the order in which they are first handed one."""

    def __init__(self, travels: tuple[type, ...]) -> None:
        self._travels = travels
        self._rendering = 0
        self.files: dict[str, None] = {}
        self.callbacks: dict[str, None] = {}

    def __call__(self, frame: FrameType, event: str, value: Any) -> None:
        module = frame.f_globals.get("__name__", "")
        if event not in ("call", "return") or not frame.f_code.co_flags & OPTIMIZED:
            return
        if module.startswith("qrspi.render"):
            self._rendering += 1 if event == "call" else -1
        if self._rendering or not module.startswith(ROOMS):
            return
        if event == "call":
            self._look_back(frame, module)
        if module not in self.files:
            self._look(module, _arguments(frame) if event == "call" else (value,))

    def _look(self, module: str, values: tuple[Any, ...]) -> None:
        if any(self._is_on_the_way(value) for value in values):
            self.files[module] = None

    def _is_on_the_way(self, value: Any, depth: int = 0) -> bool:
        if isinstance(value, self._travels):
            return True
        inside = value.values() if isinstance(value, dict) else value
        is_list = type(value) in (tuple, list, dict) and depth < 2
        return is_list and any(self._is_on_the_way(one, depth + 1) for one in inside)

    def _look_back(self, frame: FrameType, module: str) -> None:
        """Whether a file calls another that calls it back."""
        between, caller = "", frame.f_back
        while caller:
            name = caller.f_globals.get("__name__", "")
            if name == module and between:
                self.callbacks[f"{module} → {between} → {module}"] = None
                return
            between = name if name.startswith(ROOMS) and name != module else between
            caller = caller.f_back


def _arguments(frame: FrameType) -> tuple[Any, ...]:
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return tuple(frame.f_locals.get(name) for name in names)


@contextlib.contextmanager
def watching(trace: Trace) -> Iterator[None]:
    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def command(*words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    assert ended.value.code == 0


def advance(run: Path) -> None:
    """As a command does that sends agents itself: prompts belong to the journey of a dispatch."""
    engine.advance(Workspace(str(run)), Options(sends=True))


def review(run: Path, number: int) -> None:
    """Both reviewers name the same section, and each finding passes its verifier."""
    folder = run / f"reviews/goals/round-{number:02d}"
    for tag in scenes.TAGS:
        scenes.save(folder / f"{tag}.finding-F01.md", runs.finding(tag, round=number))
        scenes.save(folder / f"{tag}.finding-F01.score.yml", runs.score(85))


def fix(run: Path, number: int) -> None:
    text = f"{scenes.BODY}\nWithin {number} seconds.\n"
    scenes.save(run / "goals.md", runs.artifact(body=text))
    scenes.save(run / f"reviews/goals/round-{number:02d}-dispositions.md", b"# Done\n")


@contextlib.contextmanager
def finding(root: Path) -> Iterator[Callable[[], object]]:
    """Of the second round, so that convergence has two rounds to compare."""
    run = scenes.project(root)
    advance(run)
    review(run, 1)
    advance(run)
    fix(run, 1)
    advance(run)
    review(run, 2)

    def journey() -> None:
        advance(run)
        fix(run, 2)
        advance(run)

    yield journey
    manifest = (run / "reviews/goals/round-03/.dispatch-manifest.json").read_text()
    assert '"rule": "CNV-07"' in manifest


@contextlib.contextmanager
def approval(root: Path) -> Iterator[Callable[[], object]]:
    run = scenes.clean(root)
    advance(run)
    with contextlib.chdir(root):
        yield lambda: command("approve")
    assert scenes.git(root, "log", "-1", "--format=%s").startswith("docs(qrspi): approve goals")


@contextlib.contextmanager
def dispatch(root: Path) -> Iterator[Callable[[], object]]:
    """A verifier is asked about one finding."""
    with chat_server.running() as server, pytest.MonkeyPatch.context() as world:
        world.setenv("SHOP_API_KEY", "not-a-key-but-long-enough")
        server.behaviours = [chat_server.answer(chat_server.completion(runs.score(85).decode()))]
        run = scenes.project(root)
        provider = (
            f"{{claude: {{base_url: '{server.base_url}', api_key_env: SHOP_API_KEY, "
            "transport_type: openai-chat-completions}}"
        )
        scenes.save(run / "config.md", runs.config(providers=provider))
        scenes.commit_all(root)
        scenes.advance(run)
        scenes.review(run)
        (run / scenes.ROUND / scenes.SCORE).unlink()
        with contextlib.chdir(root):
            yield lambda: command("dispatch", "run")
        assert (run / scenes.ROUND / scenes.SCORE).read_bytes() == (
            runs.score(85) + b"verified_by: small\n"
        )


DERIVED = (Survey, facts.Answer, Next, Job, Performed)
ASKED = (Ask, Assignment, Dispatched)
JOURNEYS = {
    "A finding, to the decision about the next round": Journey(
        (*DERIVED, Submission, Finding, Sidecar, Round, Triaged, Loop, ScopeSet, Decision),
        finding,
        most=25,
    ),
    "An approval": Journey(
        (*DERIVED, Loop, Standing, Consent, Mark, Record, Edit, ChangeSet, Done), approval, most=20
    ),
    "A dispatch over HTTP": Journey(
        (*DERIVED, *ASKED, Request, Answer, Reply, Usage, Obtained, Taken, LedgerEntry), dispatch
    ),
}


def traced(name: str, root: Path) -> Trace:
    """The second time: the first imports what it needs, which calls functions of its own."""
    journey = JOURNEYS[name]
    with journey.make(root / "first") as make:
        make()
    trace = Trace(journey.travels)
    with journey.make(root / "second") as make, watching(trace):
        make()
    return trace


def listed(name: str) -> list[str]:
    section = PAGE.split(f"### {name}\n")[1].split("\n## ")[0].split("\n### ")[0]
    return re.findall(r"^[0-9]+\. `([a-z_/]+)\.py`", section, flags=re.MULTILINE)


@pytest.mark.parametrize("name", JOURNEYS)
def test_the_page_lists_the_files_of_the_journey_in_their_order(name: str, tmp_path: Path) -> None:
    trace = traced(name, tmp_path)
    files = [module.removeprefix("qrspi.").replace(".", "/") for module in trace.files]
    assert files == listed(name)
    assert len(files) <= (JOURNEYS[name].most or len(files))


@pytest.mark.parametrize("name", [name for name, one in JOURNEYS.items() if one.most])
def test_no_file_of_the_journey_is_called_back(name: str, tmp_path: Path) -> None:
    assert list(traced(name, tmp_path).callbacks) == []
