"""HTML from templates: every value is escaped unless it was cleaned as Markdown."""

from __future__ import annotations

import re
import shlex
from importlib import resources
from typing import Any, NamedTuple
from urllib.parse import quote

from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape

from qrspi.core.filenames import slug_of
from qrspi.render.terminal import visible
from qrspi.web import times
from qrspi.web.report import Report


class Page(NamedTuple):
    template: str
    title: str
    context: dict[str, Any]
    run: str = ""  # whose changes this page shows; '' for those of all
    status: int = 200


_CODE = re.compile(r"`([^`\n]+)`")


def sentence(text: str) -> Markup:
    """A sentence of the engine: what stands in back-quotes is a command to copy, or a name."""
    parts = _CODE.split(visible(text))
    return Markup("").join(_code(part) if at % 2 else escape(part) for at, part in enumerate(parts))


def _code(text: str) -> Markup:
    if not text.startswith("qrspi "):
        return Markup("<code>{}</code>").format(text)
    return Markup('<span class="cmd"><code>{}</code></span>').format(text)


def _date(run: str) -> str:
    slug = slug_of(run)
    return run.removesuffix(slug).rstrip("-") if slug != run else ""


def report(gathered: Report) -> str:
    style = resources.files("qrspi.web").joinpath("static", "page.css").read_text("utf-8")
    text: str = environment().get_template("report.html").render(report=gathered, style=style)
    return text


def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("qrspi.web"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "sentence": sentence,
        "clean": Markup,  # of `markdown` alone
        "ago": times.ago,
        "slug": slug_of,
        "date": _date,
        "path": lambda text: quote(text, safe="/"),
        "shell": shlex.join,
        "visible": visible,
    }
    return made
