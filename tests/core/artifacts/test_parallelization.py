from __future__ import annotations

import re
from importlib.resources import files

import pytest

from qrspi.core import filenames
from qrspi.core.artifacts import parallelization, phases
from qrspi.core.artifacts.branch_map import Base, Branch, Needs, Plan, Stage
from qrspi.core.artifacts.task_file import Task
from qrspi.core.model import Problem

PLAN = """\
---
status: approved
---

# Parallelization

## Dependency Analysis

| Task | Dependencies | Files | Wave |
|------|--------------|-------|------|
| task-01: the schema | none | `src/schema.py` | 1 |
| task-02 | none (file conflict with task-09 ruled out) | `src/mail.py` (new), ./src/send.py | 1 |
| task-03 | task-01, task-02 | `src/login.py` | 2 |
| task-04 | task-03 | src/schema.py | 3 |

## Branch Map

| Task | Branch | Base |
|------|--------|------|
| task-01 | `qrspi/sign-in/task-01` | feature branch tip |
| task-02 | `qrspi/sign-in/task-02` | `feature branch tip` |
| task-03 | qrspi/sign-in/task-03 | stage-after-W1 |
| task-04 |  | task-03 tip |

## Stage Commits

| Stage branch | Composition | Created before |
|---|---|---|
| `qrspi/sign-in/stage-after-W1` | merge(task-01 tip, task-02 tip) | task-03 |
"""
READ = Plan(
    branches=(
        Branch("task-01", "qrspi/sign-in/task-01", Base("feature"), 20),
        Branch("task-02", "qrspi/sign-in/task-02", Base("feature"), 21),
        Branch("task-03", "qrspi/sign-in/task-03", Base("stage", "stage-after-W1"), 22),
        Branch("task-04", "", Base("task", "task-03"), 23),
    ),
    stages=(
        Stage(
            "stage-after-W1",
            "qrspi/sign-in/stage-after-W1",
            ("task-01", "task-02"),
            29,
        ),
    ),
    analysis=(
        Needs("task-01", (), ("src/schema.py",), 11),
        Needs("task-02", (), ("src/mail.py", "src/send.py"), 12),
        Needs("task-03", ("task-01", "task-02"), ("src/login.py",), 13),
        Needs("task-04", ("task-03",), ("src/schema.py",), 14),
    ),
)


def plan_of(text: str) -> Plan:
    plan = parallelization.read(text.encode())
    assert isinstance(plan, Plan), plan
    return plan


def messages(text: str) -> list[tuple[str, str]]:
    plan = parallelization.read(text.encode())
    assert not isinstance(plan, Plan)
    return [(problem.code, problem.message) for problem in plan]


@pytest.mark.rule("IMP-02")
def test_a_plan_is_read_from_its_three_tables() -> None:
    assert plan_of(PLAN) == READ


@pytest.mark.rule("IMP-02")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("## Branch Map", "## BRANCH  map"),
        ("| Task | Branch | Base |", "| TASK |  Branch | **BASE** |".replace("*", "")),
        ("|------|--------|------|", "|:-----|:------:|-----:|"),
        ("| task-01 | `qrspi", "task-01 | `qrspi"),
        ("| Dependencies | Files |", "| Depends on | Target files |"),
        ("merge(task-01 tip, task-02 tip)", "Merge of task-01 and task-02 tips"),
        ("merge(task-01 tip, task-02 tip)", "`task-01 tip` + `task-02 tip`"),
        ("merge(task-01 tip, task-02 tip)", "qrspi/sign-in/task-01 + qrspi/sign-in/task-02"),
    ],
)
def test_small_ways_of_writing_make_no_difference(old: str, new: str) -> None:
    assert old in PLAN
    assert plan_of(PLAN.replace(old, new)) == READ


