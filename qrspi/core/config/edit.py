"""Changes to config.md that commands make: set, migrate, backfill. Bytes in, bytes out."""

from __future__ import annotations

from typing import NamedTuple

from qrspi.core.config import edit_text as config_text
from qrspi.core.config.fields import BUDGET_DEFAULT
from qrspi.core.config.problems import ABORT, FILE, quoted, renamed, unreadable, written
from qrspi.core.config.reader import (
    BACKFILLS,
    BLOCKS,
    KNOWN,
    Config,
    backfills,
    is_unusable,
    nearest,
    read,
)
from qrspi.core.model import Problem
from qrspi.core.pipeline import Subject
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml import reader as yaml
from qrspi.core.yaml.nodes import Scalar

PARTED = (BLOCKS | {"model_routing"}) - {"trusted_path"}
TEXTS = frozenset(
    """base_branch feature_branch code_path test_command ci_command vendor model base_url
    api_key_env""".split()
)


def set_value(
    data: bytes, key: str, value: str, *, plan_approved: bool = False
) -> bytes | tuple[Problem, ...]:
    """`qrspi config set KEY VALUE`: the new bytes, or why nothing is changed."""
    before = read(data)
    if is_unusable(before):
        return before.problems
    if refusal := _refusal(key, value, before, plan_approved):
        return (refusal,)
    edited = config_text.put(data, tuple(key.split(".")), _source(key, value))
    if key == "pipeline" and before.pipeline is None and not isinstance(edited, Problem):
        edited = with_budget(edited, value)
    if isinstance(edited, Problem):
        return (edited,)
    new = _introduced(before, read(edited), key)
    return tuple(problem._replace(hint=_hint(problem, key)) for problem in new) or edited


def _hint(problem: Problem, key: str) -> str:
    if key == "pipeline":
        return "route, pipeline and question_budget change together: qrspi route set NAME"
    block = key.rpartition(".")[0]
    if block and problem.field != key:
        return f"a block is set as a whole: qrspi config set {block} '{{…}}'"
    return ""


def _refusal(key: str, value: str, config: Config, plan_approved: bool) -> Problem | None:
    top, *parts = key.split(".")
    if key == "codex_reviews":
        return renamed(Scalar(value, value, 0, 0))
    if top not in KNOWN:
        return _unknown_key(key, nearest(top))
    if "" in parts or (parts and top not in PARTED):
        return _unknown_key(key, top)
    if plan_approved and key == "route" and config.route is not None:
        return route_locked()
    return None


def _unknown_key(key: str, near: str) -> Problem:
    message = f"{FILE} has no field {quoted(key)}"
    message += f"; the nearest is {near}" if near else f"; expected one of {', '.join(KNOWN)}"
    return Problem("field-unknown", message, FILE, key, key, near, options=(ABORT,))


def route_locked() -> Problem:
    return Problem(
        "route-locked",
        f"{FILE}: the route is fixed once plan.md is approved; "
        "to change it, go back to plan first: qrspi rewind --to plan",
        FILE,
        "route",
        hint="qrspi rewind --to plan",
        options=("Go back to plan, then change the route: qrspi rewind --to plan", ABORT),
    )


def _source(key: str, value: str) -> str:
    """A text is quoted where it needs it; everything else is YAML as the user gave it."""
    block, _, leaf = key.rpartition(".")
    is_text = leaf in TEXTS or block.endswith(".default_headers")
    return yaml.quote(value) if is_text else value.strip()


def with_budget(data: bytes, pipeline: str) -> bytes | Problem:
    """question_budget as the pipeline wants it: there on quick, gone on full."""
    match pipeline:
        case "full":
            return frontmatter.remove_field(data, "question_budget", FILE)
        case "quick" if _lacks_budget(data):
            return frontmatter.set_field(data, "question_budget", str(BUDGET_DEFAULT), FILE)
        case _:
            return data


def _lacks_budget(data: bytes) -> bool:
    problems = read(data).problems
    return any(p.field == "question_budget" and p.code == "field-missing" for p in problems)


def _introduced(before: Config, after: Config, key: str) -> tuple[Problem, ...]:
    """What is wrong because of the change, or still wrong with what was changed."""
    return tuple(
        problem
        for problem in after.problems
        if problem not in before.problems or f"{problem.field}.".startswith(f"{key}.")
    )


class Migration(NamedTuple):
    plan: tuple[str, ...]  # what is to be done, a line each; empty when nothing is
    data: bytes


def migrate(data: bytes) -> Migration | Problem:
    """What renamed fields need, and nothing else."""
    front = frontmatter.read(data, FILE)
    if not isinstance(front, frontmatter.Front):
        return front or unreadable(f"{FILE}:1:1: no frontmatter")
    old, new = front.fields.get("codex_reviews"), front.fields.get("second_reviewer")
    if old is None:
        return Migration((), data)
    if new is None:
        step = f"rename codex_reviews to second_reviewer, keeping its value {written(old)}"
        changed = config_text.rename(data, "codex_reviews", "second_reviewer")
    else:
        step = f"remove codex_reviews ({written(old)}); second_reviewer stays {written(new)}"
        changed = frontmatter.remove_field(data, "codex_reviews", FILE)
    return changed if isinstance(changed, Problem) else Migration((f"{FILE}: {step}",), changed)


def backfill(data: bytes, field: str, value: str) -> bytes | Problem:
    """The missing field as the last line inside the frontmatter."""
    return frontmatter.set_field(data, field, value, FILE)


_VISUAL_STEPS = ("goals", "design", "phasing", "plan")


def backfills_of(handler: str, about: Subject, config: Config) -> tuple[tuple[str, str], ...]:
    """Those that `round assemble`, `round scope` or `round prepare` is the first to need."""
    needed = {
        "assemble": {"verifier_enabled"},
        "scope": {"scope_tagger_enabled"},
        "prepare": {"scope_tagger_enabled"},
    }[handler]
    if handler == "prepare" and (about.is_task or about.key in _VISUAL_STEPS):
        needed.add("visual_fidelity_required")
    return tuple(pair for pair in backfills(config) if pair[0] in needed)


def backfill_warning(field: str) -> str:
    value = BACKFILLS[field]
    return f"{field} missing from {FILE} — backfilling default '{value}' for this run"


def write_back_failed(field: str, detail: str = "") -> Problem:
    return Problem(
        "backfill-failed",
        f"failed to write {field} to {FILE} — resolve before continuing",
        FILE,
        field,
        hint=detail,
        options=("Resolve what kept it from being written, then run the command again", ABORT),
    )
