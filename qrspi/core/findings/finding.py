"""A reviewer's file becomes a Finding, or violations that say why not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeVar

from qrspi.core.filenames import FindingName
from qrspi.core.findings.submission import (
    REVIEWER_NAMES,
    Page,
    Place,
    Submission,
    check_reviewer,
    check_round,
    listed,
    proper_key,
    shown,
    written,
)
from qrspi.core.model import CHANGE_TYPES, SEVERITIES, ChangeType, Code, Finding, Problem, Severity
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text import citations
from qrspi.core.yaml import frontmatter, lenient_reader
from qrspi.core.yaml.frontmatter import Front
from qrspi.core.yaml.frontmatter import text as text_of
from qrspi.core.yaml.nodes import Node, Scalar

_ID_NAMES = ("finding_id", "finding", "id")
_SCHEMA = ("severity", "change_type", "referenced_files", "message", "round")
_DECIDING = frozenset((*_ID_NAMES, *REVIEWER_NAMES, *_SCHEMA))
_KNOWN = frozenset(
    """finding_id severity change_type referenced_files message artifact round reviewer
    actual_model""".split()
)


class _Sheet(NamedTuple):
    """What a finding's file says, before any of it is believed."""

    fields: dict[str, Node]
    body: str
    tag: str
    place: Place
    page: Page


def read(submission: Submission, name: FindingName) -> Finding | None:
    sheet = _sheet(submission, name.tag)
    if sheet is None:
        return None
    _look_for_more_findings(sheet)
    finding_id = _finding_id(sheet)
    if finding_id and not submission.place.elsewhere:
        _compare_number(finding_id, name, sheet)
    severity = _severity(sheet)
    change_type = _one_of(sheet, "change_type", CHANGE_TYPES)
    referenced = _referenced_files(sheet)
    message = _message(sheet)
    _check_audit_fields(sheet)
    if not finding_id or not severity or not change_type or referenced is None or not message:
        return None
    _look_for_ranges(referenced, message, sheet)
    return Finding(
        tag=name.tag,
        number=name.number,
        file=submission.name,
        finding_id=finding_id,
        severity=severity,
        change_type=change_type,
        effective_type=effective_type(change_type, referenced, message),
        referenced_files=referenced,
        message=message,
        data=submission.data,
        actual_model=text_of(sheet.fields, "actual_model") or "",
    )


def effective_type(
    change_type: ChangeType, referenced_files: tuple[str, ...], message: str
) -> ChangeType:
    """A finding about a person's own feedback is about intent, whatever the reviewer says."""
    touches = any(map(citations.cites_feedback, referenced_files))
    return "intent" if touches or citations.mentions_feedback(message) else change_type


def _sheet(submission: Submission, tag: str) -> _Sheet | None:
    page = submission.page
    front = frontmatter.read(submission.data, page.file)
    match front:
        case Front():
            return _Sheet(front.fields, _body(submission, front), tag, submission.place, page)
        case None:
            expected = "YAML between two lines that are --- alone"
            page.instead("malformed_yaml", "no frontmatter", expected)
            return None
    return _loose_sheet(submission, tag, front)


def _body(submission: Submission, front: Front) -> str:
    """In pure ASCII text, byte offsets are character offsets."""
    if len(submission.text) == len(submission.data):
        return submission.text[front.body :]
    return submission.data[front.body :].decode()


def _loose_sheet(submission: Submission, tag: str, problem: Problem) -> _Sheet | None:
    page = submission.page
    source = lenient_reader.block(submission.data)
    loose = lenient_reader.read(source, _DECIDING) if source else None
    if loose is None:
        page.unreadable_yaml(problem)
        if source and lenient_reader.keys(source).count("finding_id") > 1:
            _combined("finding_id stands twice in the frontmatter", page)
        return None
    page.unquoted(loose)
    body = frontmatter.body(submission.data).decode()
    return _Sheet(loose.fields, body, tag, submission.place, page)


def _combined(text: str, page: Page) -> None:
    page.violation(
        "combined_findings",
        f"{text}; expected one finding per file",
        found="more than one finding",
        expected="one finding per file",
    )