@pytest.mark.rule("IMP-02")
def test_a_table_per_wave_and_other_columns_are_read_as_one_table() -> None:
    split = PLAN.replace(
        "| task-03 | qrspi/sign-in/task-03 | stage-after-W1 |",
        "\n### Wave 2\n\n| Notes | Base | Task | Branch |\n|---|---|---|---|\n"
        "| a \\| b | stage-after-W1 | task-03 | qrspi/sign-in/task-03 |",
    ).replace(
        "| task-04 |  | task-03 tip |",
        "\n### Wave 3\n\n| Task | Branch | Base |\n|---|---|---|\n| task-04 | | task-03 tip |",
    )
    assert [branch[:3] for branch in plan_of(split).branches] == [
        branch[:3] for branch in READ.branches
    ]


@pytest.mark.rule("IMP-02")
def test_tables_in_fences_and_comments_are_not_the_plan() -> None:
    example = "| Task | Branch | Base |\n|---|---|---|\n| task-99 | x | main |\n"
    hidden = f"## Branch Map\n\n```\n{example}```\n\n<!-- as in\n{example}-->\n"
    plan = plan_of(PLAN.replace("## Branch Map\n", hidden))
    assert [branch.task for branch in plan.branches] == [b.task for b in READ.branches]


@pytest.mark.rule("IMP-02")
def test_the_example_that_authors_are_given_is_a_plan() -> None:
    role = files("qrspi") / "roles" / "author-parallelize.md"
    (example,) = re.findall(r"^```\n(.*?)^```$", role.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert parallelization.waves(plan_of(example)) == (
        ("task-01", "task-02"),
        ("task-03", "task-04"),
    )


@pytest.mark.rule("IMP-02")
def test_without_stages_no_stage_table_is_needed() -> None:
    text = PLAN[: PLAN.index("## Stage Commits")].replace("stage-after-W1", "task-02 tip")
    assert plan_of(text).stages == ()
    assert plan_of(text + "## Stage Commits\n\nNone.\n").stages == ()


AT = "parallelization.md"


@pytest.mark.rule("IMP-02")
@pytest.mark.parametrize(
    ("old", "new", "problems"),
    [
        (
            "| feature branch tip |",
            "| main |",
            [
                (
                    "unknown-base",
                    f"{AT}:20: Base of task-01 is 'main'; expected 'feature branch tip', "
                    "'task-NN tip' or 'stage-after-W<N>'",
                )
            ],
        ),
        (
            "| task-03 tip |",
            "|",
            [
                (
                    "unknown-base",
                    f"{AT}:23: Base of task-04 is ''; expected 'feature branch tip', "
                    "'task-NN tip' or 'stage-after-W<N>'",
                )
            ],
        ),
        (
            "| task-03 tip |",
            "| task-08 tip |",
            [
                (
                    "unknown-base",
                    f"{AT}:23: Base of task-04 names task-08, which has no row under "
                    "'## Branch Map'",
                )
            ],
        ),
        (
            "03 | stage-after-W1 |",
            "03 | stage-after-W2 |",
            [
                (
                    "stage-without-row",
                    f"{AT}:22: task-03 starts from stage-after-W2, which has no row under "
                    "'## Stage Commits'",
                )
            ],
        ),
        (
            "| task-02 | `qrspi/sign-in/task-02`",
            "| task-02 | `qrspi/sign-in/task-01`",
            [
                (
                    "duplicate-branch",
                    f"{AT}: branch 'qrspi/sign-in/task-01' is given 2 times; expected one each",
                )
            ],
        ),
        (
            "`qrspi/sign-in/task-02`",
            "`qrspi/sign-in/task-01/b`",
            [
                (
                    "nested-branch",
                    f"{AT}: branch 'qrspi/sign-in/task-01/b' cannot exist beside branch "
                    "'qrspi/sign-in/task-01'; rename one",
                )
            ],
        ),
        (
            "`qrspi/sign-in/task-02`",
            "--upload-pack=x",
            [
                (
                    "unsafe-branch",
                    f"{AT}:21: Branch of task-02 is '--upload-pack=x', which has '-' at its start",
                )
            ],
        ),
        (
            "| task-04 |  |",
            "| task-03 | other |",
            [
                (
                    "duplicate-row",
                    f"{AT}:23: task-03 has 2 rows under '## Branch Map'; expected one",
                ),
                ("row-missing", f"{AT}:14: task-04 has no row under '## Branch Map'"),
            ],
        ),
        (
            "| task-04 | task-03 | src/schema.py | 3 |\n",
            "",
            [("row-missing", f"{AT}:22: task-04 has no row under '## Dependency Analysis'")],
        ),
        (
            "| task-04 | task-03 |",
            "| task-04 | Q03 |",
            [
                (
                    "unknown-dependency",
                    f"{AT}:14: Dependencies of task-04 names Q03, which has no row under "
                    "'## Branch Map'",
                )
            ],
        ),
        (
            "| task-04 |  |",
            "| Q4 |  |",
            [
                ("bad-task-name", f"{AT}:23: Task is 'Q4'; expected task-NN"),
                ("row-missing", f"{AT}:14: task-04 has no row under '## Branch Map'"),
            ],
        ),
        (
            "| Task | Branch | Base |",
            "| Task | Branch | Start |",
            [
                (
                    "column-missing",
                    f"{AT}: the table under '## Branch Map' has no column Base; "
                    "found task, branch, start",
                )
            ],
        ),
        (
            "## Dependency Analysis",
            "## Analysis",
            [
                (
                    "table-missing",
                    f"{AT}: no table under '## Dependency Analysis'; expected one with "
                    "Task, Dependencies, Files",
                )
            ],
        ),
        (
            "## Stage Commits",
            "## Branch Map",
            [
                ("section-repeated", f"{AT}:25: a second '## Branch Map'; expected one"),
                (
                    "column-missing",
                    f"{AT}: the table under '## Branch Map' has no column Task; "
                    "found stage branch, composition, created before",
                ),
            ],
        ),
        (
            "`qrspi/sign-in/stage-after-W1`",
            "after-one",
            [
                (
                    "bad-stage-name",
                    f"{AT}:29: Stage branch is 'after-one'; expected stage-after-W<N>",
                ),
                (
                    "stage-without-row",
                    f"{AT}:22: task-03 starts from stage-after-W1, which has no row under "
                    "'## Stage Commits'",
                ),
            ],
        ),
        *(
            (
                "merge(task-01 tip, task-02 tip)",
                composition,
                [
                    (
                        "bad-composition",
                        f"{AT}:29: Composition of stage-after-W1 is '{composition}'; expected "
                        "tips and nothing else, as in 'merge(task-01 tip, task-02 tip)'",
                    )
                ],
            )
            for composition in (
                "",
                "merge()",
                "all of wave 1",
                "task-01 through task-02",
                "task-01..task-02",
                "merge(task-01, task-x)",
            )
        ),
        (
            "merge(task-01 tip, task-02 tip)",
            "merge(task-01 tip, task-09 tip, stage-after-W7)",
            [
                (
                    "unknown-part",
                    f"{AT}:29: Composition of stage-after-W1 names task-09, which has no row "
                    "under '## Branch Map'",
                ),
                (
                    "unknown-part",
                    f"{AT}:29: Composition of stage-after-W1 names stage-after-W7, which has no "
                    "row under '## Stage Commits'",
                ),
            ],
        ),
    ],
)
def test_every_fault_of_a_plan_is_named(
    old: str, new: str, problems: list[tuple[str, str]]
) -> None:
    assert old in PLAN
    assert messages(PLAN.replace(old, new, 1)) == problems


@pytest.mark.parametrize(
    "text",
    [
        "| a " * 100_000,
        "## Branch Map\n" + "|" * 500_000,
        PLAN.replace("merge(task-01 tip, task-02 tip)", "a/" * 100_000),
        PLAN.replace("merge(task-01 tip, task-02 tip)", "(" * 100_000),
        PLAN.replace("`src/mail.py`", "a*" * 5_000).replace("`src/schema.py`", "a" * 20_000),
        PLAN.replace("`src/mail.py`", "(" * 100_000),
        PLAN.replace("qrspi/sign-in/task-03", "a/" * 50_000),
    ],
    ids=range(7),
)
def test_an_absurd_file_is_answered_like_any_other(text: str) -> None:
    """Each of these takes minutes where the time grows with the square of the size."""
    assert parallelization.read(text.encode())


def test_an_empty_file_names_the_tables_it_needs() -> None:
    assert messages("") == [
        (
            "table-missing",
            f"{AT}: no table under '## Branch Map'; expected one with Task, Branch, Base",
        ),
        (
            "table-missing",
            f"{AT}: no table under '## Dependency Analysis'; expected one with "
            "Task, Dependencies, Files",
        ),
    ]


def simple(*rows: tuple[str, str, str, str], stages: str = "") -> str:
    """A plan from (task, base, dependencies, files) rows."""
    mapped = "\n".join(f"| {task} | | {base} |" for task, base, _, _ in rows)
    needs = "\n".join(f"| {task} | {wanted} | {files} |" for task, _, wanted, files in rows)
    return (
        f"## Branch Map\n\n| Task | Branch | Base |\n|-|-|-|\n{mapped}\n\n"
        f"## Dependency Analysis\n\n| Task | Dependencies | Files |\n|-|-|-|\n{needs}\n\n"
        "## Stage Commits\n\n| Stage branch | Composition | Created before |\n|-|-|-|\n"
        f"{stages}\n"
    )


FEATURE = "feature branch tip"


@pytest.mark.rule("IMP-02")
@pytest.mark.parametrize(
    ("text", "path"),
    [
        (simple(("task-01", "task-01 tip", "", "")), "task-01 → task-01"),
        (
            simple(("task-01", "task-02 tip", "", ""), ("task-02", "task-01 tip", "", "")),
            "task-01 → task-02 → task-01",
        ),
        (
            simple(("task-02", FEATURE, "task-01", ""), ("task-01", "task-02 tip", "", "")),
            "task-01 → task-02 → task-01",
        ),
        (
            simple(
                ("task-01", FEATURE, "", ""),
                ("task-02", "stage-after-W1", "", ""),
                stages="| stage-after-W1 | task-01 + task-02 | x |",
            ),
            "stage-after-W1 → task-02 → stage-after-W1",
        ),
        (
            simple(
                ("task-09", "task-03 tip", "", ""),
                ("task-03", "task-02 tip", "", ""),
                ("task-02", "task-03 tip", "", ""),
            ),
            "task-02 → task-03 → task-02",
        ),
    ],
)
def test_a_cycle_is_named_with_its_path(text: str, path: str) -> None:
    first = path.partition(" ")[0]
    assert messages(text) == [("cycle", f"{AT}: {first} waits for itself: {path}")]


@pytest.mark.rule("IMP-03")
def test_waves_follow_bases_and_dependencies() -> None:
    assert parallelization.waves(READ) == (("task-01", "task-02"), ("task-03",), ("task-04",))


@pytest.mark.rule("IMP-03")
def test_a_dependency_alone_puts_a_task_in_a_later_wave() -> None:
    plan = plan_of(
        simple(
            ("task-10", FEATURE, "task-09", "a"),
            ("task-09", FEATURE, "", "a"),
            ("task-100", FEATURE, "", "b"),
        )
    )
    assert parallelization.waves(plan) == (("task-09", "task-100"), ("task-10",))


@pytest.mark.rule("IMP-03")
@pytest.mark.parametrize(
    ("one", "other", "file"),
    [
        ("src/a.py", "src/a.py", "src/a.py"),
        ("`./src/a.py`", "docs/x.md, src/a.py (modify)", "src/a.py"),
        ("src/*.py", "src/a.py", "src/a.py"),
        ("src/a.py", "src/*.py", "src/a.py"),
        ("src/", "src/deep/a.py", "src/deep/a.py"),
        ("src/**", "src/deep/a.py", "src/deep/a.py"),
        ("src/**/a.py", "src/a.py", "src/a.py"),
        ("**/test_*_laws.py", "tests/property/test_x_laws.py", "tests/property/test_x_laws.py"),
        ("src/a*b*c", "src/aXbXbXc", "src/aXbXbXc"),
        ("src/a*b*c", "src/aXbX", ""),
        ("src/a*a", "src/a", ""),
        ("src/*.py", "src/*.py", "src/*.py"),
        ("src/*.py", "src/deep/a.py", ""),
        ("src/a.py", "src/a.pyi", ""),
        ("src/a+b.py", "src/aab.py", ""),
        ("", "", ""),
        ("none", "none", ""),
    ],
)
def test_two_tasks_of_one_wave_may_not_touch_one_file(one: str, other: str, file: str) -> None:
    text = simple(("task-01", FEATURE, "", one), ("task-02", FEATURE, "", other))
    if not file:
        assert parallelization.waves(plan_of(text)) == (("task-01", "task-02"),)
        return
    assert messages(text) == [
        (
            "file-overlap",
            f"{AT}: task-01 and task-02 are in one wave (wave 1) and touch {file}",
        )
    ]


@pytest.mark.rule("IMP-03")
def test_an_overlap_names_all_who_touch_the_file() -> None:
    rows = [(f"task-{n:02d}", FEATURE, "", f"own-{n}.py, shared.py") for n in (1, 2, 3)]
    assert parallelization.read(simple(*rows).encode()) == (
        Problem(
            "file-overlap",
            f"{AT}: task-01, task-02 and task-03 are in one wave (wave 1) and touch shared.py",
            file=AT,
            field="Files",
            found="shared.py",
            hint="start task-02 from 'task-01 tip'",
        ),
    )


@pytest.mark.rule("IMP-03")
def test_one_file_in_two_waves_is_no_fault() -> None:
    text = simple(("task-01", FEATURE, "", "a.py"), ("task-02", "task-01 tip", "", "a.py"))
    assert parallelization.waves(plan_of(text)) == (("task-01",), ("task-02",))


def task(key: str, *files: str, phase: int | None = None) -> Task:
    return Task(key, "", "approved", phase, files, ())


@pytest.mark.rule("IMP-03")
def test_files_that_differ_from_the_tasks_own_are_a_warning() -> None:
    known = {
        "task-01": task("task-01", "./src/schema.py"),
        "task-02": task("task-02", "src/send.py", "src/queue.py"),
        "task-03": task("task-03"),
        "task-04": task("task-04", "src/schema.py", "docs/schema.md"),
    }
    assert parallelization.warnings(READ, known) == (
        Problem(
            "files-differ",
            f"{AT}:12: the files of task-02 differ from those in tasks/task-02.md: "
            "only here src/mail.py; only there src/queue.py",
            file=AT,
            field="Files",
            found="src/mail.py",
            expected="src/queue.py",
        ),
        Problem(
            "files-differ",
            f"{AT}:14: the files of task-04 differ from those in tasks/task-04.md: "
            "only here nothing; only there docs/schema.md",
            file=AT,
            field="Files",
            found="nothing",
            expected="docs/schema.md",
        ),
    )


@pytest.mark.rule("IMP-03")
def test_a_base_that_lacks_a_dependency_is_a_warning() -> None:
    plan = plan_of(
        simple(
            ("task-01", FEATURE, "", "a"),
            ("task-02", "task-01 tip", "task-01", "b"),
            ("task-03", "task-01 tip", "task-02", "c"),
        )
    )
    assert [problem.message for problem in parallelization.warnings(plan, {})] == [
        f"{AT}:15: task-03 depends on task-02, but its base does not contain it"
    ]


@pytest.mark.rule("IMP-02")
def test_a_task_without_a_file_is_named() -> None:
    keys = ("task-01", "task-02", "task-03", "task-77")
    assert parallelization.without_file(READ, keys) == (
        Problem(
            "task-without-file",
            f"{AT}:23: task-04 has no file tasks/task-04.md",
            file=AT,
            field="Task",
            found="task-04",
            expected="tasks/task-04.md",
        ),
    )


@pytest.mark.rule("IMP-01")
def test_the_batch_is_the_branch_map_for_the_current_phase() -> None:
    known = {
        "task-01": task("task-01", phase=1),
        "task-02": task("task-02", phase=2),
        "task-03": task("task-03"),
        "task-04": task("task-04", phase=1),
        "task-05": task("task-05", phase=1),
    }
    assert parallelization.batch(READ, known, 1) == ("task-01", "task-03", "task-04")
    assert parallelization.batch(READ, known, 2) == ("task-02", "task-03")


def test_the_parents_of_a_task_are_the_tips_its_base_is_made_of() -> None:
    plan = plan_of(
        simple(
            ("task-01", FEATURE, "", "a"),
            ("task-02", FEATURE, "", "b"),
            ("task-03", "stage-after-W1", "", "c"),
            ("task-04", "stage-after-W2", "", "d"),
            ("task-05", "task-04 tip", "", "e"),
            stages="| stage-after-W1 | task-01 + task-02 | x |\n"
            "| stage-after-W2 | stage-after-W1 + task-03 | y |",
        )
    )
    assert [parallelization.parents(plan, row.task) for row in plan.branches] == [
        (),
        (),
        ("task-01", "task-02"),
        ("task-01", "task-02", "task-03"),
        ("task-04",),
    ]


def test_a_repaired_baseline_comes_before_everything() -> None:
    adjusted = (
        PLAN + "\n## Runtime Adjustments\n\nThe baseline failed.\n\n"
        "| Task | Branch | Base |\n|---|---|---|\n"
        "| task-00 | qrspi/sign-in/task-00 | feature branch tip |\n"
    )
    plan = plan_of(adjusted)
    assert parallelization.waves(plan) == (("task-00",), *parallelization.waves(READ))
    assert [branch.base.name for branch in plan.branches] == [
        "task-00",
        "task-00",
        "stage-after-W1",
        "task-03",
        "",
    ]


def test_adjustments_in_prose_change_nothing() -> None:
    assert plan_of(PLAN + "\n## Runtime Adjustments\n\nNone were needed.\n") == READ


@pytest.mark.rule("RP-07")
@pytest.mark.parametrize(
    ("phasing", "found"),
    [
        ("## Phase 1\n\n## Phase 2: the rest\n", (1, 2)),
        ("---\nstatus: draft\n---\n# Phasing\n\n## phase 3\n\n## Phase 1 — first\n", (1, 3)),
        ("```\n## Phase 9\n```\n## Phase 1\n<!--\n## Phase 8\n-->\n", (1,)),
        ("## Phase one\n\n## Phases 2\n\n### Phase 3\n\n## Phase 0\n\n## Phase 4a\n", ()),
        ("## Phase 1\n\n## Phase 1\n", (1,)),
        ("", ()),
    ],
)
def test_phases_are_the_headings_of_phasing(phasing: str, found: tuple[int, ...]) -> None:
    assert phases.numbers(phasing.encode()) == found


@pytest.mark.rule("RP-07")
def test_a_phase_is_the_last_when_no_later_one_is_named() -> None:
    phasing = b"## Phase 1\n\n## Phase 3\n"
    assert [phases.is_last(phasing, number) for number in (1, 2, 3, 4)] == [
        False,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("qrspi/sign-in/task-01", ""),
        ("feature/ünï", ""),
        ("a b", "a character that git does not allow"),
        ("a\x07b", "a character that git does not allow"),
        ("a..b", "'..'"),
        ("a@{1}", "'@{'"),
        ("/a", "an empty part"),
        ("a//b", "an empty part"),
        ("a/", "an empty part"),
        ("a/.b", "a part that begins with '.'"),
        ("a.lock/b", "a part that ends in '.lock'"),
        ("a.", "'.' at its end"),
        ("@", "a word that git keeps for itself"),
        ("HEAD", "a word that git keeps for itself"),
        ("-f", "'-' at its start"),
        ("a" * 201, "more than 200 characters"),
    ],
)
def test_a_branch_name_is_one_that_git_takes(name: str, reason: str) -> None:
    from qrspi.core.text import branch_names

    assert branch_names.unsafe(name) == reason


