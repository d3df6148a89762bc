"""Menus that say more than a sentence: a round that failed, and findings that wait for a person."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.model import HeldFinding, Next, counted
from qrspi.core.pipeline import STEP
from qrspi.core.text.shell_words import answers
from qrspi.render.terminal import one_line, visible

TITLE = "QRSPI verifier round failure"
MOST_LINES = 12  # of one finding's message; the file has the rest


def lines(following: Next) -> list[str]:
    return _failure(following) if following.kind == "failure" else _pause(following)


def _failure(following: Next) -> list[str]:
    numbered = enumerate(following.options, 1)
    command = following.command.removesuffix(" retry")
    said = following.summary  # of several failures the first, which is the first reason too
    return [
        TITLE,
        "─" * len(TITLE),
        one_line(following.summary),
        *(f"  {one_line(reason)}" for reason in following.because if reason not in said),
        "",
        "What would you like to do?",
        *(f"  {at}. {option.key:<5} - {option.label}" for at, option in numbered),
        "(no default; user must pick)",
        "",
        f"Answer with {answers(one_line(command), [one.key for one in following.options])}.",
    ]


def _pause(following: Next) -> list[str]:
    command = one_line(following.command.removesuffix(f" {following.missing[0]} apply"))
    proposed = [item for item in following.held if item.verdict == "propose"]
    paused = [item for item in following.held if item.verdict == "pause"]
    back = any(option.key == "loop-back" for option in following.options)
    return [
        f"Round {following.round} of {following.step} waits for you.",
        f"To be applied without asking: {following.to_apply}",
        *(_proposed(proposed, command) if proposed else ()),
        *(line for item in paused for line in _paused(item, command, can_go_back=back)),
    ]


def _proposed(items: Iterable[HeldFinding], command: str) -> list[str]:
    shown = [line for item in items for line in _finding(item)]
    how = answers(f"{command} --proposed", ("y", "n"))
    question = f"Apply all proposed findings? (y/n): {how}"
    return ["", "Proposed, without a score that would keep them:", *shown, question]


def _paused(item: HeldFinding, command: str, *, can_go_back: bool) -> list[str]:
    words = f"{command} {one_line(item.name)}"
    targets = " or ".join(STEP[step].artifact for step in item.targets) or "STEP"
    to = "" if len(item.targets) == 1 else " --to STEP"
    back = (f"3) Loop back to: {targets}", f"`{words} loop-back{to}`")
    ways = (
        ("1) Apply anyway", f"`{words} apply`"),
        ("2) Skip finding", f"`{words} skip`"),
        *((back,) if can_go_back else ()),
    )
    width = max(len(label) for label, _ in ways)
    return ["", *_finding(item), *(f"  {label:<{width}}  {how}" for label, how in ways)]


def _finding(item: HeldFinding) -> list[str]:
    cites = f" · cites {one_line(', '.join(item.cites))}" if item.cites else ""
    head = f"{one_line(item.name)} · {item.severity} · {item.change_type}{cites}"
    text = visible(item.message).strip().splitlines()
    lines = [head, *(f"    {line}".rstrip() for line in text[:MOST_LINES])]
    if len(text) > MOST_LINES:
        lines.append(f"    … {counted(len(text) - MOST_LINES, 'more line')}")
    return lines
