"""What implement, integrate and test wait for, from files alone."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from qrspi.core import reviewers
from qrspi.core.code_steps import baseline, batch, gate_records, task_state, test_results
from qrspi.core.code_steps.baseline import Baseline
from qrspi.core.code_steps.batch import fix_rounds, next_fix_round, repairs
from qrspi.core.code_steps.gate_records import Merge
from qrspi.core.code_steps.task_state import TERMINAL, TaskState
from qrspi.core.code_steps.test_results import Failure, Results
from qrspi.core.config.reader import read as read_config
from qrspi.core.derivation.derive import derive, survey
from qrspi.core.filenames import RoundPaths
from qrspi.core.model import Ask, Next
from qrspi.core.pipeline import subject, subject_of
from qrspi.core.records import task_records
from qrspi.core.records.task_records import Reopened
from qrspi.core.rounds import loop, verified_file
from qrspi.core.steps.facts import Facts
from tests import deliveries, runs
from tests.deliveries import (
    BASE,
    FIRST,
    SECOND,
    ended,
    failing_baseline,
    full,
    quick,
    reported,
    round_of,
    started,
    task,
)
from tests.runs import RUN, finding, tree

Files = Mapping[str, bytes]
ONE = task(1, files="a.py", phase=1)
WRONG = finding("spec-claude", step="task-01", cites="a.py:L1")


def after(*parts: Files, start: Files | None = None) -> Next:
    return derive(tree(start or full(), *parts, in_git=True)).next


def facts_of(*parts: Files) -> Facts:
    facts = survey(tree(*parts, in_git=True)).facts
    assert facts is not None
    return facts


def shown(answer: Next) -> tuple[str, str, str, tuple[str, ...]]:
    return answer.action, answer.who, answer.kind, answer.missing


def assembled(files: Files, key: str, number: int = 1) -> dict[str, bytes]:
    """The round with what the engine writes when all have answered."""
    at = tree(files)
    settings = read_config(files["config.md"])
    read = loop.evaluate(at, subject_of(key), settings)
    paths = RoundPaths(f"reviews/tasks/{key}", number)
    scopes = f"# scope-set for round {number}\n# generated_by: qrspi\n# total_findings_kept: "
    tags = "a.py\n" if read.kept else ""
    return {
        **files,
        paths.verified: read.verified,
        paths.kept: verified_file.kept_list(
            verified_file.kept_paths(paths.directory, read.triaged)
        ),
        paths.scope_set: f"{scopes}{read.kept}\n{tags}".encode(),
    }


def with_clean_round(key: str, body: bytes, commit: str = FIRST) -> dict[str, bytes]:
    files = {**full(), **reported(key, commit), **round_of(key, body=body, commit=commit)}
    done = assembled(files, key)
    return {name: data for name, data in done.items() if name.startswith("reviews/")}


def all_clean() -> dict[str, bytes]:
    tasks = {
        f"task-{number:02d}": f"{letter}.py" for number, letter in ((1, "a"), (2, "b"), (3, "c"))
    }
    bodies = {key: full()[f"tasks/{key}.md"] for key in tasks}
    parts = [with_clean_round(key, bodies[key]) for key in tasks]
    return {name: data for part in parts for name, data in part.items()}


@pytest.mark.rule("IMP-06", "CFG-14")
@pytest.mark.parametrize("field", ["review_depth", "review_mode"])
def test_how_tasks_are_reviewed_is_asked_before_the_first_one(field: str) -> None:
    files = full()
    files["config.md"] = b"".join(
        line for line in files["config.md"].splitlines(True) if not line.startswith(field.encode())
    )
    state = derive(tree(files, in_git=True))
    assert (state.current_step, state.next.action, state.next.kind) == (
        "implement",
        "blocked",
        "config",
    )
    choice = "quick" if field == "review_depth" else "single"
    command = f"qrspi config set {RUN} {field} {choice}"
    assert state.next.options[0].label == f"Set it to {choice}: {command}"


@pytest.mark.rule("RUN-08")
def test_implement_without_a_repository_names_git_init() -> None:
    answer = derive(tree(full(), in_git=False)).next
    assert (answer.action, answer.who, answer.command) == ("blocked", "human", "git init")
    assert answer.summary == (
        "implement needs a git repository with the code, and the run is in none: make one with "
        f"`git init`, or name it with `qrspi config set {RUN} code_path DIR`."
    )
    elsewhere = derive(tree(full(code_path="../app"), in_git=False)).next
    assert elsewhere.kind == "start-tasks"


@pytest.mark.rule("IMP-01", "IMP-02")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("| task-03 | | stage-after-W1 |", "| task-03 | | stage-after-W2 |"),
            "parallelization.md:21: task-03 starts from stage-after-W2, which has no row under "
            "'## Stage Commits'",
        ),
        (
            ("| task-01 | | feature branch tip |", "| task-01 | | the moon |"),
            "parallelization.md:19: Base of task-01 is 'the moon'; expected 'feature branch tip', "
            "'task-NN tip' or 'stage-after-W<N>'",
        ),
        (
            ("task-02", "task-09"),
            "parallelization.md:20: task-09 has no file tasks/task-09.md",
        ),
    ],
)
def test_a_plan_that_cannot_be_followed_blocks(change: tuple[str, str], message: str) -> None:
    answer = after({"parallelization.md": deliveries.PLAN.replace(*change).encode()})
    assert (answer.action, answer.who, answer.kind) == ("blocked", "human", "plan")
    assert answer.because[0] == message


LADDER = [
    ("first", {}, ("dispatch-tasks", "engine", "start-tasks", ("task-01", "task-02"))),
    (
        "started",
        {**started("task-01"), **started("task-02")},
        ("dispatch-tasks", "agent", "implement", ("task-01", "task-02")),
    ),
    (
        "one reported: it is reviewed before anybody is sent twice",
        {**reported("task-01"), **started("task-02")},
        ("prepare-round", "engine", "", ()),
    ),
    (
        "nothing committed: the implementer is sent again",
        {**reported("task-01", BASE), **started("task-02")},
        ("dispatch-tasks", "agent", "implement", ("task-01", "task-02")),
    ),
    (
        "both have a commit: the third can start",
        {**reported("task-01"), **reported("task-02"), **with_clean_round("task-01", ONE)},
        ("prepare-round", "engine", "", ()),
    ),
    (
        "blocked",
        {
            **reported("task-01", status="BLOCKED"),
            **with_clean_round("task-02", full()["tasks/task-02.md"]),
        },
        ("decide", "human", "task", ()),
    ),
    (
        "a parent that ended without a commit",
        {
            **ended("task-01", "skipped-by-user"),
            **with_clean_round("task-02", full()["tasks/task-02.md"]),
        },
        ("decide", "human", "task", ()),
    ),
]


@pytest.mark.rule("IMP-04", "IMP-08", "IMP-11", "ST-06")
@pytest.mark.parametrize(
    ("files", "expected"), [row[1:] for row in LADDER], ids=[r[0] for r in LADDER]
)
def test_what_implement_waits_for(
    files: Files, expected: tuple[str, str, str, tuple[str, ...]]
) -> None:
    assert shown(after(files)) == expected


@pytest.mark.rule("IMP-04", "LIV-14")
def test_a_parent_needs_to_be_reviewed() -> None:
    """task-03 waits while one of the tasks it builds on is still in review."""
    both = (reported("task-01"), reported("task-02"), ended("task-01", "accepted-with-issues"))
    silent = round_of("task-02", body=full()["tasks/task-02.md"], silent=["security-claude"])
    assert shown(after(*both, silent)) == ("review", "agent", "review", ("security-claude",))
    answer = after(*both, ended("task-02", "accepted-with-issues"))
    assert shown(answer) == ("dispatch-tasks", "engine", "start-tasks", ("task-03",))
    assert answer.because == ("task-03 can start from the stage-after-W1",)


@pytest.mark.rule("IMP-07")
@pytest.mark.parametrize(
    ("silent", "due"),
    [
        (deliveries.TAGS, ("spec-claude",)),
        (deliveries.TAGS[1:], deliveries.TAGS[1:]),
        (("security-claude",), ("security-claude",)),
    ],
)
def test_spec_reviewers_come_first(silent: tuple[str, ...], due: tuple[str, ...]) -> None:
    answer = after(
        reported("task-01"), started("task-02"), round_of("task-01", body=ONE, silent=silent)
    )
    assert (answer.action, answer.step, answer.missing) == ("review", "task-01", due)
    assert answer.asks == tuple(Ask("review", "task-01", 1, tag) for tag in due)
    assert answer.summary.startswith(f"Send {len(due)} reviewer{'s' * (len(due) > 1)} of task-01")


@pytest.mark.rule("IMP-07")
def test_thoroughness_comes_last_and_only_in_a_deep_review() -> None:
    deep = ("code-simplifier-claude", "test-coverage-codex", "spec-codex", "audit-claude")
    assert reviewers.due(deep) == ("spec-codex",)
    assert reviewers.due((*deep[:2], "audit-claude")) == ("audit-claude",)
    assert reviewers.due(deep[:2]) == deep[:2]


def fixing(
    number: int = 1, commit: str = FIRST, dispositions: bytes | None = None
) -> dict[str, bytes]:
    """A round of task-01 with a kept finding, assembled."""
    wrong = finding("spec-claude", round=number, step="task-01", cites="a.py:L1")
    files = {
        **full(),
        **reported("task-01", commit),
        **round_of("task-01", number, body=ONE, commit=commit, finding=wrong),
    }
    done = assembled(files, "task-01", number)
    if dispositions is not None:
        done[f"reviews/tasks/task-01/round-{number:02d}-dispositions.md"] = dispositions
    return {name: data for name, data in done.items() if name.startswith("reviews/")}


@pytest.mark.rule("IMP-09")
def test_the_implementer_is_sent_again_with_the_kept_findings() -> None:
    answer = after(fixing(), started("task-02"))
    assert (answer.action, answer.who, answer.kind, answer.round) == (
        "apply-fixes",
        "agent",
        "implement",
        1,
    )
    assert answer.inputs[:3] == (
        "tasks/task-01.md",
        "reviews/tasks/task-01/round-01-verified.md",
        "reviews/tasks/task-01/round-01/spec-claude.finding-F01.md",
    )
    assert answer.asks == (Ask("implement", "task-01", 2),)
    assert answer.summary == (
        "Send an implementer for task-01 again, in .worktrees/user-auth/task-01: 1 finding of "
        f"round 1 to settle; `qrspi prompt {RUN} task-01` prints what to tell it. It "
        f"ends with `qrspi task report {RUN} task-01 --status DONE --commit HEAD`. At the same "
        "time: an implementer of task-02 in .worktrees/user-auth/task-02, unless one is at work "
        "there."
    )


@pytest.mark.rule("IMP-08", "IMP-09")
def test_a_new_commit_settles_the_round_and_leads_to_the_next() -> None:
    settled = after(fixing(), reported("task-01", SECOND), started("task-02"))
    assert shown(settled)[:3] == ("commit-round", "engine", "settle-task")
    closed = fixing(dispositions=b"done\n", commit=FIRST) | {
        "reviews/tasks/task-01/round-01-commit.txt": f"{'c' * 40}\n".encode()
    }
    again = after(closed, reported("task-01", SECOND), started("task-02"))
    assert (again.action, again.who, again.round) == ("prepare-round", "engine", 2)
    same = after(closed, reported("task-01", FIRST), started("task-02"))
    assert shown(same) == ("dispatch-tasks", "agent", "implement", ("task-01", "task-02"))
    assert same.because[0] == "task-01: no commit is reported since round 1"


@pytest.mark.rule("IMP-09")
@pytest.mark.parametrize("commit", [FIRST, SECOND], ids=["nothing new", "a new commit"])
def test_a_round_that_lost_its_manifest_is_not_worked_on(commit: str) -> None:
    files = fixing()
    del files["reviews/tasks/task-01/round-01/.dispatch-manifest.json"]
    others = (with_clean_round(key, full()[f"tasks/{key}.md"]) for key in ("task-02", "task-03"))
    answer = after(files, *others, reported("task-01", commit))
    assert shown(answer) == ("blocked", "human", "precondition", ())


def rounds_before(number: int) -> dict[str, bytes]:
    return {
        name: data
        for at in range(1, number)
        for name, data in round_of(
            "task-01", at, body=ONE, commit=f"{at}" * 40, dispositions=b"done\n"
        ).items()
    }


@pytest.mark.rule("IMP-09")
@pytest.mark.parametrize(("number", "kind"), [(3, "implement"), (4, "task"), (5, "task")])
def test_after_three_fix_cycles_a_person_chooses(number: int, kind: str) -> None:
    others = [
        {**with_clean_round("task-02", full()["tasks/task-02.md"])},
        {**with_clean_round("task-03", full()["tasks/task-03.md"])},
    ]
    answer = after(rounds_before(number), fixing(number, "9" * 40), *others)
    assert (answer.kind, answer.step) == (kind, "task-01")
    if kind == "task":
        assert [option.key for option in answer.options] == ["accept", "skip"]
        assert answer.because == (
            f"task-01 had 3 fix cycles and round {number} still has findings",
        )


@pytest.mark.rule("IMP-10")
@pytest.mark.parametrize(
    ("files", "state"),
    [
        (with_clean_round("task-01", ONE), "clean"),
        (
            {**reported("task-01"), **ended("task-01", "accepted-with-issues")},
            "accepted-with-issues",
        ),
        (ended("task-01", "skipped-by-user"), "skipped-by-user"),
    ],
)
def test_how_a_task_ends(files: Files, state: str) -> None:
    found = states(files)["task-01"]
    assert (found.state, found.terminal, found.next) == (state, True, None)
    assert state in TERMINAL


def states(*parts: Files) -> dict[str, TaskState]:
    facts = facts_of(full(), *parts)
    return {one.key: one for one in task_state.survey(facts, batch.read(facts).items)}


@pytest.mark.rule("IMP-10", "ST-10")
def test_a_clean_round_counts_for_the_commit_and_the_task_it_saw() -> None:
    later = states(with_clean_round("task-01", ONE), reported("task-01", SECOND))["task-01"]
    assert (later.state, later.because) == (
        "reviewing",
        ("task-01 reported a commit that no round has looked at",),
    )
    changed = {"tasks/task-01.md": ONE + b"\nAnd one thing more.\n"}
    rewritten = states(with_clean_round("task-01", ONE), changed)["task-01"]
    assert (rewritten.state, rewritten.because) == (
        "implementing",
        ("task-01: tasks/task-01.md changed since round 1",),
    )


def changed_after_its_single_round(*parts: Files) -> TaskState:
    closed = fixing(dispositions=b"done\n") | {
        "reviews/tasks/task-01/round-01-commit.txt": f"{'c' * 40}\n".encode()
    }
    single = full(review_mode="single")
    facts = facts_of(single, closed, reported("task-01", SECOND), *parts)
    return task_state.survey(facts, batch.read(facts).items)[0]


@pytest.mark.rule("IMP-06", "IMP-10")
def test_in_single_mode_nobody_looks_twice() -> None:
    found = changed_after_its_single_round()
    assert (found.state, found.because) == (
        "undecided",
        (
            "task-01 was changed after round 1, and review_mode in config.md is single: nobody "
            "looks at it again",
        ),
    )


@pytest.mark.rule("IMP-06")
def test_in_single_mode_what_a_person_sent_back_is_looked_at_again() -> None:
    sent_back = task_records.render_reopened("task-01", Reopened(FIRST, 1))
    found = changed_after_its_single_round({task_records.reopened_file("task-01"): sent_back})
    assert (found.state, found.because) == (
        "reviewing",
        ("task-01 reported a commit that no round has looked at",),
    )


@pytest.mark.rule("IMP-10")
def test_a_record_that_cannot_be_read_is_named() -> None:
    bad = {"reviews/tasks/task-01/report.md": b"---\nstatus: FINE\ncommit: abc\n---\n"}
    others = [with_clean_round(f"task-0{n}", full()[f"tasks/task-0{n}.md"]) for n in (2, 3)]
    answer = after(started("task-01"), bad, *others)
    assert (answer.action, answer.missing) == ("blocked", ("reviews/tasks/task-01/report.md",))
    assert answer.because == (
        "reviews/tasks/task-01/report.md: status is FINE; expected DONE, DONE_WITH_CONCERNS, "
        "BLOCKED",
    )


@pytest.mark.rule("IMP-05", "OUT-07")
def test_a_failing_baseline_is_a_menu_before_anything_else() -> None:
    answer = after(failing_baseline())
    assert shown(answer)[:3] == ("decide", "human", "baseline")
    assert [option.key for option in answer.options] == ["auto-fix", "proceed", "stop"]
    assert after(failing_baseline("proceed")).kind == "start-tasks"


@pytest.mark.rule("IMP-05", "LIV-06")
def test_of_a_baseline_nobody_is_asked_when_the_tests_are_another_command() -> None:
    taken = Baseline(BASE, "sh other.sh", 1, "pending", "2026-05-17T09:30:00Z", ("one",))
    assert after({baseline.FILE: baseline.render(taken)}).kind == "start-tasks"


@pytest.mark.rule("IMP-10", "OUT-07", "RUN-06")
def test_when_all_are_terminal_the_record_is_drafted_and_the_batch_gate_asks() -> None:
    done = all_clean()
    answer = after(done)
    assert shown(answer) == ("author", "engine", "draft-implementation", ("implementation.md",))
    record = implementation(done)
    gate = after(done, {"implementation.md": record})
    assert (gate.action, gate.who, gate.kind) == ("approve", "human", "batch")
    assert [option.key for option in gate.options] == ["continue", "rerun-reviews", "stop"]
    assert gate.summary == (
        "Every task has come to its end (3 clean). Read implementation.md, then `qrspi resolve "
        f"{RUN} continue`, or with rerun-reviews or stop in place of continue."
    )
    stale = after(done, {"implementation.md": record.replace(b"clean", b"dirty")})
    assert stale.kind == "draft-implementation"
    by_hand = after(done, {"implementation.md": runs.artifact("draft")})
    assert by_hand.kind == "batch"
    noted = after(done, {"implementation.md": record + b"\nA word of mine.\n"})
    assert noted.kind == "batch"


def implementation(done: Files) -> bytes:
    block = gate_records.implementation(states(done).values())
    return f"---\nstatus: draft\nphase: 1\n---\n\n# X\n\n{gate_records.marked(block)}".encode()


@pytest.mark.rule("IMP-10")
def test_a_review_of_all_together_is_prepared_when_asked_for() -> None:
    done = all_clean()
    record = {"implementation.md": implementation(done)}
    asked = {"reviews/integration/rerun.md": b"---\nafter: 0\n---\n"}
    answer = after(done, record, asked)
    assert (answer.action, answer.step, answer.round, answer.kind) == (
        "prepare-round",
        "implement-gate",
        1,
        "rerun-reviews",
    )


@pytest.mark.rule("IMP-01")
def test_a_quick_run_takes_every_approved_task_from_the_tips_it_depends_on() -> None:
    tasks = {
        "tasks/task-00.md": task(0),
        "tasks/task-01.md": task(1),
        "tasks/task-02.md": task(2, needs="Task 1"),
        "tasks/task-03.md": task(3, needs="task-01, task-02"),
        "tasks/task-04.md": task(4, needs="task-01"),
        "tasks/task-05.md": task(5, needs="task-03, task-04"),
        "tasks/notes.md": b"not a task\n",
    }
    found = batch.read(facts_of(quick(tasks)))
    assert [(one.key, one.wave, one.base_words, one.needs) for one in found.items] == [
        ("task-01", 1, "feature branch tip", ()),
        ("task-02", 2, "task-01 tip", ("task-01",)),
        ("task-04", 2, "task-01 tip", ("task-01",)),
        ("task-03", 3, "task-02 tip", ("task-02", "task-01")),
        ("task-05", 4, "stage-before-task-05", ("task-03", "task-04")),
    ]
    repaired = facts_of(quick(tasks), failing_baseline("auto-fix"))
    firsts = [(one.key, one.base_words) for one in batch.read(repaired).items][:2]
    assert firsts == [("task-00", "feature branch tip"), ("task-01", "task-00 tip")]


@pytest.mark.rule("IMP-01")
@pytest.mark.parametrize(
    ("needs", "message"),
    [
        (
            "task-09",
            "tasks/task-01.md: dependencies name task-09; expected the name of an approved task",
        ),
        ("task-02", "tasks/task-01.md: task-01 waits for itself: task-01 → task-02 → task-01"),
    ],
)
def test_dependencies_of_a_quick_run_that_cannot_hold(needs: str, message: str) -> None:
    tasks = {"tasks/task-01.md": task(1, needs=needs), "tasks/task-02.md": task(2, needs="task-01")}
    assert after(start=quick(tasks)).because == (message,)


@pytest.mark.rule("IMP-01")
def test_in_a_fix_round_a_quick_run_takes_its_repairs() -> None:
    fix = {"fixes/test-round-01/mend it.md": b"# x\n", "fixes/test-round-02/mend.md": b"# Mend\n"}
    answer = after(fix, start=quick())
    assert (answer.kind, answer.missing) == ("start-tasks", ("test-round-02/mend",))
    over = after(fix, ended("test-round-02/mend", "skipped-by-user"), start=quick())
    assert over.missing == ("task-01",)
    found = repairs(tree(fix))
    assert [problem.message for problem in found.problems] == [
        "fixes/test-round-01/mend it.md: a task cannot be named like this; expected letters, "
        "digits, '.', '-' and '_', a letter or digit first"
    ]


@pytest.mark.rule("IMP-01")
def test_fix_rounds_are_counted_by_kind() -> None:
    found = tree(
        {
            "fixes/test-round-01/a.md": b"x",
            "fixes/integration-round-02/a.md": b"x",
            "fixes/integration-round-1/a.md": b"x",
            "fixes/ci-round-03/a.txt": b"x",
        }
    )
    assert [one.directory for one in fix_rounds(found)] == [
        "fixes/integration-round-02",
        "fixes/test-round-01",
    ]
    assert next_fix_round(found, "integration").directory == "fixes/integration-round-03"
    assert next_fix_round(found, "ci").directory == "fixes/ci-round-01"


@pytest.mark.rule("MTX-04")
@pytest.mark.parametrize(
    ("word", "artifact"),
    [
        ("ci-round-01/ci-command", "fixes/ci-round-01/ci-command.md"),
        ("task-3", "tasks/task-03.md"),
        ("ci-round-1/x", None),
        ("deploy-round-01/x", None),
        ("ci-round-01/../x", None),
    ],
)
def test_a_repair_is_reviewed_like_a_task(word: str, artifact: str | None) -> None:
    found = subject(word)
    assert (found.artifact if found else None) == artifact
    assert found is None or found.is_task


# integrate


def integrating(*parts: Files) -> Files:
    done = all_clean()
    approved = implementation(done).replace(b"draft", b"approved")
    merged: dict[str, bytes] = {}
    for part in parts:
        merged |= part
    return {**full(), **done, "implementation.md": approved, **merged}


def merged(*keys: str, **fields: str) -> dict[str, bytes]:
    rows = [Merge(key, f"qrspi/user-auth/{key}", FIRST, "d" * 40) for key in keys]
    front = "".join(f"{name}: {value}\n" for name, value in fields.items())
    block = gate_records.marked(gate_records.merges_block(rows))
    return {"integration.md": f"---\nstatus: draft\n{front}---\n\n{block}".encode()}


ALL = ("task-01", "task-02", "task-03")


@pytest.mark.rule("INT-01", "ST-04")
def test_what_integrate_waits_for() -> None:
    assert shown(after(start=integrating())) == ("author", "engine", "merge", ALL)
    assert after(merged("task-01"), start=integrating()).missing == ALL[1:]
    assert shown(after(merged(*ALL), start=integrating()))[:2] == ("prepare-round", "engine")
    unfinished = {name: data for name, data in integrating().items() if "task-02/round" not in name}
    blocked = after(start=unfinished)
    assert (blocked.action, blocked.missing) == ("blocked", ("task-02",))
    record = merged(*ALL)["integration.md"].replace(b"draft", b"approved")
    blocked = after({"integration.md": record}, start=unfinished)
    assert (blocked.step, blocked.action, blocked.missing) == ("test", "blocked", ("task-02",))


@pytest.mark.rule("INT-01")
def test_a_conflict_is_repaired_before_anything_else_is_merged() -> None:
    record = merged("task-01")
    conflict = Merge("task-02", "qrspi/user-auth/task-02", FIRST, "", "conflict")
    rows = (*gate_records.merges(record["integration.md"]), conflict)
    block = gate_records.marked(gate_records.merges_block(rows))
    files = {
        "integration.md": f"---\nstatus: draft\n---\n\n{block}".encode(),
        "fixes/integration-round-01/merge-task-02.md": b"---\nstatus: approved\n---\n# Merge\n",
    }
    answer = after(files, start=integrating())
    key = "integration-round-01/merge-task-02"
    assert (answer.kind, answer.missing) == ("start-tasks", (key,))
    done = {**reported(key, SECOND), **ended(key, "accepted-with-issues")}
    assert after(files, done, start=integrating()).missing == (key, "task-02", "task-03")


@pytest.mark.rule("INT-01")
def test_what_is_skipped_is_not_merged() -> None:
    answer = after(ended("task-02", "skipped-by-user"), start=integrating())
    assert answer.missing == ("task-01", "task-03")


@pytest.mark.rule("INT-01", "INT-02")
def test_the_ci_command_runs_after_the_review_and_once_for_what_is_merged() -> None:
    tags = ("integration-claude", "security-claude")
    record = merged(*ALL)
    body = record["integration.md"]
    paths = RoundPaths("reviews/integration", 1)
    files = {
        paths.manifest: runs.manifest("integrate", 1, tags, body),
        **{f"{paths.directory}/{tag}.clean.md": runs.clean(tag) for tag in tags},
    }
    settings = read_config(full()["config.md"])
    read = loop.evaluate(tree(files, record), subject_of("integrate"), settings)
    files[paths.verified] = read.verified
    files[paths.scope_set] = (
        b"# scope-set for round 1\n# generated_by: qrspi\n# total_findings_kept: 0\n"
    )
    assert after(files, record, start=integrating()).kind == "ci"
    ran = {"ci_exit": "0", "ci_log": "reviews/ci/round-01.log", "ci_merges": "3", "ci_resets": "0"}
    seen = b"---\nexit: 0\nmerges: 3\nresets: 0\n---\n"
    files["reviews/ci/round-01-review.md"] = seen
    answer = after(files, merged(*ALL, **ran), start=integrating())
    assert (answer.action, answer.because[-1]) == ("approve", "the CI command passed")
    older = after(files, merged(*ALL, **{**ran, "ci_merges": "2"}), start=integrating())
    assert older.kind == "ci"
    claimed = after(files, merged(*ALL, **{**ran, "ci_exit": "1"}), start=integrating())
    assert claimed.kind == "ci"
    files["reviews/ci/round-01-review.md"] = seen.replace(b"exit: 0", b"exit: 1")
    failed = after(files, merged(*ALL, **{**ran, "ci_exit": "1"}), start=integrating())
    assert failed.because[-1] == "the CI command failed (reviews/ci/round-01.log)"


# test


def at_quick_test(*parts: Files) -> Files:
    body = task(1, files="a.py")
    done = {**quick(), **reported("task-01"), **round_of("task-01", body=body)}
    files = assembled(done, "task-01")
    merged: dict[str, bytes] = {"implementation.md": runs.artifact("approved")}
    for part in parts:
        merged |= part
    return {**files, **merged}


def results(
    exit: int = 0, *failures: Failure, merges: int = 1, resets: int = 0
) -> dict[str, bytes]:
    found = Results(1, "sh test.sh", FIRST, exit, merges, resets, failures, "2026-05-17T09:30:00Z")
    rows = [Merge("task-01", "qrspi/user-auth/task-01", FIRST, "d" * 40)]
    text = test_results.summary(found, "How it went")
    block = f"{text}\n\n{gate_records.merges_block(rows)}"
    record = f"---\nstatus: draft\n---\n\n{gate_records.marked(block)}".encode()
    page = test_results.render(found, "How it went")
    return {test_results.results_file(1): page, "test-results.md": record}


@pytest.mark.rule("TST-01", "INT-01")
def test_a_quick_run_merges_then_tests_then_reviews() -> None:
    assert shown(after(start=at_quick_test())) == ("author", "engine", "merge", ("task-01",))
    only_merged = {"test-results.md": merged("task-01")["integration.md"]}
    answer = after(only_merged, start=at_quick_test())
    assert (answer.kind, answer.missing) == ("run-tests", ("reviews/test/round-01-results.md",))
    assert after(results(), start=at_quick_test())[:2] == ("prepare-round", "engine")
    assert after(results(merges=2), start=at_quick_test()).kind == "run-tests"
    assert after(results(resets=1), start=at_quick_test()).kind == "run-tests"


@pytest.mark.rule("TST-01", "LIV-06")
def test_without_a_test_command_it_is_written_down_that_the_tests_were_not_run() -> None:
    files = at_quick_test({"config.md": deliveries.config("quick", gates="")})
    page = ("reviews/test/round-01-results.md",)
    drafts = ("author", "engine", "draft-test-results", page)
    only_merged = {"test-results.md": merged("task-01")["integration.md"]}
    assert shown(after(only_merged, start=files)) == drafts
    assert shown(after(ended("task-01", "skipped-by-user"), start=files)) == drafts
    by_hand = {**only_merged, **reviewed_tests(only_merged)}
    answer = after(by_hand, {"pull-request.md": b"# By hand\n"}, start=files)
    assert (answer.kind, answer.because) == (
        "test",
        (
            "The tests were not run: config.md names no command for them",
            "Reviews passed clean in round 1",
        ),
    )


def reviewed_tests(record: Files) -> dict[str, bytes]:
    tags = ("spec-claude", "code-quality-claude", "goal-traceability-claude")
    paths = RoundPaths("reviews/test", 1)
    files = {
        paths.manifest: runs.manifest("test", 1, tags, record["test-results.md"]),
        **{f"{paths.directory}/{tag}.clean.md": runs.clean(tag) for tag in tags},
    }
    settings = read_config(quick()["config.md"])
    read = loop.evaluate(tree(files, record), subject_of("test"), settings)
    return files | {paths.verified: read.verified}


@pytest.mark.rule("TST-01", "TST-02", "BWL-03", "OUT-07")
def test_the_gate_of_a_quick_run_is_ship_or_fix() -> None:
    record = results(1, Failure("tests/x.py::y"))
    start = at_quick_test(record, reviewed_tests(record))
    assert after(start=start).kind == "draft-pull-request"
    answer = after({"pull-request.md": b"# By hand\n"}, start=start)
    assert (answer.action, answer.who, answer.kind) == ("decide", "human", "test")
    assert [option.key for option in answer.options] == ["fix", "rerun", "ship"]
    assert answer.because == (
        "The tests failed: 1 failure (tests/x.py::y)",
        "Reviews passed clean in round 1",
    )
    passing = results()
    start = at_quick_test(passing, reviewed_tests(passing), {"pull-request.md": b"# By hand\n"})
    answer = after(start=start)
    assert (answer.action, answer.who, answer.kind) == ("approve", "human", "test")
    assert [option.key for option in answer.options] == ["ship", "rerun", "fix"]
    assert answer.summary == (
        "The tests passed. Reviews passed clean in round 1. Read test-results.md, then `qrspi "
        f"resolve {RUN} ship`, or `fix`, which goes back to the plan."
    )


def at_full_test(*parts: Files) -> Files:
    approved = merged(*ALL)["integration.md"].replace(b"draft", b"approved")
    files: dict[str, bytes] = {**integrating(), "integration.md": approved}
    for part in parts:
        files |= part
    return files


def full_results(*failures: Failure) -> dict[str, bytes]:
    found = Results(1, "sh test.sh", FIRST, 1, 3, 0, failures, "2026-05-17T09:30:00Z")
    block = gate_records.marked(test_results.summary(found, "How it went"))
    record = f"---\nstatus: draft\n---\n\n{block}".encode()
    page = test_results.render(found, "How it went")
    return {test_results.results_file(1): page, "test-results.md": record}


@pytest.mark.rule("TST-01")
def test_a_full_run_asks_about_each_new_failure() -> None:
    three = (Failure("old", "known"), Failure("one"), Failure("two"))
    answer = after(full_results(*three), start=at_full_test())
    assert (answer.action, answer.kind, answer.missing) == (
        "decide",
        "test-failure",
        ("one", "two"),
    )
    assert answer.summary == (
        "The tests failed: 2 new failures (one, two), 1 known from before. Failure 1 of 2: one. "
        f"`qrspi resolve {RUN} fix` has it repaired, `leave` lives with it."
    )
    decided = (three[0], three[1]._replace(choice="fix"), three[2]._replace(choice="leave"))
    assert after(full_results(*decided), start=at_full_test()).kind == "write-repairs"
    mend = {"fixes/test-round-01/failures-round-01.md": b"# Mend\n"}
    assert after(full_results(*decided), mend, start=at_full_test()).kind == "start-tasks"
    left = (three[0], *(one._replace(choice="leave") for one in three[1:]))
    answer = after(full_results(*left), start=at_full_test())
    assert answer.action == "prepare-round"
    assert answer.summary.startswith("The tests failed: 2 new failures (one, two), 1 known ")


OUTPUTS = [
    ("FAILED tests/x.py::test_y[a b] - assert 1 == 2\n1 failed\n", ("tests/x.py::test_y[a b]",)),
    (
        "FAIL: test_upper (test_s.T)\nERROR: test_lower (test_s.T)\n",
        ("test_upper (test_s.T)", "test_lower (test_s.T)"),
    ),
    ("--- FAIL: TestX (0.00s)\n    --- FAIL: TestX/sub (0.00s)\nFAIL\n", ("TestX", "TestX/sub")),
    ("ok 1 - fine\nnot ok 2 - broken thing # time=3ms\n", ("broken thing",)),
    ("test a::b ... FAILED\ntest c ... ok\n", ("a::b",)),
    ("\x1b[31mFAIL\x1b[0m src/app.test.js (5.1 s)\n", ("src/app.test.js",)),
    ("FAILED tests/x.py::y\nFAILED tests/x.py::y\n", ("tests/x.py::y",)),
    ("everything burned\n", ("make check",)),
    ("", ("make check",)),
]


@pytest.mark.rule("TST-01")
@pytest.mark.parametrize(("output", "expected"), OUTPUTS)
def test_failures_as_the_runners_name_them(output: str, expected: tuple[str, ...]) -> None:
    assert test_results.failures(output, "make check") == expected


@pytest.mark.rule("TST-01", "SEC-01")
def test_the_results_of_a_run_read_back_what_was_written() -> None:
    odd = ("a | b", "line\nbreak \x07", "| 1 | x | ship |", "`code`")
    found = Results(
        7, 'sh -c "x: y"', FIRST, 2, 3, 1, tuple(map(Failure, odd)), "2026-05-17T09:30:00Z"
    )
    read = test_results.read(
        tree({test_results.results_file(7): test_results.render(found, "So.")}), 7
    )
    assert read is not None
    assert read._replace(failures=()) == found._replace(failures=())
    assert [one.name for one in read.failures] == [
        "a | b",
        "line break",
        "| 1 | x | ship |",
        "`code`",
    ]
    assert {one.choice for one in read.failures} == {"pending"}
    assert [one.choice for one in read.chosen("fix").failures][:2] == ["fix", "pending"]
