"""Stopping: whoever was let in gets an answer, and everything that was begun is put away in time."""

from __future__ import annotations

import signal
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import psycopg
import pytest

from adapters.crypto.vault import Vault, parse_master_keys
from adapters.postgres.embedded.server import EmbeddedPostgres
from adapters.postgres.unit_of_work import PostgresUnitOfWork, Tools
from core.mail import mail
from core.mail.mail import MailTemplate
from core.secrets import Secret
from core.sessions.callers import BACKGROUND
from entrypoints.settings import Settings
from entrypoints.signals import stop_signals
from tests.clients import answers, load, losses
from tests.mail_server import PostOffice
from tests.processes import MASTER_KEY, Service, Services, lay_made_cluster
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Generator

    from aiosmtpd.smtp import SMTP, Envelope, Session

    from adapters.postgres.driver.connection import Connection

PATHS = ["/health", "/health/ready", "/.well-known/jwks.json"]
# More than one answer for each client, so that each has met a server that works.
WARM_ANSWERS = 100
# Well below the second that open connections are given.
QUICK_STOP_SECONDS_MAX = 0.9
STOPS_MAX = 3
HALF_A_REQUEST = b"GET /health HTTP/1.1\r\nHost:"
WAITS_FOR_TABLE = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def is_waited_for(connection: Connection) -> bool:
    """Say whether somebody waits for a lock now; within a transaction PostgreSQL would say what it said before."""
    connection.execute("SELECT pg_stat_clear_snapshot()")
    return bool(connection.execute(WAITS_FOR_TABLE).fetchall())


