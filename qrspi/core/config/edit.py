"""What commands write into config.md: all of it, one field, the route, what is missing."""

from __future__ import annotations

import re
from collections.abc import Mapping

from qrspi.core.config import edit_text
from qrspi.core.config.fields import BUDGET_DEFAULT
from qrspi.core.config.model_tiers import USUAL, USUAL_TIER, flow
from qrspi.core.config.problems import (
    ABORT,
    COMMAND,
    COMMANDS,
    FILE,
    listed,
    placeholder,
    quoted,
    renamed,
    unreadable,
    written,
)
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
from qrspi.core.model import Problem, Status
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import ORDER, ROUTABLE, ROUTES, STEP, Subject
from qrspi.core.text import shell_words
from qrspi.core.yaml import frontmatter, writer
from qrspi.core.yaml.nodes import Scalar

PARTED = (BLOCKS | {"model_routing"}) - {"trusted_path"}
TEXTS = frozenset(
    """base_branch feature_branch code_path test_command ci_command vendor model base_url
    api_key_env""".split()
)


def set_value(
    data: bytes, key: str, value: str, *, plan_approved: bool = False
) -> bytes | tuple[Problem, ...]:
    before = read(data)
    if is_unusable(before):
        return before.problems
    if refusal := _refusal(key, value, before, plan_approved):
        return (refusal,)
    edited = edit_text.put(data, tuple(key.split(".")), _source(key, value))
    if key == "pipeline" and before.pipeline is None and not isinstance(edited, Problem):
        edited = with_budget(edited, value)
    if isinstance(edited, Problem):
        return (edited,)
    new = _introduced(before, read(edited), key)
    return tuple(_as_typed(problem, key, value) for problem in new) or edited


def _as_typed(problem: Problem, key: str, value: str) -> Problem:
    """The fault is in the command, not in the file, so there is nothing to remove by hand."""
    block, _, part = key.rpartition(".")
    if problem.field == key and f"Remove {quoted(key)} from {FILE} by hand" in problem.options:
        near = nearest(part, re.findall(r"\w+", problem.expected.rpartition(" only ")[2]))
        return problem._replace(options=_instead(f"{block}.{near}" if near else "", value))
    problem = _not_written(problem)
    if key == "pipeline":
        hint = "route, pipeline and question_budget change together: qrspi route set NAME"
        return problem._replace(hint=hint)
    whole = f"a block is set as a whole: qrspi config set {block} '{{…}}'"
    return problem._replace(hint=whole if block and problem.field != key else "")


def _not_written(problem: Problem) -> Problem:
    """What was refused does not stand in the file."""
    text = problem.message.replace(
        f"{FILE}: {problem.field} is ", f"{FILE} is unchanged: {problem.field} would be ", 1
    )
    ways = tuple(way for way in problem.options if " by hand" not in way)
    return problem._replace(message=text, options=ways)


def _instead(near: str, value: str) -> tuple[str, ...]:
    if not near or near in PARTED:
        return (ABORT,)
    words = shell_words.command("qrspi", "config", "set", near, value)
    return (f"Set {near} instead: {words}", ABORT)


def _refusal(key: str, value: str, config: Config, plan_approved: bool) -> Problem | None:
    top, *parts = key.split(".")
    if key == "codex_reviews":
        return renamed(Scalar(value, value, 0, 0))
    if key in COMMANDS and value.strip() == COMMAND:
        return placeholder(key)
    if top not in KNOWN:
        return _unknown_key(key, nearest(top), value)
    if "" in parts or (parts and top not in PARTED):
        return _unknown_key(key, top, value)
    if plan_approved and key == "route" and config.route is not None:
        return route_locked()
    return None


def _unknown_key(key: str, near: str, value: str) -> Problem:
    message = f"{FILE} has no field {quoted(key)}"
    message += f"; the nearest is {near}" if near else f"; expected one of {', '.join(KNOWN)}"
    problem = Problem("field-unknown", message, FILE, key, key, near)
    return problem._replace(options=_instead(near, value))


