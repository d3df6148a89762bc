"""Answers to menus: what each option writes, and that only what is offered can be chosen."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from qrspi.core.yaml import frontmatter
from qrspi.handlers.agents.assignments import assignments
from qrspi.handlers.changes.change_set import ChangeSet
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.menus import menu
from qrspi.handlers.menus.menu import More
from qrspi.render import run_page
from tests.handlers.gates import DRAFT, NOW, TEXT, WHO, Build, Files, Gate, left, made_good
from tests.handlers.refusals import refusal
from tests.runs import ASKING, approved, artifact, clean, config, finding, manifest, score

pytestmark = pytest.mark.usefixtures("fixed_time")

ROUND = "reviews/goals/round-01"
MANIFEST = f"{ROUND}/.dispatch-manifest.json"
DISABLED = f"{ROUND}-verifier-disabled.md"


def choose(key: str, to: str | None = None) -> Build:
    def build(job: Job) -> ChangeSet:
        return menu.plan(job, key, More(to))

    return build


def dispatch(tag: str, status: str) -> dict[str, Any]:
    return {"tag": tag, "agent": "x", "mode": "background", "status": status, "job_id": "17"}


def sent(**statuses: str) -> bytes:
    entries = [dispatch(f"{name}-claude", status) for name, status in statuses.items()]
    return manifest(body=TEXT, dispatches=entries)


OPEN = DRAFT | {MANIFEST: sent(quality="complete", scope="complete-clean")}
F1, F2 = (f"{ROUND}/quality-claude.finding-F0{number}.md" for number in (1, 2))
S1, S2 = (f"{ROUND}/quality-claude.finding-F0{number}.score.yml" for number in (1, 2))
CLEAN = {f"{ROUND}/scope-claude.clean.md": clean("scope-claude")}
TWO = {F1: finding(), F2: finding(number=2)}
CASES = {
    "no output": (OPEN | CLEAN, "Reviewer quality-claude produced no output", 0),
    "no output at all": (OPEN, "Reviewer quality-claude produced no output (+1 more)", 0),
    "no score": (
        OPEN | CLEAN | TWO | {S1: score(90)},
        "Sidecar missing for finding quality-claude.R1-F02",
        2,
    ),
    "failed scores": (
        OPEN | CLEAN | TWO | {S1: score("VERIFY_FAILED"), S2: score("VERIFY_FAILED")},
        "Verifier returned VERIFY_FAILED for 2 findings",
        2,
    ),
    "a bad scope set": (
        OPEN | CLEAN | {F1: finding(), S1: score(90), f"{ROUND}-scope-set.txt": b"###### \n"},
        "Scope-tagger emitted malformed scope-set for round 01: tag line '######' has neither "
        "file-path shape nor ## prefix nor <full> literal",
        1,
    ),
}


@pytest.mark.rule("FLR-01", "FLR-02", "FLR-03", "FLR-04", "SEC-20", "SEC-24")
@pytest.mark.parametrize(("files", "line", "count"), CASES.values(), ids=CASES.keys())
def test_skip_is_for_this_round(tmp_path: Path, files: Files, line: str, count: int) -> None:
    gate = Gate(tmp_path / "shop", files)
    gate.make(choose("skip"))
    after = gate.files()
    data = after.pop(DISABLED)
    del after["approvals.jsonl"]
    assert after == files
    (record,) = gate.records()
    said = {key: record[key] for key in ("event", "step", "round", "option", "who", "file")}
    assert said == {
        "event": "resolve",
        "step": "goals",
        "round": 1,
        "option": "skip",
        "who": WHO,
        "file": DISABLED,
    }
    assert record["file_hash"] == hashlib.sha256(data).hexdigest()
    front = frontmatter.read(data)
    assert isinstance(front, frontmatter.Front) and front.body == len(data)
    fields = {key: frontmatter.text(front.fields, key) for key in front.fields}
    assert fields == {"timestamp": NOW, "reason": line, "finding_count": str(count)}
    assert gate.job().next.kind != "failure"


@pytest.mark.rule("LIV-11", "ENG-04")
@pytest.mark.parametrize("key", ["skip", "retry"])
def test_a_choice_is_one_commit_also_when_a_kill_came_before_it(tmp_path: Path, key: str) -> None:
    gate = Gate(tmp_path / "shop", CASES["failed scores"][0])
    killed = gate.copy("killed")
    gate.make(choose(key))
    line = f"docs(qrspi): choose {key} in round 01 of goals for user-auth"
    assert (gate.subjects(), gate.status()) == ([line, "start"], [])
    killed.make_first(choose(key), 99)
    killed.make(choose(key))
    assert left(killed) == left(gate)


@pytest.mark.rule("LIV-11", "CMT-04")
def test_a_choice_of_somebody_who_commits_by_hand_is_no_commit(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", CASES["failed scores"][0])
    gate.options = gate.options._replace(no_commit=True)
    gate.make(choose("skip"))
    assert gate.subjects() == ["start"]
    assert refusal(gate.make, choose("skip")).problem.code == "no-menu"


@pytest.mark.rule("FLR-01")
def test_the_marker_byte_for_byte(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", CASES["no output at all"][0])
    gate.make(choose("skip"))
    assert gate.files()[DISABLED].decode() == (
        f"---\ntimestamp: {NOW}\nreason: Reviewer quality-claude produced no output (+1 more)\n"
        "finding_count: 0\n---\n"
    )


BAD = {F1: b"no frontmatter\n", F2: finding(number=2), S2: score(90)}


@pytest.mark.rule("FLR-04")
def test_skip_is_not_offered_for_what_it_would_hide(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", OPEN | CLEAN | BAD)
    before = gate.files()
    refused = refusal(gate.make, choose("skip"))
    line = "'skip' is not offered now, next is the review of goals round 1; options: retry, stop"
    assert (refused.exit_code, str(refused)) == (3, line)
    assert gate.files() == before


RETRIED = {
    "no output": (CASES["no output"][0], [], ["quality-claude"]),
    "no score": (CASES["no score"][0], [], []),
    "one failed score": (
        OPEN | CLEAN | TWO | {S1: score("VERIFY_FAILED"), S2: score(90)},
        [S1],
        [],
    ),
    "an unreadable score": (OPEN | CLEAN | TWO | {S1: score("7e1"), S2: score(90)}, [S1], []),
    "two scores": (
        OPEN | CLEAN | {F1: finding(), S1: score(90), S1[:-4] + ".md": b"---\nscore: 1\n---\n"},
        [S1[:-4] + ".md", S1],
        [],
    ),
    "a bad scope set": (CASES["a bad scope set"][0], [f"{ROUND}-scope-set.txt"], []),
    "a malformed finding": (OPEN | CLEAN | BAD, [F1, F2, S2], ["quality-claude"]),
    "a bad sentinel": (
        OPEN | {F1: finding(), S1: score(90), f"{ROUND}/scope-claude.clean.md": b"---\n- x\n---\n"},
        [f"{ROUND}/scope-claude.clean.md"],
        ["scope-claude"],
    ),
}


REASONS = f"{ROUND}/rejected-1.jsonl"
WORSE = (
    finding()
    .replace(b"severity: medium", b"severity: critical")
    .replace(b"change_type: correctness", b"change_type: taste")
)


@pytest.mark.rule("LIV-18")
def test_a_second_retry_keeps_the_first_and_the_prompt_has_the_last_reasons(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", OPEN | CLEAN | BAD)
    gate.make(choose("retry"))
    (gate.run / F1).write_bytes(WORSE)
    gate.make(choose("retry"))
    after = gate.files()
    assert after[f"{F1}.rejected-1"] == BAD[F1]
    assert after[f"{F1}.rejected-2"] == WORSE
    (told,) = assignments(gate.job()).ready
    reasons = told.prompt.decode().partition("\nrejected:\n")[2].splitlines()
    assert reasons[1:3] == [
        f"- {F1}: severity is 'critical'; expected low, medium or high",
        f"- {F1}: change_type is 'taste'; expected style, clarity, correctness, scope or intent",
    ]


WRONG = {
    "a malformed finding": OPEN | CLEAN | BAD,
    "two reviewers": OPEN | BAD | {f"{ROUND}/scope-claude.clean.md": b"---\n- x\n---\n"},
    "two verifiers": OPEN | CLEAN | TWO | {S1: score("VERIFY_FAILED"), S2: score("7e1")},
    "a reviewer and a verifier": OPEN
    | {F1: finding(), S1: score("7e1"), f"{ROUND}/scope-claude.clean.md": b"---\n- x\n---\n"},
}


@pytest.mark.rule("ENG-04", "LIV-18")
@pytest.mark.parametrize("files", WRONG.values(), ids=WRONG.keys())
def test_a_retry_that_was_killed_is_finished_under_the_same_number(
    tmp_path: Path, files: Files
) -> None:
    for gate in made_good(Gate(tmp_path / "shop", files), choose("retry")):
        assert not [path for path in gate.files() if "rejected-2" in path]
        assert len(gate.records()) == 1


@pytest.mark.rule("FLR-01")
@pytest.mark.parametrize(
    ("files", "notes"),
    [
        (OPEN | BAD, ("to be sent again: quality-claude",)),
        (CASES["no output at all"][0], ()),
        (CASES["no score"][0], ()),
        (
            OPEN | CLEAN | TWO | {S1: score("VERIFY_FAILED"), S2: score(90)},
            (f"to be sent again: verifier of {S1.rpartition('/')[2].partition('.score')[0]}",),
        ),
    ],
    ids=["one of two reviewers", "nobody", "no verifier", "one of two verifiers"],
)
def test_retry_tells_who_is_put_aside(tmp_path: Path, files: Files, notes: tuple[str, ...]) -> None:
    gate = Gate(tmp_path / "shop", files)
    assert gate.make(choose("retry"))[0].notes == notes


@pytest.mark.rule("FLR-01", "FLR-04", "AUD-01", "LIV-18")
@pytest.mark.parametrize(("files", "removed", "tags"), RETRIED.values(), ids=RETRIED.keys())
def test_retry_takes_away_what_failed_and_nothing_else(
    tmp_path: Path, files: Files, removed: list[str], tags: list[str]
) -> None:
    gate = Gate(tmp_path / "shop", files)
    gate.make(choose("retry"))
    after = gate.files()
    expected = {path: data for path, data in files.items() if path not in removed}
    reviews = [path for path in removed if path.startswith(f"{ROUND}/")]
    expected |= {f"{path}.rejected-1": files[path] for path in reviews}
    reasons = after.pop(REASONS, b"")
    assert bool(reasons) == bool(reviews)
    written = json.loads(after.pop(MANIFEST))
    expected.pop(MANIFEST)
    after.pop("approvals.jsonl", None)  # nothing was taken away, nothing was decided
    assert after == expected
    pending = [entry["tag"] for entry in written["dispatches"] if entry["status"] == "pending"]
    assert pending == tags
    trail = gate.run / ".qrspi/audit.jsonl"
    lines = trail.read_text().splitlines() if trail.exists() else []
    touched = [file for line in lines for file in json.loads(line).get("files", [])]
    gone = [file["path"] for file in touched if not file["after"]]
    assert [path for path in gone if not path.endswith(".split")] == removed


STRANGER = f"{ROUND}/stranger.clean.md"
PAUSE = "reviews/goals-loop-pause-round-01.md"


@pytest.mark.rule("FLR-01", "FLR-02")
@pytest.mark.parametrize(
    ("files", "line", "hint"),
    [
        (
            OPEN | CLEAN | {F1: finding(), S1: score(90), STRANGER: clean("stranger")},
            "'retry' is not offered now, next is the review of goals round 1; options: stop",
            "qrspi next 2026-05-17-user-auth",
        ),
        (
            OPEN | CLEAN | {F1: finding(), PAUSE: b"---\ndecisions: 1\n---\n"},
            f"no menu is open: this stops the run: {PAUSE}: decisions is no list of "
            "decisions, expected pending, apply, skip, loop-back",
            "qrspi next 2026-05-17-user-auth",
        ),
    ],
    ids=["a stranger's file", "a broken pause file"],
)
def test_retry_needs_somebody_to_send(tmp_path: Path, files: Files, line: str, hint: str) -> None:
    gate = Gate(tmp_path / "shop", files)
    refused = refusal(gate.make, choose("retry"))
    assert (str(refused), refused.problem.hint) == (line, hint)
    assert gate.files() == files


@pytest.mark.rule("FLR-01", "ENG-04")
def test_a_retry_is_finished_after_a_kill(tmp_path: Path) -> None:
    start = Gate(tmp_path / "shop", OPEN | CLEAN | BAD)
    whole = start.copy("whole")
    whole.make(choose("retry"))
    for at in range(12):
        gate = start.copy(f"{at}")
        assert gate.make_first(choose("retry"), at) == 11
        twin = gate.copy("next")
        gate.make(choose("retry"))
        assert _but_records(gate) == _but_records(whole), at
        if at > 6:  # from the marker on, whatever command comes next does it
            twin.next()
            assert _but_records(twin) == _but_records(whole), at


def _but_records(gate: Gate) -> dict[str, bytes]:
    """Whoever says the same twice is on record twice."""
    return {path: data for path, data in gate.files().items() if path != "approvals.jsonl"}


@pytest.mark.rule("FLR-01")
def test_stop_changes_nothing_and_says_where_to_look(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", CASES["failed scores"][0])
    before = gate.files()
    move, done = gate.make(choose("stop"))
    assert (gate.files(), done.commit) == (before, None)
    assert move.notes == (f"nothing was changed; everything is left in {ROUND}",)
    assert gate.job().next.kind == "failure"


NO_MENU = [
    (DRAFT, "no menu is open: next is to open goals round 1"),
    (
        OPEN | CLEAN | {f"{ROUND}/quality-claude.clean.md": clean()},
        "a text waits for a yes or a no: approve it, or reject it",
    ),
]


@pytest.mark.rule("OUT-07")
@pytest.mark.parametrize(("files", "line"), NO_MENU)
def test_without_a_menu_nothing_is_resolved(tmp_path: Path, files: Files, line: str) -> None:
    gate = Gate(tmp_path / "shop", files)
    if MANIFEST in files:
        gate.next()
    assert str(refusal(gate.make, choose("retry"))) == line


FIXED = {
    MANIFEST: manifest(body=artifact(body="# Old\n")),
    F1: finding(),
    S1: score(90),
    **CLEAN,
    f"{ROUND}-dispositions.md": b"Fixed.\n",
    f"{ROUND}-commit.txt": b"a" * 40 + b"\n",
}


@pytest.mark.rule("RND-05", "RND-06", "OUT-07")
@pytest.mark.parametrize(("key", "action"), [("present", "approve"), ("loop", "prepare-round")])
def test_the_question_after_the_first_round(tmp_path: Path, key: str, action: str) -> None:
    gate = Gate(tmp_path / "shop", DRAFT | FIXED)
    assert [option.key for option in gate.job().next.options] == ["present", "loop"]
    gate.make(choose(key))
    text = f"---\nmode: {key}\nchosen: by a person\n---\n"
    assert gate.files()["reviews/goals/loop.md"].decode() == text
    assert gate.job().next.action == action


def rounds(count: int, *, paused: bool = False, step: str = "goals") -> dict[str, bytes]:
    """Closed rounds that each found the same thing in other words."""
    files: dict[str, bytes] = {f"reviews/{step}/loop.md": b"---\nmode: loop\n---\n"}
    old = artifact(body="# Old\n")
    for number in range(1, count + 1):
        place = f"reviews/{step}/round-{number:02d}"
        files |= {
            f"{place}/.dispatch-manifest.json": manifest(step, number, body=old),
            f"{place}/scope-claude.clean.md": clean("scope-claude", number),
            f"{place}/quality-claude.finding-F01.md": finding(
                round=number,
                step=step,
                message=f"Claim {number}: the second contradicts the first.",
                cites=f"{step}.md:L7",
            ),
            f"{place}/quality-claude.finding-F01.score.yml": score(90),
            f"{place}-dispositions.md": b"Fixed.\n",
            f"{place}-commit.txt": b"a" * 40 + b"\n",
        }
        if paused:
            files[f"reviews/{step}-loop-pause-round-{number:02d}.md"] = b"---\ndecisions:\n---\n"
    return files


@pytest.mark.rule("CAP-01", "CAP-02")
@pytest.mark.parametrize(
    ("files", "kind"),
    [
        (rounds(9), ""),
        (rounds(10), "cap"),
        (rounds(4, paused=True), ""),
        (rounds(5, paused=True), "escape"),
        (rounds(20), "escape"),
    ],
    ids=["9", "10", "4 paused", "5 paused", "20"],
)
def test_when_a_loop_stops(tmp_path: Path, files: Files, kind: str) -> None:
    gate = Gate(tmp_path / "shop", DRAFT | files)
    assert gate.job().next.kind == kind


ESCAPE = "reviews/goals-loop-escape-round-05.md"
ESCAPED = """\
---
step: goals
round: 5
reason: 5 rounds in a row waited for a person
outlook: stagnant
unresolved: 1
---