@contextmanager
def hanging_request(service: Service) -> Generator[socket.socket]:
    """Begin a request that does not come to its end."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=20) as connection:
        connection.sendall(HALF_A_REQUEST)
        # Whoever came later was let in later.
        assert service.get("/health").status == 200
        yield connection


@pytest.mark.parametrize("arguments", [[], ["--workers", "2"]])
def test_under_load_no_request_that_was_accepted_is_dropped(services: Services, arguments: list[str]) -> None:
    service = services.ready(*arguments)
    with load(service.port, PATHS, loyal=6, fickle=6) as clients:
        wait_until(lambda: len(answers(clients)) > WARM_ANSWERS)

        status = service.stop()
        wait_until(lambda: all(client.is_turned_away for client in clients))

    assert status == 0
    assert losses(clients) == []
    # A load balancer may have heard from the readiness that it is over.
    assert {answer.status for answer in answers(clients)} <= {200, 503}
    assert {answer.status for answer in answers(clients) if b'healthy"' in answer.body} <= {200, 503}
    assert answers(clients)[-1].headers["connection"] == "close"


def test_a_request_in_flight_finishes(services: Services, connection: Connection) -> None:
    service = services.ready(DEV="on")
    with load(service.port, ["/dev/mailbox"], loyal=1, fickle=0) as clients:
        with connection.transaction():
            connection.execute("LOCK TABLE mails")
            wait_until(lambda: is_waited_for(connection))
            before = len(answers(clients))
            service.process.send_signal(signal.SIGTERM)
            service.wait_for("server.stopping")
        status = service.wait()
        wait_until(lambda: len(answers(clients)) > before)

    assert status == 0
    assert losses(clients) == []
    assert answers(clients)[before].status == 200


def test_a_hanging_request_is_cut_when_its_time_is_over(services: Services) -> None:
    service = services.ready(SHUTDOWN_SECONDS="1")
    with hanging_request(service) as connection:
        began_at = time.monotonic()

        status = service.stop()

        # More than the setting, and less than without it.
        assert 1.0 < time.monotonic() - began_at < Settings().shutdown_seconds
        assert status == 0
        assert connection.recv(1) == b""


def test_while_stopping_it_says_that_it_is_not_ready(services: Services) -> None:
    service = services.ready()
    with hanging_request(service):
        service.process.send_signal(signal.SIGTERM)
        service.wait_for("server.stopping")

        readiness, liveness = service.get("/health/ready"), service.get("/health/live")

    assert (readiness.status, readiness.json["status"], readiness.json["database"]) == (503, "unhealthy", "connected")
    assert liveness.status == 200


@pytest.mark.parametrize("arguments", [[], ["--workers", "2"]])
def test_asked_twice_it_ends_at_once(services: Services, arguments: list[str]) -> None:
    service = services.ready(*arguments, SHUTDOWN_SECONDS="300")
    with hanging_request(service):
        service.process.send_signal(signal.SIGINT)
        service.wait_for("server.stopping")

        service.process.send_signal(signal.SIGINT)

        assert service.wait() == 1
    assert "Traceback" not in service.log


# A supervisor sends SIGTERM, as most tests here do.
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_person_and_a_closed_terminal_can_stop_it_as_well(services: Services, number: signal.Signals) -> None:
    service = services.ready()

    service.process.send_signal(number)

    assert service.wait() == 0
    assert service.said("server.stopping")[0]["signal"] == number.name


def test_what_whoever_started_it_wants_ignored_stays_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    ignored = {signal.SIGHUP: signal.SIG_IGN}
    monkeypatch.setattr(signal, "getsignal", lambda number: ignored.get(number, signal.SIG_DFL))

    assert stop_signals() == {signal.SIGTERM, signal.SIGINT}


def test_with_nobody_there_it_stops_without_delay(services: Services) -> None:
    seconds: list[float] = []
    # Of some tries the quickest counts, because other tests are busy meanwhile.
    while len(seconds) < STOPS_MAX and min(seconds, default=1.0) > QUICK_STOP_SECONDS_MAX:
        service = services.ready()
        assert service.stop() == 0
        # What the interpreter takes to end is no delay of ours.
        stopping, stopped = (datetime.fromisoformat(line["timestamp"]) for line in service.events[-2:])
        seconds.append((stopped - stopping).total_seconds())
        assert [line["event"] for line in service.events][-2:] == ["server.stopping", "server.stopped"]
        assert service.said("server.stopping")[0]["signal"] == "SIGTERM"

    assert min(seconds) < QUICK_STOP_SECONDS_MAX


def test_the_embedded_database_stops_with_the_last_who_uses_it(
    embedded_services: Services, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lay_made_cluster(embedded_services, tmp_path_factory)
    service = embedded_services.ready()
    folder = service.data_folder
    with EmbeddedPostgres(folder) as url:
        service.stop()

        with psycopg.connect(url) as other:
            assert other.execute("SELECT 1").fetchone() == (1,)

    assert not (folder / "postgres" / "postmaster.pid").exists()


class SlowPostOffice(PostOffice):
    """A mail server that takes no letter before it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.is_asked = threading.Event()
        self.may_take = threading.Event()

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802 - as above it
        """Take the letter, in time."""
        self.is_asked.set()
        # It holds up its own thread and nobody else.
        self.may_take.wait(20)
        return await super().handle_DATA(server, session, envelope)


def test_a_letter_on_its_way_arrives_and_is_written_down(
    services: Services, connection: Connection, tools: Tools
) -> None:
    tools = replace(tools, vault=Vault(parse_master_keys(Secret(MASTER_KEY))))
    mail.send(PostgresUnitOfWork(connection, BACKGROUND, tools), "ann@example.com", MailTemplate.TEST)
    connection.flush()
    office = SlowPostOffice()
    with office.open():
        service = services.ready(SMTP_URL=f"smtp://127.0.0.1:{office.port}?from=id@example.com")
        assert office.is_asked.wait(10)

        service.process.send_signal(signal.SIGTERM)
        service.wait_for("server.stopping")
        office.may_take.set()

        assert service.wait() == 0
    assert [message.recipients for message in office.received] == [("ann@example.com",)]
    assert connection.execute("SELECT state FROM mails").fetchall() == [("sent",)]
