"""Tools that change runs: what each writes and records, and what it refuses with every reason."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests import runs, scenes
from tests.deliveries import full
from tests.handlers.workshop import Workshop
from tests.mcp.host import Host, serving, text
from tests.scenes import ROUND

QUESTIONS = "---\nstatus: approved\n---\n# Questions\n\n## Q1: Which page is slow?\n\nWhere.\n"
NUMBERS = count(1)
WRITING = (
    "advance submit_artifact submit_findings submit_score report_task add_comment add_spend "
    "decide resolve"
).split()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mcp").resolve() / "shop"
    scenes.project(root)
    return root


@pytest.fixture(scope="module")
def host(project: Path) -> Iterator[Host]:
    with serving(project, "--write", "--allow-approve") as host:
        yield host


@pytest.fixture
def run(project: Path) -> Path:
    """A run of the test's own, whose goals wait for their reviewers."""
    made = scenes.add_run(project, f"2026-05-18-run-{next(NUMBERS)}")
    scenes.commit_all(project)
    scenes.advance(made)
    return made


def finding(number: int = 1, **fields: str) -> str:
    return f"<<<FINDING-BOUNDARY>>>\n{runs.finding(number=number, **fields).decode()}"


def trail(run: Path) -> dict[str, object]:
    return runs.lines(run, ".qrspi/audit.jsonl")[-1]


@pytest.mark.rule("HST-01", "HST-03")
def test_each_option_adds_its_tools(host: Host, project: Path) -> None:
    tools = host.tools()
    assert list(tools)[9:] == [*WRITING, "approve"]
    hints = [tools[name].annotations for name in (*WRITING, "approve")]
    assert [hint and hint.read_only_hint for hint in hints] == [False] * 10
    undo = [name for name in WRITING if (hint := tools[name].annotations) and hint.destructive_hint]
    assert undo == ["decide", "resolve"]
    with serving(project, "--write") as writing:
        assert list(writing.tools())[9:] == WRITING
        assert writing.refusal("approve", run="x", step="goals") == (
            "not-offered: approve is not offered here; a server that is started as "
            "`qrspi mcp --allow-approve` offers it"
        )


ARGUMENTS = {
    "submit_findings": ["run", "step", "round", "tag", "text"],
    "submit_score": ["run", "step", "round", "finding", "text"],
    "submit_artifact": ["run", "step", "text"],
    "report_task": ["run", "task", "status"],
    "add_comment": ["run", "file", "lines", "text"],
    "decide": ["run", "finding", "choice"],
    "resolve": ["run", "option"],
    "approve": ["run", "step"],
    "read_prompt": ["tag"],
}


@pytest.mark.rule("HST-04", "HST-14")
def test_a_model_is_told_of_every_tool_and_argument(host: Host) -> None:
    tools = host.tools()
    assert {name: tools[name].input_schema["required"] for name in ARGUMENTS} == ARGUMENTS
    for name, tool in tools.items():
        assert (tool.description or "").endswith("."), name
        assert tool.input_schema["additionalProperties"] is False
        for argument, about in tool.input_schema["properties"].items():
            assert about["description"], f"{name}.{argument}"


@pytest.mark.rule("HST-03", "HST-14", "SEC-21")
def test_findings_are_handed_in(host: Host, run: Path) -> None:
    about = {"run": run.name, "step": "goals", "round": 1, "tag": "quality-claude"}
    document = host.document("submit_findings", **about, text=finding(1) + finding(2))
    assert document["findings"] == [
        f"{ROUND}/quality-claude.finding-F01.md",
        f"{ROUND}/quality-claude.finding-F02.md",
    ]
    assert (run / ROUND / scenes.FINDING).read_bytes() == runs.finding()
    assert (trail(run)["actor"], trail(run)["event"]) == ("mcp", "ingest")
    none = host.document("submit_findings", **{**about, "tag": "scope-claude"}, text="NO_FINDINGS")
    assert none["clean"]
    shown = host.document("show_round", run=run.name)
    assert {one["evidence"] for one in shown["answers"]} == {"handed-in"}


