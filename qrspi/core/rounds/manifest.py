"""The dispatch manifest of a round: who was sent to review what, by which decision; and whether the
engine wrote it.

Anybody can write a manifest. It is the engine's own if the trail has it, or a commit of the engine
signs it. A person may accept any other, which is put on record too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from qrspi.core import plain_json
from qrspi.core.filenames import RoundPaths
from qrspi.core.hints import TYPE_CHECKING, Any, Literal
from qrspi.core.model import Problem, Unseen
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import audit_trail
from qrspi.core.records.approvals import Record, newest_first, told_of
from qrspi.core.records.json_fields import Object, items, nested, string
from qrspi.core.tree import Fault, Tree

if TYPE_CHECKING:
    from qrspi.core.config.reader import Config
    from qrspi.core.rounds.loop import Loop

LIMIT = 4 * 1024 * 1024
SCHEMA = "qrspi/manifest/v1"


class Dispatch(NamedTuple):
    tag: str
    agent: str
    mode: str = "first_party"  # or background
    status: str = "pending"  # pending, dispatched, complete, complete-clean, failed
    host: str = ""
    vendor: str = ""
    model: str = ""
    prompt_file: str = ""
    job_id: str = ""
    await_cmd: str = ""
    split_cmd: str = ""


_SPEC = ("host", "vendor", "model", "prompt_file")
_WAITING = ("job_id", "await_cmd", "split_cmd")


class RefChoice(NamedTuple):
    """What the round's diff is compared with, and which rule chose it."""

    ref: str = ""
    ref_commit: str = ""
    rule: str = ""
    narrow: bool = False
    scope_hint: tuple[str, ...] = ()
    diagnostics: tuple[str, ...] = ()
    current_set: tuple[str, ...] = ()
    previous_set: tuple[str, ...] = ()


class Manifest(NamedTuple):
    step: str  # the review subject: a step, implement-gate, or task-NN
    round: int
    body_hash: str
    expected_tags: tuple[str, ...]
    choice: RefChoice = RefChoice()
    dispatches: tuple[Dispatch, ...] = ()
    engine_files: Mapping[str, str] = {}  # name → sha256 of what the engine wrote there
    anyway: bool = False
    commit: str = ""  # the reported commit, for a task
    chosen: str = ""  # why not everybody is sent
    unseen: tuple[Unseen, ...] = ()  # files that no reviewer can read as text


