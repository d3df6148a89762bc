"""The commands about agents: their whole output, their documents, their refusals."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from qrspi.core.config import reader
from qrspi.core.text import untrusted_markers
from qrspi.render import agents
from tests import runs
from tests.cli.conftest import Call, Result
from tests.cli.terminal import Terminal

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
NOTHING = "NO_FINDINGS\n"


@pytest.fixture
def review(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A design in a repository, whose reviewers answer from a folder."""
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin:/bin")
    files = {
        "config.md": runs.config("full"),
        **runs.approved("goals", "questions", "research"),
        **runs.on_record("goals", "questions", "research"),
        "design.md": runs.artifact(),
    }
    run = runs.on_disk(project, files)
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "start")):
        subprocess.run(["git", *words], cwd=project, check=True)
    replies = project.parent / "replies"
    replies.mkdir()
    for name in ("quality-claude", "scope-claude"):
        (replies / f"{name}.md").write_text(NOTHING)
    return run


def checked(result: Result, name: str) -> Any:
    document = result.json
    assert document["schema"] == f"qrspi/{name}/v1"
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(document)
    return document


@pytest.mark.rule("OUT-01", "OUT-02", "TRN-05")
def test_next_sends_agents_until_a_person_is_needed(review: Path, qrspi: Call) -> None:
    done = qrspi("next", "--dispatch", "--replies", "../replies")
    assert (done.code, done.err) == (0, "[transport: scripted]\n")
    assert done.out.splitlines() == [
        "done: open design round 1",
        "  reviews/design/round-01.diff",
        "  reviews/design/round-01/.dispatch-manifest.json",
        "done: send the reviewers of design round 1",
        "  reviews/design/round-01/quality-claude.clean.md",
        "  reviews/design/round-01/scope-claude.clean.md",
        "done: collect the findings of design round 1",
        "  reviews/design/round-01-verified.md",
        "  reviews/design/round-01/kept-findings.txt",
        "  reviews/design/round-01-scope-set.txt",
        "done: commit design round 1",
        "Next: Reviews passed clean in round 1. Read design.md, then `qrspi approve "
        f"{runs.RUN} design` or `qrspi reject {runs.RUN} design -m TEXT`.",
        "  Read with care: design.md is the text that round 1 reviewed; nobody has decided "
        "about it before.",
        "  Findings: 0 kept in round 1.",
    ]


@pytest.mark.rule("OUT-02", "TRN-09")
def test_a_limit_that_is_reached_is_an_answer(review: Path, qrspi: Call) -> None:
    words = ("next", "--dispatch", "--replies", "../replies", "--max-calls", "1", "--json")
    done = qrspi(*words)
    document = checked(done, "next")
    assert (done.code, document["stopped"]["code"], document["held"]) == (0, "budget-calls", [])
    assert document["next"]["action"] == "review"
    assert checked(qrspi(*words[:-3], "--json"), "next")["stopped"] is None


@pytest.mark.rule("OUT-03", "SPD-02")
def test_trouble_on_the_way_is_an_error_of_its_own(review: Path, qrspi: Call) -> None:
    (review.parents[3] / "replies/scope-claude.md").unlink()
    done = qrspi("next", "--dispatch", "--replies", "../replies", "--json")
    document = checked(done, "error")
    assert (done.code, document["code"]) == (4, "transport-no-script")
    assert document["hint"] == "run the same command again: only whoever is missing is sent"
    did = [(one["handler"], one["files"]) for one in document["performed"]]
    assert [handler for handler, _ in did] == ["prepare-round", "dispatch-review", "write-prompts"]
    assert did[1][1] == ["reviews/design/round-01/quality-claude.clean.md"]
    assert document["next"]["waits_for"] == ["scope-claude"]
    status = qrspi("status", "--json").json["runs"][0]
    assert (status["next"]["action"], status["next"]["round"]) == ("review", 1)


@pytest.mark.rule("OUT-03")
def test_two_failures_are_in_one_document(review: Path, qrspi: Call) -> None:
    for name in ("quality-claude", "scope-claude"):
        (review.parents[3] / f"replies/{name}.md").unlink()
    document = checked(qrspi("next", "--dispatch", "--replies", "../replies", "--json"), "error")
    names = [one["message"].partition(":")[0] for one in (document, *document["violations"])]
    assert names == ["quality-claude", "scope-claude"]


