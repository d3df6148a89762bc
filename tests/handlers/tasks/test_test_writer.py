"""Tests that somebody else writes: before the code of a task, and over the whole of a phase."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qrspi.core.code_steps import batch, implement
from qrspi.core.derivation import to_read
from qrspi.core.derivation.derive import survey
from qrspi.core.filenames import prompt_file
from qrspi.core.model import TESTS, Ask
from qrspi.core.pipeline import subject_of
from qrspi.core.records.task_records import ReportStatus
from qrspi.handlers.agents import awaited_agents
from qrspi.handlers.tasks import reports
from qrspi.render import task_table
from tests.deliveries import quick, task
from tests.handlers.refusals import refusal
from tests.handlers.workshop import Workshop

ONE = "task-01"
WHOLE = "test-round-01/acceptance-tests"
CRITERIA = b"""
## Acceptance Criteria

- A loan that is due today
  is not late.
- `late()` raises for a day before lending.
"""
EVIDENCE = """\
- task-01.1: test_a.py::test_due_today, passed
- task-01.2: not shown: no such day can be made
"""


# Passes without the new tests, and with the code that they ask for.
FAILS_FIRST = "test ! -e test_a.py || grep -q 1 a.py"


def shop_for(
    tmp_path: Path, kind: str = "code", switch: str = "on", command: str = FAILS_FIRST
) -> Workshop:
    text = task(1, files="a.py").replace(b"---\n", b"---\ntask_type: %b\n" % kind.encode(), 1)
    files = quick({"tasks/task-01.md": text + CRITERIA}, test_writer=switch)
    files["config.md"] = files["config.md"].replace(b"sh test.sh", command.encode())
    shop = Workshop(tmp_path / "shop", files)
    shop.next()
    return shop


def say_of_tests(shop: Workshop, status: ReportStatus = "DONE", commit: str = "HEAD") -> None:
    shop.make(lambda job: reports.report_tests(job, ONE, status, commit, "Two tests, both fail."))


def why(shop: Workshop, tests: bool = False, words: str = "", key: str = ONE) -> str:
    told = reports.report_tests if tests else reports.report
    refused = refusal(shop.make, lambda job: told(job, key, "DONE", "HEAD", words))
    return str(refused)


def merged(shop: Workshop) -> None:
    """Up to where the tests of the whole are asked for."""
    shop.work(ONE, "test_a.py", "assert False\n")
    say_of_tests(shop)
    shop.finish(ONE, "a.py", "a = 1\n")
    shop.resolve("continue")


@pytest.mark.rule("PRM-05", "IMP-11")
def test_tests_are_written_before_the_implementer_is_sent(tmp_path: Path) -> None:
    shop = shop_for(tmp_path)
    first = Ask("implement", ONE, 1, "tests")
    report = f"qrspi task report {shop.run.name} {ONE} --tests --status DONE --commit HEAD"
    place = f"{ONE} in .worktrees/user-auth/{ONE}"
    assert shop.answer.asks == (first,)
    assert shop.answer.summary == (
        f"Send a test writer: {place}; `qrspi prompt {shop.run.name} {ONE}` prints what to tell "
        f"it. It ends with `{report}`."
    )
    assert shop.answer.because == (f"{ONE}: its tests are written first",)
    (waiting,) = awaited_agents.line(shop.workspace())
    assert (waiting.name, waiting.role) == (ONE, "test-writer")
    prompt = shop.read(prompt_file(first))
    assert "# Test writer\n" in prompt and "The code is not there yet;" in prompt
    assert "You hold what was promised against it." not in prompt
    assert "its code is written by somebody else, after you." in prompt
    assert "is your order. Do what it says" not in prompt
    assert f"task report {shop.run.name} {ONE} --tests --status DONE --commit HEAD\n" in prompt
    commit = shop.work(ONE, "test_a.py", "assert False\n")
    say_of_tests(shop)
    shop.next()
    assert shop.answer.asks == (Ask("implement", ONE, 1),)
    order = shop.read(prompt_file(shop.answer.asks[0]))
    assert f"\ntests_commit: {commit}\n" in order
    assert "Its tests are there already, in the commit `tests_commit`; they were run" in order
    assert "\nTwo tests, both fail.\n" in order and "\nTwo tests, both fail.\n" not in prompt
    assert shop.read(f"reviews/tasks/{ONE}/tests.md").endswith("\nTwo tests, both fail.\n")


@pytest.mark.rule("PRM-05")
@pytest.mark.parametrize(("kind", "switch"), [("code", "off"), ("text", "on"), ("config", "on")])
def test_nobody_writes_tests_that_are_not_wanted(tmp_path: Path, kind: str, switch: str) -> None:
    shop = shop_for(tmp_path, kind, switch)
    assert shop.answer.asks == (Ask("implement", ONE, 1),)
    assert why(shop, tests=True) == (
        f"{ONE}: no tests are to be reported now: nobody waits for them"
    )


@pytest.mark.rule("IMP-11", "LIV-14")
def test_each_reports_its_own_work(tmp_path: Path) -> None:
    shop = shop_for(tmp_path)
    assert why(shop) == (
        f"{ONE}: its tests are written first, and nobody has reported them yet: `qrspi task report "
        f"{shop.run.name} {ONE} --tests --status DONE --commit HEAD`"
    )
    assert "nothing is committed in" in why(shop, tests=True)
    commit = shop.work(ONE, "test_a.py", "assert False\n")
    say_of_tests(shop)
    assert why(shop) == (
        f"{ONE}: nothing is committed in .worktrees/user-auth/{ONE} since its tests were written "
        f"at {commit[:12]}"
    )
    assert why(shop, tests=True) == (
        f"{ONE}: no tests are to be reported now: they are reported already"
    )


@pytest.mark.rule("IMP-11")
def test_criteria_that_cannot_be_tested_go_to_a_person(tmp_path: Path) -> None:
    shop = shop_for(tmp_path)
    say_of_tests(shop, "BLOCKED", "")
    answer, run = shop.answer, shop.run.name
    assert (answer.who, answer.kind, answer.asks) == ("human", "task", ())
    assert answer.summary == (
        f"{ONE} is blocked, says its test writer: Two tests, both fail. When the cause "
        f"is gone, `qrspi task retry {run} {ONE}` sends it again, with `-m` and your answer where "
        "it asks something; "
        f"`qrspi task skip {run} {ONE} "
        f"--reason TEXT` leaves the task out; `qrspi config set {run} test_writer off` sends its "
        "implementer."
    )
    assert answer.inputs == (f"tasks/{ONE}.md", f"reviews/tasks/{ONE}/tests.md")
    shop.make(lambda job: reports.retry(job, ONE, ""))
    assert shop.answer.asks == (Ask("implement", ONE, 1, TESTS),)
    shop.work(ONE, "test_a.py", "assert False\n")
    say_of_tests(shop)
    assert shop.answer.asks == (Ask("implement", ONE, 1),)


@pytest.mark.rule("TST-01", "PRM-05")
def test_every_criterion_of_the_phase_is_held_against_the_whole(tmp_path: Path) -> None:
    shop = shop_for(tmp_path)
    merged(shop)
    assert shop.did() == ["merge", "write-acceptance", "start-tasks"]
    text = shop.read(f"fixes/{WHOLE}.md")
    assert (
        "\n- task-01.1: A loan that is due today is not late.\n"
        "- task-01.2: `late()` raises for a day before lending.\n"
    ) in text
    assert shop.answer.asks == (Ask("implement", WHOLE, 1, "tests"),)
    prompt = shop.read(prompt_file(shop.answer.asks[0]))
    assert "You hold what was promised against it." in prompt
    assert "The code is not there yet;" not in prompt
    assert f"{WHOLE} --status DONE --commit HEAD -F FILE\n" in prompt
    assert f"\n{shop.run}/reviews/tasks/{ONE}/round-01-verified.md\n" in prompt
    assert f"\n{shop.run}/reviews/tasks/{ONE}/report.md\n" not in prompt
    facts = survey(shop.workspace()).facts
    assert facts
    other = to_read.made_from(facts, subject_of("test-round-01/failing-tests"))
    assert [path for path in other if path.endswith("-verified.md")] == []
    # No plan has it, so nobody approved it with one.
    assert "binds you: the task at `task_file_path` is your order." in prompt


@pytest.mark.rule("TST-01", "LIV-07")
def test_each_criterion_needs_a_test_and_reviewers_get_the_evidence(tmp_path: Path) -> None:
    shop = shop_for(tmp_path)
    merged(shop)
    shop.next()
    shop.work(WHOLE, "test_all.py", "pass\n")
    assert why(shop, words="- task-01.1: test_a.py::test_due_today\n- task-01.2\n", key=WHOLE) == (
        f"{WHOLE}: no test is named for task-01.2; expected a line `- CRITERION: TEST` for each "
        "criterion in the text given with -F FILE"
    )
    shop.make(lambda job: reports.report(job, WHOLE, "DONE", "HEAD", EVIDENCE))
    shop.make(lambda job: reports.accept(job, WHOLE, "Looks good."))
    assert shop.did() == ["merge", "run-tests", "prepare-round"]
    assert (shop.answer.action, shop.answer.step) == ("review", "test")
    prompt = shop.read(prompt_file(shop.answer.asks[0]))
    assert f"{shop.run}/reviews/tasks/{WHOLE}/report.md\n" in prompt


def test_a_person_may_leave_the_tests_of_the_whole_out(tmp_path: Path) -> None:
    shop = shop_for(tmp_path)
    merged(shop)
    shop.next()
    shop.make(lambda job: reports.skip(job, WHOLE, "No time."))
    assert shop.did() == ["run-tests", "prepare-round"]


CODE = Ask("implement", ONE, 1)


def reported(shop: Workshop, status: ReportStatus = "DONE") -> str:
    """What is on record about the tests, once somebody has reported them."""
    say_of_tests(shop, status)
    return shop.read(f"reviews/tasks/{ONE}/tests.md").partition("seen: ")[2].partition("\n")[0]


@pytest.mark.rule("IMP-11", "LIV-01")
def test_tests_before_the_code_are_run_and_seen_to_fail(tmp_path: Path) -> None:
    shop = shop_for(tmp_path)
    shop.work(ONE, "test_a.py", "assert False\n")
    assert reported(shop) == "failed"
    shop.next()
    assert "they were run there, and failed: another" in shop.read(prompt_file(CODE))


@pytest.mark.rule("IMP-11", "LIV-01")
def test_tests_that_pass_before_the_code_are_sent_back_unless_explained(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, command="true")
    shop.work(ONE, "test_a.py", "assert True\n")
    assert reported(shop) == "passed"
    answer = shop.next().state.next
    assert [ask.target for ask in answer.asks] == ["tests"]
    assert answer.because == ("task-01: its tests pass without its code, so they show nothing yet",)
    told = shop.read(prompt_file(answer.asks[0]))
    assert "Your last report was not taken" in told and "show nothing" in told
    assert reported(shop, "DONE_WITH_CONCERNS") == "passed"
    shop.next()
    assert "passed already, so find out" in shop.read(prompt_file(CODE))


@pytest.mark.rule("IMP-11", "LIV-01")
@pytest.mark.parametrize("command", ["none", "no-such-program"])
def test_without_a_command_nobody_claims_that_tests_were_run(tmp_path: Path, command: str) -> None:
    shop = shop_for(tmp_path, command=command)
    shop.work(ONE, "test_a.py", "assert False\n")
    assert reported(shop) == "not-run"
    shop.next()
    assert "nobody but their author has run them" in shop.read(prompt_file(CODE))


@pytest.mark.rule("IMP-11", "LIV-20")
def test_an_implementer_that_is_sent_again_knows_whose_the_tests_are(tmp_path: Path) -> None:
    shop = shop_for(tmp_path)
    commit = shop.work(ONE, "test_a.py", "assert False\n")
    say_of_tests(shop)
    shop.report(ONE, "", "BLOCKED")
    shop.make(lambda job: reports.retry(job, ONE, "The town has decided."))
    shop.next()
    blocked = shop.read(prompt_file(CODE))
    assert "\nThe town has decided.\n" in blocked.partition("\nblocked_before:\n")[2]
    shop.deliver(ONE, "a.py", "a = 1\n")
    shop.next()
    shop.review(ONE, 1, wrong="It is never read.")
    shop.next()
    assert shop.answer.asks == (CODE._replace(round=2),)
    for told in (blocked, shop.read(prompt_file(shop.answer.asks[0]))):
        assert f"\ntests_commit: {commit}\n" in told and "\nTwo tests, both fail.\n" in told
        assert "Weaken or delete none that no finding is about" in told


GATE = {
    ("failed", FAILS_FIRST, "DONE"): "failed then, as they should",
    ("passed", "true", "DONE_WITH_CONCERNS"): "passed already, so they show nothing of it",
    ("not-run", "none", "DONE"): "were not run then",
    ("not-written", "true", "BLOCKED"): "were not written: their writer reported BLOCKED",
    ("not-recorded", "true", ""): "are not on record",
}


def switched(shop: Workshop, to: str) -> None:
    config = shop.run / "config.md"
    config.write_text(re.sub("test_writer: o[nf]+", f"test_writer: {to}", config.read_text()))


@pytest.mark.rule("IMP-10", "IMP-11", "LIV-01")
@pytest.mark.parametrize(("case", "words"), GATE.items())
def test_the_batch_gate_says_what_was_seen_of_tests_before_the_code(
    tmp_path: Path, case: tuple[str, str, ReportStatus], words: str
) -> None:
    seen, command, status = case
    shop = shop_for(tmp_path, switch="on" if status else "off", command=command)
    if status:
        shop.work(ONE, "test_a.py", "assert False\n")
        say_of_tests(shop, status, "" if status == "BLOCKED" else "HEAD")
    switched(shop, "off")
    shop.take(ONE, "a.py", "a = 1\n")
    switched(shop, "on" if seen == "not-recorded" else "off")
    shop.next()
    assert f" Of the tests before the code, those of {ONE} {words}. " in shop.answer.summary
    record = shop.read("implementation.md")
    assert f"## Tests before the code\n\n{ONE}: its tests {words}.\n" in record
    assert ("\n> Two tests, both fail.\n" in record) == (status == "DONE_WITH_CONCERNS")
    facts = survey(shop.workspace()).facts
    assert facts is not None
    tasks = implement.everything(facts, batch.read(facts))
    assert [
        task_table.document(shop.run.name, task, frozenset())["first_tests"] for task in tasks
    ] == [seen]
    assert task_table.seen_lines(tasks) == [f"{ONE}: the tests before its code {words}"]


@pytest.mark.rule("LIV-01")
def test_a_gate_without_tests_before_the_code_says_nothing_of_them(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, switch="off")
    shop.take(ONE, "a.py", "a = 1\n")
    shop.next()
    assert "before the code" not in shop.answer.summary + shop.read("implementation.md")


@pytest.mark.rule("IMP-10", "LIV-20")
def test_whoever_reviews_all_tasks_is_told_where_the_code_of_each_is(tmp_path: Path) -> None:
    shop = shop_for(tmp_path, switch="off")
    shop.take(ONE, "a.py", "a = 1\n")
    shop.next()
    shop.resolve("rerun-reviews")
    shop.next()
    (asked,) = shop.answer.asks
    prompt = shop.read(prompt_file(asked))
    assert f"\nworktree_paths:\n{shop.tree(ONE)}\n" in prompt
    assert "The tasks are not merged yet: `worktree_paths` has the work tree of each" in prompt
    assert f"\n{shop.run}/reviews/tasks/{ONE}/start.md\n" in prompt
