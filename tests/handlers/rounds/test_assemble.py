"""From checked files to the verified file, the scope set and the pause file: byte by byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi import engine
from qrspi.handlers.jobs.job import Options
from qrspi.handlers.rounds import round_commands, round_results
from qrspi.handlers.rounds.round_results import Checked
from tests import runs
from tests.handlers import reviewing
from tests.handlers.refusals import refusal
from tests.handlers.reviewing import Reviewing, about, files

ROUND = "reviews/design/round-01"
VERIFIED = f"{ROUND}-verified.md"
SCOPE = f"{ROUND}-scope-set.txt"
PAUSE = "reviews/design-loop-pause-round-01.md"
QUALITY = "quality-claude.finding-F01"


@pytest.fixture
def project(tmp_path: Path) -> Reviewing:
    project = reviewing.make(tmp_path / "shop")
    project.prepare()
    return project


def check(project: Reviewing, step: str = "design", number: int | None = None) -> Checked:
    return round_results.check(project.workspace(), about(step), number)


def codes(project: Reviewing) -> list[str]:
    return [item.code for item in check(project).violations]


@pytest.mark.rule("ASM-01", "ASM-02", "VER-02")
def test_the_verified_file_and_the_list_of_kept_findings(project: Reviewing) -> None:
    project.hand_in(("## Approach", 90), ("## Risks", 40))
    found = project.assemble()
    kept, dropped = (project.data(f"{ROUND}/quality-claude.finding-F0{at}.md") for at in (1, 2))
    assert project.data(VERIFIED) == b"".join(
        (
            b"---\nverifier_enabled: true\nscored: 2\nkept: 1\ndropped: 1\nfailed: 0\nclean: 1\n",
            b"---\n\n",
            b"<!-- @@FINDING: quality-claude.finding-F01 @@ -->\n" + kept,
            b"<!-- @@SCORE: quality-claude.finding-F01.score @@ -->\n" + runs.score(90),
            b"<!-- @@FINDING: quality-claude.finding-F02 @@ -->\n" + dropped,
            b"<!-- @@SCORE: quality-claude.finding-F02.score @@ -->\n" + runs.score(40),
            b"<!-- @@CLEAN: scope-claude.clean @@ -->\n" + runs.clean("scope-claude"),
        )
    )
    assert project.data(f"{ROUND}/kept-findings.txt").decode() == f"{ROUND}/{QUALITY}.md\n"
    assert found.done.files == (VERIFIED, f"{ROUND}/kept-findings.txt")


@pytest.mark.rule("RND-03", "ENG-07")
def test_what_is_derived_can_be_deleted_and_rebuilt(project: Reviewing) -> None:
    project.hand_in(("## Approach", 90), kind="scope")
    options = Options()
    engine.advance(project.workspace(), options)
    rebuilt = (VERIFIED, f"{ROUND}/kept-findings.txt")
    first = [project.data(name) for name in rebuilt]
    for name in rebuilt:
        (project.run / name).unlink()
    engine.advance(project.workspace(), options)
    assert [project.data(name) for name in rebuilt] == first


@pytest.mark.rule("RND-03")
def test_a_forged_verified_file_of_an_open_round_is_replaced(project: Reviewing) -> None:
    project.hand_in(("## Approach", 90))
    project.assemble()
    honest = project.data(VERIFIED)
    project.write(VERIFIED, b"---\nkept: 0\n---\n")
    project.assemble()
    assert project.data(VERIFIED) == honest


@pytest.mark.rule("RND-03")
def test_a_closed_round_is_left_as_it_is(project: Reviewing) -> None:
    project.hand_in(("## Approach", 90))
    project.settle()
    project.close(1, "# Design\n\n## Approach\n\nBetter.\n")
    project.write(VERIFIED, b"whatever\n")
    found = project.assemble()
    assert project.data(VERIFIED) == b"whatever\n"
    assert (found.tally.kept, found.file, found.done.files) == (1, VERIFIED, ())
    assert found.done.notes == ("round 01 of design is closed: its verified file is left as it is",)


@pytest.mark.rule("FND-09", "GRD-02")
def test_newlines_are_put_right_by_assembling_and_by_nothing_else(project: Reviewing) -> None:
    project.hand_in(("## Approach", 90))
    whole = project.data(f"{ROUND}/{QUALITY}.md")
    project.write(f"{ROUND}/{QUALITY}.md", whole.rstrip())
    project.write(f"{ROUND}/scope-claude.clean.md", runs.clean("scope-claude") + b"\n\n")
    warned = [item.code for item in check(project).warnings]
    assert warned == ["newline_normalised", "newline_normalised"]
    assert project.data(f"{ROUND}/{QUALITY}.md") == whole.rstrip()
    notes = project.assemble().done.notes
    assert project.data(f"{ROUND}/{QUALITY}.md") == whole
    assert project.data(f"{ROUND}/scope-claude.clean.md") == runs.clean("scope-claude")
    assert notes == (
        f"{ROUND}/{QUALITY}.md: the last newline was normalised",
        f"{ROUND}/scope-claude.clean.md: the last newline was normalised",
    )


@pytest.mark.rule("GRD-01", "GRD-02", "ASM-03")
def test_a_round_with_violations_is_not_assembled(project: Reviewing) -> None:
    project.hand_in(("## Approach", 90), clean=())
    (project.run / f"{ROUND}/{QUALITY}.score.yml").unlink()
    before = project.there()
    refused = refusal(project.assemble)
    assert str(refused) == f"{ROUND}: 2 violations, so nothing is assembled"
    assert [item.message for item in refused.more] == [
        "Reviewer scope-claude produced no output",
        "Sidecar missing for finding quality-claude.R1-F01",
    ]
    assert project.there() == before


@pytest.mark.rule("GRD-02")
def test_checking_writes_nothing(project: Reviewing) -> None:
    project.hand_in(("## Approach", 90))
    project.write(f"{ROUND}/{QUALITY}.md", project.data(f"{ROUND}/{QUALITY}.md").rstrip())
    before = {path: path.lstat().st_mtime_ns for path in project.run.rglob("*")}
    assert codes(project) == codes(project) == []
    assert {path: path.lstat().st_mtime_ns for path in project.run.rglob("*")} == before


@pytest.mark.rule("FLR-01", "ASM-03")
def test_what_a_person_skipped_is_only_a_warning(project: Reviewing) -> None:
    project.hand_in(("## Approach", 90), clean=())
    (project.run / f"{ROUND}/{QUALITY}.score.yml").unlink()
    project.write(f"{ROUND}-verifier-disabled.md", "---\nreason: x\n---\n")
    found = check(project)
    assert (found.violations, [item.code for item in found.warnings]) == (
        (),
        ["missing_output", "missing_sidecar"],
    )
    done = project.assemble()
    assert (done.tally.kept, done.tally.dropped) == (1, 0)
    assert [item.verdict for item in done.triaged] == ["propose"]


@pytest.mark.rule("ST-04")
def test_a_round_from_elsewhere_is_read_by_the_matrix(tmp_path: Path) -> None:
    """No manifest, no route, no model routing: the settings that are used are enough."""
    config = runs.config(drop=["route", "model_routing", "pipeline"])
    project = reviewing.make(tmp_path / "shop", {"config.md": config}, git=False)
    project.hand_in(("## Approach", 90))
    found = check(project)
    assert (found.violations, found.expected_tags) == ((), ("quality-claude", "scope-claude"))
    assert project.assemble().tally.kept == 1
    assert (project.run / VERIFIED).exists()


@pytest.mark.rule("ST-04", "CFG-06", "CFG-14")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("second_reviewer: maybe", "config.md: second_reviewer is `maybe`; expected true or false"),
        ("verifier_enabled: yes", "config.md: verifier_enabled is `yes`; expected true or false"),
    ],
)
def test_but_no_setting_that_decides_is_guessed(tmp_path: Path, line: str, message: str) -> None:
    key, value = line.split(": ")
    config = runs.config(**{key: value})
    project = reviewing.make(tmp_path / "shop", {"config.md": config}, git=False)
    project.hand_in(("## Approach", 90))
    assert str(refusal(check, project)) == message


@pytest.mark.rule("CFG-01")
def test_a_task_from_elsewhere_needs_its_review_depth(tmp_path: Path) -> None:
    project = reviewing.make(tmp_path / "shop", {"config.md": runs.config()}, git=False)
    project.write("reviews/tasks/task-01/round-01/spec-claude.clean.md", runs.clean("spec-claude"))
    assert refusal(check, project, "task-01").problem.field == "review_depth"


def test_a_round_that_is_not_there(project: Reviewing) -> None:
    assert str(refusal(check, project, number=4)) == (
        "2026-05-17-user-auth has no round 04 of design: `qrspi next 2026-05-17-user-auth` opens "
        "rounds when they are due"
    )


def test_a_manifest_that_cannot_be_read_is_a_violation(project: Reviewing) -> None:
    project.hand_in(("## Approach", 90))
    project.write(f"{ROUND}/.dispatch-manifest.json", b"{")
    (found,) = check(project).violations
    assert (found.code, found.file) == ("unreadable", f"{ROUND}/.dispatch-manifest.json")
    refusal(project.assemble)


@pytest.mark.rule("CFG-08")
def test_assembling_writes_the_verifier_back_and_scoping_the_tagger(tmp_path: Path) -> None:
    config = runs.config(drop=["verifier_enabled", "scope_tagger_enabled"])
    project = reviewing.make(tmp_path / "shop", {"config.md": config}, git=False)
    project.hand_in(("## Approach", 90))
    check(project)
    round_commands.converge(project.workspace(), about("design"), None)
    assert project.data("config.md") == config
    head = config.removesuffix(b"---\n")
    assert project.assemble().done.notes == (
        "verifier_enabled missing from config.md — backfilling default 'true' for this run",
    )
    assert project.data("config.md") == head + b"verifier_enabled: true\n---\n"
    assert project.scope().done.notes[0] == (
        "scope_tagger_enabled missing from config.md — backfilling default 'true' for this run"
    )
    assert project.data("config.md").endswith(
        b"verifier_enabled: true\nscope_tagger_enabled: true\n---\n"
    )


@pytest.mark.rule("CFG-08")
def test_next_writes_all_that_are_missing_before_it_does_anything(tmp_path: Path) -> None:
    fields = ("verifier_enabled", "scope_tagger_enabled", "visual_fidelity_required")
    config = runs.config(drop=fields)
    project = reviewing.make(tmp_path / "shop", files({"config.md": config}))
    done = project.next().performed
    assert [item.handler for item in done][:2] == ["backfill", "prepare-round"]
    assert project.data("config.md") == config.removesuffix(b"---\n") + (
        b"verifier_enabled: true\nscope_tagger_enabled: true\n"
        b"visual_fidelity_required: false\n---\n"
    )


@pytest.mark.rule("PSE-01")
def test_what_waits_for_a_person_is_on_file(project: Reviewing) -> None:
    project.hand_in(("## Approach", 10), kind="scope")
    found = project.assemble()
    assert [item.verdict for item in found.triaged] == ["pause"]
    assert found.done.files[-1] == PAUSE
    assert b"  quality-claude.R1-F01: pending\n" in project.data(PAUSE)
    once = project.data(PAUSE)
    project.write(PAUSE, once.replace(b"pending", b"apply"))
    assert PAUSE not in project.assemble().done.files
    assert project.data(PAUSE) == once.replace(b"pending", b"apply")


class TestScope:
    @pytest.mark.rule("SCP-01", "SCP-02", "SCP-05")
    def test_it_names_the_parts_that_kept_findings_are_about(self, project: Reviewing) -> None:
        project.hand_in(("## Risks", 90), ("## Approach", 95), ("goals.md:L3", 90))
        found = project.scope()
        assert project.data(SCOPE).decode() == (
            "# scope-set for round 1\n# generated_by: qrspi\n# total_findings_kept: 3\n"
            "# warning: quality-claude.R1-F03: it does not cite design.md, so it counts for the "
            "whole artifact\n## Risks\n## Approach\n<full>\n"
        )
        assert found.tags == ("## Risks", "## Approach", "<full>")
        assert found.done.notes == (
            "Round 01: tagger fell back to <full> for 1 finding(s) — reviewer omitted line-range "
            "citation OR artifact has no H2 headings. See round-01-scope-set.txt warnings.",
        )

    @pytest.mark.rule("SCP-07", "SCP-08")
    def test_it_is_written_once(self, project: Reviewing) -> None:
        project.hand_in(("## Risks", 90))
        project.scope()
        project.write("design.md", reviewing.text("# Design\n\n## Elsewhere\n\nAll new.\n"))
        assert project.scope().tags == ("## Risks",)
        project.hand_in(("## Risks", 90), ("## Approach", 90))
        assert project.scope().done.files == (SCOPE,)

    @pytest.mark.rule("SCP-08")
    def test_zero_kept_findings_leave_a_header(self, project: Reviewing) -> None:
        project.hand_in(("## Risks", 10))
        project.scope()
        assert project.data(SCOPE) == (
            b"# scope-set for round 1\n# generated_by: qrspi\n# total_findings_kept: 0\n"
        )

    @pytest.mark.rule("SCP-04")
    def test_one_from_outside_stands_with_its_newline_put_right(self, project: Reviewing) -> None:
        project.hand_in(("## Risks", 90))
        project.write(SCOPE, b"# by hand\n## Elsewhere  \n\n\n")
        found = project.scope()
        assert (found.tags, found.done.notes) == (
            ("## Elsewhere",),
            (f"{SCOPE}: the last newline was normalised",),
        )
        assert project.data(SCOPE) == b"# by hand\n## Elsewhere  \n"

    @pytest.mark.rule("SCP-04")
    def test_next_puts_it_right_as_well(self, project: Reviewing) -> None:
        project.hand_in(("## Risks", 90))
        project.write(SCOPE, b"## Elsewhere")
        project.next()
        assert project.data(SCOPE) == b"## Elsewhere\n"

    @pytest.mark.rule("SCP-04")
    def test_one_that_is_malformed_is_refused(self, project: Reviewing) -> None:
        project.hand_in(("## Risks", 90))
        project.write(SCOPE, b"the risks, mostly\n")
        assert str(refusal(project.scope)) == (
            "Scope-tagger emitted malformed scope-set for round 01: tag line 'the risks, mostly' "
            "has neither file-path shape nor ## prefix nor <full> literal"
        )

    @pytest.mark.rule("SCP-06")
    def test_a_run_without_a_tagger_has_none(self, tmp_path: Path) -> None:
        project = reviewing.make(tmp_path / "shop", files(scope_tagger_enabled="false"))
        project.prepare()
        project.hand_in(("## Risks", 90))
        found = project.scope()
        assert (found.tags, found.file, found.done.files) == ((), None, ())
        assert not (project.run / SCOPE).exists()

    @pytest.mark.rule("SCP-02")
    def test_a_path_in_the_run_is_one_tag_however_it_is_cited(self, tmp_path: Path) -> None:
        project = reviewing.make(
            tmp_path / "shop", {"config.md": runs.config(), "research/summary.md": b"# R\n"}
        )
        folder = "reviews/research/round-01"
        cites = (
            "research/q01-codebase.md:L1",
            "docs/qrspi/2026-05-17-user-auth/research/q01-codebase.md:L9",
            f"{project.run}/research/q01-codebase.md:3",
            "src/app.py:L1",
            "../../../etc/passwd:L1",
        )
        for at, cited in enumerate(cites, 1):
            data = runs.finding(number=at, step="research", kind="intent", cites=cited)
            project.write(f"{folder}/quality-claude.finding-F{at:02d}.md", data)
        assert project.scope("research").tags == (
            "research/q01-codebase.md",
            "src/app.py",
            "<full>",
        )


@pytest.mark.rule("AUD-01", "GRD-02")
def test_what_was_changed_before_a_refusal_is_on_the_trail(project: Reviewing) -> None:
    project.write("config.md", runs.config(drop=["verifier_enabled"]))
    refusal(project.assemble)
    line = project.trail()[-1]
    assert [file["path"] for file in line["files"]] == ["config.md"]
    assert line["outcome"] == f"stopped: {ROUND}: 2 violations, so nothing is assembled"
