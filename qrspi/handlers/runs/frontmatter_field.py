"""One field of one file's frontmatter: read it, or set it and keep every other byte."""

from __future__ import annotations

from qrspi.core.errors import Halt, Misuse, Refusal, accepted
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import BODY_LIMIT, Fault
from qrspi.core.yaml import frontmatter, writer
from qrspi.core.yaml.frontmatter import Front
from qrspi.core.yaml.nodes import Node
from qrspi.world.runs import lone_file
from qrspi.world.runs.lone_file import LoneFile


class Setting(NamedTuple):
    before: bytes
    after: bytes
    run: str | None  # the folder of the run that the file is in

    @property
    def changed(self) -> bool:
        return self.before != self.after


def read(path: str, key: str) -> Node:
    file = lone_file.at(path)
    front = accepted(frontmatter.read(_content(file), file.shown))
    fields = front.fields if front else {}
    if key not in fields:
        raise Refusal(_absent(file.shown, key, front))
    return fields[key]


def _absent(shown: str, key: str, front: Front | None) -> Problem:
    has = ", ".join(front.fields) if front and front.fields else "no field"
    message = f"{shown} has no field {key!r}; it has {has}"
    return Problem("field-missing", message, shown, key, expected=has)


def _content(file: LoneFile) -> bytes:
    content = file.read(BODY_LIMIT)
    if not isinstance(content, Fault):
        return content
    from qrspi.core.validation.file_check import unopened

    problem = unopened(file.shown, content)
    match content.kind:
        case "absent":
            raise Misuse(problem)
        case "unreadable":
            raise Halt(problem)
        case _:
            raise Refusal(problem)


def rehearse(path: str, key: str, value: str) -> Setting:
    return _setting(lone_file.at(path), key, value)


def perform(path: str, key: str, value: str, lock_timeout: float) -> Setting:
    file = lone_file.at(path)
    run = lone_file.run_around(file)
    if run is None:
        setting = _setting(file, key, value)
        if setting.changed:
            lone_file.replace(file, setting.before, setting.after)
        return setting
    from qrspi.handlers.jobs import carry_out
    from qrspi.handlers.jobs.job import Performed
    from qrspi.world.runs.workspace import Workspace

    workspace = Workspace(run)
    with workspace.locked(lock_timeout, "qrspi frontmatter set"):
        setting = _setting(file, key, value)
        if setting.changed:
            inside = file.path.removeprefix(f"{run}/")
            workspace.replace(inside, setting.before, setting.after)
            notes = (f"{key}: {value}",)
            carry_out.record(
                workspace, "cli", Performed("frontmatter-set", "", files=(inside,), notes=notes)
            )
    return setting


def _setting(file: LoneFile, key: str, value: str) -> Setting:
    before = _content(file)
    after = accepted(writer.set_field(before, key, value, file.shown))
    return Setting(before, after, lone_file.run_around(file))
