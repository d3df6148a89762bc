"""Where the runs are, and which one is meant."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qrspi.core.errors import Halt, Misuse
from qrspi.core.model import Problem
from qrspi.core.tree import Fault
from qrspi.world.runs import locate, project_root, project_search
from qrspi.world.runs.locate import Root, RunDir
from tests.project import Project
from tests.users import NOBODY

NAMES = (
    "2026-05-17-user-auth",
    "2026-05-18-user-auth-tokens",
    "2026-05-19-page-cache",
    "2026-06-01-page-cache",
    "Legacy_Run",
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    for name in NAMES:
        run = project / "docs" / "qrspi" / name
        run.mkdir(parents=True)
        (run / "config.md").write_text("---\n---\n")
    return project


@pytest.fixture
def root(project: Path) -> Root:
    return project_root.find_root(str(project), None, {})


def runs_of(root: Root) -> tuple[str, ...]:
    runs = locate.list_runs(root)
    assert not isinstance(runs, Fault)
    return tuple(run.name for run in runs)


@pytest.mark.parametrize(
    ("below", "option", "env"),
    [
        ("", None, {}),
        ("src/deep", None, {}),
        ("docs/qrspi", None, {}),
        (f"docs/qrspi/{NAMES[0]}/reviews", None, {}),
        ("..", "project", {}),
        ("..", "project/docs/qrspi/", {}),
        ("..", "project/src/..", {}),
        ("..", None, {"QRSPI_ROOT": "project"}),
        ("..", "project", {"QRSPI_ROOT": "/nowhere"}),
        ("", None, {"QRSPI_ROOT": ""}),
    ],
)
def test_the_root_is_said_or_the_nearest_parent(
    project: Path, below: str, option: str | None, env: dict[str, str]
) -> None:
    (project / "src" / "deep").mkdir(parents=True)
    here = (project / below).resolve()
    found = project_root.find_root(str(here), option, env)
    assert found == Root(str(project), str(project / "docs" / "qrspi"))


def test_the_root_may_be_one_run(project: Path) -> None:
    run = project / "docs" / "qrspi" / NAMES[0]
    root = project_root.find_root("/", str(run), {})
    assert root == Root(str(project), str(run.parent), NAMES[0])
    assert runs_of(root) == (NAMES[0],)
    assert locate.default(root, "/") == RunDir(NAMES[0], str(run))
    assert isinstance(locate.resolve(root, NAMES[1]), Problem)


def test_the_root_may_be_a_folder_of_runs_by_any_name(project: Path, tmp_path: Path) -> None:
    (project / "docs" / "qrspi").rename(tmp_path / "plans")
    root = project_root.find_root("/", str(tmp_path / "plans"), {})
    assert root == Root(str(tmp_path / "plans"), str(tmp_path / "plans"))
    assert runs_of(root) == NAMES


def test_a_runs_folder_may_be_empty(tmp_path: Path) -> None:
    (tmp_path / "docs" / "qrspi").mkdir(parents=True)
    for option in (None, str(tmp_path), str(tmp_path / "docs" / "qrspi")):
        root = project_root.find_root(str(tmp_path), option, {})
        assert (root.project, runs_of(root)) == (str(tmp_path), ())


EXPECTED = "expected a project with docs/qrspi, that folder itself, or one run"


@pytest.mark.parametrize(
    ("cwd", "option", "env", "message"),
    [
        (
            "TMP/shop",
            None,
            {},
            "no docs/qrspi in TMP/shop: go to the project, name it with --root, or start a first "
            'run with `qrspi init "TEXT" --pipeline quick`',
        ),
        ("TMP", "nowhere", {}, f"--root nowhere is not there: {EXPECTED}"),
        ("TMP", "/etc/hostname", {}, f"--root /etc/hostname is not a directory: {EXPECTED}"),
        (
            "TMP",
            ".",
            {},
            f"--root . holds no docs/qrspi and is not a run: {EXPECTED}; "
            '`qrspi --root . init "TEXT" --pipeline quick` starts a first run there',
        ),
        ("TMP", None, {"QRSPI_ROOT": "TMP/x"}, f"QRSPI_ROOT TMP/x is not there: {EXPECTED}"),
        ("TMP", "", {}, "--root names no directory"),
        ("TMP", "a\0b", {}, "--root names no directory"),
        (
            None,
            None,
            {},
            "the current directory no longer exists: change to one that does, or name the project "
            "with --root and its full path",
        ),
        (
            None,
            "project",
            {},
            "the current directory no longer exists: change to one that does, or name the project "
            "with --root and its full path",
        ),
    ],
)
def test_no_root_is_a_usage_error(
    tmp_path: Path, cwd: str | None, option: str | None, env: dict[str, str], message: str
) -> None:
    here = str(tmp_path)
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    said = {key: value.replace("TMP", here) for key, value in env.items()}
    with pytest.raises(Misuse) as refused:
        project_root.find_root(cwd and cwd.replace("TMP", here), option, said)
    assert (str(refused.value), refused.value.exit_code) == (message.replace("TMP", here), 2)


def test_a_deleted_directory_is_no_place_to_stand(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert project_root.current_directory() is None
    assert runs_of(project_root.find_root(None, str(project), {})) == NAMES
    os.chdir(tmp_path)


def test_a_file_named_docs_is_passed_over(project: Path) -> None:
    inner = project / "inner"
    inner.mkdir()
    (inner / "docs").write_text("")
    assert project_root.find_root(str(inner), None, {}).project == str(project)


@pytest.mark.rule("RUN-04", "SEC-01")
def test_a_runs_folder_that_links_out_is_refused(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "docs").mkdir(parents=True)
    runs = project / "docs" / "qrspi"
    (other / "docs" / "qrspi").symlink_to(runs)
    with pytest.raises(Misuse) as refused:
        project_root.find_root(str(other), None, {})
    assert str(refused.value) == (
        f"{other}/docs/qrspi is a link that leads out of the project, to {runs}: "
        f"name that folder itself with --root {runs}"
    )
    assert project_root.find_root("/", str(other / "docs" / "qrspi"), {}).runs_dir == str(runs)


@pytest.mark.rule("RUN-01", "RUN-12")
def test_a_run_holds_config_or_goals(project: Path, root: Root, tmp_path: Path) -> None:
    runs = project / "docs" / "qrspi"
    for name in ("2026-01-01-goals-only", "notes", ".hidden", ".qrspi", "x.tmp", "old~"):
        (runs / name).mkdir()
    (runs / "2026-01-01-goals-only" / "goals.md").write_text("")
    for name in (".hidden", "x.tmp", "old~"):
        (runs / name / "config.md").write_text("")
    (runs / "README.md").write_text("")
    (runs / "linked").symlink_to(runs / NAMES[0])
    assert runs_of(root) == ("2026-01-01-goals-only", *NAMES)
    assert locate.others(root) == (".hidden", "README.md", "linked", "notes", "old~", "x.tmp")


@pytest.mark.rule("RUN-01")
def test_a_run_that_is_closed_to_us_is_not_passed_over(unprivileged: Path) -> None:
    run = unprivileged / "docs" / "qrspi" / NAMES[0]
    run.mkdir(parents=True)
    run.chmod(0)
    root = project_root.find_root(str(unprivileged), None, {})
    assert runs_of(root) == (NAMES[0],)
    run.chmod(0o700)


def test_a_runs_folder_that_is_closed_to_us(unprivileged: Path) -> None:
    runs = unprivileged / "docs" / "qrspi"
    runs.mkdir(parents=True)
    root = project_root.find_root(str(unprivileged), None, {})
    runs.chmod(0)
    assert locate.list_runs(root) == Fault("unreadable", "Permission denied")
    assert locate.default(root, None) == Problem(
        "unreadable", f"cannot list {runs}: Permission denied", file=str(runs)
    )
    runs.parent.chmod(0)
    with pytest.raises(Halt, match=f"^cannot read {runs}: Permission denied$"):
        project_root.find_root(str(unprivileged), None, {})
    runs.parent.chmod(0o700)
    runs.chmod(0o700)


def test_a_runs_folder_that_is_gone(root: Root, project: Path) -> None:
    (project / "docs").rename(project / "moved")
    assert locate.list_runs(root) == locate.others(root) == Fault("absent")
    problem = locate.resolve(root, "user-auth")
    assert isinstance(problem, Problem)
    assert problem.message == f"cannot list {root.runs_dir}: it is not there"
    assert locate.default(root, None) == problem


@pytest.mark.parametrize(
    ("word", "found"),
    [
        (NAMES[0], NAMES[0]),
        ("user-auth", NAMES[0]),
        ("user-auth-", NAMES[1]),
        ("user-auth-tokens", NAMES[1]),
        ("2026-05-17", NAMES[0]),
        ("2026-05-19", NAMES[2]),
        ("2026-06", NAMES[3]),
        ("Leg", NAMES[4]),
        ("Legacy_Run/", NAMES[4]),
        (
            "page-cache",
            f"'page-cache' could be any of 2 runs: {NAMES[2]}, {NAMES[3]}",
        ),
        ("user", f"'user' could be any of 2 runs: {NAMES[0]}, {NAMES[1]}"),
        ("2026-05", f"'2026-05' could be any of 3 runs: {', '.join(NAMES[:3])}"),
        ("USER-AUTH", f"no run 'USER-AUTH' in RUNS: there is {', '.join(NAMES)}"),
        ("auth", f"no run 'auth' in RUNS: there is {', '.join(NAMES)}"),
        ("", f"no run '' in RUNS: there is {', '.join(NAMES)}"),
        ("..", f"no run '..' in RUNS: there is {', '.join(NAMES)}"),
    ],
)
@pytest.mark.rule("RUN-02", "RUN-12")
def test_a_word_names_a_run(root: Root, word: str, found: str) -> None:
    answer = locate.resolve(root, word)
    if isinstance(answer, Problem):
        assert answer.message == found.replace("RUNS", root.runs_dir)
    else:
        assert answer == RunDir(found, f"{root.runs_dir}/{found}")


@pytest.mark.rule("RUN-02")
def test_ambiguity_lists_the_candidates(root: Root) -> None:
    answer = locate.resolve(root, "page")
    assert isinstance(answer, Problem)
    assert (answer.code, answer.options) == ("ambiguous-run", NAMES[2:4])


def test_the_run_we_stand_in_is_meant(root: Root) -> None:
    for below in ("", "/reviews/goals"):
        here = f"{root.runs_dir}/{NAMES[0]}{below}"
        assert locate.default(root, here) == RunDir(NAMES[0], f"{root.runs_dir}/{NAMES[0]}")


def test_several_runs_must_be_told_apart(root: Root) -> None:
    answer = locate.default(root, root.project)
    assert isinstance(answer, Problem)
    assert answer.message == f"5 runs are here: say which: {', '.join(NAMES)}"
    assert answer.options == NAMES


def test_no_run_names_the_command_that_makes_one(tmp_path: Path) -> None:
    (tmp_path / "docs" / "qrspi").mkdir(parents=True)
    root = project_root.find_root(str(tmp_path), None, {})
    answer = locate.default(root, str(tmp_path))
    assert isinstance(answer, Problem)
    start = '`qrspi init "TEXT" --pipeline quick`'
    assert answer.message == f"no run in {root.runs_dir}: start one with {start}"


@pytest.mark.parametrize(
    ("candidates", "answer"),
    [
        (NAMES[:1], NAMES[0]),
        (NAMES[:2], f"2 runs are ready for design: say which: {NAMES[0]}, {NAMES[1]}"),
        ((), "no run in RUNS is ready for design: `qrspi status` says what each needs"),
    ],
)
@pytest.mark.rule("RUN-09")
def test_a_step_without_a_run_takes_the_only_candidate(
    root: Root, candidates: tuple[str, ...], answer: str
) -> None:
    runs = tuple(RunDir(name, f"{root.runs_dir}/{name}") for name in candidates)
    found = locate.one_of(root, runs, "design")
    said = found.message if isinstance(found, Problem) else found.name
    assert said == answer.replace("RUNS", root.runs_dir)


@pytest.mark.parametrize(
    ("here", "made", "project"),
    [
        ("a/b", [], "a/b"),
        ("a/b", ["a/.git"], "a"),
        ("a/b", ["a/docs/qrspi", "a/b/.git"], "a/b"),
        ("a/b", ["a/docs/qrspi"], "a"),
        ("a/b", ["a/b/docs/qrspi", "a/.git"], "a/b"),
    ],
)
def test_a_first_run_goes_to_the_repository(
    tmp_path: Path, here: str, made: list[str], project: str
) -> None:
    for path in (here, *made):
        (tmp_path / path).mkdir(parents=True, exist_ok=True)
    expected = Root(str(tmp_path / project), str(tmp_path / project / "docs" / "qrspi"))
    assert project_root.root_for_init(str(tmp_path / here), None, {}) == expected
    assert project_root.root_for_init(None, str(tmp_path / project), {}) == expected


# What is above


@pytest.mark.rule("SEC-11")
@pytest.mark.parametrize("git", ["shop/.git/", "shop/src/.git/", "shop/.git"])
def test_the_search_ends_at_the_top_of_the_repository(tmp_path: Path, git: str) -> None:
    """Whatever stands above it may be anybody's."""
    (tmp_path / "docs" / "qrspi").mkdir(parents=True)
    (tmp_path / "shop" / "src" / "deep").mkdir(parents=True)
    if git.endswith("/"):
        (tmp_path / git).mkdir()
    else:
        (tmp_path / git).write_text("gitdir: elsewhere\n")
    top = (tmp_path / git).parent
    here = tmp_path / "shop" / "src" / "deep"
    with pytest.raises(Misuse) as refused:
        project_root.find_root(str(here), None, {})
    assert str(refused.value).startswith(f"no docs/qrspi in {here} or a parent up to {top}: ")
    assert project_root.root_for_init(str(here), None, {}).project == str(top)


