from __future__ import annotations

import fcntl
import json
import os
import subprocess
from pathlib import Path

import pytest

from qrspi.core.config.edit import initial
from tests import runs, scenes
from tests.cli.conftest import Call


@pytest.fixture
def run(project: Path) -> Path:
    data = initial("2026-05-17", "full", second_reviewer=False)
    return runs.on_disk(project, {"config.md": data, **runs.approved("goals")})


def config(run: Path) -> str:
    return (run / "config.md").read_text("utf-8")


def audit(run: Path) -> list[dict[str, object]]:
    trail = run / ".qrspi/audit.jsonl"
    return [json.loads(line) for line in trail.read_text().splitlines()] if trail.exists() else []


SHOWN = """\
FIELD                                  VALUE
created                                2026-05-17
pipeline                               quick
second_reviewer                        false
route                                  goals, questions, research, plan, implement, test
verifier_enabled                       true
scope_tagger_enabled                   true
visual_fidelity_required               false
question_budget                        5
model_routing.extra-low                none
model_routing.low.vendor               claude
model_routing.low.model                small
model_routing.medium.vendor            claude
model_routing.medium.model             middle
model_routing.high.vendor              claude
model_routing.high.model               large
model_routing.extra-high               none
default_tier                           medium
providers.acme.base_url                https://acme.test
providers.acme.api_key_env             ACME_KEY
providers.acme.transport_type          codex-broker
providers.acme.default_headers.X-Team  hidden
guard                                  tolerant
approvals                              marker
cascade                                on
commit                                 on
later_rounds                           all
evidence                               any
light_implementer                      off
test_writer                            off

Not set: review_depth, review_mode, trusted_path, validators, commands, second_reviewer_model, \
extra_reviewers, budget, gates, base_branch, feature_branch, code_path.

error: config.md: review_depth is `shallow`; expected quick or deep
"""


def test_show(project: Path, qrspi: Call) -> None:
    provider = (
        "{base_url: https://acme.test, api_key_env: ACME_KEY, transport_type: codex-broker, "
        "default_headers: {X-Team: blue}}"
    )
    more = {"review_depth": "shallow", "providers": f"\n  acme: {provider}"}
    runs.on_disk(project, {"config.md": runs.config("quick", **more)})
    assert qrspi("config", "show") == (0, SHOWN, "")
    fields = qrspi("config", "show", "--json").json["fields"]
    assert (fields["route"][-1], fields["second_reviewer"], fields["review_depth"]) == (
        "test",
        False,
        None,
    )


@pytest.mark.rule("CFG-03")
def test_a_config_is_good_or_its_problems_have_numbered_ways_out(run: Path, qrspi: Call) -> None:
    good = "docs/qrspi/2026-05-17-user-auth/config.md is good.\n"
    assert qrspi("config", "validate") == (0, good, "")
    text = config(run).replace("second_reviewer: false", "second_reviewer: yes")
    (run / "config.md").write_text(text, "utf-8")
    assert qrspi("config", "validate") == (
        3,
        """\
config.md: second_reviewer is `yes`; expected true or false
  1) Set it to true: qrspi config set 2026-05-17-user-auth second_reviewer true
  2) Set it to false: qrspi config set 2026-05-17-user-auth second_reviewer false
  3) Abort

docs/qrspi/2026-05-17-user-auth/config.md has 1 problem.
""",
        "",
    )


def test_the_pinned_shape_of_validate(run: Path, qrspi: Call) -> None:
    text = config(run).replace("second_reviewer: false", "second_reviewer: yes\nverifier: true")
    (run / "config.md").write_text(text, "utf-8")
    result = qrspi("config", "validate", "--json")
    assert (result.code, result.json) == (
        3,
        {
            "schema": "qrspi/config-validate/v1",
            "ok": False,
            "problems": [
                {
                    "code": "field-invalid",
                    "field": "second_reviewer",
                    "found": "yes",
                    "expected": "true or false",
                    "message": "config.md: second_reviewer is `yes`; expected true or false",
                    "options": [
                        f"Set it to true: qrspi config set {run.name} second_reviewer true",
                        f"Set it to false: qrspi config set {run.name} second_reviewer false",
                        "Abort",
                    ],
                }
            ],
            "warnings": [
                {
                    "code": "field-unknown",
                    "file": "config.md",
                    "message": "config.md: `verifier` is not a known field and is ignored; "
                    "the nearest known field is verifier_enabled",
                }
            ],
        },
    )


