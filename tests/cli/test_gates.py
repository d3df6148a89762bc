"""The commands of the human gates: whole outputs, exit statuses, questions at a terminal."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from qrspi.cli.verbs import decide
from qrspi.core.errors import Misuse
from qrspi.world.machine import git_person
from tests import runs
from tests.cli.conftest import COMMAND, Call
from tests.cli.terminal import Terminal
from tests.handlers.gates import TEXT, about, paused, reviewed_clean
from tests.runs import RUN, approved, artifact, config, finding, manifest, score

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
DRAFT = {"config.md": config(), "goals.md": TEXT}
ROUND = "reviews/goals/round-01"
PAUSED = DRAFT | paused(
    "goals", TEXT, about("goals", cites="goals.md:L7"), about("goals", 2, cites="goals.md:L9")
)
BUILT = {"config.md": config(), **approved("goals", "questions", "research")}
DESIGN = BUILT | {"design.md": TEXT} | paused(
    "design",
    TEXT,
    about("design", cites="goals.md:L7"),
    about("design", 2, cites="goals.md:L7, research/summary.md:L1"),
)  # fmt: skip


@pytest.fixture
def git_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{os.defpath}:/usr/bin")
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=project, check=True)
    return project


def placed(project: Path, files: dict[str, bytes]) -> Path:
    return runs.on_disk(project, files)


def valid(result: Any, name: str) -> Any:
    document = result.json
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(document)
    return document


@pytest.mark.rule("LIV-27")
def test_whoever_mistypes_a_step_is_told_of_those_of_the_run(project: Path, qrspi: Call) -> None:
    placed(project, DRAFT | {"config.md": runs.config("quick")})
    route = "goals, questions, research, plan, implement, test"
    assert qrspi("rewind", "--to", "gaols").err.startswith(
        f"'gaols' is not a step of this run; expected one of {route}; did you mean goals?"
    )


@pytest.mark.rule("LIV-02", "LIV-17")
@pytest.mark.parametrize(
    ("step", "body", "said"),
    [
        ("goals", "Okay.\n", "goals.md has no goal; expected headings with text below them"),
        ("questions", "Why?\n", "questions.md has no question; expected a list such as"),
    ],
)
def test_a_text_without_its_form_is_refused_with_what_it_lacks(
    tmp_path: Path, qrspi: Call, step: str, body: str, said: str
) -> None:
    before = {} if step == "goals" else runs.approved("goals") | runs.on_record("goals")
    files = {"config.md": runs.config("quick"), f"{step}.md": runs.artifact(body=body)}
    runs.on_disk(tmp_path, before | files)
    refused = qrspi("--root", tmp_path, "approve", step)
    assert (refused.code, refused.out) == (3, "")
    assert refused.err.startswith(f"Not reviewed; {said}")
    assert ": correct it and have it reviewed, or approve it as it is with --unr" in refused.err
    assert refused.err.endswith(f"\n  qrspi --root {tmp_path} next {runs.RUN}\n")


@pytest.mark.rule("APR-01", "APV-03", "OUT-05")
def test_a_yes_to_a_clean_review_goes_on_at_once(project: Path, qrspi: Call) -> None:
    placed(project, DRAFT | reviewed_clean("goals", TEXT))
    qrspi("next")
    result = qrspi("approve", "--as", "Ada")
    assert result == (
        0,
        f"""\
Approved goals.md. Reviews passed clean in round 1.
  approvals.jsonl
  goals.md
done: write the prompts of questions

