"""What operators see of `gatehouse serve`: a schema newer than the program, and metrics at an address of their own."""

from __future__ import annotations

import urllib.error
import urllib.request

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.schema.migration_files import newest_version
from tests.processes import Services


@pytest.mark.long
def test_a_server_starts_on_a_newer_schema_only_if_that_says_that_it_works(
    connection: Connection, services: Services
) -> None:
    newest = newest_version()
    connection.execute(
        """
        INSERT INTO schema_migrations (version, name, checksum, seconds, compatible_from)
        VALUES (%s, 'of_a_newer_version', '', 0, %s)
        """,
        (newest + 1, newest),
    )

    service = services.ready()
    [line] = service.logged("database.newer_schema")
    service.stop()
    connection.execute("UPDATE schema_migrations SET compatible_from = NULL WHERE version = %s", (newest + 1,))
    refused = services.start()
    status = refused.wait()
    connection.execute("DELETE FROM schema_migrations WHERE version = %s", (newest + 1,))

    assert line["migrations"] == [f"{newest + 1:04d}_of_a_newer_version"]
    assert (status, "this version does not work with that" in refused.log) == (1, True)


@pytest.mark.long
@pytest.mark.parametrize("arguments", [[], ["--workers", "2"]], ids=["alone", "two workers"])
def test_metrics_and_internal_paths_have_an_address_of_their_own_if_one_is_set(
    services: Services, arguments: list[str]
) -> None:
    service = services.ready(*arguments, METRICS_BIND="127.0.0.1:0")
    [line] = service.logged("server.ready")

    def status(path: str) -> int:
        try:
            return urllib.request.urlopen(f"http://{line['metrics_bind']}{path}", timeout=60).status
        except urllib.error.HTTPError as error:
            return error.code

    assert {path: service.get(path).status for path in ("/metrics", "/internal/tls-allowed?domain=x", "/health")} == {
        "/metrics": 404,
        "/internal/tls-allowed?domain=x": 404,
        "/health": 200,
    }
    assert status("/metrics") == 200
    assert status("/internal/tls-allowed?domain=localhost") == 200
    assert status("/api/user") == 404
    assert service.stop() == 0
