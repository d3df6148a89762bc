from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from qrspi.core.agents.roles import Role
from qrspi.core.config.reader import read, validate
from tests import runs, scenes
from tests.cli.conftest import Call
from tests.cli.terminal import Terminal

NO_GIT = "  in no git repository: nothing is committed, and tasks need one\n"
ALONE = "No second model reviews (codex is not on the PATH): --second-reviewer turns it on.\n"
TESTS = "Which command runs the tests? (none: there is none; empty: ask me later): "


def listing(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def codex(folder: Path) -> Path:
    """A folder for the PATH in which there is a second vendor's command."""
    folder.mkdir()
    (folder / "codex").write_text("#!/bin/sh\n")
    (folder / "codex").chmod(0o755)
    return folder


@pytest.mark.rule("RUN-03")
def test_a_run_is_a_folder_with_a_config_and_a_draft_of_goals(project: Path, qrspi: Call) -> None:
    result = qrspi("init", "user-auth", "--pipeline", "quick")
    assert result == (
        0,
        """\
Made docs/qrspi/2026-05-17-user-auth (quick pipeline, 6 steps):
  config.md
  goals.md
  approvals.jsonl
  in no git repository: nothing is committed, and tasks need one

Clean questions, research and plan are approved without you; `cascade: off` in \
config.md asks you each time.

Next: Write goals.md, then run `qrspi next 2026-05-17-user-auth`. \
`qrspi prompt 2026-05-17-user-auth author` prints what to tell an agent.
""",
        ALONE,
    )
    made = listing(project / "docs/qrspi/2026-05-17-user-auth")
    names = sorted(name for name in made if name[0] != ".")
    assert names == ["approvals.jsonl", "config.md", "goals.md"]
    assert validate(read(made["config.md"])) == ((), ())
    assert made["goals.md"].startswith(b"---\nstatus: draft\n---\n")


@pytest.mark.rule("RUN-03")
def test_an_existing_directory_is_refused_and_left_as_it_is(project: Path, qrspi: Call) -> None:
    run = project / "docs/qrspi/2026-05-17-user-auth"
    run.mkdir()
    result = qrspi("init", "user-auth", "--pipeline", "quick")
    assert result == (
        3,
        "",
        f"{run} is already there: choose another name\n"
        '  qrspi init "TEXT" --name SLUG --pipeline quick\n',
    )
    assert listing(project) == {}


@pytest.mark.parametrize("pipeline", ["quick", "full"])
def test_each_pipeline_is_an_option_of_its_own_too(
    project: Path, qrspi: Call, pipeline: str
) -> None:
    init = ("init", "user-auth", "--no-second-reviewer", "--dry-run")
    made = qrspi(*init, f"--{pipeline}")
    assert made[0] == 0
    assert made == qrspi(*init, "--pipeline", pipeline)


@pytest.mark.rule("RUN-03")
@pytest.mark.parametrize("words", [["user-auth"], ["Sign people in"]])
@pytest.mark.rule("OUT-10")
def test_a_dry_run_says_what_would_be_made(project: Path, qrspi: Call, words: list[str]) -> None:
    result = qrspi("init", *words, "--pipeline", "full", "--no-second-reviewer", "--dry-run")
    name = {"user-auth": "user-auth", "Sign people in": "sign-people"}[words[0]]
    made = f"Would make docs/qrspi/2026-05-17-{name} (full pipeline, 11 steps):\n"
    kept = "" if words == ["user-auth"] else "  request.md\n"
    assert result == (0, f"{made}  config.md\n  goals.md\n{kept}  approvals.jsonl\n{NO_GIT}", "")
    assert listing(project) == {}


@pytest.mark.rule("LIV-23")
def test_what_somebody_wants_is_kept_and_handed_to_the_author_and_the_reviewers(
    project: Path, qrspi: Call
) -> None:
    wish = "Let people delete a note\nby its number — not by its text"
    assert qrspi("init", wish, "--pipeline", "quick", "--no-second-reviewer").code == 0
    name = "2026-05-17-people-delete-note-number"
    run = project / "docs/qrspi" / name
    assert (run / "request.md").read_text() == f"{wish}\n"
    author = qrspi("next", name, "--json").json["next"]
    assert (author["action"], author["inputs"]) == ("author", ["request.md", "goals.md"])
    (run / "goals.md").write_bytes(runs.artifact(body="# Goals\n\n## G1 Delete\n\nBy number.\n"))
    qrspi("next", name)
    for tag in ("quality-claude", "scope-claude"):
        told = qrspi("prompt", name, tag).out
        assert f"upstream_paths:\n{run}/request.md\n" in told
    folder = run / ".qrspi/dispatch/goals"
    assert f"upstream_paths:\n{run}/request.md\n" in (folder / "author.md").read_text()


@pytest.mark.rule("LIV-23")
def test_the_template_of_goals_has_the_shape_that_its_author_is_told() -> None:
    from qrspi.core.steps.authoring import EMPTY_GOALS
    from qrspi.world.runs import role_files

    role = role_files.shipped("author-goals")
    assert isinstance(role, Role)
    told = re.findall(r"^- `(#[^`]*)`", role.text, re.MULTILINE)
    parts = [" ".join(part.split()) for part in re.findall(r"\*\*([A-Z][^*]*)\*\*", role.text)]
    headings = re.findall(r"^#.*", EMPTY_GOALS, re.MULTILINE)
    assert [heading.replace("G1 Short name", "G1 <short name>") for heading in headings] == told
    assert re.findall(r"\*\*(.*)\*\*", EMPTY_GOALS) == parts


@pytest.mark.rule("LIV-24")
def test_how_tasks_are_reviewed_can_be_said_early(project: Path, qrspi: Call) -> None:
    words = "init user-auth --pipeline quick --no-second-reviewer --review-depth deep"
    assert qrspi(*words.split(), "--review-mode", "loop").code == 0
    config = read((project / "docs/qrspi/2026-05-17-user-auth/config.md").read_bytes())
    assert (config.review_depth, config.review_mode) == ("deep", "loop")
    assert validate(config) == ((), ())


@pytest.mark.rule("LIV-24")
def test_one_command_answers_the_question_how_tasks_are_reviewed(
    project: Path, qrspi: Call
) -> None:
    ready = runs.approved("goals", "questions", "research", "plan")
    run = runs.on_disk(project, {"config.md": runs.config("quick"), **ready})
    (error,) = qrspi("status", "--json").json["runs"][0]["errors"]
    first = error["options"][0].partition(": ")[2]
    assert first == f"qrspi config set {runs.RUN} review_depth quick review_mode loop"
    assert qrspi(*first.split()[1:]).code == 0
    config = read((run / "config.md").read_bytes())
    assert (config.review_depth, config.review_mode) == ("quick", "loop")
    assert qrspi("status", "--json").json["runs"][0]["errors"] == []


@pytest.mark.rule("RUN-10")
@pytest.mark.parametrize(
    ("word", "message", "hint"),
    [
        (
            "auth",
            "'auth' is not a slug: expected 2 to 4 lower-case words joined by hyphens, "
            "such as user-auth",
            "qrspi init auth --name SLUG --pipeline quick",
        ),
        (
            "../user-auth",
            "'../user-auth' is not a slug: expected 2 to 4 lower-case words joined by hyphens, "
            "such as user-auth",
            "qrspi init user-auth --pipeline quick",
        ),
        (
            "日本 語",
            "no slug can be made from '日本 語': expected two words of a to z or 0 to 9 in it; "
            "give the run a name beside it",
            "qrspi init '日本 語' --name SLUG --pipeline quick",
        ),
    ],
)
def test_a_slug_of_another_shape_is_a_usage_error(
    project: Path, qrspi: Call, word: str, message: str, hint: str
) -> None:
    result = qrspi("init", word, "--pipeline", "quick")
    assert result == (2, "", f"{message}\n  {hint}\n")
    assert listing(project) == {}


@pytest.mark.rule("RUN-10")
@pytest.mark.parametrize("text", ["Sort", "日本語だけ", "sort-lists", "Sort the lists"])
def test_a_run_is_named_beside_any_text(project: Path, qrspi: Call, text: str) -> None:
    words = ("--name", "sorted-lists", "--pipeline", "quick", "--no-second-reviewer")
    assert qrspi("init", text, *words).code == 0
    run = project / "docs/qrspi/2026-05-17-sorted-lists"
    assert (run / "request.md").read_text().splitlines()[-1] == text


@pytest.mark.rule("RUN-10")
@pytest.mark.parametrize(
    ("text", "name", "hint"),
    [
        ("Sort", "SLUG", ""),
        ("Sort", "Sorted Lists", "  qrspi init Sort --name sorted-lists --pipeline quick\n"),
    ],
)
def test_a_name_beside_the_text_is_a_slug(
    project: Path, qrspi: Call, text: str, name: str, hint: str
) -> None:
    message = f"{name!r} is not a slug: expected 2 to 4 lower-case words joined by hyphens, "
    result = qrspi("init", text, "--name", name, "--pipeline", "quick")
    assert result == (2, "", f"{message}such as user-auth\n{hint}")
    assert listing(project) == {}


USAGE = "  qrspi init --help\n"
NEITHER = 'say what you want, in your words: init "TEXT"; or with a name: init "TEXT" --name SLUG\n'


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (
            "",
            NEITHER + USAGE,
        ),
        (
            "user-auth --no-second-reviewer --here --test-command none",
            "say which with --pipeline; quick: goals, questions, research, plan, "
            "implement, test; clean questions, research and plan are approved without you; or "
            "full: all eleven steps, each approved by a person\n"
            "  qrspi init user-auth --no-second-reviewer --test-command none --here "
            "--pipeline quick\n",
        ),
        (
            "--name user-auth --ux",
            NEITHER + USAGE,
        ),
        (
            "user-auth --pipeline quick --ux",
            "the quick pipeline has no ux step: leave out --ux or take full\n" + USAGE,
        ),
        *(
            (f"user-auth {said}", "quick and full are two pipelines: take one\n" + USAGE)
            for said in ("--quick --full", "--quick --pipeline full", "--full --pipeline quick")
        ),
        (
            "user-auth --ux --date 2026-02-30",
            f"Invalid value for --date: '2026-02-30' is not a date; expected one such as "
            f"2026-05-17.\n{USAGE}",
        ),
        (
            "user-auth --ux --date 20260517",
            f"Invalid value for --date: '20260517' is not a date; expected one such as "
            f"2026-05-17.\n{USAGE}",
        ),
        (
            "--root missing init user-auth --ux",
            "{project}/missing is not there: expected a directory to start a run in\n",
        ),
        ("--adopt missing --ux", "missing is not there: expected a directory with artifacts\n"),
    ],
)
@pytest.mark.rule("CFG-01")
def test_usage_errors_change_nothing(project: Path, qrspi: Call, words: str, error: str) -> None:
    said = words.split() if "init" in words.split() else ["init", *words.split()]
    assert qrspi(*said) == (2, "", error.replace("{project}", str(project)))
    assert listing(project) == {}


