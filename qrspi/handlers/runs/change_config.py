"""Change config.md: one field, renamed fields, the route, or settings that are missing."""

from __future__ import annotations

from collections.abc import Callable, Collection

from qrspi.core.config import edit as config_edit
from qrspi.core.config import problems as config_problems
from qrspi.core.config import reader as configs
from qrspi.core.config import safeguards
from qrspi.core.config.problems import FILE
from qrspi.core.derivation.derive import survey
from qrspi.core.errors import Halt, Misuse, Refusal, accepted
from qrspi.core.filenames import slug_of
from qrspi.core.hints import NoReturn
from qrspi.core.model import Code, Problem, Status
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import ROUTABLE
from qrspi.core.records import approvals, route_record
from qrspi.core.records.approvals import Record
from qrspi.core.steps import facts
from qrspi.core.tree import CONFIG_LIMIT, Fault, Tree
from qrspi.handlers.changes import change_set, engine_files
from qrspi.handlers.jobs import carry_out
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.git import commits, repository
from qrspi.world.git.commits import Committed
from qrspi.world.machine import git_person
from qrspi.world.runs.workspace import Workspace

# In the command, not in the run.
MISTAKES: tuple[Code, ...] = ("field-unknown", "unknown-route", "usage")


ROUTE_SET = "route set"


class Edit(NamedTuple):
    before: bytes
    after: bytes
    notes: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()  # that were set, also to what they were
    commit: str = ""
    committed: tuple[str, ...] = ()  # the files in it

    @property
    def changed(self) -> bool:
        return self.before != self.after


Change = Callable[[Tree, bytes], Edit]


def rehearse(tree: Tree, change: Change) -> Edit:
    content = tree.read(FILE, CONFIG_LIMIT)
    if isinstance(content, Fault):
        _refuse(tree, *configs.read(content).problems)
    return change(tree, content)


def perform(
    workspace: Workspace, event: str, change: Change, lock_timeout: float, surface: str = "cli"
) -> Edit:
    with workspace.locked(lock_timeout, f"qrspi {event}"):
        edit = rehearse(workspace, change)
        by_hand = event == ROUTE_SET and _is_by_hand(workspace, edit)
        if edit.changed or by_hand or _resettled(workspace, edit):
            return _write(workspace, event, edit, surface)
    return edit


def _write(workspace: Workspace, event: str, edit: Edit, surface: str) -> Edit:
    """And commit it, so that a clone has the same settings."""
    repo = repository.find(workspace.path) if configs.read(edit.after).commit == "on" else None
    if repo:
        commits.check_ready(repo, "change config.md")
    changed = (*_answered(workspace, event, edit, surface), FILE)
    workspace.replace(FILE, edit.before, edit.after)
    who = git_person.at(workspace.path)
    performed = Performed(event.replace(" ", "-"), "", files=changed, notes=edit.notes, who=who)
    carry_out.record(workspace, surface, performed)
    if repo is None:
        return edit
    message = f"docs(qrspi): {event} for {slug_of(workspace.name)}"
    done = commits.commit(repo, list(changed), message, tuple(engine_files.decided(workspace)))
    return (
        edit._replace(commit=done.commit, committed=changed)
        if isinstance(done, Committed)
        else edit
    )


def _is_by_hand(tree: Tree, edit: Edit) -> bool:
    """Whether somebody wrote this route into config.md, so that only its record is missing."""
    records = approvals.read(tree.read(approvals.FILE, approvals.LIMIT))
    known = None if isinstance(records, Problem) else approvals.newest_on_a_route(records)
    now = configs.read(edit.after)
    return known is not None and known.route != approvals.route_text(now.pipeline, now.route)


def _rerouted(event: str, edit: Edit) -> tuple[Record, ...]:
    before, now = (configs.read(one) for one in (edit.before, edit.after))
    text = approvals.route_text(now.pipeline, now.route)
    if event != ROUTE_SET and text == approvals.route_text(before.pipeline, before.route):
        return ()
    return (Record(route_record.CHANGE, "", "", 0, route=text),) if text else ()


