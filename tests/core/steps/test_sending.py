"""Where agents can be sent, the command that goes on is the one that sends them."""

from __future__ import annotations

import pytest

from qrspi.core.config.reader import Config
from qrspi.core.config.vendors import Command
from qrspi.core.derivation.derive import derive
from qrspi.core.steps import sending
from qrspi.core.tree import Tree
from tests import runs
from tests.runs import RUN

CLAUDE = {"commands": "{claude: {argv: [claude, -p]}}"}
CODEX = {"commands": "{codex: {argv: [codex, exec]}}"}
SHOP = {
    "providers": "{claude: {base_url: 'https://api.example.com/v1', api_key_env: KEY, "
    "transport_type: openai-chat-completions}}"
}
SENDS = f"qrspi next {RUN} --dispatch"
ASKED = f"qrspi next {RUN}"
PROMPT = f"`qrspi prompt {RUN} "

ROUND = "reviews/goals/round-01"
REVIEWING = {
    "goals.md": runs.artifact(),
    f"{ROUND}/.dispatch-manifest.json": runs.manifest(body=runs.artifact()),
}
FINDING = f"{ROUND}/scope-claude.finding-F01.md"
VERIFYING = {
    **REVIEWING,
    f"{ROUND}/quality-claude.clean.md": runs.clean(),
    FINDING: runs.finding("scope-claude"),
}
WRONG = {**REVIEWING, FINDING: b"---\nseverity: huge\n---\nNo.\n"}
GOALS = runs.approved("goals")


def run(files: dict[str, bytes], **fields: str) -> Tree:
    return runs.tree({"config.md": runs.config(**fields)}, files)


@pytest.mark.rule("LIV-02", "LIV-25")
@pytest.mark.parametrize(
    ("files", "said"),
    [
        (REVIEWING, f"`{SENDS}` sends them all; {PROMPT}quality-claude` prints what to tell"),
        (VERIFYING, f"`{SENDS}` sends the agent; {PROMPT}verify-scope-claude.finding-F01` prints"),
        (WRONG, f"`qrspi resolve {RUN} retry`. `{SENDS}` sends quality-claude, scope-claude."),
        (GOALS, f"{PROMPT}author` prints what to tell an agent. `{SENDS}` has an agent write it."),
        ({"request.md": b"People sign in.\n"}, f"an agent. `{SENDS}` has an agent write it."),
        ({**GOALS, "questions.md": b"---\nstatus: draft\n---\n"}, f"`{SENDS}` has an agent write"),
    ],
    ids=["review", "verify", "a file to correct", "author", "goals from a request", "no text"],
)
@pytest.mark.parametrize("reached", [CLAUDE, SHOP], ids=["a program", "an address"])
def test_sending_is_what_goes_on(
    files: dict[str, bytes], said: str, reached: dict[str, str]
) -> None:
    found = derive(run(files, **reached)).next
    assert found.command == SENDS
    assert said in found.summary
    assert found.summary.count("--dispatch") == 1


@pytest.mark.rule("LIV-25")
@pytest.mark.parametrize("files", [VERIFYING, WRONG, GOALS, {}])
def test_after_the_first_fan_out_nobody_is_told_of_settings_that_are_not_there(
    files: dict[str, bytes],
) -> None:
    for unreached in ({}, CODEX):
        found = derive(run(files, **unreached)).next
        assert found.command == ASKED
        assert "--dispatch" not in found.summary


@pytest.mark.rule("LIV-25")
def test_goals_without_a_request_are_left_to_a_person() -> None:
    found = derive(run({}, **CLAUDE)).next
    assert (found.who, found.command) == ("human", ASKED)


PROGRAM = {"claude": Command(("claude",))}


@pytest.mark.rule("LIV-25")
def test_a_role_with_a_model_of_its_own_may_be_reached_by_any_program() -> None:
    config = Config(commands={"codex": Command(("codex",))}, model_routing={})
    assert not sending.is_reached(config)
    assert sending.is_reached(config._replace(trusted_path=("reviewer",)))


@pytest.mark.rule("LIV-25")
def test_who_works_in_a_work_tree_is_reached_by_a_program_alone() -> None:
    from qrspi.core.config.model_tiers import USUAL

    config = Config(commands=PROGRAM, model_routing=USUAL)
    assert sending.is_reached(config, works=True)
    over_http = config._replace(commands=None, providers={"claude": None})  # type: ignore[dict-item]
    assert (sending.is_reached(over_http), sending.is_reached(over_http, works=True)) == (
        True,
        False,
    )