def test_the_json_says_everything(project: Path, qrspi: Call) -> None:
    words = "init user-auth --ux --second-reviewer --visual-fidelity --date 2026-05-01 --json"
    result = qrspi(*words.split())
    document = result.json
    following = document.pop("next")
    assert (result.code, result.err, following["action"]) == (0, "", "author")
    assert document == {
        "schema": "qrspi/init/v1",
        "run": "2026-05-01-user-auth",
        "path": "docs/qrspi/2026-05-01-user-auth",
        "pipeline": "full",
        "route": "goals questions research design phasing ux structure plan parallelize implement "
        "integrate test".split(),
        "second_reviewer": True,
        "files": ["config.md", "goals.md", "approvals.jsonl"],
        "adopted": False,
        "branch": None,
        "new_branch": False,
        "commit": None,
        "dry_run": False,
    }
    config = read((project / document["path"] / "config.md").read_bytes())
    assert (config.created, config.second_reviewer, config.visual_fidelity_required) == (
        "2026-05-01",
        True,
        True,
    )


@pytest.mark.rule("RUN-12", "RUN-02")
def test_other_names_are_accepted_as_they_are(project: Path, qrspi: Call) -> None:
    runs.on_disk(project, {"config.md": runs.config()}, "Sprint_7.old")
    assert qrspi("status", "Sprint_7", "--json").json["runs"][0]["run"] == "Sprint_7.old"


