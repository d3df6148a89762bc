"""The commands of config.md, for the tests and for CI: run, or run by hand and reported."""

from __future__ import annotations

from qrspi.core import trust
from qrspi.core.code_steps import baseline, gate_records, integrate, shipping, test_results
from qrspi.core.code_steps.baseline import Baseline
from qrspi.core.code_steps.test_results import Results
from qrspi.core.config import problems as config_problems
from qrspi.core.config.reader import NO_TESTS
from qrspi.core.errors import Refusal
from qrspi.core.filenames import round_name, round_number
from qrspi.core.model import Problem, TestState
from qrspi.core.pipeline import STEP
from qrspi.core.records import audit_trail
from qrspi.core.steps import permits
from qrspi.core.tree import Tree, entries
from qrspi.core.yaml.writer import quote
from qrspi.handlers.changes import change_set, code_repository
from qrspi.handlers.changes.change_set import ChangeSet, Edit, commit_files, set_fields
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.handlers.tasks import drafts, repairs
from qrspi.world.consent import permits as consents
from qrspi.world.consent.permits import Permit
from qrspi.world.git import refs, worktrees
from qrspi.world.machine import clock
from qrspi.world.processes import configured_command
from qrspi.world.processes.configured_command import Ran


def named(job: Job, key: str) -> str:
    command = getattr(job.facts.config.gates, key, None) or ""
    if command and command != NO_TESTS:
        return str(command)
    found = f"is {command}" if command else "is missing"
    problem = Problem(
        "field-missing",
        f"config.md: gates.{key} {found}; expected the command to run",
        file="config.md",
        field=f"gates.{key}",
        found=command,
        expected="a command",
        hint=config_problems.naming(job.run, f"gates.{key}"),
    )
    raise Refusal(problem)


def permit(job: Job, key: str) -> Permit:
    """The same, as this user has allowed it: what runs is taken from there."""
    return consents.permit(job.project, job.run, trust.shell(f"gates.{key}", named(job, key)))


def take_baseline(job: Job) -> Performed:
    """At the tip of the feature branch, in a work tree that is thrown away."""
    permitted = permit(job, "test_command")
    command = permitted.named.text
    place = code_repository.find(job)
    worktrees.exclude_folder(place.repo)
    with worktrees.throwaway(place.repo, place.worktree("baseline"), place.tip) as tree:
        ran = configured_command.run(permitted, tree.root)
    taken = Baseline(
        commit=place.tip,
        command=command,
        exit=ran.status,
        choice="pending",
        time=clock.now_utc(),
        failures=_named_failures(command, ran),
    )
    job.workspace.write(baseline.LOG, ran.output)
    job.workspace.write(baseline.FILE, baseline.render(taken))
    note = f"at {place.feature} ({place.tip[:12]}) the tests {taken.sentence}"
    return Performed("baseline", "implement", 0, (baseline.FILE, baseline.LOG), (note,))


def baseline_state(tree: Tree) -> TestState:
    taken = baseline.read(tree)
    return taken.state if taken else "not-run"


def run_tests(job: Job) -> Performed:
    command, commit, ran = _run(job, "test_command")
    results = _results(job, command, commit, ran)
    log = test_results.log_file(results.number)
    job.workspace.write(log, ran.output)
    known = _write_known(job, results)
    return _drafted(job, results, "run-tests", (log, *known))


def _run(job: Job, key: str) -> tuple[str, str, Ran]:
    """Over the feature branch, as it is checked out; with the command, and the commit."""
    permitted = permit(job, key)
    place = code_repository.find(job)
    verb = f"run `qrspi next {job.run}`"
    code_repository.checked_out(job, place.repo, place.feature, verb)
    code_repository.clean(job, place, verb)
    commit = refs.head(place.repo) or ""
    return permitted.named.text, commit, configured_command.run(permitted, place.repo.root)


def before_the_code(job: Job, worktree: str) -> TestState:
    """What failed before the run began does not count."""
    if getattr(job.facts.config.gates, "test_command", None) in (None, "", NO_TESTS):
        return "not-run"
    permitted = permit(job, "test_command")
    ran = configured_command.run(permitted, worktree)
    if baseline.could_not_start(ran.status):
        return "not-run"
    failures = _failures(permitted.named.text, ran)
    known = frozenset(baseline.known_failures(job.workspace))
    is_old = bool(failures) and known.issuperset(failures)
    return "failed" if ran.status and not is_old else "passed"


