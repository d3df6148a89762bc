"""Names of commits, the commit that a diff is compared with, and what came after one."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.world.git import command
from qrspi.world.git.repository import Repo, branch

_ORIGIN_HEAD = "refs/remotes/origin/HEAD"
_NAMED = 20  # commits
_COMMIT = re.compile("[0-9a-f]{40,64}")
USUAL_NAMES = ("main", "master", "trunk")
EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


class Ref(NamedTuple):
    name: str  # as chosen
    commit: str | None

    @property
    def object(self) -> str:
        return self.commit or self.name


def resolve(repo: Repo, name: str) -> str | None:
    check(name)
    args = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"]
    return _line(command.read(repo.path, args, ok=(0, 1)).out)


def head(repo: Repo) -> str | None:
    return resolve(repo, "HEAD")


def empty_tree(repo: Repo) -> Ref:
    return Ref(EMPTY_TREES[repo.hash], None)


def base(repo: Repo, configured: str | None) -> Ref:
    """The base branch, or the empty tree when that is the current branch."""
    branches, name = _base(repo, configured)
    return empty_tree(repo) if name == branches.here else _ref(branches, name)


def base_branch(repo: Repo, configured: str | None) -> Ref | None:
    """The base branch, whatever the current branch is; None when it has no commit yet."""
    branches, name = _base(repo, configured)
    return _ref(branches, name) if name in branches.commits else None


def default_branch(repo: Repo) -> str:
    name = _usual(_branches(repo, None))
    return name.removeprefix("refs/heads/").removeprefix("refs/remotes/origin/")


def _base(repo: Repo, configured: str | None) -> tuple[_Branches, str]:
    if configured:
        check(configured, "base_branch")
    branches = _branches(repo, configured)
    if configured:
        return branches, _configured(repo, configured, branches)
    if usual := _usual(branches):
        return branches, usual
    raise _no_base(
        "no base branch to compare with: the remote names none, and there is no "
        f"{', '.join(USUAL_NAMES[:-1])} or {USUAL_NAMES[-1]}"
    )


def _ref(branches: _Branches, name: str) -> Ref:
    short = name.removeprefix("refs/heads/").removeprefix("refs/remotes/")
    return Ref(short, branches.commits[name])


def merge_base(repo: Repo, one: str, other: str) -> str | None:
    check(one)
    check(other)
    return _line(command.read(repo.path, ["merge-base", one, other], ok=(0, 1)).out)


def merge_bases(repo: Repo, one: str, other: str) -> tuple[str, ...]:
    """Several where each side has taken work of the other in."""
    check(one)
    check(other)
    output = command.read(repo.path, ["merge-base", "--all", one, other], ok=(0, 1))
    return tuple(map(os.fsdecode, output.out.split()))


def is_ancestor(repo: Repo, old: str, new: str) -> bool:
    check(old)
    check(new)
    return not command.read(repo.path, ["merge-base", "--is-ancestor", old, new], ok=(0, 1)).status


def lacking(repo: Repo, commits: Sequence[str], tip: str) -> frozenset[str]:
    """Of these commits, those that are not in the history of `tip`, or nowhere."""
    absent = {name for name in commits if resolve(repo, name) is None}
    there = [name for name in commits if name not in absent]
    if not there:
        return frozenset(absent)
    args = ["rev-list", *there, f"^{tip}", "--"]
    new = command.read(repo.path, args).out.decode("ascii", "replace").split()
    return frozenset(absent.union(there).intersection(absent.union(new)))


def has_own_work(repo: Repo, commit: str, others: Sequence[str]) -> bool:
    """Whether it has commits, apart from merges, that none of the others has."""
    for name in (commit, *others):
        check(name)
    but = [f"^{name}" for name in others]
    args = ["rev-list", "--no-merges", "--max-count=1", commit, *but, "--"]
    return bool(command.read(repo.path, args).out.strip())


def came_with(repo: Repo, commit: str) -> str | None:
    """The merge of HEAD's own line that brought a commit in; None for one that was made there."""
    check(commit)
    since = ["HEAD", f"^{commit}", "--"]
    line = command.read(repo.path, ["rev-list", "--first-parent", *since]).out.split()
    heirs = {*command.read(repo.path, ["rev-list", "--ancestry-path", *since]).out.split()}
    heir = next((os.fsdecode(one) for one in reversed(line) if one in heirs), None)
    return None if heir is None or is_ancestor(repo, commit, f"{heir}^1") else heir


