"""Every file under fixtures/cases, read alone. What is said about it stands beside it, whole:
`x.md` and `x.md.txt`; where there is no such text, nothing is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi.core.filenames import CleanName, FindingName, SidecarName, parse_round_file
from qrspi.core.findings.round_files import Examined, examine
from qrspi.core.findings.submission import Place
from qrspi.core.pipeline import subject

CASES = Path(__file__).resolve().parents[3] / "fixtures" / "cases"
STEMS = {
    "finding": "quality-claude.finding-F02",
    "sentinel": "quality-claude",
    "sidecar": "quality-claude.finding-F02",
}


def cases(verdict: str) -> list[str]:
    return sorted(
        file.relative_to(CASES).as_posix()
        for kind in STEMS
        for file in (CASES / kind / verdict).iterdir()
        if file.suffix != ".txt"
    )


def read(case: str) -> Examined:
    file = CASES / case
    name = STEMS[case.partition("/")[0]] + file.name[file.name.index(".") :]
    kind = parse_round_file(name)
    assert isinstance(kind, FindingName | CleanName | SidecarName), name
    about = subject("design")
    assert about is not None
    path = f"reviews/design/round-03/{name}"
    return examine(kind, path, file.read_bytes(), Place(about, 3))


def said(examined: Examined) -> str:
    lines = [f"violation {problem.code}: {problem.message}\n" for problem in examined.violations]
    lines += [f"warning {problem.code}: {problem.message}\n" for problem in examined.warnings]
    return "".join(lines)


def expected(case: str) -> str:
    text = CASES / f"{case}.txt"
    return text.read_text("utf-8") if text.exists() else ""


@pytest.mark.rule("FND-01", "FND-02", "FND-03", "FND-04", "FND-05", "FND-09", "FND-13", "FND-15")
@pytest.mark.parametrize("case", cases("valid"))
def test_a_valid_file_is_read(case: str) -> None:
    examined = read(case)
    assert said(examined) == expected(case)
    assert examined.record is not None
    assert examined.violations == ()


@pytest.mark.rule("FND-01", "FND-02", "FND-04", "FND-05", "FND-08", "FND-10", "FND-13", "GRD-01")
@pytest.mark.parametrize("case", cases("invalid"))
def test_an_invalid_file_says_what_is_wrong_with_it(case: str) -> None:
    examined = read(case)
    assert said(examined) == expected(case)
    assert examined.violations != ()


@pytest.mark.parametrize("case", [*cases("valid"), *cases("invalid")])
def test_every_violation_is_a_whole_line_with_its_parts(case: str) -> None:
    for problem in read(case).violations:
        assert problem.message.startswith(problem.file)
        assert problem.field in problem.message
        assert problem.hint
        assert "\n" not in problem.message
