"""The one door to git. `read` never runs a program that a repository's config or attributes name;
`write` is git as the user would have run it, with their hooks, filters, identity and signing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from qrspi.core.errors import Halt, Refusal
from qrspi.core.hints import IO, TYPE_CHECKING
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text.shell_words import quoted
from qrspi.world.git import bare_folders

if TYPE_CHECKING:
    from subprocess import Popen

LONGEST_WORDS = 4000

# A hook may leave a process behind that keeps our pipes open; git itself does not wait for it.
_GRACE_SECONDS = 1.0
_BLOCK = 1024 * 1024

# A folder of the project that looks like a bare repository is just files. git 2.37 and older have
# no option for that, and are told where the repository is instead.
_NO_BARE = ("-c", "safe.bareRepository=explicit")

_INERT = (
    "--no-pager",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.attributesFile=/dev/null"),
    *("-c", "log.showSignature=false"),
)
# A partial clone would fetch what it lacks, with the ssh command or helper its config names.
_QUIET = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}

# Objects must be what their names say. Anybody who can write refs could make git use others (`git
# replace`, grafts): reviewers would see one thing, and a merge would take another. The file of
# grafts is missing rather than empty, since git would print advice about an empty one.
_AS_STORED = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": f"{os.devnull}/none"}

# Set while git runs a hook or an alias; they are about that repository, not about ours.
_FOREIGN = """
    GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX GIT_COMMON_DIR GIT_OBJECT_DIRECTORY
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE GIT_SHALLOW_FILE
    GIT_REPLACE_REF_BASE GIT_IMPLICIT_WORK_TREE GIT_QUARANTINE_PATH
    GIT_INTERNAL_SUPER_PREFIX GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS
    GIT_ICASE_PATHSPECS GIT_EXTERNAL_DIFF GIT_DIFF_OPTS GIT_ATTR_SOURCE
""".split()
_CONFIG = ("GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT")


# What git says is read, so it is said in plain English.
_ENGLISH = {"LANGUAGE": "C", "LC_ALL": "C"}


class Output(NamedTuple):
    status: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode("utf-8", "replace")

    @property
    def items(self) -> tuple[str, ...]:
        """Of a list with NULs between them."""
        return tuple(item for item in os.fsdecode(self.out).split("\0") if item)

    @property
    def words(self) -> str:
        lines = (line.strip() for line in (self.err.strip() or self.text).splitlines())
        return "; ".join(line for line in lines if line).replace(":; ", ": ")[:LONGEST_WORDS]


_detached = False


def detach() -> None:
    """^C reaches every process of a terminal; what a command finishes must be protected from it."""
    global _detached
    _detached = True


def read(
    directory: str,
    args: Sequence[str],
    *,
    ok: tuple[int, ...] = (0,),
    config: Sequence[tuple[str, str]] = (),
    given: bytes = b"",
) -> Output:
    env = _QUIET | _config_env(config)
    named = _named(directory, [*_INERT, *args])
    process = _start(directory, named, env, piped=bool(given))
    return _expected(args, _answer(process, given or None), ok)


def search(directory: str, args: Sequence[str], *, ok: tuple[int, ...]) -> Output:
    """Ask git about the repository that it finds by itself, and whose owner it looks at."""
    return _expected(args, _answer(_start(directory, [*_NO_BARE, *_INERT, *args], _QUIET)), ok)


def read_each(directory: str, questions: Sequence[Sequence[str]]) -> list[Output]:
    begun = [_start(directory, _named(directory, [*_INERT, *args]), _QUIET) for args in questions]
    outputs = [_answer(process) for process in begun]
    return [_expected(*pair, (0,)) for pair in zip(questions, outputs, strict=True)]


def _expected(args: Sequence[str], output: Output, ok: tuple[int, ...]) -> Output:
    if output.status not in ok:
        raise failure(args[0], output)
    return output


def write(
    directory: str, args: Sequence[str], *, given: bytes = b"", kept: Sequence[int] = ()
) -> Output:
    """Let git change something; the caller judges the status. `kept` are files that git and what
    it starts hold open, too."""
    from qrspi.world.git import user_git

    # In the user's language, which their hooks inherit.
    env = {name: os.environ.get(name, "") for name in _ENGLISH} | _AS_STORED
    words = _words(directory, _named(directory, args))
    without = [name for name in _FOREIGN if name not in env]
    try:
        begun = user_git.start(
            directory, words, env, without=without, detached=_detached, kept=kept
        )
    except OSError as error:
        raise _cannot_run(error) from None
    return _collect(begun, given)


def pour(directory: str, args: Sequence[str], env: dict[str, str], sink: int) -> Output:
    """With no config but what `env` leads to; the output goes straight to the file `sink`."""
    named = _named(directory, ["--no-pager", *args])
    process = _start(directory, named, _QUIET | env, dropped=_CONFIG)
    with process:
        words = _Drain(process.stderr)
        try:
            _copy(_number(process.stdout), sink)
        except OSError:
            process.kill()
            raise
        status = process.wait()
    return Output(status, b"", words.text())


def version() -> str:
    return read("/", ["version"]).text.strip().removeprefix("git version ")


def failure(verb: str, output: Output) -> Halt:
    if "dubious ownership" in output.err:
        return not_owner(output.err.partition("repository at '")[2].partition("'")[0])
    text = f"git {verb} exited {output.status}: {output.words}"
    return Halt(Problem("git-failed", text, found=output.err[-LONGEST_WORDS:]))


def literal(paths: Sequence[str]) -> list[str]:
    """Not `--literal-pathspecs`, which would reach the user's hooks through the environment."""
    for path in paths:
        check_path(path)
    return exactly(paths)


