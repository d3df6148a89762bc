"""One file of a host with our part added, or removed again, byte for byte."""

from __future__ import annotations

import json
import re

from qrspi.core.hints import assert_never
from qrspi.core.installing import host_parts, json_text
from qrspi.core.installing.host_parts import BEGIN, END, Content, Json, Lines, Toml, Whole
from qrspi.core.named_tuple import NamedTuple


class Edited(NamedTuple):
    text: str
    inserted: tuple[str, ...]  # the pieces that were added: without them it is the old text


class Unfit(NamedTuple):
    why: str  # the file is left as it is


def with_part(text: str | None, content: Content) -> Edited | Unfit:
    """`text` is without our part; None means no file."""
    match content:
        case Whole(whole):
            if text is not None:
                return Unfit("it was changed by hand, or is somebody else's: move it away first")
            return Edited(stamped(whole), (stamped(whole),))
        case Json():
            return _with_entries(text, content)
        case Toml(table, piece):
            return _with_table(text or "", table, piece)
        case Lines(lines):
            return _appended(text or "", f"{BEGIN}\n{lines}{END}\n")
        case _:
            assert_never(content)


_STAMP = "<!-- put here by qrspi install, {} -->\n"


def stamped(text: str) -> str:
    from qrspi.core.digest import sha256

    return text + _STAMP.format(sha256(text.encode()).hexdigest()[:16])


def _is_stamped(text: str) -> bool:
    """Whether some version of qrspi wrote the text, and nobody has changed it."""
    lines = text.splitlines(keepends=True)
    return bool(lines) and stamped("".join(lines[:-1])) == text


def _with_entries(text: str | None, content: Json) -> Edited | Unfit:
    now = content.skeleton if text is None else text
    why = no_json(now)
    if why:
        return Unfit(why)
    inserted: list[str] = []
    for entry in content.entries:
        place = json_text.insertion(now, *entry)
        if isinstance(place, str):
            return Unfit(place)
        now = now[: place.at] + place.text + now[place.at :]
        inserted.append(place.text)
    return Edited(now, (now,) if text is None else tuple(inserted))


def no_json(text: str) -> str:
    """Why a host ignores the file; '' when it reads it."""
    try:
        document = json.loads(text)
    except RecursionError:
        return "it is nested too deeply"
    except ValueError as error:
        return f"it is not JSON: {error}"
    return "" if isinstance(document, dict) else "it is not a JSON object"


def _with_table(text: str, table: str, piece: str) -> Edited | Unfit:
    import tomllib

    edited = _appended(text, piece)
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        return Unfit(f"it is not TOML: {error}")
    try:
        tomllib.loads(edited.text)
    except (ValueError, RecursionError):
        there = table.partition(".")[0]
        return Unfit(f"{there} is written there in a way that no table can be added to")
    return edited


def _appended(text: str, piece: str) -> Edited:
    """At the end, after an empty line, with the file's own line ends."""
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    inserted = (gap + piece).replace("\n", newline)
    return Edited(text + inserted, (inserted,))


def without_part(text: str, content: Content, inserted: tuple[str, ...]) -> str:
    """What others have changed since stays, as far as our part can be recognised."""
    exact = _taken_out(text, inserted)
    return _found_and_taken_out(text, content) if exact is None else exact


def is_blank(text: str, content: Content) -> bool:
    """Whether a file that we made contains nothing that somebody would miss."""
    if isinstance(content, Json) and not no_json(text or "{}"):
        return bool(json.loads(text or "{}") in ({}, json.loads(content.skeleton)))
    return not text.strip()


def _taken_out(text: str, inserted: tuple[str, ...]) -> str | None:
    """Each piece must be there once and unchanged."""
    for piece in reversed(inserted):
        if text.count(piece) != 1:
            return None
        text = text.replace(piece, "")
    return text if inserted else None


def _found_and_taken_out(text: str, content: Content) -> str:
    match content:
        case Whole():
            return "" if _is_stamped(text) else text
        case Json():
            return text if no_json(text) else json_text.removed(text, host_parts.is_ours)
        case Toml(table, _):
            name = re.escape(table)
            block = rf"(?:\r?\n)?^\[{name}(?:\.[^\]]*)?\][^\n]*\n?(?:(?!\s*\[)[^\n]*\n?)*"
            return re.sub(block, "", text, flags=re.MULTILINE)
        case Lines():
            block = rf"(?:\r?\n)?{re.escape(BEGIN)}.*?{re.escape(END)}(?:\r?\n)?"
            return re.sub(block, "", text, flags=re.DOTALL)
        case _:
            assert_never(content)


def holds_part(text: str, content: Content) -> bool:
    """Whether it contains some version of our part."""
    return _found_and_taken_out(text, content) != text
