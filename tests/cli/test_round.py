"""`qrspi round`, `split`, `ingest`: whole outputs, documents held to their schemas."""

from __future__ import annotations

import json
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests import runs, scenes
from tests.cli.conftest import COMMAND, Call, Result
from tests.project import Project
from tests.scenes import complete, git

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
ROUND = "reviews/goals/round-01"
BODY = "# Goals\n\n## Approach\n\nWords.\n\n## Limits\n\nNone.\n"
TAGS = ["quality-claude", "scope-claude"]


def valid(result: Result) -> Any:
    """The document, which must be what its schema says."""
    document = result.json
    name = document["schema"].removeprefix("qrspi/").removesuffix("/v1")
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(document)
    return document


@pytest.fixture
def run(project: Path) -> Path:
    """A run at its goals, on a branch that left `main` after they were first written."""
    contents = {"config.md": runs.config(), "goals.md": runs.artifact(body=BODY)}
    folder = runs.on_disk(project, contents)
    git(project, "init", "-q", "-b", "main")
    git(project, "add", "--all")
    git(project, "commit", "-q", "-m", "start")
    git(project, "checkout", "-q", "-b", "work")
    return folder


def hand_in(run: Path, *findings: tuple[str, str, int], number: int = 1) -> None:
    """Findings of the first reviewer: kind, citation, score. The second found nothing."""
    folder = run / f"reviews/goals/round-{number:02d}"
    folder.mkdir(parents=True, exist_ok=True)
    for at, (kind, cites, score) in enumerate(findings, 1):
        stem = folder / f"quality-claude.finding-F{at:02d}"
        data = runs.finding(number=at, round=number, kind=kind, cites=cites)
        stem.with_name(f"{stem.name}.md").write_bytes(data)
        stem.with_name(f"{stem.name}.score.yml").write_bytes(runs.score(score))
    (folder / "scope-claude.clean.md").write_bytes(runs.clean("scope-claude", number))


MIXED = (
    ("correctness", "goals.md:L7", 90),
    ("style", "goals.md:L11", 79),
    ("intent", "goals.md:L11", 5),
)


