"""By which command each option of a menu is taken."""

from __future__ import annotations

import pytest

from qrspi.core.derivation import option_commands
from qrspi.core.derivation.derive import derive
from qrspi.core.model import HeldFinding, Next, NextKind, Option
from qrspi.render.run_page import next_document
from tests import runs
from tests.core.rounds.test_loop import PAUSED, opened, with_engine_files
from tests.runs import RUN, tree


def asked(kind: NextKind, *options: Option, **more: object) -> Next:
    following = Next("decide", "human", "Which?", (), step="task-02", options=options, kind=kind)
    return option_commands.named(RUN, following._replace(**more))  # type: ignore[arg-type]


HELD = HeldFinding("scope-claude.R1-F01", "pause", "low", "scope", "it is", (), "", ("goals",))


@pytest.mark.rule("OUT-07", "LIV-02")
@pytest.mark.parametrize(
    ("kind", "option", "command"),
    [
        ("failure", Option("retry", ""), f"qrspi resolve {RUN} retry"),
        ("cap", Option("rewind", ""), f"qrspi resolve {RUN} rewind --to STEP --yes"),
        ("config", Option("1", "Set it: qrspi config set x y"), "qrspi config set x y"),
        ("config", Option("2", "Repair it by hand"), ""),
        ("config", Option("3", "Abort"), f"qrspi resolve {RUN} 3"),
        ("replan", Option("minor", ""), f"qrspi replan minor {RUN}"),
        ("replan", Option("major", ""), f"qrspi replan major {RUN} --to STEP --yes"),
        ("task", Option("retry", ""), f"qrspi task retry {RUN} task-02"),
        ("task", Option("skip", ""), f"qrspi task skip {RUN} task-02 --reason TEXT"),
        ("test", Option("ship", "end the run"), f"qrspi resolve {RUN} ship"),
        (
            "test",
            Option("ship", "with --failing -m REASON"),
            f"qrspi resolve {RUN} ship --failing -m REASON",
        ),
        ("pause", Option("apply", ""), f"qrspi decide {RUN} {HELD.name} apply"),
        ("pause", Option("loop-back", ""), f"qrspi decide {RUN} {HELD.name} loop-back --yes"),
    ],
)
def test_each_key_has_the_command_that_takes_it(
    kind: NextKind, option: Option, command: str
) -> None:
    held = (HELD,) if kind == "pause" else ()
    assert asked(kind, option, held=held).options[0].command == command


@pytest.mark.rule("LIV-02")
def test_what_a_person_chooses_is_no_command_of_a_program() -> None:
    state = derive(tree(with_engine_files(opened() | PAUSED), in_git=True))
    document = next_document(state.next)
    assert document["command"] is None
    assert [one["command"] for one in document["options"]] == [
        f"qrspi decide {RUN} scope-claude.R1-F01 {key}" for key in ("apply", "skip")
    ]
    assert state.next.hint(RUN) == f"qrspi status {RUN}"


@pytest.mark.rule("LIV-02")
def test_goals_are_written_before_anything_is_run() -> None:
    following = derive(tree({"config.md": runs.config()})).next
    assert (following.who, next_document(following)["command"]) == ("human", None)
