"""worker.toml: which vendors and models a worker serves, and by which programs and addresses. A
value that could be a key is never repeated in a message."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import cast

from qrspi.core.agents.transports import Means
from qrspi.core.config.vendors import (
    ADDRESS,
    REPLIES,
    TIMEOUT,
    Command,
    Provider,
    is_private,
    looks_like_key,
)
from qrspi.core.fleet import job_message, own_file, queues
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple

FILE = "worker.toml"
CONSUMER_TIMEOUT = 1800.0  # RabbitMQ's default, unless its configuration names another
MARGIN = 60.0  # for what a worker does before and after a call
LONGEST_EXCHANGE = 1800.0  # of a provider with all its attempts


class Allowed(NamedTuple):
    means: Means
    models: tuple[str, ...]
    timeout: float  # seconds of a whole call


class WorkerFile(NamedTuple):
    vendors: Mapping[str, Allowed]
    consumer_timeout: float = CONSUMER_TIMEOUT


class _Fault(Exception):
    def __init__(self, field: str, found: str, expected: str) -> None:
        super().__init__(field)
        self.field, self.found, self.expected = field, found, expected


def read(document: Mapping[str, object], file: str) -> WorkerFile | Problem:
    try:
        return _file(document)
    except _Fault as fault:
        return own_file.fault("bad-worker-file", file, fault.field, fault.found, fault.expected)


def _file(document: Mapping[str, object]) -> WorkerFile:
    _known(document, "", ("commands", "providers", "consumer_timeout"))
    limit = _seconds(document, "consumer_timeout", CONSUMER_TIMEOUT)
    allowed: dict[str, Allowed] = {}
    for vendor, block in _blocks(document, "commands"):
        allowed[vendor] = _command(block, vendor, limit)
    for vendor, block in _blocks(document, "providers"):
        if vendor in allowed:
            raise _Fault(f"providers.{vendor}", "two ways to one vendor", "one of the two")
        allowed[vendor] = _provider(block, vendor, limit)
    if not allowed:
        raise _Fault("", "no vendor", "[commands.VENDOR] or [providers.VENDOR]")
    return WorkerFile(allowed, limit)


def _known(block: Mapping[str, object], field: str, names: tuple[str, ...]) -> None:
    for name in block:
        if name not in names:
            raise _Fault(field, f"the key {name!r}", f"one of {', '.join(names)}")


def _blocks(
    document: Mapping[str, object], field: str
) -> Iterator[tuple[str, Mapping[str, object]]]:
    blocks = document.get(field, {})
    if not isinstance(blocks, dict):
        raise _Fault(field, "no table", f"[{field}.VENDOR]")
    for vendor, block in blocks.items():
        if not queues.is_vendor(vendor):
            raise _Fault(field, f"the name {vendor!r}", "letters, digits, '.', '_' and '-'")
        if not isinstance(block, dict):
            raise _Fault(f"{field}.{vendor}", "no table", f"[{field}.{vendor}]")
        yield vendor, block


def _command(block: Mapping[str, object], vendor: str, limit: float) -> Allowed:
    field = f"commands.{vendor}"
    _known(block, field, ("argv", "reply", "timeout", "models"))
    argv = _texts(block, f"{field}.argv", "a list of texts: the program, then its arguments")
    reply = block.get("reply", "text")
    if reply not in REPLIES:
        raise _Fault(f"{field}.reply", repr(reply), f"one of {', '.join(REPLIES)}")
    timeout = _seconds(block, f"{field}.timeout", TIMEOUT)
    if timeout + MARGIN > limit:
        within = (
            f"at most {limit - MARGIN:g}, {MARGIN:g} s less than the broker's consumer_timeout "
            f"({limit:g} s): it would hand the job out twice"
        )
        raise _Fault(f"{field}.timeout", f"{timeout:g}", within)
    command = Command(argv, reply, timeout)
    means = Means("command", command.reply, command=command, vendor=vendor)
    return Allowed(means, _models(block, field), timeout)


def _provider(block: Mapping[str, object], vendor: str, limit: float) -> Allowed:
    field = f"providers.{vendor}"
    _known(block, field, ("base_url", "api_key_env", "default_headers", "models"))
    url, name = block.get("base_url"), block.get("api_key_env")
    if not isinstance(url, str) or not is_private(url):
        raise _Fault(f"{field}.base_url", "another text, which is not shown", ADDRESS)
    if not isinstance(name, str) or not _VARIABLE.fullmatch(name) or looks_like_key(name):
        expected = "the name of an environment variable, such as MY_PROVIDER_API_KEY"
        raise _Fault(f"{field}.api_key_env", "another text, which is not shown", expected)
    if limit <= MARGIN:
        raise _Fault("consumer_timeout", f"{limit:g}", f"more than {MARGIN:g}")
    provider = Provider(url, name, "openai-chat-completions", _headers(block, field))
    means = Means("openai-chat-completions", "openai-chat-completions", provider, vendor=vendor)
    return Allowed(means, _models(block, field), min(LONGEST_EXCHANGE, limit - MARGIN))


_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")


def _headers(block: Mapping[str, object], field: str) -> dict[str, str]:
    given = block.get("default_headers", {})
    expected = "header names with their texts, each on one line"
    if not isinstance(given, dict):
        raise _Fault(f"{field}.default_headers", "no table", expected)
    for name, text in given.items():
        fits = isinstance(text, str) and text.isprintable() and _HEADER.fullmatch(name)
        if not fits:
            raise _Fault(f"{field}.default_headers", "another text, which is not shown", expected)
    return dict(given)


def _models(block: Mapping[str, object], field: str) -> tuple[str, ...]:
    expected = "a list of models, none of which begins with '-'"
    models = _texts(block, f"{field}.models", expected)
    for model in models:
        if not job_message.is_model(model):
            raise _Fault(f"{field}.models", repr(model), expected)
    return models


def _texts(block: Mapping[str, object], field: str, expected: str) -> tuple[str, ...]:
    listed = block.get(field.rpartition(".")[2])
    if not isinstance(listed, list) or not listed:
        raise _Fault(field, "nothing" if listed is None else "no list of texts", expected)
    for entry in listed:
        if not isinstance(entry, str) or not entry.strip() or "\0" in entry:
            raise _Fault(field, repr(entry), expected)
    return tuple(listed)


def _seconds(block: Mapping[str, object], field: str, usual: float) -> float:
    given = block.get(field.rpartition(".")[2], usual)
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if not number or not 0 < cast(float, given) <= 7 * queues.DAY:
        raise _Fault(field, repr(given), "a number of seconds over 0")
    return float(cast(float, given))


def not_allowed(file: WorkerFile, vendor: str, model: str) -> Problem | None:
    """Why this worker does not make the call. It does not tell what else it allows."""
    if vendor not in file.vendors:
        return Problem("worker-refused", f"this worker does not serve the vendor {vendor}")
    if model not in file.vendors[vendor].models:
        text = f"this worker does not allow the model {model} of {vendor}"
        return Problem("worker-refused", text)
    return None