BROKEN = """\
import sys
from qrspi.cli import main
from qrspi.handlers.agents import fan_out
obtain = fan_out.obtain
fan_out.obtain = lambda one, context: obtain(one, context) if one.name[0] == "q" else 1 / 0
main(sys.argv[1:])
"""


def test_a_bug_while_agents_work_is_one_line_and_keeps_what_came(review: Path) -> None:
    words = [sys.executable, "-c", BROKEN, "next", "--dispatch", "--replies", "../replies"]
    short = subprocess.run([*words, "--jobs", "1"], capture_output=True, text=True)
    assert (short.returncode, short.stderr) == (
        1,
        "[transport: scripted]\n"
        "a bug in qrspi: ZeroDivisionError: division by zero\n"
        "  run it again with -v for the traceback\n",
    )
    assert (review / "reviews/design/round-01/quality-claude.clean.md").exists()
    long = subprocess.run([*words, "-v"], capture_output=True, text=True)
    assert (long.returncode, long.stderr.count("Traceback")) == (1, 1)


@pytest.mark.rule("OUT-01", "SPD-02")
@pytest.mark.parametrize("words", [("next", "--dispatch"), ("dispatch", "run")])
def test_a_failure_is_told_once_after_what_was_done(
    review: Path, qrspi: Call, words: tuple[str, ...]
) -> None:
    replies = review.parents[3] / "replies"
    (replies / "scope-claude.md").unlink()
    qrspi("next")
    done = qrspi(*words, "--replies", "../replies")
    said = f"{replies} has no reply for scope-claude: expected design/round-01/scope-claude.md"
    assert done.code == 4
    assert "reviews/design/round-01/quality-claude.clean.md" in done.out
    assert done.err == (
        "[transport: scripted]\n"
        f"failed: scope-claude: {said}\n"
        "1 agent failed, as said above; run the same command again: who has answered is not asked\n"
    )
    done = qrspi(*words, "--replies", "../replies", "-q")
    assert (done.code, done.err) == (4, f"scope-claude: {said}\n")


@pytest.mark.rule("OUT-10")
def test_a_rehearsal_sends_nobody(review: Path, qrspi: Call) -> None:
    before = sorted(file.as_posix() for file in review.rglob("*"))
    done = qrspi("next", "--dispatch", "--dry-run", "--replies", "../replies")
    assert (done.code, done.out.splitlines()[0]) == (0, "would do: open design round 1")
    assert done.out.endswith(
        f"\n\nwould send: whom the run waits for then; `qrspi next {runs.RUN}` says whom.\n"
    )
    assert sorted(file.as_posix() for file in review.rglob("*")) == before
    qrspi("next")
    done = qrspi("next", "--dispatch", "--dry-run", "--replies", "../replies")
    assert done.out.splitlines()[-4:] == [
        "would send:",
        "AGENT           ROLE              MODEL          VIA       STATE",
        "quality-claude  reviewer-quality  claude/large   scripted  pending",
        "scope-claude    reviewer-scope    claude/middle  scripted  pending",
    ]


def test_options_that_only_matter_when_sending_are_refused_without(
    review: Path, qrspi: Call
) -> None:
    done = qrspi("next", "--max-calls", "3")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "--executor, --jobs, --max-…, --tier-override and --replies only matter with --dispatch\n"
        "  qrspi next [RUN] --dispatch\n"
    )


@pytest.mark.rule("TRN-04", "OUT-02")
def test_who_is_waited_for_is_listed(review: Path, qrspi: Call) -> None:
    qrspi("next")
    done = qrspi("dispatch", "list")
    assert done.out.splitlines() == [
        "AGENT           ROLE              MODEL          VIA   STATE",
        "quality-claude  reviewer-quality  claude/large   host  pending",
        "scope-claude    reviewer-scope    claude/middle  host  pending",
    ]
    document = checked(qrspi("dispatch", "list", "--json"), "dispatch-list")
    assert [one["prompt_file"] for one in document["waiting"]] == [
        ".qrspi/dispatch/design/round-01/quality-claude.md",
        ".qrspi/dispatch/design/round-01/scope-claude.md",
    ]


