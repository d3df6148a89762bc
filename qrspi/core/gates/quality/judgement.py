"""From a task's text to a verdict: skip tags, rubric, cache, reviewer, suppression, in this order.

`before_reviewer` gives the verdict, or says that a reviewer is needed; `by_reviewer` makes one from
an answer; `written` is the task file with it."""

from __future__ import annotations

from collections.abc import Mapping

from qrspi.core.gates.quality import reviewer_reply, rubric, verdict_line
from qrspi.core.gates.quality.reviewer_reply import Malformed
from qrspi.core.gates.quality.rubric import Remark
from qrspi.core.gates.quality.task_spec import FIELD, NO_SECTIONS, Spec
from qrspi.core.gates.quality.verdict_line import Line, Verdict
from qrspi.core.hints import Literal
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text import findings_block
from qrspi.core.text.findings_block import Block
from qrspi.core.tree import Tree
from qrspi.core.yaml import writer

Mode = Literal["cache-only", "live", "live-cache-aware"]
Source = Literal["skip", "rubric", "cache", "reviewer", "none"]


class Judgement(NamedTuple):
    task: str
    verdict: Verdict | Literal["UNREVIEWED"]
    source: Source
    hash: str
    line: Line | None = None
    verdict_string: str = ""
    per_axis: Mapping[str, str] | None = None  # of a reviewer that was just asked
    gaps: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    is_new: bool = False  # to be written into the task
    because: str = ""  # why it is what it is, in words
    is_claim: bool = False  # found in the task, but not on record
    replaces: str = ""  # the line that the task has

    @property
    def cached_at(self) -> str | None:
        return self.line.when if self.line and (self.is_new or self.source == "cache") else None

    @property
    def suppressed_until(self) -> str | None:
        return (self.line and self.line.suppressed_until) or None

    @property
    def block(self) -> str | None:
        """What the Context section is to say; None with a PASS, and without a verdict."""
        if self.line is None or self.line.verdict == "PASS" or not self.gaps:
            return None
        return findings_block.render(Block(self.line.hash, self.line.when, self.gaps, self.fixes))


def unreviewed(spec: Spec, because: str, gaps: tuple[str, ...] = ()) -> Judgement:
    return Judgement(spec.key, "UNREVIEWED", "none", spec.hash, gaps=gaps, because=because)


def unreadable(key: str, problem: Problem) -> Judgement:
    why = problem.message
    return Judgement(key, "UNREVIEWED", "none", "", gaps=(why,), because=why)


class NeedsReviewer(NamedTuple):
    warnings: tuple[str, ...] = ()  # of the rubric; they go with the reviewer's verdict


def before_reviewer(spec: Spec, mode: Mode, code: Tree, now: str) -> Judgement | NeedsReviewer:
    if spec.skip_tag:
        return _skipped(spec, code, now)
    if spec.is_empty:
        return unreviewed(spec, NO_SECTIONS, (NO_SECTIONS,))
    remarks = rubric.remarks(spec, code)
    if any(remark.level == "error" for remark in remarks):
        return _rejected(spec, remarks, now)
    warnings = tuple(str(remark) for remark in remarks)
    hit = None if mode == "live" else _hit(spec, mode, now)
    if hit:
        return hit._replace(warnings=warnings)
    if mode == "cache-only":
        return unreviewed(spec, _why_missed(spec))._replace(warnings=warnings)
    return NeedsReviewer(warnings)


def _skipped(spec: Spec, code: Tree, now: str) -> Judgement:
    remarks = rubric.remarks(spec, code, rubric.FINISHED)
    if remarks:
        return _rejected(spec, remarks, now)
    kept = verdict_line.read(spec.line)
    preserved = kept is not None and kept.verdict == "PASS" and kept.hash == spec.hash
    line = spec.line if preserved else verdict_line.render(Line("PASS", spec.hash, now))
    because = f"nobody has to review it: it is tagged {spec.skip_tag}"
    return Judgement(spec.key, "PASS", "skip", spec.hash, verdict_string=line, because=because)


