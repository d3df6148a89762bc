"""The YAML door: what is read, what is refused and where, and how it was written."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import pytest

from qrspi.core.model import Problem
from qrspi.core.tree import FRONTMATTER_LIMIT
from qrspi.core.yaml import reader
from qrspi.core.yaml.nodes import Document, Scalar


def content(node: reader.Node) -> object:
    """Without positions and spelling."""
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, dict):
        return {key: content(value) for key, value in node.items()}
    return [content(item) for item in node]


FLAT = {
    "an artifact": ("status: draft\n", {"status": "draft"}),
    "no line end": ("status: draft", {"status": "draft"}),
    "nothing": ("", {}),
    "comments only": ("# a\n\n  # b\n", {}),
    "a finding": (
        "finding_id: R3-F02\n"
        "severity: high\n"
        "referenced_files: [skills/design/SKILL.md:L120-L134, 'a, b.md', \"c.md\"]\n"
        "actual_model: some-model-id        # optional\n",
        {
            "finding_id": "R3-F02",
            "severity": "high",
            "referenced_files": ["skills/design/SKILL.md:L120-L134", "a, b.md", "c.md"],
            "actual_model": "some-model-id",
        },
    ),
    "a configuration": (
        "route:\n"
        "  - goals   # first\n"
        "\n"
        "  - plan\n"
        "model_routing:\n"
        "  low: none\n"
        "  high: { vendor: anthropic, model: 'x: y' }  # costly\n"
        "  default_tier: low\n"
        "extra_reviewers:\n"
        "  structure:\n"
        "  - stitching-audit-claude\n"
        "  plan: []\n"
        "guard: strict\n",
        {
            "route": ["goals", "plan"],
            "model_routing": {
                "low": "none",
                "high": {"vendor": "anthropic", "model": "x: y"},
                "default_tier": "low",
            },
            "extra_reviewers": {"structure": ["stitching-audit-claude"], "plan": []},
            "guard": "strict",
        },
    ),
    "a list without indentation": ("a:\n- x\n- y\nb: z\n", {"a": ["x", "y"], "b": "z"}),
    "empty values": ("a:\nb: # c\nc: ''\nd:\n  e:\n", {"a": "", "b": "", "c": "", "d": {"e": ""}}),
    "a comma at the end": ("a: [x,]\nb: {c: y, }\n", {"a": ["x"], "b": {"c": "y"}}),
    "signs inside a word": ("a: x#y:z -w, [v]\n", {"a": "x#y:z -w, [v]"}),
    "CRLF": ("a: x\r\nb:\r\n  - y\r\n", {"a": "x", "b": ["y"]}),
    "prose": (
        "reason: Real issue — line 18, (see `x`)\n",
        {"reason": "Real issue — line 18, (see `x`)"},
    ),
}


@pytest.mark.rule("SPE-02")
@pytest.mark.parametrize(("text", "expected"), FLAT.values(), ids=FLAT)
def test_the_flat_reader_takes_what_real_files_hold(text: str, expected: object) -> None:
    fields = reader.read_flat(text)
    assert fields is not None
    assert content(fields) == expected
    assert reader.parse(text) == fields
    assert reader.compose(text).fields == fields  # type: ignore[union-attr]


LEFT = {
    "a tab": "a:\tx\n",
    "an escape": 'a: "x\\n"\n',
    "a doubled quote": "a: 'it''s'\n",
    "a block scalar": "a: |\n  x\n",
    "a second line": "a: x\n  y\n",
    "a colon in the value": "a: x: y\n",
    "a colon at the end": "a: x:\n",
    "no space behind the colon": "a:x\n",
    "a space before the colon": "a : x\n",
    "a repeated key": "a: x\na: y\n",
    "an anchor": "a: &x y\n",
    "a tag": "a: !x y\n",
    "a number as key": "1: x\n",
    "a word that is no string as key": "true: x\n",
    "a merge key": "<<: x\n",
    "a quoted key": '"a": x\n',
    "a document mark": "---\na: x\n",
    "a document end": "a: x\n...\n",
    "a nested list": "a:\n  - - x\n",
    "a mapping in a list": "a:\n  - x: y\n",
    "a list in a list": "a: [[x]]\n",
    "an empty item": "a: [x, , y]\n",
    "an open bracket": "a: [x\n",
    "brackets of two kinds": "a: [x}\n",
    "text behind a bracket": "a: [x] y\n",
    "a comment without space": "a: [x]#y\n",
    "odd indentation": "a:\n   b: x\n  c: y\n",
    "a first line that is indented": "  a: x\n",
    "a lone carriage return": "a: x\rb: y\n",
    "mixed line ends": "a: x\r\nb: y\n",
    "an invisible character": "a: x\u200by\n",
    "text past the limit": "a: " + "x" * 20_000,
}


@pytest.mark.rule("SPE-02")
@pytest.mark.parametrize("text", LEFT.values(), ids=LEFT)
def test_the_flat_reader_leaves_what_it_does_not_surely_understand(text: str) -> None:
    assert reader.read_flat(text) is None


FULL = {
    "tabs around a value": ("a:\tx\t# c\nb: y \t\n", {"a": "x", "b": "y"}),
    "tabs behind a dash": ("a:\n  -\tx\n", {"a": ["x"]}),
    "escapes": ('a: "x\\u0041\\n"\n', {"a": "xA\n"}),
    "a doubled quote": ("a: 'it''s'\n", {"a": "it's"}),
    "block scalars": ("a: |\n  x\n  y\nb: >-\n  x\n  y\n", {"a": "x\ny\n", "b": "x y"}),
    "a value of two lines": ("a: x\n  y\n", {"a": "x y"}),
    "lists in lists": ("a: [[x], {b: [y]}]\n", {"a": [["x"], {"b": ["y"]}]}),
    "mappings in a list": ("a:\n  - b: x\n    c: y\n", {"a": [{"b": "x", "c": "y"}]}),
    "one document with its marks": ("---\na: x\n...\n", {"a": "x"}),
    "a byte order mark": ("\ufeffa: x\n", {"a": "x"}),
    "a quoted number as key": ("'1': x\n", {"1": "x"}),
    "a word of YAML 1.1 as key": ("on: x\nyes: y\n", {"on": "x", "yes": "y"}),
    "the whole in brackets": ("{a: x, b: [y]}", {"a": "x", "b": ["y"]}),
    "a percent sign inside": ("a: 5 %\nb: '\n  %'\n", {"a": "5 %", "b": " %"}),
    "no-break space": ("a: x\u00a0y\n", {"a": "x\u00a0y"}),
    "2000 fields": ("".join(f"k{number}: v\n" for number in range(2000)), None),
    "32 levels": ("a: " + "[" * 31 + "]" * 31, None),
}


@pytest.mark.rule("FM-01")
@pytest.mark.parametrize(("text", "expected"), FULL.values(), ids=FULL)
def test_the_rest_is_read_as_yaml_1_2(text: str, expected: object) -> None:
    fields = reader.parse(text, "x.md")
    assert isinstance(fields, dict)
    assert expected is None or content(fields) == expected


ESCAPE = "an escape that stands for no character"
REFUSED = {
    "alias": ("a: x\nb: *a\n", "2:4: an alias ('*'), which is not allowed here"),
    "anchor": ("a: &b x\n", "1:4: an anchor ('&'), which is not allowed here"),
    "anchor on the whole": ("&a\nb: x\n", "1:1: an anchor ('&'), which is not allowed here"),
    "anchor on a key": ("&a b: x\n", "1:1: an anchor ('&'), which is not allowed here"),
    "anchor on nothing": ("a: &b\n", "1:4: an anchor ('&'), which is not allowed here"),
    "merge key": ("<<: {a: x}\n", "1:1: a merge key ('<<'), which is not allowed here"),
    "merge key inside": (
        "a:\n  <<: {b: x}\n",
        "2:3: a merge key ('<<'), which is not allowed here",
    ),
    "tag": ("a: !!str x\n", "1:4: a tag ('!'), which is not allowed here"),
    "own tag": ("a: !x y\n", "1:4: a tag ('!'), which is not allowed here"),
    "bare tag": ("a: ! y\n", "1:4: a tag ('!'), which is not allowed here"),
    "tag on the whole": ("!!map {a: x}\n", "1:1: a tag ('!'), which is not allowed here"),
    "tag on a list": ("a: !!seq [x]\n", "1:4: a tag ('!'), which is not allowed here"),
    "tag of code": (
        "a: !!python/name:os.system x\n",
        "1:4: a tag ('!'), which is not allowed here",
    ),
    "repeated key": ("a: x\nb: y\na: z\n", "3:1: repeated key 'a'"),
    "repeated key, other quotes": ("a: x\n'a': y\n", "2:1: repeated key 'a'"),
    "repeated key, escaped": ('a: x\n"\\x61": y\n', "2:1: repeated key 'a'"),
    "repeated key inside": ("a: {b: x, b: y}\n", "1:11: repeated key 'b'"),
    "repeated key in a list": ("a:\n  - b: x\n    b: y\n", "3:5: repeated key 'b'"),
    "number as key": ("a: x\n1: y\n", "2:1: the key '1', which is not a string"),
    "truth as key": ("true: y\n", "1:1: the key 'true', which is not a string"),
    "nothing as key": (": y\n", "1:1: the key '', which is not a string"),
    "list as key": ("? [a]\n: y\n", "1:3: a key that is itself a list or a mapping"),
    "mapping as key": ("{a: b}: y\n", "1:1: a key that is itself a list or a mapping"),
    "list": ("- a\n", "1:1: not a mapping of keys to values"),
    "scalar": ("just text\n", "1:1: not a mapping of keys to values"),
    "empty document": ("---\n...\n", "2:1: not a mapping of keys to values"),
    "two documents": ("a: x\n---\nb: y\n", "2:1: more than one document"),
    "two documents, ended": ("a: x\n...\nb: y\n", "3:1: more than one document"),
    "directive": ("%YAML 1.1\n---\na: x\n", "1:1: a directive ('%'), which is not allowed here"),
    "own directive": (
        "# c\n%X y\n---\na: x\n",
        "2:1: a directive ('%'), which is not allowed here",
    ),
    "directive of a long version": (
        "%YAML 1." + "9" * 5000 + "\n---\na: x\n",
        "1:1: a directive ('%'), which is not allowed here",
    ),
    "33 levels": ("a: " + "[" * 32 + "]" * 32, "1:35: nested deeper than 32 levels"),
    "33 levels in blocks": (
        "\n".join(" " * level + "a:" for level in range(33)) + " {}",
        "33:33: nested deeper than 32 levels",
    ),
    "NUL": ("a: x\nb: y\0z\n", "2:5: the character U+0000, which is not allowed here"),
    "NUL, escaped": ('a: "\\0"\n', f"1:4: {ESCAPE}"),
    "control character": ("a: x\x1b[0m\n", "1:5: the character U+001B, which is not allowed here"),
    "line separator": ("a: x\u2028b: y\n", "1:5: the character U+2028, which is not allowed here"),
    "next line": ("a: x\x85b: y\n", "1:5: the character U+0085, which is not allowed here"),
    "byte order mark inside": (
        "a: x\n\ufeffb: y\n",
        "2:1: the character U+FEFF, which is not allowed here",
    ),
    "lone surrogate": ("a: \ud800\n", "1:4: the character U+D800, which is not allowed here"),
    "lone surrogate, escaped": ('a: "\\ud800"\n', f"1:4: {ESCAPE}"),
    "beyond Unicode": ('a: "x\\U00110000"\n', f"1:8: {ESCAPE}"),
    "far beyond Unicode": ('a: "\\UFFFFFFFF"\n', f"1:7: {ESCAPE}"),
    "no comment": ('a: "x"#y\n', "1:7: no space before '#'"),
    "colon in a value": ("a: x\nb: y: z\n", "2:5: mapping values are not allowed here"),
    "tab before a key": (
        "a: x\n\tb: y\n",
        "2:1: found character '\\t' that cannot start any token",
    ),
    "tab inside a line of keys": ("a:\tb: y\n", "1:5: mapping values are not allowed here"),
    "tab between a dash and a key": (
        "a:\n  -\tb: x\n",
        "2:6: mapping values are not allowed here",
    ),
    "no colon": ("a: x\nb\n", "3:1: could not find expected ':'"),
    "open quote": ('a: "x\n', "1:4: opened here and never closed"),
    "open brace": ("a: {b: x\n", "1:4: opened here and never closed"),
    "open bracket": ("a: [x\n", "1:4: opened here and never closed"),
    "too large": ("a: " + "x" * FRONTMATTER_LIMIT, "1:1: larger than 64 KiB"),
    "too large in bytes": ("a: " + "é" * (FRONTMATTER_LIMIT // 2), "1:1: larger than 64 KiB"),
    "too many values": (
        "a: [" + "x," * 6000 + "]",
        "1:5003: more than 2500 values",
    ),
    "lone carriage returns count as line ends": (
        "a: x\r\rb: *c",
        "3:4: an alias ('*'), which is not allowed here",
    ),
}


@pytest.mark.rule("SEC-03", "FM-04")
@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_named_with_its_place(text: str, message: str) -> None:
    problem = reader.parse(text, "goals.md")
    assert isinstance(problem, Problem)
    assert (problem.code, problem.file) == ("invalid-yaml", "goals.md")
    assert problem.message == f"goals.md:{message}"


def _filled(unit: str, start: str = "", end: str = "") -> str:
    return start + unit * ((FRONTMATTER_LIMIT - len(start) - len(end)) // len(unit)) + end


HEAVY = {
    "brackets": _filled("[", "a: "),
    "braces": _filled("{", "a: "),
    "both": _filled("[{", "a: "),
    "brackets on lines": _filled("[\n", "a: "),
    "dashes": _filled("- ", "a:\n  "),
    "questions": _filled("? "),
    "anchors": _filled("&a "),
    "anchors in a list": _filled("- &a\n", "a:\n"),
    "aliases": _filled("*a, ", "a: [", "]"),
    "laughs": "a: &a [x]\n" + "".join(f"b{n}: &b{n} [{'*a, ' * 9}]\n" for n in range(900)),
    "tags": _filled("!a "),
    "marks": _filled("!"),
    "an anchor behind a long list": _filled("x, ", "a: [", "&b y]"),
    "an anchor behind many keys": "".join(f"k{n}: v\n" for n in range(7000)) + "a: &b x\n",
    "an anchor behind a long scalar": _filled("x", "a: ", "\nb: &c y\n"),
    "an anchor behind a long block": _filled(" x\n", "a: |\n", "b: &c y\n"),
    "a repeated key behind many": "".join(f"k{n}: v\n" for n in range(7000)) + "k0: x\n",
    "an open quote": _filled("x ", 'a: "'),
    "quotes": _filled("'", "a: "),
    "escapes": _filled("\\x41", 'a: "'),
    "line ends": _filled("\n", "a: x", "b"),
    "comments": _filled("#\n", "", "- a"),
    "tabs": _filled("\t", "a:", "x: y"),
    "documents": _filled("---\n"),
    "directives": _filled("%a\n"),
}


@pytest.mark.rule("FM-04", "SEC-03")
@pytest.mark.parametrize("text", HEAVY.values(), ids=HEAVY)
def test_a_full_block_of_anything_is_refused(text: str) -> None:
    assert len(text) <= FRONTMATTER_LIMIT
    assert isinstance(reader.parse(text, "x.md"), Problem)


@pytest.mark.rule("FM-04", "SEC-03")
@pytest.mark.parametrize("name", ["brackets", "braces", "anchors in a list", "aliases", "laughs"])
def test_nothing_is_expanded(name: str) -> None:
    reader.parse("a:\tx\n")  # loads the reader
    tracemalloc.start()
    reader.parse(HEAVY[name], "x.md")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000


@pytest.mark.parametrize(
    ("raw", "text", "plain"),
    [
        ("true", "true", True),
        ('"true"', "true", False),
        ("'true'", "true", False),
        ("True", "True", True),
        ("yes", "yes", True),
        ("5", "5", True),
        ("05", "05", True),
        ("0x5", "0x5", True),
        ("2.5", "2.5", True),
        ("-5", "-5", True),
        ("~", "~", True),
        ("null", "null", True),
        ("2026-05-17", "2026-05-17", True),
        ('"a\\tb"', "a\tb", False),
        ("|-\n  true", "true", False),
        (">-\n  true", "true", False),
    ],
)
def test_a_scalar_remembers_how_it_was_written(raw: str, text: str, plain: bool) -> None:
    fields = reader.parse(f"a: 1\nkey:  {raw}")
    assert isinstance(fields, dict)
    node = fields["key"]
    assert node == Scalar(text, raw, 2, 7)
    assert isinstance(node, Scalar)
    assert node.plain is plain


@pytest.mark.parametrize("text", ["a:\n\nb:\t\n\nc: x\n", "a:\n\nb:\n\nc: x\n"])
def test_an_empty_value_stands_where_its_key_stands(text: str) -> None:
    fields = reader.parse(text)
    assert isinstance(fields, dict)
    assert fields["a"] == Scalar("", "", 1, 1)
    assert fields["b"] == Scalar("", "", 3, 1)


def test_a_problem_without_a_file_still_has_its_place() -> None:
    problem = reader.parse("a: x\na: y\n")
    assert isinstance(problem, Problem)
    assert problem.message == "line 2, column 1: repeated key 'a'"


def test_the_commonest_slip_comes_with_its_remedy() -> None:
    problem = reader.parse("reason: Verified: the arrow is inverted\n", "x.yml")
    assert isinstance(problem, Problem)
    assert problem.hint == "put quotes around a value that contains ': '"


@pytest.mark.rule("SEC-03")
def test_bytes_that_are_not_utf_8_are_a_problem_with_their_place() -> None:
    assert reader.decode("a: é\n".encode()) == "a: é\n"
    problem = reader.decode("a: é\nb: é".encode() + b"\xff\n", "x.yml")
    assert isinstance(problem, Problem)
    assert problem.message == "x.yml:2:5: the byte 0xFF, which is not UTF-8"


@pytest.mark.rule("SPE-03")
def test_ruamel_is_loaded_only_for_what_the_flat_reader_leaves() -> None:
    script = (
        "import sys; from qrspi.core.yaml import frontmatter, reader, writer\n"
        "data = b'---\\nstatus: draft # c\\nroute:\\n  - goals\\n---\\n'\n"
        "data = writer.set_field(data, 'status', 'approved')\n"
        "assert frontmatter.status(data, 'x.md') == ('approved', None)\n"
        "print('ruamel.yaml' in sys.modules)\n"
        "reader.parse('a:\\tx')\n"
        "print('ruamel.yaml' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True"]


@pytest.mark.rule("SPE-02")
@pytest.mark.parametrize("item", ["-\n", "- a\n"])
def test_the_flat_reader_takes_no_more_values_than_the_other(item: str) -> None:
    text = "a:\n" + item * (reader._SIZE_LIMIT // len(item) - 4)
    assert isinstance(reader.parse(text), dict)
    assert isinstance(reader.compose(text), Document)


@pytest.mark.rule("SPE-02")
@pytest.mark.parametrize(("findings", "is_flat"), [(390, True), (480, False)])
def test_a_long_list_of_decisions_is_flat_as_long_as_it_is_surely_small_enough(
    findings: int, is_flat: bool
) -> None:
    decisions = {f"quality-claude.R1-F{at:04d}": "pending" for at in range(findings)}
    text = "decisions:\n" + "".join(f"  {key}: {word}\n" for key, word in decisions.items())
    fields = reader.read_flat(text)
    assert (fields is not None) == is_flat
    document = reader.compose(text)
    assert isinstance(document, Document)
    assert (fields or reader.parse(text)) == document.fields


@pytest.mark.rule("SPE-02")
def test_many_short_values_are_for_the_full_reader() -> None:
    text = f"a: [{'b, ' * 2400}b]\n"
    assert len(text) < reader._LONG_LIMIT
    assert reader.read_flat(text) is None
