"""Printed commands are for a shell: each word in them is plain by its grammar, or quoted."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.filenames import is_run_name
from qrspi.core.text.shell_words import answers, command, quoted
from tests import printed_commands
from tests.sources import TOGETHER, modules, nodes

pytestmark = TOGETHER

COMMAND = re.compile(r"(?:`|: |\(|  )(?:qrspi|git) ")
FIRST = re.compile(rf"(?:^(?:qrspi|git) )|{COMMAND.pattern}")
QUOTING = ("quoted", "command", "_at_root", "quote")

# What stands in a command without being quoted, and why a shell takes it as it is.
PLAIN = {
    "the name of a run": {
        *("run", "facts.run", "job.run", "state.run", "decision.run.name", "run.name"),
        *("run_dir.name", "place.name", "tree.name", "workspace.name", "ended.program.run"),
        *("os.path.basename(path)", "chosen.options[0]", "request.run.rpartition('/')[2]"),
        *("slug_of(job.run)", "own"),  # a part of it
    },
    "a step, a task, a reviewer, by its own grammar": {
        *(
            "step",
            "answer.step",
            "following.step",
            "change.step",
            "claimed.step",
            "facts.step",
            "order.step",
            "subject.step",
            "to",
            "to or 'STEP'",
        ),
        *("target", "near[0]", "min(steps, key=ORDER.__getitem__)"),
        *("key", "subject.key", "loop.subject.key", "task.key", "usual.key", "keys[0]"),
        *(
            "task",
            "asked.task",
            "row.task",
            "first",
            "name",
            "order.name",
            "request.name",
            "tags[0]",
            "tag",
            "asks[0].name",
            "waiting[0].name",
            "found[0].ask.label",
        ),
    },
    "a finding: a reviewer and two numbers": {"names[0]", "following.missing[0]", "held.name"},
    "a number, or a commit": {
        *("loop.round", "order.round", "output.status", "head[:12]", "task.commit", "higher"),
    },
    "a word of the engine": {
        *("decision.verb", "self.verb", "verb", "event", "self.actor", "field", "value", "block"),
        "floor",
        *(
            "options[0].key",
            "option.key",
            "first.key",
            "log",
            "reason",  # an option with the word that stands for one
            "to if option.key == 'loop-back' else ''",
            "following.options[0].key",
            "tier.name",
            "usual",
            "__version__",
            "RUNS",
            "'quality batch' if known else 'status'",
            "self.host",
            "host",
            "level",
            "' --user' if self.place.level == 'user' else ''",
        ),
        *("'' if settled else ' --unreviewed'", "show if in_commits else ''"),
    },
    "words of the demonstration's script": {"' '.join(words)", "REPLY"},
    "quoted where it is made": {"reply", "about", "names"},
    "no command: what git said of itself": {"command.version()", "why", "output.words"},
}
# Texts that are filled in otherwise, each with words of the engine alone.
FILLED = {"qrspi config set review_depth {} review_mode {}"}


def fillings(text: ast.JoinedStr) -> Iterator[ast.expr]:
    """What is put into the commands of a text, from their first word to the backtick."""
    inside = False
    for at, part in enumerate(text.values):
        if isinstance(part, ast.Constant):
            inside = _is_inside(str(part.value), inside, is_first=at == 0)
        elif inside and isinstance(part, ast.FormattedValue):
            yield part.value


def _is_inside(text: str, inside: bool, *, is_first: bool) -> bool:
    """Whether a command goes on at the end of the text."""
    at = 0
    while True:
        if inside:
            at = text.find("`", at) + 1
            if not at:
                return True
        found = (FIRST if is_first and at == 0 else COMMAND).search(text, at)
        if not found:
            return False
        inside, at = True, found.end()


def unquoted(tree: ast.Module, plain: set[str]) -> list[str]:
    return [
        ast.unparse(value)
        for node in nodes(tree)
        if isinstance(node, ast.JoinedStr)
        for value in fillings(node)
        if ast.unparse(value) not in plain and not _is_quoted(value)
    ]


def _is_quoted(value: ast.expr) -> bool:
    called = value.func if isinstance(value, ast.Call) else None
    return isinstance(called, ast.Name) and called.id in QUOTING


@pytest.mark.rule("SEC-15", "LIV-02")
def test_every_word_of_a_printed_command_is_plain_or_quoted() -> None:
    plain: set[str] = set().union(*PLAIN.values())
    found = {(module.path, word) for module in modules() for word in unquoted(module.tree, plain)}
    assert found == set(), "quote it (core/text/shell_words), or say above why it is plain"


@pytest.mark.rule("SEC-15")
def test_no_command_is_filled_in_otherwise() -> None:
    """By `.format`, `%` or `+` nothing would be seen of what goes in."""
    found = [
        node.value.value
        for module in modules()
        for node in nodes(module.tree)
        if isinstance(node, ast.Attribute)
        and node.attr in ("format", "format_map")
        and isinstance(node.value, ast.Constant)
        and FIRST.search(str(node.value.value))
    ]
    assert set(found) <= FILLED


# One command, from its first word to what ends it; `[RUN]` says that it is how one is written.
_CHOICE = re.compile(rf"(?:{FIRST.pattern})(?:(?!\[RUN\])[^`(\n])*[\w-]\|[\w-]")


def piped(tree: ast.Module) -> list[str]:
    """The texts with a command that a shell would make a pipe of."""
    return [
        text
        for node in nodes(tree)
        if isinstance(node, ast.JoinedStr | ast.Constant)
        if _CHOICE.search(text := _text(node))
    ]


def _text(node: ast.JoinedStr | ast.Constant) -> str:
    """What is said, with a word for each thing that is filled in, as it would be joined."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    parts = (str(one.value) if isinstance(one, ast.Constant) else _word(one) for one in node.values)
    return "".join(parts)