def given_away(path: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can give a folder to somebody else")
    os.chown(path, NOBODY, NOBODY)


@pytest.mark.rule("SEC-11")
def test_outside_git_the_search_ends_at_a_folder_of_another_user(tmp_path: Path) -> None:
    (tmp_path / "docs" / "qrspi").mkdir(parents=True)
    here = tmp_path / "mine" / "src"
    here.mkdir(parents=True)
    assert project_root.find_root(str(here), None, {}).project == str(tmp_path)
    given_away(tmp_path)
    with pytest.raises(Misuse) as refused:
        project_root.find_root(str(here), None, {})
    assert str(refused.value).startswith(
        f"no docs/qrspi in {here} or a parent up to {tmp_path}/mine: "
    )
    assert project_root.root_for_init(str(here), None, {}).project == str(here)


@pytest.mark.rule("SEC-11")
def test_the_search_ends_at_a_mount(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs" / "qrspi").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    here = tmp_path / "mounted" / "src"
    here.mkdir(parents=True)
    real = os.stat

    def other_disk(path: str, *args: Any, **more: Any) -> os.stat_result:
        found = real(path, *args, **more)
        inside = str(path).startswith(f"{tmp_path}/mounted")
        return os.stat_result((*found[:2], found.st_dev + inside, *found[3:]))

    monkeypatch.setattr(os, "stat", other_disk)
    assert project_search.candidates(str(here)) == (str(here), str(here.parent))
    assert project_search.top(str(here)) is None


@pytest.mark.rule("SEC-11")
@pytest.mark.parametrize("find", [project_root.find_root, project_root.root_for_init])
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("what", ["", "docs/qrspi"])
def test_a_project_of_another_user_is_refused_as_git_refuses_it(
    project: Path, tmp_path: Path, find: Callable[..., Root], named: bool, what: str
) -> None:
    given_away(project / what)
    where = ("/", str(project)) if named else (str(project), None)
    with pytest.raises(Halt) as refused:
        find(*where, {})
    place = project / what
    way_out = f"git config --global --add safe.directory {place}"
    assert str(refused.value) == (
        f"{place} belongs to another user, and git reads no repository of somebody else: if you "
        f"trust it, run `{way_out}`"
    )


@pytest.mark.rule("SEC-11")
@pytest.mark.parametrize(
    ("lines", "allowed"),
    [
        (["PROJECT"], True),
        (["*"], True),
        (["PARENT/*"], True),
        (["PARENT"], False),
        (["PROJECT", ""], False),
        (["", "PROJECT"], True),
        (["PROJECT-too"], False),
        (["PROJECT/"], True),
    ],
)
def test_a_project_of_another_user_is_allowed_as_git_allows_it(
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lines: list[str],
    allowed: bool,
) -> None:
    given_away(project)
    config = tmp_path / "gitconfig"
    entries = (line.replace("PROJECT", str(project)) for line in lines)
    shown = (entry.replace("PARENT", str(project.parent)) for entry in entries)
    config.write_text("[safe]\n" + "".join(f"\tdirectory = {entry}\n" for entry in shown))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    if allowed:
        assert project_root.find_root(str(project), None, {}).project == str(project)
    else:
        with pytest.raises(Halt, match="belongs to another user"):
            project_root.find_root(str(project), None, {})


@pytest.mark.rule("SEC-11")
def test_what_the_project_itself_says_allows_nothing(project: Path) -> None:
    (project / ".git").mkdir()
    (project / ".git" / "config").write_text("[safe]\n\tdirectory = *\n")
    given_away(project)
    with pytest.raises(Halt, match="belongs to another user"):
        project_root.find_root(str(project), None, {})


@pytest.mark.rule("SEC-11")
def test_who_became_root_by_sudo_keeps_what_is_theirs(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_away(project)
    monkeypatch.setenv("SUDO_UID", str(NOBODY))
    assert project_root.find_root(str(project), None, {}).project == str(project)


@pytest.mark.rule("SEC-15")
@pytest.mark.parametrize(
    "name",
    [
        *(
            "a b",
            "$(touch x)",
            "a;b",
            "-rf",
            "_a",
            "'",
            "größer",
            "\x1b]0;x\x07",
            "a\u202eb",
            "a\nb",
        ),
        *("`x`", "~", "*", "a&b", "a|b"),
    ],
)
def test_a_folder_with_an_odd_name_is_no_run(root: Root, name: str) -> None:
    folder = Path(root.runs_dir) / name
    folder.mkdir()
    (folder / "config.md").touch()
    assert runs_of(root) == NAMES
    assert locate.run_named(root, name) is None
    assert isinstance(locate.resolve(root, name), Problem)
    found = locate.runs_and_odd(root)
    assert not isinstance(found, Fault) and found[1] in ((name,), ())
    assert name in locate.others(root)
    assert locate.odd_name(name).isprintable()
    with pytest.raises(Misuse):
        project_root.find_root("/", str(folder), {})


@pytest.mark.parametrize("find", [project_root.find_root, project_root.root_for_init])
def test_a_file_in_place_of_the_runs_folder_is_named(
    tmp_path: Path, find: Callable[..., Root]
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/qrspi").write_bytes(b"")
    with pytest.raises(Misuse) as refused:
        find(str(tmp_path), None, {})
    assert str(refused.value) == (
        f"{tmp_path}/docs/qrspi is there, but is not a directory: expected the folder that runs "
        "are in"
    )


@pytest.mark.rule("RUN-02")
@pytest.mark.parametrize(
    ("word", "said", "options"),
    [
        ("item-7x", "the nearest is ", 5),
        ("zzzzz", "none of the 40 runs has a name like it; `qrspi status --all` lists them", 0),
        ("item", "'item' could be any of 40 runs: ", 40),
    ],
)
def test_many_runs_are_not_listed_in_one_line(
    tmp_path: Path, word: str, said: str, options: int
) -> None:
    for number in range(40):
        folder = tmp_path / f"docs/qrspi/2026-05-17-item-{number}"
        folder.mkdir(parents=True)
        (folder / "goals.md").write_bytes(b"")
    found = locate.resolve(project_root.find_root(str(tmp_path), None, {}), word)
    assert isinstance(found, Problem)
    assert said in found.message
    assert (len(found.message) < 400, len(found.options)) == (True, options)


# linked work trees


RUN_FOLDER = "docs/qrspi/2026-05-17-user-auth"


def repository(root: Path, run: str = RUN_FOLDER) -> Project:
    """A repository with one run, committed."""
    shop = Project(root)
    root.mkdir(parents=True)
    shop.git("init", "-q", "-b", "main", "--template=")
    (root / run).mkdir(parents=True)
    (root / run / "config.md").write_text("---\n---\n")
    shop.commit("start")
    return shop


@pytest.mark.rule("LIV-13")
@pytest.mark.parametrize("tree", [".worktrees/user-auth/task-01", "../beside"])
@pytest.mark.parametrize("below", ["", "docs", RUN_FOLDER])
def test_in_a_linked_work_tree_the_run_is_the_main_ones(
    tmp_path: Path, tree: str, below: str
) -> None:
    shop = repository(tmp_path / "project")
    shop.git("worktree", "add", "-q", tree)
    here = (shop.root / tree / below).resolve()
    root = project_root.find_root(str(here), None, {})
    assert root == Root(str(shop.root), str(shop.root / "docs/qrspi"))
    assert locate.default(root, str(here)) == RunDir(
        "2026-05-17-user-auth", str(shop.root / RUN_FOLDER)
    )


@pytest.mark.rule("LIV-13")
def test_a_work_tree_with_a_run_of_its_own_keeps_it_and_has_tasks_too(tmp_path: Path) -> None:
    shop = repository(tmp_path / "project")
    own = tmp_path / "beside"
    shop.git("worktree", "add", "-q", str(own))
    (own / "docs/qrspi/2026-06-01-page-cache").mkdir()
    assert project_root.find_root(str(own), None, {}).project == str(own)
    shop.git("worktree", "add", "-q", ".worktrees/page-cache/task-01", at=own)
    task = own / ".worktrees/page-cache/task-01"
    assert project_root.find_root(str(task), None, {}).project == str(own)


@pytest.mark.rule("LIV-13")
def test_a_new_run_begins_where_one_stands_but_never_in_a_tasks_work_tree(tmp_path: Path) -> None:
    shop = repository(tmp_path / "project")
    shop.git("worktree", "add", "-q", ".worktrees/user-auth/task-01")
    shop.git("worktree", "add", "-q", "../beside")
    task, beside = shop.root / ".worktrees/user-auth/task-01", tmp_path / "beside"
    assert project_root.root_for_init(str(task), None, {}).project == str(shop.root)
    assert project_root.root_for_init(str(beside), None, {}).project == str(beside)


@pytest.mark.rule("LIV-13")
def test_of_several_runs_the_one_whose_task_it_is(tmp_path: Path) -> None:
    shop = repository(tmp_path / "project")
    (shop.root / "docs/qrspi/2026-06-01-page-cache").mkdir()
    (shop.root / "docs/qrspi/2026-06-01-page-cache/config.md").write_text("---\n---\n")
    shop.git("worktree", "add", "-q", ".worktrees/page-cache/task-01")
    task = str(shop.root / ".worktrees/page-cache/task-01")
    found = locate.default(project_root.find_root(task, None, {}), task)
    assert isinstance(found, RunDir)
    assert found.name == "2026-06-01-page-cache"


@pytest.mark.rule("LIV-13", "SEC-11")
def test_a_git_file_that_its_repository_does_not_know_leads_nowhere(tmp_path: Path) -> None:
    shop = repository(tmp_path / "project")
    shop.git("worktree", "add", "-q", "../beside")
    stray = tmp_path / "stray"
    (stray / "docs/qrspi").mkdir(parents=True)
    (stray / ".git").write_text(f"gitdir: {shop.root}/.git/worktrees/beside\n")
    assert project_root.find_root(str(stray), None, {}).project == str(stray)
