"""What `show` says: the findings of a round, and why each was kept or dropped."""

from __future__ import annotations

from qrspi.cli import run_words
from qrspi.cli.session import Session
from qrspi.core.derivation.derive import derive
from qrspi.core.hints import Any
from qrspi.core.pipeline import Subject
from qrspi.core.tree import Tree, exists
from qrspi.handlers.rounds import round_findings
from qrspi.handlers.rounds.round_findings import Findings
from qrspi.render import problems, rounds
from qrspi.render.terminal import visible

FEEDBACK = "feedback"  # where comments are, beside the words of rejections
USAGE = "qrspi show [RUN] [STEP] [--round N]"


def show(
    session: Session,
    words: tuple[str, ...] = (),
    number: int | None = None,
    dropped: bool = False,
    since_approval: bool = False,
) -> None:
    tree, subject = run_words.current_subject(session, words, USAGE, finished=True)
    if since_approval:
        _edited(session, tree.path, subject)
        return
    found = round_findings.findings(tree, subject, number)
    if dropped:
        only = (one for one in found.shown if one.item.verdict == "drop")
        found = found._replace(shown=tuple(only))
    document: dict[str, Any] = {
        "schema": "qrspi/show/v1",
        "run": tree.name,
        "step": subject.key,
        "round": found.number or None,
        "findings": [rounds.finding_document(one) for one in found.shown],
        "answers": [one._asdict() for one in found.answers],
    }
    lines = _lines(session, subject, found, dropped)
    if tests := derive(tree).tests if subject.key == "test" else None:
        from qrspi.render import run_page

        document["tests"] = run_page.tests_document(tests)
        lines = [run_page.tests_line(tests), "", *lines]
    if unread := found.unread:
        document["unread"] = problems.violations(unread)
        lines += ["", *problems.marked("not read", unread)]
    if exists(tree, FEEDBACK):
        _with_comments(tree, subject, document, lines)
    session.answer(document, lines)


def _with_comments(
    tree: Tree, subject: Subject, document: dict[str, Any], lines: list[str]
) -> None:
    from qrspi.core.records import comments
    from qrspi.render.history.comments import comment_document, comment_lines

    if found := comments.open_about(tree, subject.step):
        document["comments"] = [comment_document(one) for one in found]
        lines += ["", *(line for one in found for line in comment_lines(one))]


def _lines(session: Session, subject: Subject, found: Findings, dropped: bool) -> list[str]:
    if not found.number:
        return [f"{subject.key} has no review round yet."]
    title = rounds.title(subject.key, found.number)
    if dropped:
        lines = rounds.dropped_lines(found.shown, found.number)
        return [f"{title}, dropped findings", "", *lines]
    lines = rounds.findings_lines(
        found.shown,
        found.number,
        session.width,
        found.silent,
        found.unscored,
        unread=bool(found.unread),
    )
    return [title, "", *lines, *rounds.evidence_lines(found.answers)]


def _edited(session: Session, path: str, subject: Subject) -> None:
    from qrspi.handlers.changes import review_target
    from qrspi.world.runs.workspace import Workspace

    workspace = Workspace(path)
    found = review_target.edited_since_approval(workspace, subject)
    text = found.diff.decode(errors="replace")
    document = {
        "schema": "qrspi/show/v1",
        "run": workspace.name,
        "step": subject.key,
        "since_approval": {"commit": found.commit, "diff": text},
    }
    same = f"{subject.artifact} has not changed since it was approved in {found.commit}."
    if text and not session.json:
        session.write(visible(text).rstrip("\n") + "\n")  # a folded patch is none
    else:
        session.answer(document, [same])
