"""An agent's answer that somebody hands in: judged like one that the engine asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from qrspi.core.errors import Refusal, accepted
from qrspi.core.model import Ask, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject
from qrspi.core.records.audit_trail import Answer
from qrspi.core.validation.file_check import inspect
from qrspi.core.validation.file_kinds import kind_of
from qrspi.handlers.agents import answer_files
from qrspi.handlers.agents.answer_files import Draft, Score, Taken
from qrspi.handlers.agents.assignments import texts_now
from qrspi.handlers.changes.change_set import look
from qrspi.handlers.jobs.carry_out import carry_out
from qrspi.handlers.jobs.job import Job, Options, Performed
from qrspi.handlers.rounds import named_round
from qrspi.world.runs.workspace import Workspace

LIMIT = 8 * 1024 * 1024
_TEXTS = ("author", "fix", "research-question")


class HandedIn(NamedTuple):
    name: str  # whose answer it is
    step: str
    round: int
    files: tuple[str, ...]  # run-relative
    notes: tuple[str, ...]


def artifact(workspace: Workspace, step: str, name: str, data: bytes, options: Options) -> HandedIn:
    with workspace.locked(options.lock_timeout, "qrspi submit artifact"):
        job = look(workspace, options)
        ask = _asked(job, step, name)
        draft = _draft(job, ask, _decoded(data))
        if problems := _problems(job, draft):
            raise _malformed(f"the text for {draft.artifact}", problems)
        return _carried_out(job, ask.name, "submit-artifact", data, lambda: _put(job, ask, draft))


def score(
    workspace: Workspace, subject: Subject, number: int, finding: str, data: bytes, options: Options
) -> HandedIn:
    with workspace.locked(options.lock_timeout, "qrspi submit score"):
        job = named_round.to_read(workspace, subject, number, options)
        stem = _awaiting(job, finding)
        found = answer_files.checked_score(job, stem, _decoded(data))
        if not isinstance(found, Score):
            raise _malformed(f"the score of {finding}", found)
        done = found

        def put() -> Taken:
            path = f"{job.round_loop.paths.directory}/{done.name}"
            job.workspace.create(path, done.data)
            return Taken((path,), notes=done.notes)

        return _carried_out(job, f"verify-{stem}", "submit-score", data, put)


def _carried_out(
    job: Job, name: str, event: str, data: bytes, put: Callable[[], Taken | Problem]
) -> HandedIn:
    def handler(job: Job) -> Performed:
        taken = accepted(put())
        reply = Answer(name, hashlib.sha256(data).hexdigest(), taken.files)
        number = job.loop.round if job.loop else 0
        step = job.loop.subject.key if job.loop else job.facts.step
        return Performed(event, step, number, taken.files, taken.notes, answers=(reply,))

    done = carry_out(handler, job)
    return HandedIn(name, done.step, done.round, done.files, done.notes)


def _decoded(data: bytes) -> str:
    if len(data) > LIMIT:
        text = f"the text has more than {LIMIT} bytes"
        raise Refusal(Problem("too-large", text, expected=f"at most {LIMIT} bytes"))
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        text = f"the text is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}"
        raise Refusal(Problem("reply-malformed", text, expected="UTF-8")) from None


def _asked(job: Job, step: str, name: str) -> Ask:
    waited = [ask for ask in job.next.asks if ask.kind in _TEXTS and ask.subject == step]
    found = [ask for ask in waited if name in ("", ask.name)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(ask.name for ask in waited)
    if waited:
        text = f"{step} waits for {len(waited)} texts, {names}: say whose this is"
        text = f"{step} waits for no text of {name!r}, but of {names}" if name else text
        raise Refusal(Problem("not-awaited", text, found=name, expected=names))
    text = f"{job.run} waits for no text of {step}. What it waits for: {job.next.summary}"
    raise Refusal(Problem("not-awaited", text, found=step, hint=f"qrspi status {job.run}"))


def _draft(job: Job, ask: Ask, text: str) -> Draft:
    if ask.kind == "fix":
        found = answer_files.printed_fix(job.workspace, job, text)
    else:
        found = answer_files.written(job, ask, text)
    if isinstance(found, Problem):
        raise Refusal(found)
    return found


def _problems(job: Job, draft: Draft) -> tuple[Problem, ...]:
    kinds = {file.path: kind_of(f"{job.workspace.path}/{file.path}") for file in draft.files}
    return tuple(
        problem
        for file in draft.files
        for problem in inspect(kinds[file.path], file.path, file.text.encode()).problems
    )


def _put(job: Job, ask: Ask, draft: Draft) -> Taken | Problem:
    taken = answer_files.put(job, draft, texts_now(job))
    if isinstance(taken, Taken) and ask.kind == "author" and not job.options.dry_run:
        answer_files.commit_whole(job, draft)
    return taken


def _awaiting(job: Job, name: str) -> str:
    loop = job.round_loop
    findings = loop.files.findings if loop.files else ()
    unscored = loop.files.unscored if loop.files and loop.stage != "closed" else ()
    waiting = [one for one in findings if one.stem in unscored]
    for one in waiting:
        if name in (one.name, one.stem):
            return one.stem
    listed = ", ".join(one.name for one in waiting) or "no finding"
    where = f"round {loop.round:02d} of {loop.subject.key}"
    text = f"{where} does not wait for a score of {name!r}, but of {listed}"
    hint = f"qrspi show {job.run} {loop.subject.key} --round {loop.round}"
    raise Refusal(Problem("not-awaited", text, found=name, expected=listed, hint=hint))


def _malformed(what: str, problems: tuple[Problem, ...]) -> Refusal:
    count = f"{len(problems)} fault{'s' if len(problems) > 1 else ''}"
    text = f"{what} has {count}, so nothing is written: correct it first"
    return Refusal(Problem("reply-malformed", text), *problems)
