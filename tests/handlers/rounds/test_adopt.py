"""Rounds that the engine did not open: nothing passes by them until a person takes them up."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from qrspi.core.derivation.derive import derive
from qrspi.core.model import Next
from qrspi.handlers.jobs.job import Options
from qrspi.handlers.rounds import round_commands
from qrspi.world.runs.committed_tree import CommittedTree
from tests import runs
from tests.handlers import reviewing
from tests.handlers.refusals import refusal
from tests.handlers.reviewing import BODY, Reviewing
from tests.project import RUN, about
from tests.runs import clean

ROUND = "reviews/design/round-01"
MANIFEST = f"{ROUND}/.dispatch-manifest.json"
MANIFEST_IN_CLONE = f"{RUN}/{MANIFEST}"
TAGS = ("quality-claude", "scope-claude")
ADOPT = f"qrspi round prepare {runs.RUN} design --adopt"
UNPROVEN = (
    f"Round 1 of design is unproven: {MANIFEST} is on no record of qrspi, so nobody knows who was "
    f"sent. Take the round up with `{ADOPT}`."
)
TAMPERED = (
    f"Round 1 of design is tampered: {MANIFEST} is not as qrspi wrote it, and leaves reviewers "
    f"out. Restore it, or expect everybody again with `{ADOPT}`."
)


@pytest.fixture
def project(tmp_path: Path) -> Reviewing:
    return reviewing.make(tmp_path / "shop")


def next_of(project: Reviewing) -> Next:
    return derive(CommittedTree(project.run)).next


def adopt(project: Reviewing) -> round_commands.Opened:
    return round_commands.adopt_round(project.workspace(), about("design"), None, Options())


def write_manifest(project: Reviewing, *tags: str) -> None:
    """By hand, with everything right in it."""
    body = reviewing.text()
    text = runs.manifest("design", 1, tags)
    document = json.loads(text) | {"body_hash": runs.text_hash(body, "design.md")}
    project.write(MANIFEST, json.dumps(document))


def say_clean(project: Reviewing, *tags: str) -> None:
    for tag in tags:
        project.write(f"{ROUND}/{tag}.clean.md", clean(tag))


@pytest.mark.rule("SEC-18")
def test_a_round_that_the_engine_opened_is_its_own(project: Reviewing) -> None:
    project.prepare()
    say_clean(project, *TAGS)
    project.next()
    assert next_of(project).because[0] == "Reviews passed clean in round 1"


@pytest.mark.rule("SEC-18")
def test_a_round_written_by_hand_is_unproven_though_everybody_is_clean(project: Reviewing) -> None:
    write_manifest(project, *TAGS)
    say_clean(project, *TAGS)
    found = next_of(project)
    assert (found.action, found.who, found.summary) == ("blocked", "human", UNPROVEN)
    assert found.command == ADOPT


@pytest.mark.rule("SEC-18")
@pytest.mark.parametrize("tags", [(), TAGS[:1]], ids=["nobody", "one of two"])
def test_a_manifest_that_says_less_is_tampered(project: Reviewing, tags: tuple[str, ...]) -> None:
    project.prepare()
    document = project.manifest()
    project.write(MANIFEST, json.dumps(document | {"expected_tags": list(tags)}, indent=2))
    say_clean(project, TAGS[0])
    found = next_of(project)
    assert (found.action, found.who, found.summary) == ("blocked", "human", TAMPERED)


@pytest.mark.rule("SEC-18")
def test_a_round_that_nobody_answered_is_opened_anew(project: Reviewing) -> None:
    """Who wrote its manifest does not matter then."""
    write_manifest(project)
    done = project.next().performed
    assert [one.handler for one in done] == ["prepare-round", "write-prompts"]
    assert project.manifest()["expected_tags"] == list(TAGS)
    assert next_of(project).missing == TAGS


@pytest.mark.rule("SEC-18", "ENG-04")
def test_a_kill_between_the_manifest_and_the_trail_is_made_good(project: Reviewing) -> None:
    project.prepare()
    shutil.rmtree(project.run / ".qrspi")
    before = project.data(MANIFEST)
    done = project.next().performed
    assert [one.handler for one in done] == ["prepare-round", "write-prompts"]
    assert project.data(MANIFEST) == before
    assert next_of(project).action == "review"


@pytest.mark.rule("SEC-18", "ENG-04")
def test_notes_that_a_kill_kept_from_the_trail_take_nothing_away(project: Reviewing) -> None:
    project.prepare()
    document = project.manifest()
    for dispatch in document["dispatches"]:
        dispatch["status"] = "complete-clean"
    project.write(MANIFEST, json.dumps(document, indent=2) + "\n")
    say_clean(project, TAGS[0])
    assert next_of(project).missing == TAGS[1:]


@pytest.mark.rule("SEC-18")
def test_a_person_takes_a_round_up_and_is_on_record(project: Reviewing) -> None:
    write_manifest(project, TAGS[0])
    say_clean(project, *TAGS)
    opened = adopt(project)
    assert opened.manifest.expected_tags == TAGS
    record = project.records()[-1]
    assert (record["event"], record["step"], record["round"]) == ("adopt", "design", 1)
    assert (record["file"], record["who"]) == (MANIFEST, "Ada Example <ada@example.org>")
    project.next()
    assert next_of(project).because[0] == "Reviews passed clean in round 1"
    assert str(refusal(adopt, project)) == (
        "round 01 of design was taken up already: there is nothing to take up"
    )


@pytest.mark.rule("SEC-18")
def test_files_without_a_manifest_are_taken_up_as_about_the_text_now(project: Reviewing) -> None:
    say_clean(project, TAGS[0])
    assert adopt(project).manifest.expected_tags == TAGS
    assert next_of(project).missing == TAGS[1:]


@pytest.mark.rule("SEC-18")
def test_a_round_of_the_engine_is_not_taken_up(project: Reviewing) -> None:
    for line in ("only the newest round of design can be taken up, and it has no round",):
        assert str(refusal(adopt, project)) == line
    project.prepare()
    assert str(refusal(adopt, project)) == (
        "round 01 of design was opened by qrspi: there is nothing to take up"
    )


@pytest.mark.rule("SEC-18")
def test_closing_files_by_hand_close_no_round_of_ones_own(project: Reviewing) -> None:
    write_manifest(project, *TAGS)
    project.write(f"{ROUND}-dispositions.md", "# Done\n\nAll applied.\n")
    project.write(f"{ROUND}-commit.txt", project.git("rev-parse", "HEAD") + "\n")
    found = next_of(project)
    assert found.because[0] == "Round 1 is unproven: no record says that qrspi opened it"
    assert found.command == f"qrspi resolve {runs.RUN} loop"


@pytest.mark.rule("SEC-18")
def test_in_a_clone_the_commit_stands_for_the_trail(project: Reviewing, tmp_path: Path) -> None:
    project.hold_round(("## Approach", 90))
    project.close(1, BODY + "\nMore.\n")
    project.git("clone", "-q", str(project.root), str(tmp_path / "clone"))
    clone = CommittedTree(tmp_path / "clone" / RUN)
    assert derive(clone).next.action == "commit-round"  # the anchor comes with the next commit
    (tmp_path / "clone" / MANIFEST_IN_CLONE).write_bytes(
        project.data(MANIFEST).replace(b'"anyway": false', b'"anyway": true')
    )
    assert derive(CommittedTree(clone.path)).next.action == "blocked"