@pytest.mark.rule("TRN-04")
def test_what_is_wrong_with_the_log_of_dispatches_is_said(review: Path, qrspi: Call) -> None:
    qrspi("next")
    path = ".qrspi/dispatch/design/round-01/jobs.jsonl"
    (review / path).write_text('{"name": 3}\nnot JSON\n')
    done = qrspi("dispatch", "list")
    assert len(done.out.splitlines()) == 3
    assert done.err.splitlines() == [
        f"warning: {path} line 1 is not a record of a dispatch: it does not count, the other "
        "lines do",
        f"warning: {path} line 2 is not a JSON object: it does not count, the other lines do",
    ]


@pytest.mark.rule("TRN-04", "LIV-02")
@pytest.mark.parametrize("kind", ["directory", "symlink"])
def test_a_log_that_cannot_be_read_is_said_with_the_way_out(
    review: Path, qrspi: Call, kind: str
) -> None:
    qrspi("next")
    path = ".qrspi/dispatch/design/round-01/jobs.jsonl"
    log = review / path
    log.mkdir() if kind == "directory" else log.symlink_to("elsewhere")
    move = f"mv {log} {log}.unreadable"
    assert qrspi("dispatch", "list").err == (
        f"warning: cannot read {path}: it is a {kind}, expected a regular file, so nobody knows "
        f"who was sent; to begin a new one: `{move}`\n"
    )
    subprocess.run(move, shell=True, check=True)
    assert qrspi("dispatch", "list").err == ""


@pytest.mark.rule("SPD-01", "LIV-02")
@pytest.mark.parametrize("kind", ["directory", "symlink"])
def test_a_ledger_that_cannot_be_read_is_not_an_empty_one(
    review: Path, qrspi: Call, kind: str
) -> None:
    assert qrspi("spend").out == "Nothing has been spent on this run.\n"
    file = review / ".qrspi/spend.jsonl"
    file.parent.mkdir(exist_ok=True)
    file.mkdir() if kind == "directory" else file.symlink_to("elsewhere")
    move = f"mv {file} {file}.unreadable"
    assert qrspi("spend") == (
        4,
        "",
        f"cannot read .qrspi/spend.jsonl: it is a {kind}, expected a regular file, so nobody knows "
        f"what was spent\n  {move}\n",
    )
    subprocess.run(move, shell=True, check=True)
    assert qrspi("spend").out == "Nothing has been spent on this run.\n"


KILLED = """\
import os, sys
from qrspi.cli import main
from qrspi.world.agents import transports
transports.TRANSPORTS["scripted"] = lambda request, wire: os.kill(os.getpid(), 9)
main(sys.argv[1:])
"""


@pytest.mark.rule("SPD-01", "LIV-01")
def test_a_call_whose_command_was_killed_is_told(review: Path, qrspi: Call) -> None:
    qrspi("next")
    words = ("dispatch", "run", "--replies", "../replies", "--only", "scope-claude")
    killed = subprocess.run([sys.executable, "-c", KILLED, *words], capture_output=True)
    assert killed.returncode == -9
    said = "1 call is on record as sent and has no answer: what that cost is not known.\n"
    assert qrspi("spend") == (0, said, "")
    assert qrspi("dispatch", "list").err == said
    assert checked(qrspi("spend", "--json"), "spend")["unanswered"] == 1
    qrspi(*words)
    assert "unanswered" not in qrspi("spend").out
    told = qrspi("spend").out.splitlines()
    assert [line.split()[:3] + line.split()[4:5] for line in told[1:3]] == [
        ["design", "1", "reviewer-scope", "2"],
        ["total", "2", "0", "-"],
    ]
    assert told[-2] == "Nobody said what 2 calls cost."


@pytest.mark.rule("SPD-01")
def test_a_long_line_of_the_ledger_is_one_line(review: Path, qrspi: Call) -> None:
    words = ("spend", "add", "--step", "design", "--role", "r", "--model", "m")
    qrspi(*words)
    file = review / ".qrspi/spend.jsonl"
    good = file.read_bytes()
    file.write_bytes(good + b"x" * 10_000_000 + b"\n" + good)
    done = qrspi("spend", "--json")
    assert (done.code, done.json["total"]["calls"]) == (0, 2)
    assert done.err == (
        "warning: .qrspi/spend.jsonl line 2 is too long: it does not count, the other lines do; "
        "expected at most 8,388,608 bytes\n"
    )