def route_locked() -> Problem:
    back = "qrspi rewind --to plan"
    text = (
        f"{FILE}: the route is fixed once plan.md is approved; to change it, go back to plan "
        f"first: {back}"
    )
    ways = (f"Go back to plan, then change the route: {back}", ABORT)
    return Problem("route-locked", text, FILE, "route", hint=back, options=ways)


def _source(key: str, value: str) -> str:
    """A text is quoted where necessary; everything else is YAML as the user gave it."""
    block, _, leaf = key.rpartition(".")
    is_text = leaf in TEXTS or block.endswith(".default_headers")
    return writer.quote(value) if is_text else value.strip()


def with_budget(data: bytes, pipeline: str) -> bytes | Problem:
    """question_budget as the pipeline requires it: present on quick, absent on full."""
    if pipeline == "full":
        return writer.remove_field(data, "question_budget", FILE)
    faults = {(problem.field, problem.code) for problem in read(data).problems}
    if pipeline == "quick" and ("question_budget", "field-missing") in faults:
        return writer.set_field(data, "question_budget", str(BUDGET_DEFAULT), FILE)
    return data


def _introduced(before: Config, after: Config, key: str) -> tuple[Problem, ...]:
    return tuple(
        problem
        for problem in after.problems
        if problem not in before.problems or f"{problem.field}.".startswith(f"{key}.")
    )


class Migration(NamedTuple):
    plan: tuple[str, ...]  # what is to be done, one line each; empty when nothing is
    data: bytes


def migrate(data: bytes) -> Migration | Problem:
    front = frontmatter.read(data, FILE)
    if not isinstance(front, frontmatter.Front):
        return front or unreadable(f"{FILE}:1:1: no frontmatter")
    old, new = front.fields.get("codex_reviews"), front.fields.get("second_reviewer")
    if old is None:
        return Migration((), data)
    if new is None:
        step = f"rename codex_reviews to second_reviewer, keeping its value {written(old)}"
        changed = edit_text.rename(data, "codex_reviews", "second_reviewer")
    else:
        step = f"remove codex_reviews ({written(old)}); second_reviewer stays {written(new)}"
        changed = writer.remove_field(data, "codex_reviews", FILE)
    return changed if isinstance(changed, Problem) else Migration((f"{FILE}: {step}",), changed)


def backfill(data: bytes, field: str, value: str) -> bytes | Problem:
    return writer.set_field(data, field, value, FILE)


def backfills_of(handler: str, subject: Subject, config: Config) -> tuple[tuple[str, str], ...]:
    """The fields that `round assemble`, `round scope` or `round prepare` is the first to need."""
    needed = {"verifier_enabled" if handler == "assemble" else "scope_tagger_enabled"}
    visual = ("goals", "design", "phasing", "plan")
    if handler == "prepare" and (subject.is_task or subject.key in visual):
        needed.add("visual_fidelity_required")
    return tuple(pair for pair in backfills(config) if pair[0] in needed)


def backfill_warning(field: str) -> str:
    value = BACKFILLS[field]
    return f"{field} missing from {FILE} — backfilling default '{value}' for this run"


def write_back_failed(field: str, detail: str) -> Problem:
    text = f"failed to write {field} to {FILE} — resolve before continuing"
    way = "Resolve what kept it from being written, then run the command again"
    return Problem("backfill-failed", text, FILE, field, hint=detail, options=(way, ABORT))


# The route


def template_of(route: tuple[str, ...]) -> str | None:
    return next((name for name, steps in ROUTES.items() if steps == route), None)


