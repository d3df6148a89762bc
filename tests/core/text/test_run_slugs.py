from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.filenames import SLUG
from qrspi.core.text import run_slugs

pytestmark = pytest.mark.rule("RUN-10")


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("user auth", "user-auth"),
        ("Let users sign in with a link", "users-sign-link"),
        ("Add a login page with magic links for customers", "login-page-magic-links"),
        ("we should fix it", "we-should-fix-it"),
        ("add auth", "add-auth"),
        ("Stop the same book from being added twice", "stop-same-book-added"),
        ("  Two-factor\tlogin\n", "two-factor-login"),
        ("Let people reset their password by e-mail", "people-reset-password-email"),
        ("don't lose the user's draft", "dont-lose-users-draft"),
        ("Größe der Übersicht", "grosse-der-ubersicht"),
        ("export export CSV", "export-csv"),
        ("GitHub OAuth2 for the API v2", "github-oauth2-api-v2"),
        ("日本語 login page", "login-page"),
        ("a" * 29 + " " + "b" * 29 + " c", "a" * 29 + "-" + "b" * 29),
    ],
)
def test_key_words_become_a_slug(text: str, slug: str) -> None:
    assert run_slugs.from_text(text) == slug


@pytest.mark.parametrize("text", ["", "   ", "auth ", "日本語 の", "!!! ???", "x" * 40 + " auth"])
def test_too_few_words_name_nothing(text: str) -> None:
    assert run_slugs.from_text(text) is None


@pytest.mark.parametrize("slug", ["user-auth", "a-b-c-d", "2fa-login", "v2-0"])
def test_a_slug_is_two_to_four_words(slug: str) -> None:
    assert run_slugs.problem(slug) is None


@pytest.mark.parametrize(
    ("slug", "hint"),
    [
        ("auth", "qrspi init auth --name SLUG --pipeline quick"),
        ("日本語だけ", "qrspi init '日本語だけ' --name SLUG --pipeline quick"),
        ("User-Auth", "qrspi init user-auth --pipeline quick"),
        ("userAuth", "qrspi init user-auth --pipeline quick"),
        ("user_auth", "qrspi init user-auth --pipeline quick"),
        ("user--auth", "qrspi init user-auth --pipeline quick"),
        ("-user-auth", "qrspi init user-auth --pipeline quick"),
        ("user-auth-", "qrspi init user-auth --pipeline quick"),
        ("a-b-c-d-e", "qrspi init b-c-d-e --pipeline quick"),
        ("../user-auth", "qrspi init user-auth --pipeline quick"),
        ("user-auth\x00", "qrspi init user-auth --pipeline quick"),
        ("", 'qrspi init "TEXT" --pipeline quick'),
    ],
)
def test_another_shape_is_refused_with_the_nearest_slug(slug: str, hint: str) -> None:
    problem = run_slugs.problem(slug)
    assert problem is not None
    assert (problem.message, problem.hint) == (
        f"{slug!r} is not a slug: expected 2 to 4 lower-case words joined by hyphens, "
        "such as user-auth",
        hint,
    )


def test_a_slug_that_no_file_system_would_take_is_refused() -> None:
    problem = run_slugs.problem("a-" + "b" * 300)
    assert problem is not None
    assert problem.message.endswith(
        "is not a slug: 302 characters, at most 60: expected 2 to 4 lower-case words joined by "
        "hyphens, such as user-auth"
    )


@pytest.mark.parametrize("text", ["z" * 61, "日本\n語"])
def test_a_text_that_fits_no_line_is_not_said_again(text: str) -> None:
    hint = "qrspi init '…' --name SLUG --pipeline quick"
    assert run_slugs.nameless(text).hint == hint


@given(st.text())
def test_whatever_is_made_has_the_shape(text: str) -> None:
    slug = run_slugs.from_text(text)
    assert slug is None or (re.fullmatch(SLUG, slug) and run_slugs.problem(slug) is None)