def test_goals_are_a_persons_to_write(project: Path, qrspi: Call) -> None:
    assert qrspi("init", "user-auth", "--pipeline", "quick", "--no-second-reviewer").code == 0
    nobody = f"The run waits for no agent now: `qrspi next {runs.RUN}` says what it waits for.\n"
    assert (qrspi("dispatch", "list").out, qrspi("dispatch", "run").out) == (nobody, nobody)
    assert qrspi("prompt", "author").code == 0


@pytest.mark.rule("LIV-23")
def test_an_agent_drafts_the_goals_from_a_request(project: Path, qrspi: Call) -> None:
    words = ("--pipeline", "quick", "--no-second-reviewer", "--json")
    assert qrspi("init", "Let people sign in with a link", *words).code == 0
    (project.parent / "replies").mkdir()
    for name, text in (
        ("author", "---\nstatus: draft\n---\n# Goals\n\nPeople sign in with a link.\n"),
        ("", NOTHING),
    ):
        for file in [name] if name else ["quality-claude", "scope-claude"]:
            (project.parent / f"replies/{file}.md").write_text(text)
    assert [one["name"] for one in qrspi("dispatch", "list", "--json").json["waiting"]] == [
        "author"
    ]
    done = qrspi("next", "--dispatch", "--replies", "../replies", "--json").json
    assert (done["next"]["action"], done["next"]["who"]) == ("approve", "human")
    assert done["performed"][0]["handler"] == "dispatch-author"
    assert done["performed"][0]["files"] == ["goals.md"]


@pytest.mark.rule("LIV-27")
def test_prompt_alone_lists_who_may_draft_the_goals(project: Path, qrspi: Call) -> None:
    assert qrspi("init", "user-auth", "--pipeline", "quick", "--no-second-reviewer").code == 0
    done = qrspi("prompt")
    assert [line.split()[0] for line in done.out.splitlines() if line] == [
        "AGENT",
        "author",
        "What",
    ]
    assert f"`qrspi prompt {runs.RUN} author`" in done.out


def test_nobody_is_waited_for(review: Path, qrspi: Call) -> None:
    done = qrspi("dispatch", "list")
    assert (
        done.out
        == f"The run waits for no agent now: `qrspi next {runs.RUN}` says what it waits for.\n"
    )
    assert qrspi("dispatch", "run", "--replies", "../replies").out == done.out
    document = checked(
        qrspi("dispatch", "run", "--replies", "../replies", "--json"), "dispatch-run"
    )
    assert (document["step"], document["files"]) == (None, [])


@pytest.mark.rule("MAN-02")
def test_one_fan_out_sends_and_stops(review: Path, qrspi: Call) -> None:
    qrspi("next")
    words = ("dispatch", "run", "--replies", "../replies")
    done = qrspi(*words, "--only", "scope-claude")
    assert done.out == "reviews/design/round-01/scope-claude.clean.md\n"
    document = checked(qrspi(*words, "--json"), "dispatch-run")
    assert document["files"] == ["reviews/design/round-01/quality-claude.clean.md"]
    assert qrspi("status", "--json").json["runs"][0]["next"]["action"] == "assemble"


@pytest.mark.rule("LIV-25")
def test_what_is_the_hosts_is_said_to_be(review: Path, qrspi: Call) -> None:
    qrspi("next")
    done = qrspi("dispatch", "run")
    assert (done.code, done.out) == (
        0,
        "Not sent, as config.md has no command or provider for them: quality-claude, "
        "scope-claude.\n" + "".join(f"{line}\n" for line in agents.WIRES),
    )


@pytest.mark.rule("OUT-10")
def test_a_fan_out_can_be_rehearsed(review: Path, qrspi: Call) -> None:
    qrspi("next")
    words = ("dispatch", "run", "--replies", "../replies", "--only", "scope-claude", "--dry-run")
    assert qrspi(*words).out.splitlines()[1:] == [
        "scope-claude  reviewer-scope  claude/middle  scripted  pending"
    ]
    assert not list((review / "reviews/design/round-01").glob("*.clean.md"))