@pytest.mark.rule("HST-03", "HST-04")
def test_malformed_findings_are_refused_with_every_reason(host: Host, run: Path) -> None:
    before = runs.contents(run)
    bad = finding(1, severity="huge") + finding(2, kind="nope")
    said = host.refusal(
        "submit_findings", run=run.name, step="goals", round=1, tag="quality-claude", text=bad
    )
    assert said == (
        "violations: the text of quality-claude has 2 violations, so nothing is taken in: correct "
        "it first\n"
        f"- bad_enum: {ROUND}/quality-claude.finding-F01.md: severity is 'huge'; expected low, "
        "medium or high\n"
        f"- bad_enum: {ROUND}/quality-claude.finding-F02.md: change_type is 'nope'; expected "
        "style, clarity, correctness, scope or intent"
    )
    assert runs.contents(run) == before


@pytest.fixture
def verifying(run: Path) -> Path:
    """One finding waits for its score."""
    scenes.review(run)
    (run / ROUND / scenes.SCORE).unlink()
    scenes.advance(run)
    return run


@pytest.mark.rule("HST-03", "HST-14", "SEC-21")
@pytest.mark.parametrize("name", ["quality-claude.R1-F01", "quality-claude.finding-F01"])
def test_a_score_is_handed_in(name: str, host: Host, verifying: Path) -> None:
    about = {"run": verifying.name, "step": "goals", "round": 1, "finding": name}
    document = host.document("submit_score", **about, text=runs.score(90).decode())
    assert document["files"] == [f"{ROUND}/{scenes.SCORE}"]
    assert document["next"]["action"] == "assemble"
    assert (verifying / ROUND / scenes.SCORE).read_bytes() == runs.score(90)
    assert (trail(verifying)["actor"], trail(verifying)["event"]) == ("mcp", "submit-score")
    answers = host.document("show_round", run=verifying.name)["answers"]
    score = next(one for one in answers if one["file"].endswith(scenes.SCORE))
    assert score["evidence"] == "handed-in"


@pytest.mark.rule("HST-03", "HST-04")
def test_a_malformed_score_is_refused(host: Host, verifying: Path) -> None:
    before = runs.contents(verifying)
    about = {"run": verifying.name, "step": "goals", "round": 1}
    good = "quality-claude.R1-F01"
    assert host.refusal("submit_score", **about, finding=good, text="score: 900\n") == (
        "reply-malformed: the score of quality-claude.R1-F01 has 1 fault, so nothing is written: "
        "correct it first\n"
        f"- score_unparseable: {ROUND}/{scenes.SCORE}: score is '900'; expected a whole number "
        "from 0 to 100, or VERIFY_FAILED"
    )
    other = "quality-claude.R1-F07"
    assert host.refusal("submit_score", **about, finding=other, text="score: 90\n") == (
        f"not-awaited: round 01 of goals does not wait for a score of '{other}', but of {good}\n"
        f"way out: qrspi show {verifying.name} goals --round 1"
    )
    assert runs.contents(verifying) == before


@pytest.fixture
def unwritten(project: Path) -> Path:
    """A run whose questions wait for their author."""
    files = {"config.md": runs.config(), **runs.approved("goals"), **runs.on_record("goals")}
    made = runs.on_disk(project, files, f"2026-05-19-run-{next(NUMBERS)}")
    scenes.commit_all(project)
    return made


@pytest.mark.rule("HST-03", "HST-14", "SEC-21")
def test_a_text_is_handed_in_as_a_draft(host: Host, unwritten: Path) -> None:
    name = unwritten.name
    document = host.document("submit_artifact", run=name, step="questions", text=QUESTIONS)
    assert document["files"] == ["questions.md"]
    written = QUESTIONS.replace("approved", "draft")
    assert (unwritten / "questions.md").read_text() == written
    assert scenes.git(unwritten, "status", "--porcelain", "questions.md") == ""
    assert (trail(unwritten)["actor"], trail(unwritten)["event"]) == ("mcp", "submit-artifact")
    again = host.refusal("submit_artifact", run=name, step="questions", text=QUESTIONS)
    assert again == (
        f"not-awaited: {name} waits for no text of questions. What it waits for: Prepare round 1 "
        f"of questions: run `qrspi next {name}`.\nway out: qrspi status {name}"
    )
    assert host.document("advance", run=name)["next"]["action"] == "review"


