from __future__ import annotations

import pytest

from qrspi.core.validation.file_kinds import kind_of

REPAIR = "ci-round-01/ci-command"


@pytest.mark.parametrize(
    ("path", "kind", "about", "number"),
    [
        ("config.md", "config", None, 0),
        ("/home/ada/shop/docs/qrspi/x/config.md", "config", None, 0),
        ("goals.md", "artifact", None, 0),
        ("research/summary.md", "artifact", None, 0),
        ("summary.md", "other", None, 0),
        ("research/q01.md", "companion", None, 0),
        ("roadmap.md", "companion", None, 0),
        ("future-ideas.md", "companion", None, 0),
        ("parallelization.md", "parallelization", None, 0),
        ("tasks/task-03.md", "task", None, 0),
        ("tasks/notes.md", "other", None, 0),
        ("task-03.md", "other", None, 0),
        ("fixes/ci-round-02/fix-task-01.md", "task", None, 0),
        ("fixes/other-round-02/fix-task-01.md", "other", None, 0),
        ("reviews/tasks/ci-round-01/ci-command/round-02/a.clean.md", "clean", REPAIR, 2),
        (f"reviews/tasks/{REPAIR}/round-02-dispositions.md", "dispositions", REPAIR, 2),
        ("reviews/tasks/ci-round-01/ci-command/report.md", "other", None, 0),
        ("reviews/tasks/ci-round-01/ci-command-review.md", "other", None, 0),
        ("reviews/tasks/task-01/ci-command/round-02/a.clean.md", "clean", None, 2),
        ("approvals.jsonl", "log", None, 0),
        (".qrspi/audit.jsonl", "log", None, 0),
        ("reviews/goals/round-03/quality-claude.finding-F01.md", "finding", "goals", 3),
        ("reviews/tasks/task-04/round-01/spec-claude.clean.md", "clean", "task-04", 1),
        ("reviews/integration/round-01/a.finding-F01.score.yml", "sidecar", "integrate", 1),
        ("reviews/goals/round-03/.dispatch-manifest.json", "manifest", "goals", 3),
        ("reviews/goals/round-03/notes.md", "unknown", "goals", 3),
        ("reviews/goals/round-03/.quality-claude.split", "other", "goals", 3),
        ("reviews/elsewhere/round-03/notes.md", "other", None, 3),
        ("reviews/elsewhere/round-03/a.clean.md", "clean", None, 3),
        ("quality-claude.finding-F01.md", "finding", None, 0),
        ("reviews/goals/round-3/a.finding-F01.md", "finding", None, 0),
        ("reviews/goals/round-03-scope-set.txt", "scope-set", "goals", 3),
        ("reviews/goals/round-03-dispositions.md", "dispositions", "goals", 3),
        ("reviews/goals/round-03-commit.txt", "anchor", "goals", 3),
        ("reviews/goals/round-3-commit.txt", "other", None, 0),
        ("reviews/goals/round-03-verified.md", "other", None, 0),
        ("reviews/goals/loop.md", "loop-choice", None, 0),
        ("notes/loop.md", "other", None, 0),
        ("reviews/design-loop-pause-round-02.md", "pause", "design", 2),
        ("reviews/design-loop-escape-round-02.md", "other", None, 0),
        ("closed.md", "other", None, 0),
        (".goals.md.swp", "other", None, 0),
        ("", "other", None, 0),
    ],
)
def test_the_end_of_a_path_says_what_the_file_is(
    path: str, kind: str, about: str | None, number: int
) -> None:
    found = kind_of(path)
    key = found.subject.key if found.subject else None
    assert (found.kind, key, found.number) == (kind, about, number)
