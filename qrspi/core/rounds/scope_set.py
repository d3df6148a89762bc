"""Which parts of the artifact a round's kept findings are about: `round-NN-scope-set.txt`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from qrspi.core import plain_json
from qrspi.core.filenames import RoundPaths, round_name
from qrspi.core.findings.submission import finished
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Finding, Problem, Triaged
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject
from qrspi.core.text import citations
from qrspi.core.tree import Fault

if TYPE_CHECKING:
    from qrspi.core.text.headings import Sections

FULL = "<full>"
_HEADING = r"#{2,6} .+"
# Prose is no path: a path with white space must end in a file extension.
_PATH = r"[^\s#<]\S*|[^\s#<].*\.[A-Za-z0-9]+"
_CONTROL = r"[\x00-\x08\x0a-\x1f\x7f]"


class ScopeSet(NamedTuple):
    tags: tuple[str, ...]  # unique, in first-seen order
    warnings: tuple[str, ...] = ()
    total: int | None = None  # kept findings it was made from; an outside tagger may not say
    normalised: bool = False  # the file did not end in exactly one newline


class _Fallback(NamedTuple):
    reason: str  # why a finding is about the whole artifact


_WHOLE = ", so it counts for the whole artifact"


class _Place(NamedTuple):
    root: str
    run: str

    def normal(self, path: str) -> str | None:
        """Relative to the run when inside it, else to the project; None when in neither."""
        if path.startswith("/"):
            if not self.root or not path.startswith(f"{self.root}/"):
                return None
            path = path.removeprefix(f"{self.root}/")
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if not parts or ".." in parts:
            return None
        return "/".join(parts).removeprefix(f"{self.run}/")


class Tagged(NamedTuple):
    finding: Finding
    tag: str
    warning: str = ""


def derive(
    triaged: Iterable[Triaged],
    subject: Subject,
    run: str,
    artifact: bytes | Fault,
    project_prefix: str | None = None,
    root: str = "",
) -> ScopeSet:
    kept = [one.finding for one in triaged if one.verdict != "drop"]
    tagged = tag_each(kept, subject, run, artifact, project_prefix, root)
    tags = tuple(dict.fromkeys(one.tag for one in tagged))
    return ScopeSet(tags, tuple(one.warning for one in tagged if one.warning), len(kept))


def tag_each(
    findings: Iterable[Finding],
    subject: Subject,
    run: str,
    artifact: bytes | Fault,
    project_prefix: str | None = None,
    root: str = "",
) -> tuple[Tagged, ...]:
    """`project_prefix` is the run's path in the project, `root` the project's absolute path."""
    place = _Place(root.rstrip("/"), project_prefix or f"docs/qrspi/{run}")
    if subject.many_files:
        return tuple(_tagged(finding, _path_tag(finding, place)) for finding in findings)
    # Every `status` reads scope sets; only writing one needs to read Markdown.
    from qrspi.core.text import headings

    sections = artifact if isinstance(artifact, Fault) else headings.read(artifact)
    name = subject.artifact
    return tuple(_tagged(one, _section_tag(one, place, name, sections)) for one in findings)


def _tagged(finding: Finding, tag: str | _Fallback) -> Tagged:
    if isinstance(tag, str):
        return Tagged(finding, tag)
    why = f"{finding.name}: {tag.reason}{_WHOLE}"
    return Tagged(finding, FULL, why)


def _path_tag(finding: Finding, place: _Place) -> str | _Fallback:
    if not finding.referenced_files:
        return _Fallback("it cites no file")
    entry = finding.referenced_files[0]
    citation = citations.parse(entry)
    if citation is None:
        return _Fallback(f"{_shown(entry)} is not a citation of a file")
    path = place.normal(citation.path)
    if path is None:
        return _Fallback(f"{_shown(entry)} leads out of the project")
    return _usable(path, "path", _PATH)


def _section_tag(
    finding: Finding, place: _Place, name: str, sections: Sections | Fault
) -> str | _Fallback:
    line = _cited_line(finding, place, name)
    if isinstance(line, _Fallback):
        return line
    if isinstance(sections, Fault):
        return _Fallback(f"{name} cannot be read ({sections.reason})")
    if not sections.spans:
        return _Fallback(f"{name} has no H2 heading")
    held = sections.holding(line)
    if held is None:
        past = line > sections.lines
        where = f"past the end of {name}" if past else f"before the first H2 heading of {name}"
        return _Fallback(f"line {line} is {where}")
    title = held.title.strip()
    if not title:
        return _Fallback(f"the heading on line {held.start} of {name} has no text")
    return _usable(f"## {title}", "heading", _HEADING)


def _cited_line(finding: Finding, place: _Place, name: str) -> int | _Fallback:
    """The first line of the first citation of the artifact."""
    unread = None
    for entry in finding.referenced_files:
        citation = citations.parse(entry)
        if citation is None:
            unread = unread or entry
        elif place.normal(citation.path) == name:
            return citation.start or _Fallback(f"it cites {name} without a line range")
    if unread is not None:
        return _Fallback(f"{_shown(unread)} is not a citation of a file")
    return _Fallback(f"it does not cite {name}")


def _usable(tag: str, kind: str, shape: str) -> str | _Fallback:
    """A comma would split the tag when tags are handed to reviewers as a list."""
    if "," in tag:
        return _Fallback(f"the {kind} {_shown(tag)} contains a comma")
    if re.search(_CONTROL, tag) or not re.fullmatch(shape, tag):
        return _Fallback(f"the {kind} {_shown(tag)} cannot stand on a line of its own")
    return tag


def _shown(text: str) -> str:
    return plain_json.dumps(text if len(text) <= 200 else f"{text[:200]}…", ensure_ascii=False)


def render(number: int, scope_set: ScopeSet) -> bytes:
    lines = [
        f"# scope-set for round {number}",
        "# generated_by: qrspi",
        f"# total_findings_kept: {scope_set.total}",
        *(f"# warning: {warning}" for warning in scope_set.warnings),
        *scope_set.tags,
    ]
    return "".join(f"{line}\n" for line in lines).encode()


_TOTAL = r"# total_findings_kept:[ \t]*([0-9]{1,9})"
_WARNING = "# warning:"


def _is_tag(line: str) -> bool:
    if re.search(_CONTROL, line):
        return False
    return line == FULL or bool(re.fullmatch(_HEADING, line) or re.fullmatch(_PATH, line))


def tag_lines(data: bytes) -> tuple[str, ...]:
    """The lines that are tags, right or wrong, each once, in the order they stand."""
    lines = (line.rstrip() for line in data.decode(errors="replace").split("\n"))
    tags = (line for line in lines if line not in ("", "#") and not line.startswith("# "))
    return tuple(dict.fromkeys(tags))


def read(data: bytes) -> ScopeSet | Problem:
    """The Problem's message is the reason in the menu."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return _malformed(f"byte {error.start + 1} is not UTF-8", "")
    tags = tag_lines(data)
    for tag in tags:
        if not _is_tag(tag):
            shown = plain_json.dumps(tag[:200], ensure_ascii=False)[1:-1]
            shape = "neither file-path shape nor ## prefix nor <full> literal"
            return _malformed(f"tag line '{shown}' has {shape}", tag)
    comments = [line.rstrip() for line in text.split("\n") if line.startswith("# ")]
    totals = (match for line in comments if (match := re.fullmatch(_TOTAL, line)))
    total = next((int(match[1]) for match in totals), None)
    warned = (line for line in comments if line.startswith(_WARNING))
    warnings = tuple(line.removeprefix(_WARNING).strip() for line in warned)
    return ScopeSet(tags, warnings, total, normalised=finished(data) != data)


