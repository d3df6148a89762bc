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
from tests.forked_command import qrspi
from tests.web.conftest import Server, Wire, serving, tab

SAYS_NO = "What is wrong with it? The author gets your words."
SAYS = "What there is to say. Whoever writes the text next reads it."
BODY = """# Goals

## Approach

A page that loads
within a second.

- for the shop
- for the till

## Later

Nothing.
"""


class Runs:
    """Runs in one project, each for one test: they wait for a yes to their goals."""

    SLUGS = "half-typed gone keyboard comment select hostile deleted moved tabs cut passed"
    NAMES = tuple(f"2026-05-17-{slug}" for slug in SLUGS.split())
    PAUSED = "2026-05-17-paused"

    def __init__(self, root: Path) -> None:
        self.project = root
        scenes.project(root, *self.NAMES, self.PAUSED)
        for name in self.NAMES:
            run = self.path(name)
            scenes.save(run / "goals.md", runs.artifact(body=BODY))
            scenes.advance(run)
            scenes.review_clean(run)
            scenes.advance(run)
        paused = self.path(self.PAUSED)
        scenes.advance(paused)
        scenes.review(paused)
        scenes.save(paused / scenes.ROUND / scenes.FINDING, runs.finding(kind="intent"))
        scenes.advance(paused)

    def path(self, name: str) -> Path:
        return self.project / "docs" / "qrspi" / name

    def named(self, slug: str) -> tuple[str, Path]:
        name = f"2026-05-17-{slug}"
        return name, self.path(name)

    def command(self, *words: str) -> None:
        subprocess.run([qrspi(), *words], cwd=self.project, check=True, capture_output=True)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Runs:
    return Runs(tmp_path_factory.mktemp("shop"))


@pytest.fixture(scope="module")
def server(known: Runs) -> Iterator[Server]:
    with serving(known.project) as found:
        yield found


@pytest.fixture
def page(browser: Any, server: Server) -> Iterator[Any]:
    with tab(browser, server) as opened:
        yield opened


def says(page: Any) -> str:
    return str(page.evaluate("document.activeElement.textContent.trim()"))


@pytest.mark.rule("WEB-01", "WEB-06", "WEB-20")
def test_a_change_is_shown_and_what_was_begun_stays(page: Any, known: Runs) -> None:
    name, _ = known.named("half-typed")
    page.set_viewport_size({"width": 1000, "height": 500})
    page.goto(f"/runs/{name}/goals")
    page.get_by_text("Frontmatter").click()
    page.get_by_text("Reject", exact=True).first.click()
    field = page.get_by_label(SAYS_NO)
    field.fill("half a sen")
    page.evaluate("scrollTo(0, 150)")
    known.command("comment", "add", name, "goals.md:L15", "-m", "Added by somebody else.")
    page.get_by_text("Added by somebody else.").wait_for()
    assert field.input_value() == "half a sen"
    assert field.evaluate("one => one === document.activeElement")
    assert page.locator("details.front[open], details.folded[open]").count() == 2
    assert page.evaluate("scrollY") == 150


@pytest.mark.rule("WEB-20")
def test_a_text_for_a_gate_that_goes_away_can_still_be_copied(page: Any, known: Runs) -> None:
    name, _ = known.named("gone")
    page.goto(f"/runs/{name}/goals")
    page.get_by_text("Reject", exact=True).first.click()
    page.get_by_label(SAYS_NO).fill("my long thought")
    known.command("approve", name, "goals")
    kept = page.locator(".kept-text")
    kept.wait_for()
    assert "my long thought" in kept.inner_text()
    assert kept.get_by_role("button", name="Copy my long thought").count() == 1
    known.command("comment", "add", name, "goals.md:L7", "-m", "And the page goes on.")
    page.get_by_text("And the page goes on.").wait_for()
    assert "my long thought" in kept.inner_text()


@pytest.mark.rule("WEB-02", "WEB-03", "WEB-07", "WEB-09")
def test_a_step_is_approved_by_keyboard_alone(page: Any, known: Runs) -> None:
    name, run = known.named("keyboard")
    page.keyboard.press("Tab")
    assert says(page) == "Skip to the content"
    for _ in known.NAMES:
        page.keyboard.press("j")
        if says(page).startswith("keyboard"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(f"/runs/{name}$"))
    page.keyboard.press("a")
    assert says(page) == "Approve goals.md"
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Waits for agents").wait_for()
    assert b"status: approved" in (run / "goals.md").read_bytes()


@pytest.mark.rule("WEB-09")
def test_question_mark_lists_the_keys(page: Any) -> None:
    page.keyboard.press("?")
    assert page.get_by_role("dialog", name="Keys").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#keys").is_visible()


