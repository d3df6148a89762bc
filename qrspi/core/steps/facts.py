"""What a run's files say before anything is decided: statuses, records, prerequisites, and
approvals that no longer fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qrspi.core.config.reader import Config
from qrspi.core.filenames import phase_number, task_file_key
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import TEST_STATES, CheckpointRow, Next, Problem, StateOfTests, Status
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import MARKER, STEP, is_full, needs_tasks, prerequisites, subject_of
from qrspi.core.records import approvals, step_text
from qrspi.core.records.approvals import Approval, Record
from qrspi.core.tree import Fault, Tree, entries
from qrspi.core.yaml import frontmatter

if TYPE_CHECKING:
    from qrspi.core.records.decisions import Claim
    from qrspi.core.records.written_lines import Foreign
    from qrspi.core.rounds.loop import Loop


class Facts(NamedTuple):
    tree: Tree
    config: Config
    route: tuple[str, ...]
    statuses: Mapping[str, Status]
    tasks: Mapping[str, Status]  # by task key
    records: Sequence[Record]
    names: frozenset[str]  # what the run directory holds
    phase: int
    step: str = ""
    unread: Problem | None = None  # why nobody knows what was decided
    claims: Mapping[str, Claim] = {}  # drafts that say approved, by step
    foreign: tuple[Foreign, ...] = ()  # approvals that no command wrote; not among the records

    @property
    def base(self) -> int:
        return approvals.loop_base(self.records, self.step)

    @property
    def run(self) -> str:
        return self.tree.name


class Answer(NamedTuple):
    next: Next
    loop: Loop | None = None
    checkpoints: tuple[CheckpointRow, ...] = ()
    tests: StateOfTests | None = None
    aside: tuple[Next, ...] = ()


def gather(
    tree: Tree, config: Config, route: tuple[str, ...], *, ask_git: bool = True
) -> tuple[Facts, tuple[Problem, ...]]:
    """Without `ask_git`, a removed record of decisions is not noticed."""
    names = frozenset(entry.name for entry in entries(tree, ""))
    statuses: dict[str, Status] = {}
    warnings: list[Problem] = []
    for step in route:
        statuses[step], problem = artifact_status(tree, step, names)
        if problem:
            warnings.append(problem)
    tasks = task_statuses(tree) if "tasks" in names else {}
    decided = _decided(tree, names)
    if ask_git and not isinstance(decided, Problem):
        decided = _missed(tree, names, statuses) or decided
    unread, records = (decided, ()) if isinstance(decided, Problem) else (None, decided)
    foreign = _foreign(tree, config) if ask_git and records else ()
    facts = Facts(
        tree=tree,
        config=config,
        route=route,
        statuses=statuses,
        tasks=tasks,
        records=_without(records, foreign),
        names=names,
        phase=_phase(tree) if "phases" in names else 1,
        unread=unread,
        foreign=foreign,
    )
    return believed(facts), tuple(warnings)


def _missed(tree: Tree, names: frozenset[str], statuses: Mapping[str, Status]) -> Problem | None:
    """Why past decisions are unknown, though all that is on record can be read."""
    for log in (approvals.FILE, approvals.CASCADES):
        if log == approvals.CASCADES and log not in names:
            continue  # most runs never have it
        before = tree.committed(log, glance=True)
        if before is not None:
            # Imported here: nearly always nothing is gone.
            from qrspi.core.records import vanished

            if problem := vanished.from_git(tree, log, before):
                return problem
    return approvals.lost(tree.place) if _is_lost(tree, names, statuses) else None


def _is_lost(tree: Tree, names: frozenset[str], statuses: Mapping[str, Status]) -> bool:
    """Where a glance does not tell, git is asked; not while nobody can have decided anything."""
    decided = "approved" in statuses.values() or not names.isdisjoint(_TRACES)
    return decided and approvals.FILE not in names and tree.knows(approvals.FILE)


_TRACES = ("feedback", "phases", approvals.CASCADES)


def believed(facts: Facts) -> Facts:
    """Where approvals are recorded, an approved text without its record is a draft."""
    if facts.config.approvals != "recorded" or facts.unread:
        return facts
    approved = [step for step, status in facts.statuses.items() if status == "approved"]
    if not approved:
        return facts
    claimed = (claim_of(facts.tree, facts.records, step) for step in approved)
    claims = {item.step: _with_line(facts, item) for item in claimed if item}
    statuses: dict[str, Status] = {**facts.statuses, **dict.fromkeys(claims, "draft")}
    return facts._replace(statuses=statuses, claims=claims)


def _foreign(tree: Tree, config: Config) -> tuple[Foreign, ...]:
    if config.approvals != "recorded":
        return ()
    # Imported here: a run without a decision has no such line.
    from qrspi.core.records import written_lines

    return written_lines.foreign(tree, config.commit, closely=tree.decides)


def _without(records: Sequence[Record], foreign: tuple[Foreign, ...]) -> Sequence[Record]:
    if not foreign:
        return records
    from qrspi.core.records import written_lines

    return written_lines.without(records, foreign)


def _with_line(facts: Facts, claim: Claim) -> Claim:
    lines = [one.number for one in facts.foreign if one.record.mark(claim.step)]
    return claim._replace(line=lines[-1]) if lines else claim


def claim_of(tree: Tree, records: Sequence[Record], step: str) -> Claim | None:
    """With the files that are not what was approved, and the plan's tasks that are gone."""
    from qrspi.core.records import decisions

    claim = decisions.claim(tree, records, step)
    if claim is None or claim.known is None:
        return claim
    from qrspi.core.steps import text_parts

    claim = claim._replace(changed=text_parts.changed_files(tree, step, claim.known))
    if step != "plan":
        return claim
    # Imported here: nearly always an approved plan is what it was.
    from qrspi.core.artifacts import plan_tasks

    gone = plan_tasks.without_file(tree)
    restore = gone[0].hint if gone else ""
    return claim._replace(gone=tuple(problem.file for problem in gone), restore=restore)


