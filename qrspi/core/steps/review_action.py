"""What the stage of a review loop asks for next."""

from __future__ import annotations

from qrspi.core.hints import TYPE_CHECKING, assert_never
from qrspi.core.model import (
    Ask,
    AskKind,
    Finding,
    Next,
    NextKind,
    Option,
    Problem,
    Sidecar,
    counted,
)
from qrspi.core.records import approvals, step_text
from qrspi.core.rounds.loop import SKIPPABLE, Loop
from qrspi.core.steps import authoring, sending
from qrspi.core.steps.facts import Facts
from qrspi.core.steps.next_actions import (
    about_round,
    author_of,
    blocked_by,
    by_engine,
    fixer_of,
    reject,
    yes_or_no,
)
from qrspi.core.tree import Fault

if TYPE_CHECKING:
    from qrspi.core.steps.after_round import Gate

FAILURE_OPTIONS = (
    Option("skip", "go on without scores for this round; every finding is kept"),
    Option("retry", "send the failed reviewer or verifier again; what it wrote is put aside"),
    Option("stop", "leave everything as it is, for inspection"),
)
# While nothing has failed
REVIEW_OPTIONS = (
    Option("skip", "close this round without waiting for the rest; nothing found is scored"),
    Option("retry", "take whoever has not answered as not sent yet"),
    FAILURE_OPTIONS[-1],
)
VERIFY_OPTIONS = (FAILURE_OPTIONS[0], *REVIEW_OPTIONS[1:])
LOOP_OPTIONS = (
    Option("present", "Present for review"),
    Option("loop", "Loop until clean (recommended)"),
)
AGAIN = Option("loop", "have it reviewed again, until it is clean (recommended)")


def from_loop(facts: Facts, loop: Loop) -> Next:
    match loop.stage:
        case "none" | "abandoned":
            return prepare_next(facts, loop, loop.because)
        case "closed":
            from qrspi.core.steps import after_round

            return _after(facts, loop, after_round.after_closed(facts, loop))
        case _ if loop.imported and not loop.taken_over:
            from qrspi.core.steps import stopped_rounds

            return stopped_rounds.left_open(facts, loop)
        case _ if blocked := unprepared(facts, loop):
            return blocked
        case "reviewing" if loop.is_renewable:
            return _renew(facts, loop)
        case "reviewing":
            return _review(facts, loop)
        case "guarded" if loop.files and loop.files.violations:
            from qrspi.core.steps import stopped_rounds

            return stopped_rounds.fix_files(facts, loop, loop.files)
        case "guarded" if loop.problem:
            return blocked_by(facts, "records", (loop.problem,), loop)
        case "guarded" | "failed":
            return _failure(facts, loop)
        case "verifying":
            return _verify(facts, loop)
        case "scored":
            kind: NextKind = "assemble-task" if loop.subject.is_task else ""
            what = _of_round("Collect the findings of", loop)
            return by_engine(facts, "assemble", kind, what, loop=loop)
        case "paused":
            from qrspi.core.steps import stopped_rounds

            return stopped_rounds.ask_about_findings(facts, loop)
        case "fixing":
            return _fix(facts, loop)
        case "committing":
            return commit_next(facts, loop)
        case _:
            assert_never(loop.stage)


def prepare_next(facts: Facts, loop: Loop, because: tuple[str, ...], kind: NextKind = "") -> Next:
    if not _is_imported(facts) and (faulty := _misshapen(facts, loop)):
        return faulty
    number = loop.highest + 1
    if facts.config.visual_fidelity_required:
        from qrspi.core.artifacts import wireframes

        if missing := wireframes.missing(facts.tree, loop.subject, facts.config):
            return blocked_by(facts, "wireframes", missing, loop, author_of(loop))
    if following := _without_tasks(facts, loop):
        return following
    if loop.subject.key in ("questions", "research"):
        from qrspi.core.steps import isolation

        if breaches := isolation.breaches(facts.tree, loop.subject):
            # Whoever answers a question is not told that its words are those of the goals.
            own = all(problem.file == loop.subject.artifact for problem in breaches)
            return blocked_by(facts, "isolation", breaches, loop, author_of(loop) if own else ())
    what = f"{_taken_back(facts)}Prepare round {number} of {loop.subject.key}"
    following = by_engine(facts, "prepare-round", kind, what, because, loop=loop)
    return following._replace(round=number)


def _without_tasks(facts: Facts, loop: Loop) -> Next | None:
    if loop.subject.key != "plan":
        return None
    from qrspi.core.artifacts import plan_tasks

    faults = plan_tasks.without_file(facts.tree) or plan_tasks.without_need(facts.tree)
    if not faults:
        return None
    following = blocked_by(facts, "plan-tasks", faults, loop, author_of(loop))
    return following._replace(command=faults[0].hint or following.command)


def _is_imported(facts: Facts) -> bool:
    from qrspi.core.records import import_record

    return import_record.FILE in facts.names


