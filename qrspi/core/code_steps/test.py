"""Test: run the tests over what is merged, review them, ship or fix."""

from __future__ import annotations

from qrspi.core.artifacts import phases
from qrspi.core.code_steps import gate_records, implement, integrate, shipping, test_results
from qrspi.core.code_steps.integrate import Work
from qrspi.core.code_steps.test_results import Results
from qrspi.core.config import problems as config_problems
from qrspi.core.filenames import round_name
from qrspi.core.model import Next, NextKind, Option, Problem, StateOfTests, counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP, is_full, subject_of
from qrspi.core.records import approvals, feedback
from qrspi.core.records.approvals import Record
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import after_round, next_actions, review_action
from qrspi.core.steps.facts import Answer, Facts
from qrspi.core.tree import Fault

RECORD = integrate.RECORDS[1]
SHIP = Option("ship", "approve the results and end the run; nothing is pushed")
SHIP_FAILING = Option("ship", "approve them all the same, with --failing -m REASON")
REVIEW = Option("review", "send the reviewers all the same")
AGAIN = Option("review", "have it reviewed again, until it is clean (recommended)")
RERUN = Option("rerun", "run the tests again")
_THEN = "its texts are drafts again, finished work stays, a new task does the rest"
TO_PLAN = Option("fix", f"go back to the plan: {_THEN}")
REPAIR = Option("fix", "have a task repair what fails")
STAYS = "tasks that are done stay as they are, so add a task for the repair"
LEAVE = Option("leave", "live with it; shipping it needs a reason")


def answer(facts: Facts) -> tuple[Answer, tuple[Problem, ...]]:
    work = integrate.work(facts)
    if work.problems:
        return Answer(implement.blocked_by(facts, work.problems)), ()
    if work.unfinished:
        return Answer(integrate.not_implemented(facts, work.unfinished)), work.warnings
    chosen = implement.pick_action(facts, work.repairs) or _tested(facts, work)
    return chosen, work.warnings + (chosen.loop.warnings if chosen.loop else ())


def _tested(facts: Facts, work: Work) -> Answer:
    if integrate.pending(facts.tree, work.wanted):
        return Answer(integrate.merge_next(facts, work, RECORD))
    if facts.config.test_writer == "on":
        from qrspi.core.code_steps import implementers

        if following := implementers.acceptance_next(facts, work.tasks, work.repairs):
            return Answer(following)
    results = test_results.newest(facts.tree)
    loop = loops.evaluate(facts.tree, subject_of("test"), facts.config, facts.base, facts.records)
    if following := _run(facts, results, loop):
        return Answer(following)
    tests = shipping.tests_now(facts, results)
    chosen = _judged(facts, work, Judged(results, tests, loop))
    because = dict.fromkeys((tests.sentence, *chosen.next.because))
    return chosen._replace(tests=tests, next=chosen.next._replace(because=tuple(because)))


class Judged(NamedTuple):
    results: Results | None
    tests: StateOfTests
    loop: Loop


def _judged(facts: Facts, work: Work, seen: Judged) -> Answer:
    results, _, loop = seen
    if path := unanswered(facts):
        return Answer(_rejected(facts, path, seen))
    if results and is_full(facts.route) and (following := _each_failure(facts, work, results)):
        return Answer(following)
    if loop.stage == "fixing" and is_full(facts.route):
        return Answer(integrate.repair_next(facts, loop, work.repairs, "test"), loop)
    following = review_action.from_loop(facts, loop)
    passed = seen.tests.state == "passed"
    stops = following.action == "prepare-round" and not shipping.is_settled(facts, results)
    if stops and not passed:
        return _at_gate(facts, seen, before_reviewers=True)
    if loop.stage == "fixing" or following.kind == "approve":
        return _at_gate(facts, seen)
    if not passed and following.action in ("prepare-round", "review", "verify"):
        following = following._replace(summary=f"{seen.tests.sentence}. {following.summary}")
    # A text that an earlier gate left says how the tests went then.
    stale = following.who == "agent" and shipping.PULL_REQUEST in facts.names
    return (_drafted(facts, loop) if stale else None) or Answer(following, loop)


