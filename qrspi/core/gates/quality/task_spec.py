"""What a task tells its implementer: the text that a quality review judges."""

from __future__ import annotations

from collections.abc import Mapping

from qrspi.core.artifacts import task_file
from qrspi.core.digest import sha256
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text import findings_block, headings
from qrspi.core.text.headings import Sections
from qrspi.core.tree import Fault
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.nodes import Node, Scalar

FIELD = "quality_verdict"
NO_SECTIONS = "the task has no Description, no Acceptance Criteria and no Execution Plan"
SKIPPED = frozenset(("worthiness:calendar-like", "worthiness:info-only"))


class Spec(NamedTuple):
    key: str
    title: str
    description: str
    criteria: str  # the Acceptance Criteria
    plan: str  # the Execution Plan
    context: str  # without the findings of an earlier review
    tags: tuple[str, ...] = ()
    executor: str = ""
    working_directory: str = ""
    line: str = ""  # quality_verdict, as it stands there
    block: findings_block.Block | None = None

    @property
    def hash(self) -> str:
        """Of everything that a verdict is about, and of nothing else in the file."""
        text = "|".join((self.title, self.description, self.criteria, self.plan))
        return sha256(text.encode("utf-8", "replace")).hexdigest()[:8]

    @property
    def is_empty(self) -> bool:
        return not (self.description or self.criteria or self.plan)

    @property
    def skip_tag(self) -> str:
        """A tag that says that the task needs no review; '' when it has none."""
        return next((tag for tag in self.tags if tag in SKIPPED), "")

    @property
    def is_human(self) -> bool:
        return self.executor.casefold() == "human"


def read(content: bytes | Fault, key: str) -> Spec | Problem:
    task = task_file.read(content, key)
    if isinstance(task, Problem):
        return task
    assert isinstance(content, bytes)
    fields = frontmatter.fields(content)
    text = _Text(content, fields)
    return Spec(
        key=key,
        title=_clean(task.title),
        description=text.part("description"),
        criteria=text.part("acceptance criteria"),
        plan=text.part("execution plan", numbered=True),
        context=text.part("context"),
        tags=_words(fields.get("tags")),
        executor=_scalar(fields, "executor"),
        working_directory=_scalar(fields, "working_directory"),
        line=_scalar(fields, FIELD),
        block=findings_block.read(content),
    )


class _Text:
    def __init__(self, data: bytes, fields: Mapping[str, Node]) -> None:
        plain = findings_block.without(data)
        self._sections: Sections = headings.read(plain)
        self._lines = plain.decode("utf-8", "replace").split("\n")
        self._fields = fields

    def part(self, name: str, *, numbered: bool = False) -> str:
        """A section, or the field of the frontmatter that stands for it."""
        span = self._sections.named(name)
        if span is None:
            return _clean(_listed(self._fields.get(name.replace(" ", "_")), numbered))
        return _clean("\n".join(self._lines[span.start : span.end]))


def _listed(node: Node | None, numbered: bool) -> str:
    if isinstance(node, Scalar):
        return node.text
    items = [item.text for item in node if isinstance(item, Scalar)] if node else []
    marks = (f"{at}." if numbered else "-" for at in range(1, len(items) + 1))
    return "\n".join(f"{mark} {item}" for mark, item in zip(marks, items, strict=True))


def _clean(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


def _scalar(fields: Mapping[str, Node], key: str) -> str:
    return (frontmatter.text(fields, key) or "").strip()


def _words(node: Node | None) -> tuple[str, ...]:
    if isinstance(node, Scalar):
        return tuple(word.strip() for word in node.text.split(",") if word.strip())
    if isinstance(node, tuple):
        return tuple(item.text.strip() for item in node if isinstance(item, Scalar))
    return ()


def told(spec: Spec, repository: str) -> str:
    """The task as its reviewer sees it, without earlier findings."""
    parts = [
        ("Description", spec.description),
        ("Acceptance Criteria", spec.criteria),
        ("Execution Plan", spec.plan),
        ("Context", spec.context),
        ("Working directory", spec.working_directory),
        ("Repository", repository),
        ("Executor", spec.executor),
    ]
    sections = (f"## {name}\n\n{text or '(none)'}\n" for name, text in parts)
    return "\n".join((f"# {spec.title}\n", *sections))