def _word(value: ast.expr) -> str:
    return "a|b" if "'|'.join" in ast.unparse(value) else "word"


@pytest.mark.rule("LIV-02")
def test_a_printed_command_is_one_command() -> None:
    """Pasted into a shell, `resolve continue|stop` is a pipe: `resolve continue` runs."""
    found = {(module.path, text) for module in modules() for text in piped(module.tree)}
    assert found == set(), "say it with core.text.shell_words.answers"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('f"`qrspi resolve {run} skip|stop`"', 1),
        ("f\"`qrspi resolve {run} {'|'.join(ways)}`\"", 1),
        ('"Pick: qrspi route quick|full"', 1),
        ('"qrspi decide [RUN] FINDING apply|skip"', 0),
        ('"`qrspi resolve skip` is a yes|no question"', 0),
    ],
)
def test_the_rule_sees_a_pipe(source: str, found: int) -> None:
    assert len(piped(ast.parse(source))) == found


@pytest.mark.rule("LIV-02")
@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (["stop"], "`qrspi resolve stop`"),
        (["skip", "stop"], "`qrspi resolve skip`, or with stop in place of skip"),
        (["a", "b", "c"], "`qrspi resolve a`, or with b or c in place of a"),
        (["a", "b", "c", "d"], "`qrspi resolve a`, or with b, c or d in place of a"),
    ],
)
def test_a_menu_is_one_command_and_the_words_that_may_end_it(keys: list[str], said: str) -> None:
    assert answers("qrspi resolve", keys) == said
    assert printed_commands.found_in(said) == tuple(f"qrspi resolve {key}" for key in keys)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('f"qrspi show {place}"', ["place"]),
        ('f"see `git log {place}` and {other}"', ["place"]),
        ('f"see `git log {quoted(place)}`"', []),
        ('f"{place} is not a run: qrspi init {slug}"', ["slug"]),
        ('f"from git {place}"', []),
        ('f"`qrspi next {run}`, `qrspi show {run} {what}`"', ["what"]),
    ],
)
def test_the_rule_sees_what_breaks_it(source: str, found: list[str]) -> None:
    assert unquoted(ast.parse(source), {"run"}) == found


@pytest.mark.rule("SEC-15")
@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_words_are_quoted_as_the_standard_library_quotes_them(word: str) -> None:
    assert quoted(word) == shlex.quote(word)
    assert shlex.split(command("qrspi", word)) == ["qrspi", word]


@pytest.mark.rule("SEC-15")
@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1))
def test_the_name_of_a_run_needs_no_quotes(word: str) -> None:
    assert not is_run_name(word) or quoted(word) == word