@pytest.mark.rule("CFG-02")
def test_a_missing_config_is_the_first_problem(project: Path, qrspi: Call) -> None:
    run = runs.on_disk(project, {"goals.md": b""})
    adopt = f"qrspi init --adopt {run}"
    result = qrspi("config", "validate", "--json")
    assert (result.code, result.json["problems"]) == (
        3,
        [
            {
                "code": "config-missing",
                "field": "",
                "found": "",
                "expected": "a file config.md in the run's directory",
                "message": "config.md not found in the artifact directory.",
                "options": [
                    f"Re-create it beside the artifacts: {adopt} --pipeline quick",
                    f"The same for a run of all steps: {adopt} --pipeline full",
                    "Abort",
                ],
            }
        ],
    )


@pytest.mark.rule("CFG-16")
def test_set_keeps_comments_and_order(run: Path, qrspi: Call) -> None:
    before = config(run)
    assert qrspi("config", "set", "second_reviewer", "true") == (
        0,
        "Changed config.md:\n  - second_reviewer: false\n  + second_reviewer: true\n",
        "",
    )
    assert config(run) == before.replace("second_reviewer: false", "second_reviewer: true")
    (line,) = audit(run)
    assert (line["event"], line["actor"], line["outcome"]) == ("config-set", "cli", "done")
    assert qrspi("config", "user-auth", "set", "second_reviewer", "true") == (
        0,
        "config.md stays as it is: there is nothing to change.\n",
        "",
    )
    assert len(audit(run)) == 1


@pytest.mark.rule("CFG-16")
@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (
            "second_reviewer yes",
            3,
            "config.md is unchanged: second_reviewer would be `yes`; expected true or false\n"
            "  1) Set it to true: qrspi config set 2026-05-17-user-auth second_reviewer true\n"
            "  2) Set it to false: qrspi config set 2026-05-17-user-auth second_reviewer false\n"
            "  3) Abort\n",
        ),
        (
            "second_reviewr true",
            2,
            "config.md has no field `second_reviewr`; the nearest is second_reviewer\n"
            f"  1) Set second_reviewer instead: qrspi config set {runs.RUN} second_reviewer true\n"
            "  2) Abort\n",
        ),
        (
            "second_reviewer",
            2,
            "expected a KEY and a VALUE, with a RUN before them or not\n"
            "  qrspi config set [RUN] KEY VALUE\n",
        ),
        (
            "user-auth second_reviewer",
            2,
            "second_reviewer needs a VALUE\n  qrspi config set user-auth second_reviewer VALUE\n",
        ),
        (
            "nobody guard strict",
            2,
            "no run 'nobody' in {runs}: there is 2026-05-17-user-auth\n  1) 2026-05-17-user-auth\n",
        ),
    ],
)
def test_a_bad_change_changes_nothing(
    run: Path, qrspi: Call, words: str, code: int, error: str
) -> None:
    before = config(run)
    assert qrspi("config", "set", *words.split()) == (code, "", error.format(runs=run.parent))
    assert (config(run), audit(run)) == (before, [])


@pytest.mark.rule("CFG-15")
def test_the_route_is_fixed_once_the_plan_is_approved(run: Path, qrspi: Call) -> None:
    (run / "plan.md").write_bytes(runs.artifact("approved"))
    (run / "config.md").write_text(config(run).replace("approvals: recorded\n", ""))
    back = f"qrspi rewind {runs.RUN} --to plan"
    for words in ("config set route [goals]", "route set quick"):
        assert qrspi(*words.split()) == (
            3,
            "",
            "config.md: the route is fixed once plan.md is approved; to change it, go back to "
            f"plan first: {back}\n"
            f"  1) Go back to plan, then change the route: {back}\n"
            "  2) Abort\n",
        )


