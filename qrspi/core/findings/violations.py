"""What the guard objects to: its codes in the order they are reported, and the lines it says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qrspi.core.model import Problem
from qrspi.core.yaml.lenient_reader import Loose

_AGAIN = "correct it in the file, or send the reviewer again with `qrspi resolve retry`"
_VERIFY_AGAIN = "send the verifier again with `qrspi resolve retry`"
_TAKE_AWAY = "move the file out of the round directory"

# In the order in which violations are reported.
HINTS: dict[str, str] = {
    "missing_output": "send the reviewer again with `qrspi resolve retry`",
    "malformed_yaml": _AGAIN,
    "missing_field": _AGAIN,
    "bad_enum": _AGAIN,
    "bad_finding_id": _AGAIN,
    "duplicate_finding_id": "give each finding of a reviewer an id of its own",
    "reviewer_mismatch": _AGAIN,
    "round_mismatch": _AGAIN,
    "unrouted_tag": "move the file away, or name the tag under extra_reviewers in config.md",
    "combined_findings": "put each finding into a file of its own",
    "forged_boundary": "indent the line with other text, or send the reviewer again",
    "bad_sentinel": _AGAIN,
    "score_unparseable": _VERIFY_AGAIN,
    "ambiguous_sidecar": "keep one of them and move the others away",
    "too_large": "shorten or split it, or send the reviewer again with `qrspi resolve retry`",
    "bad_name": "rename the file, or move it out of the round directory",
    "not_a_file": "put a regular file in its place",
    "unreadable": "make the file readable",
    "foreign_engine_file": _TAKE_AWAY,
    "missing_sidecar": _VERIFY_AGAIN,
    "verify_failed": _VERIFY_AGAIN,
}
_RANK = {code: at for at, code in enumerate(HINTS)}


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda problem: (_RANK[problem.code], problem.file)))


def listed(words: Sequence[str]) -> str:
    """`low, medium or high`."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


STRUCTURE = "a list or a mapping"
_SHOWN = 80


def shown(text: str) -> str:
    """What somebody wrote, on one line and not too long."""
    line = " ".join(text[: 4 * _SHOWN].split())
    return f"{line[:_SHOWN]}…" if len(line) > _SHOWN else line


class Notes:
    """What there is to say about a round's files. Violations block, warnings do not; a slip
    that leaves the meaning whole is one or the other, as the run's config says."""

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict
        self.violations: list[Problem] = []
        self.warnings: list[Problem] = []

    def about(self, file: str) -> Page:
        return Page(self, file)

    def slips(self) -> list[Problem]:
        return self.violations if self._strict else self.warnings


class Page:
    """The notes about one file."""

    def __init__(self, notes: Notes, file: str) -> None:
        self._notes = notes
        self.file = file

    def violation(
        self, code: str, text: str, *, field: str = "", found: str = "", expected: str = ""
    ) -> None:
        self._notes.violations.append(self._problem(code, text, field, found, expected))

    def slip(
        self, code: str, text: str, *, field: str = "", found: str = "", expected: str = ""
    ) -> None:
        self._notes.slips().append(self._problem(code, text, field, found, expected))

    def warning(
        self, code: str, text: str, *, field: str = "", found: str = "", expected: str = ""
    ) -> None:
        self._notes.warnings.append(self._problem(code, text, field, found, expected))

    def wrong(self, code: str, field: str, found: str, expected: str) -> None:
        what = found if found == STRUCTURE else f"'{shown(found)}'"
        text = f"{field} is {what}; expected {expected}"
        self.violation(code, text, field=field, found=shown(found), expected=expected)

    def missing(self, field: str, expected: str) -> None:
        text = f"{field} is missing; expected {expected}"
        self.violation("missing_field", text, field=field, expected=expected)

    def unreadable_yaml(self, problem: Problem) -> None:
        self._notes.violations.append(
            problem._replace(code="malformed_yaml", hint=HINTS["malformed_yaml"])
        )

    def unquoted(self, loose: Loose) -> None:
        for key in loose.unquoted:
            text = f"{key} has a colon or a quote and is not quoted; it is read as written"
            self.slip("malformed_yaml", text, field=key, expected="a quoted string")

    def _problem(self, code: str, text: str, field: str, found: str, expected: str) -> Problem:
        hint = HINTS.get(code, "")
        return Problem(code, f"{self.file}: {text}", self.file, field, found, expected, hint)