@pytest.mark.rule("WEB-08")
def test_lines_are_commented_on_by_keyboard(page: Any, known: Runs) -> None:
    name, run = known.named("comment")
    page.goto(f"/runs/{name}/goals")
    for _ in range(3):
        page.keyboard.press("j")
    page.keyboard.press("c")
    assert page.get_by_label("Lines").input_value() == "L9-L10"
    assert page.locator(".chosen").get_attribute("id") == "L9"
    page.keyboard.type("How do we know?")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    beside = page.locator("#L9 + .comments")
    beside.get_by_text("How do we know?").wait_for()
    assert "L9-L10 · Ada Example · just now · open" in beside.inner_text()
    assert page.url.endswith(f"/runs/{name}/goals")
    assert "How do we know?" in (run / "feedback" / "goals-comments.md").read_text()
    text = (run / "goals.md").read_text().replace("# Goals\n", "# Goals\n\nFor people.\n")
    scenes.save(run / "goals.md", text.encode())
    page.locator("#L11 + .comments").get_by_text("open, its lines have moved").wait_for()


@pytest.mark.rule("WEB-08")
def test_selected_text_names_its_lines(page: Any, known: Runs) -> None:
    name, _ = known.named("select")
    page.goto(f"/runs/{name}/goals#L13")
    assert page.locator(".block:has(:target)").get_attribute("id") == "L12"
    page.evaluate(
        """() => {
            const text = document.querySelector("#L9 p");
            getSelection().setBaseAndExtent(text.lastChild, 3, document.querySelector("#L13"), 1);
        }"""
    )
    page.keyboard.press("c")
    assert page.get_by_label("Lines").input_value() == "L10-L13"


@pytest.mark.rule("WEB-08")
def test_a_click_on_a_line_begins_a_comment(page: Any, known: Runs) -> None:
    name, _ = known.named("select")
    page.goto(f"/runs/{name}/goals")
    page.get_by_label("Line 9").click()
    page.locator("form.comment textarea:focus").wait_for()
    page.keyboard.type("a quick one")
    assert page.get_by_label("Lines").input_value() == "L9-L10"
    assert page.get_by_label(SAYS).input_value() == "a quick one"
    assert page.url.endswith("#L9")


IS_SEEN = """one => {
    const {top, bottom} = one.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
}"""


@pytest.mark.rule("WEB-08")
def test_a_comment_on_a_text_that_waits_for_nobody_is_written_beside_it(
    page: Any, known: Runs
) -> None:
    """The form stays on the screen, and the line too."""
    name, _ = known.named("passed")
    known.command("approve", name, "goals")
    page.set_viewport_size({"width": 800, "height": 480})
    page.goto(f"/runs/{name}/goals")
    page.get_by_label("Line 5").click()
    field = page.locator("form.comment textarea:focus")
    field.wait_for()
    assert [one.evaluate(IS_SEEN) for one in (field, page.locator("#L5"))] == [True, True]


@pytest.mark.rule("WEB-02", "WEB-12")
def test_nothing_that_agents_write_runs(page: Any, known: Runs) -> None:
    name, run = known.named("hostile")
    evil = b"""<script>alert(1)</script>

<img src=x onerror="alert(2)">

[x](javascript:alert(3))
"""
    scenes.save(run / "goals.md", (run / "goals.md").read_bytes() + b"\n" + evil)
    for address in (f"/runs/{name}/goals", f"/runs/{name}/files/goals.md", f"/runs/{name}"):
        page.goto(address)
        shown = page.get_by_text("<script>alert(1)</script>").count()
        assert shown == (address != f"/runs/{name}")  # where it is not to be approved any more
        assert page.locator("main script, main img, main [onerror]").count() == 0
        assert page.locator("a[href^=javascript]").count() == 0


@pytest.mark.rule("WEB-10")
def test_a_run_that_is_deleted_while_it_is_shown_is_said_to_be_gone(page: Any, known: Runs) -> None:
    name, run = known.named("deleted")
    page.goto(f"/runs/{name}")
    shutil.rmtree(run)
    page.get_by_text(f"There is no run {name}.").wait_for()


@pytest.mark.rule("WEB-07")
def test_a_refusal_stays_on_the_screen_whatever_changes(page: Any, known: Runs) -> None:
    name, run = known.named("moved")
    page.goto(f"/runs/{name}/goals")
    page.route(
        "**/runs/*/goals", lambda route: None
    )  # what it shows now is what it goes on showing
    text = (run / "goals.md").read_bytes()
    scenes.save(run / "goals.md", text.replace(b"within a second", b"within an hour"))
    page.get_by_role("button", name="Approve goals.md").click()
    page.get_by_role("heading", name="Refused").wait_for()
    assert page.locator("ins mark").all_inner_texts() == ["an hour"]
    with page.expect_response(re.compile("/approve$")):  # it heard of the change
        scenes.save(run / "notes.md", b"words\n")
    page.get_by_role("heading", name="Refused").wait_for()


