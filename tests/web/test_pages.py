"""Every address and its twin, and the answers that are given there."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from tests import deliveries, quick, runs, scenes
from tests.forked_command import qrspi
from tests.handlers.workshop import Workshop
from tests.web.conftest import Server, serving

RUN = runs.RUN


@pytest.fixture
def run(tmp_path: Path) -> Path:
    found = scenes.clean(tmp_path / "shop")
    scenes.advance(found)
    return found


@pytest.fixture
def server(run: Path) -> Iterator[Server]:
    with serving(run.parents[2]) as found:
        yield found


def command(run: Path, *words: str) -> str:
    done = subprocess.run(
        [qrspi(), *words, "--json"], cwd=run.parents[2], capture_output=True, text=True
    )
    return done.stdout


TWINS = {
    "/": ("status", "--all"),
    "/inbox": ("inbox",),
    f"/runs/{RUN}": ("status", RUN),
    f"/runs/{RUN}/goals": ("show", RUN, "goals"),
    f"/runs/{RUN}/goals/rounds/1": ("show", RUN, "goals", "--round", "1"),
    f"/runs/{RUN}/tasks": ("task", "list", RUN),
    f"/runs/{RUN}/log": ("log", RUN, "--all"),
    f"/runs/{RUN}/spend": ("spend", RUN),
}


@pytest.mark.rule("WEB-04", "WEB-19")
def test_every_address_has_a_page_and_the_command_as_its_twin(server: Server, run: Path) -> None:
    for path, words in TWINS.items():
        page, twin = server.client.get(path), server.client.get(f"{path}.json")
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert (twin.status_code, twin.text) == (200, command(run, *words)), path
    assert "<h3>Goals</h3>" in server.client.get(f"/runs/{RUN}/files/goals.md").text
    assert server.client.get(f"/runs/{RUN}/files/goals.md.json").status_code == 404


MISSING = (
    "/nowhere",
    "/runs/nobody",
    "/runs/--help",
    f"/runs/{RUN[11:]}",
    f"/runs/{RUN}/nowhere",
    f"/runs/{RUN}/goals/rounds/7",
    f"/runs/{RUN}/goals/rounds/0",
    f"/runs/{RUN}/files/none.md",
)


@pytest.mark.rule("WEB-10")
def test_what_is_not_there_is_said_on_a_page(server: Server) -> None:
    answers = {path: server.client.get(path) for path in MISSING}
    said = {path: (one.status_code, one.headers["content-type"]) for path, one in answers.items()}
    assert said == dict.fromkeys(MISSING, (404, "text/html; charset=utf-8"))


@pytest.mark.rule("WEB-10")
def test_broken_things_have_a_page(server: Server, run: Path) -> None:
    (run / "picture.bin").write_bytes(b"\x00\x01" * 50)
    with (run / "large.txt").open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    binary = server.client.get(f"/runs/{RUN}/files/picture.bin")
    assert "This file is binary: 100 bytes." in binary.text
    large = server.client.get(f"/runs/{RUN}/files/large.txt")
    assert "This file is too large to be shown here. It has 104,857,600 bytes." in large.text
    (run / "config.md").write_text("nothing of use")
    broken = server.client.get(f"/runs/{RUN}")
    said = json.loads(command(run, "status", RUN))["runs"][0]["errors"][0]["message"]
    assert (broken.status_code, unescape(broken.text).count(said)) == (200, 1)
    board = server.client.get("/")
    assert (board.status_code, unescape(board.text).count(said)) == (200, 1)


def _hash(page: str) -> str:
    return page.partition('name="hash" value="')[2].partition('"')[0]


@pytest.mark.rule("WEB-07", "WEB-17", "WEB-18")
def test_an_approval_names_the_text_on_the_screen(server: Server, run: Path) -> None:
    page = server.client.get(f"/runs/{RUN}/goals").text
    words = f"qrspi approve {RUN} goals --text {_hash(page).removeprefix('v2:')}"
    assert words in unescape(page)
    answer = server.post(f"/runs/{RUN}/approve", step="goals", hash=_hash(page))
    assert (answer.status_code, answer.headers["location"]) == (303, f"/runs/{RUN}")
    assert b"status: approved" in (run / "goals.md").read_bytes()
    record = runs.lines(run, "approvals.jsonl")[-1]
    assert (record["event"], record["step"], record["surface"]) == ("approve", "goals", "web")


@pytest.mark.rule("WEB-07", "WEB-18")
def test_a_text_that_changed_is_not_approved_and_the_difference_is_shown(
    server: Server, run: Path
) -> None:
    known = _hash(server.client.get(f"/runs/{RUN}/goals").text)
    text = (run / "goals.md").read_text()
    (run / "goals.md").write_text(text.replace("A page that loads.", "A page that sells."))
    before = runs.contents(run)
    answer = server.post(f"/runs/{RUN}/approve", step="goals", hash=known, unreviewed="yes")
    assert (answer.status_code, runs.contents(run)) == (409, before)
    assert "goals.md is another text than the one you saw: look at it again" in answer.text
    assert "<del>A page that <mark>loads</mark>.</del>" in answer.text
    assert "<ins>A page that <mark>sells</mark>.</ins>" in answer.text


NO_FORMS: tuple[tuple[str, dict[str, str]], ...] = (
    ("approve", {"step": "goals"}),
    ("approve", {"hash": "v2:1"}),
    ("approve", {"step": "--yes", "hash": "v2:1"}),
    ("approve", {"step": "goals", "hash": "--unreviewed"}),
    ("decide", {"finding": "--all", "choice": "apply"}),
    ("resolve", {"key": "--yes"}),
    ("comment", {"step": "goals", "key": "7", "text": "x"}),
)


@pytest.mark.rule("WEB-17")
def test_a_form_that_no_page_has_is_refused(server: Server, run: Path) -> None:
    before = runs.contents(run)
    for verb, fields in NO_FORMS:
        answer = server.post(f"/runs/{RUN}/{verb}", **fields)
        assert (answer.status_code, runs.contents(run)) == (400, before), (verb, fields)


@pytest.mark.rule("WEB-07", "WEB-17")
def test_a_refusal_has_the_words_of_the_command(server: Server, run: Path) -> None:
    answer = server.post(f"/runs/{RUN}/reopen")
    said = json.loads(command(run, "reopen", RUN))["message"]
    assert answer.status_code == 409
    assert said in unescape(answer.text)


@pytest.mark.rule("WEB-07")
def test_a_run_is_rejected_set_aside_and_taken_up_again(server: Server, run: Path) -> None:
    words = "-m is <b>not</b> an option\nnor is --yes"
    assert server.post(f"/runs/{RUN}/reject", step="goals", text=words).status_code == 303
    feedback = next((run / "feedback").glob("goals*")).read_text()
    assert words in feedback
    assert server.post(f"/runs/{RUN}/close", reason="later").status_code == 303
    assert "later" in (run / "closed.md").read_text()
    shown = server.client.get(f"/runs/{RUN}").text
    assert "Take it up again" in shown
    assert '<p class="message">later</p>' in shown
    assert '<p class="next-sentence">later</p>' in server.client.get("/").text
    assert server.post(f"/runs/{RUN}/reopen").status_code == 303
    assert [line["surface"] for line in runs.lines(run, "approvals.jsonl")] == ["web"] * 3


@pytest.mark.rule("WEB-07")
def test_what_a_person_says_of_a_finding_is_on_record(tmp_path: Path) -> None:
    run = scenes.paused(tmp_path / "shop")
    scenes.advance(run)
    with serving(run.parents[2]) as server:
        page = unescape(server.client.get(f"/runs/{RUN}").text)
        assert "Words for whoever applies it (may stay empty)" in page
        assert "qrspi decide 2026-05-17-user-auth quality-claude.R1-F01 apply<" in page
        fields = {"finding": "quality-claude.R1-F01", "choice": "apply"}
        done = server.post(f"/runs/{RUN}/decide", **fields, note="The first way.")
    assert done.status_code == 303
    assert runs.lines(run, "approvals.jsonl")[-1]["note"] == "The first way."


@pytest.mark.rule("WEB-04", "WEB-07")
def test_findings_of_the_inbox_are_decided_in_one_go(tmp_path: Path) -> None:
    run = scenes.paused(tmp_path / "shop")
    scenes.advance(run)
    with serving(run.parents[2]) as server:
        name = f"{RUN} quality-claude.R1-F01"
        page = server.client.get("/inbox").text
        assert f'form="batch" name="{name}" value="skip"' in page
        assert "The second claim contradicts the first." in page
        done = server.post("/inbox", **{name: "skip", f"{RUN} scope-claude.R1-F09": "apply"})
        assert done.status_code == 409  # there is no such finding; the other is decided
        assert f"<code>{name} skip</code>: done" in done.text
        last = runs.lines(run, "approvals.jsonl")[-1]
        assert (last["event"], last["surface"]) == ("decide", "web")


FAILING = "echo 'FAILED tests/x.py::y - boom'; exit 1\n"
GATES = 'gates:\n  test_command: "sh test.sh"\n'


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    """All tasks have ended."""
    found = Workshop(tmp_path.resolve() / "project", deliveries.quick())
    found.next()
    found.take("task-01", "a.py", "a = 1\n")
    found.next()
    (found.root / "test.sh").write_text(FAILING)
    found.write("config.md", deliveries.config("quick", GATES))
    found.git("commit", "-qam", "as it is now")
    return found


def at_tests(shop: Workshop) -> Path:
    command = [qrspi(), "resolve", "continue"]
    subprocess.run(command, cwd=shop.root, check=True, capture_output=True)
    return shop.root / "docs" / "qrspi" / RUN


@pytest.mark.rule("WEB-07", "WEB-17", "WEB-18")
def test_what_fails_is_shipped_with_a_reason_and_the_text_that_was_seen(shop: Workshop) -> None:
    run = at_tests(shop)
    with serving(shop.root) as server:
        page = unescape(server.client.get(f"/runs/{RUN}/test").text)
        known = _hash(page)
        assert '<input type="text" name="reason" required>' in page
        short = known.removeprefix("v2:")
        assert f"qrspi resolve {RUN} ship --failing --message=TEXT --text {short}" in page
        assert server.post(f"/runs/{RUN}/resolve", key="ship", hash=known).status_code == 409
        why = {"key": "ship", "reason": "Known since May."}
        unnamed = server.post(f"/runs/{RUN}/resolve", **why)
        assert unnamed.status_code == 409
        assert "name the text that was on the screen" in unnamed.text
        assert server.post(f"/runs/{RUN}/resolve", **why, hash=known).status_code == 303
    record = runs.lines(run, "approvals.jsonl")[-1]
    assert (record["surface"], record["reason"]) == ("web", "Known since May.")


@pytest.mark.rule("WEB-07", "WEB-18")
def test_tasks_are_not_merged_by_a_yes_to_another_text(shop: Workshop) -> None:
    run = shop.root / "docs" / "qrspi" / RUN
    with serving(shop.root) as server:
        pages = [
            server.client.get(path).text for path in (f"/runs/{RUN}", f"/runs/{RUN}/implement")
        ]
        known = _hash(pages[0])
        assert known == _hash(pages[1])
        assert ['id="text"' in page for page in pages] == [True, True]
        with (run / "implementation.md").open("a") as written:
            written.write("\nNobody has seen this.\n")
        before = runs.contents(run)
        said = server.post(f"/runs/{RUN}/resolve", key="continue", hash=known)
        assert (said.status_code, runs.contents(run)) == (409, before)
        assert "implementation.md is another text than the one you saw" in said.text
        assert "<ins>Nobody has seen this.</ins>" in said.text
        again = _hash(server.client.get(f"/runs/{RUN}").text)
        done = server.post(f"/runs/{RUN}/resolve", key="continue", hash=again)
        assert done.status_code == 303
    assert runs.lines(run, "approvals.jsonl")[-1]["event"] == "approve"


@pytest.mark.rule("WEB-07", "WEB-18")
def test_results_that_have_changed_are_not_shipped(shop: Workshop) -> None:
    run = at_tests(shop)
    with serving(shop.root) as server:
        known = _hash(server.client.get(f"/runs/{RUN}").text)
        with (run / "test-results.md").open("a") as written:
            written.write("\nAll is well.\n")
        before = runs.contents(run)
        said = server.post(f"/runs/{RUN}/resolve", key="ship", hash=known, reason="Known.")
        assert (said.status_code, runs.contents(run)) == (409, before)
        assert "<ins>All is well.</ins>" in said.text


@pytest.mark.rule("WEB-07", "WEB-22")
def test_no_button_stands_where_only_a_command_can_answer(tmp_path: Path) -> None:
    """A blocked task is sent again or left out by commands that no form of the page sends."""
    shop = Workshop(tmp_path.resolve() / "project", deliveries.quick())
    shop.next()
    shop.work("task-01", "a.py", "a = 1\n")
    shop.report("task-01", status="BLOCKED")
    shop.next()
    with serving(shop.root) as server:
        pages = [server.client.get(f"/runs/{RUN}{part}").text for part in ("", "/task-01")]
        assert server.post(f"/runs/{RUN}/resolve", step="task-01", key="skip").status_code == 409
    for page in pages:
        assert f"<code>qrspi task retry {RUN} task-01</code>" in page
        assert f'action="/runs/{RUN}/resolve"' not in page


@pytest.mark.rule("WEB-07", "WEB-22")
def test_a_menu_about_a_step_is_answered_on_its_page_too(tmp_path: Path) -> None:
    """After a second round with findings, a person says whether there is a third."""
    run = quick.fixed(tmp_path / "shop", "questions")
    quick.find(run, "questions", 2)
    quick.advance(run)
    quick.fix(run, "questions", 2)
    quick.advance(run)
    with serving(run.parents[2]) as server:
        pages = [server.client.get(f"/runs/{RUN}{part}").text for part in ("", "/questions")]
    offered = [page.count(f'action="/runs/{RUN}/resolve"') for page in pages]
    assert offered[0] == offered[1] > 0


@pytest.mark.rule("WEB-04", "WEB-22")
def test_findings_that_wait_for_a_person_are_a_click_away_from_the_step(tmp_path: Path) -> None:
    run = scenes.paused(tmp_path / "shop")
    scenes.advance(run)
    with serving(run.parents[2]) as server:
        page = server.client.get(f"/runs/{RUN}/goals").text
        assert f'<a class="button" href="/runs/{RUN}">Show</a>' in page
        held = f'<a href="/runs/{RUN}/goals/rounds/1#quality-claude.R1-F01">'
        assert held in server.client.get(f"/runs/{RUN}").text


@pytest.mark.rule("WEB-04")
def test_a_file_of_frontmatter_alone_is_shown_at_once(server: Server) -> None:
    assert 'front-config.md" open>' in server.client.get(f"/runs/{RUN}/files/config.md").text
    assert 'front-goals.md">' in server.client.get(f"/runs/{RUN}/files/goals.md").text


@pytest.mark.rule("WEB-10", "WEB-18")
def test_a_text_that_is_too_long_to_be_drawn_is_shown_in_full_all_the_same(
    server: Server, run: Path
) -> None:
    scenes.save(run / "goals.md", runs.artifact(body="- word\n" * 50_000))
    page = server.client.get(f"/runs/{RUN}/goals").text
    assert page.count("<code>- word</code>") == 50_000
    assert 'id="L50004"' in page


@pytest.mark.rule("WEB-06")
def test_a_change_by_whomever_is_told(server: Server, run: Path) -> None:
    with server.client.stream("GET", "/events") as events:
        lines = (line for line in events.iter_lines() if line.startswith("data: "))
        assert json.loads(next(lines)[6:]) == {"everything": True, "runs": []}
        scenes.save(run / "notes.md", b"words\n")
        told = json.loads(next(lines)[6:])
        assert told["everything"] or told["runs"] == [RUN]


@pytest.mark.rule("WEB-06", "WEB-22")
def test_the_number_in_the_header_follows_what_changes_on_disk(server: Server, run: Path) -> None:
    with server.client.stream("GET", "/events") as events:
        told = (line for line in events.iter_lines() if line.startswith("data: "))
        next(told)
        assert _waiting(server) == "1"
        command(run, "approve", RUN, "goals")
        while _waiting(server) != "0":
            next(told)


def _waiting(server: Server) -> str:
    shown = server.client.get("/").text
    return shown.partition('class="count')[2].partition(">")[2].partition("<")[0]


@pytest.mark.rule("WEB-10")
def test_a_project_without_runs_says_how_to_begin(tmp_path: Path) -> None:
    (tmp_path / "docs" / "qrspi").mkdir(parents=True)
    with serving(tmp_path) as server:
        assert "No run yet." in server.client.get("/").text


@pytest.mark.rule("WEB-10", "WEB-21")
def test_many_runs_are_paged_and_filtered(tmp_path: Path) -> None:
    names = [f"2026-01-01-run-{at:03d}" for at in range(60)]
    scenes.project(tmp_path / "shop", *names)
    with serving(tmp_path / "shop") as server:
        first, second = (server.client.get(f"/?page={at}").text for at in (1, 2))
        assert (first.count('class="run"'), second.count('class="run"')) == (
            50,
            10,
        )
        assert server.client.get("/?q=run-007").text.count('class="run"') == 1
        assert 'href="/?page=2&amp;q=run"' in server.client.get("/?q=run").text
        assert server.client.get("/?page=none").text == server.client.get("/").text


@pytest.mark.rule("WEB-13", "WEB-21")
def test_script_and_style_are_small() -> None:
    folder = Path(__file__).parents[2] / "qrspi" / "web" / "static"
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 60 * 1024
