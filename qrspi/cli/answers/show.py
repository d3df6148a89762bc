"""What `show` says: the findings of a round, and why each was kept or dropped."""

from __future__ import annotations

from qrspi.cli import run_words
from qrspi.cli.session import Session
from qrspi.core.derivation.derive import survey
from qrspi.core.hints import Any
from qrspi.core.pipeline import Subject
from qrspi.core.records import comments
from qrspi.handlers.rounds import round_findings
from qrspi.handlers.rounds.round_findings import Findings
from qrspi.render import problems, rounds, run_page
from qrspi.render.history import comments as comment_pages
from qrspi.render.terminal import visible
from qrspi.world.runs.workspace import Workspace

USAGE = "qrspi show [RUN] [STEP] [--round N]"


def show(
    session: Session,
    words: tuple[str, ...] = (),
    number: int | None = None,
    dropped: bool = False,
    since_approval: bool = False,
) -> None:
    at = run_words.current_place(session, words, USAGE)
    if since_approval:
        _edited(session, at.workspace, at.subject)
        return
    found = round_findings.findings(at.workspace, at.subject, number)
    if dropped:
        only = (one for one in found.shown if one.item.verdict == "drop")
        found = found._replace(shown=tuple(only))
    document: dict[str, Any] = {
        "schema": "qrspi/show/v1",
        "run": at.run,
        "step": at.subject.key,
        "round": found.number or None,
        "findings": [rounds.finding_document(one) for one in found.shown],
        "answers": [one._asdict() for one in found.answers],
    }
    lines = _lines(session, at.subject, found, dropped)
    if tests := survey(at.workspace).state.tests if at.subject.key == "test" else None:
        document["tests"] = run_page.tests_document(tests)
        lines = [run_page.tests_line(tests), "", *lines]
    if unread := found.unread:
        document["unread"] = problems.violations(unread)
        lines += ["", *problems.marked("not read", unread)]
    if open_ := comments.open_about(at.workspace, at.subject.step):
        document["comments"] = [comment_pages.comment_document(one) for one in open_]
        lines += ["", *(line for one in open_ for line in comment_pages.comment_lines(one))]
    session.answer(document, lines)


def _lines(session: Session, subject: Subject, found: Findings, dropped: bool) -> list[str]:
    if not found.number:
        return [f"{subject.key} has no review round yet."]
    title = rounds.title(subject.key, found.number)
    if dropped:
        lines = rounds.dropped_lines(found.shown, found.number)
        return [f"{title}, dropped findings", "", *lines]
    lines = rounds.findings_lines(
        found.shown, found.number, session.width, found.silent, found.unscored
    )
    return [title, "", *lines, *rounds.evidence_lines(found.answers)]


def _edited(session: Session, workspace: Workspace, subject: Subject) -> None:
    from qrspi.handlers.changes import review_target

    found = review_target.edited_since_approval(workspace, subject)
    text = found.diff.decode(errors="replace")
    document = {
        "schema": "qrspi/show/v1",
        "run": workspace.name,
        "step": subject.key,
        "since_approval": {"commit": found.commit, "diff": text},
    }
    same = f"{subject.artifact} has not changed since it was approved in {found.commit}."
    session.answer(document, visible(text).rstrip("\n").split("\n") if text else [same])