def _misshapen(facts: Facts, loop: Loop) -> Next | None:
    """Before anybody is asked to read it: goals are a person's, all other texts an agent's. What
    was made elsewhere may have another form, and is reviewed all the same."""
    if loop.subject.key != loop.subject.step:
        return None
    from qrspi.core.steps import text_form

    faults = text_form.faults(facts.tree, loop.subject.step)
    if not faults:
        return None
    following = blocked_by(facts, "form", faults, loop, author_of(loop))
    return following if loop.subject.key == "goals" else following._replace(who="agent")


def _renew(facts: Facts, loop: Loop) -> Next:
    faulty = None if _is_imported(facts) else _misshapen(facts, loop)
    if faulty := faulty or _without_tasks(facts, loop):
        return faulty
    artifact = loop.subject.artifact
    why = f"{artifact} has changed since the round was opened, and nobody has answered yet"
    if not loop.is_proven:
        why = f"{loop.paths.manifest} is on no record, and nobody has answered yet"
    return by_engine(facts, "prepare-round", "", _of_round("Renew", loop), (why,), loop=loop)


def commit_next(
    facts: Facts, loop: Loop, because: tuple[str, ...] = (), kind: NextKind = ""
) -> Next:
    """The open round is put on record, unless its dispositions cannot be read."""
    from qrspi.core.rounds import dispositions

    if blocked := unprepared(facts, loop):
        return blocked
    path = loop.paths.dispositions
    data = facts.tree.read(path)
    bad = () if isinstance(data, Fault) else dispositions.problems(data, path, loop.round)
    if bad:
        return blocked_by(facts, "dispositions", bad, loop, fixer_of(loop))
    what = _of_round("Put on record", loop)
    return by_engine(facts, "commit-round", kind, what, because, loop=loop)


def _of_round(verb: str, loop: Loop) -> str:
    return f"{verb} round {loop.round} of {loop.subject.key}"


def unprepared(facts: Facts, loop: Loop) -> Next | None:
    """What to do about an open round without a readable manifest of the engine."""
    fine = loop.is_proven or loop.is_renewable
    if loop.imported or (loop.manifest is not None and fine):
        return None
    from qrspi.core.steps import stopped_rounds

    return stopped_rounds.unprepared(facts, loop)


def asks_of(loop: Loop, kind: AskKind, targets: tuple[str, ...]) -> tuple[Ask, ...]:
    return tuple(Ask(kind, loop.subject.key, loop.round, target) for target in targets)


def _review(facts: Facts, loop: Loop) -> Next:
    assert loop.files is not None
    missing = loop.files.silent_tags
    asks, count = asks_of(loop, "review", missing), counted(len(missing), "reviewer")
    first = loop.round == 1 and loop.subject.key == facts.route[0]
    return about_round(
        facts,
        loop,
        "review",
        f"Send {count} of {loop.subject.key} round {loop.round} ({', '.join(missing)}); "
        f"{_hands_in(facts, loop, missing)}. {sending.ways(facts, asks, first=first)}.",
        missing=missing,
        asks=asks,
        inputs=(loop.subject.artifact,),
        options=REVIEW_OPTIONS,
    )


def _hands_in(facts: Facts, loop: Loop, tags: tuple[str, ...]) -> str:
    """Whoever judges facts is told of no folder, as its name would tell what they are for."""
    who = "it" if len(tags) == 1 else "each"
    if loop.subject.key != "research":
        return f"{who} writes into {loop.paths.directory}"
    return f"{who} prints, and `qrspi ingest FILE {facts.run} research --tag {tags[0]}` takes it in"


def _verify(facts: Facts, loop: Loop) -> Next:
    assert loop.files is not None
    missing = loop.files.unscored
    asks = asks_of(loop, "verify", missing)
    each = "it" if len(missing) == 1 else "each"
    return about_round(
        facts,
        loop,
        "verify",
        f"Score {counted(len(missing), 'finding')} of {loop.subject.key} round {loop.round}: "
        f"{_scores(facts, loop, each, missing[0])}. "
        f"{sending.ways(facts, asks)}.",
        missing=missing,
        asks=asks,
        inputs=tuple(f"{loop.paths.directory}/{stem}.md" for stem in missing),
        options=VERIFY_OPTIONS,
    )


def _scores(facts: Facts, loop: Loop, each: str, first: str) -> str:
    if loop.subject.key != "research":
        return f"{each} needs a .score.yml beside it in {loop.paths.directory}"
    way = f"qrspi submit score FILE {facts.run} research --round {loop.round} --finding {first}"
    return f"a verifier prints, and `{way}` takes it in"


def diagnostic(failures: tuple[Problem, ...]) -> str:
    if not failures:
        return ""
    more = f" (+{len(failures) - 1} more)" if len(failures) > 1 else ""
    return failures[0].message + more


def _failure(facts: Facts, loop: Loop) -> Next:
    line = diagnostic(loop.failures)
    skippable = bool(loop.failures) and all(item.code in SKIPPABLE for item in loop.failures)
    options = FAILURE_OPTIONS if skippable else FAILURE_OPTIONS[1:]
    command = f"qrspi resolve {facts.run} retry"
    unscored = _unscored(loop)
    folder = loop.paths.directory
    return about_round(
        facts,
        loop,
        "failure",
        line,
        because=(*loop.because, *_said(unscored)),
        missing=tuple(one.stem for one, _ in unscored),
        inputs=tuple(f"{folder}/{name}" for one, by in unscored for name in (one.file, by.file)),
        options=options,
        command=command,
    )


