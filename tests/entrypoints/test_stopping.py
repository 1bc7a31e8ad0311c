"""Stopping: every accepted request gets an answer, and everything that was started ends in time."""

from __future__ import annotations

import math
import os
import signal
import socket
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import psycopg
import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session

from adapters.crypto.vault import Vault, parse_master_keys
from adapters.postgres.driver.connection import Connection
from adapters.postgres.embedded.server import EmbeddedPostgres
from adapters.postgres.unit_of_work import PostgresUnitOfWork, Tools
from core.mail import mail
from core.mail.mail import MailTemplate
from core.secrets import Secret
from core.sessions.origins import BACKGROUND
from entrypoints import signals
from entrypoints.http.platform.health import STOPPING_PROBLEM
from entrypoints.settings import Settings
from entrypoints.signals import reload_signals, server_stop_signals, stop_signals
from tests.clients import answers, load, losses
from tests.entrypoints import on_terminal
from tests.mail_server import PostOffice
from tests.processes import MASTER_KEY, Service, Services, lay_made_cluster
from tests.shown_text import shows
from tests.stopwatch import Stopwatch
from tests.waiting import WAIT_SECONDS_MAX, wait_until

# Each starts servers, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

PATHS = ["/health", "/health/ready", "/.well-known/jwks.json"]
# More than one answer for each client, so that each has had an answer from a working server.
WARM_ANSWERS = 100
# Well below the second that open connections have to end.
QUICK_STOP_SECONDS_MAX = 0.9
STOPS_MAX = 3
HALF_A_REQUEST = b"GET /health HTTP/1.1\r\nHost:"
WAITS_FOR_TABLE = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def is_waited_for(connection: Connection) -> bool:
    """Return whether a query waits for a lock; PostgreSQL would otherwise repeat the transaction's first snapshot."""
    connection.execute("SELECT pg_stat_clear_snapshot()")
    return bool(connection.execute(WAITS_FOR_TABLE).fetchall())


