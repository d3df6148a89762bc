"""The agents' parts: each leaves files where a real one would, and says nothing that counts."""

from __future__ import annotations

from collections.abc import Iterator

from qrspi.core.artifacts import task_file as tasks
from qrspi.core.artifacts.task_file import Task
from qrspi.core.filenames import RoundPaths
from qrspi.core.model import Finding
from qrspi.core.records import task_records as taskfiles
from qrspi.core.records.task_records import Start
from qrspi.demo import narration as telling
from qrspi.demo.narration import Beat, first_sentence, listed, reviewer
from qrspi.demo.stage import Answer, Beats, Stage
from qrspi.world.git import scratch_repository as scratch


def author(stage: Stage, now: Answer) -> Beats:
    files = stage.scene(now, "author")
    stage.drop(files)
    # Reviewers are only sent to a text that git knows.
    scratch.add(stage.run, *files)
    yield _beat(now, f"writes {listed(sorted(files))}")


def review(stage: Stage, now: Answer) -> Beats:
    """Reviewers for whom the script has no finding find nothing."""
    waited_for = now["missing"]
    scripted = stage.script.scene(now["step"], "review", now["round"], once=True)
    found = {name: data for name, data in scripted.items() if _tag(name) in waited_for}
    silent = [tag for tag in waited_for if tag not in map(_tag, found)]
    stage.drop(
        {**found, **{f"{tag}.clean.md": _clean(tag, now["round"]) for tag in silent}}, _folder(now)
    )
    yield from (_beat(now, text) for text in _findings(stage, now, waited_for))
    if silent:
        yield _beat(now, f"{_who(now)}{listed([reviewer(tag) for tag in silent])}: nothing found")


def _findings(stage: Stage, now: Answer, tags: list[str]) -> Iterator[str]:
    found = telling.loop(stage.tree, now).round
    assert found is not None
    for finding in found.findings:
        if finding.tag in tags:
            yield f"{_who(now)}{reviewer(finding.tag)}: {_told(finding)}"


def _told(finding: Finding) -> str:
    return f"{first_sentence(finding.message)} ({finding.change_type})"


def verify(stage: Stage, now: Answer) -> Beats:
    scores = stage.scene(now, "verify", now["round"], once=True)
    stage.drop(scores, _folder(now))
    found = telling.loop(stage.tree, now).round
    assert found is not None
    names = {finding.stem: finding.name for finding in found.findings}
    for stem in now["missing"]:
        scored = found.sidecars[stem]
        yield _beat(now, f"scores {names[stem]} {scored.score} of 100: {scored.reason}")


def fix(stage: Stage, now: Answer) -> Beats:
    if now["kind"] == "implement":
        yield from implement(stage, now)
        return
    files = stage.scene(now, "apply-fixes", now["round"])
    stage.drop(files)
    changed = [name for name in sorted(files) if not name.startswith("reviews/")]
    yield _beat(now, f"changes {listed(changed)} and says what was done")


def implement(stage: Stage, now: Answer) -> Beats:
    """One implementer a task, each in its own work tree; what counts is the commit."""
    for key in now["missing"] or [now["step"]]:
        files = stage.script.scene(key, "work")
        task = tasks.read(stage.tree.read(tasks.task_path(key)), key)
        assert files and isinstance(task, Task), now
        work_tree = f"{stage.repository}/{_work_tree(stage, key)}"
        scratch.drop(work_tree, files)
        again = now["action"] == "apply-fixes"
        message = f"Settle what round {now['round']} found" if again else task.title
        commit = scratch.commit(work_tree, message)
        names = listed(sorted(files))
        verb = "changes" if again else "writes"
        yield Beat("agent", f"{key}: {verb} {names} and commits", key)
        yield from stage.report(key, commit)


def _work_tree(stage: Stage, key: str) -> str:
    start = taskfiles.start(stage.tree, key)
    assert isinstance(start, Start), start
    return start.worktree


def _beat(now: Answer, text: str) -> Beat:
    return Beat("agent", text, now["step"], now["round"] or 0)


def _who(now: Answer) -> str:
    return f"{now['step']}, " if telling.about(now).is_task else ""


def _folder(now: Answer) -> str:
    return RoundPaths(telling.about(now).reviews, now["round"]).directory


def _tag(name: str) -> str:
    return name.partition(".")[0]


def _clean(tag: str, number: int) -> bytes:
    return f"---\nreviewer: {tag}\nround: {number}\nfindings: 0\n---\n".encode()