@pytest.mark.rule("LIV-25")
def test_the_lines_that_are_offered_are_good_lines_of_config_md() -> None:
    blocks = "\n".join(agents.WIRES).split("\n\n")[1::2]
    vendors = []
    for block in blocks:
        config = reader.read(runs.config("quick").replace(b"---\n", f"---\n{block}\n".encode(), 1))
        assert reader.validate(config) == ((), ())
        vendors += [*(config.commands or ()), *(config.providers or ())]
    assert vendors == ["claude", "codex", "shop"]
    assert max(map(len, agents.WIRES)) < 80


@pytest.mark.rule("LIV-27")
@pytest.mark.parametrize("words", [(), (runs.RUN,)])
def test_without_a_tag_everybody_who_waits_is_listed(
    review: Path, qrspi: Call, words: tuple[str, ...]
) -> None:
    qrspi("next")
    assert qrspi("prompt", *words) == (
        0,
        "AGENT           ROLE              MODEL          VIA   STATE\n"
        "quality-claude  reviewer-quality  claude/large   host  pending\n"
        "scope-claude    reviewer-scope    claude/middle  host  pending\n"
        "\n"
        f"What one is to be told: `qrspi prompt {runs.RUN} quality-claude`.\n",
        "",
    )
    checked(qrspi("prompt", *words, "--json"), "dispatch-list")
    assert qrspi("prompt", "quality-cluade").err.splitlines()[0] == (
        f"run {runs.RUN} does not wait for 'quality-cluade'; it waits for quality-claude, "
        "scope-claude; did you mean quality-claude?"
    )


@pytest.mark.rule("LIV-25")
def test_sending_while_a_person_is_waited_for_would_send_nobody(review: Path, qrspi: Call) -> None:
    qrspi("next", "--dispatch", "--replies", "../replies")
    done = qrspi("next", "--dispatch", "--dry-run", "--replies", "../replies")
    assert done.out.endswith("\n\nwould send: nobody, as the run does not wait for an agent.\n")


@pytest.mark.rule("PRM-01", "OUT-02")
def test_a_prompt_is_printed_as_it_is(review: Path, qrspi: Call) -> None:
    qrspi("next")
    done = qrspi("prompt", "quality-claude")
    file = review / ".qrspi/dispatch/design/round-01/quality-claude.md"
    assert (done.code, done.out) == (0, file.read_text())
    document = checked(qrspi("prompt", runs.RUN, "quality-claude", "--json"), "prompt")
    assert (document["prompt"], document["model"]) == (file.read_text(), "large")


@pytest.mark.rule("PRM-01", "OUT-04")
def test_a_prompt_is_not_folded_at_a_terminal(review: Path, qrspi: Call) -> None:
    """Whoever copies it from the screen has its markers, paths and commands in one piece."""
    qrspi("next")
    file = review / ".qrspi/dispatch/design/round-01/quality-claude.md"
    assert max(map(len, file.read_text().splitlines())) > 40
    with Terminal("prompt", "quality-claude", columns=40) as terminal:
        assert (terminal.end(), terminal.screen) == (0, file.read_text())


def test_a_prompt_that_nobody_waits_for_is_refused(review: Path, qrspi: Call) -> None:
    qrspi("next")
    done = qrspi("prompt", "author")
    assert (done.code, done.out) == (3, "")
    assert done.err == (
        f"run {runs.RUN} does not wait for 'author'; it waits for quality-claude, scope-claude\n"
        f"  qrspi dispatch list {runs.RUN}\n"
    )
    assert qrspi("prompt", "a", "b", "c").code == 2


@pytest.mark.rule("SEC-04")
def test_a_terminal_is_not_given_what_it_would_obey(review: Path) -> None:
    (review / "design.md").write_bytes(runs.artifact(body="# D\n\n## A\n\n\x1b[31mred\n"))
    project = review.parents[2]
    subprocess.run(["git", "commit", "-qam", "red"], cwd=project, check=True)
    with Terminal("next", "--root", project) as terminal:
        terminal.end()
    with Terminal("prompt", "--root", project, "quality-claude") as terminal:
        assert terminal.end() == 0
        assert "\\x1b[31mred" in terminal.screen
        assert "\x1b[31mred" not in terminal.screen