def not_run(job: Job) -> Performed:
    place = code_repository.find(job)
    results = shipping.blank(job.facts, refs.head(place.repo) or "", clock.now_utc())
    return _drafted(job, results, "draft-test-results", ())


def _drafted(job: Job, results: Results, handler: str, before: tuple[str, ...]) -> Performed:
    """The page comes last: until it exists, all of this is done again."""
    sentence = shipping.tests_now(job.facts, results).sentence
    earlier = test_results.results_file(results.number - 1)  # somebody may have asked for this run
    record = drafts.write(
        job, "test", block(job.workspace, results, sentence), {"commit": results.commit}
    )
    page = test_results.results_file(results.number)
    job.workspace.write(page, test_results.render(results, sentence))
    files = (*before, record, page)
    known = (earlier,) if results.number > 1 else ()
    commit_files(job, (*files, *known), "draft test")
    return Performed(handler, "test", results.number, files, (sentence,))


def _failures(command: str, ran: Ran) -> tuple[str, ...]:
    return test_results.failures(ran.text, command) if ran.status else ()


def _named_failures(command: str, ran: Ran) -> tuple[str, ...]:
    """None for a command that could not be started and names nothing else."""
    names = _failures(command, ran)
    return () if baseline.could_not_start(ran.status) and names == (command,) else names


def _results(job: Job, command: str, commit: str, ran: Ran) -> Results:
    before = frozenset(baseline.known_failures(job.workspace))
    names = _named_failures(command, ran)
    return shipping.blank(job.facts, commit, clock.now_utc())._replace(
        exit=ran.status,
        failures=test_results.as_found(names, before),
    )


def block(tree: Tree, results: Results, sentence: str) -> str:
    merges = gate_records.merges(tree.read(STEP["test"].artifact))
    text = test_results.summary(results, sentence)
    return f"{text}\n\n{gate_records.merges_block(merges)}" if merges else text


def _write_known(job: Job, results: Results) -> tuple[str, ...]:
    known = [failure.name for failure in results.failures if failure.choice == "known"]
    if not known:
        return ()
    text = f"# Failures known from before\n{baseline.listed(known)}"
    job.workspace.write(test_results.KNOWN, text.encode())
    return (test_results.KNOWN,)


def run_ci(job: Job) -> Performed:
    command, commit, ran = _run(job, "ci_command")
    number = _highest(job.workspace) + 1
    log = f"{integrate.CI_FOLDER}/{round_name(number)}.log"
    job.workspace.write(log, ran.output)
    files = [log, _ci_review(job, number, command, commit, ran), STEP["integrate"].artifact]
    if ran.status:
        files.append(_ci_repair(job, command, log, ran))
    _remember_ci(job, log, ran)
    commit_files(job, files, f"CI round {number:02d}")
    verdict = "passed" if ran.status == 0 else f"failed with exit {ran.status}"
    note = f"the CI command {verdict}, see {log}"
    return Performed("ci", "integrate", number, tuple(files), (note,))


def _highest(tree: Tree) -> int:
    names = (
        entry.name for entry in entries(tree, integrate.CI_FOLDER) if entry.name.endswith(".log")
    )
    return max((round_number(name.removesuffix(".log")) or 0 for name in names), default=0)


def _ci_review(job: Job, number: int, command: str, commit: str, ran: Ran) -> str:
    path = integrate.ci_review_file(number)
    merges, resets = _ci_counts(job)
    listed = "".join(f"- {name}\n" for name in _failures(command, ran))
    verdict = f"The CI command failed:\n\n{listed}" if ran.status else "The CI command passed.\n"
    head = (
        f"---\nround: {number}\ncommand: {quote(command)}\ncommit: {commit}\nexit: {ran.status}\n"
        f"merges: {merges}\nresets: {resets}\n"
        f"time: {quote(clock.now_utc())}\n---\n"
    )
    text = f"{head}\n# CI, round {number:02d}\n\n{verdict}\nOutput: {round_name(number)}.log\n"
    job.workspace.write(path, text.encode())
    return path


def _ci_counts(job: Job) -> tuple[int, int]:
    return len(integrate.recorded(job.workspace)), integrate.resets(job.facts, "integrate")


