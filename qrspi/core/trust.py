"""What a repository's files name and this user must allow first: a program, an address with a key,
a folder outside the project, a role text of its own. A hash says exactly which one was allowed."""

from __future__ import annotations

from collections.abc import Iterator

from qrspi.core import plain_json
from qrspi.core.config.problems import FILE
from qrspi.core.digest import sha256
from qrspi.core.errors import Refusal
from qrspi.core.hints import TYPE_CHECKING, Literal
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text import shell_words

if TYPE_CHECKING:
    from qrspi.core.config.reader import Config
    from qrspi.core.config.vendors import Command, Provider

Kind = Literal["shell", "program", "address", "folder", "role"]

ALL = "*"  # the whole environment, as every program gets it


class NamedThing(NamedTuple):
    kind: Kind
    field: str  # of config.md; for a role its file
    words: tuple[str, ...]  # everything that is allowed with it: the program and its arguments, …
    variables: tuple[str, ...] = ()  # the environment variables that it gets

    @property
    def text(self) -> str:
        """What a person reads: the very command, address or path."""
        if self.kind == "program":
            return shell_words.command(*self.words)
        if self.kind == "folder":
            return " with the repository ".join(self.words)
        return self.words[0]

    @property
    def headers(self) -> tuple[str, ...]:
        """Their names: a value may be a key."""
        more = self.words[2:] if self.kind == "address" else ()
        return tuple(header.partition(":")[0] for header in more)

    @property
    def given(self) -> str:
        if self.variables == (ALL,):
            return "it gets all variables of your environment"
        return f"it gets the key in {', '.join(self.variables)}" if self.variables else ""


DEED: dict[Kind, str] = {
    "shell": "runs",
    "program": "runs",
    "address": "sends to",
    "folder": "works in",
    "role": "instructs agents by",
}


def identity(project: str, named: NamedThing) -> str:
    """The project matters, the field does not: `make` is another program in another project."""
    exactly = [project, named.kind, named.words, named.variables]
    return sha256(plain_json.dumps(exactly).encode()).hexdigest()


def shell(field: str, line: str) -> NamedThing:
    return NamedThing("shell", field, (line,), (ALL,))


def program(vendor: str, command: Command) -> NamedThing:
    return NamedThing("program", f"commands.{vendor}", command.argv, (ALL,))


def address(vendor: str, provider: Provider) -> NamedThing:
    headers = (f"{name}: {value}" for name, value in sorted(provider.default_headers.items()))
    words = (provider.base_url, provider.transport_type, *headers)
    return NamedThing("address", f"providers.{vendor}", words, (provider.api_key_env,))


def folder(path: str, repository: str = "") -> NamedThing:
    """Real paths, outside the project; the repository only where it is not in its usual place."""
    return NamedThing("folder", "code_path", (path, repository) if repository else (path,))


def role(file: str, content: bytes) -> NamedThing:
    """`file` is relative to the project."""
    return NamedThing("role", file, (file, sha256(content).hexdigest()))


def in_config(config: Config) -> Iterator[NamedThing]:
    """All but `code_path`, since only the disk knows where that leads."""
    if config.test_command:
        yield shell("gates.test_command", config.test_command)
    if config.gates and config.gates.ci_command:
        yield shell("gates.ci_command", config.gates.ci_command)
    for vendor, command in (config.commands or {}).items():
        if command.argv:
            yield program(vendor, command)
    for vendor, provider in (config.providers or {}).items():
        yield address(vendor, provider)


class ConsentNeeded(Refusal):
    def __init__(self, project: str, run: str, named: tuple[NamedThing, ...]) -> None:
        super().__init__(*(problem(run, one) for one in named))
        self.project = project
        self.run = run
        self.named = named


def problem(run: str, named: NamedThing) -> Problem:
    allow = f"qrspi trust {run}"
    source = named.field if named.kind == "role" else f"{named.field} in {FILE}"
    return Problem(
        "consent-needed",
        f"{source} {_WANTS[named.kind]} that you have not allowed yet: {named.text}; "
        f"`{allow}` shows all that this run names and allows it",
        file=named.field if named.kind == "role" else FILE,
        field="" if named.kind == "role" else named.field,
        found=named.text,
        expected="what you have allowed",
        hint=allow,
    )


_WANTS: dict[Kind, str] = {
    "shell": "runs a command",
    "program": "runs a program",
    "address": "sends prompts and a key to an address",
    "folder": "works in a folder outside the project",
    "role": "instructs agents by a text",
}