@pytest.mark.rule("TRN-08", "OUT-04")
def test_a_person_at_a_terminal_sees_how_far_it_is(review: Path) -> None:
    project = review.parents[2]
    words = ("next", "--root", project, "--dispatch", "--replies", project.parent / "replies")
    with Terminal(*words) as terminal:
        assert terminal.end() == 0
        assert "waiting for agents" in terminal.screen
        assert "[transport: scripted]" in terminal.screen


@pytest.mark.rule("PRM-05", "OUT-02")
def test_roles_are_listed_with_where_they_come_from(review: Path, qrspi: Call) -> None:
    own = review / ".qrspi/agents/reviewer-scope.md"
    own.parent.mkdir(parents=True)
    front = "---\nname: reviewer-scope\nmodel: {vendor: v, model: m}\n---\n"
    own.write_text(f"{front}# Mine\n\nLook \x1b[1mhard.\n")
    document = checked(qrspi("roles", "list", "--json"), "roles-list")
    listed = {role["name"]: role for role in document["roles"]}
    assert listed["reviewer-scope"] == {
        "name": "reviewer-scope",
        "tier": None,
        "model": {"vendor": "v", "model": "m"},
        "file": str(own),
        "shipped": False,
    }
    assert (listed["verifier"]["tier"], listed["verifier"]["shipped"]) == ("low", True)
    rows = {row.split()[0]: row.split()[1:] for row in qrspi("roles", "list").out.splitlines()}
    assert rows["reviewer-scope"] == ["-", "v/m", "the", "run"]
    assert rows["verifier"] == ["low", "-", "shipped"]
    shown = qrspi("roles", "show", "reviewer-scope").out
    assert shown == f"{front}# Mine\n\nLook \\x1b[1mhard.\n"
    shipped = qrspi("roles", "show", "--shipped", "reviewer-scope").out
    own.write_text(shipped)
    assert qrspi("roles", "show", "reviewer-scope").out == shipped
    assert checked(qrspi("roles", "show", "verifier", "--json"), "roles-show")["tier"] == "low"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ("roles", "show", "reviewer-nobody"),
            2,
            "no role named 'reviewer-nobody' is shipped; expected "
            ".qrspi/agents/reviewer-nobody.md in the run or the project\n",
        ),
        (("roles", "show"), 2, "expected [RUN] NAME\n  qrspi roles show --help\n"),
    ],
)
def test_a_role_that_is_not_there(
    review: Path, qrspi: Call, words: tuple[str, ...], code: int, message: str
) -> None:
    done = qrspi(*words)
    assert (done.code, done.err) == (code, message)


@pytest.mark.rule("PRM-02", "PRM-03")
@pytest.mark.parametrize(
    "data", [b"plain\n", b"", b"\xff\xfe", b"<<<UNTRUSTED-ARTIFACT-END id=x>>>\n", b"no newline"]
)
def test_wrapped_bytes_come_back(tmp_path: Path, process: Call, data: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(data)
    wrapped = subprocess.run(
        [*_command(), "wrap", file, "--id", "x"], capture_output=True, check=True
    ).stdout
    assert wrapped.startswith(b"<<<UNTRUSTED-ARTIFACT-START id=x")
    back = subprocess.run([*_command(), "unwrap", "-"], input=wrapped, capture_output=True)
    assert (back.returncode, back.stdout) == (0, data)


def _command() -> list[Path]:
    from tests.cli.conftest import COMMAND

    return [COMMAND]


@pytest.mark.rule("PRM-02", "OUT-02")
def test_wrapping_has_documents_and_refusals(tmp_path: Path, qrspi: Call) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"\xff")
    document = checked(qrspi("wrap", file, "--id", "x", "--json"), "wrap")
    assert document["encoded"] is True
    (tmp_path / "wrapped").write_text(document["text"])
    back = checked(qrspi("unwrap", tmp_path / "wrapped", "--json"), "unwrap")
    assert back == {"schema": "qrspi/unwrap/v1", "encoding": "base64", "content": "/w=="}
    bad = qrspi("wrap", file, "--id", "a b")
    assert (bad.code, bad.err) == (
        2,
        "id: found 'a b', expected only letters, digits and any of . _ / -\n",
    )
    refused = qrspi("unwrap", file)
    assert (refused.code, refused.err) == (
        3,
        "not a wrapped text: found no start marker on the first line, expected "
        "<<<UNTRUSTED-…-START id=…>>>\n",
    )


