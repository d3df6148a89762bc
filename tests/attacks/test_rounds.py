"""To have a round read as clean that nobody reviewed, or not everybody who must."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from qrspi.core.records import import_record
from qrspi.core.records.import_record import ImportRecord
from tests import quick, runs, scenes
from tests.attacks.arena import Arena, workshop
from tests.attacks.trial import attack
from tests.deliveries import TAGS

pytestmark = pytest.mark.rule("SEC-18")
MANIFEST = f"{scenes.ROUND}/.dispatch-manifest.json"


def not_passed(arena: Arena, run: Path) -> None:
    arena.qrspi("next")
    assert "Reviews passed clean" not in arena.qrspi("status").flat
    assert arena.qrspi("approve", "goals").code == 3
    assert b"status: approved" not in (run / "goals.md").read_bytes()


def by_hand(run: Path, tags: tuple[str, ...], number: int = 1, **more: object) -> None:
    """A round that looks like one of the engine's, with a clean word of each tag."""
    folder = run / f"reviews/goals/round-{number:02d}"
    folder.mkdir(parents=True, exist_ok=True)
    body = (run / "goals.md").read_bytes()
    digest = runs.text_hash(body)
    data = runs.manifest(round=number, tags=tags, **{"body_hash": digest, **more})
    (folder / ".dispatch-manifest.json").write_bytes(data)
    for tag in tags:
        (folder / f"{tag}.clean.md").write_bytes(runs.clean(tag, number))


@attack(
    "an agent",
    "a round that was never prepared reads as clean",
    {
        "nobody is named": ((), {}),
        "one is named": (("quality-claude",), {}),
        "all are named": (scenes.TAGS, {}),
        "somebody else is named": (("friend-claude",), {}),
        "all were sent": (scenes.TAGS, {"dispatches": [{"tag": tag} for tag in scenes.TAGS]}),
        "as imported": (scenes.TAGS, {"imported": True}),
    },
)
def test_never_prepared(arena: Arena, way: tuple[tuple[str, ...], dict[str, object]]) -> None:
    run = arena.clone()
    tags, more = way
    by_hand(run, tags, **more)
    not_passed(arena, run)


@attack(
    "an agent",
    "a round of a high number stands before the real one",
    {"the next": 2, "a later": 7, "the last": 9999, "the first, spelt otherwise": 1},
)
def test_another_number(arena: Arena, way: int) -> None:
    """The first one has a finding that is to be fixed."""
    run = arena.scene(scenes.assembled)
    if way == 1:
        (run / scenes.ROUND).rename(run / "aside")
    by_hand(run, scenes.TAGS, way)
    if way == 1:
        (run / scenes.ROUND).rename(run / "reviews/goals/round-001")
        (run / "aside").rename(run / scenes.ROUND)
    not_passed(arena, run)


def cut(tags: list[str]) -> Callable[[dict[str, object]], dict[str, object]]:
    return lambda manifest: {**manifest, "expected_tags": tags}


@attack(
    "an agent",
    "the engine's own manifest is made to expect less",
    {
        "nobody": cut([]),
        "one": cut(["quality-claude"]),
        "somebody else": cut(["friend-claude"]),
        "one twice": cut(["quality-claude", "quality-claude"]),
        "one who was skipped": lambda manifest: {
            **manifest,
            "dispatches": [{"tag": "scope-claude", "skipped": True, "state": "skipped"}],
        },
    },
)
def test_cut(arena: Arena, way: Callable[[dict[str, object]], dict[str, object]]) -> None:
    run = arena.scene(scenes.prepared)
    manifest = json.loads((run / MANIFEST).read_text())
    (run / MANIFEST).write_text(json.dumps(way(manifest), indent=2) + "\n")
    (run / scenes.ROUND / "quality-claude.clean.md").write_bytes(runs.clean("quality-claude"))
    not_passed(arena, run)


@attack(
    "an agent",
    "a reviewer who wrote nothing is excused by a file",
    {
        name: name
        for name in (
            "scope-claude.skipped.md",
            "scope-claude.NO_FINDINGS",
            "scope-claude.clean.md.bak",
            "scope-codex.clean.md",
            "SCOPE-claude.clean.md",
            "scope-claude.clean.txt",
            "quality-claude.scope-claude.clean.md",
        )
    },
)
def test_excused(arena: Arena, way: str) -> None:
    run = arena.scene(scenes.prepared)
    (run / scenes.ROUND / "quality-claude.clean.md").write_bytes(runs.clean("quality-claude"))
    (run / scenes.ROUND / way).write_bytes(runs.clean("quality-claude"))
    not_passed(arena, run)


