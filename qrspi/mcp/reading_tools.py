"""Tools that only look. Each is a function from its arguments to a command; what a model reads
about it is its docstring."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from qrspi.mcp.command_words import Call, call

Run = Annotated[
    str,
    Field(
        description="A run's name, such as 2026-05-17-user-auth, as `status` lists them. May be "
        "left out where there is only one run, or only one that has not ended."
    ),
]
Step = Annotated[
    str,
    Field(
        description="A step of the run (goals, questions, research, design, plan, …), "
        "implement-gate, or a task such as task-03. Left out: the current one."
    ),
]
Round = Annotated[int | None, Field(ge=1, description="A round's number. Left out: the newest.")]
AwaitedTag = Annotated[
    str,
    Field(
        min_length=1,
        description="Whose prompt: quality-claude, verify-quality-claude.finding-F01, author, "
        "fixer, q01-codebase, … `next.prompts` of `next_step` has a file for each agent that is "
        "waited for; its name without folder and .md is the tag.",
    ),
]
Chars = Annotated[int, Field(ge=200, description="The most characters that the page may have.")]


def status(run: Run = "") -> Call:
    """Where runs stand: for each its steps with their state, and under `next` the one next action,
    who must act (`who`: engine, agent, human or nobody) and why (`because`). Without `run`, every
    run. Begin here."""
    return call("status", run)


def next_step(run: Run = "") -> Call:
    """What one run needs now, and what the engine would do by itself first (`performed`), without
    doing it. `next.who` is engine: call `advance` (or a person runs `next.command`). agent: do
    what `next.summary` says; `next.prompts` has a file for each agent, and `read_prompt` its text.
    human: show the person `next.summary` and `next.options`, each with its `command`, and stop;
    `next.command` is never a person's decision. nobody: done."""
    return call("next --dry-run", run)


def explain(run: Run = "") -> Call:
    """Why a run stands where it stands: each reason, and each file that was looked at for it. For
    when an answer of `status` or `next_step` surprises you."""
    return call("explain", run)


def brief(run: Run = "", chars: Chars = 4000) -> Call:
    """One page (`text`) that puts somebody who knows nothing of the run in the picture: where it
    stands, open findings, decisions so far, what to do next and with which files."""
    return call("brief", run, chars=chars)


def show_round(run: Run = "", step: Step = "", round: Round = None) -> Call:
    """What reviewers found in one review round of a step: each finding with its reviewer, severity,
    score, whether it was kept, dropped or waits for a person, why, and since which round."""
    return call("show", run, step, round=round)


def inbox() -> Call:
    """Everything that waits for a person, over all runs, each with the command that answers it.
    These are for the person: show them, do not answer them yourself."""
    return call("inbox")


def read_prompt(tag: AwaitedTag, run: Run = "") -> Call:
    """The whole text (`prompt`) that an agent the run waits for is to be told. Give it to a fresh
    agent and nothing else with it: a reviewer must not know what others found."""
    return call("prompt", run, tag)


def verify(run: Run = "") -> Call:
    """Whether anything was skipped: every closed round and every approval is derived again from
    its files. `ok` says so, `gaps` lists what must be there and is not. Without `run`, every run.
    Changes and repairs nothing."""
    return call("verify", run)


def spend(run: Run = "") -> Call:
    """What a run's agents cost so far: calls, tokens, money and time by step, round, role and
    model, and what is left of its budgets."""
    return call("spend show", run)
