"""A plain `status` without click.

People, prompts and hooks ask for it all day. A bare interpreter starts in 15 ms and the whole
answer takes some 30 ms more; importing click would double that. So the words of this one
command are read here when they are in the tables below; for anything else, and for every
mistake, there is click. Both ways end in `standing.show`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qrspi.cli.session import Session

_EVERYWHERE = {"--json": "json", "--no-color": "plain", "-q": "quiet", "--quiet": "quiet"}
_BEHIND_STATUS = {"--all": "everything", "--explain": "explain", "--checklist": "checklist"}


def answers(session: Session, words: Sequence[str]) -> bool:
    """Whether the words were a plain `status`, which is then answered."""
    settings: dict[str, Any] = {}
    request = _read(words, settings)
    if request is None:
        return False
    from qrspi.cli.standing import Request, show

    for name, value in settings.items():
        setattr(session, name, value)
    show(session, Request(**request))
    return True


def _read(words: Sequence[str], settings: dict[str, Any]) -> dict[str, Any] | None:
    """The fields of a request for `status`; None when this is for click to read."""
    request: dict[str, Any] | None = None
    rest = iter(words)
    for word in rest:
        if word in _EVERYWHERE:
            settings[_EVERYWHERE[word]] = True
        elif word == "--root":
            settings["root_option"] = next(rest, "-")
            if settings["root_option"].startswith("-"):
                return None
        elif request is None and word == "status":
            request = {}
        elif request is not None and word in _BEHIND_STATUS:
            request[_BEHIND_STATUS[word]] = True
        elif request is None or "run" in request or word.startswith("-"):
            return None
        else:
            request["run"] = word
    return request
