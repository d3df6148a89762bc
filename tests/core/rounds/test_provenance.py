"""Rounds that were made elsewhere: what closes them, and what never follows from them."""

from __future__ import annotations

import pytest

from qrspi.core.derivation.derive import derive, survey
from qrspi.core.pipeline import subject_of
from qrspi.core.records import import_record
from qrspi.core.records.import_record import Choice, ImportRecord
from qrspi.core.rounds import finding_history, round_list
from qrspi.core.tree import MemoryTree
from tests import runs

FOLDER = "reviews/questions"
ROUND = f"{FOLDER}/round-04"


def page(*numbers: int, **open_: Choice) -> bytes:
    choices = {f"{FOLDER}/{key.replace('_', '-')}": value for key, value in open_.items()}
    record = ImportRecord("then", "Ann", "there", "", "", {FOLDER: numbers}, choices)
    return import_record.head(record).encode()


def run(files: dict[str, bytes], *numbers: int, **open_: Choice) -> MemoryTree:
    base = {
        "config.md": runs.config("quick"),
        "questions.md": runs.artifact(body=runs.ASKING),
        **runs.approved("goals"),
    }
    listed = {"import.md": page(*numbers, **open_)} if numbers else {}
    return MemoryTree({**base, **listed, **files}, runs.RUN)


FINDING = {f"{ROUND}/quality-claude.finding-F01.md": runs.finding(round=4, step="questions")}
SAID = "Round 4 was made elsewhere and is unproven ({}; no decision is on record)"


@pytest.mark.rule("IMPT-05")
@pytest.mark.parametrize(
    ("files", "how"),
    [
        ({f"{ROUND}-dispositions.md": b"Done.\n"}, "closed by a dispositions file"),
        ({f"{ROUND}-commit.txt": b"f257cd4\n"}, "closed by an anchor"),
    ],
)
def test_what_closes_it_is_said(files: dict[str, bytes], how: str) -> None:
    found = derive(run({**FINDING, **files}, 4)).next
    assert (found.action, found.round) == ("prepare-round", 5)
    assert found.because == (how, SAID.format(how))


@pytest.mark.rule("IMPT-05")
def test_its_import_and_a_later_round_close_it_too() -> None:
    found = derive(run(FINDING, 4, round_04="close")).next
    assert found.because[0] == "closed by its import"
    later = {**FINDING, f"{FOLDER}/round-05/x.md": b"x"}
    seen = survey(run(later, 4, 5, round_05="close"))
    assert seen.state.next.round == 6


@pytest.mark.rule("IMPT-05", "IMPT-07")
def test_one_that_is_taken_over_sends_nobody_else_and_is_never_clean() -> None:
    theirs = {f"{ROUND}/sec-claude.F01.md": runs.finding("sec-claude", round=4, step="questions")}
    found = survey(run(theirs, 4, round_04="take-over"))
    answer = found.state.next
    assert (answer.action, answer.missing) == ("verify", ("sec-claude.F01",))
    assert [one.message for one in found.state.warnings if one.code == "made-elsewhere"] == [
        f"{ROUND} was made elsewhere and has nothing of quality-claude: nobody is sent for it, it "
        "is never clean, and a round of everybody follows"
    ]
    dropped = {f"{ROUND}/quality-claude.finding-F01.score.yml": runs.score(5)}
    files = {
        **FINDING,
        **dropped,
        f"{ROUND}-verified.md": b"theirs\n",
        f"{ROUND}-scope-set.txt": b"",
    }
    after = survey(run(files, 4, round_04="take-over"))
    assert after.loop is not None
    assert (after.loop.stage, after.loop.clean) == ("closed", False)
    assert (after.state.next.action, after.state.next.round) == ("prepare-round", 5)


@pytest.mark.rule("IMPT-04")
def test_what_import_md_does_not_list_stays_blocked() -> None:
    for tree in (run(FINDING), run(FINDING, 3)):
        found = derive(tree).next
        assert (found.action, found.command) == ("blocked", f"qrspi import docs/qrspi/{runs.RUN}")


def clean_round(number: int, text: bytes) -> dict[str, bytes]:
    folder = f"{FOLDER}/round-{number:02d}"
    return {
        f"{folder}/.dispatch-manifest.json": runs.manifest("questions", number, body=text),
        f"{folder}/quality-claude.clean.md": runs.clean("quality-claude", number),
        f"{folder}/scope-claude.clean.md": runs.clean("scope-claude", number),
    }


@pytest.mark.rule("IMPT-08")
def test_a_step_with_imported_rounds_never_approves_itself() -> None:
    files = {
        **clean_round(1, runs.artifact(body=runs.ASKING)),
        f"{FOLDER}/round-01-verified.md": b"",
        f"{FOLDER}/round-01-scope-set.txt": b"# total_findings_kept: 0\n",
    }
    found = survey(run(files)).loop
    assert found is not None
    files[f"{FOLDER}/round-01-verified.md"] = found.verified
    assert [derive(run(files, *more)).next.kind for more in ((), (9,))] == ["cascade", "approve"]


@pytest.mark.rule("IMPT-08")
def test_their_findings_take_part_in_the_lineage() -> None:
    files = {**FINDING, **clean_round(5, runs.artifact(body=runs.ASKING))}
    tree = run(files, 4)
    config = survey(tree).facts
    assert config is not None
    rounds = finding_history.chronicle(tree, subject_of("questions"), config.config, 0)
    assert [(one.number, len(one.records)) for one in rounds] == [(4, 1), (5, 0)]


@pytest.mark.rule("IMPT-08")
@pytest.mark.parametrize(
    ("path", "highest"),
    [
        (f"{FOLDER}/round-07-fanout/x.md", 7),
        (f"{FOLDER}/round-08-review-of-everything.md", 8),
        ("reviews/questions-loop-pause-round-09.md", 9),
        ("reviews/questions-loop-escape-round-10.md", 10),
        ("reviews/plan-loop-pause-round-11.md", 4),
        (f"{FOLDER}/round-12.diff", 4),
        (f"{FOLDER}/round-13-results.md", 4),
        (f"{FOLDER}/round-14-since.diff", 4),
    ],
)
def test_numbers_go_past_whatever_has_one(path: str, highest: int) -> None:
    tree = run({**FINDING, path: b"x"}, 4)
    assert round_list.highest(tree, subject_of("questions")) == highest


@pytest.mark.rule("IMPT-02")
def test_a_pause_file_that_decides_about_a_whole_round_is_read_as_a_claim() -> None:
    scope = {f"{ROUND}/quality-claude.finding-F01.md": runs.finding(round=4, kind="scope")}
    said = b"---\nstatus: resolved\nresolution: skip\nresolved_by: Daniel\n---\n"
    files = {**scope, "reviews/questions-loop-pause-round-04.md": said}
    loop = survey(run(files, 4, round_04="take-over")).loop
    assert loop is not None and loop.pause is not None
    assert loop.pause.decisions == {"quality-claude.R4-F01": "skip"}
    assert loop.unrecorded == ("quality-claude.R4-F01",)
