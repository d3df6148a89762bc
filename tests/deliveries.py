"""Tasks on their way, written down in a few words. Shared by tests of every layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qrspi.core.code_steps import baseline
from qrspi.core.code_steps.baseline import Baseline
from qrspi.core.filenames import RoundPaths
from qrspi.core.pipeline import ROUTES
from qrspi.core.records import task_records
from qrspi.core.records.task_records import ENDINGS, Report, ReportStatus, Start, TaskOutcome
from tests import runs

BASE, FIRST, SECOND = "b" * 40, "1" * 40, "2" * 40
TAGS = ("spec-claude", "code-quality-claude", "silent-failure-claude", "security-claude")
GATES = 'gates:\n  test_command: "sh test.sh"\n  ci_command: "sh ci.sh"\n'

PLAN = """\
---
status: approved
---

# Parallelization

## Dependency Analysis

| Task | Dependencies | Files |
|---|---|---|
| task-01 | none | a.py |
| task-02 | none | b.py |
| task-03 | task-01, task-02 | c.py |

## Branch Map

| Task | Branch | Base |
|---|---|---|
| task-01 | | feature branch tip |
| task-02 | | feature branch tip |
| task-03 | | stage-after-W1 |

## Stage Commits

| Stage branch | Composition | Created before |
|---|---|---|
| qrspi/user-auth/stage-after-W1 | merge(task-01 tip, task-02 tip) | task-03 |
"""
PHASES = "# Phasing\n\n## Phase 1\n\nThe first half.\n\n## Phase 2\n\nThe rest.\n"


def config(pipeline: str = "full", gates: str = GATES, **fields: str) -> bytes:
    """Tasks are merged into main, as a person has said; not with `feature_branch=""`."""
    chosen = {"review_depth": "quick", "review_mode": "loop", "feature_branch": "main", **fields}
    text = runs.config(pipeline, **{key: value for key, value in chosen.items() if value})
    return text.replace(b"model_routing:", gates.encode() + b"model_routing:")


def task(
    number: int, title: str = "", *, files: str = "", phase: int = 0, needs: str = "none"
) -> bytes:
    words = title or f"Part {number}"
    which = f"phase: {phase}\n" if phase else ""
    return (
        f"---\nstatus: approved\n{which}enforcement: strict\nallowed_files: []\nconstraints: []\n"
        f"---\n\n# Task {number:02d}: {words}\n\n- **Target files:** `{files or 'x.py'}`\n"
        f"- **Dependencies:** {needs}\n"
    ).encode()


def full(**fields: str) -> dict[str, bytes]:
    """At implement: three tasks of phase 1 in two waves, one of phase 2."""
    route = ROUTES["full"]
    return {
        "config.md": config("full", **fields),
        **runs.approved(*route[: route.index("implement")]),
        "phasing.md": runs.artifact("approved", PHASES),
        "parallelization.md": PLAN.encode(),
        "tasks/task-01.md": task(1, files="a.py", phase=1),
        "tasks/task-02.md": task(2, files="b.py", phase=1),
        "tasks/task-03.md": task(3, files="c.py", phase=1, needs="task-01, task-02"),
        "tasks/task-04.md": task(4, files="d.py", phase=2),
    }


def quick(tasks: Mapping[str, bytes] | None = None, **fields: str) -> dict[str, bytes]:
    route = ROUTES["quick"]
    return {
        "config.md": config("quick", **fields),
        **runs.approved(*route[: route.index("implement")]),
        **(tasks or {"tasks/task-01.md": task(1, files="a.py")}),
    }


def started(key: str, base: str = "feature branch tip", commit: str = BASE) -> dict[str, bytes]:
    start = Start(f"qrspi/user-auth/{key}", base, commit, f".worktrees/user-auth/{key}", "main")
    return {task_records.start_file(key): task_records.render_start(key, start)}


def reported(key: str, commit: str = FIRST, status: ReportStatus = "DONE") -> dict[str, bytes]:
    """Started, and this was said of it last."""
    report = Report(status, commit if status != "BLOCKED" else "", "2026-05-17T09:30:00Z")
    return {
        **started(key),
        task_records.report_file(key): task_records.render_report(key, report),
    }


def ended(key: str, ending: str) -> dict[str, bytes]:
    known = next(one for one in ENDINGS if one == ending)
    outcome = TaskOutcome(known, "good enough", "Ada Example", "2026-05-17T09:30:00Z")
    return {task_records.outcome_file(key): task_records.render_outcome(key, outcome)}


def round_of(
    key: str,
    number: int = 1,
    *,
    body: bytes,
    commit: str = FIRST,
    silent: Iterable[str] = (),
    finding: bytes | None = None,
    score: int | None = 90,
    **beside: bytes,
) -> dict[str, bytes]:
    """A round of a task: everybody clean but the silent, and the first with a finding if there
    is one. `beside` are files next to the round: dispositions, commit, verified."""
    paths = RoundPaths(f"reviews/tasks/{key}", number)
    tags = tuple(tag for tag in TAGS if tag not in set(silent))
    manifest = runs.manifest(key, number, TAGS, body, commit=commit)
    files = {paths.manifest: manifest}
    for tag in tags:
        files[f"{paths.directory}/{tag}.clean.md"] = runs.clean(tag, number)
    if finding is not None:
        del files[f"{paths.directory}/{tags[0]}.clean.md"]
        files[f"{paths.directory}/{tags[0]}.finding-F01.md"] = finding
        if score is not None:
            files[f"{paths.directory}/{tags[0]}.finding-F01.score.yml"] = runs.score(score)
    ends = {"dispositions": "-dispositions.md", "commit": "-commit.txt"}
    return files | {f"{paths.directory}{ends[name]}": data for name, data in beside.items()}


def failing_baseline(choice: baseline.Choice = "pending") -> dict[str, bytes]:
    taken = Baseline(BASE, "sh test.sh", 1, choice, "2026-05-17T09:30:00Z", ("one", "two"))
    return {baseline.FILE: baseline.render(taken)}


def finished() -> dict[str, bytes]:
    """Phase 1 is done: everything approved, and the marker there."""
    body = full()["tasks/task-01.md"]
    return {
        **full(),
        **runs.approved("implement", "integrate", "test"),
        **reported("task-01"),
        **round_of("task-01", body=body),
        **started("task-02"),
        **ended("task-02", "skipped-by-user"),
        "reviews/plan/round-01/quality-claude.clean.md": runs.clean("quality-claude"),
        "reviews/test/round-01-results.md": b"---\nexit: 0\n---\n",
        "reviews/baseline.md": b"---\nexit: 0\n---\n",
        "reviews/task-01-loop-pause-round-01.md": b"---\ndecisions:\n---\n",
        "reviews/plan-loop-pause-round-01.md": b"---\ndecisions:\n---\n",
        "fixes/ci-round-01/ci-command.md": b"# Mend\n",
        "pull-request.md": b"# Done\n",
        "replan.md": runs.artifact("draft", "# Replan\n\n## What changes\n\n- a word: minor\n"),
        "replan-pending.md": b"---\nphase: 1\ntimestamp: 2026-05-17T09:30:00Z\n---\n",
    }


PUT_AWAY = frozenset(
    """fixes/ci-round-01/ci-command.md implementation.md integration.md parallelization.md
    pull-request.md replan.md reviews/baseline.md reviews/task-01-loop-pause-round-01.md
    reviews/tasks/task-01/report.md reviews/tasks/task-01/round-01/.dispatch-manifest.json
    reviews/tasks/task-01/round-01/spec-claude.clean.md reviews/tasks/task-02/outcome.md
    reviews/test/round-01-results.md tasks/task-01.md tasks/task-02.md tasks/task-03.md
    test-results.md""".split()
)
