from __future__ import annotations

import hashlib
import os
import socket
from pathlib import Path

import pytest

from qrspi.core.config.reader import Config
from qrspi.core.findings import guard, visual_excuse
from qrspi.core.findings.submission import HINTS
from qrspi.core.model import Problem, Round
from qrspi.core.pipeline import subject
from qrspi.core.rounds.manifest import Dispatch, Manifest
from qrspi.core.tree import ROUND_FILES_LIMIT, Entry, Fault, MemoryTree, Tree
from qrspi.world.files.run_tree import DiskTree

DESIGN = "reviews/design/round-03"
TASK = "reviews/tasks/task-01/round-03"
CONFIG = Config(second_reviewer=False, review_depth="quick")
VISUAL = "visual-fidelity-claude"


def finding(tag: str = "quality-claude", at: int = 1, **fields: str) -> bytes:
    values = {
        "finding_id": f"R3-F{at:02d}",
        "severity": "high",
        "change_type": "correctness",
        "referenced_files": "[design.md:L3]",
        "artifact": "design",
        "round": "3",
        "reviewer": tag,
    } | fields
    lines = [f"{key}: {value}" for key, value in values.items()]
    return "\n".join(("---", *lines, "---", "It contradicts goal 2.\n")).encode()


def clean(tag: str) -> bytes:
    return f"---\nreviewer: {tag}\nround: 3\nfindings: 0\n---\n".encode()


SCORE = b"score: 85\nreason: Sure.\n"
COMPLETE = {
    "quality-claude.finding-F01.md": finding(),
    "quality-claude.finding-F01.score.yml": SCORE,
    "scope-claude.clean.md": clean("scope-claude"),
}


COMPLETE_NAMES = ("quality-claude.finding-F01.md", "quality-claude.finding-F01.score.yml")


def read(
    files: dict[str, bytes] | Tree,
    step: str = "design",
    config: Config = CONFIG,
    manifest: Manifest | None = None,
) -> Round:
    about = subject(step)
    assert about is not None
    folder = f"{about.reviews}/round-03"
    tree = (
        MemoryTree({f"{folder}/{name}": data for name, data in files.items()})
        if isinstance(files, dict)
        else files
    )
    return guard.read_round(tree, about, 3, config, manifest)


def messages(problems: tuple[Problem, ...]) -> list[str]:
    return [f"{problem.code}: {problem.message}" for problem in problems]


def blocking(round: Round) -> list[str]:
    return messages(round.blocking)


@pytest.mark.rule("GRD-01")
def test_a_complete_round_has_nothing_against_it() -> None:
    round = read(COMPLETE)
    assert [one.name for one in round.findings] == ["quality-claude.R3-F01"]
    assert [one.file for one in round.cleans] == ["scope-claude.clean.md"]
    assert {stem: one.score for stem, one in round.sidecars.items()} == {
        "quality-claude.finding-F01": 85
    }
    assert round.expected_tags == ("quality-claude", "scope-claude")
    assert round._replace(findings=(), cleans=(), sidecars={}) == Round(
        3, (), {}, (), ("quality-claude", "scope-claude"), directory=DESIGN
    )
    assert blocking(round) == []


@pytest.mark.rule("GRD-01")
def test_codes_are_reported_in_one_order() -> None:
    assert tuple(HINTS) == tuple(
        """missing_output malformed_yaml missing_field bad_enum bad_finding_id duplicate_finding_id
        reviewer_mismatch round_mismatch unrouted_tag combined_findings forged_boundary bad_sentinel
        score_unparseable ambiguous_sidecar too_large bad_name not_a_file unreadable
        foreign_engine_file not_dispatched missing_sidecar verify_failed""".split()
    )


