"""A verifier's sidecar: a score from 0 to 100, or a word that says that it could not give one."""

from __future__ import annotations

import re

from qrspi.core.filenames import SidecarName, sidecar_file
from qrspi.core.findings.submission import FAILED, Page, Submission, shown, written
from qrspi.core.model import Code, Problem, Sidecar
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.yaml import frontmatter, lenient_reader, reader
from qrspi.core.yaml.frontmatter import Front
from qrspi.core.yaml.frontmatter import text as text_of
from qrspi.core.yaml.nodes import Node

_EXPECTED = f"a whole number from 0 to 100, or {FAILED}"
_SCORE_NAMES = ("score", "verifier_score")


class _Content(NamedTuple):
    fields: dict[str, Node]
    body: str = ""


def read(submission: Submission, name: SidecarName) -> Sidecar | None:
    page = submission.page
    if name.extension == "verifier.md":
        _slip(page, "bad_name", f"a sidecar named .{name.extension}", sidecar_file(name.stem))
    content = _content(submission, name)
    if isinstance(content, Problem):
        _refuse(submission, content)
        return None
    score = _score(content, page)
    if score is None:
        return None
    return Sidecar(
        file=submission.name,
        score=None if score == FAILED else int(score),
        reason=_reason(content, page),
        data=submission.data,
        defect_class=text_of(content.fields, "defect_class") or "",
        actual_model=text_of(content.fields, "actual_model") or "unknown",
        verified_by=text_of(content.fields, "verified_by") or "",
    )


def _slip(page: Page, code: Code, found: str, expected: str, field: str = "") -> None:
    text = f"{found}; expected {expected}; it is read"
    page.slip(code, text, field=field, found=found, expected=expected)


def _content(submission: Submission, name: SidecarName) -> _Content | Problem:
    page = submission.page
    if name.extension == "score.yml":
        return _from_yaml(submission.text, page)
    front = frontmatter.read(submission.data, page.file)
    if isinstance(front, Front):
        return _Content(front.fields, submission.data[front.body :].decode().strip())
    if front is None:
        if name.extension == "score.md":
            _slip(page, "malformed_yaml", "a .score.md without frontmatter", "frontmatter")
        return _from_yaml(submission.text, page)
    source = lenient_reader.block(submission.data)
    return _loosely(source, page, front) if source else front


def _from_yaml(text: str, page: Page) -> _Content | Problem:
    fields = reader.parse(text, page.file)
    return _loosely(text, page, fields) if isinstance(fields, Problem) else _Content(fields)


def _loosely(text: str, page: Page, problem: Problem) -> _Content | Problem:
    loose = lenient_reader.read(text, frozenset(_SCORE_NAMES))
    if loose is None:
        return problem
    page.unquoted(loose)
    return _Content(loose.fields)


def _refuse(submission: Submission, problem: Problem) -> None:
    keys = lenient_reader.keys(lenient_reader.block(submission.data) or submission.text)
    times = sum(keys.count(key) for key in _SCORE_NAMES)
    if times > 1:
        _repeated(submission.page, times)
    else:
        submission.page.unreadable_yaml(problem)


def _repeated(page: Page, times: int) -> None:
    text, found = f"score is given {times} times; expected once", f"{times} scores"
    page.violation("score_unparseable", text, field="score", found=found, expected="one score")


def _score(content: _Content, page: Page) -> str | None:
    names = [name for name in _SCORE_NAMES if name in content.fields]
    if len(names) > 1:
        _repeated(page, len(names))
        return None
    if not names:
        page.missing("score", _EXPECTED)
        return None
    if names[0] != "score":
        _slip(page, "missing_field", f"score is called '{names[0]}'", "score", "score")
    found = written(content.fields, names[0])
    if found == FAILED or (re.fullmatch(r"[0-9]{1,3}", found) and int(found) <= 100):
        return found
    page.wrong("score_unparseable", "score", found, _EXPECTED)
    return None


def _reason(content: _Content, page: Page) -> str:
    reason = (text_of(content.fields, "reason") or content.body).strip()
    if not reason:
        text = "reason is missing; expected one line that says why"
        page.warning("missing_reason", text, field="reason", expected="one line that says why")
    elif "\n" in reason and reason != content.body:
        text = "reason has more than one line; its lines are joined"
        page.warning("long_reason", text, field="reason", found=shown(reason), expected="one line")
    return " ".join(reason.split())
