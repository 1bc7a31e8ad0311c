"""A failover to a standby, both servers real: requests are refused while none takes writes, and served afterwards."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.postgres import data_folder
from tests.processes import Service, Services, given_database
from tests.shown_text import shows
from tests.standby import Node
from tests.stopwatch import Stopwatch
from tests.waiting import wait_until

# Each starts processes, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

READINESS = "/health/ready"
# After the promotion; a connection is tried ten times a second, and readiness is asked more often.
RECOVERY_SECONDS_MAX = 5.0


@pytest.fixture
def nodes() -> Iterator[tuple[Node, Node]]:
    """A primary and its standby."""
    # A server that still wrote would keep its folder from being deleted.
    with (
        data_folder() as first,
        data_folder() as second,
        closing(Node(first)) as primary,
        closing(primary.copy_to(second)) as standby,
    ):
        yield primary, standby


def both(one: Node, other: Node) -> str:
    """Return the address that names both."""
    parameters = [conninfo_to_dict(node.url) for node in (one, other)]
    hosts, ports = (",".join(str(part[name]) for part in parameters) for name in ("host", "port"))
    return make_conninfo(one.url, host=hosts, port=ports)


def register(service: Service, address: str) -> int:
    """Register an account, which writes; return the status."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    body = json.dumps({"email": address, "password": "correct horse battery"})
    connection.request("POST", "/api/auth/register", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    if response.status == 503:
        assert int(response.headers["Retry-After"]) >= 1
    response.read()
    connection.close()
    return response.status


def is_known(node: Node, address: str) -> bool:
    """Return whether a server has an account of that address."""
    with psycopg.connect(node.url) as connection:
        return connection.execute("SELECT 1 FROM users WHERE email = %s", (address,)).fetchone() is not None


@pytest.mark.parametrize("is_primary_first", [True, False])
def test_a_server_that_knows_both_uses_the_standby_once_it_is_promoted(
    nodes: tuple[Node, Node], tmp_path: Path, is_primary_first: bool, stopwatch: Stopwatch
) -> None:
    primary, standby = nodes
    url = both(primary, standby) if is_primary_first else both(standby, primary)
    services = Services(tmp_path, given_database(url) | {"GATEHOUSE_DEV": "on"})
    try:
        service = services.ready()
        assert register(service, "before@example.com") == 200
        wait_until(lambda: is_known(standby, "before@example.com"))

        primary.stop_at_once()
        wait_until(lambda: service.get(READINESS).status == 503)
        unready = service.get(READINESS)
        between = register(service, "between@example.com")
        standby.promote()
        with stopwatch.within(RECOVERY_SECONDS_MAX):
            wait_until(lambda: service.get(READINESS).status == 200)

        assert (unready.status, between) == (503, 503)
        assert unready.json["problem"].startswith("The database cannot be reached, or takes no writes.")
        assert register(service, "after@example.com") == 200
        assert is_known(standby, "after@example.com")
        assert register(service, "before@example.com") == 409
        assert any("session is read-only" in line["reason"] for line in service.logged("database.connect_failed"))
        assert service.stop() == 0
        assert not shows(service.log, "Traceback")
    finally:
        services.close()


def test_a_server_does_not_start_on_a_standby_alone(nodes: tuple[Node, Node], tmp_path: Path) -> None:
    _, standby = nodes
    services = Services(tmp_path, given_database(standby.url))
    try:
        service = services.start()
        service.wait_for("database.preparing")
        [line] = service.logged("database.preparing")
    finally:
        services.close()

    assert "the server is read-only, for instance a standby. Promote it" in line["text"]
