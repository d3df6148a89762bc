"""Rounds that do not go on by themselves: a person is asked about findings, about a loop that takes
too long, and about an open round that the engine did not prepare."""

from __future__ import annotations

from qrspi.core.filenames import RUNS
from qrspi.core.model import (
    Ask,
    HeldFinding,
    Next,
    Option,
    Problem,
    Round,
    Triaged,
    counted,
)
from qrspi.core.rounds import finding_history, pause_file
from qrspi.core.rounds.loop import Loop
from qrspi.core.rounds.round_list import Cap
from qrspi.core.steps import review_action
from qrspi.core.steps.after_round import Gate
from qrspi.core.steps.facts import Facts
from qrspi.core.steps.next_actions import about_round, by_engine
from qrspi.core.text.shell_words import answers

CAP_OPTIONS = (
    Option("present", "end the loop and go to the human gate"),
    Option("continue", "allow as many rounds again"),
    Option("rewind", "go back to an earlier step"),
)
PAUSE_OPTIONS = (
    Option("apply", "apply the finding to this artifact"),
    Option("skip", "leave the artifact as it is"),
    Option("loop-back", "go back to the artifact the finding is really about"),
)


def ask_at_cap(facts: Facts, loop: Loop, gate: Gate) -> Next:
    assert gate.cap is not None
    if gate.cap.escape and not finding_history.escape_is_written(facts.tree, loop):
        return _write_escape(facts, loop, gate.cap)
    options = _at_cap(facts, loop)
    ways = answers(f"qrspi resolve {facts.run}", [option.key for option in options])
    outlook = finding_history.outlook(facts.tree, loop, facts.config, facts.base)
    return about_round(
        facts,
        loop,
        "cap",
        f"The review loop of {loop.subject.key} stops here: {gate.cap.reason}; it is "
        f"{outlook.word}. {ways}.",
        because=(gate.cap.reason, gate.review, f"{outlook.word}: {outlook.because}"),
        options=options,
        command=f"qrspi resolve {facts.run} present",
    )


def _at_cap(facts: Facts, loop: Loop) -> tuple[Option, ...]:
    """From the first step there is no way back."""
    return CAP_OPTIONS if pause_file.upstream(facts.route, loop.subject.step) else CAP_OPTIONS[:-1]


def _write_escape(facts: Facts, loop: Loop, cap: Cap) -> Next:
    """Unresolved findings are written down before anybody is asked."""
    stops = f"The review loop of {loop.subject.key} stops here: {cap.reason}"
    what = f"{stops}. Write down what is unresolved"
    following = by_engine(facts, "decide", "escape", what, (cap.reason,), loop=loop)
    return following._replace(options=_at_cap(facts, loop))


IMPORTED_OPTIONS = (
    Option("take-over", "score and apply its findings; nobody else is sent, a full round follows"),
    Option("close", "leave it as it is; a new round follows"),
)


def is_to_be_taken_over(loop: Loop) -> bool:
    """Whether this is the recommended answer."""
    read = loop.files
    return read is not None and bool(read.findings) and not read.violations


def left_open(facts: Facts, loop: Loop) -> Next:
    take_over, close = IMPORTED_OPTIONS
    usual, other = (take_over, close) if is_to_be_taken_over(loop) else (close, take_over)
    resolve = f"qrspi resolve {facts.run}"
    return about_round(
        facts,
        loop,
        "imported-round",
        f"Round {loop.round} of {loop.subject.key} was made elsewhere and is not closed: "
        f"{answers(resolve, (usual.key, other.key))}.",
        options=IMPORTED_OPTIONS,
        command=f"{resolve} {usual.key}",
    )


def unprepared(facts: Facts, loop: Loop) -> Next:
    if loop.manifest is not None:
        return _unproven(facts, loop)
    folder, take = loop.paths.directory, f"qrspi import {RUNS}/{facts.run}"
    fault = f"{folder} holds files but was never prepared"
    why = f"{folder} has no manifest, so nobody knows who was sent"
    if loop.problem and loop.problem.file == loop.paths.manifest:
        fault = f"{loop.problem.message}; {loop.problem.hint}"
        why = f"{loop.problem.file} cannot be read, so nobody knows who was sent"
    ways = f"`{take}` takes it in as made elsewhere, `{_adopt(facts, loop)}` as a round of this run"
    summary = f"precondition-violation: {fault}. {ways}."
    return about_round(facts, loop, "precondition", summary, because=(why,), command=take)


def _adopt(facts: Facts, loop: Loop) -> str:
    return f"qrspi round prepare {facts.run} {loop.subject.key} --adopt"


def _unproven(facts: Facts, loop: Loop) -> Next:
    """Only a person's decision makes it a round."""
    command, why = _adopt(facts, loop), loop.because[0]
    ways = f"Take the round up with `{command}`."
    if loop.opening == "tampered":
        ways = f"Restore it, or expect everybody again with `{command}`."
    summary = f"Round {loop.round} of {loop.subject.key} is {loop.opening}: {why}. {ways}"
    because = (f"round {loop.round} is {loop.opening}: {why}",)
    return about_round(facts, loop, "precondition", summary, because=because, command=command)


