"""What runs the tests: asked for once, early, and answered on record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qrspi.core.config.reader import read
from tests import deliveries, runs
from tests.cli.conftest import Call
from tests.cli.terminal import Terminal
from tests.deliveries import full, quick, started
from tests.handlers.workshop import Workshop
from tests.project import Project

RUN = runs.RUN
INIT = ("init", "user-auth", "--pipeline", "quick", "--no-second-reviewer")
SETTING = f"qrspi config set {RUN} gates.test_command 'CMD'"
LATER = f"nobody has said what runs the tests: `{SETTING}`, or none in place of 'CMD'"
ASKED = (
    f"Which command runs the tests? Say it with `{SETTING}`, with none in place of 'CMD' when "
    "nothing runs them."
)
AT_TERMINAL = "Which command runs the tests? (none: there is none; empty: ask me later): "


@pytest.fixture
def shop(project: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A repository with a commit, on a branch of somebody's own."""
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin:/bin")
    found = Project(project)
    found.git("init", "-q", "-b", "main")
    (project / "a.py").write_text("a = 0\n")
    found.commit("start")
    found.git("switch", "-q", "-c", "work")
    return found


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A quick run before its first task; nobody has said anything about tests."""
    files = {**quick(), "config.md": deliveries.config("quick", "")}
    made = Workshop(tmp_path.resolve() / "project", files)
    monkeypatch.chdir(made.root)
    monkeypatch.setenv("QRSPI_NOW", "2026-05-17T09:30:00Z")
    return made


def at_plan(**fields: str) -> dict[str, bytes]:
    """Before the approval of a plan that nobody reviewed."""
    text = quick(**fields)
    return {**text, "config.md": deliveries.config("quick", ""), "plan.md": runs.artifact("draft")}


def told(project: Project) -> list[Any]:
    keys = ("step", "option", "who", "surface")
    lines = [one for one in project.records() if one["event"] == "test-command"]
    return [tuple(one.get(key) for key in keys) for one in lines]


@pytest.mark.rule("LIV-05")
@pytest.mark.parametrize("said", ["make test", "none", "sh -c 'exit 1' # \"all\": of them"])
def test_init_takes_the_answer_and_puts_it_on_record(said: str, shop: Project, qrspi: Call) -> None:
    result = qrspi(*INIT, "--test-command", said)
    assert result.code == 0
    assert result.out.splitlines()[1:4] == ["  config.md", "  goals.md", "  approvals.jsonl"]
    assert read((shop.run / "config.md").read_bytes()).said_of_tests == said
    assert told(shop) == [("test", said, "Ada Example <ada@example.org>", "cli")]
    assert shop.committed() == ["approvals.jsonl", "config.md", "goals.md"]
    assert shop.status() == []


@pytest.mark.rule("LIV-05")
def test_an_empty_answer_is_none(shop: Project, qrspi: Call) -> None:
    assert qrspi(*INIT, "--test-command", " ") == (
        2,
        "",
        "--test-command needs a command, or none when there is none\n  qrspi init --help\n",
    )
    assert not shop.run.exists()


@pytest.mark.rule("LIV-02")
def test_init_takes_no_placeholder_for_a_command(shop: Project, qrspi: Call) -> None:
    assert qrspi(*INIT, "--test-command", " CMD") == (
        2,
        "",
        "--test-command: CMD only stands for your own command; expected a command in quotes, such "
        "as 'make test', or none\n",
    )
    assert not shop.run.exists()


@pytest.mark.rule("LIV-05")
def test_an_adopted_run_has_the_answer_on_record_too(shop: Project, qrspi: Call) -> None:
    shop.put({"goals.md": runs.artifact()})
    words = ("init", "--adopt", shop.run, "--pipeline", "quick", "--no-second-reviewer")
    result = qrspi(*words, "--test-command", "none", "--json").json
    assert result["files"] == ["config.md", "approvals.jsonl"]
    assert [one[1] for one in told(shop)] == ["none"]
    assert shop.committed() == ["approvals.jsonl", "config.md", "goals.md"]


@pytest.mark.rule("LIV-05")
def test_the_run_asks_before_its_first_task(asked: Workshop, qrspi: Call) -> None:
    answer = qrspi("next", RUN, "--json").json["next"]
    assert (answer["action"], answer["who"], answer["kind"]) == ("decide", "human", "test-command")
    assert (answer["summary"], answer["command"]) == (ASKED, None)
    ways = {one["key"]: one["command"] for one in answer["options"]}
    setting = f"qrspi config set {RUN} gates.test_command"
    assert ways == {"command": f"{setting} 'CMD'", "none": f"{setting} none"}
    assert not asked.has("tasks/task-01.start.md") and not asked.tree("task-01").exists()
    for words in (("status", RUN), ("brief", RUN), ("inbox",)):
        assert "Which command runs the tests?" in qrspi(*words).out, words


@pytest.mark.rule("LIV-05")
@pytest.mark.parametrize("said", ["sh test.sh", "none"])
def test_any_answer_lets_the_run_go_on(said: str, asked: Workshop, qrspi: Call) -> None:
    qrspi("next", RUN)
    assert qrspi("config", "set", RUN, "gates.test_command", said).code == 0
    assert [one[1] for one in told(asked)] == [said]
    assert asked.committed() == ["approvals.jsonl", "config.md"]
    assert qrspi("next", RUN, "--json").json["next"]["kind"] != "test-command"
    assert asked.tree("task-01").exists()


@pytest.mark.rule("LIV-05")
def test_the_same_answer_again_is_no_new_one(asked: Workshop, qrspi: Call) -> None:
    for _ in range(2):
        assert qrspi("config", "set", RUN, "gates.test_command", "none").code == 0
    assert qrspi("config", "set", RUN, "gates.quality", "off").code == 0
    assert qrspi("config", "set", RUN, "gates.test_command", "make").code == 0
    assert [one[1] for one in told(asked)] == ["none", "make"]


@pytest.mark.rule("LIV-05")
def test_resolve_names_the_command_that_answers(asked: Workshop, qrspi: Call) -> None:
    result = qrspi("resolve", RUN, "stop")
    assert result.code == 3
    assert "config set RUN gates.test_command 'CMD', or none" in result.err
    result = qrspi("resolve", RUN, "none")
    own = f"qrspi config set {RUN} gates.test_command none"
    assert result == (3, "", f"`{own}` takes none here\n")
    assert told(asked) == []


@pytest.mark.rule("LIV-02")
@pytest.mark.parametrize("field", ["gates.test_command", "gates.ci_command"])
def test_the_word_that_stands_for_a_command_is_none(
    field: str, asked: Workshop, qrspi: Call
) -> None:
    before = asked.read("config.md")
    assert qrspi("config", "set", RUN, field, "CMD") == (
        2,
        "",
        f"{field}: CMD only stands for your own command; expected a command in quotes, such as "
        "'make test', or none\n",
    )
    assert asked.read("config.md") == before and told(asked) == []


@pytest.mark.rule("LIV-02")
@pytest.mark.parametrize("run", [(), (RUN,)])
@pytest.mark.parametrize("typed", ["make test", "python3 -m unittest", "npm run --silent test"])
def test_a_command_without_quotes_is_shown_with_them(
    typed: str, run: tuple[str, ...], asked: Workshop, qrspi: Call
) -> None:
    words = typed.split()
    right = ("config", "set", *run, "gates.test_command")
    assert qrspi(*right, *words) == (
        2,
        "",
        f"gates.test_command takes one VALUE, found {len(words)} words: put the command in quotes\n"
        f"  qrspi {' '.join(right)} '{typed}'\n",
    )
    assert told(asked) == []
    assert qrspi(*right, typed).code == 0
    assert [one[1] for one in told(asked)] == [typed]


@pytest.mark.rule("LIV-02")
def test_a_test_command_may_be_set_beside_other_fields(asked: Workshop, qrspi: Call) -> None:
    words = ("gates.test_command", "make", "gates.quality", "off")
    assert qrspi("config", "set", RUN, *words).code == 0
    assert "No such option '-x'" in qrspi("config", "set", RUN, "gates.quality", "-x").err
    assert "No such option '-x'" in qrspi("config", "set", "gates.test_command", "-x").err


@pytest.mark.rule("LIV-05")
def test_a_run_that_is_at_work_already_is_not_stopped(tmp_path: Path) -> None:
    files = {**full(), **started("task-01"), "config.md": deliveries.config("full", "")}
    shop = Workshop(tmp_path.resolve() / "project", files)
    assert shop.answer.kind != "test-command"


@pytest.mark.rule("LIV-05")
@pytest.mark.parametrize(
    ("said", "note"),
    [
        ("", LATER),
        ("make test", "the tests of this run: make test"),
        ("none", "no command runs the tests of this run: gates.test_command in config.md is none"),
    ],
)
def test_who_approves_a_plan_is_told_what_will_run_the_tests(
    said: str, note: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qrspi: Call
) -> None:
    shop = Workshop(tmp_path.resolve() / "project", at_plan())
    monkeypatch.chdir(shop.root)
    if said:
        qrspi("config", "set", RUN, "gates.test_command", said)
    assert qrspi("approve", RUN, "plan", "--unreviewed").err.splitlines()[0] == note


@pytest.mark.rule("LIV-05")
@pytest.mark.parametrize(
    ("typed", "said"), [("make test", "make test"), ("none", "none"), ("", "")]
)
def test_at_a_terminal_the_approval_of_a_plan_asks(
    typed: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Workshop(tmp_path.resolve() / "project", at_plan())
    monkeypatch.chdir(shop.root)
    with Terminal("approve", RUN, "plan", "--unreviewed", columns=200) as terminal:
        terminal.until(AT_TERMINAL)
        terminal.type(f"{typed}\n")
        assert terminal.end() == 0
    assert read((shop.run / "config.md").read_bytes()).said_of_tests == said
    assert [one[1] for one in told(shop)] == ([said] if said else [])
    assert shop.read("plan.md").startswith("---\nstatus: approved\n")
    assert (LATER in terminal.screen) == (not said)