def _rejected(spec: Spec, remarks: tuple[Remark, ...], now: str) -> Judgement:
    """A second review with the same result writes nothing."""
    errors = tuple(remark for remark in remarks if remark.level == "error")
    rules = tuple(dict.fromkeys(remark.rule for remark in errors))
    line = Line("REJECT", spec.hash, now, rules)
    known = verdict_line.read(spec.line)
    same = known is not None and known == line._replace(when=known.when)
    kept = known if same and known else line
    return Judgement(
        task=spec.key,
        verdict="REJECT",
        source="rubric",
        hash=spec.hash,
        line=kept,
        verdict_string=verdict_line.render(kept),
        gaps=tuple(map(str, errors)),
        warnings=tuple(str(remark) for remark in remarks if remark.level == "warning"),
        is_new=not same,
        replaces=spec.line,
        because=f"the rubric rejects it: {', '.join(rules)}",
    )


def _hit(spec: Spec, mode: Mode, now: str) -> Judgement | None:
    """A frozen verdict holds whatever the text says; any other holds only for its own text."""
    line = verdict_line.read(spec.line)
    if line is None:
        return None
    frozen = verdict_line.is_suppressed(line, now)
    if not frozen and line.hash != spec.hash:
        return None
    if mode == "live-cache-aware" and not frozen and line.verdict != "PASS":
        return None
    return _cached(spec, line, frozen)


def _cached(spec: Spec, line: Line, frozen: bool) -> Judgement:
    block = spec.block if spec.block and spec.block.hash == line.hash else None
    failed = line.verdict != "PASS"
    until = f", frozen until {line.suppressed_until}" if frozen else ""
    return Judgement(
        task=spec.key,
        verdict=line.verdict,
        source="cache",
        hash=spec.hash,
        line=line if frozen else line._replace(suppressed_until=""),
        verdict_string=spec.line,
        gaps=block.gaps if block and failed else (),
        fixes=block.fixes if block and failed else (),
        because=f"{line.verdict} since {line.when}{until}",
    )


def _why_missed(spec: Spec) -> str:
    if not spec.line:
        return "nobody has reviewed it"
    if verdict_line.read(spec.line) is None:
        return f"its {FIELD} cannot be read, so it says nothing"
    return "its text has changed since it was reviewed"


def by_reviewer(
    spec: Spec, text: str, now: str, before: Line | None, warnings: tuple[str, ...] = ()
) -> Judgement:
    """`before` is the verdict that the task had until now."""
    reply = reviewer_reply.read(text)
    if isinstance(reply, Malformed):
        return _malformed(spec, reply.why, warnings)
    line = Line(reply.verdict, spec.hash, now, reply.failing)
    line = line._replace(suppressed_until=verdict_line.suppression(before, line))
    return Judgement(
        task=spec.key,
        verdict=reply.verdict,
        source="reviewer",
        hash=spec.hash,
        line=line,
        verdict_string=verdict_line.render(line),
        per_axis=reply.per_axis,
        gaps=reply.gaps,
        fixes=reply.fixes,
        warnings=warnings,
        is_new=True,
        replaces=spec.line,
        because=f"the reviewer says {reply.verdict}",
    )


def _malformed(spec: Spec, why: str, warnings: tuple[str, ...]) -> Judgement:
    gap = f"the reviewer's answer cannot be used: {why}"
    judgement = Judgement(spec.key, "NEEDS_REFINEMENT", "reviewer", spec.hash, warnings=warnings)
    return judgement._replace(gaps=(gap,), because=gap)


def with_line(judgement: Judgement, text: str) -> Judgement:
    return judgement._replace(line=verdict_line.read(text), verdict_string=text)


def written(data: bytes, judgement: Judgement, file: str) -> bytes | Problem:
    """Every byte of the task file but the field and the block stays."""
    value = writer.sentence(judgement.verdict_string)
    changed = writer.set_field(data, FIELD, value, file)
    if isinstance(changed, Problem) or judgement.line is None:
        return changed
    return findings_block.put(changed, judgement.block or "")


def cleared(data: bytes, file: str) -> bytes | Problem:
    changed = writer.remove_field(data, FIELD, file)
    return changed if isinstance(changed, Problem) else findings_block.without(changed)
