"""Everything in a real Chromium: `make browser`. Minutes rather than seconds."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import showcase

from qrspi.demo import performance, story
from qrspi.demo.narration import Beat
from qrspi.demo.stage import Answer, Beats, Stage
from qrspi.world.git import scratch_repository
from tests import deliveries, runs, scenes
from tests.forked_command import qrspi
from tests.handlers.workshop import Workshop
from tests.web.conftest import serving, tab

pytestmark = [pytest.mark.slow, pytest.mark.browser]
AXE = Path(__file__).parents[2] / ".venv" / "axe.min.js"
OF_RUN = ("", "/tasks", "/log", "/spend", "/files/config.md", "/files/approvals.jsonl")
STEPS = ("goals", "questions", "design", "plan", "implement", "task-01", "implement-gate")


@pytest.fixture(scope="module")
def project(browser: Any) -> Iterator[Path]:
    made = showcase.build()
    yield made
    shutil.rmtree(made)


def addresses(project: Path) -> list[str]:
    """Every address that there is in a project."""
    found = ["/", "/inbox", "/nowhere", "/?q=no-such-run"]
    for run in sorted((project / showcase.RUNS).iterdir()):
        here = f"/runs/{run.name}"
        found += [here + part for part in OF_RUN]
        found += [f"{here}/{step}" for step in STEPS]
        for folder in sorted((run / "reviews").rglob("round-??")):
            step = folder.parent.relative_to(run / "reviews").as_posix().removeprefix("tasks/")
            found.append(f"{here}/{step}/rounds/{int(folder.name[-2:])}")
    return found


LOOKS = (("light", 1440), ("dark", 320))
PATIENCE = 90_000  # ms; a silence of twenty seconds, on a machine that has much to do
PARTS = 2  # of all addresses, so that they are looked at side by side


@pytest.mark.rule("WEB-03", "WEB-09")
@pytest.mark.parametrize("part", range(PARTS))
def test_axe_finds_nothing_serious_and_nothing_is_too_wide(
    browser: Any, project: Path, part: int
) -> None:
    """Each address is opened once, and looked at in both lights and at both widths."""
    if not AXE.exists():
        pytest.skip("axe-core is not there: `make browser` fetches it where npm can")
    found: list[str] = []
    with (
        serving(project, QRSPI_NOW=showcase.LOOKED_AT) as server,
        tab(browser, server, bypass_csp=True) as page,
    ):
        for address in addresses(project)[part::PARTS]:
            found += _looked_at(page, address)
    assert found == []


def _blocked(root: Path) -> None:
    shop = Workshop(root, deliveries.full())
    shop.next()
    shop.finish("task-01", "a.py", "a = 1\n")
    shop.report("task-02", status="BLOCKED")
    shop.next()


def _at_tests(root: Path) -> None:
    """Tests have failed: there is a menu, a table of long words, and remarks of the engine."""
    shop = Workshop(root, deliveries.quick(), {"test.sh": "echo 'FAILED a.py::b - c'; exit 1\n"})
    shop.next()
    if shop.answer.kind == "baseline":
        shop.resolve("proceed")
        shop.next()
    shop.take("task-01", "a.py", "a = 1\n")
    shop.next()
    words = [qrspi(), "resolve", "continue"]
    subprocess.run(words, cwd=root, check=True, capture_output=True)


def _broken(root: Path) -> None:
    (scenes.project(root) / "config.md").write_text("nothing of use")


def _nothing(root: Path) -> None:
    (root / "docs" / "qrspi").mkdir(parents=True)


STATES = {
    "blocked": _blocked,
    "at tests": _at_tests,
    "broken": _broken,
    "complete": scenes.complete,
    "nothing": _nothing,
}
PLACES = ("", "/tasks", "/implement", "/test", "/task-02", "/files/config.md")


@pytest.mark.rule("WEB-09", "WEB-10")
@pytest.mark.parametrize("options", [(), ("--read-only",)], ids=["answers", "read only"])
@pytest.mark.parametrize("state", STATES)
def test_axe_finds_nothing_serious_in_other_states(
    browser: Any, tmp_path: Path, state: str, options: tuple[str, ...]
) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not there: `make browser` fetches it where npm can")
    root = tmp_path.resolve() / "shop"
    STATES[state](root)
    there = () if state == "nothing" else (f"/runs/{runs.RUN}{part}" for part in PLACES)
    found: list[str] = []
    with serving(root, *options) as server, tab(browser, server, bypass_csp=True) as page:
        for address in ("/", "/inbox", *there):
            found += _looked_at(page, address)
    assert found == []


def _looked_at(page: Any, address: str) -> Iterator[str]:
    page.goto(address)
    page.locator("details").evaluate_all("all => all.forEach((one) => one.open = true)")
    page.evaluate(AXE.read_text())
    yield from (f"{address} {text}" for look in LOOKS for text in _wrong(page, *look))


def _wrong(page: Any, scheme: str, width: int) -> Iterator[str]:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    checked = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    yield from (f"{scheme}, {width} px: {text}" for text in _serious(checked))
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    if wide > 0:
        yield f"is {wide} px too wide for {width} px"


def _serious(checked: dict[str, Any]) -> Iterator[str]:
    for one in checked["violations"]:
        if one["impact"] in ("serious", "critical"):
            yield f"{one['id']}: {one['nodes'][0]['html'][:200]} ({len(one['nodes'])})"


EVIL = (
    '"><img src=x onerror=alert(1)><script>alert(2)</script> [x](javascript:alert(3)) '
    "![y](http://evil.example/y.png) <svg onload=alert(4)> {{ 7 * 7 }} `qrspi approve`"
)
FREE = ("message", "who", "outcome", "notes", "lines", "model", "vendor", "role", "reason", "tag")


def _poisoned(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _poisoned(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_poisoned(item, key) for item in value]
    return EVIL if isinstance(value, str) and key in FREE else value


def _poison(file: Path) -> None:
    """In every field of a file that is free text; and wherever it may be read as Markdown."""
    text = file.read_text("utf-8", "replace")
    match file.suffix:
        case ".jsonl":
            lines = [json.dumps(_poisoned(json.loads(line))) for line in text.splitlines()]
            file.write_text("".join(f"{line}\n" for line in lines))
        case ".json":
            file.write_text(json.dumps(_poisoned(json.loads(text))))
        case ".yml":
            file.write_text(re.sub("reason: .*", lambda _: f"reason: {json.dumps(EVIL)}", text))
        case ".md" | ".diff":
            head = re.match(r"---\n.*?\n---\n", text, re.DOTALL)
            at = head.end() if head else 0
            body = re.sub(r"(?m)(?<=\S)$", lambda _: f" {EVIL}", text[at:])
            file.write_text(text[:at] + body)


def _break(file: Path) -> None:
    """The same in the fields that are not free."""
    text = file.read_text("utf-8", "replace")
    file.write_text(
        re.sub(r"(?m)^([a-z_]+): .*$", lambda found: f"{found[1]}: {json.dumps(EVIL)}", text)
    )


ODD_ATTRIBUTES = """() => [...document.querySelectorAll("main *")]
    .flatMap((one) => [...one.attributes])
    .filter(({name, value}) => name.startsWith("on") || name === "style" ||
        (name === "href" && !/^([/#?]|https?:|mailto:)/.test(value)))
    .map(({name, value}) => `${name}=${value}`)"""


@pytest.mark.rule("WEB-02", "WEB-12", "SEC-06")
@pytest.mark.parametrize("spoil", [_poison, _break])
def test_hostile_words_in_every_field_of_every_file_do_nothing(
    browser: Any, project: Path, tmp_path: Path, spoil: Any
) -> None:
    hostile = shutil.copytree(project, tmp_path / "hostile", symlinks=True)
    for file in sorted((hostile / showcase.RUNS).rglob("*")):
        if file.is_file() and not file.is_symlink():
            spoil(file)
    asked: list[str] = []
    with serving(hostile) as server, tab(browser, server) as page:
        page.on("request", lambda request: asked.append(request.url))
        for address in addresses(hostile):
            page.goto(address)
            assert page.locator("main :is(script, img, iframe, object, style, link)").count() == 0
            wrong = page.evaluate(ODD_ATTRIBUTES)
            assert wrong == [], address
        assert [url for url in asked if not url.startswith(server.base)] == []


class Person:
    """Answers by pressing keys, and nothing else."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def open_run(self, run: str) -> None:
        with self.page.expect_navigation(url=re.compile("/$")):
            self.press("g", "h")
        with self.page.expect_navigation(url=re.compile(f"/runs/{run}$")):
            self.press("j", "Enter")

    def tab_to(self, text: str) -> None:
        for _ in range(80):
            if self.page.evaluate("document.activeElement.textContent.trim()") == text:
                return
            self.press("Tab")
        raise AssertionError(f"no key leads to {text}")

    def approve(self, stage: Stage, now: Answer) -> Beats:
        yield Beat("person", f"approves {now['step']}", now["step"])
        self.open_run(Path(stage.run).name)
        self.press("a")
        self.tab_to(stage.story.menus[now["kind"]] if now["options"] else says_yes(now))
        self._sent()

    def decide(self, stage: Stage, now: Answer) -> Beats:
        for name in now["waits_for"]:
            yield Beat("person", f"decides {name}", now["step"])
            self.open_run(Path(stage.run).name)
            self.press("j")
            self.tab_to(stage.story.decisions[f"{now['step']}/{name}"].capitalize())
            self._sent()

    def _sent(self) -> None:
        with self.page.expect_navigation(url=re.compile("/runs/[^/]*$")):
            self.press("Enter")


def says_yes(now: Answer) -> str:
    from qrspi.core.pipeline import STEP

    return f"Approve {STEP[now['step']].artifact}"


@pytest.mark.rule("WEB-02", "WEB-03", "WEB-07", "WEB-09")
def test_a_whole_run_is_approved_by_keyboard_alone(
    browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The demo's run, with its person in front of the page."""
    with scratch_repository.repository(story.project(), keep=False) as folder:
        (Path(folder) / showcase.RUNS).mkdir(parents=True)
        with serving(Path(folder)) as server, tab(browser, server) as page:
            person = Person(page)
            monkeypatch.setitem(performance.PARTS, "approve", person.approve)
            monkeypatch.setitem(performance.PARTS, "decide", person.decide)
            told = list(performance.play(story.load("full"), folder))
    assert sum(beat.who == "person" for beat in told) == 14


@pytest.mark.rule("WEB-10", "WEB-13")
def test_a_round_of_a_thousand_findings_is_read_with_j(browser: Any, tmp_path: Path) -> None:
    run = scenes.prepared(tmp_path / "shop")
    for number in range(1, 1001):
        name = f"quality-claude.finding-F{number:02d}.md"
        text = runs.finding().replace(b"R1-F01", f"R1-F{number:02d}".encode())
        (run / scenes.ROUND / name).write_bytes(text)
    with serving(tmp_path / "shop") as server, tab(browser, server) as page:
        page.goto(f"/runs/{runs.RUN}/goals/rounds/1")
        assert page.locator(".finding").count() == 1000
        for _ in range(3):
            page.keyboard.press("j")
        assert page.evaluate("document.activeElement.textContent") == "quality-claude.R1-F03"


@pytest.mark.rule("WEB-16")
def test_fifty_tabs_hear_of_a_change(browser: Any, tmp_path: Path) -> None:
    run = scenes.project(tmp_path / "shop")
    with serving(tmp_path / "shop") as server, tab(browser, server) as page:
        tabs = [page.context.new_page() for _ in range(50)]
        for one in tabs:
            one.goto(f"/runs/{runs.RUN}/goals")
        scenes.save(run / "goals.md", (run / "goals.md").read_bytes() + b"\nFor all of you.\n")
        for one in tabs:
            one.get_by_text("For all of you.").wait_for()


def _say(run: Path, words: str) -> None:
    scenes.save(run / "goals.md", (run / "goals.md").read_bytes() + f"\n{words}\n".encode())


@pytest.mark.rule("WEB-06")
@pytest.mark.parametrize("listens", [True, False])
def test_a_server_that_stands_still_is_told_from_one_with_no_news(
    browser: Any, tmp_path: Path, listens: bool
) -> None:
    """It closes nothing, as a program that was stopped with ^Z; the page notices the silence, also
    where the server stood still before the page had its stream."""
    run = scenes.project(tmp_path / "shop")
    itself = Path(sys.executable).with_name("qrspi")  # not a caller that alone would stand still
    with serving(tmp_path / "shop", command=itself) as server, tab(browser, server) as page:
        page.goto(f"/runs/{runs.RUN}/goals")
        if listens:
            _say(run, "Before.")
            page.get_by_text("Before.").wait_for()
        server.process.send_signal(signal.SIGSTOP)
        try:
            lost = page.locator("#banner").get_by_text("The connection is lost.")
            lost.wait_for(timeout=PATIENCE)
            _say(run, "Meanwhile.")
        finally:
            server.process.send_signal(signal.SIGCONT)
        page.get_by_text("Meanwhile.").wait_for(timeout=PATIENCE)
        page.locator("#banner").wait_for(state="hidden")
