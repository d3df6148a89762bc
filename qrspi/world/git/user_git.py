"""git as the user would have run it, started by GitPython. Only `command` calls it, for changes:
the import takes 120 ms, and it cannot take variables out of the environment."""

from __future__ import annotations

import os
from _thread import allocate_lock  # `threading` costs a cold start
from collections.abc import Mapping, Sequence

from qrspi.core.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from subprocess import Popen
    from types import ModuleType


def start(
    directory: str,
    words: Sequence[str],
    env: Mapping[str, str],
    *,
    without: Sequence[str],
    detached: bool,
    kept: Sequence[int],
) -> Popen[bytes]:
    """Raises OSError when it cannot be started. `without` are variables that git must not see."""
    library = _library()
    from subprocess import PIPE

    # GitPython can add to the environment but not remove from it; `env -u` can.
    unset = [word for name in without if name in os.environ for word in ("-u", name)]
    cleared = ["env", *unset] if unset else []
    try:
        started = library.Git(directory).execute(
            [*cleared, *words],
            istream=PIPE,
            as_process=True,
            shell=False,
            env=dict(env),
            start_new_session=detached,
            pass_fds=tuple(kept),
        )
    except library.GitCommandNotFound as error:
        raise FileNotFoundError from error
    process: Popen[bytes] = started.proc
    started.proc = None  # otherwise its finalizer would end the process when this function returns
    return process


# While GitPython is imported, the environment is changed, and every thread would see that.
_IMPORTING = allocate_lock()


def _library() -> ModuleType:
    import sys

    with _IMPORTING:
        if "git" not in sys.modules:
            _import_quietly()
        import git

    return git


def _import_quietly() -> None:
    """Imported as usual, GitPython runs `git version` twice, and fails where there is no git."""
    wanted = {"GIT_PYTHON_REFRESH": "quiet", "GIT_PYTHON_GIT_EXECUTABLE": os.devnull}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        import git  # noqa: F401
    finally:
        for name, value in before.items():
            del os.environ[name]
            if value is not None:
                os.environ[name] = value
