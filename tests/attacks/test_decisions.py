"""To have it taken for a person's decision what no person decided."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import quick, runs, scenes
from tests.attacks.arena import Arena, workshop
from tests.attacks.trial import attack

pytestmark = pytest.mark.rule("SEC-20", "LIV-08", "SEC-24")
PAUSE = "reviews/goals-loop-pause-round-01.md"


def undecided(arena: Arena, run: Path) -> None:
    """Nothing says that a person did it, and nothing follows from it."""
    for command in ("next", "status", "status --explain", "brief", "log", "explain"):
        said = arena.qrspi(*command.split()).flat
        assert "by a person" not in said and "by Ada" not in said, f"{command}: {said}"
    assert arena.qrspi("approve", "goals").code == 3
    assert b"status: approved" not in (run / "goals.md").read_bytes()


def paused(root: Path) -> Path:
    run = scenes.paused(root)
    scenes.advance(run)
    assert (run / PAUSE).exists()
    return run


@attack(
    "an agent",
    "the answer to a pause is written into its file",
    {
        "skip": lambda text: text.replace("pending", "skip"),
        "apply": lambda text: text.replace("pending", "apply"),
        "loop back": lambda text: text.replace("pending", "loop-back"),
        "nothing to answer": lambda text: re.sub(r"(?m)^.*pending.*\n", "", text),
    },
)
def test_a_pause(arena: Arena, way: Callable[[str], str]) -> None:
    run = arena.scene(paused)
    text = (run / PAUSE).read_text()
    assert way(text) != text
    (run / PAUSE).write_text(way(text))
    undecided(arena, run)


@attack(
    "an agent",
    "another answer is written over the one that a person gave",
    {
        "apply for skip": ("skip", "apply"),
        "loop back for skip": ("skip", "loop-back"),
        "skip for apply": ("apply", "skip"),
        "loop back for apply": ("apply", "loop-back"),
    },
)
def test_another_answer(arena: Arena, way: tuple[str, str]) -> None:
    run = arena.scene(paused)
    given, written = way
    finding = "quality-claude.R1-F01"
    assert arena.qrspi("decide", finding, given, "--dry-run").code == 0
    text = (run / PAUSE).read_text()
    assert arena.qrspi("decide", finding, given).code == 0
    chosen = (run / PAUSE).read_text()
    (run / PAUSE).write_text(chosen.replace(f": {given}", f": {written}"))
    assert text != chosen != (run / PAUSE).read_text()
    arena.qrspi("next")
    said = arena.qrspi("approve", "goals")
    assert said.code == 3, said.text
    assert b"status: approved" not in (run / "goals.md").read_bytes()


@attack(
    "an agent",
    "a round is closed by files that a person's word would leave",
    {
        "the verifier is off": ("round-01-verifier-disabled.md",),
        "dispositions": ("round-01-dispositions.md",),
        "dispositions and a commit": ("round-01-dispositions.md", "round-01-commit.txt"),
        "a skip": ("round-01-skipped.md", "round-01-skip.md"),
        "a flag": ("round-01-flag.md", "round-01.flag"),
    },
)
def test_files_of_a_decision(arena: Arena, way: tuple[str, ...]) -> None:
    run = arena.scene(scenes.prepared)
    head = scenes.git(arena.project, "rev-parse", "HEAD")
    for name in way:
        text = f"{head}\n" if name.endswith(".txt") else "---\nwho: Ada\n---\nSkipped.\n"
        (run / "reviews/goals" / name).write_text(text)
    undecided(arena, run)


@attack(
    "an agent",
    "another end is written over the one that a person gave a task",
    {
        "accepted for skipped": ("skip", "accepted-with-issues", False),
        "clean for skipped": ("skip", "clean", False),
        "skipped for accepted": ("accept", "skipped-by-user", True),
        "clean for accepted": ("accept", "clean", False),
    },
)
def test_another_end(arena: Arena, way: tuple[str, str, bool]) -> None:
    """What a person said counts, and an end that there is not stops the run."""
    verb, written, is_merged = way
    shop = workshop(arena)
    shop.next()
    shop.work("task-01", "a.py", "print('evil word')\n")
    shop.report("task-01")
    arena.qrspi("next")
    assert arena.qrspi("task", verb, "task-01", "-m", "Enough of it.").code == 0
    outcome = shop.run / "reviews/tasks/task-01/outcome.md"
    (ending,) = re.findall(r"(?m)^outcome: (.+)$", outcome.read_text())
    outcome.write_text(outcome.read_text().replace(ending, written))
    for command in ("next", "status", "task list", "brief"):
        assert "decided so" not in arena.qrspi(*command.split()).flat
    for words in (("resolve", "continue"), ("next",)):
        arena.qrspi(*words)
    assert ("evil" in shop.git("show", "main:a.py")) == is_merged


@attack(
    "an agent",
    "a task is ended by a file",
    {
        "accepted": ("accepted-with-issues", {}),
        "skipped": ("skipped-by-user", {}),
        "with a record of another task": ("accepted-with-issues", {"step": "task-02"}),
        "with a record of another end": ("accepted-with-issues", {"option": "skipped-by-user"}),
    },
)
def test_a_task(arena: Arena, way: tuple[str, dict[str, str]]) -> None:
    shop = workshop(arena)
    shop.next()
    shop.work("task-01", "a.py", "print('evil word')\n")
    shop.report("task-01")
    ending, record = way
    shop.write(
        "reviews/tasks/task-01/outcome.md",
        f"---\noutcome: {ending}\nending: {ending}\nwho: Ada\nreason: fine\n---\n",
    )
    if record:
        about = {"event": "task", "step": "task-01", "option": ending, "who": "Ada", "round": 0}
        with (shop.run / "approvals.jsonl").open("a") as log:
            log.write(json.dumps({**about, "time": "2026-05-17T09:30:00Z", **record}) + "\n")
    for command in ("next", "status", "task list", "brief"):
        said = arena.qrspi(*command.split()).flat
        assert "a person decided so" not in said and "Ada" not in said.replace("Ada Example", "")
    assert "evil" not in shop.git("show", "main:a.py")


RECORD = {
    "event": "approve",
    "step": "goals",
    "who": "Ada Boss",
    "round": 0,
    "time": "2026-05-17T09:30:00Z",
}


@attack(
    "an agent",
    "a text says itself that it is approved",
    {
        "alone": None,
        "with a record of another text": {**RECORD, "body_hash": "0" * 64},
        "with a record of another step": {**RECORD, "step": "design"},
        "with a record without a text": RECORD,
        "by a command": {},
    },
)
def test_says_so(arena: Arena, way: dict[str, object] | None) -> None:
    run = arena.clone(approvals="recorded")
    text = (run / "goals.md").read_bytes()
    if way == {}:
        arena.qrspi("frontmatter", "set", run / "goals.md", "status", "approved")
    else:
        (run / "goals.md").write_bytes(text.replace(b"status: draft", b"status: approved"))
    if way:
        (run / "approvals.jsonl").write_text(f"{json.dumps(way)}\n")
    goes_on = arena.qrspi("next").code == 0
    status = arena.qrspi("status", "--json").json["runs"][0]
    assert status["next"]["step"] == "goals" or not goes_on
    assert "[x]" not in arena.qrspi("status", "--checklist").out or not goes_on
    named = "goals" if goes_on else "approvals.jsonl"
    for command in ("status", "inbox", "doctor", "brief"):
        assert named in arena.qrspi(*command.split()).text


SPELT = {
    "twice": b"---\nstatus: draft\nstatus: approved\n---\n",
    "an alias": b"---\na: &a approved\nstatus: *a\n---\n",
    "a merge": b"---\na: &a {status: approved}\n<<: *a\n---\n",
    "a tag": b"---\nstatus: !!str approved\n---\n",
    "a block": b"---\nstatus: |-\n  approved\n---\n",
    "other letters": "---\nstatus: \u0430pproved\n---\n".encode(),
    "capitals": b"---\nstatus: Approved\n---\n",
    "a NUL": b"---\nstatus: approved\0\n---\n",
    "another document": b"---\nstatus: draft\n---\n---\nstatus: approved\n---\n",
    "a list": b"---\nstatus: [approved]\n---\n",
    "below another key": b"---\na:\n  status: approved\n---\n",
}


@attack("an agent", "a text says that it is approved in another spelling", SPELT)
def test_spelt(arena: Arena, way: bytes) -> None:
    run = arena.clone()
    (run / "goals.md").write_bytes(way + b"\n# Goals\n\n## Approach\n\nWords.\n")
    assert "[x]" not in arena.qrspi("status").text
    arena.qrspi("next")
    status = arena.qrspi("status", "--json").json["runs"][0]
    assert status["next"]["step"] == "goals" and status["steps"][0]["status"] != "approved"


@attack(
    "an agent",
    "a person's no is taken back by a file",
    {
        "the record is gone": lambda run: (run / "approvals.jsonl").unlink(),
        "the record is empty": lambda run: (run / "approvals.jsonl").write_bytes(b""),
        "the record is a folder": lambda run: (
            (run / "approvals.jsonl").unlink(),
            (run / "approvals.jsonl").mkdir(),
        ),
        "the record is not text": lambda run: (run / "approvals.jsonl").write_bytes(b"\xff\0" * 9),
        "the feedback is gone": lambda run: [
            file.unlink() for file in run.rglob("*feedback*") if file.is_file()
        ],
    },
)
def test_a_no(arena: Arena, way: Callable[[Path], object]) -> None:
    run = arena.scene(scenes.clean)
    arena.qrspi("next")
    assert arena.qrspi("reject", "goals", "-m", "Not like this.").code == 0
    arena.commit()
    way(run)
    arena.qrspi("next")
    assert "Reviews passed clean" not in arena.qrspi("status").flat
    assert arena.qrspi("approve", "goals").code != 0


@attack(
    "an agent",
    "a clean word says that something is wrong, and counts as clean",
    {
        "many lines": "\n".join(["It must not ship."] * 9),
        "a long line": "It must not ship. " * 40,
        "hidden behind blank lines": "\n" * 40 + "It must not ship.\n" * 7,
        "a field of its head": "remark: " + "It must not ship. " * 40 + "\n---\n",
        "a comment in its head": "# It must not ship.\n" * 9 + "---\n",
    },
)
def test_a_clean_word(arena: Arena, way: str) -> None:
    """In a quick run, where a clean step needs no person."""
    run = arena.scene(asked)
    for file in (run / "reviews/questions/round-01").glob("*.clean.md"):
        data = file.read_bytes()
        head = data.removesuffix(b"---\n") if way.endswith("---\n") else data
        file.write_bytes(head + way.encode())
    said = arena.qrspi("next").flat
    assert quick.status(run, "questions") == "draft"
    assert "It must not ship." in said


def asked(root: Path) -> Path:
    return quick.reviewed(root, "questions", git=True)


def unscored(root: Path) -> Path:
    """The verifier has failed, and a person is asked what to do."""
    run = scenes.reviewed(root)
    (run / scenes.ROUND / scenes.SCORE).write_bytes(runs.score("VERIFY_FAILED"))
    scenes.advance(run)
    return run


@attack(
    "an agent",
    "a decision is put on record under another name",
    {
        "an approval": (scenes.clean, ("approve", "goals", "--unreviewed")),
        "a no": (scenes.clean, ("reject", "goals", "-m", "No.")),
        "an answer": (unscored, ("resolve", "skip")),
        "a choice": (paused, ("decide", "quality-claude.R1-F01", "skip")),
    },
)
def test_another_name(arena: Arena, way: tuple[scenes.Scene, tuple[str, ...]]) -> None:
    scene, words = way
    run = arena.scene(scene)
    arena.qrspi("next")
    would = arena.qrspi(*words, "--as", "Ada Boss", "--dry-run").flat
    assert "Ada Example <ada@example.org> as Ada Boss" in would
    assert arena.qrspi(*words, "--as", "Ada Boss").code == 0
    record = runs.lines(run, "approvals.jsonl")[-1]
    said = json.dumps(record)
    assert "Ada Boss" in said and "ada@example.org" in said
    assert record["who"] != "Ada Boss"


@attack(
    "an agent",
    "a decision that is made without a terminal does not say whose it is",
    {
        "an answer": (unscored, ("resolve", "skip")),
        "a choice": (paused, ("decide", "quality-claude.R1-F01", "skip")),
        "a no": (scenes.clean, ("reject", "goals", "-m", "No.")),
        "a way back": (scenes.clean, ("rewind", "--to", "goals", "--yes")),
    },
)
def test_whose_it_is(arena: Arena, way: tuple[scenes.Scene, tuple[str, ...]]) -> None:
    scene, words = way
    run = arena.scene(scene)
    arena.qrspi("next")
    if words[0] == "rewind":
        assert arena.qrspi("approve", "goals", "--unreviewed").code == 0
    assert arena.qrspi(*words).code == 0
    assert runs.lines(run, "approvals.jsonl")[-1]["who"] == "Ada Example <ada@example.org>"
    rows = [line for line in arena.qrspi("log").text.splitlines() if not line.startswith(" ")]
    assert "Ada Example" in rows[-1]


@attack(
    "an agent",
    "a step that a person sent back approves itself",
    {
        "rejected": (("reject", "questions", "-m", "No."),),
        "rewound": (
            ("approve", "questions", "--unreviewed"),
            ("rewind", "--to", "questions", "--yes"),
        ),
        "taken back": (("approve", "questions", "--unreviewed"), ("unapprove", "questions")),
    },
    no_more="a person goes back in these three ways",
)
def test_sent_back(arena: Arena, way: tuple[tuple[str, ...], ...]) -> None:
    run = arena.scene(questions)
    arena.qrspi("next")
    for words in way:
        assert arena.qrspi(*words).code == 0
    text = (run / "questions.md").read_bytes() if (run / "questions.md").exists() else b""
    (run / "questions.md").write_bytes((text or runs.artifact()) + b"\nBetter.\n")
    for _ in range(2):
        arena.qrspi("next")
        for folder in sorted((run / "reviews/questions").glob("round-??")):
            number = int(folder.name[-2:])
            for tag in quick.tags(run, "questions"):
                (folder / f"{tag}.clean.md").write_bytes(runs.clean(tag, number))
    arena.qrspi("next")
    assert quick.status(run, "questions") == "draft"


def questions(root: Path) -> Path:
    return quick.make(root, "questions", git=True)
