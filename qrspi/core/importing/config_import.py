"""config.md of a run that was made elsewhere: what is changed without asking, and what is asked.

Bytes and answers go in; bytes, lines and questions come out. A question without an answer is asked
together with the most likely answer, unless that cannot be known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile

from qrspi.core.config import edit, edit_text
from qrspi.core.config import reader as configs
from qrspi.core.config.fields import BOOLEAN, CHOICES
from qrspi.core.config.model_tiers import USUAL, USUAL_TIER, flow
from qrspi.core.config.problems import FILE, written
from qrspi.core.config.reader import Config
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import CODE_STEPS, ROUTES, is_full
from qrspi.core.tree import Fault
from qrspi.core.yaml import frontmatter, reader, writer
from qrspi.core.yaml.nodes import Node

RETIRED = ("codex_reviews", "codex_enabled")  # they meant second_reviewer


class Question(NamedTuple):
    key: str  # of --set
    ask: str
    options: tuple[str, ...] = ()
    recommended: str = ""  # '' when nobody can know


class Site(NamedTuple):
    created: str  # a day
    names: frozenset[str] = frozenset()  # in its folder
    step: str = ""  # where it stands; '' while its route is not known


class Planned(NamedTuple):
    data: bytes
    changes: tuple[str, ...] = ()  # what is changed, a line each
    questions: tuple[Question, ...] = ()


class _Draft:
    def __init__(self, data: bytes, answers: Mapping[str, str]) -> None:
        self.data = data
        self.answers = dict(answers)
        self.changes: list[str] = []
        self.questions: list[Question] = []

    def take(self, changed: bytes | Problem, line: str) -> bool:
        """False when it could not be changed in place."""
        if isinstance(changed, Problem):
            return False
        if changed != self.data:
            self.data = changed
            self.changes.append(f"{FILE}: {line}")
        return True

    def put(self, field: str, value: str, line: str = "") -> None:
        line = line or f"{field}: {value}"
        self.take(edit_text.put(self.data, (field,), value), line)

    def ask(self, question: Question) -> str:
        """The answer, or what is recommended until somebody answers; '' when nothing is."""
        answer = self.answers.pop(question.key, None)
        if answer is None:
            self.questions.append(question)
        return answer if answer is not None else question.recommended

    @property
    def fields(self) -> Mapping[str, Node]:
        return frontmatter.fields(self.data)


def plan(content: bytes | Fault, answers: Mapping[str, str], site: Site) -> Planned | Problem:
    """A question without an answer stays, and the data uses what is recommended."""
    begun = _begun(content, answers, site)
    if isinstance(begun, Problem):
        return begun
    for change in (_retired, _old_words, _route, _second_reviewer, _budget, _routing):
        change(begun, site)
    _backfills(begun)
    _how_tasks_are_reviewed(begun, site)
    _other_faults(begun)
    bad = _said_besides(begun)
    return bad or Planned(begun.data, tuple(begun.changes), tuple(begun.questions))


def _begun(content: bytes | Fault, answers: Mapping[str, str], site: Site) -> _Draft | Problem:
    if isinstance(content, Fault):
        if content.kind != "absent":
            return configs.read(content).problems[0]
        return _new(answers, site, b"", "there was none, so one is made")
    front = frontmatter.read(content, FILE)
    if isinstance(front, frontmatter.Front) and _is_text(content):
        return _Draft(content, answers)
    if front is None and _is_text(content):
        return _new(answers, site, content, "it had no fields, so they are put above its text")
    bad = configs.read(content).problems
    why = bad[0].message if bad else f"{FILE} is not text"
    ask = f"{why}. Begin a new config.md (import.md keeps this one)?"
    unread = Question("config", ask, ("new",))
    below = frontmatter.body(content) if _is_text(content) else b""
    return _new(answers, site, below, "a new one takes its place", unread)


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in content


def _new(
    answers: Mapping[str, str], site: Site, below: bytes, line: str, first: Question | None = None
) -> _Draft:
    route = _likely_route(site)
    fresh = edit.initial(site.created, route, second_reviewer=False, recorded=False)
    draft = _Draft(fresh + below, answers)
    draft.changes.append(f"{FILE}: {line}")
    if first:
        draft.ask(first)
    _ask_for_route(draft, "there is no route", route)
    _ask_for_second(draft, "nobody has said whether a second model reviews too", "false")
    return draft


def _likely_route(site: Site, pipeline: str | None = None) -> str:
    if "ux.md" in site.names:
        return "full-ux"
    full = ("design.md", "phasing.md", "structure.md", "parallelization.md")
    guessed = "full" if not site.names.isdisjoint(full) else "quick"
    return pipeline or guessed


def _ask_for_route(draft: _Draft, why: str, usual: str) -> None:
    ask = f"Which steps has the run? ({why})"
    _set_route(draft, draft.ask(Question("route", ask, tuple(ROUTES), usual)))


def _ask_for_second(draft: _Draft, why: str, usual: str) -> None:
    ask = f"Does a second model review? ({why})"
    field = "second_reviewer"
    draft.put(field, draft.ask(Question(field, ask, BOOLEAN, usual)))


def _retired(draft: _Draft, site: Site) -> None:
    for name in RETIRED:
        if name not in draft.fields:
            continue
        value = written(draft.fields[name])
        if "second_reviewer" in draft.fields:
            line = f"{name} ({value}) is removed, second_reviewer says it"
            draft.take(writer.remove_field(draft.data, name, FILE), line)
        else:
            line = f"{name} is called second_reviewer now; its value {value} stays"
            draft.take(edit_text.rename(draft.data, name, "second_reviewer"), line)


def _old_words(draft: _Draft, site: Site) -> None:
    if frontmatter.text(draft.fields, "review_mode") == "loop_until_clean":
        draft.put("review_mode", "loop", "review_mode: loop_until_clean is called loop now")


def _fault_of(data: bytes, field: str) -> Problem | None:
    problems = configs.read(data).problems
    return next((problem for problem in problems if problem.field.partition(".")[0] == field), None)


def _why(problem: Problem) -> str:
    return problem.message.removeprefix(f"{FILE}: ")


def _route(draft: _Draft, site: Site) -> None:
    config = configs.read(draft.data)
    if config.route is None:
        bad = _fault_of(draft.data, "route")
        _ask_for_route(draft, _why(bad) if bad else "", _likely_route(site, config.pipeline))
    elif "route" in draft.answers:
        _set_route(draft, draft.answers.pop("route"))
    _pipeline(draft)


def _set_route(draft: _Draft, name: str) -> None:
    """A user's own list of steps is also accepted."""
    if name in ROUTES:
        draft.take(edit.set_route(Config(), {}, name, draft.data), f"route: {name}")
    else:
        draft.answers["route"] = name