@pytest.mark.rule("GRD-01", "ASM-03")
def test_everything_wrong_is_reported_at_once_and_in_order() -> None:
    round = read(
        {
            "quality-claude.finding-F01.md": finding(change_type="style"),
            "quality-claude.finding-F02.md": finding(at=2),
            "quality-claude.finding-F02.score.yml": b"score: VERIFY_FAILED\nreason: Gone.\n",
            "quality-claude.finding-F03.md": finding(at=2, reviewer="scope-claude"),
            "quality-claude.finding-F03.score.yml": b"score: 9000\nreason: Sure.\n",
            "quality-claude.finding-F04.md": finding(at=4, severity="urgent"),
            "a b.md": b"",
        }
    )
    assert blocking(round) == [
        "missing_output: Reviewer scope-claude produced no output",
        f"bad_enum: {DESIGN}/quality-claude.finding-F04.md: severity is 'urgent'; "
        "expected low, medium or high",
        f"duplicate_finding_id: {DESIGN}/quality-claude.finding-F03.md: finding_id is 'R3-F02', "
        "as in quality-claude.finding-F02.md; expected an id of its own",
        f"reviewer_mismatch: {DESIGN}/quality-claude.finding-F03.md: reviewer is 'scope-claude'; "
        "expected quality-claude",
        f"score_unparseable: {DESIGN}/quality-claude.finding-F03.score.yml: score is '9000'; "
        "expected a whole number from 0 to 100, or VERIFY_FAILED",
        f"bad_name: {DESIGN}/a b.md: the name has characters other than letters, digits and . _ -",
        "missing_sidecar: Sidecar missing for finding quality-claude.R3-F01",
        "verify_failed: Verifier returned VERIFY_FAILED for finding quality-claude.R3-F02",
    ]
    assert [problem.file for problem in round.blocking] == [
        DESIGN,
        *(f"{DESIGN}/quality-claude.finding-F{at}.md" for at in ("04", "03", "03")),
        f"{DESIGN}/quality-claude.finding-F03.score.yml",
        f"{DESIGN}/a b.md",
        f"{DESIGN}/quality-claude.finding-F01.md",
        f"{DESIGN}/quality-claude.finding-F02.score.yml",
    ]


@pytest.mark.rule("GRD-01", "FLR-01")
def test_each_violation_names_the_reviewer_it_is_about() -> None:
    round = read(
        {
            "quality-claude.finding-F01.md": b"",
            "quality-claude.finding-F02.md": finding(at=2),
            "quality-claude.finding-F02.score.yml": b"score: no\n",
            "a b.md": b"",
        }
    )
    found = round.blocking
    assert [(problem.code, guard.blamed(problem)) for problem in found] == [
        ("missing_output", "scope-claude"),
        ("malformed_yaml", "quality-claude"),
        ("score_unparseable", "quality-claude"),
        ("bad_name", ""),
    ]


@pytest.mark.rule("GRD-01", "VER-01")
def test_what_is_only_awaited_is_kept_apart() -> None:
    files = {
        "quality-claude.finding-F01.md": finding(),
        "quality-claude.finding-F02.md": finding(at=2, change_type="scope"),
        "quality-claude.finding-F03.md": finding(at=3, change_type="intent"),
    }
    round = read(files)
    assert round.violations == ()
    assert round.silent_tags == ("scope-claude",)
    assert round.unscored == ("quality-claude.finding-F01",)
    assert blocking(read(files, config=CONFIG._replace(verifier_enabled=False))) == [
        "missing_output: Reviewer scope-claude produced no output"
    ]


@pytest.mark.rule("FND-07", "ASM-03")
def test_an_escalated_finding_needs_no_score() -> None:
    cited = finding(referenced_files="[feedback/design-round-01.md]")
    assert read({"quality-claude.finding-F01.md": cited}).unscored == ()


@pytest.mark.rule("GRD-01")
def test_an_absent_round_is_a_silent_one() -> None:
    round = read(MemoryTree({}))
    assert round.silent_tags == ("quality-claude", "scope-claude")
    assert round.violations == ()
    assert [problem.expected for problem in round.blocking] == [
        "quality-claude.finding-F01.md or quality-claude.clean.md",
        "scope-claude.finding-F01.md or scope-claude.clean.md",
    ]


@pytest.mark.parametrize(("more", "codes"), [(0, []), (1, ["too_large"])])
def test_a_round_has_as_many_files_as_the_limit_says(more: int, codes: list[str]) -> None:
    others = ROUND_FILES_LIMIT - len(COMPLETE) + more
    files = COMPLETE | {f"note-{number}.txt": b"" for number in range(others)}
    assert [problem.code for problem in read(files).violations] == codes


@pytest.mark.rule("ASM-01")
def test_findings_are_ordered_by_tag_and_then_by_number() -> None:
    config = CONFIG._replace(extra_reviewers={"design": ("quality", "a-claude")})
    names = [("quality", 1), ("quality-claude", 100), ("quality-claude", 99), ("a-claude", 2)]
    round = read(
        {f"{tag}.finding-F{at:02d}.md": finding(tag, at) for tag, at in names}, config=config
    )
    assert [one.stem for one in round.findings] == [
        "a-claude.finding-F02",
        "quality.finding-F01",
        "quality-claude.finding-F99",
        "quality-claude.finding-F100",
    ]


