"""Who gets in: this browser, on this machine, sent by this page."""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from qrspi.core.named_tuple import NamedTuple

LOOPBACK = ("127.0.0.1", "localhost", "::1")
LARGEST = 1024 * 1024  # bytes of a body
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Door(NamedTuple):
    port: int
    token: str

    @property
    def cookie(self) -> str:
        """A browser's cookies do not know ports: two pages would take each other's away."""
        return f"qrspi-{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(f"{f'[{one}]' if ':' in one else one}:{self.port}" for one in LOOPBACK)


class Visit(NamedTuple):
    method: str
    headers: Mapping[str, str]  # names in lower case
    cookies: Mapping[str, str]
    token: str = ""  # of the address


class No(NamedTuple):
    status: int
    because: str


def host(door: Door, visit: Visit) -> No | None:
    """A name that leads here from elsewhere (DNS rebinding) is not ours."""
    if visit.headers.get("host", "").lower() in door.hosts:
        return None
    return No(421, "This address is not one of this page.")


def exchanges(door: Door, visit: Visit) -> bool:
    return visit.method == "GET" and _is_same(visit.token, door.token)


def stranger(door: Door, visit: Visit) -> No | None:
    if _is_same(visit.cookies.get(door.cookie, ""), door.token):
        return None
    return No(401, "Open the address that `qrspi ui` has printed: it lets this browser in.")


def foreign_write(door: Door, visit: Visit) -> No | None:
    site, origin = visit.headers.get("sec-fetch-site"), visit.headers.get("origin", "")
    ours = origin in {f"http://{name}" for name in door.hosts}
    if site == "same-origin" and (ours or origin in ("", "null")):
        return None
    if site is None and ours:
        return None
    return No(403, "Another page sent this: nothing was changed.")


def _is_same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode(), known.encode())