class TestPrepare:
    @pytest.mark.rule("OUT-02", "OUT-10")
    def test_as_a_person_sees_it(self, run: Path, qrspi: Call) -> None:
        told = (
            f"  {{}} {ROUND}.diff\n  {{}} {ROUND}/.dispatch-manifest.json\n"
            "Reviewers: quality-claude, scope-claude\n"
        )
        dry = qrspi("round", "prepare", "goals", "--dry-run")
        assert dry == Result(
            0,
            "Round 1 of goals would be prepared, compared with main.\n"
            + told.replace("{}", "would write"),
            "",
        )
        assert not (run / "reviews").exists()
        assert qrspi("round", "prepare", runs.RUN, "goals") == Result(
            0,
            "Round 1 of goals is prepared, compared with main.\n" + told.replace("{}", "wrote"),
            "",
        )

    @pytest.mark.rule("OUT-02", "DIF-06")
    def test_as_a_program_sees_it(self, run: Path, project: Path, qrspi: Call) -> None:
        assert valid(qrspi("round", "prepare", "goals", "--json")) == {
            "schema": "qrspi/round-prepare/v1",
            "run": runs.RUN,
            "step": "goals",
            "round": 1,
            "ref": "main",
            "ref_commit": git(project, "rev-parse", "main"),
            "diff_file": f"{ROUND}.diff",
            "expected_tags": TAGS,
            "manifest": f"{ROUND}/.dispatch-manifest.json",
            "files": [f"{ROUND}.diff", f"{ROUND}/.dispatch-manifest.json"],
        }

    @pytest.mark.rule("DIF-01")
    def test_an_untracked_artifact_is_three(self, run: Path, project: Path, qrspi: Call) -> None:
        path = f"docs/qrspi/{run.name}/goals.md"
        git(project, "rm", "-q", "--cached", "--", path)
        assert qrspi("round", "prepare", "goals") == Result(
            3,
            "",
            "artifact goals.md is untracked — commit before reviewer dispatch\n"
            f"  git add -- {path}\n",
        )

    @pytest.mark.rule("DIF-01")
    def test_a_directory_that_cannot_be_made_is_four(self, run: Path, qrspi: Call) -> None:
        (run / "reviews").write_text("")
        result = qrspi("round", "prepare", "goals", "--json")
        assert (result.code, valid(result)["message"]) == (4, "mkdir exited 20: Not a directory")

    @pytest.mark.rule("ST-04", "RUN-09")
    def test_prerequisites_are_named(self, run: Path, qrspi: Call) -> None:
        result = qrspi("round", "prepare", "design", "--json")
        assert (result.code, valid(result)["message"]) == (
            3,
            "design cannot be reviewed: approve goals.md, research/summary.md first",
        )

    @pytest.mark.rule("LIV-02")
    def test_no_round_is_opened_of_a_text_that_is_approved(self, run: Path, qrspi: Call) -> None:
        qrspi("approve", "goals", "--unreviewed")
        refused = qrspi("round", "prepare", "goals", "--anyway")
        back = f"qrspi unapprove {runs.RUN} goals"
        assert (refused.code, refused.err) == (
            3,
            f"no round of goals is opened: goals.md is approved, and `{back}` takes that back\n",
        )
        assert qrspi(*back.split()[1:]).code == 0
        assert qrspi("round", "prepare", "goals", "--anyway").code == 0

    @pytest.mark.rule("LIV-02")
    def test_no_round_is_opened_in_a_closed_run(self, run: Path, qrspi: Call) -> None:
        qrspi("close", runs.RUN, "-m", "Not wanted")
        refused = valid(qrspi("round", "prepare", runs.RUN, "goals", "--json"))
        assert refused["message"].startswith("no round of goals is opened: The run is closed since")
        assert refused["hint"] == f"qrspi reopen {runs.RUN}"
        assert not (run / ROUND).exists()

    @pytest.mark.rule("EVD-04")
    def test_the_same_text_again_needs_a_word(self, run: Path, qrspi: Call) -> None:
        qrspi("round", "prepare", "goals")
        for tag in TAGS:
            (run / ROUND / f"{tag}.clean.md").write_bytes(runs.clean(tag))
        qrspi("next")
        refused = qrspi("round", "prepare", "goals")
        assert refused.code == 3
        assert qrspi("round", "prepare", "goals", "--anyway").code == 0

    @pytest.mark.rule("EVD-04")
    def test_next_takes_the_same_word(self, run: Path, qrspi: Call) -> None:
        qrspi("next")
        for tag in TAGS:
            (run / ROUND / f"{tag}.clean.md").write_bytes(runs.clean(tag))
        assert qrspi("next", "--json").json["next"]["action"] == "approve"
        again = qrspi("next", "--anyway", "--json").json
        assert (again["next"]["action"], again["next"]["round"]) == ("review", 2)
        manifest = json.loads((run / "reviews/goals/round-02/.dispatch-manifest.json").read_text())
        assert manifest["anyway"] is True