@pytest.mark.rule("FND-04")
def test_findings_beside_a_clean_sentinel_count() -> None:
    round = read(COMPLETE | {"quality-claude.clean.md": clean("quality-claude")})
    assert len(round.findings) == 1
    assert round.violations == ()
    assert messages(round.warnings) == [
        f"contradictory_clean: {DESIGN}/quality-claude.clean.md: says clean beside findings of "
        "quality-claude; the findings count"
    ]


@pytest.mark.rule("FND-13")
@pytest.mark.parametrize(
    "name", ["scope-claude.no-findings.md", "scope-claude.NO_FINDINGS", "scope-claude.clean.md"]
)
def test_every_way_to_say_clean_counts_as_output(name: str) -> None:
    files = {"quality-claude.clean.md": clean("quality-claude"), name: clean("scope-claude")}
    round = read(files)
    assert round.silent_tags == ()
    assert [one.file for one in round.cleans] == ["quality-claude.clean.md", name]


@pytest.mark.rule("FND-05")
@pytest.mark.parametrize("other", ["score.md", "verifier.md"])
def test_two_sidecars_of_one_finding_are_a_violation(other: str) -> None:
    name = f"quality-claude.finding-F01.{other}"
    round = read(COMPLETE | {name: b"---\nscore: 10\nreason: No.\n---\n"})
    both = sorted((name, "quality-claude.finding-F01.score.yml"))
    assert messages(round.violations) == [
        f"ambiguous_sidecar: {DESIGN}/{both[0]}: one finding has the sidecars "
        f"{both[0]} and {both[1]}; expected one"
    ]


@pytest.mark.rule("FND-05")
def test_a_score_without_its_finding_is_left_alone() -> None:
    round = read(COMPLETE | {"quality-claude.finding-F07.score.yml": SCORE})
    assert list(round.sidecars) == ["quality-claude.finding-F01"]
    assert messages(round.warnings) == [
        f"orphan_sidecar: {DESIGN}/quality-claude.finding-F07.score.yml: there is no finding "
        "quality-claude.finding-F07.md; the score is left alone"
    ]


@pytest.mark.rule("FND-01", "FND-03")
@pytest.mark.parametrize("finding_id", ["R3-F1", "R03-F01", "R3-F02"])
def test_an_id_that_is_not_what_the_name_says_is_a_warning(finding_id: str) -> None:
    file = "quality-claude.finding-F01.md"
    round = read(COMPLETE | {file: finding(finding_id=finding_id)})
    text = f"finding_id is '{finding_id}'; expected R3-F01, as the file's name has it"
    path = f"{DESIGN}/{file}"
    assert round.warnings == (
        Problem("finding_id_number", f"{path}: {text}", path, "finding_id", finding_id, "R3-F01"),
    )
    assert (round.violations, len(round.findings)) == ((), 1)


@pytest.mark.rule("FND-02", "FND-05")
def test_a_model_that_was_not_asked_is_a_warning() -> None:
    file, sidecar = COMPLETE_NAMES
    sent = Manifest(
        "design", 3, "", ("quality-claude",), dispatches=(Dispatch("quality-claude", "x"),)
    )
    asked = sent._replace(dispatches=(sent.dispatches[0]._replace(model="large"),))
    files = COMPLETE | {
        file: finding(actual_model="small"),
        sidecar: b"score: 85\nreason: Sure.\nactual_model: tiny\n",
    }
    told = [
        f"model_differs: {DESIGN}/{file}: actual_model is 'small'; expected large",
        f"model_differs: {DESIGN}/{sidecar}: actual_model is 'tiny'; expected small",
    ]
    assert messages(read(files, manifest=asked).warnings) == told
    assert messages(read(files, manifest=sent).warnings) == told[1:]
    assert read(COMPLETE, manifest=asked).warnings == ()


