"""The dispatch folder: one dispatcher at a time, whole answers, no way out of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi.core.agents.dispatch_record import Record
from qrspi.core.errors import Busy, Halt, Refusal
from qrspi.world.agents import dispatch_folder

PLACE = ".qrspi/dispatch/goals/round-01/quality-claude"
RECORD = Record("0" * 64, "quality-claude")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "2026-05-17-user-auth"
    folder.mkdir()
    return folder


def test_records_and_replies_are_kept_side_by_side(run: Path) -> None:
    with dispatch_folder.held(str(run), 1, "qrspi next") as box:
        assert (box.record(PLACE), box.reply(PLACE)) == (None, None)
        box.keep(PLACE, RECORD)
        box.capture(PLACE, b"first")
        answer = box.capture(PLACE, b"second")
        assert (box.record(PLACE), box.reply(PLACE)) == (RECORD._replace(answer=answer), b"second")
        box.discard([PLACE])
        assert box.reply(PLACE) is None
        box.discard([PLACE, ".qrspi/dispatch/design/author"])
    names = [file.name for file in (run / ".qrspi/dispatch/goals/round-01").iterdir()]
    assert names == ["jobs.jsonl"]
    assert dispatch_folder.read_records(str(run), PLACE.rpartition("/")[0]) == {
        "quality-claude": RECORD._replace(answer=answer)
    }
    assert (run / ".qrspi/.gitignore").read_text() == "*\n"


def test_prompts_are_whole_files_and_replace_what_was_there(run: Path) -> None:
    other = ".qrspi/dispatch/goals/author"
    folder = run / PLACE.rpartition("/")[0]
    with dispatch_folder.held(str(run), 1, "qrspi next") as box:
        box.prompts({PLACE: b"old", other: b"write"}.items())
        (folder / ".quality-claude.md.part").write_bytes(b"of a killed command")
        box.prompts({PLACE: b"new"}.items())
    box.prompts({PLACE: b"after the end"}.items())
    assert [file.name for file in folder.iterdir()] == ["quality-claude.md"]
    assert (run / f"{PLACE}.md").read_bytes() == b"new"
    assert (run / f"{other}.md").read_bytes() == b"write"


def test_the_newest_line_counts(run: Path) -> None:
    with dispatch_folder.held(str(run), 1, "qrspi next") as box:
        box.keep(PLACE, RECORD)
        box.keep_all({PLACE: RECORD._replace(state="taken")})
        assert box.record(PLACE) == RECORD._replace(state="taken")
    log = run / PLACE.rpartition("/")[0] / "jobs.jsonl"
    log.write_text(log.read_text() + '{"name": "quality-claude"}\n{torn')
    with dispatch_folder.held(str(run), 1, "qrspi next") as box:
        assert box.record(PLACE) == RECORD._replace(state="taken")
        box.keep(PLACE, RECORD)
        assert box.record(PLACE) == RECORD
    assert dispatch_folder.read_records(str(run), PLACE.rpartition("/")[0]) == {
        "quality-claude": RECORD
    }


@pytest.mark.rule("VLD-01")
def test_the_second_try_counts_when_there_was_one(run: Path) -> None:
    with dispatch_folder.held(str(run), 1, "qrspi next") as box:
        first = RECORD._replace(answer=box.capture(PLACE, b"first"))
        answer = box.capture(f"{PLACE}-again", b"second")
        assert box.answer(PLACE, first) == b"first"
        assert box.answer(PLACE, RECORD._replace(second_try=True, answer=answer)) == b"second"


@pytest.mark.rule("SEC-19")
def test_a_reply_that_is_not_what_came_back_is_none(run: Path) -> None:
    with dispatch_folder.held(str(run), 1, "qrspi next") as box:
        record = RECORD._replace(answer=box.capture(PLACE, b"first"))
        (run / f"{PLACE}.reply").write_bytes(b"forged")
        assert box.answer(PLACE, record) is None
        assert box.answer(PLACE, RECORD) is None


@pytest.mark.rule("MAN-02")
def test_there_is_one_dispatcher_at_a_time(run: Path) -> None:
    with (
        dispatch_folder.held(str(run), 1, "qrspi next"),
        pytest.raises(Busy) as caught,
        dispatch_folder.held(str(run), 0.01, "qrspi next"),
    ):
        pass
    assert caught.value.exit_code == 5
    with dispatch_folder.held(str(run), 1, "qrspi next"):
        pass


def test_what_comes_after_the_end_changes_nothing(run: Path) -> None:
    with dispatch_folder.held(str(run), 1, "qrspi next") as box:
        box.capture(PLACE, b"first")
        box.close()
        box.capture(PLACE, b"late")
    assert (run / f"{PLACE}.reply").read_bytes() == b"first"


def test_what_a_killed_dispatcher_left_half_written_is_in_nobodys_way(run: Path) -> None:
    part = run / ".qrspi/dispatch/goals/round-01/.quality-claude.reply.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"half")
    with dispatch_folder.held(str(run), 1, "qrspi next") as box:
        assert box.reply(PLACE) is None
        box.capture(PLACE, b"whole")
    assert (run / f"{PLACE}.reply").read_bytes() == b"whole"
    assert not part.exists()


@pytest.mark.rule("RUN-04", "SEC-01")
def test_no_symlink_leads_an_answer_elsewhere(run: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (run / ".qrspi").mkdir()
    (run / ".qrspi/dispatch").symlink_to(outside)
    with dispatch_folder.held(str(run), 1, "qrspi next") as box, pytest.raises(Refusal):
        box.capture(PLACE, b"reply")
    assert list(outside.iterdir()) == []


@pytest.mark.rule("SEC-02")
def test_a_reply_that_is_no_file_is_not_opened(run: Path) -> None:
    (run / f"{PLACE}.reply").mkdir(parents=True)
    with dispatch_folder.held(str(run), 1, "qrspi next") as box:
        assert box.reply(PLACE) is None
        with pytest.raises(Halt, match="cannot write"):
            box.capture(PLACE, b"reply")
