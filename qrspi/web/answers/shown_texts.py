"""The texts that were shown last, by their hash: a person who approves one that has changed since
can be shown the difference."""

from __future__ import annotations

from collections import OrderedDict

from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject
from qrspi.core.records import step_text
from qrspi.core.tree import Fault
from qrspi.world.files.run_tree import DiskTree

KEPT = 50
LIMIT = 4 * 1024 * 1024
_TRIES = 5


class ShownText(NamedTuple):
    subject: Subject
    hash: str
    texts: dict[str, str]  # by run-relative path, the artifact first
    faults: dict[str, Fault]


class ShownTexts:
    def __init__(self) -> None:
        self._known: OrderedDict[str, ShownText] = OrderedDict()

    def show(self, tree: DiskTree, subject: Subject) -> ShownText:
        """The text and the hash of exactly this text, even while somebody writes it."""
        for _ in range(_TRIES):
            before = step_text.body_hash(tree, subject)
            shown_now = _read(tree, subject)
            if before == step_text.body_hash(tree, subject):
                break
        shown = shown_now._replace(hash=before)
        self._known[before] = shown
        self._known.move_to_end(before)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return shown

    def known(self, hash: str) -> ShownText | None:
        return self._known.get(hash)


def _read(tree: DiskTree, subject: Subject) -> ShownText:
    paths = (subject.artifact,) if subject.is_task else step_text.paths(tree, subject.step)
    texts, faults = {}, {}
    for path in paths:
        data = tree.read(path, LIMIT)
        if isinstance(data, Fault):
            faults[path] = data
        else:
            texts[path] = data.decode("utf-8", "replace")
    return ShownText(subject, "", texts, faults)