Next: Write questions.md, then run `qrspi next {RUN}`. \
`qrspi prompt {RUN} author` prints what to tell an agent.
""",
        "",
    )


@pytest.mark.rule("APR-01", "PPL-04")
def test_without_a_terminal_anything_but_clean_needs_a_word(project: Path, qrspi: Call) -> None:
    run = placed(project, DRAFT)
    line = "Not reviewed: goals.md is approved all the same only with --unreviewed"
    refused = (3, "", f"{line}\n  qrspi next {RUN}\n")
    assert qrspi("approve") == refused
    assert qrspi("approve", "--yes") == refused
    assert (run / "goals.md").read_bytes() == TEXT
    assert qrspi("approve", "--unreviewed").code == 0
    assert (run / "goals.md").read_bytes() == artifact("approved")


@pytest.mark.rule("APR-01", "LIV-01", "LIV-02")
def test_a_text_that_was_rewound_and_left_is_approved_by_the_command_that_is_named(
    project: Path, qrspi: Call
) -> None:
    placed(project, DRAFT | reviewed_clean("goals", TEXT))
    qrspi("next")
    assert qrspi("approve", "goals").code == 0
    assert qrspi("rewind", "--to", "goals", "--yes").code == 0
    line = (
        "Reviews passed clean in round 1, before the rewind; not reviewed since; goals.md was "
        "returned to draft and has not changed since: correct it and have it reviewed, or approve "
        "it as it is with --unreviewed"
    )
    hint = f"qrspi approve {RUN} goals --unreviewed"
    assert qrspi("approve", "goals") == (3, "", f"{line}\n  {hint}\n")
    assert qrspi("approve", "goals", "--unreviewed").code == 0


@pytest.mark.rule("OUT-02", "OUT-03", "APV-01")
def test_the_documents(project: Path, qrspi: Call) -> None:
    placed(project, DRAFT)
    refused = qrspi("approve", "--json")
    assert (refused.code, refused.json["code"], refused.json["hint"]) == (
        3,
        "not-reviewed",
        f"qrspi next {RUN}",
    )
    document = valid(qrspi("approve", "goals", "--unreviewed", "--json"), "approve")
    assert (document["review"], document["clean"], document["commit"]) == (
        "Not reviewed",
        False,
        None,
    )
    assert [change["file"] for change in document["changes"]] == ["approvals.jsonl", "goals.md"]
    assert document["next"]["action"] == "author"
    document = valid(qrspi("unapprove", "goals", "--json"), "unapprove")
    assert (document["artifact"], document["dependents"]) == ("goals.md", [])
    document = valid(qrspi("reject", "-m", "No.", "--json"), "reject")
    assert document["feedback"] == "feedback/goals-round-01.md"


@pytest.mark.rule("OUT-10")
def test_rehearsals_name_each_file_and_change_none(git_project: Path, qrspi: Call) -> None:
    run = placed(git_project, BUILT | {"design.md": TEXT})
    before = sorted(path for path in run.rglob("*"))
    assert qrspi("approve", "--unreviewed", "--dry-run").out.splitlines()[:4] == [
        "Would approve design.md. Not reviewed.",
        "  append   approvals.jsonl  approve design unreviewed by Ada Example <ada@example.org>",
        "  replace  design.md        status: approved",
        "  commit: docs(qrspi): approve design for user-auth",
    ]
    assert qrspi("reject", "-m", "No.", "--dry-run").out.splitlines()[:2] == [
        "Would reject design.md; the author gets feedback/design-round-01.md.",
        "  create  feedback/design-round-01.md  the words, and the text they reject",
    ]
    assert qrspi("rewind", "--to", "questions", "--dry-run").out.splitlines()[:5] == [
        "Would go back to questions.md.",
        "  append   approvals.jsonl      rewind questions by Ada Example <ada@example.org>",
        "  replace  questions.md         status: draft",
        "  replace  research/summary.md  status: draft",
        "  commit: docs(qrspi): rewind to questions for user-auth",
    ]
    said = qrspi("unapprove", "research", "--dry-run").out
    assert said.splitlines()[0] == "research/summary.md would be a draft again."
    assert "Next: " not in said  # its commands would be refused: nothing was taken back
    assert sorted(path for path in run.rglob("*")) == before
    document = valid(qrspi("rewind", "--to", "goals", "--dry-run", "--json"), "rewind")
    assert (document["dry_run"], document["commit"], document["target"]) == (True, None, "goals")
    assert document["next"]["summary"].startswith("goals.md was returned to draft by ")


@pytest.mark.rule("APR-05")
def test_what_was_built_on_a_step_is_listed(project: Path, qrspi: Call) -> None:
    placed(project, BUILT | {"design.md": TEXT})
    assert qrspi("unapprove", "questions").out.splitlines()[:6] == [
        "questions.md is a draft again.",
        "  approvals.jsonl",
        "  questions.md",
        "Built on it, and left as it is:",
        "  research/summary.md (approved)",
        "  design.md (draft)",
    ]


USAGE = [
    (["approve", "nowhere"], 2),
    (["approve", "a", "b", "c"], 2),
    (["approve", "task-01"], 2),
    (["unapprove"], 2),
    (["reject"], 2),
    (["reject", "-m", "x", "-F", "y"], 2),
    (["reject", "-F", "nowhere.txt"], 2),
    (["rewind"], 2),
    (["rewind", "--to", "lunch"], 2),
    (["decide"], 2),
    (["decide", "apply"], 2),
    (["decide", "scope-claude.R1-F01"], 2),
    (["decide", "--all", "apply", "scope-claude.R1-F01", "apply"], 2),
    (["decide", "--all", "loop-back"], 2),
    (["decide", "scope-claude.R1-F01", "apply", "--to", "goals"], 2),
    (["decide", "scope-claude.R1-F01", "scope-claude.R1-F02", "loop-back"], 2),
    (["resolve"], 2),
    (["resolve", "a", "b", "c"], 2),
    (["approve", "questions"], 3),
    (["reject", "questions", "-m", "x"], 3),
    (["reject", "-m", " "], 3),
    (["unapprove", "goals"], 3),
    (["rewind", "--to", "goals", "--yes"], 3),
    (["decide", "scope-claude.R1-F01", "apply"], 3),
    (["decide", "--all", "skip"], 3),
    (["resolve", "retry"], 3),
]


@pytest.mark.rule("OUT-07", "LIV-02")
@pytest.mark.parametrize("words", [["x", "yes"], ["R1-F01", "yes"], [RUN, "goals", "x", "yes"]])
def test_a_word_that_is_no_decision_is_named(project: Path, qrspi: Call, words: list[str]) -> None:
    runs.on_disk(project, {"config.md": config("quick")})
    said = qrspi("decide", *words)
    assert (said.code, said.err.partition(";")[0]) == (2, "'yes' is not a decision")
    assert said.err.count("qrspi decide [RUN]") == 1


@pytest.mark.rule("LIV-27")
def test_a_choice_that_is_mistyped_is_named(project: Path, qrspi: Call) -> None:
    runs.on_disk(project, {"config.md": config("quick")})
    said = qrspi("decide", "R1-F01", "aply").err
    assert said.partition("\n")[0] == "'aply' is not a decision; did you mean apply?"


@pytest.mark.rule("LIV-29")
@pytest.mark.parametrize(
    ("word", "choice"), [("1", "apply"), ("2", "skip"), ("3", "loop-back"), ("4", None)]
)
def test_the_menu_of_a_finding_takes_its_number(word: str, choice: str | None) -> None:
    name = "scope-claude.R1-F01"
    if choice is None:
        with pytest.raises(Misuse, match="'4' is not a decision"):
            decide.read_words([name, word])
    else:
        assert decide.read_words([name, word]) == decide.read_words([name, choice])


@pytest.mark.parametrize(("words", "code"), USAGE, ids=[" ".join(words) for words, _ in USAGE])
def test_what_is_refused_changes_nothing(
    project: Path, qrspi: Call, words: list[str], code: int
) -> None:
    run = placed(project, DRAFT)
    (project / "y").write_text("words")
    result = qrspi(*words)
    assert (result.code, result.out) == (code, "")
    assert result.err.count("\n") in (1, 2), result.err
    after = {path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file()}
    assert after - {".qrspi/lock", ".qrspi/.gitignore"} == set(DRAFT)


@pytest.mark.rule("REJ-01")
@pytest.mark.parametrize("given", ["message", "file", "stdin"])
def test_words_come_from_an_option_a_file_or_a_pipe(
    project: Path, process: Call, given: str
) -> None:
    run = placed(project, DRAFT)
    words = b"Not \xff this.\n"
    (project / "why.txt").write_bytes(words)
    where = {
        "message": ["-m", words],
        "file": ["-F", "why.txt"],
        "stdin": ["-F", "-"],
    }[given]
    with (project / "why.txt").open("rb") as stdin:
        result = process("reject", *where, stdin=stdin)
    assert result.code == 0, result.err
    text = (run / "feedback/goals-round-01.md").read_bytes()
    assert b"## User Feedback\n\n" + words + b"\n## Previous Artifact\n" in text


@pytest.mark.rule("PSE-02", "PSE-03", "OUT-05")
def test_the_pause_is_one_message(project: Path, qrspi: Call) -> None:
    more = {
        "reviews/design/round-01/quality-claude.finding-F01.md": finding(
            step="design", cites="design.md:L7, goals.md:L7", message="Typo.\n\x1b[2J"
        ),
        "reviews/design/round-01-verifier-disabled.md": b"---\nreason: x\n---\n",
    }
    files = DESIGN | more
    del files["reviews/design/round-01/quality-claude.clean.md"]
    placed(project, files)
    shown = qrspi("next").out.partition("Next: ")[2]
    decide = f"qrspi decide {RUN}"
    second = f"{decide} scope-claude.R1-F02"
    first = f"the first: `{decide} quality-claude.R1-F01 apply`"
    assert (
        shown
        == f"""\