def exactly(names: Sequence[str]) -> list[str]:
    return [f":(literal){name}" for name in names]


def check_path(path: str) -> None:
    odd = path.startswith(("-", "/")) or "\0" in path or ".." in path.split("/")
    if odd or not path:
        expected = "a path below the directory"
        text = (
            f"path {path!r} is not handed to git: expected {expected}, without '..', that does not "
            "begin with '-' or '/'"
        )
        raise Refusal(Problem("bad-path", text, path, found=path, expected=expected))


def not_owner(place: str) -> Halt:
    way_out = f"git config --global --add safe.directory {quoted(place)}"
    text = (
        f"{place} belongs to another user, and git reads no repository of somebody else: if you "
        f"trust it, run `{way_out}`"
    )
    return Halt(Problem("not-owner", text, place, hint=way_out))


def _start(
    directory: str,
    args: Sequence[str],
    env: Mapping[str, str],
    *,
    piped: bool = False,
    dropped: Sequence[str] = (),
) -> Popen[bytes]:
    from subprocess import DEVNULL, PIPE, Popen

    without = (*_FOREIGN, *dropped)
    inherited = {name: value for name, value in os.environ.items() if name not in without}
    try:
        return Popen(
            _words(directory, args),
            cwd=directory if os.access(directory, os.X_OK) else None,
            env={**inherited, **_ENGLISH, **env, **_AS_STORED},
            stdin=PIPE if piped else DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=_detached,
        )
    except OSError as error:
        raise _cannot_run(error) from None


def _words(directory: str, args: Sequence[str]) -> list[str]:
    """-C, since a process may quietly stay where it is when it may not enter a folder."""
    program = os.environ.get("GIT_PYTHON_GIT_EXECUTABLE", "git")
    return [program, "-C", directory, *args]


def _named(directory: str, args: Sequence[str]) -> list[str]:
    return [*bare_folders.explicit(directory), *_NO_BARE, *args]


def _cannot_run(error: OSError) -> Halt:
    missing = isinstance(error, FileNotFoundError)
    why = "it is not on the PATH" if missing else os.strerror(error.errno or 0)
    text = f"git cannot be run: {why}"
    return Halt(Problem("git-missing", text, hint="install git 2.31 or newer"))


def _config_env(config: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Not `-c`, which cannot name a section with '=' in it."""
    count = os.environ.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdecimal() else 0
    env = {"GIT_CONFIG_COUNT": str(first + len(config))} if config else {}
    for number, (key, value) in enumerate(config, first):
        env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return env


def _answer(process: Popen[bytes], given: bytes | None = None) -> Output:
    """Of a git that runs nothing else: with it the pipes end."""
    with process:
        try:
            out, err = process.communicate(given)
        except OSError as error:
            raise _cannot_run(error) from None
    return Output(process.returncode, out, err.decode("utf-8", "replace"))


def _collect(process: Popen[bytes], given: bytes) -> Output:
    with process:
        out, err = _Drain(process.stdout), _Drain(process.stderr)
        if process.stdin:
            with suppress(BrokenPipeError), process.stdin:  # git may end before it has read all
                process.stdin.write(given)
        status = process.wait()
    return Output(status, out.data(), err.text())


def _copy(source: int, sink: int) -> None:
    import fcntl

    wider = getattr(fcntl, "F_SETPIPE_SZ", None)  # on Linux: fewer turns on a busy machine
    if wider:
        with suppress(OSError):
            fcntl.fcntl(source, wider, _BLOCK)
    block = memoryview(bytearray(_BLOCK))
    while count := os.readv(source, [block]):
        written = 0
        while written < count:
            written += os.write(sink, block[written:count])


def _number(stream: IO[bytes] | None) -> int:
    assert stream is not None
    return stream.fileno()


class _Drain:
    """Reads a pipe to its end beside the process, so that neither waits for the other."""

    def __init__(self, stream: IO[bytes] | None) -> None:
        from threading import Thread

        self._fd = os.dup(_number(stream))  # ours: the stream may be closed while we still read
        self._blocks: list[bytes] = []
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while block := os.read(self._fd, _BLOCK):
            self._blocks.append(block)
        os.close(self._fd)

    def data(self) -> bytes:
        self._thread.join(_GRACE_SECONDS)
        return b"".join(self._blocks)

    def text(self) -> str:
        return self.data().decode("utf-8", "replace")
