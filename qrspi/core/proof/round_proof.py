"""One closed round, derived again from its files: what must be there and is not.

A file's own claims are not believed, except what no other file can say: the manifest says who was
expected, and the verified file says whether findings were scored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qrspi.core.config.reader import Config
from qrspi.core.digest import sha256
from qrspi.core.filenames import RoundPaths, pause_file, sidecar_file
from qrspi.core.findings import guard, triage
from qrspi.core.hints import Literal
from qrspi.core.model import Clean, Finding, Round, Sidecar, Triaged, counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject
from qrspi.core.proof.run_history import Commit
from qrspi.core.proof.vanished import Gap
from qrspi.core.records import evidence
from qrspi.core.records.evidence import Evidence, Origins
from qrspi.core.rounds import convergence, verified_file
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds import pause_file as pauses
from qrspi.core.rounds.loop import keeps_scope_set
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.rounds.pause_file import Pause
from qrspi.core.tree import Fault, Tree, exists

State = Literal["proven", "unproven", "gap", "open", "left"]


class RoundProof(NamedTuple):
    """`left`: a person went back, ended the task, or skipped the round, before all had answered."""

    step: str
    round: int
    state: State
    because: str = ""
    gaps: tuple[Gap, ...] = ()
    evidence: Mapping[Evidence, int] = {}


class ProofContext(NamedTuple):
    config: Config
    in_git: bool
    opened: frozenset[str]  # hashes of manifests that were opened, according to the trail
    lines: frozenset[str]  # of the messages of all commits
    commits: Mapping[str, Commit]
    origins: Origins
    left: frozenset[tuple[str, int]]  # rounds that ended because of a recorded decision
    approved: frozenset[str]  # steps
    adopted: frozenset[str]  # manifests that a person accepted


class _Read(NamedTuple):
    paths: RoundPaths
    subject: Subject
    manifest: Manifest
    data: bytes
    files: Round
    triaged: tuple[Triaged, ...]
    verifier: str  # true or false, as the verified file says
    skipped: bool

    @property
    def kept(self) -> int:
        return sum(item.verdict != "drop" for item in self.triaged)

    def gap(self, missing: str, because: str, file: str) -> Gap:
        return Gap(self.subject.key, self.paths.number, missing, because, file)


def check(
    tree: Tree, subject: Subject, number: int, known: ProofContext, *, newest: bool
) -> RoundProof:
    paths = RoundPaths(subject.reviews, number)
    data = tree.read(paths.manifest, manifests.LIMIT)
    manifest = manifests.read(data, paths.manifest)
    if not isinstance(manifest, Manifest) or isinstance(data, Fault):
        why = "nobody knows who was sent"
        gap = Gap(subject.key, number, "manifest", why, paths.manifest)
        return RoundProof(subject.key, number, "gap", why, (gap,))
    read = _read(tree, subject, paths, manifest, data, known.config)
    if newest and _is_open(tree, read, known):
        return RoundProof(
            subject.key, number, "left" if _is_over(subject, number, known) else "open"
        )
    counts = _evidence(read, known.origins)
    if _is_left(tree, read, known):
        return RoundProof(subject.key, number, "left", evidence=counts)
    gaps = tuple(_gaps(tree, read, known))
    unproven = _doubt(read, known)
    state: State = "gap" if gaps else "unproven" if unproven else "proven"
    if state == "proven" and read.skipped and read.files.silent_tags:
        state = "left"
    because = gaps[0].because if gaps else unproven
    return RoundProof(
        step=subject.key, round=number, state=state, because=because, gaps=gaps, evidence=counts
    )


def _read(
    tree: Tree, subject: Subject, paths: RoundPaths, manifest: Manifest, data: bytes, config: Config
) -> _Read:
    round = guard.read_round(tree, subject, paths.number, config, manifest)
    there = tree.read(paths.verified)
    recorded = None if isinstance(there, Fault) else verified_file.recorded_verifier(there)
    verifier = recorded or ("true" if config.verifies else "false")
    skipped = exists(tree, paths.skipped)
    triaged = triage.partition(round, verifier_enabled=verifier == "true", skipped=skipped)
    return _Read(
        paths=paths,
        subject=subject,
        manifest=manifest,
        data=data,
        files=round,
        triaged=triaged,
        verifier=verifier,
        skipped=skipped,
    )


def _is_open(tree: Tree, read: _Read, known: ProofContext) -> bool:
    disposed = exists(tree, read.paths.dispositions)
    if disposed and (not known.in_git or exists(tree, read.paths.anchor)):
        return False
    verified = tree.read(read.paths.verified)
    return isinstance(verified, Fault) or not verified_file.says_clean(verified)


def _is_over(subject: Subject, number: int, known: ProofContext) -> bool:
    """Whether nobody waits for it any more: its step was approved as it was, or its task ended."""
    return subject.step in known.approved or (subject.key, number) in known.left


def _is_left(tree: Tree, read: _Read, known: ProofContext) -> bool:
    """Whether a loop back, or a person who went back or ended the task, left it unfinished."""
    if (read.subject.key, read.paths.number) in known.left:
        return not exists(tree, read.paths.anchor)
    path = pause_file(read.subject.key, read.paths.number)
    pause = pauses.read(tree.read(path), path)
    back = isinstance(pause, Pause) and "loop-back" in pause.decisions.values()
    return back or exists(tree, read.paths.flag)


def _gaps(tree: Tree, read: _Read, known: ProofContext) -> Iterator[Gap]:
    paths = read.paths

    if read.manifest.choice.ref and not exists(tree, paths.diff):
        yield read.gap("diff", "what reviewers looked at is not there", paths.diff)
    for tag in () if read.skipped else read.files.silent_tags:
        yield read.gap(f"output of {tag}", f"{tag} was expected and wrote nothing", paths.directory)
    for problem in read.files.violations:
        yield read.gap("a readable answer", problem.message, problem.file)
    yield from _scores(read)
    yield from _assembled(tree, read, known.config)
    if read.kept:
        yield from _closing(tree, read, known)


def _scores(read: _Read) -> Iterator[Gap]:
    if read.verifier != "true" or read.skipped:
        return
    for stem in read.files.unscored:
        file = f"{read.paths.directory}/{sidecar_file(stem)}"
        why = f"{stem} was never scored, and scores decide what is kept"
        yield read.gap(f"sidecar of {stem}", why, file)


def _assembled(tree: Tree, read: _Read, config: Config) -> Iterator[Gap]:
    paths = read.paths
    verified = tree.read(paths.verified)
    if isinstance(verified, Fault):
        yield read.gap("verified file", "it was never assembled", paths.verified)
    elif verified != verified_file.assemble(read.files, read.triaged, read.verifier):
        why = "it is not what the findings and scores give"
        yield read.gap("verified file", why, paths.verified)
    kept = keeps_scope_set(read.subject, config) and not _was_untagged(tree, read)
    if kept and not exists(tree, paths.scope_set):
        why = "nobody can say what the next round was to look at"
        yield read.gap("scope set", why, paths.scope_set)


def _was_untagged(tree: Tree, read: _Read) -> bool:
    path = RoundPaths(read.paths.reviews, read.paths.number + 1).manifest
    after = manifests.read(tree.read(path, manifests.LIMIT), path)
    rules = (one.choice.rule for one in (read.manifest, after) if isinstance(one, Manifest))
    return "CNV-01" in rules


def _closing(tree: Tree, read: _Read, known: ProofContext) -> Iterator[Gap]:
    paths = read.paths
    if not exists(tree, paths.dispositions):
        why = f"nothing says what became of {counted(read.kept, 'finding')} that the round kept"
        yield read.gap("dispositions", why, paths.dispositions)
    if not known.in_git or known.config.commit == "off":
        return
    anchor = convergence.anchor(tree.head(paths.anchor))
    if anchor is None:
        yield read.gap("anchor", "no commit is named for it", paths.anchor)
    elif anchor not in known.commits:
        why = f"{anchor[:12]} is not a commit of this run's history"
        yield read.gap("anchor", why, paths.anchor)
    elif why := _other_round(tree.name, read, known.commits[anchor]):
        yield read.gap("anchor", why, paths.anchor)


_ROUND = "QRSPI-Round: "


def _other_round(run: str, read: _Read, commit: Commit) -> str:
    """A person's commit that the engine adopted names no round."""
    mine = f"{_ROUND}{run}/{read.subject.key}/{read.paths.number:02d}"
    said = [line for line in commit.lines if line.startswith(_ROUND)]
    if said and mine not in said:
        return f"{commit.sha[:12]} is the commit of another round ({said[0].removeprefix(_ROUND)})"
    signed = [line for line in commit.lines if line.startswith(manifests.SIGNATURE)]
    if signed and not any(f"{manifests.SIGNATURE} {one}" in signed for one in _hashes(read)):
        return f"{commit.sha[:12]} was made for another manifest"
    return ""


def _hashes(read: _Read) -> tuple[str, str]:
    return manifests.digest(read.manifest), sha256(read.data).hexdigest()


def _doubt(read: _Read, known: ProofContext) -> str:
    """Why nothing proves that the engine opened it; '' when something does."""
    hashes = _hashes(read)
    if not known.opened.isdisjoint(hashes) or not known.adopted.isdisjoint(hashes):
        return ""
    if any(f"{manifests.SIGNATURE} {one}" in known.lines for one in hashes):
        return ""
    return "neither the trail nor a commit says that the engine opened it"


def _evidence(read: _Read, origins: Origins) -> dict[Evidence, int]:
    counts: dict[Evidence, int] = {"dispatched": 0, "handed-in": 0, "found": 0}
    round = read.files
    answers: list[Finding | Clean | Sidecar] = [*round.findings, *round.cleans]
    answers += round.sidecars.values()
    for answer in answers:
        path = f"{read.paths.directory}/{answer.file}"
        digest = sha256(answer.data).hexdigest()
        counts[evidence.of_answer(origins, path, digest).evidence] += 1
    return counts
