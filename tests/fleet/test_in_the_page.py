"""What the page tells of workers: who is queued, who has started where, who was done where."""

from __future__ import annotations

import re
from html import unescape

import pytest

from tests import runs
from tests.fleet.machines import LIMIT, Fleet
from tests.patience import until
from tests.web.conftest import Server, serving


def _says(server: Server, path: str, title: str) -> dict[str, str]:
    """By the name of the agent."""
    page = server.client.get(path).text
    part = page.partition(f'id="{title}"')[2].partition("</section>")[0]
    rows = re.findall(r'<strong>(.*?)</strong>.*?<span class="small[^"]*">(.*?)</span>', part)
    return {name: unescape(says) for name, says in rows}


@pytest.mark.rule("EXE-08", "WEB-04")
def test_the_page_tells_who_is_queued_who_has_started_and_who_was_done_where(fleet: Fleet) -> None:
    shop = fleet.shop()
    fleet.agent()
    worker = fleet.worker(concurrency=1)
    name = worker.said().split()[1].rstrip(":")
    engine = fleet.engine(shop)
    waiting = (f"/runs/{runs.RUN}", "agents-title")
    round_page = f"/runs/{runs.RUN}/design/rounds/1"
    with serving(shop.root) as server:
        under_way = ["queued for a worker", f"started on {name}"]
        until(lambda: sorted(_says(server, *waiting).values()) == under_way, "it begins", LIMIT)
        assert sorted(_says(server, round_page, "agents-title").values()) == under_way
        fleet.go()
        assert engine.ended()[0] == 0
        done = f"no findings, sent for by qrspi on {name}"
        sent = _says(server, round_page, "sent-title")
    assert sent == {"quality-claude": done, "scope-claude": done}
