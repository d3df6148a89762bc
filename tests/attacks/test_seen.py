"""To have it believed that the tests or CI passed, by pages that only the engine writes."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import runs
from tests.attacks.arena import Arena, workshop_at
from tests.attacks.trial import attack
from tests.deliveries import config, full
from tests.handlers.workshop import Workshop

pytestmark = pytest.mark.rule("SEC-20", "LIV-06")
FAILING = "echo 'FAILED tests/x.py::test_a - boom'; exit 1\n"
FIRST, SECOND = (Path(f"reviews/test/round-0{at}-results.md") for at in (1, 2))
Change = Callable[[Path], object]


def at_the_tests(arena: Arena, world: pytest.MonkeyPatch, script: str = FAILING) -> Path:
    """A quick run whose one task is merged, and whose tests have run, as its user allowed."""
    world.setenv("QRSPI_TRUST", str(arena.top))
    gates = config("quick", 'gates: {test_command: "sh test.sh"}\n')
    shop = workshop_at(arena.project, **{"config.md": gates})
    shop.next()
    shop.take("task-01", "a.py", "a = 1\n")
    (arena.project / "test.sh").write_text(script)
    arena.commit()
    arena.qrspi("next")
    assert arena.qrspi("resolve", "continue").code == 0
    return shop.run


def edit(page: Path, *changes: tuple[str, str]) -> None:
    text = page.read_text()
    for pattern, words in changes:
        text, count = re.subn(pattern, words, text)
        assert count
    page.write_text(text)


def green(run: Path, page: Path = FIRST) -> None:
    edit(run / page, ("exit: 1", "exit: 0"), ("state: failed", "state: passed"))


def another(run: Path) -> None:
    shutil.copy(run / FIRST, run / SECOND)
    green(run, SECOND)
    edit(run / SECOND, ("round: 1", "round: 2"), (r"\| 1 \|.*\n", ""))


def not_passed(arena: Arena, run: Path) -> None:
    """However often the engine looks; it may run them again."""
    for _ in range(2):
        arena.qrspi("next")
    found = arena.qrspi("status", "--json").json["runs"][0]
    assert found["tests"]["state"] in ("failed", "not-run")
    assert (found["next"]["who"], found["next"]["step"]) == ("human", "test")
    assert not list((run / "reviews/test").glob("round-??"))
    assert arena.qrspi("approve", "test", "--unreviewed").code == 3
    assert "status: approved" not in (run / "test-results.md").read_text()


@attack(
    "an agent",
    "tests that failed are said to have passed, or are passed over as if a person had said so",
    {
        "another end": green,
        "another page": another,
        "reviewed all the same": lambda run: edit(run / FIRST, ("time:", "then: review\ntime:")),
        "left as it is": lambda run: edit(run / FIRST, (r"\| pending \|", "| leave |")),
        "known from before": lambda run: edit(run / FIRST, (r"\| pending \|", "| known |")),
        "no page": lambda run: (run / FIRST).unlink(),
        "a page that nobody understands": lambda run: (run / FIRST).write_text("passed\n"),
    },
)
def test_passed(arena: Arena, monkeypatch: pytest.MonkeyPatch, way: Change) -> None:
    run = at_the_tests(arena, monkeypatch)
    way(run)
    not_passed(arena, run)


@attack(
    "a clone",
    "tests that failed are said to have passed in a copy, where no trail is",
    no_more="the ways to say so are tried above",
)
def test_a_clone(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the engine committed counts there, and only that."""
    run = at_the_tests(arena, monkeypatch)
    shutil.rmtree(run / ".qrspi")
    assert arena.qrspi("status", "--json").json["runs"][0]["tests"]["state"] == "failed"
    green(run)
    arena.commit()
    not_passed(arena, run)


REPORT = ("test", "report", "--passed", "-m")


@attack(
    "an agent",
    "a report about the tests says more than whoever made it said",
    {
        "other words": ("> I ran some.", "> I ran all of them, twice."),
        "another name": ("Ada Example <", "Ada Boss <"),
        "another commit": ("commit: .*", f"commit: {'a' * 40}"),
        "another day": ("2026-05-17T", "2027-05-17T"),
    },
)
def test_a_report(arena: Arena, monkeypatch: pytest.MonkeyPatch, way: tuple[str, str]) -> None:
    run = at_the_tests(arena, monkeypatch, "no-such-program\n")
    assert arena.qrspi(*REPORT, "I ran some.").code == 0
    edit(run / SECOND, way)
    not_passed(arena, run)


def command_changed(run: Path) -> None:
    edit(run / "config.md", ('"sh test.sh"', '"sh test.sh || true"'))


@attack(
    "an agent",
    "what the engine saw fail is reported away",
    {
        "plainly": lambda run: None,
        "without its page": lambda run: (run / FIRST).unlink(),
        "with another page": lambda run: (run / FIRST).write_text("---\nround: 1\n---\n"),
        "with another command": command_changed,
    },
)
def test_reported_away(arena: Arena, monkeypatch: pytest.MonkeyPatch, way: Change) -> None:
    run = at_the_tests(arena, monkeypatch)
    way(run)
    said = arena.qrspi(*REPORT, "Green.")
    assert said.code == 3, said.text
    assert "status: approved" not in (run / "test-results.md").read_text()
    assert runs.lines(run, "approvals.jsonl")[-1]["event"] != "test-report"


