"""The agents a run waits for, what came of sending them, and what they cost."""

from __future__ import annotations

from qrspi.core.hints import TYPE_CHECKING, Any
from qrspi.core.model import counted
from qrspi.render.problems import violation
from qrspi.render.terminal import cells_of, fitted, one_line, table

if TYPE_CHECKING:
    from qrspi.core.agents.spend import Group, LedgerEntry, Totals
    from qrspi.core.config.blocks import Limits
    from qrspi.core.model import Problem
    from qrspi.handlers.agents.awaited_agents import Waiting
    from qrspi.handlers.agents.fan_out import FanOut
    from qrspi.handlers.agents.ledger import Spending

_ANY = 10**6  # columns: a table as wide as it is
_SPENT = ("STEP", "ROUND", "ROLE", "MODEL", "CALLS", "TOKENS IN", "TOKENS OUT", "USD", "SECONDS")
_LESSER = ("SECONDS", "TOKENS OUT", "TOKENS IN", "ROUND", "MODEL")  # go first where it is narrow
# How agents can be sent, to be pasted into config.md. A vendor is what a row of model_routing says.
WIRES = (
    "To have them sent, put one of these between the --- lines of config.md.",
    "Claude Code:",
    "",
    "commands:",
    '  claude: {argv: [claude, -p, --model, "{model}", --output-format, json],',
    "           reply: claude-json}",
    "",
    "Codex, with rows in model_routing such as high: {vendor: codex, model: MODEL}:",
    "",
    "commands:",
    '  codex: {argv: [codex, exec, --json, --model, "{model}", "-"],',
    "          reply: codex-jsonl}",
    "",
    "An HTTP provider, with rows such as high: {vendor: shop, model: MODEL}:",
    "",
    "providers:",
    '  shop: {base_url: "https://api.example.com/v1", api_key_env: SHOP_API_KEY,',
    "         transport_type: openai-chat-completions}",
)


def _nobody(run: str) -> str:
    return f"The run waits for no agent now: `qrspi next {run}` says what it waits for."


def awaited_document(run: str, awaited: tuple[Waiting, ...]) -> dict[str, Any]:
    waiting = [{**one._asdict(), "round": one.round or None} for one in awaited]
    return {"schema": "qrspi/dispatch-list/v1", "run": run, "waiting": waiting}


def awaited_lines(run: str, awaited: tuple[Waiting, ...], width: int) -> list[str]:
    if not awaited:
        return [_nobody(run)]
    rows = [(one.name, one.role, _model(one), one.transport, _state(one)) for one in awaited]
    drawn = table(("AGENT", "ROLE", "MODEL", "VIA", "STATE"), rows, _ANY)
    if max(map(cells_of, drawn)) > width:  # an agent's name says nearly all of its role
        narrow = [(name, *others) for name, _, *others in rows]
        drawn = table(("AGENT", "MODEL", "VIA", "STATE"), narrow, width)
    troubles = [f"{one.name}: {one_line(one.problem)}" for one in awaited if one.problem]
    return [*drawn, *([""] if troubles else []), *troubles]


def _state(one: Waiting) -> str:
    return f"{one.state} on {one.worker}" if one.worker and one.state == "started" else one.state


def _model(waiting: Waiting) -> str:
    return f"{waiting.vendor}/{waiting.model}" if waiting.model else "?"


def sent_document(run: str, sent: FanOut | None) -> dict[str, Any]:
    return {
        "schema": "qrspi/dispatch-run/v1",
        "run": run,
        "step": sent.performed.step if sent else None,
        "round": (sent.performed.round or None) if sent else None,
        "files": list(sent.performed.files) if sent else [],
        "notes": list(sent.performed.notes) if sent else [],
        **ending_document(sent.stopped if sent else None, sent.held if sent else ()),
    }


def ending_document(stopped: Problem | None, held: tuple[str, ...]) -> dict[str, Any]:
    return {"stopped": violation(stopped) if stopped else None, "held": list(held)}


def sent_lines(run: str, sent: FanOut | None) -> list[str]:
    if sent is None:
        return [_nobody(run)]
    lines = [*map(one_line, sent.performed.files), *ending_lines(sent.stopped, sent.held)]
    return lines or ([] if sent.failures else ["Nobody was sent."])