def _decided(tree: Tree, names: frozenset[str]) -> Sequence[Record] | Problem:
    """What people decided. The log of what a quick run approved by itself must be readable too."""
    if approvals.CASCADES in names:
        log = tree.read(approvals.CASCADES, approvals.LIMIT)
        problem = approvals.no_cascades(log) if isinstance(log, Fault) else None
        if problem:
            return _for_run(problem, tree)
    if approvals.FILE not in names:
        return ()
    records = approvals.read(tree.read(approvals.FILE, approvals.LIMIT))
    return _for_run(records, tree) if isinstance(records, Problem) else records


def _for_run(problem: Problem, tree: Tree) -> Problem:
    """With the command that goes on: `git` restores the file where nothing is lost by it."""
    from qrspi.core.records import vanished

    return vanished.with_remedy(tree, problem)


def artifact_status(
    tree: Tree, step: str, names: frozenset[str] | None = None
) -> tuple[Status, Problem | None]:
    artifact = STEP[step].artifact
    if names is not None and artifact.partition("/")[0] not in names:
        return "missing", None
    return frontmatter.status(tree.head(artifact), artifact)


def task_statuses(tree: Tree) -> dict[str, Status]:
    statuses: dict[str, Status] = {}
    for entry in entries(tree, "tasks"):
        if entry.kind == "file" and (key := task_file_key(entry.name)):
            statuses[key] = frontmatter.status(tree.head(f"tasks/{entry.name}"), entry.name)[0]
    return statuses


def _phase(tree: Tree) -> int:
    numbers = [phase_number(entry.name) for entry in entries(tree, "phases") if entry.kind == "dir"]
    return len([number for number in numbers if number]) + 1


def current_step(facts: Facts) -> str | None:
    """The first step of the route that is not approved; None when the run is complete."""
    open_steps = [step for step in facts.route if facts.statuses[step] != "approved"]
    if MARKER in facts.names and all(facts.statuses[step] == "replan-draft" for step in open_steps):
        return "replan"
    return open_steps[0] if open_steps else None


def shipped(facts: Facts) -> Record | None:
    """The approval of test, if nothing was decided about test after it."""
    decided = approvals.newest_first(facts.records, approvals.naming("test"))
    newest = next((record for record in decided if record.mark("test")), None)
    return newest if newest and newest.event == "approve" else None


def approved_tests(facts: Facts) -> StateOfTests | None:
    """How the tests stood when a person approved them; None when that was not recorded."""
    approval = shipped(facts)
    known = next((one for one in TEST_STATES if approval and approval.tests == one), None)
    return StateOfTests(known) if known else None


def stale_approvals(facts: Facts) -> tuple[Problem, ...]:
    if facts.step not in facts.route:
        return ()
    later = facts.route[facts.route.index(facts.step) + 1 :]
    stale = [STEP[step].artifact for step in later if facts.statuses[step] == "approved"]
    before = f"but {STEP[facts.step].artifact} before it is not"
    return tuple(
        Problem("stale-approval", f"{file} is approved, {before}", file=file) for file in stale
    )


def changed_since(facts: Facts) -> tuple[Problem, ...]:
    """Texts that changed after their approval, and what was approved on top of them."""
    claims = [step for step, claim in facts.claims.items() if claim.known]
    approved = [s for s in facts.route if facts.statuses[s] == "approved" or s in claims]
    if not facts.records or not approved:
        return ()
    edited = {step: _edited(facts, step) for step in approved if is_edited(facts, step)}
    whole = [step for step in approved if step not in edited or edited[step].code != "vanished"]
    return (*edited.values(), *_upstream_changed(facts, whole))


def is_edited(facts: Facts, step: str) -> bool:
    known = approvals.last_approval(facts.records, step)
    return known is not None and not step_text.is_unchanged(
        facts.tree, subject_of(step), known.body_hash
    )


