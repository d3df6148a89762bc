"""The rubric, a row for each edge of each rule."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.gates import plan_words
from qrspi.core.gates.quality import rubric
from tests.task_texts import CRITERIA, PLAN, PROJECT, spec

GOOD = "`make links` passes."
VAGUE = "The links behave nicely in memory."


def steps(*texts: str) -> str:
    return "\n".join(f"{at}. {text}" for at, text in enumerate(texts, 1))


def lengths(*sizes: int) -> str:
    """Steps of so many characters, each with a verb and a target."""
    return steps(*(("Write `a.py` " + "x" * size)[:size] for size in sizes))


ROWS = {
    "a good task": ({}, []),
    "no criteria": ({"criteria": ""}, ["R-AC1 error"]),
    "one vague of two": ({"criteria": f"- {GOOD}\n- {VAGUE}"}, ["R-AC1 warning"]),
    "two vague": ({"criteria": f"- {GOOD}\n- {VAGUE}\n- Members like links."}, ["R-AC1 error"]),
    "lines without bullets": ({"criteria": f"{VAGUE}\nMembers like links."}, ["R-AC1 error"]),
    "nested points are one": ({"criteria": f"- {VAGUE}\n  - with `pytest`"}, []),
    "all repeat the title": (
        {"criteria": "- Keep sign-in links\n- keep the sign-in links", "description": "links"},
        ["R-AC1 error", "R-AC2 error"],
    ),
    "half repeat the title": (
        {
            "criteria": "- Keep `sign-in` links\n- A link is refused with 410.",
            "description": "link",
        },
        ["R-AC2 warning"],
    ),
    "a third repeats the title": (
        {
            "criteria": "- Keep `sign-in` links\n- A link is refused.\n- A link expires.",
            "description": "link",
        },
        [],
    ),
    "four of five words": (
        {"criteria": "- keep sign-in links `now`", "title": "keep sign-in links", "plan": PLAN},
        ["R-AC2 error"],
    ),
    "three of four words": (
        {
            "criteria": "- keep links `now` refused",
            "title": "keep links now",
            "description": "link",
        },
        [],
    ),
    "not grounded": (
        {"criteria": "- `curl` exits with 0.", "description": "Links.", "context": "Mail."},
        ["R-AC3 warning"],
    ),
    "not grounded, and said so": (
        {"criteria": "- [INFERRED] `curl` exits with 0.", "description": "Links."},
        [],
    ),
    "grounded in the context": (
        {"criteria": "- `curl` exits with 0.", "description": "Links.", "context": "See curl."},
        [],
    ),
    "a draft of criteria": ({"criteria": f"{CRITERIA}\n- [DRAFT-AC] `link`"}, ["R-AC4 error"]),
    "in another case": ({"criteria": f"{CRITERIA} [needs-refine]"}, ["R-AC4 error"]),
    "the plan's mark in criteria": ({"criteria": f"{CRITERIA} [DRAFT-EP]"}, ["R-AC4 error"]),
    "the criteria's mark in the plan": ({"plan": f"{PLAN} [DRAFT-AC]"}, ["R-EP5 error"]),
    "a draft of a plan": ({"plan": f"{PLAN} [DRAFT-EP]"}, ["R-EP5 error"]),
    "a plan to be refined": ({"plan": f"{PLAN} [NEEDS-REFINE]"}, ["R-EP5 error"]),
    "no plan": ({"plan": ""}, ["R-EP1 error", "R-EP3 warning"]),
    "bullets are no steps": ({"plan": "- Write `links.py`, whole"}, ["R-EP1 error"]),
    "two steps": ({"plan": lengths(40, 40)}, ["R-EP1 error"]),
    "three steps": ({"plan": lengths(40, 40, 40)}, []),
    "seven steps": ({"plan": lengths(*[40] * 7)}, []),
    "eight steps": ({"plan": lengths(*[40] * 8)}, ["R-EP1 warning"]),
    "30 characters": ({"plan": lengths(30, 30, 30)}, []),
    "just under 30": ({"plan": lengths(30, 30, 29)}, ["R-EP2 warning"]),
    "25 characters": ({"plan": lengths(25, 25, 25)}, ["R-EP2 warning"]),
    "just under 25": ({"plan": lengths(25, 25, 24)}, ["R-EP2 error"]),
    "a step without a verb": (
        {"plan": steps("The `a.py` beside its dictionary of tokens", *[f"Write {'x' * 30}"] * 2)},
        ["R-EP2 warning"],
    ),
    "nothing concrete": (
        {"plan": steps(*["Write down the dictionary from token to member"] * 3)},
        ["R-EP3 warning"],
    ),
    "no working directory": ({"working_directory": ""}, ["R-EP4 error"]),
    "for a person": ({"working_directory": "", "executor": "human"}, []),
    "for a person, by another spelling": ({"working_directory": "", "executor": "Human"}, []),
    "for an agent": ({"working_directory": "", "executor": "claude"}, ["R-EP4 error"]),
    "a folder of the project": ({"working_directory": "web"}, []),
    "the same in another way": ({"working_directory": "./web/"}, []),
    "no such folder": ({"working_directory": "app"}, ["R-EP4 error"]),
    "a file": ({"working_directory": "links.py"}, ["R-EP4 error"]),
    "outside": ({"working_directory": ".."}, ["R-EP4 error"]),
    "absolute": ({"working_directory": "/tmp"}, ["R-EP4 error"]),
    "at home": ({"working_directory": "~/x"}, ["R-EP4 error"]),
    "a path out of the project": ({"plan": f"{PLAN} See ../other/a.py."}, ["R-EP4 error"]),
    "a path that comes back": ({"plan": f"{PLAN} See web/../links.py."}, []),
    "an absolute path": ({"plan": f"{PLAN} See `/etc/passwd`."}, ["R-EP4 error"]),
    "a path at home": ({"plan": f"{PLAN} See ~/notes.txt."}, ["R-EP4 error"]),
    "a drive": ({"plan": f"{PLAN} See C:\\notes.txt."}, ["R-EP4 error"]),
    "an address of a request": ({"plan": f"{PLAN} Send POST /login and GET /home/ada."}, []),
    "an address": ({"plan": f"{PLAN} See https://example.org/etc/passwd."}, []),
    "nowhere": ({"plan": f"{PLAN} Send it to >/dev/null."}, []),
    "a path that is not there yet": ({"plan": f"{PLAN} Write new/folder/a.py."}, []),
    "a person may go anywhere": (
        {"plan": f"{PLAN} See /etc/passwd.", "executor": "human", "working_directory": ""},
        [],
    ),
}


@pytest.mark.rule("QV-03", "GTD-13")
@pytest.mark.parametrize(("more", "said"), ROWS.values(), ids=ROWS.keys())
def test_the_rubric(more: dict[str, str], said: list[str]) -> None:
    found = rubric.remarks(spec(**more), PROJECT)
    assert [f"{one.rule} {one.level}" for one in found] == said


@pytest.mark.rule("QV-03")
def test_a_remark_quotes_what_it_is_about() -> None:
    found = rubric.remarks(spec(criteria=f"- {VAGUE}\n- Members like links."), PROJECT)
    assert str(found[0]) == (
        f"R-AC1: nothing that can be checked is named in “{VAGUE}”, “Members like links.”"
    )


@pytest.mark.rule("QV-03")
@pytest.mark.parametrize(
    "criterion",
    [
        "see `x`", "make test is green", "src/a.py is there", "notes.md is there", "200 ms at most",
        "at most 3 retries", "5 % less", "see https://example.org", "call() is used",
        "max_size holds",
        "X-Ray: camelCase", "the --fast option", "a mail is sent", "it fails", "GET /login works",
    ],
)  # fmt: skip
def test_what_can_be_checked(criterion: str) -> None:
    assert plan_words.is_checkable(criterion)


@pytest.mark.parametrize(
    "criterion", ["It is good.", "Fast and/or small.", "Clean, e.g. tidy.", "Handles errors well."]
)
def test_what_cannot_be_checked(criterion: str) -> None:
    assert not plan_words.is_checkable(criterion)


@given(st.text(), st.text(), st.text())
def test_any_text_is_judged(criteria: str, plan: str, title: str) -> None:
    found = spec()._replace(criteria=criteria, plan=plan, title=title, working_directory=title)
    for remark in rubric.remarks(found, PROJECT):
        assert remark.rule in rubric.RULES


HOSTILE = ("a.a-", "1,", "x", "a/", "a_", "- ", "`", "[INF", "a~-.", "1a", "1. a\n", "- a\n")


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_text_takes_no_longer_than_its_length(piece: str) -> None:
    hostile = spec()._replace(criteria=piece * (200_000 // len(piece)), plan=piece * 20_000)
    began = time.process_time()
    rubric.remarks(hostile, PROJECT)
    assert time.process_time() - began < 8
