"""What commands print with --json is what the published schemas say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator

from qrspi import engine
from qrspi.cli.app import application
from qrspi.cli.verb_table import VERBS
from qrspi.core.config.edit import initial
from qrspi.handlers.jobs.job import Options
from qrspi.world.runs.workspace import Workspace
from tests import runs
from tests.cli.conftest import Call

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
FILES = sorted(SCHEMAS.glob("*.schema.json"))


def schema(name: str) -> Any:
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))


@pytest.mark.rule("OUT-02")
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_each_schema_is_one(file: Path) -> None:
    document = json.loads(file.read_text("utf-8"))
    Draft202012Validator.check_schema(document)
    name = file.name.removesuffix(".schema.json")
    assert document["$id"] in (f"qrspi/{name}/v1", f"urn:qrspi:{name}")
    assert document["title"]


# What a group answers without an action word, and what answers with no document at all.
ANOTHER_NAME = {"spend-show": "spend"}
NO_DOCUMENT = {"ui", "mcp", "hook"}


def documents() -> set[str]:
    """The name of every document that a command prints."""
    names = set()
    for verb in VERBS:
        command = application.get_command(click.Context(application), verb)
        words = command.commands if isinstance(command, click.Group) else None
        names |= {f"{verb}-{word}" for word in words} if words else {verb}
    return {ANOTHER_NAME.get(name, name) for name in names} - NO_DOCUMENT


@pytest.mark.rule("OUT-02")
def test_every_document_has_a_schema() -> None:
    assert documents() - {file.name.removesuffix(".schema.json") for file in FILES} == set()


@pytest.fixture
def world(project: Path) -> Path:
    """Runs in several states: reviewed, fresh, closed, broken, complete."""
    design = runs.artifact()
    reviewed = {
        "config.md": runs.config(colour="blue", extra_reviewers="{design: [legal-claude]}"),
        **runs.approved("goals", "questions", "research", "plan"),
        "design.md": design,
        "reviews/design/round-01/.dispatch-manifest.json": runs.manifest("design", body=design),
        "reviews/design/round-01/quality-claude.finding-F01.md": runs.finding(step="design"),
        "reviews/design/round-01/scope-claude.clean.md": runs.clean("scope-claude"),
        "reviews/design/round-3/x": b"",
    }
    runs.on_disk(project, reviewed, "2026-05-01-reviewed-one")
    fresh = initial("2026-05-02", "full-ux", second_reviewer=True)
    runs.on_disk(project, {"config.md": fresh}, "2026-05-02-fresh-one")
    closed = {"config.md": runs.config("quick"), "closed.md": b"---\nclosed: then\n---\n"}
    runs.on_disk(project, closed, "2026-05-03-closed-one")
    runs.on_disk(project, {"config.md": b"---\nroute: x\n---\n"}, "2026-05-04-broken-one")
    whole = {"config.md": runs.config(route="[goals]"), **runs.approved("goals")}
    runs.on_disk(project, whole, "2026-05-05-whole-one")
    old = runs.config("quick", drop=("second_reviewer",), codex_reviews="true")
    runs.on_disk(project, {"config.md": old}, "2026-05-06-old-one")
    runs.on_disk(project, {"goals.md": runs.artifact()}, "2026-05-07-found-one")
    goals = runs.artifact()
    folder = "reviews/goals/round-01"
    paused = {
        "config.md": runs.config("quick"),
        "goals.md": goals,
        f"{folder}/.dispatch-manifest.json": runs.manifest(body=goals),
        f"{folder}/quality-claude.finding-F01.md": runs.finding(kind="intent"),
        f"{folder}/scope-claude.clean.md": runs.clean("scope-claude"),
    }
    path = runs.on_disk(project, paused, "2026-05-08-paused-one")
    state = engine.advance(Workspace(path), Options()).state
    assert state.next.kind == "pause"
    return project


LINES = [
    ("status", "status --all", 0),
    ("status", "status reviewed-one", 0),
    ("status", "status whole-one", 0),
    ("status", "status paused-one", 0),
    ("explain", "explain paused-one", 0),
    ("next", "next paused-one", 0),
    ("error", "status nobody", 2),
    ("error", "status --bogus", 2),
    ("error", "config set fresh-one second_reviewer 1", 3),
    ("explain", "explain reviewed-one", 0),
    ("explain", "explain broken-one", 0),
    ("init", "init new-one --pipeline quick --no-second-reviewer", 0),
    ("init", "init new-one --ux --second-reviewer --dry-run", 0),
    ("init", "init --adopt docs/qrspi/2026-05-07-found-one --pipeline full --second-reviewer", 0),
    ("import", "import docs/qrspi/2026-05-06-old-one --dry-run", 0),
    ("import", "import docs/qrspi/2026-05-06-old-one --yes", 0),
    ("import", "import docs/qrspi/2026-05-07-found-one", 3),
    ("comment-add", "comment paused-one goals.md:L3 -m Why?", 0),
    ("comment-list", "comment list paused-one", 0),
    ("stats", "stats reviewed-one", 0),
    ("stats", "stats --all", 0),
    ("simulate", "simulate reviewed-one --threshold style=85 --cap 3 --verifier off", 0),
    ("verify", "verify reviewed-one", 0),
    ("verify", "verify broken-one", 0),
    ("next", "next fresh-one --dry-run", 0),
    ("next", "next fresh-one", 0),
    ("config-validate", "config validate fresh-one", 0),
    ("config-validate", "config validate broken-one", 3),
    ("config-validate", "config validate found-one", 3),
    ("config-show", "config show reviewed-one", 0),
    ("config-show", "config show broken-one", 0),
    ("config-set", "config set fresh-one guard strict", 0),
    ("config-set", "config set fresh-one guard strict --dry-run", 0),
    ("config-migrate", "config migrate old-one", 0),
    ("config-migrate", "config migrate fresh-one --dry-run", 0),
    ("route-show", "route show fresh-one", 0),
    ("route-show", "route show whole-one", 0),
    ("route-set", "route set fresh-one quick", 0),
    ("route-set", "route set fresh-one full --dry-run", 0),
    ("close", "close fresh-one --reason Unwanted", 0),
    ("reopen", "reopen closed-one", 0),
    ("validate", "validate docs", 3),
    ("validate", "validate fresh-one", 0),
    ("validate", "validate nowhere.md", 3),
    ("doctor", "doctor", 3),
    ("frontmatter-get", "frontmatter get docs/qrspi/2026-05-02-fresh-one/config.md route", 0),
    ("frontmatter-set", "frontmatter set docs/qrspi/2026-05-07-found-one/goals.md by ada", 0),
    ("schema", "schema", 0),
    ("completion", "completion fish", 0),
]


@pytest.mark.rule("OUT-02", "OUT-03")
@pytest.mark.parametrize(("name", "line", "code"), LINES, ids=[f"{n}: {w}" for n, w, _ in LINES])
def test_documents_are_what_their_schemas_say(
    world: Path, qrspi: Call, name: str, line: str, code: int
) -> None:
    result = qrspi(*line.split(), "--json")
    assert result.code == code, result.err
    document = result.json
    assert document["schema"] == f"qrspi/{name}/v1"
    Draft202012Validator(schema(name)).validate(document)


@pytest.mark.rule("OUT-02")
@pytest.mark.parametrize("name", dict.fromkeys(name for name, _, _ in LINES))
def test_a_schema_notices_a_key_that_is_gone(world: Path, qrspi: Call, name: str) -> None:
    line = next(line for known, line, _ in LINES if known == name)
    document = qrspi(*line.split(), "--json").json
    validator = Draft202012Validator(schema(name))
    for key in schema(name)["required"]:
        assert not validator.is_valid({k: v for k, v in document.items() if k != key})
