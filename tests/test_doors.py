"""Every place in the package that starts a program or speaks to the network, and why it may.

What a repository names passes through one door, `world/consent/permits.py`. A new place fails
here until somebody has looked at it and written down where its words come from.
"""

from __future__ import annotations

import ast
import re

import pytest

from tests.sources import TOGETHER, Module, calls, modules, nodes, written

pytestmark = TOGETHER

# What stands behind each: the user's own words, ours, or a permit.
PROGRAMS = {
    "cli/verbs/ui.py": "the user's browser, with the address of our own page",
    "world/git/command.py": "git, by argument lists of ours",
    "world/git/user_git.py": "what `command` gives it",
    "world/processes/children.py": "a helper of ours; argument lists for `command_line`",
    "world/processes/configured_command.py": "the line of a permit",
    "world/processes/forked_work.py": "nothing: its children are forks, which read and end",
    "world/processes/side_processes.py": "this program itself; what --on-human says",
}
CONNECTIONS = {
    "mcp/run_changes.py": "nothing: it tells its host of changes, in the loop of the server",
    "mcp/server.py": "nothing: the loop that it reads stdin in, for the host that started it",
    "web/server/live.py": "nothing: the loop that its server runs in",
    "web/server/serve.py": "nothing: it listens, on loopback alone",
    "world/agents/chat_completions.py": "the address and key of a permit",
    "world/agents/dispatch_context.py": "the clients that `chat_completions` uses",
    "world/fleet/connection.py": "the broker of the user's own QRSPI_BROKER_URL",
    "world/worker/celery_worker.py": "the same; Celery opens what this module configures",
    "world/worker/serve.py": "nothing: it looks whether Celery is there",
}
# Who hands something to one of those.
USERS = {
    "children.converse": {"world/agents/command_line.py"},
    "command_line.run": {"world/agents/codex_broker.py"},
    "transports.send": {"handlers/agents/obtain_answer.py", "world/worker/job_calls.py"},
    "connection.connect": {
        "handlers/runs/broker_signs.py",
        "world/fleet/connection.py",
        "world/fleet/run_mail.py",
        "world/worker/result_line.py",
    },
    "permits.by_own_file": {"world/worker/job_calls.py"},
    "connections.client": {"world/agents/chat_completions.py"},
    "SideProgram": {"cli/verbs/watch.py", "daemon.py"},
    "configured_command.run": {"handlers/tasks/commands.py"},
}
MAKER = "world/consent/permits.py"

# Both lists are closed: a library that is on neither has to be looked at first.
_REACHES_OUT = frozenset(
    """aiohttp amqp anyio asyncio celery ftplib http.client http.server httpx imaplib kombu
    logging.handlers mcp.client poplib requests smtplib socket socketserver ssl starlette.testclient
    telnetlib urllib.request urllib3 uvicorn watchdog.tricks websockets xmlrpc""".split()
)
_STAYS_INSIDE = frozenset(
    """__future__ _frozen_importlib_external _json _sha2 _sha256 _thread array ast base64 binascii
    bisect calendar click collections contextlib datetime difflib
    email.utils errno fcntl functools gc git glob hashlib hmac html http importlib inspect io
    itertools jinja2 json jsonlines logging markdown_it markupsafe marshal math mcp.server
    mcp.types nh3 operator os pathlib platform plistlib pwd pydantic qrspi queue random re rich
    ruamel.yaml secrets select selectors shlex shutil signal site sqlite3 stat starlette
    struct subprocess sys tempfile termios textwrap threading time tomllib traceback tty types
    typing unicodedata urllib.parse warnings watchdog webbrowser zlib""".split()
)
_STARTS = re.compile(
    r"subprocess\.(Popen|run|call|check_\w+|getoutput|getstatusoutput)|"
    r"os\.(system|popen|exec\w+|spawn\w+|posix_spawn\w*|fork\w*|startfile)|pty\.(spawn|fork)|"
    r"(.+\.)?Git\(.*\)\..+|git\.Repo|webbrowser\..+|click\.(launch|edit)|platform\.popen|"
    r"(asyncio|anyio)\..*process.*|.*\.(enable_)?load_extension|exec|eval|__import__|"
    r"(os|subprocess|pty|posix|webbrowser)(\.\*| itself)"
)


