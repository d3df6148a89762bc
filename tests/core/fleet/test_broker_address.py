"""QRSPI_BROKER_URL, read: an address, or one line that repeats nothing of it."""

from __future__ import annotations

import pytest

from qrspi.core.fleet import broker_address
from qrspi.core.fleet.broker_address import BrokerAddress
from qrspi.core.model import Problem

EXPECTED = "expected amqps://USER:PASSWORD@HOST/VHOST, or amqp:// for this machine itself"


@pytest.mark.rule("EXE-05")
@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("amqp://localhost", BrokerAddress("localhost", 5672, "guest", "guest")),
        ("amqp://u:p@127.0.0.1:5700/", BrokerAddress("127.0.0.1", 5700, "u", "p")),
        ("amqp://[::1]/%2F", BrokerAddress("::1", 5672, "guest", "guest")),
        (
            "amqps://u:p%40w@broker.example/qrspi?cacertfile=/etc/ca.pem",
            BrokerAddress("broker.example", 5671, "u", "p@w", "qrspi", True, "/etc/ca.pem"),
        ),
    ],
)
def test_an_address(url: str, address: BrokerAddress) -> None:
    assert broker_address.read(url) == address


@pytest.mark.rule("EXE-01", "EXE-05", "EXE-19")
@pytest.mark.parametrize(
    ("url", "found"),
    [
        (
            "redis://u:secret@h/0?visibility_timeout=60",
            "a Redis with a visibility timeout of 60 s, which hands a call out twice that takes "
            "longer, and calls may take 1740 s",
        ),
        (
            "rediss://u:secret@h/0",
            "a Redis, which would hand the job of a lost worker on after 3600 s (its visibility "
            "timeout) instead of 30, and neither counts deliveries nor keeps what fails",
        ),
        (
            "redis://u:secret@h/0?visibility_timeout=secret",
            "a Redis whose visibility_timeout is not a number of seconds",
        ),
        ("http://u:secret@h/", "an address of another kind"),
        ("amqp://u:secret@", "an address of another kind"),
        ("amqp://u:secret@h:99999999/", "no address"),
        (
            "amqp://u:secret@broker.example/",
            "amqp:// to broker.example, which would get the password and all prompts in clear",
        ),
        (
            "amqps://u:secret@h/?verify=none",
            "more than an address: only ?cacertfile=/PATH may follow one of amqps://",
        ),
    ],
)
def test_no_address(url: str, found: str) -> None:
    problem = broker_address.read(url)
    assert isinstance(problem, Problem)
    assert problem.message == f"QRSPI_BROKER_URL: found {found}; {EXPECTED}"
    assert "secret" not in repr(problem)


@pytest.mark.rule("EXE-01")
@pytest.mark.parametrize(("longest", "twice"), [(59.0, False), (60.0, True), (600.0, True)])
def test_a_redis_is_judged_by_the_longest_call(longest: float, twice: bool) -> None:
    problem = broker_address.read("redis://h/0?visibility_timeout=60", longest)
    assert isinstance(problem, Problem)
    assert ("hands a call out twice" in problem.message) is twice


@pytest.mark.rule("EXE-05")
def test_unset() -> None:
    problem = broker_address.read("")
    assert isinstance(problem, Problem)
    assert (problem.code, problem.message) == (
        "broker-unset",
        "QRSPI_BROKER_URL is not set: it names the broker that workers take dispatches from",
    )


@pytest.mark.rule("TRN-06", "EXE-15")
def test_an_address_is_shown_without_who_asks() -> None:
    address = BrokerAddress("h", 5671, "me", "secret", "v", True)
    assert (repr(address), str(address)) == ("BrokerAddress(amqps://h:5671)",) * 2