MALFORMED = [
    ("---\nstatus: [\n---\n# Questions\n", "reply-malformed: reply: "),
    ("# Questions\n<<<FILE goals.md>>>\n# Goals\n", "reply-malformed: reply: found a file "),
    ("<<<FILE questions.md>>>\n", "reply-malformed: reply: found nothing for 'questions.md'"),
    ("---\nstatus: draft\nstatus: draft\n---\n# Questions\n", "reply-malformed: reply: "),
]


@pytest.mark.rule("HST-03", "HST-04")
@pytest.mark.parametrize(("wrong", "said"), MALFORMED)
def test_a_malformed_text_is_refused(wrong: str, said: str, host: Host, unwritten: Path) -> None:
    before = runs.contents(unwritten)
    refusal = host.refusal("submit_artifact", run=unwritten.name, step="questions", text=wrong)
    assert refusal.startswith(said)
    assert runs.contents(unwritten) == before


@pytest.mark.rule("HST-03")
def test_a_fix_comes_with_what_was_done(host: Host, run: Path) -> None:
    scenes.review(run)
    scenes.advance(run)
    fixed = runs.artifact(body=scenes.BODY + "\nWithin a second.\n").decode()
    done = "<<<FILE dispositions>>>\n---\nround: 1\nartifact: goals\n---\n- R1-F01: ok\n"
    before = runs.contents(run)
    without = host.refusal("submit_artifact", run=run.name, step="goals", text=fixed)
    assert without == (
        "reply-malformed: reply: found no dispositions, expected a line '<<<FILE dispositions>>>' "
        "and after it what was done"
    )
    many = done + "- and more\n" * 30 + "\n## Sub-Threshold Observations\n\nSome.\n"
    said = host.refusal("submit_artifact", run=run.name, step="goals", text=fixed + many)
    assert said == (
        "reply-malformed: the text for goals.md has 2 faults, so nothing is written: correct it "
        "first\n"
        f"- bad_dispositions: {scenes.DISPOSITIONS}: 35 lines before '## Sub-Threshold "
        "Observations'; expected at most 30\n"
        f"- bad_dispositions: {scenes.DISPOSITIONS}: no fenced YAML under '## Sub-Threshold "
        "Observations'; expected a fenced observations: list"
    )
    assert runs.contents(run) == before
    document = host.document("submit_artifact", run=run.name, step="goals", text=fixed + done)
    assert document["files"] == ["goals.md", scenes.DISPOSITIONS]
    assert (run / "goals.md").read_text() == fixed


@pytest.mark.rule("HST-03", "APV-03")
def test_decisions_are_recorded_where_they_were_made(host: Host, run: Path) -> None:
    scenes.save(run / ROUND / scenes.FINDING, runs.finding(kind="intent"))
    scenes.save(run / ROUND / "scope-claude.clean.md", runs.clean("scope-claude"))
    assert host.document("advance", run=run.name)["next"]["kind"] == "pause"
    finding = "quality-claude.R1-F01"
    host.document("decide", run=run.name, finding=finding, choice="skip", words="Not now.")
    record = runs.lines(run, "approvals.jsonl")[-1]
    assert (record["event"], record["finding"], record["surface"]) == ("decide", finding, "mcp")
    assert record["note"] == "Not now."


@pytest.mark.rule("HST-03", "HST-14")
def test_a_menu_is_answered(host: Host, run: Path) -> None:
    said = host.refusal("resolve", run=run.name, option="ship")
    assert said.splitlines()[0].startswith("not-offered: ")
    host.document("resolve", run=run.name, option="skip")
    assert (trail(run)["actor"], trail(run)["event"]) == ("mcp", "skip")


@pytest.mark.rule("HST-03", "HST-04")
def test_a_menu_about_config_is_answered_by_what_mends_it(host: Host, project: Path) -> None:
    config = runs.config(drop=["second_reviewer"])
    files = {"config.md": config, "goals.md": runs.artifact(body=scenes.BODY)}
    run = runs.on_disk(project, files, f"2026-05-20-run-{next(NUMBERS)}")
    scenes.commit_all(project)
    menu = host.document("next_step", run=run.name)["next"]
    assert menu["kind"] == "config"
    mend = next(one for one in menu["options"] if "config set" in one["label"])
    host.document("resolve", run=run.name, option=mend["key"])
    assert (trail(run)["actor"], trail(run)["event"]) == ("mcp", "config-set")
    assert host.document("advance", run=run.name)["next"]["action"] == "review"


