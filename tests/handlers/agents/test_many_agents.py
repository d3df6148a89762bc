"""Hundreds of agents at once: what they are told waits on disk until somebody is told it."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from qrspi.core.derivation.derive import survey
from qrspi.handlers.agents.assignments import Assignment, assignments
from qrspi.handlers.agents.dispatch_options import How
from qrspi.handlers.jobs.job import Job, Options
from qrspi.world.files.overflow import IN_MEMORY, OnDisk, Overflow
from tests import runs
from tests.handlers.shop import Shop, in_review

LONG = "A line of the design that every reviewer of it is told.\n" * 400


def orders(shop: Shop, times: int) -> tuple[Assignment, ...]:
    """As many as that would be, if each were asked so often."""
    workspace = shop.workspace()
    job = Job.of(workspace, survey(workspace), Options())
    assert job is not None and job.next.asks
    job = job._replace(next=job.next._replace(asks=job.next.asks * times))
    return assignments(job, How(executor="celery")).ready


def most(shop: Shop, times: int) -> int:
    """Bytes that the prompts of so many take at the most."""
    tracemalloc.start()
    made = orders(shop, times)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(made) >= times
    return peak


@pytest.mark.rule("EXE-10")
def test_memory_does_not_grow_with_the_prompts_of_many(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop")
    shop.write("design.md", runs.artifact("draft", f"# Design\n\n{LONG}"))
    shop.commit("a long design")
    shop.next()
    one = orders(shop, 1)
    told = sum(len(each.prompt) for each in one)
    assert told > len(LONG)
    few, many = most(shop, 20), most(shop, 200)
    assert many - few < told * 180 / 10


@pytest.mark.rule("EXE-10")
def test_a_prompt_on_disk_is_the_prompt(tmp_path: Path) -> None:
    texts = [bytes([number]) * (IN_MEMORY // 3) for number in range(9)]
    overflow = Overflow()
    kept = [overflow.put(text) for text in texts]
    assert [isinstance(one, OnDisk) for one in kept] == [False] * 3 + [True] * 6
    assert [one.read() if isinstance(one, OnDisk) else one for one in kept] == texts
