"""Requests, from the door to a page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib import resources
from typing import Any
from urllib.parse import parse_qsl

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from qrspi.cli.in_process import Answer, Commands, Unanswered
from qrspi.core.errors import attempt
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.web import html
from qrspi.web.answers import forms
from qrspi.web.answers.shown_texts import ShownTexts
from qrspi.web.html import Page
from qrspi.web.pages import board, file, inbox, log, round, run, spend, step, tasks
from qrspi.web.parts import diff_table
from qrspi.web.parts.diff_table import Table
from qrspi.web.server import addresses, admission
from qrspi.web.server.addresses import Address
from qrspi.web.server.admission import Door, No, Visit
from qrspi.web.server.live import InboxCount, Live
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.machine import peer_user
from qrspi.world.runs import locate

_HTML = "text/html"
_STATIC = {"/page.css": "text/css", "/page.js": "text/javascript", "/icon.svg": "image/svg+xml"}
_STATUS = {2: 404, 3: 409, 4: 500, 5: 409}  # by how a command exits
_ABSENT = ("absent", "no-round", "unknown-run")
_MOST_FIELDS = 2000


class Site(NamedTuple):
    commands: Commands
    door: Door
    live: Live
    texts: ShownTexts
    waiting: InboxCount
    html: Environment
    read_only: bool


def application(site: Site) -> Starlette:
    async def answer(request: Request) -> Response:
        response = await _answer(site, request)
        for name, value in admission.HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    @asynccontextmanager
    async def alive(_: Starlette) -> AsyncIterator[None]:
        site.live.start()
        yield
        site.live.stop()

    methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
    return Starlette(routes=[Route("/{path:path}", answer, methods=methods)], lifespan=alive)


async def _answer(site: Site, request: Request) -> Response:
    visit = Visit(
        request.method,
        request.headers,
        request.cookies,
        request.query_params.get("token", "") if request.url.path == "/" else "",
    )
    if no := admission.host(site.door, visit) or _another_user(site, request):
        return _no(no)
    if admission.exchanges(site.door, visit):
        return _let_in(site)
    if no := admission.stranger(site.door, visit):
        return Response(site.html.get_template("closed.html").render(), no.status, media_type=_HTML)
    if request.method in ("GET", "HEAD"):
        return await _read(site, request)
    if request.method != "POST":
        return _no(No(405, "Only GET and POST are known here."))
    if no := admission.foreign_write(site.door, visit):
        return _no(no)
    return await _write(site, request)


def _another_user(site: Site, request: Request) -> No | None:
    peer = request.client
    if peer and peer_user.is_another(peer.host, peer.port, site.door.port):
        return No(403, "This page is of another user of this machine.")
    return None


def _no(no: No) -> Response:
    return Response(f"{no.because}\n", no.status, media_type="text/plain")


def _let_in(site: Site) -> Response:
    """No redirect: after a click elsewhere, a strict cookie would not be sent along with it."""
    response = Response(site.html.get_template("entered.html").render(), media_type=_HTML)
    response.set_cookie(site.door.cookie, site.door.token, httponly=True, samesite="strict")
    return response


async def _read(site: Site, request: Request) -> Response:
    path = request.url.path
    if path in _STATIC:
        data = resources.files("qrspi.web").joinpath("static", path[1:]).read_bytes()
        return Response(data, media_type=_STATIC[path])
    if path == "/events" and request.method == "GET":
        return StreamingResponse(site.live.stream(), media_type="text/event-stream")
    address = addresses.parse(path)
    if address is None:
        return _page(site, _missing(f"There is no page {path}."))
    if address.run and locate.run_named(site.commands.session.root, address.run) is None:
        return _page(site, _missing(f"There is no run {address.run}."))
    if address.twin:
        return _twin(await run_in_threadpool(site.commands.run, *address.words), address)
    query = dict(request.query_params)
    return await run_in_threadpool(_attempted, site, lambda: _shown(site, address, query))


def _attempted(site: Site, body: Callable[[], Response]) -> Response:
    """A bug, too, is one clear line."""
    outcome = attempt(body)
    if not isinstance(outcome, Problem):
        return outcome
    if outcome.code == "bug":
        return _no(No(500, outcome.message))
    return _page(site, _missing(outcome.message))


def _twin(answer: Answer, address: Address) -> Response:
    kind = "application/x-ndjson" if address.kind == "log" else "application/json"
    status = _STATUS.get(answer.status, 500) if answer.status else 200
    return Response(answer.text, status, media_type=kind)


def _shown(site: Site, address: Address, query: dict[str, str]) -> Response:
    try:
        seen = site.live.number  # before anything is looked at
        return _page(site, _PAGES[address.kind](site, address, query), seen)
    except Unanswered as no:
        return _page(site, _refused(no.answer, address.run))


_PAGES: dict[str, Callable[[Site, Address, dict[str, str]], Page]] = {
    "board": lambda site, at, query: board.page(site.commands, query),
    "inbox": lambda site, at, query: inbox.page(site.commands, query),
    "run": lambda site, at, query: run.page(site.commands, site.texts, at.run),
    "step": lambda site, at, query: step.page(site.commands, site.texts, at.run, at.step),
    "round": lambda site, at, query: round.page(site.commands, at.run, at.step, at.number),
    "tasks": lambda site, at, query: tasks.page(site.commands, at.run),
    "log": lambda site, at, query: log.page(site.commands, at.run, query),
    "spend": lambda site, at, query: spend.page(site.commands, at.run),
    "file": lambda site, at, query: file.page(site.commands, at.run, at.path),
}


def _page(site: Site, page: Page, seen: int = 0) -> Response:
    shared: dict[str, Any] = {
        "seen": seen,
        "title": page.title,
        "page_run": page.run,
        "following": page.following,
        "is_answer": page.answer,
        "waiting": site.waiting.now(),
        "project": site.commands.session.root.project.rstrip("/").rpartition("/")[2] or "Runs",
    }
    drawn = site.html.get_template(page.template).render(**shared, **page.context)
    return Response(drawn, page.status, media_type=_HTML)


def _missing(text: str) -> Page:
    back = {"back": "/", "back_says": "All runs"}
    context = {"message": text, "hint": "", "more": (), "diff": (), **back}
    return Page("refused.html", "Not found", context, status=404)


def _refused(answer: Answer, run: str, diff: tuple[Table, ...] = (), *, form: bool = False) -> Page:
    said = answer.document
    context = {
        "message": said.get("message", ""),
        "hint": said.get("hint", ""),
        "more": [*said.get("options", ()), *(one["message"] for one in said.get("violations", ()))],
        "diff": diff,
        "back": f"/runs/{run}" if run else "/",
        "back_says": "Look at it again" if run else "All runs",
    }
    absent = said.get("code") in _ABSENT
    status = 404 if absent else _STATUS.get(answer.status, 500)
    title = "Refused" if status == 409 else "Not shown"
    return Page("refused.html", title, context, run, status, answer=form)


async def _write(site: Site, request: Request) -> Response:
    if site.read_only:
        return _no(No(403, "This page is read-only: it takes no answers."))
    body = await _body(request)
    if body is None:
        return _no(No(413, f"A form has at most {admission.LARGEST} bytes."))
    fields = _fields(body)
    if fields is None:
        return _no(No(400, "This is not a form of this page."))
    if request.url.path == "/inbox":
        return await run_in_threadpool(_attempted, site, lambda: _batch(site, fields))
    named = addresses.write(request.url.path)
    if named is None or locate.run_named(site.commands.session.root, named[0]) is None:
        return _page(site, _missing(f"Nothing can be changed at {request.url.path}."))
    return await run_in_threadpool(_attempted, site, lambda: _done(site, *named, fields))


async def _body(request: Request) -> bytes | None:
    said = request.headers.get("content-length", "0")
    if not said.isdigit() or int(said) > admission.LARGEST:
        return None
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > admission.LARGEST:
            return None
    return body


def _fields(body: bytes) -> dict[str, str] | None:
    """A browser sends the lines of a text with CR LF."""
    try:
        text = body.decode("ascii")
        pairs = parse_qsl(text, True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError:
        return None
    return {name: value.replace("\r\n", "\n") for name, value in pairs}


def _done(site: Site, run: str, verb: str, fields: dict[str, str]) -> Response:
    typed = forms.words(run, verb, fields)
    if isinstance(typed, Problem):
        return _no(No(400, typed.message))
    answer = site.commands.run(*typed)
    site.live.changed(frozenset((run,)))
    if not answer.status:
        return RedirectResponse(f"/runs/{run}", HTTPStatus.SEE_OTHER)
    if answer.status == 2:
        answer = answer._replace(status=3)
    is_outdated = answer.document.get("code") == "changed-meanwhile"
    diff = _difference(site, run, fields) if is_outdated else ()
    return _page(site, _refused(answer, run, diff, form=True))


def _batch(site: Site, fields: dict[str, str]) -> Response:
    page = inbox.answered(site.commands, fields)
    site.live.changed()
    return _page(site, page)


def _difference(site: Site, run: str, fields: dict[str, str]) -> tuple[Table, ...]:
    before = site.texts.known(fields.get("hash", ""))
    if before is None:
        return ()
    tree = DiskTree(f"{site.commands.session.root.runs_dir}/{run}")
    now = site.texts.show(tree, before.subject)
    tables: list[Table] = []
    for path in dict.fromkeys((*before.texts, *now.texts)):
        old, new = before.texts.get(path, ""), now.texts.get(path, "")
        if old != new:
            tables.append(diff_table.between(old, new, path))
    return tuple(tables)


def site(commands: Commands, door: Door, *, read_only: bool) -> Site:
    live = Live(commands.session.root.runs_dir)
    waiting = InboxCount(commands, live)
    drawn = html.environment(read_only=read_only)
    return Site(commands, door, live, ShownTexts(), waiting, drawn, read_only)