3 findings of design round 1 for you to decide: {first}, or with skip in place of apply.

Round 1 of design waits for you.
To be applied without asking: 0

Proposed, without a score that would keep them:
quality-claude.R1-F01 · medium · correctness · cites design.md:L7, goals.md:L7
    Typo.
    \\x1b[2J
Apply all proposed findings? (y/n): `{decide} --proposed y`, or with n in place of y

scope-claude.R1-F01 · medium · scope · cites goals.md:L7
    The second claim contradicts the first.
  1) Apply anyway            `{decide} scope-claude.R1-F01 apply`
  2) Skip finding            `{decide} scope-claude.R1-F01 skip`
  3) Loop back to: goals.md  `{decide} scope-claude.R1-F01 loop-back`

scope-claude.R1-F02 · medium · scope · cites goals.md:L7, research/summary.md:L1
    The second claim contradicts the first.
  1) Apply anyway                                   `{second} apply`
  2) Skip finding                                   `{second} skip`
  3) Loop back to: goals.md or research/summary.md  `{second} loop-back --to STEP`
"""
    )
    document = valid(qrspi("status", RUN, "--json"), "status")["runs"][0]["next"]
    assert [item["targets"] for item in document["held"]] == [[], ["goals"], ["goals", "research"]]
    assert document["compaction"] == {"type": "piggyback"}
    waits = [item["summary"] for item in qrspi("inbox", "--json").json["items"]]
    back = "apply it, skip it, or go back to what it is really about"
    assert waits == [
        "quality-claude.R1-F01: apply it, or skip it",
        f"scope-claude.R1-F01: {back}",
        f"scope-claude.R1-F02: {back}",
    ]


@pytest.mark.rule("PSE-04", "PSE-02")
def test_decisions_one_by_one_or_together(project: Path, qrspi: Call) -> None:
    placed(project, PAUSED)
    qrspi("next")
    result = qrspi("decide", "scope-claude.R1-F01", "apply")
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[:3] == [
        "scope-claude.R1-F01: apply",
        "  approvals.jsonl",
        "  reviews/goals-loop-pause-round-01.md",
    ]
    again = qrspi("decide", RUN, "scope-claude.R1-F01", "skip")
    assert again == (
        3,
        "",
        "scope-claude.R1-F01: it is decided already: apply; undecided: scope-claude.R1-F02\n"
        f"  qrspi status {RUN}\n",
    )
    document = valid(qrspi("decide", "--all", "skip", "--json"), "decide")
    assert document["decisions"] == {"scope-claude.R1-F02": "skip"}
    assert document["next"]["action"] == "apply-fixes"


@pytest.mark.rule("PSE-03", "BWL-01")
def test_a_loop_back_without_a_terminal_needs_yes(project: Path, qrspi: Call) -> None:
    run = placed(project, DESIGN)
    qrspi("next")
    name = "scope-claude.R1-F01"
    assert qrspi("decide", name, "loop-back") == (
        3,
        "",
        "Loop back to: goals.md\n"
        "rewind to goals.md would return goals.md, questions.md, research/summary.md to draft: "
        "without a terminal to ask at, that needs --yes\n"
        f"  qrspi decide {RUN} {name} loop-back --to goals --yes\n",
    )
    assert qrspi("decide", "scope-claude.R1-F02", "loop-back", "--yes") == (
        3,
        "",
        "scope-claude.R1-F02 cites several earlier artifacts: say with --to where to go back to, "
        "one of goals, research\n  1) --to goals\n  2) --to research\n",
    )
    assert (run / "goals.md").read_bytes() == artifact("approved")
    result = qrspi("decide", name, "loop-back", "--yes", "--json")
    document = valid(result, "decide")
    assert (document["step"], document["round"]) == ("design", 1)
    assert (document["target"], document["resets"]) == (
        "goals",
        ["goals.md", "questions.md", "research/summary.md"],
    )
    assert (run / "reviews/design/round-01-backward-loop.flag").read_bytes() == b""


@pytest.mark.rule("BWL-01")
def test_a_rewind_lists_what_it_resets_and_asks(project: Path) -> None:
    run = placed(project, BUILT)
    with Terminal("rewind", "--to", "questions") as terminal:
        terminal.until("Confirm rewind to questions.md? (y/n) ")
        assert terminal.screen == (
            "  questions.md would return to draft\n"
            "  research/summary.md would return to draft\n"
            "Confirm rewind to questions.md? (y/n) "
        )
        terminal.type("n\n")
        assert terminal.end() == 3
    assert terminal.screen.endswith("no rewind to questions.md: you said no, nothing was changed\n")
    assert not (run / "approvals.jsonl").exists()
    with Terminal("rewind", "--to", "questions") as terminal:
        terminal.until("(y/n) ")
        terminal.type("y\n")
        assert terminal.end() == 0
    assert (run / "questions.md").read_bytes() == artifact("draft")


@pytest.mark.rule("APR-01", "OUT-05")
@pytest.mark.parametrize(("answer", "code", "status"), [("y", 0, "approved"), ("", 3, "draft")])
def test_at_a_terminal_anything_but_clean_asks(
    project: Path, answer: str, code: int, status: str
) -> None:
    run = placed(project, DRAFT)
    with Terminal("approve") as terminal:
        terminal.until("Not reviewed. Approve goals.md all the same? (y/n) ")
        assert "/compact" not in terminal.screen
        terminal.type(f"{answer}\n")
        assert terminal.end() == code
    assert (run / "goals.md").read_bytes() == artifact(status)


@pytest.mark.rule("OUT-05", "LIV-01")
@pytest.mark.parametrize(("answer", "code", "status"), [("y", 0, "approved"), ("No", 3, "draft")])
def test_a_word_that_is_neither_yes_nor_no_is_asked_about_again(
    project: Path, answer: str, code: int, status: str
) -> None:
    """It is no `you said no`."""
    run = placed(project, DRAFT)
    with Terminal("approve") as terminal:
        terminal.until("(y/n) ")
        terminal.type("what is it?\n")
        terminal.until("Type y or n.\nNot reviewed. Approve goals.md all the same? (y/n) ")
        assert "you said no" not in terminal.screen
        terminal.type(f"{answer}\n")
        assert terminal.end() == code
    assert (run / "goals.md").read_bytes() == artifact(status)


@pytest.mark.rule("ENG-06")
def test_an_edit_while_the_question_stands_is_not_approved(project: Path) -> None:
    run = placed(project, DRAFT)
    with Terminal("approve") as terminal:
        terminal.until("(y/n) ")
        (run / "goals.md").write_bytes(artifact(body="# Other\n"))
        terminal.type("y\n")
        assert terminal.end() == 3
    assert (run / "goals.md").read_bytes() == artifact(body="# Other\n")


FAILED = DRAFT | {
    f"{ROUND}/.dispatch-manifest.json": manifest(body=TEXT),
    f"{ROUND}/scope-claude.clean.md": runs.clean("scope-claude"),
    f"{ROUND}/quality-claude.finding-F01.md": finding(),
    f"{ROUND}/quality-claude.finding-F01.score.yml": score("VERIFY_FAILED"),
}


@pytest.mark.rule("FLR-03", "OUT-05", "OUT-07")
def test_the_failure_menu_in_words(project: Path, qrspi: Call) -> None:
    placed(project, FAILED)
    line = "Verifier returned VERIFY_FAILED for 1 findings"
    assert (
        qrspi("next").out
        == f"""\
