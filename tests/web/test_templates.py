"""Templates draw and decide nothing: loops, and `if` of a plain value."""

from __future__ import annotations

import pytest

pytest.importorskip("jinja2")

from jinja2 import Environment, nodes

from qrspi.web.html import environment

DECIDES = (
    *(nodes.Compare, nodes.And, nodes.Or, nodes.CondExpr, nodes.Test),
    *(nodes.BinExpr, nodes.UnaryExpr, nodes.Concat, nodes.Getitem, nodes.Slice),
    *(nodes.Assign, nodes.AssignBlock, nodes.FilterBlock),
)
CHOOSES = ("default", "d", "select", "reject", "selectattr", "rejectattr", "map", "sort", "unique")
DRAWN = environment()


def decisions(text: str, made: Environment = DRAWN) -> list[str]:
    """What a template decides, by line."""
    tree = made.parse(text)
    plain = [one.test for one in tree.find_all(nodes.If)]
    odd = [test for test in plain if not _is_plain(test)]
    known = {id(test) for test in plain if _is_plain(test)}
    odd += [one for one in tree.find_all(DECIDES) if id(one) not in known]
    odd += [one for one in tree.find_all(nodes.Filter) if one.name in CHOOSES]
    loops = [one for one in tree.find_all(nodes.For) if one.test or one.recursive]
    return sorted({f"{one.lineno}: {type(one).__name__}" for one in (*odd, *loops)})


def _is_plain(test: nodes.Expr) -> bool:
    value = test.node if isinstance(test, nodes.Not) else test
    return isinstance(value, nodes.Name | nodes.Getattr)


@pytest.mark.rule("WEB-04")
@pytest.mark.parametrize("name", DRAWN.list_templates())
def test_a_template_decides_nothing(name: str) -> None:
    assert DRAWN.loader is not None
    text, _, _ = DRAWN.loader.get_source(DRAWN, name)
    assert decisions(text) == []


@pytest.mark.rule("WEB-04")
@pytest.mark.parametrize(
    "text",
    [
        "{% if a == b %}x{% endif %}",
        "{% if a and b %}x{% endif %}",
        "{% if a|length %}x{% endif %}",
        "{% if a is none %}x{% endif %}",
        "{{ a or b }}",
        "{{ a|default(b, true) }}",
        "{{ a|selectattr(b)|list }}",
        "{{ 'a' if b else 'c' }}",
        "{{ a + 1 }}",
        "{{ a ~ b }}",
        "{{ a[b] }}",
        "{% set a = b %}",
        "{% for a in b if a.c %}x{% endfor %}",
    ],
)
def test_a_decision_is_noticed(text: str) -> None:
    assert decisions(text) != []
    assert decisions("{% if not a.b %}{% for c in d %}{{ c|upper }}{% endfor %}{% endif %}") == []
