"""How each answer of a round came: the page says it in the words of the command."""

from __future__ import annotations

import re
import subprocess
from html import unescape
from pathlib import Path

import pytest

from tests import runs
from tests.forked_command import qrspi
from tests.handlers.shop import NOTHING, in_review, printed
from tests.web.conftest import serving

ROUND = "reviews/design/round-01"
FINDING = runs.finding("quality-claude", step="design", cites="design.md:L7")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """One answer was handed in, one lay in the folder, and the rest was sent for."""
    shop = in_review(tmp_path / "shop", second_reviewer="true")
    shop.next()
    reply = tmp_path / "reply.md"
    reply.write_text(NOTHING)
    words = [qrspi(), "ingest", reply, runs.RUN, "design", "--tag", "scope-claude"]
    subprocess.run(words, cwd=shop.root, check=True, capture_output=True)
    (shop.run / ROUND / "scope-codex.clean.md").write_bytes(runs.clean("scope-codex"))
    shop.reply("quality-claude.md", printed(FINDING))
    shop.reply("quality-codex.md", NOTHING)
    shop.sent()
    return shop.root


def _sent(page: str) -> dict[str, str]:
    """Who was sent, and what is said of it."""
    part = page.partition('id="sent-title"')[2].partition("</section>")[0]
    rows = re.findall(r'<strong>(.*?)</strong>.*?<span class="small">(.*?)</span>', part)
    return {tag: unescape(says) for tag, says in rows}


@pytest.mark.rule("WEB-04", "SEC-21")
def test_a_round_says_how_each_answer_came(project: Path) -> None:
    with serving(project) as server:
        page = server.client.get(f"/runs/{runs.RUN}/design/rounds/1").text
    assert _sent(page) == {
        "quality-claude": "1 finding, sent for by qrspi",
        "quality-codex": "no findings, sent for by qrspi",
        "scope-claude": "no findings, handed in",
        "scope-codex": "no findings, found in the folder",
    }
