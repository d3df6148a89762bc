"""Role texts: what parses, what the shipped ones hold, how they are put together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import qrspi
from qrspi.core.agents import prompts
from qrspi.core.agents.roles import (
    SHARED,
    Role,
    compose,
    for_author,
    for_section,
    for_tag,
    is_name,
    kind_of,
    parse,
)
from qrspi.core.config.model_tiers import Model
from qrspi.core.model import CHANGE_TYPES, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEPS
from qrspi.world.runs import role_files

STEMS = """quality scope spec security goal-traceability test-coverage silent-failure integration
implement-gate code-quality type-design code-simplifier visual-fidelity""".split()
AUTHORS = """goals questions research-question research-summary design phasing ux structure plan
parallelize replan""".split()
NAMES = (
    *(f"reviewer-{stem}" for stem in STEMS),
    *(f"author-{step}" for step in AUTHORS),
    *"verifier fixer implementer implementer-light test-writer tagger quality-reviewer".split(),
)
PARTS = role_files.shared_parts()


def _shipped(name: str) -> Role:
    role = role_files.shipped(name)
    assert isinstance(role, Role)
    return role


@pytest.mark.rule("PRM-05")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "---\nname: verifier\ntier: low\n---\nDo it.\n",
            Role("verifier", "low", None, "Do it.", "f.md"),
        ),
        (
            "---\nname: verifier\nmodel: {vendor: v, model: m-1}\ndescription: x\n---\n\nDo it.",
            Role("verifier", None, Model("v", "m-1"), "Do it.", "f.md"),
        ),
    ],
)
def test_a_role_is_read(text, expected):
    assert parse(text.encode(), "verifier", "f.md") == expected


@pytest.mark.rule("PRM-05")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Do it.", "frontmatter: found none, expected frontmatter with name and tier"),
        ("---\ntier: low\n---\nx", "name: found nothing, expected 'verifier'"),
        ("---\nname: verify\n---\nx", "name: found 'verify', expected 'verifier'"),
        (
            "---\nname: verifier\ntier: hgih\n---\nx",
            "tier: found 'hgih', expected one of extra-low, low, medium, high, extra-high",
        ),
        (
            "---\nname: verifier\ntier: [low]\n---\nx",
            "tier: found a list or mapping of another form, "
            "expected one of extra-low, low, medium, high, extra-high",
        ),
        (
            "---\nname: verifier\nmodel: sonnet\n---\nx",
            "model: found 'sonnet', expected {vendor: …, model: …}",
        ),
        (
            "---\nname: verifier\nmodel: {vendor: v}\n---\nx",
            "model: found a list or mapping of another form, expected {vendor: …, model: …}",
        ),
        (
            '---\nname: verifier\nmodel: {vendor: "", model: m}\n---\nx',
            "model: found a list or mapping of another form, expected {vendor: …, model: …}",
        ),
        (
            "---\nname: verifier\nmodel: {vendor: v, model: m; id}\n---\nx",
            "model: found a list or mapping of another form, expected {vendor: …, model: …}",
        ),
        ("---\nname: verifier\n---\n \n", "text: found nothing, expected the role's instructions"),
    ],
)
def test_a_role_that_cannot_be_used_is_a_problem(text, message):
    problem = parse(text.encode(), "verifier", "agents/verifier.md")
    assert isinstance(problem, Problem)
    assert problem.message == f"agents/verifier.md: {message}"


@pytest.mark.rule("PRM-05")
def test_bytes_that_are_no_text_are_a_problem():
    problem = parse(b"---\nname: verifier\n---\n\xff", "verifier", "f.md")
    assert isinstance(problem, Problem)
    assert problem.message == "f.md: text: found bytes that are not UTF-8, expected UTF-8"


@pytest.mark.rule("PRM-05")
@pytest.mark.parametrize("name", NAMES)
def test_every_role_is_shipped_with_a_tier_and_no_vendor(name):
    role = _shipped(name)
    assert role.name == name
    assert role.tier is not None
    assert role.model is None
    assert role.file.endswith(f"/qrspi/roles/{name}.md")


@pytest.mark.rule("PRM-05")
def test_nothing_is_shipped_that_nobody_can_ask_for():
    assert sorted(role_files.shipped_names()) == sorted(NAMES)
    shared = Path(qrspi.__file__).parent / "roles" / "shared"
    assert sorted(file.name for file in shared.iterdir()) == sorted(f"{name}.md" for name in SHARED)


@pytest.mark.rule("PRM-05")
@pytest.mark.parametrize("step", [step.name for step in STEPS if step.artifact])
def test_every_step_that_is_authored_has_an_author(step):
    if step not in ("implement", "integrate", "test"):
        assert for_author(step) in NAMES
    assert for_author("research", question=True) == "author-research-question"


@pytest.mark.rule("PRM-05")
@pytest.mark.parametrize(
    ("tag", "role"),
    [
        ("quality-claude", "reviewer-quality"),
        ("goal-traceability-codex", "reviewer-goal-traceability"),
        ("visual-fidelity-claude", "reviewer-visual-fidelity"),
        ("stitching-audit-claude", "reviewer-stitching-audit"),
        ("stitching-audit", "reviewer-stitching-audit"),
    ],
)
def test_a_tag_names_its_role(tag, role):
    assert for_tag(tag) == role


def test_names_and_kinds():
    assert [kind_of(name) for name in ("reviewer-spec", "author-ux", "fixer")] == [
        "reviewer",
        "author",
        "fixer",
    ]
    assert is_name("reviewer-Odd_tag")
    assert not any(map(is_name, ["", "reviewer/../x", "../verifier", "unknown", "author-ä"]))


TEXT = """Always.
## Step: goals, design
Only early.
## Scale
Always too.
## Step: task
Only tasks."""


@pytest.mark.rule("PRM-04")
@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("goals", "Always.\n## Step: goals, design\nOnly early.\n## Scale\nAlways too."),
        ("design", "Always.\n## Step: goals, design\nOnly early.\n## Scale\nAlways too."),
        ("task", "Always.\n## Scale\nAlways too.\n## Step: task\nOnly tasks."),
        ("plan", "Always.\n## Scale\nAlways too."),
    ],
)
def test_a_role_speaks_only_of_the_step_at_hand(section, expected):
    assert for_section(TEXT, section) == expected


ROWS = {
    "quality": "goals questions research design phasing ux structure plan parallelize replan",
    "scope": "goals design phasing ux structure plan parallelize replan",
    "spec": "plan task test",
    "security": "plan integrate task",
    "goal-traceability": "plan test task",
    "test-coverage": "plan task",
    "silent-failure": "plan task",
    "code-quality": "test task",
}


@pytest.mark.rule("PRM-05", "PRM-04")
@pytest.mark.parametrize(
    ("stem", "section"), [(stem, word) for stem, row in ROWS.items() for word in row.split()]
)
def test_a_reviewer_of_several_steps_has_a_section_for_each(stem, section):
    text = for_section(_shipped(f"reviewer-{stem}").text, section)
    assert text.count("## Step: ") == 1
    assert f"## Step: {section}\n" in text


@pytest.mark.rule("PRM-04")
@pytest.mark.parametrize("prints", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_how_to_hand_in_comes_after_the_role(name, prints):
    role = _shipped(name)
    text = compose(role, PARTS, prints=prints, section="plan")
    own = text.index(for_section(role.text, "plan"))
    assert text.index("# What is data") == 0
    if name not in ("quality-reviewer",) and not (
        prints and name.startswith(("implementer", "test-writer"))
    ):
        assert text.rindex("# How to hand in") > own
        assert text.count("# How to hand in") == 1
        assert text.count("# What you can look at") == prints


@pytest.mark.rule("PRM-04", "PRM-08")
def test_a_reviewer_who_writes_is_told_where_and_what_to_answer():
    text = compose(_shipped("reviewer-quality"), PARTS, prints=False, section="goals")
    assert "<reviewer_tag>.finding-F01.md" in text
    assert "<reviewer_tag>.clean.md" in text
    assert "<<<FINDING-BOUNDARY>>>" not in text
    assert text.endswith(
        "```\n"
        "Step: <step>\n"
        "Round: <round>\n"
        "Reviewer: <reviewer_tag>\n"
        "Findings: <n> (high=<h>, medium=<m>, low=<l>)\n"
        "Written to: <round_subdir>\n"
        "```"
    )


@pytest.mark.rule("PRM-04", "PRM-07")
def test_a_reviewer_who_prints_is_given_the_boundary():
    text = compose(_shipped("reviewer-quality"), PARTS, prints=True, section="goals")
    assert "`<<<FINDING-BOUNDARY>>>`" in text
    assert "`NO_FINDINGS`" in text
    assert "Written to:" not in text


@pytest.mark.rule("PRM-04")
@pytest.mark.parametrize("kind", CHANGE_TYPES)
def test_each_change_type_has_a_fitting_and_a_misleading_example(kind):
    after = PARTS["change-types"].split(f"\n**{kind}**:")[1]
    section = after.split("\n**")[0]
    assert section.count("\n- Fits: ") == 1
    assert section.count("\n- Misleads: ") == 1


@pytest.mark.rule("PRM-05")
def test_the_verifier_has_anchors_and_false_positives():
    text = _shipped("verifier").text
    for anchor in ("| 0 |", "| 50 |", "| 70 |", "| 80 |", "| 100 |"):
        assert anchor in text
    assert "Likely false positives" in text


@pytest.mark.rule("PRM-08")
def test_the_verifiers_answer_has_its_form():
    text = compose(_shipped("verifier"), PARTS, prints=False)
    assert "`<finding>: <score>`" in text
    assert "`<finding>: VERIFY_FAILED:<why, in a few words>`" in text


GIVEN: dict[str, type[NamedTuple]] = {
    "reviewer": prompts.Reviewer,
    "verifier": prompts.Verifier,
    "author": prompts.Author,
    "fixer": prompts.Fixer,
    "implementer": prompts.Implementer,
    "implementer-light": prompts.Implementer,
    "test-writer": prompts.Implementer,
}
# Beside the fields of what it is given: one that has another name there, and two lists of a task.
PARAMETERS = frozenset(("reviewer_tag", "verified_by", "wireframe_paths", "screenshot_paths"))
IS_PARAMETER = re.compile(r"`([a-z_]+(?:_paths?|_dir|_subdir|_command|_commit|_tag|_by)|worktree)`")


@pytest.mark.rule("PRM-01", "PRM-05", "PRM-06")
@pytest.mark.parametrize("prints", [False, True])
@pytest.mark.parametrize("name", [name for name in NAMES if kind_of(name) in GIVEN])
def test_a_role_names_no_parameter_that_its_prompt_cannot_have(name, prints):
    known = {*GIVEN[kind_of(name)]._fields, *PARAMETERS}
    role = _shipped(name)
    told = "".join(compose(role, PARTS, prints=prints, section=one) for one in SECTIONS)
    assert set(IS_PARAMETER.findall(told)) - known == set()


SECTIONS = """goals questions research design phasing ux structure plan parallelize replan task
implement-gate integrate test""".split()


@pytest.mark.rule("PRM-04")
@pytest.mark.parametrize("prints", [False, True])
@pytest.mark.parametrize("stem", STEMS)
def test_what_a_reviewer_is_told_every_time_fits_in_eight_kilobytes(stem, prints):
    role = _shipped(f"reviewer-{stem}")
    sizes = {
        section: len(compose(role, PARTS, prints=prints, section=section).encode())
        for section in SECTIONS
    }
    assert {section: size for section, size in sizes.items() if size > 8 * 1024} == {}


@pytest.mark.rule("PRM-04")
def test_what_all_reviewers_are_told_comes_first_so_that_it_can_be_cached():
    texts = [
        compose(_shipped(f"reviewer-{stem}"), PARTS, prints=False, section="task") for stem in STEMS
    ]
    same = "".join(PARTS[name] for name in ("untrusted-data", "finding-format", "change-types"))
    assert all(text.startswith(texts[0][: len(same)]) for text in texts)


# What the best reviewers look for, each where its role says it.
CHECKS = {
    ("reviewer-quality", "plan"): "One observable behaviour|at most 200|TBD|similar to|as needed|"
    'A title with "and"|split: propose it, with the titles and files|Failure closes|'
    "without permission|[INFERRED]",
    (
        "reviewer-quality",
        "design",
    ): "slices that work end to end|No interface between parts is left",
    ("reviewer-quality", "phasing"): "Phase 1 goes through the whole stack|can observe",
    ("reviewer-quality", "structure"): "No interface is open",
    ("reviewer-quality", "goals"): "known-fix or exploratory|candidate|No acceptance criteria",
    ("reviewer-scope", "goals"): "wrong height is `scope`|Words that betray|acceptance criteria",
    ("reviewer-code-quality", "task"): "Ids of the run|grep -nE|names of tests|reason is false",
    ("reviewer-silent-failure", "task"): "answered as success|lost by wrapping|written before|"
    "which failures end there",
    ("reviewer-security", "task"): "CSRF|sessions|ReDoS|logs",
    ("reviewer-test-coverage", "task"): "vacuous|seam|each error that the code raises",
    # At quick depth nobody else is asked about a task's tests.
    ("reviewer-spec", "task"): "no test of the change would see broken|each side of every limit|"
    "without a place is a finding of its own",
    ("reviewer-test-coverage", "plan"): "which tests it adds|way to be checked",
    ("reviewer-security", "plan"): "the unauthorised case included",
    ("reviewer-silent-failure", "plan"): "at least one failing case",
    ("reviewer-scope", "design"): "Words that betray|Later:",
    ("reviewer-scope", "phasing"): "Words that betray|Later:",
    ("reviewer-scope", "structure"): "Words that betray|Later:",
    ("reviewer-scope", "plan"): "Words that betray|Later:",
    ("author-goals", ""): "known-fix|exploratory|candidates and nothing more|No acceptance",
    ("author-phasing", ""): "through the whole stack|makes us replan",
    ("author-research-question", ""): "one question|do not know what they are wanted for",
    ("author-research-summary", ""): "word for word|no synthesis",
    ("test-writer", "task"): "see each fail|from what was promised",
    ("test-writer", "test"): "from end to end|limits on both sides|regression test|evidence",
    ("implementer-light", ""): "no behaviour of code|three different tries",
    ("quality-reviewer", ""): "are not shown to you; whoever does the task gets them",
    ("verifier", ""): "explicit hard rule|against a recorded decision",
    ("implementer", ""): "three different tries|build, type check and lint|BLOCKED|"
    "under `run_dir` at its `screenshot_paths`",
    ("author-plan", ""): "one observable behaviour|about 100 changed lines and at most 200|TBD|"
    'similar to|as needed|A title with "and" is two|Each failure closes|caller without permission',
    ("author-design", ""): "slices that work end to end|none left open",
    ("author-structure", ""): "none left open",
    ("author-parallelize", ""): "qrspi/user-auth-task-01|`qrspi/<slug>-task-NN`|with the `slug`",
    ("reviewer-scope", "ux"): "Words that betray|Later:",
    ("reviewer-scope", "parallelize"): "Words that betray|Not here:",
    ("reviewer-scope", "replan"): "Words that betray|goes back to that artifact",
    ("reviewer-quality", "questions"): "would get the same answer|No leakage",
    ("reviewer-implement-gate", ""): "known from before",
    ("reviewer-integration", ""): "List the seams|follow the value",
    ("reviewer-code-simplifier", "task"): "each parameter|a finding of its own",
    (
        "fixer",
        "",
    ): "the smallest change|a person decided for it, and its fix goes as far as it says",
}


@pytest.mark.rule("PRM-05")
@pytest.mark.parametrize(("place", "words"), CHECKS.items())
def test_a_role_names_what_it_looks_for(place, words):
    name, section = place
    text = " ".join(for_section(_shipped(name).text, section).split())
    assert [word for word in words.split("|") if word not in text] == []


PAGE = Path(__file__).parents[3] / "docs" / "roles.md"


def rows_of_checks() -> list[tuple[str, str]]:
    table = PAGE.read_text().partition("<!-- checks -->\n")[2].partition("<!-- /checks -->")[0]
    lines = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    return [(role.strip("`"), words) for _, role, words in lines]


@pytest.mark.rule("PRM-05")
def test_the_page_quotes_each_check_from_the_role_that_has_it():
    rows = rows_of_checks()
    texts = {role: " ".join(_shipped(role).text.replace("`", "").split()) for role, _ in rows}
    assert len(rows) == 33
    assert [(role, words) for role, words in rows if words not in texts[role]] == []
