"""What a person can answer, and the command that each answer is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any, Literal

from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP, subject
from qrspi.core.records import step_text

Fields = Mapping[str, str]
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:-]*")


class Input(NamedTuple):
    name: str
    label: str
    kind: Literal["text", "long", "lines", "check", "choice"] = "text"
    choices: tuple[str, ...] = ()
    needed: bool = True

    @property
    def is_long(self) -> bool:
        return self.kind == "long"

    @property
    def is_lines(self) -> bool:
        return self.kind == "lines"

    @property
    def is_check(self) -> bool:
        return self.kind == "check"


class Form(NamedTuple):
    """A button, what is typed beside it, and the command that does the same."""

    run: str
    verb: str
    label: str
    hidden: tuple[tuple[str, str], ...] = ()
    inputs: tuple[Input, ...] = ()
    primary: bool = False
    folded: bool = False
    says: str = ""

    @property
    def command(self) -> str:
        needed = (one for one in self.inputs if one.kind != "check" and one.needed)
        typed = {one.name: _placeholder(one) for one in needed}
        known = dict(self.hidden)
        typed_words = words(self.run, self.verb, {**typed, **known})
        assert not isinstance(typed_words, Problem), typed_words
        if any(one.kind == "check" for one in self.inputs):
            typed_words = (*typed_words, "--unreviewed")
        return shlex.join(("qrspi", *typed_words)).replace("'TEXT'", "TEXT")

    @property
    def look(self) -> str:
        return "primary" if self.primary else "quiet"

    @property
    def key(self) -> str:
        """Tells it from the others of a page."""
        return "-".join((self.verb, *(value for name, value in self.hidden if name != "hash")))


def _placeholder(field: Input) -> str:
    if field.kind == "lines":
        return "L12-L20"
    return field.choices[0] if field.choices else "TEXT"


def words(run: str, verb: str, fields: Fields) -> tuple[str, ...] | Problem:
    """The command of a form that was sent; a problem for one that no page of ours has sent."""
    odd = _odd(fields)
    return odd if odd else _MAKERS[verb](run, fields)


def _odd(fields: Fields) -> Problem | None:
    for name in ("step", "finding", "choice", "to", "key", "hash"):
        value = fields.get(name, "")
        if value and not _PLAIN.fullmatch(value):
            return Problem("usage", f"{name}: {value!r} is not a word", field=name, found=value)
    step = fields.get("step", "")
    if step and subject(step) is None:
        return Problem("usage", f"{step!r} is not a step", field="step", found=step)
    return None


def _approve(run: str, fields: Fields) -> tuple[str, ...] | Problem:
    if fields.get("step", "") not in STEP or not fields.get("hash"):
        text = "an approval names its step and the text that was on the screen"
        return Problem("usage", text, field="hash")
    why = fields.get("reason", "").strip()
    return (
        *("approve", run, fields["step"], *_text(fields)),
        *(("--unreviewed",) if fields.get("unreviewed") else ()),
        *(("--failing", f"--message={why}") if why else ()),
    )


def _reject(run: str, fields: Fields) -> tuple[str, ...]:
    step = (fields["step"],) if fields.get("step") else ()
    return ("reject", run, *step, f"--message={fields.get('text', '')}")


def _decide(run: str, fields: Fields) -> tuple[str, ...]:
    target = (fields["step"],) if fields.get("step") else ()
    finding, choice = fields.get("finding", ""), fields.get("choice", "")
    sure = ("--yes",) if choice == "loop-back" else ()
    note = fields.get("note", "").strip()
    told = (f"--message={note}",) if note else ()
    return ("decide", run, *target, finding, choice, *_to(fields), *sure, *told)


def _resolve(run: str, fields: Fields) -> tuple[str, ...]:
    target = (fields["step"],) if fields.get("step") else ()
    key = fields.get("key", "")
    why = fields.get("reason", "").strip()
    failing = ("--failing", f"--message={why}") if why else ()
    sure = ("--yes",) if key == "rewind" else ()
    return ("resolve", run, *target, key, *_to(fields), *sure, *failing, *_text(fields))


def _text(fields: Fields) -> tuple[str, ...]:
    """The text that was on the screen."""
    known = fields.get("hash", "").removeprefix(step_text.VERSION)
    return ("--text", known) if known else ()


def _to(fields: Fields) -> tuple[str, ...]:
    return ("--to", fields["to"]) if fields.get("to") else ()


def _comment(run: str, fields: Fields) -> tuple[str, ...] | Problem:
    reviewed = subject(fields.get("step", ""))
    lines = fields.get("key", "")
    if reviewed is None or not re.fullmatch(r"L[0-9]{1,6}(-L[0-9]{1,6})?", lines):
        return Problem("usage", "a comment names its step and its lines", field="key")
    message = f"--message={fields.get('text', '')}"
    return ("comment", "add", run, f"{reviewed.artifact}:{lines}", message)


_MAKERS: dict[str, Any] = {
    "approve": _approve,
    "reject": _reject,
    "decide": _decide,
    "resolve": _resolve,
    "comment": _comment,
    "next": lambda run, fields: ("next", run),
    "close": lambda run, fields: ("close", run, f"--reason={fields.get('reason', '')}"),
    "reopen": lambda run, fields: ("reopen", run),
}
