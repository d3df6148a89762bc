"""Gates without a clean review: another one is offered first, a quick run asks after its second,
and each gate says what to read with care."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests import deliveries, quick, runs, scenes
from tests.cli.conftest import Call
from tests.cli.terminal import Terminal
from tests.handlers.workshop import Workshop

RUN = runs.RUN
SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
LOOP = f"qrspi resolve {RUN} loop"
FIXED = "Reviews found issues in round {} which were fixed but not re-verified"


def second_round_fixed(root: Path, step: str, **config: str) -> Path:
    """Two rounds kept findings, and each was fixed; the second is about to be put on record."""
    run = quick.fixed(root, step, **config)
    quick.find(run, step, 2)
    quick.advance(run)
    quick.fix(run, step, 2)
    return run


def presented(root: Path, step: str = "goals") -> Path:
    """One round kept a finding, which was fixed; a person wants to see the text then."""
    run = quick.make(root, step)
    quick.advance(run)
    quick.find(run, step)
    quick.advance(run)
    quick.fix(run, step, 1)
    quick.advance(run, present=True)
    return run


def answer(qrspi: Call, *words: str) -> Any:
    document = qrspi(*(words or ("next", RUN)), "--json").json
    schema = json.loads((SCHEMAS / f"{(words or ('next',))[0]}.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(document)
    return document["next"]


@pytest.mark.rule("LIV-10")
@pytest.mark.parametrize("step", quick.CASCADING)
def test_a_second_round_that_keeps_findings_asks_a_person(
    step: str, project: Path, qrspi: Call
) -> None:
    run = second_round_fixed(project, step)
    for _ in range(2):  # nothing takes a default
        asked = answer(qrspi)
        assert (asked["action"], asked["who"], asked["kind"]) == ("decide", "human", "loop-again")
    assert [one["key"] for one in asked["options"]] == ["present", "loop"]
    assert asked["summary"] == (
        f"{FIXED.format(2)}; a quick run corrects by itself once, and the next round kept findings "
        f"too. 1) Present for review 2) Loop until clean (recommended): `{LOOP}`."
    )
    assert not (run / f"{quick.place(step, 3)}").exists()


@pytest.mark.rule("LIV-10")
def test_loop_goes_on_until_clean_and_does_not_ask_again(project: Path, qrspi: Call) -> None:
    run = second_round_fixed(project, "questions")
    qrspi("next", RUN)
    assert qrspi("resolve", RUN, "loop").code == 0
    for number in (3, 4):
        assert answer(qrspi)["action"] == "review"
        quick.find(run, "questions", number)
        qrspi("next", RUN)
        quick.fix(run, "questions", number)
    assert answer(qrspi)["action"] == "review"
    quick.say_clean(run, "questions", 5)
    done = answer(qrspi)
    assert (done["kind"], done["who"]) == ("approve", "human")  # too late for the cascade


@pytest.mark.rule("LIV-10")
def test_present_leads_to_the_gate(project: Path, qrspi: Call) -> None:
    second_round_fixed(project, "questions")
    qrspi("next", RUN)
    assert answer(qrspi, "resolve", RUN, "present")["kind"] == "approve"


@pytest.mark.rule("LIV-10")
def test_goals_and_full_runs_loop_on_by_themselves(project: Path, qrspi: Call) -> None:
    second_round_fixed(project, "goals")
    assert (answer(qrspi)["action"], answer(qrspi)["round"]) == ("review", 3)


@pytest.mark.rule("LIV-10")
def test_at_a_terminal_the_second_question_is_asked(project: Path) -> None:
    run = second_round_fixed(project, "questions")
    with Terminal("next", RUN) as terminal:
        terminal.until("2) Loop until clean (recommended)\nNumber: ")
        terminal.type("2\n")
        assert terminal.end() == 0
    assert (run / quick.place("questions", 3)).exists()
    assert b"answered by a person" in (run / "reviews/questions/loop.md").read_bytes()


@pytest.mark.rule("LIV-29")
def test_a_menu_has_numbers_and_takes_them(project: Path, qrspi: Call) -> None:
    presented(project)
    shown = [line.split()[:2] for line in qrspi("status", RUN).out.splitlines()]
    assert ["1)", "loop"] in shown
    assert qrspi("resolve", RUN, "1").out.startswith("Chosen: loop\n")


@pytest.mark.rule("LIV-10")
def test_a_gate_that_is_not_clean_offers_another_review_first(project: Path, qrspi: Call) -> None:
    run = presented(project)
    asked = answer(qrspi)
    assert asked["summary"] == (
        f"{FIXED.format(1)}. `{LOOP}` has it reviewed again (recommended). Or read goals.md, then "
        f"`qrspi approve {RUN} goals --unreviewed` or `qrspi reject {RUN} goals -m TEXT`."
    )
    yes, no = f"qrspi approve {RUN} goals", f"qrspi reject {RUN} goals -m TEXT"
    commands = [one["command"] for one in asked["options"]]
    assert (asked["command"], commands) == (None, [LOOP, f"{yes} --unreviewed", no])
    refused = qrspi("resolve", RUN, "2", "--json")
    assert (refused.code, refused.json["code"]) == (3, "not-offered")
    assert qrspi("resolve", RUN, "loop").code == 0
    assert (answer(qrspi)["action"], answer(qrspi)["round"]) == ("review", 2)
    quick.say_clean(run, "goals", 2)
    clean = answer(qrspi)
    commands = [one["command"] for one in clean["options"]]
    assert (clean["command"], commands) == (None, [yes, no])
    assert qrspi("resolve", RUN, "loop").code == 3
    assert "no menu is open" in qrspi("resolve").err
    assert f"`{yes}` takes approve here" in qrspi("resolve", RUN, "approve").err
    assert qrspi("inbox", "--commands").out == f"# {yes}\n# {no}\n"
    (item,) = qrspi("inbox", "--json").json["items"]
    assert (item["command"], item["options"]) == (None, clean["options"])
    assert [f"  $ {yes}", f"  $ {no}"] == qrspi("inbox").out.splitlines()[2:]


@pytest.mark.rule("LIV-10")
def test_a_text_that_nobody_changed_can_be_reviewed_again_too(project: Path, qrspi: Call) -> None:
    run = quick.make(project, "goals")
    quick.advance(run)
    quick.find(run, "goals")
    quick.advance(run)
    quick.put(run, f"{quick.place('goals')}-dispositions.md", "Nothing was done.\n")
    asked = answer(qrspi)
    assert asked["summary"].startswith("Reviews found issues in round 1; the text was not changed.")
    assert asked["options"][0]["command"] == LOOP
    qrspi("resolve", RUN, "loop")
    assert (answer(qrspi)["action"], answer(qrspi)["round"]) == ("review", 2)


@pytest.mark.rule("LIV-10")
@pytest.mark.parametrize(("key", "status"), [("1", "draft"), ("2", "approved")])
def test_at_a_terminal_approve_offers_another_review_first(
    key: str, status: str, project: Path, qrspi: Call
) -> None:
    run = presented(project)
    with Terminal("approve", RUN, "goals", columns=200) as terminal:
        terminal.until("Number: ")
        terminal.type(f"{key}\n")
        assert terminal.end() == 0
    assert f"{FIXED.format(1)}. Approve goals.md all the same?\n" in terminal.screen
    assert "  1) No: have it reviewed again, until it is clean (recommended)\n" in terminal.screen
    assert quick.status(run, "goals") == status
    if key == "1":
        assert (answer(qrspi)["action"], answer(qrspi)["round"]) == ("review", 2)


@pytest.mark.rule("LIV-10")
def test_a_gate_says_what_to_read_with_care(project: Path, qrspi: Call) -> None:
    run = presented(project)
    assert answer(qrspi)["care"] == [
        "Read with care: goals.md has changed since round 1 reviewed it, see "
        "reviews/goals/round-01-dispositions.md; nobody has decided about it before.",
        "Findings: 1 kept in round 1.",
    ]
    qrspi("resolve", RUN, "loop")
    qrspi("next", RUN)
    quick.say_clean(run, "goals", 2)
    care = [
        "Read with care: goals.md is the text that round 2 reviewed; nobody has decided about it "
        "before.",
        "Findings: 1 kept in rounds 1 to 2.",
    ]
    assert answer(qrspi)["care"] == care
    for words in (("status", RUN), ("next", RUN), ("brief", RUN)):
        said = " ".join(qrspi(*words).out.split())
        assert all(line in said for line in care), words


@pytest.mark.rule("LIV-01")
def test_a_round_that_was_skipped_is_not_called_reviewed(project: Path, qrspi: Call) -> None:
    run = quick.make(project, "goals")
    quick.advance(run)
    qrspi("resolve", RUN, "skip")
    qrspi("next", RUN)
    assert answer(qrspi)["care"][0] == (
        "Read with care: goals.md is the text of round 1, without an answer from quality-claude, "
        "scope-claude; nobody has decided about it before."
    )


@pytest.mark.rule("LIV-10")
def test_a_gate_says_what_changed_since_a_person_sent_it_back(project: Path, qrspi: Call) -> None:
    run = quick.make(project, "goals")
    text = "# Goals\n\n## Speed\n\nFast.\n\n## Limits\n\nNone.\n"
    (run / "goals.md").write_bytes(runs.artifact(body=text))
    quick.advance(run)
    quick.say_clean(run, "goals")
    qrspi("next", RUN)
    assert qrspi("reject", RUN, "goals", "-m", "How fast?").code == 0
    [record] = [json.loads(line) for line in (run / "approvals.jsonl").read_text().splitlines()]
    (run / "goals.md").write_bytes(runs.artifact(body=text.replace("Fast.", "In 50 ms.")))
    qrspi("next", RUN)
    quick.say_clean(run, "goals", 2)
    name = record["who"].partition(" <")[0]
    assert answer(qrspi)["care"] == [
        f"Read with care: goals.md (Speed) has changed since {name} rejected it on 2026-05-17.",
        "Findings: 0 kept in round 2.",
    ]


@pytest.mark.rule("LIV-10")
def test_a_gate_after_a_rewind_names_companions_and_only_the_sections_that_changed(
    project: Path, qrspi: Call
) -> None:
    run = quick.make(project, "plan")
    text = "# Plan\n\n## Speed\n\nFast.\n\n## Limits\n\nNone.\n"
    (run / "plan.md").write_bytes(runs.artifact(body=text))
    quick.advance(run)
    quick.say_clean(run, "plan")
    qrspi("next", RUN)
    assert qrspi("rewind", RUN, "--to", "goals", "-m", "Say how fast.", "--yes").code == 0
    quick.put(run, "plan.md", runs.artifact(body=text.replace("None.", "10 MB.")))
    quick.put(run, "tasks/task-02.md", runs.artifact(body="# Another task\n"))
    for step in ("goals", "questions", "research"):
        artifact = run / quick.STEP[step].artifact
        artifact.write_bytes(artifact.read_bytes().replace(b"status: draft", b"status: approved"))
    qrspi("config", "set", RUN, "approvals", "marker")
    quick.advance(run)
    quick.say_clean(run, "plan", 2)
    name = json.loads((run / "approvals.jsonl").read_text().splitlines()[-1])["who"]
    assert answer(qrspi)["care"][0] == (
        "Read with care: plan.md (Limits) and tasks/task-02.md have changed since "
        f"{name.partition(' <')[0]} went back to it on 2026-05-17."
    )


@pytest.mark.rule("LIV-10")
def test_a_gate_says_what_changed_since_a_person_took_it_back(project: Path, qrspi: Call) -> None:
    run = quick.make(project, "goals")
    quick.advance(run)
    quick.say_clean(run, "goals")
    qrspi("next", RUN)
    assert qrspi("approve", RUN, "goals").code == 0
    assert qrspi("unapprove", RUN, "goals").code == 0
    (run / "goals.md").write_bytes(runs.artifact(body="# Goals\n\n## Speed\n\nIn 50 ms.\n"))
    qrspi("next", RUN)
    quick.say_clean(run, "goals", 2)
    assert " took it back on 2026-05-17" in answer(qrspi)["care"][0]


@pytest.mark.rule("LIV-10")
def test_a_gate_says_what_the_engine_decided(project: Path, qrspi: Call) -> None:
    run = quick.reviewed(project, "questions", cascade="on")
    qrspi("next", RUN)
    assert quick.status(run, "questions") == "approved"
    quick.put(run, "research/summary.md", runs.artifact())
    qrspi("config", "set", RUN, "cascade", "off")
    qrspi("next", RUN)
    quick.find(run, "research", score=10)
    assert answer(qrspi)["care"][1] == (
        "Findings: 0 kept in round 1. By the engine: 1 dropped for its score, questions "
        "approved without you."
    )


@pytest.mark.rule("LIV-10")
def test_a_batch_that_a_review_found_fault_with_is_not_gone_on_with_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qrspi: Call
) -> None:
    shop = Workshop(tmp_path.resolve() / "project", deliveries.quick())
    monkeypatch.chdir(shop.root)
    shop.next()
    shop.take("task-01", "a.py", "a = 1\n")
    shop.next()
    asked = answer(qrspi)
    assert (asked["kind"], asked["command"]) == ("batch", None)
    assert qrspi("resolve", RUN, "rerun-reviews").code == 0
    qrspi("next", RUN)
    tags = tuple(answer(qrspi)["waits_for"])
    shop.review("implement-gate", 1, tags, wrong="It does not add up.")
    qrspi("next", RUN)
    asked = answer(qrspi)
    assert [one["key"] for one in asked["options"]] == ["fix", "continue", "rerun-reviews", "stop"]
    assert asked["options"][0]["command"] == f"qrspi resolve {RUN} fix"
    assert asked["care"] == ["Findings: 1 kept in round 1."]
    refused = qrspi("approve", RUN)
    assert (refused.code, refused.err.splitlines()[-1]) == (3, f"  qrspi status {RUN}")


@pytest.mark.rule("LIV-02", "IMP-10")
def test_a_batch_whose_tasks_have_ended_is_approved_like_any_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qrspi: Call
) -> None:
    shop = Workshop(tmp_path.resolve() / "project", deliveries.quick())
    monkeypatch.chdir(shop.root)
    shop.next()
    shop.finish("task-01", "a.py", "a = 1\n")
    qrspi("next", RUN)
    done = qrspi("approve", RUN)
    said = "Approved implementation.md. Every task has come to its end (1 clean)."
    assert (done.code, done.out.splitlines()[0]) == (0, said)
    assert "option" not in shop.records()[-1]


@pytest.mark.rule("LIV-04", "LIV-02")
def test_the_author_of_a_text_that_was_reset_is_told_why(project: Path, qrspi: Call) -> None:
    """It is not the step that was rewound: its reasons lie with that step."""
    files = runs.approved("goals", "questions", "research", "design")
    run = runs.on_disk(project, {"config.md": runs.config("full"), **files})
    scenes.git(project, "init", "-q", "-b", "feature")
    scenes.git(project, "add", ".")
    scenes.git(project, "commit", "-qm", "Begin")
    scenes.git(project, "branch", "main")
    qrspi("rewind", "--to", "goals", "-m", "It names no list.", "--yes")
    for step in ("goals", "questions", "research"):
        assert qrspi("approve", RUN, step, "--unreviewed").code == 0
    asked = qrspi("next", "--json").json["next"]
    assert (asked["kind"], asked["step"]) == ("author", "design")
    assert asked["summary"].endswith(
        f" `qrspi next {RUN} --anyway` has design.md reviewed as it is, `qrspi approve {RUN} "
        "design --unreviewed` approves it so."
    )
    before = qrspi("prompt", RUN, "author")
    reviewed = qrspi("next", "--anyway", "--json").json["next"]
    assert (reviewed["kind"], reviewed["step"], reviewed["round"]) == ("review", "design", 1)

    told = before.out.splitlines()
    at = told.index("feedback_paths:")
    assert told[at : at + 4] == [
        "feedback_paths:",
        f"{run}/feedback/goals-round-01.md",
        "existing_paths:",
        f"{run}/design.md",
    ]
    assert qrspi("approve", RUN, "design", "--unreviewed").code == 0
