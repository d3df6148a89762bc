"""`qrspi audit` and its gate, on every way to approve a plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests import quick, runs
from tests.cli.conftest import Call
from tests.project import Project

SCHEMA = Path(__file__).resolve().parents[2] / "schemas" / "audit.schema.json"
NOW = "2026-05-17T09:30:00Z"
REPORT = "reviews/plan/audit-report.json"
RUN = runs.RUN
TASK = b"---\nstatus: draft\n---\n# Task 01: T\n\n- **Target files:** app/a.py\n"
PLAN = "# Plan\n\nNothing breaks; side effects; revert; tests; edge cases; docs.\n"


class Shop(Project):
    def make(self, gates: str = "{audit: on}", status: str = "draft", tasks: int = 1) -> Shop:
        files = {
            "config.md": runs.config("quick", gates=gates),
            **runs.approved("goals", "questions", "research"),
            "research/summary.md": runs.artifact("approved", "# R\n\nSee app/a.py:L1.\n"),
            "plan.md": runs.artifact(status, PLAN),
        }
        files |= {f"tasks/task-{number:02d}.md": TASK for number in range(1, tasks + 1)}
        (self.root / "app").mkdir(parents=True)
        self.begin(files, {"app/a.py": "a = 1\n", "app/b.py": "b = 1\n"})
        return self

    @property
    def report(self) -> Any:
        return json.loads((self.run / REPORT).read_text())

    def is_approved(self) -> bool:
        return b"status: approved" in (self.run / "plan.md").read_bytes()


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    shop = Shop(tmp_path.resolve() / "shop")
    shop.root.mkdir()
    monkeypatch.chdir(shop.root)
    monkeypatch.setenv("QRSPI_NOW", NOW)
    return shop


@pytest.mark.rule("AU-05", "GTD-17")
def test_the_report_is_the_answer_and_a_file(shop: Shop, qrspi: Call) -> None:
    shop.make()
    before = {path: path.read_bytes() for path in shop.run.rglob("*") if path.is_file()}
    done = qrspi("audit", "--json")
    Draft202012Validator(json.loads(SCHEMA.read_text("utf-8"))).validate(done.json)
    assert (done.code, done.json) == (0, shop.report)
    assert (done.json["timestamp"], done.json["overall_verdict"]) == (NOW, "approved")
    (review,) = done.json["reviews"]
    assert (review["id"], review["total_score"], review["verdict"]) == ("phase-1", 92, "approved")
    for path, data in before.items():
        assert path.read_bytes() == data


@pytest.mark.rule("AU-05")
def test_what_it_found_is_in_the_trail(shop: Shop, qrspi: Call) -> None:
    shop.make()
    qrspi("audit")
    said = qrspi("log", "--json").out.splitlines()
    notes = [note for line in said for note in json.loads(line).get("notes", [])]
    assert notes == ["[reviewer] phase-1: approved (92)", "[reviewer] plan: approved"]
    qrspi("audit")
    assert qrspi("log", "--json").out.splitlines() == said


def test_how_each_point_came_and_went(shop: Shop, qrspi: Call) -> None:
    shop.make().write("context-x.json", b'{"relevant_files": ["app/a.py", "app/b.py"]}')
    assert qrspi("audit", "--explain").out == (
        "The audit approves the plan.\n\n"
        "phase-1: approved, 86 of 100\n"
        "  technical feasibility: 85 (weighs 40 %)\n"
        "    +100  to begin with\n"
        "     -15  no task targets app/b.py\n"
        "  risk assessment: 90 (weighs 30 %)\n"
        "     +90  1 task, at most 10\n"
        "  completeness: 85 (weighs 30 %)\n"
        "     +85  there are tasks\n"
        "  0.4·85 + 0.3·90 + 0.3·85 = 86.5, rounded to 86\n\n"
        f"  {REPORT}\n"
    )


@pytest.mark.rule("GTD-17")
def test_a_context_file_that_is_no_json_is_said(shop: Shop, qrspi: Call) -> None:
    shop.make().write("context-x.json", b"{")
    done = qrspi("audit")
    assert (done.code, done.err) == (0, "")
    assert "    - context-x.json is left out: it is not JSON, expected" in done.out


@pytest.mark.rule("GTD-23", "OUT-10")
def test_a_rehearsal_and_the_exit_status(shop: Shop, qrspi: Call) -> None:
    shop.make(tasks=0)
    done = qrspi("audit", "--dry-run", "--exit-code")
    assert (done.code, done.out.splitlines()[0]) == (3, "The audit rejects the plan.")
    assert not (shop.run / REPORT).exists()
    assert qrspi("audit").code == 0


def test_without_a_plan_there_is_nothing_to_audit(shop: Shop, qrspi: Call) -> None:
    (shop.make().run / "plan.md").unlink()
    done = qrspi("audit")
    assert (done.code, done.err.splitlines()[0]) == (
        3,
        "there is nothing to audit: plan.md does not exist",
    )


@pytest.mark.rule("GTD-18")
def test_an_audit_after_the_approval_has_its_own_commit(shop: Shop, qrspi: Call) -> None:
    shop.make("{audit: off}", status="approved")
    qrspi("audit")
    assert shop.subjects()[0] == "docs(qrspi): audit plan for user-auth"
    assert shop.committed() == [REPORT]


# The gate


@pytest.mark.rule("AU-06")
def test_a_plan_is_approved_only_with_a_report_about_it(shop: Shop, qrspi: Call) -> None:
    shop.make()
    refused = qrspi("approve", "plan", "--unreviewed", "--json")
    assert (refused.code, refused.json["code"], shop.is_approved()) == (3, "not-audited", False)
    qrspi("audit")
    shop.write("tasks/task-02.md", TASK)
    refused = qrspi("approve", "plan", "--unreviewed")
    assert (refused.code, refused.err.splitlines()[0]) == (
        3,
        f"plan.md cannot be approved before it is audited: {REPORT} is about another text",
    )
    qrspi("audit")
    assert qrspi("approve", "plan", "--unreviewed").code == 0
    assert shop.is_approved()
    assert REPORT in shop.committed()


@pytest.mark.rule("AU-06", "GTD-02")
@pytest.mark.parametrize("forged", [False, True], ids=["honest", "forged"])
def test_a_rejected_plan_is_not_approved_whatever_its_report_says(
    shop: Shop, qrspi: Call, forged: bool
) -> None:
    shop.make(tasks=0)
    qrspi("audit")
    if forged:
        shop.write(REPORT, (shop.run / REPORT).read_text().replace("rejected", "approved"))
    refused = qrspi("approve", "plan", "--unreviewed", "--json")
    assert refused.code == 3
    assert refused.json["code"] == ("not-audited" if forged else "audit-rejected")
    assert not shop.is_approved()


def test_concerns_block_nothing(shop: Shop, qrspi: Call) -> None:
    shop.make(tasks=11).write("context-x.json", b'{"relevant_files": ["app/a.py", "app/b.py"]}')
    assert qrspi("audit", "--json", "--exit-code").json["overall_verdict"] == "concerns"
    assert qrspi("approve", "plan", "--unreviewed").code == 0


def test_a_gate_that_is_off_asks_nothing(shop: Shop, qrspi: Call) -> None:
    shop.make("{audit: off}", tasks=0)
    assert qrspi("approve", "plan", "--unreviewed").code == 0


def test_a_bad_block_of_gates_does_not_switch_them_off(shop: Shop, qrspi: Call) -> None:
    shop.make("{audit: maybe}")
    done = qrspi("approve", "plan", "--unreviewed")
    assert (done.code, shop.is_approved()) == (3, False)
    assert done.err.startswith("config.md: gates.audit is `maybe`; expected off or on")


def reviewed(shop: Shop, tasks: int, gates: str = "{audit: on}") -> None:
    """A clean first round, after which a quick run would approve its plan by itself. A repair of
    what was broken before is not a task that an audit counts."""
    shop.make(gates, tasks=tasks)
    shop.write("tasks/task-00.md", TASK)
    shop.commit()
    quick.advance(shop.run)
    quick.say_clean(shop.run, "plan")


@pytest.mark.rule("GTD-02")
def test_next_audits_before_the_gate_and_a_good_plan_goes_on(shop: Shop, qrspi: Call) -> None:
    reviewed(shop, tasks=1)
    done = qrspi("next", "--json").json
    handlers = [one["handler"] for one in done["performed"]]
    assert handlers[:3] == ["assemble", "audit", "cascade"]
    assert shop.is_approved()
    assert shop.report["overall_verdict"] == "approved"


@pytest.mark.rule("GTD-02")
def test_a_rejected_plan_waits_for_a_person_and_does_not_cascade(shop: Shop, qrspi: Call) -> None:
    reviewed(shop, tasks=0)
    done = qrspi("next", "--json").json
    handlers = [one["handler"] for one in done["performed"]]
    assert handlers == ["assemble", "audit", "commit-round"]
    answer = done["next"]
    assert (answer["action"], answer["who"], answer["kind"]) == (
        "decide",
        "human",
        "audit-rejected",
    )
    assert answer["because"][0] == "audit of phase-1: rejected (70)"
    assert "completeness: no tasks are defined" in answer["because"]
    assert not shop.is_approved()
    assert qrspi("inbox", "--json").json["items"][0]["summary"] == answer["summary"]
    assert "because completeness: no tasks are defined" in qrspi("status", "--explain").out
    assert qrspi("resolve", "proceed", "--json").json["code"] == "no-menu"
    shop.write("tasks/task-01.md", TASK)
    shop.commit()
    assert qrspi("next", "--json").json["next"]["action"] == "review"  # another text, another round


@pytest.mark.rule("GTD-02")
def test_a_forged_report_does_not_cascade(shop: Shop, qrspi: Call) -> None:
    reviewed(shop, tasks=0)
    qrspi("audit")
    shop.write(REPORT, (shop.run / REPORT).read_text().replace("rejected", "approved"))
    done = qrspi("next", "--json").json
    handlers = [one["handler"] for one in done["performed"]]
    assert handlers == ["assemble", "audit", "commit-round"]
    assert (done["next"]["kind"], shop.is_approved()) == ("audit-rejected", False)


@pytest.mark.rule("GTD-02")
def test_the_person_at_the_gate_reads_what_the_audit_found(shop: Shop, qrspi: Call) -> None:
    shop.make(tasks=1)
    shop.write("config.md", runs.config("full", gates="{audit: on}", route="[goals, plan]"))
    shop.commit()
    quick.advance(shop.run)
    quick.say_clean(shop.run, "plan")
    answer = qrspi("next", "--json").json["next"]
    assert (answer["kind"], answer["because"]) == (
        "approve",
        ["Reviews passed clean in round 1", "audit of phase-1: approved (92)"],
    )


@pytest.mark.rule("QV-16", "GTD-10")
def test_the_person_at_the_gate_reads_which_texts_have_no_pass(shop: Shop, qrspi: Call) -> None:
    shop.make("{quality: live}", tasks=5)
    shop.write("config.md", runs.config("full", gates="{quality: live}", route="[goals, plan]"))
    shop.commit()
    quick.advance(shop.run)
    quick.say_clean(shop.run, "plan")
    answer = qrspi("next", "--json").json["next"]
    owed = "the task has no Description, no Acceptance Criteria and no Execution Plan"
    assert answer["because"] == [
        "Reviews passed clean in round 1",
        *(f"task-0{number}: {owed}" for number in (1, 2, 3)),
        "2 more tasks have no PASS",
    ]
    assert answer["summary"].endswith(
        " -m TEXT`. 5 tasks have no PASS yet: `qrspi quality batch 2026-05-17-user-auth` has "
        "them judged first."
    )
    assert qrspi("approve", "plan").code == 0  # it is told, and holds nobody up


@pytest.mark.rule("PPL-01")
def test_a_brief_says_what_the_audit_said(shop: Shop, qrspi: Call) -> None:
    shop.make()
    assert "- the plan is not audited\n" in qrspi("brief").out
    qrspi("audit")
    assert "- the audit approves the plan\n" in qrspi("brief").out
    assert qrspi("status", "--explain").out.endswith("\nGates:\n  the audit approves the plan\n")
    assert "  - the audit approves the plan\n" in qrspi("explain").out
    shop.write("tasks/task-02.md", TASK)
    assert "- the audit approves the plan, in an earlier text\n" in qrspi("brief").out
