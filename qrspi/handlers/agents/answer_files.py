"""Turn an agent's answer into the files it could not write itself. The run's lock is held."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256

from qrspi.core.filenames import SidecarName, parse_round_file, sidecar_file
from qrspi.core.findings import printed_reply, rejected, round_files
from qrspi.core.findings.submission import Place, finished
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Ask, Problem, Sidecar
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP
from qrspi.core.records import step_text
from qrspi.core.rounds import dispositions
from qrspi.core.steps import text_form
from qrspi.core.text import printed_files
from qrspi.core.text.printed_files import DISPOSITIONS, Printed
from qrspi.core.tree import Fault, Tree
from qrspi.core.yaml import frontmatter, writer
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import commit_files
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.rounds import printed_reply as splits
from qrspi.handlers.rounds import put_aside
from qrspi.world.git import commits, repository

if TYPE_CHECKING:
    from qrspi.core.artifacts.inquiry import QuestionGroup

# The approval wrote these into the artifact; an agent that prints the text again does not know
# them.
_KEPT = ("phase_start_commit", "feature_branch")


_REPLACED = ".qrspi/replaced"  # texts that git does not have and that an answer was put over


class Taken(NamedTuple):
    files: tuple[str, ...]
    status: str = "complete"  # as the manifest says it
    notes: tuple[str, ...] = ()


def review(job: Job, tag: str, text: str) -> Taken | Problem:
    loop = job.round_loop
    split = printed_reply.split(text.encode(), tag, loop.round)
    if isinstance(split, Problem):
        return split
    if is_at_fault(job, tag):
        source = splits.Source(loop.subject, loop.round, tag, text.encode())
        if problem := splits.correct(job, source, split):
            return problem
    else:
        splits.write(job.workspace, loop.paths, tag, split)
    files = tuple(f"{loop.paths.directory}/{name}" for name, _ in split.files)
    notes = tuple(warning.message for warning in split.warnings)
    return Taken(files, "complete-clean" if split.clean else "complete", notes)


def is_at_fault(job: Job, name: str) -> bool:
    """Whether something that this agent wrote is to be corrected."""
    read = job.loop.files if job.loop and job.next.kind == "fix-files" else None
    return read is not None and rejected.about(read, name) != ()


class Score(NamedTuple):
    name: str
    data: bytes
    notes: tuple[str, ...] = ()


def score(job: Job, stem: str, text: str, model: str = "") -> Score | Problem:
    """`model` was asked: we know its name more surely than the model itself does."""
    found = checked_score(job, stem, text, model)
    if isinstance(found, Score):
        return found
    why = found[0].message if found else "no score in it"
    return Problem("reply-malformed", f"the reply about {stem} is not a score: {why}", found=why)


def checked_score(job: Job, stem: str, text: str, model: str = "") -> Score | tuple[Problem, ...]:
    loop = job.round_loop
    path = f"{loop.paths.directory}/{sidecar_file(stem)}"
    data = finished(printed_files.unfenced(text, "score").strip().encode())
    name, place = SidecarName(stem, "score.yml"), Place(loop.subject, loop.round)
    read = round_files.examine(name, path, data, place)
    if read.record is None or read.violations:
        return read.violations
    if model and isinstance(read.record, Sidecar) and not read.record.verified_by:
        signed = data + f"verified_by: {writer.sentence(model)}\n".encode()
        data = signed if round_files.examine(name, path, signed, place).record else data
    return Score(sidecar_file(stem), data, tuple(warning.message for warning in read.warnings))


def put_scores_aside(job: Job, names: Iterable[str]) -> None:
    """Those that are at fault, for others of these names."""
    stems = {
        found.stem for name in names if isinstance(found := parse_round_file(name), SidecarName)
    }
    wrong = frozenset(stem for stem in stems if is_at_fault(job, stem))
    if wrong:
        for edit in put_aside.plan(job.workspace, job.round_loop, frozenset(), wrong).edits:
            change_set.write(job.workspace, edit)


class Draft(NamedTuple):
    """Files to be written, in order. The last one lets the run go on."""

    files: tuple[Printed, ...]
    artifact: str
    whole: bool = False  # it should have all files of the step


def written(job: Job, ask: Ask, text: str) -> Draft | Problem:
    """What an author or a researcher has printed."""
    step = job.facts.step
    if ask.kind == "author":
        return drafted(job.workspace, step, STEP[ask.subject].artifact, text)
    from qrspi.core.steps import research_sources

    asked = research_sources.asked_of(job.facts, ask.target)
    draft = drafted(job.workspace, step, asked.file, text)
    return draft if isinstance(draft, Problem) else _answering(draft, asked)


def _answering(draft: Draft, asked: QuestionGroup) -> Draft | Problem:
    """An answer says whose it is by what was asked, not by what it claims."""
    from qrspi.core.artifacts import inquiry

    data = draft.files[0].text.encode()
    if problem := inquiry.answer_fault(data, asked):
        return problem
    named = inquiry.with_ids(data, asked)
    if isinstance(named, Problem):
        return named
    return draft._replace(files=(Printed(asked.file, named.decode()),))


def drafted(tree: Tree, step: str, artifact: str, text: str) -> Draft | Problem:
    """An author's answer; `artifact` is the step's own, or the file of one question."""
    whole = artifact == STEP[step].artifact
    files = printed_files.files(text, artifact, STEP[step].companions if whole else ())
    if isinstance(files, Problem):
        return files
    texts = _as_drafts(tree, files)
    if isinstance(texts, Problem):
        return texts
    return _misshapen(tree, step, files) or Draft((*texts[1:], texts[0]), artifact, whole)


def _misshapen(tree: Tree, step: str, files: tuple[Printed, ...]) -> Problem | None:
    """An answer in words to whoever sent the agent is not the text of a step."""
    first = files[0].text.removeprefix("\ufeff").partition("\n")[0].rstrip()
    if first != "---":
        found = f"{first[:60]!r} at its beginning"
        return printed_files.malformed(found, "a line `---`, then `status: draft`")
    return text_form.fault_in(tree, step, {file.path: file.text.encode() for file in files})


def fixed(tree: Tree, job: Job, text: str) -> Draft | Problem:
    draft = printed_fix(tree, job, text)
    if isinstance(draft, Problem):
        return draft
    record = draft.files[-1]
    for problem in dispositions.problems(record.text.encode(), record.path, job.round_loop.round):
        return problem
    return draft


def printed_fix(tree: Tree, job: Job, text: str) -> Draft | Problem:
    """The same, before anybody has checked the dispositions. That file comes last."""
    loop = job.round_loop
    companions = () if loop.subject.is_task else STEP[loop.subject.step].companions
    files = printed_files.files(text, loop.subject.artifact, (*companions, DISPOSITIONS))
    if isinstance(files, Problem):
        return files
    printed = next((file for file in files if file.path == DISPOSITIONS), None)
    if printed is None:
        return _no_dispositions()
    texts = _as_drafts(tree, tuple(file for file in files if file is not printed))
    if isinstance(texts, Problem):
        return texts
    record = Printed(loop.paths.dispositions, printed.text)
    return Draft((*texts[1:], texts[0], record), loop.subject.artifact)


def _no_dispositions() -> Problem:
    expected = f"a line '<<<FILE {DISPOSITIONS}>>>' and after it what was done"
    text = f"reply: found no dispositions, expected {expected}"
    return Problem("reply-malformed", text, found="no dispositions", expected=expected)


def _as_drafts(tree: Tree, files: tuple[Printed, ...]) -> tuple[Printed, ...] | Problem:
    """No agent approves anything: whatever status it printed, the text becomes a draft."""
    texts = []
    for file in files:
        data = file.text.encode()
        for key, value in _given_fields(tree, file.path).items():
            changed = writer.set_field(data, key, value, file.path)
            if isinstance(changed, Problem):
                message = f"reply: {changed.message}"
                return changed._replace(code="reply-malformed", message=message)
            data = changed
        texts.append(Printed(file.path, data.decode()))
    return tuple(texts)


def _given_fields(tree: Tree, path: str) -> dict[str, str]:
    before = frontmatter.fields(tree.read(path))
    replans = frontmatter.text(before, "status") == "replan-draft"
    kept = {key: frontmatter.text(before, key) for key in _KEPT}
    return {
        "status": "replan-draft" if replans else "draft",
        **{key: value for key, value in kept.items() if value is not None},
    }


def unchanged(job: Job, draft: Draft) -> Problem | None:
    """Whoever prints the same text again would be asked, and paid, for ever."""
    if any(job.workspace.read(file.path) != file.text.encode() for file in draft.files):
        return None
    text = f"{draft.artifact} is printed as it was, and the run waits for it to change"
    expected = "another text"
    return Problem("reply-malformed", text, draft.artifact, found="the same", expected=expected)


def put(job: Job, draft: Draft, before: Mapping[str, str]) -> Taken | Problem:
    """Write a draft over the text that was there when it was asked for, and over no other."""
    for file in draft.files:
        if problem := _edited(job.workspace, file, before.get(file.path, "")):
            return problem
    kept = [note for file in draft.files if (note := _put(job, file.path, file.text.encode()))]
    files = tuple(file.path for file in draft.files)
    return Taken(files, notes=(*kept, *_left_behind(job, draft)))


def _put(job: Job, path: str, data: bytes) -> str:
    """A note about the text that was there, when git does not have it."""
    there = job.workspace.read(path)
    if isinstance(there, Fault):
        job.workspace.create(path, data)
        return ""
    if there == data:
        return ""
    repo = repository.find(job.workspace.path)
    note = ""
    if repo is None or commits.content(repo, "HEAD", path) != there:
        kept = f"{_REPLACED}/{sha256(there).hexdigest()[:12]}-{path.rpartition('/')[2]}"
        job.workspace.write(kept, there)
        note = f"what {path} said before is kept in {kept}"
    job.workspace.replace(path, there, data)
    return note


def _edited(tree: Tree, file: Printed, before: str) -> Problem | None:
    there = tree.read(file.path)
    if isinstance(there, Fault):
        same = there.kind == "absent"
    else:
        same = there == file.text.encode() or sha256(there).hexdigest() == before
    if same:
        return None
    text = f"{file.path} was changed while the agent worked on it; its answer is not put over that"
    return Problem("changed-meanwhile", text, file=file.path, hint="run the same command again")


def _left_behind(job: Job, draft: Draft) -> tuple[str, ...]:
    """Companions of the earlier text that were not printed again. They are not deleted."""
    written = {file.path for file in draft.files}
    if not draft.whole or len(written) == 1:
        return ()
    stale = [
        path for path in step_text.companions(job.workspace, job.facts.step) if path not in written
    ]
    return tuple(f"{path} was there before and was not printed again: it stays" for path in stale)


def commit_whole(job: Job, draft: Draft) -> None:
    """Reviewers see only text that git has. Answers to questions come with the summary."""
    step = job.facts.step
    if draft.artifact == STEP[step].artifact:
        commit_files(job, step_text.paths(job.workspace, step), f"draft {step}")
