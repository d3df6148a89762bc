"""Frontmatter through both readers of YAML, which must never disagree."""

from __future__ import annotations

from random import Random

from qrspi.core.model import Problem
from qrspi.core.yaml import frontmatter, lenient_reader, reader, writer
from qrspi.core.yaml.frontmatter import Front
from qrspi.core.yaml.nodes import Document
from tests.fuzz.case import Fuzz
from tests.fuzz.yaml_mill import Mill

STATUSES = ("draft", "approved", "replan-draft", "'approved'", "Approved", "[draft]", "", "a: b")
BODIES = ("", "\n# Text\n", "---\nstatus: approved\n---\n", "\xff\n", "---\n")
ENDS = ("\n", "\n", "\n", "\r\n", "\r\n", "\r")
NOISE = "ab: \n-[]{},'\"\\#&*!|>%@`?\t\r<~x0Uué\u2028\x85\ufeff"
WANTED = frozenset(("status", "round"))


def make(random: Random) -> bytes:
    """Usual fields with up to a few odd ones among them, and now and then a broken character."""
    mill = Mill(random.choice((0, 0, 1, 1, 2, 4)), random)
    pieces = [mill.piece() for _ in range(random.randrange(5))]
    if random.random() < 0.5:
        line = f"status: {random.choice(STATUSES)}{mill.tail()}"
        pieces.insert(random.randrange(len(pieces) + 1), line)
    text = "\n".join([*pieces, ""])
    if text and random.random() < 0.15:
        at = random.randrange(len(text))
        text = text[:at] + random.choice(NOISE) + text[at + random.randrange(2) :]
    bom = "\ufeff" if random.random() < 0.02 else ""
    whole = f"{bom}---\n{text}---\n{random.choice(BODIES)}"
    return whole.replace("\n", random.choice(ENDS)).encode(errors="surrogatepass")


def check(data: bytes) -> str:
    front = frontmatter.read(data, "x.md")
    status, problem = frontmatter.status(data, "x.md")
    assert status in ("draft", "approved", "replan-draft", "invalid"), status
    assert problem is None or problem.message.isprintable(), problem
    if not isinstance(front, Front):
        assert front is None or front.message.isprintable(), front
        return "none" if front is None else "refused"
    text = data[front.start : front.end].decode()
    return _both(text, front) or _edited(data, front)


def _both(text: str, front: Front) -> str:
    """What both readers say of a text that is YAML."""
    flat, full = reader.read_flat(text), reader.compose(text, "x.md", first_line=2)
    assert isinstance(full, Document), full
    assert full.fields == front.fields, (full.fields, front.fields)
    lenient_reader.read(text, WANTED)
    if flat is None:
        return "full alone"
    assert flat == full.fields, (flat, full.fields)
    return ""


def _edited(data: bytes, front: Front) -> str:
    """A status that is set is there, the body is as it was, and setting it again does nothing."""
    changed = writer.set_field(data, "status", "approved", "x.md")
    if isinstance(changed, Problem):
        assert changed.code == "not-editable", changed
        return "both, not editable"
    after = frontmatter.read(changed, "x.md")
    assert isinstance(after, Front), after
    assert changed[after.body :] == data[front.body :], changed
    assert frontmatter.status(changed, "x.md") == ("approved", None), changed
    assert writer.set_field(changed, "status", "approved", "x.md") == changed, changed
    return "both"


FUZZ = Fuzz("frontmatters", 1_000_000, make, check)
