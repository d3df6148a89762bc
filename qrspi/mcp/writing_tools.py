"""Tools that change runs. Each is a function from its arguments to a command; what a model reads
about it is its docstring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from qrspi.core.records.task_records import REPORTS
from qrspi.mcp.command_words import Call, call

if TYPE_CHECKING:
    from qrspi.core.records.task_records import ReportStatus
else:
    ReportStatus = Literal[REPORTS]  # pydantic reads no Literal but typing's own

Words = Annotated[str, Field(min_length=1)]
Run = Annotated[Words, Field(description="The run's name, such as 2026-05-17-user-auth.")]
Step = Annotated[
    Words,
    Field(
        description="The step (goals, questions, research, design, plan, …), implement-gate, or "
        "a task such as task-03, as `next_step` names it.",
    ),
]
Round = Annotated[int, Field(ge=1, description="The round's number, as `next_step` names it.")]
Tag = Annotated[Words, Field(description="The reviewer's tag, such as quality-claude.")]
FindingName = Annotated[
    Words,
    Field(
        description="The finding by reviewer and id, such as quality-claude.R1-F01, as "
        "`show_round` names it (`tag`.`id`).",
    ),
]
Task = Annotated[Words, Field(description="The task, such as task-03.")]
EarlierStep = Annotated[str, Field(description="Where to go back to: an earlier step.")]


def advance(run: Run) -> Call:
    """Do everything mechanical that can be done on a run now (open a round, assemble scores,
    commit, start tasks, …), then say who must act next, as `next_step` does. Call it after you have
    handed something in, and whenever `next.who` is engine. It starts no agents and approves
    nothing that a person must approve."""
    return call("next", run)


def submit_artifact(
    run: Run,
    step: Step,
    text: Annotated[
        Words,
        Field(
            description="The whole text: YAML frontmatter, then Markdown. Further files of the "
            "step, such as tasks/task-01.md, follow after lines <<<FILE path>>>; a fixer ends "
            "with <<<FILE dispositions>>> and what it did about each finding.",
        ),
    ],
    tag: Annotated[
        str,
        Field(description="Whose text, where the step waits for several: q01-codebase, q02-web, …"),
    ] = "",
) -> Call:
    """Hand in the text of a step that the run waits for: an author's draft, a fixer's corrected
    text, or the answer to one question of research. It takes the place of writing the file
    yourself. It is saved as a draft whatever status it claims. If anything in it is malformed you
    get every reason and nothing is written. Call `advance` afterwards."""
    return call("submit artifact", "-", run, step, text=text, name=tag)


def submit_findings(
    run: Run,
    step: Step,
    round: Round,
    tag: Tag,
    text: Annotated[
        Words,
        Field(
            description="NO_FINDINGS, or the findings as the reviewer's prompt asks for them: "
            "each after a line <<<FINDING-BOUNDARY>>>, YAML frontmatter (finding_id, severity, "
            "change_type, referenced_files, …), then the message.",
        ),
    ],
) -> Call:
    """Hand in what one reviewer found in a round: all its findings at once, or that there are none.
    It takes the place of writing the files yourself. If any finding is malformed you get every
    reason and nothing is written. Call `advance` when all reviewers have answered."""
    return call("ingest", "-", run, step, text=text, tag=tag, round=round)


def submit_score(
    run: Run,
    step: Step,
    round: Round,
    finding: FindingName,
    text: Annotated[
        Words,
        Field(
            description="YAML with `score:` from 0 (wrong) to 100 (certainly right) and `reason:` "
            "in one sentence, as the verifier's prompt asks for it.",
        ),
    ],
) -> Call:
    """Hand in a verifier's score of one finding. Whoever scores must not be whoever found it. If it
    is malformed you get every reason and nothing is written. Call `advance` when every finding of
    the round has its score."""
    return call("submit score", "-", run, step, text=text, finding=finding, round=round)


def report_task(
    run: Run,
    task: Task,
    status: Annotated[
        ReportStatus,
        Field(description="DONE; DONE_WITH_CONCERNS, which `text` then says; or BLOCKED."),
    ],
    text: Annotated[str, Field(description="What there is to say about it.")] = "",
) -> Call:
    """Report that an implementer has ended its task. Unless it is BLOCKED, what is committed in the
    task's work tree is what its reviewers will look at, so commit first."""
    commit = "" if status == "BLOCKED" else "HEAD"
    return call("task report --file=-", run, task, text=text, status=status, commit=commit)


def add_comment(
    run: Run,
    file: Annotated[Words, Field(description="The artifact, such as goals.md.")],
    lines: Annotated[Words, Field(description="One line or several: L12 or L12-L20.")],
    text: Annotated[Words, Field(description="What there is to say about them.")],
) -> Call:
    """Say something about lines of an artifact, for whoever writes it next. The comment moves with
    its lines and stays open until somebody resolves it."""
    return call("comment add", run, f"{file}:{lines}", message=text)


def add_spend(
    run: Run,
    step: Step,
    role: Annotated[Words, Field(description="reviewer-quality, verifier, author-plan…")],
    model: Annotated[Words, Field(description="The model that answered.")],
    round: Annotated[int | None, Field(ge=1, description="The round of a review.")] = None,
    name: Annotated[str, Field(description="Which agent: a reviewer's tag.")] = "",
    vendor: Annotated[str, Field(description="The vendor of the model.")] = "",
    calls: Annotated[int, Field(ge=0, description="How many calls.")] = 1,
    input_tokens: Annotated[int, Field(ge=0, description="Tokens sent.")] = 0,
    output_tokens: Annotated[int, Field(ge=0, description="Tokens received.")] = 0,
    usd: Annotated[float | None, Field(ge=0, description="If the price is known.")] = None,
    seconds: Annotated[float, Field(ge=0, description="How long it took.")] = 0.0,
) -> Call:
    """Enter what you have spent on agents for this run, so that its budgets count it."""
    return call(
        "spend add",
        run,
        step=step,
        role=role,
        model=model,
        round=round,
        name=name,
        vendor=vendor,
        calls=calls,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        usd=usd,
        seconds=seconds,
    )


def decide(
    run: Run,
    finding: FindingName,
    choice: Annotated[
        Literal["apply", "skip", "loop-back"],
        Field(
            description="apply it to this text; skip it; or loop-back to the earlier step it is "
            "about, which returns that step and all after it to draft."
        ),
    ],
    to: EarlierStep = "",
    words: Annotated[
        str,
        Field(
            description="What the person said about it, if anything: kept on record, and told to "
            "whoever applies it, or with loop-back whoever writes the earlier step."
        ),
    ] = "",
) -> Call:
    """Say what becomes of one finding that waits for a person. Only what the person told you: never
    your own choice."""
    return call("decide --yes", run, finding, choice, to=to, message=words)


def resolve(
    run: Run,
    option: Annotated[
        Words, Field(description="The `key` of one of `next.options`, or its number.")
    ],
    to: EarlierStep = "",
) -> Call:
    """Answer the menu that a run stands at (`next.options`). Only what the person told you: never
    your own choice. `rewind` needs `to`, and returns that step and all after it to draft. What
    approves a step, or changes settings, is refused without --allow-approve."""
    return call("resolve --yes", run, option, to=to)


def approve(run: Run, step: Step) -> Call:
    """Record the person's yes to a step's text, and go on at once. Only after the person has said
    so about this very text. Goals and design are refused here: a person approves them with
    `qrspi approve`. A text that no review passed clean is refused too."""
    return call("approve", run, step)
