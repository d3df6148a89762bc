from __future__ import annotations

from collections.abc import Sequence

import pytest

from qrspi.core.findings import triage
from qrspi.core.model import Finding, Problem
from qrspi.core.pipeline import Subject, subject
from qrspi.core.rounds import scope_set
from qrspi.core.rounds.scope_set import FULL, ScopeSet
from qrspi.core.tree import Fault
from tests.core.round_files import finding, round_of

RUN = "2026-05-17-user-auth"
DESIGN = b"""\
---
status: draft
---
# Design

Before the first.

## Approach

```
## not a heading
```

## Risks, and more

## Trade-offs ##

Rollout
-------

text

##

last
"""


def named(word: str) -> Subject:
    found = subject(word)
    assert found is not None
    return found


def derived(
    findings: Sequence[Finding],
    word: str = "design",
    artifact: bytes | Fault = DESIGN,
    root: str = "",
) -> ScopeSet:
    triaged = triage.partition(round_of(findings), verifier_enabled=True, skipped=False)
    return scope_set.derive(triaged, named(word), RUN, artifact, root=root)


@pytest.mark.rule("SCP-02", "SCP-07")
@pytest.mark.parametrize(
    ("cites", "tag"),
    [
        (["design.md:8"], "## Approach"),
        (["design.md:L9"], "## Approach"),
        (["design.md:L11-L30"], "## Approach"),
        (["design.md:13"], "## Approach"),
        (["design.md:16"], "## Trade-offs"),
        (["design.md:18"], "## Rollout"),
        (["design.md:L19-L20"], "## Rollout"),
        ([f"docs/qrspi/{RUN}/design.md:9"], "## Approach"),
        (["./design.md:9"], "## Approach"),
        (["/home/ada/shop/docs/qrspi/2026-05-17-user-auth/design.md:9"], "## Approach"),
        (["goals.md:3", "design.md:9", "design.md:18"], "## Approach"),
        (["see above: everywhere", "design.md:9"], "## Approach"),
    ],
)
def test_one_file_steps_are_tagged_by_section(cites: list[str], tag: str) -> None:
    found = derived([finding(cites=cites)], root="/home/ada/shop")
    assert found == ScopeSet((tag,), (), 1)


@pytest.mark.rule("SCP-02", "SCP-07")
@pytest.mark.parametrize(
    ("cites", "tag"),
    [
        (["plan.md:12"], "plan.md"),
        (["plan.md"], "plan.md"),
        ([f"docs/qrspi/{RUN}/plan.md:L1-L9"], "plan.md"),
        ([f"./docs//qrspi/{RUN}/tasks/task-01.md"], "tasks/task-01.md"),
        (["src/api/login.py:3", "plan.md:1"], "src/api/login.py"),
        (["docs/qrspi/2026-01-01-other-run/plan.md"], "docs/qrspi/2026-01-01-other-run/plan.md"),
        (["docs/user manual.md:4"], "docs/user manual.md"),
        (["/home/ada/shop/src/a.py:1"], "src/a.py"),
        ([f"/home/ada/shop/docs/qrspi/{RUN}/plan.md"], "plan.md"),
    ],
)
@pytest.mark.parametrize("word", ["plan", "research", "implement-gate", "task-03", "integrate"])
def test_many_file_steps_are_tagged_by_path(word: str, cites: list[str], tag: str) -> None:
    found = derived([finding(cites=cites)], word, Fault("absent"), root="/home/ada/shop/")
    assert found == ScopeSet((tag,), (), 1)


ABOUT_ALL = ", so it counts for the whole artifact"


