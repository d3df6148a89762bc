"""Who travels to workers and who stays, and what a travelling prompt has in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi import engine
from qrspi.core.derivation.derive import survey
from qrspi.core.model import Ask
from qrspi.core.pipeline import ROUTES
from qrspi.handlers.agents.assignments import Assignment, assignments
from qrspi.handlers.agents.dispatch_options import JOBS, How, Sending
from qrspi.handlers.jobs.job import Job, Options
from tests import deliveries, runs
from tests.handlers.shop import Shop, at_questions, commands, in_review
from tests.handlers.workshop import Workshop

AWAY = How(executor="celery")


def chosen(shop: Shop, asks: tuple[Ask, ...] = (), how: How = AWAY) -> dict[str, Assignment]:
    workspace = shop.workspace()
    job = Job.of(workspace, survey(workspace), Options())
    assert job is not None
    job = job._replace(next=job.next._replace(asks=asks)) if asks else job
    return {one.name: one for one in assignments(job, how).ready}


@pytest.mark.rule("EXE-07", "EXE-17")
def test_reviewers_travel_by_their_vendors_name_whatever_config_says(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop", commands=commands("/bin/false"))
    shop.next()
    away = chosen(shop)
    assert {one.means.transport for one in away.values()} == {"celery"}
    assert {one.means.vendor for one in away.values()} == {"claude"}
    assert {one.means.named for one in away.values()} == {None}  # nothing of config.md is used
    for name, one in chosen(shop, how=How()).items():
        assert one.means.transport == "command"
        here, there = one.prompt.decode(), away[name].prompt.decode()
        assert str(shop.root) in here and str(shop.root) not in there
        assert "\n<<<UNTRUSTED-ARTIFACT-START id=diff-" in there
        assert "id=diff-" not in here


@pytest.mark.rule("EXE-17", "PRM-01")
def test_whoever_names_branches_is_told_the_slug_where_no_path_tells_it(tmp_path: Path) -> None:
    route = ROUTES["full"]
    before = runs.approved(*route[: route.index("parallelize")])
    files = {"config.md": runs.config("full", commands=commands("/bin/false")), **before}
    shop = Shop(tmp_path / "shop", {**files, "tasks/task-01.md": deliveries.task(1)})
    told = [chosen(shop, how=how)["author"].prompt.decode() for how in (AWAY, How())]
    assert ["\nslug: user-auth\n" in one for one in told] == [True, True]
    assert [f"\nrun_dir: {shop.run}\n" in one for one in told] == [False, True]


@pytest.mark.rule("EXE-17")
def test_questions_about_the_code_stay_where_the_code_is(tmp_path: Path) -> None:
    files = {
        "config.md": runs.config("full", commands=commands("/bin/false")),
        "goals.md": runs.artifact("approved"),
        "questions.md": runs.artifact(
            "approved", "# Q\n\n1. [codebase] Where?\n2. [web] What?\n3. Which?\n"
        ),
    }
    found = chosen(Shop(tmp_path / "shop", files))
    assert {name: one.means.transport for name, one in found.items()} == {
        "q01-codebase": "command",
        "q02-web": "celery",
        "q03-hybrid": "command",
    }


@pytest.mark.rule("EXE-07")
def test_authors_travel_too(tmp_path: Path) -> None:
    shop = at_questions(tmp_path / "shop")
    one = chosen(shop)["author"]
    assert one.means.transport == "celery"
    assert str(shop.root).encode() not in one.prompt


@pytest.mark.rule("EXE-17")
def test_a_model_that_cannot_be_named_to_a_worker_is_refused(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop")
    config = shop.run / "config.md"
    long = "x" * 129
    config.write_text(config.read_text().replace("model: large", f"model: {long}"))
    shop.commit("another model")
    workspace = shop.workspace()
    shop.next()
    job = Job.of(workspace, survey(workspace), Options())
    assert job is not None
    found = assignments(job, AWAY)
    assert [one.problem.message for one in found.unready] == [
        f"the model '{long}' cannot be named to a worker: expected at most 128 letters, digits and "
        ". _ : / @ + [ ] -, and no '-' at the front"
    ]


@pytest.mark.rule("EXE-21")
def test_how_many_at_once() -> None:
    assert JOBS == {"local": 8, "celery": 256}
    assert (Sending().at_once, Sending(how=AWAY).at_once, Sending(3, how=AWAY).at_once) == (
        8,
        256,
        3,
    )


@pytest.mark.rule("EXE-07")
def test_implementers_stay_where_the_work_tree_is(tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "shop", deliveries.quick(commands=commands("/bin/false")))
    workspace = shop.workspace()
    engine.advance(workspace, Options())
    job = Job.of(workspace, survey(workspace), Options())
    assert job is not None and {ask.kind for ask in job.next.asks} == {"implement"}
    assert {one.means.transport for one in assignments(job, AWAY).ready} == {"command"}
