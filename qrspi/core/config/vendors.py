"""How a vendor is reached: the providers and commands blocks of config.md.

A value in `providers` that could be a key is never repeated in a message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from qrspi.core.config.blocks import mapping, one_of
from qrspi.core.config.fields import Faults, Fields, is_string, number
from qrspi.core.config.model_tiers import unknown_keys
from qrspi.core.config.problems import FILE, invalid, lacking, listed, quoted, unshown
from qrspi.core.hints import Literal, cast, get_args
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.yaml.nodes import Node, Scalar, items

Transport = Literal["openai-chat-completions", "codex-broker"]
Reply = Literal["text", "claude-json", "codex-jsonl"]

TRANSPORTS: tuple[Transport, ...] = get_args(Transport)
REPLIES: tuple[Reply, ...] = get_args(Reply)
ADDRESS = "an address that starts with https://, or with http:// for this machine itself"
TIMEOUT = 600.0
TIMEOUT_LIMIT = 86400


class Provider(NamedTuple):
    base_url: str
    api_key_env: str
    transport_type: Transport
    default_headers: Mapping[str, str]


class Command(NamedTuple):
    argv: tuple[str, ...]
    reply: Reply = "text"
    timeout: float = TIMEOUT


def one_way_per_vendor(fields: Fields, faults: Faults) -> None:
    providers, commands = fields.get("providers"), fields.get("commands")
    if not isinstance(providers, dict) or not isinstance(commands, dict):
        return
    for vendor in commands:
        if vendor in providers:
            reason = f"stands beside providers.{vendor}, two ways to one vendor"
            way = f"Remove commands.{vendor} or providers.{vendor} from {FILE} by hand"
            faults.append(unshown(f"commands.{vendor}", reason, "one of the two", way))


def providers(node: Node, faults: Faults) -> dict[str, Provider]:
    block = mapping(node, "providers", faults, "a block with one entry per provider")
    read: dict[str, Provider] = {}
    for name, entry in _named(block, "providers", faults):
        if provider := _provider(entry, f"providers.{name}", faults):
            read[name] = provider
    return read


def _named(block: dict[str, Node], field: str, faults: Faults) -> Iterator[tuple[str, Node]]:
    for name, entry in block.items():
        if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
            yield name, entry
        else:
            expected = "a vendor's name of letters, digits, '.', '_' and '-'"
            faults.append(unshown(field, f"has an entry {quoted(name)}", expected))


def _provider(node: Node, field: str, faults: Faults) -> Provider | None:
    expected = f"a block with {listed(Provider._fields, 'and')}"
    if not isinstance(node, dict):
        faults.append(unshown(field, "is not a block", expected))
        return None
    unknown_keys(node, field, Provider._fields, faults)
    base_url = _base_url(node, f"{field}.base_url", faults)
    api_key_env = _api_key_env(node, f"{field}.api_key_env", faults)
    transport = one_of(node, f"{field}.transport_type", TRANSPORTS, faults)
    headers = _headers(node, f"{field}.default_headers", faults)
    if not (base_url and api_key_env and transport):
        return None
    return Provider(base_url, api_key_env, cast(Transport, transport), headers)


def _base_url(block: dict[str, Node], field: str, faults: Faults) -> str | None:
    node = block.get("base_url")
    if node is None:
        faults.append(lacking(field, ADDRESS))
    elif not isinstance(node, Scalar):
        faults.append(unshown(field, "is not a text", ADDRESS))
    elif is_private(node.text):
        return node.text
    elif "@" in node.text:
        reason = "holds a user name or a key, which is not shown here"
        faults.append(unshown(field, reason, f"{ADDRESS}, with the key in the environment"))
    elif _PLAIN.match(node.text):
        faults.append(invalid(field, node, ADDRESS, why="which would get the key in clear"))
    else:
        faults.append(invalid(field, node, ADDRESS))
    return None


_PLAIN = re.compile(r"(?i)http://")
_ENCRYPTED = re.compile(r"(?i)https://[^\s/?#@\\]+([/?][^\s#@\\]*)?")
_LOOPBACK = re.compile(
    r"(?i)http://(localhost|127(\.(0|[1-9][0-9]{0,2})){3}|\[::1\])(:[0-9]{1,5})?([/?][^\s#@\\]*)?"
)


def is_private(url: str) -> bool:
    """Whether nobody on the way can read what is sent. This machine may be named in many ways; only
    the usual ones count, since programs disagree about the others."""
    return bool(_ENCRYPTED.fullmatch(url) or _LOOPBACK.fullmatch(url))


def _api_key_env(block: dict[str, Node], field: str, faults: Faults) -> str | None:
    expected = "the name of an environment variable, such as MY_PROVIDER_API_KEY"
    node = block.get("api_key_env")
    if node is None:
        faults.append(lacking(field, expected))
        return None
    name = node.text if isinstance(node, Scalar) and is_string(node) else ""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,127}", name):
        reason = "is not the name of a variable and is not shown, as it may be a key"
        faults.append(unshown(field, reason, expected))
    elif looks_like_key(name):
        reason = "looks like a key and is not shown"
        faults.append(unshown(field, reason, expected))
    else:
        return name
    return None


_KEY_PREFIX = re.compile(
    "sk_|pk_|rk_|gsk_|hf_|r8_|gh[opsur]_|github_pat_|npm_|pypi_|xox[abprs]_|AIza|AKIA|ASIA|eyJ|ya29"
)


def looks_like_key(name: str) -> bool:
    """A known prefix, or a long run of letters and digits. Names of variables consist of words."""
    if _KEY_PREFIX.match(name):
        return True
    longest = max(name.split("_"), key=len)
    return len(longest) >= 16 and bool(
        re.search("[0-9]", longest) and re.search("[A-Za-z]", longest)
    )


def _headers(block: dict[str, Node], field: str, faults: Faults) -> dict[str, str]:
    expected = "header names with their texts"
    headers: dict[str, str] = {}
    for name, node in mapping(block.get("default_headers", {}), field, faults, expected).items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}", name):
            faults.append(unshown(field, f"has a bad header name {quoted(name)}", expected))
        elif not (isinstance(node, Scalar) and is_string(node) and node.text.isprintable()):
            reason = "is not a text on one line (a number needs quotes)"
            faults.append(unshown(f"{field}.{name}", reason, expected))
        else:
            headers[name] = node.text
    return headers


def commands(node: Node, faults: Faults) -> dict[str, Command]:
    block = mapping(node, "commands", faults, "a block with one entry per vendor")
    return {
        name: _command(entry, f"commands.{name}", faults)
        for name, entry in _named(block, "commands", faults)
    }


def _command(node: Node, field: str, faults: Faults) -> Command:
    block = mapping(node, field, faults, f"a block with {listed(Command._fields, 'and')}")
    if not block:
        return Command(())
    unknown_keys(block, field, Command._fields, faults)
    reply = one_of(block, f"{field}.reply", REPLIES, faults) if "reply" in block else "text"
    argv = _argv(block, f"{field}.argv", faults)
    return Command(argv, cast(Reply, reply), _timeout(block, f"{field}.timeout", faults))


def _argv(block: dict[str, Node], field: str, faults: Faults) -> tuple[str, ...]:
    expected = "a list of texts: the program, then its arguments"
    node = block.get("argv")
    if node is None:
        faults.append(lacking(field, expected))
        return ()
    listing = items(node)
    if not listing:
        faults.append(invalid(field, node, expected))
        return ()
    words = tuple(item.text for item in listing if isinstance(item, Scalar) and is_string(item))
    wrong = next((item for item in listing if not is_string(item)), None)
    if wrong is not None:
        why = "which is not text unless it stands in quotes"
        faults.append(invalid(field, wrong, expected, why=why, verb="holds"))
    elif not words[0].strip():
        faults.append(invalid(field, listing[0], expected, verb="starts with"))
    return words


def _timeout(block: dict[str, Node], field: str, faults: Faults) -> float:
    if "timeout" not in block:
        return TIMEOUT
    seconds = number(block["timeout"])
    if seconds is None or not 0 < seconds <= TIMEOUT_LIMIT:
        expected = f"a number of seconds over 0 and up to {TIMEOUT_LIMIT}"
        faults.append(invalid(field, block["timeout"], expected))
        return TIMEOUT
    return seconds
