"""Test: run the tests over what is merged, review them, ship or fix."""

from __future__ import annotations

from qrspi.core.code_steps import implement as delivery
from qrspi.core.code_steps import integrate as integration
from qrspi.core.code_steps import pull_request as pullrequest
from qrspi.core.code_steps import task_choice as workload
from qrspi.core.code_steps import task_state as taskstate
from qrspi.core.code_steps import test_results as testresults
from qrspi.core.code_steps.integrate import Work
from qrspi.core.code_steps.test_results import Results
from qrspi.core.filenames import round_name
from qrspi.core.model import Next, Option, Problem
from qrspi.core.pipeline import is_full
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import after_round as gate
from qrspi.core.steps import review_action as reviewing
from qrspi.core.steps.facts import Answer, Facts

RECORD = integration.RECORDS[1]
OPTIONS = (
    Option("ship", "take it as it is"),
    Option("fix", "have it repaired"),
)


def answer(facts: Facts) -> tuple[Answer, tuple[Problem, ...]]:
    found = integration.work(facts)
    if found.problems:
        return Answer(delivery.blocked_by(facts, found.problems)), ()
    chosen = workload.pick(facts, found.repairs) or _tested(facts, found)
    return chosen, found.warnings + (chosen.loop.warnings if chosen.loop else ())


def _tested(facts: Facts, found: Work) -> Answer:
    if integration.pending(facts.tree, found.wanted):
        return Answer(_merge(facts, found))
    results = testresults.newest(facts.tree)
    if then := _run(facts, results):
        return Answer(then)
    if results and is_full(facts.route) and (then := _each_failure(facts, found, results)):
        return Answer(then)
    loop = loops.evaluate(facts.tree, taskstate.subject_of("test"), facts.config, facts.base)
    if loop.stage == "fixing" and is_full(facts.route):
        return Answer(integration.repair_next(facts, loop, found.repairs, "test"), loop)
    then = reviewing.from_loop(facts, loop)
    if loop.stage != "fixing" and then.kind != "approve":
        return Answer(then, loop)
    text = facts.tree.read(pullrequest.FILE)
    if delivery.needs_draft(text, pullrequest.block(facts, found.in_order, results)):
        return Answer(delivery.draft(facts, pullrequest.FILE, "draft-pull-request"), loop)
    return Answer(_gate(facts, loop, results, then), loop)


def pull_request(facts: Facts) -> str:
    found = integration.work(facts)
    return pullrequest.block(facts, found.in_order, testresults.newest(facts.tree))


def _merge(facts: Facts, found: Work) -> Next:
    then = integration.merge_next(facts, found, RECORD)
    assert then is not None
    return then


def _run(facts: Facts, results: Results | None) -> Next | None:
    """The tests, unless they ran over exactly what is merged now."""
    gates = facts.config.gates
    if gates is None or not gates.test_command:
        return None if RECORD in facts.names else _by_hand(facts)
    now = (len(integration.recorded(facts.tree)), integration.resets(facts, "test"))
    if results and RECORD in facts.names and (results.merges, results.resets) == now:
        return None
    return Next(
        "author",
        "engine",
        f"Run the tests over the feature branch: run `qrspi next {facts.run}`.",
        ("gates.test_command in config.md has not run over what is merged now",),
        step=facts.step,
        missing=(testresults.results_file(testresults.highest(facts.tree) + 1),),
        command=f"qrspi next {facts.run}",
        kind="run-tests",
    )


def _by_hand(facts: Facts) -> Next:
    why = "config.md names no gates.test_command, so the engine cannot run the tests"
    return Next(
        "author",
        "agent",
        f"Run the tests and write {RECORD}; or set gates.test_command in config.md, then run "
        f"`qrspi next {facts.run}`.",
        (why,),
        step=facts.step,
        missing=(RECORD,),
        command=f"qrspi next {facts.run}",
        kind="author",
    )


def _each_failure(facts: Facts, found: Work, results: Results) -> Next | None:
    """A person says of each new failure whether it is repaired; then a task repairs them all."""
    if results.pending:
        return _ask_about(facts, results)
    if results.to_fix and not any(task.key.endswith(repair_of(results)) for task in found.repairs):
        return Next(
            "apply-fixes",
            "engine",
            f"Make a task of {len(results.to_fix)} failure(s): run `qrspi next {facts.run}`.",
            (f"{results.sentence}; a person chose to have some repaired",),
            step=facts.step,
            command=f"qrspi next {facts.run}",
            kind="write-repairs",
        )
    return None


def repair_of(results: Results) -> str:
    """The end of the key of the repair that a run of the tests led to."""
    return f"/failures-{round_name(results.number)}"


def _ask_about(facts: Facts, results: Results) -> Next:
    first = results.pending[0]
    decided = len(results.failures) - len(results.pending)
    where = f"failure {decided + 1} of {len(results.failures)}"
    return Next(
        "decide",
        "human",
        f"{results.sentence}. {where[:1].upper()}{where[1:]}: {first.name}. `qrspi resolve "
        f"{facts.run} ship` lives with it, `fix` has it repaired.",
        (f"{where} is undecided",),
        step=facts.step,
        missing=tuple(one.name for one in results.pending),
        inputs=(testresults.results_file(results.number), testresults.log_file(results.number)),
        options=OPTIONS,
        command=f"qrspi resolve {facts.run} fix",
        kind="test-failure",
    )


def _gate(facts: Facts, loop: Loop, results: Results | None, then: Next) -> Next:
    """On a quick run the gate is ship or fix; else an approval like any other."""
    sentence = results.sentence if results else "The tests were run by hand"
    if is_full(facts.route):
        return then._replace(
            summary=f"{sentence}. {then.summary}", because=(sentence, *then.because)
        )
    review = gate.review_status(loop)[0]
    kept = f" with {loop.kept} open finding(s)" if loop.stage == "fixing" else ""
    return Next(
        "approve",
        "human",
        f"{sentence}. {review}{kept}. Read {RECORD}, then `qrspi resolve {facts.run} ship`, or "
        f"`fix`, which goes back to the plan.",
        (sentence, review),
        step=facts.step,
        round=loop.number,
        inputs=(RECORD, "pull-request.md"),
        options=OPTIONS,
        command=f"qrspi resolve {facts.run} ship",
        kind="test",
    )
