"""Where role texts come from: the run's own, the project's own, else the package's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache

import qrspi
from qrspi.core.agents import roles
from qrspi.core.agents.roles import Role
from qrspi.core.errors import Halt
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import Fault, entries
from qrspi.world.files.run_tree import DiskTree

if TYPE_CHECKING:
    from qrspi.core.trust import NamedThing

_AGENTS = ".qrspi/agents"
_NOT_THERE = Fault("absent")


def load(name: str, run: str | os.PathLike[str], project: str | os.PathLike[str]) -> Role | Problem:
    """The role of that name, to send an agent with. A text that is not the package's is refused
    until the user has allowed it. A bad file is a Problem, and never skipped."""
    own = _own(name, run, project)
    if own is None:
        return shipped(name)
    if named := own.named(project):
        from qrspi.world.consent import permits

        permits.require(os.path.abspath(project), os.path.basename(os.path.abspath(run)), (named,))
    return own.role


def look_at(
    name: str, run: str | os.PathLike[str], project: str | os.PathLike[str]
) -> Role | Problem:
    """The same, only to show it."""
    own = _own(name, run, project)
    return own.role if own else shipped(name)


def own_texts(run: str, project: str) -> tuple[NamedThing, ...]:
    """The role texts that the run and the project contain."""
    found = (own_text(name, run, project) for name in names(run, project))
    return tuple(named for named in found if named)


def own_text(name: str, run: str, project: str) -> NamedThing | None:
    own = _own(name, run, project)
    return own.named(project) if own else None


class _Own(NamedTuple):
    """A file that replaces a shipped role."""

    file: str
    content: bytes | Fault
    role: Role | Problem

    def named(self, project: str | os.PathLike[str]) -> NamedThing | None:
        if isinstance(self.content, Fault):
            return None
        from qrspi.core import trust

        return trust.role(os.path.relpath(self.file, os.path.abspath(project)), self.content)


def _own(name: str, run: str | os.PathLike[str], project: str | os.PathLike[str]) -> _Own | None:
    for place in dict.fromkeys((os.path.abspath(run), os.path.abspath(project))):
        path = f"{_AGENTS}/{name}.md"
        content = DiskTree(place).read(path, roles.LIMIT) if roles.is_name(name) else _NOT_THERE
        if not (isinstance(content, Fault) and content.kind == "absent"):
            file = f"{place}/{path}"
            return _Own(file, content, _read(content, name, file))
    return None


@cache  # the daemon composes thousands of prompts
def shipped(name: str) -> Role | Problem:
    if not roles.is_name(name):
        return _unknown(name)
    path = f"{name}.md"
    content = DiskTree(_package()).read(path, roles.LIMIT)
    if isinstance(content, Fault) and content.kind == "absent":
        return _unknown(name)
    return _read(content, name, f"{_package()}/{path}")


def source(role: Role) -> str:
    """Its file, frontmatter and all."""
    folder, _, name = role.file.rpartition("/")
    content = DiskTree(folder).read(name, roles.LIMIT)
    if isinstance(content, Fault):
        raise Halt(_unreadable(role.file, content))
    return content.decode()


def shipped_names() -> tuple[str, ...]:
    entries = DiskTree(_package()).entries("")
    if isinstance(entries, Fault):
        raise Halt(_unreadable(_package(), entries))
    names = (entry.name for entry in entries if entry.kind == "file")
    return tuple(name.removesuffix(".md") for name in names if name.endswith(".md"))


def names(run: str, project: str) -> tuple[str, ...]:
    """All roles: the shipped ones, and those that the run or the project adds."""
    found = set(shipped_names())
    for place in (run, project):
        for entry in entries(DiskTree(place), _AGENTS):
            name = entry.name.removesuffix(".md")
            if name != entry.name and roles.is_name(name):
                found.add(name)
    return tuple(sorted(found))


def is_shipped(role: Role) -> bool:
    return role.file.startswith(f"{_package()}/")


class _SharedParts(dict[str, str]):
    """Each is read when it is first asked for: an agent is told six of twenty."""

    def __missing__(self, name: str) -> str:
        path = f"shared/{name}.md"
        content = DiskTree(_package()).read(path)
        if isinstance(content, Fault):
            raise Halt(_unreadable(f"{_package()}/{path}", content))
        return self.setdefault(name, content.decode().strip())


@cache
def shared_parts() -> Mapping[str, str]:
    """The contract's parts by name. They cannot be overridden, since replies are read by them."""
    return _SharedParts()


@cache
def _package() -> str:
    # Not by importlib.resources, which would take a third of a cold `next`.
    return f"{os.path.dirname(os.path.abspath(qrspi.__file__))}/roles"


def _read(content: bytes | Fault, name: str, file: str) -> Role | Problem:
    if isinstance(content, Fault):
        return _unreadable(file, content)
    return roles.parse(content, name, file)


def _unreadable(file: str, fault: Fault) -> Problem:
    return Problem(
        "role-unreadable",
        f"{file} cannot be read: {fault.reason}; expected a readable text file",
        file=file,
        found=fault.reason,
        expected="a readable text file",
    )


def _unknown(name: str) -> Problem:
    expected = f"{_AGENTS}/{name}.md in the run or the project"
    return Problem(
        "role-missing",
        f"no role named {name!r} is shipped; expected {expected}",
        field="role",
        found=name,
        expected=expected,
    )
