"""The parts that are played: agents leave files where real ones would, and the person decides."""

from __future__ import annotations

from collections.abc import Iterator

from qrspi.core.artifacts import task_file
from qrspi.core.artifacts.task_file import Task
from qrspi.core.filenames import RoundPaths, clean_file
from qrspi.core.steps import permits
from qrspi.core.text.shortened import listed
from qrspi.demo import gate_parts, narration
from qrspi.demo.narration import Beat, first_sentence, reviewer
from qrspi.demo.stage import Answer, Beats, Stage
from qrspi.world.git import scratch_repository


def author(stage: Stage, following: Answer) -> Beats:
    files = stage.scene(following, "author")
    stage.drop(files)
    yield _beat(following, f"writes {listed(sorted(files))}")
    if following["step"] == "plan" and "gates.quality" in stage.story.opening:
        yield from gate_parts.judge(stage, following)


def review(stage: Stage, now: Answer) -> Beats:
    waited_for = _own(now)
    scripted = stage.script.scene(now["step"], "review", now["round"], once=True)
    answered = {name: data for name, data in scripted.items() if _tag(name) in waited_for}
    silent = [tag for tag in waited_for if tag not in map(_tag, answered)]
    clean = f"round: {now['round']}\nfindings: 0\n---\n"
    empty = {clean_file(tag): f"---\nreviewer: {tag}\n{clean}".encode() for tag in silent}
    stage.drop({**answered, **empty}, _folder(now))
    yield from (_beat(now, text) for text in _findings(stage, now, waited_for))
    if silent:
        yield _beat(now, f"{_who(now)}{listed([reviewer(tag) for tag in silent])}: nothing found")


def _findings(stage: Stage, following: Answer, tags: list[str]) -> Iterator[str]:
    for finding in narration.review_round(stage.tree, following).findings:
        if finding.tag in tags:
            text = f"{first_sentence(finding.message)} ({finding.change_type})"
            yield f"{_who(following)}{reviewer(finding.tag)}: {text}"


def verify(stage: Stage, following: Answer) -> Beats:
    scores = stage.scene(following, "verify", following["round"], once=True)
    stage.drop(scores, _folder(following))
    round = narration.review_round(stage.tree, following)
    names = {finding.stem: finding.name for finding in round.findings}
    for stem in _own(following):
        scored = round.sidecars[stem]
        yield _beat(following, f"scores {names[stem]} {scored.score} of 100: {scored.reason}")


def fix(stage: Stage, following: Answer) -> Beats:
    if following["kind"] == "implement":
        yield from implement(stage, following)
        return
    files = stage.scene(following, "apply-fixes", following["round"])
    stage.drop(files)
    changed = [name for name in sorted(files) if not name.startswith("reviews/")]
    yield _beat(following, f"changes {listed(changed)} and says what was done")


def implement(stage: Stage, following: Answer) -> Beats:
    again = following["action"] == "apply-fixes"
    for key in [following["step"]] if again else following["waits_for"]:
        if (yield from gate_parts.ask(stage, key)):
            continue
        files = stage.script.scene(key, "work")
        task = task_file.read(stage.tree.read(task_file.task_path(key)), key)
        assert files and isinstance(task, Task), following
        work_tree = gate_parts.work_tree(stage, key)
        scratch_repository.drop(work_tree, files)
        message = f"Settle what round {following['round']} found" if again else task.title
        commit = scratch_repository.commit(work_tree, message)
        names = listed(sorted(files))
        verb = "changes" if again else "writes"
        yield Beat("agent", f"{key}: {verb} {names} and commits", key)
        yield from stage.report(key, commit)


def _beat(following: Answer, text: str) -> Beat:
    return Beat("agent", text, following["step"], following["round"] or 0)


def _own(following: Answer) -> list[str]:
    """Who the first task waits for. The others have their turn."""
    names: list[str] = following["waits_for"]
    if not narration.about(following).is_task:
        return names
    own = f"{following['step']}/"
    own_names = (name.removeprefix(own) for name in names if name.startswith(own))
    return [name.removeprefix("verify-") for name in own_names]


def _who(following: Answer) -> str:
    return f"{following['step']}, " if narration.about(following).is_task else ""


def _folder(following: Answer) -> str:
    return RoundPaths(narration.about(following).reviews, following["round"]).directory


def _tag(name: str) -> str:
    return name.partition(".")[0]


def approve(stage: Stage, now: Answer) -> Beats:
    alone = ", as nobody else may" if now["step"] in permits.PERSONAL else ""
    yield Beat("person", f"reads {narration.about(now).artifact} and agrees{alone}", now["step"])
    if now["kind"] in stage.story.menus:
        yield from stage.type("resolve", stage.story.menus[now["kind"]])
    else:
        yield from stage.type("approve", now["step"])


def decide(stage: Stage, following: Answer) -> Beats:
    if following["kind"] == "checkpoint-task":
        yield from gate_parts.answer(stage, following)
        return
    assert following["kind"] == "pause", following
    findings = narration.review_round(stage.tree, following).findings
    messages = {finding.name: finding.message for finding in findings}
    for name in following["waits_for"]:
        choice = stage.story.decisions[f"{following['step']}/{name}"]
        text = f"decides to {choice} it: {first_sentence(messages[name])}"
        yield Beat("person", text, following["step"], following["round"])
        yield from stage.type("decide", name, choice)


def configure(stage: Stage, now: Answer) -> Beats:
    assert now["kind"] == "config", now
    yield Beat("person", "says how tasks are reviewed, and how the code is tested", now["step"])
    for key, value in stage.story.settings.items():
        yield from stage.type("config", "set", key, value)
