"""Replies and chats become files: all of them or none, also when the command is killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi.core.errors import Misuse
from qrspi.handlers.jobs.job import Options
from qrspi.handlers.rounds import printed_reply
from qrspi.handlers.rounds.printed_reply import Source, TakenReply
from qrspi.world.runs.dry_run import DryRunWorkspace
from tests import runs
from tests.handlers import reviewing
from tests.handlers.refusals import halt, refusal
from tests.handlers.reviewing import Reviewing, about

ROUND = "reviews/design/round-01"
TAG = "quality-claude"
EDGE = b"<<<FINDING-BOUNDARY>>>\n"
ONE, TWO = (runs.finding(number=at, step="design", cites="design.md:L7") for at in (1, 2))
F01, F02 = (f"{ROUND}/{TAG}.finding-F0{at}.md" for at in (1, 2))
MARKER = f"{ROUND}/.{TAG}.split"


@pytest.fixture
def project(tmp_path: Path) -> Reviewing:
    project = reviewing.make(tmp_path / "shop")
    project.prepare()
    return project


def split(project: Reviewing, reply: bytes, tag: str = TAG) -> TakenReply:
    source = Source(about("design"), 1, tag, reply)
    return printed_reply.split(project.workspace(), source, Options())


def take(project: Reviewing, reply: bytes, tag: str = TAG) -> TakenReply:
    source = Source(about("design"), 1, tag, reply)
    return printed_reply.ingest(project.workspace(), source, Options())


@pytest.mark.rule("SPL-02", "SPL-04")
def test_each_finding_becomes_a_file(project: Reviewing) -> None:
    done = split(project, EDGE + ONE + EDGE + TWO).done
    assert (project.data(F01), project.data(F02)) == (ONE, TWO)
    assert done.files == (F01, F02)
    assert MARKER not in project.there()
    (line,) = project.trail()[1:]
    assert (line["event"], line["round"]) == ("split", 1)
    assert {file["path"] for file in line["files"]} >= {F01, F02}


@pytest.mark.rule("SPL-01")
def test_nothing_found_becomes_a_clean_sentinel(project: Reviewing) -> None:
    assert split(project, b"NO_FINDINGS\n").split.clean
    assert project.data(f"{ROUND}/{TAG}.clean.md") == runs.clean(TAG)


@pytest.mark.rule("SPL-03")
@pytest.mark.parametrize("reply", [b"", b"\n", b"I looked at it and it is fine.\n", b"no_findings"])
def test_what_says_neither_leaves_no_file(project: Reviewing, reply: bytes) -> None:
    before = project.there()
    refusal(split, project, reply)
    assert project.there() == before


@pytest.mark.rule("SPL-05")
def test_a_reviewer_that_has_files_is_not_split_over(project: Reviewing) -> None:
    project.write(f"{ROUND}/{TAG}.clean.md", runs.clean(TAG))
    assert refusal(split, project, EDGE + ONE).problem.code == "already-there"
    assert F01 not in project.there()


@pytest.mark.parametrize("tag", ["", "a/b", "../x", "quality claude", ".x"])
def test_a_tag_is_a_name(project: Reviewing, tag: str) -> None:
    with pytest.raises(Misuse):
        split(project, b"NO_FINDINGS", tag)


class TestACutShortSplit:
    """The marker holds the whole reply; readers see nothing of the reviewer while it is there."""

    @pytest.fixture
    def cut(self, project: Reviewing) -> Reviewing:
        project.write(MARKER, EDGE + ONE + EDGE + TWO)
        project.write(F01, ONE)
        return project

    @pytest.mark.rule("SPL-04")
    def test_next_finishes_it(self, cut: Reviewing) -> None:
        done = cut.next().performed
        assert done[0].handler == "finish-split"
        assert done[0].notes == (f"{ROUND}: a split of {TAG} that was cut short is finished",)
        assert (cut.data(F01), cut.data(F02)) == (ONE, TWO)
        assert MARKER not in cut.there()

    @pytest.mark.rule("SPL-04")
    def test_so_does_assembling(self, cut: Reviewing) -> None:
        assert [item.code for item in refusal(cut.assemble).more] == [
            "missing_output",
            "missing_sidecar",
            "missing_sidecar",
        ]
        assert cut.data(F02) == TWO

    @pytest.mark.rule("SPL-04")
    def test_splitting_again_finds_the_first_one_finished(self, cut: Reviewing) -> None:
        assert refusal(split, cut, EDGE + ONE).problem.code == "already-there"
        assert cut.data(F02) == TWO

    @pytest.mark.rule("SPL-04")
    def test_looking_leaves_it(self, cut: Reviewing) -> None:
        from qrspi.handlers.rounds import round_results

        found = round_results.check(cut.workspace(), about("design"), None)
        assert [item.found for item in found.violations] == [TAG, "scope-claude"]
        assert MARKER in cut.there()

    @pytest.mark.rule("SPL-04")
    def test_a_marker_that_says_nothing_takes_the_split_back(self, cut: Reviewing) -> None:
        cut.write(MARKER, b"")
        done = cut.next().performed
        assert done[0].notes == (f"{ROUND}: a split of {TAG} that was cut short is taken back",)
        assert not {F01, F02, MARKER} & cut.there()

    @pytest.mark.rule("SPL-04", "FND-12")
    def test_a_marker_that_is_no_file_is_left_alone(self, project: Reviewing) -> None:
        (project.run / MARKER).mkdir()
        outcome = project.next()
        assert "finish-split" not in [item.handler for item in outcome.performed]


CHAT = b"""Sure, here is what I found.