def _ci_repair(job: Job, command: str, log: str, ran: Ran) -> str:
    listed = "\n".join(f"- {name}" for name in test_results.failures(ran.text, command))
    body = f"""\
`{command}` exits {ran.status} on the merged branch; its output is in the run's directory, at
`{log}`. What it names:

{listed}

## Acceptance Criteria

- `{command}` exits 0 in this task's work tree.
- No check is switched off or weakened to get there.
"""
    return repairs.write(job, "ci", "ci-command", "Make the CI command pass", body)


def _remember_ci(job: Job, log: str, ran: Ran) -> None:
    """In the frontmatter, where it does not restart the review of the merged branch."""
    path = STEP["integrate"].artifact
    merges, resets = _ci_counts(job)
    fields = {
        "ci_exit": str(ran.status),
        "ci_log": quote(log),
        "ci_merges": str(merges),
        "ci_resets": str(resets),
    }
    edit = set_fields(job.workspace, path, fields, "the CI command ran")
    if edit:
        job.workspace.replace(path, edit.old, edit.data)


def report_by_hand(job: Job, state: TestState, words: str, who: str) -> ChangeSet:
    """The record comes first: without it, the page is nobody's statement."""
    if problem := _not_now(job) or _contradicts(job, state):
        raise Refusal(problem)
    place = code_repository.find(job)
    results = shipping.blank(job.facts, refs.head(place.repo) or "", clock.now_utc())._replace(
        reporter=change_set.decider(job, who), reported=state, words=words
    )
    sentence = shipping.tests_of(results).sentence
    artifact, page = STEP["test"].artifact, test_results.results_file(results.number)
    edit = Edit("write", page, sentence, test_results.render(results, sentence))
    record = change_set.decision(job, "test-report", "test", results.number, edit)
    edits = (
        change_set.on_record(job, record._replace(option=state, note=words), who),
        Edit("write", artifact, "what was reported", _reported_record(job, results, sentence)),
        edit,
    )
    return ChangeSet(
        "test-report",
        "test",
        results.number,
        edits,
        message=change_set.message("report about", "test", job.run),
        covers=(artifact, page),
    )


def _reported_record(job: Job, results: Results, sentence: str) -> bytes:
    title = drafts.TITLES["test"].format(phase=job.facts.phase)
    fields: drafts.Fields = {"status": "draft", "phase": job.facts.phase, "commit": results.commit}
    text = block(job.workspace, results, sentence)
    return drafts.with_block(job, STEP["test"].artifact, title, text, fields)


def _not_now(job: Job) -> Problem | None:
    waiting = integrate.pending(job.workspace, integrate.work(job.facts).wanted)
    if job.facts.step == "test" and not waiting:
        return None
    what = f"{waiting[0].key} is not merged yet" if waiting else "the run is not at test"
    text = f"there is nothing to report about yet, {what}: {permits.now(job.next)}"
    return Problem("not-ready", text, hint=job.next.hint(job.run))


def _gone_page(tree: Tree) -> Problem | None:
    """The next page would take its place."""
    page = test_results.results_file(test_results.highest(tree) + 1)
    named = audit_trail.paths(tree, page)
    if page not in named and tree.committed(page) is None:
        return None
    text = f"{page} is gone: qrspi wrote it, and no command took it away"
    restore = tree.to_restore(page)
    way = f": restore it with `{restore}`" if restore else ""
    return Problem("vanished", f"{text}{way}", page, found="absent", hint=restore)


def _not_its_page(job: Job) -> Problem | None:
    number = test_results.highest(job.workspace)
    if not number:
        return None
    page, again = test_results.results_file(number), f"qrspi next {job.run}"
    text = f"{page} is not as qrspi wrote it, so nobody knows what it saw: run `{again}` first"
    return Problem("not-ready", text, page, expected="what qrspi wrote", hint=again)


def _contradicts(job: Job, state: TestState) -> Problem | None:
    """A report cannot replace what the engine saw itself, nor a page of it that is gone."""
    if gone := _gone_page(job.workspace):
        return gone
    results = test_results.newest(job.workspace)
    if results is None:
        return _not_its_page(job)
    if results.exit is None or (state, results.state) != ("passed", "failed"):
        return None
    if not shipping.can_run_again(job.facts, results):
        return None
    again = f"qrspi resolve {job.run} rerun"
    sentence = shipping.tests_of(results).sentence
    text = f"{sentence}, and nothing changed since: have them run again with `{again}`"
    page = test_results.results_file(results.number)
    return Problem("tests-failed", text, file=page, found="failed", expected="passed", hint=again)
