"""Each alert that can be provoked is provoked on a real server, and its expression evaluated on scrapes of that server.

What has to hold for some minutes (`for:`) is left to the cases of `ops/monitoring/alerts_test.yaml`. Those that are not
provoked stand in `NOT_PROVOKED` of `tests/ops/test_monitoring.py`, each with its reason.
"""

from __future__ import annotations

import http.client
import json
import signal
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import psutil
import psycopg
import pytest

from tests.entrypoints.piped_service import PIPELINED, ask, piped_service
from tests.entrypoints.test_jumping_clock import WallClock
from tests.ops.alert_rules import ALERTS, COUNTED, Scrapes, alerts, needs_promtool
from tests.processes import Service, Services, embedded_services, lay_made_cluster, services
from tests.waiting import wait_until
from tests.world.builder import PASSWORD, Builder
from tests.world.fixtures import builder

__all__ = ["builder", "embedded_services", "services"]

# Each starts servers, which takes seconds; CI runs them.
pytestmark = [pytest.mark.long, needs_promtool]

LOGIN: Final = ("POST", "/api/auth/login")
WRONG: Final = b'{"email": "ann@example.org", "password": "correct horse battery"}'
# A key that may be one, so that it is looked for.
KEY_HEADER: Final = {"X-Api-Key": "sk_" + "a" * 64}
CALL: Final = "/api/service/users"
AT_ONCE: Final = 4
# More than five a second for five minutes, and for ten.
LIMITED: Final = 1_600
REFUSED: Final = 3_300
OF_A_CLIENT_MAX: Final = 256
OVER_ITS_SHARE: Final = 60
OWNER: Final = "owner@example.com"


@pytest.fixture
def scrapes(tmp_path: Path) -> Scrapes:
    return Scrapes(tmp_path)


@pytest.fixture
def operator(database_url: str) -> Iterator[psycopg.Connection[Any]]:
    """An operator's connection, besides the server's."""
    with psycopg.connect(database_url, autocommit=True, application_name="operator") as connection:
        yield connection


def in_parallel(number: int, send: Callable[[], object]) -> None:
    """Send so many requests, a few at once."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for sent in [threads.submit(send) for _ in range(number)]:
            sent.result()


def flood(service: Service, number: int, method: str, path: str, body: bytes) -> None:
    """Send the same request so many times, on a few connections that stay."""

    def send() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
        for _ in range(number // AT_ONCE):
            connection.request(method, path, body, {"Content-Type": "application/json"})
            connection.getresponse().read()
        connection.close()

    in_parallel(AT_ONCE, send)


@contextmanager
def locked(operator: psycopg.Connection[Any], *tables: str) -> Generator[None]:
    """Hold a lock that every statement on these tables waits for."""
    with operator.transaction():
        operator.execute(f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE".encode())
        yield


def waiting_for(operator: psycopg.Connection[Any], seconds: float) -> int:
    """Return how many sessions of the server have waited for so long."""
    [[number]] = operator.execute(
        """
        SELECT count(*)
        FROM   pg_stat_activity
        WHERE  application_name = 'gatehouse' AND wait_event_type = 'Lock'
        AND    clock_timestamp() - query_start > make_interval(secs => %s)
        """,
        (seconds,),
    ).fetchall()
    return number


def until_scraped(scrapes: Scrapes, service: Service, wanted: Callable[[dict[str, float]], bool], *, at: int) -> None:
    """Scrape until the server shows what is measured now and then; only that scrape counts."""
    probe = Scrapes(scrapes.folder)
    wait_until(lambda: wanted(probe.take(service, at=0)), seconds_max=180)
    scrapes.steps.append(at)
    scrapes.samples.append(probe.samples[-1])


def value(found: dict[str, float], name: str, **labels: str) -> float:
    """Return the sum of the series of a metric that have these labels."""
    chosen = [f'{label}="{text}"' for label, text in labels.items()]
    return sum(
        number
        for series, number in found.items()
        if series.startswith(f"{name}{{") and all(choice in series for choice in chosen)
    )


@contextmanager
def receiver() -> Generator[int]:
    """A receiver of webhooks and batches that takes all of them; yield its port."""

    class Takes(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
            pass

    server = HTTPServer(("127.0.0.1", 0), Takes)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def closed_port() -> int:
    """Return a port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as gone:
        return gone.getsockname()[1]


