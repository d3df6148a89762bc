"""The one door: nothing that a repository names passes without this user's yes."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from qrspi.core import trust
from qrspi.core.config.vendors import Command, Provider
from qrspi.core.errors import Halt
from qrspi.core.trust import ConsentNeeded, NamedThing
from qrspi.world.consent import allowed_things, permits
from qrspi.world.consent.permits import Permit

RUN = "2026-05-17-user-auth"
MAKE = trust.shell("gates.test_command", "make test")
NOW = "2026-05-17T09:30:00Z"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A project about which nothing is allowed."""
    monkeypatch.delenv("QRSPI_TRUST")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "shop").mkdir()
    yield str(tmp_path / "shop")


@pytest.mark.rule("SEC-09")
def test_what_was_allowed_passes_and_nothing_else(shop: str, tmp_path: Path) -> None:
    with pytest.raises(ConsentNeeded) as refused:
        permits.permit(shop, RUN, MAKE)
    assert (refused.value.exit_code, refused.value.problem.hint) == (3, f"qrspi trust {RUN}")
    assert refused.value.problem.message == (
        "gates.test_command in config.md runs a command that you have not allowed yet: make test; "
        f"`qrspi trust {RUN}` shows all that this run names and allows it"
    )
    permits.allow(shop, [MAKE], "trust", NOW)
    assert permits.permit(shop, RUN, MAKE) == Permit(MAKE)
    assert permits.lacking(shop, [MAKE, *others()]) == tuple(others())
    assert permits.lacking(str(tmp_path), [MAKE]) == (MAKE,)


def others() -> list[NamedThing]:
    """Each differs in one thing from what was allowed, or from another of these."""
    provider = Provider("https://a.example", "KEY", "openai-chat-completions", {})
    return [
        trust.shell("gates.test_command", "make test "),
        trust.program("codex", Command(("make", "test"))),
        trust.program("codex", Command(("make test",))),
        trust.address("a", provider),
        trust.address("a", provider._replace(base_url="https://b.example")),
        trust.address("a", provider._replace(api_key_env="OTHER")),
        trust.address("a", provider._replace(default_headers={"X": "1"})),
        trust.address("a", provider._replace(transport_type="codex-broker")),
        trust.folder("/elsewhere"),
        trust.role(".qrspi/agents/fixer.md", b"one"),
        trust.role(".qrspi/agents/fixer.md", b"two"),
    ]


@pytest.mark.rule("SEC-09")
def test_everything_that_is_missing_is_said_at_once(shop: str) -> None:
    with pytest.raises(ConsentNeeded) as refused:
        permits.require(shop, RUN, [MAKE, MAKE, *others()])
    assert refused.value.named == (MAKE, *others())
    assert len(refused.value.more) == len(others())


@pytest.mark.rule("SEC-09")
def test_the_same_line_under_another_field_is_not_asked_about_again(shop: str) -> None:
    permits.allow(shop, [MAKE], "trust", NOW)
    assert permits.lacking(shop, [trust.shell("gates.ci_command", "make test")]) == ()


@pytest.mark.rule("SEC-09")
def test_it_is_kept_with_the_users_settings_and_for_the_user_alone(
    shop: str, tmp_path: Path
) -> None:
    permits.allow(shop, [MAKE, *others()], "trust", NOW)
    place = tmp_path / "config" / "qrspi" / "trust"
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in place.iterdir()} == {0o600}
    assert len(list(place.iterdir())) == len(others()) + 1
    assert list(Path(shop).iterdir()) == []


@pytest.mark.rule("SEC-09")
@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_record_that_others_may_write_allows_nothing(
    shop: str, tmp_path: Path, what: str
) -> None:
    permits.allow(shop, [MAKE], "trust", NOW)
    place = tmp_path / "config" / "qrspi" / "trust"
    path = place if what == "folder" else next(place.iterdir())
    path.chmod(0o777)
    with pytest.raises(Halt) as stopped:
        permits.permit(shop, RUN, MAKE)
    assert stopped.value.problem.message == (
        f"what you have allowed cannot be read: {path}: it is not yours, or others may write it"
    )


@pytest.mark.rule("SEC-09")
def test_what_is_forgotten_is_asked_about_again(shop: str, tmp_path: Path) -> None:
    other = str(tmp_path)
    place = f"{tmp_path}/config/qrspi/trust"
    permits.allow(shop, [MAKE], "trust", NOW)
    permits.allow(other, [MAKE], "config set", NOW)
    assert [entry.project for entry in allowed_things.forget(place, shop)] == [shop]
    assert permits.lacking(shop, [MAKE]) == (MAKE,)
    assert allowed_things.entries(place) == (
        allowed_things.Allowance(
            other, "shell", "gates.test_command", "make test", ("*",), "config set", NOW
        ),
    )


def test_files_that_are_no_records_are_passed_over(shop: str, tmp_path: Path) -> None:
    place = tmp_path / "config" / "qrspi" / "trust"
    permits.allow(shop, [MAKE], "trust", NOW)
    for name, text in {"a": "", "b": "[]", "c": '{"kind": "x"}', "d": "[" * 9000}.items():
        (place / name).write_text(text)
    assert len(allowed_things.entries(str(place))) == 1


@pytest.mark.rule("SEC-09")
@pytest.mark.parametrize("said", ["relative/place", ""])
def test_settings_in_a_relative_place_are_not_looked_for(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would lie in the repository that one stands in."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert allowed_things.folder({"XDG_CONFIG_HOME": said}) == f"{tmp_path}/.config/qrspi/trust"


@pytest.mark.rule("SEC-09")
@pytest.mark.parametrize(
    ("code_path", "outside"),
    [
        (".", None),
        ("src", None),
        ("{shop}/src", None),
        ("..", "{parent}"),
        ("/", "/"),
        ("{shop}-too", "{shop}-too"),
        ("link", "{parent}"),
    ],
)
def test_a_folder_outside_is_found_out_by_where_it_really_is(
    shop: str, code_path: str, outside: str | None
) -> None:
    parent = str(Path(shop).parent)
    Path(shop, "link").symlink_to(parent)
    named = permits.folder_outside(shop, code_path.format(shop=shop))
    real = outside and outside.format(shop=shop, parent=parent)
    assert named == (trust.folder(real) if real else None)


@pytest.mark.rule("SEC-09")
def test_a_door_does_not_open_for_another_permit() -> None:
    permits.must_cover(None, None)
    permits.must_cover(Permit(MAKE), MAKE)
    for held in (None, Permit(others()[0])):
        with pytest.raises(RuntimeError, match="without a permit"):
            permits.must_cover(held, MAKE)


@pytest.mark.rule("TRN-10", "SEC-09")
@pytest.mark.parametrize(
    ("trusted", "answer"),
    [
        ("{shop}", True),
        ("{parent}", True),
        ("/elsewhere:{shop}/", True),
        ("{shop}-too", False),
        ("{shop}/docs", False),
        ("", False),
        ("{link}", True),
    ],
)
def test_only_the_users_environment_says_what_is_trusted(
    tmp_path: Path, trusted: str, answer: bool
) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    (tmp_path / "link").symlink_to(shop)
    said = trusted.format(shop=shop, parent=tmp_path, link=tmp_path / "link")
    assert permits.is_trusted(str(shop), {"QRSPI_TRUST": said}) == answer
