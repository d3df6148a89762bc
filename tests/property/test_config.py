"""Laws of config.md: nothing crashes, problems name their way out, edits keep every byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.config import edit
from qrspi.core.config import reader as configs
from qrspi.core.config.edit import initial
from qrspi.core.config.reader import KNOWN
from qrspi.core.model import Problem, Status
from qrspi.core.pipeline import ROUTES, STEPS

STEP_NAMES = [step.name for step in STEPS]
CODES = {
    "config-missing",
    "config-unreadable",
    "field-missing",
    "field-invalid",
    "field-forbidden",
    "field-renamed",
}

words = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12).filter(
    lambda word: word not in ("true", "false", "null")
)
scalars = st.one_of(
    words,
    st.sampled_from(["true", "false", "none", "full", "quick", "5", "05", "0.5", "~", "''", "on"]),
    st.integers().map(str),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.dictionaries(
            st.one_of(words, st.sampled_from(["vendor", "model", "low", "usd", "argv", "audit"])),
            inner,
            max_size=3,
        ).map(lambda items: f"{{{', '.join(f'{key}: {value}' for key, value in items.items())}}}"),
    ),
    max_leaves=5,
)
keys = st.one_of(st.sampled_from([*KNOWN, "codex_reviews"]), words)
comments = st.sampled_from(["", " # why", "   # a: b", "\n# between\n"])


@st.composite
def blocks(draw: st.DrawFn) -> bytes:
    fields = draw(st.dictionaries(keys, st.tuples(values, comments), max_size=6))
    lines = [f"{key}: {value}{comment}" for key, (value, comment) in fields.items()]
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    text = "\n".join(["---", *lines, "---", "", "# Body", ""])
    return text.replace("\n", newline).encode()


def templates() -> st.SearchStrategy[bytes]:
    return st.builds(
        initial,
        st.just("2026-05-17"),
        st.sampled_from(sorted(ROUTES)),
        second_reviewer=st.booleans(),
        visual_fidelity_required=st.booleans(),
    )


configs_of_all_kinds = st.one_of(blocks(), templates())


@pytest.mark.rule("SEC-01", "SEC-03")
@given(st.one_of(st.binary(), st.binary().map(lambda data: b"---\n" + data + b"\n---\n")))
def test_any_bytes_give_a_config(data: bytes) -> None:
    config = configs.read(data)
    assert config.problems
    assert configs.backfills(config) is not None


@pytest.mark.rule("CFG-03", "CFG-14")
@given(configs_of_all_kinds, st.sampled_from(STEP_NAMES))
def test_every_problem_is_whole_and_an_error_or_a_warning_of_a_step(data: bytes, step: str) -> None:
    config = configs.read(data)
    errors, warnings = configs.problems_for(config, step), configs.warnings_for(config, step)
    assert not set(errors) & set(warnings)
    assert set(config.problems) <= {*errors, *warnings}
    for problem in config.problems:
        assert problem.code in CODES
        assert problem.options[-1] == "Abort" and len(problem.options) > 1
        assert problem.message.isprintable() and len(problem.message) < 500
        assert problem.field or problem.code in ("config-missing", "config-unreadable")


@pytest.mark.rule("CFG-08")
@given(configs_of_all_kinds)
def test_a_backfill_adds_its_line_and_is_not_needed_again(data: bytes) -> None:
    config = configs.read(data)
    for field, value in configs.backfills(config)[:1]:
        filled = edit.backfill(data, field, value)
        assert isinstance(filled, bytes)
        after = configs.read(filled)
        assert field not in dict(configs.backfills(after))
        assert after._replace(**{field: None}) == config
        newline = b"\r\n" if b"\r\n" in data else b"\n"
        assert filled.replace(f"{field}: {value}".encode() + newline, b"", 1) == data


@pytest.mark.rule("CFG-16")
@given(configs_of_all_kinds, keys, values)
def test_set_changes_one_field_or_nothing(data: bytes, key: str, value: str) -> None:
    before = configs.read(data)
    result = edit.set_value(data, key, value)
    if isinstance(result, tuple):
        assert result and all(isinstance(problem, Problem) for problem in result)
        return
    after = configs.read(result)
    assert set(after.problems) <= set(before.problems)
    assert not [problem for problem in after.problems if problem.field.partition(".")[0] == key]
    body = data[data.rindex(b"---") :]
    assert result.endswith(body)
    assert edit.set_value(result, key, value) == result


dotted = st.sampled_from(
    """model_routing.low model_routing.high.model model_routing.default_tier gates.audit
    gates.test_command budget.usd budget.per_step.calls providers.acme.base_url commands.codex.argv
    extra_reviewers.plan second_reviewer_model.vendor validators.citation_density_floor""".split()
)
sources = st.one_of(values, st.text(max_size=20))


@pytest.mark.rule("CFG-16", "FM-06")
@given(configs_of_all_kinds, dotted, sources)
def test_set_inside_a_block_keeps_every_other_line(data: bytes, key: str, value: str) -> None:
    result = edit.set_value(data, key, value)
    if isinstance(result, tuple):
        assert result and all(isinstance(problem, Problem) for problem in result)
        return
    old, new = data.splitlines(), result.splitlines()
    top = key.partition(".")[0].encode()
    changed = [line for line in old if line not in new]
    assert len(changed) <= 1
    assert not changed or changed[0].startswith((top, b" "))
    assert edit.set_value(result, key, value) == result


@pytest.mark.rule("CFG-20")
@given(configs_of_all_kinds)
def test_migrating_twice_is_migrating_once(data: bytes) -> None:
    first = edit.migrate(data)
    assert isinstance(first, edit.Migration)
    assert edit.migrate(first.data) == edit.Migration((), first.data)
    assert bool(first.plan) == (first.data != data)
    assert not [p for p in configs.read(first.data).problems if p.code == "field-renamed"]


statuses = st.dictionaries(
    st.sampled_from(STEP_NAMES), st.sampled_from(["approved", "draft", "missing"]), max_size=3
)


@pytest.mark.rule("CFG-15", "CFG-18")
@given(configs_of_all_kinds, statuses, st.sampled_from(sorted(ROUTES)))
def test_a_route_change_is_whole_or_refused(
    data: bytes, known: dict[str, Status], name: str
) -> None:
    config = configs.read(data)
    result = edit.set_route(config, known, name, data)
    if isinstance(result, Problem):
        return
    after = configs.read(result)
    quick = name == "quick"
    assert (after.route, after.pipeline) == (ROUTES[name], "quick" if quick else "full")
    assert (after.question_budget is not None) == quick
    assert edit.set_route(after, {}, name, result) == result


@pytest.mark.rule("CFG-01", "SPE-01")
@given(st.one_of(blocks(), templates()), st.dates().map(str))
def test_configs_that_differ_in_their_day_are_read_like_any_other(data: bytes, day: str) -> None:
    """What was read of another run's config is taken over; in quotes a date is read by itself."""
    rest = data.partition(b"\n")[2]
    plain, quoted = (f"---\ncreated: {text}\n".encode() + rest for text in (day, f"'{day}'"))
    assert configs.read(plain) == configs.read(quoted)
    assert not configs.read(plain).problems or configs.read(plain).created in (day, None)
