"""Run the tests: where nobody has changed anything yet, and over the feature branch."""

from __future__ import annotations

from qrspi.core.code_steps import gate_records, test_results, test_standing
from qrspi.core.code_steps.test_results import Failure, Results
from qrspi.core.pipeline import STEP
from qrspi.core.records import baseline
from qrspi.core.records.baseline import Baseline
from qrspi.core.tree import Tree
from qrspi.handlers.changes import code_repository
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.handlers.tasks import commands, drafts
from qrspi.world.git import refs, worktrees
from qrspi.world.machine import clock
from qrspi.world.processes import configured_command
from qrspi.world.processes.configured_command import Ran


def take_baseline(job: Job) -> Performed:
    """At the tip of the feature branch, in a work tree that is thrown away."""
    permitted = commands.permit(job, "test_command")
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
        failures=_failures(command, ran),
    )
    job.workspace.write(baseline.LOG, ran.output)
    job.workspace.write(baseline.FILE, baseline.render(taken))
    verdict = "passed" if taken.passed else f"failed with exit {ran.status}"
    note = f"the tests {verdict} at {place.feature} ({place.tip[:12]})"
    return Performed("baseline", "implement", 0, (baseline.FILE, baseline.LOG), (note,))


def baseline_passed(tree: Tree) -> bool:
    taken = baseline.read(tree)
    return taken is not None and taken.passed


def handle(job: Job) -> Performed:
    """Over the feature branch; what they say is drafted as test-results.md."""
    permitted = commands.permit(job, "test_command")
    command = permitted.named.text
    place = code_repository.find(job)
    code_repository.checked_out(place, f"run `qrspi next {job.run}`")
    commit = refs.head(place.repo) or ""
    ran = configured_command.run(permitted, place.repo.root)
    results = _results(job, command, commit, ran)
    log = test_results.log_file(results.number)
    job.workspace.write(log, ran.output)
    known = _write_known(job, results)
    return _drafted(job, results, "run-tests", (log, *known))


def not_run(job: Job) -> Performed:
    """Nobody named a command: that is drafted, so that reviewers and people know."""
    place = code_repository.find(job)
    results = test_standing.blank(job.facts, refs.head(place.repo) or "", clock.now_utc())
    return _drafted(job, results, "draft-test-results", ())


def _drafted(job: Job, results: Results, handler: str, before: tuple[str, ...]) -> Performed:
    """The page comes last: until it is there, all of this is done again."""
    sentence = test_standing.state(job.facts, results).sentence
    earlier = test_results.results_file(results.number - 1)  # somebody may have asked for this run
    record = drafts.write(
        job, "test", block(job.workspace, results, sentence), {"commit": results.commit}
    )
    page = test_results.results_file(results.number)
    job.workspace.write(page, test_results.render(results, sentence))
    files = (*before, record, page)
    known = (earlier,) if results.number > 1 else ()
    drafts.commit(job, "draft test", (*files, *known))
    return Performed(handler, "test", results.number, files, (sentence,))


def _failures(command: str, ran: Ran) -> tuple[str, ...]:
    return test_results.failures(ran.text, command) if ran.status else ()


def _results(job: Job, command: str, commit: str, ran: Ran) -> Results:
    before = frozenset(baseline.known_failures(job.workspace))
    names = _failures(command, ran)
    return test_standing.blank(job.facts, commit, clock.now_utc())._replace(
        exit=ran.status,
        failures=tuple(Failure(name, "known" if name in before else "pending") for name in names),
    )


def block(tree: Tree, results: Results, sentence: str) -> str:
    """What test-results.md says: the tests, and the merges that this step made."""
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
