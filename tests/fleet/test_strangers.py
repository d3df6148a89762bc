"""Messages that are not ours, a message as large as they come, and a broker behind TLS."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import amqp
import pytest

from qrspi.core.fleet import job_message, queues
from qrspi.core.fleet.job_message import JobMessage
from qrspi.core.fleet.result_message import Answered, Started
from qrspi.world.fleet.run_mail import BrokerGone, RunMail
from tests.fleet.broker import Broker
from tests.fleet.machines import LIMIT, Fleet
from tests.patience import until
from tests.project import trap

SIZE = 8 * 1024 * 1024


def publish(fleet: Fleet, body: bytes, headers: dict[str, Any], **properties: Any) -> None:
    """As somebody who has the password, and a library."""
    form = {"content_type": "application/json", "content_encoding": "utf-8", **properties}
    with amqp.Connection(f"127.0.0.1:{fleet.broker.port}") as line:
        message = amqp.Message(body, application_headers=headers, **form)
        line.channel().basic_publish(message, queues.JOBS_EXCHANGE, fleet.vendor)


class Bomb:
    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.file}",)


@pytest.mark.rule("EXE-09", "EXE-13", "EXE-15", "EXE-21")
def test_a_forged_a_pickled_and_an_oversized_message_are_refused(fleet: Fleet) -> None:
    shop = fleet.shop()
    fleet.agent()
    fleet.go()
    worker = fleet.worker(concurrency=1)
    run, ticket = queues.of_run("m", "/x").name, queues.ticket(b"x").name
    good = job_message.made("goals/1/a/1", fleet.vendor, "small", "words of mine", run, ticket)
    headers = job_message.headers(good)
    pickled = pickle.dumps(Bomb(fleet.folder / "bombed"))
    kind = "application/x-python-serialize"
    publish(fleet, pickled, headers, content_type=kind, content_encoding="binary")
    publish(fleet, pickled, {}, content_type=kind, content_encoding="binary")
    publish(fleet, job_message.body(good), {**headers, "task": "os.system"})
    publish(fleet, job_message.body(good._replace(prompt="words of mine, forged")), headers)
    publish(fleet, b"{" + b"words of mine" * 1_500_000, headers)
    publish(fleet, b"words of mine", {}, content_type="text/plain")
    publish(fleet, job_message.body(good._replace(version=2)), headers)
    refused = "refused a message: the message is refused: "
    until(lambda: worker.said().count(refused) == 7, "all are refused", LIMIT)
    assert [line.removeprefix(refused) for line in worker.said().splitlines()[1:]] == [
        "it is not JSON in UTF-8",
        "it is not JSON in UTF-8",
        "its headers are not ours",
        "its id is not the hash of its parts",
        "it has more than 15728640 bytes",
        "it is not JSON in UTF-8",
        "it is of another version than 1, which this worker reads",
    ]
    assert fleet.calls() == [] and not (fleet.folder / "bombed").exists()
    queue = fleet.broker.standing(queues.of_vendor(fleet.vendor).name)
    assert queue is not None and queue.waiting == 0  # none of them comes again
    assert fleet.engine(shop).ended()[0] == 0
    assert len(fleet.calls()) == 2


def asked(mail: RunMail, message: JobMessage) -> Answered:
    mail.publish(message)
    with mail.words(message.job) as hear:
        while True:
            delivered = hear()
            assert not isinstance(delivered, BrokerGone)
            delivered.kept()
            if not isinstance(delivered.word, Started):
                assert isinstance(delivered.word, Answered)
                return delivered.word


@pytest.mark.rule("EXE-14", "EXE-15", "EXE-20")
def test_a_message_that_is_sent_again_is_not_paid_for_again(fleet: Fleet) -> None:
    fleet.agent()
    fleet.go()
    worker = fleet.worker(concurrency=1)
    with RunMail(fleet.broker.address, "m", str(fleet.folder), lambda word: None) as mail:
        mail.listen()
        parts = ("goals/1/author/1", fleet.vendor, "small", "words of mine")
        made = job_message.made(*parts, mail.reply_queue, mail.ticket)
        assert asked(mail, made).text == "NO_FINDINGS"
        publish(fleet, job_message.body(made), job_message.headers(made))
        until(lambda: " answered before " in worker.said(), "it is known", LIMIT)
    # Its command has ended, and wants nothing any more.
    publish(fleet, job_message.body(made), job_message.headers(made))
    until(lambda: " taken back " in worker.said(), "nobody wants it", LIMIT)
    assert len(fleet.calls()) == 1


@pytest.mark.rule("EXE-09", "EXE-19")
def test_a_prompt_and_a_reply_of_eight_mebibytes_pass(fleet: Fleet) -> None:
    trap(fleet.folder / "agent", "cat")
    fleet.worker()
    # As much as a prompt may have, with what JSON and UTF-8 make longer.
    prompt = ('A line with é and "quotes".\n' * (SIZE // 28))[: SIZE - 400_000]
    with RunMail(fleet.broker.address, "m", str(fleet.folder), lambda word: None) as mail:
        mail.listen()
        parts = ("goals/1/author/1", fleet.vendor, "small", prompt)
        made = job_message.made(*parts, mail.reply_queue, mail.ticket)
        found = asked(mail, made)
    assert found.problem is None
    assert len(prompt.encode()) > SIZE - 400_000
    assert found.text == prompt


@pytest.mark.rule("EXE-19")
def test_a_message_that_is_too_large_is_refused_before_it_is_sent(fleet: Fleet) -> None:
    text = "# Design\n\n## Approach\n\n" + '"' * 3_970_000 + "\n"
    shop = fleet.shop()
    shop.write("design.md", f"---\nstatus: draft\n---\n\n{text}")
    shop.commit("a long design")
    status, said = fleet.engine(shop).ended()
    lines = said.splitlines()
    assert status == 3, said[-2000:]
    assert lines[-2].startswith("the message for quality-claude has ")
    assert lines[-2].endswith(" bytes, expected at most 15728640")
    standing = fleet.broker.standing(queues.of_vendor(fleet.vendor).name)
    assert standing is None or standing.waiting == 0


@pytest.mark.rule("EXE-21")
def test_doctor_knows_the_broker_its_queues_and_its_workers(fleet: Fleet) -> None:
    shop = fleet.shop()
    fleet.agent()
    status, before = fleet.engine(shop, "doctor").ended()
    assert (status, before.splitlines()[2:5]) == (
        0,
        [
            f"ok      broker: amqp://127.0.0.1:{fleet.broker.port} answers",
            f"note    workers for {fleet.vendor}: none, 0 jobs waiting",
            "        qrspi worker",
        ],
    )
    fleet.worker()
    after = fleet.engine(shop, "doctor").ended()[1].splitlines()
    assert after[3] == f"ok      workers for {fleet.vendor}: 1, 0 jobs waiting"


# TLS


def openssl(*words: str, at: Path) -> None:
    subprocess.run(["openssl", *words], cwd=at, check=True, capture_output=True)


@pytest.fixture
def certified(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker whose certificate is signed by an authority that only we know."""
    if shutil.which("openssl") is None or not Path("/usr/lib/rabbitmq/bin").exists():
        pytest.skip(
            "there is no rabbitmq-server or no openssl here: root's `make setup` installs the first"
        )
    at = tmp_path_factory.mktemp("tls")
    new = ("req", "-newkey", "rsa:2048", "-nodes", "-subj")
    openssl(
        *new, "/CN=our own", "-x509", "-days", "2", "-keyout", "ca.key", "-out", "ca.pem", at=at
    )
    openssl(*new, "/CN=localhost", "-keyout", "key.pem", "-out", "asked.pem", at=at)
    (at / "names").write_text("subjectAltName=DNS:localhost\n")
    signing = (
        "x509",
        "-req",
        "-in",
        "asked.pem",
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
        "-days",
        "2",
    )
    openssl(*signing, "-CAcreateserial", "-extfile", "names", "-out", "cert.pem", at=at)
    files = f"ssl_options.certfile = {at}/cert.pem\nssl_options.keyfile = {at}/key.pem\n"
    broker = Broker(at / "broker", f"listeners.ssl.1 = 127.0.0.1:TLSPORT\n{files}")
    broker.start()
    with closing(broker):
        yield broker