def _run(facts: Facts, results: Results | None, loop: Loop) -> Next | None:
    if results and RECORD in facts.names and shipping.is_current(facts, results):
        return None
    file = test_results.results_file(test_results.highest(facts.tree) + 1)
    if facts.config.test_command:
        what = "Run the tests over the feature branch"
        because = (_why_run(facts, results), f"the command is {facts.config.test_command}")
        return next_actions.by_engine(facts, "author", "run-tests", what, because, missing=(file,))
    if RECORD in facts.names and results is None and loop.round > facts.base:
        return None  # somebody wrote it, and it is reviewed unchanged
    what = f"Write down in {RECORD} that the tests were not run"
    kind: NextKind = "draft-test-results"
    why = (shipping.tests_now(facts, None).sentence,)
    return next_actions.by_engine(facts, "author", kind, what, why, missing=(file,))


def _why_run(facts: Facts, results: Results | None) -> str:
    if results and results.then == "rerun":
        return "a person wants the tests run again"
    if results and results.command and results.command != facts.config.test_command:
        return "gates.test_command in config.md is another one than the tests were run with"
    outdated = shipping.outdated(facts, results) if results else ""
    return outdated or "gates.test_command in config.md has not run over what is merged now"


def unanswered(facts: Facts) -> str:
    """The feedback that test-results.md was rejected with, until it is answered or out of date."""
    newest = next((record for record in reversed(facts.records) if _sends_back(record)), None)
    if newest is None or newest.event != "reject":
        return ""
    rejected = feedback.previous(facts.tree.read(newest.feedback))
    same = gate_records.around(facts.tree.read(RECORD)) == gate_records.around(rejected)
    return newest.feedback if same else ""


def _sends_back(record: Record) -> bool:
    return record.event in ("rewind", "phase") or (record.event, record.step) == ("reject", "test")


def _rejected(facts: Facts, path: str, seen: Judged) -> Next:
    record = approvals.newest(facts.records, "test")
    by = f" by {test_results.shown(record.person)}" if record and record.person else ""
    on = f" on {record.when[:10]}" if record and record.when else ""
    return Next(
        action="author",
        who="agent",
        summary=f"{RECORD} was rejected{by}{on}, see {path}. {seen.tests.sentence}. Answer the "
        f"feedback in {RECORD}, outside of what is counted there, then run `qrspi next "
        f"{facts.run}`; or go back to the plan with `qrspi resolve {facts.run} fix`.",
        because=(f"{RECORD} says nothing about {path} yet",),
        step=facts.step,
        missing=(RECORD,),
        inputs=(RECORD, path),
        options=_options(facts, TO_PLAN),
        command=f"qrspi next {facts.run}",
        kind="test-rejected",
    )


def _options(facts: Facts, first: Option, *others: Option) -> tuple[Option, ...]:
    return (first, *([RERUN] if facts.config.test_command else []), *others)


def _each_failure(facts: Facts, work: Work, results: Results) -> Next | None:
    """A person says for each new failure whether it is repaired; one task repairs them all."""
    if results.pending:
        return _ask_about(facts, results)
    if results.to_fix and not any(task.key.endswith(repair_of(results)) for task in work.repairs):
        what = f"Make a task of {counted(len(results.to_fix), 'failure')}"
        because = ("they are marked to be repaired",)
        return next_actions.by_engine(facts, "apply-fixes", "write-repairs", what, because)
    return None


def repair_of(results: Results) -> str:
    return f"/failures-{round_name(results.number)}"


def _ask_about(facts: Facts, results: Results) -> Next:
    first = results.pending[0]
    new = results.new
    where = f"failure {len(new) - len(results.pending) + 1} of {len(new)}"
    sentence = shipping.tests_of(results).sentence
    return Next(
        action="decide",
        who="human",
        summary=f"{sentence}. {where[:1].upper()}{where[1:]}: {test_results.shown(first.name)}. "
        f"`qrspi resolve {facts.run} fix` has it repaired, `leave` lives with it.",
        because=(f"{where} is undecided",),
        step=facts.step,
        missing=tuple(failure.name for failure in results.pending),
        inputs=(test_results.results_file(results.number), test_results.log_file(results.number)),
        options=(REPAIR, LEAVE, RERUN),
        command=f"qrspi resolve {facts.run} fix",
        kind="test-failure",
    )


def _drafted(facts: Facts, loop: Loop) -> Answer | None:
    text = facts.tree.read(shipping.PULL_REQUEST)
    if not implement.needs_draft(text, shipping.pull_request(facts, loop)):
        return None
    return Answer(implement.draft(facts, shipping.PULL_REQUEST, "draft-pull-request"), loop)