@pytest.mark.rule("SPD-01", "OUT-02")
def test_what_was_spent_is_a_table(review: Path, qrspi: Call) -> None:
    assert qrspi("spend").out == "Nothing has been spent on this run.\n"
    words = "spend add --step design --round 1 --role verifier --model small --usd 0.25".split()
    assert qrspi(
        *words, "--input-tokens", "900", "--output-tokens", "100", "--seconds", "4"
    ).out == ("entered: 1 call of verifier (small) for design, 1000 tokens, 0.2500 USD\n")
    document = checked(qrspi(*words, "--calls", "2", "--json"), "spend-add")
    assert (document["entry"]["source"], document["entry"]["calls"]) == ("host", 2)
    qrspi("next", "--dispatch", "--replies", "../replies")
    assert qrspi("spend", runs.RUN).out.splitlines() == [
        "STEP    ROUND  ROLE              MODEL   CALLS  TOKENS IN  TOKENS OUT  USD     SECONDS",
        "design  1      reviewer-quality  large   1      0          0           -       0.0",
        "design  1      reviewer-scope    middle  1      0          0           -       0.0",
        "design  1      verifier          small   3      900        100         0.5000  4.0",
        "total                                    5      900        100         0.5000  4.0",
        "Nobody said what 2 calls cost.",
        "About 4764 more tokens, by the length of the texts: nobody counted them.",
    ]
    document = checked(qrspi("spend", "--json"), "spend")
    assert document["total"]["calls"] == 5


@pytest.mark.rule("SPD-01")
def test_budgets_stand_beside_what_was_spent(project: Path, qrspi: Call) -> None:
    config = runs.config(budget="{usd: 2, calls: 9, per_step: {tokens: 50}}")
    runs.on_disk(project, {"config.md": config})
    qrspi(*"spend add --step goals --role author --model m --input-tokens 7 --usd 1".split())
    assert qrspi("spend").out.splitlines()[-2:] == [
        "the budget of this run in config.md: 1 of 9 calls, 1.0000 of 2.0000 USD",
        "the budget of a step in config.md (goals): 7 of 50 tokens",
    ]
    assert len(checked(qrspi("spend", "--json"), "spend")["budgets"]) == 2


@pytest.mark.rule("OUT-10", "SPD-01")
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (
            "--step goals --role author --model m --dry-run",
            0,
            "would enter: 1 call of author (m) for goals, 0 tokens, an unknown cost\n",
        ),
        (
            "--step nowhere --role author --model m",
            2,
            "'nowhere' is not a step; expected one of goals, questions, research, design, phasing, "
            "ux, structure, plan, parallelize, implement, integrate, test, replan, "
            "implement-gate, task-NN\n"
            "  qrspi spend add [RUN] --step STEP --role ROLE --model MODEL\n",
        ),
    ],
)
def test_entering_can_be_rehearsed_and_refused(
    review: Path, qrspi: Call, words: str, code: int, told: str
) -> None:
    done = qrspi("spend", "add", *words.split())
    assert (done.code, done.out or done.err) == (code, told)
    assert not (review / ".qrspi/spend.jsonl").exists()


def test_a_run_may_stand_before_the_action_word(review: Path, qrspi: Call) -> None:
    assert qrspi("dispatch", runs.RUN, "list").code == 0
    assert (
        qrspi("spend", runs.RUN, "add", "--step", "goals", "--role", "r", "--model", "m").code == 0
    )
    assert qrspi("roles", runs.RUN, "list").code == 0


@pytest.mark.rule("SEC-23")
def test_a_terminal_does_not_obey_what_is_unwrapped(tmp_path: Path) -> None:
    (tmp_path / "wrapped").write_bytes(untrusted_markers.wrap(b"\x1b[31mred\n", "notes.md"))
    with Terminal("unwrap", tmp_path / "wrapped") as terminal:
        terminal.until("\\x1b[31mred")
