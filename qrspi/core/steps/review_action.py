"""What a review loop's stage asks for next."""

from __future__ import annotations

from qrspi.core.model import Action, Held, Next, Option, Problem, Who
from qrspi.core.rounds.caps import Cap
from qrspi.core.rounds.loop import Failure, Loop
from qrspi.core.steps import after_round as gate
from qrspi.core.steps.after_round import Gate
from qrspi.core.steps.facts import Facts
from qrspi.core.tree import Fault

FAILURE_OPTIONS = (
    Option("skip", "go on without scores for this round; every finding is kept"),
    Option("retry", "send the failed reviewer or verifier again"),
    Option("stop", "leave everything as it is, for inspection"),
)
LOOP_OPTIONS = (
    Option("present", "Present for review"),
    Option("loop", "Loop until clean (recommended)"),
)
PAUSE_OPTIONS = (
    Option("apply", "apply the finding to this artifact"),
    Option("skip", "leave the artifact as it is"),
    Option("loop-back", "go back to the artifact the finding is really about"),
)
CAP_OPTIONS = (
    Option("present", "end the loop and go to the human gate"),
    Option("continue", "allow as many rounds again"),
    Option("rewind", "go back to an earlier step"),
)


def from_loop(facts: Facts, loop: Loop) -> Next:
    """The next action that a review loop's stage asks for."""
    if loop.number and loop.manifest is None and loop.stage not in ("closed", "abandoned"):
        return _no_manifest(facts, loop)
    match loop.stage:
        case "none" | "abandoned":
            return _prepare(facts, loop, loop.because)
        case "reviewing":
            return _review(facts, loop)
        case "guarded" | "failed":
            return _failure(facts, loop)
        case "verifying":
            return _verify(facts, loop)
        case "scored":
            return _mechanical(facts, loop, "assemble", "Assemble")
        case "paused":
            return _pause(facts, loop)
        case "fixing":
            return _fix(facts, loop)
        case "committing":
            return _bad_dispositions(facts, loop) or _mechanical(
                facts, loop, "commit-round", "Put on record"
            )
        case "closed":
            return _after(
                facts, loop, gate.after_closed(facts.tree, loop, facts.config, facts.base)
            )


