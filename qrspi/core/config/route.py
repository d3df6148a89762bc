"""Changes of a run's route: which are allowed, and the one write that makes them."""

from __future__ import annotations

from collections.abc import Mapping

from qrspi.core.config import edit_text as config_text
from qrspi.core.config.edit import route_locked, with_budget
from qrspi.core.config.problems import ABORT, FILE, listed, quoted
from qrspi.core.config.reader import Config, is_unusable, read
from qrspi.core.model import Problem, Status
from qrspi.core.pipeline import ORDER, ROUTABLE, ROUTES, STEP


def template_of(route: tuple[str, ...]) -> str | None:
    return next((name for name, steps in ROUTES.items() if steps == route), None)


def change(
    config: Config, statuses: Mapping[str, Status], name: str, data: bytes
) -> bytes | Problem:
    """The new bytes of config.md: route, pipeline and question_budget together."""
    if name not in ROUTES:
        return _unknown(name)
    if is_unusable(config):
        return config.problems[0]
    return _refusal(config, statuses, name) or _rewritten(data, name)


def _unknown(name: str) -> Problem:
    names = tuple(ROUTES)
    message = f"there is no route {quoted(name)}; expected {listed(names)}"
    return Problem("unknown-route", message, field="route", found=name, expected=listed(names))


def _refusal(config: Config, statuses: Mapping[str, Status], name: str) -> Problem | None:
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
    return Problem(
        "route-would-lose",
        f"{FILE}: {artifacts} {verb} approved and no part of the {name} route; "
        f"to change to it, go back first: {back}",
        FILE,
        "route",
        found=", ".join(steps),
        expected=f"no approved step outside the {name} route",
        hint=back,
        options=("Keep the route as it is", f"Go back, then change the route: {back}", ABORT),
    )


def _rewritten(data: bytes, name: str) -> bytes | Problem:
    pipeline = "quick" if name == "quick" else "full"
    changed = config_text.put_words(data, "route", ROUTES[name])
    if not isinstance(changed, Problem):
        changed = config_text.put(changed, ("pipeline",), pipeline)
    if not isinstance(changed, Problem):
        changed = with_budget(changed, pipeline)
    if isinstance(changed, Problem):
        return changed
    return next((bad for bad in read(changed).problems if bad.field in _REWRITTEN), changed)


_REWRITTEN = ("route", "pipeline", "question_budget")
