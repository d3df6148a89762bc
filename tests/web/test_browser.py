"""The page in a real Chromium. Without one, this is skipped."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import runs, scenes
from tests.cli.conftest import COMMAND
from tests.web.conftest import Server, serving

CHROMIUM = shutil.which("chromium")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here")
RUN = runs.RUN


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    found = scenes.clean(tmp_path / "shop")
    scenes.advance(found)
    return found


@pytest.fixture
def server(run: Path) -> Iterator[Server]:
    with serving(run.parents[2]) as found:
        yield found


@pytest.fixture
def page(browser: Any, server: Server) -> Iterator[Any]:
    """Let in; whatever the browser complains about fails the test."""
    context = browser.new_context(base_url=server.base)
    tab = context.new_page()
    wrong: list[str] = []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    tab.goto(server.url)
    tab.wait_for_url(f"{server.base}/")
    yield tab
    context.close()
    assert wrong == []


@pytest.mark.rule("WEB-06", "WEB-20")
def test_a_change_is_shown_and_what_was_begun_stays(page: Any, server: Server, run: Path) -> None:
    page.goto(f"/runs/{RUN}/goals")
    page.get_by_text("Reject", exact=True).first.click()
    page.get_by_label("What is wrong with it?").fill("half a sen")
    said = [COMMAND, "comment", "add", RUN, "goals.md:L7", "-m", "Added by somebody else."]
    subprocess.run(said, cwd=run, check=True, capture_output=True)
    page.get_by_text("Added by somebody else.").wait_for()
    field = page.get_by_label("What is wrong with it?")
    assert field.input_value() == "half a sen"
    assert field.evaluate("one => one === document.activeElement")
    assert page.locator("details.folded[open]").count() == 1


@pytest.mark.rule("WEB-20")
def test_a_text_for_a_gate_that_goes_away_can_still_be_copied(
    page: Any, server: Server, run: Path
) -> None:
    page.goto(f"/runs/{RUN}/goals")
    page.get_by_text("Reject", exact=True).first.click()
    page.get_by_label("What is wrong with it?").fill("my long thought")
    hash = page.locator("input[name=hash]").get_attribute("value")
    assert server.post(f"/runs/{RUN}/approve", step="goals", hash=hash).status_code == 303
    kept = page.locator(".kept-text")
    kept.wait_for()
    assert "my long thought" in kept.inner_text()


@pytest.mark.rule("WEB-07", "WEB-09")
def test_a_step_is_approved_by_keyboard_alone(page: Any, run: Path) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(f"/runs/{RUN}$"))
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Approve goals.md":
            break
    page.keyboard.press("Enter")
    page.get_by_text("Waits for you").wait_for(state="detached")
    assert b"status: approved" in (run / "goals.md").read_bytes()


@pytest.mark.rule("WEB-09")
def test_question_mark_lists_the_keys(page: Any) -> None:
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()


@pytest.mark.rule("WEB-12")
def test_nothing_that_agents_write_runs(page: Any, run: Path) -> None:
    evil = b"""<script>document.title='owned'</script>

<img src=x onerror="document.title='owned'">

[x](javascript:document.title='owned')
"""
    scenes.save(run / "goals.md", (run / "goals.md").read_bytes() + b"\n" + evil)
    for address in (f"/runs/{RUN}/goals", f"/runs/{RUN}/files/goals.md", f"/runs/{RUN}"):
        page.goto(address)
        assert "owned" not in page.title()
        assert page.locator("main script, main img, main [onerror]").count() == 0
        assert page.locator("a[href^=javascript]").count() == 0


@pytest.mark.rule("WEB-09")
@pytest.mark.parametrize("width", [320, 768, 1440])
def test_nothing_is_wider_than_the_window(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for part in ("", "/goals", "/goals/rounds/1", "/tasks", "/log", "/spend", "/files/goals.md"):
        page.goto(f"/runs/{RUN}{part}")
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, part


@pytest.mark.rule("WEB-16")
def test_many_tabs_load_and_share_one_stream(page: Any, server: Server, run: Path) -> None:
    tabs = [page.context.new_page() for _ in range(8)]
    for tab in tabs:
        tab.goto(f"/runs/{RUN}/goals")
    scenes.save(run / "goals.md", (run / "goals.md").read_bytes() + b"\nFor all of you.\n")
    tabs[-1].get_by_text("For all of you.").wait_for()
