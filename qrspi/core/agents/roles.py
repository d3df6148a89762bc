"""Role texts: read one, find the role for a job, put it together with the parts it shares."""

from __future__ import annotations

import re
from collections.abc import Mapping

from qrspi.core.config.model_tiers import TIERS, Model, is_model_name
from qrspi.core.filenames import TAG
from qrspi.core.hints import assert_never
from qrspi.core.model import TESTS, Ask, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.nodes import Node, Scalar

LIMIT = 256 * 1024


class Role(NamedTuple):
    name: str
    tier: str | None
    model: Model | None
    text: str
    file: str  # where it was read, absolute


class _Parts(NamedTuple):
    """The shared texts around a role's own text: what an agent must know, and how it hands in."""

    before: tuple[str, ...]
    writes: str
    prints: str


_PARTS: dict[str, _Parts] = {
    "reviewer": _Parts(
        ("untrusted-data", "finding-format", "change-types", "disagreement"),
        "emit-files",
        "emit-print",
    ),
    "verifier": _Parts(("untrusted-data", "sidecar-format"), "sidecar-file", "sidecar-print"),
    "author": _Parts(("untrusted-data", "artifact-rules"), "artifact-file", "artifact-print"),
    "fixer": _Parts(("untrusted-data",), "fixes-file", "fixes-print"),
    "implementer": _Parts(("untrusted-data",), "task-report", ""),
    "implementer-light": _Parts(("untrusted-data",), "task-report", ""),
    "test-writer": _Parts(("untrusted-data",), "tests-report", ""),
    "tagger": _Parts(("untrusted-data",), "scope-set-file", "scope-set-print"),
    "quality-reviewer": _Parts(("untrusted-data",), "", ""),
}
# Others record the answers of these roles. A path would tell them what the run is about.
_RESEARCH = _Parts(("untrusted-data", "artifact-rules"), "answer-print", "answer-print")
_GIVEN = "given-print"  # an agent that prints may be unable to open files
_KINDS = (*_PARTS.values(), _RESEARCH)
_SHARED = {name for kind in _KINDS for name in (*kind.before, kind.writes, kind.prints)}
SHARED: tuple[str, ...] = tuple(sorted(_SHARED - {""} | {_GIVEN}))


def kind_of(name: str) -> str:
    """`reviewer-quality` is a reviewer, `author-plan` an author, `verifier` itself."""
    family = name.partition("-")[0]
    return family if family in ("reviewer", "author") else name


def is_name(name: str) -> bool:
    return re.fullmatch(TAG, name) is not None and kind_of(name) in _PARTS


def for_tag(tag: str) -> str:
    """The role behind a reviewer's tag: both vendors' tags share one."""
    name, _, vendor = tag.rpartition("-")
    return f"reviewer-{name if vendor in ('claude', 'codex') else tag}"


def for_task(*, light: bool, tests: bool = False) -> str:
    if tests:
        return "test-writer"
    return "implementer-light" if light else "implementer"


def for_ask(ask: Ask) -> tuple[str, ...]:
    """All that may be sent for it: which implementer it is, the text of the task says."""
    match ask.kind:
        case "review":
            return (for_tag(ask.target),)
        case "verify":
            return ("verifier",)
        case "fix":
            return ("fixer",)
        case "implement" if ask.target == TESTS:
            return (for_task(light=False, tests=True),)
        case "implement":
            return (for_task(light=False), for_task(light=True))
        case "quality":
            return ("quality-reviewer",)
        case "author" | "research-question":
            return (for_author(ask.subject, question=ask.kind == "research-question"),)
        case _:
            assert_never(ask.kind)


def for_author(step: str, *, question: bool = False) -> str:
    if step == "research":
        return "author-research-question" if question else "author-research-summary"
    return f"author-{step}"


def parse(data: bytes, name: str, file: str) -> Role | Problem:
    front = frontmatter.read(data, file)
    if isinstance(front, Problem):
        return front
    if front is None:
        return _bad(file, "frontmatter", "none", "frontmatter with name and tier")
    try:
        text = data[front.body :].decode().strip()
    except UnicodeDecodeError:
        return _bad(file, "text", "bytes that are not UTF-8", "UTF-8")
    fields = front.fields
    if fault := _fault(fields, text, name):
        return _bad(file, *fault)
    tier, model = frontmatter.text(fields, "tier"), _model(fields.get("model"))
    return Role(name=name, tier=tier, model=model, text=text, file=file)


def _fault(fields: Mapping[str, Node], text: str, name: str) -> tuple[str, str, str] | None:
    found = frontmatter.text(fields, "name")
    if found != name:
        return "name", repr(found) if found is not None else "nothing", repr(name)
    if "tier" in fields and frontmatter.text(fields, "tier") not in TIERS:
        return "tier", _shown(fields["tier"]), f"one of {', '.join(TIERS)}"
    if "model" in fields and _model(fields["model"]) is None:
        return "model", _shown(fields["model"]), "{vendor: …, model: …}"
    return None if text else ("text", "nothing", "the role's instructions")


def _model(node: Node | None) -> Model | None:
    if not isinstance(node, dict) or set(node) != {"vendor", "model"}:
        return None
    vendor, model = frontmatter.text(node, "vendor"), frontmatter.text(node, "model")
    return Model(vendor, model) if vendor and model and is_model_name(model) else None


def _shown(node: Node) -> str:
    return repr(node.text) if isinstance(node, Scalar) else "a list or mapping of another form"


def _bad(file: str, field: str, found: str, expected: str) -> Problem:
    message = f"{file}: {field}: found {found}, expected {expected}"
    return Problem("invalid-role", message, file, field, found, expected)


def compose(role: Role, shared: Mapping[str, str], *, prints: bool, section: str = "") -> str:
    """How to hand in comes last, so that it wins where the role's text says something else."""
    researches = role.name.startswith("author-research")
    parts = _RESEARCH if researches else _PARTS[kind_of(role.name)]
    last = parts.prints if prints else parts.writes
    after = (_GIVEN, last) if prints and last else (last,)
    texts = (
        *(shared[name] for name in parts.before),
        for_section(role.text, section),
        *(shared[name] for name in after if name),
    )
    return "\n\n".join(text.strip() for text in texts)


_SECTION = r"(?m)^(?=## )"
_STEP = r"## Step: *(.+)"


def for_section(text: str, section: str) -> str:
    """The text with only those `## Step: a, b` sections that name this one."""
    return "".join(part for part in re.split(_SECTION, text) if _concerns(part, section)).strip()


def _concerns(part: str, section: str) -> bool:
    named = re.match(_STEP, part)
    return named is None or section in (word.strip() for word in named[1].split(","))
