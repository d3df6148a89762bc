"""How the tests stand over what is merged, what speaks against shipping, the pull request."""

from __future__ import annotations

from collections.abc import Iterator

from qrspi.core.artifacts import task_file
from qrspi.core.code_steps import gate_records, integrate, test_results
from qrspi.core.code_steps.test_results import Results, results_file, shown
from qrspi.core.config.reader import NO_TESTS
from qrspi.core.filenames import RUNS, phase_folder, slug_of
from qrspi.core.model import StateOfTests
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import REQUEST, STEP, is_full
from qrspi.core.records.approvals import Record
from qrspi.core.rounds import code_changes
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps.facts import Facts
from qrspi.core.text import shortened
from qrspi.core.text.tables import lines_of, tables
from qrspi.core.tree import Fault, content
from qrspi.core.yaml import frontmatter


def is_current(facts: Facts, results: Results) -> bool:
    same = results.command == facts.config.test_command and results.then != "rerun"
    return same and _is_about_merged(facts, results) and not outdated(facts, results)


def can_run_again(facts: Facts, results: Results) -> bool:
    """Whether it is about the code of now, and a command runs the tests, the same or another."""
    about = _is_about_merged(facts, results) and not _moved(facts, results)
    return bool(facts.config.test_command) and about


def _is_about_merged(facts: Facts, results: Results) -> bool:
    merges = integrate.recorded(facts.tree)
    same = (results.merges, results.resets) == (len(merges), integrate.resets(facts, "test"))
    return same and results.merged in ("", test_results.merged(merges))


def outdated(facts: Facts, results: Results) -> str:
    """How the code has changed since the tests passed. Where they failed, a person is asked."""
    return _moved(facts, results) if results.state == "passed" else ""


def _moved(facts: Facts, results: Results) -> str:
    return code_changes.since(facts.tree, facts.config, results.commit)


def blank(facts: Facts, commit: str = "", time: str = "") -> Results:
    merges = integrate.recorded(facts.tree)
    return Results(
        number=test_results.highest(facts.tree) + 1,
        command=facts.config.test_command,
        commit=commit,
        merges=len(merges),
        resets=integrate.resets(facts, "test"),
        time=time,
        merged=test_results.merged(merges),
    )


def tests_now(facts: Facts, results: Results | None) -> StateOfTests:
    if results and not results.started:
        return tests_of(results)
    if results is None or results.state == "not-run":
        return StateOfTests("not-run", _why_not(facts))
    page = results_file(results.number)
    report = ("test-report", page, results.reported)
    known = any(
        (record.event, record.file, record.option) == report
        and results.digest in ("", record.file_hash)
        for record in facts.records
    )
    if results.reporter and not known:
        why = f"{page} says that they {results.state}, but no report is on record"
        return StateOfTests("not-run", why)
    if after := outdated(facts, results):
        return StateOfTests("not-run", f"they passed before, and {after}")
    return tests_of(results)


def tests_of(results: Results) -> StateOfTests:
    names = tuple(failure.name for failure in results.failures)
    return StateOfTests(results.state, results.detail, names)


def _why_not(facts: Facts) -> str:
    said = facts.config.said_of_tests
    if said != NO_TESTS:
        return "nobody has started them yet" if said else "config.md names no command for them"
    record = answered(facts)
    if record is None or record.option != NO_TESTS:
        return "gates.test_command in config.md is none; who said so is not on record"
    on = f" on {record.when[:10]}" if record.when else ""
    return f"there is no command for them, as {shown(record.person)} said{on}"


def answered(facts: Facts) -> Record | None:
    return next((one for one in reversed(facts.records) if one.event == "test-command"), None)


def is_settled(facts: Facts, results: Results | None) -> bool:
    """Whether reviewers may be sent although the tests did not pass."""
    if results and results.then == "review":
        return True
    if results and results.failures:
        # Without a task that repairs them, the plan does: nobody reviews before it is changed.
        return not results.pending and (is_full(facts.route) or not results.to_fix)
    record = answered(facts)
    decided = record.option if record else ""
    return facts.config.said_of_tests == decided == NO_TESTS


def objections(tests: StateOfTests, loop: Loop | None) -> tuple[str, ...]:
    remarks = [] if tests.state == "passed" else [tests.sentence]
    if count := len(open_findings(loop)):
        findings = "finding is" if count == 1 else "findings are"
        remarks.append(f"{count} kept {findings} not settled")
    return tuple(remarks)


