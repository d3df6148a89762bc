"""The config.md that `init` writes."""

from __future__ import annotations

from qrspi.core.config.fields import BUDGET_DEFAULT
from qrspi.core.config.model_tiers import USUAL, USUAL_TIER, flow
from qrspi.core.pipeline import ROUTES


def initial(
    created: str, route: str, *, second_reviewer: bool, visual_fidelity_required: bool = False
) -> bytes:
    """`route` is the name of a template: quick, full or full-ux."""
    pipeline = "quick" if route == "quick" else "full"
    lines = [
        "---",
        f"created: {created}",
        "# quick or full; only quick has a question_budget, the most research questions at once",
        f"pipeline: {pipeline}",
        "# whether a second model reviews too",
        f"second_reviewer: {_flag(second_reviewer)}",
        "# the steps of this run, in order; change it with: qrspi route set",
        "route:",
        *(f"  - {step}" for step in ROUTES[route]),
        "# score each finding, and drop the weak ones",
        "verifier_enabled: true",
        "# narrow later rounds to what is still in question",
        "scope_tagger_enabled: true",
        "# hold screens against their wireframes",
        f"visual_fidelity_required: {_flag(visual_fidelity_required)}",
        *([f"question_budget: {BUDGET_DEFAULT}"] if pipeline == "quick" else []),
        "# the model for each tier; a tier that is none is never used",
        "model_routing:",
        *(f"  {tier}: {flow(row)}" for tier, row in USUAL.items()),
        f"  default_tier: {USUAL_TIER}",
        "---",
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _flag(value: bool) -> str:
    return "true" if value else "false"