def merge_saying(repo: Repo, words: str, tip: str) -> str:
    """The last merge of this line's own with these words in its message; '' for none."""
    check(tip)
    args = ["rev-list", "--first-parent", "--merges", "--max-count=1", "--fixed-strings"]
    return _line(command.read(repo.path, [*args, f"--grep={words}", tip, "--"]).out) or ""


def changes_since(repo: Repo, commit: str, branch: str, without: str) -> tuple[str, ...]:
    """The commits of a branch, or of HEAD, by which the code differs; the files where no commit
    after it tells. Nothing where nobody can tell, since there is no such branch."""
    tip = f"refs/heads/{branch}" if branch else "HEAD"
    if not _COMMIT.fullmatch(commit):
        return ()
    check(tip)
    paths = [":(top)", f":(top,exclude,literal){without}"] if without else []
    options = ("-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=none")
    args = ["diff-tree", *options, f"{commit}^{{tree}}", f"{tip}^{{tree}}", "--", *paths]
    differ = command.read(repo.root, args, ok=(0, 128))
    if differ.status:
        there = resolve(repo, tip)
        return (f"{commit[:12]} is gone",) if there else ()
    return differ.items and (_commits_after(repo, commit, tip, paths) or differ.items)


def _commits_after(repo: Repo, commit: str, tip: str, paths: Sequence[str]) -> tuple[str, ...]:
    options = ("-z", "--format=%h %s", f"--max-count={_NAMED}")
    return command.read(repo.root, ["log", *options, f"{commit}..{tip}", "--", *paths]).items


def check(name: str, field: str = "") -> None:
    """Refuse a name that git could take for an option, before git sees it."""
    if name.startswith("-") or not name.isprintable() or not name.strip():
        where = f"config.md: {field} is" if field else "the ref"
        expected = "the name of a branch or commit"
        text = f"{where} {name!r}: expected {expected}, which never begins with '-'"
        file = "config.md" if field else ""
        raise Refusal(Problem("bad-ref", text, file, field, name, expected))


class _Branches(NamedTuple):
    commits: dict[str, str]  # by full name
    here: str  # full name of the branch that is checked out, born or not; or ''
    default: str  # full name of the remote's HEAD branch, or ''


def _branches(repo: Repo, configured: str | None) -> _Branches:
    """Asked in one process; local branches take precedence over tags."""
    patterns = ["refs/heads", _ORIGIN_HEAD]
    if configured:
        patterns.append(f"refs/remotes/{configured}")
    fields = "%(refname)%00%(objectname)%00%(symref)"
    output = command.read(repo.path, ["for-each-ref", f"--format={fields}", *patterns]).out
    rows = [line.split("\0") for line in os.fsdecode(output).split("\n") if line]
    commits = {name: commit for row in rows for name, commit in _named(*row)}
    default = next((target for name, _, target in rows if name == _ORIGIN_HEAD), "")
    here = branch(repo)
    return _Branches(commits, f"refs/heads/{here}" if here else "", default)


def _named(name: str, commit: str, target: str) -> list[tuple[str, str]]:
    return [(name, commit), (target, commit)] if target else [(name, commit)]


def _configured(repo: Repo, name: str, branches: _Branches) -> str:
    plain = name.removeprefix("refs/heads/")
    for full in (f"refs/heads/{plain}", f"refs/remotes/{plain}"):
        if full in branches.commits or full == branches.here:
            return full
    commit = resolve(repo, name)
    if not commit:
        raise _no_base(f"config.md: base_branch is {name!r}, which names no commit here", name)
    branches.commits[name] = commit
    return name


def _usual(branches: _Branches) -> str:
    local = branches.default.replace("refs/remotes/origin/", "refs/heads/", 1)
    usual = (f"refs/heads/{name}" for name in USUAL_NAMES)
    known = (*branches.commits, branches.here)
    return next((name for name in (local, branches.default, *usual) if name and name in known), "")


def _no_base(what: str, found: str = "") -> Refusal:
    way_out = "set base_branch in config.md to a branch of this repository"
    expected, hint = "a branch of this repository", "git branch --all"
    text = f"{what}; {way_out}"
    return Refusal(
        Problem("no-base-branch", text, "config.md", "base_branch", found, expected, hint)
    )


def _line(out: bytes) -> str | None:
    return out.decode("ascii").strip() or None
