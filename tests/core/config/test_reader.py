"""config.md: what is read, what each step may not go on without, what is only a warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi.core.config import reader as configs
from qrspi.core.config.blocks import Budget, Gates, Limits, Validators
from qrspi.core.config.model_tiers import Model
from qrspi.core.config.problems import quoted
from qrspi.core.config.reader import Config
from qrspi.core.config.vendors import Command, Provider
from qrspi.core.model import Problem
from qrspi.core.pipeline import ROUTES, STEPS
from qrspi.core.text import branch_names
from qrspi.core.tree import CONFIG_LIMIT, Fault
from tests.core.config.menus import menu

CASES = Path(__file__).resolve().parents[3] / "fixtures" / "cases" / "config"
INVALID = sorted((CASES / "invalid").glob("*.md"))
VALID = sorted((CASES / "valid").glob("*.md"))

ROUTING = """\
model_routing:
  extra-low: none
  low: {vendor: claude, model: small}
  medium: {vendor: claude, model: middle}
  high: {vendor: codex, model: large}
  extra-high: none
"""


def text_of(**fields: str) -> bytes:
    """A good config with some fields changed; a field given as '-' is left out."""
    values = {
        "pipeline": "full",
        "second_reviewer": "false",
        "route": "[goals, plan]",
        "verifier_enabled": "true",
        "scope_tagger_enabled": "true",
        "visual_fidelity_required": "false",
        **fields,
    }
    routing = "" if values.pop("model_routing", "") == "-" else ROUTING
    lines = [f"{key}: {value}\n" for key, value in values.items() if value != "-"]
    return f"---\n{''.join(lines)}{routing}---\n".encode()


def codes(config: Config) -> list[tuple[str, str]]:
    return [(problem.code, problem.field) for problem in config.problems]


@pytest.mark.rule(
    "CFG-01", "CFG-03", "CFG-04", "CFG-05", "CFG-06", "CFG-07", "CFG-10", "CFG-11", "CFG-12",
    "CFG-17",
)  # fmt: skip
@pytest.mark.parametrize("file", INVALID, ids=lambda file: file.stem)
def test_an_invalid_file_says_exactly_this(file: Path) -> None:
    config = configs.read(file.read_bytes())
    said = "".join(map(menu, config.problems))
    assert said == file.with_suffix(".txt").read_text("utf-8")


@pytest.mark.rule("CFG-03")
@pytest.mark.parametrize("file", INVALID, ids=lambda file: file.stem)
def test_every_menu_ends_with_abort_and_every_message_is_one_line(file: Path) -> None:
    for problem in configs.read(file.read_bytes()).problems:
        assert problem.options[-1] == "Abort"
        assert len(problem.options) > 1
        assert problem.message.isprintable()
        assert problem.file == "config.md"
        assert problem.code == "config-unreadable" or problem.field in problem.message


@pytest.mark.rule("CFG-10", "CFG-11", "CFG-12", "CFG-17")
@pytest.mark.parametrize("file", VALID, ids=lambda file: file.stem)
def test_a_valid_file_has_no_problem_and_no_warning(file: Path) -> None:
    config = configs.read(file.read_bytes())
    assert configs.validate(config) == configs.Report((), ())


@pytest.mark.rule("CFG-02")
def test_no_file() -> None:
    (problem,) = configs.read(Fault("absent")).problems
    assert problem.code == "config-missing"
    assert menu(problem) == (
        "config.md not found in the artifact directory.\n"
        "  1) Re-create it beside the artifacts: qrspi init --adopt DIR --pipeline quick\n"
        "  2) The same for a run of all steps: qrspi init --adopt DIR --pipeline full\n"
        "  3) Abort\n"
    )


@pytest.mark.rule("CFG-02", "SEC-02")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (Fault("not-a-file", "directory"), "config.md is not a regular file (directory)"),
        (Fault("not-a-file"), "config.md is not a regular file"),
        (Fault("unreadable", "Permission denied"), "config.md cannot be read: Permission denied"),
        (Fault("too-large", "9999999"), "config.md is larger than 256 KiB"),
        (text_of() + b"x" * CONFIG_LIMIT, "config.md is larger than 256 KiB"),
        ("---\na: 1\n---\n".encode("utf-16"), "config.md:1:1: bytes that are not UTF-8"),
    ],
)
def test_absent_and_unreadable_are_not_the_same(content: bytes | Fault, message: str) -> None:
    config = configs.read(content)
    assert [(p.code, p.message) for p in config.problems] == [("config-unreadable", message)]
    assert configs.problems_for(config, "implement") == config.problems
    assert configs.backfills(config) == ()


@pytest.mark.rule("CFG-01")
def test_nothing_is_taken_for_granted() -> None:
    config = configs.read(b"---\nroute: [goals]\n---\n")
    assert config.pipeline is None
    assert config.second_reviewer is None
    assert config.verifier_enabled is None
    assert configs.read(text_of(route="-")).route is None


@pytest.mark.rule("CFG-04")
@pytest.mark.parametrize("name", ROUTES)
def test_the_templates_are_good_routes(name: str) -> None:
    config = configs.read(text_of(route=f"[{', '.join(ROUTES[name])}]"))
    assert (config.route, config.problems) == (ROUTES[name], ())


@pytest.mark.rule("CFG-04")
@pytest.mark.parametrize(
    ("route", "code"),
    [
        ("-", "field-missing"),
        ("", "field-missing"),
        ("[]", "field-missing"),
        ("~", "field-invalid"),
        ("goals", "field-invalid"),
        ("{goals: plan}", "field-invalid"),
        ("[Goals]", "field-invalid"),
        ("[goals, goals]", "field-invalid"),
        ("[goals, test, implement]", "field-invalid"),
        ("[plan, implement]", "field-invalid"),
        ("[goals, replan]", "field-invalid"),
        ("[goals, plan, goals]", "field-invalid"),
    ],
)
def test_a_bad_route(route: str, code: str) -> None:
    config = configs.read(text_of(route=route))
    assert (config.route, codes(config)) == (None, [(code, "route")])


@pytest.mark.rule("CFG-05")
@pytest.mark.parametrize(
    "field",
    ["second_reviewer", "verifier_enabled", "scope_tagger_enabled", "visual_fidelity_required"],
)
@pytest.mark.parametrize(
    "value",
    ["yes", "no", "on", "True", "TRUE", "False", '"true"', "'false'", "1", "0", "~", "[true]"],
)
def test_only_true_and_false_are_booleans(field: str, value: str) -> None:
    config = configs.read(text_of(**{field: value}))
    (problem,) = config.problems
    assert (problem.code, problem.field, problem.found) == ("field-invalid", field, value)
    assert problem.message == f"config.md: {field} is `{value}`; expected true or false"
    assert getattr(config, field) is None


@pytest.mark.rule("CFG-06")
@pytest.mark.parametrize("second", ["-", "true", "false"])
def test_codex_reviews_is_never_read(second: str) -> None:
    asked = {"review_depth": "deep", "review_mode": "loop"}
    config = configs.read(text_of(codex_reviews="true", second_reviewer=second, **asked))
    assert codes(config) == [("field-renamed", "codex_reviews")]
    assert config.second_reviewer is (None if second == "-" else second == "true")
    for step in STEPS:
        assert configs.problems_for(config, step.name) == config.problems


@pytest.mark.rule("CFG-07")
def test_six_diagnostics_of_the_question_budget() -> None:
    def said(**fields: str) -> str:
        (problem,) = configs.read(text_of(**fields)).problems
        assert problem.field == "question_budget"
        return problem.message.partition("`, ")[2] or problem.message

    groups = [
        {said(pipeline="quick"), said(pipeline="quick", question_budget="")},
        {said(question_budget=value) for value in ("5", "0", "many", "")},
        {said(pipeline="quick", question_budget=value) for value in ("0", "-0", "-1", "-50")},
        {
            said(pipeline="quick", question_budget=value)
            for value in ("2.5", "many", "0x5", "05", "+5", "1e1", '"5"', "5_0", "٥", "~", "[5]")
        },
        {said(pipeline="quick", question_budget=value) for value in ("51", "100", "9" * 18)},
        {
            said(pipeline="quick", question_budget=value).partition("characters), ")[2] or value
            for value in ("9" * 100, "9" * 5000)
        },
    ]
    assert [len(group) for group in groups] == [1, 2, 1, 1, 1, 1]
    assert len(set.union(*groups)) == 7


@pytest.mark.rule("CFG-07")
@pytest.mark.parametrize("value", [1, 5, 50])
def test_a_good_question_budget(value: int) -> None:
    config = configs.read(text_of(pipeline="quick", question_budget=str(value)))
    assert (config.question_budget, config.problems) == (value, ())


@pytest.mark.rule("CFG-10")
def test_the_routing_table() -> None:
    config = configs.read(text_of())
    assert config.model_routing == {
        "extra-low": None,
        "low": Model("claude", "small"),
        "medium": Model("claude", "middle"),
        "high": Model("codex", "large"),
        "extra-high": None,
    }
    assert config.default_tier is None


@pytest.mark.rule("SEC-09")
@pytest.mark.parametrize("name", ["4o", "@cf/meta/llama-3.1", "us.x:0", "opus[1m]", "a+b", "A_b"])
def test_names_of_models(name: str) -> None:
    config = configs.read(text_of().replace(b"model: small", f"model: '{name}'".encode()))
    assert config.model_routing
    assert config.model_routing["low"] == Model("claude", name)


@pytest.mark.rule("SEC-09")
@pytest.mark.parametrize(
    "name", ["-c", "--yolo", "x; id", "$(id)", "`id`", "a|b", "a&b", "a b", "a>b", ".x", "ü", '"']
)
def test_a_name_that_could_be_an_option_or_a_command_is_no_models(name: str) -> None:
    """In every place where a model stands."""
    for before in (text_of(), text_of(second_reviewer_model="{vendor: codex, model: small}")):
        config = configs.read(before.replace(b"model: small", f"model: '{name}'".encode()))
        assert {problem.code for problem in config.problems} == {"field-invalid"}
        assert all(problem.found == f"'{name}'" for problem in config.problems)
        expected = "letters, digits and @ . _ : / + [ ] -, with a letter, a digit or @ first"
        assert all(problem.expected == expected for problem in config.problems)


@pytest.mark.rule("CFG-10")
def test_a_missing_and_a_malformed_table_fail_alike() -> None:
    (gone,) = configs.read(text_of(model_routing="-")).problems
    malformed = text_of(model_routing="-").replace(b"---\n", b"---\nmodel_routing: x\n", 1)
    (bad,) = configs.read(malformed).problems
    assert (gone.code, bad.code) == ("field-missing", "field-invalid")
    assert gone.options == bad.options
    for step in STEPS:
        assert configs.problems_for(Config(problems=(gone,)), step.name)[0] == gone
        assert configs.problems_for(Config(problems=(bad,)), step.name)[0] == bad


@pytest.mark.rule("CFG-11", "CFG-12", "CFG-17", "MTX-03", "SPD-01")
def test_every_block() -> None:
    config = configs.read((CASES / "valid" / "every-block.md").read_bytes())
    headers = {"X-Team": "core", "X-Version": "2"}
    assert config.providers == {
        "acme": Provider(
            "https://api.example.org/v1", "ACME_API_KEY", "openai-chat-completions", headers
        )
    }
    assert config.commands == {"codex": Command(("codex", "exec", "--json"), "codex-jsonl", 900.0)}
    assert config.trusted_path == ("agents/implementer.md", "reviewer")
    assert config.validators == Validators(0.1)
    assert config.second_reviewer_model == Model("codex", "gpt-5.3-codex")
    assert config.extra_reviewers == {
        "structure": ("stitching-audit-claude",),
        "task-03": ("naming-claude",),
    }
    assert config.budget == Budget(Limits(12.5, 2000000, 400), Limits(usd=3.0, calls=80))
    assert config.gates == Gates("off", False, False, "pytest -q", "make check")
    assert config.base_branch == "origin/main"
    assert config.feature_branch == "qrspi/user-auth"
    assert config.code_path == "../app"


@pytest.mark.rule("CFG-12", "CFG-17")
def test_what_a_block_leaves_out() -> None:
    config = configs.read(
        text_of(commands="{claude: {argv: [claude, -p]}}", validators="{}", gates="{}", budget="{}")
    )
    assert config.problems == ()
    assert config.commands == {"claude": Command(("claude", "-p"), "text", 600.0)}
    assert config.validators == Validators(0.05)
    assert config.gates == Gates()
    assert config.budget == Budget()


@pytest.mark.parametrize(
    ("key", "value", "gates"),
    [
        ("quality", "live", Gates(quality="live")),
        ("audit", "on", Gates(audit=True)),
        ("checkpoints", "on", Gates(checkpoints=True)),
        ("checkpoints", "yes", None),
    ],
)
def test_a_gate_takes_its_values(key: str, value: str, gates: Gates | None) -> None:
    assert configs.read(text_of(gates=f"{{{key}: {value}}}")).gates == gates


@pytest.mark.parametrize("field", ["base_branch", "feature_branch"])
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("qrspi/user-auth", ""),
        ("a/.b", "a part that begins with '.'"),
        ("x.lock/y", "a part that ends in '.lock'"),
        ("HEAD", "a word that git keeps for itself"),
        ("a..b", "'..'"),
        ("b" * 201, "more than 200 characters"),
    ],
)
def test_a_branch_is_what_git_takes_for_one(field: str, name: str, reason: str) -> None:
    config = configs.read(text_of(**{field: name}))
    assert getattr(config, field) == (None if reason else name)
    assert [problem.message for problem in config.problems] == (
        [f"config.md: {field} is {quoted(name)}, which has {reason}; expected the name of a branch"]
        if reason
        else []
    )
    assert reason == branch_names.unsafe(name)


@pytest.mark.rule("CFG-12")
@pytest.mark.parametrize(
    ("value", "floor"),
    [("0", 0.0), ("1", 1.0), ("0.05", 0.05), (".5", 0.5), ("5e-2", 0.05)]
    + [(bad, None) for bad in ("1.01", "-0.1", ".inf", ".nan", '"0.1"', "5%", "", "1e999")],
)
def test_the_citation_density_floor(value: str, floor: float | None) -> None:
    config = configs.read(text_of(validators=f"{{citation_density_floor: {value}}}"))
    field = "validators.citation_density_floor"
    assert config.validators == (None if floor is None else Validators(floor))
    assert codes(config) == ([("field-invalid", field)] if floor is None else [])


def provider(**parts: str) -> bytes:
    values = {
        "base_url": "https://example.org",
        "api_key_env": "ACME_KEY",
        "transport_type": "codex-broker",
        **parts,
    }
    inside = ", ".join(f"{key}: {value}" for key, value in values.items())
    return text_of(providers=f"{{acme: {{{inside}}}}}")


@pytest.mark.rule("CFG-11", "SEC-05", "TRN-06")
@pytest.mark.parametrize(
    "value",
    [
        "sk-proj-AbCdEfGh12345678",
        "sk_live_AbCdEfGh12345678",
        "ghp_AbCdEfGhIjKlMnOpQrSt",
        "AKIAIOSFODNN7EXAMPLE",
        "AIzaSyA1234567890abcdefg",
        "Zx81mQ9pLw72Ktr5Vb60",
        '"Bearer AbCdEfGh12345678"',
        "[AbCdEfGh12345678]",
        "{key: AbCdEfGh12345678}",
        "12345678AbCdEfGh",
    ],
)
def test_a_key_in_place_of_its_name_is_refused_and_never_repeated(value: str) -> None:
    config = configs.read(provider(api_key_env=value))
    (problem,) = config.problems
    assert (problem.code, problem.field) == ("field-invalid", "providers.acme.api_key_env")
    secret = value.strip('"[]{}').removeprefix("key: ").removeprefix("Bearer ")
    assert secret not in repr(problem) + repr(config)


@pytest.mark.rule("CFG-11")
@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "key", "_K", "MY_COMPANY_GATEWAY_KEY_2", "OPENAI_API_KEY_20260517"]
)
def test_the_name_of_a_variable_is_good(name: str) -> None:
    config = configs.read(provider(api_key_env=name))
    assert config.problems == ()
    assert config.providers and config.providers["acme"].api_key_env == name


@pytest.mark.rule("CFG-11", "SEC-10")
@pytest.mark.parametrize(
    ("url", "good"),
    [
        ("http://localhost:8080/v1", True),
        ('"http://[::1]:8080"', True),
        ("HTTP://LOCALHOST/v1", True),
        ("http://127.9.8.7?v=1", True),
        ("http://example.org", False),
        ("HTTP://example.org", False),
        ("http://localhost.example.org", False),
        ("http://127.0.0.1.example.org:80", False),
        ("http://127.1", False),
        ("http://127.0.0.1:1:2/v1", False),
        ('"http://[::ffff:10.0.0.1]"', False),
        ("http://0.0.0.0", False),
        ("http://127.0.0.\u0661", False),
        ("HTTPS://example.org", True),
        ("https://example.org/openai?api-version=1", True),
        ("https://", False),
        ("example.org", False),
        ("file:///etc/passwd", False),
        ('"https://example.org/a b"', False),
        ("https://user:pass@example.org", False),
        ("[https://example.org]", False),
    ],
)
def test_base_urls(url: str, good: bool) -> None:
    config = configs.read(provider(base_url=url))
    assert codes(config) == ([] if good else [("field-invalid", "providers.acme.base_url")])
    assert "user:pass" not in repr(config)


@pytest.mark.rule("CFG-11")
@pytest.mark.parametrize(
    ("headers", "field"),
    [
        ("{X-Team: [core]}", "default_headers.X-Team"),
        ("{X-Team: true}", "default_headers.X-Team"),
        ('{X-Team: "a\\r\\nEvil: 1"}', "default_headers.X-Team"),
        ('{"X Team": core}', "default_headers"),
        ("core", "default_headers"),
    ],
)
def test_headers_are_text_to_text(headers: str, field: str) -> None:
    config = configs.read(provider(default_headers=headers))
    assert codes(config) == [("field-invalid", f"providers.acme.{field}")]


@pytest.mark.rule("CFG-13")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("worktree_mode", "config.md: `worktree_mode` is not a known field and is ignored"),
        (
            "verifier",
            "config.md: `verifier` is not a known field and is ignored; "
            "the nearest known field is verifier_enabled",
        ),
        (
            "verifier_enable",
            "config.md: `verifier_enable` is not a known field and is ignored; "
            "the nearest known field is verifier_enabled",
        ),
        ("worktrees", "config.md: `worktrees` is not a known field and is ignored"),
    ],
)
def test_unknown_fields_are_a_warning(name: str, message: str) -> None:
    config = configs.read(text_of(**{name: "1"}))
    assert config.problems == ()
    assert [(p.code, p.message) for p in config.warnings] == [("field-unknown", message)]


@pytest.mark.rule("CFG-13")
def test_thousands_of_unknown_fields_are_not_thousands_of_lines() -> None:
    config = configs.read(text_of(**{f"x{number}": "1" for number in range(2000)}))
    assert len(config.warnings) == 21
    assert config.warnings[-1].message == ("config.md: 1980 more unknown fields, which are ignored")


ALL = {step.name for step in STEPS}


@pytest.mark.rule("CFG-14")
@pytest.mark.parametrize(
    ("fields", "steps"),
    [
        ({"route": "[plan]"}, ALL),
        ({"model_routing": "-"}, ALL),
        ({"default_tier": "huge"}, ALL),
        ({"second_reviewer": "yes"}, ALL),
        ({"guard": "lax"}, ALL),
        ({"verifier_enabled": "yes"}, ALL),
        ({"scope_tagger_enabled": "yes"}, ALL),
        ({"pipeline": "fast"}, {"goals", "plan", "parallelize"}),
        ({"question_budget": "5"}, {"goals", "plan", "parallelize"}),
        ({"review_depth": "x", "review_mode": "loop"}, {"implement"}),
        ({"review_depth": "deep", "review_mode": "x"}, {"implement"}),
        (
            {"visual_fidelity_required": "no"},
            {"goals", "design", "phasing", "plan", "implement"},
        ),
        ({"created": "today"}, set()),
        ({"providers": "x"}, set()),
        ({"commands": "x"}, set()),
        ({"gates": "x"}, {"plan", "implement", "integrate", "test"}),
        ({"base_branch": "-x"}, set()),
    ],
)
def test_a_step_minds_only_the_fields_it_uses(fields: dict[str, str], steps: set[str]) -> None:
    asked = {"review_depth": "deep", "review_mode": "loop"}
    config = configs.read(text_of(**{**asked, **fields}))
    assert config.problems
    blocked = {step for step in ALL if configs.problems_for(config, step)}
    warned = {step for step in ALL if configs.warnings_for(config, step)}
    assert (blocked, warned) == (steps, ALL - steps)
    assert configs.validate(config).problems == config.problems


@pytest.mark.rule("CFG-14", "IMP-06", "LIV-24")
def test_implement_asks_for_what_nobody_has_chosen_yet() -> None:
    config = configs.read(text_of())
    assert configs.validate(config).ok
    assert configs.problems_for(config, "plan") == ()
    for word in ("implement", "implement-gate", "task-03"):
        assert [menu(problem) for problem in configs.problems_for(config, word)] == [
            "config.md: how are tasks reviewed? review_depth (quick or deep) and review_mode "
            "(single or loop) are yours to choose\n"
            "  1) Four reviewers for each task, again after each change until it is clean "
            "(recommended): qrspi config set review_depth quick review_mode loop\n"
            "  2) Four reviewers for each task, once: the cheapest: qrspi config set review_depth "
            "quick review_mode single\n"
            "  3) Up to eight reviewers, at about twice the cost, again after each change until it "
            "is clean: qrspi config set review_depth deep review_mode loop\n"
            "  4) Up to eight reviewers, at about twice the cost, once: qrspi config set "
            "review_depth deep review_mode single\n"
            "  5) Abort\n",
        ]


@pytest.mark.rule("CFG-14")
def test_a_finished_run_has_warnings_but_no_problems() -> None:
    config = configs.read(text_of(created="today", oddity="1"))
    assert [problem.field for problem in configs.warnings_for(config, "")] == ["oddity", "created"]


@pytest.mark.rule("CFG-08")
def test_what_is_missing_is_backfilled_and_what_is_bad_is_not() -> None:
    config = configs.read(
        text_of(verifier_enabled="-", scope_tagger_enabled="yes", visual_fidelity_required="-")
    )
    assert configs.backfills(config) == (
        ("verifier_enabled", "true"),
        ("visual_fidelity_required", "false"),
    )
    assert configs.problems_for(configs.read(text_of(verifier_enabled="-")), "goals") == ()
    assert configs.validate(config).warnings == (
        Problem(
            "field-missing",
            "config.md: verifier_enabled is missing; true will be written when it is first needed",
            "config.md",
            "verifier_enabled",
            expected="true or false",
        ),
        Problem(
            "field-missing",
            "config.md: visual_fidelity_required is missing; "
            "false will be written when it is first needed",
            "config.md",
            "visual_fidelity_required",
            expected="true or false",
        ),
    )


def test_problems_stand_in_the_order_of_the_fields() -> None:
    config = configs.read(
        b"---\ngates: x\nguard: x\npipeline: x\ncreated: x\nroute: x\nproviders: x\n---\n"
    )
    assert [problem.field for problem in config.problems] == [
        "created", "pipeline", "second_reviewer", "route", "model_routing", "providers", "guard",
        "gates",
    ]  # fmt: skip