_SHOWN = 200


def _unscored(loop: Loop) -> tuple[tuple[Finding, Sidecar], ...]:
    """Findings that a verifier gave no score, each with what it gave instead."""
    read = loop.files
    scores = ((one, read.sidecars.get(one.stem)) for one in read.findings) if read else ()
    return tuple((one, score) for one, score in scores if score and score.score is None)


def _said(unscored: tuple[tuple[Finding, Sidecar], ...]) -> tuple[str, ...]:
    from qrspi.core.text import shortened

    return tuple(
        f'the verifier of {one.name} says: "{shortened.remark(score.reason, _SHOWN)}"'
        for one, score in unscored
        if score.reason
    )


def to_fix(loop: Loop) -> tuple[str, ...]:
    """What the fixer reads: the verified file, then the findings to apply."""
    findings = (f"{loop.paths.directory}/{item.finding.file}" for item in loop.to_apply)
    return (loop.paths.verified, *findings)


def _fix(facts: Facts, loop: Loop) -> Next:
    asks = fixer_of(loop)
    return about_round(
        facts,
        loop,
        "fix",
        f"Apply {counted(len(loop.to_apply), 'finding')} to {_texts(loop)} and say what was done "
        f"in {loop.paths.dispositions}. {sending.ways(facts, asks)}"
        f"{f'; {sending.taken_in(facts)}' if loop.subject.key == 'research' else ''}.",
        inputs=to_fix(loop),
        missing=(loop.paths.dispositions,),
        asks=asks,
    )


def _texts(loop: Loop) -> str:
    cited = (entry for item in loop.to_apply for entry in item.finding.referenced_files)
    tasks = loop.subject.key == "plan" and any("tasks/" in entry for entry in cited)
    return f"{loop.subject.artifact}{' and its tasks' if tasks else ''}"


def _after(facts: Facts, loop: Loop, gate: Gate) -> Next:
    match gate.then:
        case "approve":
            return _approve(facts, loop, gate)
        case "prepare":
            return prepare_next(facts, loop, (*loop.because, gate.review))
        case "ask":
            return _ask(facts, loop, gate)
        case "ask-again":
            return _ask_again(facts, loop, gate)
        case "cap":
            from qrspi.core.steps import stopped_rounds

            return stopped_rounds.ask_at_cap(facts, loop, gate)
        case "cascade" if faulty := _misshapen(facts, loop):
            return faulty
        case "cascade":
            what = f"{gate.review}, and a quick run approves a clean {loop.subject.key} by itself"
            return by_engine(facts, "approve", "cascade", what, (gate.review,), loop=loop)
        case _:
            assert_never(gate.then)


def _taken_back(facts: Facts) -> str:
    """Who took the approval back, while that is the newest decision about the step."""
    entry = approvals.newest(facts.records, facts.step)
    return authoring.returned(facts) if entry and entry.event == "unapprove" else ""


def _approve(facts: Facts, loop: Loop, gate: Gate) -> Next:
    """Where neither a review nor a person has settled the text, another review is offered first,
    and the flag that says so is named."""
    from qrspi.core.steps import after_round

    settled = gate.clean or (after_round.is_settled(facts, loop) and loop.fresh)
    again = f"qrspi resolve {facts.run} loop"
    first = "" if settled else f" `{again}` has it reviewed again (recommended)."
    remarks = after_round.to_know(facts, loop)
    remarked = "".join(f" {remark}." for remark in remarks)
    command = f"qrspi approve {facts.run} {loop.subject.key}{'' if settled else ' --unreviewed'}"
    return about_round(
        facts,
        loop,
        "approve",
        f"{_taken_back(facts)}{gate.review}.{remarked}{first} {'Read' if settled else 'Or read'} "
        f"{loop.subject.artifact}, then `{command}` or `{reject(facts, loop.subject.key)}`.",
        because=(gate.review, *remarks),
        inputs=step_text.paths(facts.tree, loop.subject.step),
        options=(*(() if settled else (AGAIN,)), *yes_or_no(facts, loop.subject.key, command)),
        command=command if settled else again,
    )


def _ask(facts: Facts, loop: Loop, gate: Gate) -> Next:
    command = f"qrspi resolve {facts.run} loop"
    ways = f"1) Present for review 2) Loop until clean (recommended): `{command}`"
    because = (gate.review, "nobody has said yet how this loop goes on")
    asked = about_round(facts, loop, "loop", f"{gate.review}. {ways}.", because=because)
    return asked._replace(options=LOOP_OPTIONS, command=command)


def _ask_again(facts: Facts, loop: Loop, gate: Gate) -> Next:
    """The second round of a quick run: the engine takes no default here."""
    why = "a quick run corrects by itself once, and the next round kept findings too"
    asked = _ask(facts, loop, gate._replace(review=f"{gate.review}; {why}"))
    return asked._replace(because=(gate.review, why), kind="loop-again")
