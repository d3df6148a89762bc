"""`qrspi resolve`: answer the menu that a run stands at."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.app import verb
from qrspi.cli.decision_command import DecisionCommand
from qrspi.cli.run_words import is_subject
from qrspi.cli.session import Session
from qrspi.core.config import problems as config_problems
from qrspi.core.derivation.derive import derive, survey
from qrspi.core.errors import Misuse, Refusal
from qrspi.core.hints import Any
from qrspi.core.model import Next, Problem
from qrspi.core.pipeline import subject
from qrspi.core.steps import permits
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.menus import menu
from qrspi.handlers.menus.menu import More
from qrspi.render import outcomes, run_page
from qrspi.render.terminal import one_line
from qrspi.world.runs.committed_tree import CommittedTree

USAGE = "qrspi resolve [RUN] OPTION"
_SETTING = (["config", "set"], ["route", "set"])


@verb("resolve")
@arguments.words("[RUN] OPTION")
@click.option("--to", metavar="STEP", help="Where `rewind` goes.")
@arguments.failing
@arguments.reason
@arguments.text
@click.option("--yes", is_flag=True, help="Do not ask before a rewind.")
@arguments.person()
@arguments.dry_run()
def command(
    session: Session,
    words: tuple[str, ...],
    to: str | None,
    failing: bool,
    reason: str,
    text: str,
    yes: bool,
    who: str,
    dry_run: bool,
) -> None:
    """Answer the menu that a run stands at; `qrspi status` shows its options.

    An option is named by its word or by its number. Some are taken by a command of their own, which
    the refusal names; with --json each option has its `command`.
    """
    if not words:
        raise _unanswered(session)
    run, target, key = read_words(words)
    decision = DecisionCommand(session, "resolve", run)
    if key.isascii() and key.isdigit():
        surveyed = survey(decision.workspace, decision.path)
        if way := _of_config(surveyed.state.next, int(key)):
            _carried_out(decision, way, dry_run=dry_run)
            return
        here = _about(Job.of(decision.workspace, surveyed, decision.options), target)
        key = menu.named(here, int(key)) or key
    more = More(to, who, _reason(key, failing, reason), text)

    def plan(job: Job) -> ChangeSet:
        change = menu.plan(_about(job, target), key, more)
        if menu.approves(change):
            _must_be_allowed(decision, key, "approves")
        return change

    if key == "rewind" and not (yes or dry_run):
        command = f"qrspi resolve {decision.run.name} rewind --to {to or 'STEP'}"
        decision.confirm_rewind(plan(decision.look()), command)
    made = decision.decide(plan, dry_run=dry_run)
    verb = "Chosen" if made.done else "Would choose"
    decision.answer_and_go_on(made, f"{verb}: {one_line(key)}", option=key)


def _unanswered(session: Session) -> Misuse:
    """Without an OPTION: what the open menu offers, and how it is answered."""
    run = session.run(None)
    following = derive(CommittedTree(run.path), session.run_path(run)).next
    if not following.menu:
        text = f"no menu is open: {permits.now(following)}"
        return run_words.misuse(text, field="OPTION", hint=following.hint(run.name))
    keys = [option.key for option in following.menu]
    if following.who == "human" and not keys[0].isdigit():
        keys = [f"{at} ({key})" for at, key in enumerate(keys, 1)]
    listed = ", ".join(keys)
    text = f"say which option of {run.name}: {listed}"
    first = following.menu[0]
    hint = first.command or f"qrspi resolve {run.name} {first.key}"
    return run_words.misuse(text, field="OPTION", expected=listed, hint=hint)


def _must_be_allowed(decision: DecisionCommand, option: str, does: str) -> None:
    """A host's server may answer menus without the right to approve."""
    if not decision.session.may_approve:
        text = f"{option} {does}, which is not offered here: a person does it, or a server that is "
        way = f"qrspi resolve {decision.run.name}"
        raise Refusal(
            Problem("not-offered", f"{text}started as `qrspi mcp --allow-approve`", hint=way)
        )


def _about(job: Job, word: str | None) -> Job:
    return menu.about(job, subject(word) if word else None)


def _of_config(following: Next, number: int) -> str:
    """The way out of a fault in config.md that has this number; '' without such a menu."""
    is_way = following.kind == "config" and 0 < number <= len(following.options)
    return following.options[number - 1].label if is_way else ""


def _carried_out(decision: DecisionCommand, way: str, *, dry_run: bool) -> None:
    command, session = config_problems.command_of(way), decision.session
    if way == config_problems.ABORT:
        session.answer(_of_way(decision, "abort", dry_run), ["Nothing was changed."])
        return
    if not command:
        text = f"nothing was changed; that is left to you: {way}"
        raise Refusal(Problem("not-offered", text, field="OPTION", found=way))
    words = shlex.split(command)[1:]
    if words[:2] in _SETTING:
        _must_be_allowed(decision, f"`{command}`", "changes settings")
    if session.json:
        session.answer(_of_way(decision, command, dry_run, _quietly(session, words, dry_run)), [])
        return
    _run(session, words, dry_run)
    if words[:2] in _SETTING and not dry_run:
        following = derive(decision.workspace, decision.path).next
        session.answer({}, ["", *run_page.next_lines(following)])


def _run(session: Session, words: list[str], dry_run: bool) -> None:
    group = click.get_current_context().find_root().command
    group.main([*words, *(["--dry-run"] if dry_run else [])], obj=session, standalone_mode=False)


def _quietly(session: Session, words: list[str], dry_run: bool) -> tuple[Edit, ...]:
    """Whichever command it is, what is answered is about the option that was chosen."""
    from qrspi.cli.in_process import KeptSession

    kept = KeptSession(session, session.surface, b"")
    _run(kept, words, dry_run)
    session.note(*kept.notes)
    said = json.loads("".join(kept.written) or "{}")
    changed = said.get("changed", words[0] == "init")
    return (Edit("write", "config.md", " ".join(words)),) if changed else ()


def _of_way(
    decision: DecisionCommand, option: str, dry_run: bool, edits: tuple[Edit, ...] = ()
) -> dict[str, Any]:
    following = derive(decision.workspace, decision.path).next
    notes = () if edits else ("nothing was changed",)
    change = ChangeSet("resolve", following.step or "", 0, edits, notes=notes)
    document = outcomes.decision_document("resolve", decision.run.name, change, None, following)
    return document | {"option": option, "performed": [], "warnings": [], "dry_run": dry_run}


def _reason(key: str, failing: bool, reason: str) -> str:
    usage = "qrspi resolve [RUN] ship"
    if failing and key != "ship":
        text, hint = f"--failing goes with ship, not with {key}", f"{usage} --failing -m REASON"
        raise run_words.misuse(text, field="--failing", found=key, expected="ship", hint=hint)
    words = reason.strip()
    if words and key not in ("ship", "fix"):
        text = f"-m gives the reason of ship, or says what fix is to do; {one_line(key)} takes none"
        hint = "qrspi resolve --help"
        raise run_words.misuse(text, field="-m", found=key, expected="no -m", hint=hint)
    return words if key == "fix" else run_words.reason_to_ship(failing, reason, usage)


def read_words(words: Sequence[str]) -> tuple[str | None, str | None, str]:
    """`[RUN] [STEP] OPTION`."""
    match list(words):
        case [key]:
            return None, None, key
        case [target, key] if is_subject(target):
            return None, target, key
        case [run, key]:
            return run, None, key
        case [run, target, key] if is_subject(target):
            return run, target, key
        case _:
            raise run_words.misuse(f"expected {USAGE}", field="OPTION", hint=USAGE)
