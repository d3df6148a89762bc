"""One run, from its goals to its plan: rounds, pauses, approvals and rejections."""

from __future__ import annotations

import shutil
from typing import ClassVar

from qrspi.core.derivation.derive import derive
from qrspi.core.model import RunState
from qrspi.core.pipeline import STEP
from qrspi.core.yaml import frontmatter
from qrspi.world.files.run_tree import DiskTree
from tests import quick, runs, scenes
from tests.faults import world
from tests.faults.campaign.processes import Command, Words, unlock
from tests.faults.campaign.strikes import Deed, Strikes

STEPS = ("goals", "questions", "research", "plan")
MOST_ROUNDS = 4


class Rounds:
    part: ClassVar = "rounds"

    def __init__(self, strikes: Strikes) -> None:
        self._strikes = strikes
        self._chance = strikes.chance
        self.project = strikes.folder / self.part
        shutil.rmtree(self.project, ignore_errors=True)
        settled = {"review_depth": "quick", "review_mode": "single"}
        self.run = quick.make(self.project, "goals", git=True, **settled)
        self._texts = {"goals.md": self._body("goals.md")}  # what people and agents wrote

    def tell(self) -> None:
        while not self._strikes.is_over:
            state = derive(DiskTree(self.run))
            if state.current_step not in STEPS or state.next.round > MOST_ROUNDS:
                return
            if state.next.who == "agent" or state.next.action == "author":
                self._write(state)
            else:
                self._try(self._deed(self._command(state)))

    def _deed(self, words: Words) -> Deed:
        return Command(words, self.project)

    def _command(self, state: RunState) -> Words:
        answer, run = state.next, state.run
        match answer.who, answer.kind:
            case "engine", _:
                return ("next", run)
            case _, "approve":
                if self._chance.random() < 0.15:
                    return ("reject", run, answer.step, "-m", "Say it in fewer words.")
                return ("approve", run, answer.step, "--yes", "--unreviewed")
            case _, "pause":
                choice = self._chance.choice(("apply", "skip"))
                return ("decide", run, answer.missing[0], choice)
            case _, "cap" | "loop" | "loop-again":
                return ("resolve", run, "present")
            case _:
                raise AssertionError(f"no answer to {answer}")

    def _try(self, deed: Deed) -> None:
        status = self._strikes.try_often(self.part, deed, lambda: self._holds(deed))
        # 3: a person's command is refused when the one that was killed has done it all.
        assert status in ((0,) if deed.name.endswith("next") else (0, 3)), (deed, deed.told())
        left = world.leftovers(self.project), world.staged(self.project)
        assert left == ([], ""), (deed, left)

    def _holds(self, deed: Deed) -> None:
        try:
            world.answers(self.run)
            world.approved_only_on_record(self.run)
            world.nothing_twice(self.run, self.project)
            for name, body in self._texts.items():
                assert self._body(name) == body, name
        except AssertionError as error:
            raise AssertionError(f"after {deed}") from error
        unlock(self.project)

    def _body(self, name: str) -> bytes:
        return frontmatter.body((self.run / name).read_bytes())

    def _write(self, state: RunState) -> None:
        answer, step = state.next, state.next.step
        artifact = STEP[step].artifact
        match answer.action:
            case "author":
                self._author(step)
            case "review" if self._chance.random() < 0.6:
                quick.say_clean(self.run, step, answer.round)
            case "review":
                kind = "intent" if self._chance.random() < 0.3 else "correctness"
                quick.find(self.run, step, answer.round, kind=kind)
            case "apply-fixes":
                quick.fix(self.run, step, answer.round)
                self._texts[artifact] = self._body(artifact)
            case _:
                raise AssertionError(f"no agent for {answer}")

    def _author(self, step: str) -> None:
        artifact = STEP[step].artifact
        files = {artifact: runs.artifact(body=f"{quick.BODY}\n{self._chance.random()}\n")}
        files |= quick.TASKS if step == "plan" else {}
        for name, data in files.items():
            quick.put(self.run, name, data)
            self._texts[name] = self._body(name)
        scenes.git(self.project, "add", *(str(self.run / name) for name in files))
        scenes.git(self.project, "commit", "-q", "-m", f"draft {step}", "--", str(self.run))
