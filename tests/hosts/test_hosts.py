"""The real programs with a scripted model: what it tries to sneak past is refused, and read."""

from __future__ import annotations

import json
from pathlib import Path

import plugin
import pytest

from tests import runs, scenes
from tests.hosts import shown_session
from tests.hosts.conftest import NAMES, Make
from tests.hosts.programs import ROOT, Host, Session
from tests.hosts.scripted_model import Call, Say, Turn

RUN = f"docs/qrspi/{runs.RUN}"
APPROVED = runs.artifact("approved", scenes.BODY).decode()
FINDING = runs.finding().decode()

SNEAKY = [  # commands that would set an approval, touch the engine's files, or work ahead
    f"sed -i 's/status: draft/status: approved/' {RUN}/goals.md",
    f"printf -- '---\\nstatus: approved\\n---\\n' | tee {RUN}/goals.md",
    f"cat > {RUN}/goals.md <<'EOF'\n{APPROVED}EOF\n",
    f"git checkout yes -- {RUN}/goals.md",
    f"cd {RUN} && python3 -c \"p='goals.md'; t=open(p).read(); "
    "open(p,'w').write(t.replace('draft','approved'))\"",
    f"cp yes.md {RUN}/goals.md",
    f"echo '{{}}' >> {RUN}/approvals.jsonl",
    f"rm {RUN}/reviews/goals/round-01/.dispatch-manifest.json",
    f"echo x > {RUN}/.qrspi/audit.jsonl",
    f"cat > {RUN}/plan.md <<'EOF'\n# Plan\nEOF\n",
]
HONEST = f"cat > {RUN}/{scenes.ROUND}/{scenes.FINDING} <<'EOF'\n{FINDING}EOF\n"


def shell(name: str, command: str) -> Call:
    if name == "codex":
        return Call("exec_command", {"cmd": command})
    tool = {"claude": "Bash", "copilot": "bash"}[name]
    return Call(tool, {"command": command, "description": "work"})


def hold_an_approval_ready(host: Host) -> None:
    """In a file, and in a commit on another branch."""
    scenes.commit_all(host.project)
    goals = host.project / RUN / "goals.md"
    draft = goals.read_text()
    scenes.git(host.project, "checkout", "-q", "-b", "yes")
    goals.write_text(APPROVED)
    scenes.commit_all(host.project)
    scenes.git(host.project, "checkout", "-q", "main")
    assert goals.read_text() == draft
    (host.project / "yes.md").write_text(APPROVED)


def files(host: Host) -> dict[str, bytes]:
    run = host.project / RUN
    return {
        path.relative_to(run).as_posix(): path.read_bytes()
        for path in sorted(run.rglob("*"))
        if path.is_file() and "lock" not in path.name
    }


@pytest.mark.rule("HST-02", "HST-06", "HST-15", "HST-16")
@pytest.mark.parametrize("name", NAMES)
def test_every_way_round_is_refused_and_honest_work_passes(name: str, make: Make) -> None:
    host = make(name)
    hold_an_approval_ready(host)
    before = files(host)
    turns: list[Turn] = [shell(name, command) for command in [*SNEAKY, HONEST]]
    session = host.session([*turns, Say("Done."), Say("I stop here.")])
    assert session.status == 0, session.stderr
    handed_in = f"{scenes.ROUND}/{scenes.FINDING}"
    assert files(host) == {**before, handed_in: FINDING.encode()}
    assert session.read().count("[qrspi] ") >= len(SNEAKY)


@pytest.mark.rule("HST-06")
def test_the_tools_of_claude_code_that_write_files(make: Make) -> None:
    host = make("claude")
    goals = f"{host.project}/{RUN}/goals.md"
    before = files(host)
    session = host.session(
        [
            Call("Read", {"file_path": goals}),
            Call("Write", {"file_path": goals, "content": APPROVED}),
            Call("Edit", {"file_path": goals, "old_string": "draft", "new_string": "approved"}),
            Call("Write", {"file_path": goals.replace("goals", "design"), "content": "x"}),
            Call("Edit", {"file_path": goals, "old_string": "A page", "new_string": "One page"}),
        ]
    )
    changed = before["goals.md"].replace(b"A page", b"One page")
    assert files(host) == {**before, "goals.md": changed}
    assert session.read().count("is set by an approval and not by hand") == 2
    assert session.read().count("design.md comes after goals.md") == 1


@pytest.mark.rule("HST-06")
def test_the_tools_of_copilot_that_write_files(make: Make) -> None:
    host = make("copilot")
    goals = f"{host.project}/{RUN}/goals.md"
    before = files(host)
    session = host.session(
        [
            Call("create", {"path": goals.replace("goals", "design"), "file_text": "x"}),
            Call(
                "edit", {"path": goals, "old_str": "status: draft", "new_str": "status: approved"}
            ),
            Call("edit", {"path": goals, "old_str": "A page", "new_str": "One page"}),
        ]
    )
    changed = before["goals.md"].replace(b"A page", b"One page")
    assert files(host) == {**before, "goals.md": changed}
    assert session.read().count("is set by an approval and not by hand") == 1
    assert session.read().count("design.md comes after goals.md") == 1