def _at_gate(facts: Facts, seen: Judged, *, before_reviewers: bool = False) -> Answer:
    if draft := _drafted(facts, seen.loop):
        return draft
    against = shipping.objections(seen.tests, seen.loop)
    if against or before_reviewers:
        return Answer(_objected(facts, seen, against, before_reviewers), seen.loop)
    return Answer(_passed(facts, seen), seen.loop)


def _passed(facts: Facts, seen: Judged) -> Next:
    """The tests passed and no finding is open. The review may still not be clean."""
    review, clean = after_round.at_gate(facts, seen.loop)
    ship, again = (f"qrspi resolve {facts.run} {key}" for key in ("ship", "review"))
    reviewed = clean or (after_round.is_settled(facts, seen.loop) and seen.loop.fresh)
    end = _end_phase(facts) or SHIP
    menu = (end, TO_PLAN) if reviewed else (AGAIN, end, TO_PLAN)
    first = "Read" if reviewed else f"`{again}` has it reviewed again (recommended). Or read"
    summary = f"{seen.tests.sentence}. {review}. {first} {RECORD}, then `{ship}`, or `fix`, which "
    following = _gate(facts, seen, menu, ship if reviewed else again, (review,))
    return following._replace(action="approve", summary=f"{summary}goes back to the plan.")


def _end_phase(facts: Facts) -> Option | None:
    """Before the last phase, the run goes on after it."""
    phasing = facts.tree.read(STEP["phasing"].artifact)
    if isinstance(phasing, Fault) or phases.is_last(phasing, facts.phase):
        return None
    what = f"approve the results and end phase {facts.phase}; a replan leads to the next"
    return Option("ship", f"{what}, and nothing is pushed")


def _objected(facts: Facts, seen: Judged, against: tuple[str, ...], before_reviewers: bool) -> Next:
    if seen.results and not seen.results.started:
        return _not_started(facts, seen, against, before_reviewers)
    repairs = repairs_failures(facts, seen.results)
    menu = (REPAIR if repairs else TO_PLAN, *([REVIEW] if before_reviewers else []), SHIP_FAILING)
    review = "Nobody has reviewed this yet" if before_reviewers else _review(facts, seen.loop)
    fix = f"qrspi resolve {facts.run} fix"
    where = "has a task repair it" if repairs else f"goes back to the plan: {_THEN}"
    sentences = (*against, *([review] if review not in against else []))
    summary = f"{'. '.join(sentences)}. `{fix}` {where}."
    if seen.tests.state == "not-run":
        summary += (
            f" `{config_problems.naming(facts.run)}` has them run. Did you run them by hand? "
            f"`qrspi test report {facts.run} --passed -m TEXT`, or --failed."
        )
    return _gate(facts, seen, menu, fix, (*against, review))._replace(summary=summary)


def _not_started(
    facts: Facts, seen: Judged, against: tuple[str, ...], before_reviewers: bool
) -> Next:
    """The command is put right first: nothing is known of the code yet."""
    naming = config_problems.naming(facts.run)
    menu = (RERUN, TO_PLAN, *([REVIEW] if before_reviewers else []), SHIP_FAILING)
    summary = (
        f"{'. '.join(against)}. `{naming}` names another command; `qrspi resolve {facts.run} "
        "rerun` runs the same one again."
    )
    return _gate(facts, seen, menu, naming, against)._replace(summary=summary, options=menu)


def repairs_failures(facts: Facts, results: Results | None) -> bool:
    return is_full(facts.route) and results is not None and bool(results.new)


def _review(facts: Facts, loop: Loop) -> str:
    if loop.stage == "fixing":
        return f"Reviewers found {counted(len(loop.to_apply), 'thing')} in round {loop.round}"
    return after_round.at_gate(facts, loop)[0]


def _gate(
    facts: Facts, seen: Judged, menu: tuple[Option, ...], command: str, because: tuple[str, ...]
) -> Next:
    return Next(
        action="decide",
        who="human",
        summary="",
        because=because,
        step=facts.step,
        round=seen.loop.round,
        inputs=(RECORD, shipping.PULL_REQUEST),
        options=_options(facts, *menu),
        command=command,
        kind="test",
    )
