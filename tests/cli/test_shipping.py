"""The step test as people and programs meet it: passed, failed, not run; ship, fix, rerun."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests import deliveries
from tests.cli.conftest import Call
from tests.deliveries import full, quick
from tests.handlers.workshop import Workshop

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
RUN = "2026-05-17-user-auth"
TESTERS = ("spec-claude", "code-quality-claude", "goal-traceability-claude")
FAILING = "echo 'FAILED tests/x.py::y - boom'; exit 1\n"
FAILED = "The tests failed: 1 failure (tests/x.py::y)"
THEN = "its texts are drafts again, finished work stays, a new task does the rest"
STAYS = "tasks that are done stay as they are, so add a task for the repair"
NOT_RUN = "The tests were not run: config.md names no command for them"
GATES = 'gates:\n  test_command: "sh test.sh"\n'
Begin = Callable[..., Workshop]


@pytest.fixture
def at_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.setenv("QRSPI_NOW", "2026-05-17T09:30:00Z")
    shop = Workshop.brought(tmp_path.resolve() / "project", before_the_batch_gate)
    monkeypatch.chdir(shop.root)
    return shop


def before_the_batch_gate(root: Path) -> Workshop:
    """A quick run with one task."""
    shop = Workshop(root, quick())
    shop.next()
    shop.take("task-01", "a.py", "a = 1\n")
    shop.next()
    return shop


@pytest.fixture
def begin(at_batch: Workshop, qrspi: Call) -> Begin:
    """The tests have run, or not: by this script, with these gates."""

    def begun(script: str = "exit 0\n", gates: str = GATES) -> Workshop:
        shop = at_batch
        (shop.root / "test.sh").write_text(script)
        shop.write("config.md", deliveries.config("quick", gates))
        shop.git("commit", "-qam", "as it is now")
        assert qrspi("resolve", "continue").code == 0
        return shop

    return begun


def checked(document: Any, name: str) -> Any:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(document)
    return document


def known_tests(qrspi: Call) -> Any:
    [run] = checked(qrspi("status", RUN, "--json").json, "status")["runs"]
    return run["tests"]


@pytest.mark.rule("LIV-06", "LIV-02")
def test_failing_tests_are_said_before_any_reviewer_is_sent(begin: Begin, qrspi: Call) -> None:
    shop = begin(FAILING)
    assert not shop.has("reviews/test/round-01")
    assert known_tests(qrspi) == {
        "state": "failed",
        "summary": FAILED,
        "failures": ["tests/x.py::y"],
    }
    answer = qrspi("next", RUN, "--json").json["next"]
    assert (answer["action"], answer["who"], answer["kind"]) == ("decide", "human", "test")
    assert (answer["command"], answer["options"][0]["command"]) == (
        None,
        f"qrspi resolve {RUN} fix",
    )
    assert [one["key"] for one in answer["options"]] == ["fix", "rerun", "review", "ship"]
    summary = (
        f"{FAILED}. Nobody has reviewed this yet. `qrspi resolve {RUN} fix` goes back to the plan: "
        f"{THEN}."
    )
    assert answer["summary"] == summary
    for words in (("status", RUN), ("next", RUN), ("brief", RUN), ("explain", RUN), ("inbox",)):
        assert FAILED in qrspi(*words).out, words
    assert qrspi("show", RUN, "test").out == (
        "Tests: failed, 1 failure (tests/x.py::y)\n\ntest has no review round yet.\n"
    )
    shown = checked(qrspi("show", RUN, "test", "--json").json, "show")
    assert shown["tests"]["state"] == "failed"
    assert f"State: failed\n\n{FAILED}. Output: reviews/test/round-01.log." in shop.read(
        "test-results.md"
    )
    assert f"## Tests\n\nState: failed\n\n{FAILED} (" in shop.read("pull-request.md")


@pytest.mark.rule("LIV-06", "LIV-02")
@pytest.mark.parametrize(
    ("script", "status"), [("nothing-is-called-so\n", 127), ("exec ./a.py\n", 126)]
)
def test_a_command_that_cannot_start_is_no_failing_test(
    script: str, status: int, begin: Begin, qrspi: Call
) -> None:
    shop = begin(script)
    said = f"sh test.sh could not be started (exit {status}, see reviews/test/round-01.log)"
    sentence = f"The tests were not run: {said}"
    assert known_tests(qrspi) == {"state": "not-run", "summary": sentence, "failures": []}
    answer = qrspi("next", RUN, "--json").json["next"]
    setting = f"qrspi config set {RUN} gates.test_command 'CMD'"
    assert (answer["kind"], answer["command"]) == ("test", None)  # CMD is for a person to say
    assert answer["summary"] == (
        f"{sentence}. `{setting}` names another command; `qrspi resolve {RUN} rerun` runs the same "
        "one again."
    )
    assert [one["key"] for one in answer["options"]] == ["rerun", "fix", "review", "ship"]
    assert f"State: not-run\n\n{sentence}. Output: " in shop.read("test-results.md")
    assert qrspi("config", "set", RUN, "gates.test_command", "true").code == 0
    assert qrspi("next", RUN).code == 0
    assert known_tests(qrspi)["state"] == "passed"


@pytest.mark.rule("LIV-06")
def test_a_command_that_names_failures_has_run_however_it_ends(begin: Begin, qrspi: Call) -> None:
    begin("echo 'FAILED tests/x.py::y - boom'; exit 127\n")
    assert known_tests(qrspi)["summary"] == FAILED


@pytest.mark.rule("LIV-06")
def test_a_person_may_report_on_tests_that_could_not_start(begin: Begin, qrspi: Call) -> None:
    begin("nothing-is-called-so\n")
    assert qrspi("test", "report", RUN, "--passed", "-m", "By hand.").code == 0
    assert known_tests(qrspi)["state"] == "passed"


@pytest.mark.rule("LIV-06")
def test_nobody_ships_failing_tests_without_a_reason(begin: Begin, qrspi: Call) -> None:
    shop = begin(FAILING)
    refused = qrspi("approve", RUN, "test", "--unreviewed")
    assert (refused.code, refused.err) == (
        3,
        f"{FAILED}. test-results.md is approved all the same only with a reason: --failing "
        f"-m REASON\n  qrspi status {RUN}\n",
    )
    assert qrspi("resolve", RUN, "ship").code == 3
    assert qrspi("resolve", RUN, "ship", "--failing").code == 2
    assert qrspi("resolve", RUN, "ship", "-m", "so").code == 2
    assert qrspi("resolve", RUN, "fix", "--failing", "-m", "so").code == 2
    done = qrspi("resolve", RUN, "ship", "--failing", "-m", "The test is wrong.", "--json").json
    line = shop.records()[-1]
    assert (line["event"], line["step"], line["tests"]) == ("approve", "test", "failed")
    assert line["reason"] == "The test is wrong."
    assert done["next"]["summary"] == (
        "The run is complete, shipped although the tests failed; nothing is left to do. Its work "
        f"trees are in .worktrees/user-auth: `qrspi task clean {RUN}` removes those that are "
        "merged, and their branches."
    )
    text = shop.read("pull-request.md")
    assert "## Shipped all the same\n\nBy " in text
    assert text.index("> The test is wrong.\n") < text.index("## Read more")
    assert shop.status() == []
    assert known_tests(qrspi) == {"state": "failed", "summary": "The tests failed", "failures": []}
    assert "Tests: failed\n" in qrspi("status", RUN).out


@pytest.mark.rule("LIV-06")
def test_approve_takes_the_same_reason(begin: Begin, qrspi: Call) -> None:
    shop = begin(FAILING)
    assert qrspi("approve", RUN, "test", "--failing", "-m", "Known.").code == 0
    assert shop.records()[-1]["reason"] == "Known."


@pytest.mark.rule("LIV-06")
def test_tests_that_passed_need_no_reason_and_take_none(begin: Begin, qrspi: Call) -> None:
    shop = begin()
    assert qrspi("status", RUN).out.count("Tests: passed\n") == 1
    shop.review("test", 1, TESTERS)
    answer = qrspi("next", RUN, "--json").json["next"]
    assert (answer["command"], answer["options"][0]["command"]) == (
        None,
        f"qrspi resolve {RUN} ship",
    )
    refused = qrspi("resolve", RUN, "ship", "--failing", "-m", "To be safe.")
    assert (refused.code, refused.err) == (
        3,
        "the tests passed and no finding is open: leave out --failing and its reason\n"
        f"  qrspi approve {RUN} test\n",
    )
    shipped = qrspi("resolve", RUN, "ship")
    assert "pull request" not in shipped.err  # a person named main: it is merged there
    assert "The run is complete; nothing is left to do." in shipped.out
    assert "reason" not in shop.records()[-1]
    assert known_tests(qrspi)["state"] == "passed"


@pytest.mark.rule("LIV-06")
def test_kept_findings_need_a_reason_too(begin: Begin, qrspi: Call) -> None:
    shop = begin()
    shop.review("test", 1, TESTERS, wrong="Nothing is tested.")
    answer = qrspi("next", RUN, "--json").json["next"]
    assert (answer["command"], answer["options"][0]["command"]) == (
        None,
        f"qrspi resolve {RUN} fix",
    )
    assert answer["because"] == [
        "The tests passed",
        "1 kept finding is not settled",
        "Reviewers found 1 thing in round 1",
    ]
    assert qrspi("resolve", RUN, "ship").code == 3
    done = qrspi("resolve", RUN, "ship", "--failing", "-m", "Later.", "--json").json
    assert done["next"]["summary"].startswith("The run is complete, shipped with findings that ")
    assert "spec-claude.finding-F01.md](docs/qrspi/" in shop.read("pull-request.md")


@pytest.mark.rule("LIV-06")
def test_tests_that_nobody_ran_are_called_not_run(begin: Begin, qrspi: Call) -> None:
    shop = begin(gates="")
    assert known_tests(qrspi) == {"state": "not-run", "summary": NOT_RUN, "failures": []}
    answer = qrspi("next", RUN, "--json").json["next"]
    assert (answer["command"], answer["options"][0]["command"]) == (
        None,
        f"qrspi resolve {RUN} fix",
    )
    assert answer["summary"] == (
        f"{NOT_RUN}. Nobody has reviewed this yet. `qrspi resolve {RUN} fix` goes back to the "
        f"plan: {THEN}. `qrspi config set {RUN} gates.test_command 'CMD'` has them run. Did you "
        f"run them by hand? `qrspi test report {RUN} --passed -m TEXT`, or --failed."
    )
    assert [one["key"] for one in answer["options"]] == ["fix", "review", "ship"]
    assert f"State: not-run\n\n{NOT_RUN}." in shop.read("test-results.md")
    assert NOT_RUN in shop.read("pull-request.md")
    assert "by hand" not in shop.read("pull-request.md")


@pytest.mark.rule("LIV-06", "LIV-01")
def test_somebody_says_that_they_ran_them_by_hand(begin: Begin, qrspi: Call) -> None:
    shop = begin(gates="")
    assert qrspi("test", "report", RUN, "--passed").code == 2
    assert qrspi("test", "report", RUN, "-m", "x").code == 2
    before = shop.records()
    would = checked(
        qrspi("test", "report", RUN, "--passed", "-m", "x", "--dry-run", "--json").json,
        "test-report",
    )
    assert (would["dry_run"], shop.records()) == (True, before)
    words = ("-m", "make check\nall 12 green", "--json")
    done = checked(qrspi("test", "report", RUN, "--passed", *words).json, "test-report")
    assert (done["state"], done["next"]["action"]) == ("passed", "prepare-round")
    line = shop.records()[-1]
    assert (line["event"], line["option"], line["file"]) == (
        "test-report",
        "passed",
        "reviews/test/round-02-results.md",
    )
    said = known_tests(qrspi)
    assert said["state"] == "passed"
    assert said["summary"].startswith("The tests passed: run by hand, as ")
    assert said["summary"].endswith(" reported on 2026-05-17")
    assert "> make check\n> all 12 green\n" in shop.read("test-results.md")
    assert shop.status() == []


@pytest.mark.rule("LIV-06", "SEC-20")
def test_a_page_that_nobody_reported_is_nobodys_word(begin: Begin, qrspi: Call) -> None:
    shop = begin(gates="")
    page = "reviews/test/round-01-results.md"
    text = shop.read(page).replace("state: not-run", "state: passed")
    shop.write(page, text.replace("resets: 0", 'resets: 0\nreported_by: "Ada"'))
    assert known_tests(qrspi)["summary"] == (
        f"The tests were not run: {page} says that they passed, but no report is on record"
    )


@pytest.mark.rule("LIV-06")
def test_nobody_reports_away_what_the_engine_saw(begin: Begin, qrspi: Call) -> None:
    begin(FAILING)
    refused = qrspi("test", "report", RUN, "--passed", "-m", "fine here")
    assert (refused.code, refused.err) == (
        3,
        f"{FAILED}, and nothing changed since: have them run again with `qrspi resolve {RUN} "
        "rerun`\n",
    )


@pytest.mark.rule("LIV-06")
def test_there_is_nothing_to_report_before_the_tasks_are_merged(
    at_batch: Workshop, qrspi: Call
) -> None:
    refused = qrspi("test", "report", RUN, "--passed", "-m", "fine")
    assert (refused.code, refused.err.splitlines()[0]) == (
        3,
        "there is nothing to report about yet, task-01 is not merged yet: next is the "
        "approval of implement",
    )


@pytest.mark.rule("LIV-06")
def test_rerun_runs_them_again_and_so_does_another_command(begin: Begin, qrspi: Call) -> None:
    shop = begin(FAILING)
    (shop.root / "test.sh").write_text("exit 0\n")
    shop.git("commit", "-qam", "mended")
    done = qrspi("resolve", RUN, "rerun", "--json").json
    handlers = [one["handler"] for one in done["performed"] if one["handler"] != "write-prompts"]
    assert handlers == ["run-tests", "prepare-round", "draft-pull-request"]
    assert known_tests(qrspi)["state"] == "passed"
    assert "State: passed" in shop.read("pull-request.md")
    assert qrspi("config", "set", RUN, "gates.test_command", "sh -c 'exit 7'").code == 0
    assert "gates.test_command in config.md is another one than the tests were run with" in (
        qrspi("explain", RUN).out
    )
    shop.review("test", 1, TESTERS)
    qrspi("next", RUN)
    assert known_tests(qrspi)["summary"] == (
        "The tests failed: sh -c 'exit 7' names no test, exit 7, see reviews/test/round-03.log"
    )


@pytest.mark.rule("LIV-06")
def test_reviewers_are_sent_all_the_same_when_a_person_says_so(begin: Begin, qrspi: Call) -> None:
    shop = begin(FAILING)
    answer = qrspi("resolve", RUN, "review", "--json").json["next"]
    assert (answer["action"], answer["summary"].startswith(f"{FAILED}. Send 3 ")) == (
        "review",
        True,
    )
    shop.review("test", 1, TESTERS)
    answer = qrspi("next", RUN, "--json").json["next"]
    assert (answer["command"], answer["options"][0]["command"]) == (
        None,
        f"qrspi resolve {RUN} fix",
    )
    assert [one["key"] for one in answer["options"]] == ["fix", "rerun", "ship"]


@pytest.mark.rule("LIV-06", "BWL-03")
def test_fix_says_that_it_goes_back_to_the_plan(begin: Begin, qrspi: Call) -> None:
    shop = begin(FAILING)
    refused = qrspi("resolve", RUN, "rerun", "-m", "again")
    assert (refused.code, "--failing" in refused.err) == (2, False)
    done = qrspi("resolve", RUN, "fix", "-m", "Count each word.")
    assert done.err.startswith("back to the plan: plan.md, tasks/task-01.md, implementation.md")
    assert FAILED in shop.read("feedback/plan-round-01.md")
    assert f"plan what that takes; {STAYS}." in shop.read("feedback/plan-round-01.md")
    assert "That person says: Count each word." in shop.read("feedback/plan-round-01.md")


@pytest.mark.rule("LIV-06", "LIV-02")
def test_back_at_the_plan_only_an_added_task_is_worked_on(begin: Begin, qrspi: Call) -> None:
    shop = begin(FAILING)
    assert qrspi("task", "list", RUN).out.splitlines()[3].split()[2:4] == [
        "accepted-with-issues,",
        "merged",
    ]
    assert qrspi("resolve", RUN, "fix").code == 0
    first = shop.read("tasks/task-01.md")
    needs = first.replace("01", "02").replace("---\n\n", "dependencies: [task-01]\n---\n\n", 1)
    shop.write("tasks/task-02.md", needs.encode())
    drafts = qrspi("task", "list", RUN, "--json").json["tasks"]
    assert [(one["task"], one["state"], one["base"], one["next"]) for one in drafts] == [
        ("task-01", "accepted-with-issues", "feature branch tip", None),
        ("task-02", "drafted", "task-01 tip", None),
    ]
    shop.write("tasks/task-01.md", f"{first}\nSaid more clearly.\n".encode())
    assert qrspi("approve", RUN, "plan", "--unreviewed").code == 0
    qrspi("next", RUN)
    listed = {
        one["task"]: one["state"] for one in qrspi("task", "list", RUN, "--json").json["tasks"]
    }
    assert listed == {"task-01": "accepted-with-issues", "task-02": "implementing"}


@pytest.mark.rule("LIV-06", "REJ-01")
def test_a_rejection_reaches_whoever_acts_next(begin: Begin, qrspi: Call) -> None:
    shop = begin()
    shop.review("test", 1, TESTERS)
    qrspi("next", RUN)
    assert qrspi("reject", RUN, "test", "-m", "Say how each goal was shown.").code == 0
    answer = qrspi("next", RUN, "--json").json["next"]
    path = "feedback/test-round-01.md"
    assert (answer["action"], answer["who"], answer["kind"]) == (
        "author",
        "agent",
        "test-rejected",
    )
    assert path in answer["inputs"]
    assert answer["summary"].startswith("test-results.md was rejected by ")
    assert [one["key"] for one in answer["options"]] == ["fix", "rerun"]
    copy = shop.copy("other")
    shop.write("test-results.md", shop.read("test-results.md") + "\nG1: seen in a.py.\n")
    assert qrspi("next", RUN, "--json").json["next"]["action"] == "review"
    copy.git("worktree", "prune")
    assert qrspi("--root", copy.root, "resolve", "fix").code == 0
    assert f"the words are in {path}." in copy.read("feedback/plan-round-01.md")


@pytest.mark.rule("LIV-06", "TST-01")
def test_a_full_run_has_the_same_words(
    tmp_path: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = deliveries.config("full", GATES)
    shop = Workshop(
        tmp_path.resolve() / "project", {**full(), "config.md": config}, {"test.sh": FAILING}
    )
    monkeypatch.chdir(shop.root)
    monkeypatch.setenv("QRSPI_NOW", "2026-05-17T09:30:00Z")
    shop.next()
    for key in ("task-01", "task-02"):
        shop.take(key, f"{key}.py", "x\n")
    shop.next()
    shop.take("task-03", "c.py", "x\n")
    shop.next()
    shop.resolve("continue")
    shop.next()
    shop.review("integrate", 1, ("integration-claude", "security-claude"))
    shop.next()
    shop.approve("integrate")
    answer = qrspi("next", RUN, "--json").json["next"]
    assert [one["key"] for one in answer["options"]] == ["fix", "leave", "rerun"]
    assert answer["summary"].startswith(f"{FAILED}. Failure 1 of 1: tests/x.py::y. ")
    assert qrspi("approve", RUN, "test", "--failing", "-m", "x").code == 3
    assert qrspi("resolve", RUN, "leave").code == 0
    answer = qrspi("next", RUN, "--json").json["next"]
    assert (answer["action"], answer["summary"].startswith(f"{FAILED}. Send 3 ")) == (
        "review",
        True,
    )
    shop.review("test", 1, TESTERS)
    answer = qrspi("next", RUN, "--json").json["next"]
    assert (answer["kind"], answer["command"]) == ("test", None)
    assert answer["options"][0]["command"] == f"qrspi resolve {RUN} fix"
    assert [one["key"] for one in answer["options"]] == ["fix", "rerun", "ship"]
    assert qrspi("resolve", RUN, "ship").code == 3
    copy = shop.copy("other")
    copy.git("worktree", "prune")
    assert qrspi("--root", copy.root, "resolve", "fix", "--json").json["next"]["kind"] == (
        "write-repairs"
    )
    assert qrspi("resolve", RUN, "ship", "--failing", "-m", "Flaky.").code == 0


@pytest.mark.rule("LIV-10")
def test_a_review_that_was_skipped_is_offered_again_first(begin: Begin, qrspi: Call) -> None:
    begin()
    qrspi("next", RUN)
    assert qrspi("resolve", RUN, "skip").code == 0
    asked = qrspi("next", RUN, "--json").json["next"]
    assert asked["summary"] == (
        f"The tests passed. Round 1 was skipped by a person. `qrspi resolve {RUN} review` has it "
        f"reviewed again (recommended). Or read test-results.md, then `qrspi resolve {RUN} ship`, "
        "or `fix`, which goes back to the plan."
    )
    assert [one["key"] for one in asked["options"]] == ["review", "rerun", "ship", "fix"]
    assert (asked["command"], asked["options"][0]["command"]) == (
        None,
        f"qrspi resolve {RUN} review",
    )
    assert qrspi("resolve", RUN, "review").code == 0
    asked = qrspi("next", RUN, "--json").json["next"]
    assert (asked["action"], asked["round"]) == ("review", 2)


@pytest.mark.rule("LIV-07")
def test_reviewers_of_the_tests_are_given_criteria_tasks_log_and_diff(
    begin: Begin, qrspi: Call
) -> None:
    shop = begin()
    qrspi("next", RUN)
    prompt = qrspi("prompt", RUN, TESTERS[0]).out
    listed = prompt.partition("upstream_paths:\n")[2].partition("\n\n")[0].splitlines()
    assert [path.removeprefix(f"{shop.run}/") for path in listed] == [
        "goals.md",
        "research/summary.md",
        "implementation.md",
        "plan.md",
        "tasks/task-01.md",
        "reviews/test/round-01-results.md",
        "reviews/test/round-01.log",
    ]
    assert all(Path(path).is_file() for path in listed)
    diff = "reviews/test/round-01.diff"
    assert f"diff_file_path: {shop.run}/{diff}\n" in prompt
    assert "+a = 1\n" in shop.read(diff)
    assert "docs/qrspi" not in shop.read(diff)


@pytest.mark.rule("LIV-07")
def test_on_the_base_branch_itself_the_diff_begins_where_the_plan_was_approved(
    at_batch: Workshop, qrspi: Call
) -> None:
    shop = at_batch
    start = shop.git("rev-list", "--max-parents=0", "HEAD")
    field = f"status: approved\nphase_start_commit: {start}\n"
    shop.write("plan.md", shop.read("plan.md").replace("status: approved\n", field, 1))
    shop.commit("when the plan was approved")
    assert qrspi("resolve", "continue").code == 0
    qrspi("next", RUN)
    diff = shop.read("reviews/test/round-01.diff")
    assert "-a = 0\n+a = 1\n" in diff
    assert diff.count("diff --git") == 1