```markdown
%b```

And another one:

```markdown
%b```

Shall I fix them?
"""


class TestIngest:
    @pytest.mark.rule("PRF-02")
    def test_a_chat_is_split_and_kept(self, project: Reviewing) -> None:
        text = CHAT % (ONE, TWO)
        found = take(project, text)
        assert (project.data(F01), project.data(F02)) == (ONE, TWO)
        assert found.original == f"{ROUND}-ingested-{TAG}.txt"
        assert project.data(found.original) == text
        assert found.done.notes == (
            f"the text of {TAG} has 3 lines outside its findings; only the kept original has them",
        )

    @pytest.mark.rule("PRF-02", "FND-08")
    def test_one_file_with_many_findings(self, project: Reviewing) -> None:
        found = take(project, ONE + b"\n" + TWO)
        assert (project.data(F01), project.data(F02)) == (ONE, TWO)
        assert found.done.notes == ()

    @pytest.mark.rule("PRF-02")
    def test_a_reply_as_split_takes_it(self, project: Reviewing) -> None:
        take(project, EDGE + ONE)
        assert project.data(F01) == ONE

    @pytest.mark.rule("PRF-02")
    def test_one_that_the_guard_would_refuse_is_not_taken_in(self, project: Reviewing) -> None:
        before = project.there()
        refused = refusal(
            take, project, ONE + TWO.replace(b"R1-F02", b"R1-F01").replace(b"medium", b"grave")
        )
        assert str(refused) == (
            f"the text of {TAG} has 1 violation, so nothing is taken in: correct it first"
        )
        assert [item.code for item in refused.more] == ["bad_enum"]
        assert project.there() == before

    @pytest.mark.rule("PRF-02")
    def test_files_of_the_round_are_compared_with_it(self, project: Reviewing) -> None:
        assert [
            item.code
            for item in refusal(take, project, ONE + TWO.replace(b"R1-F02", b"R1-F01")).more
        ] == ["duplicate_finding_id"]

    @pytest.mark.rule("PRF-02", "MTX-02")
    def test_a_stranger_is_not_taken_in(self, project: Reviewing) -> None:
        refused = refusal(take, project, ONE.replace(TAG.encode(), b"spec-claude"), "spec-claude")
        assert [item.code for item in refused.more] == ["unrouted_tag"]

    @pytest.mark.parametrize("text", [b"Nothing here.\n", b"---\ntitle: x\n---\n", b"\xff\xfe"])
    def test_a_text_without_findings(self, project: Reviewing, text: bytes) -> None:
        before = project.there()
        refusal(take, project, text)
        assert project.there() == before

    @pytest.mark.rule("PRF-02")
    def test_every_original_is_kept(self, project: Reviewing) -> None:
        take(project, ONE)
        (project.run / F01).unlink()
        assert take(project, ONE).original == f"{ROUND}-ingested-{TAG}.txt"
        (project.run / F01).unlink()
        assert take(project, ONE + TWO).original == f"{ROUND}-ingested-{TAG}-02.txt"

    @pytest.mark.rule("PRF-02", "CMT-06")
    def test_the_original_travels_with_the_run(self, project: Reviewing) -> None:
        original = take(project, ONE).original
        project.write(f"{F01.removesuffix('.md')}.score.yml", runs.score(90))
        project.write(f"{ROUND}/scope-claude.clean.md", runs.clean("scope-claude"))
        project.settle()
        project.close(1, "# Design\n\n## Approach\n\nBetter.\n")
        assert original in project.git("show", "--name-only", "--format=")

    def test_a_closed_round_takes_nothing(self, project: Reviewing) -> None:
        project.hand_in(clean=(TAG, "scope-claude"))
        project.settle()
        assert str(refusal(take, project, ONE)) == (
            "round 01 of design is closed (no finding was kept): nothing is added to it"
        )


@pytest.mark.rule("OUT-10")
def test_a_rehearsal_writes_nothing(project: Reviewing) -> None:
    before = project.there()
    source = Source(about("design"), 1, TAG, ONE)
    done = printed_reply.ingest(DryRunWorkspace(project.run), source, Options(dry_run=True)).done
    assert done.files == (F01, f"{ROUND}-ingested-{TAG}.txt")
    assert project.there() == before


@pytest.mark.rule("ENG-05")
def test_a_directory_that_cannot_be_listed_halts(project: Reviewing) -> None:
    (project.run / "elsewhere").mkdir()
    place = project.run / "reviews/design/round-02"
    place.symlink_to(project.run / "elsewhere")
    source = Source(about("design"), 2, TAG, ONE)
    halt(printed_reply.split, project.workspace(), source._replace(data=b"NO_FINDINGS"), Options())
