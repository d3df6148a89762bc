"""The page: a board of a thousand runs, a change from disk to browser, and a server at rest.

What needs a browser is left out, with a line that says so, where there is none.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import bench_status
import httpx
from lab import QRSPI, Lab, Measure, config, finding, quickest

CHANGES = 40
TABS = 50
REST = 20.0  # seconds
STATIC = Path(__file__).parent.parent / "qrspi" / "web" / "static"
RUN = "2026-01-05-first-light"
TICKS = os.sysconf("SC_CLK_TCK")


class Page(NamedTuple):
    process: subprocess.Popen[str]
    url: str
    client: httpx.Client

    @property
    def base(self) -> str:
        return self.url.partition("/?")[0]

    def processor(self) -> float:
        """Seconds that it has taken so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def megabytes(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024


@contextmanager
def serving(project: Path) -> Iterator[Page]:
    words = [str(QRSPI), "ui", "--no-open", "--json"]
    process = subprocess.Popen(words, cwd=project, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    url = json.loads(process.stdout.readline())["url"]
    with httpx.Client(base_url=url.partition("/?")[0], timeout=60) as client:
        client.get(url)
        yield Page(process, url, client)
    process.send_signal(signal.SIGTERM)
    process.wait()
    process.stdout.close()


def measure(lab: Lab) -> Iterator[Measure]:
    size = sum(STATIC.joinpath(name).stat().st_size for name in ("page.css", "page.js"))
    yield Measure("script and style of the page", size / 1024, "KB", 60)
    yield board(lab)
    small = lab.scratch / "small"
    make_project(small)
    with serving(small) as page:
        yield at_rest(page)
    with browser() as opened:
        if opened is None:
            return
        yield from with_browser(opened, small)


def board(lab: Lab) -> Measure:
    template = lab.scratch / "template"
    bench_status.make_run(template)
    project = bench_status.copies(template, lab.scratch / "many", 1000)
    command = [str(QRSPI), "status", "--all", "--json"]
    with serving(project) as page:
        settled(page)
        asked, shown = quickest(
            5,
            lambda: subprocess.run(command, cwd=project, check=True, stdout=subprocess.DEVNULL),
            lambda: page.client.get("/").raise_for_status(),
        )
    note = f"{shown * 1000:.0f} ms"
    return Measure("board of 1,000 runs", shown / asked, "× status --all --json", 1.5, note)


def settled(page: Page) -> None:
    """A watcher of a thousand runs takes its time to begin."""
    before = -1.0
    while page.processor() > before:
        before = page.processor()
        time.sleep(1)


def make_project(project: Path) -> None:
    """A run with a round of a thousand findings, beside one with a text."""
    for name in (RUN, "2026-01-06-many-findings"):
        run = project / "docs" / "qrspi" / name
        folder = run / "reviews" / "goals" / "round-01"
        folder.mkdir(parents=True)
        (run / "config.md").write_text(config())
        (run / "goals.md").write_text("---\nstatus: draft\n---\n\n# Goals\n\nWords.\n")
    for number in range(1, 1001):
        text = finding("quality-claude", number, "The second claim contradicts the first.")
        (folder / f"quality-claude.finding-F{number:02d}.md").write_text(text)


def at_rest(page: Page) -> Measure:
    with page.client.stream("GET", "/events") as events:
        next(events.iter_lines())
        before = page.processor()
        time.sleep(REST)
        spent = page.processor() - before
    note = f"{page.megabytes():.0f} MB"
    return Measure("page at rest, somebody listens", 100 * spent / REST, "% of a core", 0.5, note)


@contextmanager
def browser() -> Iterator[Any]:
    found = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        found = None
    if found is None:
        print("chromium or playwright is not here: the page is not measured in a browser")
        yield None
        return
    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


def with_browser(opened: Any, project: Path) -> Iterator[Measure]:
    with serving(project) as page:
        context = opened.new_context(base_url=page.base)
        tab = context.new_page()
        tab.goto(page.url)
        tab.wait_for_url(f"{page.base}/")
        yield from changes(tab, project)
        yield thousand(tab)
        yield tabs(context, page)
        context.close()


def changes(tab: Any, project: Path) -> Iterator[Measure]:
    """From the rename of a file to the changed page, by the clock of the machine."""
    tab.goto(f"/runs/{RUN}/goals")
    tab.get_by_text("Words.").wait_for()
    goals = project / "docs" / "qrspi" / RUN / "goals.md"
    taken = []
    for number in range(CHANGES + 1):
        draft = goals.with_name(".goals.md.tmp")
        draft.write_text(f"---\nstatus: draft\n---\n\n# Goals\n\nWords {number}.\n")
        seen = tab.evaluate_handle(_WATCH, f"Words {number}.")
        began = time.time()
        draft.rename(goals)
        taken.append(tab.evaluate("async (seen) => await seen.at", seen) / 1000 - began)
    taken = sorted(taken[1:])
    half, most = statistics.median(taken), taken[int(len(taken) * 0.95) - 1]
    yield Measure("from a change to the page, half", half * 1000, "ms", 150)
    yield Measure("  95 of 100", most * 1000, "ms", 400)


_WATCH = """(text) => ({ at: new Promise((done) => {
    const main = document.querySelector("main");
    const watch = new MutationObserver(() => {
        if (!main.textContent.includes(text)) return;
        watch.disconnect();
        done(Date.now());
    });
    watch.observe(main, { subtree: true, childList: true, characterData: true });
}) })"""


def thousand(tab: Any) -> Measure:
    """From the click to the last finding."""
    taken = []
    for _ in range(5):
        tab.goto("/runs/2026-01-06-many-findings/goals")
        began = time.perf_counter()
        tab.get_by_role("link", name="Round 1").click()
        tab.locator(".finding").nth(999).wait_for()
        taken.append(time.perf_counter() - began)
    return Measure("round of 1,000 findings, click to shown", min(taken), "s", 1)


def tabs(context: Any, page: Page) -> Measure:
    """Memory of the server."""
    one = page.megabytes()
    for _ in range(TABS - 1):
        context.new_page().goto(f"{page.base}/runs/{RUN}/goals")
    note = f"{page.megabytes():.0f} MB"
    return Measure(f"{TABS} tabs", page.megabytes() / one, "× memory of one", 2, note)
