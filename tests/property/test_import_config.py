"""Whatever stands in config.md, an import says what it would make of it, or why it cannot."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.config import reader as configs
from qrspi.core.importing import config_import
from qrspi.core.importing.config_import import Planned, Site
from qrspi.core.model import Problem

WORDS = """true false yes "no" 5 full quick loop_until_clean [goals] {a} none ~ maybe goals"""
ODD = ("", "[goals, questions]", "{a: b}", "'x: y'", "|", "*a", "&a b", "# note", "\t", "é")
VALUES = st.sampled_from((*WORDS.split(), *ODD))
KEYS = st.sampled_from(
    """codex_reviews codex_enabled second_reviewer pipeline route review_mode review_depth
    verifier_enabled scope_tagger_enabled visual_fidelity_required question_budget model_routing
    guard phase gates commit default_tier""".split()
)
LINES = st.lists(st.tuples(KEYS, VALUES).map(lambda pair: f"{pair[0]}: {pair[1]}\n"), max_size=8)
BODIES = st.sampled_from(
    ["", "\n# Text\n", "\n```yaml\nmodel_routing:\n  low: none\n```\n", "\n```\n"]
)
CONFIGS = st.builds(lambda lines, body: f"---\n{''.join(lines)}---\n{body}".encode(), LINES, BODIES)
SITE = Site("2026-03-02", frozenset(("goals.md", "design.md")), "implement")


@given(st.one_of(CONFIGS, st.binary(max_size=60)), st.booleans())
def test_there_is_always_a_plan_or_a_reason(data: bytes, late: bool) -> None:
    site = SITE if late else SITE._replace(step="")
    found = config_import.plan(data, {}, site)
    assert isinstance(found, Planned | Problem)
    if isinstance(found, Problem):
        return
    answers = {one.key: one.recommended for one in found.questions if one.recommended}
    again = config_import.plan(data, answers, site)
    assert isinstance(again, Planned)
    assert again.data == found.data
    unanswered = [one for one in again.questions if not one.recommended]
    bad = configs.read(again.data).problems
    assert unanswered or not bad, bad
