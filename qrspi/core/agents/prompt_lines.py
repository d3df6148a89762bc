"""A parameter of a prompt. It stays on its line, whoever wrote its value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from qrspi.core import plain_json
from qrspi.core.hints import Any, TypeVar
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text import untrusted_markers

UNKNOWN_MODEL = "unknown"


def line(name: str, value: str | int) -> str:
    return f"{name}: {_shown(name, str(value))}"


def optional(name: str, value: str | int | None) -> Iterator[str]:
    if value not in (None, ""):
        yield f"{name}: {_shown(name, str(value))}"


def model(actual: str) -> str:
    return line("actual_model", actual or UNKNOWN_MODEL)


def path_line(name: str, path: str) -> str:
    if not path.startswith("/"):
        raise ValueError(f"{name}: a prompt has absolute paths only, got {path!r}")
    return f"{name}: {_on_its_line(path)}"


def optional_path(name: str, path: str) -> Iterator[str]:
    if path:
        yield path_line(name, path)


def paths(name: str, paths: Iterable[str]) -> Iterator[str]:
    listed = [path_line("", path).removeprefix(": ") for path in paths]
    if listed:
        yield f"{name}:"
        yield from listed


def optional_command(name: str, line: str) -> Iterator[str]:
    """A text of the engine's own, or one that the user has allowed."""
    if line:
        yield f"{name}: {_on_its_line(line)}"


PATHS = frozenset(
    """round_subdir artifact_path diff_file_path since_diff_path worktree finding_file_path
    sidecar_path run_dir verified_path dispositions_path task_file_path""".split()
)
OF_THE_MACHINE = frozenset(("code_path",))  # it does not tell the run
LISTS = frozenset(
    """upstream_paths companion_paths feedback_paths existing_paths finding_file_paths
    worktree_paths""".split()
)


def fields(given: NamedTuple, names: str) -> Iterator[str]:
    """Parameters called like fields. Paths that there are none of are left out."""
    for name in names.split():
        value = getattr(given, name)
        if name in LISTS:
            yield from paths(name, value)
        elif name in PATHS or name in OF_THE_MACHINE:
            yield from optional_path(name, value)
        else:
            yield line(name, value)


def _shown(name: str, value: str) -> str:
    """A word or a number, unchanged. Anything longer could be a sentence that somebody wrote."""
    return value if re.fullmatch(_WORD, value) else between_markers(name, value)


_WORD = r"[A-Za-z0-9._:/@+-]{1,64}"


def between_markers(name: str, value: str) -> str:
    return untrusted_markers.wrap_inline(value, name, "UNTRUSTED-VALUE")


def _on_its_line(value: str) -> str:
    """As it is, or as a JSON string when it could leave its line or imitate a marker."""
    if value.isprintable() and not untrusted_markers.has_marker(value):
        return value
    return plain_json.dumps(value).replace("<", "\\u003c")


Given = TypeVar("Given", bound=NamedTuple)


def prepared(no_paths: bool, given: Given) -> Given:
    return without_paths(given) if no_paths else given


def without_paths(given: Given) -> Given:
    """For an agent that must not know the run, or works where no path leads anywhere."""
    changes: dict[str, Any] = {name: "" for name in given._fields if name in PATHS}
    changes |= {name: () for name in given._fields if name in LISTS}
    changes |= {name: "" for name in given._fields if name == "test_command"}
    return given._replace(**changes)
