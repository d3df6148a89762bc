"""Where a run stands and the one next action, from its files alone. Nothing here writes."""

from __future__ import annotations

from qrspi.core.config import problems as config_problems
from qrspi.core.config import reader as configs
from qrspi.core.config.reader import Config
from qrspi.core.errors import attempt
from qrspi.core.filenames import rounds_in
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import (
    Next,
    NextKind,
    Problem,
    Progress,
    RunState,
    Stage,
    StepState,
    counted,
)
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import CLOSED, CODE_STEPS, MARKER, STEP, subject_of
from qrspi.core.snapshot import Snapshot
from qrspi.core.steps.facts import (
    Answer,
    Facts,
    approval_of,
    approved_tests,
    changed_by_hand,
    changed_since,
    current_step,
    gather,
    shipped,
    stale_approvals,
    status_of,
    unmet,
    unproven,
)
from qrspi.core.tree import CONFIG_LIMIT, Fault, Tree, entries

if TYPE_CHECKING:
    from qrspi.core.rounds.loop import Loop


class Survey(NamedTuple):
    """A derivation with what it was derived from. It has no facts when nothing can be decided: the
    route is unusable, or past decisions are unknown."""

    state: RunState
    facts: Facts | None = None
    loop: Loop | None = None


def derive(tree: Tree, path: str = "", *, thorough: bool = True, steps: bool = True) -> RunState:
    """`thorough` also hashes approved bodies and scans the tasks, for warnings only. Without
    `steps`, reviews of finished steps are not counted, since nothing depends on them."""
    tree = Snapshot(tree, asks_git=thorough)
    return survey(tree, path, thorough=thorough, steps=steps, ask_git=thorough).state


def derive_among(tree: Tree, *, thorough: bool = False, steps: bool = True) -> RunState:
    """For a look at many runs: one that cannot be derived stands among them with its reason."""
    state = attempt(lambda: derive(tree, thorough=thorough, steps=steps))
    return state if isinstance(state, RunState) else _failed(tree.name, state)


def survey(
    tree: Tree,
    path: str = "",
    *,
    thorough: bool = False,
    steps: bool = True,
    ask_git: bool = True,
) -> Survey:
    config = configs.read(tree.read("config.md", CONFIG_LIMIT))
    if config.route is None:
        return Survey(_unusable(tree, path, config))
    facts, doubts = gather(tree, config, config.route, ask_git=ask_git)
    step = current_step(facts)
    facts = facts._replace(step=step or "")
    at_work = _at_work(facts)
    errors = _named(tree, configs.problems_for(config, at_work.step)) if step else ()
    unread = (facts.unread,) if facts.unread else ()
    answer, extra = _undecidable(facts, *unread) if unread else _answer(at_work, errors)
    broken = _broken(facts, doubts)
    warnings = tuple(item for item in doubts if item not in broken)
    warnings += configs.warnings_for(config, step or "") + stale_approvals(facts) + extra
    warnings += (unproven(facts) if facts.claims else ()) + changed_by_hand(facts)
    if thorough:
        warnings += tuple(problem for problem in _thorough(facts) if problem not in warnings)
    state = RunState(
        run=tree.name,
        path=path,
        pipeline=config.pipeline or "",
        route=facts.route,
        phase=facts.phase,
        current_step=step,
        complete=step is None and not unread,
        steps=_steps(at_work, answer, step) if steps else (),
        next=_closed(facts) if CLOSED in facts.names else _with_commands(tree.name, answer.next),
        warnings=warnings,
        errors=unread + errors + broken + _faults(answer),
        closed=CLOSED in facts.names,
        checkpoints=answer.checkpoints,
        aside=tuple(_with_commands(tree.name, one) for one in answer.aside),
        tests=answer.tests if step else approved_tests(facts),
    )
    return Survey(state, None if unread else at_work, answer.loop)


def _at_work(facts: Facts) -> Facts:
    """Between two phases a run stands at replan, and the step that is worked on may be its plan."""
    if facts.step != "replan":
        return facts
    from qrspi.core.steps import replanning

    return replanning.of_plan(facts)


def _closed(facts: Facts) -> Next:
    # Imported here: most runs are open.
    from qrspi.core.derivation import closed_run

    return closed_run.ask(facts.tree)


def _unusable(tree: Tree, path: str, config: Config) -> RunState:
    from qrspi.core.derivation import unusable_config

    errors = _named(tree, config.problems)
    return RunState(
        run=tree.name,
        path=path,
        pipeline=config.pipeline or "",
        route=(),
        phase=1,
        current_step=None,
        complete=False,
        steps=(),
        next=_with_commands(tree.name, unusable_config.ask(tree, errors)),
        errors=errors,
        closed=not isinstance(tree.head(CLOSED), Fault),
    )


