"""Which repository a directory is in, and what is going on there. `status` cannot wait for git,
which is asked only about what the files do not show plainly."""

from __future__ import annotations

import os
import re
import stat

from qrspi.core import trust
from qrspi.core.errors import Halt, Refusal
from qrspi.core.filenames import RUNS
from qrspi.core.hints import Literal
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text.shell_words import git, quoted
from qrspi.core.trust import NamedThing
from qrspi.world.consent import permits
from qrspi.world.git import bare_folders, command

_NOT_PLAIN = re.compile(rb"(?im)worktree|sha256|\[\s*include|\bbare\b(?!\s*=\s*false\s*$)")
_ID = re.compile(rb"[0-9a-f]{40,64}\n?")
_STEERING = ("GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")
_CONFIG_LIMIT = 1024 * 1024
_RUNS = f"/{RUNS}/"

_UNDER_WAY = (
    ("rebase-merge", "rebase"),
    ("rebase-apply/applying", "am"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("sequencer", "cherry-pick or revert"),
    ("BISECT_LOG", "bisect"),
)


class Repo(NamedTuple):
    """A work tree, and the directory in it that paths are relative to."""

    path: str
    root: str
    git_dir: str  # this work tree's own
    common_dir: str  # shared by all work trees
    hash: Literal["sha1", "sha256"] = "sha1"

    def from_root(self, path: str) -> str:
        return os.path.relpath(os.path.join(self.path, path), self.root)


def find(path: str) -> Repo | None:
    start = os.path.realpath(path)
    seen = _look(start)
    repo = _ask(start) if seen == "unsure" else seen
    if repo:
        _refuse_planted(repo)
    return repo


def in_git(path: str) -> bool:
    return find(path) is not None


def under_way(repo: Repo) -> str | None:
    actions = (what for name, what in _UNDER_WAY if os.path.lexists(f"{repo.git_dir}/{name}"))
    return next(actions, None)


def branch(repo: Repo) -> str | None:
    head = _content(f"{repo.git_dir}/HEAD") or b""
    if head.startswith(b"ref: refs/heads/") and not head.startswith(b"ref: refs/heads/.invalid"):
        return os.fsdecode(head.removeprefix(b"ref: refs/heads/").rstrip(b"\r\n"))
    output = command.read(repo.path, ["symbolic-ref", "--quiet", "HEAD"], ok=(0, 1)).out
    return os.fsdecode(output).strip().removeprefix("refs/heads/") or None


def commit_by_files(repo: Repo) -> str:
    """The commit at HEAD, as far as two small files tell; '' where only git can."""
    head = _content(f"{repo.git_dir}/HEAD") or b""
    if head.startswith(b"ref: refs/heads/"):
        branch = os.fsdecode(head.removeprefix(b"ref: ").rstrip(b"\r\n"))
        head = _content(f"{repo.common_dir}/{branch}") or b""
    return head.decode("ascii").rstrip() if _ID.fullmatch(head) else ""


def identity(repo: Repo, role: Literal["AUTHOR", "COMMITTER"] = "AUTHOR") -> str | None:
    """`Name <email>` as git would sign a commit; None when git does not know."""
    output = command.read(repo.path, ["var", f"GIT_{role}_IDENT"], ok=(0, 128))
    ident = output.text.strip()
    return ident[: ident.rindex(">") + 1] if output.status == 0 and ">" in ident else None


def setting_is_off(repo: Repo, key: str) -> bool:
    config = _content(f"{repo.common_dir}/config") or b""
    return re.search(rb"(?im)^\s*%b\s*=\s*(false|no|off|0)\s*$" % key.encode(), config) is not None


def _look(start: str) -> Repo | Literal["unsure"] | None:
    """What git's own search would find, or "unsure" where only git can tell."""
    if any(name in os.environ for name in _STEERING):
        return "unsure"
    at, device = start, _device(start)
    while device is not None and (here := _device(at)) is not None:
        if here != device:
            return None  # git's search ends where another file system begins
        if os.path.lexists(f"{at}/.git"):
            return _plain_repo(start, at)
        if at == "/":
            return None
        at = os.path.dirname(at)
    return "unsure"


def _plain_repo(start: str, root: str) -> Repo | Literal["unsure"] | None:
    git_dir = git_dir_of(root)
    if git_dir is None:
        return "unsure"
    if _is_in(start, git_dir):
        return None
    common = _content(f"{git_dir}/commondir")
    shared = git_dir
    if common is not None:
        shared = os.path.realpath(os.path.join(git_dir, os.fsdecode(common).strip()))
    whole = os.path.lexists(f"{git_dir}/HEAD") and os.path.isdir(f"{shared}/refs")
    config = _content(f"{shared}/config")
    if not whole or config is None or _NOT_PLAIN.search(config):
        return "unsure"
    owners = {os.lstat(place).st_uid for place in (root, f"{root}/.git", git_dir)}
    return Repo(start, root, git_dir, shared) if owners == {os.geteuid()} else "unsure"


def git_dir_of(root: str) -> str | None:
    place = f"{root}/.git"
    if os.path.isdir(place):
        return os.path.realpath(place)
    link = _content(place) or b""
    if not link.startswith(b"gitdir: "):
        return None
    target = os.fsdecode(link.removeprefix(b"gitdir: ").rstrip(b"\r\n"))
    return os.path.realpath(os.path.join(root, target))


def _ask(start: str) -> Repo | None:
    questions = "is-inside-work-tree absolute-git-dir git-common-dir show-object-format"
    args = ["rev-parse", *(f"--{word}" for word in questions.split()), "--show-toplevel"]
    place = bare_folders.above(start).start
    output = command.search(place, args, ok=(0, 128))
    answers = os.fsdecode(output.out).removesuffix("\n").split("\n")
    if answers[:1] == ["false"] or "not a git repository (or any" in output.err:
        return None
    if output.status or len(answers) != 5:
        raise command.failure("rev-parse", output)
    _, git_dir, common, name, root = answers
    if _is_in(start, git_dir):
        return None
    if not os.path.lexists(f"{root}/.git"):
        raise _leads_out(git_dir, root)
    shared = os.path.realpath(os.path.join(place, common))
    return Repo(start, root, git_dir, shared, "sha256" if name == "sha256" else "sha1")


def _leads_out(git_dir: str, root: str) -> Halt:
    """`core.worktree`: branches would be checked out where nobody expects them."""
    expected = "the folder that .git is in"
    text = f"{git_dir}/config: core.worktree leads to {root}; expected {expected}"
    hint = f"git config --file {quoted(f'{git_dir}/config')} --unset core.worktree"
    return Halt(Problem("root-leads-out", text, git_dir, "core.worktree", root, expected, hint))


def _refuse_planted(repo: Repo) -> None:
    """Agents write into runs. With a `.git` there, one would choose what is committed where, and
    have its hooks run. The folders above a run may be a submodule, which git itself has made."""
    project, separator, run = f"{repo.path}/".rpartition(_RUNS)
    if not separator or not repo.root.startswith(f"{project}/"):
        return
    is_run = run and repo.root.startswith(f"{project}{_RUNS}")
    around = find(project)
    if is_run or (around and not belongs_to(repo, around)):
        raise _planted(repo.root)


def _planted(root: str) -> Halt:
    place = f"{root}/.git"
    way_out = f"mv {quoted(place)} {quoted(f'{place}.old')}"
    text = (
        f"{place} makes a part of the project a repository of its own, where an agent may have put "
        f"it: nothing is read there or committed; move it away with `{way_out}`"
    )
    expected = "a folder of the project's repository, or a submodule"
    return Halt(Problem("nested-repository", text, place, "", "a repository", expected, way_out))


def belongs_to(repo: Repo, other: Repo | None) -> bool:
    if other is None:
        return False
    modules = f"{other.common_dir}/modules"
    return repo.common_dir == other.common_dir or _is_in(repo.common_dir, modules)


def _is_in(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder}/")


def _device(path: str) -> int | None:
    try:
        return os.stat(path).st_dev
    except OSError:
        return None


def _content(path: str) -> bytes | None:
    """None for both absent and unreadable: git is asked about both."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = os.fstat(fd)
        regular = stat.S_ISREG(found.st_mode)
        return os.read(fd, min(found.st_size, _CONFIG_LIMIT)) if regular else None
    finally:
        os.close(fd)


def refuse_if_under_way(repo: Repo, verb: str) -> None:
    if what := under_way(repo):
        text = f"a {what} is under way in {repo.root}: finish or abort it, then {verb} again"
        hint = git(repo.root, "status")
        raise Halt(Problem("git-under-way", text, repo.root, found=what, hint=hint))
    refuse_if_locked(repo)


def refuse_if_detached(repo: Repo, verb: str) -> None:
    """A commit on no branch is lost with the next switch."""
    if branch(repo) is None:
        way_out = git(repo.root, "switch", "-c", "NAME")
        text = (
            f"HEAD of {repo.root} is on no branch, where a commit is soon lost: go to one, or make "
            f"one with `{way_out}`, then {verb} again"
        )
        found = "a detached HEAD"
        raise Refusal(Problem("detached-head", text, repo.root, "", found, "a branch", way_out))


def refuse_if_locked(repo: Repo) -> None:
    lock = f"{repo.git_dir}/index.lock"
    if os.path.lexists(lock):
        text = (
            f"{lock} exists: another git is at work in this repository, or one was killed; when "
            "none is running, remove that file and run the same command again"
        )
        raise Halt(Problem("index-locked", text, lock, hint=f"rm {quoted(lock)}"))


def absolute(project: str, place: str) -> str:
    """Where `code_path` in config.md leads."""
    return place if place.startswith("/") else f"{project}/{place}"


def outside_of(project: str, place: str) -> NamedThing | None:
    """What `code_path` needs. A `.git` can lead to any other repository, and so can one in a folder
    that was allowed when it had another."""
    repo = find(absolute(project, place))
    if outside := permits.folder_outside(project, place):
        if repo is None or repo.common_dir == f"{repo.root}/.git":
            return outside
        return trust.folder(outside.text, repo.common_dir)
    if repo is None or belongs_to(repo, find(project)):
        return None
    return trust.folder(repo.common_dir)


def is_allowed(project: str, place: str) -> bool:
    outside = outside_of(project, place)
    return outside is None or not permits.lacking(project, (outside,))


def runs_in(repo: Repo, runs: str) -> str:
    """The folder of all runs, from the root; '' when it lies elsewhere."""
    inside = os.path.relpath(os.path.realpath(runs), repo.root)
    return "" if inside.startswith("..") or inside == "." else inside