def _look_for_more_findings(sheet: _Sheet) -> None:
    text = f"\n{sheet.body}"
    if "\nfinding" not in text and "\nid" not in text:
        return
    in_block = False
    for line in _unfenced(sheet.body.split("\n")):
        is_id = re.match(r"(?:finding_id|finding|id)[ \t]*:", line)
        if is_id and (in_block or line.startswith("finding_id")):
            _combined(f"the body has a second '{shown(line)}'", sheet.page)
            return
        # A block continues as long as its lines look like fields; prose after a rule does not.
        is_field = ":" in line or line.lstrip().startswith("- ")
        in_block = line.rstrip() == "---" or (in_block and is_field)


_FENCE = r" {0,3}(`{3,}(?=[^`]*$)|~{3,})"


def _unfenced(lines: list[str]) -> Iterator[str]:
    """The lines outside fenced blocks. An unclosed fence hides nothing."""
    fence = ""
    hidden: list[str] = []
    for line in lines:
        mark = re.match(_FENCE, line)
        if not fence:
            yield line
            fence = mark[1] if mark else ""
        elif mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
            fence = ""
            hidden.clear()
        else:
            hidden.append(line)
    yield from hidden


_SHORT_ID = r"(?:[rR][0-9]{1,9}-)?F([0-9]{1,9})"


def _finding_id(sheet: _Sheet) -> str | None:
    key = proper_key(sheet.fields, _ID_NAMES, sheet.page)
    found = written(sheet.fields, key) if key else ""
    if match := re.fullmatch(r"R([0-9]+)-F[0-9]+", found):
        _compare_round(match, sheet)
        return found
    form = f"R<round>-F<number>, such as R{sheet.place.number}-F01"
    if not found:
        sheet.page.missing("finding_id", form)
        return None
    if short := re.fullmatch(_SHORT_ID, found.removeprefix(f"{sheet.tag}-")):
        read_as = f"R{sheet.place.number}-F{short[1].zfill(2)}"
        text = f"finding_id is '{found}'; read as {read_as}"
        sheet.page.slip("bad_finding_id", text, field="finding_id", found=found, expected=form)
        return read_as
    sheet.page.wrong("bad_finding_id", "finding_id", found, form)
    return None


def _compare_round(match: re.Match[str], sheet: _Sheet) -> None:
    number = sheet.place.number
    if match[1].lstrip("0") != str(number):
        sheet.page.warning(
            "finding_id_round",
            f"finding_id is '{shown(match[0])}' in round {number}",
            field="finding_id",
            found=shown(match[0]),
            expected=f"an id that begins with R{number}-",
        )


def _compare_number(finding_id: str, name: FindingName, sheet: _Sheet) -> None:
    """A round that differs has a warning of its own."""
    number = sheet.place.number
    usual = f"R{number}-F{name.number:02d}"
    if finding_id == usual or finding_id[1:].partition("-")[0].lstrip("0") != str(number):
        return
    found = shown(finding_id)
    text = f"finding_id is '{found}'; expected {usual}, as the file's name has it"
    sheet.page.warning("finding_id_number", text, field="finding_id", found=found, expected=usual)


# How other tools weigh findings
_WEIGHTS: dict[str, Severity] = {
    **dict.fromkeys(("blocker", "blocking", "critical", "major"), "high"),
    **dict.fromkeys(("minor", "info", "nit", "advisory"), "low"),
}


def _severity(sheet: _Sheet) -> Severity | None:
    weight = (text_of(sheet.fields, "severity") or "").lower()
    if not sheet.place.elsewhere or weight not in _WEIGHTS:
        return _one_of(sheet, "severity", SEVERITIES)
    read_as = _WEIGHTS[weight]
    text = f"severity is '{weight}'; read as {read_as}"
    sheet.page.slip("bad_enum", text, field="severity", found=weight, expected=listed(SEVERITIES))
    return read_as


Word = TypeVar("Word", bound=str)


def _one_of(sheet: _Sheet, field: str, words: tuple[Word, ...]) -> Word | None:
    text = text_of(sheet.fields, field)
    for word in words:
        if word == text:
            return word
    if field not in sheet.fields or text == "":
        sheet.page.missing(field, listed(words))
    else:
        sheet.page.wrong("bad_enum", field, written(sheet.fields, field), listed(words))
    return None