Next: {line}

QRSPI verifier round failure
────────────────────────────
{line}
  the verifier of quality-claude.R1-F01 says: "Checked against the text."

What would you like to do?
  1. skip  - go on without scores for this round; every finding is kept
  2. retry - send the failed reviewer or verifier again; what it wrote is put aside
  3. stop  - leave everything as it is, for inspection
(no default; user must pick)

Answer with `qrspi resolve {RUN} skip`, or with retry or stop in place of skip.
"""
    )


@pytest.mark.rule("FLR-01", "FLR-02", "OUT-07")
def test_the_three_ways_out(project: Path, qrspi: Call) -> None:
    run = placed(project, FAILED)
    before = (run / "config.md").read_bytes()
    named = qrspi("resolve", "skip", "--text", "abc")
    assert (named.code, named.err.splitlines()[0]) == (
        3,
        "--text names a text that is approved, and skip approves none",
    )
    stopped = qrspi("resolve", "stop")
    assert stopped.code == 0
    assert stopped.err == f"nothing was changed; everything is left in {ROUND}\n"
    document = valid(qrspi("resolve", RUN, "retry", "--json"), "resolve")
    assert document["next"]["action"] == "verify"
    rehearsed = qrspi("resolve", "goals", "skip", "--dry-run", "--json").json
    assert rehearsed["next"]["action"] not in (None, "verify")
    assert qrspi("resolve", "goals", "skip", "--dry-run").out.splitlines() == [
        "Would choose: skip",
        f"  append  {'approvals.jsonl':<43}  resolve goals skip by {git_person.user()}",
        f"  create  {ROUND}-verifier-disabled.md  go on without scores, this round only",
    ]
    assert qrspi("resolve", "skip").code == 0
    assert (run / f"{ROUND}-verifier-disabled.md").exists()
    assert (run / "config.md").read_bytes() == before


@pytest.mark.rule("APV-03")
def test_what_stops_behind_an_approval_is_a_warning(git_project: Path, qrspi: Call) -> None:
    """The draft of the next step is not in git yet, and nobody commits it."""
    asking = runs.artifact(body=runs.ASKING)
    run = placed(git_project, DRAFT | {"questions.md": asking})
    (run / "config.md").write_bytes(runs.config(commit="off"))
    result = qrspi("approve", "--unreviewed")
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[3] == (
        "warning: the decision stands, but next stopped: artifact questions.md is untracked — "
        "commit before reviewer dispatch"
    )
    assert (run / "goals.md").read_bytes() == artifact("approved")
    document = valid(qrspi("unapprove", "goals", "--json"), "unapprove")
    assert document["commit"] is None
    document = valid(qrspi("approve", "--unreviewed", "--json"), "approve")
    assert [warning["code"] for warning in document["warnings"]] == ["untracked-artifact"]


@pytest.mark.rule("RUN-09")
def test_with_a_step_and_no_run_the_run_that_is_ready_is_meant(project: Path, qrspi: Call) -> None:
    runs.on_disk(project, DRAFT, "2026-05-01-first-one")
    ready = runs.on_disk(project, BUILT | {"design.md": TEXT}, "2026-05-02-second-one")
    assert qrspi("approve", "design", "--unreviewed").code == 0
    assert (ready / "design.md").read_bytes() == artifact("approved")


@pytest.mark.rule("ENG-06", "APV-01")
def test_many_at_once_say_yes_once(git_project: Path) -> None:
    run = placed(git_project, DRAFT)
    words = [COMMAND, "approve", "goals", "--unreviewed", "--lock-timeout", "60"]
    started = [
        subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(6)
    ]
    codes = sorted(process.wait(120) for process in started)
    assert codes == [0, 3, 3, 3, 3, 3]
    assert len((run / "approvals.jsonl").read_text().splitlines()) == 1
    log = subprocess.run(
        ["git", "log", "--format=%s"], cwd=git_project, capture_output=True, text=True
    )
    assert log.stdout == "docs(qrspi): approve goals for user-auth\n"