@pytest.mark.rule("FND-14", "GRD-05", "RUN-05")
@pytest.mark.parametrize(
    ("name", "warned"),
    [
        ("R01-F01-quality-codex.md", True),
        ("security-claude.SENTINEL.md", True),
        ("notes.txt", False),
        (".quality-claude.finding-F09.md.swp", False),
        ("quality-claude.finding-F09.md~", False),
        ("#quality-claude.finding-F09.md#", False),
        (".#quality-claude.finding-F09.md", False),
        ("quality-claude.finding-F09.md.tmp", False),
        ("4913", False),
        (".DS_Store", False),
        ("kept-findings.txt", False),
        (".dispatch-manifest.json", False),
    ],
)
def test_names_are_matched_whole(name: str, warned: bool) -> None:
    round = read(COMPLETE | {name: b"\xff"})
    text = "not a name that a round knows; the file is left alone"
    assert messages(round.warnings) == [f"unknown_file: {DESIGN}/{name}: {text}"] * warned
    assert blocking(round) == []
    assert len(round.findings) == 1


@pytest.mark.rule("FND-14", "LIV-18")
@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("quality-claude.finding-F01.override.md", "quality-claude.finding-F01.md"),
        ("quality-claude.finding-F7.md", "quality-claude.finding-F07.md"),
        ("quality-claude.finding-F01.md.md", "quality-claude.finding-F01.md"),
        ("Quality-Claude.findings-F02.txt", "quality-claude.finding-F02.md"),
        ("scope-claude.clean", "scope-claude.clean.md"),
        ("quality-claude.finding-F01.score.yaml", "quality-claude.finding-F01.score.yml"),
    ],
)
def test_a_file_that_nobody_expected_is_named_with_the_nearest(name: str, meant: str) -> None:
    round = read(COMPLETE | {name: b"x"})
    assert messages(round.warnings) == [
        f"unknown_file: {DESIGN}/{name}: not a name that a round knows; the file is left alone. "
        f"Did you mean {meant}?"
    ]


@pytest.mark.rule("LIV-18", "MTX-02")
def test_a_reviewer_misspelt_is_named_with_the_nearest() -> None:
    round = read(COMPLETE | {"qualty-claude.clean.md": clean("qualty-claude")})
    assert messages(round.violations) == [
        f"unrouted_tag: {DESIGN}/qualty-claude.clean.md: 'qualty-claude' does not review here; "
        "expected one of quality-claude, scope-claude. Did you mean quality-claude.clean.md?"
    ]


@pytest.mark.rule("LIV-18", "MTX-02")
def test_half_the_name_of_a_reviewer_is_named_with_the_whole() -> None:
    round = read(COMPLETE | {"scope.clean.md": clean("scope")})
    assert messages(round.violations) == [
        f"unrouted_tag: {DESIGN}/scope.clean.md: 'scope' does not review here; expected one of "
        "quality-claude, scope-claude. Did you mean scope-claude.clean.md?"
    ]


@pytest.mark.rule("LIV-18")
def test_what_was_rejected_is_never_an_answer() -> None:
    kept = {"quality-claude.finding-F07.md.rejected-1": b"x", "rejected-1.jsonl": b"{}\n"}
    assert read(COMPLETE | kept) == read(COMPLETE)


@pytest.mark.rule("FND-11")
@pytest.mark.parametrize("name", ["quality claude.md", "x\n.md", "é.md", "a/b".replace("/", "\\")])
def test_a_name_with_other_characters_is_a_violation(name: str) -> None:
    round = read(COMPLETE | {name: b""})
    assert [problem.code for problem in round.violations] == ["bad_name"]


@pytest.mark.rule("FND-11")
def test_a_crowded_round_is_refused_without_being_read() -> None:
    files = {f"quality-claude.finding-F{at:04d}.md": b"\xff" for at in range(5001)}
    round = read(files)
    assert blocking(round) == [
        f"too_large: {DESIGN}: 5001 files in one round; expected at most 5000"
    ]
    assert (round.findings, round.silent_tags) == ((), ())


@pytest.mark.rule("FND-11", "SEC-02")
def test_a_large_finding_is_refused_with_the_limit_named() -> None:
    round = read(COMPLETE | {"quality-claude.finding-F02.md": finding(at=2) + b"x" * 256 * 1024})
    assert messages(round.violations) == [
        f"too_large: {DESIGN}/quality-claude.finding-F02.md: {len(finding(at=2)) + 256 * 1024:,} "
        "bytes; expected at most 262,144 bytes"
    ]


