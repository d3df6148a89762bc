"""Laws of a round on disk: looking changes nothing, doing twice is doing once, and what is
derived comes back."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qrspi.core.findings import guard, triage
from qrspi.core.model import Round
from qrspi.core.rounds import verified_file
from qrspi.core.tree import BODY_LIMIT, Entry, Fault, one_by_one
from qrspi.handlers.jobs.job import Options
from qrspi.handlers.rounds import round_results
from qrspi.world.runs.workspace import Workspace
from tests import runs
from tests.property.test_assembly import CLEANS, CONFIG, PLAN, ROUNDS, TAGS
from tests.property.test_assembly import Entry as Line
from tests.property.test_assembly import files as round_files

assert PLAN is not None
FOLDER = f"{PLAN.reviews}/round-01"
JUNK = st.dictionaries(
    st.sampled_from(
        ["R01-F01-quality-codex.md", ".x.swp", "notes.txt", f"{TAGS[0]}.finding-F01.md~", "a b.md"]
    ),
    st.binary(max_size=40),
    max_size=3,
)


class Shuffled:
    """The same files, listed in another order."""

    name = runs.RUN
    in_git = False

    def __init__(self, files: dict[str, bytes], chance: random.Random) -> None:
        self._tree = runs.tree(files)
        self._chance = chance

    def head(self, path: str) -> bytes | Fault:
        return self._tree.head(path)

    def read(self, path: str, limit: int = BODY_LIMIT) -> bytes | Fault:
        return self._tree.read(path, limit)

    read_each = one_by_one

    def entries(self, path: str) -> tuple[Entry, ...] | Fault:
        found = self._tree.entries(path)
        if isinstance(found, Fault):
            return found
        mixed = list(found)
        self._chance.shuffle(mixed)
        return tuple(mixed)


def assembled(found: Round) -> bytes:
    triaged = triage.partition(found, verifier_enabled=True, skipped=False)
    return verified_file.assemble(found, triaged, "true")


@pytest.mark.rule("ASM-01", "ST-07")
@settings(max_examples=40)
@given(ROUNDS, CLEANS, JUNK, st.randoms(use_true_random=False))
def test_the_order_of_a_listing_does_not_matter(
    entries: list[Line], cleans: list[str], junk: dict[str, bytes], chance: random.Random
) -> None:
    assert PLAN is not None
    contents = {f"{FOLDER}/{name}": data for name, data in round_files(entries, cleans).items()}
    contents |= {f"{FOLDER}/{name}": data for name, data in junk.items()}
    plain = guard.read_round(runs.tree(contents), PLAN, 1, CONFIG, None)
    mixed = guard.read_round(Shuffled(contents, chance), PLAN, 1, CONFIG, None)
    assert assembled(mixed) == assembled(plain)
    assert mixed.violations == plain.violations
    assert sorted(mixed.warnings) == sorted(plain.warnings)
    assert (mixed.silent_tags, mixed.unscored) == (plain.silent_tags, plain.unscored)


@contextmanager
def on_disk(contents: dict[str, bytes]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        settings = {"config.md": runs.config(second_reviewer="true")}
        yield runs.on_disk(Path(place), settings | contents)


def snapshot(run: Path) -> dict[str, bytes]:
    """Every file of the run but the engine's own folder."""
    found = (file for file in run.rglob("*") if file.is_file())
    names = {file.relative_to(run).as_posix(): file.read_bytes() for file in found}
    return {name: data for name, data in names.items() if not name.startswith(".qrspi/")}


ANSWERED = sorted({*TAGS, "silent-failure-claude", "silent-failure-codex"})


def whole(entries: list[Line]) -> dict[str, bytes]:
    """A round in which everybody has answered and everything is scored."""
    scored = [one if isinstance(one.score, int) else one._replace(score=75) for one in entries]
    made = round_files(scored, [tag for tag in ANSWERED if tag not in {one.tag for one in entries}])
    return {f"{FOLDER}/{name}": data for name, data in made.items()}


@pytest.mark.rule("GRD-02")
@settings(max_examples=10)
@given(ROUNDS, CLEANS, JUNK)
def test_checking_twice_changes_nothing(
    entries: list[Line], cleans: list[str], junk: dict[str, bytes]
) -> None:
    assert PLAN is not None
    contents = {f"{FOLDER}/x.keep": b"", **{f"{FOLDER}/{k}": v for k, v in junk.items()}}
    contents |= {f"{FOLDER}/{k}": v for k, v in round_files(entries, cleans).items()}
    with on_disk(contents) as run:
        before = snapshot(run)
        first = round_results.check(Workspace(run), PLAN, 1)
        assert round_results.check(Workspace(run), PLAN, 1) == first
        assert snapshot(run) == before
        assert not (run / ".qrspi").exists()


@pytest.mark.rule("RND-03", "ENG-07", "ASM-02")
@settings(max_examples=5)
@given(ROUNDS)
def test_what_assembling_writes_can_be_deleted_and_comes_back(entries: list[Line]) -> None:
    assert PLAN is not None
    with on_disk(whole(entries)) as run:
        round_results.assemble(Workspace(run), PLAN, 1, Options())
        once = snapshot(run)
        round_results.assemble(Workspace(run), PLAN, 1, Options())
        assert snapshot(run) == once
        (run / f"{FOLDER}-verified.md").unlink()
        (run / f"{FOLDER}/kept-findings.txt").unlink()
        round_results.assemble(Workspace(run), PLAN, 1, Options())
        assert snapshot(run) == once


@pytest.mark.rule("FND-09")
@settings(max_examples=5)
@given(ROUNDS, st.sampled_from([b"", b"\n\n", b"\r\n\n", b"\n\n\n"]))
def test_a_wrong_last_newline_changes_no_byte_of_the_result(
    entries: list[Line], ending: bytes
) -> None:
    assert PLAN is not None
    contents = whole(entries)
    ragged = {name: data.rstrip(b"\r\n") + ending for name, data in contents.items()}
    results = []
    for files in (contents, ragged):
        with on_disk(files) as run:
            round_results.assemble(Workspace(run), PLAN, 1, Options())
            results.append(snapshot(run))
    assert results[0] == results[1]