def test_a_namesake_is_pointed_out(project: Path, qrspi: Call) -> None:
    runs.on_disk(project, {"config.md": runs.config()}, "2026-01-01-user-auth")
    result = qrspi("init", "user-auth", "--pipeline", "quick", "--no-second-reviewer")
    note = "2026-01-01-user-auth has the same slug: name each run by its full name.\n"
    assert (result.code, result.err) == (0, note)


@pytest.mark.rule("CFG-19")
def test_without_a_terminal_there_is_no_second_reviewer_and_a_notice(
    project: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", f"{codex(tmp_path / 'bin')}:{os.defpath}")
    result = qrspi("init", "user-auth", "--pipeline", "quick")
    notice = "No second model reviews (nobody was asked): --second-reviewer turns it on.\n"
    assert (result.code, result.err) == (0, notice)
    config = project / "docs/qrspi/2026-05-17-user-auth/config.md"
    assert read(config.read_bytes()).second_reviewer is False


@pytest.mark.rule("CFG-19", "CFG-01", "LIV-05")
def test_on_a_terminal_all_questions_are_asked(project: Path, tmp_path: Path) -> None:
    path = f"{codex(tmp_path / 'bin')}:{os.defpath}"
    with Terminal("init", "user-auth", PATH=path) as terminal:
        terminal.until("Number: ")
        terminal.type("7\n")
        terminal.until("Error: type a number from 1 to 2\nNumber: ")
        terminal.type("quick\n")
        terminal.until("Error: type a number from 1 to 2\nNumber: ")
        terminal.type("1\n")
        screen = terminal.until("Second reviews?\n")
        terminal.until("2) Use a second model for second reviews\nNumber: ")
        terminal.type("2\n")
        terminal.until(TESTS)
        terminal.type("make test\n")
        assert terminal.end() == 0
    assert "Which pipeline?\n  1) quick: goals, questions" in screen
    config = read((project / "docs/qrspi/2026-05-17-user-auth/config.md").read_bytes())
    assert (config.pipeline, config.second_reviewer) == ("quick", True)
    assert config.test_command == "make test"


@pytest.mark.rule("CFG-19")
def test_on_a_terminal_nobody_is_asked_about_a_second_vendor_that_is_not_there(
    project: Path,
) -> None:
    with Terminal("init", "user-auth", "--pipeline", "quick", PATH=os.defpath) as terminal:
        screen = terminal.until("--second-reviewer turns it\n  on.\n")
        terminal.until(TESTS)
        terminal.type("\n")
        assert terminal.end() == 0
    assert "Second reviews?" not in screen
    config = read((project / "docs/qrspi/2026-05-17-user-auth/config.md").read_bytes())
    assert config.second_reviewer is False


@pytest.mark.rule("LIV-28")
def test_nobody_answers_questions_for_a_run_that_git_could_not_record(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        for key in ("NAME", "EMAIL"):
            monkeypatch.delenv(f"GIT_{role}_{key}")
    scenes.git(project, "init", "-q")
    scenes.git(project, "config", "user.useConfigOnly", "true")
    with Terminal("init", "user-auth") as terminal:
        terminal.until("git does not know who you are")
        assert terminal.end() == 4
        assert "Which pipeline?" not in terminal.screen


def test_an_interrupted_question_makes_nothing(project: Path) -> None:
    with Terminal("init", "user-auth") as terminal:
        terminal.until("Number: ")
        terminal.type("\x04")
        assert terminal.end() == 130
    assert listing(project) == {}


@pytest.mark.rule("ST-05", "CFG-02")
def test_adopting_writes_a_config_beside_the_artifacts(project: Path, qrspi: Call) -> None:
    there = runs.approved("goals", "questions")
    run = runs.on_disk(project, there, "brought-along")
    words = "init --adopt docs/qrspi/brought-along --pipeline quick --no-second-reviewer"
    assert qrspi(*words.split()) == (
        0,
        """\
Added to docs/qrspi/brought-along (quick pipeline, 6 steps):
  config.md
  approvals.jsonl
  in no git repository: nothing is committed, and tasks need one

Clean questions, research and plan are approved without you; `cascade: off` in \
config.md asks you each time.

Next: Write research/summary.md, then run `qrspi next brought-along`. \
`qrspi prompt brought-along author` prints what to tell an agent; `qrspi submit artifact FILE \
brought-along research` takes in what it prints.
""",
        "",
    )
    assert {name: data for name, data in listing(run).items() if name in there} == there
    assert sorted(set(listing(run)) - set(there)) == [
        ".qrspi/.gitignore",
        ".qrspi/audit.jsonl",
        ".qrspi/lock",
        "approvals.jsonl",
        "config.md",
    ]


@pytest.mark.rule("ST-05")
def test_a_folder_elsewhere_is_adopted_where_it_lies(project: Path, qrspi: Call) -> None:
    folder = project / "old-plans"
    folder.mkdir()
    (folder / "design.md").write_bytes(runs.artifact("approved"))
    result = qrspi("init", "other-name", "--adopt", folder, "--ux", "--no-second-reviewer")
    assert (result.code, result.err) == (
        0,
        "The run keeps the name of its folder, old-plans.\n"
        f"It lies in no docs/qrspi: name it with --root {folder}.\n",
    )
    assert result.out.startswith(f"Added to {folder} (full pipeline, 12 steps):\n  config.md\n")
    assert qrspi("--root", folder, "status", "--json").json["runs"][0]["current_step"] == "goals"


@pytest.mark.parametrize(
    ("files", "error"),
    [
        (
            {"config.md": b"", "goals.md": b""},
            "brought-along has a config.md already: it is a run; `qrspi import "
            "docs/qrspi/brought-along` takes in what was made elsewhere\n",
        ),
        (
            {"notes.txt": b""},
            "brought-along holds no artifact of a run: expected goals.md, questions.md, "
            "research/summary.md, design.md or a later one in it\n"
            '  qrspi init "TEXT" --pipeline quick\n',
        ),
    ],
)
def test_what_cannot_be_adopted_is_left_alone(
    project: Path, qrspi: Call, files: dict[str, bytes], error: str
) -> None:
    run = runs.on_disk(project, files, "brought-along")
    words = ("init", "--adopt", run, "--pipeline", "quick")
    assert qrspi(*words) == (3, "", error)
    assert listing(run) == files


@pytest.mark.rule("LIV-23")
def test_goals_have_three_parts_and_a_type_and_the_plan_has_the_criteria() -> None:
    from qrspi.core.steps import authoring
    from qrspi.world.runs import role_files

    goals, plan = role_files.shipped("author-goals"), role_files.shipped("author-plan")
    assert isinstance(goals, Role) and isinstance(plan, Role)
    assert "`Type: known-fix`" in goals.text and "`Type: exploratory`" in goals.text
    assert "Done when" not in goals.text + authoring.EMPTY_GOALS
    assert "## Acceptance Criteria" in plan.text


@pytest.mark.rule("LIV-23")
def test_the_empty_goals_of_earlier_versions_are_still_empty() -> None:
    from qrspi.core.derivation.derive import derive
    from qrspi.core.tree import MemoryTree
    from tests import runs

    former = (
        "---\nstatus: draft\n---\n\n# Goals\n\nWhat this is about, and for whom.\n\n"
        "## G1 Short name\n\n**Problem**:\n\n**Why we care**:\n\n**What we know so far**:\n\n"
        "**Done when**:\n\n## Limits we must keep\n\n-\n\n## Not wanted\n\n-\n\n"
        "## Open points\n\n-\n"
    )
    tree = MemoryTree({"config.md": runs.config(), "goals.md": former.encode()})
    assert derive(tree).next.because == ("goals.md is still the empty draft that init wrote",)
