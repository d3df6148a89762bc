"""To move the cursor, hide words or answer in the user's name, through what is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import runs, scenes
from tests.attacks.arena import LOOKS, Arena, workshop
from tests.attacks.trial import attack
from tests.cli.terminal import Terminal
from tests.deliveries import task

pytestmark = pytest.mark.rule("SEC-04", "SEC-23")
OBEYED = {
    "an escape": "\x1b[2J",
    "a title": "\x1b]0;x\x07",
    "a link": "\x1b]8;;http://x\x1b\\",
    "one byte": "\x9b2J",
    "a carriage return": "\rApproved",
    "a backspace": "\x08\x08",
    "right to left": "\u202egnorw",
    "an isolate": "\u2066x",
    "a tag": "".join(chr(0xE0000 + ord(one)) for one in "run"),
    "an invisible operator": "\u2061\u2064",
    "a filler": "\u115f\u3164\uffa0",
    "a selector": "\ufe00\U000e0100",
    "an annotation": "\ufff9\ufffb",
    "nothing wide": "\u200b\u200d\u2060\ufeff",
    "a deprecated format": "\u206a\u206f",
    "a blank": "\u2800\u3164",
    "nobody's letters": "\ue000\u0378\uffff",
}


def unseen(text: str, hostile: str) -> list[str]:
    """What was printed raw of it. Line ends and tabs of our own are none of it."""
    return [one for one in hostile if not (one.isprintable() and one < "\u0300") and one in text]


def in_a_finding(run: Path, text: str) -> None:
    file = run / "reviews/goals/round-01" / scenes.FINDING
    file.write_bytes(runs.finding(message=f"Wrong {text} here."))


def in_a_title(run: Path, text: str) -> None:
    (run / "goals.md").write_bytes(runs.artifact(body=f"# Goals {text}\n\n## {text}\n\nWords.\n"))


def in_a_name(run: Path, text: str) -> None:
    name = text.replace("/", "")
    (run / "reviews/goals/round-01" / f"x{name}.finding-F01.md").write_bytes(b"")
    (run / f"x{name}.md").write_bytes(b"")
    (run.parent / f"2026-01-01-x{name}").mkdir()
    (run.parent / f"2026-01-01-x{name}" / "goals.md").write_bytes(runs.artifact())


def in_settings(run: Path, text: str) -> None:
    quoted = text.encode("unicode_escape").decode()
    (run / "config.md").write_bytes(runs.config(base_branch=f'"x{quoted}"', colour=f'"{quoted}"'))


def in_records(run: Path, text: str) -> None:
    with (run / "approvals.jsonl").open("a") as log:
        log.write(f'{{"event": "reject{text}", "step": "goals", "as": "{text}"}}\n')
    with (run / ".qrspi/audit.jsonl").open("a") as log:
        log.write(f'{{"handler": "x{text}", "who": "{text}", "step": "{text}"}}\n')


def in_a_comment(run: Path, text: str) -> None:
    """Each part by itself: one that is not believed hides the others."""
    said = {"event": "comment", "id": "c1", "file": "goals.md", "start": 1, "end": 1, "lines": "x"}
    known = [{**said, "id": f"c{at}", key: text} for at, key in enumerate(PARTS, 1)]
    ends = [{"event": "resolve", "id": "c1", "when": text[:10], "who": text}]
    odd = [{**said, "id": text}, {**said, "file": text}]
    folder = run / "feedback"
    folder.mkdir(exist_ok=True)
    lines = [json.dumps(one) for one in (*known, *ends, *odd[: len(text) % 2])]
    (folder / "comments.jsonl").write_text("\n".join(lines) + "\n")


PARTS = ("message", "lines", "who", "when")


@attack(
    "an agent",
    "characters that a terminal obeys, or shows nobody, stand in whatever is printed",
    OBEYED,
)
def test_characters(arena: Arena, way: str) -> None:
    kept = arena.scene(scenes.assembled)
    put: Callable[[Path, str], None]
    for put in (in_a_finding, in_a_title, in_a_name, in_settings, in_records, in_a_comment):
        put(kept, way)
        for command in LOOKS:
            said = arena.qrspi(*command.split())
            raw = unseen(said.text, way)
            assert raw == [], f"{command} after {put.__name__}: {said.text!r}"


@attack(
    "an agent",
    "a question is answered or hidden by the text that it is about",
    {
        "a yes": "y\n\x1b[6n",
        "a cleared screen": "\x1b[2J\x1b[HApproved.",
        "a report": "\x1b[5n",
        "another screen": "\x1b[?1049h\x9b2J",
    },
)
def test_a_question(arena: Arena, way: str) -> None:
    run = arena.scene(scenes.clean)
    arena.qrspi("next")
    for tag in scenes.TAGS:
        (run / scenes.ROUND / f"{tag}.clean.md").write_bytes(runs.clean(tag) + way.encode())
    with Terminal("--root", arena.project, "approve", "goals") as terminal:
        terminal.until("(y/n)")
        sent = ("\x1b[2J", "\x1b[5n", "\x1b[6n", "\x1b[?1049h", "\x9b")
        assert not [one for one in sent if one in terminal.screen]
        terminal.type("n\n")
        assert terminal.end() != 0
    assert b"status: draft" in (run / "goals.md").read_bytes()


@attack(
    "an agent",
    "characters that a terminal obeys stand in the title of a task",
    {name: OBEYED[name] for name in ("an escape", "a title", "one byte", "right to left", "a tag")},
)
def test_a_task(arena: Arena, way: str) -> None:
    text = re.sub(r"(?m)^# Task 01.*$", f"# Task 01: Do {way} it", task(1).decode())
    shop = workshop(arena, **{"tasks/task-01.md": text.encode()})
    shop.next()
    for command in (*LOOKS, "next", "task list --json"):
        raw = unseen(arena.qrspi(*command.split()).text, way)
        assert raw == [], command
