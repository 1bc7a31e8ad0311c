"""Polling by processes: what idle processes send to the database, and which process finds work when one is gone."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from adapters.postgres.driver.connection import Connection
from adapters.postgres.embedded.cluster import SUPERUSER
from tests.processes import Service, Services, address
from tests.waiting import wait_until

# Each starts servers and waits for what happens once in a while; CI runs them.
pytestmark = pytest.mark.long

# After the start, when every actor looks for work once.
SETTLING_SECONDS = 3.0
MEASURED_SECONDS = 30.0
# A process that polls sends about 20 in this time, one that listens about 8; once a minute the counters send twelve
# more, which may open three connections, and twice a minute the housekeeper two.
OF_ONE_PROCESS_MAX = 32
OF_TWO_PROCESSES_MAX = 44
SHRUNK_SECONDS_MAX = 300.0
# What a process has open at a moment: the connection that listens, one of the pool, and one for a coincidence.
CONNECTIONS_OF_PROCESS_MAX = 3
FOUND_SECONDS_MAX = 120.0
LOGGED = r"(?s)LOG:\s+(?:execute [^:]+|statement):\s+(\S.*)"


class Log:
    """The log of PostgreSQL, with every statement of one database."""

    def __init__(self, database_url: str) -> None:
        self._admin = psycopg.connect(make_conninfo(database_url, user=SUPERUSER), autocommit=True)
        [[folder]] = self._admin.execute("SHOW data_directory").fetchall()
        self._path = Path(folder).with_name("postgres.log")
        [[name]] = self._admin.execute("SELECT quote_ident(current_database())").fetchall()
        self._database = str(name)
        self._set("SET log_statement = 'all'")

    def close(self) -> None:
        """Log no statements any more."""
        self._set("RESET log_statement")
        self._admin.close()

    def statements_during(self, seconds: float) -> list[str]:
        """Return the statements that were sent in this time; an empty one only asks for an answer."""
        begin = self._path.stat().st_size
        time.sleep(seconds)
        text = self._path.read_bytes()[begin:].decode()
        lines = [re.search(LOGGED, line) for line in re.split(r"\n(?=\d{4}-)", text)]
        return [" ".join(line[1].split()) for line in lines if line is not None]

    def _set(self, clause: str) -> None:
        self._admin.execute(f"ALTER DATABASE {self._database} {clause}".encode())


@pytest.fixture
def log(database_url: str) -> Iterator[Log]:
    """The log of the test's own database."""
    log = Log(database_url)
    yield log
    log.close()


def role(service: Service) -> str | None:
    """Return what a process does about polling; None while it does not know yet."""
    exposition = service.get("/metrics").content.decode()
    found = re.search(r'sso_polling_processes\{role="(\w+)"\} 1\.0', exposition)
    return found[1] if found else None


def connections(connection: Connection) -> int:
    """Return how many connections to the database are open, besides the test's own."""
    [[number]] = connection.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gatehouse'"
    )
    return number


def add_event(connection: Connection) -> None:
    """Store an event as a process does that dies before it announces it."""
    connection.execute(
        """
        INSERT INTO events (id, type, organization_id, data, occurred_at)
        VALUES ((left(first_id_at(now())::text, 14) || substr(gen_random_uuid()::text, 15))::uuid,
               'user.logout', '00000000-0000-0000-0000-000000000000', '{}', now())
        """
    )


def wait_until_handed_on(connection: Connection) -> None:
    """Wait until a sequencer has handed on every event."""

    def is_none_waiting() -> bool:
        return connection.execute("SELECT FROM events WHERE position = 0").fetchone() is None

    wait_until(is_none_waiting, seconds_max=FOUND_SECONDS_MAX)


@pytest.mark.timing
def test_idle_processes_send_few_statements_and_give_back_their_connections(
    services: Services, connection: Connection, log: Log
) -> None:
    first = services.ready()
    wait_until(lambda: role(first) == "polling")

    log.statements_during(SETTLING_SECONDS)
    of_one = log.statements_during(MEASURED_SECONDS)
    second = services.ready(DATA_DIR="second")
    wait_until(lambda: role(second) == "listening")
    log.statements_during(SETTLING_SECONDS)
    of_two = log.statements_during(MEASURED_SECONDS)

    assert len(of_one) <= OF_ONE_PROCESS_MAX, of_one
    assert len(of_two) <= OF_TWO_PROCESSES_MAX, of_two
    # The log has the statements at all.
    assert [statement for statement in of_one if statement.startswith("WITH next")]
    wait_until(lambda: connections(connection) <= 2 * CONNECTIONS_OF_PROCESS_MAX, seconds_max=SHRUNK_SECONDS_MAX)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP])
def test_when_the_process_that_polls_is_gone_or_hangs_another_one_finds_the_work(
    services: Services, connection: Connection, number: signal.Signals
) -> None:
    first = services.ready()
    wait_until(lambda: role(first) == "polling")
    second = services.ready(DATA_DIR="second")
    wait_until(lambda: role(second) == "listening")

    first.process.send_signal(number)
    add_event(connection)

    wait_until_handed_on(connection)
    expected = "alone" if number is signal.SIGSTOP else "polling"
    wait_until(lambda: role(second) == expected, seconds_max=FOUND_SECONDS_MAX)


def test_a_process_that_cannot_listen_polls_for_itself_and_says_so(
    services: Services, connection: Connection, database_url: str
) -> None:
    service = services.ready(DATABASE_LISTEN_URL=address(make_conninfo(database_url, host="/nowhere")))
    service.wait_for("polling.alone")
    add_event(connection)

    wait_until_handed_on(connection)

    wait_until(lambda: role(service) == "alone")
    assert len(service.logged("polling.alone")) == 1
    assert service.get("/health/ready").json["status"] == "ready"


def test_an_account_is_in_the_metrics_of_every_process_within_30_seconds(
    services: Services, connection: Connection
) -> None:
    both = [services.ready(), services.ready(DATA_DIR="second")]

    connection.execute(
        """
        INSERT INTO users (id, email, created_at, updated_at, mfa_enabled_at)
        VALUES (gen_random_uuid(), 'a@example.org', now(), now(), now())
        """
    )

    def is_shown() -> bool:
        return all(b"sso_mfa_enabled_users_total 1.0" in service.get("/metrics").content for service in both)

    wait_until(is_shown, seconds_max=FOUND_SECONDS_MAX)