def _next(
    facts: Facts,
    loop: Loop,
    action: Action,
    who: Who,
    summary: str,
    *,
    because: tuple[str, ...] = (),
    number: int = 0,
    missing: tuple[str, ...] = (),
    inputs: tuple[str, ...] = (),
    prompts: tuple[str, ...] = (),
    options: tuple[Option, ...] = (),
    command: str = "",
    kind: str = "",
) -> Next:
    return Next(
        action,
        who,
        summary,
        because or loop.because,
        loop.subject.key,
        number or loop.number,
        missing,
        inputs,
        prompts,
        options,
        command or f"qrspi next {facts.run}",
        kind,
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _mechanical(facts: Facts, loop: Loop, action: Action, verb: str) -> Next:
    summary = f"{verb} round {loop.number} of {loop.subject.key}: run `qrspi next {facts.run}`."
    return _next(facts, loop, action, "engine", summary)


def _prepare(facts: Facts, loop: Loop, because: tuple[str, ...]) -> Next:
    if facts.config.visual_fidelity_required and (unbound := _unbound(facts, loop)):
        return unbound
    number = loop.highest + 1
    summary = f"Prepare round {number} of {loop.subject.key}: run `qrspi next {facts.run}`."
    return _next(facts, loop, "prepare-round", "engine", summary, number=number, because=because)


def _unbound(facts: Facts, loop: Loop) -> Next | None:
    """A run that is held to its wireframes sends no reviewers to a text that names none."""
    from qrspi.core.artifacts import wireframes

    missing = wireframes.missing(facts.tree, loop.subject, facts.config)
    return _blocked(facts, loop, missing, "wireframes") if missing else None


def _bad_dispositions(facts: Facts, loop: Loop) -> Next | None:
    from qrspi.core.rounds import dispositions

    path = loop.paths.dispositions
    data = facts.tree.read(path)
    bad = () if isinstance(data, Fault) else dispositions.problems(data, path, loop.number)
    return _blocked(facts, loop, bad, "dispositions") if bad else None


def _blocked(facts: Facts, loop: Loop, problems: tuple[Problem, ...], kind: str) -> Next:
    more = f" (+{len(problems) - 1} more)" if len(problems) > 1 else ""
    return _next(
        facts,
        loop,
        "blocked",
        "human",
        f"{problems[0].message}{more}. Correct it, then run `qrspi next {facts.run}`.",
        because=tuple(problem.message for problem in problems),
        missing=tuple(dict.fromkeys(problem.file for problem in problems)),
        kind=kind,
    )


def _no_manifest(facts: Facts, loop: Loop) -> Next:
    folder = loop.paths.directory
    said = f"precondition-violation: {folder} holds files but was never prepared; move it away"
    why = f"{folder} has no manifest, so nobody knows who was sent"
    if loop.problem and loop.problem.file == loop.paths.manifest:
        said = f"precondition-violation: {loop.problem.message}; {loop.problem.hint}"
        why = f"{loop.problem.file} cannot be read, so nobody knows who was sent"
    return _next(
        facts,
        loop,
        "blocked",
        "human",
        f"{said}, then run `qrspi next {facts.run}`.",
        because=(why,),
        kind="precondition",
    )


def prompt_path(loop: Loop, tag: str) -> str:
    return f".qrspi/dispatch/{loop.subject.key}/{loop.paths.directory.rpartition('/')[2]}/{tag}.md"


def _review(facts: Facts, loop: Loop) -> Next:
    assert loop.round is not None
    missing = loop.round.silent_tags
    count = _count(len(missing), "reviewer")
    return _next(
        facts,
        loop,
        "review",
        "agent",
        f"Send {count} of {loop.subject.key} round {loop.number} ({', '.join(missing)}); each "
        f"writes into {loop.paths.directory}. One that cannot answer: `qrspi resolve {facts.run} "
        "skip|retry|stop`.",
        missing=missing,
        prompts=tuple(prompt_path(loop, tag) for tag in missing),
        inputs=(loop.subject.artifact,),
        options=FAILURE_OPTIONS,
        kind="failure",
    )


def _verify(facts: Facts, loop: Loop) -> Next:
    assert loop.round is not None
    missing = loop.round.unscored
    return _next(
        facts,
        loop,
        "verify",
        "agent",
        f"Score {_count(len(missing), 'finding')} of {loop.subject.key} round {loop.number}: "
        f"each needs a .score.yml beside it in {loop.paths.directory}.",
        missing=missing,
        prompts=tuple(prompt_path(loop, f"verify-{stem}") for stem in missing),
        inputs=tuple(f"{loop.paths.directory}/{stem}.md" for stem in missing),
        options=FAILURE_OPTIONS,
        kind="failure",
    )


def diagnostic(failures: tuple[Failure, ...]) -> str:
    """The one line of the failure menu."""
    if not failures:
        return ""
    more = f" (+{len(failures) - 1} more)" if len(failures) > 1 else ""
    return failures[0].diagnostic + more


def _failure(facts: Facts, loop: Loop) -> Next:
    line = diagnostic(loop.failures) or (loop.problem.message if loop.problem else "")
    skippable = bool(loop.failures) and all(item.skippable for item in loop.failures)
    options = FAILURE_OPTIONS if skippable else FAILURE_OPTIONS[1:]
    return _next(
        facts,
        loop,
        "decide",
        "human",
        line,
        options=options,
        command=f"qrspi resolve {facts.run} retry",
        kind="failure",
    )


def _pause(facts: Facts, loop: Loop) -> Next:
    assert loop.pause is not None
    names = loop.pause.undecided
    held = _held(facts, loop, names)
    answer = _next(
        facts,
        loop,
        "decide",
        "human",
        f"{_count(len(names), 'finding')} of {loop.subject.key} round {loop.number} for you to "
        f"decide: `qrspi decide {facts.run} FINDING apply|skip|loop-back`.",
        missing=names,
        options=PAUSE_OPTIONS,
        command=f"qrspi decide {facts.run} {names[0]} apply",
        kind="pause",
    )
    applied = sum(item.verdict == "keep" for item in loop.triaged)
    return answer._replace(held=held, auto_applied=applied)


def _held(facts: Facts, loop: Loop, names: tuple[str, ...]) -> tuple[Held, ...]:
    from qrspi.core.rounds import loop_back as loopback

    steps = loopback.upstream(facts.route, loop.subject.step)
    return tuple(
        Held(
            item.finding.name,
            item.verdict,
            item.finding.severity,
            item.finding.effective_type,
            item.because,
            item.finding.referenced_files,
            item.finding.message,
            loopback.targets(item.finding, steps, facts.run),
        )
        for item in loop.triaged
        if item.finding.name in names
    )


def _fix(facts: Facts, loop: Loop) -> Next:
    inputs = tuple(f"{loop.paths.directory}/{item.finding.file}" for item in loop.to_apply)
    return _next(
        facts,
        loop,
        "apply-fixes",
        "agent",
        f"Apply {_count(len(inputs), 'finding')} to {loop.subject.artifact} and say what was "
        f"done in {loop.paths.dispositions}.",
        inputs=(loop.paths.verified, *inputs),
        missing=(loop.paths.dispositions,),
        prompts=(prompt_path(loop, "fixer"),),
        kind="fix",
    )


def _after(facts: Facts, loop: Loop, verdict: Gate) -> Next:
    match verdict.then:
        case "prepare":
            return _prepare(facts, loop, (*loop.because, verdict.review))
        case "cascade":
            return _cascade(facts, loop, verdict)
        case "ask":
            return _ask(facts, loop, verdict)
        case "cap":
            return _cap(facts, loop, verdict)
        case _:
            return _approve(facts, loop, verdict)


def _approve(facts: Facts, loop: Loop, verdict: Gate) -> Next:
    return _next(
        facts,
        loop,
        "approve",
        "human",
        f"{verdict.review}. Read {loop.subject.artifact}, then `qrspi approve {facts.run} "
        f"{loop.subject.key}` or `qrspi reject {facts.run} {loop.subject.key} -m TEXT`.",
        because=(verdict.review,),
        inputs=(loop.subject.artifact,),
        command=f"qrspi approve {facts.run} {loop.subject.key}",
        kind="approve",
    )


def _cascade(facts: Facts, loop: Loop, verdict: Gate) -> Next:
    summary = (
        f"{verdict.review}, and a quick run approves a clean {loop.subject.key} by itself: "
        f"run `qrspi next {facts.run}`."
    )
    return _next(
        facts, loop, "approve", "engine", summary, because=(verdict.review,), kind="cascade"
    )


def _ask(facts: Facts, loop: Loop, verdict: Gate) -> Next:
    return _next(
        facts,
        loop,
        "decide",
        "human",
        f"{verdict.review}. 1) Present for review 2) Loop until clean (recommended): "
        f"`qrspi resolve {facts.run} loop`.",
        because=(verdict.review, "nobody has said yet how this loop goes on"),
        options=LOOP_OPTIONS,
        command=f"qrspi resolve {facts.run} loop",
        kind="loop",
    )


def _cap(facts: Facts, loop: Loop, verdict: Gate) -> Next:
    from qrspi.core.rounds import escape_report as escape

    assert verdict.cap is not None
    if verdict.cap.escape and not escape.is_written(facts.tree, loop):
        return _escape(facts, loop, verdict.cap)
    outlook = escape.outlook(facts.tree, loop, facts.config, facts.base)
    return _next(
        facts,
        loop,
        "decide",
        "human",
        f"The review loop of {loop.subject.key} stops here: {verdict.cap.reason}; it is "
        f"{outlook.word}. `qrspi resolve {facts.run} present|continue|rewind`.",
        because=(verdict.cap.reason, verdict.review, f"{outlook.word}: {outlook.because}"),
        options=CAP_OPTIONS,
        command=f"qrspi resolve {facts.run} present",
        kind="cap",
    )


def _escape(facts: Facts, loop: Loop, cap: Cap) -> Next:
    """What is unresolved is written down before anybody is asked."""
    summary = (
        f"The review loop of {loop.subject.key} stops here: {cap.reason}. Write down what is "
        f"unresolved: run `qrspi next {facts.run}`."
    )
    return _next(
        facts,
        loop,
        "decide",
        "engine",
        summary,
        because=(cap.reason,),
        options=CAP_OPTIONS,
        kind="escape",
    )
