"""How a vendor is reached."""

from __future__ import annotations

import pytest

from qrspi.core.agents import transports
from qrspi.core.config import reader as configs
from tests import runs

PROVIDERS = (
    "{shop: {base_url: 'https://a.example/v1', api_key_env: A_KEY, "
    "transport_type: openai-chat-completions}, "
    "codex: {base_url: 'https://b.example/v1', api_key_env: B_KEY, transport_type: codex-broker}}"
)
COMMANDS = "{claude: {argv: [claude, -p], reply: claude-json}, plain: {argv: [agent]}}"


@pytest.mark.rule("CFG-17", "TRN-01", "TRN-02", "TRN-03", "TRN-04", "TRN-10")
@pytest.mark.parametrize(
    ("vendor", "transport", "reply", "prints", "trace"),
    [
        ("shop", "openai-chat-completions", "openai-chat-completions", True, "[transport: http]"),
        ("codex", "codex-broker", "text", True, "[transport: shell-pipeline]"),
        ("claude", "command", "claude-json", True, "[transport: shell-pipeline]"),
        ("plain", "command", "text", True, "[transport: shell-pipeline]"),
        ("nobody", "host", "text", False, "[transport: task-tool]"),
    ],
)
def test_a_vendor_is_a_provider_else_a_command_else_the_hosts(
    vendor: str, transport: str, reply: str, prints: bool, trace: str
) -> None:
    config = configs.read(runs.config(providers=PROVIDERS, commands=COMMANDS))
    assert config.problems == ()
    found = transports.means(vendor, config)
    assert (found.transport, found.reply, found.prints) == (transport, reply, prints)
    assert transports.TRACES[found.transport] == trace