def _failed(run: str, problem: Problem) -> RunState:
    from qrspi.core.derivation import stops

    return RunState(
        run=run,
        path="",
        pipeline="",
        route=(),
        phase=1,
        current_step=None,
        complete=False,
        steps=(),
        next=stops.underivable(run, problem),
        errors=(problem,),
    )


def _broken(facts: Facts, doubts: tuple[Problem, ...]) -> tuple[Problem, ...]:
    steps = (step for step, status in facts.statuses.items() if status == "invalid")
    invalid = {STEP[step].artifact for step in steps}
    return tuple(item for item in doubts if item.file in invalid)


def _faults(answer: Answer) -> tuple[Problem, ...]:
    """All faults in what agents wrote, when the next action is to correct them."""
    if answer.next.kind != "fix-files" or not (answer.loop and answer.loop.files):
        return ()
    return answer.loop.files.violations


def _named(tree: Tree, problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    return tuple(config_problems.for_run(problem, tree) for problem in problems)


def _answer(facts: Facts, errors: tuple[Problem, ...]) -> tuple[Answer, tuple[Problem, ...]]:
    if not facts.step:
        return Answer(_done(facts)), ()
    if MARKER in facts.names:
        # Until a finished phase is put away, its records are being moved.
        from qrspi.core.steps import replanning

        if following := replanning.answer(facts):
            return _with_inputs(facts, _as_sent(facts, Answer(following))), ()
    if errors:
        from qrspi.core.derivation import unusable_config

        return Answer(unusable_config.ask(facts.tree, errors)._replace(step=facts.step)), ()
    if missing := unmet(facts, facts.step):
        from qrspi.core.derivation import stops

        return Answer(stops.blocked_by_need(facts, missing)), ()
    if facts.step == "replan":
        from qrspi.core.steps import replanning

        return _with_inputs(facts, _as_sent(facts, Answer(replanning.ask(facts)))), ()
    answer, warnings = _of_step(facts)
    return _with_inputs(facts, _as_sent(facts, _with_care(facts, answer))), warnings


def _of_step(facts: Facts) -> tuple[Answer, tuple[Problem, ...]]:
    """A step is authored, reviewed and approved; steps that produce code have their own rules."""
    if facts.step in CODE_STEPS:
        from qrspi.core.code_steps import implement

        return implement.answer(facts)
    if facts.statuses.get(facts.step) == "invalid":
        from qrspi.core.derivation import stops

        return Answer(stops.invalid(facts)), ()
    claim = facts.claims.get(facts.step)
    if claim and claim.gone:
        from qrspi.core.derivation import stops

        return Answer(stops.lost(facts, claim)), ()
    # Imported by the first run that gets here: one without a text needs no review rules.
    from qrspi.core.steps import authoring

    if why := authoring.needed(facts):
        return Answer(authoring.asked(facts, why)), ()
    from qrspi.core.rounds import loop as loops
    from qrspi.core.steps import review_action

    subject = subject_of(facts.step)
    loop = loops.evaluate(facts.tree, subject, facts.config, facts.base, facts.records)
    return Answer(_at_plan(facts, review_action.from_loop(facts, loop)), loop), loop.warnings


def _at_plan(facts: Facts, following: Next) -> Next:
    """A plan is audited before it is approved, and its person told which tasks are not ready."""
    gates = facts.config.gates
    if facts.step != "plan" or gates is None:
        return following
    if gates.audit and following.kind in ("approve", "cascade"):
        from qrspi.core.gates.audit import audit_report

        following = audit_report.before_approval(facts.tree, following)
    if gates.quality != "off" and following.kind == "approve":
        from qrspi.core.gates.quality import quality_gate

        following = quality_gate.before_approval(facts.tree, facts.tasks, following)
    return following


GATES: tuple[NextKind, ...] = ("approve", "loop-again", "cap", "batch", "test")


def _with_care(facts: Facts, answer: Answer) -> Answer:
    if answer.next.kind not in GATES or answer.loop is None:
        return answer
    from qrspi.core.steps import read_with_care

    care = read_with_care.lines(facts, answer.loop)
    return answer._replace(next=answer.next._replace(care=answer.next.care + care))


def _with_commands(run: str, following: Next) -> Next:
    if any(not option.command for option in following.options):
        from qrspi.core.derivation import option_commands

        following = option_commands.named(run, following)
    return following


def _as_sent(facts: Facts, answer: Answer) -> Answer:
    if answer.next.asks:
        from qrspi.core.steps import next_actions

        answer = answer._replace(next=next_actions.as_sent(facts, answer.next))
    return answer


def _with_inputs(facts: Facts, answer: Answer) -> Answer:
    asked = answer.next
    if asked.kind == "author" or not (asked.asks or asked.kind == "fix-files"):
        return answer  # what an author reads is known from where the step stands
    from qrspi.core.derivation import to_read

    return answer._replace(next=asked._replace(inputs=to_read.inputs(facts, asked)))


def _done(facts: Facts) -> Next:
    from qrspi.core.code_steps import shipping

    because = (f"every artifact of the route is approved ({counted(len(facts.route), 'step')})",)
    summary = f"The run is complete{_although(facts)}{shipping.to_send(facts)}"
    return Next("done", "nobody", summary, because)


def _although(facts: Facts) -> str:
    """What spoke against shipping, where a person shipped it anyway."""
    approval, tests = shipped(facts), approved_tests(facts)
    if approval is None or not approval.reason:
        return ""
    if tests is None or tests.state == "passed":
        return ", shipped with findings that are not settled"
    return f", shipped although {tests.sentence[:1].lower()}{tests.sentence[1:]}"


def _undecidable(facts: Facts, problem: Problem) -> tuple[Answer, tuple[Problem, ...]]:
    from qrspi.core.derivation import stops

    return Answer(stops.undecidable(facts, problem)), ()


def _steps(facts: Facts, answer: Answer, current: str | None) -> tuple[StepState, ...]:
    listing = entries(facts.tree, "reviews") if "reviews" in facts.names else ()
    reviewed = frozenset(entry.name for entry in listing)
    steps = (*facts.route, "replan") if current == "replan" else facts.route
    return tuple(_step_state(facts, step, reviewed, answer) for step in steps)


def _step_state(facts: Facts, step: str, reviewed: frozenset[str], answer: Answer) -> StepState:
    definition, status = STEP[step], status_of(facts, step)
    there = definition.reviews.partition("/")[2] in reviewed
    rounds = _rounds(facts, step) if there else 0
    stage: Stage = "closed" if rounds else "none"
    progress: Progress = "completed" if status == "approved" else "pending"
    if step == facts.step:
        progress, stage = "in_progress", answer.loop.stage if answer.loop else stage
    state = StepState(
        step=step,
        artifact=definition.artifact,
        status=status,
        rounds=rounds,
        stage=stage,
        progress=progress,
        approval=approval_of(facts, step),
    )
    return _with_counts(facts, state, answer.loop) if step == facts.step else state


def _with_counts(facts: Facts, state: StepState, loop: Loop | None) -> StepState:
    """Each as soon as it is known; while a file is faulty, nobody knows what will be kept."""
    if loop is None or loop.files is None:
        return state
    is_faulty = loop.stage == "guarded"
    if loop.stage == "reviewing" or (is_faulty and loop.files.silent_tags):
        asked = len(loop.files.expected_tags)
        return state._replace(asked=asked, answered=asked - len(loop.files.silent_tags))
    if loop.stage == "verifying" or is_faulty:
        scores = facts.config.verifies and not loop.skipped
        return state._replace(to_score=(scores and len(loop.files.unscored)) or None)
    refused = sum(one.score is None for one in loop.files.sidecars.values())
    if loop.stage == "failed" and refused:
        return state._replace(to_score=refused)
    skipped = len(loop.left) if loop.left else None
    kept = loop.kept - len(loop.left)
    return state._replace(kept=kept, dropped=loop.dropped, skipped=skipped)


def _rounds(facts: Facts, step: str) -> int:
    """Two steps keep their rounds in one folder; the manifests say which round belongs to which."""
    if step not in ("implement", "integrate"):
        return len(rounds_in(entries(facts.tree, STEP[step].reviews)))
    from qrspi.core.rounds import round_list

    subject = subject_of("implement-gate" if step == "implement" else step)
    return len(round_list.rounds(facts.tree, subject))


def _thorough(facts: Facts) -> tuple[Problem, ...]:
    warnings = () if facts.claims else unproven(facts)
    if ".qrspi" in facts.names or "reviews" in facts.names:
        from qrspi.core.records import vanished

        warnings += vanished.from_run(facts.tree, vanished.LATELY)
    if not facts.tasks:
        return warnings + changed_since(facts)
    from qrspi.core.artifacts import task_file

    warnings += task_file.scan(facts.tree) + changed_since(facts)
    if ".qrspi" not in facts.names:
        return warnings
    from qrspi.core.gates.quality import quality_gate

    return warnings + quality_gate.waiting(facts.tree, facts.tasks)