@pytest.mark.rule("FND-09")
def test_files_to_be_normalised_are_listed() -> None:
    round = read(
        {
            "quality-claude.finding-F01.md": finding() + b"\n",
            "quality-claude.finding-F01.score.yml": SCORE.rstrip(),
            "scope-claude.clean.md": clean("scope-claude").rstrip(),
        }
    )
    assert round.unfinished == (
        "quality-claude.finding-F01.md",
        "quality-claude.finding-F01.score.yml",
        "scope-claude.clean.md",
    )
    assert blocking(round) == []
    assert [problem.code for problem in round.warnings] == ["newline_normalised"] * 3
    assert round.findings[0].data == finding()
    assert round.cleans[0].data == clean("scope-claude")
    assert round.sidecars["quality-claude.finding-F01"].data == SCORE


@pytest.mark.rule("FND-13")
def test_a_strict_guard_makes_violations_of_slips() -> None:
    files = COMPLETE | {"quality-claude.finding-F01.md": finding(finding_id="F01") + b"\n"}
    strict = read(files, config=CONFIG._replace(guard="strict"))
    assert messages(strict.violations) == [
        f"bad_finding_id: {DESIGN}/quality-claude.finding-F01.md: "
        "finding_id is 'F01'; read as R3-F01"
    ]
    assert [problem.code for problem in strict.warnings] == ["newline_normalised"]
    assert read(files).violations == ()


@pytest.mark.rule("MTX-02")
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("spec-claude.finding-F01.md", finding("spec-claude")),
        ("spec-claude.clean.md", clean("spec-claude")),
        ("spec-claude.finding-F01.score.yml", SCORE),
        ("quality-codex.clean.md", clean("quality-codex")),
    ],
)
def test_a_tag_that_is_not_routed_is_a_violation(name: str, data: bytes) -> None:
    round = read(COMPLETE | {name: data})
    tag = name.partition(".")[0]
    assert messages(round.violations) == [
        f"unrouted_tag: {DESIGN}/{name}: '{tag}' does not review here; "
        "expected one of quality-claude, scope-claude"
    ]


@pytest.mark.rule("MTX-02")
def test_a_score_is_not_reported_beside_its_unrouted_finding() -> None:
    name = "spec-claude.finding-F01"
    round = read(COMPLETE | {f"{name}.md": finding("spec-claude"), f"{name}.score.yml": SCORE})
    assert [problem.code for problem in round.violations] == ["unrouted_tag"]


@pytest.mark.rule("MTX-03", "MTX-02")
def test_the_manifest_says_who_was_expected() -> None:
    manifest = Manifest("design", 3, "", ("quality-claude", "stitching-audit-claude"))
    round = read(COMPLETE, manifest=manifest)
    assert round.expected_tags == ("quality-claude", "stitching-audit-claude")
    assert round.silent_tags == ("stitching-audit-claude",)
    assert round.violations == ()


@pytest.mark.rule("MTX-04")
@pytest.mark.parametrize("step", ["integrate", "implement-gate", "implement"])
def test_in_the_shared_directory_the_manifest_says_which_row_applies(step: str) -> None:
    manifest = Manifest("implement-gate", 3, "", ("implement-gate-claude",))
    files = {"implement-gate-claude.clean.md": clean("implement-gate-claude")}
    round = read(files, step, manifest=manifest)
    assert (round.silent_tags, round.violations) == ((), ())
    integration = read(
        {"security-claude.clean.md": clean("security-claude")}, step, manifest=manifest
    )
    assert [problem.code for problem in integration.violations] == ["unrouted_tag"]


@pytest.mark.rule("MTX-04")
def test_type_design_is_never_missing() -> None:
    manifest = Manifest("task-01", 3, "", ("spec-claude", "type-design-claude"))
    deep = CONFIG._replace(review_depth="deep")
    assert read({}, "task-01", deep, manifest).silent_tags == ("spec-claude",)
    other = read({"type-design-claude.clean.md": clean("type-design-claude")}, "task-01", deep)
    assert other.violations == ()


@pytest.mark.rule("SPL-04")
def test_a_tag_whose_split_is_under_way_has_no_output() -> None:
    round = read(COMPLETE | {".quality-claude.split": b""})
    assert round.silent_tags == ("quality-claude",)
    assert (round.findings, round.violations, round.warnings) == ((), (), ())


