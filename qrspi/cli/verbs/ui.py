"""`qrspi ui`: the page of all runs, for a browser on this machine."""

from __future__ import annotations

import os
import sys

import click

from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.web import libraries

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")


@verb("ui")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="A free one unless given.")
@click.option("--host", default="127.0.0.1", help="127.0.0.1, localhost or ::1; no other.")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
@click.option("--read-only", is_flag=True, help="Show everything, change nothing.")
def command(session: Session, port: int, host: str, no_open: bool, read_only: bool) -> None:
    """A page that shows all runs, why each stands where it stands, and takes your answers.

    The address is printed first; it lets one browser in. Ctrl-C ends it.
    """
    _ = session.root  # without runs there is nothing to show
    libraries.must_be_there()
    from qrspi.cli.in_process import Commands
    from qrspi.web.server import serve

    listener = serve.listening(host, port)

    def announce(url: str) -> None:
        session.answer({"schema": "qrspi/ui/v1", "url": url}, [url])
        has_display = sys.platform == "darwin" or any(map(os.environ.get, _DISPLAYS))
        if has_display and not no_open and not session.json:
            click.launch(url)

    serve.serve(Commands(session, "web"), listener, read_only, announce)
