"""What a command imports before it answers: cold start is a feature, so the list is exact."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import runs, scenes

LIBRARIES = frozenset(
    "git watchdog jsonlines rich http httpx jsonschema ruamel click sqlite3 typing".split()
)

# A module that is not here makes every `status` slower: import it where it is needed, or say
# in the commit why each `status` needs it.
FOR_STATUS = """
    qrspi
    qrspi.cli
    qrspi.cli.answers
    qrspi.cli.answers.status
    qrspi.cli.boundary
    qrspi.cli.plain_forms
    qrspi.cli.session
    qrspi.cli.short_life
    qrspi.core
    qrspi.core.config
    qrspi.core.config.fields
    qrspi.core.config.model_tiers
    qrspi.core.config.problems
    qrspi.core.config.reader
    qrspi.core.derivation
    qrspi.core.derivation.compaction_advice
    qrspi.core.derivation.derive
    qrspi.core.digest
    qrspi.core.errors
    qrspi.core.filenames
    qrspi.core.findings
    qrspi.core.findings.clean
    qrspi.core.findings.exact_shape
    qrspi.core.findings.guard
    qrspi.core.findings.round_files
    qrspi.core.findings.submission
    qrspi.core.findings.triage
    qrspi.core.hints
    qrspi.core.model
    qrspi.core.named_tuple
    qrspi.core.patterns
    qrspi.core.pipeline
    qrspi.core.plain_json
    qrspi.core.records
    qrspi.core.records.approvals
    qrspi.core.records.audit_trail
    qrspi.core.records.decision_line
    qrspi.core.records.decisions
    qrspi.core.records.json_fields
    qrspi.core.records.step_text
    qrspi.core.records.vanished
    qrspi.core.reviewers
    qrspi.core.rounds
    qrspi.core.rounds.loop
    qrspi.core.rounds.manifest
    qrspi.core.rounds.pause_file
    qrspi.core.rounds.round_list
    qrspi.core.rounds.verified_file
    qrspi.core.snapshot
    qrspi.core.steps
    qrspi.core.steps.authoring
    qrspi.core.steps.facts
    qrspi.core.steps.next_actions
    qrspi.core.steps.review_action
    qrspi.core.steps.sending
    qrspi.core.tree
    qrspi.core.yaml
    qrspi.core.yaml.frontmatter
    qrspi.core.yaml.nodes
    qrspi.core.yaml.reader
    qrspi.render
    qrspi.render.problems
    qrspi.render.run_page
    qrspi.render.terminal
    qrspi.world
    qrspi.world.files
    qrspi.world.files.run_tree
    qrspi.world.machine
    qrspi.world.machine.hosts
    qrspi.world.runs
    qrspi.world.runs.committed_tree
    qrspi.world.runs.heartbeat
    qrspi.world.runs.index_glance
    qrspi.world.runs.locate
    qrspi.world.runs.machine_signs
    qrspi.world.runs.project_root
    qrspi.world.runs.project_search
""".split()
# Beside those of `status`: the handlers of what is due, and the prompts that must stand ready.
MORE_FOR_NEXT = """
    qrspi.cli.answers.next
    qrspi.core.agents
    qrspi.core.agents.dispatch_record
    qrspi.core.agents.model_choice
    qrspi.core.agents.prompt_lines
    qrspi.core.agents.prompt_orders
    qrspi.core.agents.prompts
    qrspi.core.agents.roles
    qrspi.core.agents.transports
    qrspi.core.config.blocks
    qrspi.core.derivation.awaited_files
    qrspi.core.derivation.to_read
    qrspi.core.findings.rejected
    qrspi.core.rounds.scope_set
    qrspi.core.text
    qrspi.core.text.citations
    qrspi.core.text.headings
    qrspi.core.text.shell_words
    qrspi.core.text.untrusted_markers
    qrspi.engine
    qrspi.handlers
    qrspi.handlers.action_table
    qrspi.handlers.agents
    qrspi.handlers.agents.assignments
    qrspi.handlers.agents.awaited_agents
    qrspi.handlers.agents.dispatch_options
    qrspi.handlers.agents.material
    qrspi.handlers.agents.prompt_parameters
    qrspi.handlers.jobs
    qrspi.handlers.jobs.carry_out
    qrspi.handlers.jobs.job
    qrspi.handlers.rounds
    qrspi.handlers.rounds.assemble
    qrspi.render.deeds
    qrspi.render.outcomes
    qrspi.world.agents
    qrspi.world.agents.dispatch_folder
    qrspi.world.files.atomic_write
    qrspi.world.files.json_log
    qrspi.world.files.lock
    qrspi.world.files.overflow
    qrspi.world.machine.clock
    qrspi.world.runs.dry_run
    qrspi.world.runs.role_files
    qrspi.world.runs.workspace
