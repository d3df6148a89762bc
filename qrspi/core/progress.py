"""The next action of the current step: author, review loop, gate."""

from __future__ import annotations

from qrspi.core import approvals, bodies, frontmatter, gate, skeleton
from qrspi.core import loop as loops
from qrspi.core.facts import Answer, Facts, artifact_status
from qrspi.core.filenames import feedback_file, round_number
from qrspi.core.gate import Gate
from qrspi.core.loop import Failure, Loop
from qrspi.core.model import Action, Next, Option, Problem, Who
from qrspi.core.pipeline import CODE_STEPS, STEP, Subject, prerequisites, subject
from qrspi.core.tree import Fault, Tree

FAILURE_OPTIONS = (
    Option("skip", "go on without scores for this round; every finding is kept"),
    Option("retry", "send the failed reviewer or verifier again"),
    Option("stop", "leave everything as it is, for inspection"),
)
LOOP_OPTIONS = (
    Option("present", "Present for review"),
    Option("loop", "Loop until clean (recommended)"),
)
CAP_OPTIONS = (
    Option("present", "end the loop and go to the human gate"),
    Option("continue", "allow as many rounds again"),
    Option("rewind", "go back to an earlier step"),
)
REPLAN_OPTIONS = (
    Option("minor", "only the remaining plan and tasks change"),
    Option("major", "an earlier artifact changes: say which with --to"),
)


def answer(facts: Facts) -> tuple[Answer, tuple[Problem, ...]]:
    """What the current step needs next, and what was odd on the way."""
    if facts.step == "replan":
        return Answer(_replan(facts)), ()
    if facts.step in CODE_STEPS:
        from qrspi.core import delivery

        return delivery.answer(facts)
    return reviewed(facts, _subject(facts.step))


def _subject(word: str) -> Subject:
    found = subject(word)
    assert found is not None
    return found


def reviewed(facts: Facts, about: Subject) -> tuple[Answer, tuple[Problem, ...]]:
    """The answer for a step that is authored, reviewed and approved."""
    if facts.statuses.get(facts.step) == "invalid":
        return Answer(_invalid(facts)), ()
    if why := needs_author(facts):
        return Answer(_author(facts, why)), ()
    loop = loops.evaluate(facts.tree, about, facts.config, facts.base)
    return Answer(from_loop(facts, loop), loop), loop.warnings


def _invalid(facts: Facts) -> Next:
    artifact = STEP[facts.step].artifact
    problem = artifact_status(facts.tree, facts.step)[1]
    why = problem.message if problem else f"{artifact} cannot be read"
    return Next(
        "blocked",
        "human",
        f"{why}. Correct it, then run `qrspi next {facts.run}`.",
        (why,),
        step=facts.step,
        missing=(artifact,),
        command=f"qrspi validate {facts.run}",
        kind="invalid",
    )


def needs_author(facts: Facts) -> tuple[str, ...]:
    """Why somebody must write the artifact; empty when the text can be reviewed."""
    artifact = STEP[facts.step].artifact
    if facts.statuses.get(facts.step) == "missing":
        return (f"{artifact} does not exist",)
    data = facts.tree.read(artifact)
    if isinstance(data, Fault):
        return ()
    if facts.step == "goals" and _same_text(data, skeleton.GOALS.encode()):
        return (f"{artifact} is still the empty draft that init wrote",)
    if feedback := _rejected_as_is(facts, data):
        return (f"{artifact} is still the text that {feedback} rejects",)
    entry = approvals.newest(facts.records, facts.step)
    if entry and entry.event == "rewind" and entry.body_hash == _hash(facts):
        return (f"{artifact} was returned to draft and has not changed since",)
    return ()


def _hash(facts: Facts) -> str:
    return bodies.body_hash(facts.tree, _subject(facts.step))


def _same_text(one: bytes, other: bytes) -> bool:
    hashes = [frontmatter.body_hash([frontmatter.body(data)]) for data in (one, other)]
    return hashes[0] == hashes[1]


def newest_feedback(tree: Tree, step: str) -> str:
    """The path of the step's newest feedback; '' when there is none."""
    entries = tree.entries("feedback")
    numbers = [
        number
        for entry in (() if isinstance(entries, Fault) else entries)
        if entry.name.startswith(f"{step}-round-") and entry.name.endswith(".md")
        if (number := round_number(entry.name[len(step) + 1 : -3]))
    ]
    return feedback_file(step, max(numbers)) if numbers else ""