class TestCheck:
    @pytest.mark.rule("GRD-01", "OUT-02")
    def test_violations_are_a_document_and_three(self, run: Path, qrspi: Call) -> None:
        hand_in(run, ("grave", "goals.md:L7", 90))
        result = qrspi("round", "check", "goals", "--json")
        document = valid(result)
        assert result.code == 3
        assert (document["ok"], document["expected_tags"]) == (False, TAGS)
        file = f"{ROUND}/quality-claude.finding-F01.md"
        expected = "style, clarity, correctness, scope or intent"
        assert document["violations"] == [
            {
                "code": "bad_enum",
                "file": file,
                "field": "change_type",
                "found": "grave",
                "expected": expected,
                "hint": "correct it in the file, or send the reviewer again",
                "message": f"{file}: change_type is 'grave'; expected {expected}",
            }
        ]

    @pytest.mark.rule("OUT-06")
    def test_in_words(self, run: Path, qrspi: Call) -> None:
        hand_in(run, ("correctness", "goals.md", 90))
        (run / ROUND / "scope-claude.clean.md").unlink()
        assert qrspi("round", "check", "goals") == Result(
            3,
            f"warning: {ROUND}/quality-claude.finding-F01.md: referenced_files cites 'goals.md' "
            "without a line range\n"
            "violation: Reviewer scope-claude produced no output\n"
            "  send the reviewer again\n"
            "Round 1 of goals: 1 violation.\n",
            "",
        )

    def test_a_good_round(self, run: Path, qrspi: Call) -> None:
        hand_in(run, *MIXED)
        assert qrspi("round", runs.RUN, "check", "goals") == Result(
            0, "Round 1 of goals: nothing is wrong.\n", ""
        )
        assert valid(qrspi("round", "check", "goals", "--round", "1", "--json"))["ok"] is True

    @pytest.mark.rule("GRD-02")
    def test_nothing_is_written_not_even_a_lock(self, run: Path, qrspi: Call) -> None:
        hand_in(run, *MIXED)
        before = sorted(run.rglob("*"))
        qrspi("round", "check", "goals")
        qrspi("round", "converge", "goals")
        qrspi("show", "goals")
        assert sorted(run.rglob("*")) == before


class TestAssemble:
    @pytest.mark.rule("OUT-02", "VER-02", "VER-03")
    def test_the_document(self, run: Path, qrspi: Call) -> None:
        hand_in(run, *MIXED)
        findings = [f"{ROUND}/quality-claude.finding-F0{at}.md" for at in (1, 2, 3)]
        assert valid(qrspi("round", "assemble", "goals", "--json")) == {
            "schema": "qrspi/round-assemble/v1",
            "run": runs.RUN,
            "step": "goals",
            "round": 1,
            "scored": 3,
            "kept": 2,
            "dropped": 1,
            "failed": 0,
            "clean": 1,
            "kept_findings": [findings[0], findings[2]],
            "dropped_findings": [findings[1]],
            "paused": ["quality-claude.R1-F03"],
            "proposed": [],
            "auto": ["quality-claude.R1-F01"],
            "file": f"{ROUND}-verified.md",
            "files": [
                f"{ROUND}-verified.md",
                f"{ROUND}/kept-findings.txt",
                "reviews/goals-loop-pause-round-01.md",
            ],
        }

    def test_in_words(self, run: Path, qrspi: Call) -> None:
        hand_in(run, *MIXED)
        assert qrspi("round", "assemble", "goals") == Result(
            0,
            "Round 1 of goals: 2 kept, 1 dropped, 0 failed, 1 clean.\n"
            f"  wrote {ROUND}-verified.md\n  wrote {ROUND}/kept-findings.txt\n"
            "  wrote reviews/goals-loop-pause-round-01.md\n"
            "waits for a person: quality-claude.R1-F03\n",
            "",
        )

    @pytest.mark.rule("GRD-02", "OUT-03")
    def test_violations_are_an_error_with_all_of_them(self, run: Path, qrspi: Call) -> None:
        hand_in(run, *MIXED)
        (run / ROUND / "quality-claude.finding-F01.score.yml").write_bytes(
            runs.score("VERIFY_FAILED")
        )
        result = qrspi("round", "assemble", "goals", "--json")
        document = valid(result)
        assert (result.code, document["code"]) == (3, "violations")
        assert [item["code"] for item in document["violations"]] == ["verify_failed"]
        assert qrspi("round", "assemble", "goals").err == (
            f"{ROUND}: 1 violation, so nothing is assembled\n"
            f"  qrspi round check {runs.RUN} goals --round 1\n"
            "  - Verifier returned VERIFY_FAILED for finding quality-claude.R1-F01\n"
        )

    @pytest.mark.rule("CFG-08")
    def test_a_backfill_is_said_on_stderr(self, run: Path, qrspi: Call) -> None:
        (run / "config.md").write_bytes(runs.config(drop=["verifier_enabled"]))
        hand_in(run, *MIXED)
        result = qrspi("round", "assemble", "goals", "--json")
        assert valid(result)["kept"] == 2
        assert result.err == (
            "verifier_enabled missing from config.md — backfilling default 'true' for this run\n"
        )

    @pytest.mark.rule("CFG-09")
    def test_a_backfill_that_cannot_be_written_stops(self, run: Path) -> None:
        config = runs.config(drop=["verifier_enabled"])
        (run / "config.md").write_bytes(config)
        hand_in(run, *MIXED)
        done = limited(["round", "assemble", "goals", "--json"], bytes_at_most=120)
        document = json.loads(done.stdout)
        assert (done.returncode, document["message"], document["options"][-1]) == (
            4,
            "failed to write verifier_enabled to config.md — resolve before continuing",
            "Abort",
        )
        assert (run / "config.md").read_bytes() == config
        assert not (run / f"{ROUND}-verified.md").exists()


