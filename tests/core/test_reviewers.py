from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from qrspi.core import reviewers
from qrspi.core.config.reader import Config
from qrspi.core.pipeline import STEPS, Subject, subject

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = json.loads((ROOT / "qrspi" / "data" / "reviewers.json").read_text("utf-8"))
SCHEMA = json.loads((ROOT / "schemas" / "reviewers.schema.json").read_text("utf-8"))

ONE = Config(second_reviewer=False)
BOTH = Config(second_reviewer=True)


def about(word: str) -> Subject:
    found = subject(word)
    assert found is not None
    return found


@pytest.mark.rule("MTX-01")
def test_the_shipped_table_fits_its_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(SHIPPED)


@pytest.mark.rule("MTX-01")
@pytest.mark.parametrize(
    "change",
    [
        {"vendors": {"first": "claude"}},
        {"steps": {}},
        {"steps": SHIPPED["steps"] | {"goals": []}},
        {"steps": SHIPPED["steps"] | {"goals": ["quality", "quality"]}},
        {"task": {"quick": ["spec"]}},
        {"optional": ["Type Design"]},
        {"extra": []},
    ],
)
def test_the_schema_refuses_another_shape(change: dict[str, object]) -> None:
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(SHIPPED | change)


@pytest.mark.rule("MTX-01")
def test_the_table_is_loaded_once() -> None:
    assert reviewers.shipped() is reviewers.shipped()
    assert reviewers.shipped() == reviewers.read(json.dumps(SHIPPED))


@pytest.mark.rule("MTX-01")
@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("goals design phasing ux structure parallelize replan", "quality scope"),
        ("questions research", "quality"),
        (
            "plan",
            "quality scope spec security goal-traceability test-coverage silent-failure",
        ),
        ("implement-gate implement", "implement-gate"),
        ("integrate", "integration security"),
        ("test", "spec code-quality goal-traceability"),
        ("task-01 task-12b", "spec code-quality silent-failure security"),
    ],
)
def test_who_is_expected(words: str, names: str) -> None:
    first = tuple(f"{name}-claude" for name in names.split())
    second = tuple(f"{name}-codex" for name in names.split())
    for word in words.split():
        assert reviewers.expected_tags(about(word), ONE) == first
        assert reviewers.expected_tags(about(word), BOTH) == first + second
        assert reviewers.expected_tags(about(word), Config()) == first


@pytest.mark.rule("MTX-01", "MTX-04")
def test_a_deep_review_of_a_task() -> None:
    names = (
        "spec code-quality silent-failure security goal-traceability test-coverage code-simplifier"
    )
    deep = Config(second_reviewer=False, review_depth="deep")
    expected = tuple(f"{name}-claude" for name in names.split())
    assert reviewers.expected_tags(about("task-01"), deep) == expected
    assert reviewers.routed_tags(about("task-01"), deep) == {
        *expected,
        "type-design-claude",
        "visual-fidelity-claude",
    }


@pytest.mark.rule("MTX-04")
@pytest.mark.parametrize("depth", ["quick", "deep"])
def test_the_visual_reviewer_is_routed_for_every_task_and_expected_when_asked_for(
    depth: str,
) -> None:
    config = Config(second_reviewer=True, review_depth=depth)
    task = about("task-01")
    assert "visual-fidelity-claude" in reviewers.routed_tags(task, config)
    assert "visual-fidelity-claude" not in reviewers.expected_tags(task, config)
    assert reviewers.expected_tags(task, config, visual=True) == (
        *reviewers.expected_tags(task, config),
        "visual-fidelity-claude",
    )
    design = about("design")
    assert "visual-fidelity-claude" not in reviewers.routed_tags(design, config)
    assert "visual-fidelity-claude" not in reviewers.expected_tags(design, config, visual=True)


@pytest.mark.rule("MTX-04")
def test_only_type_design_is_optional() -> None:
    assert reviewers.optional_tags(about("task-01")) == {"type-design-claude", "type-design-codex"}
    assert reviewers.optional_tags(about("plan")) == frozenset()


@pytest.mark.rule("MTX-03")
@pytest.mark.parametrize(
    ("key", "word", "added"),
    [
        ("structure", "structure", True),
        ("structure", "design", False),
        ("task-01", "task-01", True),
        ("task-01", "task-02", False),
        ("implement", "task-02", True),
        ("implement", "implement-gate", False),
        ("implement-gate", "implement-gate", True),
        ("implement-gate", "implement", True),
        ("implement-gate", "task-01", False),
    ],
)
def test_extra_reviewers_are_added_as_they_are_named(key: str, word: str, added: bool) -> None:
    config = Config(second_reviewer=True, extra_reviewers={key: ("stitching-audit", "x-codex")})
    more = ("stitching-audit", "x-codex") if added else ()
    plain = reviewers.expected_tags(about(word), BOTH)
    assert reviewers.expected_tags(about(word), config) == plain + more
    assert set(more) <= reviewers.routed_tags(about(word), config)


@pytest.mark.rule("MTX-03")
def test_an_extra_reviewer_that_is_there_already_is_expected_once() -> None:
    config = Config(second_reviewer=False, extra_reviewers={"goals": ("quality-claude",)})
    assert reviewers.expected_tags(about("goals"), config) == ("quality-claude", "scope-claude")


@pytest.mark.rule("MTX-01")
def test_every_step_has_a_row_and_every_tag_fits_the_grammar_of_names() -> None:
    for step in STEPS:
        for tag in reviewers.expected_tags(about(step.name), BOTH):
            assert re.fullmatch(r"[a-z]+(-[a-z]+)*", tag)