class Odd(MemoryTree):
    """A memory whose files are of other kinds, and which notices when they are opened."""

    def __init__(self, files: dict[str, bytes], odd: dict[str, Entry | Fault]) -> None:
        super().__init__({f"{DESIGN}/{name}": data for name, data in files.items()})
        self._odd = odd

    def entries(self, path: str) -> tuple[Entry, ...] | Fault:
        entries = super().entries(path)
        assert not isinstance(entries, Fault)
        odd = (
            one if isinstance(one, Entry) else Entry(name, "file")
            for name, one in self._odd.items()
        )
        return tuple(sorted((*entries, *odd)))

    def read(self, path: str, limit: int = 0) -> bytes | Fault:
        found = self._odd.get(path.rpartition("/")[2])
        assert not isinstance(found, Entry), f"{path} was opened"
        return found or super().read(path, limit)


@pytest.mark.rule("FND-12", "GRD-01")
@pytest.mark.parametrize(
    "name",
    [
        "quality-claude.finding-F02.md",
        "quality-claude.finding-F01.score.md",
        "quality-claude.clean.md",
        "visual-fidelity-claude.skipped.md",
    ],
)
@pytest.mark.parametrize("kind", ["link", "dir", "other"])
def test_only_regular_files_are_opened(name: str, kind: str) -> None:
    files = {"scope-claude.clean.md": clean("scope-claude")}
    tree = Odd(files, {name: Entry(name, kind)})  # type: ignore[arg-type]
    found = {"link": "a symbolic link", "dir": "a directory", "other": "a pipe, socket or device"}
    assert messages(read(tree).violations) == [
        f"not_a_file: {DESIGN}/{name}: {found[kind]}; expected a regular file; it is not opened"
    ]


@pytest.mark.rule("GRD-01")
def test_absent_and_unreadable_are_not_the_same() -> None:
    name = "quality-claude.finding-F01.md"
    gone = read(Odd(COMPLETE, {"quality-claude.finding-F02.md": Fault("absent")}))
    assert blocking(gone) == []
    denied = read(Odd({"notes.txt": b""}, {name: Fault("unreadable", "Permission denied")}))
    assert messages(denied.violations) == [
        f"unreadable: {DESIGN}/{name}: cannot be read (Permission denied); expected a readable file"
    ]
    assert denied.silent_tags == ("scope-claude",)


@pytest.mark.rule("FND-12", "SEC-02")
def test_the_kinds_of_a_real_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / DESIGN
    folder.mkdir(parents=True)
    (folder / "quality-claude.finding-F01.md").symlink_to("/etc/passwd")
    os.mkfifo(folder / "quality-claude.finding-F02.md")
    (folder / "quality-claude.clean.md").mkdir()
    (folder / "scope-claude.clean.md").write_bytes(clean("scope-claude"))
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(folder)  # the path of a socket has to be short
        listener.bind("scope-claude.finding-F01.md")
        round = read(DiskTree(tmp_path))
    assert [(problem.code, problem.file.rpartition("/")[2]) for problem in round.violations] == [
        ("not_a_file", "quality-claude.clean.md"),
        ("not_a_file", "quality-claude.finding-F01.md"),
        ("not_a_file", "quality-claude.finding-F02.md"),
        ("not_a_file", "scope-claude.finding-F01.md"),
    ]


@pytest.mark.rule("GRD-01", "RUN-07")
def test_a_file_in_the_place_of_the_round_is_a_violation() -> None:
    round = read(MemoryTree({DESIGN: b""}))
    assert blocking(round) == [f"not_a_file: {DESIGN}: cannot be listed (it is a file)"]


def recorded(files: dict[str, bytes]) -> Manifest:
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    return Manifest("task-01", 3, "", (VISUAL,), engine_files=hashes)


SKIP = {
    f"{VISUAL}.skipped.md": visual_excuse.skip_sentinel(
        "missing_visual_fidelity_check", path_filtered=False
    )
}


@pytest.mark.rule("GRD-04", "VIS-01", "MTX-04")
def test_the_engines_own_skip_satisfies_the_tag() -> None:
    round = read(SKIP, "task-01", manifest=recorded(SKIP))
    assert (round.silent_tags, round.violations, round.warnings) == ((), (), ())
    assert round.bypasses == ()


@pytest.mark.rule("GRD-04")
@pytest.mark.parametrize(
    "manifest", [recorded({}), recorded({f"{VISUAL}.skipped.md": b"---\n---\n"})]
)
def test_a_skip_that_the_manifest_does_not_record_satisfies_nothing(manifest: Manifest) -> None:
    round = read(SKIP, "task-01", manifest=manifest)
    assert blocking(round) == [
        f"missing_output: Reviewer {VISUAL} produced no output",
        f"foreign_engine_file: {TASK}/{VISUAL}.skipped.md: only the engine writes this file, "
        "and the round's manifest does not record it like this",
    ]