def limited(words: list[str], bytes_at_most: int) -> subprocess.CompletedProcess[str]:
    """A process that cannot write longer files, as on a full disk, whoever it runs as."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_at_most, bytes_at_most))

    return subprocess.run(
        [COMMAND, *words], capture_output=True, text=True, timeout=60, preexec_fn=limit
    )


class TestScopeAndConverge:
    @pytest.mark.rule("OUT-02", "SCP-01")
    def test_scope(self, run: Path, qrspi: Call) -> None:
        hand_in(run, *MIXED)
        assert valid(qrspi("round", "scope", "goals", "--json")) == {
            "schema": "qrspi/round-scope/v1",
            "run": runs.RUN,
            "step": "goals",
            "round": 1,
            "tags": ["## Approach", "## Limits"],
            "warnings": [],
            "file": f"{ROUND}-scope-set.txt",
            "files": [f"{ROUND}-scope-set.txt"],
        }
        assert qrspi("round", "scope", "goals").out == (
            "Round 1 of goals is about 2 parts of the text.\n  ## Approach\n  ## Limits\n"
        )

    @pytest.mark.rule("SCP-06")
    def test_a_run_without_a_tagger(self, run: Path, qrspi: Call) -> None:
        (run / "config.md").write_bytes(runs.config(scope_tagger_enabled="false"))
        hand_in(run, *MIXED)
        assert qrspi("round", "scope", "goals").out == "Round 1 of goals keeps no scope set.\n"
        assert valid(qrspi("round", "scope", "goals", "--json"))["file"] is None

    @pytest.mark.rule("CNV-03", "CNV-13", "OUT-02")
    def test_before_there_is_any_round(self, run: Path, project: Path, qrspi: Call) -> None:
        assert valid(qrspi("round", "converge", "goals", "--json")) == {
            "schema": "qrspi/round-converge/v1",
            "run": runs.RUN,
            "step": "goals",
            "round": 1,
            "decision": "broaden",
            "rule": "CNV-03",
            "because": "the first two rounds look at everything",
            "ref": "main",
            "ref_commit": git(project, "rev-parse", "main"),
            "scope_hint": None,
            "diagnostics": [],
        }

    @pytest.mark.rule("CNV-08", "CNV-10", "CNV-12", "CNV-13")
    def test_sets_from_elsewhere(self, run: Path, project: Path, qrspi: Call) -> None:
        """Asking needs no round directory, only its sets and anchors."""
        git(project, "commit", "-q", "--allow-empty", "-m", "round 1")
        anchor = git(project, "rev-parse", "HEAD")
        git(project, "commit", "-q", "--allow-empty", "-m", "round 2")
        reviews = run / "reviews/goals"
        reviews.mkdir(parents=True)
        (reviews / "round-01-scope-set.txt").write_text("## Approach\n## Limits\n")
        (reviews / "round-02-scope-set.txt").write_text("## Limits\n")
        (reviews / "round-01-commit.txt").write_text(f"{anchor}\n")
        ask = ("round", "converge", "goals", "--round", "2")
        document = valid(qrspi(*ask, "--json"))
        assert (document["round"], document["decision"], document["rule"]) == (
            3,
            "narrow",
            "CNV-08",
        )
        assert (document["ref"], document["ref_commit"]) == ("HEAD~1", anchor)
        assert document["scope_hint"] == ["## Approach", "## Limits"]
        assert qrspi(*ask).out == (
            "Round 3 of goals would look at only the last fixes, compared with HEAD~1: the last "
            "round was about fewer parts than the one before.\n  ## Approach\n  ## Limits\n"
        )
        (reviews / "round-01-commit.txt").write_text("gone\n")
        document = valid(qrspi(*ask, "--json"))
        assert (document["rule"], document["ref"], document["scope_hint"]) == (
            "CNV-10",
            "main",
            None,
        )

    @pytest.mark.rule("CNV-02", "CNV-13")
    def test_asking_does_not_use_a_flag_up(self, run: Path, qrspi: Call) -> None:
        flag = run / f"{ROUND}-backward-loop.flag"
        flag.parent.mkdir(parents=True)
        flag.write_bytes(b"")
        assert (
            valid(qrspi("round", "converge", "goals", "--round", "1", "--json"))["rule"] == "CNV-02"
        )
        assert flag.exists()


class TestCommit:
    @pytest.fixture
    def fixed(self, run: Path, qrspi: Call) -> Path:
        qrspi("round", "prepare", "goals")
        hand_in(run, MIXED[0])
        qrspi("round", "assemble", "goals")
        qrspi("round", "scope", "goals")
        (run / "goals.md").write_bytes(runs.artifact(body=BODY.replace("Words", "Others")))
        (run / f"{ROUND}-dispositions.md").write_text("# Done\n")
        return run

    @pytest.mark.rule("CMT-02", "OUT-02", "OUT-10")
    def test_it_and_its_rehearsal(self, fixed: Path, project: Path, qrspi: Call) -> None:
        head = git(project, "rev-parse", "HEAD")
        assert qrspi("round", "commit", "goals", "--dry-run").out == (
            f"Round 1 of goals would be committed.\n  would write {ROUND}-commit.txt\n"
        )
        assert git(project, "rev-parse", "HEAD") == head
        document = valid(qrspi("round", "commit", "goals", "--json"))
        assert document == {
            "schema": "qrspi/round-commit/v1",
            "run": runs.RUN,
            "step": "goals",
            "round": 1,
            "commit": git(project, "rev-parse", "HEAD"),
            "files": [f"{ROUND}-commit.txt"],
        }
        again = qrspi("round", "commit", "goals")
        assert again.out == f"Round 1 of goals is on record: {document['commit']}.\n"

    @pytest.mark.rule("CMT-04")
    def test_adopting_your_own(self, fixed: Path, project: Path, qrspi: Call) -> None:
        refused = qrspi("round", "commit", "goals", "--adopt")
        assert refused.code == 3
        git(project, "add", "--all")
        git(project, "commit", "-q", "-m", "mine")
        head = git(project, "rev-parse", "HEAD")
        assert qrspi("round", "commit", "goals", "--adopt").out == (
            f"Round 1 of goals is commit {head}.\n  wrote {ROUND}-commit.txt\n"
        )

    @pytest.mark.rule("CMT-03")
    def test_a_hooks_words_and_four(self, fixed: Path, project: Path, qrspi: Call) -> None:
        words = "echo 'line one' >&2\necho 'line two' >&2\nexit 1"
        Project(project).hook("pre-commit", words)
        assert qrspi("round", "commit", "goals") == Result(
            4,
            "",
            "git commit exited 1: line one; line two\n"
            "  put right what git or its hook says, then run the same command again\n",
        )


@pytest.mark.rule("OUT-02")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check"], "a STEP is needed; expected one of "),
        (["check", "gaols"], "'gaols' is not a step; expected one of goals, questions, "),
        (["check", "a", "b", "c"], "too many words; expected qrspi round check [RUN] STEP"),
        (["check", "goals", "--round", "0"], "Invalid value for '--round': 0 is not in the range"),
        (["nothing"], "No such command 'nothing'"),
    ],
)
def test_usage_is_two(run: Path, qrspi: Call, words: list[str], message: str) -> None:
    result = qrspi("round", *words, "--json")
    assert (result.code, valid(result)["message"].startswith(message)) == (2, True)


@pytest.mark.rule("OUT-02", "LIV-02")
def test_show_of_a_complete_run_shows_its_last_step(tmp_path: Path, qrspi: Call) -> None:
    complete(tmp_path)
    result = qrspi("--root", str(tmp_path), "show", runs.RUN, "--json")
    assert (result.code, valid(result)["step"]) == (0, "goals")
    taken = qrspi("--root", str(tmp_path), "ingest", "-", "--tag", "x", "--json")
    answer = valid(taken)
    assert (taken.code, answer["message"], answer["expected"]) == (
        2,
        f"{runs.RUN} is at no step now; name one of goals",
        "goals",
    )


@pytest.mark.rule("MTX-04")
@pytest.mark.parametrize(
    ("step", "folder", "tag"),
    [
        ("implement-gate", "reviews/integration", "implement-gate-claude"),
        ("task-01", "reviews/tasks/task-01", "spec-claude"),
    ],
)
def test_a_step_may_be_a_gate_or_a_task(
    run: Path, qrspi: Call, step: str, folder: str, tag: str
) -> None:
    (run / "config.md").write_bytes(runs.config(review_depth="quick"))
    round_one = run / folder / "round-01"
    round_one.mkdir(parents=True)
    (round_one / f"{tag}.clean.md").write_bytes(runs.clean(tag))
    document = valid(qrspi("round", "check", step, "--round", "1", "--json"))
    assert document["expected_tags"][0] == tag
    assert {item["code"] for item in document["violations"]} <= {"missing_output"}


REPLY = b"<<<FINDING-BOUNDARY>>>\n".join((b"Hello.\n", runs.finding(), runs.finding(number=2)))
Piped = Callable[[list[str], bytes], subprocess.CompletedProcess[bytes]]


@pytest.fixture
def piped() -> Piped:
    def call(words: list[str], data: bytes) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([COMMAND, *words], input=data, capture_output=True, timeout=60)

    return call


class TestSplitAndIngest:
    @pytest.mark.rule("SPL-02", "SPL-03", "OUT-02")
    def test_split_a_file(self, run: Path, tmp_path: Path, qrspi: Call) -> None:
        file = tmp_path / "reply.txt"
        file.write_bytes(REPLY)
        words = ("split", file, "--tag", "quality-claude", "goals", "--round", "1")
        document = valid(qrspi(*words, "--dry-run", "--json"))
        assert not (run / "reviews").exists()
        warning = (
            "the reply of quality-claude has 7 bytes before the first <<<FINDING-BOUNDARY>>>; "
            "they are discarded"
        )
        assert (
            valid(qrspi(*words, "--json"))
            == document
            == {
                "schema": "qrspi/split/v1",
                "run": runs.RUN,
                "step": "goals",
                "round": 1,
                "tag": "quality-claude",
                "findings": [f"{ROUND}/quality-claude.finding-F0{at}.md" for at in (1, 2)],
                "clean": False,
                "warnings": [{"code": "text_discarded", "file": "", "message": warning}],
            }
        )
        assert (run / ROUND / "quality-claude.finding-F02.md").read_bytes() == runs.finding(
            number=2
        )

    @pytest.mark.rule("SPL-01")
    def test_split_from_a_pipe(self, run: Path, piped: Piped) -> None:
        words = ["split", "-", "--tag", "scope-claude", "goals", "--round", "1"]
        done = piped(words, b"NO_FINDINGS\n")
        assert (done.returncode, done.stdout.decode()) == (
            0,
            "scope-claude found nothing in round 1 of goals.\n"
            f"  wrote {ROUND}/scope-claude.clean.md\n",
        )

    @pytest.mark.rule("SPL-03")
    def test_split_nothing(self, run: Path, piped: Piped) -> None:
        words = ["split", "-", "--tag", "scope-claude", "goals", "--round", "1"]
        done = piped(words, b"")
        assert (done.returncode, done.stderr.decode()) == (
            3,
            "the reply of scope-claude has nothing; expected NO_FINDINGS, or findings that each "
            "begin with a line <<<FINDING-BOUNDARY>>>\n"
            "  send the reviewer again\n",
        )

    @pytest.mark.rule("PRF-02", "OUT-02")
    def test_ingest_without_a_step_means_the_current_one(
        self, run: Path, tmp_path: Path, qrspi: Call
    ) -> None:
        qrspi("next")
        file = tmp_path / "chat.md"
        file.write_bytes(runs.finding() + b"\n" + runs.finding(number=2))
        document = valid(qrspi("ingest", file, "--tag", "quality-claude", "--json"))
        assert document == {
            "schema": "qrspi/ingest/v1",
            "run": runs.RUN,
            "step": "goals",
            "round": 1,
            "tag": "quality-claude",
            "findings": [f"{ROUND}/quality-claude.finding-F0{at}.md" for at in (1, 2)],
            "clean": False,
            "warnings": [],
            "original": f"{ROUND}-ingested-quality-claude.txt",
            "next": document["next"],
        }
        assert document["next"]["waits_for"] == ["scope-claude"]
        assert file.read_bytes() == (run / document["original"]).read_bytes()

    @pytest.mark.rule("PRF-02", "LIV-18")
    def test_ingest_ends_with_what_is_next(self, run: Path, tmp_path: Path, qrspi: Call) -> None:
        qrspi("next")
        file = tmp_path / "chat.md"
        file.write_bytes(runs.finding())
        lines = qrspi("ingest", file, "--tag", "quality-claude").out.splitlines()
        assert lines[-2:-1] == [""]
        assert lines[-1].startswith("Next: Send 1 reviewer of goals round 1 (scope-claude)")

    @pytest.mark.rule("LIV-18")
    def test_ingest_names_the_command_for_a_text(
        self, run: Path, tmp_path: Path, qrspi: Call
    ) -> None:
        qrspi("next")
        file = tmp_path / "chat.md"
        file.write_bytes(b"# Goals\n")
        said = "--tag is fixer, which reviews nothing"
        idle = f"{said}, and {runs.RUN} waits for no text of goals\n"
        assert qrspi("ingest", file, "--tag", "fixer") == Result(2, "", idle)
        scenes.review(run)
        qrspi("next")
        way = f"`qrspi submit artifact FILE {runs.RUN} goals` takes in what it printed"
        assert qrspi("ingest", file, "--tag", "fixer") == Result(2, "", f"{said}: {way}\n")

    @pytest.mark.rule("PRF-02")
    def test_ingest_refuses_with_the_violations(
        self, run: Path, tmp_path: Path, qrspi: Call
    ) -> None:
        qrspi("next")
        file = tmp_path / "chat.md"
        file.write_bytes(runs.finding(kind="grave"))
        result = qrspi("ingest", file, "--tag", "quality-claude", "--json")
        assert (result.code, valid(result)["violations"][0]["code"]) == (3, "bad_enum")