""".split()
ONLY_FOR_STATUS = ["qrspi.cli.answers.status", "qrspi.world.runs.heartbeat"]


# Before every edit of a session in a host: no typing, no json, nothing of a run.
FOR_A_HOOK = ["qrspi", "qrspi.cli", "qrspi.cli.plain_hook", "qrspi.hooks", "qrspi.hooks.answer"]
FOR_A_HOOK_WITHOUT_RUNS = [
    *FOR_A_HOOK,
    "qrspi.world",
    "qrspi.world.runs",
    "qrspi.world.runs.project_search",
]


# Not `-X importtime`, which does not see what importlib is asked for.
MAIN = (
    "import atexit, sys\n"
    "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
    "from qrspi.cli import main; main()"
)


GOALS = f"docs/qrspi/{runs.RUN}/goals.md"


def imported(project: Path, *words: str, said: str = runs.RUN, given: str = "") -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *words],
        cwd=project,
        input=given,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr.splitlines()[-1]
    assert said in done.stdout if said else done.stdout == ""
    return set(done.stderr.splitlines()[-1].split())


def ours(names: set[str]) -> list[str]:
    return sorted(name for name in names if name.partition(".")[0] == "qrspi")


@pytest.mark.rule("SPE-03")
def test_status_imports_exactly_what_it_uses(tmp_path: Path) -> None:
    scenes.reviewed(tmp_path)
    found = imported(tmp_path, "status")
    assert ours(found) == FOR_STATUS
    assert sorted({name.partition(".")[0] for name in found} & LIBRARIES) == []


@pytest.mark.rule("SPE-03")
def test_status_of_a_new_run_tries_no_pattern_and_reads_no_json(tmp_path: Path) -> None:
    begin = "--root . init first-light --pipeline quick --no-commit"
    imported(tmp_path, *begin.split(), said="first-light")
    without = {"re", "json", "_json", "fcntl", "typing", "qrspi.core.rounds.loop"}
    assert imported(tmp_path, "status", said="first-light") & without == set()


@pytest.mark.rule("SPE-03")
def test_next_imports_exactly_what_it_uses(tmp_path: Path) -> None:
    scenes.reviewed(tmp_path)
    found = imported(tmp_path, "next", "--dry-run")
    assert ours(found) == sorted({*FOR_STATUS, *MORE_FOR_NEXT} - {*ONLY_FOR_STATUS})
    assert sorted({name.partition(".")[0] for name in found} & LIBRARIES) == []


@pytest.mark.rule("SPE-03")
@pytest.mark.parametrize(
    ("words", "said", "without"),
    [
        ("show", "goals", "json qrspi.core.yaml.writer qrspi.render.run_page"),
        ("brief", runs.RUN, "json qrspi.core.rounds.finding_history qrspi.core.text.headings"),
        ("explain", runs.RUN, "json qrspi.core.rounds.finding_history qrspi.core.text.headings"),
        ("round assemble goals --dry-run", "goals", "click qrspi.handlers.changes"),
        (
            f"frontmatter get {GOALS} status",
            "draft",
            "json qrspi.core.validation",
        ),
    ],
)
def test_a_command_does_without_what_only_some_runs_need(
    words: str, said: str, without: str, tmp_path: Path
) -> None:
    scenes.reviewed(tmp_path)
    assert imported(tmp_path, *words.split(), said=said) & set(without.split()) == set()


@pytest.mark.rule("HST-06", "HST-09", "SPE-03")
@pytest.mark.parametrize(
    ("event", "ours_for_it"),
    [
        ("pre-tool", FOR_A_HOOK),
        ("stop", FOR_A_HOOK_WITHOUT_RUNS),
        ("session-start", FOR_A_HOOK_WITHOUT_RUNS),
    ],
)
def test_a_hook_with_nothing_to_say_imports_next_to_nothing(
    event: str, ours_for_it: list[str], tmp_path: Path
) -> None:
    given = json.dumps({"cwd": str(tmp_path), "tool_input": {"file_path": "a.py", "content": "x"}})
    found = imported(tmp_path, "hook", event, "--host", "codex", said="", given=given)
    assert ours(found) == ours_for_it
    assert sorted({name.partition(".")[0] for name in found} & {*LIBRARIES, "typing"}) == []
