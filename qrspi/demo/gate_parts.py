"""The parts that are played where gates are on: texts are judged, implementers ask for review."""

from __future__ import annotations

from collections.abc import Generator

from qrspi.core.gates.checkpoints import checkpoint_request
from qrspi.core.gates.checkpoints.checkpoint_tables import SEND
from qrspi.core.gates.quality import reviewer_reply
from qrspi.core.gates.quality.reviewer_reply import ReviewerReply
from qrspi.core.records import task_records
from qrspi.core.records.task_records import Start
from qrspi.core.text.shortened import listed
from qrspi.demo.narration import Beat
from qrspi.demo.stage import Answer, Beats, Stage
from qrspi.world.files import orchestration_db
from qrspi.world.git import scratch_repository

REPLY = "reply.md"
PATIENCE = 10.0  # seconds for a database that somebody else writes to

# As the implementer's prompt has it.
ASK = """UPDATE orchestration_tasks SET state = 'needs_review', last_heartbeat = datetime('now')
WHERE task_id = ?"""


def judge(stage: Stage, following: Answer) -> Beats:
    while True:
        answer = yield from stage.type("quality", "batch")
        for task in answer["tasks"]:
            yield from _judged(stage, following, task)
        if all(one["verdict"] == "UNREVIEWED" for one in answer["tasks"]):
            return


def _judged(stage: Stage, following: Answer, judged: Answer) -> Beats:
    if judged["verdict"] == "UNREVIEWED":
        yield from _reviewed(stage, following, judged["task"])
        return
    for gap in judged["gaps"]:
        yield Beat("engine", f"rejects {judged['task']}: {gap}", following["step"])
    files = stage.scene(following, "refine")
    stage.drop(files)
    yield Beat("agent", f"changes {listed(sorted(files))}", following["step"])


def _reviewed(stage: Stage, following: Answer, key: str) -> Beats:
    passed = f"has nothing against {key} any more, and leaves a prompt for its reviewer"
    yield Beat("engine", passed, following["step"])
    files = stage.script.scene(key, "quality")
    scratch_repository.drop(stage.repository, files)
    judged = reviewer_reply.read(files[REPLY].decode())
    assert isinstance(judged, ReviewerReply), judged
    axes = listed([axis.replace("_", " ") for axis in judged.per_axis])
    yield Beat("agent", f"judges {axes}: {judged.verdict}", following["step"])
    words = ("quality", "check", key, "--reply")
    place, shown = f"{stage.repository}/{REPLY}", f"qrspi {' '.join(words)} {REPLY}"
    answer = yield from stage.type(*words, place, shown=shown)
    sentence = f"puts the {answer['verdict']} on record, for this text of {key} and no other"
    yield Beat("engine", sentence, following["step"])


def work_tree(stage: Stage, key: str) -> str:
    start = task_records.start(stage.tree, key)
    assert isinstance(start, Start), start
    return f"{stage.repository}/{start.worktree}"


def ask(stage: Stage, key: str) -> Generator[Beat, None, bool]:
    """False when the script lets it work on."""
    files = stage.script.scene(key, "asks")
    if not files:
        return False
    text = files.pop("request.txt").decode()
    scratch_repository.drop(work_tree(stage, key), files)
    with orchestration_db.changing(stage.run, PATIENCE) as change:
        change.run(ASK, key)
        change.run(SEND, key, key, text, "review_request")
    request = checkpoint_request.read(text)
    summary = f"{request.fields['Summary']} (smoothness {request.smoothness} of 9)"
    yield Beat("agent", f"{key}: stops at its checkpoint and asks for review: {summary}", key)
    return True


def answer(stage: Stage, following: Answer) -> Beats:
    key = following["step"]
    text = stage.scene(following, "answers")["message.txt"].decode().strip()
    yield Beat("person", f"reads what {key} says about itself", key)
    done = yield from stage.type("checkpoint", "review", key, "-m", text)
    passed, score = done["verdict"] == "approve", f"a smoothness of {done['score']}"
    said = f"{score} lets it go on" if passed else f"{score} sends it back for a {done['verdict']}"
    yield Beat("engine", f"{key}: {said}", key)