@attack(
    "an agent",
    "in a quick run an author's own files approve its step",
    {
        "a round by hand": (False, {}),
        "a round by hand with all": (True, {}),
        "as imported": (True, {"imported": True}),
        "as one of the engine's": (True, {"anyway": True, "commit": "HEAD"}),
    },
)
def test_quick(arena: Arena, way: tuple[bool, dict[str, object]]) -> None:
    run = arena.scene(questions)
    folder = run / "reviews/questions/round-01"
    folder.mkdir(parents=True)
    everybody, more = way
    tags = quick.tags(run, "questions") if everybody else ()
    digest = runs.text_hash((run / "questions.md").read_bytes(), "questions.md")
    data = runs.manifest("questions", tags=tags, **{"body_hash": digest, **more})
    (folder / ".dispatch-manifest.json").write_bytes(data)
    for tag in tags:
        (folder / f"{tag}.clean.md").write_bytes(runs.clean(tag))
    arena.qrspi("next")
    assert quick.status(run, "questions") == "draft"
    assert not (run / quick.LOG).exists()


def questions(root: Path) -> Path:
    return quick.make(root, "questions", git=True)


@attack(
    "an agent",
    "in a quick run a finding stands under a name that nobody reads",
    {
        name: name
        for name in (
            "scope-claude.found.md",
            "scope-claude.findings.md",
            "finding-F01.md",
            "notes.md",
        )
    },
)
def test_misnamed(arena: Arena, way: str) -> None:
    run = arena.scene(clean_questions)
    file = run / "reviews/questions/round-01" / way
    file.write_bytes(runs.finding("scope-claude", step="questions"))
    arena.qrspi("next")
    assert quick.status(run, "questions") == "draft"


def clean_questions(root: Path) -> Path:
    return quick.reviewed(root, "questions", git=True)


@attack(
    "an agent",
    "the log of what approved itself says that a step did",
    {
        "alone": (False, {}),
        "beside a text that says so": (True, {}),
        "of another round": (True, {"trigger_round": 7}),
        "of a step that never does": (True, {"artifact": "goals"}),
    },
)
def test_a_forged_entry(arena: Arena, way: tuple[bool, dict[str, object]]) -> None:
    says_so, more = way
    run = arena.scene(questions)
    entry = {"event": "cascade-auto-approve", "artifact": "questions", "trigger_round": 1}
    known = {"timestamp": "2026-05-17T09:30:00Z", "rationale": "initial-clean", "manifest": ""}
    tags = list(quick.tags(run, "questions"))
    line = {**entry, **known, "reviewer_tags": tags, "sentinel_files": [], "records": None, **more}
    (run / quick.LOG).write_text(json.dumps(line) + "\n")
    if says_so:
        text = (run / "questions.md").read_bytes()
        (run / "questions.md").write_bytes(text.replace(b"status: draft", b"status: approved"))
    arena.qrspi("next")
    assert not (run / "approvals.jsonl").exists()
    said = arena.qrspi("status").flat
    assert "no record says who approved" in said or not says_so


def adopted(arena: Arena, run: Path) -> None:
    words = ("round", "prepare", runs.RUN, "goals", "--adopt")
    arena.qrspi(*words)
    not_passed(arena, run)


@attack(
    "an agent",
    "a round of its own making is taken up by a person, and reads as clean without the others",
    {
        "nobody is named": (),
        "one is named": ("quality-claude",),
        "somebody else is named": ("friend-claude",),
        "one is named twice": ("quality-claude", "quality-claude"),
    },
)
def test_adopted(arena: Arena, way: tuple[str, ...]) -> None:
    run = arena.clone()
    by_hand(run, way)
    adopted(arena, run)


@attack(
    "an agent",
    "a task is finished by a round of its own making",
    {
        "nobody is named": (),
        "one is named": TAGS[:1],
        "all are named": TAGS,
        "somebody else is named": ("friend-claude",),
    },
)
def test_a_task(arena: Arena, way: tuple[str, ...]) -> None:
    shop = workshop(arena)
    shop.next()
    commit = shop.work("task-01", "a.py", "print('evil word')\n")
    shop.report("task-01")
    folder = shop.run / "reviews/tasks/task-01/round-01"
    folder.mkdir(parents=True)
    body = (shop.run / "tasks/task-01.md").read_bytes()
    digest = runs.text_hash(body, "tasks/task-01.md")
    data = runs.manifest("task-01", tags=way, commit=commit, body_hash=digest)
    (folder / ".dispatch-manifest.json").write_bytes(data)
    for tag in way:
        (folder / f"{tag}.clean.md").write_bytes(runs.clean(tag))
    arena.qrspi("next")
    assert "Every task has come to its end" not in arena.qrspi("status").flat
    assert "evil" not in shop.git("show", "main:a.py")


@attack(
    "an agent",
    "findings are made to disappear by what is assembled from them",
    {
        "counts": lambda run: (run / scenes.VERIFIED).write_text(
            "---\nround: 1\nkept: 0\ndropped: 1\n---\n"
        ),
        "a score of nothing": lambda run: (run / scenes.ROUND / scenes.SCORE).write_bytes(
            b"score: 0\nscore: 90\nreason: x\n"
        ),
        "a clean word beside it": lambda run: (
            run / scenes.ROUND / "quality-claude.clean.md"
        ).write_bytes(runs.clean()),
        "a drop of its own": lambda run: (run / scenes.ROUND / scenes.FINDING).write_bytes(
            runs.finding().replace(b"severity", b"verdict: drop\nscore: 0\nseverity")
        ),
    },
)
def test_counted(arena: Arena, way: Callable[[Path], object]) -> None:
    run = arena.scene(scenes.reviewed)
    way(run)
    not_passed(arena, run)