# The review loop of goals stops after round 05

5 rounds in a row waited for a person.

Outlook: stagnant (from round 2 to 5: 0 resolved, 3 persisting, 0 re-raised, 0 new)

## quality-claude.R5-F01

medium · correctness · persisting: first raised in round 1 and still there
Cites: goals.md:L7
History: round 1: quality-claude.R1-F01 kept; round 2: quality-claude.R2-F01 kept; \
round 3: quality-claude.R3-F01 kept; round 4: quality-claude.R4-F01 kept; \
round 5: quality-claude.R5-F01 kept

> Claim 5: the second contradicts the first.
"""


@pytest.mark.rule("CAP-02", "EVD-03")
def test_what_is_unresolved_is_written_down_before_anybody_is_asked(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", DRAFT | rounds(5, paused=True))
    outcome = gate.next()
    assert [done.handler for done in outcome.performed] == ["escape"]
    assert gate.files()[ESCAPE].decode() == ESCAPED
    answer = outcome.state.next
    assert (answer.action, answer.who, answer.kind) == ("decide", "human", "cap")
    assert [option.key for option in answer.options] == ["present", "continue"]
    assert answer.because[-1] == (
        "stagnant: from round 2 to 5: 0 resolved, 3 persisting, 0 re-raised, 0 new"
    )
    assert gate.next().performed == ()


@pytest.mark.rule("CAP-04", "EVD-03")
@pytest.mark.parametrize(
    ("key", "text", "action"),
    [
        ("present", "---\nmode: present\n---\n", "approve"),
        ("continue", "---\nmode: loop\ncaps_from: 10\n---\n", "prepare-round"),
    ],
)
def test_at_a_cap(tmp_path: Path, key: str, text: str, action: str) -> None:
    gate = Gate(tmp_path / "shop", DRAFT | rounds(10))
    assert gate.job().next.summary.startswith(
        "The review loop of goals stops here: 10 rounds ran on their own, the limit is 10; it is "
        "stagnant. "
    )
    gate.make(choose(key))
    assert gate.files()["reviews/goals/loop.md"].decode() == text
    assert gate.job().next.action == action


@pytest.mark.rule("CAP-02", "CAP-04")
def test_a_choice_made_at_once_still_leaves_the_summary(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", DRAFT | rounds(5, paused=True))
    gate.make(choose("present"))
    assert gate.files()[ESCAPE].decode() == ESCAPED


@pytest.mark.rule("CAP-04", "BWL-01")
def test_going_back_from_a_cap(tmp_path: Path) -> None:
    asked = artifact(body=ASKING)
    files = {"config.md": config(), **approved("goals"), "questions.md": asked}
    capped = rounds(10, step="questions")
    lone = {path: data for path, data in capped.items() if "scope-claude" not in path}
    for number in range(1, 11):
        path = f"reviews/questions/round-{number:02d}/.dispatch-manifest.json"
        lone[path] = manifest("questions", number, ["quality-claude"], artifact(body="# Old\n"))
    gate = Gate(tmp_path / "shop", files | lone)
    assert (
        str(refusal(gate.make, choose("rewind"))) == "say where to go back to: --to is one of goals"
    )
    assert (
        str(refusal(gate.make, choose("rewind", "design")))
        == "design is no earlier step: --to is one of goals"
    )
    gate.make(choose("rewind", "goals"))
    assert gate.status_of("goals") == b"status: draft"
    assert b"caps_from: 10\n" in gate.files()["reviews/questions/loop.md"]
    assert gate.subjects()[0] == "docs(qrspi): rewind to goals for user-auth"
    assert "reviews/questions/loop.md" in gate.committed()
    gate.write("goals.md", artifact("approved", body="# New\n"))
    assert gate.job().next.action == "prepare-round"


@pytest.mark.rule("LIV-29")
def test_only_menus_that_resolve_answers_are_numbered() -> None:
    """So are the ways out of a bad config, findings, and another loop at a gate. Consent is asked
    for by views alone."""
    answered = set(menu.ELSEWHERE) - {"config", "pause", "approve"} | {"trust"}
    assert answered == run_page.ANSWERED_ELSEWHERE
