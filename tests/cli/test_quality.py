"""`qrspi quality` as people and programs call it, with a reviewer that is a real program."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests import runs
from tests.cli.conftest import Call
from tests.project import Project
from tests.task_texts import CONTEXT, CRITERIA, DESCRIPTION, PLAN, reply, spec, task

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
NOW, WEEK = "2026-05-17T09:30:00Z", "2026-05-24T09:30:00Z"
HASH = spec().hash
ONE = "tasks/task-01.md"
RECORD = "reviews/plan/quality.jsonl"
PROMPT = ".qrspi/dispatch/quality/task-01.md"
AGENT = "cat > prompt.txt; echo x >> calls; cat reply.md\n"
COMMANDS = "{claude: {argv: [sh, agent.sh], reply: text, timeout: 20}}"
PAYLOAD = (
    "verdict verdict_string hash cached_at suppressed_until per_axis gaps fixes findings_block"
).split()


class Shop(Project):
    """A run at its plan, or at implement when the plan is approved."""

    def make(self, gates: str = "{quality: live-cache-aware}", approved: bool = False) -> Shop:
        status = "approved" if approved else "draft"
        tested = gates.replace("}", ", test_command: sh test.sh}") if approved else gates
        fields = {"gates": tested, "commands": COMMANDS, "review_depth": "quick"}
        files = {
            "config.md": runs.config("quick", review_mode="loop", **fields),
            **runs.approved("goals", "questions", "research"),
            "plan.md": runs.artifact(status, "# Plan\n"),
            ONE: task(status=status),
        }
        self.begin(files, {"agent.sh": AGENT, "reply.md": reply(boundary="△")})
        return self

    def read(self, path: str = ONE) -> bytes:
        return (self.run / path).read_bytes()

    def says(self, text: str) -> None:
        (self.root / "reply.md").write_text(text)

    @property
    def calls(self) -> int:
        file = self.root / "calls"
        return len(file.read_text().split()) if file.exists() else 0

    def records(self) -> list[dict[str, Any]]:
        file = self.run / RECORD
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def beside_a_host(self) -> None:
        config = self.read("config.md").decode()
        lines = [line for line in config.splitlines() if not line.startswith("commands:")]
        self.write("config.md", "\n".join(lines) + "\n")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    shop = Shop(tmp_path.resolve() / "shop")
    shop.root.mkdir()
    monkeypatch.chdir(shop.root)
    monkeypatch.setenv("QRSPI_NOW", NOW)
    return shop


def checked(document: Any, name: str) -> Any:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(document)
    return document


def check(qrspi: Call, *words: str) -> Any:
    return checked(qrspi("quality", "check", *words, "--json").json, "quality-check")


VAGUE = f"NEEDS_REFINEMENT hash={HASH} @{NOW} v1 axes=boundary"
BLOCK = (
    f"--- Quality Review Findings hash={HASH} @{NOW} ---\nGaps:\n- a gap\nSuggested fixes:\n- a fix"
    "\n--- End Quality Review Findings ---"
)


@pytest.mark.rule("QV-04", "QV-09", "QV-12", "GTD-06", "GTD-24")
def test_a_task_is_reviewed_and_the_verdict_kept(shop: Shop, qrspi: Call) -> None:
    shop.make()
    found = check(qrspi, "01")
    assert {key: found[key] for key in PAYLOAD} == {
        "verdict": "NEEDS_REFINEMENT",
        "verdict_string": VAGUE,
        "hash": HASH,
        "cached_at": NOW,
        "suppressed_until": None,
        "per_axis": {
            "goal": "◯",
            "boundary": "△",
            "verifiability": "◯",
            "reproducibility": "◯",
            "hidden_context": "◯",
        },
        "gaps": ["a gap"],
        "fixes": ["a fix"],
        "findings_block": BLOCK,
    }
    assert shop.read() == task(context=f"{CONTEXT}\n{BLOCK}", quality_verdict=VAGUE)
    (record,) = shop.records()
    assert (record["event"], record["task"], record["line"]) == ("verdict", "task-01", VAGUE)
    assert (record["evidence"], len(record["reply_sha256"])) == ("dispatched", 64)


@pytest.mark.rule("QV-04")
def test_a_person_reads_it_in_a_few_lines(shop: Shop, qrspi: Call) -> None:
    shop.make()
    done = qrspi("quality", "check", "01")
    assert (done.code, done.err) == (0, "[transport: shell-pipeline]\n")
    assert done.out == (
        "task-01: NEEDS_REFINEMENT (the reviewer says NEEDS_REFINEMENT)\n"
        "  goal            ◯\n  boundary        △\n  verifiability   ◯\n  reproducibility ◯\n"
        "  hidden context  ◯\n  gap: a gap\n  fix: a fix\n"
    )


@pytest.mark.rule("QV-09", "GTD-11")
def test_what_the_reviewer_is_told(shop: Shop, qrspi: Call) -> None:
    shop.make().write(ONE, task(context=f"{CONTEXT}\n{BLOCK}", executor="codex"))
    qrspi("quality", "check", "01", "-q")
    told = (shop.root / "prompt.txt").read_text()
    spec_part = told.partition("task_spec:\n")[2]
    assert "Quality Review Findings" not in told
    for text in (DESCRIPTION, CRITERIA, PLAN, CONTEXT, "codex", str(shop.root)):
        assert text in spec_part


@pytest.mark.rule("QV-05")
def test_modes_and_the_cache(shop: Shop, qrspi: Call) -> None:
    shop.make()
    assert check(qrspi, "01", "--mode", "cache-only")["verdict"] == "UNREVIEWED"
    assert (shop.calls, shop.read()) == (0, task())
    shop.says(reply())
    assert check(qrspi, "01")["verdict"] == "PASS"
    assert check(qrspi, "01")["source"] == "cache"
    assert check(qrspi, "01", "--mode", "cache-only")["verdict"] == "PASS"
    assert shop.calls == 1
    check(qrspi, "01", "--mode", "live")
    assert shop.calls == 2
    shop.write(ONE, shop.read().replace(b"an hour old", b"a day old"))
    assert check(qrspi, "01", "--mode", "cache-only")["verdict"] == "UNREVIEWED"
    check(qrspi, "01")
    assert shop.calls == 3


@pytest.mark.rule("QV-06", "QV-07", "GTD-04", "GTD-16")
def test_two_failures_on_one_axis_are_frozen_until_cleared(
    shop: Shop, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.make()
    check(qrspi, "01")
    second = check(qrspi, "01")
    assert second["suppressed_until"] == WEEK
    shop.write(ONE, shop.read().replace(b"an hour old", b"a day old"))
    frozen = check(qrspi, "01")
    assert (frozen["source"], frozen["suppressed_until"], shop.calls) == ("cache", WEEK, 2)
    monkeypatch.setenv("QRSPI_NOW", "2026-05-24T09:30:00Z")
    assert check(qrspi, "01")["source"] == "reviewer"
    monkeypatch.setenv("QRSPI_NOW", NOW)
    done = qrspi("quality", "clear", "01", "--json")
    checked(done.json, "quality-clear")
    assert b"quality_verdict" not in shop.read() and b"Findings" not in shop.read()
    assert (shop.records()[-1]["event"], shop.records()[-1]["who"]) == (
        "clear",
        "Ada Example <ada@example.org>",
    )
    again = check(qrspi, "01")
    assert (again["source"], again["suppressed_until"], shop.calls) == ("reviewer", None, 4)


@pytest.mark.rule("QV-00", "QV-03")
def test_what_the_rubric_rejects_nobody_is_asked_about(shop: Shop, qrspi: Call) -> None:
    shop.make().write(ONE, task(criteria=f"{CRITERIA}\n- `x` [DRAFT-AC] link"))
    for mode in ("cache-only", "live", "live-cache-aware"):
        found = check(qrspi, "01", "--mode", mode)
        assert (found["verdict"], found["source"]) == ("REJECT", "rubric")
    assert found["gaps"] == ["R-AC4: the acceptance criteria still have [DRAFT-AC]"]
    assert (shop.calls, len(shop.records())) == (0, 1)
    assert shop.records()[0]["evidence"] == "rubric"
    assert b"- R-AC4: the acceptance" in shop.read()


@pytest.mark.rule("QV-00")
def test_the_rubric_wins_over_a_pass_on_record(shop: Shop, qrspi: Call) -> None:
    shop.make().says(reply())
    check(qrspi, "01")
    shop.write(ONE, shop.read().replace(b"working_directory: .\n", b""))
    found = check(qrspi, "01", "--mode", "cache-only")
    assert (found["verdict"], found["warnings"]) == ("REJECT", [])
    assert b"quality_verdict: REJECT" in shop.read()


@pytest.mark.rule("QV-08")
def test_a_tagged_task_passes_unread_and_unwritten(shop: Shop, qrspi: Call) -> None:
    data = task(tags="[worthiness:calendar-like]", criteria="", plan="")
    shop.make().write(ONE, data)
    found = check(qrspi, "01")
    assert (found["verdict"], found["source"], shop.calls) == ("PASS", "skip", 0)
    assert found["verdict_string"] == f"PASS hash={found['hash']} @{NOW} v1"
    assert (shop.read(), shop.records()) == (data, [])
    assert qrspi("quality", "debt", "--exit-code").code == 0


@pytest.mark.rule("QV-04", "GTD-11")
def test_a_malformed_answer_is_said_and_not_kept(shop: Shop, qrspi: Call) -> None:
    shop.make().says("I like it.\n")
    found = check(qrspi, "01")
    assert (found["verdict"], found["verdict_string"]) == ("NEEDS_REFINEMENT", "")
    assert (shop.read(), shop.records()) == (task(), [])
    check(qrspi, "01")
    assert shop.calls == 2


@pytest.mark.rule("GTD-10")
def test_trouble_on_the_way_is_another_thing_than_a_verdict(shop: Shop, qrspi: Call) -> None:
    shop.make()
    (shop.root / "agent.sh").write_text("exit 7\n")
    done = qrspi("quality", "check", "01", "-q")
    assert (done.code, done.out, done.err.count("\n")) == (4, "", 1)
    batch = qrspi("quality", "batch", "-q", "--json")
    (one,) = checked(batch.json, "quality-batch")["tasks"]
    assert (batch.code, one["verdict"]) == (0, "UNREVIEWED")
    assert "exit" in one["because"]
    assert shop.read() == task()


@pytest.mark.rule("GTD-10")
def test_a_budget_stops_before_the_next_call(shop: Shop, qrspi: Call) -> None:
    shop.make().write("tasks/task-02.md", task(number=2))
    done = qrspi("quality", "batch", "--max-calls", "1", "--jobs", "1", "--json").json["tasks"]
    assert [one["verdict"] for one in done] == ["NEEDS_REFINEMENT", "UNREVIEWED"]
    assert "the limit given with this command" in done[1]["because"]
    assert shop.calls == 1


@pytest.mark.rule("QV-13")
def test_a_verdict_that_cannot_be_written_is_given_all_the_same(shop: Shop, qrspi: Call) -> None:
    shop.make().says(reply())
    (shop.run / RECORD).mkdir(parents=True)
    found = check(qrspi, "01")
    assert (found["verdict"], shop.read()) == ("PASS", task())
    assert found["not_written"] == f"cannot write {RECORD}: Is a directory"
    (shop.run / RECORD).rmdir()
    again = check(qrspi, "01")
    assert (again["verdict"], again["not_written"], shop.calls) == ("PASS", None, 1)
    assert shop.read() == task(quality_verdict=f"PASS hash={HASH} @{NOW} v1")


def test_a_folder_that_is_a_link_holds_no_tasks(shop: Shop, qrspi: Call) -> None:
    (shop.make().run / "tasks").rename(shop.root / "elsewhere")
    (shop.run / "tasks").symlink_to(shop.root / "elsewhere")
    assert qrspi("quality", "check", "01").code == 3


@pytest.mark.rule("GTD-10")
def test_a_task_that_is_edited_meanwhile_is_not_written(shop: Shop, qrspi: Call) -> None:
    shop.make()
    (shop.root / "agent.sh").write_text(f"{AGENT}sed -i s/mail/post/ {shop.run}/{ONE}\n")
    found = check(qrspi, "01")
    assert found["verdict"] == "NEEDS_REFINEMENT"
    assert found["not_written"] == (
        f"{ONE} was edited while it was reviewed: the verdict is not written"
    )
    assert shop.read() == task(description=DESCRIPTION.replace("mail", "post"))
    assert shop.records() == []


@pytest.mark.rule("QV-04", "GTD-05", "GTD-06")
def test_beside_a_host_the_prompt_waits_and_the_answer_is_handed_in(
    shop: Shop, qrspi: Call
) -> None:
    shop.make().beside_a_host()
    found = check(qrspi, "01")
    assert (found["verdict"], found["verdict_string"]) == ("UNREVIEWED", "")
    assert found["because"] == (
        f"its prompt waits in {PROMPT}; hand the answer in with `qrspi quality check {runs.RUN} "
        "task-01 --reply FILE`"
    )
    told = shop.read(PROMPT).decode()
    assert qrspi("prompt", "task-01").out == told
    listed = qrspi("prompt", "--json").json["waiting"]
    assert [(one["name"], one["role"], one["prompt_file"]) for one in listed] == [
        ("task-01", "quality-reviewer", PROMPT)
    ]
    warnings = qrspi("status", "--json").json["runs"][0]["warnings"]
    assert [one["file"] for one in warnings if one["code"] == "prompt-waits"] == [PROMPT]
    (shop.root / "answer.md").write_text(reply())
    found = check(qrspi, "01", "--reply", "answer.md")
    assert (found["verdict"], shop.records()[0]["evidence"]) == ("PASS", "handed-in")
    assert not (shop.run / PROMPT).exists()
    warnings = qrspi("status", "--json").json["runs"][0]["warnings"]
    assert [one for one in warnings if one["code"] == "prompt-waits"] == []


@pytest.mark.rule("GTD-05")
def test_an_answer_to_another_text_is_refused(
    shop: Shop, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.make().beside_a_host()
    check(qrspi, "01")
    shop.write(ONE, task(title="Another"))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(reply().encode())))
    done = qrspi("quality", "check", "01", "--reply", "-", "--json")
    assert (done.code, done.json["code"]) == (3, "prompt-outdated")
    assert shop.read() == task(title="Another")


@pytest.mark.rule("GTD-05")
def test_an_answer_that_nobody_asked_for_here_is_taken_too(
    shop: Shop, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.make()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(reply().encode())))
    assert check(qrspi, "01", "--reply", "-")["verdict"] == "PASS"
    assert shop.calls == 0


class Stdin(io.TextIOWrapper):
    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))


@pytest.mark.rule("QV-10")
def test_a_draft_is_judged_and_nothing_written(
    shop: Shop, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.make().write(ONE, b"# Task 01: T\n")
    before = {path: path.read_bytes() for path in shop.run.rglob("*") if path.is_file()}
    monkeypatch.setattr("sys.stdin", Stdin(task()))
    found = check(qrspi, "-")
    assert (found["task"], found["verdict_string"]) == ("draft", VAGUE)
    assert found["findings_block"] == BLOCK
    after = {path: path.read_bytes() for path in shop.run.rglob("*") if path.is_file()}
    assert {path: data for path, data in after.items() if ".qrspi" not in path.parts} == before


@pytest.mark.rule("QV-10", "QV-07")
@pytest.mark.parametrize(
    ("words", "until"),
    [
        ((), None),
        (("--prior-verdict", VAGUE), WEEK),
        (("--prior-axes", "boundary"), WEEK),
        (("--prior-verdict", VAGUE.replace("boundary", "goal")), None),
        (("--prior-verdict", VAGUE.replace("boundary", "goal"), "--prior-axes", "boundary"), WEEK),
    ],
    ids=["nothing", "a line", "axes", "another axis", "both"],
)
def test_what_a_draft_was_told_before_counts(
    shop: Shop,
    qrspi: Call,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    until: str | None,
) -> None:
    shop.make()
    monkeypatch.setattr("sys.stdin", Stdin(task()))
    assert check(qrspi, "-", "--mode", "live", *words)["suppressed_until"] == until


@pytest.mark.rule("QV-11")
def test_a_batch_asks_five_at_once(shop: Shop, qrspi: Call) -> None:
    """Each reviewer waits until four others are there, and nobody is the sixth."""
    shop.make()
    agent = (
        "cat > /dev/null; me=$(mktemp -d busy/XXXX)\n"
        'until [ -e seen/all ] || [ "$(ls busy | grep -c .)" -ge 5 ]; do sleep 0.02; done\n'
        "ls busy | grep -c . >> most; touch seen/all; rmdir $me; cat reply.md\n"
    )
    (shop.root / "agent.sh").write_text(agent)
    for folder in ("busy", "seen"):
        (shop.root / folder).mkdir()
    for number in range(2, 8):
        shop.write(f"tasks/task-{number:02d}.md", task(number=number))
    shop.write("tasks/task-00.md", b"# Task 00: Repair\n")
    found = checked(qrspi("quality", "batch", "--json").json, "quality-batch")["tasks"]
    assert [one["task"] for one in found] == [f"task-{number:02d}" for number in range(1, 8)]
    assert {one["verdict"] for one in found} == {"NEEDS_REFINEMENT"}
    assert max(map(int, (shop.root / "most").read_text().split())) == 5


@pytest.mark.rule("QV-11", "QV-16", "GTD-23", "GTD-24")
def test_a_batch_asks_only_where_it_must_and_debt_lists_the_rest(shop: Shop, qrspi: Call) -> None:
    shop.make().says(reply())
    check(qrspi, "01")
    shop.write("tasks/task-02.md", task(number=2, tags="worthiness:info-only"))
    shop.write("tasks/task-03.md", task(number=3, working_directory=""))
    shop.write("tasks/task-04.md", task(number=4, title="Other"))
    found = qrspi("quality", "batch", "--json", "--mode", "cache-only").json["tasks"]
    assert [(one["task"], one["verdict"]) for one in found] == [
        ("task-01", "PASS"),
        ("task-02", "PASS"),
        ("task-03", "REJECT"),
        ("task-04", "UNREVIEWED"),
    ]
    assert shop.calls == 1
    shop.write(ONE, shop.read().replace(b"an hour old", b"a day old"))
    debt = qrspi("quality", "debt", "--json", "--exit-code")
    listed = checked(debt.json, "quality-debt")["tasks"]
    assert (debt.code, [(one["task"], one["because"]) for one in listed]) == (
        3,
        [("task-01", "stale"), ("task-03", "not-pass"), ("task-04", "absent")],
    )


@pytest.mark.rule("GTD-23", "OUT-10")
def test_a_rehearsal_sends_and_writes_nothing(shop: Shop, qrspi: Call) -> None:
    shop.make()
    before = {path: path.read_bytes() for path in shop.root.rglob("*") if path.is_file()}
    done = qrspi("quality", "check", "01", "--dry-run")
    assert done.out == (
        "task-01: UNREVIEWED (quality-reviewer (claude, middle) would be sent over command)\n"
    )
    assert qrspi("quality", "batch", "--dry-run", "--exit-code").code == 3
    shop.write(ONE, task(working_directory=""))
    before[shop.run / ONE] = task(working_directory="")
    assert qrspi("quality", "check", "01", "--dry-run", "--json").json["verdict"] == "REJECT"
    assert {path: path.read_bytes() for path in shop.root.rglob("*") if path.is_file()} == before


@pytest.mark.rule("GTD-23")
@pytest.mark.parametrize(("text", "code"), [(reply(), 0), (reply(goal="△"), 3)])
def test_a_program_asks_by_the_exit_status(shop: Shop, qrspi: Call, text: str, code: int) -> None:
    shop.make().says(text)
    assert qrspi("quality", "check", "01", "--exit-code").code == code
    assert qrspi("quality", "check", "01").code == 0


@pytest.mark.rule("GTD-06")
def test_a_line_without_its_record_is_a_claim(shop: Shop, qrspi: Call) -> None:
    line = f"PASS hash={HASH} @{NOW} v1"
    shop.make().write(ONE, task(quality_verdict=line))
    found = check(qrspi, "01", "--mode", "cache-only")
    assert (found["verdict"], found["claim"]) == ("PASS", True)
    debt = qrspi("quality", "debt", "--json").json["tasks"]
    assert [one["because"] for one in debt] == ["absent"]
    assert check(qrspi, "01")["verdict"] == "NEEDS_REFINEMENT"


@pytest.mark.rule("GTD-10")
@pytest.mark.parametrize(
    ("gates", "mode"),
    [
        ("{quality: off}", "live-cache-aware"),
        ("{audit: on}", "live-cache-aware"),
        ("{quality: cache-only}", "cache-only"),
        ("{quality: live}", "live"),
    ],
)
def test_the_mode_comes_from_the_gate(shop: Shop, qrspi: Call, gates: str, mode: str) -> None:
    shop.make(gates)
    assert check(qrspi, "01")["mode"] == mode


@pytest.mark.rule("GTD-18")
def test_a_verdict_after_the_approval_has_its_own_commit(shop: Shop, qrspi: Call) -> None:
    shop.make("{quality: off}", approved=True)
    check(qrspi, "01")
    assert shop.subjects()[0] == "docs(qrspi): quality of task-01 for user-auth"
    assert shop.committed() == [RECORD, ONE]
    assert [line for line in shop.status() if "docs/" in line] == []


@pytest.mark.rule("GTD-18", "ENG-04")
def test_a_verdict_that_was_not_committed_is_committed_by_the_same_command(
    shop: Shop, qrspi: Call
) -> None:
    shop.make("{quality: live-cache-aware}", approved=True).says(reply())
    shop.hook("pre-commit", "exit 1")
    assert qrspi("quality", "check", "01").code == 4
    assert b"quality_verdict: PASS" in shop.read()
    (shop.root / ".git/hooks/pre-commit").unlink()
    assert check(qrspi, "01")["source"] == "cache"
    assert shop.subjects()[0] == "docs(qrspi): quality of task-01 for user-auth"
    assert shop.committed() == [RECORD, ONE]
    qrspi("quality", "batch")
    assert (len(shop.subjects()), shop.calls) == (2, 1)


@pytest.mark.rule("GTD-18")
def test_a_verdict_before_the_approval_goes_with_it(shop: Shop, qrspi: Call) -> None:
    shop.make()
    check(qrspi, "01")
    assert shop.subjects() == ["start"]
    assert qrspi("approve", "plan", "--unreviewed").code == 0
    assert shop.subjects() == ["docs(qrspi): approve plan for user-auth", "start"]
    assert {RECORD, ONE} < set(shop.committed())


@pytest.mark.rule("GTD-01")
def test_a_verdict_costs_no_review_and_no_approval(shop: Shop, qrspi: Call) -> None:
    shop.make()
    qrspi("approve", "plan", "--unreviewed")
    check(qrspi, "01")
    assert b"Quality Review Findings" in shop.read()
    warnings = qrspi("status", "--json").json["runs"][0]["warnings"]
    assert [one["code"] for one in warnings if "approval" in one["code"]] == []
    shop.write(ONE, shop.read().replace(b"an hour old", b"a day old"))
    warnings = qrspi("status", "--json").json["runs"][0]["warnings"]
    assert "edited-after-approval" in [one["code"] for one in warnings]


@pytest.mark.rule("OUT-03")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("check 01 --mode fast", 2, "Invalid value for '--mode': 'fast' is not one of"),
        ("check", 2, "expected one task: qrspi quality check [RUN] TASK|-"),
        ("check 07", 3, "there is no tasks/task-07.md; tasks: task-01"),
        ("batch 07", 3, "there is no tasks/task-07.md; tasks: task-01"),
        ("batch xx", 2, "no run"),
        ("clear 01", 3, f"{ONE} has no quality_verdict: there is nothing to clear"),
        ("clear 07", 3, "tasks/task-07.md cannot be read: it is not there"),
        ("check 01 --prior-axes goal", 2, "--prior-verdict and --prior-axes are for a draft"),
        ("check - --prior-axes colour", 2, "--prior-axes has 'colour', expected some of goal,"),
        ("check - --prior-verdict fine", 2, "--prior-verdict is 'fine', expected a line"),
        ("check - --reply -", 2, "the draft is read from stdin, so --reply needs a file"),
    ],
)
def test_a_wrong_call_is_one_line(
    shop: Shop, qrspi: Call, monkeypatch: pytest.MonkeyPatch, words: str, code: int, said: str
) -> None:
    shop.make()
    monkeypatch.setattr("sys.stdin", Stdin(task()))
    done = qrspi("quality", *words.split())
    assert (done.code, done.out) == (code, "")
    assert said in done.err


def test_tasks_that_cannot_be_judged(shop: Shop, qrspi: Call) -> None:
    shop.make().write(ONE, b"---\nstatus: draft\n")
    shop.write("tasks/task-02.md", b"# Task 02: T\n\nJust do it.\n")
    shop.write("tasks/task-03.md", b"x" * 300_000)
    found = qrspi("quality", "batch", "--json").json["tasks"]
    assert {one["verdict"] for one in found} == {"UNREVIEWED"}
    assert [one["gaps"][0] for one in found] == [
        f"{ONE}:1:1: frontmatter without an end: no further line is '---' alone",
        "the task has no Description, no Acceptance Criteria and no Execution Plan",
        "tasks/task-03.md cannot be read: it is too large, 300,000 bytes, "
        "expected at most 262,144 bytes",
    ]
    assert shop.calls == 0


def test_a_run_without_tasks(shop: Shop, qrspi: Call) -> None:
    shop.make()
    (shop.run / ONE).unlink()
    for verb in ("batch", "debt"):
        done = qrspi("quality", verb)
        assert (done.code, done.err.splitlines()[0]) == (
            3,
            f"there is no task in tasks/ of {runs.RUN}: expected tasks/task-NN.md",
        )


def test_a_gate_of_the_wrong_type_is_refused(shop: Shop, qrspi: Call) -> None:
    shop.make("{quality: [live]}")
    done = qrspi("quality", "check", "01")
    assert (done.code, done.err.splitlines()[0]) == (
        3,
        "config.md: gates.quality is `[live]`; expected off, cache-only, live or live-cache-aware",
    )


@pytest.mark.rule("QV-11")
def test_a_batch_takes_as_long_as_it_has_tasks(shop: Shop, qrspi: Call) -> None:
    shop.make()
    took: list[float] = []
    for count in (100, 400):
        for number in range(1, count + 1):
            shop.write(f"tasks/task-{number:02d}.md", task(working_directory="", number=number))
        began = time.process_time()
        found = qrspi("quality", "batch", "--json").json["tasks"]
        took.append(time.process_time() - began)
        assert len(found) == count
    assert took[1] < 8 * took[0]


# The gate


def gated(shop: Shop, qrspi: Call) -> Any:
    return qrspi("next", "--json").json


@pytest.mark.rule("QV-14", "GTD-03")
def test_a_task_starts_only_with_a_pass(shop: Shop, qrspi: Call) -> None:
    shop.make("{quality: cache-only}", approved=True)
    shop.write("tasks/task-02.md", task(number=2, status="approved"))
    shop.commit()
    answer = gated(shop, qrspi)["next"]
    assert (answer["action"], answer["who"], answer["kind"]) == ("decide", "human", "quality")
    assert [option["key"] for option in answer["options"]] == ["refine", "proceed"]
    assert answer["waits_for"] == ["task-01", "task-02"]
    assert answer["command"] == f"qrspi quality batch {runs.RUN}"
    assert f"qrspi task start {runs.RUN} task-01 --anyway" in answer["summary"]
    refused = qrspi("task", "start", "01", "--json")
    assert (refused.code, refused.json["code"]) == (3, "not-passed")
    shop.says(reply())
    check(qrspi, "01", "--mode", "live")
    after = gated(shop, qrspi)
    assert after["performed"][0]["handler"] == "start-tasks"
    assert after["next"]["kind"] == "implement"
    assert (shop.run / "reviews/tasks/task-01/start.md").exists()
    assert not (shop.run / "reviews/tasks/task-02/start.md").exists()


@pytest.mark.rule("GTD-03")
def test_refine_leaves_all_as_it_is_and_proceed_is_recorded(shop: Shop, qrspi: Call) -> None:
    shop.make("{quality: cache-only}", approved=True)
    before = shop.read()
    assert qrspi("resolve", "refine").code == 0
    assert (shop.read(), shop.records()) == (before, [])
    assert qrspi("inbox", "--json").json["items"][0]["kind"] == "menu"
    assert qrspi("resolve", "proceed").code == 0
    (record,) = shop.records()
    assert (record["event"], record["task"], record["hash"], record["who"]) == (
        "proceed",
        "task-01",
        HASH,
        "Ada Example <ada@example.org>",
    )
    assert shop.subjects()[0] == "docs(qrspi): proceed with task-01 for user-auth"
    assert gated(shop, qrspi)["performed"][0]["handler"] == "start-tasks"


@pytest.mark.rule("GTD-03")
def test_who_proceeded_with_one_text_is_asked_about_another(shop: Shop, qrspi: Call) -> None:
    shop.make("{quality: cache-only}", approved=True)
    qrspi("resolve", "proceed")
    shop.write(ONE, shop.read().replace(b"an hour old", b"a day old"))
    assert gated(shop, qrspi)["next"]["kind"] == "quality"


@pytest.mark.rule("QV-14")
def test_one_is_started_anyway_and_that_is_recorded(shop: Shop, qrspi: Call) -> None:
    shop.make("{quality: cache-only}", approved=True)
    would = qrspi("task", "start", "01", "--anyway", "--dry-run")
    assert (would.code, shop.records()) == (0, [])
    assert qrspi("task", "start", "01", "--dry-run").code == 3
    assert qrspi("task", "start", "--anyway").code == 0
    assert [(one["event"], one["task"]) for one in shop.records()] == [("proceed", "task-01")]
    assert "task-01 starts without a PASS" in qrspi("log", "--files").out
    assert qrspi("task", "start", "01").code == 0  # a started task is not asked again


@pytest.mark.rule("GTD-03", "GTD-23")
def test_a_gate_that_is_turned_on_in_mid_run_leaves_what_is_started(
    shop: Shop, qrspi: Call
) -> None:
    shop.make("{quality: off}", approved=True)
    assert gated(shop, qrspi)["next"]["kind"] == "implement"
    qrspi("config", "set", "gates.quality", "live")
    assert gated(shop, qrspi)["next"]["kind"] == "implement"
    assert [one["task"] for one in qrspi("quality", "debt", "--json").json["tasks"]] == ["task-01"]


@pytest.mark.rule("GTD-03", "GTD-10")
def test_dispatch_has_held_texts_reviewed(shop: Shop, qrspi: Call) -> None:
    shop.make("{quality: live}", approved=True).says(reply())
    shop.write("tasks/task-02.md", task(number=2, status="approved", working_directory=""))
    shop.commit()
    (shop.root / "agent.sh").write_text("[ -e calls ] && exit 9; " + AGENT)
    done = qrspi("next", "--dispatch", "--json", "--max-calls", "1").json
    handlers = [one["handler"] for one in done["performed"]]
    assert handlers[:2] == ["quality", "start-tasks"]
    assert [record["evidence"] for record in shop.records()] == ["dispatched"]
    assert "docs(qrspi): quality of task-01 for user-auth" in shop.subjects()


@pytest.mark.rule("GTD-03")
def test_a_repair_of_the_baseline_is_not_asked_about(shop: Shop, qrspi: Call) -> None:
    shop.make("{quality: live}", approved=True)
    (shop.run / ONE).unlink()
    shop.write("tasks/task-01a.md", task(status="approved", tags="worthiness:info-only"))
    assert gated(shop, qrspi)["performed"][0]["handler"] == "start-tasks"


@pytest.mark.rule("GTD-13", "QV-00")
def test_what_the_rubric_has_against_a_ready_task_is_written_when_it_would_start(
    shop: Shop, qrspi: Call
) -> None:
    shop.make("{quality: live}", approved=True).says(reply())
    check(qrspi, "01")
    shop.write(ONE, shop.read().replace(b"working_directory: .", b"working_directory: gone"))
    answer = gated(shop, qrspi)["next"]
    assert (answer["kind"], answer["because"]) == ("quality", ["task-01: REJECT (R-EP4)"])
    assert not (shop.run / "reviews/tasks/task-01").exists()


@pytest.mark.rule("QV-15", "GTD-10")
def test_approving_the_plan_gives_each_task_its_verdict_and_sends_nobody(
    shop: Shop, qrspi: Call
) -> None:
    shop.make("{quality: live-cache-aware, test_command: sh test.sh}").says(reply())
    check(qrspi, "01")
    passed = shop.read()
    shop.write("tasks/task-02.md", task(number=2))
    shop.write("tasks/task-03.md", task(number=3, working_directory=""))
    shop.write("tasks/task-04.md", task(number=4, tags="worthiness:info-only", criteria=""))
    shop.commit()
    done = qrspi("approve", "plan", "--unreviewed")
    assert (done.code, shop.calls) == (0, 1)
    assert shop.read() == passed.replace(b"draft", b"approved")
    assert shop.read("tasks/task-02.md") == task(number=2, status="approved")
    assert b"status: approved\nquality_verdict: REJECT hash=" in shop.read("tasks/task-03.md")
    assert b"quality_verdict: PASS hash=" in shop.read("tasks/task-04.md")
    assert [(one["task"], one["evidence"]) for one in shop.records()] == [
        ("task-01", "dispatched"),
        ("task-03", "rubric"),
    ]
    assert done.err.splitlines() == [
        "task-02 is UNREVIEWED: nobody has reviewed it",
        "task-03 is REJECT: the rubric rejects it: R-EP4",
        "task-04: nobody has to review it: it is tagged worthiness:info-only",
        "the tests of this run: sh test.sh",
    ]


def test_a_gate_that_is_off_leaves_approvals_alone(shop: Shop, qrspi: Call) -> None:
    shop.make("{quality: off}").write(ONE, task(working_directory=""))
    assert qrspi("approve", "plan", "--unreviewed").code == 0
    assert shop.read() == task(working_directory="", status="approved")


@pytest.mark.rule("PPL-01")
def test_a_brief_says_how_the_gate_stands(shop: Shop, qrspi: Call) -> None:
    shop.make("{quality: cache-only}", approved=True)
    qrspi("resolve", "proceed")
    page = qrspi("brief").out
    assert page.partition("## Gates\n\n")[2].partition("\n\n")[0] == (
        "- 0 of 1 tasks have a PASS for their text\n- task-01: nobody has reviewed it\n"
        "- task-01: proceed by Ada Example <ada@example.org> on 2026-05-17"
    )
