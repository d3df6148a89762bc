"""Agents are sent, answer, and the run goes on: in a real repository, with scripted agents."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from qrspi.core.derivation.derive import derive
from qrspi.core.errors import Busy
from qrspi.core.filenames import prompt_file
from qrspi.core.model import Ask
from qrspi.core.rounds.provenance import CameBy
from qrspi.handlers.rounds import round_findings
from qrspi.world.agents import dispatch_folder
from tests import runs
from tests.daemons import COMMAND
from tests.handlers.refusals import halt, refusal
from tests.handlers.shop import NOTHING, QUESTIONS, Shop, at_questions, commands, in_review, printed
from tests.project import about

LIKE_A_KEY = "sk-proj-0123456789abcdef"
FINDING = runs.finding(step="questions", cites="questions.md:L6")
FIXED = QUESTIONS.replace("users kept", "users kept today")
DISPOSED = "---\nround: 1\nartifact: questions\n---\n- quality-claude.R1-F01: applied.\n"


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return at_questions(tmp_path / "shop")


@pytest.fixture
def review(tmp_path: Path) -> Shop:
    shop = in_review(tmp_path / "shop")
    shop.find_nothing()
    return shop


@pytest.mark.rule("PRM-07", "TRN-08", "MAN-01")
def test_a_run_goes_from_a_missing_artifact_to_the_gate(shop: Shop) -> None:
    shop.reply("author.md", QUESTIONS.replace("draft", "approved"))
    shop.reply("questions/round-01/quality-claude.md", printed(FINDING))
    shop.reply("questions/round-02/quality-claude.md", NOTHING)
    shop.reply("verify.md", "score: 90\nreason: Seen.\n")
    shop.reply("fixer.md", f"{FIXED}<<<FILE dispositions>>>\n{DISPOSED}")
    driven = shop.driven()
    assert (driven.failures, driven.stopped, driven.held) == ((), None, ())
    answer = driven.outcome.state.next
    assert (answer.action, answer.who, answer.step) == ("approve", "human", "questions")
    assert answer.because == ("Reviews passed clean in round 2",)
    assert shop.read("questions.md") == FIXED
    assert shop.read("reviews/questions/round-01-dispositions.md") == DISPOSED
    assert shop.subjects() == [
        "docs(qrspi): review round 02 of questions for user-auth",
        "docs(qrspi): review round 01 of questions for user-auth",
        "docs(qrspi): draft questions for user-auth",
        "start",
    ]
    done = [one.handler for one in driven.outcome.performed if one.handler.startswith("dispatch")]
    assert done == [
        "dispatch-author",
        "dispatch-review",
        "dispatch-verify",
        "dispatch-apply-fixes",
        "dispatch-review",
    ]


@pytest.mark.rule("PRM-07")
@pytest.mark.parametrize(
    ("printed_status", "written"),
    [
        ("---\nstatus: approved\n---\n1. Q\n", "---\nstatus: draft\n---\n1. Q\n"),
        ("---\ntitle: x\n---\n1. Q\n", "---\ntitle: x\nstatus: draft\n---\n1. Q\n"),
        ("\n```markdown\n---\n---\n1. Q\n```\n", "---\nstatus: draft\n---\n1. Q\n"),
    ],
)
def test_what_an_author_prints_is_a_draft(shop: Shop, printed_status: str, written: str) -> None:
    shop.reply("author.md", printed_status)
    shop.sent()
    assert shop.read("questions.md") == written


@pytest.mark.rule("PRM-07")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "---\nstatus: [\n---\n# Q\n",
            "author: reply: questions.md:3:1: expected the node content, but found '<stream end>'",
        ),
        (
            f"{QUESTIONS}<<<FILE ../secrets.md>>>\nx\n",
            "author: reply: found a file '../secrets.md', expected only the files of this step",
        ),
        ("   \n", "author: reply: found no text, expected an answer"),
    ],
)
def test_an_authors_answer_that_is_none_writes_nothing(shop: Shop, text: str, message: str) -> None:
    shop.reply("author.md", text)
    sent = shop.sent()
    assert [one.message for one in sent.failures] == [message]
    assert not (shop.run / "questions.md").exists()
    assert shop.dispatch("questions/author")["state"] == "failed"


def test_a_plan_comes_with_its_tasks_and_what_is_not_printed_again_stays(tmp_path: Path) -> None:
    approved = runs.approved("goals", "questions", "research")
    task = "---\nstatus: draft\ntask: task-01\n---\n# One\n"
    shop = Shop(
        tmp_path / "shop",
        {"config.md": runs.config("quick"), **approved, "tasks/task-09.md": task.encode()},
    )
    shop.reply(
        "author.md",
        "---\nstatus: draft\n---\n# Plan\n"
        f"<<<FILE tasks/task-01.md>>>\n{task.replace('draft', 'approved')}",
    )
    sent = shop.sent()
    assert sent.performed.files == ("tasks/task-01.md", "plan.md")
    assert sent.performed.notes == (
        "tasks/task-09.md was there before and was not printed again: it stays",
    )
    assert shop.read("tasks/task-01.md") == task
    assert shop.git("status", "--porcelain") == ""


@pytest.mark.rule("MAN-01", "RTE-05")
def test_the_manifest_says_who_was_sent_with_which_model(review: Shop) -> None:
    review.driven()
    quality, scope = review.manifest("design")["dispatches"]
    assert quality["status"] == scope["status"] == "complete-clean"
    assert quality["dispatch_spec"] == {
        "subagent_type": "reviewer-quality",
        "host": "plain",
        "vendor": "claude",
        "model": "large",
        "prompt_file": ".qrspi/dispatch/design/round-01/quality-claude.md",
    }
    assert (quality["tag"], quality["mode"]) == ("quality-claude", "background")
    assert quality["job_id"] == review.dispatch("design/round-01/quality-claude")["job_id"]
    assert quality["await_cmd"] == f"qrspi dispatch run {runs.RUN} --only quality-claude"
    assert quality["split_cmd"] == (
        f"qrspi split {review.run}/.qrspi/dispatch/design/round-01/quality-claude.reply "
        f"--tag quality-claude {runs.RUN} design --round 1"
    )


@pytest.mark.rule("TRN-07")
def test_a_raw_reply_is_kept_beside_its_prompt(review: Shop) -> None:
    review.driven()
    folder = review.run / ".qrspi/dispatch/design/round-01"
    assert (folder / "scope-claude.reply").read_text() == NOTHING
    assert sorted(file.name for file in folder.iterdir()) == [
        "jobs.jsonl",
        "quality-claude.md",
        "quality-claude.reply",
        "scope-claude.md",
        "scope-claude.reply",
    ]


@pytest.mark.rule("TRN-08", "SPD-02")
def test_one_failure_does_not_cancel_the_others(review: Shop) -> None:
    (review.replies / "scope-claude.md").unlink()
    driven = review.driven()
    assert [one.message for one in driven.failures] == [
        f"scope-claude: {review.replies} has no reply for scope-claude: "
        "expected design/round-01/scope-claude.md"
    ]
    assert driven.failures[0].code == "transport-no-script"
    assert review.statuses("design") == {
        "quality-claude": "complete-clean",
        "scope-claude": "failed",
    }
    answer = driven.outcome.state.next
    assert (answer.action, answer.round, answer.missing) == ("review", 1, ("scope-claude",))


@pytest.mark.rule("MAN-02", "SPD-02")
def test_only_what_is_missing_is_sent_again(review: Shop) -> None:
    review.reply("scope-claude.md", "Looks good.\n")
    review.driven()
    review.reply("scope-claude.md", NOTHING)
    review.told.names.clear()
    driven = review.driven()
    assert (review.told.names, driven.failures) == (["scope-claude"], ())
    assert [one["outcome"] for one in review.ledger() if one["name"] == "scope-claude"] == [
        "failed",
        "done",
    ]
    assert len(review.ledger()) == 3
    assert driven.outcome.state.next.action == "approve"


KEYLESS = (
    "{claude: {base_url: 'http://127.0.0.1:9/v1', api_key_env: NOBODY_SET_THIS, "
    "transport_type: openai-chat-completions}}"
)


@pytest.mark.rule("SPD-01", "SPD-02")
@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ({}, "transport-no-script"),
        ({"commands": commands("/nowhere/claude")}, "transport-no-program"),
        ({"providers": KEYLESS}, "transport-no-key"),
    ],
)
def test_a_call_not_made_is_free(tmp_path: Path, setting: dict[str, str], code: str) -> None:
    shop = in_review(tmp_path / "shop", budget="{calls: 2}", **setting)
    driven = shop.driven(folder=not setting)
    assert [one.code for one in driven.failures] == [code, code]
    assert (shop.ledger(), driven.stopped) == ([], None)
    shop.find_nothing()
    driven = shop.driven()
    assert (driven.failures, driven.stopped, len(shop.ledger())) == ((), None, 2)


def test_failures_are_told_in_the_order_of_those_who_were_sent(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop", commands=commands(tmp_path / "agent"))
    other = f"until [ -e {tmp_path}/ended ]; do sleep 0.01; done"
    shop.agent(
        f"if grep -q '^reviewer_tag: quality'; then {other}; else : > {tmp_path}/ended; fi; exit 1"
    )
    driven = shop.driven(folder=False)
    names = [one.message.partition(":")[0] for one in driven.failures]
    assert names == ["quality-claude", "scope-claude"]


@pytest.mark.rule("TRN-10", "TRN-07")
@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("scope-claude.md", "", "reply: found no text, expected an answer"),
        (
            "scope-claude.md",
            "All good!\n",
            "the reply of scope-claude has no finding; expected NO_FINDINGS, or findings that each "
            "begin with a line <<<FINDING-BOUNDARY>>>",
        ),
        (
            "scope-claude.json",
            '{"type": "result", "subtype": "success", "is_error": false, "result": "NO_FIND',
            "reply: found line 1, which is not a JSON object, expected what "
            "`claude -p --output-format json` prints",
        ),
        (
            "scope-claude.json",
            '{"type": "result", "subtype": "error_max_turns", "is_error": true}',
            "reply: found subtype error_max_turns, expected success",
        ),
        (
            "scope-claude.md",
            "x" * (8 * 1024 * 1024 + 1),
            "reply: found 8388609 bytes, expected at most 8388608",
        ),
    ],
    ids=["nothing", "no finding", "half of a document", "an error", "too much"],
)
def test_only_an_answer_is_split(review: Shop, name: str, text: str, message: str) -> None:
    (review.replies / "scope-claude.md").unlink()
    review.reply(name, text)
    driven = review.driven()
    assert [one.message for one in driven.failures] == [f"scope-claude: {message}"]
    files = [file.name for file in (review.run / "reviews/design/round-01").iterdir()]
    assert sorted(files) == [".dispatch-manifest.json", "quality-claude.clean.md"]


@pytest.mark.rule("PRM-07")
def test_a_score_is_checked_before_it_is_written(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop")
    shop.reply("quality-claude.md", printed(runs.finding(step="design", cites="design.md:L8")))
    shop.reply("scope-claude.md", NOTHING)
    shop.reply("verify.md", "score: lots\nreason: It is.\n")
    path = "reviews/design/round-01/quality-claude.finding-F01.score.yml"
    (failure,) = shop.driven().failures
    assert failure.message == (
        "verify-quality-claude.finding-F01: the reply about quality-claude.finding-F01 is not a "
        f"score: {path}: score is 'lots'; expected a whole number from 0 to 100, or VERIFY_FAILED"
    )
    assert not (shop.run / path).exists()
    shop.reply("verify.md", "```yaml\nscore: 20\nreason: It is not.\n```\n")
    assert shop.driven().failures == ()
    assert shop.read(path) == "score: 20\nreason: It is not.\nverified_by: small\n"


@pytest.mark.rule("PRM-07")
def test_a_fixer_without_dispositions_changes_nothing(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop", verifier_enabled="false")
    shop.reply("quality-claude.md", printed(runs.finding(step="design", cites="design.md:L8")))
    shop.reply("scope-claude.md", NOTHING)
    shop.reply("fixer.md", "---\nstatus: draft\n---\n# Other\n")
    before = shop.read("design.md")
    (failure,) = shop.driven().failures
    assert failure.message == (
        "fixer: reply: found no dispositions, expected a line '<<<FILE dispositions>>>' and "
        "after it what was done"
    )
    assert shop.read("design.md") == before


@pytest.mark.rule("EXE-04")
def test_an_answer_that_nobody_waits_for_any_more_is_kept_and_not_counted(tmp_path: Path) -> None:
    clean = runs.clean("scope-claude").decode()
    shop = in_review(tmp_path / "shop", commands=commands(tmp_path / "agent"))
    round_one = shop.run / "reviews/design/round-01"
    # The host answers in place of the agent while that one is at work.
    status = f"{COMMAND} status --root {shop.root} {runs.RUN}"
    shop.agent(
        f"{status} >> {tmp_path}/told\ncat > /dev/null\n"
        f"[ -e {round_one}/scope-claude.clean.md ] || "
        f"printf %s '{clean}' > {round_one}/scope-claude.clean.md\nprintf NO_FINDINGS"
    )
    driven = shop.driven(folder=False, jobs=1)
    assert driven.failures == ()
    assert driven.outcome.state.next.action == "approve"
    assert shop.dispatch("design/round-01/scope-claude")["state"] == "late"
    assert (shop.run / ".qrspi/dispatch/design/round-01/scope-claude.reply").exists()
    assert [(one["name"], one["outcome"]) for one in shop.ledger()] == [
        ("quality-claude", "done"),
        ("scope-claude", "late"),
    ]
    assert "Agents are at work for it now: `qrspi" in (tmp_path / "told").read_text()
    notes = [note for one in driven.outcome.performed for note in one.notes]
    assert "scope-claude answered too late: its reply is kept, unused" in notes


@pytest.mark.rule("MAN-02")
def test_after_a_retry_the_old_answer_is_not_used_again(review: Shop) -> None:
    bad = printed(runs.finding("scope-claude", step="design").replace(b"medium", b"grave"))
    review.reply("scope-claude.md", bad)
    driven = review.driven()
    assert driven.outcome.state.next.kind == "fix-files"
    assert [one.code for one in driven.failures] == ["reply-malformed"]  # once is enough
    (review.run / "reviews/design/round-01/scope-claude.finding-F01.md").unlink()
    review.reply("scope-claude.md", NOTHING)
    review.told.names.clear()
    assert review.driven().failures == ()
    assert review.told.names == ["scope-claude"]
    attempts = [one["attempt"] for one in review.ledger() if one["name"] == "scope-claude"]
    assert attempts == [1, 2, 3]


@pytest.mark.rule("LIV-18", "ENG-06")
def test_a_reviewer_is_asked_for_another_file_in_place_of_one_at_fault(review: Shop) -> None:
    """By hand it corrects its own file; what it prints takes the place of that."""
    bad = runs.finding("scope-claude", step="design").replace(b"medium", b"grave")
    file = "reviews/design/round-01/scope-claude.finding-F01.md"
    review.next()
    review.write("reviews/design/round-01/quality-claude.clean.md", runs.clean())
    review.write(file, bad)
    following = review.next().state.next
    assert (following.kind, following.asks) == (
        "fix-files",
        (Ask("review", "design", 1, "scope-claude"),),
    )
    prompt = review.read(prompt_file(following.asks[0]))
    assert f"- {file}: severity is 'grave'; expected low, medium or high\n" in prompt
    assert "What was handed in is on record already" in prompt
    review.reply("scope-claude.md", printed(runs.finding("scope-claude", step="design")))
    review.driven()
    asked = review.read(".qrspi/dispatch/design/round-01/scope-claude.md")
    assert "An earlier answer of yours was not taken" in asked
    assert review.read(f"{file}.rejected-1").encode() == bad
    assert review.read(file).encode() == runs.finding("scope-claude", step="design")
    assert len(review.ledger()) == 1


@pytest.mark.rule("LIV-18", "ENG-06")
def test_a_verifier_is_asked_for_another_score_in_place_of_one_at_fault(review: Shop) -> None:
    place = "reviews/design/round-01"
    stem = "scope-claude.finding-F01"
    review.next()
    review.write(f"{place}/quality-claude.clean.md", runs.clean())
    review.write(f"{place}/{stem}.md", runs.finding("scope-claude", step="design"))
    review.write(f"{place}/{stem}.score.yml", b"score: 7e1\n")
    review.reply(f"verify-{stem}.md", runs.score(90).decode())
    driven = review.driven()
    assert driven.failures[1:] == ()  # nobody is there to fix it
    assert review.read(f"{place}/{stem}.score.yml.rejected-1") == "score: 7e1\n"
    assert review.has(f"{place}-verified.md")


@pytest.mark.rule("ENG-06")
def test_an_edit_during_a_fix_is_not_overwritten(tmp_path: Path) -> None:
    shop = in_review(
        tmp_path / "shop", verifier_enabled="false", commands=commands(tmp_path / "agent")
    )
    design = shop.run / "design.md"
    shop.agent(
        f'case "$(cat)" in *dispositions_path*) echo "A person was here." >> {design};\n'
        f"printf -- '---\\nstatus: draft\\n---\\n# New\\n<<<FILE dispositions>>>\\nDone.\\n';;\n"
        "*scope-claude*) printf NO_FINDINGS;;\n*) cat "
        f"{tmp_path}/finding;; esac"
    )
    finding = runs.finding(step="design", cites="design.md:L8")
    (tmp_path / "finding").write_text(printed(finding))
    (failure,) = shop.driven(folder=False).failures
    assert failure.message == (
        "fixer: design.md was changed while the agent worked on it; its answer is not put over that"
    )
    assert design.read_text().endswith("A person was here.\n")
    assert not (shop.run / "reviews/design/round-01-dispositions.md").exists()


def sent_back(root: Path, **more: bool) -> Shop:
    """A design that its author is asked for again. A person changed its frontmatter."""
    text = runs.artifact(body="# Design\n\n## Approach\n\nOne way.\n")
    feedback = {"feedback/design-round-01.md": b"\n## Previous Artifact\n\n" + text}
    approved = runs.approved("goals", "questions", "research")
    config = {"config.md": runs.config("full")}
    shop = Shop(root, config | approved | feedback | {"design.md": text}, **more)
    shop.write("design.md", text.replace(b"status:", b"by: Nell\nstatus:"))
    shop.reply("author.md", "---\nstatus: draft\n---\n# Other\n")
    return shop


@pytest.mark.rule("LIV-11", "ENG-06")
def test_an_edit_before_an_author_is_sent_is_in_git_when_its_answer_comes(tmp_path: Path) -> None:
    shop = sent_back(tmp_path / "shop")
    sent = shop.sent()
    assert (sent.failures, sent.performed.notes) == ((), ())
    assert shop.read("design.md") == "---\nstatus: draft\n---\n# Other\n"
    assert shop.git("log", "--format=%s", "-Sby: Nell").splitlines() == [
        "docs(qrspi): draft design for user-auth",
        "docs(qrspi): edit design for user-auth",
    ]


@pytest.mark.rule("LIV-04", "LIV-18")
def test_an_author_that_prints_the_same_again_fails_with_the_reason_and_is_told(
    tmp_path: Path,
) -> None:
    shop = sent_back(tmp_path / "shop")
    shop.reply("author.md", shop.read("design.md"))
    (failure,) = shop.driven().failures
    said = "design.md is printed as it was, and the run waits for it to change"
    assert (failure.message, shop.told.failed) == (f"author: {said}", ["author"])
    shop.reply("author.md", "---\nstatus: draft\n---\n# Other\n")
    assert shop.sent().failures == ()
    assert said in shop.read(".qrspi/dispatch/design/author.md")


@pytest.mark.rule("LIV-11", "ENG-06")
def test_without_git_the_text_that_an_answer_replaces_is_kept_beside(tmp_path: Path) -> None:
    shop = sent_back(tmp_path / "shop", git=False)
    before = shop.data("design.md")
    (note,) = shop.sent().performed.notes
    path = f".qrspi/replaced/{hashlib.sha256(before).hexdigest()[:12]}-design.md"
    assert note == f"what design.md said before is kept in {path}"
    assert shop.data(path) == before


@pytest.mark.rule("LIV-25", "ENG-06")
def test_an_author_that_writes_its_file_itself_is_followed_by_its_reviewers(tmp_path: Path) -> None:
    shop = at_questions(tmp_path / "shop", commands=commands(tmp_path / "agent"))
    (tmp_path / "questions").write_text(QUESTIONS)
    shop.agent(
        'case "$(cat)" in *reviewer_tag:*) printf NO_FINDINGS;;\n'
        f"*) cp {tmp_path}/questions {shop.run}/questions.md; echo I wrote it.;; esac"
    )
    driven = shop.driven(folder=False)
    assert (driven.failures, driven.outcome.state.next.kind) == ((), "approve")
    assert shop.told.names[0] == "author" and len(shop.told.names) > 1


@pytest.mark.rule("MAN-02", "ENG-06")
def test_a_second_dispatcher_is_told_who_is_at_it(review: Shop) -> None:
    with (
        dispatch_folder.held(str(review.run), 1, "qrspi next"),
        pytest.raises(Busy, match="agents of run 2026-05-17-user-auth are being sent by process"),
    ):
        review.sent(lock_timeout=0.01)


@pytest.mark.rule("CFG-10", "CFG-11", "CFG-17")
@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("budget", "{calls: many}", "budget.calls"),
        ("commands", "{claude: {argv: claude}}", "commands.claude.argv"),
        ("providers", "{claude: {base_url: ftp://x}}", "providers.claude.base_url"),
        ("validators", "{citation_density_floor: 2}", "validators.citation_density_floor"),
    ],
)
def test_a_bad_setting_stops_sending(tmp_path: Path, field: str, value: str, message: str) -> None:
    shop = in_review(tmp_path / "shop", **{field: value})
    refused = refusal(shop.sent)
    assert (refused.exit_code, refused.problem.field) == (3, message)
    assert shop.ledger() == []


@pytest.mark.rule("RTE-02")
def test_a_tier_without_a_model_halts_before_anything_is_sent(tmp_path: Path) -> None:
    config = runs.config("full").replace(b"high: { vendor: claude, model: large }", b"high: none")
    shop = in_review(tmp_path / "shop", config=config)
    shop.reply("scope-claude.md", NOTHING)
    assert str(refusal(shop.driven)) == (
        "config.md: model_routing.high is none, and the role reviewer-quality needs tier high "
        "(from the role reviewer-quality); no other tier is used in its place"
    )
    assert shop.ledger() == []


@pytest.mark.rule("RTE-01")
def test_a_tier_can_be_chosen_for_all(review: Shop) -> None:
    review.driven(tier="low")
    assert [one["model"] for one in review.ledger()] == ["small", "small"]


def test_only_those_who_are_waited_for_can_be_chosen(review: Shop) -> None:
    review.next()
    assert str(refusal(review.sent, only=("author",))) == (
        f"run {runs.RUN} does not wait for 'author'; it waits for quality-claude, scope-claude"
    )


@pytest.mark.rule("SEC-05")
def test_what_an_agent_says_is_quoted_without_what_looks_like_a_key(review: Shop) -> None:
    said = {"type": "result", "subtype": "success", "is_error": True, "result": f"bad {LIKE_A_KEY}"}
    (review.replies / "scope-claude.md").unlink()
    review.reply("scope-claude.json", json.dumps(said))
    (failure,) = review.driven().failures
    assert failure.message == (
        "scope-claude: reply: found is_error True: bad [redacted], expected false"
    )
    assert LIKE_A_KEY not in json.dumps(review.dispatch("design/round-01/scope-claude"))


@pytest.mark.rule("ST-04")
def test_a_config_that_breaks_meanwhile_ends_the_command_without_a_loss(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop", commands=commands(tmp_path / "agent"))
    shop.next()
    shop.write("reviews/design/round-01/scope-claude.clean.md", runs.clean("scope-claude"))
    whole = shop.read("config.md")
    shop.agent(f"cat > /dev/null; echo > {shop.run}/config.md; printf NO_FINDINGS")
    assert refusal(shop.driven, folder=False).problem.code == "config-unreadable"
    shop.write("config.md", whole)
    shop.agent("exit 1")
    driven = shop.driven(folder=False)
    assert (driven.failures, driven.outcome.state.next.action) == ((), "approve")


def test_a_fixer_prints_only_the_companions_it_changed(tmp_path: Path) -> None:
    approved = runs.approved("goals", "questions", "research")
    task = b"---\nstatus: draft\n---\n# One\n"
    files = {"plan.md": runs.artifact(), "tasks/task-01.md": task, "tasks/task-02.md": task}
    config = runs.config("quick", verifier_enabled="false")
    shop = Shop(tmp_path / "shop", {"config.md": config, **approved, **files})
    finding = runs.finding("spec-claude", step="plan", cites="tasks/task-01.md:L4")
    shop.reply("spec-claude.md", printed(finding))
    for name in ("quality", "scope", "security", "goal", "test", "silent"):
        shop.reply(f"{name}.md", NOTHING)
    shop.reply(
        "fixer.md",
        "---\nstatus: draft\n---\n# Plan\n<<<FILE tasks/task-01.md>>>\n# New one\n"
        "<<<FILE dispositions>>>\n- spec-claude.R1-F01: applied.\n",
    )
    driven = shop.driven(calls=8)
    fixed = next(one for one in driven.outcome.performed if "apply-fixes" in one.handler)
    assert (fixed.files, fixed.notes) == (
        ("tasks/task-01.md", "plan.md", "reviews/plan/round-01-dispositions.md"),
        (),
    )
    assert shop.read("tasks/task-01.md") == "---\nstatus: draft\n---\n# New one\n"


@pytest.mark.rule("TRN-04", "TRN-05")
def test_what_is_the_hosts_to_send_waits_for_it(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop")
    driven = shop.driven(folder=False)
    assert (driven.held, driven.failures) == (("quality-claude", "scope-claude"), ())
    assert shop.told.notes == ["[transport: task-tool]"]
    assert shop.ledger() == []
    assert driven.outcome.state.next.action == "review"


@pytest.mark.rule("TRN-05")
def test_each_wire_is_told_once_for_each_fan_out(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop", commands=commands(tmp_path / "agent"))
    shop.agent("cat > /dev/null; printf NO_FINDINGS")
    shop.driven(folder=False)
    assert shop.told.notes == ["[transport: shell-pipeline]"]


SECOND = "{vendor: openai, model: gpt}"


@pytest.mark.rule("TRN-05", "RTE-04")
def test_a_second_reviewer_goes_over_its_own_vendor(tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    both = f"{{claude: {{argv: ['{agent}']}}, openai: {{argv: ['{agent}', second]}}}}"
    shop = in_review(
        tmp_path / "shop", commands=both, second_reviewer="true", second_reviewer_model=SECOND
    )
    shop.agent(f'cat > /dev/null; echo "$1/$QRSPI_MODEL" >> {tmp_path}/calls; printf NO_FINDINGS')
    assert shop.driven(folder=False).failures == ()
    calls = sorted((tmp_path / "calls").read_text().splitlines())
    assert calls == ["/large", "/middle", "second/gpt", "second/gpt"]
    models = {one["name"]: (one["vendor"], one["model"]) for one in shop.ledger()}
    assert models["scope-codex"] == ("openai", "gpt")


@pytest.mark.rule("TRN-05")
def test_a_missing_second_reviewer_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    provider = (
        "{openai: {base_url: 'https://api.example.com/v1', api_key_env: OPENAI_API_KEY, "
        "transport_type: openai-chat-completions}}"
    )
    shop = in_review(
        tmp_path / "shop", providers=provider, second_reviewer="true", second_reviewer_model=SECOND
    )
    halted = halt(shop.driven, folder=False)
    assert halted.exit_code == 4
    assert str(halted) == (
        "quality-codex cannot be sent: second_reviewer in config.md is true, but no second "
        "reviewer is available (the variable OPENAI_API_KEY is not set)"
    )
    assert shop.told.notes == [
        "[mismatch] host plain: a second reviewer is not available (the variable OPENAI_API_KEY is "
        "not set), and second_reviewer in config.md is true"
    ]


@pytest.mark.rule("TRN-05")
def test_a_spare_second_reviewer_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPILOT_CLI", "1")
    shop = in_review(tmp_path / "shop")
    assert shop.driven(folder=False).failures == ()
    assert shop.told.notes == [
        "[mismatch] host copilot: a second reviewer is available (the host reaches it by itself), "
        "and second_reviewer in config.md is false",
        "[transport: task-tool]",
    ]


def test_outside_git_nothing_is_committed(tmp_path: Path) -> None:
    files = {"config.md": runs.config("full"), "goals.md": runs.artifact("approved")}
    shop = Shop(tmp_path / "shop", files, git=False)
    shop.reply("author.md", QUESTIONS)
    shop.reply("quality-claude.md", NOTHING)
    driven = shop.driven()
    assert driven.failures == ()
    assert driven.outcome.state.next.action == "approve"


def test_every_change_is_on_the_audit_trail(review: Shop) -> None:
    review.driven()
    lines = [json.loads(line) for line in review.read(".qrspi/audit.jsonl").splitlines()]
    sent = [line for line in lines if line["event"] == "dispatch-review"]
    assert {line["actor"] for line in sent} == {"dispatch"}
    changed = {file["path"].rpartition("/")[2] for line in sent for file in line["files"]}
    assert {"quality-claude.clean.md", "scope-claude.clean.md"} <= changed


@pytest.mark.rule("SEC-21")
def test_each_answer_says_how_it_came(review: Shop) -> None:
    review.driven()
    place = "reviews/design/round-01"
    review.write(f"{place}/scope-claude.clean.md", runs.clean("scope-claude") + b"Mine.\n")
    found = round_findings.findings(review.workspace(), about("design"), None)
    reply = hashlib.sha256(NOTHING.encode()).hexdigest()
    assert found.answers == (
        CameBy(f"{place}/quality-claude.clean.md", "dispatched", reply),
        CameBy(f"{place}/scope-claude.clean.md", "found"),
    )


@pytest.mark.rule("SEC-21")
def test_a_run_may_let_only_dispatched_answers_count(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop", evidence="dispatched")
    shop.find_nothing()
    advanced = shop.next()
    file = "reviews/design/round-01/scope-claude.clean.md"
    shop.write(file, runs.clean("scope-claude"))
    state = derive(shop.workspace())
    assert (state.next.action, state.next.kind, advanced.state.next.action) == (
        "review",
        "fix-files",
        "review",
    )
    assert state.next.because == (
        f"{file}: it was found, and config.md lets only what qrspi sent for count; expected an "
        "answer that was dispatched",
    )
    (shop.run / file).unlink()
    assert shop.driven().outcome.state.next.action == "approve"
