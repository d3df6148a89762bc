"""worker.toml: what a worker may do. Whatever is odd about it is one line, and nothing starts."""

from __future__ import annotations

import tomllib

import pytest

from qrspi.core.fleet import worker_file
from qrspi.core.fleet.worker_file import WorkerFile
from qrspi.core.model import Problem

COMMAND = '[commands.claude]\nargv = ["claude", "-p"]\nmodels = ["opus"]\n'
PROVIDER = (
    '[providers.shop]\nbase_url = "https://api.example.com/v1"\napi_key_env = "SHOP_API_KEY"\n'
    'models = ["large"]\n'
)


def read(text: str) -> WorkerFile | Problem:
    return worker_file.read(tomllib.loads(text), "worker.toml")


@pytest.mark.rule("EXE-06", "EXE-16")
def test_commands_and_providers() -> None:
    found = read(
        f'consumer_timeout = 900\n{COMMAND}reply = "claude-json"\ntimeout = 840\n{PROVIDER}'
        'default_headers = {X-Team = "docs"}\n'
    )
    assert isinstance(found, WorkerFile)
    claude, shop = found.vendors["claude"], found.vendors["shop"]
    assert claude.means.command == (("claude", "-p"), "claude-json", 840.0)
    assert (claude.models, claude.timeout, claude.means.reply) == (("opus",), 840.0, "claude-json")
    assert shop.means.provider is not None
    assert shop.means.provider.default_headers == {"X-Team": "docs"}
    assert (shop.means.transport, shop.timeout) == ("openai-chat-completions", 840.0)


@pytest.mark.rule("EXE-16", "EXE-06")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "worker.toml: found no vendor, expected [commands.VENDOR] or [providers.VENDOR]"),
        (
            "shell = 1\n",
            "worker.toml: found the key 'shell', expected one of commands, providers, "
            "consumer_timeout",
        ),
        ("commands = 1\n", "worker.toml: commands: found no table, expected [commands.VENDOR]"),
        (
            '[commands."a b"]\n',
            "worker.toml: commands: found the name 'a b', expected letters, digits, '.', '_' and "
            "'-'",
        ),
        (
            '[commands.claude]\nmodels = ["m"]\n',
            "worker.toml: commands.claude.argv: found nothing, expected a list of texts: the "
            "program, then its arguments",
        ),
        (
            '[commands.claude]\nargv = ["x"]\n',
            "worker.toml: commands.claude.models: found nothing, expected a list of models, none "
            "of which begins with '-'",
        ),
        (
            '[commands.claude]\nargv = ["x"]\nmodels = ["-rf"]\n',
            "worker.toml: commands.claude.models: found '-rf', expected a list of models, none of "
            "which begins with '-'",
        ),
        (
            f'{COMMAND}reply = "xml"\n',
            "worker.toml: commands.claude.reply: found 'xml', expected one of text, claude-json, "
            "codex-jsonl",
        ),
        (
            f"{COMMAND}timeout = 1741\n",
            "worker.toml: commands.claude.timeout: found 1741, expected at most 1740, 60 s less "
            "than the broker's consumer_timeout (1800 s): it would hand the job out twice",
        ),
        (
            f"{COMMAND}timeout = true\n",
            "worker.toml: commands.claude.timeout: found True, expected a number of seconds over 0",
        ),
        (
            f'{COMMAND}env = {{A = "b"}}\n',
            "worker.toml: commands.claude: found the key 'env', expected one of argv, reply, "
            "timeout, models",
        ),
        (
            PROVIDER.replace("https", "http"),
            "worker.toml: providers.shop.base_url: found another text, which is not shown, "
            "expected an address that starts with https://, or with http:// for this machine "
            "itself",
        ),
        (
            PROVIDER.replace("SHOP_API_KEY", "sk_0123456789abcdef"),
            "worker.toml: providers.shop.api_key_env: found another text, which is not shown, "
            "expected the name of an environment variable, such as MY_PROVIDER_API_KEY",
        ),
        (
            f"{COMMAND}{PROVIDER.replace('shop', 'claude')}",
            "worker.toml: providers.claude: found two ways to one vendor, expected one of the two",
        ),
    ],
)
def test_a_bad_file_is_one_line(text: str, message: str) -> None:
    found = read(text)
    assert isinstance(found, Problem)
    assert (found.code, found.message) == ("bad-worker-file", message)


@pytest.mark.rule("EXE-06")
@pytest.mark.parametrize(
    ("vendor", "model", "message"),
    [
        ("claude", "opus", None),
        ("claude", "large", "this worker does not allow the model large of claude"),
        ("codex", "opus", "this worker does not serve the vendor codex"),
    ],
)
def test_what_is_not_allowed_is_said(vendor: str, model: str, message: str | None) -> None:
    file = read(COMMAND)
    assert isinstance(file, WorkerFile)
    problem = worker_file.not_allowed(file, vendor, model)
    assert (problem.message if problem else None) == message