def set_route(
    config: Config, statuses: Mapping[str, Status], name: str, data: bytes
) -> bytes | Problem:
    if name not in ROUTES:
        names = listed(tuple(ROUTES))
        text = f"there is no route {quoted(name)}; expected {names}"
        return Problem("unknown-route", text, field="route", found=name, expected=names)
    if is_unusable(config):
        return config.problems[0]
    return _route_refusal(config, statuses, name) or _with_route(data, name)


def _route_refusal(config: Config, statuses: Mapping[str, Status], name: str) -> Problem | None:
    """A route that is missing or bad can always be repaired."""
    if config.route is not None and statuses.get("plan") == "approved":
        return route_locked()
    lost = [
        step for step in ROUTABLE if statuses.get(step) == "approved" and step not in ROUTES[name]
    ]
    return _would_lose(tuple(lost), name) if lost else None


def _would_lose(steps: tuple[str, ...], name: str) -> Problem:
    artifacts = listed(tuple(STEP[step].artifact for step in steps), "and")
    verb = "is" if len(steps) == 1 else "are"
    back = f"qrspi rewind --to {min(steps, key=ORDER.__getitem__)}"
    text = (
        f"{FILE}: {artifacts} {verb} approved and no part of the {name} route; "
        f"to change to it, go back first: {back}"
    )
    expected = f"no approved step outside the {name} route"
    ways = ("Keep the route as it is", f"Go back, then change the route: {back}", ABORT)
    found = ", ".join(steps)
    return Problem("route-would-lose", text, FILE, "route", found, expected, back, ways)


def _with_route(data: bytes, name: str) -> bytes | Problem:
    pipeline = "quick" if name == "quick" else "full"
    changed = edit_text.put_route(data, ROUTES[name])
    if not isinstance(changed, Problem):
        changed = edit_text.put(changed, ("pipeline",), pipeline)
    if not isinstance(changed, Problem):
        changed = with_budget(changed, pipeline)
    if isinstance(changed, Problem):
        return changed
    fields = ("route", "pipeline", "question_budget")
    return next((bad for bad in read(changed).problems if bad.field in fields), changed)


# A new run


def initial(
    created: str,
    route: str,
    *,
    second_reviewer: bool,
    visual_fidelity_required: bool = False,
    recorded: bool = True,
    test_command: str = "",
) -> bytes:
    """Without `recorded`, what was approved before the run had records stays approved."""
    quick = route == "quick"
    lines = [
        "---",
        f"created: {created}",
        "# quick or full; only quick has a question_budget, the most research questions at once",
        f"pipeline: {'quick' if quick else 'full'}",
        "# whether a second model reviews too",
        f"second_reviewer: {str(second_reviewer).lower()}",
        "# the steps of this run, in order; change it with: qrspi route set",
        "route:",
        *(f"  - {step}" for step in ROUTES[route]),
        "# score each finding, and drop the weak ones",
        "verifier_enabled: true",
        "# narrow later rounds to what is still in question",
        "scope_tagger_enabled: true",
        *(_RECORDED if recorded else ()),
        *(_CASCADE if quick else ()),
        "# hold screens against their wireframes",
        f"visual_fidelity_required: {str(visual_fidelity_required).lower()}",
        *([f"question_budget: {BUDGET_DEFAULT}"] if quick else []),
        *(_tests(test_command) if test_command else ()),
        "# the model for each tier; a tier that is none is never used",
        "model_routing:",
        *(f"  {tier}: {flow(row)}" for tier, row in USUAL.items()),
        f"  default_tier: {USUAL_TIER}",
        "---",
    ]
    return "".join(f"{line}\n" for line in lines).encode()


_RECORDED = (
    "# approved is only what a person, or a clean round of a quick run, approved on record",
    "approvals: recorded",
)
_CASCADE = (
    "# clean questions, research and plan are approved without a person; off: always ask one",
    "cascade: on",
)


def _tests(command: str) -> tuple[str, ...]:
    remark = "# what runs the tests at the end; none when nothing does"
    return (remark, "gates:", f"  test_command: {writer.quote(command)}")
