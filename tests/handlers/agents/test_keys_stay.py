"""A key goes to its provider and nowhere else: every file, every output, every argument list."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.handlers.shop import Shop, commands, in_review
from tests.world import chat_server
from tests.world.chat_server import Server, answer, completion

KEY = "sk-live-9f8e7d6c5b4a39281706f5e4"
COMMAND = Path(sys.executable).with_name("qrspi")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("SHOP_API_KEY", KEY)
    with chat_server.running() as server:
        yield server


def provider(server: Server) -> str:
    return (
        f"{{claude: {{base_url: '{server.base_url}', api_key_env: SHOP_API_KEY, "
        "transport_type: openai-chat-completions}}"
    )


def where(shop: Shop, word: str = KEY) -> list[str]:
    """Every file of the project, git's own included, that holds the word."""
    files = (file for file in shop.root.rglob("*") if file.is_file())
    return [
        file.relative_to(shop.root).as_posix()
        for file in files
        if word.encode() in file.read_bytes()
    ]


def run(shop: Shop, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "-v", *words], cwd=shop.root, capture_output=True, text=True, timeout=60
    )


@pytest.mark.rule("TRN-06", "SEC-05", "TRN-02")
def test_a_key_is_sent_and_found_nowhere(tmp_path: Path, server: Server) -> None:
    shop = in_review(tmp_path / "shop", providers=provider(server))
    done = run(shop, "next", "--dispatch", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["next"]["action"] == "approve"
    assert {said.headers["authorization"] for said in server.said} == {f"Bearer {KEY}"}
    assert [said.body["model"] for said in server.said].count("large") == 1
    assert (where(shop), KEY in done.stdout + done.stderr) == ([], False)
    assert [one["input_tokens"] for one in shop.ledger()] == [11, 11]


@pytest.mark.rule("TRN-06", "SEC-05", "SPD-02")
def test_a_provider_that_quotes_the_key_is_not_quoted(tmp_path: Path, server: Server) -> None:
    server.behaviours = [answer(f'{{"error": {{"message": "{KEY} is no key"}}}}'.encode(), 401)]
    shop = in_review(tmp_path / "shop", providers=provider(server))
    done = run(shop, "next", "--dispatch")
    assert done.returncode == 4
    assert f"{server.base_url} answered 401: [redacted] is no key" in done.stderr
    assert (where(shop), KEY in done.stdout + done.stderr) == ([], False)


@pytest.mark.rule("TRN-06", "SEC-05", "TRN-07")
def test_a_model_that_repeats_the_key_does_not_get_it_into_a_file(
    tmp_path: Path, server: Server
) -> None:
    server.behaviours = [answer(completion(f"<<<FINDING-BOUNDARY>>>\nI saw {KEY}."))]
    shop = in_review(tmp_path / "shop", providers=provider(server))
    done = run(shop, "next", "--dispatch")
    assert (where(shop), KEY in done.stdout + done.stderr) == ([], False)
    found = "reviews/design/round-01/quality-claude.finding-F01.md"
    assert shop.read(found) == "I saw [redacted].\n"


@pytest.mark.rule("TRN-06", "SEC-05")
def test_a_key_is_on_no_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = in_review(tmp_path / "shop", commands=commands(tmp_path / "agent"))
    monkeypatch.setenv("SHOP_API_KEY", KEY)
    listing = tmp_path / "processes"
    shop.agent(
        "cat > /dev/null\nfor file in /proc/[0-9]*/cmdline; do tr '\\0' ' ' < $file; echo; done "
        f">> {listing} 2> /dev/null\nprintf NO_FINDINGS"
    )
    done = run(shop, "next", "--dispatch")
    assert done.returncode == 0, done.stderr
    assert "next --dispatch" in listing.read_text()
    assert (KEY in listing.read_text(), where(shop)) == (False, [])


def test_the_search_would_find_a_key(tmp_path: Path) -> None:
    shop = in_review(tmp_path / "shop")
    shop.write(".qrspi/dispatch/note.md", f"here: {KEY}")
    assert len(where(shop)) == 1