@pytest.mark.rule("GRD-04")
def test_without_a_manifest_an_engine_file_is_a_warning() -> None:
    round = read(SKIP, "task-01")
    assert VISUAL not in round.silent_tags
    assert round.violations == ()
    assert messages(round.warnings) == [
        f"foreign_engine_file: {TASK}/{VISUAL}.skipped.md: only the engine writes this file, "
        "and the round has no manifest to say that it did"
    ]


@pytest.mark.rule("GRD-04")
@pytest.mark.parametrize("name", ["spec-claude.skipped.md", f"{VISUAL}.skipped-01.md"])
def test_no_other_file_excuses_a_reviewer(name: str) -> None:
    data = next(iter(SKIP.values()))
    manifest = recorded({name: data})._replace(expected_tags=("spec-claude", VISUAL))
    assert read({name: data}, "task-01", manifest=manifest).silent_tags == ("spec-claude", VISUAL)


@pytest.mark.rule("VIS-03", "GRD-02")
def test_a_malformed_skip_counts_as_absent_and_yields_a_record() -> None:
    forged = {f"{VISUAL}.skipped.md": b"---\nskip_reason: because\n---\n"}
    round = read(forged, "task-01")
    assert VISUAL in round.silent_tags
    (name, data), *rest = round.bypasses
    assert (name, rest) == (f"{VISUAL}.bypass-attempt-01.md", [])
    assert data.decode() == (
        "---\n"
        "finding_id: R3-bypass-01\n"
        "severity: high\n"
        "change_type: correctness\n"
        f"referenced_files: [{TASK}/{VISUAL}.skipped.md]\n"
        "round: 3\n"
        f"reviewer: {VISUAL}\n"
        f"sentinel_sha256: {hashlib.sha256(forged[f'{VISUAL}.skipped.md']).hexdigest()}\n"
        "---\n"
        "Sentinel file contains unrecognized skip_reason: value 'because'. Recognized values: "
        "visual_fidelity_required_false, missing_visual_fidelity_check, empty_wireframe_paths, "
        "empty_screenshot_paths.\n"
    )


@pytest.mark.rule("VIS-03", "GRD-02")
def test_one_record_is_made_for_one_content() -> None:
    forged = {f"{VISUAL}.skipped.md": b"---\nskip_reason: because\n---\n"}
    written = dict(read(forged, "task-01").bypasses)
    again = read(forged | written, "task-01", manifest=recorded(written))
    assert again.bypasses == ()
    assert again.findings == ()
    changed = {f"{VISUAL}.skipped.md": b"---\nskip_reason: other\n---\n"}
    assert [name for name, _ in read(changed | written, "task-01").bypasses] == [
        f"{VISUAL}.bypass-attempt-02.md"
    ]


@pytest.mark.rule("VIS-03", "GRD-04")
def test_a_forged_record_does_not_silence_the_real_one() -> None:
    forged = {f"{VISUAL}.skipped.md": b"---\nskip_reason: because\n---\n"}
    files = forged | dict(read(forged, "task-01").bypasses)
    assert len(read(files, "task-01", manifest=recorded({})).bypasses) == 1


@pytest.mark.rule("VIS-01")
@pytest.mark.parametrize(
    ("required", "check", "expected"),
    [
        (True, "visual_fidelity_check: [wireframes/a.png]", True),
        (True, "visual_fidelity_check:\n  wireframe_paths: [a.png]", True),
        (True, "visual_fidelity_check: []", False),
        (True, "visual_fidelity_check:", False),
        (True, "status: approved", False),
        (False, "visual_fidelity_check: [wireframes/a.png]", False),
        (None, "visual_fidelity_check: [wireframes/a.png]", False),
    ],
)
def test_the_visual_reviewer_is_expected_when_run_and_task_ask_for_it(
    required: bool | None, check: str, expected: bool
) -> None:
    tree = MemoryTree({"tasks/task-01.md": f"---\n{check}\n---\n# Task\n".encode()})
    round = read(tree, "task-01", CONFIG._replace(visual_fidelity_required=required))
    assert (VISUAL in round.expected_tags) is expected
