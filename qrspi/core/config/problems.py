"""What can be wrong with a field of config.md, in words, with the ways out."""

from __future__ import annotations

from qrspi.core import patterns
from qrspi.core.model import Problem
from qrspi.core.tree import Tree
from qrspi.core.yaml.nodes import Node, Scalar

FILE = "config.md"
ABORT = "Abort"
FOUND_LIMIT = 1000
SHOWN_LIMIT = 60


def missing(field: str, expected: str, *ways: str) -> Problem:
    message = f"{FILE}: {field} is missing; expected {expected}"
    options = (*ways, ABORT)
    return Problem("field-missing", message, FILE, field, expected=expected, options=options)


def invalid(
    field: str, node: Node, expected: str, *ways: str, why: str = "", verb: str = "is"
) -> Problem:
    """`why` says what is wrong where the value and what was expected do not show it."""
    found = written(node)
    shown = says(found, verb) + (f", {why}" if why else "")
    message = f"{FILE}: {field} {shown}; expected {expected}"
    return _invalid(message, field, found, expected, *ways)


def says(found: str, verb: str = "is") -> str:
    return f"{verb} {quoted(found)}" if found else "has no value"


def lacking(field: str, expected: str) -> Problem:
    """A field that a block must have. Inside a block, a missing field is an invalid one."""
    message = f"{FILE}: {field} is missing; expected {expected}"
    return _invalid(message, field, "", expected)


def unshown(field: str, reason: str, expected: str, *ways: str) -> Problem:
    """An invalid value that could be a secret, so it is never repeated."""
    return _invalid(f"{FILE}: {field} {reason}; expected {expected}", field, "", expected, *ways)


def unknown_key(field: str, key: str, known: tuple[str, ...]) -> Problem:
    expected = f"{field} to hold only {listed(known, 'and')}"
    dotted = f"{field}.{key}"
    message = f"{FILE}: {quoted(dotted)} is not a known key; expected {expected}"
    return _invalid(message, dotted, key, expected, f"Remove {quoted(dotted)} from {FILE} by hand")


def _invalid(message: str, field: str, found: str, expected: str, *ways: str) -> Problem:
    options = (*(ways or by_hand(field)), ABORT)
    found = found[:FOUND_LIMIT]
    return Problem("field-invalid", message, FILE, field, found, expected, options=options)


def by_hand(field: str) -> tuple[str, ...]:
    from qrspi.core.text.shell_words import quoted

    return (
        f"Correct it: qrspi config set {quoted(field)} VALUE",
        f"Edit {FILE} by hand, then check it: qrspi config validate",
    )


COMMAND = "CMD"  # where a person writes a command of their own
COMMANDS = ("gates.test_command", "gates.ci_command")


def naming(run: str, field: str = COMMANDS[0]) -> str:
    """The command that names a command. In quotes, since most have several words."""
    return f"qrspi config set {run} {field} 'CMD'"


def placeholder(field: str) -> Problem:
    expected = "a command in quotes, such as 'make test', or none"
    message = f"{field}: {COMMAND} only stands for your own command; expected {expected}"
    file = "" if field.startswith("--") else FILE
    return Problem("usage", message, file, field, found=COMMAND, expected=expected)


def setting(field: str, value: str) -> str:
    return f"Set it to {value}: qrspi config set {field} {value}"


def written(node: Node) -> str:
    if isinstance(node, Scalar):
        return node.raw
    if isinstance(node, dict):
        return f"{{{', '.join(f'{key}: {written(value)}' for key, value in node.items())}}}"
    return f"[{', '.join(written(item) for item in node)}]"


def quoted(text: str) -> str:
    line = text[:SHOWN_LIMIT].replace("\r", "").replace("\n", "\\n").replace("\t", "\\t")
    cut = len(text) > SHOWN_LIMIT
    return f"`{line}…` ({len(text)} characters)" if cut else f"`{line}`"


def listed(words: tuple[str, ...], last: str = "or") -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


_ABOUT_A_RUN = r"qrspi (?:(?:config|route) (?:set|validate|migrate)|rewind)(?=$|`| (?!\[RUN\]))"


def for_run(problem: Problem, run: Tree) -> Problem:
    """The ways out, written so that they work from anywhere and with several runs."""
    if problem.code == "config-missing" and (restore := run.to_restore(FILE)):
        return gone(restore)
    from qrspi.core.text.shell_words import quoted

    def named(text: str) -> str:
        with_run = patterns.sub(_ABOUT_A_RUN, lambda match: f"{match[0]} {run.name}", text)
        return with_run.replace("--adopt DIR", f"--adopt {quoted(run.place)}")

    return problem._replace(
        message=named(problem.message),
        hint=named(problem.hint),
        options=tuple(map(named, problem.options)),
    )


def command_of(way: str) -> str:
    """The command that a way out ends with, if a person has nothing left to fill in."""
    match = patterns.search(r"(?:^|: )(qrspi [^`]*)$", way)
    return match[1] if match and not patterns.search(r"\b[A-Z]{2,}\b|…", match[1]) else ""


def unreadable(reason: str) -> Problem:
    way = f"Repair {FILE} by hand, then check it: qrspi config validate"
    return Problem("config-unreadable", reason, FILE, options=(way, ABORT))


def not_found() -> Problem:
    return Problem(
        "config-missing",
        f"{FILE} not found in the artifact directory.",
        FILE,
        expected=f"a file {FILE} in the run's directory",
        options=(
            "Re-create it beside the artifacts: qrspi init --adopt DIR --pipeline quick",
            "The same for a run of all steps: qrspi init --adopt DIR --pipeline full",
            ABORT,
        ),
    )


def gone(restore: str) -> Problem:
    """git has it, so nothing is to be chosen anew."""
    text = f"{FILE} is gone, and git has it: restore it with `{restore}`"
    expected = "the file that git has"
    return Problem("config-missing", text, FILE, "", "absent", expected, restore)


def other_version(node: Node) -> Problem:
    """The run was made by another version, and this one cannot tell what its files mean."""
    return invalid(
        "schema_version",
        node,
        "1, the only one that this qrspi knows; the run can be looked at and is not changed",
        "Install the qrspi that the run was made with: pip install --upgrade qrspi",
    )


def renamed(node: Node) -> Problem:
    found = written(node)
    expected = "second_reviewer: true or second_reviewer: false"
    return Problem(
        "field-renamed",
        f"{FILE}: codex_reviews was renamed to second_reviewer and is never read; "
        f"found {quoted(found)}, expected {expected} instead",
        file=FILE,
        field="codex_reviews",
        found=found[:FOUND_LIMIT],
        expected=expected,
        options=(
            "Rename it, or drop it where second_reviewer is set: qrspi config migrate",
            f"Remove the codex_reviews line from {FILE} by hand and set second_reviewer",
            ABORT,
        ),
    )
