"""A quick run behind its plan: tasks get work trees, are reported, reviewed, merged and tested."""

from __future__ import annotations

import json
import shutil
from typing import ClassVar

from qrspi.core.derivation.derive import derive
from qrspi.core.filenames import RoundPaths
from qrspi.core.model import RunState
from qrspi.core.pipeline import ROUTES
from qrspi.world.files.run_tree import DiskTree
from tests.deliveries import quick, task
from tests.faults import world
from tests.faults.campaign.processes import Command, Words, unlock
from tests.faults.campaign.strikes import Strikes
from tests.handlers.workshop import Workshop
from tests.project import about

TASKS = {
    "tasks/task-01.md": task(1, files="a.py"),
    "tasks/task-02.md": task(2, files="b.py"),
    "tasks/task-03.md": task(3, files="c.py", needs="task-01, task-02"),
}
APPROVED = ROUTES["quick"][: ROUTES["quick"].index("implement")]
ANSWERS = {"batch": "continue", "test": "ship"}


class Deliveries:
    part: ClassVar = "deliveries"

    def __init__(self, strikes: Strikes) -> None:
        self._strikes = strikes
        self._chance = strikes.chance
        root = strikes.folder / self.part
        shutil.rmtree(root, ignore_errors=True)
        self.shop = Workshop(root, quick(TASKS, review_mode="single"))
        self._work: dict[str, str] = {}  # what agents committed, by task

    def tell(self) -> None:
        while not self._strikes.is_over:
            state = derive(DiskTree(self.shop.run))
            if state.complete:
                self._ends_well()
                return
            if state.next.kind == "implement":
                self._implement(state)
            elif state.next.who == "agent":
                self._review(state)
            else:
                self._try(self._command(state))

    def _command(self, state: RunState) -> Words:
        answer = state.next
        if answer.who == "engine":
            return ("next", state.run)
        return ("resolve", state.run, ANSWERS[answer.kind])

    def _implement(self, state: RunState) -> None:
        key = state.next.missing[0]
        self._work[key] = self.shop.work(key, f"{key}.py", f"{self._chance.random()}\n")
        words = ("task", "report", state.run, key, "--status", "DONE", "--commit", "HEAD")
        self._try(words)

    def _review(self, state: RunState) -> None:
        """Everybody is clean."""
        answer = state.next
        assert answer.action == "review", answer
        paths = RoundPaths(about(answer.step).reviews, answer.round)
        sent = json.loads(self.shop.data(paths.manifest))["dispatches"]
        self.shop.review(answer.step, answer.round, tuple(one["tag"] for one in sent))

    def _try(self, words: Words) -> None:
        deed = Command(words, self.shop.root)
        status = self._strikes.try_often(self.part, deed, lambda: self._holds(deed))
        assert status in ((0,) if words[0] == "next" else (0, 3)), (deed, deed.told())
        assert world.leftovers(self.shop.root) == [], deed

    def _holds(self, deed: Command) -> None:
        unlock(self.shop.root)
        try:
            world.answers(self.shop.run)
            world.approved_only_on_record(self.shop.run, APPROVED)
            world.nothing_twice(self.shop.run, self.shop.root)
            for key, commit in self._work.items():
                assert self.shop.git("rev-parse", f"qrspi/user-auth/{key}") == commit, key
        except AssertionError as error:
            raise AssertionError(f"after {deed}") from error

    def _ends_well(self) -> None:
        """Each task was merged once, the work of all is there, and everything is in git. Until then
        a record may wait in the index for the engine's next commit."""
        merges = self.shop.git("log", "--merges", "--format=%s", "main").splitlines()
        assert len(merges) == len(set(merges)), merges
        for key in self._work:
            assert (self.shop.root / f"{key}.py").exists(), key
        status = [line for line in self.shop.status() if not line.startswith("??")]
        assert status == [], (status, self.shop.git("diff", "HEAD"))
