"""Files of a run that only qrspi commands write."""

from __future__ import annotations

from qrspi.core.filenames import (
    DISPATCH,
    EngineName,
    Rejected,
    SplitMarker,
    is_own_at_top,
    is_own_review,
    parse_round_file,
    round_number,
)
from qrspi.core.pipeline import CLOSED, MARKER
from qrspi.core.records.approvals import CASCADES, FILE

_RECORDS = (FILE, CASCADES, MARKER, CLOSED)


def is_engine_owned(path: str) -> bool:
    """Run-relative. What agents hand in, and answers to prompts, are not."""
    folder, _, name = path.rpartition("/")
    top = path.partition("/")[0]
    if top == ".qrspi":
        return not (path.startswith(f"{DISPATCH}/") and name.endswith(".reply"))
    if top == "phases" and folder:
        return True
    if not folder:
        return name in _RECORDS or is_own_at_top(name)
    if top != "reviews":
        return False
    if round_number(folder.rpartition("/")[2]):
        return isinstance(parse_round_file(name), EngineName | Rejected | SplitMarker)
    return is_own_review(name)


def holds_engine_files(path: str) -> bool:
    """Whether a folder of the run is one that such files lie in."""
    return path.partition("/")[0] in ("", ".qrspi", "reviews", "phases")