def open_findings(loop: Loop | None) -> tuple[str, ...]:
    if loop is None or loop.stage != "fixing":
        return ()
    return tuple(f"{loop.paths.directory}/{item.finding.file}" for item in loop.to_apply)


PULL_REQUEST = "pull-request.md"
TITLE_LENGTH = 72


class Shipped(NamedTuple):
    who: str
    when: str
    reason: str


def to_send(facts: Facts) -> str:
    """How the last sentence about a run ends: where its work waits, if it waits on a branch."""
    branch = branch_to_send(facts)
    if not branch or PULL_REQUEST not in facts.names:
        return "; nothing is left to do."
    body = f"{RUNS}/{facts.run}/{PULL_REQUEST}"
    return f". Its work waits on branch {branch}; {body} has the text for a pull request."


_TRUNKS = ("main", "master", "trunk", "null")  # what is merged there has arrived, null is none


def branch_to_send(facts: Facts) -> str:
    plan = frontmatter.fields(facts.tree.head(STEP["plan"].artifact))
    branch = facts.config.feature_branch or frontmatter.text(plan, "feature_branch") or ""
    return "" if branch in (*_TRUNKS, facts.config.base_branch) else branch


def title(facts: Facts) -> str:
    name = _called(facts) or _requested(facts)
    name = name or slug_of(facts.run).replace("-", " ").capitalize()
    return f"{name} (phase {facts.phase})" if facts.phase > 1 else name


def _called(facts: Facts) -> str:
    read = task_file.read(facts.tree.read(STEP["goals"].artifact), "goals")
    heading = read.title if isinstance(read, task_file.Task) else ""
    return heading.removeprefix("Goals").lstrip(" :–—-")


def _requested(facts: Facts) -> str:
    data = facts.tree.read(REQUEST)
    text = "" if isinstance(data, Fault) else data.decode(errors="replace").strip()
    line = " ".join(text.partition("\n")[0].split()).rstrip(".")
    return shortened.at_words(line, TITLE_LENGTH)


def pull_request(facts: Facts, loop: Loop | None, shipped: Shipped | None = None) -> str:
    parts = (
        f"## Summary\n\n{_tasks_section(facts)}",
        f"## Tests\n\n{_tests_section(facts)}",
        _findings_section(facts, loop),
        _decision_section(shipped) if shipped else "",
        f"## Read more\n\n{_links(facts)}",
    )
    return "\n\n".join(part for part in parts if part)


def _tasks_section(facts: Facts) -> str:
    work = integrate.work(facts)
    tasks = (*work.tasks, *work.repairs)
    rows = [*_earlier(facts), *((task.key, task.item.title, task.state) for task in tasks)]
    table = gate_records.table(("Task", "What", "State"), rows) if rows else "No tasks."
    return table + gate_records.outside(tasks)


def _earlier(facts: Facts) -> Iterator[tuple[str, str, str]]:
    """Tasks of the phases that are put away: their commits are on the same branch."""
    for number in range(1, facts.phase):
        page = f"{phase_folder(number)}/{STEP['implement'].artifact}"
        for found in tables(lines_of(content(facts.tree, page))):
            places = [found.column((name,)) for name in ("task", "title", "state")]
            if -1 not in places:
                for row in found.rows:
                    key, title, state = map(row.cell, places)
                    yield key, title, f"{state}, in phase {number}"


def _tests_section(facts: Facts) -> str:
    results = test_results.newest(facts.tree)
    tests = tests_now(facts, results)
    page = f" ({_link(facts, results_file(results.number))})" if results else ""
    words = gate_records.quoted(results.words) if results else ""
    opening = f"State: {tests.state}\n\n{tests.sentence}{page}."
    return f"{opening}\n\n{words}" if words else opening


def _findings_section(facts: Facts, loop: Loop | None) -> str:
    listed = "\n".join(f"- {_link(facts, path)}" for path in open_findings(loop))
    return f"## Findings that are not settled\n\n{listed}" if listed else ""


def _decision_section(shipped: Shipped) -> str:
    who = test_results.person(shipped.who)
    reason = gate_records.quoted(shipped.reason)
    return f"## Shipped all the same\n\nBy {who}, {shipped.when}:\n\n{reason}"


def _links(facts: Facts) -> str:
    return "\n".join(
        f"- {_link(facts, STEP[step].artifact, step)}"
        for step in facts.route
        if facts.statuses[step] not in ("missing", "invalid")
    )


def _link(facts: Facts, path: str, name: str = "") -> str:
    return f"[{name or path}](docs/qrspi/{facts.run}/{path})"