def _resettled(tree: Tree, edit: Edit) -> tuple[Record, ...]:
    """What is asked of reviews and gates, if a command changed that, or takes over what was changed
    by hand."""
    records = approvals.read(tree.read(approvals.FILE, approvals.LIMIT))
    record = None if isinstance(records, Problem) else approvals.newest_with_safeguards(records)
    was = safeguards.asked(configs.read(edit.before))
    before = safeguards.known(record.safeguards) if record else was
    now = safeguards.after(before, configs.read(edit.after), edit.fields)
    if set(now) == set(before):
        return ()
    return (Record(route_record.RESET, "", "", 0, safeguards=safeguards.text(now)),)


def _answered(workspace: Workspace, event: str, edit: Edit, surface: str) -> tuple[str, ...]:
    before, now = configs.read(edit.before), configs.read(edit.after)
    records = [
        Record(event, step, "", 0, option=new)
        for event, step, old, new in (
            ("test-command", "test", before.said_of_tests, now.said_of_tests),
            ("onto", "implement", before.feature_branch, now.feature_branch),
        )
        if new and new != old
    ]
    records.extend((*_rerouted(event, edit), *_resettled(workspace, edit)))
    for record in records:
        workspace.append(approvals.FILE, change_set.signed(workspace, surface, (record,)).data)
    return (approvals.FILE,) if records else ()


def who_said(place: str, config: bytes, test_command: str, onto: str = "") -> bytes:
    known = (("test-command", "test", test_command), ("onto", "implement", onto))
    said = [Record(event, step, "", 0, option=option) for event, step, option in known if option]
    after = configs.read(config)
    asked = safeguards.text(safeguards.asked(after))
    on = approvals.route_text(after.pipeline, after.route)
    said.append(Record("init", "", "", 0, route=on, safeguards=asked))
    return b"".join(change_set.signed(Workspace(place), "cli", (record,)).data for record in said)


def setting(*pairs: tuple[str, str]) -> Change:

    def change(tree: Tree, before: bytes) -> Edit:
        approved = _status(tree, "plan") == "approved"
        after = before
        for key, value in pairs:
            put = config_edit.set_value(after, key, value, plan_approved=approved)
            after = put if isinstance(put, bytes) else _refuse(tree, *put)
        return Edit(before, after, fields=tuple(key for key, _ in pairs))

    return change


def migrating(tree: Tree, before: bytes) -> Edit:
    migrated = config_edit.migrate(before)
    if isinstance(migrated, Problem):
        _refuse(tree, migrated)
    return Edit(before, migrated.data, migrated.plan)


def routing(name: str) -> Change:
    def change(tree: Tree, before: bytes) -> Edit:
        statuses = {step: _status(tree, step) for step in ROUTABLE}
        after = config_edit.set_route(configs.read(before), statuses, name, before)
        return Edit(before, after if isinstance(after, bytes) else _refuse(tree, after))

    return change


def _status(tree: Tree, step: str) -> Status:
    """The statuses that the engine uses: a text that only claims to be approved is a draft."""
    known = survey(tree, ask_git=False, steps=False).facts
    return (known and known.statuses.get(step)) or facts.artifact_status(tree, step)[0]


def _refuse(tree: Tree, *problems: Problem) -> NoReturn:
    named = (config_problems.for_run(problem, tree) for problem in problems)
    raise (Misuse if problems[0].code in MISTAKES else Refusal)(*named)


def backfill(job: Job) -> Performed:
    notes = write_back(job.workspace, configs.BACKFILLS)
    return Performed("backfill", job.facts.step, 0, (FILE,), notes)


def write_back(workspace: Workspace, fields: Collection[str]) -> tuple[str, ...]:
    missing = configs.backfills(configs.read(workspace.read(FILE, CONFIG_LIMIT)))
    notes = []
    for field, value in missing:
        if field in fields:
            _write_back(workspace, field, value)
            notes.append(config_edit.backfill_warning(field))
    return tuple(notes)


def _write_back(workspace: Workspace, field: str, value: str) -> None:
    before = workspace.read(FILE, CONFIG_LIMIT)
    assert not isinstance(before, Fault)
    after = accepted(config_edit.backfill(before, field, value))
    try:
        workspace.replace(FILE, before, after)
    except Halt as halt:
        raise Halt(config_edit.write_back_failed(field, halt.problem.message)) from None
