"""Laws of convergence: it sees sets, and nothing but its inputs."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.model import Decision
from qrspi.core.rounds import convergence, scope_set
from qrspi.core.rounds.convergence import ScopeSetFile
from qrspi.core.rounds.scope_set import FULL

SHAS = st.sampled_from(["a" * 40, "b" * 40, None])
TAGS = ["## A", "## B", "### C", "plan.md", "tasks/task-01.md", FULL]
NOISE = ["# scope-set for round 9", "# warning: ## A", "#", "", "   "]
SETS = st.none() | st.lists(st.sampled_from(TAGS), max_size=4)


def lines(tags: list[str] | None) -> bytes | None:
    return None if tags is None else "".join(f"{tag}\n" for tag in tags).encode()


def decided(previous: bytes | None, current: bytes | None, **inputs: object) -> Decision:
    files: list[ScopeSetFile] = [
        None if data is None else scope_set.load(data) for data in (previous, current)
    ]
    return convergence.decide(previous=files[0], current=files[1], **inputs)  # type: ignore[arg-type]


INPUTS = st.fixed_dictionaries(
    {
        "number": st.integers(1, 120),
        "step": st.sampled_from(["design", "plan", "test"]),
        "tagger_enabled": st.booleans(),
        "flag": st.booleans(),
        "head_parent": SHAS,
        "previous_anchor": SHAS,
        "in_git": st.booleans(),
    }
)


@pytest.mark.rule("CNV-13")
@given(SETS, SETS, INPUTS)
def test_the_same_inputs_give_the_same_decision(
    previous: list[str] | None, current: list[str] | None, inputs: dict[str, object]
) -> None:
    first = decided(lines(previous), lines(current), **inputs)
    assert first == decided(lines(previous), lines(current), **inputs)


@pytest.mark.rule("CNV-07", "CNV-08", "SCP-04", "SCP-08")
@given(SETS, SETS, INPUTS, st.randoms(use_true_random=False))
def test_order_comments_repeats_and_line_ends_do_not_matter(
    previous: list[str] | None,
    current: list[str] | None,
    inputs: dict[str, object],
    chance: random.Random,
) -> None:
    def noisy(tags: list[str] | None) -> bytes | None:
        if tags is None:
            return None
        mixed = [*tags, *chance.choices(tags or NOISE, k=2), *chance.sample(NOISE, 3)]
        chance.shuffle(mixed)
        return "".join(f"{tag}{chance.choice(['', ' ', chr(9)])}\n" for tag in mixed).encode()

    plain = decided(lines(previous), lines(current), **inputs)
    noise = decided(noisy(previous), noisy(current), **inputs)
    assert noise._replace(scope_hint=()) == plain._replace(scope_hint=())
    assert sorted(noise.scope_hint) == sorted(plain.scope_hint)


@pytest.mark.rule("CNV-04", "CNV-05", "CNV-06", "CNV-10", "CNV-12", "CMT-03")
@given(SETS, SETS, INPUTS)
def test_to_narrow_everything_must_hold(
    previous: list[str] | None, current: list[str] | None, inputs: dict[str, object]
) -> None:
    found = decided(lines(previous), lines(current), **inputs)
    before, now = set(previous or ()), set(current or ())
    may = (
        inputs["tagger_enabled"]
        and inputs["step"] != "test"
        and not inputs["flag"]
        and inputs["number"] != 1
        and bool(now)
        and now <= before
        and FULL not in before
        and inputs["in_git"]
        and inputs["head_parent"] == inputs["previous_anchor"] is not None
    )
    assert found.narrow == bool(may)
    assert set(found.scope_hint) == (before if found.narrow else set())
    assert found.consumes_flag == inputs["flag"]
    assert found.round == int(str(inputs["number"])) + 1
