"""A server that is stopped while it starts: it ends, and leaves no process behind."""

from __future__ import annotations

import signal

import psycopg
import pytest

from tests.processes import Services, address, is_postgres_alive, lay_made_cluster
from tests.shown_text import shows
from tests.waiting import wait_until

# Each starts servers, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

WAITS_FOR_REPLICA = (
    "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_try_advisory%' AND datname = current_database()"
)


def test_a_stop_while_the_database_is_made_leaves_no_process(embedded_services: Services) -> None:
    service = embedded_services.start()
    wait_until((service.data_folder / "postgres.new").exists)

    service.process.send_signal(signal.SIGTERM)

    assert service.wait() == -signal.SIGTERM
    assert not shows(service.log, "Traceback")
    # The kernel kills the child processes at about the same time as it reports the end of their parent.
    wait_until(lambda: not is_postgres_alive(service.data_folder))
    assert embedded_services.ready().get("/health/ready").status == 200


def test_a_stop_while_the_database_starts_leaves_no_process(
    embedded_services: Services, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lay_made_cluster(embedded_services, tmp_path_factory)
    # Written immediately before PostgreSQL is started.
    settings = embedded_services.folder / "data" / "postgres.conf"
    before = settings.stat().st_mtime_ns
    service = embedded_services.start()
    wait_until(lambda: settings.stat().st_mtime_ns != before)

    service.process.send_signal(signal.SIGTERM)

    assert service.wait() in {-signal.SIGTERM, 0}
    assert not shows(service.log, "Traceback")
    # PostgreSQL may still be finishing what the server had just requested.
    wait_until(lambda: not is_postgres_alive(service.data_folder))


def test_a_stop_during_a_migration_ends_the_server_immediately(services: Services, empty_database_url: str) -> None:
    with psycopg.connect(empty_database_url, autocommit=True) as other_replica:
        other_replica.execute("SELECT pg_advisory_lock(hashtext('gatehouse.migrations'))")
        service = services.start(DATABASE_URL=address(empty_database_url), DEV="on")
        wait_until(lambda: bool(other_replica.execute(WAITS_FOR_REPLICA).fetchall()))

        service.process.send_signal(signal.SIGTERM)

        assert service.wait() == -signal.SIGTERM
    assert not shows(service.log, "Traceback")