def starts(module: Module) -> bool:
    """Whether it so much as names what starts a program, under its own name or another."""
    names = {name for node in nodes(module.tree) for name in _named(node)}
    aliases = _aliases(module.tree)
    names |= {f"{name} itself" for name in _handed_on(module.tree)}
    return any(_STARTS.fullmatch(_full(name, aliases)) for name in names)


def _handed_on(tree: ast.AST) -> set[str]:
    """Names that stand by themselves: `start = subprocess`, `getattr(os, word)`."""
    owners = {id(node.value) for node in nodes(tree) if isinstance(node, ast.Attribute)}
    names = (node for node in nodes(tree) if isinstance(node, ast.Name))
    return {node.id for node in names if id(node) not in owners}


def _named(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return [written(node)] if isinstance(node, ast.Attribute | ast.Name) else []


def _aliases(tree: ast.AST) -> dict[str, str]:
    imports = (node for node in nodes(tree) if isinstance(node, ast.Import))
    return {alias.asname: alias.name for node in imports for alias in node.names if alias.asname}


def _full(name: str, aliases: dict[str, str]) -> str:
    first, rest = re.match(r"(\w*)(.*)", name, re.DOTALL).groups()  # type: ignore[union-attr]
    return f"{aliases.get(first, first)}{rest}"


def connects(module: Module) -> bool:
    """Imports for types start nothing, but they count: nobody else has a use for them."""
    return any(_listed(name, _REACHES_OUT) for name in _libraries(module))


def _libraries(module: Module) -> set[str]:
    return {name for node in nodes(module.tree) for name in _imported(node)}


def _imported(node: ast.AST) -> list[str]:
    """`from http import client` imports http.client."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        inner = (f"{node.module}.{alias.name}" for alias in node.names)
        return [node.module or "", *(name for name in inner if name in _REACHES_OUT)]
    return []


def _listed(name: str, names: frozenset[str]) -> bool:
    """Itself, or a package that it is in."""
    parts = name.split(".")
    return any(".".join(parts[:count]) in names for count in range(1, len(parts) + 1))


def users(name: str) -> set[str]:
    return {
        module.path
        for module in modules()
        if any(called == name or called.endswith(f".{name}") for called, _ in calls(module.tree))
    }


@pytest.mark.rule("SEC-09")
def test_programs_are_started_in_these_places_alone() -> None:
    assert {module.path for module in modules() if starts(module)} == set(PROGRAMS)


@pytest.mark.rule("SEC-09", "SEC-10")
def test_connections_are_opened_in_these_places_alone() -> None:
    assert {module.path for module in modules() if connects(module)} == set(CONNECTIONS)


@pytest.mark.rule("SEC-09")
def test_every_library_was_looked_at() -> None:
    known = _STAYS_INSIDE | _REACHES_OUT
    unknown = {
        name for module in modules() for name in _libraries(module) if not _listed(name, known)
    }
    assert unknown == set()


@pytest.mark.rule("SEC-09")
@pytest.mark.parametrize("name", USERS)
def test_only_these_hand_them_something(name: str) -> None:
    assert users(name) == USERS[name]


@pytest.mark.rule("SEC-09")
def test_only_the_door_makes_permits() -> None:
    assert users("Permit") == {MAKER}


@pytest.mark.rule("SEC-09")
def test_only_these_names_of_config_lead_to_them() -> None:
    """Whoever reads one of these fields for another purpose stands here with it."""
    fields = {"test_command", "ci_command", "code_path", "argv", "base_url", "api_key_env"}
    readers = {
        module.path
        for module in modules()
        for node in nodes(module.tree)
        if isinstance(node, ast.Attribute) and node.attr in fields
        if not module.path.startswith(("core/config/", "core/trust.py"))
    }
    assert readers == {
        "cli/__init__.py",  # of this program
        "core/agents/prompts.py",  # as `prompt_parameters` gives it
        "core/code_steps/implement.py",  # whether there is one
        "core/code_steps/integrate.py",  # shows it
        "core/code_steps/test.py",  # shows it
        "core/code_steps/shipping.py",  # shows it
        "core/rounds/code_changes.py",  # hands it to git, by a permit
        "engine.py",  # shows it
        "daemon.py",  # of a program of ours
        "handlers/agents/fan_out.py",  # names of keys, to take them out of texts
        "handlers/agents/material.py",  # by a permit
        "handlers/agents/prompt_parameters.py",  # as `code_material` gives it
        "handlers/agents/role_trial.py",  # names of keys, to take them out of answers
        "handlers/changes/code_repository.py",  # by a permit
        "handlers/runs/start_run.py",  # as its person says it
        "handlers/runs/consent.py",  # makes what is asked about
        "handlers/tasks/reports.py",  # whether there is one
        "handlers/tasks/start.py",  # whether its program is there
        "world/agents/chat_completions.py",  # behind a permit
        "world/agents/codex_broker.py",  # behind a permit
        "world/agents/transports.py",  # whether it is in clear
        "world/runs/machine_signs.py",  # makes what is asked about
        "world/machine/hosts.py",  # whether it is there
        "world/processes/side_processes.py",  # of a program of ours
        "world/worker/serve.py",  # names of keys in worker.toml, to take them out of texts
    }


@pytest.mark.rule("SEC-09")
def test_what_is_imported_by_name_is_ours() -> None:
    """A module whose name is put together would be on neither list."""
    found = {
        ast.unparse(node.args[0])
        for module in modules()
        for node in nodes(module.tree)
        if isinstance(node, ast.Call) and written(node.func).endswith("import_module")
    }
    assert found and all(name.startswith(("f'qrspi.", 'f"qrspi.')) for name in found), found


@pytest.mark.rule("SEC-13")
def test_python_is_started_isolated() -> None:
    found = {
        module.path: ast.unparse(node)
        for module in modules()
        for node in nodes(module.tree)
        if isinstance(node, ast.List) and node.elts and "executable" in ast.unparse(node.elts[0])
    }
    assert {path: text.split(", ")[1] for path, text in found.items()} == {
        "world/processes/children.py": "'-I'",
        "world/processes/own_command.py": "*_isolation(__file__)",
    }


@pytest.mark.parametrize(
    "source",
    [
        "subprocess.Popen(x)",
        "subprocess.run(x)",
        "from subprocess import run",
        "import subprocess as children\nchildren.run(x)",
        "start = subprocess.Popen",
        "from os import execvp",
        "import anyio\nanyio.run_process(x)",
        "from asyncio import create_subprocess_exec",
        "database.enable_load_extension(True)",
        "os.execvp(x, y)",
        "os.posix_spawn(x)",
        "library.Git(directory).execute(x)",
        "webbrowser.open(x)",
        "click.launch(x)",
        "from os import *",
        "start = subprocess",
        "import os as system\ngetattr(system, word)(x)",
        "__import__(word)",
        "git.Repo(x)",
        "Git(directory).fetch()",
    ],
)
def test_a_new_start_is_seen(source: str) -> None:
    assert starts(Module("x.py", ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    [
        "import socket",
        "from httpx import Client",
        "from urllib.request import urlopen",
        "from urllib import request",
        "from http import client",
        "import anyio",
        "from mcp.client.stdio import stdio_client",
        "from logging import handlers",
        "import starlette.testclient",
    ],
)
def test_a_new_connection_is_seen(source: str) -> None:
    assert connects(Module("x.py", ast.parse(source)))


@pytest.mark.parametrize("source", ["import ctypes", "import cffi", "import multiprocessing"])
def test_a_library_that_nobody_looked_at_is_seen(source: str) -> None:
    known = _STAYS_INSIDE | _REACHES_OUT
    names = _libraries(Module("x.py", ast.parse(source)))
    assert not any(_listed(name, known) for name in names)