@contextmanager
def hanging_request(service: Service) -> Generator[socket.socket]:
    """Send half a request, and yield its connection."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=WAIT_SECONDS_MAX) as connection:
        connection.sendall(HALF_A_REQUEST)
        # Connections are accepted in order, so the hanging one is accepted when this one is answered.
        assert service.get("/health").status == 200
        yield connection


# A client that the machine keeps from sending for longer than a server waits at its end loses its request.
@pytest.mark.timing
@pytest.mark.parametrize("arguments", [[], ["--workers", "2"]])
def test_no_accepted_request_is_dropped_under_load(services: Services, arguments: list[str]) -> None:
    service = services.ready(*arguments)
    with load(service.port, PATHS, loyal=6, fickle=6) as clients:
        wait_until(lambda: len(answers(clients)) > WARM_ANSWERS)

        status = service.stop()
        wait_until(lambda: all(client.is_turned_away for client in clients))

    assert status == 0
    assert losses(clients) == []
    # 503 is the answer of the readiness check during the stop.
    assert {answer.status for answer in answers(clients)} <= {200, 503}
    assert {answer.status for answer in answers(clients) if b'healthy"' in answer.body} <= {200, 503}
    assert answers(clients)[-1].headers["connection"] == "close"


def test_a_request_in_flight_is_finished(services: Services, connection: Connection) -> None:
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


def test_a_hanging_request_is_cut_off_at_the_deadline(services: Services, stopwatch: Stopwatch) -> None:
    service = services.ready(SHUTDOWN_SECONDS="1")
    with hanging_request(service) as connection:
        # More than the setting, and less than the default.
        with stopwatch.within(Settings().shutdown_seconds, seconds_min=1.0):
            status = service.stop()

        assert status == 0
        assert connection.recv(1) == b""


def test_a_stopping_server_is_not_ready(services: Services) -> None:
    service = services.ready()
    with hanging_request(service):
        service.process.send_signal(signal.SIGTERM)
        service.wait_for("server.stopping")

        readiness, liveness = service.get("/health/ready"), service.get("/health/live")

    assert (readiness.status, readiness.json["status"], readiness.json["database"]) == (503, "unhealthy", "connected")
    assert liveness.status == 200


@pytest.mark.parametrize("arguments", [[], ["--workers", "2"]])
def test_a_stopping_server_takes_new_connections_while_it_drains(
    services: Services, arguments: list[str], stopwatch: Stopwatch
) -> None:
    service = services.ready(*arguments, DRAIN_SECONDS="8")
    with stopwatch.within(math.inf, seconds_min=8):
        service.process.send_signal(signal.SIGTERM)
        service.wait_for("server.stopping")

        # No connection is open between two of these requests, of which any process may get each.
        wait_until(lambda: {service.get("/health/ready").status for _ in range(5)} == {503})
        page = service.get("/.well-known/jwks.json")
        readiness = service.get("/health/ready")

        assert (page.status, page.headers["connection"]) == (200, "close")
        assert (readiness.status, readiness.json["problem"]) == (503, STOPPING_PROBLEM)
        assert service.wait() == 0


@pytest.mark.parametrize("arguments", [[], ["--workers", "2"]])
def test_a_second_signal_ends_the_server_immediately(services: Services, arguments: list[str]) -> None:
    service = services.ready(*arguments, SHUTDOWN_SECONDS="300")
    with hanging_request(service):
        service.process.send_signal(signal.SIGINT)
        service.wait_for("server.stopping")

        service.process.send_signal(signal.SIGINT)

        assert service.wait() == 1
    assert not shows(service.log, "Traceback")


# A supervisor sends SIGTERM, as most tests here do.
def test_ctrl_c_stops_the_server(services: Services) -> None:
    service = services.ready()

    service.process.send_signal(signal.SIGINT)

    assert service.wait() == 0
    assert service.logged("server.stopping")[0]["signal"] == "SIGINT"


@pytest.mark.parametrize("arguments", [[], ["--workers", "2"]])
def test_a_terminal_that_closes_stops_the_server(services: Services, arguments: list[str]) -> None:
    ours, theirs = os.openpty()
    try:
        at_terminal = replace(
            services,
            wrapper=(sys.executable, str(Path(on_terminal.__file__)), os.ttyname(theirs)),
            has_own_session=True,
        )
        service = at_terminal.ready(*arguments)
        os.close(theirs)
    finally:
        os.close(ours)

    assert service.wait() == 0
    assert service.logged("server.stopping")[0]["signal"] == "SIGHUP"


def test_a_signal_that_was_ignored_at_the_start_stays_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    ignored = {signal.SIGHUP: signal.SIG_IGN}
    monkeypatch.setattr(signal, "getsignal", lambda number: ignored.get(number, signal.SIG_DFL))
    monkeypatch.setattr(signals, "has_terminal", lambda: False)

    assert stop_signals() == server_stop_signals() == {signal.SIGTERM, signal.SIGINT}
    assert reload_signals() == set()


@pytest.mark.parametrize("has_terminal", [True, False])
def test_with_a_terminal_its_signal_stops_a_server_and_without_one_it_reloads(
    monkeypatch: pytest.MonkeyPatch, has_terminal: bool
) -> None:
    monkeypatch.setattr(signal, "getsignal", lambda _: signal.SIG_DFL)
    monkeypatch.setattr(signals, "has_terminal", lambda: has_terminal)

    assert stop_signals() == {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
    assert server_stop_signals() == stop_signals() - reload_signals()
    assert reload_signals() == (set() if has_terminal else {signal.SIGHUP})


def test_a_server_without_connections_stops_without_delay(services: Services, stopwatch: Stopwatch) -> None:
    seconds: list[float] = []
    # The fastest of several attempts counts.
    for _ in range(STOPS_MAX if stopwatch.is_measuring else 1):
        service = services.ready()
        assert service.stop() == 0
        # The time that the interpreter takes to end does not count.
        stopping, stopped = (datetime.fromisoformat(line["timestamp"]) for line in service.events[-2:])
        seconds.append((stopped - stopping).total_seconds())
        assert [line["event"] for line in service.events][-2:] == ["server.stopping", "server.stopped"]
        assert service.logged("server.stopping")[0]["signal"] == "SIGTERM"

    stopwatch.assert_within(min(seconds), QUICK_STOP_SECONDS_MAX)


def test_the_embedded_database_stops_with_its_last_user(
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


class SlowMailServer(PostOffice):
    """A mail server that accepts no mail before the test allows it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_offered = threading.Event()
        self.may_accept = threading.Event()

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802 - as above it
        """Accept the mail when the test allows it."""
        self.is_offered.set()
        # This blocks only the thread of the mail server.
        self.may_accept.wait(WAIT_SECONDS_MAX)
        return await super().handle_DATA(server, session, envelope)


def test_a_mail_in_transit_is_delivered_and_recorded(services: Services, connection: Connection, tools: Tools) -> None:
    tools = replace(tools, vault=Vault(parse_master_keys(Secret(MASTER_KEY))))
    mail.send(PostgresUnitOfWork(connection, BACKGROUND, tools), "ann@example.com", MailTemplate.TEST)
    connection.flush()
    mail_server = SlowMailServer()
    with mail_server.open():
        service = services.ready(SMTP_URL=f"smtp://127.0.0.1:{mail_server.port}?from=id@example.com")
        assert mail_server.is_offered.wait(WAIT_SECONDS_MAX)

        service.process.send_signal(signal.SIGTERM)
        service.wait_for("server.stopping")
        mail_server.may_accept.set()

        assert service.wait() == 0
    assert [message.recipients for message in mail_server.received] == [("ann@example.com",)]
    assert connection.execute("SELECT state FROM mails").fetchall() == [("sent",)]