def test_the_tasks_module_orders_by_number() -> None:
    keys = ["task-100", "task-11", "task-02b", "task-02", "other"]
    assert sorted(keys, key=filenames.task_order) == [
        "task-02",
        "task-02b",
        "task-11",
        "task-100",
        "other",
    ]


AS_PEOPLE_WRITE = b"""\
# Parallelization

## Dependency Analysis

| Task | Logical Deps | Key Files |
|---|---|---|
| T01 | - | `src/{a,b}.py` (C); `docs/x.md` (M) |
| Task 2: the mail | none | src/c.py (D), +2 more |
| T13b | T01; Task 2 (same words) | `d.py` `e.py`<br>f.py |

## Branch Map

| Task | Branch | Base |
|---|---|---|
| T01 |  | feature branch tip |
| Task 2 - the mail |  | feature branch tip |
| T13b |  | stage-after-W1 |

## Stage Commits

| Stage branch | Composition | Created before |
|---|---|---|
| stage-after-W1 | merge(T01 tip, Task 2 tip) | T13b |
"""


@pytest.mark.rule("LIV-22")
def test_tables_as_people_write_them() -> None:
    plan = parallelization.read(AS_PEOPLE_WRITE)
    assert isinstance(plan, Plan), plan
    assert [(row.task, row.dependencies, row.files) for row in plan.analysis] == [
        ("task-01", (), ("src/a.py", "src/b.py", "docs/x.md")),
        ("task-02", (), ("src/c.py",)),
        ("task-13b", ("task-01", "task-02"), ("d.py", "e.py", "f.py")),
    ]
    assert [row.task for row in plan.branches] == ["task-01", "task-02", "task-13b"]
    assert plan.stages[0].parts == ("task-01", "task-02")
    assert [warning.message for warning in parallelization.warnings(plan, {})] == [
        "parallelization.md:8: Files of task-02 has '+2 more', which names no file; whether two "
        "tasks touch the same file cannot be seen there"
    ]


@pytest.mark.rule("LIV-22")
@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (b"## Phases\n\n### Phase 1: Core\n\n```\n### Phase 9\n```\n### Phase 2 ###\n", (1, 2)),
        (b"## Later\n\n### Phase 2\n", ()),
        (b"## Phase 1\n\n## Phases:\n### Phase 1\n### phase 3\n", (1, 3)),
    ],
)
def test_phases_below_one_heading(text: bytes, numbers: tuple[int, ...]) -> None:
    assert phases.numbers(text) == numbers


@pytest.mark.rule("LIV-22")
@pytest.mark.parametrize(
    ("word", "key"),
    [
        ("T01", "task-01"),
        ("T13b", "task-13b"),
        ("Task 1", "task-01"),
        ("task-1", "task-01"),
        ("7", "task-07"),
        ("Tea 1", None),
        ("T1B2", None),
    ],
)
def test_one_task_has_many_names(word: str, key: str | None) -> None:
    assert filenames.task_key(word) == key