def _rejected_as_is(facts: Facts, artifact: bytes) -> str:
    """The newest feedback, when the artifact is the very text it quotes as rejected."""
    if "feedback" not in facts.names:
        return ""
    path = newest_feedback(facts.tree, facts.step)
    data = facts.tree.read(path) if path else Fault("absent")
    if isinstance(data, Fault):
        return ""
    # Feedback is verbatim and may itself carry the heading, so each one is tried.
    parts = data.replace(b"\r\n", b"\n").split(b"\n## Previous Artifact\n")
    quoted = (b"\n## Previous Artifact\n".join(parts[at:]) for at in range(1, len(parts)))
    same = any(_same_text(text.removeprefix(b"\n"), artifact) for text in quoted)
    return path if same else ""


def _author(facts: Facts, why: tuple[str, ...]) -> Next:
    artifact = STEP[facts.step].artifact
    inputs = [STEP[need].artifact for need in prerequisites(facts.step, facts.route)]
    if feedback := newest_feedback(facts.tree, facts.step):
        inputs.append(feedback)
    return Next(
        "author",
        "human" if facts.step == "goals" else "agent",
        f"Write {artifact}, then run `qrspi next {facts.run}`.",
        why,
        step=facts.step,
        inputs=tuple(inputs),
        prompts=(f".qrspi/dispatch/{facts.step}/author.md",),
        command=f"qrspi next {facts.run}",
        kind="author",
    )


def _replan(facts: Facts) -> Next:
    return Next(
        "replan",
        "human",
        f"Phase {facts.phase} is done and another follows: say how the plan changes with "
        f"`qrspi replan minor {facts.run}` or `qrspi replan major {facts.run} --to STEP`.",
        ("replan-pending.md is there",),
        step="replan",
        options=REPLAN_OPTIONS,
        command=f"qrspi replan minor {facts.run}",
        kind="replan",
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
            return _mechanical(facts, loop, "commit-round", "Put on record")
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
    number = loop.highest + 1
    summary = f"Prepare round {number} of {loop.subject.key}: run `qrspi next {facts.run}`."
    return _next(facts, loop, "prepare-round", "engine", summary, number=number, because=because)


def _no_manifest(facts: Facts, loop: Loop) -> Next:
    folder = loop.paths.directory
    return _next(
        facts,
        loop,
        "blocked",
        "human",
        f"precondition-violation: {folder} holds files but was never prepared; move it away, "
        f"then run `qrspi next {facts.run}`.",
        because=(f"{folder} has no manifest, so nobody knows who was sent",),
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
        f"Score {_count(len(missing), 'finding')} of {loop.subject.key} round {loop.number}: each needs a "
        f".score.yml beside it in {loop.paths.directory}.",
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
    return _next(
        facts,
        loop,
        "decide",
        "human",
        f"{_count(len(names), 'finding')} of {loop.subject.key} round {loop.number} for you to decide: "
        f"`qrspi decide {facts.run} FINDING apply|skip|loop-back`.",
        missing=names,
        options=(
            Option("apply", "apply the finding to this artifact"),
            Option("skip", "leave the artifact as it is"),
            Option("loop-back", "go back to the artifact the finding is really about"),
        ),
        command=f"qrspi decide {facts.run} {names[0]} apply",
        kind="pause",
    )


def _fix(facts: Facts, loop: Loop) -> Next:
    inputs = tuple(f"{loop.paths.directory}/{item.finding.file}" for item in loop.to_apply)
    return _next(
        facts,
        loop,
        "apply-fixes",
        "agent",
        f"Apply {_count(len(inputs), 'finding')} to {loop.subject.artifact} and say what was done in "
        f"{loop.paths.dispositions}.",
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
    assert verdict.cap is not None
    return _next(
        facts,
        loop,
        "decide",
        "human",
        f"The review loop of {loop.subject.key} stops here: {verdict.cap.reason}. "
        f"`qrspi resolve {facts.run} present|continue|rewind`.",
        because=(verdict.cap.reason, verdict.review),
        options=CAP_OPTIONS,
        command=f"qrspi resolve {facts.run} present",
        kind="cap",
    )
