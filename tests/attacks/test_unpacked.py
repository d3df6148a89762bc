"""To have a program run by looking at a repository that was unpacked, with a .git of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests import scenes
from tests.attacks.arena import LOOKS, Arena
from tests.attacks.test_merges import with_one_of_two_done
from tests.attacks.trial import attack
from tests.handlers.workshop import Workshop
from tests.project import Project

pytestmark = pytest.mark.rule("SEC-09", "SEC-12")

PROGRAMS = """core.fsmonitor core.sshCommand core.editor core.pager core.askPass core.gitProxy
    sequence.editor pager.diff pager.status pager.log diff.external gpg.program gpg.ssh.program
    credential.helper interactive.diffFilter difftool.x.cmd mergetool.x.cmd merge.x.driver
    alias.status alias.rev-parse alias.ls-files alias.diff uploadpack.packObjectsHook
    diff.x.command diff.x.textconv filter.x.clean filter.x.smudge filter.x.process
    trailer.x.command trailer.x.cmd""".split()
HOOKS = """pre-commit post-commit commit-msg prepare-commit-msg post-checkout post-merge
    post-index-change reference-transaction fsmonitor-watchman pre-auto-gc post-rewrite
    update pre-merge-commit""".split()
SWITCHES = {"commit.gpgSign": "true", "log.showSignature": "true", "diff.tool": "x"}


def settings(arena: Arena, project: Project) -> None:
    """All that can name a program, and the attributes that lead to it."""
    for key in PROGRAMS:
        project.git("config", key, f"{arena.touch};:")
    for key, value in SWITCHES.items():
        project.git("config", key, value)
    info = project.root / ".git/info/attributes"
    info.parent.mkdir(exist_ok=True)
    info.write_text("* filter=x diff=x merge=x\n")


def hooks(arena: Arena, project: Project) -> None:
    for name in HOOKS:
        project.hook(name, arena.touch)


def other_hooks(arena: Arena, project: Project) -> None:
    hooks(arena, project)
    (project.root / ".git/hooks").rename(project.root / "hooks")
    project.git("config", "core.hooksPath", "hooks")


def included(arena: Arena, project: Project) -> None:
    settings(arena, project)
    own = project.root / ".git/config"
    (project.root / "more").write_text(own.read_text())
    own.write_text(f'[includeIf "gitdir:**"]\n\tpath = {project.root}/more\n')


def of_the_work_tree(arena: Arena, project: Project) -> None:
    settings(arena, project)
    own = project.root / ".git/config"
    (project.root / ".git/config.worktree").write_text(own.read_text())
    own.write_text("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n")


def in_parts(arena: Arena, project: Project) -> None:
    """What is missing would be fetched, by a command of the remote."""
    project.git("config", "remote.origin.url", f"ext::sh -c touch% {arena.ran}")
    project.git("config", "remote.origin.promisor", "true")
    project.git("config", "remote.origin.uploadpack", arena.touch)
    project.git("config", "protocol.ext.allow", "always")
    project.git("config", "extensions.partialClone", "origin")
    blobs = project.git("rev-parse", "HEAD:docs/qrspi", "HEAD^{tree}").split()
    for name in blobs:
        (project.root / ".git/objects" / name[:2] / name[2:]).unlink(missing_ok=True)


@attack(
    "a clone",
    "a look runs what the settings of an unpacked .git name",
    {
        "settings": settings,
        "hooks": hooks,
        "hooks elsewhere": other_hooks,
        "included settings": included,
        "settings of the work tree": of_the_work_tree,
        "a partial clone": in_parts,
    },
)
def test_looks(arena: Arena, way: Callable[[Arena, Project], None]) -> None:
    arena.scene(scenes.fixed)
    way(arena, Project(arena.project))
    arena.ran.unlink(missing_ok=True)
    for command in (*LOOKS, "approve goals --unreviewed --dry-run", "dispatch run --dry-run"):
        arena.qrspi(*command.split())
        assert not arena.ran.exists(), command


CODE = ("status", "brief", "doctor", "task list", "prompt", "show", "verify", "next --dry-run")


@attack(
    "a clone",
    "a look at tasks runs what the settings of an unpacked .git name",
    {"settings": settings, "hooks": hooks, "included settings": included, "in parts": in_parts},
)
def test_tasks(arena: Arena, way: Callable[[Arena, Project], None]) -> None:
    """The work trees are looked through for what is not committed."""
    shop = Workshop.brought(arena.project, with_one_of_two_done)
    (shop.tree("task-02") / "b.py").write_text("b = 2\n")
    way(arena, shop)
    arena.ran.unlink(missing_ok=True)
    report = "task report 02 --status done --commit HEAD --dry-run"
    for command in (*CODE, report, "task clean --dry-run"):
        arena.qrspi(*command.split())
        assert not arena.ran.exists(), command
