"""Changing config.md: what is set, and that everything else stays byte for byte."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from qrspi.core.config import edit
from qrspi.core.config import reader as configs
from qrspi.core.config.edit import Migration, initial
from qrspi.core.config.model_tiers import Model
from qrspi.core.model import Problem
from qrspi.core.pipeline import ROUTES, Subject, subject
from tests.core.config.menus import menu

TEXT = """\
---
# our run
pipeline:   full   # or quick
second_reviewer: false
route: # the steps
  - goals
  - questions   # two of them
  # research comes last
  - research
verifier_enabled: true
scope_tagger_enabled: true
visual_fidelity_required: false
model_routing:
  extra-low: none
  low: {vendor: claude, model: small} # cheap
  # the workhorse
  medium:
    vendor: claude
    model: middle # for now
  high: none
  extra-high: none
gates: {audit: off}
trusted_path:
- reviewer   # always
# the end
---

# Prose

pipeline: nonsense
"""


@pytest.mark.rule("CFG-16", "FM-06")
@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("pipeline", "full", "", ""),
        ("second_reviewer", "true", "second_reviewer: false", "second_reviewer: true"),
        ("guard", "strict", "# the end\n", "# the end\nguard: strict\n"),
        ("review_depth", " deep ", "# the end\n", "# the end\nreview_depth: deep\n"),
        ("code_path", "../a b", "# the end\n", '# the end\ncode_path: "../a b"\n'),
        ("code_path", "a: b", "# the end\n", '# the end\ncode_path: "a: b"\n'),
        ("base_branch", "2024", "# the end\n", '# the end\nbase_branch: "2024"\n'),
        ("model_routing.low", "none", "{vendor: claude, model: small} #", "none #"),
        ("model_routing.low.model", "tiny", "model: small}", "model: tiny}"),
        ("model_routing.medium.model", "4.5", "middle #", '"4.5" #'),
        (
            "model_routing.high",
            "{vendor: codex, model: x}",
            "  high: none",
            "  high: {vendor: codex, model: x}",
        ),
        (
            "model_routing.default_tier",
            "low",
            "  extra-high: none\n",
            "  extra-high: none\n  default_tier: low\n",
        ),
        ("gates.audit", "'off'", "audit: off", "audit: 'off'"),
        ("gates.quality", "off", "audit: off}", "audit: off, quality: off}"),
        ("gates.test_command", 'say "hi"', "off}", 'off, test_command: "say \\"hi\\""}'),
        ("gates", "{}", "gates: {audit: off}", "gates: {}"),
        ("budget.usd", "5", "# the end\n", "# the end\nbudget:\n  usd: 5\n"),
        ("budget.per_step.calls", "9", "end\n", "end\nbudget:\n  per_step:\n    calls: 9\n"),
        ("extra_reviewers.plan", "[x]", "end\n", "end\nextra_reviewers:\n  plan: [x]\n"),
        (
            "commands.codex",
            "{argv: [codex, exec]}",
            "# the end\n",
            "# the end\ncommands:\n  codex: {argv: [codex, exec]}\n",
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_one_field_changes_and_nothing_else(
    key: str, value: str, old: str, new: str, newline: str
) -> None:
    before = TEXT.replace("\n", newline).encode()
    after = TEXT.replace(old, new, 1) if old else TEXT
    assert edit.set_value(before, key, value) == after.replace("\n", newline).encode()


@pytest.mark.rule("CFG-16")
def test_a_nested_field_is_added_below_the_last_one_not_below_its_comment() -> None:
    text = TEXT.replace("gates: {audit: off}", "gates:\n  audit: off # since May\n\n# lists")
    expected = text.replace("# since May\n", "# since May\n  ci_command: make check\n")
    assert edit.set_value(text.encode(), "gates.ci_command", "make check") == (expected.encode())


@pytest.mark.rule("CFG-16")
@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("gates:\n", "gates: {audit: off}\n"),
        ("gates: {}\n", "gates: {audit: off}\n"),
        ("gates: # none yet\n", "gates: {audit: off} # none yet\n"),
        ('"gates":\n    "quality": off\n', '"gates":\n    "quality": off\n    audit: off\n'),
        ("gates: {\n  quality: off\n}\n", "gates: {\n  quality: off, audit: off\n}\n"),
    ],
)
def test_a_nested_field_is_added_however_its_block_is_written(written: str, expected: str) -> None:
    before = TEXT.replace("gates: {audit: off}\n", written).encode()
    after = TEXT.replace("gates: {audit: off}\n", expected).encode()
    assert edit.set_value(before, "gates.audit", "off") == after


def refused(key: str, value: str, text: str = TEXT, **options: bool) -> list[str]:
    result = edit.set_value(text.encode(), key, value, **options)
    assert isinstance(result, tuple)
    return [problem.message for problem in result]


UNCHANGED = "config.md is unchanged: "
NOT_ONE_VALUE = "config.md: what guard should become is not one YAML value on one line"


@pytest.mark.rule("CFG-16")
@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("guard", "lax", f"{UNCHANGED}guard would be `lax`; expected tolerant or strict"),
        (
            "second_reviewer",
            "yes",
            f"{UNCHANGED}second_reviewer would be `yes`; expected true or false",
        ),
        ("guard", "", NOT_ONE_VALUE),
        ("guard", "|", NOT_ONE_VALUE),
        ("guard", "strict # x", NOT_ONE_VALUE),
        ("guard", "strict\nx: y", NOT_ONE_VALUE),
        ("guard", "{a: b", NOT_ONE_VALUE),
        ("guard", "&a strict", NOT_ONE_VALUE),
        (
            "pipeline",
            "quick",
            "config.md is unchanged: question_budget would be missing; "
            "expected a whole number from 1 to 50, because pipeline is quick",
        ),
        (
            "question_budget",
            "5",
            f"{UNCHANGED}question_budget would be `5`, but pipeline is full, where no such limit "
            "applies; expected no question_budget",
        ),
        (
            "gaurd",
            "strict",
            "config.md has no field `gaurd`; the nearest is guard",
        ),
        ("guard.x", "strict", "config.md has no field `guard.x`; the nearest is guard"),
        ("gates.", "on", "config.md has no field `gates.`; the nearest is gates"),
        (
            "gates",
            "{quality: lively, test_command: make}",
            f"{UNCHANGED}gates.quality would be `lively`; expected off, cache-only, live or "
            "live-cache-aware",
        ),
        (
            "gates.colour",
            "red",
            "config.md: `gates.colour` is not a known key; expected gates to hold only quality, "
            "audit, checkpoints, test_command and ci_command",
        ),
        (
            "codex_reviews",
            "true",
            "config.md: codex_reviews was renamed to second_reviewer and is never read; "
            "found `true`, expected second_reviewer: true or second_reviewer: false instead",
        ),
        (
            "route",
            "[goals, research]",
            "config.md: `route` cannot be changed here without touching what stands around it; "
            "expected it on a line of its own",
        ),
        (
            "gates.audit.x",
            "on",
            "config.md: `gates.audit.x` cannot be changed here without touching what stands "
            "around it; expected it on a line of its own",
        ),
    ],
)  # fmt: skip
def test_refusals(key: str, value: str, message: str) -> None:
    assert refused(key, value) == [message]


@pytest.mark.rule("CFG-16", "PPL-04")
def test_a_refusal_names_the_command_that_would_go_on() -> None:
    part = edit.set_value(TEXT.encode(), "providers.acme.base_url", "https://example.org")
    assert isinstance(part, tuple)
    assert {problem.hint for problem in part} == {
        "a block is set as a whole: qrspi config set providers.acme '{…}'"
    }
    pipeline = edit.set_value(TEXT.encode(), "pipeline", "quick")
    assert isinstance(pipeline, tuple)
    assert pipeline[0].hint == (
        "route, pipeline and question_budget change together: qrspi route set NAME"
    )


@pytest.mark.rule("CFG-16")
def test_other_problems_do_not_stand_in_the_way_of_repairing_one() -> None:
    text = TEXT.replace("second_reviewer: false", "second_reviewer: 0").replace(": true", ": yes")
    changed = edit.set_value(text.encode(), "verifier_enabled", "true")
    assert changed == text.replace("verifier_enabled: yes", "verifier_enabled: true").encode()
    assert refused("verifier_enabled", "yes", text) == [
        "config.md is unchanged: verifier_enabled would be `yes`; expected true or false"
    ]


@pytest.mark.rule("CFG-16")
def test_an_unreadable_config_is_not_edited() -> None:
    assert refused("guard", "strict", "pipeline: full\n") == [
        "config.md:1:1: no frontmatter; expected '---' alone on line 1, then the fields"
    ]


@pytest.mark.rule("CFG-16", "CFG-11")
def test_a_key_is_not_repeated_when_it_is_refused() -> None:
    secret = "sk-proj-AbCdEfGh12345678"
    block = (
        f"{{base_url: https://example.org, api_key_env: {secret}, transport_type: codex-broker}}"
    )
    result = edit.set_value(TEXT.encode(), "providers.acme", block)
    assert isinstance(result, tuple)
    assert secret not in repr(result)


@pytest.mark.rule("CFG-03", "CFG-16")
@pytest.mark.parametrize(
    ("pipeline", "budget", "value", "expected"),
    [
        ("", "", "full", None),
        ("", "", "quick", 5),
        ("pipeline: fast\n", "question_budget: 7\n", "quick", 7),
        ("pipeline: fast\n", "question_budget: 7\n", "full", None),
    ],
)
def test_a_bad_pipeline_is_repaired_together_with_its_budget(
    pipeline: str, budget: str, value: str, expected: int | None
) -> None:
    text = TEXT.replace("pipeline:   full   # or quick\n", pipeline + budget)
    changed = edit.set_value(text.encode(), "pipeline", value)
    assert isinstance(changed, bytes)
    config = configs.read(changed)
    assert (config.pipeline, config.question_budget, config.problems) == (value, expected, ())


INVALID = Path(__file__).resolve().parents[3] / "fixtures" / "cases" / "config" / "invalid"


@pytest.mark.rule("CFG-03", "PPL-04")
@pytest.mark.parametrize("file", sorted(INVALID.glob("*.md")), ids=lambda file: file.stem)
def test_the_commands_of_a_menu_work_as_printed(file: Path) -> None:
    data = file.read_bytes()
    config = configs.read(data)
    for problem in config.problems:
        for option in problem.options:
            match shlex.split(option.partition(": qrspi ")[2]):
                case ["config", "set", key, value] if value not in ("VALUE", "N"):
                    assert isinstance(edit.set_value(data, key, value), bytes)
                case ["config", "set", "question_budget", "N"]:
                    assert isinstance(edit.set_value(data, "question_budget", "7"), bytes)
                case ["config", "migrate"]:
                    assert isinstance(edit.migrate(data), Migration)
                case ["route", "set", name]:
                    assert isinstance(edit.set_route(config, {}, name, data), bytes)


@pytest.mark.rule("CFG-03", "CFG-10")
def test_the_way_out_of_a_missing_table_works_as_printed() -> None:
    text = TEXT[: TEXT.index("model_routing")] + TEXT[TEXT.index("gates") :]
    (problem,) = configs.read(text.encode()).problems
    command, _, value = problem.options[0].partition(": qrspi config set model_routing ")
    assert command == "Use the usual table"
    changed = edit.set_value(text.encode(), "model_routing", value.strip("'"))
    assert isinstance(changed, bytes)
    config = configs.read(changed)
    assert config.problems == ()
    assert config.model_routing and config.model_routing["low"] == Model(
        "claude", "claude-haiku-4.5"
    )


@pytest.mark.rule("CFG-15")
def test_the_route_is_not_changed_by_the_back_door() -> None:
    flow = TEXT.replace("route: # the steps", "old:").replace("gates:", "route: [goals]\ngates:")
    allowed = edit.set_value(flow.encode(), "route", "[goals, plan]")
    assert allowed == flow.replace("route: [goals]", "route: [goals, plan]").encode()
    assert refused("route", "[goals, plan]", flow, plan_approved=True) == [
        "config.md: the route is fixed once plan.md is approved; "
        "to change it, go back to plan first: qrspi rewind --to plan"
    ]


@pytest.mark.rule("CFG-20")
@pytest.mark.parametrize(
    ("old", "new", "plan"),
    [
        (
            "second_reviewer: false",
            "second_reviewer: false",
            (),
        ),
        (
            "codex_reviews:  true  # costs money",
            "second_reviewer:  true  # costs money",
            ("config.md: rename codex_reviews to second_reviewer, keeping its value true",),
        ),
        (
            "'codex_reviews': yes",
            "second_reviewer: yes",
            ("config.md: rename codex_reviews to second_reviewer, keeping its value yes",),
        ),
        (
            "codex_reviews: true # old\nsecond_reviewer: false",
            "second_reviewer: false",
            ("config.md: remove codex_reviews (true); second_reviewer stays false",),
        ),
    ],
)
def test_migrate(old: str, new: str, plan: tuple[str, ...]) -> None:
    before, after = (TEXT.replace("second_reviewer: false", line) for line in (old, new))
    assert edit.migrate(before.encode()) == Migration(plan, after.encode())


@pytest.mark.rule("CFG-20")
def test_migrate_leaves_other_faults_alone() -> None:
    text = TEXT.replace("pipeline:   full", "pipeline: fast").replace(": true", ": yes")
    assert edit.migrate(text.encode()) == Migration((), text.encode())
    assert isinstance(edit.migrate(b"no fields\n"), Problem)


@pytest.mark.rule("CFG-08")
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_backfill_is_the_last_line_inside_the_frontmatter(newline: str) -> None:
    text = TEXT.replace("verifier_enabled: true\n", "").replace("\n", newline)
    after = text.replace(
        f"# the end{newline}", f"# the end{newline}verifier_enabled: true{newline}"
    )
    assert edit.backfill(text.encode(), "verifier_enabled", "true") == after.encode()


@pytest.mark.rule("CFG-08")
@pytest.mark.parametrize(
    ("handler", "word", "fields"),
    [
        ("assemble", "goals", ["verifier_enabled"]),
        ("scope", "plan", ["scope_tagger_enabled"]),
        ("prepare", "research", ["scope_tagger_enabled"]),
        ("prepare", "implement-gate", ["scope_tagger_enabled"]),
        *(
            ("prepare", word, ["scope_tagger_enabled", "visual_fidelity_required"])
            for word in ("goals", "design", "phasing", "plan", "task-03")
        ),
    ],
)
def test_which_command_is_the_first_to_need_which(
    handler: str, word: str, fields: list[str]
) -> None:
    about = subject(word)
    assert isinstance(about, Subject)
    config = configs.read(b"---\nroute: [goals]\n---\n")
    assert [field for field, _ in edit.backfills_of(handler, about, config)] == fields
    complete = configs.read(TEXT.encode())
    assert edit.backfills_of(handler, about, complete) == ()


@pytest.mark.rule("CFG-08")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("verifier_enabled", "true"),
        ("scope_tagger_enabled", "true"),
        ("visual_fidelity_required", "false"),
    ],
)
def test_the_words_of_a_backfill(field: str, value: str) -> None:
    assert edit.backfill_warning(field) == (
        f"{field} missing from config.md — backfilling default '{value}' for this run"
    )


@pytest.mark.rule("CFG-09")
def test_the_words_of_a_failed_write_back() -> None:
    problem = edit.write_back_failed("verifier_enabled", "Read-only file system")
    assert menu(problem) == (
        "failed to write verifier_enabled to config.md — resolve before continuing\n"
        "  1) Resolve what kept it from being written, then run the command again\n"
        "  2) Abort\n"
    )
    assert problem.hint == "Read-only file system"


@pytest.mark.rule("CFG-01")
@pytest.mark.parametrize("name", ROUTES)
@pytest.mark.parametrize("second", [True, False])
@pytest.mark.parametrize("visual", [True, False])
def test_what_init_writes(name: str, second: bool, visual: bool) -> None:
    data = initial("2026-05-17", name, second_reviewer=second, visual_fidelity_required=visual)
    config = configs.read(data)
    assert configs.validate(config) == configs.Report((), ())
    assert config.created == "2026-05-17"
    assert config.pipeline == ("quick" if name == "quick" else "full")
    assert config.route == ROUTES[name]
    assert (config.second_reviewer, config.visual_fidelity_required) == (second, visual)
    assert (config.verifier_enabled, config.scope_tagger_enabled) == (True, True)
    assert config.question_budget == (5 if name == "quick" else None)
    assert config.default_tier == "medium"
    assert config.model_routing and config.model_routing["extra-low"] is None


@pytest.mark.rule("SPE-02")
@pytest.mark.parametrize("name", ROUTES)
def test_what_init_writes_needs_no_full_yaml_reader(name: str) -> None:
    from qrspi.core.yaml import reader

    data = initial("2026-05-17", name, second_reviewer=True)
    assert reader.read_flat(data.decode().removeprefix("---\n").removesuffix("---\n")) is not None


@pytest.mark.rule("CFG-16", "LIV-02")
@pytest.mark.parametrize(
    ("key", "value", "options"),
    [
        ("gates.test_cmd", "make test", ("gates.test_command 'make test'",)),
        ("gates.colour", "red", ()),
        ("review_dept", "quick", ("review_depth quick",)),
        ("gate", "x", ()),  # a block is set part by part
    ],
)
def test_a_misspelt_key_is_offered_as_it_was_meant(
    key: str, value: str, options: tuple[str, ...]
) -> None:
    found = edit.set_value(initial("2026-05-17", "quick", second_reviewer=False), key, value)
    assert isinstance(found, tuple)
    (problem,) = found
    ways = [f"Set {way.split()[0]} instead: qrspi config set {way}" for way in options]
    assert problem.options == (*ways, "Abort")