def _pipeline(draft: _Draft) -> None:
    bad, config = _fault_of(draft.data, "pipeline"), configs.read(draft.data)
    if bad:
        likely = "full" if config.route and is_full(config.route) else "quick"
        ask = f"Is it a quick or a full run? ({_why(bad)})"
        draft.put("pipeline", draft.ask(Question("pipeline", ask, CHOICES["pipeline"], likely)))


def _second_reviewer(draft: _Draft, site: Site) -> None:
    if bad := _fault_of(draft.data, "second_reviewer"):
        meant = bad.found.strip("\"'").lower() in ("yes", "on", "true", "1")
        _ask_for_second(draft, _why(bad), "true" if meant else "false")


def _budget(draft: _Draft, site: Site) -> None:
    config = configs.read(draft.data)
    if config.pipeline and "question_budget" not in draft.answers:
        line = "question_budget: 5"
        if config.pipeline == "full":
            line = "question_budget is removed, only a quick run has one"
        draft.take(edit.with_budget(draft.data, config.pipeline), line)


def _routing(draft: _Draft, site: Site) -> None:
    bad = _fault_of(draft.data, "model_routing")
    if bad is None:
        return
    own = _own_table(draft.data)
    options = ("body", "usual") if own else ("usual",)
    ask = f"Which models are used? ({_why(bad)})"
    chosen = draft.ask(Question("model_routing", ask, options, options[0]))
    table = {"body": own, "usual": _USUAL_TABLE}.get(chosen)
    if table:
        where = "the block in its own text" if chosen == "body" else "the usual table"
        draft.take(_with_table(draft.data, table), f"model_routing: {where}")
    else:
        draft.answers["model_routing"] = chosen


