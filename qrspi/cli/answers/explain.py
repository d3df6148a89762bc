"""What `explain` says: why a run stands where it stands, with the files that were read for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from qrspi.cli.session import Session
from qrspi.core.derivation.brief import reasons
from qrspi.core.derivation.derive import Survey, survey
from qrspi.core.recording_tree import Observation, RecordingTree
from qrspi.render import run_page
from qrspi.render.terminal import one_line, table
from qrspi.world.runs import machine_signs
from qrspi.world.runs.committed_tree import CommittedTree


def show(session: Session, run: str | None = None, *, files: bool = False) -> None:
    place = session.run(run)
    tree = RecordingTree(CommittedTree(place.path))
    found = survey(tree, session.run_path(place), thorough=True)
    found = found._replace(state=machine_signs.told(found.state, place.path))
    rows = _each(tree.seen) if files or not session.draws else _in_short(found, tree.seen)
    session.answer(_document(found, tree.seen), _lines(found, rows, session.width))


def _document(found: Survey, seen: tuple[Observation, ...]) -> dict[str, object]:
    shown = run_page.run_document(found.state)
    kept = "run path current_step complete closed next warnings errors tests".split()
    return {
        "schema": "qrspi/explain/v1",
        **{key: shown[key] for key in kept},
        "reasons": list(reasons(found)),
        "files": [file._asdict() for file in seen],
    }


_HOW = {"listing": "names in it", "start": "frontmatter", "whole": "all of it"}
Row = tuple[str, str, str]


def _each(seen: Iterable[Observation]) -> list[Row]:
    return [(file.path, _HOW[file.how], file.found) for file in seen]


def _in_short(found: Survey, seen: tuple[Observation, ...]) -> list[Row]:
    """On a screen: what the next action is about, and how many more there are in each folder."""
    following = found.state.next
    about = {*following.inputs, *following.missing, "config.md"}
    others = Counter(one.path.rpartition("/")[0] or "." for one in seen if one.path not in about)
    shown = _each(one for one in seen if one.path in about)
    return shown + [(f"{name}/", "", f"{count} more: --files") for name, count in others.items()]


def _lines(found: Survey, rows: list[Row], width: int) -> list[str]:
    state = found.state
    where = state.current_step or ("complete" if state.complete else "config.md")
    lines = [f"{one_line(state.run)} stands at {where}", ""]
    lines += [f"  - {one_line(reason)}" for reason in reasons(found)]
    odd = run_page.warnings(state)
    lines += ["", *odd, *([""] if odd else []), *run_page.next_lines(state.next), ""]
    return [*lines, *table(("READ", "HOW MUCH", "FOUND"), rows, width)]
