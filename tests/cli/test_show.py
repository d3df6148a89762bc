"""`qrspi show`: the findings of a round, where they come from, and what was edited since."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import runs, scenes
from tests.cli.conftest import Call, Result
from tests.cli.terminal import Terminal
from tests.cli.test_round import git, valid

BODY = "# Goals\n\n## Approach\n\nWords.\n\n## Limits\n\nNone.\n"
CACHE = "The cache is never emptied, so memory grows without bound."
TITLE = "The title says sessions where the text says tokens."
NAME = "Users cannot find out which of the two names is meant."


def finding(
    run: Path, number: int, at: int, message: str, score: int | None = 90, **more: str
) -> None:
    folder = run / f"reviews/goals/round-{number:02d}"
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"quality-claude.finding-F{at:02d}"
    cites = more.pop("cites", "goals.md:L7")
    data = runs.finding(number=at, round=number, message=message, cites=cites, **more)
    (folder / f"{stem}.md").write_bytes(data)
    if score is not None:
        (folder / f"{stem}.score.yml").write_bytes(runs.score(score, f"Because of {score}."))
    (folder / "scope-claude.clean.md").write_bytes(runs.clean("scope-claude", number))


@pytest.fixture
def run(project: Path) -> Path:
    contents = {"config.md": runs.config(), "goals.md": runs.artifact(body=BODY)}
    return runs.on_disk(project, contents)


def course(result: Result) -> list[tuple[Any, ...]]:
    return [
        (one["round"], one["id"], one["verdict"], one["lineage"])
        for one in valid(result)["findings"]
    ]


@pytest.mark.rule("EVD-05")
def test_a_table_of_the_newest_round(run: Path, qrspi: Call) -> None:
    finding(run, 1, 1, CACHE)
    finding(run, 1, 2, TITLE, 60, kind="style")
    finding(run, 1, 3, "See feedback/goals-round-01.md for the name.", None)
    assert qrspi("show", "goals") == Result(
        0,
        "Round 1 of goals\n\n"
        "FINDING                SEVERITY  TYPE                      SCORE  VERDICT       SINCE\n"
        "quality-claude.R1-F01  medium    correctness               90     kept          new\n"
        f"  {CACHE}\n"
        "  score 90 reaches 70 for correctness\n"
        "quality-claude.R1-F02  medium    style                     60     dropped       new\n"
        f"  {TITLE}\n"
        "  score 60 is below 80 for style\n"
        "quality-claude.R1-F03  medium    intent (was correctness)  -      for a person  new\n"
        "  See feedback/goals-round-01.md for the name.\n"
        "  it names a feedback file, so it counts as intent instead of correctness, and a person "
        "decides\n\n"
        "Of 6 files of agents: 6 found in the folder.\n",
        "",
    )


@pytest.mark.rule("OUT-02", "FND-07")
def test_the_document(run: Path, qrspi: Call) -> None:
    finding(run, 1, 1, TITLE, 60, kind="style")
    assert valid(qrspi("show", "--json")) == {
        "schema": "qrspi/show/v1",
        "run": runs.RUN,
        "step": "goals",
        "round": 1,
        "findings": [
            {
                "id": "R1-F01",
                "tag": "quality-claude",
                "file": "reviews/goals/round-01/quality-claude.finding-F01.md",
                "round": 1,
                "severity": "medium",
                "change_type": "style",
                "effective_type": "style",
                "score": 60,
                "threshold": 80,
                "reason": "Because of 60.",
                "verdict": "drop",
                "because": "score 60 is below 80 for style",
                "decision": None,
                "lineage": "new",
                "lineage_because": "first raised in round 1",
                "earlier": None,
                "referenced_files": ["goals.md:L7"],
                "message": TITLE,
            }
        ],
        "answers": [
            {"file": f"reviews/goals/round-01/{name}", "evidence": "found", "reply": ""}
            for name in (
                "quality-claude.finding-F01.md",
                "quality-claude.finding-F01.score.yml",
                "scope-claude.clean.md",
            )
        ],
    }


@pytest.mark.rule("EVD-01", "EVD-02")
def test_findings_have_a_past(run: Path, qrspi: Call) -> None:
    finding(run, 1, 1, CACHE)
    finding(run, 1, 2, TITLE, 60, kind="style", cites="goals.md:L11")
    finding(run, 1, 3, NAME, cites="goals.md:L11")
    finding(run, 2, 1, "The cache is never emptied: memory grows without any bound.")
    finding(run, 2, 2, TITLE, 95, kind="style", cites="goals.md:L11")
    result = qrspi("show", "goals", "--json")
    assert course(result) == [
        (2, "R2-F01", "keep", "persisting"),
        (2, "R2-F02", "keep", "re-raised"),
        (1, "R1-F03", "keep", "resolved"),
    ]
    assert result.json["findings"][1]["earlier"] == {
        "round": 1,
        "finding": "quality-claude.R1-F02",
        "fate": "dropped by the verifier",
    }
    assert qrspi("show", "goals").out.splitlines()[6:] == [
        "quality-claude.R2-F02  medium    style        95     kept     re-raised",
        f"  {TITLE}",
        "  score 95 reaches 80 for style",
        "  quality-claude.R1-F02 was dropped by the verifier in round 1",
        "",
        "No longer found:",
        "  quality-claude.R1-F03  last seen in round 1",
        "",
        "Of 5 files of agents: 5 found in the folder.",
    ]
    assert course(qrspi("show", "goals", "--round", "1", "--json")) == [
        (1, "R1-F01", "keep", "new"),
        (1, "R1-F02", "drop", "new"),
        (1, "R1-F03", "keep", "new"),
    ]


@pytest.mark.rule("EVD-01")
def test_nothing_is_resolved_while_reviewers_are_awaited(run: Path, qrspi: Call) -> None:
    finding(run, 1, 1, CACHE)
    (run / "reviews/goals/round-02").mkdir()
    (run / "reviews/goals/round-02/quality-claude.clean.md").write_bytes(
        runs.clean("quality-claude", 2)
    )
    assert course(qrspi("show", "goals", "--json")) == []


@pytest.mark.rule("LIV-01", "LIV-03")
def test_what_a_verifier_could_not_score_is_not_kept_yet(project: Path, qrspi: Call) -> None:
    run = scenes.prepared(project)
    scenes.review(run)
    (run / scenes.ROUND / scenes.SCORE).write_bytes(b"score: VERIFY_FAILED\nreason: no quota\n")
    because = 'the verifier could not score it; it says: "no quota"'
    [shown] = qrspi("show", "--json").json["findings"]
    assert (shown["score"], shown["because"]) == (None, because)
    page = qrspi("show").out
    assert ("to score" in page, "kept" in page, f"  {because}\n" in page) == (True, False, True)
    assert "failed  1 to score" in qrspi("status", runs.RUN).out


@pytest.mark.rule("EVD-05")
def test_what_was_dropped_and_by_how_much(run: Path, qrspi: Call) -> None:
    finding(run, 1, 1, CACHE)
    finding(run, 1, 2, f"{TITLE}\n\nMore.", 60, kind="style")
    assert qrspi("show", "goals", "--dropped").out == (
        "Round 1 of goals, dropped findings\n\n"
        "quality-claude.R1-F02  score 60, 80 needed for style\n"
        f"  {TITLE}\n  verifier: Because of 60.\n"
    )
    assert course(qrspi("show", "goals", "--dropped", "--json")) == [(1, "R1-F02", "drop", "new")]


@pytest.mark.rule("RND-03")
def test_a_closed_round_is_judged_by_what_it_was_assembled_under(run: Path, qrspi: Call) -> None:
    finding(run, 1, 1, CACHE, 10)
    head = "---\nverifier_enabled: false\nscored: 1\n---\n"
    (run / "reviews/goals/round-01-verified.md").write_text(head)
    (run / "reviews/goals/round-01-dispositions.md").write_text("# Done\n")
    assert course(qrspi("show", "goals", "--json"))[0][2] == "keep"


def test_a_run_without_rounds(run: Path, qrspi: Call) -> None:
    assert qrspi("show", "goals").out == "goals has no review round yet.\n"
    assert valid(qrspi("show", "goals", "--json"))["round"] is None
    assert qrspi("show", "goals", "--round", "1").code == 3


@pytest.mark.rule("SEC-04", "OUT-01")
def test_agents_words_cannot_move_the_cursor(run: Path, qrspi: Call) -> None:
    finding(run, 1, 1, "Red \x1b[31m\u202eeman.", 10, kind="style")
    shown = qrspi("show", "goals", "--dropped").out
    assert "  Red \\x1b[31m\\u202eeman.\n" in shown


@pytest.mark.rule("APV-01")
class TestSinceApproval:
    @pytest.fixture
    def approved(self, run: Path, project: Path) -> Path:
        git(project, "init", "-q", "-b", "main")
        (run / "goals.md").write_bytes(runs.artifact("approved", BODY))
        git(project, "add", "--all")
        git(project, "commit", "-q", "-m", "docs(qrspi): approve goals for user-auth")
        return run

    def test_nothing_was_edited(self, approved: Path, project: Path, qrspi: Call) -> None:
        head = git(project, "rev-parse", "HEAD")
        assert qrspi("show", "goals", "--since-approval").out == (
            f"goals.md has not changed since it was approved in {head}.\n"
        )

    def test_what_was_edited(self, approved: Path, project: Path, qrspi: Call) -> None:
        head = git(project, "rev-parse", "HEAD")
        (approved / "goals.md").write_bytes(runs.artifact("approved", BODY.replace("None", "Few")))
        git(project, "commit", "-q", "-a", "-m", "later")
        before = sorted(approved.rglob("*"))
        shown = qrspi("show", "goals", "--since-approval").out
        assert shown.splitlines()[0] == (
            f"diff --git a/docs/qrspi/{runs.RUN}/goals.md b/docs/qrspi/{runs.RUN}/goals.md"
        )
        assert "-None.\n+Few.\n" in shown
        document = valid(qrspi("show", "goals", "--since-approval", "--json"))
        assert document["since_approval"] == {"commit": head, "diff": shown}
        assert sorted(approved.rglob("*")) == before

    @pytest.mark.rule("LIV-29")
    def test_a_difference_is_not_folded_at_a_terminal(self, approved: Path) -> None:
        long = "Words that go on and on. " * 8
        (approved / "goals.md").write_bytes(runs.artifact("approved", BODY.replace("None", long)))
        with Terminal("show", "goals", "--since-approval") as terminal:
            assert terminal.end() == 0
        assert f"-None.\n+{long}.\n" in terminal.screen

    def test_nobody_approved_it(self, run: Path, project: Path, qrspi: Call) -> None:
        assert qrspi("show", "goals", "--since-approval").err == (
            f"goals.md of {runs.RUN} cannot be compared with its approval: the run is not in a "
            f"git repository\n  qrspi log {runs.RUN}\n"
        )
        git(project, "init", "-q", "-b", "main")
        git(project, "add", "--all")
        git(project, "commit", "-q", "-m", "start")
        result = qrspi("show", "goals", "--since-approval", "--json")
        assert (result.code, valid(result)["code"]) == (3, "no-approval")


@pytest.mark.rule("LIV-03")
def test_an_open_round_never_reads_as_clean(project: Path, qrspi: Call) -> None:
    place, tags = "reviews/goals/round-01", ("quality-claude", "scope-claude")
    files = {
        "config.md": runs.config("quick"),
        "goals.md": runs.artifact(),
        f"{place}/.dispatch-manifest.json": runs.manifest(tags=tags, body=runs.artifact()),
        f"{place}/quality-claude.clean.md": runs.clean(),
    }
    run = runs.on_disk(project, files)
    assert qrspi("show", "goals").out.splitlines()[2:] == [
        "Round 1 has no findings so far.",
        "",
        "Still to answer: scope-claude.",
        "",
        "Of 1 file of agents: 1 found in the folder.",
    ]
    (run / place / "scope-claude.clean.md").write_bytes(runs.clean("scope-claude"))
    assert qrspi("show", "goals").out.splitlines()[2:] == [
        "Round 1 has no findings.",
        "",
        "Of 2 files of agents: 2 found in the folder.",
    ]


@pytest.mark.rule("LIV-03")
def test_a_finding_that_waits_for_its_score_is_not_kept_yet(project: Path, qrspi: Call) -> None:
    place, tags = "reviews/goals/round-01", ("quality-claude",)
    files = {
        "config.md": runs.config("quick"),
        "goals.md": runs.artifact(),
        f"{place}/.dispatch-manifest.json": runs.manifest(tags=tags, body=runs.artifact()),
        f"{place}/quality-claude.finding-F01.md": runs.finding(message="Too vague."),
    }
    run = runs.on_disk(project, files)
    row, _, why = qrspi("show", "goals").out.splitlines()[3:6]
    assert (row.split()[3:], why) == (["-", "to", "score", "new"], "  it has no score yet")
    (run / place / "quality-claude.finding-F01.score.yml").write_bytes(runs.score(90))
    row, _, why = qrspi("show", "goals").out.splitlines()[3:6]
    assert row.split()[3:] == ["90", "kept", "new"]


@pytest.mark.rule("LIV-03", "LIV-18")
def test_a_file_that_cannot_be_read_is_shown_and_until_then_nothing_is_kept(
    project: Path, qrspi: Call
) -> None:
    place, tags = "reviews/goals/round-01", ("quality-claude", "scope-claude")
    bad = f"{place}/scope-claude.finding-F01.md"
    files = {
        "config.md": runs.config("quick"),
        "goals.md": runs.artifact(),
        f"{place}/.dispatch-manifest.json": runs.manifest(tags=tags, body=runs.artifact()),
        f"{place}/quality-claude.finding-F01.md": runs.finding(message="Too vague."),
        bad: runs.finding("scope-claude").replace(b"severity: medium", b"severity: critical"),
    }
    run = runs.on_disk(project, files)
    why = f"{bad}: severity is 'critical'; expected low, medium or high"
    shown = qrspi("show", "goals").out.splitlines()
    assert (shown[3].split()[3:], shown[5]) == (
        ["-", "to", "score", "new"],
        "  it has no score yet",
    )
    assert f"not read: {why}" in shown
    assert [one["message"] for one in valid(qrspi("show", "--json"))["unread"]] == [why]
    (run / place / "quality-claude.finding-F01.md").unlink()
    assert qrspi("show", "goals").out.splitlines()[2] == "Round 1 has no findings that can be read."


@pytest.mark.rule("LIV-01", "LIV-10")
def test_what_a_person_decided_about_a_finding_is_named_wherever_it_is_told(
    project: Path, qrspi: Call
) -> None:
    run = scenes.paused(project)
    scenes.advance(run)
    qrspi("decide", "--all", "skip")
    (line,) = [one for one in (run / "approvals.jsonl").read_text().splitlines() if "skip" in one]
    record = json.loads(line)
    who, day = record["who"].partition(" <")[0], record["when"][:10]
    said = f"skipped by {who} on {day}"
    because = f"{said}; a person decides about intent, whatever the score"
    shown = qrspi("show", "goals", "--json").json["findings"][0]
    assert (shown["decision"], shown["because"], shown["verdict"]) == (said, because, "pause")
    rows = qrspi("show", "goals").out.splitlines()
    assert (rows[3].split()[-2:], rows[5]) == (["skipped", "new"], f"  {because}")
    assert f"(medium, intent): {because}\n" in qrspi("report").out
    [step] = [one for one in qrspi("status", "--json").json["runs"][0]["steps"] if "kept" in one]
    assert [step[key] for key in ("kept", "skipped", "dropped")] == [0, 1, 0]
    assert "0 kept, 1 skipped, 0 dropped" in qrspi("status").out
    counted = qrspi("stats", "--json").json["findings"]
    assert [counted[key] for key in ("found", "kept", "skipped", "dropped")] == [1, 0, 1, 0]
    (_, weighed) = qrspi("next", "--json").json["next"]["care"]
    assert weighed == f"Findings: 1 kept in round 1, 1 of them skipped by {who}."


@pytest.mark.rule("LIV-01")
def test_a_decision_without_a_record_names_nobody(project: Path, qrspi: Call) -> None:
    run = scenes.paused(project)
    scenes.advance(run)
    (file,) = run.glob("reviews/goals-loop-pause-*.md")
    file.write_text(file.read_text().replace("pending", "skip"))
    assert qrspi("show", "goals", "--json").json["findings"][0]["decision"] is None


@pytest.mark.rule("GRD-05")
def test_a_file_under_a_name_that_no_round_knows_was_not_read(run: Path, qrspi: Call) -> None:
    finding(run, 1, 1, CACHE)
    name = "reviews/goals/round-01/quality-claude-finding-2.md"
    (run / name).write_bytes(runs.finding(number=2))
    assert qrspi("show", "goals").out.splitlines()[-1] == (
        f"not read: {name}: not a name that a round knows; the file is left alone. "
        "Did you mean quality-claude.finding-F02.md?"
    )
    assert [one["code"] for one in valid(qrspi("show", "goals", "--json"))["unread"]] == [
        "unknown_file"
    ]
