from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from qrspi.core.errors import Halt, Refusal
from qrspi.world.git import command
from tests.project import Project, trap


def in_python(code: str, cwd: Path, **env: str) -> str:
    """What a new interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=cwd,
        env=os.environ | env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_bytes_come_back_as_git_wrote_them(project: Project) -> None:
    project.write("odd.md", b"\xff\r\n\n")
    project.commit()
    said = command.read(str(project.run), ["cat-file", "blob", "HEAD:./odd.md"])
    assert said == command.Output(0, b"\xff\r\n\n", "")


def test_a_status_that_was_not_expected_halts_with_gits_words(project: Project) -> None:
    with pytest.raises(Halt) as stopped:
        command.read(str(project.run), ["cat-file", "blob", "HEAD:./none.md"])
    assert stopped.value.problem.message == (
        "git cat-file exited 128: fatal: path "
        "'docs/qrspi/2026-05-17-user-auth/none.md' does not exist in 'HEAD'"
    )


def test_a_directory_that_cannot_be_entered_is_not_swapped_for_the_current_one(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.root)
    with pytest.raises(Halt, match="cannot change to"):
        command.read(str(tmp_path / "none"), ["rev-parse", "HEAD"])


@pytest.mark.rule("SEC-12")
@pytest.mark.parametrize("call", [command.read, command.write], ids=["read", "write"])
def test_git_itself_is_told_that_bare_folders_are_files(
    call: Callable[..., command.Output], project: Project, tmp_path: Path
) -> None:
    project.git("clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    try:
        words = call(str(tmp_path / "bare"), ["log", "-1"]).words
    except Halt as halt:
        words = halt.problem.message
    assert "safe.bareRepository" in words


@pytest.mark.rule("SEC-07")
@pytest.mark.parametrize("name", ["-o", "--output=x", "/etc/passwd", "../x", "a/../../x", "", "\0"])
def test_a_path_that_git_could_misread_is_refused(name: str) -> None:
    with pytest.raises(Refusal) as refused:
        command.literal(["plan.md", name])
    assert refused.value.problem.message == (
        f"path {name!r} is not handed to git: expected a path below the directory, "
        "without '..', that does not begin with '-' or '/'"
    )


@pytest.mark.rule("RUN-08")
@pytest.mark.parametrize(
    "name", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"]
)
def test_the_repository_of_a_hook_that_called_us_is_not_taken_for_ours(
    name: str, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = project.git("rev-parse", "HEAD")
    monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    said = command.read(str(project.run), ["rev-parse", "HEAD"])
    listed = command.read(str(project.run), ["ls-files"])
    assert (said.out.decode().strip(), listed.out) == (head, b"notes.md\nplan.md\n")


def test_globbing_set_for_others_does_not_clash_with_exact_names(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_LITERAL_PATHSPECS", "1")
    monkeypatch.setenv("GIT_ICASE_PATHSPECS", "1")
    said = command.read(str(project.run), ["ls-files", "--", *command.literal(["plan.md", "*.md"])])
    assert said.out == b"plan.md\n"


@pytest.mark.rule("CMT-05")
def test_config_given_for_one_question_reaches_sections_with_any_name(project: Project) -> None:
    config = [("filter.a=b.clean", "x\ny"), ("filter.c.clean", "")]
    args = ["config", "-z", "--get-regexp", "^filter"]
    said = command.read(str(project.run), args, config=config)
    assert said.out == b"filter.a=b.clean\nx\ny\0filter.c.clean\n\0"


def test_what_the_user_set_in_the_environment_stays(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"COUNT": "1", "KEY_0": "user.name", "VALUE_0": "Bo"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    said = command.read(str(project.run), ["config", "user.name"], config=[("x.y", "z")])
    assert said.out == b"Bo\n"


def test_more_complaints_than_a_pipe_holds_do_not_hang(project: Project) -> None:
    attributes = "".join(f"* !bad/{number:06}\n" for number in range(5000))
    (project.root / ".gitattributes").write_text(attributes)
    said = command.read(str(project.root), ["check-attr", "text", "--", "x"])
    assert len(said.err) > 200_000


def test_input_that_git_does_not_read_is_no_error(project: Project) -> None:
    said = command.write(
        str(project.run), ["rev-parse", "--is-inside-work-tree"], given=b"x" * 10**6
    )
    assert said == command.Output(0, b"true\n", "")


@pytest.mark.rule("CMT-03", "CMT-05")
def test_a_process_that_a_hook_left_behind_is_not_waited_for(project: Project) -> None:
    project.hook("post-commit", f"sleep 60 & echo $! > {project.root}/pid; echo said")
    said = command.write(str(project.run), ["commit", "-q", "--allow-empty", "-m", "x"])
    left = int((project.root / "pid").read_text())
    os.kill(left, 9)
    assert said == command.Output(0, b"", "said\n")


@pytest.mark.rule("CMT-05")
def test_hooks_see_the_users_language_and_plain_pathspecs(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.delenv("LANGUAGE", raising=False)
    project.hook("pre-commit", 'echo "$LC_ALL,$LANGUAGE,$GIT_LITERAL_PATHSPECS,$GIT_PAGER"')
    said = command.write(str(project.run), ["commit", "-q", "--allow-empty", "-m", "x"])
    assert said.err == "C.UTF-8,,,\n"


def test_reading_takes_no_lock_and_leaves_the_index_alone(project: Project) -> None:
    index = project.root / ".git" / "index"
    before = index.read_bytes()
    os.utime(project.run / "plan.md", (1, 1))
    command.read(str(project.run), ["status", "--porcelain"])
    assert index.read_bytes() == before


def lacking_an_object(project: Project) -> None:
    blob = project.git("rev-parse", "HEAD:./plan.md", at=project.run)
    (project.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    project.git("config", "extensions.partialClone", "origin")
    project.git("config", "remote.origin.promisor", "true")
    project.git("config", "remote.origin.url", "ssh://example.org/x")


def signed(project: Project) -> None:
    head = project.git_bytes("cat-file", "commit", "HEAD")
    signature = b"gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    text = head.replace(b"\n\n", b"\n" + signature + b"\n\n", 1)
    (project.root / ".git/text").write_bytes(text)
    made = project.git("hash-object", "-t", "commit", "-w", ".git/text")
    project.git("update-ref", "HEAD", made)
    project.git("config", "log.showSignature", "true")


def nothing(project: Project) -> None:
    pass


@pytest.mark.rule("DIF-04", "CMT-05", "SEC-07")
@pytest.mark.parametrize(
    ("key", "prepare", "args"),
    [
        ("core.fsmonitor", nothing, ["status", "--porcelain"]),
        ("gpg.program", signed, ["log", "-1"]),
        ("core.sshCommand", lacking_an_object, ["cat-file", "blob", "HEAD:./plan.md"]),
    ],
)
def test_a_look_runs_nothing_the_repository_names(
    key: str,
    prepare: Callable[[Project], None],
    args: list[str],
    project: Project,
    marker: Path,
) -> None:
    script = trap(marker.parent / "trap", f"touch {marker}")
    prepare(project)
    project.git("config", key, str(script))
    subprocess.run(["git", *args], cwd=project.run, capture_output=True)
    assert marker.exists(), "plain git runs it"
    marker.unlink()
    command.read(str(project.run), args, ok=(0, 128))
    assert not marker.exists()


def test_hooks_do_not_run_on_a_look(project: Project, marker: Path) -> None:
    project.hook("post-index-change", f"touch {marker}")
    os.utime(project.run / "plan.md", (1, 1))
    project.git("update-index", "--refresh")
    assert marker.exists(), "plain git runs it"
    marker.unlink()
    os.utime(project.run / "plan.md", (2, 2))
    command.read(str(project.run), ["update-index", "--refresh"], ok=(0, 1))
    assert not marker.exists()


@pytest.mark.rule("ENG-05")
def test_a_machine_without_git_says_so(tmp_path: Path) -> None:
    code = """
        from qrspi.core.errors import Halt
        from qrspi.world.git import command
        try:
            command.read("/", ["version"])
        except Halt as stopped:
            print(stopped.problem.message, stopped.problem.hint, sep="|")
    """
    expected = "git cannot be run: it is not on the PATH|install git 2.31 or newer\n"
    assert in_python(code, tmp_path, PATH=str(tmp_path)) == expected


def test_a_current_directory_that_was_deleted_does_not_matter(
    project: Project, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code = f"""
        import os
        os.rmdir({str(gone)!r})
        from qrspi.world.git import command
        print(command.read({str(project.run)!r}, ["ls-files"]).out.decode(), end="")
    """
    assert in_python(code, gone) == "notes.md\nplan.md\n"


@pytest.mark.rule("SPE-03")
@pytest.mark.parametrize("place", ["/", "/proc/sys"])
def test_what_starts_git_is_imported_at_the_first_use(place: str) -> None:
    """At the root of all folders, and where the one above is on another file system."""
    if not Path(place).exists():
        pytest.skip("there is no such file system here")
    code = """
        import sys
        from qrspi.world.git import commits, diffs, repository, worktrees
        repository.in_git(".")
        print(sorted(name for name in ("subprocess", "threading") if name in sys.modules))
    """
    assert in_python(code, Path(place)) == "[]\n"
