"""Menus take their number, questions name the command that answers them, and what is printed fits
the terminal and works from where it is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from qrspi.core.config.problems import command_of
from qrspi.core.config.reader import read
from tests import runs, scenes
from tests.cli.conftest import Call
from tests.cli.terminal import Terminal
from tests.runs import RUN, config, finding, manifest, score

SCHEMA = Path(__file__).resolve().parents[2] / "schemas/resolve.schema.json"
ROUND = "reviews/goals/round-01"
FAILED = {
    "config.md": config(),
    "goals.md": runs.artifact(),
    f"{ROUND}/.dispatch-manifest.json": manifest("goals", body=runs.artifact()),
    f"{ROUND}/scope-claude.clean.md": runs.clean("scope-claude"),
    f"{ROUND}/quality-claude.finding-F01.md": finding(),
    f"{ROUND}/quality-claude.finding-F01.score.yml": score("VERIFY_FAILED"),
}
READY = {
    "config.md": config("quick"),
    **runs.approved("goals", "questions", "research", "plan"),
}


@pytest.mark.rule("LIV-29", "OUT-07")
@pytest.mark.parametrize(("number", "key"), [("1", "skip"), ("2", "retry"), ("3", "stop")])
def test_a_menu_takes_its_number(project: Path, qrspi: Call, number: str, key: str) -> None:
    runs.on_disk(project, FAILED)
    done = qrspi("resolve", RUN, number, "--json")
    assert (done.code, done.json["option"]) == (0, key)


@pytest.mark.rule("LIV-29", "OUT-07")
@pytest.mark.parametrize("number", ["0", "4", "1000", "²"])
def test_a_number_that_is_not_there_is_refused(project: Path, qrspi: Call, number: str) -> None:
    runs.on_disk(project, FAILED)
    done = qrspi("resolve", RUN, number)
    assert (done.code, done.err.partition(",")[0]) == (3, f"{number!r} is not offered now")


@pytest.mark.rule("LIV-29", "LIV-01")
def test_where_agents_are_awaited_no_menu_is_shown_and_a_number_means_nothing(
    project: Path, qrspi: Call
) -> None:
    run = runs.on_disk(project, {name: FAILED[name] for name in FAILED if "score" not in name})
    done = qrspi("resolve", RUN, "1")
    assert done.code == 3
    assert done.err.startswith("'1' is not offered now, next is the scoring of goals round 1")
    assert "options: skip, retry, stop" in done.err
    assert not (run / f"{ROUND}-verifier-disabled.md").exists()
    assert qrspi("resolve", RUN, "skip").code == 0


@pytest.mark.rule("LIV-02", "LIV-18")
def test_the_way_out_of_a_strangers_file_is_one_that_is_taken(project: Path, qrspi: Call) -> None:
    """Whoever is told runs what is printed: see `printed_commands`."""
    run = runs.on_disk(project, {name: FAILED[name] for name in FAILED if "finding" not in name})
    stranger = run / ROUND / "spec-claude.clean.md"
    stranger.write_bytes(runs.clean("spec-claude"))
    for command in ("status", "next", "explain", "brief", "inbox"):
        assert "retry" not in qrspi(command, RUN).out + qrspi(command, RUN, "--json").out, command
    stranger.unlink()
    assert qrspi("next", RUN, "--json").json["next"]["missing"] != []


@pytest.mark.rule("LIV-29", "LIV-24", "LIV-02")
def test_a_question_about_config_takes_its_number(project: Path, qrspi: Call) -> None:
    run = runs.on_disk(project, READY)
    assert qrspi("resolve", RUN, "2", "--dry-run").out.startswith("Would change config.md:\n")
    done = qrspi("resolve", RUN, "2").out
    changed, _, following = done.partition("\n\n")
    assert changed == "Changed config.md:\n  + review_depth: quick\n  + review_mode: single"
    assert following.startswith("Next: ") and following in qrspi("status", RUN).out
    chosen = read((run / "config.md").read_bytes())
    assert (chosen.review_depth, chosen.review_mode) == ("quick", "single")


@pytest.mark.rule("LIV-29")
def test_abort_changes_nothing_and_is_no_error(project: Path, qrspi: Call) -> None:
    run = runs.on_disk(project, READY)
    before = (run / "config.md").read_bytes()
    assert qrspi("resolve", RUN, "5") == (0, "Nothing was changed.\n", "")
    for more in ((), ("--dry-run",)):
        document = qrspi("resolve", RUN, "5", "--json", *more).json
        Draft202012Validator(json.loads(SCHEMA.read_text("utf-8"))).validate(document)
        assert (document["option"], document["changes"]) == ("abort", [])
    assert (run / "config.md").read_bytes() == before


@pytest.mark.rule("LIV-29", "OUT-02")
def test_each_option_is_answered_by_the_same_document(project: Path, qrspi: Call) -> None:
    run = runs.on_disk(project, READY)
    schema = Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))
    for more in (["--dry-run"], []):
        document = qrspi("resolve", RUN, "2", "--json", *more).json
        schema.validate(document)
        assert document["dry_run"] == bool(more)
        assert [one["file"] for one in document["changes"]] == ["config.md"]
    assert read((run / "config.md").read_bytes()).review_mode == "single"
    assert document["next"] == qrspi("status", "--json").json["runs"][0]["next"]


@pytest.mark.rule("LIV-29")
def test_what_is_left_to_a_person_changes_nothing(project: Path, qrspi: Call) -> None:
    old = config().replace(b"---\n", b"---\ncodex_reviews: true\n", 1)
    run = runs.on_disk(project, {"config.md": old, "goals.md": runs.artifact()})
    ways = qrspi("status", "--json").json["runs"][0]["next"]["options"]
    [(number, way)] = [(one["key"], one["label"]) for one in ways if "by hand" in one["label"]]
    said = f"nothing was changed; that is left to you: {way}\n"
    assert qrspi("resolve", RUN, number) == (3, "", said)
    assert (run / "config.md").read_bytes() == old


@pytest.mark.rule("LIV-29", "LIV-24")
def test_a_question_about_config_says_how_to_answer(project: Path, qrspi: Call) -> None:
    runs.on_disk(project, READY)
    [run] = qrspi("status", "--json").json["runs"]
    assert run["next"]["summary"] == (
        "config.md: how are tasks reviewed? review_depth (quick or deep) and review_mode (single "
        f"or loop) are yours to choose. Answer with `qrspi resolve {RUN} NUMBER`."
    )


@pytest.mark.rule("LIV-29")
def test_a_number_too_high_is_told_what_is_asked(project: Path, qrspi: Call) -> None:
    runs.on_disk(project, READY)
    assert qrspi("resolve", RUN, "9") == (
        3,
        "",
        "config.md is to be put right: say the number of one of the ways that status lists\n"
        f"  qrspi status {RUN}\n",
    )


@pytest.mark.rule("LIV-02", "LIV-24")
def test_the_command_of_an_option_answers_and_none_is_chosen_for_a_person(
    project: Path, qrspi: Call
) -> None:
    runs.on_disk(project, READY)
    asked = qrspi("status", "--json").json["runs"][0]["next"]
    answer = f"qrspi config set {RUN} review_depth quick review_mode loop"
    assert (asked["kind"], asked["command"]) == ("config", None)
    assert asked["options"][0]["command"] == answer
    assert qrspi(*answer.split()[1:]).code == 0
    assert qrspi("status", "--json").json["runs"][0]["next"]["kind"] != "config"


@pytest.mark.parametrize(
    ("way", "command"),
    [
        ("Take the quick route: qrspi route set quick", "qrspi route set quick"),
        ("Correct it: qrspi config set x VALUE", ""),
        ("Use {vendor: …}: qrspi config set x '{vendor: …}'", ""),
        ("Abort", ""),
    ],
)
def test_only_a_whole_command_is_an_answer(way: str, command: str) -> None:
    assert command_of(way) == command


@pytest.mark.rule("LIV-29")
def test_what_is_said_on_stderr_is_folded(project: Path) -> None:
    runs.on_disk(project, READY)
    with Terminal("approve", RUN, "plan", "--no-color", columns=50) as terminal:
        assert terminal.end() == 3
    assert terminal.screen.splitlines() == [
        "plan.md is approved already: this stops the run:",
        "  config.md: how are tasks reviewed? review_depth",
        "  (quick or deep) and review_mode (single or loop)",
        "  are yours to choose",
        f"  qrspi status {RUN}",
    ]


@pytest.mark.rule("LIV-29", "PPL-01")
def test_a_brief_keeps_its_lines_at_a_terminal(project: Path) -> None:
    runs.on_disk(project, {"config.md": config("quick"), "goals.md": runs.artifact()})
    with Terminal("brief", "--no-color") as terminal:
        assert terminal.end() == 0
    shown = terminal.screen
    assert shown.splitlines()[-8:] == [
        "## Where each step stands",
        "",
        *(f"- {step}" for step in ("goals: draft", "questions: missing", "research: missing")),
        *(f"- {step}: missing" for step in ("plan", "implement", "test")),
    ]


@pytest.mark.rule("LIV-02")
def test_who_said_where_the_runs_are_is_told_to_say_it_again(project: Path, qrspi: Call) -> None:
    """Commands are read where they were typed, not where the runs are."""
    elsewhere = project / "other place"
    runs.on_disk(elsewhere, {"config.md": config(), "goals.md": runs.artifact()})
    (project / "docs/qrspi").rmdir()
    root = ("--root", str(elsewhere))
    found = json.loads(qrspi(*root, "status", "--json").out)["runs"][0]["next"]
    command = f"qrspi --root '{elsewhere}' next {RUN}"
    assert found["command"] == command
    assert f"`{command}`" in found["summary"]
    assert f"`{command}`" in qrspi(*root, "status").out
    refused = qrspi(*root, "approve", RUN)
    assert refused.err.splitlines()[-1] == f"  {command}"


@pytest.mark.rule("LIV-29", "LIV-02")
def test_without_an_option_the_open_menu_is_shown(tmp_path: Path, qrspi: Call) -> None:
    scenes.reviewed_badly(tmp_path)
    assert qrspi("--root", tmp_path, "resolve") == (
        2,
        "",
        f"say which option of {RUN}: retry, stop\n  qrspi --root {tmp_path} resolve {RUN} retry\n",
    )
    assert qrspi("--root", tmp_path, "decide").err.startswith(
        "no finding waits for a decision: next is the review of goals round 1\n"
    )


@pytest.mark.rule("LIV-29", "LIV-02")
def test_options_are_named_with_their_numbers(project: Path, qrspi: Call) -> None:
    runs.on_disk(project, READY)
    found = qrspi("resolve")
    assert (found.code, found.err.splitlines()[0]) == (
        2,
        f"say which option of {RUN}: 1, 2, 3, 4, 5",
    )


@pytest.mark.rule("LIV-29", "LIV-02")
def test_without_words_the_findings_that_wait_are_named(tmp_path: Path, qrspi: Call) -> None:
    scenes.paused(tmp_path)
    qrspi("--root", tmp_path, "next")
    assert qrspi("--root", tmp_path, "decide") == (
        2,
        "",
        "say what becomes of the findings that wait: quality-claude.R1-F01\n"
        f"  qrspi --root {tmp_path} decide {RUN} quality-claude.R1-F01 apply\n",
    )
