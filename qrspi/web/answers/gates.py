"""The answers that a run asks a person for, as forms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qrspi.cli.in_process import Commands
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP, subject
from qrspi.handlers.menus import menu
from qrspi.web.answers import forms
from qrspi.web.answers.forms import Form, Input
from qrspi.web.answers.shown_texts import ShownText
from qrspi.web.parts import words

Document = dict[str, Any]


class Following(NamedTuple):
    """The next action in a line, for pages that show something else."""

    who: str
    title: str
    where: str
    address: str


def following(run: Document) -> Following | None:
    if run["closed"] or run["complete"]:
        return None
    asked = run["next"]
    number = f", round {asked['round']}" if asked["round"] else ""
    where = f"{asked['step'] or 'config.md'}{number}"
    return Following(asked["who"], words.WHO[asked["who"]], where, answered_at(run))


def answered_at(run: Document) -> str:
    """The page that answers it: of a text to be approved, the one that shows all of it."""
    step = text_asked(run)
    return f"/runs/{run['run']}/{step}" if step else f"/runs/{run['run']}"


_TEXT_KINDS = {"approve", *(kind for kind, _ in menu.APPROVALS)}


def text_asked(run: Document) -> str:
    """The step whose text waits for a yes; '' where none does."""
    following = run["next"]
    asked = not run["closed"] and following["kind"] in _TEXT_KINDS and following["step"] in STEP
    return str(following["step"]) if asked else ""


def why(run: Document) -> list[str]:
    because = [one for one in run["next"]["because"] if one not in run["next"]["summary"]]
    waits = (one for one in run["next"]["waits_for"] if not any(one in said for said in because))
    return [*because, *(f"waits for `{one}`" for one in waits)]


def errors(run: Document) -> list[Document]:
    return [one for one in run["errors"] if one["message"] not in run["next"]["summary"]]


class Gate(NamedTuple):
    """`refused` says why nothing can be approved here and now."""

    forms: tuple[Form, ...] = ()
    refused: str = ""


def approval(commands: Commands, run: Document, step: str, shown: ShownText) -> Gate:
    """Yes or no to a text that is on the screen, or the menu of which one option is the yes."""
    if text_asked(run) != step or not shown.hash:
        return Gate()
    if run["next"]["kind"] == "approve":
        return _yes_or_no(commands, run, step, shown)
    return Gate(_options(run, shown.hash))


def _yes_or_no(commands: Commands, run: Document, step: str, shown: ShownText) -> Gate:
    """The command itself is asked whether it would approve: no rule about approvals stands here."""
    name, hidden = run["run"], (("step", step), ("hash", shown.hash))
    typed = forms.words(name, "approve", dict(hidden))
    assert not isinstance(typed, Problem)
    answer = commands.run(*typed, "--dry-run")
    code, message = answer.document.get("code"), str(answer.document.get("message", ""))
    no = Form(name, "reject", "Reject", (("step", step),), (_WHY,), folded=True)
    if answer.status and code != "not-reviewed":
        return Gate((no,), message)
    unread = (Input("unreviewed", f"{message}. I approve it all the same.", "check"),)
    inputs = unread if answer.status else ()
    yes = Form(name, "approve", f"Approve {STEP[step].artifact}", hidden, inputs, primary=True)
    again = (
        form for form in _options(run) if dict(form.hidden)["key"] not in ("approve", "reject")
    )
    return Gate((yes, no, *again))


_WHY = Input("text", "What is wrong with it? The author gets your words.", "long")


def of_run(run: Document) -> tuple[Form, ...]:
    """Every answer but the approval of a text, which must be on the screen."""
    name, following = run["run"], run["next"]
    if run["closed"]:
        return (Form(name, "reopen", "Take it up again", primary=True),)
    if following["who"] == "engine":
        return (Form(name, "next", "Go on", primary=True),)
    if following["who"] != "human" or text_asked(run) or following["kind"] in ("approve", "pause"):
        return ()
    return _options(run)


def aside(run: Document) -> tuple[Form, ...]:
    """What can be done whatever the run waits for."""
    why = Input("reason", "Why is it set aside?")
    form = Form(run["run"], "close", "Set the run aside", (), (why,), folded=True)
    return () if run["complete"] or run["closed"] else (form,)


def comment(run: str, step: str) -> Form:
    lines = Input("key", "Lines", "lines")
    message = Input("text", "What there is to say. Whoever writes the text next reads it.", "long")
    return Form(run, "comment", "Comment", (("step", step),), (lines, message), folded=True)


def _options(run: Document, text: str = "") -> tuple[Form, ...]:
    """The options of a menu; `text` is the hash of what one of them approves. Not every choice is
    one of a menu: a blocked task is taken or left by commands that want a reason."""
    if run["next"]["kind"] not in (*menu.MENUS, "config"):
        return ()
    return tuple(_option(run, option, text) for option in run["next"]["options"])


def _option(run: Document, option: Document, text: str) -> Form:
    following, key = run["next"], option["key"]
    named = (("hash", text),) if (following["kind"], key) in menu.APPROVALS else ()
    needed = tuple(_needed(option, run))
    return Form(
        run["run"],
        "resolve",
        key if following["kind"] != "config" else f"Option {key}",
        (*_about(following), ("key", key), *named),
        needed,
        says=option["label"],
        folded=bool(needed),
        primary=option == _usual(following),
    )


def _usual(following: Document) -> Document | None:
    """The option that is recommended, else the yes to a text that nothing speaks against. No other
    menu has one: a person has to choose."""
    options = following["options"]
    yes = (one for one in options if (following["kind"], one["key"]) in menu.APPROVALS)
    likely = (
        *(one for one in options if "recommended" in one["label"]),
        *(one for one in yes if "--failing" not in one["label"]),
    )
    return next(iter(likely), None)


def _about(following: Document) -> tuple[tuple[str, str], ...]:
    """Several tasks may stand at a menu at once."""
    reviewed = subject(following["step"] or "")
    return (("step", reviewed.key),) if reviewed and reviewed.is_task else ()


def _needed(option: Document, run: Document) -> Iterator[Input]:
    if option["key"] == "rewind":
        yield Input("to", "Back to", "choice", tuple(run["route"]))
    if "--failing" in option["label"]:
        yield Input("reason", "Why is it good enough as it is?")


class FindingForms(NamedTuple):
    finding: Document
    forms: tuple[Form, ...]


def held(run: Document) -> tuple[FindingForms, ...]:
    following = run["next"]
    if following["kind"] != "pause" or run["closed"]:
        return ()
    return tuple(FindingForms(one, tuple(_decide(run, one))) for one in following["held"])


_NOTE = {
    "apply": "Words for whoever applies it (may stay empty)",
    "skip": "Why, for the record (may stay empty)",
    "loop-back": "Words for whoever writes it (may stay empty)",
}


def _decide(run: Document, held: Document) -> Iterator[Form]:
    target = _about(run["next"])
    for option in run["next"]["options"]:
        if option["key"] in ("apply", "skip"):
            hidden = (*target, ("finding", held["name"]), ("choice", option["key"]))
            label, says = option["key"].capitalize(), option["label"]
            first = label == "Apply"
            note = Input("note", _NOTE[option["key"]], needed=False)
            yield Form(run["run"], "decide", label, hidden, (note,), says=says, primary=first)
    if held["targets"]:
        hidden = (*target, ("finding", held["name"]), ("choice", "loop-back"))
        to = Input("to", "Go back to", "choice", tuple(held["targets"]))
        note = Input("note", _NOTE["loop-back"], needed=False)
        yield Form(run["run"], "decide", "Loop back", hidden, (to, note), folded=True)
