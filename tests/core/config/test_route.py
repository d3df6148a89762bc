"""Route changes: which are allowed, and that they are one consistent write."""

from __future__ import annotations

import pytest

from qrspi.core.config import edit as routes
from qrspi.core.config import reader as configs
from qrspi.core.config.edit import initial
from qrspi.core.config.reader import Config
from qrspi.core.model import Problem, Status
from qrspi.core.pipeline import ROUTES
from tests.core.config.menus import menu


def run(name: str) -> bytes:
    return initial("2026-05-17", name, second_reviewer=False)


def change(data: bytes, name: str, *approved: str) -> bytes | Problem:
    statuses: dict[str, Status] = dict.fromkeys(approved, "approved")
    return routes.set_route(configs.read(data), statuses, name, data)


def parts(data: bytes | Problem) -> tuple[object, ...]:
    assert isinstance(data, bytes)
    config = configs.read(data)
    assert config.problems == ()
    return config.pipeline, config.question_budget, config.route


@pytest.mark.rule("CFG-15", "CFG-18")
@pytest.mark.parametrize("old", ROUTES)
@pytest.mark.parametrize("new", ROUTES)
def test_route_pipeline_and_budget_change_together(old: str, new: str) -> None:
    quick = new == "quick"
    expected = ("quick" if quick else "full", 5 if quick else None, ROUTES[new])
    assert parts(change(run(old), new, "goals", "questions")) == expected


@pytest.mark.rule("CFG-18")
@pytest.mark.parametrize("old", ROUTES)
@pytest.mark.parametrize("new", ROUTES)
def test_there_and_back_changes_no_other_byte(old: str, new: str) -> None:
    there = change(run(old), new)
    assert isinstance(there, bytes)
    back = change(there, old)
    assert isinstance(back, bytes)
    budget = b"question_budget: 5\n"
    assert back.replace(budget, b"") == run(old).replace(budget, b"")


@pytest.mark.rule("CFG-16", "CFG-18")
def test_comments_on_the_steps_that_stay_are_kept() -> None:
    text = (
        "---\npipeline: quick # for now\nquestion_budget: 9\nsecond_reviewer: true\n"
        "route:\n- goals # ours\n\n# look around\n- questions\n- 'research'\n- plan\n- implement\n"
        "# ship it\n- test\n# done\nverifier_enabled: true\n---\nbody\n"
    )
    added = text.replace("- 'research'\n", "- 'research'\n- design\n- phasing\n- structure\n")
    added = added.replace("- plan\n", "- plan\n- parallelize\n")
    added = added.replace("- implement\n", "- implement\n- integrate\n")
    expected = added.replace("quick #", "full #").replace("question_budget: 9\n", "")
    assert change(text.encode(), "full") == expected.encode()


@pytest.mark.rule("CFG-18")
@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("route: [goals, plan] # two", "route: [{}] # two"),
        ("route: [\n  goals,\n  plan,\n]", "route: [{}]"),
        ("route: full", "route: [{}]"),
        ("route:", "route: [{}]"),
    ],
)
def test_other_ways_to_write_a_route(written: str, expected: str) -> None:
    text = "---\npipeline: full\n{}\nguard: strict\n---\n"
    steps = ", ".join(ROUTES["full-ux"])
    changed = change(text.format(written).encode(), "full-ux")
    assert changed == text.format(expected.format(steps)).encode()


@pytest.mark.rule("CFG-18")
def test_a_route_that_cannot_be_rewritten_in_place_is_refused() -> None:
    text = b"---\npipeline: full\nroute: [\n  goals, # first\n  plan,\n]\n---\n"
    result = change(text, "quick")
    assert isinstance(result, Problem)
    assert result.message == (
        "config.md: `route` cannot be changed here without touching what stands around it; "
        "expected it on a line of its own"
    )


@pytest.mark.rule("CFG-15")
@pytest.mark.parametrize("old", ROUTES)
@pytest.mark.parametrize("new", ROUTES)
def test_after_plan_is_approved_the_way_is_back_to_plan(old: str, new: str) -> None:
    result = change(run(old), new, "goals", "plan")
    assert isinstance(result, Problem)
    assert menu(result) == (
        "config.md: the route is fixed once plan.md is approved; "
        "to change it, go back to plan first: qrspi rewind --to plan\n"
        "  1) Go back to plan, then change the route: qrspi rewind --to plan\n"
        "  2) Abort\n"
    )


@pytest.mark.rule("CFG-15")
@pytest.mark.parametrize(
    ("new", "approved", "message"),
    [
        (
            "quick",
            ("goals", "design"),
            "config.md: design.md is approved and no part of the quick route; "
            "to change to it, go back first: qrspi rewind --to design",
        ),
        (
            "quick",
            ("structure", "ux", "design"),
            "config.md: design.md, ux.md and structure.md are approved and no part of the quick "
            "route; to change to it, go back first: qrspi rewind --to design",
        ),
        (
            "full",
            ("design", "ux"),
            "config.md: ux.md is approved and no part of the full route; "
            "to change to it, go back first: qrspi rewind --to ux",
        ),
    ],
)
def test_approved_work_is_not_dropped(new: str, approved: tuple[str, ...], message: str) -> None:
    result = change(run("full-ux"), new, *approved)
    assert isinstance(result, Problem)
    assert result.message == message
    assert result.options[-1] == "Abort"


@pytest.mark.rule("CFG-15")
def test_ux_can_be_added_while_design_is_approved() -> None:
    assert parts(change(run("full"), "full-ux", "goals", "design", "phasing")) == (
        "full",
        None,
        ROUTES["full-ux"],
    )


@pytest.mark.rule("CFG-15")
@pytest.mark.parametrize("status", ["draft", "replan-draft", "missing", "invalid"])
def test_only_approved_counts(status: Status) -> None:
    data = run("full")
    statuses: dict[str, Status] = {"plan": status, "design": status}
    assert parts(routes.set_route(configs.read(data), statuses, "quick", data))[0] == "quick"


@pytest.mark.rule("CFG-15", "CFG-03")
def test_a_missing_route_can_be_repaired_at_any_time() -> None:
    data = run("full").replace(b"route:", b"rout:")
    changed = change(data, "full", "goals", "plan")
    assert isinstance(changed, bytes)
    assert configs.read(changed).route == ROUTES["full"]


@pytest.mark.rule("CFG-18")
def test_a_budget_that_is_there_is_kept() -> None:
    data = run("quick").replace(b"question_budget: 5", b"question_budget: 9")
    assert parts(change(data, "quick")) == ("quick", 9, ROUTES["quick"])


def test_what_cannot_be_changed() -> None:
    unknown = change(run("full"), "fast")
    assert isinstance(unknown, Problem)
    assert unknown.message == "there is no route `fast`; expected quick, full or full-ux"
    broken = routes.set_route(configs.read(b""), {}, "full", b"")
    assert broken == configs.read(b"").problems[0]
    assert routes.set_route(Config(), {}, "full", b"") != b""


@pytest.mark.parametrize("name", ROUTES)
def test_the_name_of_a_route(name: str) -> None:
    assert routes.template_of(ROUTES[name]) == name
    assert routes.template_of(ROUTES[name][:-1]) is None
