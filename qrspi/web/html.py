"""HTML from templates: every value is escaped unless it was cleaned as Markdown."""

from __future__ import annotations

import re
from importlib import resources
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape

from qrspi.core.filenames import slug_of
from qrspi.core.model import counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.render.terminal import visible
from qrspi.web.answers.gates import Following
from qrspi.web.parts import words
from qrspi.web.report import Report


class Page(NamedTuple):
    template: str
    title: str
    context: dict[str, Any]
    run: str = ""  # whose changes this page shows; '' for those of all
    status: int = 200
    following: Following | None = None
    answer: bool = False  # to a form: its address shows something else


_CODE = re.compile(r"`([^`\n]+)`")
# A line end after which no paragraph, list, table or heading begins.
_MARGIN = re.compile(r"(?<=[^\n])\n(?=[^\s\-*+|>#0-9])")


def sentence(text: str) -> Markup:
    """A sentence of the engine: what stands in back-quotes is a command to copy, or a name."""
    return _with_code(text, _command)


def prose(text: str) -> Markup:
    """Words of agents and of people: nothing in them is offered as a command, and a line ends where
    the window does, not where an editor had its margin."""
    return _with_code(_MARGIN.sub(" ", text), Markup("<code>{}</code>").format)


def _with_code(text: str, code: Any) -> Markup:
    parts = _CODE.split(visible(text))
    return Markup("").join(code(part) if at % 2 else escape(part) for at, part in enumerate(parts))


def _command(text: str) -> Markup:
    if not text.startswith("qrspi "):
        return Markup("<code>{}</code>").format(text)
    return Markup('<span class="cmd"><code>{}</code></span>').format(text)


def _date(run: str) -> str:
    slug = slug_of(run)
    return run.removesuffix(slug).rstrip("-") if slug != run else ""


def report(gathered: Report) -> str:
    style = resources.files("qrspi.web").joinpath("static", "page.css").read_text("utf-8")
    return environment().get_template("report.html").render(report=gathered, style=style)


def environment(*, read_only: bool = False) -> Environment:
    loader = PackageLoader("qrspi.web")
    made = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {
        "ago": words.ago,
        "cited": lambda pair: words.cited(*pair),
        "clean": Markup,  # of `markdown` alone
        "comment_state": words.comment_state,
        "counted": counted,
        "date": _date,
        "looks": words.LOOKS.__getitem__,
        "money": "{:.4f} USD".format,
        "path": lambda text: quote(text, safe="/"),
        "pipeline": words.pipeline,
        "person": lambda text: str(text).partition(" <")[0],
        "progress": words.PROGRESS.__getitem__,
        "prose": prose,
        "sentence": sentence,
        "short": lambda commit: commit[:12],
        "slug": slug_of,
        "thousands": "{:,}".format,
        "verdict": words.VERDICT.__getitem__,
        "visible": visible,
        "whole": "{:.0f}".format,
    }
    made.globals["read_only"] = read_only  # for macros too, which do not know what a page knows
    return made
