"""What the engine wrote, and what is gone although no command removed it.

Logs of decisions only grow: all that git has of one is still in the run, in its order. A merge may
put the lines of another branch between, and a checkout may end lines otherwise. A last line that a
kill cut off says nothing, and the next command puts it aside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from qrspi.core.digest import sha256
from qrspi.core.filenames import MANIFEST
from qrspi.core.model import Problem, counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import approvals, audit_trail, decision_line
from qrspi.core.records.audit_trail import Line
from qrspi.core.tree import Earlier, Fault, Tree, content, entries, exists

REVIEWS = "reviews/"
# No command writes into a run in which one of these lost a line.
DECISIONS = (approvals.FILE, approvals.CASCADES, approvals.QUALITY)
LOGS = (*DECISIONS, approvals.COMMENTS)
SHOWN = 5
_VERIFIED = "-verified.md"
_NAMED = rb"(?m)^<!-- @@(?:FINDING|SCORE|CLEAN): ([^\s/]+) @@ -->$"
_WROTE = "qrspi wrote it"
_NOBODY = "no command took it away"
_FILES = "the file that was written"
_ANSWERS = "what reviewers wrote"


def written(lines: Iterable[Line]) -> tuple[str, ...]:
    return tuple(_course(lines)[0])


def _course(lines: Iterable[Line]) -> tuple[dict[str, str], dict[str, None]]:
    """What should be there, and what was missing and then written again with another text. In that
    case, something that it is made from was missing too."""
    there: dict[str, str] = {}
    anew: dict[str, None] = {}
    for touched in (one for line in lines for one in line.files):
        was = there.get(touched.path)
        if touched.after and touched.before is None and was not in (None, touched.after):
            anew[touched.path] = None
        if touched.moved_to:
            below = f"{touched.path}/"
            gone = [path for path in there if path == touched.path or path.startswith(below)]
        else:
            gone = [touched.path]
        for path in gone:
            there.pop(path, None)
        if touched.after and touched.path.startswith(REVIEWS):
            there[touched.path] = touched.after
    return there, anew


class Reach(NamedTuple):
    trail: int  # bytes, from its end
    rounds: int  # the newest of each loop


ALL = Reach(audit_trail.LIMIT, 100)  # no real loop has more rounds
LATELY = Reach(audit_trail.NEAR, 3)  # so that `status` costs as much in an old run as in a new one


def from_run(tree: Tree, reach: Reach = ALL) -> tuple[Problem, ...]:
    names = audit_trail.paths(tree, REVIEWS, reach.trail)
    absent = {path for path in names if not exists(tree, path)}
    # Nearly always nothing is gone, and then no line is parsed.
    there = written(audit_trail.lines(tree, reach.trail)) if absent else ()
    files = _verified_files(tree, reach.rounds)
    answers = (gone for file in files for gone in _answers(tree, file))
    gone = [path for path in there if path in absent]
    branch, elsewhere = tree.on_branch(gone) if gone else ("", frozenset())
    few = _few([path for path in gone if path not in elsewhere])
    apart = (_apart(branch, [path for path in gone if path in elsewhere]),) if elsewhere else ()
    return (*_trail(tree, reach), *cut_record(tree, reach), *apart, *few, *answers)


def _apart(branch: str, paths: list[str]) -> Problem:
    """Nothing is lost: another branch is checked out."""
    from qrspi.core.text.shell_words import command

    more = f" and {counted(len(paths) - 1, 'more file')}" if len(paths) > 1 else ""
    verb, switch = "are" if more else "is", command("git", "switch", branch)
    text = f"{paths[0]}{more} {verb} on branch {branch}, which is not checked out: `{switch}`"
    return Problem("vanished", f"{text} goes there", paths[0], "", "", ELSEWHERE, switch)


def cut_record(tree: Tree, reach: Reach = LATELY) -> tuple[Problem, ...]:
    """The trail says how the record of decisions was after each command, and HEAD can be moved to
    where it had less. Lately, only the last command counts: whoever decides again knows of it."""
    log = approvals.FILE
    known = [after for _, after in audit_trail.hashes_of(tree, log, reach.trail) if after]
    wanted = frozenset(known if reach is ALL else known[-1:])
    data = content(tree, log, approvals.LIMIT)
    if not wanted or (len(wanted) == 1 and sha256(data).hexdigest() in wanted):
        return ()
    if not (missed := wanted.difference(_beginnings(data))):
        return ()
    earlier = tree.earlier(log, missed)
    lost = [one for one in earlier if loss(one.data, data)]
    if lost:
        return (_lost_since(lost[0]),)
    unknown = missed.difference(one.digest for one in earlier)
    return (_lost_since(None),) if unknown else ()


def _beginnings(data: bytes) -> Iterator[str]:
    """The hashes of its first lines, of more and more of them."""
    hashed = sha256()
    for line in data.splitlines(keepends=True):
        hashed.update(line)
        yield hashed.hexdigest()


def put_by_hand(tree: Tree) -> tuple[Problem, ...]:
    """Lines of the record of decisions that no command here put there, since a person last decided
    about a step. Git may have brought them from somebody else, so only what needs no person waits
    for one."""
    log, last, odd = approvals.FILE, None, False
    written = audit_trail.hashes_of(tree, log, audit_trail.NEAR)
    follows = all(one[1] == other[0] for one, other in pairwise(written))
    data = content(tree, log, approvals.LIMIT)
    if follows and (not written or sha256(data).hexdigest() == written[-1][1]):
        return ()  # as nearly always; then no line is parsed
    for line in audit_trail.lines(tree, audit_trail.NEAR):
        for touched in (one for one in line.files if one.path == log):
            odd |= last not in (None, touched.before)
            odd &= line.event not in _BY_A_PERSON
            last = touched.after
    if not (odd or (last and _has_more(data, last))):
        return ()
    text = f"{log} has lines that no command here put there: read them with `git log -p -- {log}`"
    return (Problem("foreign-line", text, log, expected="lines of qrspi"),)


_BY_A_PERSON = (*approvals.OBJECTIONS, "approve")


_ENGINES = f'"surface": "{approvals.CASCADE}"'.encode()


def _has_more(data: bytes, last: str) -> bool:
    """A step that approves itself may have been killed before it was on the trail."""
    hashed, rest = sha256(), data
    for line in data.splitlines(keepends=True):
        hashed.update(line)
        rest = rest[len(line) :]
        if hashed.hexdigest() == last:
            return any(_ENGINES not in one for one in whole_lines(rest))
    return False


ELSEWHERE = "the lines of another branch"


def _lost_since(earlier: Earlier | None) -> Problem:
    log = approvals.FILE
    if earlier and earlier.branch:
        text = f"{log} lacks lines that it has on {earlier.branch}: what was decided there"
        return Problem("vanished", f"{text} does not count here", log, expected=ELSEWHERE)
    text = f"{log} lacks lines that it had after the last command, and no command took them away"
    if earlier:
        text += f": commit {earlier.commit[:12]} has them"
    return Problem("vanished", text, log, found="fewer lines", expected=_FILES)


def _few(gone: list[str]) -> tuple[Problem, ...]:
    if len(gone) <= SHOWN:
        return tuple(map(_gone, gone))
    text = f"{gone[0]} and {len(gone) - 1} more files are gone: {_WROTE}, and {_NOBODY}"
    return (Problem("vanished", text, gone[0], found="absent", expected=_FILES),)


def from_round(tree: Tree, folder: str) -> tuple[Problem, ...]:
    """The same for one round, by reading only the lines since it was opened."""
    verified = f"{folder}{_VERIFIED}"
    gone, anew = _by_trail(tree, folder, verified)
    text = f"{verified} was gone, and what it is made from now is not what it was made from then"
    again = (Problem("vanished", text, verified, expected=_ANSWERS),) if anew else ()
    return (*map(_gone, gone), *_answers(tree, verified), *again)


def _by_trail(tree: Tree, folder: str, verified: str) -> tuple[list[str], bool]:
    """What is gone from a round, and whether its verified file was missing and then made anew."""
    names = {entry.name for entry in entries(tree, folder)}
    trail = audit_trail.since(tree, f"{folder}/{MANIFEST}")
    named = audit_trail.named(trail, f"{folder}/")
    # Nearly always neither is so, and then no line is parsed, however often the round was made.
    if all(_name(path) in names for path in named) and not audit_trail.may_come_anew(
        trail, verified
    ):
        return [], False
    there, anew = _course(audit_trail.about(trail, folder))
    ours = (path for path in there if path.startswith(f"{folder}/"))
    return [path for path in ours if _name(path) not in names], verified in anew


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def in_the_way(gone: tuple[Problem, ...], folder: str) -> Problem | None:
    """What keeps an open round from going on, since it would be counted without the lost files.
    What the engine derives may be gone: it is derived again."""
    answers = [problem for problem in gone if problem.expected == _ANSWERS]
    if not answers:
        return None
    way = f"bring it back, or remove {folder} and what is beside it, and it is reviewed anew"
    return answers[0]._replace(message=f"{answers[0].message}: {way}")


def _reviewed(tree: Tree) -> list[str]:
    folders = [f"reviews/{entry.name}" for entry in entries(tree, "reviews") if entry.kind == "dir"]
    if "reviews/tasks" in folders:
        tasks = entries(tree, "reviews/tasks")
        folders += [f"reviews/tasks/{one.name}" for one in tasks if one.kind == "dir"]
    return folders


def _verified_files(tree: Tree, most: int) -> Iterator[str]:
    for folder in _reviewed(tree):
        names = [entry.name for entry in entries(tree, folder) if entry.name.endswith(_VERIFIED)]
        yield from (f"{folder}/{name}" for name in names[-most:])


def _answers(tree: Tree, verified: str) -> tuple[Problem, ...]:
    """Answers that it was made from and that are gone. One that was sent back is only renamed."""
    data = tree.read(verified)
    if isinstance(data, Fault):
        return ()
    import re  # half a bare interpreter, and in most runs there is nothing to look through

    folder = verified.removesuffix(_VERIFIED)
    names = [entry.name for entry in entries(tree, folder)]

    stems = (found.decode(errors="replace") for found in re.findall(_NAMED, data))
    gone = [f"{stem}.yml" if stem.endswith(".score") else f"{stem}.md" for stem in stems]
    return tuple(
        _gone(f"{folder}/{name}", f"{verified} was made from it", _ANSWERS)
        for name in gone
        if not any(one == name or one.startswith(f"{name}.rejected-") for one in names)
    )


def _trail(tree: Tree, reach: Reach) -> tuple[Problem, ...]:
    """A clone has no folder of the engine. A run with that folder and without a trail has lost the
    trail, unless the engine never opened a round here."""
    names = {entry.name for entry in entries(tree, ".qrspi")}
    end = tree.tail(audit_trail.FILE, reach.trail) if "audit.jsonl" in names else b""
    if (isinstance(end, bytes) and end) or not (names - {".gitignore", "lock", "agents"}):
        return ()
    if not any(_has_manifest(tree, folder) for folder in _reviewed(tree)):
        return ()
    text = f"{audit_trail.FILE} is gone: nothing tells any more what qrspi did in this run"
    if isinstance(end, Fault):
        text += f", as what is there cannot be read ({end.reason})"
    return (Problem("vanished", text, audit_trail.FILE, found="absent", expected="the trail"),)


def _has_manifest(tree: Tree, folder: str) -> bool:
    rounds = (entry.name for entry in entries(tree, folder) if entry.kind == "dir")
    return any(exists(tree, f"{folder}/{name}/{MANIFEST}") for name in rounds)


def _gone(path: str, why: str = _WROTE, expected: str = _FILES) -> Problem:
    text = f"{path} is gone: {why}, and {_NOBODY}"
    return Problem("vanished", text, path, found="absent", expected=expected)


class Loss(NamedTuple):
    gone: int
    had: int

    @property
    def words(self) -> str:
        verb = "is" if self.gone == 1 else "are"
        return f"{self.gone} of the {self.had} lines that git has {verb} gone or changed"


def loss(before: bytes, now: bytes) -> Loss | None:
    if now.startswith(before):
        return None
    had, present = whole_lines(before), iter(whole_lines(now))
    if all(line in present for line in had):
        return None
    there = frozenset(whole_lines(now))
    gone = sum(line not in there for line in had)
    return Loss(gone or 1, len(had))  # all are there, in another order: one at least was moved


def whole_lines(data: bytes) -> list[bytes]:
    lines = data.replace(b"\r\n", b"\n").split(b"\n")
    if decision_line.is_torn(lines[-1]):
        lines.pop()
    return [line for line in lines if line]


def from_git(tree: Tree, path: str, before: bytes) -> Problem | None:
    """Of a log that git has like this. One that cannot be read is another problem."""
    now = tree.read(path, approvals.LIMIT)
    if isinstance(now, Fault):
        return approvals.lost(tree.place, path) if now.kind == "absent" and before else None
    lost = loss(before, now)
    return _cut(tree, path, lost) if lost else None


def with_remedy(tree: Tree, problem: Problem) -> Problem:
    """Of a log that cannot be read: git brings it back, unless something would be lost by it. Then
    a person corrects it."""
    before, now = tree.committed(problem.file), tree.read(problem.file, approvals.LIMIT)
    if before is None or isinstance(approvals.read(before), Problem):
        return problem._replace(hint=f"qrspi status {tree.name}")
    restore = approvals.restoring(tree.place, problem.file)
    if isinstance(now, Fault) and now.detail != "symlink":
        text = f"{problem.message}: move it away, and `{restore}` brings back what git has"
        return problem._replace(message=text, hint=f"qrspi status {tree.name}")
    if isinstance(now, bytes) and _has_records_besides(now, before):
        from qrspi.core.text.shell_words import command

        show = command("git", "-C", tree.place, "diff", "HEAD", "--", problem.file)
        text = f"{problem.message}; `{show}` shows the lines that git does not have, to be kept"
        return problem._replace(message=text, hint=show)
    return problem._replace(message=f"{problem.message} with `{restore}`", hint=restore)


def _has_records_besides(now: bytes, before: bytes) -> bool:
    had = frozenset(whole_lines(before))
    return any(
        not isinstance(approvals.read(line), Problem)
        for line in whole_lines(now)
        if line not in had
    )


def _cut(tree: Tree, path: str, lost: Loss) -> Problem:
    restore = approvals.restoring(tree.place, path)
    text = f"{path}: {lost.words}, and nothing leaves this record: restore it with `{restore}`"
    expected = "every line that git has"
    return Problem("record-cut", text, path, "", lost.words, expected, restore)