@pytest.mark.rule("EXE-11", "EXE-15", "EXE-19")
def test_a_broker_behind_tls_with_an_authority_of_ones_own(fleet: Fleet, certified: Broker) -> None:
    authority = certified.folder.parent / "ca.pem"
    url = f"amqps://guest:guest@localhost:{certified.tls_port}/"
    plain = fleet.broker
    shop = fleet.shop()
    fleet.agent()
    fleet.go()
    status, said = fleet.engine(shop, QRSPI_BROKER_URL=url).ended()
    assert status == 4
    assert said.splitlines()[0].startswith(
        f"the broker amqps://localhost:{certified.tls_port} cannot be reached: "
    )
    assert "guest" not in said
    known = f"{url}?cacertfile={authority}"
    fleet.broker = certified
    fleet.worker(QRSPI_BROKER_URL=known)
    status, said = fleet.engine(shop, QRSPI_BROKER_URL=known).ended()
    fleet.broker = plain
    assert (status, len(fleet.calls())) == (0, 2), said


@pytest.mark.rule("EXE-15", "TRN-06")
def test_a_brokers_password_is_nowhere(fleet: Fleet) -> None:
    shop = fleet.shop()
    fleet.agent()
    fleet.go()
    word = fleet.broker.new_user("worker-and-engine")
    url = f"amqp://worker-and-engine:{word}@127.0.0.1:{fleet.broker.port}/"
    worker = fleet.worker(QRSPI_BROKER_URL=url)
    status, said = fleet.engine(shop, QRSPI_BROKER_URL=url).ended()
    assert status == 0, said
    command = Path(f"/proc/{worker.pid}/cmdline").read_bytes()
    kept = [file for file in fleet.folder.rglob("*") if file.is_file()]
    told = [file for file in kept if word.encode() in file.read_bytes()]
    assert told == [] and word.encode() not in command
