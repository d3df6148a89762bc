"""How an answer came into a round, as far as the trail tells, and whose a page of the run is.

An answer is a file of a round: a finding, a clean sentinel, a score. Its bytes count, not its name:
a file that anybody but the engine changed counts as found.

A page is about what the engine saw itself: how the tests went, and CI. Anybody can write such a
page. One is the engine's own if the trail has it, or a commit of the engine signs it; any other
says nothing, and what it is about is done again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qrspi.core.digest import sha256 as digest_of
from qrspi.core.hints import Literal
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import audit_trail
from qrspi.core.records.audit_trail import Line
from qrspi.core.tree import Fault, Tree

# dispatched: the engine asked, and wrote what came back. handed-in: somebody gave it to the
# engine. found: it was simply there.
Evidence = Literal["dispatched", "handed-in", "found"]
HANDED_IN = ("split", "ingest", "submit-score", "submit-artifact")


class Origin(NamedTuple):
    evidence: Evidence
    reply: str = ""  # sha256 of what came back, or was handed in; '' in lines of older engines
    job: str = ""
    when: str = ""


FOUND = Origin("found")
Origins = Mapping[tuple[str, str], Origin]  # by run-relative path and sha256


def origins(lines: Iterable[Line]) -> Origins:
    """A later correction by the engine itself does not change a file's origin."""
    known: dict[tuple[str, str], Origin] = {}
    for line in lines:
        how = _how(line.event)
        replies = {file: answer for answer in line.answers for file in answer.files}
        for touched in line.files:
            if touched.after is None:
                continue
            at = (touched.path, touched.after)
            if how:
                answer = replies.get(touched.path)
                reply, job = (answer.reply, answer.job) if answer else ("", "")
                known[at] = Origin(how, reply, job, line.time)
            elif touched.before and (before := known.get((touched.path, touched.before))):
                known[at] = before
    return known


def _how(event: str) -> Evidence | None:
    if event.startswith("dispatch-"):
        return "dispatched"
    return "handed-in" if event in HANDED_IN else None


def of_answer(known: Origins, path: str, sha256: str) -> Origin:
    return known.get((path, sha256), FOUND)


SIGNATURE = "QRSPI-Page:"


def is_own_page(tree: Tree, path: str, data: bytes | Fault) -> bool:
    if isinstance(data, Fault):
        return False
    found = digest_of(data).hexdigest()
    return audit_trail.wrote(tree, path, (found,)) or tree.signed(signature(path, found))


def signature(path: str, sha256: str) -> str:
    return f"{SIGNATURE} {path} {sha256}"
