"""Implementers and reviewers of code, sent by the engine into a real work tree."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from qrspi import engine, engine_with_agents
from qrspi.core.agents import prompt_orders
from qrspi.core.errors import Refusal
from qrspi.core.filenames import prompt_file
from qrspi.core.gates.checkpoints import checkpoint_request
from qrspi.engine_with_agents import Driven
from qrspi.handlers.agents import awaited_agents, fan_out, material
from qrspi.handlers.agents.dispatch_options import Sending
from qrspi.handlers.decisions import decide_findings
from qrspi.handlers.jobs.job import Options
from qrspi.handlers.tasks import reports
from tests import deliveries
from tests.checkpoints import rows, script
from tests.handlers.shop import Told
from tests.handlers.workshop import Workshop
from tests.markers import named_only
from tests.project import trap

QRSPI = Path(sys.executable).with_name("qrspi")
IMPLEMENTER = f"""
prompt=$(cat)
echo "$PWD" >> {{log}}
case "$prompt" in
*report_command*)
  echo 'b = 1' > b.py && git add b.py && git commit -q -m 'Add b'
  {QRSPI} task report task-01 --status DONE --commit "$(git rev-parse HEAD)" > /dev/null
  echo 'b.py is there.';;
*) printf '%s' "$prompt" > {{log}}.prompt; printf NO_FINDINGS;;
esac
"""


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    agent = f"{{claude: {{argv: ['{tmp_path}/agent']}}}}"
    return Workshop(tmp_path / "shop", deliveries.quick(commands=agent))


def driven(shop: Workshop) -> Driven:
    workspace = shop.workspace()
    options = Options()
    with fan_out.opened(workspace, options, Sending(), Told()) as dispatcher:
        return engine_with_agents.drive(workspace, options, dispatcher)


@pytest.mark.rule("PRM-07", "PRM-01", "IMP-11")
def test_an_implementer_commits_and_reviewers_see_the_code(shop: Workshop, tmp_path: Path) -> None:
    trap(tmp_path / "agent", IMPLEMENTER.format(log=tmp_path / "log"))
    done = driven(shop)
    assert done.failures == ()
    files = {one.handler: one.files for one in done.outcome.performed}
    assert files["dispatch-dispatch-tasks"] == ("reviews/tasks/task-01/report.md",)
    assert (done.outcome.state.next.who, done.outcome.state.next.kind) == ("human", "batch")
    places = (tmp_path / "log").read_text().splitlines()
    worktree = f"{shop.root}/.worktrees/user-auth/task-01"
    assert (places[0], places.count(str(shop.root))) == (worktree, 4)
    prompt = named_only((tmp_path / "log.prompt").read_text())
    assert f"\nworktree: {worktree}\n" in prompt
    assert (
        "\nsubject_code:\n<<<UNTRUSTED-ARTIFACT-START id=b.py>>>\nb = 1\n\n"
        "<<<UNTRUSTED-ARTIFACT-END id=b.py>>>\n"
    ) in prompt
    assert "<<<UNTRUSTED-ARTIFACT-START id=tasks/task-01.md>>>" in prompt


SILENT = "cat > {log}.prompt; echo sent >> {log}; echo I am done."


@pytest.mark.rule("PRM-07", "LIV-18")
def test_an_implementer_that_does_not_report_is_named_and_sent_again(
    shop: Workshop, tmp_path: Path
) -> None:
    trap(tmp_path / "agent", SILENT.format(log=tmp_path / "log"))
    for tries in (1, 2):
        done = driven(shop)
        assert [one.message for one in done.failures] == [
            "task-01: the implementer ended without a report"
        ]
        assert done.outcome.state.next.kind == "implement"
        assert (tmp_path / "log").read_text() == "sent\n" * tries
        (waiting,) = awaited_agents.line(shop.workspace())
        assert (waiting.state, waiting.problem) == (
            "failed",
            "the implementer ended without a report",
        )
    told = named_only((tmp_path / "log.prompt").read_text())
    assert "\n- the implementer ended without a report\n" in told
    trap(tmp_path / "agent", IMPLEMENTER.format(log=tmp_path / "log"))
    assert driven(shop).failures == ()


@pytest.mark.rule("PRM-07")
def test_an_implementer_whose_vendor_only_prints_is_the_hosts(tmp_path: Path) -> None:
    provider = (
        "{claude: {base_url: 'http://127.0.0.1:1/v1', api_key_env: NO_SUCH_KEY, "
        "transport_type: openai-chat-completions}}"
    )
    shop = Workshop(tmp_path / "shop", deliveries.quick(providers=provider))
    done = driven(shop)
    assert (done.held, done.failures) == (("task-01",), ())


INTEGRATORS = ("integration-claude", "security-claude")


@pytest.mark.rule("LIV-20", "PRM-07")
@pytest.mark.parametrize("prints", [True, False])
def test_whoever_opens_no_files_is_shown_the_merged_code(tmp_path: Path, prints: bool) -> None:
    agent = "{claude: {argv: [agent]}}" if prints else ""
    shop = Workshop(tmp_path / "shop", deliveries.full(commands=agent))
    shop.next()
    for key, path in (("task-01", "a.py"), ("task-02", "b.py")):
        shop.take(key, path, f"made = '{key}'\n")
    shop.next()
    shop.take("task-03", "c.py", "made = 'task-03'\n")
    shop.next()
    shop.resolve("continue")
    shop.next()
    assert shop.answer.missing == INTEGRATORS
    prompt = named_only(shop.read(prompt_file(shop.answer.asks[0])))
    wrapped = "<<<UNTRUSTED-ARTIFACT-START id=c.py>>>\nmade = 'task-03'\n"
    assert (wrapped in prompt) is prints
    assert ("subject_code:\n" in prompt) is prints
    diff = "<<<UNTRUSTED-ARTIFACT-START id=reviews/integration/round-01.diff>>>\ndiff --git a/a.py"
    assert (diff in prompt) is prints


def at_the_gate(tmp_path: Path, **fields: str) -> Workshop:
    """A task was taken without a review, and its reviewers are asked about the batch."""
    shop = Workshop(tmp_path / "shop", deliveries.quick(**fields))
    shop.next()
    shop.take("task-01", "a.py", "a = 1\n")
    shop.next()
    shop.resolve("rerun-reviews")
    shop.next()
    return shop


@pytest.mark.rule("LIV-20", "PRM-07")
@pytest.mark.parametrize("prints", [True, False])
def test_whoever_opens_no_files_is_shown_the_code_of_every_task(
    tmp_path: Path, prints: bool
) -> None:
    agent = {"commands": "{claude: {argv: [agent]}}"} if prints else {}
    shop = at_the_gate(tmp_path, **agent)
    prompt = named_only(shop.read(prompt_file(shop.answer.asks[0])))
    code = (
        "\nsubject_code:\n<<<UNTRUSTED-ARTIFACT-START id=.worktrees/user-auth/task-01/a.py>>>\n"
        "a = 1\n\n<<<UNTRUSTED-ARTIFACT-END id=.worktrees/user-auth/task-01/a.py>>>\n"
    )
    assert (code in prompt) is prints
    change = prompt.partition("<<<UNTRUSTED-ARTIFACT-START id=task-01.diff>>>\n")[2]
    lines = change.partition("<<<")[0].splitlines()
    assert ("-a = 0" in lines and "+a = 1" in lines) is prints


@pytest.mark.rule("LIV-20", "PRM-07")
def test_at_the_gate_a_task_that_was_left_out_has_no_code_to_show(tmp_path: Path) -> None:
    tasks = {f"tasks/task-0{one}.md": deliveries.task(one, files=f"{one}.py") for one in (1, 2)}
    shop = Workshop(
        tmp_path / "shop", deliveries.quick(tasks, commands="{claude: {argv: [agent]}}")
    )
    shop.next()
    shop.take("task-01", "a.py", "a = 1\n")
    shop.work("task-02", "b.py", "b = 1\n")
    shop.make(lambda job: reports.skip(job, "task-02", "Not now."))
    shop.next()
    shop.resolve("rerun-reviews")
    shop.next()
    prompt = named_only(shop.read(prompt_file(shop.answer.asks[0])))
    assert "\n+a = 1\n" in prompt and "b = 1" not in prompt


@pytest.mark.rule("LIV-07", "PRM-07")
def test_of_a_long_log_whoever_reviews_the_tests_is_shown_the_end(tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "shop", deliveries.quick(commands="{claude: {argv: [agent]}}"))
    shop.next()
    shop.take("task-01", "a.py", "a = 1\n")
    shop.next()
    shop.resolve("continue")
    shop.next()
    assert shop.answer.step == "test"
    shop.write("reviews/test/round-01.log", "first\n" + "more\n" * 60_000 + "last\n")
    shop.next()
    prompt = named_only(shop.read(prompt_file(shop.answer.asks[0])))
    assert prompt.count("START id=reviews/test/round-01.log>>>") == 1
    assert "\nlast\n" in prompt and "\nfirst\n" not in prompt


@pytest.mark.rule("LIV-20")
@pytest.mark.parametrize(
    ("command", "line"),
    [("sh test.sh", "test_command: sh test.sh"), ("none", "test_command: none")],
)
def test_reviewers_of_code_are_told_how_its_tests_are_run(
    tmp_path: Path, command: str, line: str
) -> None:
    shop = at_the_gate(tmp_path, gates=f"gates:\n  test_command: '{command}'\n")
    prompt = shop.read(prompt_file(shop.answer.asks[0]))
    assert [one for one in prompt.splitlines() if one.startswith("test_command:")] == [line]


@pytest.mark.rule("LIV-20")
def test_a_command_that_the_user_has_not_allowed_is_named_to_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = at_the_gate(tmp_path)
    asked = prompt_file(shop.answer.asks[0])
    assert "\ntest_command: sh test.sh\n" in shop.read(asked)
    monkeypatch.delenv("QRSPI_TRUST", raising=False)
    shop.next()
    assert "test_command" not in shop.read(asked)


@pytest.mark.rule("LIV-20", "SEC-09")
def test_an_implementer_has_no_prompt_with_a_command_that_is_not_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Workshop(tmp_path / "shop", deliveries.quick())
    shop.next()
    assert "\ntest_command: sh test.sh\n" in shop.read(prompt_file(shop.answer.asks[0]))
    monkeypatch.delenv("QRSPI_TRUST")
    with pytest.raises(Refusal, match=r"gates\.test_command"):
        shop.next()


@pytest.mark.rule("LIV-20")
def test_verifiers_of_code_are_told_how_its_tests_are_run(tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "shop", deliveries.quick())
    shop.next()
    shop.deliver("task-01", "a.py", "a = 1\n")
    shop.next()
    shop.review("task-01", 1, wrong="It is never read.")
    (shop.run / "reviews/tasks/task-01/round-01/spec-claude.finding-F01.score.yml").unlink()
    shop.next()
    (ask,) = shop.answer.asks
    assert ask.kind == "verify"
    assert "\ntest_command: sh test.sh\n" in shop.read(prompt_file(ask))


@pytest.mark.rule("LIV-14", "LIV-20")
def test_reviewers_are_told_what_the_concerns_of_an_implementer_are(tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "shop", deliveries.quick())
    shop.next()
    shop.work("task-01", "a.py", "a = 1\n")
    words = "It may be late at midnight."
    shop.make(lambda job: reports.report(job, "task-01", "DONE_WITH_CONCERNS", "HEAD", words))
    shop.next()
    told = named_only(shop.read(prompt_file(shop.answer.asks[0])))
    assert prompt_orders.CONCERNS in told.partition("\n# Parameters\n")[0]
    concerns = told.partition("\nconcerns:\n")[2]
    assert concerns.startswith("<<<UNTRUSTED-ARTIFACT-START id=reviews/tasks/task-01/report.md>>>")
    assert f"\n{words}\n" in concerns


@pytest.mark.rule("LIV-19", "LIV-20")
@pytest.mark.parametrize("prints", [True, False])
def test_whoever_opens_no_files_is_shown_what_changed_since_the_last_round(
    tmp_path: Path, prints: bool
) -> None:
    agent = {"commands": "{claude: {argv: [agent]}}"} if prints else {}
    shop = Workshop(tmp_path / "shop", deliveries.quick(**agent))
    shop.next()
    shop.deliver("task-01", "a.py", "a = 1\n")
    shop.next()
    first = named_only(shop.read(prompt_file(shop.answer.asks[0])))
    shop.review("task-01", 1, wrong="It is never read.")
    shop.next()
    shop.deliver("task-01", "a.py", "a = 2\n")
    shop.next()
    told = named_only(shop.read(prompt_file(shop.answer.asks[0])))
    path = "reviews/tasks/task-01/round-02-since.diff"
    assert f"\nsince_diff_path: {shop.run}/{path}\n" in told and "-since" not in first
    since = told.partition(f"<<<UNTRUSTED-ARTIFACT-START id={path}>>>\n")[2].partition("<<<")[0]
    assert ("-a = 1" in since and "+a = 2" in since) is prints
    shop.write(path, shop.data("reviews/tasks/task-01/round-02.diff"))  # as in a narrowed round
    shop.next()
    assert shop.read(prompt_file(shop.answer.asks[0])).count("\n+a = 2\n") == prints


@pytest.mark.rule("LIV-20")
def test_whoever_reviews_all_tasks_is_given_how_each_came_out(tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "shop", deliveries.quick())
    shop.next()
    shop.take("task-01", "a.py", "a = 1\n")
    shop.next()
    shop.resolve("rerun-reviews")
    shop.next()
    listed = shop.read(prompt_file(shop.answer.asks[0])).partition("\nupstream_paths:\n")[2]
    paths = list(listed.split("\n\n")[0].splitlines())
    assert paths[-4:] == [
        f"{shop.run}/tasks/task-01.md",
        f"{shop.run}/reviews/tasks/task-01/outcome.md",
        f"{shop.run}/reviews/tasks/task-01/report.md",
        f"{shop.run}/reviews/tasks/task-01/start.md",
    ]
    shop.put(deliveries.failing_baseline("proceed"))
    shop.next()
    known = shop.read(prompt_file(shop.answer.asks[0]))
    assert f"\n{shop.run}/reviews/baseline.md\n" in known and "baseline" not in listed


@pytest.mark.rule("PRM-05", "RTE-01")
@pytest.mark.parametrize(
    ("switch", "kind", "role"),
    [
        ("on", "text", "implementer-light"),
        ("on", "config", "implementer-light"),
        ("on", "code", "implementer"),
        ("off", "text", "implementer"),
    ],
)
def test_text_goes_to_a_light_implementer(
    tmp_path: Path, switch: str, kind: str, role: str
) -> None:
    files = deliveries.quick(light_implementer=switch)
    task = files["tasks/task-01.md"].replace(b"---\n", b"---\ntask_type: %b\n" % kind.encode(), 1)
    shop = Workshop(tmp_path / "shop", {**files, "tasks/task-01.md": task})
    workspace = shop.workspace()
    engine.advance(workspace, Options())
    (waiting,) = awaited_agents.line(workspace)
    assert (waiting.name, waiting.role) == ("task-01", role)


CHECKPOINTS = 'gates:\n  checkpoints: on\n  test_command: "true"\n'


def asking(tmp_path: Path, kind: str, **fields: str) -> Workshop:
    """A task whose agent is to ask for review while it works."""
    files = deliveries.quick(gates=CHECKPOINTS, light_implementer="on", **fields)
    task = files["tasks/task-01.md"].replace(b"---\n", b"---\ntask_type: %b\n" % kind.encode(), 1)
    shop = Workshop(tmp_path / "shop", {**files, "tasks/task-01.md": task})
    shop.next()
    return shop


@pytest.mark.rule("CK-01", "CK-03", "PRM-05")
@pytest.mark.parametrize("kind", ["code", "text"])
def test_an_implementer_asks_for_review_in_words_of_its_prompt(tmp_path: Path, kind: str) -> None:
    shop = asking(tmp_path, kind)
    told = shop.read(prompt_file(shop.answer.asks[0]))
    database = shop.run / "orchestration.db"
    assert f"\norchestration_db: {database}\n" in told
    printed = told.partition("<<'SQL'\n")[2]
    ask, _, after = printed.partition("\n    SQL\n")
    filled = ask.replace("X/9", "2/9").replace("N of M", "1 of 1").replace("XX%", "40%")
    script(database, filled)
    looks = [line for line in after.splitlines() if line.startswith("    SELECT")]
    state, message = (rows(database, line)[0][0] for line in looks)
    assert state == "needs_review"
    assert message.startswith("REVIEW REQUEST (Smoothness: 2/9):\n")
    request = checkpoint_request.read(message)
    assert (request.checkpoint, request.smoothness, request.deviations) == (1, 2, ())
    assert rows(database, "SELECT count(*) FROM orchestration_faults") == [(0,)]
    assert "`error`: a person decides, so report\n`BLOCKED`." in told
    assert "Smoothness is 0 where all went as planned, and 9 where nothing did." in told


@pytest.mark.rule("CK-01", "GTD-09")
def test_a_repair_has_no_row_in_which_it_could_ask_for_review(tmp_path: Path) -> None:
    job = asking(tmp_path, "code").job()
    places = [material.database(job, key) for key in ("task-01", "ci-round-01/ci-command")]
    assert places == [f"{job.workspace.path}/orchestration.db", ""]


@pytest.mark.rule("CK-01", "PRM-05")
def test_an_agent_that_writes_the_first_tests_asks_for_no_review(tmp_path: Path) -> None:
    shop = asking(tmp_path, "code", test_writer="on")
    assert "orchestration" not in shop.read(prompt_file(shop.answer.asks[0]))


@pytest.mark.rule("IMP-11", "LIV-20")
def test_an_implementer_is_told_how_a_person_wants_a_finding_applied(shop: Workshop) -> None:
    shop.next()
    shop.deliver("task-01", "a.py", "a = 1\n")
    shop.next()
    shop.review("task-01", 1, wrong="It is wrong.")
    file = shop.run / "reviews/tasks/task-01/round-01" / f"{deliveries.TAGS[0]}.finding-F01.md"
    file.write_text(file.read_text().replace("correctness", "scope"))
    shop.next()
    name = f"{deliveries.TAGS[0]}.R1-F01"
    note = "Only for late loans."
    said = note.replace("for ", "for\n  ")
    shop.make(lambda job: decide_findings.plan(job, [name], "apply", note=said))
    shop.next()
    (asked,) = shop.answer.asks
    prompt = named_only(shop.read(prompt_file(asked)))
    assert prompt_orders.DECISIONS in prompt.partition("# Parameters")[0]
    assert (
        f"\ndecisions:\n<<<UNTRUSTED-ARTIFACT-START id=decisions>>>\n- {name}: {note}\n" in prompt
    )
