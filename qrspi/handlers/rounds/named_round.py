"""The round that a command names: a step, a task or the implement gate, and a number."""

from __future__ import annotations

from qrspi.core.config import problems as config_problems
from qrspi.core.config import reader as configs
from qrspi.core.config.reader import Config
from qrspi.core.errors import Refusal, refused
from qrspi.core.filenames import RoundPaths
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Next, Problem
from qrspi.core.pipeline import CLOSED, STEP, Subject
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds import round_list
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import facts as gathering
from qrspi.core.steps.facts import Facts
from qrspi.core.tree import CONFIG_LIMIT, Fault, Tree

if TYPE_CHECKING:
    from qrspi.handlers.jobs.job import Job, Options
    from qrspi.world.runs.workspace import Workspace

# The fields of config.md that reading a round needs, whoever prepared it and wherever the run
# stands.
READING = ("second_reviewer", "guard", "verifier_enabled", "extra_reviewers")
CONVERGING = ("scope_tagger_enabled", "base_branch", "feature_branch", "code_path")


def to_prepare(workspace: Workspace, subject: Subject, options: Options) -> Job:
    config = _config(workspace)
    if problems := configs.problems_for(config, subject.key):
        raise Refusal(*(config_problems.for_run(problem, workspace) for problem in problems))
    facts = _facts(workspace, subject, config)
    if missing := gathering.unmet(facts, subject.step):
        raise Refusal(_unmet(facts, subject, missing))
    if problem := _over(facts, subject):
        raise Refusal(problem)
    loop = loops.evaluate(workspace, subject, config, facts.base, facts.records)
    return _job(workspace, facts, loop, options)


def to_read(workspace: Workspace, subject: Subject, number: int | None, options: Options) -> Job:
    return _job(workspace, *read(workspace, subject, number), options)


def read(tree: Tree, subject: Subject, number: int | None) -> tuple[Facts, Loop]:
    config = _config(tree)
    number = number or round_list.newest(tree, subject)
    _must_be_there(tree, subject, number)
    if problems := _unreadable(tree, subject, number, config):
        raise Refusal(*(config_problems.for_run(problem, tree) for problem in problems))
    facts = _facts(tree, subject, config)
    return facts, loops.at(tree, subject, config, number, facts.base, facts.records)


def to_converge(workspace: Workspace, subject: Subject, options: Options) -> Job:
    """Only scope sets, anchors and a flag are read; no round need exist."""
    config = _config(workspace)
    if problems := configs.problems_with(config, CONVERGING):
        raise Refusal(*(config_problems.for_run(problem, workspace) for problem in problems))
    return _job(workspace, _facts(workspace, subject, config), Loop(subject), options)


def _config(tree: Tree) -> Config:
    return configs.read(tree.read("config.md", CONFIG_LIMIT))


def _facts(tree: Tree, subject: Subject, config: Config) -> Facts:
    facts, _ = gathering.gather(tree, config, config.route or ())
    if facts.unread:
        raise refused(facts.unread)
    return facts._replace(step=subject.step)


def _job(workspace: Workspace, facts: Facts, loop: Loop, options: Options) -> Job:
    from qrspi.handlers.jobs.job import Job  # who only reads a round changes nothing

    asked = Next("prepare-round", "engine", "", (), step=loop.subject.key, round=loop.round)
    return Job(workspace, facts, loop, asked, options)


def _unreadable(tree: Tree, subject: Subject, number: int, config: Config) -> tuple[Problem, ...]:
    problems = configs.problems_with(config, READING)
    if not subject.is_task or problems:
        return problems
    prepared = not isinstance(tree.head(RoundPaths(subject.reviews, number).manifest), Fault)
    bad = configs.problems_for(config, subject.key)
    return () if prepared else tuple(one for one in bad if one.field == "review_depth")


def _must_be_there(tree: Tree, subject: Subject, number: int) -> None:
    paths = RoundPaths(subject.reviews, number)
    if number and tree.entries(paths.directory) != Fault("absent"):
        return
    what = f"round {number:02d}" if number else "review round"
    way = f"qrspi next {tree.name}"
    text = f"{tree.name} has no {what} of {subject.key}: `{way}` opens rounds when they are due"
    problem = Problem(
        "no-round",
        text,
        file=paths.directory if number else subject.reviews,
        expected="a round directory",
        hint=way,
    )
    raise Refusal(problem)


def _over(facts: Facts, subject: Subject) -> Problem | None:
    """Nobody would read what comes of a round of a closed run, or of a text that is approved."""
    if CLOSED in facts.names:
        from qrspi.core.derivation import closed_run

        closed = closed_run.ask(facts.tree)
        text = f"no round of {subject.key} is opened: {closed.because[0]}"
        return Problem("already-closed", text, file=CLOSED, hint=closed.command or "")
    of_step = subject.key == subject.step
    if not of_step and gathering.current_step(facts) is not None:
        return None
    if gathering.status_of(facts, subject.step) != "approved":
        return None
    artifact, back = STEP[subject.step].artifact, f"qrspi unapprove {facts.run} {subject.step}"
    text = (
        f"no round of {subject.key} is opened: {artifact} is approved, and `{back}` takes that back"
    )
    expected = "a draft"
    return Problem("already-approved", text, artifact, "status", "approved", expected, back)


def _unmet(facts: Facts, subject: Subject, missing: tuple[str, ...]) -> Problem:
    listed = ", ".join(missing)
    return Problem(
        "prerequisite",
        f"{subject.key} cannot be reviewed: approve {listed} first",
        file=missing[0],
        found="not approved",
        expected=listed,
        hint=f"qrspi status {facts.run}",
    )
