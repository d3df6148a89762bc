"""Where a story is played: its repository, its run, and the commands that are typed there."""

from __future__ import annotations

import json
import shlex
from collections.abc import Generator, Mapping
from typing import Any

from qrspi.cli.session import Session
from qrspi.core.errors import Refusal
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text.shortened import listed
from qrspi.demo import narration
from qrspi.demo.narration import Beat
from qrspi.demo.story import Files, Script, Story
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.git import scratch_repository

Answer = Mapping[str, Any]
Beats = Generator[Beat, None, None]


class Stage(NamedTuple):
    story: Story
    script: Script
    repository: str
    run: str  # its folder

    @property
    def tree(self) -> DiskTree:
        return DiskTree(self.run)

    def drop(self, files: Files, folder: str = "") -> None:
        scratch_repository.drop(f"{self.run}/{folder}" if folder else self.run, files)

    def scene(self, following: Answer, part: str, number: int = 0, *, once: bool = False) -> Files:
        files = self.script.scene(following["step"], part, number, once=once)
        if not files:
            raise RuntimeError(f"the story has nothing for this moment: {following['summary']}")
        return files

    def report(self, key: str, commit: str) -> Beats:
        words = ("task", "report", key, "--status", "DONE", "--commit")
        yield from self.type(*words, commit, shown=f"{typed(words)} $(git rev-parse HEAD)")

    def type(self, *words: str, shown: str = "") -> Generator[Beat, None, Answer]:
        """A command and what the engine did in it. A command that did nothing is not told."""
        answer = call(self.repository, *words)
        performed = answer.get("performed", ())
        beats = [beat for done in performed for beat in narration.engine(self.tree, done)]
        if beats or words[0] != "next":
            yield Beat("command", shown or typed(words))
        yield from beats
        return answer


def begin(story: Story, repository: str) -> Generator[Beat, None, Stage]:
    words = ("init", story.slug, "--pipeline", story.pipeline, "--no-second-reviewer")
    yield Beat("command", typed(words))
    answer = call(repository, *words)
    sentence = f"makes {answer['path']}/ with {listed(answer['files'])}"
    yield Beat("engine", f"{sentence}, and commits them on {answer['branch']}")
    here = Stage(story, Script(story), repository, f"{repository}/{answer['path']}")
    if story.opening:
        wish = "wants task texts judged, the plan audited, and work looked at before it is done"
        yield Beat("person", wish)
        for key, value in story.opening.items():
            yield from here.type("config", "set", key, value)
    return here


class _Listener(Session):
    def __init__(self, root: str) -> None:
        super().__init__()
        self.root_option = root
        self.json = True
        self.said = ""

    def write(self, text: str) -> None:
        self.said += text

    def note(self, *texts: str) -> None:
        return


def call(root: str, *words: str) -> dict[str, Any]:
    """Called in this process: starting Python for each command would take half the time."""
    from qrspi.cli.app import application

    session = _Listener(root)
    try:
        application.main(list(words), standalone_mode=False, obj=session)
    except Refusal as refusal:
        raise RuntimeError(f"`{typed(words)}` was refused: {refusal.problem.message}") from refusal
    answer: dict[str, Any] = json.loads(session.said)
    return answer


def typed(words: tuple[str, ...]) -> str:
    return shlex.join(("qrspi", *words))
