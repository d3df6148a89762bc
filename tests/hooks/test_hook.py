"""`qrspi hook` as a process of its own, given what each host really sends."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from qrspi.hooks import answer
from tests import runs, scenes
from tests.cli.conftest import COMMAND

RECORDED = Path(__file__).resolve().parents[2] / "fixtures" / "hosts"
WAYS = {  # host, and how each of its ways to change a file names path, text, before and after
    "claude-code": ("file_path", "content", "old_string", "new_string"),
    "copilot": ("path", "file_text", "old_str", "new_str"),
}
APPROVED = runs.artifact("approved", scenes.BODY).decode()
DRAFT = runs.artifact("draft", scenes.BODY).decode()


class Told(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def reason(self) -> str:
        """Of a refusal, whichever host's shape it has."""
        document = json.loads(self.out)
        inner = document.get("hookSpecificOutput", document)
        assert inner["permissionDecision"] == "deny"
        return str(inner["permissionDecisionReason"])


SILENT = Told(0, "", "")


def recorded(host: str, name: str, project: Path) -> dict[str, Any]:
    text = (RECORDED / host / f"{name}.json").read_text()
    found: dict[str, Any] = json.loads(text.replace("PROJECT", str(project)))
    return found


def hook(event: str, host: str, payload: object, cwd: Path, **environment: str) -> Told:
    done = subprocess.run(
        [COMMAND, "hook", event, "--host", host],
        input=payload if isinstance(payload, str) else json.dumps(payload),
        capture_output=True,
        text=True,
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "HOME": str(cwd), **environment},
    )
    return Told(done.returncode, done.stdout, done.stderr)


def shell(host: str, command: str, project: Path) -> Told:
    payload = recorded(host, "pre-tool-shell", project)
    payload["toolArgs" if host == "copilot" else "tool_input"]["command"] = command
    return hook("pre-tool", host, payload, project)


