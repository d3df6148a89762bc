"""How an answer came into a round, from the lines of the trail."""

from __future__ import annotations

import pytest

from qrspi.core.records import audit_trail
from qrspi.core.records.audit_trail import Answer, Line, Touched
from qrspi.core.records.evidence import FOUND, Origin, of_answer, origins
from qrspi.core.tree import MemoryTree
from qrspi.world.files import json_log

FILE = "reviews/goals/round-01/quality-claude.clean.md"
A, B, C = "a" * 64, "b" * 64, "c" * 64
NOW = "2026-05-17T09:30:00Z"


def line(event: str, before: str | None, after: str | None, *answers: Answer) -> Line:
    return Line(NOW, "cli", event, files=(Touched(FILE, before, after),), answers=answers)


SENT = Answer("quality-claude", C, (FILE,), "job")
GIVEN = Answer("quality-claude", C, (FILE,))


@pytest.mark.rule("SEC-21")
@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ((), FOUND),
        ((line("dispatch-review", None, A, SENT),), Origin("dispatched", C, "job", NOW)),
        ((line("dispatch-verify", None, A),), Origin("dispatched", when=NOW)),
        ((line("split", None, A, GIVEN),), Origin("handed-in", C, "", NOW)),
        ((line("ingest", None, A, GIVEN),), Origin("handed-in", C, "", NOW)),
        ((line("finish-split", None, A),), FOUND),
        ((line("assemble", None, A),), FOUND),
        ((line("dispatch-review", None, B, SENT),), FOUND),
        (
            (line("dispatch-review", None, B, SENT), line("assemble", B, A)),
            Origin("dispatched", C, "job", NOW),
        ),
        ((line("dispatch-review", None, B, SENT), line("assemble", C, A)), FOUND),
        ((line("dispatch-review", A, None, SENT),), FOUND),
    ],
    ids=[
        "no line",
        "sent, with what came back",
        "sent by an older engine",
        "split",
        "ingested",
        "a split that was cut short",
        "the engine's own work on what was there",
        "other bytes under the same name",
        "put right by the engine",
        "changed by somebody, then put right",
        "removed",
    ],
)
def test_an_answer_is_what_the_trail_says_of_its_bytes(
    lines: tuple[Line, ...], found: Origin
) -> None:
    assert of_answer(origins(lines), FILE, A) == found


@pytest.mark.rule("SEC-21")
def test_the_trail_gives_its_lines_back() -> None:
    written = (
        line("dispatch-review", None, A, SENT),
        line("prepare-round", None, B)._replace(opened=C),
    )
    text = b"".join(json_log.encode(audit_trail.render(one)) for one in written)
    torn = text + b"no line\n[1]\n" + b'{"time": "x'
    assert audit_trail.lines(MemoryTree({audit_trail.FILE: torn})) == written
    assert audit_trail.lines(MemoryTree({})) == ()


@pytest.mark.rule("SEC-18")
def test_a_hash_proves_only_the_file_that_it_is_of() -> None:
    text = json_log.encode(audit_trail.render(line("prepare-round", B, A)))
    tree = MemoryTree({audit_trail.FILE: text})
    assert audit_trail.wrote(tree, FILE, (A,))
    assert not audit_trail.wrote(tree, FILE, (B, C))
    assert not audit_trail.wrote(tree, "goals.md", (A,))
    assert not audit_trail.wrote(MemoryTree({}), FILE, (A,))
