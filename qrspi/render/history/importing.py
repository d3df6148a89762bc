"""`qrspi import`: what was taken in, and what is asked before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qrspi.core.importing.config_import import Question
from qrspi.core.importing.import_plan import ImportPlan
from qrspi.core.model import Next, counted
from qrspi.handlers.importing import Imported, Source
from qrspi.render import run_page
from qrspi.render.terminal import one_line


def document(
    source: Source, plan: ImportPlan, done: Imported | None, questions: Sequence[Question] = ()
) -> dict[str, Any]:
    return {
        "schema": "qrspi/import/v1",
        "imported": done is not None,
        "run": source.name,
        "from": source.shown,
        "copied": source.copied,
        "rounds": {folder: list(numbers) for folder, numbers in plan.found.rounds.items()},
        "open": dict(plan.record.open),
        "changes": list(plan.changes),
        "oddities": [
            {"kind": oddity.kind, "count": oddity.times, "examples": list(oddity.examples)}
            for oddity in plan.oddities
        ],
        "questions": [
            {**one._asdict(), "recommended": one.recommended or None} for one in questions
        ],
        "files": list(done.files if done else plan.files),
        "commit": done.commit if done else None,
        "next": run_page.next_document(_following(plan, done)),
    }


def lines(source: Source, plan: ImportPlan, imported: Imported | None) -> list[str]:
    if not plan.files:
        what = "committed now" if imported and imported.commit else "nothing is new"
        head = f"{source.name} is imported already: {what}."
        return [head, "", *run_page.next_lines(_following(plan, imported))]
    verb = "Imported" if imported else "Would import"
    from_ = f" from {one_line(source.shown)}" if source.copied else ""
    rounds = sum(map(len, plan.found.rounds.values()))
    count = counted(len(plan.found.files), "file")
    lines = [f"{verb} {source.name}{from_}: {count}, {counted(rounds, 'round')} made elsewhere"]
    lines += [f"  {one_line(change)}" for change in plan.changes]
    lines += [f"  {folder} was open: {choice}" for folder, choice in plan.record.open.items()]
    lines += _odd(plan, examples=imported is None)
    written = ", ".join(imported.files if imported else plan.files)
    lines += ["", f"{'Written' if imported else 'Would write'}: {written}"] if written else []
    lines += [f"Committed as {imported.commit[:12]}"] if imported and imported.commit else []
    return [*lines, "", *run_page.next_lines(_following(plan, imported))]


def _odd(plan: ImportPlan, *, examples: bool) -> list[str]:
    """A rehearsal is the only report, so it has an example of each kind."""
    if not plan.oddities:
        return []
    lines = ["", "What is odd:" if examples else "What is odd (import.md has examples):"]
    for oddity in plan.oddities:
        lines.append(f"  {one_line(oddity.kind)}: {oddity.times}")
        lines += [f"    {one_line(text)}" for text in oddity.examples[:1] if examples]
    return lines


def _following(plan: ImportPlan, imported: Imported | None) -> Next:
    """A rehearsal names no prompt: nobody is waited for before the run is taken in."""
    following = plan.after.state.next
    if imported or not plan.files:
        return following
    words = following.summary.partition(" `qrspi prompt ")[0]
    return following._replace(summary=f"{words.rstrip('.;')}.")


def question_lines(questions: Sequence[Question], command: str) -> list[str]:
    lines = ["To be answered first:"]
    for question in questions:
        lines.append(f"  {one_line(question.ask)}")
        ways = " | ".join(question.options) or "VALUE"
        usual = f"; recommended: {question.recommended}" if question.recommended else ""
        lines.append(f"    --set {question.key}={ways}{usual}")
    if all(one.recommended for one in questions):
        lines += ["", f"`{command} --yes` takes what is recommended."]
    return lines