def ask_about_findings(facts: Facts, loop: Loop) -> Next:
    assert loop.pause is not None
    names = loop.pause.undecided
    decide = f"qrspi decide {facts.run} {names[0]}"
    ways = _ways(facts, loop, names[:1])
    back = f", or `{decide} loop-back --to STEP`" if ways == PAUSE_OPTIONS else ""
    first = "the first: " if len(names) > 1 else ""
    following = about_round(
        facts,
        loop,
        "pause",
        f"{counted(len(names), 'finding')} of {loop.subject.key} round {loop.round} for you to "
        f"decide: {first}{answers(decide, ('apply', 'skip'))}{back}.",
        missing=names,
        inputs=(loop.subject.artifact, *_held_files(loop, names)),
        options=pause_options(facts, loop),
        command=f"{decide} apply",
    )
    agreed = sum(triaged.verdict == "keep" for triaged in loop.triaged)
    return following._replace(held=_held(facts, loop, names), to_apply=agreed)


def pause_options(facts: Facts, loop: Loop) -> tuple[Option, ...]:
    """From the first step there is no way back, and a finding that is only proposed stays here."""
    return _ways(facts, loop, loop.pause.undecided if loop.pause else ())


def _ways(facts: Facts, loop: Loop, names: tuple[str, ...]) -> tuple[Option, ...]:
    paused = any(item.verdict == "pause" and item.finding.name in names for item in loop.triaged)
    back = paused and pause_file.upstream(facts.route, loop.subject.step)
    return PAUSE_OPTIONS if back else PAUSE_OPTIONS[:-1]


def _held_files(loop: Loop, names: tuple[str, ...]) -> tuple[str, ...]:
    held = (item.finding.file for item in loop.triaged if item.finding.name in names)
    return tuple(f"{loop.paths.directory}/{file}" for file in held)


def _cited(item: Triaged, steps: tuple[str, ...], run: str) -> tuple[str, ...]:
    return pause_file.targets(item.finding, steps, run) if item.verdict == "pause" else ()


def _held(facts: Facts, loop: Loop, names: tuple[str, ...]) -> tuple[HeldFinding, ...]:
    steps = pause_file.upstream(facts.route, loop.subject.step)
    return tuple(
        HeldFinding(
            name=item.finding.name,
            verdict=item.verdict,
            severity=item.finding.severity,
            change_type=item.finding.effective_type,
            because=item.because,
            cites=item.finding.referenced_files,
            message=item.finding.message,
            targets=_cited(item, steps, facts.run),
        )
        for item in loop.triaged
        if item.finding.name in names
    )


def fix_files(facts: Facts, loop: Loop, read: Round) -> Next:
    """The agent that wrote it corrects it. Agents that wrote nothing yet need not wait."""
    faults = counted(len(read.violations), "fault")
    wrong = tuple(dict.fromkeys(fault.file for fault in read.violations))
    others = f"; {', '.join(read.silent_tags)} may be sent meanwhile" if read.silent_tags else ""
    again = f"To have all that this agent wrote made again: `qrspi resolve {facts.run} retry`."
    options: tuple[Option, ...] = review_action.FAILURE_OPTIONS[1:]
    if not any(may_be_made_again(read, problem) for problem in read.violations):
        stranger = [one for one in read.violations if one.code == "unrouted_tag"]
        way = (stranger or read.violations)[0].hint
        again = f"Or {way}, then run `qrspi next {facts.run}`."
        options = options[1:]
    return about_round(
        facts,
        loop,
        "fix-files",
        f"{faults} in what was written for {loop.subject.key} round {loop.round}: whoever wrote "
        f"it corrects it{others}. {again}",
        missing=(*read.silent_tags, *wrong),
        asks=(*review_action.asks_of(loop, "review", read.silent_tags), *_at_fault(loop, read)),
        inputs=wrong,
        options=options,
    )


def _at_fault(loop: Loop, read: Round) -> tuple[Ask, ...]:
    """Whoever corrects it: the verifier of a score, or the reviewer whose file it is."""
    from qrspi.core.findings import rejected

    names = tuple(dict.fromkeys(map(rejected.agent, read.violations)))
    stems = {finding.stem for finding in read.findings}
    reviewers = tuple(name for name in names if name in read.expected_tags)
    verifiers = tuple(name for name in names if name in stems)
    return (
        *review_action.asks_of(loop, "review", reviewers),
        *review_action.asks_of(loop, "verify", verifiers),
    )


def may_be_made_again(read: Round, fault: Problem) -> bool:
    """Whether somebody can be sent for it: a verifier, or a reviewer whom the round expects."""
    from qrspi.core.filenames import SidecarName, parse_round_file
    from qrspi.core.findings import guard

    kind = parse_round_file(fault.file.rpartition("/")[2])
    return isinstance(kind, SidecarName) or guard.blamed(fault) in read.expected_tags