@pytest.mark.rule("OUT-10")
@pytest.mark.parametrize(
    "words", ["config set guard strict", "route set quick", "config migrate", "route set full-ux"]
)
def test_a_dry_run_changes_nothing_at_all(run: Path, qrspi: Call, words: str) -> None:
    (run / "config.md").write_text(config(run).replace("second_reviewer", "codex_reviews"))
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    result = qrspi(*words.split(), "--dry-run")
    assert (result.code, result.out.partition("config.md:\n")[0].splitlines()[-1]) == (
        0,
        "Would change ",
    )
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


@pytest.mark.rule("CFG-20")
def test_migrate_shows_and_performs_what_a_renamed_field_needs(run: Path, qrspi: Call) -> None:
    before = config(run)
    (run / "config.md").write_text(before.replace("second_reviewer", "codex_reviews"))
    assert qrspi("config", "migrate") == (
        0,
        """\
config.md: rename codex_reviews to second_reviewer, keeping its value false
Changed config.md:
  - codex_reviews: false
  + second_reviewer: false
""",
        "",
    )
    assert config(run) == before
    again = qrspi("config", "migrate", "--json")
    assert again.json == {
        "schema": "qrspi/config-migrate/v1",
        "run": "2026-05-17-user-auth",
        "plan": [],
        "changed": False,
        "lines": [],
        "dry_run": False,
        "commit": None,
    }


def test_the_route_with_the_state_of_each_artifact(run: Path, qrspi: Call) -> None:
    lines = qrspi("route", "show").out.splitlines()
    assert lines[:5] == [
        "2026-05-17-user-auth: the full route",
        "",
        "STEP         ARTIFACT             STATUS",
        "goals        goals.md             approved",
        "questions    questions.md         missing",
    ]


def test_a_route_that_cannot_be_read_is_refused(run: Path, qrspi: Call) -> None:
    (run / "config.md").write_bytes(runs.config(route="[goals, tests]"))
    result = qrspi("route", "show", "--json")
    assert (result.code, result.json["code"], result.json["field"]) == (3, "field-invalid", "route")


@pytest.mark.rule("CFG-18")
def test_a_route_changes_with_its_pipeline_and_budget_in_one_write(run: Path, qrspi: Call) -> None:
    result = qrspi("route", "user-auth", "set", "quick", "--json")
    assert (result.code, result.json) == (
        0,
        {
            "schema": "qrspi/route-set/v1",
            "run": "2026-05-17-user-auth",
            "name": "quick",
            "route": ["goals", "questions", "research", "plan", "implement", "test"],
            "changed": True,
            "lines": [
                "- pipeline: full",
                "+ pipeline: quick",
                "-   - design",
                "-   - phasing",
                "-   - structure",
                "-   - parallelize",
                "-   - integrate",
                "+ question_budget: 5",
            ],
            "dry_run": False,
            "commit": None,
        },
    )
    (line,) = audit(run)
    assert (line["event"], len(line["files"])) == ("route-set", 2)  # type: ignore[arg-type]
    assert qrspi("config", "validate").code == 0


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("", "a route is needed; expected quick, full or full-ux\n"),
        ("slow", "'slow' is not a route; expected quick, full or full-ux\n"),
        ("user-auth slow", "there is no route `slow`; expected quick, full or full-ux\n"),
    ],
)
def test_an_unknown_route_is_a_usage_error(run: Path, qrspi: Call, words: str, error: str) -> None:
    result = qrspi("route", "set", *words.split())
    assert (result.code, result.err.partition("\n")[0] + "\n") == (2, error)


