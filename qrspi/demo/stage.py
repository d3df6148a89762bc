"""Where a story is played: its repository, its run, and how things are said and done there."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, NamedTuple

from qrspi.demo import narration as telling
from qrspi.demo import real_commands as commands
from qrspi.demo.narration import Beat
from qrspi.demo.story import Files, Script, Story
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.git import scratch_repository as scratch

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
        """Leave files in the run, as an agent that works in it would."""
        scratch.drop(f"{self.run}/{folder}" if folder else self.run, files)

    def scene(self, now: Answer, part: str, number: int = 0, *, once: bool = False) -> Files:
        """What the script has for this moment, which must be something."""
        files = self.script.scene(now["step"], part, number, once=once)
        if not files:
            raise RuntimeError(f"the story has nothing for this moment: {now['summary']}")
        return files

    def report(self, key: str, commit: str) -> Beats:
        words = ("task", "report", key, "--status", "DONE", "--commit")
        yield from self.type(*words, commit, shown=f"{commands.shown(words)} $(git rev-parse HEAD)")

    def commit(self, message: str) -> Beats:
        """What a person commits by hand; the engine never commits what it did not write."""
        yield Beat("command", f"git add docs && git commit -m '{message}'")
        scratch.commit(self.repository, message)

    def type(self, *words: str, shown: str = "") -> Generator[Beat, None, Answer]:
        """A command and what the engine did in it. One that did nothing is not worth telling."""
        answer = commands.call(self.repository, *words)
        told = [
            beat for done in answer.get("performed", ()) for beat in telling.engine(self.tree, done)
        ]
        if told or words[0] != "next":
            yield Beat("command", shown or commands.shown(words))
        yield from told
        return answer


def begin(story: Story, repository: str) -> Generator[Beat, None, Stage]:
    words = ("init", story.slug, "--pipeline", story.name, "--no-second-reviewer")
    yield Beat("command", commands.shown(words))
    answer = commands.call(repository, *words)
    yield Beat("engine", f"makes {answer['path']}/ with {telling.listed(answer['files'])}")
    here = Stage(story, Script(story), repository, f"{repository}/{answer['path']}")
    yield from here.commit(f"Start {story.slug}")
    return here
