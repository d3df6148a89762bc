"""settings.toml: who carries dispatches out, for all projects or for one."""

from __future__ import annotations

import tomllib

import pytest

from qrspi.core.fleet import user_settings
from qrspi.core.model import Problem

SHOP = "[projects.'/home/me/shop']\n"


@pytest.mark.rule("EXE-05")
@pytest.mark.parametrize(
    ("text", "executor"),
    [
        ("", ""),
        ("executor = 'celery'\n", "celery"),
        (f"executor = 'celery'\n{SHOP}executor = 'local'\n", "local"),
        (f"executor = 'celery'\n{SHOP}", "celery"),
        ("[projects.'/home/me/other']\nexecutor = 'celery'\n", ""),
    ],
)
def test_the_executor(text: str, executor: str) -> None:
    found = user_settings.executor(tomllib.loads(text), "/home/me/shop", "settings.toml")
    assert found == executor


@pytest.mark.rule("EXE-05")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "executor = 'threads'\n",
            "settings.toml: executor: found 'threads', expected one of local, celery",
        ),
        (
            f"{SHOP}executor = 1\n",
            "settings.toml: projects.'/home/me/shop'.executor: found 1, expected one of local, "
            "celery",
        ),
        (
            "broker = 'amqp://'\n",
            "settings.toml: found the key 'broker', expected executor or [projects.'/PATH']",
        ),
        ("projects = 1\n", "settings.toml: projects: found no table, expected [projects.'/PATH']"),
        (
            "[projects.shop]\n",
            "settings.toml: projects: found 'shop', expected the absolute path of a project",
        ),
        (
            f"{SHOP}broker = 'x'\n",
            "settings.toml: projects.'/home/me/shop': found something else, expected executor = "
            "'local' or 'celery'",
        ),
    ],
)
def test_a_bad_file_is_one_line(text: str, message: str) -> None:
    found = user_settings.executor(tomllib.loads(text), "/home/me/shop", "settings.toml")
    assert isinstance(found, Problem)
    assert (found.code, found.message) == ("bad-settings", message)