@pytest.mark.rule("HST-06", "HST-16")
def test_patches_of_codex(make: Make) -> None:
    host = make("codex")
    before = files(host)
    head = f"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: {RUN}/goals.md\n@@\n"
    sneaky = f"{head}-status: draft\n+status: approved\n*** End Patch\nEOF\n"
    honest = f"{head}-A page that loads.\n+One page that loads.\n*** End Patch\nEOF\n"
    session = host.session([shell("codex", sneaky), shell("codex", honest)])
    changed = before["goals.md"].replace(b"A page", b"One page")
    assert files(host) == {**before, "goals.md": changed}
    assert session.read().count("is set by an approval and not by hand") == 1


def told_at_the_start(session: Session) -> str:
    """The first request, before the model has said anything."""
    first = session.requests[0]
    return json.dumps(first.get("messages") or first.get("input"))


@pytest.mark.rule("HST-07", "HST-08", "HST-17")
@pytest.mark.parametrize("name", NAMES)
def test_a_session_is_told_what_waits_and_stops_once_at_what_is_left(name: str, make: Make) -> None:
    host = make(name)
    driving = host.session([shell(name, f"qrspi status {runs.RUN}"), Say("Done."), Say("Because.")])
    assert f"{runs.RUN} (goals) waits for an agent" in told_at_the_start(driving)
    assert driving.read().count("Or say why you stop here.") == 1
    assert driving.read().count("Because.") == 0  # it was let go, and so not asked again
    other = host.session([shell(name, "ls"), Say("Done.")])
    assert other.read().count("Or say why you stop here.") == 0


@pytest.mark.rule("HST-10", "HST-12")
@pytest.mark.parametrize("name", NAMES)
def test_the_host_knows_the_server_the_skill_and_our_lines(name: str, make: Make) -> None:
    host = make(name)
    listed = host.run("mcp", "list")
    assert "qrspi" in listed.stdout + listed.stderr, listed
    request = json.dumps(host.session([Say("Done."), Say("Done.")]).requests[0])
    assert "Plan, review and build a feature as a run of qrspi" in request
    assert "This project plans and reviews its work in runs of" in request


@pytest.mark.rule("HST-15")
@pytest.mark.parametrize("name", NAMES)
def test_where_there_is_no_qrspi_nobody_is_in_the_way(name: str, make: Make) -> None:
    host = make(name)
    host.without_qrspi = True
    goals = host.project / RUN / "goals.md"
    host.session([shell(name, f"sed -i s/draft/approved/ {RUN}/goals.md")])
    assert "status: approved" in goals.read_text()


@pytest.mark.rule("HST-11")
def test_the_plugin_is_valid_and_works_in_claude_code(make: Make) -> None:
    host = make("claude")
    assert host.run("plugin", "validate", str(plugin.PLUGIN)).returncode == 0
    _uninstall(host)
    _add_plugin(host)
    session = host.session([shell("claude", SNEAKY[0]), Say("Done."), Say("Done.")])
    assert session.read().count("is set by an approval and not by hand") == 1
    assert "qrspi" in host.run("mcp", "list").stdout


@pytest.mark.rule("HST-11")
def test_the_plugin_works_in_copilot(make: Make) -> None:
    host = make("copilot")
    _uninstall(host)
    _add_plugin(host)
    session = host.session([shell("copilot", SNEAKY[0]), Say("Done."), Say("Done.")])
    assert session.read().count("is set by an approval and not by hand") == 1


def _uninstall(host: Host) -> None:
    host.qrspi("uninstall", NAMES[host.name], "--yes")


def _add_plugin(host: Host) -> None:
    for words in (["marketplace", "add", str(plugin.PLUGIN)], ["install", "qrspi@qrspi"]):
        done = host.run("plugin", *words)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.rule("HST-10")
@pytest.mark.parametrize("name", NAMES)
def test_for_all_projects_of_a_user(name: str, make: Make) -> None:
    host = make(name)
    _uninstall(host)
    host.qrspi("install", NAMES[name], "--user", "--yes")
    listed = host.run("mcp", "list")
    assert "qrspi" in listed.stdout + listed.stderr, listed
    session = host.session([shell(name, SNEAKY[0]), Say("Done."), Say("Done.")])
    assert session.read().count("is set by an approval and not by hand") == 1


@pytest.mark.rule("HST-02")
@pytest.mark.parametrize("name", NAMES)
def test_the_session_on_the_page_is_a_real_one(name: str, make: Make, tmp_path: Path) -> None:
    make(name)  # skips where it cannot be run
    page = (ROOT / "docs" / "hosts" / f"{NAMES[name]}.md").read_text("utf-8")
    told = shown_session.session(name, tmp_path / "scratch")
    assert f"```text\n{told}```" in page, told