_ROWS = "".join(f"  {tier}: {flow(row)}\n" for tier, row in USUAL.items())
_USUAL_TABLE = f"model_routing:\n{_ROWS}  default_tier: {USUAL_TIER}\n"
_FENCED = re.compile(rb"^```[a-z]*[ \t]*\r?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def _own_table(data: bytes) -> str | None:
    for match in _FENCED.finditer(frontmatter.body(data)):
        for table in _tables(match[1].decode("utf-8", "replace").replace("\r\n", "\n")):
            changed = _with_table(data, table)
            if isinstance(changed, bytes) and _fault_of(changed, "model_routing") is None:
                return table
    return None


def _tables(block: str) -> Iterator[str]:
    """With the key, or only its rows. Of a block with more fields, only the table is taken."""
    lines = block.rstrip("\n").split("\n")
    starts = [at for at, line in enumerate(lines) if line.startswith("model_routing:")]
    if starts:
        rows = takewhile(lambda line: line[:1] in (" ", "#", ""), lines[starts[0] + 1 :])
        yield "\n".join((lines[starts[0]], *rows, ""))
    else:
        yield "".join(("model_routing:\n", *(f"  {line}\n" for line in lines)))


def _with_table(data: bytes, table: str) -> bytes | Problem:
    cleared = writer.remove_field(data, "model_routing", FILE)
    if isinstance(cleared, Problem):
        return cleared
    front = frontmatter.read(cleared, FILE)
    assert isinstance(front, frontmatter.Front)
    changed = cleared[: front.end] + table.encode() + cleared[front.end :]
    parsed = reader.parse(table, FILE)
    return parsed if isinstance(parsed, Problem) else changed


def _backfills(draft: _Draft) -> None:
    for field, value in configs.backfills(configs.read(draft.data)):
        if field not in draft.answers:
            draft.take(edit.backfill(draft.data, field, value), f"{field}: {value}")


_REVIEWED: dict[str, tuple[str, str]] = {
    "review_depth": ("How many review each task: four, or up to eight?", "quick"),
    "review_mode": ("Is a task reviewed once, or again until it is clean?", "loop"),
}


def _how_tasks_are_reviewed(draft: _Draft, site: Site) -> None:
    """Asked only where it is needed now; before that, the run will ask for it itself."""
    for field, (ask, usual) in _REVIEWED.items():
        unsaid = getattr(configs.read(draft.data), field) is None and site.step in CODE_STEPS
        if (bad := _fault_of(draft.data, field)) or unsaid:
            why = f" ({_why(bad)})" if bad else ""
            draft.put(field, draft.ask(Question(field, f"{ask}{why}", CHOICES[field], usual)))


def _other_faults(draft: _Draft) -> None:
    for problem in configs.read(draft.data).problems:
        field = problem.field
        if field in draft.answers or not field:
            continue
        if all(question.key != field for question in draft.questions):
            options = CHOICES.get(field, ())
            draft.questions.append(Question(field, f"{_why(problem)}.", options))


def _said_besides(draft: _Draft) -> Problem | None:
    for key, value in draft.answers.items():
        if key.startswith("open."):
            continue
        changed = edit.set_value(draft.data, key, value)
        if not isinstance(changed, bytes):
            return changed[0]
        draft.take(changed, f"{key}: {value}")
    return None
