"""What a reviewer is told every time, in bytes: the longest of these texts, and a round of every
review of a quick and of a full run. What it was before they were cut stands beside it."""

from __future__ import annotations

from collections.abc import Iterator

from lab import Lab, Measure

from qrspi.core import reviewers
from qrspi.core.agents import roles
from qrspi.core.agents.roles import Role
from qrspi.core.config.reader import Config
from qrspi.core.filenames import finding_file
from qrspi.core.pipeline import ROUTES, subject_of
from qrspi.core.rounds import convergence
from qrspi.core.tree import MemoryTree
from qrspi.world.runs import role_files

LIMIT = 8 * 1024
BEFORE = {"quick": 198_089, "full": 350_944}


def fixed(stem: str, section: str, *, prints: bool = False) -> int:
    role = role_files.shipped(f"reviewer-{stem}")
    assert isinstance(role, Role)
    text = roles.compose(role, role_files.shared_parts(), prints=prints, section=section)
    return len(text.encode())


def reviews(route: str) -> Iterator[tuple[str, str]]:
    """Each reviewer of one round of every step, and of one task."""
    matrix = reviewers.shipped()
    for step in ROUTES[route]:
        yield from ((stem, step) for stem in matrix.steps.get(step, ()))
    yield from ((stem, "task") for stem in matrix.task["quick" if route == "quick" else "deep"])


def measure(lab: Lab) -> Iterator[Measure]:
    every = {*reviews("quick"), *reviews("full")}
    longest = max(fixed(*one, prints=True) for one in every)
    yield Measure("fixed part of a reviewer's prompt, longest", longest, "bytes", LIMIT)
    for route, before in BEFORE.items():
        sizes = [fixed(*one) for one in reviews(route)]
        note = f"{len(sizes)} prompts; {before} bytes before"
        yield Measure(f"fixed parts of a {route} run", sum(sizes), "bytes", note=note)
    yield third_round()


def third_round() -> Measure:
    """Of a plan about which one reviewer had something to say, with `later_rounds: raisers`."""
    about = subject_of("plan")
    tags = reviewers.expected_tags(about, Config(second_reviewer=False))
    said = {f"{about.reviews}/round-0{at}/{finding_file(tags[0], 1)}": b"" for at in (1, 2)}
    config = Config(second_reviewer=False, later_rounds="raisers")
    sent = convergence.choose_reviewers(MemoryTree(said), about, config, tags, 3, 0).tags
    every, some = (sum(fixed(_stem(tag), "plan") for tag in one) for one in (tags, sent))
    note = f"{len(sent)} of {len(tags)} prompts; {every} bytes with later_rounds: all"
    return Measure("fixed parts of a third round of plan", some, "bytes", note=note)


def _stem(tag: str) -> str:
    return roles.for_tag(tag).removeprefix("reviewer-")