@pytest.mark.rule("WEB-04", "WEB-07")
def test_a_batch_is_answered_in_the_inbox_and_the_answer_stays(page: Any, known: Runs) -> None:
    page.goto("/inbox")
    page.locator(".waiting", has_text="contradicts the first").get_by_label("skip").check()
    page.get_by_role("button", name="Answer what I chose").click()
    given = page.get_by_role("region", name="What became of your answers")
    given.wait_for()
    assert given.inner_text() == f"{known.PAUSED} quality-claude.R1-F01 skip: done"
    with page.expect_response(re.compile("/inbox$")):  # it heard of the change
        scenes.save(known.path(known.PAUSED) / "notes.md", b"words\n")
    assert given.is_visible()


@pytest.mark.rule("WEB-10")
def test_typing_filters_the_board(page: Any) -> None:
    page.get_by_label("Filter by name").press_sequentially("tabs")
    page.get_by_role("link", name="paused 2026-05-17").wait_for(state="detached")
    assert page.locator(".run h3").all_inner_texts() == ["tabs 2026-05-17"]
    assert page.get_by_label("Filter by name").evaluate("one => one === document.activeElement")
    assert page.url.endswith("/?q=tabs")


@pytest.mark.rule("WEB-09")
def test_nothing_is_wider_than_a_phone(page: Any, known: Runs) -> None:
    name, _ = known.named("tabs")
    page.set_viewport_size({"width": 320, "height": 700})
    for part in ("", "/goals", "/goals/rounds/1", "/tasks", "/log", "/spend", "/files/goals.md"):
        page.goto(f"/runs/{name}{part}")
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, part


@pytest.mark.rule("WEB-16")
def test_more_tabs_than_connections_share_one_stream(page: Any, known: Runs) -> None:
    name, run = known.named("tabs")
    tabs = [page.context.new_page() for _ in range(7)]
    for one in tabs:
        one.goto(f"/runs/{name}/goals")
    scenes.save(run / "goals.md", (run / "goals.md").read_bytes() + b"\nFor all of you.\n")
    for one in tabs:
        one.get_by_text("For all of you.").wait_for()


@pytest.mark.rule("WEB-06", "WEB-15")
def test_a_page_whose_server_ends_says_so_and_then_where_to_go_on(
    browser: Any, known: Runs
) -> None:
    with serving(known.project) as first, tab(browser, first) as page:
        banner = page.locator("#banner")
        first.process.terminate()
        first.process.wait(10)
        banner.get_by_text("The connection is lost.").wait_for()
        with serving(known.project, port=first.port):
            banner.get_by_text("open the new address").wait_for()


@pytest.mark.rule("WEB-06")
def test_a_connection_that_is_lost_comes_back_and_catches_up(
    browser: Any, server: Server, known: Runs
) -> None:
    name, run = known.named("cut")
    banner = "The connection is lost."
    with Wire(server) as wire, tab(browser, wire.server) as page:
        page.goto(f"/runs/{name}/goals")
        page.get_by_text("Reject", exact=True).first.click()
        page.get_by_label(SAYS_NO).fill("half a sen")
        for words in ("Said meanwhile.", "Said the second time."):
            wire.cut()
            page.locator("#banner").get_by_text(banner).wait_for()
            scenes.save(run / "goals.md", (run / "goals.md").read_bytes() + f"\n{words}\n".encode())
            wire.mend()
            page.get_by_text(words).wait_for()
            page.locator("#banner").wait_for(state="hidden")
        scenes.save(run / "goals.md", (run / "goals.md").read_bytes() + b"\nSaid afterwards.\n")
        page.get_by_text("Said afterwards.").wait_for()
        kept = page.get_by_label(SAYS_NO).or_(page.locator(".kept-text"))
        assert "half a sen" in kept.first.evaluate("one => one.value || one.textContent")


@pytest.mark.rule("WEB-06")
def test_a_browser_without_shared_workers_hears_of_changes_too(
    browser: Any, server: Server, known: Runs
) -> None:
    name, run = known.named("cut")
    with Wire(server) as wire, tab(browser, wire.server) as page:
        page.add_init_script("delete globalThis.SharedWorker")
        page.goto(f"/runs/{name}/goals")
        scenes.save(run / "goals.md", (run / "goals.md").read_bytes() + b"\nWithout a worker.\n")
        page.get_by_text("Without a worker.").wait_for()
        wire.cut()
        page.locator("#banner").get_by_text("The connection is lost.").wait_for()
        wire.mend()
        page.locator("#banner").wait_for(state="hidden")
