"""A server is restarted while another process keeps its socket, and reloaded: no client is refused.

`GATEHOUSE_TEST_RESTARTS=100` and `GATEHOUSE_TEST_RELOADS=100` are the drills of a hundred each.
"""

from __future__ import annotations

import re
import signal
import socket
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import psutil
import pytest

from adapters.postgres.driver.connection import Connection
from tests.clients import answers, load, losses
from tests.drills import Durations, size_of
from tests.entrypoints import handing
from tests.entrypoints.confirmed_writes import registering
from tests.processes import Service, Services, address
from tests.shown_text import shows
from tests.waiting import wait_until

# Each starts servers, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

RESTARTS: Final = size_of("RESTARTS", 2)
RELOADS: Final = size_of("RELOADS", 2)
# Reloads of a process that gets the signal again and again meanwhile.
FLOODED_RELOADS: Final = 2
PATHS: Final = ["/health", "/.well-known/jwks.json"]
WARM_ANSWERS: Final = 50


@contextmanager
def listening(number: int) -> Generator[list[socket.socket]]:
    """Listening sockets, as a systemd unit has them."""
    with ExitStack() as stack:
        yield [stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=4096)) for _ in range(number)]


def handed(services: Services, sockets: list[socket.socket], names: str = "") -> Services:
    """Return what starts servers to which the sockets are handed over."""
    descriptors = tuple(one.fileno() for one in sockets)
    given = ",".join(map(str, descriptors))
    return replace(
        services,
        wrapper=(sys.executable, str(Path(handing.__file__)), given, names),
        inherited=descriptors,
        has_own_session=True,
    )


@contextmanager
def eight_clients(port: int, connection: Connection) -> Generator[None]:
    """Ask and write at a port by eight clients; nothing may be refused, broken, or written otherwise than once."""
    with load(port, PATHS, loyal=2, fickle=2) as clients, registering([port], name="a", clients=4) as writers:
        yield
        for one in (lambda: len(answers(clients)), lambda: sum(len(writer.confirmed) for writer in writers)):
            count = one() + WARM_ANSWERS // 10
            wait_until(lambda one=one, count=count: one() > count)

    assert losses(clients) == []
    assert not any(client.is_turned_away for client in clients)
    assert {answer.status for answer in answers(clients)} == {200}
    assert [writer.failures for writer in writers] == [[], [], [], []]
    assert {status for writer in writers for status in writer.statuses} == {200}
    assert sum(writer.refused for writer in writers) == 0
    confirmed = sorted(address for writer in writers for _, address in writer.confirmed)
    assert sorted(row[0] for row in connection.execute("SELECT email FROM users").fetchall()) == confirmed
    assert sorted(row[0] for row in connection.execute("SELECT recipient FROM mails").fetchall()) == confirmed


# A client that the machine keeps from sending for longer than a server waits at its end loses its request.
@pytest.mark.timing
@pytest.mark.parametrize("workers", [1, 2])
def test_a_restart_refuses_breaks_and_doubles_nothing(services: Services, connection: Connection, workers: int) -> None:
    with listening(1) as sockets:
        starting = handed(services, sockets)
        service = starting.ready("--workers", str(workers))
        assert service.port == sockets[0].getsockname()[1]
        restarts = Durations()
        with eight_clients(service.port, connection):
            for _ in range(RESTARTS):
                with restarts.measured():
                    assert service.stop() == 0
                    service = starting.ready("--workers", str(workers))
                    assert service.get("/health").status == 200
    # The aim is 1.2 s with two workers on an idle machine; `pytest -s` shows it.
    sys.stdout.write(f"\n{workers} workers, from the stop to the first answer: {restarts}\n")


# A client that the machine keeps from sending for longer than a server waits at its end loses its request.
@pytest.mark.timing
@pytest.mark.parametrize("workers", [1, 2])
def test_a_reload_refuses_breaks_and_doubles_nothing_and_takes_other_settings(
    services: Services, connection: Connection, workers: int
) -> None:
    file = services.folder / "settings.env"
    file.write_text("GATEHOUSE_NAME='Platform 0'\n")
    starting = replace(services, has_own_session=True)
    service = starting.ready("--workers", str(workers), SETTINGS_FILE=str(file))
    before = family(service)
    with eight_clients(service.port, connection):
        for number in range(1, RELOADS + 1):
            file.write_text(f"# Changed again.\nGATEHOUSE_NAME='Platform {number}'\n")
            service.process.send_signal(signal.SIGHUP)
            event, times = ("server.ready", number + 1) if workers == 1 else ("server.reloaded", number)
            service.wait_for(event, times=times)
            assert {shown_name(service) for _ in range(4)} == {f"Platform {number}"}

    assert [line for line in service.events if line["event"] in {"worker.died", "worker.killed"}] == []
    assert b'sso_workers_replaced_total{reason="died"} 0.0' in service.get("/metrics").content or workers == 1
    # A process alone stays the one that a supervisor watches, and a parent is not replaced.
    assert service.is_running()
    assert workers == 1 or before & family(service) == set()
    assert service.stop() == 0