def _edited(facts: Facts, step: str) -> Problem:
    claim = claim_of(facts.tree, facts.records, step)
    if claim and claim.gone:
        from qrspi.core.records import decisions

        return decisions.lost(claim)
    command = f"qrspi unapprove {facts.run} {step}"
    files = changed_files(facts, step, approvals.last_approval(facts.records, step))
    in_commits = facts.tree.in_git and facts.config.commit != "off"
    show = f"`qrspi show {facts.run} {step} --since-approval` shows how, " if in_commits else ""
    what = "changed after it was approved"
    if claim and claim.only_body:
        what = "may have changed after it was approved, as the record is of its body alone"
    named, artifact = _few(files), STEP[step].artifact
    it = "it" if files == (artifact,) else artifact
    text = f"{named} {what}; {show}`{command}` makes {it} a draft again"
    return Problem("edited-after-approval", text, file=artifact, found=named, hint=command)


def changed_files(facts: Facts, step: str, known: Record | None) -> tuple[str, ...]:
    from qrspi.core.steps import text_parts

    return text_parts.changed_files(facts.tree, step, known) if known else (STEP[step].artifact,)


def _few(files: Sequence[str]) -> str:
    # Imported here: nearly every approved text is what was approved.
    from qrspi.core.text import shortened

    return shortened.few(files, 3)


def _upstream_changed(facts: Facts, approved: list[str]) -> list[Problem]:
    problems = []
    for at, step in enumerate(approved):
        before = {up: _record_before(facts.records, step, up) for up in approved[:at]}
        names = ", ".join(
            _few(changed_files(facts, up, known))
            for up, known in before.items()
            if known and not step_text.is_unchanged(facts.tree, subject_of(up), known.body_hash)
        )
        if names:
            text = f"{STEP[step].artifact} was approved before {names} changed"
            problems.append(Problem("upstream-changed", text, file=STEP[step].artifact))
    return problems


def _record_before(records: Sequence[Record], step: str, up: str) -> Record | None:
    """How another step was approved before `step` was last approved."""
    approved = False
    texts = (approvals.told_of("approve", one) for one in (step, up))
    for record in approvals.newest_first(records, *texts):
        if record.event == "approve" and record.step == up and approved:
            return record
        approved = approved or (record.event == "approve" and record.step == step)
    return None


def unmet(facts: Facts, step: str) -> tuple[str, ...]:
    needs = prerequisites(step, facts.route)
    missing = [STEP[need].artifact for need in needs if status_of(facts, need) != "approved"]
    if step == "replan" and MARKER not in facts.names:
        missing.append(MARKER)
    if needs_tasks(step):
        missing += _unmet_tasks(facts, step)
    return tuple(missing)


def status_of(facts: Facts, step: str) -> Status:
    if known := facts.statuses.get(step):
        return known
    statuses: dict[str, Status] = {step: artifact_status(facts.tree, step, facts.names)[0]}
    return believed(facts._replace(statuses=statuses)).statuses[step]


def approval_of(facts: Facts, step: str) -> Approval | None:
    """Who approved a step; None when it is not approved and does not say so."""
    if step in facts.claims:
        return "claimed"
    approved = status_of(facts, step) == "approved"
    return approvals.approval(facts.records, step) if approved else None


def rerouted(facts: Facts) -> tuple[Problem, ...]:
    pipeline, record = facts.config.pipeline or "", approvals.newest_on_a_route(facts.records)
    if record is None or record.route == approvals.route_text(pipeline, facts.route):
        return ()
    # Imported here: most routes stay as they are.
    from qrspi.core.records import route_record

    left = [step for step in STEP if step not in facts.route]
    settled = any(artifact_status(facts.tree, step)[0] == "approved" for step in (*left, "plan"))
    free = not settled
    return (route_record.changed_by_hand(record, pipeline, facts.route, facts.run, free=free),)


def lowered(facts: Facts) -> tuple[Problem, ...]:
    record = approvals.newest_with_safeguards(facts.records)
    if record is None:
        return ()
    # Imported here: nothing is on record of many runs that are looked at.
    from qrspi.core.config import safeguards

    if not safeguards.missing(record.safeguards, facts.config):
        return ()
    from qrspi.core.records import route_record

    problem = route_record.lowered(record, facts.config, facts.run)
    return (problem,) if problem else ()


def changed_by_hand(facts: Facts) -> tuple[Problem, ...]:
    """Settings that were changed in config.md, and decide who looks at what."""
    return (*rerouted(facts), *lowered(facts))


def unproven(facts: Facts) -> tuple[Problem, ...]:
    demanded = facts.config.approvals == "recorded"
    steps = () if demanded else facts.route
    unrecorded = [step for step in steps if approval_of(facts, step) == "unrecorded"]
    if not (facts.claims or unrecorded):
        return ()
    from qrspi.core.records import decisions

    claims = (decisions.problem(facts.run, claim) for claim in facts.claims.values())
    return (*claims, *decisions.unrecorded(facts.run, unrecorded))


def _unmet_tasks(facts: Facts, step: str) -> list[str]:
    approved = [key for key, status in facts.tasks.items() if status == "approved"]
    if not approved:
        return [f"tasks/{key}.md" for key in facts.tasks] or ["tasks/task-01.md"]
    if step == "implement" and not is_full(facts.route):
        return [f"tasks/{key}.md" for key, status in facts.tasks.items() if status != "approved"]
    return []
