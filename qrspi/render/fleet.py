"""What a worker says when it starts, and the files it can be given."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from qrspi.core.model import counted

CONFIG = """\
# ~/.config/qrspi/worker.toml: what this worker may start and contact, and nothing else.
# A job names a vendor and a model. Keys stay in the environment of the worker.

[commands.claude]
argv = ["claude", "-p", "--model", "{model}", "--output-format", "json"]
reply = "claude-json"       # text, claude-json or codex-jsonl
timeout = 600               # seconds; at most consumer_timeout - 60
models = ["opus", "sonnet"]

# [providers.shop]
# base_url = "https://api.example.com/v1"
# api_key_env = "SHOP_API_KEY"
# models = ["large"]

# The broker's own limit, where it is not RabbitMQ's usual one; stands above all tables.
# consumer_timeout = 1800
"""


def ready_document(name: str, vendors: Sequence[str], concurrency: int) -> dict[str, object]:
    served = {"vendors": list(vendors), "concurrency": concurrency}
    return {"schema": "qrspi/worker/v1", "worker": name, **served}


def ready_lines(name: str, vendors: Sequence[str], concurrency: int) -> list[str]:
    calls = counted(concurrency, "call")
    return [f"worker {name}: serves {', '.join(vendors)}, {calls} at once for each"]


def systemd_unit(argv: Sequence[str], concurrency: int) -> str:
    """One signal and time to finish: a call under way is worth waiting for."""
    command = shlex.join([*argv, "worker", "--concurrency", str(concurrency)])
    return f"""\
[Unit]
Description=qrspi worker
After=network-online.target
Wants=network-online.target

[Service]
ExecStart={command.replace("%", "%%")}
# QRSPI_BROKER_URL=amqps://... and the keys of providers, readable by its user alone
EnvironmentFile=%h/.config/qrspi/worker.env
KillMode=mixed
TimeoutStopSec=1800
Restart=on-failure
RestartSec=5
NoNewPrivileges=yes
PrivateTmp=yes

[Install]
WantedBy=default.target
"""
