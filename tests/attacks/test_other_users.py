"""To reach somebody from another account of the same machine."""

from __future__ import annotations

import fcntl
import json
import marshal
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from qrspi.world.consent import allowed_things
from qrspi.world.runs import heartbeat, state_cache
from tests import runs, scenes
from tests.attacks.arena import LOOKS, Arena
from tests.attacks.trial import attack
from tests.hooks.test_hook import SILENT, hook
from tests.users import NOBODY, public

__all__ = ["public"]

TO_COME = "2999-01-01T00:00:00Z"
pytestmark = [
    pytest.mark.rule("SEC-11"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can work as another user"),
]


def as_nobody(script: str, at: Path) -> None:
    """A real process of another account."""
    done = subprocess.run(
        ["sh", "-c", script], cwd=at, user=NOBODY, group=NOBODY, extra_groups=[], env={}
    )
    assert done.returncode == 0


@pytest.fixture
def shared(public: Path, arena: Arena) -> Iterator[Path]:
    """A folder like /tmp, where everybody may make things; the user's own project is in it."""
    public.chmod(0o1777)
    arena.project = public / "mine"
    yield public


def planted(arena: Arena, shared: Path) -> None:
    """What nobody prepares: a run whose tests, agents and settings are theirs."""
    agent = f"{{claude: {{argv: ['sh', '-c', '{arena.touch}']}}}}"
    kept = arena.top / "prepared"
    runs.on_disk(
        kept,
        {"config.md": runs.config(commands=agent, commit="off"), "goals.md": runs.artifact()},
    )
    text = {file.name: file.read_text() for file in (kept / "docs/qrspi" / runs.RUN).iterdir()}
    for name, content in text.items():
        place = f"docs/qrspi/{runs.RUN}"
        quoted = content.replace("'", "'\\''")
        as_nobody(f"mkdir -p {place} && printf %s '{quoted}' > {place}/{name}", shared)
    assert (shared / "docs").stat().st_uid == NOBODY


@attack(
    "another user",
    "a run in a folder above is taken for the user's own",
    {
        "a repository": lambda project: scenes.git(project, "init", "-q"),
        "a plain folder": lambda project: None,
        "a folder deep in a repository": lambda project: (
            scenes.git(project, "init", "-q"),
            (project / "src/deep").mkdir(parents=True),
        ),
        "a work tree": lambda project: (
            project.rmdir(),
            scenes.project(project.parent.parent / "main", "2026-01-01-mine"),
            scenes.git(
                project.parent.parent / "main", "worktree", "add", "-q", "--detach", project
            ),
        ),
    },
)
def test_above(arena: Arena, shared: Path, way: Callable[[Path], object]) -> None:
    planted(arena, shared)
    arena.project.mkdir()
    way(arena.project)
    at = arena.project / "src/deep" if (arena.project / "src").exists() else arena.project
    for words in (("next", "--dispatch"), ("status",), ("trust", "--yes"), ("inbox",)):
        said = arena.qrspi(*words, at=at)
        assert runs.RUN not in said.text, said.text
    theirs = sorted((shared / "docs").rglob("*"))
    arena.qrspi("init", "mine", "--quick", at=at)
    assert sorted((shared / "docs").rglob("*")) == theirs


@attack(
    "another user",
    "a project of theirs is worked in",
    {"all of it": ".", "its repository": ".git", "its top": "", "its runs": "docs/qrspi"},
)
def test_their_project(arena: Arena, shared: Path, way: str) -> None:
    run = arena.scene(scenes.fixed)
    below = (arena.project / way).rglob("*") if way else ()
    for path in (arena.project / way, *below):
        os.chown(path, NOBODY, NOBODY)
    scenes.git(shared, "config", "--file", f"{arena.project}/.git/config", "safe.directory", "*")
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*")}
    codes = {arena.qrspi(*command.split()).code for command in (*LOOKS[:4], "next")}
    changed = {path for path in run.rglob("*") if before.get(path) != path.stat().st_mtime_ns}
    assert (codes, changed) == ({4}, set()) if way != ".git" else changed == set()
    assert arena.qrspi("next").code != 0


@attack(
    "another user",
    "a host's session is told what the runs of theirs wait for",
    {"its top": ".", "its runs": "docs/qrspi"},
    no_more="a session is told by no other folder",
)
def test_a_session(arena: Arena, way: str) -> None:
    arena.scene(scenes.fixed)
    asked = ("session-start", "claude-code", {"cwd": str(arena.project)}, arena.project)
    assert runs.RUN in hook(*asked).out
    os.chown(arena.project / way, NOBODY, NOBODY)
    assert hook(*asked) == SILENT


def _forged(kept: Path) -> bytes:
    """Other states of the same files, under a sum that fits them."""
    head, _, entries = kept.read_bytes().partition(b"\n")
    forged = {
        name: (marshal.loads(marshal.dumps(state).replace(b"goals", b"gaols")), *proof)
        for name, (state, *proof) in marshal.loads(entries).items()
    }
    content = marshal.dumps(forged)
    return state_cache.seal(head.rpartition(b" ")[0].decode(), content) + content


@attack(
    "another user",
    "what is remembered of the user's runs is written by them",
    {
        "a file of theirs": lambda kept: os.chown(kept, NOBODY, NOBODY),
        "a file for everybody": lambda kept: kept.chmod(0o666),
        "a folder of theirs": lambda kept: os.chown(kept.parent, NOBODY, NOBODY),
        "a folder for everybody": lambda kept: kept.parent.chmod(0o777),
        "a link": lambda kept: (
            kept.rename(kept.with_name("theirs")),
            kept.symlink_to(kept.with_name("theirs")),
        ),
    },
)
def test_remembered(
    arena: Arena, way: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(arena.top / "remembered"))
    monkeypatch.setattr(state_cache, "SETTLED", -(10**9))
    run = arena.clone()
    for number in range(60):
        shutil.copytree(run, run.with_name(f"2026-01-01-r{number}"))
    told = arena.qrspi("status", "--json").json
    kept = Path(state_cache.file(str(run.parent)))
    kept.write_bytes(_forged(kept))
    assert arena.qrspi("status", "--json").json != told, "while it is ours"
    way(kept)
    assert arena.qrspi("status", "--json").json == told


@attack(
    "an agent",
    "what is remembered of the runs is forged in the project",
    {
        "where it was once": ".qrspi/cache/states.json",
        "beside it": ".qrspi/states.json",
        "a relative place": "../../remembered/qrspi/{}",
    },
    no_more="the cache is looked for in no other place of a project",
)
def test_forged_states(arena: Arena, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(arena.top / "remembered"))
    monkeypatch.setattr(state_cache, "SETTLED", -(10**9))
    run = arena.clone()
    for number in range(60):
        shutil.copytree(run, run.with_name(f"2026-01-01-r{number}"))
    told = arena.qrspi("status", "--json").json
    kept = Path(state_cache.file(str(run.parent)))
    place = run.parent / way.format(kept.name)
    place.parent.mkdir(parents=True)
    place.write_bytes(_forged(kept))
    kept.unlink()
    if "{}" in way:
        monkeypatch.setenv("XDG_CACHE_HOME", "remembered")
    assert arena.qrspi("status", "--json").json == told
    assert "gaols" not in arena.qrspi("inbox").text


@attack(
    "another user",
    "what the user has allowed and what is remembered is read by them",
    {
        "files for everybody": 0,
        "files for all to read": 0o022,
        "files for a group": 0o007,
        "files for a group to read": 0o027,
    },
)
def test_read(arena: Arena, way: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is what a user's new files are otherwise."""
    before = os.umask(way)
    try:
        private(arena, monkeypatch)
    finally:
        os.umask(before)


def private(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(arena.top / "remembered"))
    monkeypatch.setattr(state_cache, "SETTLED", -(10**9))
    run = arena.clone(gates="{test_command: make}")
    for number in range(60):
        shutil.copytree(run, run.with_name(f"2026-01-01-r{number}"))
    arena.qrspi("status")
    arena.qrspi("trust", runs.RUN, "--yes")
    for place in (Path(allowed_things.folder(os.environ)), Path(state_cache.file("/")).parent):
        assert place.stat().st_mode & 0o077 == 0
        assert {file.stat().st_mode & 0o077 for file in place.iterdir()} == {0}


@attack(
    "another user",
    "a lock or a daemon's sign of life is theirs",
    {
        "a heartbeat": "heartbeat.json",
        "a lock": "lock",
        "a lock of the daemon's": "watch.lock",
        "a lock of those who send": "dispatch-lock",
    },
)
def test_signs(arena: Arena, shared: Path, way: str) -> None:
    run = arena.scene(scenes.fixed)
    own = run / ".qrspi"
    own.mkdir(exist_ok=True)
    sign = {"pid": 1, "time": "2999-01-01T00:00:00Z", "host": "x", "command": arena.touch}
    for place in (own, run.parent / ".qrspi"):
        place.mkdir(exist_ok=True)
        (place / way).write_text(json.dumps(sign))
        os.chown(place / way, NOBODY, NOBODY)
    said = arena.qrspi("status")
    assert "2999" not in said.text
    assert arena.qrspi("next").code == 0


@attack(
    "another user",
    "a lock of somebody else's project is held by who may only read it",
    {"new": None, "of an older version": 0o644, "of a group": 0o664, "open to all": 0o666},
)
def test_held_locks(arena: Arena, shared: Path, way: int | None) -> None:
    run = arena.scene(scenes.fixed)
    lock, shared_lock = run / ".qrspi/lock", run.parent / ".qrspi/watch.lock"
    lock.unlink(missing_ok=True)
    shared_lock.parent.mkdir(exist_ok=True)
    for file in (lock, shared_lock) if way else ():
        file.write_text("free\n")
        file.chmod(way or 0)
    assert arena.qrspi("next").code == 0
    with heartbeat.watching(str(run.parent), "2026-01-01T00:00:00Z"):
        pass
    for file in (lock, shared_lock):
        as_nobody(f"! flock -xn {file} true 2>/dev/null", shared)
        assert file.stat().st_mode & 0o777 == 0o600


@attack(
    "an agent",
    "whoever asks is told of a daemon that nobody started, in words of the agent",
    {
        "a look to come": {"pid": 1, "started": "2026-01-01T00:00:00Z", "beat": TO_COME},
        "a beginning to come": {"pid": 1, "started": TO_COME, "beat": "2026-01-01T00:00:00Z"},
        "a sentence": {"pid": 1, "started": "2026-01-01T00:00:00Z", "beat": "2999, all is well"},
        "escapes": {"pid": 1, "started": "2999\x1b]0;x\x07", "beat": "2026-01-01T00:00:00Z"},
    },
)
def test_a_forged_daemon(arena: Arena, way: dict[str, object]) -> None:
    run = arena.clone()
    own = run.parent / ".qrspi"
    own.mkdir()
    (own / "heartbeat.json").write_text(json.dumps(way))
    with (own / "watch.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = arena.looks(("status", "status --json", "doctor", "inbox"))
    assert "2999" not in said and "\x1b" not in said