def _malformed(reason: str, found: str) -> Problem:
    expected = "a path, a heading such as ## Approach, or <full>"
    return Problem("bad_scope_set", reason, found=found, expected=expected)


def load(content: bytes | Fault) -> ScopeSet | Problem | None:
    if not isinstance(content, Fault):
        return read(content)
    if content.kind == "absent":
        return None
    return Problem("bad_scope_set", content.reason)


def malformed(paths: RoundPaths, problem: Problem) -> Problem:
    """The same in the words of the failure menu."""
    line = malformed_line(paths.number, problem.message)
    return problem._replace(message=line, file=paths.scope_set)


def malformed_line(number: int, reason: str) -> str:
    return f"Scope-tagger emitted malformed scope-set for round {number:02d}: {reason}"


def is_stale(scope_set: ScopeSet, kept: int) -> bool:
    """Judged by its own count alone. A set without a count came from elsewhere and is kept."""
    return scope_set.total is not None and scope_set.total != kept


_USUAL = "reviewer omitted line-range citation OR artifact has no H2 headings"
_AS_USUAL = r": (?:it cites .* without a line range|it does not cite .*|.* has no H2 heading)$"


def fallback_line(number: int, scope_set: ScopeSet) -> str | None:
    if FULL not in scope_set.tags:
        return None
    count = len(scope_set.warnings) or 1
    reasons = [one.removesuffix(_WHOLE) for one in scope_set.warnings]
    why = _USUAL
    if not all(re.search(_AS_USUAL, reason) for reason in reasons):
        why = "; ".join(reasons)
    return (
        f"Round {number:02d}: tagger fell back to <full> for {count} finding(s) — {why}."
        f" See {round_name(number)}-scope-set.txt warnings."
    )
