"""What looks like a key is not repeated."""

from __future__ import annotations

import pytest

from qrspi.core.text import redaction

ENVIRONMENT = {
    "SHOP_API_KEY": "alpha-beta-gamma-delta",
    "GH_TOKEN": "a-token-that-nobody-named",
    "SHORT_KEY": "abc",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "EMPTY_SECRET": "",
}


@pytest.mark.rule("SEC-05", "TRN-06")
def test_keys_are_known_by_the_name_of_their_variable() -> None:
    assert redaction.known(ENVIRONMENT) == ("a-token-that-nobody-named", "alpha-beta-gamma-delta")
    assert "abc" in redaction.known(ENVIRONMENT, ("SHORT_KEY", "EMPTY_SECRET"))


@pytest.mark.rule("SEC-05")
def test_a_known_key_is_taken_out_of_bytes() -> None:
    keys = redaction.known(ENVIRONMENT)
    data = b"\xff alpha-beta-gamma-delta \n a-token-that-nobody-named"
    assert redaction.without(data, keys) == b"\xff [redacted] \n [redacted]"


@pytest.mark.rule("SEC-05")
@pytest.mark.parametrize(
    "spelt",
    [
        r'k\u0065y-"0123/45\\6',
        r"\u006B\u0065\u0079-\"0123\/45\\6",
        r"key-\u0022\u0030123\u002f45\u005C6",
    ],
)
def test_a_known_key_is_taken_out_however_json_spells_it(spelt: str) -> None:
    found = redaction.without(f'{{"a": "\\n {spelt}"}}'.encode(), ['key-"0123/45\\6'])
    assert found == rb'{"a": "\n [redacted]"}'


@pytest.mark.rule("SEC-05")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("bad key sk-ant-api03-0123456789abcdef", "bad key [redacted]"),
        ("token ghp_0123456789abcdefghij was refused", "token [redacted] was refused"),
        ("AKIA0123456789ABCDEF", "[redacted]"),
        ("Authorization: Bearer 0123456789abcdef0123", "Authorization: Bearer [redacted]"),
        ('{"api_key": "0123456789abcdef0123"}', '{"api_key": "0123456789abcdef0123"}'),
        ("api_key=0123456789abcdef0123&x=1", "api_key=[redacted]&x=1"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def", "[redacted]"),
        ("the token count is 1234567890", "the token count is 1234567890"),
        ("a sketch of task-01", "a sketch of task-01"),
        ("xoxb-123456789012-abcdef", "[redacted]"),
    ],
)
def test_what_looks_like_a_key_is_taken_out_of_messages(text: str, shown: str) -> None:
    assert redaction.redacted(text) == shown
