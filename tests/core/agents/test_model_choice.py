"""Tier, then model: every way to one, and every stop that says why there is none."""

from __future__ import annotations

import pytest

from qrspi.core.agents.model_choice import Route, resolve, trusted
from qrspi.core.agents.roles import Role
from qrspi.core.config.model_tiers import Model
from qrspi.core.config.reader import Config
from qrspi.core.model import Problem

LOW, MEDIUM, HIGH = Model("a", "small"), Model("a", "middle"), Model("b", "large")
OWN, SECOND = Model("c", "own"), Model("d", "second")
TABLE = {"extra-low": None, "low": LOW, "medium": MEDIUM, "high": HIGH, "extra-high": None}
CONFIG = Config(model_routing=TABLE)
VERIFIER = Role("verifier", "low", None, "text", "/lib/qrspi/roles/verifier.md")
UNTIERED = VERIFIER._replace(tier=None)
OWNED = VERIFIER._replace(model=OWN)
DESIGN = Role("author-design", "high", OWN, "text", "/p/docs/r/.qrspi/agents/author-design.md")
NO_TIER = (
    "the role verifier (/lib/qrspi/roles/verifier.md) has no tier and config.md has no "
    "default_tier: using tier medium"
)


@pytest.mark.rule("RTE-01")
@pytest.mark.parametrize(
    ("role", "default", "override", "expected"),
    [
        (
            VERIFIER,
            "medium",
            "high",
            Route(HIGH, "high", "model_routing.high in config.md, tier from --tier-override"),
        ),
        (
            VERIFIER,
            "high",
            None,
            Route(LOW, "low", "model_routing.low in config.md, tier from the role verifier"),
        ),
        (
            UNTIERED,
            "high",
            None,
            Route(
                HIGH, "high", "model_routing.high in config.md, tier from default_tier in config.md"
            ),
        ),
        (
            UNTIERED,
            None,
            None,
            Route(
                MEDIUM,
                "medium",
                "model_routing.medium in config.md, tier from the last resort",
                (NO_TIER,),
            ),
        ),
    ],
)
def test_the_tier_comes_from_the_nearest_word(role, default, override, expected):
    config = CONFIG._replace(default_tier=default)
    assert resolve(role, config, tier_override=override) == expected


def _message(answer: Route | Problem) -> str:
    assert isinstance(answer, Problem)
    assert answer.code == "no-model"
    return answer.message


@pytest.mark.rule("RTE-01")
def test_an_unknown_override_is_named():
    assert _message(resolve(VERIFIER, CONFIG, tier_override="huge")) == (
        "--tier-override: found 'huge', expected one of extra-low, low, medium, high, extra-high"
    )


@pytest.mark.rule("RTE-02")
def test_a_tier_without_a_model_stops_and_no_neighbour_stands_in():
    assert _message(resolve(VERIFIER._replace(tier="extra-high"), CONFIG)) == (
        "config.md: model_routing.extra-high is none, and the role verifier needs tier "
        "extra-high (from the role verifier); no other tier is used in its place"
    )


@pytest.mark.rule("RTE-02")
@pytest.mark.parametrize("table", [None, {"high": HIGH}])
def test_a_missing_table_or_row_stops(table):
    assert _message(resolve(VERIFIER, Config(model_routing=table))) == (
        "config.md: model_routing has no usable row for tier low, which the role verifier needs"
    )


@pytest.mark.rule("RTE-03")
@pytest.mark.parametrize(
    ("role", "entry"),
    [
        (OWNED, "verifier"),
        (OWNED, "qrspi/roles/verifier.md"),
        (OWNED, "./roles/verifier.md"),
        (OWNED, "/lib/qrspi/roles/verifier.md"),
        (DESIGN, ".qrspi/agents/author-design.md"),
        (DESIGN, "author"),
    ],
)
def test_a_trusted_role_goes_to_its_own_model(role, entry):
    config = Config(trusted_path=("reviewer", entry))
    answer = resolve(role, config)
    why = f"trusted_path in config.md lists {entry}: the role's own model"
    assert answer == Route(OWN, role.tier, why)


@pytest.mark.rule("RTE-03")
@pytest.mark.parametrize(
    "entry",
    ["verif", "verifier-x", "reviewer", "erifier.md", "other/verifier.md", "roles/verifier"],
)
def test_other_entries_do_not_mean_it(entry):
    assert resolve(OWNED, CONFIG._replace(trusted_path=(entry,))) == resolve(OWNED, CONFIG)


@pytest.mark.rule("RTE-03")
def test_a_trusted_role_without_a_model_stops_and_names_the_match():
    config = CONFIG._replace(trusted_path=("roles/verifier.md",))
    assert _message(resolve(VERIFIER, config)) == (
        "config.md: trusted_path lists 'roles/verifier.md', but the role verifier "
        "(/lib/qrspi/roles/verifier.md) names no model of its own; expected "
        "'model: {vendor: …, model: …}' in its frontmatter"
    )


@pytest.mark.rule("RTE-04")
def test_the_second_reviewer_has_the_firsts_tier_and_its_own_model():
    config = CONFIG._replace(second_reviewer_model=SECOND, trusted_path=("verifier",))
    assert resolve(OWNED, config, second=True) == Route(
        SECOND, "low", "second_reviewer_model in config.md, tier low from the role verifier"
    )


@pytest.mark.rule("RTE-04")
def test_a_second_reviewer_without_a_model_stops():
    assert _message(resolve(VERIFIER, CONFIG, second=True)) == (
        "config.md: second_reviewer_model is missing; expected {vendor: …, model: …} to send a "
        "second reviewer"
    )


@pytest.mark.rule("VLD-01")
def test_the_trusted_model_is_the_roles_own_or_there_is_none():
    assert trusted(OWNED) == Route(OWN, "low", "verifier names its own model")
    assert _message(trusted(VERIFIER)) == (
        "the role verifier (/lib/qrspi/roles/verifier.md) names no model of its own; expected "
        "'model: {vendor: …, model: …}' in its frontmatter"
    )