def family(service: Service) -> set[int]:
    """Return the ids of the workers."""
    return {worker.pid for worker in service.workers()}


def shown_name(service: Service) -> str:
    """Return the name of the platform that a page shows."""
    page = service.get("/app/sign-in").content.decode()
    found = re.search(r"Platform \d+", page)
    assert found is not None, page
    return found[0]


@pytest.mark.parametrize("workers", [1, 2])
def test_wrong_settings_are_refused_and_the_server_goes_on(services: Services, workers: int) -> None:
    file = services.folder / "settings.env"
    file.write_text("GATEHOUSE_NAME=Before\n")
    service = replace(services, has_own_session=True).ready("--workers", str(workers), SETTINGS_FILE=str(file))
    if workers > 1:
        service.wait_for("worker.ready")
    before = family(service)

    file.write_text("GATEHOUSE_COLOR=loud\n")
    service.process.send_signal(signal.SIGHUP)
    service.wait_for("reload.refused")

    assert service.logged("reload.refused")[0]["reason"].startswith("GATEHOUSE_COLOR takes ")
    assert service.get("/health/ready").status == 200
    assert shows(service.get("/app/sign-in").content.decode(), "Before")
    assert family(service) == before


def test_signals_to_reload_at_any_moment_of_a_reload_end_no_process_alone(services: Services) -> None:
    service = replace(services, has_own_session=True).ready()

    def is_reloaded() -> bool:
        service.process.send_signal(signal.SIGHUP)
        return len(service.logged("server.ready")) > FLOODED_RELOADS

    wait_until(is_reloaded)

    assert service.stop() == 0


def test_workers_that_do_not_become_ready_replace_none(services: Services) -> None:
    file = services.folder / "settings.env"
    file.write_text("")
    service = replace(services, has_own_session=True).ready("--workers", "2", SETTINGS_FILE=str(file))
    service.wait_for("worker.ready")
    before = family(service)

    # Right as a setting, and there is no server.
    file.write_text("GATEHOUSE_DATABASE_URL=postgresql://nobody@127.0.0.1:1/nothing\nGATEHOUSE_BIND=127.0.0.1:1\n")
    service.process.send_signal(signal.SIGHUP)
    service.wait_for("server.reload_failed")

    assert family(service) == before
    assert service.get("/health/ready").status == 200
    assert [line["setting"] for line in service.logged("reload.not_applied")] == ["GATEHOUSE_BIND"]
    # The workers that are there have the settings of the start, and so has one that replaces them.
    psutil.Process(min(before)).kill()
    service.wait_for("worker.ready", times=2)
    assert len(service.logged("worker.died")) == 1


def test_a_reload_does_not_serve_on_two_databases(services: Services, empty_database_url: str) -> None:
    file = services.folder / "settings.env"
    file.write_text("")
    service = replace(services, has_own_session=True).ready("--workers", "2", SETTINGS_FILE=str(file))
    service.wait_for("worker.ready")
    before = family(service)

    file.write_text(f"GATEHOUSE_DATABASE_URL={address(empty_database_url)}\n")
    service.process.send_signal(signal.SIGHUP)
    service.wait_for("server.reload_failed")

    assert shows(service.log, "GATEHOUSE_DATABASE_URL leads to another database than before")
    assert family(service) == before


def test_the_socket_for_metrics_is_handed_over_by_its_name(services: Services) -> None:
    with listening(2) as (internal, public):
        starting = handed(services, [internal, public], "metrics,gatehouse.socket")
        service = starting.ready(METRICS_BIND="127.0.0.1:0")

        [line] = service.logged("server.ready")
        places = [f"127.0.0.1:{one.getsockname()[1]}" for one in (public, internal)]
        assert [line["bind"], line["metrics_bind"]] == places
        assert (service.get("/health").status, service.get("/metrics").status) == (200, 404)

        assert service.stop() == 0
        refused = starting.start()
        assert refused.wait() == 1
        assert shows(refused.log, "GATEHOUSE_METRICS_BIND is not set")