@pytest.mark.rule("SCP-03", "SCP-07")
@pytest.mark.parametrize(
    ("word", "cites", "reason"),
    [
        ("design", ["design.md"], "it cites design.md without a line range"),
        ("design", ["design.md", "design.md:9"], "it cites design.md without a line range"),
        ("design", [], "it does not cite design.md"),
        ("design", ["goals.md:3"], "it does not cite design.md"),
        ("design", ["design.md:abc"], '"design.md:abc" is not a citation of a file'),
        (
            "design",
            ["design.md:9\n## Forged"],
            '"design.md:9\\n## Forged" is not a citation of a file',
        ),
        ("design", ["../design.md:9"], "it does not cite design.md"),
        ("design", ["design.md:6"], "line 6 is before the first H2 heading of design.md"),
        ("design", ["design.md:1"], "line 1 is before the first H2 heading of design.md"),
        ("design", ["design.md:99"], "line 99 is past the end of design.md"),
        ("design", ["design.md:14"], 'the heading "## Risks, and more" contains a comma'),
        ("design", ["design.md:25"], "the heading on line 23 of design.md has no text"),
        ("plan", [], "it cites no file"),
        ("plan", ["plan.md:x"], '"plan.md:x" is not a citation of a file'),
        ("plan", ["src/a,b.py"], 'the path "src/a,b.py" contains a comma'),
        ("plan", ["../shop/plan.md"], '"../shop/plan.md" leads out of the project'),
        ("plan", ["src/../../x.py:3"], '"src/../../x.py:3" leads out of the project'),
        ("plan", ["/etc/passwd"], '"/etc/passwd" leads out of the project'),
        ("plan", ["/home/ada/shopping/x.py"], '"/home/ada/shopping/x.py" leads out of the project'),
        ("plan", ["."], '"." leads out of the project'),
        (
            "plan",
            ["# not a comment"],
            'the path "# not a comment" cannot stand on a line of its own',
        ),
        ("plan", ["## x.md"], 'the path "## x.md" cannot stand on a line of its own'),
        ("plan", ["<full>"], 'the path "<full>" cannot stand on a line of its own'),
        (
            "plan",
            ["the whole thing"],
            'the path "the whole thing" cannot stand on a line of its own',
        ),
    ],
)
def test_what_cannot_be_placed_is_about_everything(
    word: str, cites: list[str], reason: str
) -> None:
    found = derived([finding(cites=cites)], word, root="/home/ada/shop")
    warning = f"quality-claude.R1-F01: {reason}{ABOUT_ALL}"
    assert found == ScopeSet((FULL,), (warning,), 1)


@pytest.mark.rule("SCP-03")
@pytest.mark.parametrize(
    ("artifact", "reason"),
    [
        (b"# Only one\n\ntext\n", "design.md has no H2 heading"),
        (b"", "design.md has no H2 heading"),
        (Fault("absent"), "design.md cannot be read (it is not there)"),
        (Fault("unreadable", "Permission denied"), "design.md cannot be read (Permission denied)"),
    ],
)
def test_without_headings_all_is_about_everything(artifact: bytes | Fault, reason: str) -> None:
    found = derived([finding(cites=["design.md:1"])], artifact=artifact)
    assert found.warnings == (f"quality-claude.R1-F01: {reason}{ABOUT_ALL}",)
    assert found.tags == (FULL,)


@pytest.mark.rule("SCP-01")
def test_the_whole_file() -> None:
    findings = {
        finding(1, cites=["design.md:18"]): 90,
        finding(2, cites=["design.md"]): 90,
        finding(3, cites=["design.md:9"]): 10,
        finding(4, cites=["design.md:19"]): 90,
        finding(5, "scope", cites=["design.md:9"]): 0,
    }
    triaged = triage.partition(round_of(findings), verifier_enabled=True, skipped=False)
    found = scope_set.derive(triaged, named("design"), RUN, DESIGN)
    assert scope_set.render(7, found).decode() == (
        "# scope-set for round 7\n"
        "# generated_by: qrspi\n"
        "# total_findings_kept: 4\n"
        "# warning: quality-claude.R1-F02: it cites design.md without a line range"
        ", so it counts for the whole artifact\n"
        "## Rollout\n"
        "<full>\n"
        "## Approach\n"
    )


@pytest.mark.rule("SCP-08")
def test_zero_kept_findings_give_a_header_only() -> None:
    assert scope_set.render(2, derived([])) == (
        b"# scope-set for round 2\n# generated_by: qrspi\n# total_findings_kept: 0\n"
    )


HEADER = "# scope-set for round 1\n# generated_by: tagger\n# total_findings_kept: 3\n"


