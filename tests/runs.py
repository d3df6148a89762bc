"""Small runs, written down in a few words. Shared by tests of every layer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from qrspi.core.filenames import MANIFEST
from qrspi.core.pipeline import ROUTES, STEP, subject_of
from qrspi.core.records import approvals
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.tree import MemoryTree

RUN = "2026-05-17-user-auth"
ASKED = "verifier_enabled: true; later_rounds: all"  # by `config` below
ON_FULL = approvals.route_text("full", ROUTES["full"])
ON_QUICK = approvals.route_text("quick", ROUTES["quick"])

ROUTING = """model_routing:
  extra-low: none
  low: { vendor: claude, model: small }
  medium: { vendor: claude, model: middle }
  high: { vendor: claude, model: large }
  extra-high: none
  default_tier: medium
"""


def config(pipeline: str = "full", *, drop: Iterable[str] = (), **fields: str) -> bytes:
    """A complete config.md; `fields` replace or add lines, `drop` leaves fields out."""
    route = ROUTES["full" if pipeline == "full" else "quick"]
    lines = {
        "created": "2026-05-17",
        "pipeline": pipeline,
        "second_reviewer": "false",
        "route": f"[{', '.join(route)}]",
        "verifier_enabled": "true",
        "scope_tagger_enabled": "true",
        "visual_fidelity_required": "false",
    }
    if pipeline == "quick":
        lines["question_budget"] = "5"
    lines |= fields
    text = "".join(f"{key}: {value}\n" for key, value in lines.items() if key not in set(drop))
    routing = "" if "model_routing" in set(drop) else ROUTING
    return f"---\n{text}{routing}---\n".encode()


def artifact(status: str = "draft", body: str = "# Text\n\n## Approach\n\nWords.\n") -> bytes:
    return f"---\nstatus: {status}\n---\n\n{body}".encode()


ASKING = "# Text\n\n## Approach\n\n1. [web] Words.\n"  # as questions.md is reviewed


def text_hash(data: bytes, path: str = "goals.md", front: bytes | None = None) -> str:
    """The hash of a step's only file, the long way; `front` where more than a line goes."""
    _, head, body = data.split(b"---\n", 2)
    if front is None:
        front = b"\n".join(line for line in head.splitlines() if not line.startswith(b"status:"))
    plain = b"\n".join(line.rstrip() for line in body.split(b"\n"))
    return "v2:" + hashlib.sha256(path.encode() + b"\0" + front + b"\0" + plain).hexdigest()


def body_hash(data: bytes) -> str:
    """The hash that early records and manifests have of one file's body, the long way."""
    body = data.split(b"---\n", 2)[2]
    return hashlib.sha256(b"\n".join(line.rstrip() for line in body.split(b"\n"))).hexdigest()


def finding(
    tag: str = "quality-claude",
    number: int = 1,
    *,
    round: int = 1,
    step: str = "goals",
    kind: str = "correctness",
    severity: str = "medium",
    cites: str = "goals.md:L7",
    message: str = "The second claim contradicts the first.",
) -> bytes:
    return (
        f"---\nfinding_id: R{round}-F{number:02d}\nseverity: {severity}\nchange_type: {kind}\n"
        f"referenced_files: [{cites}]\nartifact: {step}\nround: {round}\nreviewer: {tag}\n---\n"
        f"{message}\n"
    ).encode()


def clean(tag: str = "quality-claude", round: int = 1) -> bytes:
    return f"---\nreviewer: {tag}\nround: {round}\nfindings: 0\n---\n".encode()


def score(value: int | str = 85, reason: str = "Checked against the text.") -> bytes:
    return f"score: {value}\nreason: {reason}\n".encode()


def opening(path: str, data: bytes) -> bytes:
    """The line of the trail about a round that the engine opened."""
    read = manifests.read(data, path)
    line = {
        "time": "2026-05-17T09:00:00Z",
        "actor": "cli",
        "event": "prepare-round",
        "opened": manifests.digest(read) if isinstance(read, Manifest) else "",
    }
    return (json.dumps(line) + "\n").encode()


def writing(path: str, data: bytes) -> bytes:
    """The line of the trail about a page that the engine wrote."""
    touched = {"path": path, "before": None, "after": hashlib.sha256(data).hexdigest()}
    line = {"time": "2026-05-17T09:00:00Z", "actor": "cli", "event": "run-tests"}
    return (json.dumps({**line, "files": [touched]}) + "\n").encode()


def put_openings_on_record(run: Path, files: Mapping[str, bytes]) -> None:
    lines = [opening(path, data) for path, data in files.items() if path.endswith(MANIFEST)]
    lines += [writing(path, data) for path, data in files.items() if path.endswith("-results.md")]
    if lines:
        folder = run / ".qrspi"
        folder.mkdir(exist_ok=True)
        (folder / ".gitignore").write_bytes(b"*\n")
        with (folder / "audit.jsonl").open("ab") as trail:
            trail.writelines(lines)


def manifest(
    step: str = "goals",
    round: int = 1,
    tags: Iterable[str] = ("quality-claude", "scope-claude"),
    body: bytes = b"",
    **more: object,
) -> bytes:
    document = {
        "schema": "qrspi/manifest/v1",
        "step": step,
        "round": round,
        "body_hash": text_hash(body, subject_of(step).artifact) if body else "0" * 64,
        "expected_tags": list(tags),
        "decision": {"decision": "broaden", "rule": "CNV-03"},
        "dispatches": [],
        "engine_files": {},
        **more,
    }
    return (json.dumps(document, indent=2) + "\n").encode()


def approved(*steps: str) -> dict[str, bytes]:
    return {STEP[step].artifact: artifact("approved") for step in steps}


def on_record(*steps: str) -> dict[str, bytes]:
    """The records of texts as `approved` has them."""
    text = artifact("approved")
    documents = (
        {
            "event": "approve",
            "step": step,
            "body_hash": text_hash(text, STEP[step].artifact),
            "round": 0,
        }
        for step in steps
    )
    return {"approvals.jsonl": "".join(f"{json.dumps(one)}\n" for one in documents).encode()}


def files(*parts: Mapping[str, bytes], **named: bytes) -> dict[str, bytes]:
    merged: dict[str, bytes] = {}
    for part in parts:
        merged |= part
    return merged | named


def tree(*parts: Mapping[str, bytes], in_git: bool = False, name: str = RUN) -> MemoryTree:
    return MemoryTree(files(*parts), name=name, in_git=in_git)


def on_disk(root: Path, contents: Mapping[str, bytes], name: str = RUN) -> Path:
    """The run's directory below a project at `root`; the engine opened its rounds."""
    run = root / "docs" / "qrspi" / name
    for path, data in contents.items():
        target = run / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    put_openings_on_record(run, contents)
    return run


def contents(run: Path) -> dict[str, bytes]:
    """Every file of the run but the engine's own."""
    return {
        path.relative_to(run).as_posix(): path.read_bytes()
        for path in sorted(run.rglob("*"))
        if path.is_file() and ".qrspi" not in path.parts
    }


def lines(run: Path, name: str) -> list[dict[str, Any]]:
    """The entries of a log; none when it is not there."""
    file = run / name
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
