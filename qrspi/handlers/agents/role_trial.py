"""Try role texts on agents: prompts about planted faults, and the score of the answers."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.agents import trial_prompts
from qrspi.core.agents import trial_score as scores
from qrspi.core.agents.roles import Role
from qrspi.core.agents.trial_case import Case
from qrspi.core.agents.trial_prompts import Question
from qrspi.core.agents.trial_score import Outcome, Tally
from qrspi.core.errors import Halt, Misuse
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.world.agents import trial_files
from qrspi.world.runs import role_files

_MATERIAL = "material"


class Trial(NamedTuple):
    """Every question of a trial, and the folders whose role texts are tried."""

    questions: tuple[Question, ...]
    run: str
    project: str


class Result(NamedTuple):
    outcomes: tuple[Outcome, ...]
    tallies: tuple[Tally, ...]


def opened(run: str, project: str, only: tuple[str, ...] = ()) -> Trial:
    cases = trial_files.cases()
    _check(only, cases)
    asked = trial_prompts.questions(cases, lambda name: _role(name, run, project), only)
    return Trial(tuple(asked), run, project)


def _check(only: tuple[str, ...], cases: Iterable[Case]) -> None:
    known = sorted({trial_prompts.VERIFIER, *(case.role for case in cases)})
    for name in only:
        if name not in known:
            expected = f"one of {', '.join(known)}"
            text = f"--role: found {name!r}, expected {expected}"
            raise Misuse(Problem("usage", text, field="role", found=name, expected=expected))


def _role(name: str, run: str, project: str) -> Role:
    role = role_files.load(name, run, project)
    if isinstance(role, Problem):
        raise Halt(role)
    return role


def place(asked: Question, folder: str) -> str:
    """Where the case's files lie in a folder with the material."""
    return f"{folder}/{_MATERIAL}/{asked.case.name}"


def prompt(trial: Trial, asked: Question, folder: str, model: str) -> bytes:
    rules = _role(asked.case.role, trial.run, trial.project).text
    parts = role_files.shared_parts()
    return trial_prompts.told(asked, rules, parts, place(asked, folder), model).encode()


def material(trial: Trial) -> dict[str, bytes]:
    """The files of every case, by path: what an agent may open, and nothing of what was planted."""
    cases = {one.case.name: one.case for one in trial.questions}
    return {
        f"{_MATERIAL}/{name}/{path}": data
        for name, case in cases.items()
        for path, data in case.files.items()
    }


def lay_out(trial: Trial, folder: str, model: str) -> tuple[str, ...]:
    """Write the prompts, and the material beside them. The names of the prompts' files."""
    texts = {f"{one.name}.md": prompt(trial, one, folder, model) for one in trial.questions}
    trial_files.write(folder, {**material(trial), **texts})
    return tuple(texts)


def score(trial: Trial, answers: str) -> Result:
    if not trial_files.is_there(answers):
        raise Misuse(_no_folder(answers))
    by_name = {one.name: one for one in trial.questions}
    outcomes = tuple(
        scores.outcome(one, trial_files.answer(answers, name)) for name, one in by_name.items()
    )
    return Result(outcomes, scores.tallies(outcomes, by_name))


def _no_folder(path: str) -> Problem:
    return Problem(
        "no-answers",
        f"there is no folder {path}; expected one with answers under the prompts' names",
        file=path,
        expected="a folder",
        hint="qrspi roles trial --prompts DIR",
    )
