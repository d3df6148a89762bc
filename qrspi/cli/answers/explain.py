"""What `explain` says: why a run stands where it stands, with the files that were read for it."""

from __future__ import annotations

from qrspi.cli.session import Session
from qrspi.core.derivation.brief import reasons
from qrspi.core.derivation.derive import Survey, survey
from qrspi.core.recording_tree import RecordingTree, Seen
from qrspi.render import run_page
from qrspi.render.terminal import one_line, table
from qrspi.world.runs.committed_tree import CommittedTree


def show(session: Session, run: str | None = None) -> None:
    place = session.run(run)
    tree = RecordingTree(CommittedTree(place.path))
    found = survey(tree, session.run_path(place), thorough=True)
    session.answer(_document(found, tree.seen), _lines(found, tree.seen, session.width))


def _document(found: Survey, seen: tuple[Seen, ...]) -> dict[str, object]:
    shown = run_page.run_document(found.state)
    kept = "run path current_step complete closed next warnings errors tests".split()
    return {
        "schema": "qrspi/explain/v1",
        **{key: shown[key] for key in kept},
        "reasons": list(reasons(found)),
        "files": [file._asdict() for file in seen],
    }


_HOW = {"listing": "names in it", "start": "frontmatter", "whole": "all of it"}


def _lines(found: Survey, seen: tuple[Seen, ...], width: int) -> list[str]:
    state = found.state
    where = state.current_step or ("complete" if state.complete else "config.md")
    lines = [f"{one_line(state.run)} stands at {where}", ""]
    lines += [f"  - {one_line(reason)}" for reason in reasons(found)]
    odd = run_page.warnings(state)
    lines += ["", *odd, *([""] if odd else []), *run_page.next_lines(state.next), ""]
    rows = [(file.path, _HOW[file.how], file.found) for file in seen]
    return [*lines, *table(("READ", "HOW MUCH", "FOUND"), rows, width)]