def listed(run: Path, choice: str = "close") -> None:
    """As `qrspi import` would say of rounds that it found."""
    record = ImportRecord("2026-05-17T09:00:00Z", "Ada", "docs/qrspi/x", "", "")
    rounds, closed = {"reviews/goals": (1,)}, {scenes.ROUND: choice}
    text = import_record.head(record._replace(rounds=rounds, open=closed))
    (run / "import.md").write_text(text)
    (run / "import-files.txt").write_text("")


@attack(
    "an agent",
    "a round of the engine's is passed off as one that was made elsewhere",
    {
        "listed": lambda run: listed(run),
        "listed, without its manifest": lambda run: (listed(run), (run / MANIFEST).unlink()),
        "listed, with forged dispositions": lambda run: (
            listed(run),
            (run / scenes.DISPOSITIONS).write_text("- F01: fixed\n"),
            (run / scenes.ANCHOR).write_text("0" * 40 + "\n"),
        ),
        "listed, to be taken over": lambda run: listed(run, "take-over"),
    },
)
def test_made_elsewhere(arena: Arena, way: Callable[[Path], object]) -> None:
    """It has a finding that is to be fixed; `verify` does not pass it over."""
    run = arena.scene(scenes.assembled)
    way(run)
    not_passed(arena, run)
    proof = arena.qrspi("verify", "--json").json
    known = {(one["step"], one["round"]) for one in (*proof["rounds"], *proof["gaps"])}
    assert ("goals", 1) in known, proof


def handed_in(arena: Arena, run: Path, tag: str) -> None:
    reply = arena.top / "reply"
    reply.write_text("NO_FINDINGS\n")
    said = arena.qrspi("split", reply, runs.RUN, "goals", "--tag", tag, "--round", "1")
    assert said.code == 0, said.text


def found(arena: Arena, run: Path, tag: str) -> None:
    (run / scenes.ROUND / f"{tag}.clean.md").write_bytes(runs.clean(tag))


def ingested(arena: Arena, run: Path, tag: str) -> None:
    reply = arena.top / f"{tag}.txt"
    reply.write_text("NO_FINDINGS\n")
    assert arena.qrspi("ingest", reply, runs.RUN, "goals", "--tag", tag).code == 3


@pytest.mark.rule("SEC-21")
@attack(
    "an agent",
    "an answer that nobody was sent for counts, where only such answers may",
    {"put there": found, "handed in": handed_in, "handed in by ingest": ingested},
    no_more="without being sent for, an answer comes in these ways",
)
def test_not_dispatched(arena: Arena, way: Callable[[Arena, Path, str], None]) -> None:
    arena.clone(evidence="dispatched")
    run = arena.project / "docs/qrspi" / runs.RUN
    arena.qrspi("next")
    for tag in scenes.TAGS:
        way(arena, run, tag)
    not_passed(arena, run)


def edited(old: bytes, new: bytes) -> Callable[[Path], object]:
    return lambda file: file.write_bytes(file.read_bytes().replace(old, new))


@pytest.mark.rule("SEC-21")
@attack(
    "an agent",
    "an answer that was sent for is changed, and counts where only such answers may",
    {
        "a remark": edited(b"findings: 0\n---\n", b"findings: 0\n---\nAll is well.\n"),
        "a field": edited(b"findings: 0\n", b"findings: 0\nremark: none\n"),
        "another spelling": edited(b"findings: 0", b'findings: "0"'),
        "written anew": lambda file: (file.unlink(), file.write_bytes(runs.clean() + b"\n")),
    },
)
def test_changed_answers(arena: Arena, way: Callable[[Path], object]) -> None:
    run = arena.clone(evidence="dispatched", commands=arena.answering("NO_FINDINGS\n"))
    assert arena.qrspi("trust", "--yes").code == 0
    assert "Reviews passed clean" in arena.qrspi("next", "--dispatch").flat
    file = run / scenes.ROUND / "quality-claude.clean.md"
    before = file.read_bytes()
    way(file)
    assert file.read_bytes() != before
    not_passed(arena, run)


@attack(
    "an agent",
    "an approval that nobody gave is said to rest on a review, by rounds of its own making",
    {
        "made up": lambda run: by_hand(run, scenes.TAGS),
        "made up twice": lambda run: (by_hand(run, scenes.TAGS), by_hand(run, scenes.TAGS, 2)),
        "made up in part": lambda run: by_hand(run, scenes.TAGS[:1]),
        "as imported": lambda run: by_hand(run, scenes.TAGS, imported=True),
    },
)
def test_an_approval_by_copies(arena: Arena, way: Callable[[Path], object]) -> None:
    run = arena.clone()
    way(run)
    (run / "goals.md").write_bytes(runs.artifact("approved"))
    said = arena.qrspi("verify")
    assert said.code == 3
    assert "no record says who approved it, and no round of it is proven" in said.flat
    assert "reviewed here" not in said.flat