@pytest.mark.rule("HST-01", "HST-03")
def test_goals_are_approved_by_a_person(host: Host, run: Path) -> None:
    scenes.review_clean(run)
    before = runs.contents(run)
    assert host.refusal("approve", run=run.name, step="goals") == (
        "person-needed: goals is approved by a person, not through mcp\n"
        f"way out: qrspi approve {run.name} goals"
    )
    assert runs.contents(run) == before


@pytest.mark.rule("HST-03", "APV-03")
def test_another_step_is_approved_and_the_run_goes_on(host: Host, unwritten: Path) -> None:
    name = unwritten.name
    host.document("submit_artifact", run=name, step="questions", text=QUESTIONS)
    host.document("advance", run=name)
    about = {"run": name, "step": "questions", "round": 1, "tag": "quality-claude"}
    host.document("submit_findings", **about, text="NO_FINDINGS")
    unfinished = host.refusal("approve", run=name, step="questions")
    assert unfinished.splitlines()[0].startswith("not-reviewed: ")
    assert host.document("advance", run=name)["next"]["action"] == "approve"
    document = host.document("approve", run=name, step="questions")
    record = runs.lines(unwritten, "approvals.jsonl")[-1]
    assert (record["event"], record["step"], record["surface"]) == ("approve", "questions", "mcp")
    assert document["next"]["step"] == "research"


@pytest.mark.rule("HST-03", "HST-14")
def test_a_comment_and_a_cost_are_added(host: Host, run: Path) -> None:
    about = {"run": run.name, "file": "goals.md", "text": "--yes: why not more?"}
    document = host.document("add_comment", **about, lines="L5-L7")
    (comment,) = runs.lines(run, "feedback/comments.jsonl")
    assert (comment["id"], comment["message"]) == (document["id"], "--yes: why not more?")
    assert host.refusal("add_comment", **about, lines="L99") == (
        "no-such-lines: goals.md has 9 lines; L99-L99 is not among them"
    )
    spent = {"run": run.name, "step": "goals", "role": "reviewer-quality", "model": "large"}
    host.document("add_spend", **spent, round=1, calls=2, input_tokens=1000, usd=0.25)
    assert host.document("spend", run=run.name)["total"]["usd"] == 0.25


@pytest.mark.rule("HST-03", "HST-14")
def test_a_task_is_reported(tmp_path: Path) -> None:
    shop = Workshop(tmp_path.resolve() / "project", full())
    with serving(shop.root, "--write") as host:
        host.document("advance", run=runs.RUN)
        about = {"run": runs.RUN, "task": "task-01", "text": "As asked."}
        nothing = host.refusal("report_task", **about, status="DONE")
        assert nothing.splitlines()[0].startswith("nothing-committed: task-01: ")
        assert host.refusal("report_task", **about, status="FINE").startswith("usage: report_task")
        place = shop.root / ".worktrees/user-auth/task-01"
        (place / "a.py").write_text("x = 1\n")
        shop.git("add", "a.py", at=place)
        shop.git("commit", "-q", "-m", "Do it", at=place)
        document = host.document("report_task", **about, status="DONE")
        assert (document["task"], document["status"]) == ("task-01", "DONE")
        report = (shop.run / "reviews/tasks/task-01/report.md").read_text()
        assert shop.git("rev-parse", "HEAD", at=place) in report


def test_an_option_is_never_slipped_in(host: Host, run: Path) -> None:
    """What a model says is a name or a text, however it begins."""
    before = runs.contents(run)
    for arguments in (
        {"run": "--help", "step": "questions"},
        {"run": run.name, "step": "--unreviewed"},
        {"run": run.name, "step": "--yes"},
    ):
        assert text(host.call("approve", **arguments)).partition(":")[0] in (
            "unknown-run",
            "usage",
        ), json.dumps(arguments)
    assert runs.contents(run) == before
