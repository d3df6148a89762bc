"""Resources by their addresses, prompts with the waiting texts, and who is told of changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests import runs, scenes
from tests.cli.conftest import Call
from tests.mcp.host import Host, serving

from mcp.shared.exceptions import MCPError  # isort: skip

RUN = runs.RUN
HERE = f"qrspi://runs/{RUN}"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mcp").resolve() / "shop"
    scenes.advance(scenes.project(root))
    (root / "docs/qrspi" / RUN / "picture.png").write_bytes(b"\x89PNG\xff")
    (root / "docs/qrspi" / RUN / "out.md").symlink_to("/etc/passwd")
    return root


@pytest.fixture(scope="module")
def host(project: Path) -> Iterator[Host]:
    with serving(project) as host:
        yield host


def read(host: Host, address: str) -> Any:
    (found,) = host.portal.call(host.client.read_resource, address).contents
    return found


@pytest.mark.rule("HST-01", "HST-05")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_runs_and_their_texts_are_listed(mode: str, project: Path) -> None:
    with serving(project, mode=mode) as host:
        listed = host.portal.call(host.client.list_resources).resources
        assert [one.uri for one in listed] == ["qrspi://runs", HERE, f"{HERE}/files/goals.md"]
        templates = host.portal.call(host.client.list_resource_templates).resource_templates
        assert [one.uri_template for one in templates] == [
            "qrspi://runs/{run}/files/{+path}",
            "qrspi://runs/{run}/{step}/rounds/{round}",
            "qrspi://runs/{run}",
        ]


@pytest.mark.rule("HST-05")
@pytest.mark.parametrize(
    ("address", "command"),
    [
        ("qrspi://runs", ("status", "--all")),
        (HERE, ("status", RUN)),
        (f"{HERE}/goals/rounds/1", ("show", RUN, "goals", "--round", "1")),
    ],
)
def test_an_address_has_what_a_command_says(
    address: str, command: tuple[str, ...], host: Host, project: Path, process: Call
) -> None:
    found = read(host, address)
    assert found.mime_type == "application/json"
    assert json.loads(found.text) == process(*command, "--json", cwd=project).json


@pytest.mark.rule("HST-05")
def test_files_are_read_as_they_are(host: Host, project: Path) -> None:
    goals = (project / "docs/qrspi" / RUN / "goals.md").read_text()
    assert read(host, f"{HERE}/files/goals.md").text == goals
    assert read(host, f"{HERE}/files/picture.png").blob == "iVBOR/8="


@pytest.mark.rule("HST-05", "SEC-01")
@pytest.mark.parametrize(
    ("address", "said"),
    [
        (f"{HERE}/files/nope.md", f"absent: nope.md of {RUN} is not there"),
        (f"{HERE}/files/out.md", f"not-a-file: out.md of {RUN} cannot be read: it is a symlink"),
        (
            f"{HERE}/files/reviews",
            f"not-a-file: reviews of {RUN} cannot be read: it is a directory",
        ),
        (f"{HERE}/files/../../../secret", f"Unknown resource: {HERE}/files/../../../secret"),
        (f"{HERE}/files/%2e%2e/secret", f"Unknown resource: {HERE}/files/%2e%2e/secret"),
        (f"{HERE}/files//etc/passwd", f"Unknown resource: {HERE}/files//etc/passwd"),
        (
            f"{HERE}/goals/rounds/9",
            f"no-round: {RUN} has no round 09 of goals: `qrspi next {RUN}` opens rounds when they "
            "are due",
        ),
    ],
)
def test_what_is_not_there_is_said(address: str, said: str, host: Host) -> None:
    with pytest.raises(MCPError) as error:
        read(host, address)
    assert str(error.value) == said


@pytest.mark.rule("HST-05")
def test_prompts_have_the_waiting_texts(host: Host, project: Path, process: Call) -> None:
    def prompt(name: str, **arguments: str) -> str:
        found = host.portal.call(host.client.get_prompt, name, arguments)
        return str(found.messages[0].content.text)

    listed = host.portal.call(host.client.list_prompts).prompts
    assert [one.name for one in listed] == ["author", "review", "fix"]
    told = process("prompt", RUN, "quality-claude", cwd=project).out
    assert prompt("review", tag="quality-claude").rstrip("\n") == told.rstrip("\n")
    assert prompt("review", run=RUN) == (
        "2 wait: quality-claude, scope-claude. Give each to a fresh agent: the tool read_prompt "
        "has its text."
    )
    following = process("status", RUN, "--json", cwd=project).json["runs"][0]["next"]
    waits = f"Nobody is waited for here. What the run needs: {following['summary']}"
    assert (prompt("fix"), prompt("author", run=RUN)) == (waits, waits)
    assert prompt("author", run="nope").startswith("unknown-run: no run 'nope' in ")


def told(host: Host, addresses: list[str], act: Callable[[], object], last: str) -> list[str]:
    """What a client that listens hears of, until it hears of `last`."""

    async def listen() -> list[str]:
        heard: list[str] = []
        with anyio.fail_after(30):
            wanted = {"resource_subscriptions": addresses, "resources_list_changed": True}
            async with host.client.listen(**wanted) as events:
                await anyio.to_thread.run_sync(act)
                async for event in events:
                    heard.append(getattr(event, "uri", "list"))
                    if heard[-1] == last:
                        break
        return heard

    return host.portal.call(listen)


@pytest.mark.rule("HST-05", "HST-14")
def test_who_listens_is_told_of_what_changed(host: Host, project: Path) -> None:
    run = project / "docs/qrspi" / RUN
    goals, first = f"{HERE}/files/goals.md", f"{HERE}/goals/rounds/1"
    everything = ["qrspi://runs", HERE, goals, first, f"{HERE}/goals/rounds/2"]
    edit = lambda: scenes.save(run / "goals.md", runs.artifact(body="# Goals\n\nOther.\n"))  # noqa: E731
    assert told(host, everything, edit, goals) == ["qrspi://runs", HERE, goals]
    review = lambda: scenes.save(run / scenes.ROUND / scenes.FINDING, runs.finding())  # noqa: E731
    assert told(host, everything, review, first) == ["qrspi://runs", HERE, first]
    new = lambda: scenes.add_run(project, "2026-05-18-another-one")  # noqa: E731
    other = "qrspi://runs/2026-05-18-another-one"
    assert set(told(host, [other], new, other)) == {"list", other}