def tool(host: str, kind: str, project: Path, **arguments: str) -> Told:
    payload = recorded(host, f"pre-tool-{kind}", project)
    key = "toolArgs" if "toolArgs" in payload else "tool_input"
    path, text, old, new = WAYS[host]
    names = {"path": path, "text": text, "old": old, "new": new}
    payload[key] = {names[name]: value for name, value in arguments.items()}
    return hook("pre-tool", host, payload, project)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Its goals are drafted, and nothing after them."""
    return scenes.project(tmp_path.resolve())


def project_of(run: Path) -> Path:
    return run.parents[2]


REASON = (
    "[qrspi] goals.md: `status: approved` is set by an approval and not by hand. When its review "
    f"is done, a person runs `qrspi approve {runs.RUN} goals`; until then `qrspi next {runs.RUN}` "
    "goes on."
)


@pytest.mark.rule("HST-02", "HST-06", "HST-15")
@pytest.mark.parametrize("host", ["claude-code", "codex", "copilot"])
def test_a_refusal_has_the_shape_that_the_host_reads_and_ends_with_0(host: str, run: Path) -> None:
    told = shell(host, f"sed -i 's/draft/approved/' {run}/goals.md", project_of(run))
    answer = {"permissionDecision": "deny", "permissionDecisionReason": REASON}
    if host != "copilot":
        answer = {"hookSpecificOutput": {"hookEventName": "PreToolUse", **answer}}
    assert (told.status, json.loads(told.out), told.err) == (0, answer, "")


@pytest.mark.rule("HST-06")
@pytest.mark.parametrize(
    ("host", "kind"),
    [("claude-code", "write"), ("copilot", "write"), ("copilot", "claude-write")],
)
def test_a_tool_that_writes_a_whole_file(host: str, kind: str, run: Path) -> None:
    project, path = project_of(run), f"{run}/goals.md"
    assert tool(host, kind, project, path=path, text=APPROVED).reason == REASON
    assert tool(host, kind, project, path=path, text=DRAFT) == SILENT
    assert (
        "belongs to the engine"
        in tool(host, kind, project, path=f"{run}/approvals.jsonl", text="{}\n").reason
    )
    assert tool(host, kind, project, path=f"{run}/design.md", text=DRAFT).reason == (
        "[qrspi] design.md comes after goals.md, which is not approved yet. "
        f"`qrspi next {runs.RUN}` says what goals waits for."
    )
    assert tool(host, kind, project, path=f"{project}/README.md", text=APPROVED) == SILENT


@pytest.mark.rule("HST-06")
@pytest.mark.parametrize(
    ("host", "kind"), [("claude-code", "edit"), ("copilot", "edit"), ("copilot", "claude-edit")]
)
def test_a_tool_that_edits_a_piece(host: str, kind: str, run: Path) -> None:
    project, path = project_of(run), f"{run}/goals.md"
    refused = tool(host, kind, project, path=path, old="status: draft", new="status: approved")
    assert refused.reason == REASON
    assert tool(host, kind, project, path=path, old="draft", new="approved").reason == REASON
    assert tool(host, kind, project, path=path, old="A page", new="An approved page") == SILENT
    assert tool(host, kind, project, path=f"{project}/a.py", old="draft", new="approved") == SILENT


GOALS = f"docs/qrspi/{runs.RUN}/goals.md"
RUN_FOLDER = f"docs/qrspi/{runs.RUN}"
EVERYDAY = [
    "ls",
    "ls -la docs/qrspi",
    f"cat {GOALS}",
    f"cat {RUN_FOLDER}/*.md",
    f"head -20 {GOALS}",
    f"sed -n 1,40p {GOALS}",
    f"sed -n '/status: approved/p' {GOALS}",
    f"grep -n approved {GOALS}",
    "grep -rn 'status: approved' docs/qrspi",
    "grep -rln 'status: approved' docs/qrspi | xargs cat",
    "grep -rl approved docs/qrspi | head -3",
    "grep -rl approved docs/qrspi | xargs grep -n draft",
    f"grep -c 'status: draft' {GOALS} && echo approved",
    f"awk '/^status:/ {{print $2}}' {GOALS}",
    f"awk 'NR==2 && /approved/' {GOALS} > /tmp/x",
    f"for f in {RUN_FOLDER}/*.md; do grep -H '^status: approved' $f; done",
    f"for f in {RUN_FOLDER}/*.md; do echo $f; done > /tmp/names",
    f'while read -r l; do echo "$l"; done < {GOALS}',
    f"{{ cat {GOALS}; echo approved; }} | less",
    f"{{ cat {GOALS}; echo status: approved; }} > /tmp/both.txt",
    f"( cd {RUN_FOLDER} && ls )",
    f"if grep -q 'status: approved' {GOALS}; then echo yes; fi",
    f"test -f {GOALS} && echo there",
    f"[ -f {GOALS} ] || echo none",
    f"wc -l {GOALS}",
    f"diff {GOALS} /tmp/old.md",
    f"stat {GOALS}",
    "find docs/qrspi -name '*.md' -exec grep -l approved {} +",
    "find docs/qrspi -name goals.md",
    "find . -name '*.py' | xargs grep -n qrspi",
    "git status",
    "git status --short docs/qrspi",
    f"git diff -- {GOALS}",
    f"git log --oneline -- {GOALS}",
    f"git show HEAD:{GOALS}",
    f"git add {GOALS}",
    "git add -A && git commit -qm 'docs(qrspi): approved goals'",
    f"git commit -m 'Use status: approved of qrspi' -- {GOALS}",
    "git stash list",
    "git log --grep approved",
    "git reset HEAD~1",
    "git reset --soft HEAD~1",
    "git clean -n",
    "git clean -fdxn docs/qrspi",
    "git clean -fd src",
    "git clean -fdx -e docs/qrspi",
    "git switch -c feature/x",
    "git checkout -b approved-things",
    "pytest -q tests -k approved",
    "pytest -q 2>&1 | tee /tmp/qrspi-test.log",
    "python -m pytest tests/qrspi -x > /tmp/out.txt 2>&1",
    "python3 -c \"print(open('docs/qrspi/x').read())\"",
    f"python3 -c \"print('approved' in open('{GOALS}').read())\"",
    f"python3 - <<'E'\nimport json\nprint(json.dumps({{'status': 'approved'}}))  # {GOALS}\nE",
    "npm test -- --grep approved",
    "make check",
    "sed -i 's/draft/approved/' src/state.py",
    "sed -i 's/status: draft/status: approved/' tests/fixtures/order.yml",
    "echo 'status: approved' > src/order.yml",
    "cat > src/order.py <<'E'\nSTATUS = 'approved'\nE",
    "cp src/approved.py src/draft.py",
    "mv /tmp/approved.txt notes.txt",
    f"cp {GOALS} /tmp/approved.md",
    f"cat {GOALS} | tee /tmp/approved.md",
    f"sed s/draft/approved/ {GOALS} > /tmp/preview.md",
    f"time cat {GOALS}",
    f"stdbuf -o 0 cat {GOALS}",
    f"bash -c 'grep approved {GOALS}'",
    f"bash -ce 'cat {GOALS}'",
    f"timeout 5 cat {GOALS}",
    f'out=$(grep approved {GOALS}); echo "$out"',
    f'f=$(ls {RUN_FOLDER}/goals.md); cat "$f"',
    f"grep status {GOALS} > $(mktemp)",
    f"ls {RUN_FOLDER} | xargs -n1 echo",
    f"qrspi status {runs.RUN}",
    f"qrspi next {runs.RUN} --json | jq .next",
    f"qrspi log {runs.RUN} | grep approved > /tmp/log",
    f"jq -r .who {RUN_FOLDER}/approvals.jsonl",
    f"tail -1 {RUN_FOLDER}/.qrspi/audit.jsonl",
    f"cat {RUN_FOLDER}/.qrspi/audit.jsonl > /tmp/audit",
]


@pytest.mark.rule("HST-06", "HST-16")
def test_everyday_commands_pass(run: Path) -> None:
    assert len(EVERYDAY) >= 60
    denied = {command: _asked(command, run) for command in EVERYDAY}
    assert {command: told for command, told in denied.items() if told} == {}


def _asked(command: str, run: Path) -> Any:
    call = {"cwd": str(project_of(run)), "tool_name": "Bash", "tool_input": {"command": command}}
    return answer.answer("pre-tool", "claude-code", json.dumps(call).encode())


@pytest.mark.rule("HST-06")
@pytest.mark.parametrize("host", ["claude-code", "copilot"])
def test_reading_passes(host: str, run: Path) -> None:
    payload = recorded(host, "pre-tool-read", project_of(run))
    text = json.dumps(payload).replace("a.md", f"docs/qrspi/{run.name}/approvals.jsonl")
    assert hook("pre-tool", host, text, project_of(run)) == SILENT


@pytest.mark.rule("HST-06", "HST-16")
def test_a_patch_of_codex(run: Path) -> None:
    project = project_of(run)
    payload = recorded("codex", "pre-tool-patch", project)
    assert hook("pre-tool", "codex", payload, project) == SILENT
    text = f"*** Begin Patch\n*** Update File: docs/qrspi/{run.name}/goals.md\n@@\n"
    text += "-status: draft\n+status: approved\n*** End Patch\n"
    payload["tool_input"]["command"] = f"apply_patch <<'EOF'\n{text}EOF\n"
    assert hook("pre-tool", "codex", payload, project).reason == REASON
    payload |= {"tool_name": "apply_patch", "tool_input": {"command": text}}
    assert hook("pre-tool", "codex", payload, project).reason == REASON


@pytest.mark.rule("HST-16")
def test_a_copy_is_judged_by_what_it_is_a_copy_of(run: Path, tmp_path: Path) -> None:
    project = project_of(run)
    (project / "yes.md").write_text(APPROVED)
    (project / "goals.md").write_text(DRAFT)
    assert shell("codex", f"cp yes.md {run}/goals.md", project).reason == REASON
    assert shell("codex", f"mv yes.md {run}/goals.md", project).reason == REASON
    assert shell("codex", f"cat yes.md > {run}/goals.md", project).reason == REASON
    assert shell("codex", f"cp goals.md {run}/", project) == SILENT
    assert shell("codex", f"cp goals.md {run}/goals.md", project) == SILENT


@pytest.mark.rule("HST-16")
def test_what_git_brings_back_is_judged_by_what_git_has(run: Path) -> None:
    project = project_of(run)
    (run / "goals.md").write_text(APPROVED)
    scenes.commit_all(project)
    (run / "goals.md").write_text(DRAFT)
    scenes.commit_all(project)
    name = f"docs/qrspi/{run.name}/goals.md"
    assert shell("claude-code", f"git checkout HEAD~1 -- {name}", project).reason == REASON
    assert shell("claude-code", f"git restore -s HEAD~1 {name}", project).reason == REASON
    assert shell("claude-code", f"git show HEAD~1:{name} > {name}", project).reason == REASON
    assert shell("claude-code", f"git checkout HEAD -- {name}", project) == SILENT
    assert shell("claude-code", f"git checkout -- {name}", project) == SILENT


@pytest.mark.rule("HST-16")
def test_wildcards_and_links_lead_to_the_same_file(run: Path) -> None:
    project = project_of(run)
    (project / "link").symlink_to(run)
    command = "sed -i s/draft/approved/ docs/qrspi/*/g*.md"
    assert shell("codex", command, project).reason == REASON
    assert (
        shell("codex", f"cd {run} && sed -i s/draft/approved/ goals.md", project).reason == REASON
    )
    told = shell("codex", f"echo qrspi; sed -i s/draft/approved/ {project}/link/goals.md", project)
    assert told.reason == REASON


@pytest.mark.rule("HST-06")
def test_honest_work_of_each_role_passes(tmp_path: Path) -> None:
    run = scenes.assembled(tmp_path.resolve())
    project = project_of(run)
    for name in (scenes.DISPOSITIONS, f"{scenes.ROUND}/{scenes.FINDING}", "goals.md"):
        command = f"cat > {run}/{name} <<'EOF'\n{DRAFT}EOF\n"
        assert shell("claude-code", command, project) == SILENT, name
        assert tool("claude-code", "write", project, path=f"{run}/{name}", text=DRAFT) == SILENT
    for command in (
        "qrspi next --json",
        f"qrspi approve {run.name} goals",
        "git add -A docs/qrspi",
    ):
        assert shell("claude-code", command, project) == SILENT, command


@pytest.mark.rule("HST-06", "HST-09")
def test_a_broken_run_keeps_nobody_from_working(run: Path) -> None:
    project = project_of(run)
    (run / "config.md").write_bytes(b"---\nroute: [\xff\n---\n")
    assert tool("claude-code", "write", project, path=f"{run}/design.md", text=DRAFT) == SILENT
    assert tool("claude-code", "write", project, path=f"{project}/a.py", text="x") == SILENT
    (run / "config.md").unlink()
    (run / "goals.md").unlink()
    (run / "goals.md").mkdir()
    assert tool("claude-code", "write", project, path=f"{run}/design.md", text=DRAFT) == SILENT


@pytest.mark.rule("HST-09")
@pytest.mark.parametrize("event", ["pre-tool", "stop", "session-start"])
def test_without_a_run_a_hook_is_silent(event: str, tmp_path: Path) -> None:
    payload = {"cwd": str(tmp_path), "tool_name": "Write", "transcript_path": "/nowhere"}
    payload |= {"tool_input": {"file_path": f"{tmp_path}/docs/qrspi/x/goals.md", "content": "x"}}
    assert hook(event, "claude-code", payload, tmp_path) == SILENT
    (tmp_path / "docs" / "qrspi").mkdir(parents=True)
    assert hook(event, "claude-code", payload, tmp_path) == SILENT


@pytest.mark.rule("HST-09", "HST-15")
@pytest.mark.parametrize(
    ("words", "payload"),
    [
        (["pre-tool", "--host", "claude-code"], "{qrspi"),
        (["pre-tool", "--host", "claude-code"], '["qrspi"]'),
        (["pre-tool", "--host", "emacs"], "{}"),
        (["before-tool", "--host", "codex"], "{}"),
        (["pre-tool", "--host", "codex", "--format", "9"], "{}"),
        ([], "{}"),
    ],
)
def test_what_a_hook_cannot_read_is_one_line_and_never_a_block(
    words: list[str], payload: str, tmp_path: Path
) -> None:
    command = [COMMAND, "hook", *words]
    done = subprocess.run(command, input=payload, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (0, "", 1)
    assert done.stderr.startswith("hook of qrspi: ")


@pytest.mark.rule("HST-09")
def test_a_project_that_is_gone_is_no_block(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    payload = {"cwd": str(gone), "tool_name": "Bash", "tool_input": {"command": "rm docs/qrspi/x"}}
    assert hook("pre-tool", "copilot", payload, tmp_path) == SILENT
    assert hook("stop", "copilot", {"cwd": str(gone)}, tmp_path) == SILENT


@pytest.mark.rule("HST-08")
@pytest.mark.parametrize("host", ["claude-code", "codex", "copilot"])
def test_a_session_starts_with_the_runs_that_wait(host: str, tmp_path: Path) -> None:
    project = tmp_path.resolve()
    scenes.project(project, *(f"2026-05-{day}-user-auth" for day in range(11, 18)))
    told = hook("session-start", host, recorded(host, "session-start", project), project)
    document = json.loads(told.out)
    said = document.get("hookSpecificOutput", document)["additionalContext"].splitlines()
    assert said[:3] == [
        "[qrspi] 7 runs are under way in docs/qrspi.",
        f"{runs.RUN} (goals) waits for the engine: Prepare round 1 of goals: "
        f"run `qrspi next {runs.RUN}`.",
        f"  Go on with `qrspi next {runs.RUN} --json`.",
    ]
    assert len(said) == 10
    assert ("hookSpecificOutput" in document) == (host != "copilot")


@pytest.mark.rule("HST-08", "APR-03")
def test_no_session_is_told_to_go_on_by_approving(tmp_path: Path) -> None:
    run = scenes.prepared(tmp_path.resolve())
    scenes.review_clean(run)
    scenes.advance(run)
    payload = recorded("codex", "session-start", run.parents[2])
    told = hook("session-start", "codex", payload, run.parents[2])
    document = json.loads(told.out)
    said = document.get("hookSpecificOutput", document)["additionalContext"].splitlines()
    assert said[1:3] == [
        f"{runs.RUN} (goals) waits for a person: Reviews passed clean in round 1.",
        f"  `qrspi status {runs.RUN}` shows what the person can answer.",
    ]


@pytest.mark.rule("HST-08")
def test_a_session_without_open_runs_starts_in_silence(tmp_path: Path) -> None:
    scenes.complete(tmp_path)
    payload = recorded("codex", "session-start", tmp_path)
    assert hook("session-start", "codex", payload, tmp_path) == SILENT


def transcript(project: Path, host: str, text: str) -> str:
    """A session in which somebody said the text, as each host writes it down."""
    lines = {
        "claude-code": {"type": "user", "message": {"role": "user", "content": text}},
        "codex": {
            "type": "response_item",
            "payload": {"type": "function_call", "arguments": json.dumps({"cmd": text})},
        },
        "copilot": {
            "type": "assistant.message",
            "data": {"content": "", "toolRequests": [{"arguments": {"command": text}}]},
        },
    }
    file = project / "transcript.jsonl"
    file.write_text('{"type": "summary"}\nnot json\n' + json.dumps(lines[host]) + "\n")
    return str(file)


def stopping(host: str, project: Path, said: str, **more: object) -> Told:
    payload = recorded(host, "stop", project)
    key = "transcriptPath" if host == "copilot" else "transcript_path"
    return hook("stop", host, {**payload, key: transcript(project, host, said), **more}, project)


@pytest.mark.rule("HST-07", "HST-17")
@pytest.mark.parametrize("host", ["claude-code", "codex", "copilot"])
def test_a_stop_says_once_what_is_left_for_agents(host: str, tmp_path: Path) -> None:
    run = scenes.prepared(tmp_path.resolve())
    project = project_of(run)
    told = stopping(host, project, f"qrspi next {run.name} --json")
    answer = json.loads(told.out)
    assert answer["decision"] == "block"
    assert answer["reason"].startswith(f"[qrspi] {run.name} (goals) waits for an agent: Send 2 ")
    assert stopping(host, project, f"qrspi next {run.name}", stop_hook_active=True) == SILENT
    assert stopping(host, project, "Mend the build, please.") == SILENT
    assert stopping(host, project, f"[qrspi] {run.name} waits for an agent") == SILENT
    assert json.loads(stopping(host, project, "qrspi next user-auth").out) == answer
    assert stopping(host, project, "What does user-auth do?") == SILENT


@pytest.mark.rule("HST-07")
def test_a_run_that_waits_for_a_person_lets_go(tmp_path: Path) -> None:
    run = scenes.clean(tmp_path.resolve())
    scenes.advance(run)
    assert stopping("claude-code", project_of(run), f"qrspi next {run.name}") == SILENT


@pytest.mark.rule("HST-07", "HST-08")
def test_an_agent_that_the_engine_has_sent_is_left_alone(tmp_path: Path) -> None:
    run = scenes.prepared(tmp_path.resolve())
    project = project_of(run)
    payload = recorded("codex", "stop", project)
    payload["transcript_path"] = transcript(project, "codex", f"qrspi next {run.name}")
    assert hook("stop", "codex", payload, project, QRSPI_TRUSTED="0") == SILENT
    start = recorded("codex", "session-start", project)
    assert hook("session-start", "codex", start, project, QRSPI_TRUSTED="1") == SILENT
