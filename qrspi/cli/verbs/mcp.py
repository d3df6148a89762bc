"""`qrspi mcp`: the MCP server, which a host starts."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import click

from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.errors import Halt
from qrspi.core.model import Problem


@verb("mcp")
@click.option("--write", is_flag=True, help="Tools that change runs, too.")
@click.option("--allow-approve", is_flag=True, help="Also `approve`; never of goals or design.")
def command(session: Session, write: bool, allow_approve: bool) -> None:
    """Serve the runs of this project to a host such as Claude Code, Codex or Copilot, over MCP on
    stdin and stdout.

    Without options its tools only read.
    """
    if find_spec("mcp") is None:
        text = "the MCP server needs mcp, which is not installed"
        raise Halt(Problem("not-installed", text, hint="pip install 'qrspi[mcp]'"))
    from qrspi.cli.in_process import Commands
    from qrspi.mcp import offered_tools, server

    if sys.stdin is not None and sys.stdin.isatty():
        session.note("Speaks MCP on stdin and stdout, for a host that starts it. Ctrl-D ends it.")
    rights = offered_tools.rights(write=write, approve=allow_approve)
    commands = Commands(session, "mcp", may_approve=allow_approve)
    server.serve(commands, rights, verbose=session.verbose)