_NOTHING = frozenset(("", "~", "null", "Null", "NULL"))


def _referenced_files(sheet: _Sheet) -> tuple[str, ...] | None:
    node = sheet.fields.get("referenced_files")
    if node is None or (isinstance(node, Scalar) and node.raw in _NOTHING):
        sheet.page.missing("referenced_files", "a list of paths, such as [design.md:L12-L20]")
        return None
    code: Code = "malformed_yaml"
    if isinstance(node, Scalar):
        text, found = "referenced_files is one string; read as a list of one", shown(node.text)
        sheet.page.slip(code, text, field="referenced_files", found=found, expected="a list")
        return (node.text,)
    texts = tuple(item.text for item in node if isinstance(item, Scalar))
    if isinstance(node, dict) or len(texts) < len(node):
        found, expected = "an entry that is not a string", "a list of strings"
        text = f"referenced_files has {found}; quote what has ': ' in it"
        sheet.page.violation(code, text, field="referenced_files", found=found, expected=expected)
        return None
    return texts


def _message(sheet: _Sheet) -> str | None:
    body = sheet.body.strip()
    in_front = (text_of(sheet.fields, "message") or "").strip()
    if in_front:
        text = "the message is in the frontmatter; it is read from there as well"
        found, expected = "a field of the frontmatter", "the text below the frontmatter"
        sheet.page.slip("missing_field", text, field="message", found=found, expected=expected)
    message = "\n\n".join(filter(None, (in_front, body)))
    if not message:
        sheet.page.missing("message", "text below the frontmatter")
    return message or None


def _check_audit_fields(sheet: _Sheet) -> None:
    check_reviewer(sheet.fields, sheet.tag, sheet.page)
    check_round(sheet.fields, sheet.place.number, sheet.page)
    _check_artifact(sheet)
    for field in sheet.fields:
        if field not in _KNOWN and not _stands_in(field, sheet.fields):
            text = f"unknown field '{shown(field)}'; it is left alone"
            sheet.page.warning("unknown_field", text, field=shown(field))


def _stands_in(field: str, fields: Mapping[str, Node]) -> bool:
    return any(
        field in names and field == next(name for name in names if name in fields)
        for names in (_ID_NAMES, REVIEWER_NAMES)
    )


def _check_artifact(sheet: _Sheet) -> None:
    subject = sheet.place.subject
    artifact = text_of(sheet.fields, "artifact")
    if "artifact" not in sheet.fields or artifact == "":
        sheet.page.read_from("the directory's name", "artifact", subject.key)
    elif artifact not in (subject.key, subject.step):
        found = shown(written(sheet.fields, "artifact"))
        sheet.page.warning(
            "artifact_differs",
            f"artifact is '{found}'; expected {subject.key}",
            field="artifact",
            found=found,
            expected=subject.key,
        )


_WHOLE = r"(?i)\b(?:whole|entire|entirety|overall|throughout)\b"


def _look_for_ranges(referenced: tuple[str, ...], message: str, sheet: _Sheet) -> None:
    cited = [citations.parse(entry) for entry in referenced]
    field = "referenced_files"
    for entry, citation in zip(map(shown, referenced), cited, strict=True):
        if citation and citation.prose:
            usual = _usual(citation)
            text = f"referenced_files has '{entry}'; read as {usual}"
            sheet.page.slip("malformed_yaml", text, field=field, found=entry, expected=usual)
    bare = [citation.path for citation in cited if citation and citation.start is None]
    if bare and not (_is_about_all(bare, cited, sheet.place) and re.search(_WHOLE, message)):
        path = shown(bare[0])
        text, usual = f"referenced_files cites '{path}' without a line range", f"{path}:L12-L20"
        sheet.page.warning("no_line_range", text, field=field, found=path, expected=usual)


def _is_about_all(bare: list[str], cited: list[citations.Citation | None], place: Place) -> bool:
    artifact = place.subject.artifact
    return len(bare) == len(cited) and all(
        path == artifact or path.endswith(f"/{artifact}") for path in bare
    )


def _usual(citation: citations.Citation) -> str:
    last = f"-L{citation.end}" if citation.end != citation.start else ""
    return f"{shown(citation.path)}:L{citation.start}{last}"