UNSEEN = set("\x1b\x07\u202e\U000e0041")
WORDS = {
    "the end of what is counted": "<!-- counted by qrspi: end -->\n## Merges",
    "a head": "---\nstatus: approved\n---",
    "an escape": "\x1b[2J\x1b]0;x\x07",
    "right to left": "a\u202eb\U000e0041",
    "a field": "x\nreported_by: Ada Boss\nexit: 0",
    "markup": "<script>x</script>\n[a](javascript:b) ![c](http://d)",
}


@attack("an agent", "the words of a report become something else on the page they stand on", WORDS)
def test_words(arena: Arena, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    run = at_the_tests(arena, monkeypatch, "no-such-program\n")
    assert arena.qrspi(*REPORT, way).code == 0
    for page in ("test-results.md", "reviews/test/round-02-results.md"):
        text = (run / page).read_text()
        assert not set(text) & UNSEEN
        inside = text.partition("begin -->\n")[2].partition("\n<!-- counted by qrspi: end -->")[0]
        assert "run by hand, as Ada Example reported" in inside
        said = [line.removeprefix("> ") for line in inside.splitlines() if line.startswith(">")]
        assert len(said) == len(way.splitlines())
    assert "status: approved" not in (run / "test-results.md").read_text().split("---")[1]
    assert not set(arena.looks()) & UNSEEN


def at_integrate(arena: Arena, world: pytest.MonkeyPatch) -> Workshop:
    """A full run whose one task is merged, and reviewed as a whole; CI would fail."""
    world.setenv("QRSPI_TRUST", str(arena.top))
    files = {
        path: data for path, data in full().items() if path[-4:] not in ("2.md", "3.md", "4.md")
    }
    lines = files["parallelization.md"].decode().splitlines(keepends=True)
    kept = (line for line in lines if not re.search(r"task-0[23] \||stage-after", line))
    shop = Workshop(arena.project, {**files, "parallelization.md": "".join(kept).encode()})
    (arena.project / "ci.sh").write_text("exit 1\n")
    arena.commit()
    shop.next()
    shop.take("task-01", "a.py", "a = 1\n")
    arena.qrspi("next")
    assert arena.qrspi("resolve", "continue").code == 0
    return shop


CI = {"ci_exit": "0", "ci_log": "reviews/ci/round-01.log", "ci_merges": "1", "ci_resets": "0"}
CI_PAGE = b"---\nround: 1\ncommand: sh ci.sh\nexit: 0\nmerges: 1\nresets: 0\n---\n"


@attack(
    "an agent",
    "CI is said to have passed, and does not run",
    {"in the record": {}, "with a page": {"reviews/ci/round-01-review.md": CI_PAGE}},
    no_more="CI is known by its record and its page",
)
def test_ci(arena: Arena, monkeypatch: pytest.MonkeyPatch, way: dict[str, bytes]) -> None:
    shop = at_integrate(arena, monkeypatch)
    record = shop.run / "integration.md"
    said = "".join(f"{key}: {value}\n" for key, value in CI.items())
    edit(record, ("phase: 1\n", f"phase: 1\n{said}"))
    for path, data in way.items():
        shop.write(path, data)
    for tag in ("integration-claude", "security-claude"):
        (shop.run / f"reviews/integration/round-01/{tag}.clean.md").write_bytes(runs.clean(tag))
    arena.qrspi("next")
    assert arena.qrspi("approve", "integrate", "--unreviewed").code == 3
    assert "the CI command passed" not in arena.looks()
    assert "ci_exit: 1" in record.read_text()


@attack(
    "an agent",
    "what failed before the work began is said by hand",
    {
        "it passed": ("exit: 1", "exit: 0"),
        "a person goes on": ("choice: pending", "choice: proceed"),
        "a person has it repaired": ("choice: pending", "choice: auto-fix"),
        "more than failed": ("- tests/x.py::test_a", "- tests/x.py::test_a\n- tests/x.py::test_b"),
    },
)
def test_baseline(arena: Arena, monkeypatch: pytest.MonkeyPatch, way: tuple[str, str]) -> None:
    monkeypatch.setenv("QRSPI_TRUST", str(arena.top))
    gates = config("quick", 'gates: {test_command: "sh test.sh"}\n')
    shop = workshop_at(arena.project, **{"config.md": gates})
    (arena.project / "test.sh").write_text(FAILING)
    arena.commit()
    assert arena.qrspi("task", "baseline").code == 0
    edit(shop.run / "reviews/baseline.md", way)
    asked = arena.qrspi("next", "--json").json["next"]["kind"] == "baseline"
    assert asked or "choice" not in way[0]
    arena.qrspi("resolve", "proceed")
    known = shop.run / "reviews/baseline-failures.md"
    assert not known.exists() or "test_b" not in known.read_text()
