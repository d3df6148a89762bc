"""Sequences of events through the state machine: a run in memory, in which agents, people and a
small engine act, and now and then somebody meddles. After each event the run is derived."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from qrspi.core import reviewers
from qrspi.core.config import reader as configs
from qrspi.core.derivation import state_values
from qrspi.core.derivation.derive import Survey, derive, survey
from qrspi.core.filenames import RoundPaths, pause_file
from qrspi.core.model import Next
from qrspi.core.named_tuple import bare
from qrspi.core.pipeline import STEP, Subject, subject_of
from qrspi.core.records import approvals, step_text
from qrspi.core.records.approvals import Record
from qrspi.core.rounds import dispositions, scope_set, verified_file
from qrspi.core.rounds import pause_file as pauses
from qrspi.core.rounds.loop import Loop
from qrspi.core.snapshot import Snapshot
from qrspi.core.tree import MemoryTree
from tests import runs
from tests.fuzz.case import Fuzz

WORK = ("work",) * 12
MEDDLE = ("delete", "cut", "garble", "copy", "status", "edit", "odd")
WHO = ("engine", "agent", "human", "nobody")
TRAIL = ".qrspi/audit.jsonl"
ODD_FILES = {
    "closed.md": b"Closed.\n",
    "replan-pending.md": b"---\nstatus: draft\n---\n",
    "reviews/goals/loop.md": b"---\nmode: loop\n---\n",
    "reviews/goals/round-99/x": b"",
    "feedback/goals-round-01.md": b"---\nround: 1\n---\nShorter.\n",
    "reviews/goals/round-01/stranger.clean.md": runs.clean("stranger"),
    "phases/phase-01/goals.md": b"x",
    "tasks/task-01.md": runs.artifact(body="# Task\n"),
}


class Case(NamedTuple):
    pipeline: str
    second: bool
    events: tuple[tuple[str, int], ...]  # what happens, and the chance it is done with


def make(random: Random) -> Case:
    quiet = random.random() < 0.3  # nobody meddles
    words = WORK if quiet else (*WORK, *MEDDLE)
    count = random.randrange(3, 40)
    events = tuple((random.choice(words), random.randrange(2**32)) for _ in range(count))
    return Case(random.choice(("quick", "full")), random.random() < 0.2, events)


def check(case: Case) -> str:
    world = World(case)
    meddled = False
    for word, number in case.events:
        random = Random(number)
        found = world.look()
        if word == "work":
            if not world.work(found, random):
                break
        else:
            world.meddle(word, random)
            meddled = True
    state = world.look().state
    assert state._replace(steps=()) == derive(world.tree, steps=False), state
    assert state == state_values.load(bare(state)), state
    assert meddled or not state.errors, state.errors
    return "meddled with" if meddled else f"at {state.current_step}"


class World:
    def __init__(self, case: Case) -> None:
        settled = {"review_depth": "quick", "review_mode": "single"}
        settled["second_reviewer"] = str(case.second).lower()
        self.files = {"config.md": runs.config(case.pipeline, **settled)}
        self.files["goals.md"] = runs.artifact()

    @property
    def tree(self) -> MemoryTree:
        return MemoryTree(self.files, runs.RUN, in_git=False)

    def look(self) -> Survey:
        """There is one answer, and it says what is next and why."""
        found = survey(Snapshot(self.tree), thorough=True)
        state = found.state
        answer = state.next
        assert answer.who in WHO and answer.summary and answer.because, answer
        assert answer.summary.isprintable(), answer
        assert (state.next.action == "done") == state.complete or state.closed, state
        return found

    def work(self, found: Survey, random: Random) -> bool:
        """Does what is next; whether it knows how."""
        answer, loop = found.state.next, found.loop
        if answer.step not in STEP or not STEP[answer.step].artifact.endswith(".md"):
            return False
        subject = subject_of(answer.step)
        match answer.action:
            case "author":
                self._author(answer.step, random)
            case "prepare-round":
                self._prepare(subject, found, random)
            case "review":
                self._review(answer, random)
            case "verify":
                self._verify(answer, random)
            case "assemble" if loop:
                self._assemble(loop, random)
            case "apply-fixes" if loop:
                self._fix(loop, random)
            case "commit-round" if loop:
                self._commit(loop)
            case "decide" if loop and loop.pause:
                self._decide(loop, random)
            case "approve":
                self._approve(subject, found, random)
            case _:
                return False
        return True

    def _author(self, step: str, random: Random) -> None:
        self.files[STEP[step].artifact] = _text(random)
        if step == "plan":
            self.files["tasks/task-01.md"] = runs.artifact(body="# Task\n")

    def _prepare(self, subject: Subject, found: Survey, random: Random) -> None:
        loop = found.loop
        number = loop.round if loop and loop.is_renewable else (loop.highest if loop else 0) + 1
        config = configs.read(self.files["config.md"])
        tags = reviewers.expected_tags(subject, config)
        digest = step_text.body_hash(MemoryTree(self.files), subject)
        path = RoundPaths(subject.reviews, number).manifest
        data = runs.manifest(subject.key, number, tags, body_hash=digest)
        self.files[path] = data
        if random.random() < 0.97:
            self.files[TRAIL] = self.files.get(TRAIL, b"") + runs.opening(path, data)

    def _review(self, answer: Next, random: Random) -> None:
        folder = RoundPaths(STEP[answer.step].reviews, answer.round).directory
        for tag in answer.missing:
            if random.random() < 0.6:
                self.files[f"{folder}/{tag}.clean.md"] = runs.clean(tag, answer.round)
                continue
            for at in range(1, random.randrange(2, 4)):
                kind = random.choice(("correctness", "style", "scope", "intent"))
                cites = f"{STEP[answer.step].artifact}:L{random.randrange(1, 12)}"
                self.files[f"{folder}/{tag}.finding-F{at:02d}.md"] = runs.finding(
                    tag, at, round=answer.round, step=answer.step, kind=kind, cites=cites
                )

    def _verify(self, answer: Next, random: Random) -> None:
        folder = RoundPaths(STEP[answer.step].reviews, answer.round).directory
        for stem in answer.missing:
            score = random.choice((10, 40, 69, 70, 85, 100))
            self.files[f"{folder}/{stem}.score.yml"] = runs.score(score)

    def _assemble(self, loop: Loop, random: Random) -> None:
        paths = loop.paths
        self.files[paths.verified] = loop.verified
        kept = verified_file.kept_paths(paths.directory, loop.triaged)
        self.files[paths.kept] = verified_file.kept_list(kept)
        text = self.files.get(loop.subject.artifact, b"")
        scopes = scope_set.derive(loop.triaged, loop.subject, runs.RUN, text, "docs/qrspi", "")
        self.files[paths.scope_set] = scope_set.render(loop.round, scopes)
        if loop.pause is None and pauses.waiting(loop.triaged):
            path = pause_file(loop.subject.key, loop.round)
            self.files[path] = pauses.render(loop.subject.key, loop.round, loop.triaged)

    def _fix(self, loop: Loop, random: Random) -> None:
        if random.random() < 0.9:
            self.files[loop.subject.artifact] = _text(random)
        names = [item.finding.name for item in loop.to_apply]
        lines = "".join(f"- {name}: applied\n" for name in names)
        self.files[loop.paths.dispositions] = lines.encode()

    def _commit(self, loop: Loop) -> None:
        if loop.paths.dispositions not in self.files:
            names = [item.finding.name for item in loop.triaged if item.verdict != "drop"]
            skipped = {name: loop.decided.skip_of(name) for name in names}
            data = dispositions.nothing_applied(loop.round, skipped)
            self.files[loop.paths.dispositions] = data
        self.files[loop.paths.anchor] = b"a" * 40 + b"\n"

    def _decide(self, loop: Loop, random: Random) -> None:
        """By hand in the pause file; nobody's command has put it on record."""
        path = pause_file(loop.subject.key, loop.round)
        choice = random.choice((b"apply", b"skip"))
        self.files[path] = self.files[path].replace(b": pending", b": " + choice)

    def _approve(self, subject: Subject, found: Survey, random: Random) -> None:
        path, step = subject.artifact, subject.key
        if path not in self.files:
            return
        digest = step_text.body_hash(MemoryTree(self.files), subject)
        number = found.loop.highest if found.loop else 0
        event = "approve" if random.random() < 0.8 else "reject"
        record = approvals.render(Record(event, step, digest, number, who="Ada <a@b>"))
        self.files[approvals.FILE] = self.files.get(approvals.FILE, b"") + record
        if event == "approve" and random.random() < 0.95:
            self._set_status(path, b"approved")

    def _set_status(self, path: str, status: bytes) -> None:
        for old in (b"draft", b"approved"):
            self.files[path] = self.files[path].replace(b"status: " + old, b"status: " + status, 1)

    def meddle(self, word: str, random: Random) -> None:
        path = random.choice(sorted(self.files))
        data = self.files[path]
        match word:
            case "delete" if path != "config.md":
                del self.files[path]
            case "cut":
                self.files[path] = data[: random.randrange(len(data) + 1)]
            case "garble" if data:
                at = random.randrange(len(data))
                new = random.choice((b"\xff", b"\n", b":", b"-", b""))
                self.files[path] = data[:at] + new + data[at + 1 :]
            case "copy":
                self.files[random.choice(sorted(self.files))] = data
            case "status" if path.endswith(".md"):
                self._set_status(path, random.choice((b"approved", b"draft", b"Approved")))
            case "edit":
                self.files[path] = data + b"More.\n"
            case "odd":
                name = random.choice(sorted(ODD_FILES))
                self.files[name] = ODD_FILES[name]


def _text(random: Random) -> bytes:
    return runs.artifact(
        body=f"# Text\n\n## Approach\n\nWords {random.random()}.\n\n## More\n\nx\n"
    )


FUZZ = Fuzz("sequences", 50_000, make, check)