def ending_lines(stopped: Problem | None, held: tuple[str, ...]) -> list[str]:
    lines = [one_line(stopped.message), f"  {stopped.hint}"] if stopped else []
    if held:
        names = one_line(", ".join(held))
        lines += [f"Not sent, as config.md has no command or provider for them: {names}.", *WIRES]
    return lines


def spending_document(run: str, spending: Spending) -> dict[str, Any]:
    return {
        "schema": "qrspi/spend/v1",
        "run": run,
        "groups": [
            {**group._asdict(), "round": group.round or None, **_totals(totals)}
            for group, totals in spending.groups
        ],
        "total": _totals(spending.total),
        "budgets": [
            {"whose": bound.whose, "limits": bound.limits._asdict(), "spent": _totals(spent)}
            for bound, spent in spending.budgets
        ],
        "unanswered": spending.unanswered,
    }


def _totals(totals: Totals) -> dict[str, Any]:
    return {**totals._asdict(), "usd": round(totals.usd, 6), "seconds": round(totals.seconds, 3)}


def spending_lines(spending: Spending, width: int) -> list[str]:
    open_calls = unanswered_lines(spending.unanswered)
    if not spending.groups:
        return open_calls or ["Nothing has been spent on this run."]
    rows = [_row(group, totals) for group, totals in spending.groups]
    lines = _fitting([*rows, ("total", "", "", "", *_figures(spending.total))], width)
    if spending.total.unpriced:
        lines.append(f"Nobody said what {counted(spending.total.unpriced, 'call')} cost.")
    if guess := spending.total.estimated:
        more = counted(guess, "more token")
        lines.append(f"About {more}, by the length of the texts: nobody counted them.")
    lines += open_calls
    for bound, spent in spending.budgets:
        lines.append(f"{bound.whose}: {', '.join(_left(bound.limits, spent))}")
    return lines


def _fitting(rows: list[tuple[str, ...]], width: int) -> list[str]:
    """Whole columns go, and what was spent stays."""
    for count in range(len(_LESSER) + 1):
        left_out = _LESSER[:count]
        places = [at for at, name in enumerate(_SPENT) if name not in left_out]
        shown = [[row[at] for at in places] for row in (_SPENT, *rows)]
        lines = table(shown[0], shown[1:], _ANY)
        if max(map(cells_of, lines)) <= width:
            break
    said = f"Too wide for here: {', '.join(left_out)}; `--json` has them."
    return [*(fitted(line, width) for line in lines), *([said] if left_out else [])]


def unanswered_lines(count: int) -> list[str]:
    if not count:
        return []
    which = "is on record as sent and has" if count == 1 else "are on record as sent and have"
    return [f"{counted(count, 'call')} {which} no answer: what that cost is not known."]


def _row(group: Group, totals: Totals) -> tuple[str, ...]:
    number = str(group.round) if group.round else "-"
    return (group.step, number, group.role, group.model or "?", *_figures(totals))


def _figures(totals: Totals) -> tuple[str, ...]:
    usd = "-" if totals.unpriced and not totals.usd else f"{totals.usd:.4f}"
    counts = (totals.calls, totals.input_tokens, totals.output_tokens)
    return (*map(str, counts), usd, f"{totals.seconds:.1f}")


def _left(limits: Limits, spent: Totals) -> list[str]:
    pairs = (
        (limits.calls, f"{spent.calls} of {limits.calls} calls"),
        (limits.tokens, f"{spent.tokens} of {limits.tokens} tokens"),
        (limits.usd, f"{spent.usd:.4f} of {limits.usd or 0:.4f} USD"),
    )
    return [text for limit, text in pairs if limit is not None]


def entered_line(entry: LedgerEntry, dry_run: bool) -> str:
    verb = "would enter" if dry_run else "entered"
    usd = "an unknown cost" if entry.usd is None else f"{entry.usd:.4f} USD"
    tokens = entry.input_tokens + entry.output_tokens
    calls, who = counted(entry.calls, "call"), one_line(f"{entry.role} ({entry.model})")
    return f"{verb}: {calls} of {who} for {entry.step}, {tokens} tokens, {usd}"
