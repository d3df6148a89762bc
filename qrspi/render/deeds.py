"""What the engine did, as people say it; JSON and the audit trail keep the handlers' names."""

from __future__ import annotations

# `{it}` is a step or a task, with its round where there is one; `{step}` is without the round.
_SENTENCES = {
    "prepare-round": "open {it}",
    "write-prompts": "write the prompts of {it}",
    "assemble": "collect the findings of {it}",
    "scope": "note what the findings of {it} touch",
    "commit-drafts": "commit the drafts",
    "commit-round": "commit {it}",
    "adopt-commit": "find the commit of {it}",
    "choose-loop": "note how {it} goes on",
    "escape": "list the findings that {it} leaves open",
    "cascade": "approve {step}, which is clean",
    "backfill": "write missing settings into config.md",
    "record-skip": "note who is not sent in {it}",
    "record-bypass": "note who is not sent in {it}",
    "finish-split": "split what was printed for {it}",
    "audit": "audit the plan",
    "checkpoint-rows": "enter the tasks for checkpoints",
    "start-tasks": "make work trees for tasks",
    "settle": "note that the findings of {it} are settled",
    "draft-implementation": "write implementation.md",
    "write-repairs": "write tasks for what failed",
    "write-acceptance": "write tasks for what is not tested",
    "merge": "merge the tasks",
    "ci": "run CI",
    "run-tests": "run the tests",
    "draft-test-results": "write test-results.md; no tests were run",
    "draft-pull-request": "write pull-request.md",
    "archive-phase": "put the phase away",
    "replan-major": "go back for the next phase",
    "dispatch-author": "send the authors of {it}",
    "dispatch-review": "send the reviewers of {it}",
    "dispatch-verify": "send the verifiers of {it}",
    "dispatch-apply-fixes": "send the fixer of {it}",
    "dispatch-dispatch-tasks": "send the implementers",
}

# Short enough for a column.
_WORDS = {
    "assemble": "collect",
    "scope": "mark-touched",
    "choose-loop": "go-on",
    "cascade": "auto-approve",
}


def sentence(handler: str, step: str, number: int) -> str:
    """Without a subject: it stands behind `done:` or `would do:`."""
    it = f"{step} round {number}" if number else step
    known = _SENTENCES.get(handler)
    return known.format(it=it, step=step) if known else f"{handler} {it}"


def word(event: str) -> str:
    return _WORDS.get(event, event)