class Owner:
    """The owner of the organization `acme`, signed in."""

    def __init__(self, service: Service, builder: Builder) -> None:
        self._service = service
        self.organization_id: UUID = builder.organization()
        builder.member(self.organization_id, builder.user(OWNER), "owner")
        signed_in = service.request(*LOGIN, body=json.dumps({"email": OWNER, "password": PASSWORD}).encode())
        self._token = signed_in.json["access_token"]

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Send a request that has to succeed."""
        answer = self._service.request(
            method,
            path,
            headers={"Authorization": f"Bearer {self._token}"},
            body=None if body is None else json.dumps(body).encode(),
        )
        assert answer.status in {200, 201}, (path, answer.content)
        return answer.json


def test_no_alert_holds_at_a_server_that_works(services: Services, scrapes: Scrapes) -> None:
    service = services.ready("--workers", "2")
    at_the_start = scrapes.take(service, at=0)
    for number in range(1, 4):
        in_parallel(20, lambda: service.request(*LOGIN, body=WRONG))
        in_parallel(20, lambda: service.request("GET", CALL, headers=KEY_HEADER))
        # The one that polls has begun to.
        until_scraped(
            scrapes, service, lambda found: value(found, "sso_polling_processes", role="polling") == 1, at=number
        )

    counted = {metric for metric, _ in COUNTED.findall(ALERTS.read_text())} - {"sso_embedded_database_restarts_total"}
    series = {name.partition("{")[0] for name in at_the_start}
    assert len(counted) > 15
    assert counted - series == set()
    # A new installation has no backup, and three days for its first.
    held = {alert for alert in alerts() if scrapes.holds(alert)}
    assert held == {"GatehouseBackupNever", "GatehouseRestoreDrillNever"}


def test_a_server_is_stopped(services: Services, scrapes: Scrapes) -> None:
    service = services.ready()
    scrapes.take(service, at=0)
    port = service.port
    assert not scrapes.holds("GatehouseDown")

    assert service.stop() == 0
    scrapes.take(service, at=1)

    assert port == service.port
    assert scrapes.holds("GatehouseDown")


def test_postgres_refuses_connections(services: Services, scrapes: Scrapes, operator: psycopg.Connection[Any]) -> None:
    service = services.ready()
    assert service.request(*LOGIN, body=WRONG).status == 401
    scrapes.take(service, at=0)
    name = operator.info.dbname
    try:
        operator.execute(f'ALTER DATABASE "{name}" CONNECTION LIMIT 0'.encode())
        operator.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gatehouse'"
            " AND datname = current_database()"
        )
        in_parallel(6, lambda: service.request(*LOGIN, body=WRONG))
        in_parallel(6, lambda: service.request("GET", CALL, headers=KEY_HEADER))
        found = scrapes.take(service, at=1)
    finally:
        operator.execute(f'ALTER DATABASE "{name}" CONNECTION LIMIT -1'.encode())

    assert value(found, "sso_db_connect_failures_total", reason="limit") > 0
    assert value(found, "sso_db_connect_failures_total") == value(
        found, "sso_db_connect_failures_total", reason="limit"
    )
    assert scrapes.holds("GatehouseDatabaseRefuses")
    assert scrapes.holds("GatehouseSignInsFail")
    assert scrapes.holds("GatehouseCallsFail")
    # No connection is open, so none can be in use.
    assert not scrapes.holds("GatehousePoolExhausted")


def test_statements_wait_for_a_lock(services: Services, scrapes: Scrapes, operator: psycopg.Connection[Any]) -> None:
    service = services.ready()
    scrapes.take(service, at=0)
    with ThreadPoolExecutor(8) as threads:
        # Each round waits for more than the objective, and for less than PostgreSQL does.
        for _ in range(3):
            with locked(operator, "sign_in_failures", "users"):
                slow = [threads.submit(service.request, *LOGIN, body=WRONG) for _ in range(2)]
                wait_until(lambda: waiting_for(operator, 1.2) >= 2)
            assert {sent.result().status for sent in slow} == {401}
            with locked(operator, "api_keys"):
                slow = [threads.submit(service.request, "GET", CALL, headers=KEY_HEADER) for _ in range(2)]
                wait_until(lambda: waiting_for(operator, 0.7) >= 2)
            assert {sent.result().status for sent in slow} == {401}
        scrapes.take(service, at=1)
        assert scrapes.holds("GatehouseSignInsSlow")
        assert scrapes.holds("GatehouseCallsSlow")

        with locked(operator, "sign_in_failures", "users"):
            for _ in range(3):
                slow = [threads.submit(service.request, *LOGIN, body=WRONG) for _ in range(4)]
                assert 503 in {sent.result().status for sent in slow}
        scrapes.take(service, at=2)
        assert scrapes.holds("GatehouseStatementsCancelled")


def test_all_connections_are_in_use(services: Services, scrapes: Scrapes, operator: psycopg.Connection[Any]) -> None:
    service = services.ready(DATABASE_CONNECTIONS="3")
    scrapes.take(service, at=0)
    ended = threading.Event()

    def keep_asking(method: str, path: str, headers: dict[str, str] | None, body: bytes | None) -> None:
        while not ended.is_set():
            service.request(method, path, headers=headers, body=body)

    with ThreadPoolExecutor(16) as threads, locked(operator, "sign_in_failures", "users", "api_keys"):
        for _ in range(8):
            threads.submit(keep_asking, *LOGIN, None, WRONG)
            threads.submit(keep_asking, "GET", CALL, KEY_HEADER, None)
        try:
            until_scraped(
                scrapes,
                service,
                lambda found: (
                    value(found, "sso_db_pool_connections_idle") == 0
                    and value(found, "sso_db_pool_connections_total") == 3
                ),
                at=1,
            )
        finally:
            ended.set()
    assert scrapes.holds("GatehousePoolExhausted")


def test_a_client_sends_more_than_its_limits(services: Services, scrapes: Scrapes) -> None:
    service = services.ready(RATE_LIMITS="on")
    scrapes.take(service, at=0)
    flood(service, LIMITED, *LOGIN, WRONG)
    # The connections of a client whose requests are not answered: each of them is half a head.
    with ExitStack() as clients:
        for _ in range(OF_A_CLIENT_MAX + OVER_ITS_SHARE):
            with suppress(OSError):
                client = clients.enter_context(socket.create_connection(("127.0.0.1", service.port)))
                client.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n")
        service.wait_for("connection.refused", times=OVER_ITS_SHARE)
    until_scraped_by(service, scrapes, "sso_connections_refused_total", OVER_ITS_SHARE, at=5)

    assert scrapes.holds("GatehouseRequestsLimited")
    assert scrapes.holds("GatehouseConnectionsRefused")


def until_scraped_by(service: Service, scrapes: Scrapes, metric: str, least: float, *, at: int) -> None:
    """Scrape until a counter has reached a value."""
    until_scraped(scrapes, service, lambda found: value(found, metric) >= least, at=at)


def test_many_sign_ins_are_refused(services: Services, scrapes: Scrapes) -> None:
    service = services.ready()
    body = b'{"token": "018f0000-0000-7000-8000-000000000000"}'
    refused = service.request("POST", "/api/auth/magic-link/verify", body=body)
    # An hour before, a few were.
    scrapes.take(service, at=0)
    scrapes.take(service, at=10)
    scrapes.take(service, at=60)
    scrapes.take(service, at=119)
    flood(service, REFUSED, "POST", "/api/auth/magic-link/verify", body)
    scrapes.take(service, at=129)

    assert refused.status == 401
    assert scrapes.holds("GatehouseSignInsRefused")


def test_an_identity_provider_does_not_answer(services: Services, scrapes: Scrapes) -> None:
    provider = f"http://127.0.0.1:{closed_port()}"
    service = services.ready(
        CODEHOST_CLIENT_ID="an-id",
        CODEHOST_CLIENT_SECRET="a-long-secret",
        CODEHOST_TOKEN_URL=f"{provider}/token",
        CODEHOST_USERINFO_URL=f"{provider}/user",
        OUTBOUND_ALLOW="127.0.0.0/8",
    )
    # The routes of providers are imported at the first request for one of them, and their counters begin at 0 then.
    service.get("/auth/codehost")
    scrapes.take(service, at=0)

    def sign_in() -> None:
        begun = service.get("/auth/codehost")
        cookies = "; ".join(cookie.partition(";")[0] for cookie in begun.cookies)
        state = begun.headers["location"].partition("state=")[2].partition("&")[0]
        service.request("GET", f"/auth/codehost/callback?code=x&state={state}", headers={"Cookie": cookies})

    in_parallel(120, sign_in)
    found = scrapes.take(service, at=15)

    assert value(found, "sso_external_failures_total", route="/auth/codehost/callback") == 120
    assert scrapes.holds("GatehouseProviderFails")


def test_a_worker_dies(services: Services, scrapes: Scrapes) -> None:
    service = services.ready("--workers", "2")
    scrapes.take(service, at=0)
    service.workers()[0].send_signal(signal.SIGKILL)
    service.wait_for("worker.died")
    until_scraped_by(service, scrapes, "sso_workers_replaced_total", 1, at=1)

    assert scrapes.holds("GatehouseWorkersReplaced")


def test_nobody_reads_the_log(scrapes: Scrapes, tmp_path: Path, database_url: str) -> None:
    with piped_service(tmp_path, database_url) as piped:
        scrapes.take(piped.service, at=0)
        assert ask(piped.service.port, PIPELINED * 100) == PIPELINED * 100
        scrapes.take(piped.service, at=1)

    assert scrapes.holds("GatehouseLogLinesDropped")


def test_the_embedded_postgres_dies(
    embedded_services: Services, scrapes: Scrapes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lay_made_cluster(embedded_services, tmp_path_factory)
    service = embedded_services.ready()
    scrapes.take(service, at=0)
    [pid, *_] = (service.data_folder / "postgres" / "postmaster.pid").read_text().splitlines()
    psutil.Process(int(pid)).kill()
    service.wait_for("database.embedded_started_again")
    scrapes.take(service, at=1)

    assert scrapes.holds("GatehouseEmbeddedDatabaseDied")


def test_an_actor_crashes_again_and_again(
    services: Services, scrapes: Scrapes, operator: psycopg.Connection[Any]
) -> None:
    service = services.ready()
    scrapes.take(service, at=0)
    operator.execute("ALTER TABLE signing_keys RENAME TO signing_keys_away")
    try:
        until_scraped_by(service, scrapes, "sso_actor_restarts_total", 5, at=20)
        until_scraped(
            scrapes, service, lambda found: 0 in {v for k, v in found.items() if k.startswith("sso_actor_up{")}, at=21
        )
    finally:
        operator.execute("ALTER TABLE signing_keys_away RENAME TO signing_keys")

    assert scrapes.holds("GatehouseActorCrashes")
    assert scrapes.holds("GatehouseActorDown")


def test_nobody_polls(services: Services, scrapes: Scrapes, operator: psycopg.Connection[Any]) -> None:
    # A session that is no server's has the lock of the one that polls, and says nothing to the others.
    operator.execute("SELECT pg_advisory_lock(hashtext('gatehouse.polling'))")
    service = services.ready()
    until_scraped(scrapes, service, lambda found: value(found, "sso_polling_processes", role="alone") == 1, at=0)

    assert scrapes.holds("GatehouseNobodyPolls")
    assert scrapes.holds("GatehousePollsAlone")


def test_work_is_late(services: Services, scrapes: Scrapes, operator: psycopg.Connection[Any]) -> None:
    service = services.ready()
    scrapes.take(service, at=0)
    with locked(operator, "event_sequencing"):
        with psycopg.connect(operator.info.dsn, password=operator.info.password, autocommit=True) as other:
            other.execute(
                """
                INSERT INTO events (id, type, organization_id, data, occurred_at)
                SELECT first_id_at(now() - interval '10 minutes' + number * interval '1 millisecond'), 'user.created',
                       '00000000-0000-0000-0000-000000000000', '{}', now() - interval '10 minutes'
                FROM   generate_series(1, 8) AS number
                """
            )
        until_scraped_by(service, scrapes, "sso_work_overdue_seconds", 300, at=1)

    assert scrapes.holds("GatehouseWorkLate")


def test_mails_wait_and_are_not_taken(services: Services, scrapes: Scrapes, operator: psycopg.Connection[Any]) -> None:
    service = services.ready(SMTP_URL=f"smtp://127.0.0.1:{closed_port()}?from=id@example.com")
    scrapes.take(service, at=0)
    for number in range(4):
        body = f'{{"email": "ann{number}@example.org", "password": "correct horse battery {number}"}}'
        assert service.request("POST", "/api/auth/register", body=body.encode()).status == 200
    service.wait_for("mail.deferred")
    until_scraped_by(service, scrapes, "sso_mail_attempts_total", 4, at=5)
    assert scrapes.holds("GatehouseMailFails")

    # Twenty minutes later, and with many others.
    operator.execute(
        """
        UPDATE mails SET created_at = created_at - interval '20 minutes' WHERE state = 'queued'
        """
    )
    operator.execute(
        """
        INSERT INTO mails (organization_id, id, recipient, template, state, attempts, due_at, created_at)
        SELECT '00000000-0000-0000-0000-000000000000', first_id_at(now() + number * interval '1 millisecond'),
               'ann@example.org', 'test', 'queued', 1, now() + interval '1 hour', now()
        FROM   generate_series(1, 11000) AS number
        """
    )
    until_scraped(
        scrapes,
        service,
        lambda found: (
            value(found, "sso_mail_oldest_waiting_seconds", server="platform") > 900
            and value(found, "sso_job_queue_depth") > 10_000
        ),
        at=6,
    )

    assert scrapes.holds("GatehouseMailWaits")
    assert scrapes.holds("GatehouseQueueLong")


def test_receivers_of_an_organization_fail_or_get_what_is_old(
    services: Services, builder: Builder, scrapes: Scrapes, operator: psycopg.Connection[Any]
) -> None:
    service = services.ready(OUTBOUND_ALLOW="127.0.0.0/8")
    owner = Owner(service, builder)
    scrapes.take(service, at=0)
    hook = {"name": "shop", "url": f"http://127.0.0.1:{closed_port()}/", "events": ["organization.updated"]}
    owner.ask("POST", "/api/organizations/acme/webhooks", hook)
    stream = {"provider": "http", "endpoint": f"http://127.0.0.1:{closed_port()}/", "token": "a-long-token"}
    owner.ask("POST", "/api/organizations/acme/siem", stream)
    owner.ask("PATCH", "/api/organizations/acme", {"name": "Acme Two"})
    until_scraped(
        scrapes,
        service,
        lambda found: (
            value(found, "sso_webhook_attempts_total", outcome="unreachable") > 0
            and value(found, "sso_siem_streams_failing") > 0
        ),
        at=1,
    )
    assert scrapes.holds("GatehouseWebhooksFail")
    assert scrapes.holds("GatehouseSiemStreamsFail")

    with receiver() as port:
        # Another one, which has not failed and waits for nothing.
        owner.ask(
            "POST", "/api/organizations/acme/webhooks", {**hook, "name": "new", "url": f"http://127.0.0.1:{port}/"}
        )
        # It was there before the events, which will be of twenty minutes ago.
        operator.execute("UPDATE webhooks SET created_at = created_at - interval '1 hour'")
        with locked(operator, "event_sequencing"):
            for number in range(8):
                owner.ask("PATCH", "/api/organizations/acme", {"name": f"Acme {number}"})
            with psycopg.connect(operator.info.dsn, password=operator.info.password, autocommit=True) as other:
                other.execute("UPDATE events SET occurred_at = occurred_at - interval '20 minutes' WHERE position = 0")
        operator.execute("UPDATE audit_entries SET created_at = created_at - interval '20 minutes'")
        owner.ask("POST", "/api/organizations/acme/siem", {**stream, "endpoint": f"http://127.0.0.1:{port}/"})
        owner.ask("POST", "/api/organizations/acme/siem/restart", {"since": None})
        until_scraped(
            scrapes,
            service,
            lambda found: (
                value(found, "sso_webhook_delivery_latency_seconds_count") >= 8
                and value(found, "sso_siem_lag_seconds_count") >= 1
            ),
            at=2,
        )
    assert scrapes.holds("GatehouseWebhooksLate")
    assert scrapes.holds("GatehouseSiemLate")


def test_entries_are_not_sealed(
    services: Services, builder: Builder, scrapes: Scrapes, operator: psycopg.Connection[Any]
) -> None:
    service = services.ready()
    owner = Owner(service, builder)
    scrapes.take(service, at=0)
    with locked(operator, "audit_sealing"):
        owner.ask("PATCH", "/api/organizations/acme", {"name": "Acme Two"})
        with psycopg.connect(operator.info.dsn, password=operator.info.password, autocommit=True) as other:
            other.execute(
                "UPDATE audit_entries SET created_at = created_at - interval '20 minutes' WHERE position IS NULL"
            )
        until_scraped_by(service, scrapes, "sso_audit_sealing_lag_seconds", 600, at=1)

    assert scrapes.holds("GatehouseAuditNotSealed")


def test_a_certificate_of_saml_ends_soon(
    services: Services, builder: Builder, scrapes: Scrapes, operator: psycopg.Connection[Any]
) -> None:
    service = services.ready()
    owner = Owner(service, builder)
    builder.service(owner.organization_id, "shop")
    scrapes.take(service, at=0)
    saml = {"enabled": True, "entity_id": "https://sp.example/metadata", "acs_url": "https://sp.example/acs"}
    owner.ask("POST", "/api/organizations/acme/services/shop/saml", saml)
    owner.ask("POST", "/api/organizations/acme/services/shop/saml/certificate")
    operator.execute("UPDATE saml_certificates SET valid_until = now() + interval '5 days'")
    until_scraped_by(service, scrapes, "sso_saml_certificates_ending", 1, at=1)

    assert scrapes.holds("GatehouseCertificatesEnd")


def test_the_clock_of_the_machine_jumps(services: Services, scrapes: Scrapes, tmp_path: Path) -> None:
    wall = WallClock(tmp_path / "clock")
    services.wrapper = wall.wrapper
    service = services.ready()
    scrapes.take(service, at=0)
    assert not scrapes.holds("GatehouseClockWrong")
    wall.set("+2h")
    service.wait_for("clock.wrong")
    until_scraped_by(service, scrapes, "sso_clock_error_seconds", 3600, at=1)

    assert scrapes.holds("GatehouseClockWrong")


def test_backups_are_missing_and_old(services: Services, scrapes: Scrapes, operator: psycopg.Connection[Any]) -> None:
    service = services.ready()
    scrapes.step = "1h"
    scrapes.take(service, at=0)
    assert scrapes.holds("GatehouseBackupNever")
    assert scrapes.holds("GatehouseRestoreDrillNever")
    # The time of promtool begins in 1970, as these do.
    operator.execute(
        "INSERT INTO recovery_runs VALUES ('backup', to_timestamp(60)), ('restore_drill', to_timestamp(60))"
    )
    until_scraped_by(service, scrapes, "sso_restore_drill_last_success_timestamp_seconds", 60, at=1)
    assert not scrapes.holds("GatehouseBackupNever")
    assert not scrapes.holds("GatehouseBackupOld")
    scrapes.take(service, at=2 * 24 + 1)
    assert scrapes.holds("GatehouseBackupOld")
    assert not scrapes.holds("GatehouseRestoreDrillOld")
    scrapes.take(service, at=45 * 24 + 1)
    assert scrapes.holds("GatehouseRestoreDrillOld")


def test_a_collector_of_traces_is_away(services: Services, scrapes: Scrapes) -> None:
    service = services.ready(TRACES_URL=f"http://127.0.0.1:{closed_port()}/v1/traces", TRACES_PERCENT="100")
    scrapes.take(service, at=0)
    in_parallel(10, lambda: service.get("/health/ready"))
    until_scraped_by(service, scrapes, "sso_trace_spans_dropped_total", 1, at=1)

    assert scrapes.holds("GatehouseSpansDropped")
