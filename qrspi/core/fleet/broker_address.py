"""Where the broker is. `QRSPI_BROKER_URL` contains a password, so no message shows it."""

from __future__ import annotations

import re

from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from urllib.parse import SplitResult

VARIABLE = "QRSPI_BROKER_URL"
EXPECTED = "amqps://USER:PASSWORD@HOST/VHOST, or amqp:// for this machine itself"
LONGEST_CALL = 1740.0  # seconds, where no worker's file is at hand to say it
_PORTS = {"amqp": 5672, "amqps": 5671}
_LOOPBACK = re.compile(r"(?i)localhost|127(\.(0|[1-9][0-9]{0,2})){3}|::1")


class BrokerAddress(NamedTuple):
    host: str
    port: int
    user: str
    password: str
    vhost: str = "/"
    tls: bool = False
    authority: str = ""  # a file with the certificates to trust; '' for those of the system

    def __repr__(self) -> str:
        return f"BrokerAddress({self.shown})"

    @property
    def shown(self) -> str:
        """For people: without user and password."""
        return f"{self.scheme}://{self.place}"

    @property
    def scheme(self) -> str:
        return "amqps" if self.tls else "amqp"

    @property
    def place(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def read(url: str, longest: float = LONGEST_CALL) -> BrokerAddress | Problem:
    """`longest` is what a call may take, in seconds."""
    if not url:
        text = f"{VARIABLE} is not set: it names the broker that workers take dispatches from"
        return Problem("broker-unset", text, field=VARIABLE, hint=f"export {VARIABLE}={_FORM}")
    from urllib.parse import urlsplit  # `doctor` asks for the variable alone

    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return _bad("no address")
    if parts.scheme in ("redis", "rediss"):
        return _bad(_redis(parts, longest))
    if parts.scheme not in _PORTS or not parts.hostname:
        return _bad("an address of another kind")
    return _checked(parts, port or _PORTS[parts.scheme])


def _redis(parts: SplitResult, longest: float) -> str:
    """A Redis learns that a worker is gone by nothing but the visibility timeout: below the longest
    call it hands a job out twice, and above it a killed worker's job waits longer than that."""
    from urllib.parse import parse_qsl

    seconds = dict(parse_qsl(parts.query)).get("visibility_timeout", str(_VISIBILITY))
    if not seconds.isdecimal() or len(seconds) > 9:
        return "a Redis whose visibility_timeout is not a number of seconds"
    if int(seconds) <= longest:
        return (
            f"a Redis with a visibility timeout of {int(seconds)} s, which hands a call out twice "
            f"that takes longer, and calls may take {longest:g} s"
        )
    return (
        f"a Redis, which would hand the job of a lost worker on after {int(seconds)} s (its "
        "visibility timeout) instead of 30, and neither counts deliveries nor keeps what fails"
    )


_VISIBILITY = 3600  # seconds, of Celery's transport where nothing is said
_FORM = "amqps://USER:PASSWORD@HOST/VHOST"


def _checked(parts: SplitResult, port: int) -> BrokerAddress | Problem:
    from urllib.parse import parse_qsl, unquote

    host, tls = parts.hostname or "", parts.scheme == "amqps"
    if not tls and not _LOOPBACK.fullmatch(host):
        return _bad(f"amqp:// to {host}, which would get the password and all prompts in clear")
    asked = dict(parse_qsl(parts.query, keep_blank_values=True))
    authority = asked.pop("cacertfile", "")
    if asked or parts.fragment or (authority and not (tls and authority.startswith("/"))):
        return _bad("more than an address: only ?cacertfile=/PATH may follow one of amqps://")
    return BrokerAddress(
        host=host,
        port=port,
        user=unquote(parts.username or "guest"),
        password=unquote(parts.password or "guest"),
        vhost=unquote(parts.path[1:]) or "/",
        tls=tls,
        authority=authority,
    )


def _bad(found: str) -> Problem:
    """In our own words, since the text contains the password."""
    text = f"{VARIABLE}: found {found}; expected {EXPECTED}"
    return Problem("broker-address", text, field=VARIABLE, found=found, expected=EXPECTED)