def render(manifest: Manifest) -> bytes:
    document = {
        "schema": SCHEMA,
        "step": manifest.step,
        "round": manifest.round,
        "body_hash": manifest.body_hash,
        "commit": manifest.commit,
        "anyway": manifest.anyway,
        "decision": _rendered_choice(manifest.choice),
        "expected_tags": list(manifest.expected_tags),
        "dispatches": [_rendered_dispatch(item) for item in manifest.dispatches],
        "engine_files": dict(sorted(manifest.engine_files.items())),
        **({"unseen": list(map(_rendered_unseen, manifest.unseen))} if manifest.unseen else {}),
    }
    if manifest.chosen:
        document["chosen"] = manifest.chosen
    return (plain_json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


def _rendered_unseen(unseen: Unseen) -> dict[str, Any]:
    """Without what is not so of it: most are only binary."""
    fields: dict[str, Any] = unseen._asdict()
    return {key: value for key, value in fields.items() if value or key not in ("commit", "cut")}


def as_opened(manifest: Manifest) -> Manifest:
    """The part that does not change while its agents are sent."""
    return manifest._replace(dispatches=())


def _rendered_choice(choice: RefChoice) -> dict[str, Any]:
    return {
        "decision": "narrow" if choice.narrow else "broaden",
        "rule": choice.rule,
        "ref": choice.ref or None,
        "ref_commit": choice.ref_commit or None,
        "scope_hint": list(choice.scope_hint) if choice.narrow else None,
        "diagnostics": list(choice.diagnostics),
        "current_set": list(choice.current_set),
        "previous_set": list(choice.previous_set),
    }


def _rendered_dispatch(item: Dispatch) -> dict[str, Any]:
    fields: dict[str, Any] = item._asdict()
    spec = {key: fields.pop(key) for key in _SPEC}
    waiting = {key: fields.pop(key) for key in _WAITING}
    return {
        **fields,
        "dispatch_spec": {"subagent_type": item.agent, **spec},
        **(waiting if item.mode == "background" else {}),
    }


def read(content: bytes | Fault, file: str = "") -> Manifest | Problem | None:
    if isinstance(content, Fault):
        return None if content.kind == "absent" else _bad(file, content.reason)
    try:
        document = plain_json.loads_text(content)
    except (ValueError, RecursionError):
        return _bad(file, "text that is not JSON")
    return _checked(document, file)


def _bad(file: str, found: str) -> Problem:
    text = f"{file}: the round's manifest is {found}, expected the JSON that preparing wrote"
    expected, hint = "a dispatch manifest", "restore it from git"
    return Problem("unreadable", text, file=file, found=found, expected=expected, hint=hint)


def is_other(problem: Problem) -> bool:
    """Whether it belongs to another tool, and counts as none."""
    return problem.code == "manifest-shape"


def _other(file: str, found: str) -> Problem:
    return _bad(file, found)._replace(code="manifest-shape")


def _checked(document: Any, file: str) -> Manifest | Problem:
    if not isinstance(document, dict):
        return _other(file, f"a JSON {type(document).__name__}")
    for key, kind in (("step", str), ("round", int), ("body_hash", str), ("expected_tags", list)):
        if not isinstance(document.get(key), kind):
            return _other(file, f"without a proper '{key}'")
    tags = document["expected_tags"]
    if not all(isinstance(tag, str) for tag in tags):
        return _other(file, "without a proper 'expected_tags'")
    return Manifest(
        step=document["step"],
        round=document["round"],
        body_hash=document["body_hash"],
        expected_tags=tuple(tags),
        choice=_read_choice(nested(document, "decision")),
        dispatches=tuple(map(_read_dispatch, items(document, "dispatches", dict))),
        engine_files={
            name: sha256
            for name, sha256 in nested(document, "engine_files").items()
            if isinstance(sha256, str)
        },
        anyway=document.get("anyway") is True,
        commit=string(document, "commit"),
        chosen=string(document, "chosen"),
        unseen=tuple(
            _read_unseen(item, size)
            for item in items(document, "unseen", dict)
            if type(size := item.get("size")) is int
        ),
    )


def _read_unseen(item: Object, size: int) -> Unseen:
    path, digest, commit = (string(item, key) for key in ("path", "sha256", "commit"))
    cut = item.get("cut")
    return Unseen(path, size, digest, commit, cut if type(cut) is int else 0)


def _read_choice(value: Object) -> RefChoice:
    return RefChoice(
        ref=string(value, "ref"),
        ref_commit=string(value, "ref_commit"),
        rule=string(value, "rule"),
        narrow=value.get("decision") == "narrow",
        scope_hint=items(value, "scope_hint", str),
        diagnostics=items(value, "diagnostics", str),
        current_set=items(value, "current_set", str),
        previous_set=items(value, "previous_set", str),
    )


def _read_dispatch(item: Object) -> Dispatch:
    spec = nested(item, "dispatch_spec")
    return Dispatch(
        **{key: string(spec if key in _SPEC else item, key) for key in Dispatch._fields}
    )


# tampered: it also leaves out somebody whom the matrix and config.md name.
Opening = Literal["opened", "adopted", "unproven", "tampered"]
ADOPT = "adopt"
SIGNATURE = "QRSPI-Manifest:"


def opening(
    tree: Tree, path: str, data: bytes, manifest: Manifest, records: Iterable[Record]
) -> Opening:
    """This does not ask who must review; `unproven` does, for a round that nothing proves."""
    adoptions = newest_first(records, told_of(ADOPT))
    adopted = [one.file_hash for one in adoptions if one.event == ADOPT and one.file == path]
    as_it_is = _sha256(data)
    if not adopted and audit_trail.wrote(tree, path, (as_it_is,), lately=True):
        return "opened"  # as nearly every round: what is constant in it need not be rendered
    # Trails and commits of older engines have the hash of the file as it is.
    hashes = (digest(manifest), as_it_is)
    if any(known in hashes for known in adopted):
        return "adopted"
    if audit_trail.wrote(tree, path, hashes):
        return "opened"
    signed = any(tree.signed(f"{SIGNATURE} {sha256}") for sha256 in hashes)
    return "opened" if signed else "unproven"


def unproven(tree: Tree, loop: Loop, config: Config, records: Sequence[Record]) -> Loop:
    """All reviewers that the matrix, config.md and earlier rounds name are expected, whatever the
    manifest says."""
    # Imported here: nearly every round is proven.
    from qrspi.core.findings import guard
    from qrspi.core.rounds import convergence

    assert loop.manifest is not None
    due = guard.due(tree, loop.subject, config, loop.manifest)
    base = convergence.base_of(loop.subject, records)
    chosen = convergence.choose_reviewers(tree, loop.subject, config, due, loop.round, base)
    tags = chosen.tags
    less = not set(tags) <= set(loop.manifest.expected_tags)
    return loop._replace(
        opening="tampered" if less else "unproven",
        manifest=loop.manifest._replace(expected_tags=tags),
    )


def doubt(loop: Loop) -> str:
    if loop.opening == "tampered":
        return f"{loop.paths.manifest} is not as qrspi wrote it, and leaves reviewers out"
    return f"{loop.paths.manifest} is on no record of qrspi, so nobody knows who was sent"


def signature(tree: Tree, paths: RoundPaths) -> tuple[str, ...]:
    data = tree.read(paths.manifest)
    return () if isinstance(data, Fault) else (f"{SIGNATURE} {_sha256(data)}",)


def signed_line(manifest: Manifest) -> str:
    """The same for a round whose agents may still be sent."""
    return f"{SIGNATURE} {digest(manifest)}"


def digest(manifest: Manifest) -> str:
    """The hash of its constant part: what the trail records when a round is opened."""
    return _sha256(render(as_opened(manifest)))


def _sha256(data: bytes) -> str:
    from qrspi.core.digest import sha256  # a run without a round does not need it

    return sha256(data).hexdigest()
