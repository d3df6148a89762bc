"""What a task may touch at most."""

from __future__ import annotations

import pytest

from qrspi.core.code_steps import allowed_files
from qrspi.core.records.task_records import Outside

CHANGED = ("src/a.py", "src/deep/b.py", "tests/test_a.py", "README.md")


def task(allowed: str) -> bytes:
    return f"---\nallowed_files: {allowed}\ntarget_files: [src/a.py]\n---\n# Task 1: A\n".encode()


@pytest.mark.parametrize(
    ("allowed", "outside"),
    [
        ("[]", ()),
        ("[+2 more]", ()),
        ("['**']", ()),
        ("[./README.md, src/, tests]", ()),
        ("[README.md]", ("src/deep/b.py", "tests/test_a.py")),
        ("['src/*.py', tests/]", ("src/deep/b.py", "README.md")),
        ("['src/**/*.py', '*.md']", ("tests/test_a.py",)),
        ("['`src/{a,b}.py`']", ("src/deep/b.py", "tests/test_a.py", "README.md")),
    ],
)
def test_what_lies_outside(allowed: str, outside: tuple[str, ...]) -> None:
    found = allowed_files.outside(task(allowed), CHANGED)
    assert found == Outside(outside, len(outside))


def test_paths_may_be_named_from_the_project_or_from_the_root() -> None:
    for allowed in ("[app/b.py]", "[b.py]"):
        assert allowed_files.outside(task(allowed), ("app/b.py", "b.py"), "app").number <= 1
    assert allowed_files.outside(task("[b.py]"), ("app/b.py",), "app") == Outside()


def test_names_are_fit_to_be_shown_and_few() -> None:
    changed = ["a\n`b`.py", *(f"x{number}.py" for number in range(30))]
    found = allowed_files.outside(task("[y.py]"), changed)
    assert (found.names[0], len(found.names), found.number) == ("a 'b'.py", 20, 31)
    assert found.words == (
        "31 files outside its allowed_files: 'a 'b'.py', 'x0.py', 'x1.py' and 28 more"
    )


def test_a_task_that_has_come_to_allow_more() -> None:
    known = Outside(("b.py", "c.py"), 2)
    assert allowed_files.still(task("[b.py]"), known) == Outside(("c.py",), 1)
    assert allowed_files.still(task("[]"), known) == Outside()
