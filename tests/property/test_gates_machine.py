"""Runs driven through random sequences of commands, agents' files and hand edits, held after
each against a small model of what may have happened.

The model knows which steps are approved and by what, which cascades were cut off, and every byte
that people and agents wrote. It knows nothing of rounds, stages or gates.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from qrspi import engine
from qrspi.core.derivation.derive import derive
from qrspi.core.errors import Halt, Refusal
from qrspi.core.filenames import RoundPaths
from qrspi.core.model import Next, Problem, RunState
from qrspi.core.pipeline import STEP, prerequisites
from qrspi.core.records import approvals, step_text
from qrspi.core.steps.facts import unmet
from qrspi.core.tree import MemoryTree
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import ChangeSet
from qrspi.handlers.decisions import approve, cascade, decide_findings, reject, rewind
from qrspi.handlers.decisions.approve import Consent
from qrspi.handlers.jobs.job import Job, Options, Performed
from qrspi.handlers.menus import menu
from qrspi.handlers.menus.menu import More
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.runs.workspace import Workspace
from tests import quick, runs
from tests.project import Project, decided
from tests.quick import LOG, RECORDS
from tests.runs import contents, lines

EXAMPLES = settings().max_examples

# The steps that are written and reviewed; what comes behind them needs code.
QUICK = ("goals", "questions", "research", "plan")
FULL = ("goals", "questions", "research", "design", "phasing")
COMPANIONS = {"plan": "tasks/task-01.md", "research": "research/q01.md"}
CHANGE_TYPES = ("correctness", "style", "scope", "intent")
OUTPUTS = ("clean",) * 8 + ("finding",) * 6 + ("both", "malformed", "stranger", "nothing")
SCORES = (10, 10, 69, 69, 70, 80, 95, "VERIFY_FAILED")
DERIVED = (
    "reviews/*/round-*-verified.md",
    "reviews/*/round-*-scope-set.txt",
    "reviews/*/round-*/kept-findings.txt",
    "reviews/*/round-*.diff",
    "cascade-clean-*.md",
    ".qrspi/*",
)
OWN_LINES = (b"status:", b"phase_start_commit:", b"feature_branch:")
EVENTS = ("work",) * 10 + ("kill",) * 4 + ("meddle",) * 2 + ("else",) * 2


def without_own_lines(data: bytes) -> bytes:
    """A file without the lines that the engine may set in its frontmatter."""
    head, mark, body = data.partition(b"\n---\n")
    kept = [line for line in head.split(b"\n") if not line.startswith(OWN_LINES)]
    return b"\n".join(kept) + mark + body


class Gates(RuleBasedStateMachine):
    in_git = False

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.run = self.root
        self.steps: tuple[str, ...] = ()
        self.quick = True
        self.written: dict[str, bytes] = {}  # by people and agents
        self.approved: set[str] = set()
        self.adopted: set[str] = set()  # approved, and not by a command
        self.unrecorded: set[str] = set()  # approved by a cascade that was killed
        self.entered: set[str] = set()  # with the entry of a cascade that was killed
        self.trail_is_gone = False  # an open round is unproven then, until it is committed
        self.versions = 0
        self._state: RunState | None = None

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    @initialize(
        pipeline=st.sampled_from(["quick", "quick", "full"]),
        done=st.integers(0, 4),
        second=st.booleans(),
    )
    def begin(self, pipeline: str, done: int, second: bool) -> None:
        """Somewhere on the way, with texts from elsewhere that are approved already."""
        self.quick = pipeline == "quick"
        self.steps = QUICK if self.quick else FULL
        config = runs.config(pipeline, second_reviewer=str(second).lower())
        self.run = runs.on_disk(self.root, {"config.md": config})
        self.written["config.md"] = config
        for step in self.steps[: min(done, len(self.steps) - 1)]:
            self._write(STEP[step].artifact, self._text(step, "approved"))
            self.approved.add(step)
            self.adopted.add(step)
        self._write_step(self.steps[min(done, len(self.steps) - 1)])
        if self.in_git:
            Project(self.root).git("init", "-q", "-b", "main", "--template=")
            self._commit(*self.written)

    @property
    def state(self) -> RunState:
        if self._state is None:
            self._state = derive(DiskTree(self.run))
        return self._state

    @property
    def next_action(self) -> Next:
        return self.state.next

    @property
    def at_work(self) -> bool:
        """Whether the run stands at a step that this machine knows how to do."""
        return bool(self.steps) and self.state.current_step in self.steps

    @rule(what=st.sampled_from(EVENTS), data=st.data())
    def something_happens(self, what: str, data: st.DataObject) -> None:
        """One rule, since most of what happens must be work, or no run would ever get anywhere."""
        match what:
            case "meddle":
                self._somebody_meddles(data)
            case "else":
                self._a_person_wants_something_else(data)
            case "kill" if self.at_work:
                self._agents_do_what_is_asked(data)
                self._next_is_killed(data)
            case _ if self.at_work and self.next_action.who == "human":
                self._a_person_answers(data)
            case _:
                if self.at_work:
                    self._agents_do_what_is_asked(data)
                self._next(data.draw(st.sampled_from(["cli", "watch"])))

    # What agents and people write.

    def _write(self, path: str, data: bytes) -> None:
        quick.put(self.run, path, data)
        self.written[path] = data
        self._state = None

    def _text(self, step: str, status: str = "draft") -> bytes:
        self.versions += 1
        head = f"---\nowner:  'ada'   # of {step}\nstatus: {status}\nkept: [1,  2]\n---\n"
        body = f"\n# {step}\n\n## Approach\n\nWords, version {self.versions}.  \n"
        return (head + body).encode()

    def _write_step(self, step: str) -> None:
        """A plan comes with a task, research with an answer."""
        if step in COMPANIONS:
            self._write(COMPANIONS[step], self._text(step))
        self._write(STEP[step].artifact, self._text(step))
        self._text_changed(step)

    def _commit(self, *paths: str) -> None:
        """Texts have to be known to git before they are reviewed."""
        if self.in_git:
            places = [str(self.run / path) for path in paths]
            Project(self.root).git("add", "--", *places)
            Project(self.root).git("commit", "-q", "--allow-empty", "-m", "work", "--", *places)

    def _agents_do_what_is_asked(self, data: st.DataObject) -> None:
        answer = self.next_action
        match answer.action:
            case "author":
                self._write_step(answer.step)
                self._commit(*step_text.paths(DiskTree(self.run), answer.step))
            case "review":
                for tag in answer.missing:
                    self._review(data, answer, tag)
            case "verify":
                self._verify(data, answer)
            case "apply-fixes":
                self._apply_fixes(data, answer)

    def _review(self, data: st.DataObject, answer: Next, tag: str) -> None:
        output = data.draw(st.sampled_from(OUTPUTS))
        folder = RoundPaths(STEP[answer.step].reviews, answer.round).directory
        if output in ("clean", "both"):
            self._write(f"{folder}/{tag}.clean.md", runs.clean(tag, answer.round))
        if output == "malformed":
            self._write(f"{folder}/{tag}.finding-F01.md", b"---\nfinding_id: [\n---\nText.\n")
        if output == "stranger":
            self._write(f"{folder}/nobody.clean.md", runs.clean("nobody", answer.round))
        if output in ("finding", "both"):
            self._write(f"{folder}/{tag}.finding-F01.md", self._finding(data, answer, tag))

    def _finding(self, data: st.DataObject, answer: Next, tag: str) -> bytes:
        upstream = prerequisites(answer.step, self.state.route)
        cited = data.draw(st.sampled_from([answer.step, *upstream]))
        kind = data.draw(st.sampled_from(CHANGE_TYPES))
        cites = f"{STEP[cited].artifact}:L9"
        return runs.finding(tag, round=answer.round, step=answer.step, kind=kind, cites=cites)

    def _verify(self, data: st.DataObject, answer: Next) -> None:
        folder = RoundPaths(STEP[answer.step].reviews, answer.round).directory
        for stem in answer.missing:
            score = data.draw(st.sampled_from(SCORES))
            self._write(f"{folder}/{stem}.score.yml", runs.score(score))

    def _apply_fixes(self, data: st.DataObject, answer: Next) -> None:
        if data.draw(st.booleans()):
            self._edit(answer.step)
        paths = RoundPaths(STEP[answer.step].reviews, answer.round)
        self._write(paths.dispositions, b"Done.\n")

    def _edit(self, step: str) -> None:
        """A text changes, approved or not, and its frontmatter stays."""
        self.versions += 1
        now = (self.run / STEP[step].artifact).read_bytes()
        self._write(STEP[step].artifact, now + b"More %d.\n" % self.versions)
        self._text_changed(step)

    def _somebody_meddles(self, data: st.DataObject) -> None:
        there = [step for step in self.steps if (self.run / STEP[step].artifact).exists()]
        how = data.draw(st.sampled_from(["edit", "delete", "status"]))
        if how == "delete":
            pattern = data.draw(st.sampled_from(DERIVED))
            for path in self.run.glob(pattern):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            self.trail_is_gone |= pattern == ".qrspi/*"
            self._state = None
        elif how == "edit":
            self._edit(data.draw(st.sampled_from(there)))
        else:
            step = data.draw(st.sampled_from(there))
            self._set_status(step, data.draw(st.sampled_from(["approved", "draft"])))

    def _set_status(self, step: str, status: str) -> None:
        """By hand, which counts and is on no record."""
        now = (self.run / STEP[step].artifact).read_bytes()
        before = b"approved" if step in self.approved else b"draft"
        changed = now.replace(b"status: " + before, b"status: " + status.encode(), 1)
        self._write(STEP[step].artifact, changed)
        if status == "approved" and step not in self.approved:
            self.approved.add(step)
            self.adopted.add(step)
        elif status == "draft":
            self._back_to_draft(step)

    # Commands.

    def _attempt(self, command: Callable[[], Any]) -> Any:
        """A command that is refused has changed nothing."""
        before = contents(self.run)
        self._state = None
        try:
            return command()
        except Refusal as refusal:
            assert not isinstance(refusal, Halt), refusal
            assert contents(self.run) == before, refusal
            return None

    def _make(self, build: Callable[[Job], ChangeSet]) -> ChangeSet | None:
        made = self._attempt(lambda: decided(Workspace(self.run), Options(), build))
        return made[0] if made else None

    def _next(self, actor: str) -> None:
        options = Options(actor=actor)
        entries = len(lines(self.run, LOG))
        outcome = self._attempt(lambda: engine.advance(Workspace(self.run), options))
        if outcome is None:
            return
        new = [self._cascaded(done) for done in outcome.performed if done.handler == "cascade"]
        assert len(lines(self.run, LOG)) == entries + sum(new)
        assert self.unrecorded == set()
        again = engine.advance(Workspace(self.run), options)
        assert (again.performed, again.state) == ((), outcome.state)

    def _cascaded(self, done: Performed) -> bool:
        """Whether it has an entry of its own, and not that of a command that was killed."""
        assert self.quick and done.step in quick.CASCADING
        new = done.step not in self.entered
        self.approved.add(done.step)
        self._decided(done.step)
        return new

    def _next_is_killed(self, data: st.DataObject) -> None:
        """Behind any of the writes of a cascade, if it comes to one."""
        with Workspace(self.run).locked() as workspace:
            self._up_to_a_cascade(workspace)
            job = change_set.look(workspace, Options())
            edits = cascade.plan(job).edits if job.next.kind == "cascade" else ()
            made = edits[: data.draw(st.integers(0, len(edits)))]
            for edit in made:
                change_set.write(workspace, edit)
        self._state = None
        self._killed(job.facts.step, [edit.path for edit in made])

    def _up_to_a_cascade(self, workspace: Workspace) -> None:
        """As `next` goes on, stopping before an approval."""
        with suppress(Refusal):
            while change_set.look(workspace, Options()).next.kind != "cascade":
                done = engine.tick(workspace, Options())[0]
                if done is None:
                    return
                if done.handler == "cascade":  # of another step, cut off earlier
                    self._cascaded(done)

    def _killed(self, step: str, made: list[str]) -> None:
        if LOG in made:
            self.entered.add(step)
        if STEP[step].artifact in made:
            self.approved.add(step)
            self.adopted.discard(step)
            self.unrecorded.add(step)
        if RECORDS in made:
            self._decided(step)
            if self.in_git:
                self.entered.add(step)  # its commit is still to come

    def _a_person_answers(self, data: st.DataObject) -> None:
        answer = self.next_action
        if answer.kind == "pause":
            self._decide(data, answer)
        elif answer.kind in menu.MENUS and answer.options and data.draw(st.booleans()):
            self._resolve(data, answer)
        elif answer.action == "approve" and data.draw(st.booleans()):
            self._approve(answer.step, data.draw(st.booleans()))
        elif answer.action == "approve":
            self._reject(answer.step)

    def _a_person_wants_something_else(self, data: st.DataObject) -> None:
        current = [self.state.current_step] * 3 if self.at_work else []
        step = data.draw(st.sampled_from([*current, *self.steps]))
        match data.draw(st.sampled_from(["approve", "unapprove", "reject", "rewind"])):
            case "approve":
                self._approve(step, data.draw(st.booleans()))
            case "reject":
                self._reject(step)
            case "unapprove":
                if self._make(lambda job: rewind.unapprove(job, step)):
                    assert step in self.approved
                    self._back_to_draft(step)
            case _:
                if self._make(lambda job: rewind.plan(job, step)):
                    self._rewound(step)

    def _approve(self, step: str, unreviewed: bool) -> None:
        job = change_set.look(Workspace(self.run), Options())
        missing, now = unmet(job.facts, step), approve.standing(job, step)
        consent = Consent(who="Ada", unreviewed=unreviewed)
        if self._make(lambda job: approve.plan(job, step, consent)):
            assert (missing, now.clean or now.settled or unreviewed) == ((), True)
            assert step not in self.approved
            self.approved.add(step)
            self._decided(step)

    def _reject(self, step: str) -> None:
        if self._make(lambda job: reject.plan(job, step, b"No.\n")):
            assert step not in self.approved
            self._back_to_draft(step)

    def _decide(self, data: st.DataObject, answer: Next) -> None:
        name = data.draw(st.sampled_from(sorted(answer.missing)))
        choice = data.draw(st.sampled_from(["apply", "skip", "loop-back"]))
        if choice != "loop-back":
            assert self._make(lambda job: decide_findings.plan(job, [name], choice))
            return
        wanted = data.draw(st.none() | st.sampled_from(self.steps))
        job = change_set.look(Workspace(self.run), Options())
        to = self._attempt(lambda: decide_findings.target(job, name, wanted))
        if to and self._make(lambda job: decide_findings.loop_back(job, name, to)):
            self._rewound(to)

    def _resolve(self, data: st.DataObject, answer: Next) -> None:
        keys = [option.key for option in answer.options if option.key != "stop"]
        key = data.draw(st.sampled_from(keys))
        to = data.draw(st.sampled_from(self.steps)) if key == "rewind" else None
        self._remove_strangers(answer)
        before = contents(self.run)
        if self._make(lambda job: menu.plan(job, key, More(to))):
            if key == "retry":
                self._sent_again(answer, before)
            if to:
                self._rewound(to)

    def _remove_strangers(self, answer: Next) -> None:
        """What nobody was asked for is for a person to take away."""
        paths = RoundPaths(STEP[answer.step].reviews, answer.round)
        if self.written.pop(f"{paths.directory}/nobody.clean.md", b""):
            (self.run / paths.directory / "nobody.clean.md").unlink()
            self._state = None

    def _sent_again(self, answer: Next, before: dict[str, bytes]) -> None:
        """The only command that takes files of agents away, and only of its own round."""
        gone = before.keys() - contents(self.run).keys()
        paths = RoundPaths(STEP[answer.step].reviews, answer.round)
        assert all(name.startswith((f"{paths.directory}/", paths.scope_set)) for name in gone)
        for name in gone:
            self.written.pop(name, None)

    # The model.

    def _text_changed(self, step: str) -> None:
        """What a kill left is about another text now, and nobody finishes it."""
        self.entered.discard(step)
        if step in self.unrecorded:
            self.unrecorded.discard(step)
            self.adopted.add(step)

    def _decided(self, step: str) -> None:
        for some in (self.entered, self.unrecorded, self.adopted):
            some.discard(step)

    def _back_to_draft(self, step: str) -> None:
        self.approved.discard(step)
        self._decided(step)

    def _rewound(self, target: str) -> None:
        route = self.state.route
        for step in route[route.index(target) :]:
            self._back_to_draft(step)

    # What holds whenever nobody is at work.

    @invariant()
    def the_files_say_what_happened(self) -> None:
        if self.steps:
            found = {step.step for step in self.state.steps if step.status == "approved"}
            assert found == self.approved

    @invariant()
    def nothing_is_approved_without_its_record(self) -> None:
        records = approvals.read(DiskTree(self.run).read(RECORDS))
        assert not isinstance(records, Problem), records
        for step in self.approved - self.adopted - self.unrecorded:
            newest = approvals.newest(records, step)
            assert newest is not None and newest.event == "approve", step
        by_itself = {record.step for record in records if record.surface == "cascade"}
        assert by_itself <= set(quick.CASCADING)

    @invariant()
    def nothing_is_approved_by_itself_without_its_entry(self) -> None:
        entered = {(line["artifact"], line["trigger_round"]) for line in lines(self.run, LOG)}
        for record in lines(self.run, RECORDS):
            if record["surface"] == "cascade":
                assert (record["step"], record["round"]) in entered

    @invariant()
    def nothing_that_people_and_agents_wrote_is_lost(self) -> None:
        for path, data in self.written.items():
            found = (self.run / path).read_bytes()
            assert without_own_lines(found) == without_own_lines(data), path

    @invariant()
    def what_is_approved_stands_on_what_is_approved(self) -> None:
        if not self.steps:
            return
        stale = {item.file for item in self.state.warnings if item.code == "stale-approval"}
        for step in self.approved - self.adopted:
            needs = set(prerequisites(step, self.state.route))
            assert needs <= self.approved or STEP[step].artifact in stale, step

    @invariant()
    def a_changed_text_is_told_from_an_approved_one(self) -> None:
        """The newest record has the hash of the text, or the run says that it was edited."""
        if not self.steps:
            return
        edited = {item.file for item in self.state.warnings if item.code == "edited-after-approval"}
        tree = DiskTree(self.run)
        records = approvals.read(tree.read(RECORDS))
        assert not isinstance(records, Problem), records
        for step in self.approved - self.unrecorded:
            newest = approvals.newest(records, step)
            if newest and newest.event == "approve":
                same = step_text.is_unchanged(tree, quick.about(step), newest.body_hash)
                assert same == (STEP[step].artifact not in edited), step

    @invariant()
    def the_same_files_give_the_same_answer(self) -> None:
        """Listed in whatever order, and without the engine's own folder, whose trail alone knows
        what is gone."""
        if self.steps and not self.trail_is_gone:
            backwards = dict(reversed(contents(self.run).items()))
            known = tuple(item for item in self.state.warnings if item.code != "vanished")
            expected = self.state._replace(warnings=known)
            assert derive(MemoryTree(backwards, runs.RUN, self.in_git)) == expected

    @invariant()
    def the_trail_has_no_line_for_nothing(self) -> None:
        """But for the first: it begins the trail, so that one that is missing was lost."""
        for number, line in enumerate(lines(self.run, ".qrspi/audit.jsonl")):
            changed = line["files"] != [] or number == 0
            assert (line["outcome"], changed) == ("done", True), line
            assert all(file["before"] != file["after"] for file in line["files"]), line


class GatesInGit(Gates):
    in_git = True


@pytest.fixture(autouse=True)
def _no_syncing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs a millisecond each time, and these laws are not about the disk."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.mark.rule("ST-07", "ENG-04", "ENG-07", "CSC-06", "APR-03", "APV-01", "RUN-05", "FM-06")
def test_gates_hold_whatever_happens() -> None:
    few = settings(max_examples=max(2, EXAMPLES // 5), stateful_step_count=40)
    run_state_machine_as_test(Gates, settings=few)


@pytest.mark.rule("ST-07", "ENG-04", "CMT-06")
def test_gates_hold_in_git() -> None:
    few = settings(max_examples=max(2, EXAMPLES // 20), stateful_step_count=25)
    run_state_machine_as_test(GatesInGit, settings=few)
