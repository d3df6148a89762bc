"""`/runs/RUN/STEP/rounds/N`: what reviewers found, and what became of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from qrspi.cli.in_process import Commands
from qrspi.core.filenames import RoundPaths
from qrspi.core.model import counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import subject_of
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds import round_list
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.tree import Fault
from qrspi.render.rounds import CAME
from qrspi.web.answers import gates
from qrspi.web.html import Page
from qrspi.web.pages.spend import Sums
from qrspi.web.parts import agents, diff_table, finding_cards, markdown, navigation, words
from qrspi.web.parts.diff_table import Table
from qrspi.web.parts.finding_cards import Card
from qrspi.web.parts.markdown import TextPlace
from qrspi.world.runs.committed_tree import CommittedTree

_DIFF_LIMIT = 2 * 1024 * 1024


class Sent(NamedTuple):
    tag: str
    model: str
    says: str


def page(commands: Commands, name: str, step: str, number: int) -> Page:
    document = commands.ask("show", name, step, "--round", str(number))
    run = commands.ask("status", name)["runs"][0]
    tree = CommittedTree(f"{commands.session.root.runs_dir}/{name}")
    paths = RoundPaths(subject_of(step).reviews, number)
    read = manifests.read(tree.read(paths.manifest, manifests.LIMIT), paths.manifest)
    manifest = read if isinstance(read, Manifest) else None
    decided = {one.finding["name"]: one.forms for one in gates.held(run)}
    awaited = agents.awaited(commands, run)
    waited = [one for one in awaited if (one.step, one.round) == (step, number)]
    cards = finding_cards.there(document["findings"])
    is_next = (run["next"]["step"], run["next"]["round"]) == (step, number)
    context = {
        "run": run,
        "step": step,
        "number": number,
        "tabs": navigation.round_tabs(
            name, step, round_list.rounds(tree, subject_of(step)), number
        ),
        "findings": [(one, decided.get(one.name, ()) if is_next else ()) for one in cards],
        "tally": _tally(cards),
        "gone": finding_cards.gone(document["findings"]),
        "none_said": "No findings so far." if waited else "No findings.",
        "agents": waited,
        "sent": _sent(commands, name, manifest, document["answers"]),
        "costs": _costs(commands, name, step, number),
        "against": manifest.choice.ref[:12] if manifest and manifest.choice else "",
        "diff": _diff(tree, paths.diff),
        "since": _diff(tree, paths.since),
        "dispositions": _text(tree, paths.dispositions),
    }
    title = f"Round {number} of {step} · {name}"
    return Page("round.html", title, context, name, following=gates.following(run))


def _tally(cards: list[Card]) -> str:
    """`2 kept, 1 dropped`."""
    verdicts = Counter(words.verdict(one.finding) for one in cards)
    counts = [f"{verdicts[name]} {name}" for name in words.VERDICTS if verdicts[name]]
    return ", ".join(counts) or "none"


def _sent(
    commands: Commands, run: str, manifest: Manifest | None, answers: list[dict[str, Any]]
) -> list[Sent]:
    if manifest is None:
        return []
    trail = commands.lines("log", run, "--all")
    workers = agents.workers(trail, manifest.step, manifest.round)
    sent: list[Sent] = []
    for one in manifest.dispatches:
        model = "/".join(filter(None, (one.vendor, one.model)))
        sent.append(Sent(one.tag, model, _answer(one.tag, answers, workers.get(one.tag, ""))))
    return sent


def _answer(tag: str, answers: list[dict[str, Any]], worker: str) -> str:
    """`2 findings, sent for by qrspi on worker@host`. Scores are not theirs."""
    mine = [one for one in answers if one["file"].rpartition("/")[2].startswith(f"{tag}.")]
    findings_files = [one for one in mine if not one["file"].endswith(".yml")]
    if not findings_files:
        return "nothing yet"
    count = sum(".finding-" in one["file"] for one in findings_files)
    ways = Counter(CAME[one["evidence"]] for one in findings_files)
    where = f" on {worker}" if worker else ""
    return ", ".join((counted(count, "finding") if count else "no findings", *ways)) + where


def _costs(commands: Commands, run: str, step: str, number: int) -> list[tuple[str, str, Sums]]:
    answer = commands.run("spend", run)
    groups = [] if answer.status else answer.document["groups"]
    mine = (one for one in groups if (one["step"], one["round"]) == (step, number))
    return [(one["role"], one["model"], Sums().plus(one)) for one in mine]


def _diff(tree: CommittedTree, path: str) -> Table | None:
    data = tree.read(path, _DIFF_LIMIT)
    return None if isinstance(data, Fault) else diff_table.table(data.decode("utf-8", "replace"))


def _text(tree: CommittedTree, path: str) -> str:
    data = tree.read(path)
    if isinstance(data, Fault):
        return ""
    blocks = markdown.blocks(
        data.decode("utf-8", "replace"), TextPlace(tree.name, path, f"{path}:")
    )
    return "".join(block.html for block in blocks)