@pytest.mark.rule("SCP-04", "SCP-08")
@pytest.mark.parametrize(
    ("text", "read"),
    [
        (HEADER, ScopeSet((), (), 3)),
        (
            f"{HEADER}## Approach\n<full>\nplan.md\n",
            ScopeSet(("## Approach", FULL, "plan.md"), (), 3),
        ),
        (
            f"{HEADER}###### Deep heading, with comma\n",
            ScopeSet(("###### Deep heading, with comma",), (), 3),
        ),
        (f"{HEADER}\n\n## A\n\n## A\n", ScopeSet(("## A",), (), 3)),
        (f"{HEADER}## A  \t\nplan.md \n", ScopeSet(("## A", "plan.md"), (), 3)),
        (f"{HEADER}## A\r\nplan.md\r\n", ScopeSet(("## A", "plan.md"), (), 3)),
        (f"{HEADER}# warning: one\n#\n# note\nMakefile\n", ScopeSet(("Makefile",), ("one",), 3)),
        (f"{HEADER}docs/my notes.md\n", ScopeSet(("docs/my notes.md",), (), 3)),
        ("scripts/run.sh\n", ScopeSet(("scripts/run.sh",), (), None)),
        ("# total_findings_kept: many\na.md\n", ScopeSet(("a.md",), (), None)),
        ("# total_findings_kept: 2\n# total_findings_kept: 9\na.md\n", ScopeSet(("a.md",), (), 2)),
        ("a.md", ScopeSet(("a.md",), (), None, normalised=True)),
        ("a.md\n\n", ScopeSet(("a.md",), (), None, normalised=True)),
        ("", ScopeSet((), (), None, normalised=True)),
    ],
)
def test_a_set_by_another_tagger_is_read(text: str, read: ScopeSet) -> None:
    assert scope_set.read(text.encode()) == read


@pytest.mark.rule("SCP-04")
@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("foo bar baz", "foo bar baz"),
        ("see src/x.py for details", "see src/x.py for details"),
        ("##", "##"),
        ("##NoSpace", "##NoSpace"),
        ("####### Seven", "####### Seven"),
        ("#comment", "#comment"),
        (" plan.md", " plan.md"),
        (" ## A", " ## A"),
        ("<all>", "<all>"),
        ("<full> and more", "<full> and more"),
        ("<FULL>", "<FULL>"),
        ("a\x00b.md", "a\\u0000b.md"),
        ("x y" * 100, ("x y" * 100)[:200]),
    ],
)
def test_a_malformed_set_says_which_line(line: str, shown: str) -> None:
    problem = scope_set.read(f"{HEADER}## Fine\n{line}\n".encode())
    assert isinstance(problem, Problem)
    assert (problem.code, problem.found) == ("bad_scope_set", line)
    assert scope_set.malformed_line(3, problem.message) == (
        f"Scope-tagger emitted malformed scope-set for round 03: tag line '{shown}' has neither"
        " file-path shape nor ## prefix nor <full> literal"
    )


@pytest.mark.rule("SCP-04")
def test_a_set_that_is_no_text_is_malformed() -> None:
    problem = scope_set.read(b"a.md\n\xff\n")
    assert isinstance(problem, Problem)
    assert problem.message == "byte 6 is not UTF-8"


@pytest.mark.rule("SCP-08")
@pytest.mark.parametrize(
    ("total", "kept", "stale"), [(3, 3, False), (3, 2, True), (None, 2, False)]
)
def test_a_set_is_stale_when_its_count_differs(total: int | None, kept: int, stale: bool) -> None:
    assert scope_set.is_stale(ScopeSet(("a.md",), (), total), kept) is stale


@pytest.mark.rule("SCP-05")
def test_people_are_told_of_the_fallback() -> None:
    found = derived([finding(1, cites=["design.md"]), finding(2, cites=[])])
    assert scope_set.fallback_line(4, found) == (
        "Round 04: tagger fell back to <full> for 2 finding(s) — reviewer omitted line-range"
        " citation OR artifact has no H2 headings. See round-04-scope-set.txt warnings."
    )
    assert scope_set.fallback_line(4, derived([finding(cites=["design.md:9"])])) is None
    outside = ScopeSet((FULL,), (), None)
    assert scope_set.fallback_line(100, outside) == (
        "Round 100: tagger fell back to <full> for 1 finding(s) — reviewer omitted line-range"
        " citation OR artifact has no H2 headings. See round-100-scope-set.txt warnings."
    )


@pytest.mark.rule("SCP-05", "LIV-01")
def test_another_reason_of_the_fallback_is_said() -> None:
    found = derived([finding(1, cites=["design.md:L1"]), finding(2, cites=["design.md"])])
    assert scope_set.fallback_line(1, found) == (
        "Round 01: tagger fell back to <full> for 2 finding(s) — quality-claude.R1-F01: line 1 is "
        "before the first H2 heading of design.md; quality-claude.R1-F02: it cites design.md "
        "without a line range. See round-01-scope-set.txt warnings."
    )


@pytest.mark.rule("SCP-01")
def test_a_derived_set_is_read_back_as_it_was() -> None:
    rows = [["design.md:9"], ["design.md"], ["design.md:18"], ["a: b\n## Forged"]]
    found = derived([finding(at, cites=cites) for at, cites in enumerate(rows, 1)])
    assert scope_set.read(scope_set.render(1, found)) == found