@pytest.mark.rule("ENG-02")
def test_a_run_that_is_held_is_busy(run: Path, qrspi: Call) -> None:
    (run / ".qrspi").mkdir()
    holder = os.open(run / ".qrspi/lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(holder, fcntl.LOCK_EX)
        result = qrspi("config", "set", "guard", "strict", "--lock-timeout", "0.01", "--json")
    finally:
        os.close(holder)
    assert (result.code, result.json["message"]) == (
        5,
        "run 2026-05-17-user-auth is held by another process, waited 0.01 s: try again when it "
        "is done",
    )


@pytest.mark.rule("CFG-03")
def test_the_ways_out_work_as_they_are_printed_beside_another_run(run: Path, qrspi: Call) -> None:
    data = initial("2026-05-18", "quick", second_reviewer=False)
    runs.on_disk(run.parents[2], {"config.md": data}, "2026-05-18-other-run")
    text = config(run).replace("second_reviewer: false", "second_reviewer: yes")
    (run / "config.md").write_text(text, "utf-8")
    [first, *_] = qrspi("status", run.name, "--json").json["runs"][0]["next"]["options"]
    label, _, command = first["label"].partition(": qrspi ")
    assert (label, qrspi(*command.split()).code) == ("Set it to true", 0)
    assert qrspi("config", "validate", run.name).code == 0


@pytest.mark.rule("CFG-02")
def test_a_config_is_made_again_as_the_menu_says(run: Path, qrspi: Call) -> None:
    (run / "config.md").unlink()
    [_, full, _] = qrspi("status", "--json").json["runs"][0]["next"]["options"]
    command = full["label"].partition(": qrspi ")[2]
    done = qrspi(*command.split(), "--no-second-reviewer")
    assert (done.code, qrspi("config", "validate").code) == (0, 0)


@pytest.mark.rule("SEC-22")
def test_a_route_by_hand_is_told_until_a_command_confirms_it(run: Path, qrspi: Call) -> None:
    assert qrspi("route", "set", "quick").code == 0
    record = json.loads((run / "approvals.jsonl").read_text().splitlines()[-1])
    assert (record["event"], record["route"].partition(":")[0]) == ("route", "quick")
    by_command = config(run)
    assert qrspi("route", "set", "full").code == 0
    (run / "config.md").write_text(by_command)
    warned = [line for line in qrspi("status").out.splitlines() if "route" in line]
    assert len(warned) == 1 and warned[0].endswith(
        f"put it back, or run `qrspi route set {runs.RUN} quick` to put it on record"
    )
    assert qrspi("route", "set", runs.RUN, "quick").code == 0
    assert [line for line in qrspi("status").out.splitlines() if "route" in line] == []


@pytest.mark.rule("SEC-22")
def test_a_lowering_by_hand_is_told_until_a_command_confirms_it(run: Path, qrspi: Call) -> None:
    assert qrspi("config", "set", "second_reviewer", "true", "evidence", "dispatched").code == 0
    strict = config(run)
    lower = strict.replace("second_reviewer: true", "second_reviewer: false")
    (run / "config.md").write_text(lower.replace("evidence: dispatched", "evidence: any"))
    for left, less in ((["second_reviewer", "evidence"], "any"), (["second_reviewer"], "false")):
        (warned,) = (line for line in qrspi("status").out.splitlines() if "no longer" in line)
        assert [f"{one} is no longer" in warned for one in left] == [True] * len(left)
        assert warned.count("no longer") == len(left)
        assert qrspi("config", "set", runs.RUN, left[-1], less).code == 0
    assert "no longer" not in qrspi("status").out


@pytest.mark.rule("CFG-02", "SEC-22")
def test_a_config_that_git_has_is_restored_and_not_made_anew(project: Path, qrspi: Call) -> None:
    run = scenes.project(project, runs.RUN)
    before = (run / "config.md").read_bytes()
    (run / "config.md").unlink()
    restore = f"git checkout HEAD -- :/docs/qrspi/{runs.RUN}/config.md"
    said = f"config.md is gone, and git has it: restore it with `{restore}`\n"
    following = qrspi("next", "--json").json["next"]
    assert (following["command"], following["options"]) == (restore, [])
    assert qrspi("config", "validate").out.startswith(said)
    assert qrspi("init", "--adopt", run, "--pipeline", "quick") == (3, "", said)
    subprocess.run(restore, shell=True, check=True)
    assert (run / "config.md").read_bytes() == before
