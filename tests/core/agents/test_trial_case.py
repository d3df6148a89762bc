"""The planted faults: forty, forty that are none, each at a place of its own."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from statistics import median

import pytest

from qrspi.core.agents import trial_case, trial_score
from qrspi.core.agents.roles import Role
from qrspi.core.agents.trial_case import Case, Planted
from qrspi.core.model import Problem
from qrspi.core.text.citations import Citation
from qrspi.world.runs import role_files
from tests.trials import CASES, case, report


def role(name: str) -> Role:
    found = role_files.shipped(name)
    assert isinstance(found, Role)
    return found


def prompt(asked: trial_case.Question) -> str:
    rules = role(asked.case.role).text
    return trial_case.told(asked, rules, role_files.shared_parts(), "/tmp/material")


QUESTIONS = tuple(trial_case.questions(CASES, role))


def test_there_are_forty_faults_and_forty_that_are_none() -> None:
    planted = [one for case in CASES for one in case.planted]
    assert [sum(one.is_fault for one in planted), len(planted)] == [40, 80]


def test_every_reviewer_that_is_shipped_has_a_case() -> None:
    shipped = {name for name in role_files.shipped_names() if name.startswith("reviewer-")}
    assert {case.role for case in CASES} == shipped


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_claim_means_what_it_was_made_from_and_nothing_else(case: Case) -> None:
    for one in case.planted:
        asked = trial_case.Question(case.name, role(case.role), case)
        told = trial_score.outcome(asked, report(case, one.id))
        assert (told.found, told.false, told.elsewhere) == (
            (one.id,) if one.is_fault else (),
            () if one.is_fault else (one.id,),
            (),
        ), one.id


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_two_things_at_one_place_are_told_apart_by_words(case: Case) -> None:
    for one, other in combinations(case.planted, 2):
        if any(other.is_meant((place,), "") for place in one.places if not one.says):
            assert other.says, (one.id, other.id)


def test_a_verifier_cannot_tell_from_the_prompt_what_is_a_fault() -> None:
    for asked in QUESTIONS:
        told = prompt(asked)
        assert not [one.id for one in asked.case.planted if one.why in told], asked.name
        if asked.claim is None:
            assert not [one.id for one in asked.case.planted if one.claim in told], asked.name
        else:
            assert asked.claim.claim in told


def test_names_of_files_do_not_tell_either() -> None:
    names = [one.name for one in QUESTIONS]
    assert len(set(names)) == len(names) == 94
    assert not [name for name in names if "fault" in name]
    claims = [one for one in QUESTIONS if one.claim]
    assert not [one.name for one in claims if one.case.name in one.name]
    assert [one.name for one in claims] == sorted(one.name for one in claims)


def test_neither_order_severity_nor_length_of_a_claim_tells_whether_it_is_true() -> None:
    told = [one for one in QUESTIONS if one.claim]
    kinds = [bool(one.claim and one.claim.is_fault) for one in told]
    runs = sum(one != other for one, other in pairwise(kinds)) + 1
    assert 30 < runs < 52  # by chance 41; 2 where faults come first, 80 where they alternate
    severities = {
        line for one in told for line in prompt(one).split("\n") if line.startswith("severity")
    }
    assert severities == {"severity: medium"}
    claims = [one.claim for one in told if one.claim]
    true, false = (
        median(len(one.claim) for one in claims if one.is_fault is kind) for kind in (True, False)
    )
    assert 0.8 < false / true < 1.25


PLACE = Citation("lend/a.py", 10, 12)


@pytest.mark.parametrize(
    ("cited", "meant"),
    [
        (Citation("lend/a.py", 11, 11), (True, True)),
        (Citation("./lend/a.py", 1, 99), (True, True)),
        (Citation("lend/a.py", 9, 9), (False, True)),
        (Citation("lend/a.py", 13, 20), (False, True)),
        (Citation("lend/a.py", 8, 8), (False, False)),
        (Citation("lend/a.py", 14, 14), (False, False)),
        (Citation("lend/a.py"), (False, False)),
        (Citation("lend/b.py", 11, 11), (False, False)),
    ],
)
def test_a_place_is_meant_by_lines_that_touch_it_or_lie_beside_it(
    cited: Citation, meant: tuple[bool, bool]
) -> None:
    planted = Planted("a", True, (PLACE,), (), (), "low", "style", "", "")
    told = tuple(planted.is_meant((cited,), "whatever", slack) for slack in trial_case.NEARNESS)
    assert told == meant


def test_words_decide_where_a_place_is_not_enough() -> None:
    planted = Planted("a", True, (Citation("x.md"),), ("unit",), ("style",), "low", "style", "", "")
    said = [
        planted.is_meant((Citation("x.md", 3, 3),), told) for told in ("Units", "no", "unit style")
    ]
    assert said == [True, False, False]


def test_words_that_are_in_no_line_or_in_two_are_a_mistake_in_the_data() -> None:
    files = {"x.md": b"one\ntwo\ntwo\n"}
    for words, count in (("three", 0), ("two", 2)):
        with pytest.raises(ValueError, match=f"x.md: '{words}' is in {count} lines, expected one"):
            trial_case._place(files, "x.md", words)


def test_an_answer_that_cannot_be_read_misses_everything() -> None:
    asked = QUESTIONS[0]
    problem = Problem("reply-not-text", "found bytes that are not UTF-8, expected UTF-8 text")
    told = trial_score.outcome(asked, problem)
    assert (told.state, told.missed) == ("unusable", tuple(one.id for one in asked.case.faults))
    assert told.problem == problem.message


def test_a_second_finding_at_one_place_means_the_fault_that_was_not_reported_yet() -> None:
    about = case("spec-task")
    asked = next(one for one in QUESTIONS if one.case == about and one.claim is None)
    first = report(about, "b")
    second = report(about, "d").replace("R1-F01", "R1-F02")
    vague = re.sub(r"referenced_files: .*", "referenced_files: [lend/fees.py:L15-L17]", second)
    told = trial_score.outcome(asked, f"{first}{vague}\nNot about the due date.\n")
    assert (told.found, told.false) == (("b", "d"), ())
