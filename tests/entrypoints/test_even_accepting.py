"""Of connections that stay open, each of two workers has its part, also after one of them was replaced."""

from __future__ import annotations

import os
import select
import signal
import socket
from collections.abc import Generator
from contextlib import ExitStack, contextmanager

import psutil
import pytest

from tests.entrypoints.test_workers import ready_workers
from tests.processes import Service, Services
from tests.waiting import WAIT_SECONDS_MAX, wait_until

# It starts servers, which takes seconds; CI runs it.
pytestmark = pytest.mark.long

CONNECTIONS = 40
OF_ONE_MAX = 28
REQUEST = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"


class KeptAlive:
    """A client that keeps its connection, and connects again when it is asked to, or when it is closed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._connection = self._connected()
        self.broken = 0

    def _connected(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self._port), timeout=WAIT_SECONDS_MAX)

    def ask(self) -> None:
        """Send a request, and read its answer."""
        if select.select([self._connection], [], [], 0)[0]:
            # Its worker has ended.
            self._connection.close()
            self._connection = self._connected()
        self._connection.sendall(REQUEST)
        answer = b""
        while b"healthy" not in answer:
            received = self._connection.recv(65536)
            if not received:
                self.broken += 1
                return
            answer += received
        if b"\r\nconnection: close\r\n" in answer.lower():
            self._connection.close()
            self._connection = self._connected()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


@contextmanager
def kept_alive(port: int) -> Generator[list[KeptAlive]]:
    """Forty clients that keep their connections."""
    with ExitStack() as stack:
        clients: list[KeptAlive] = []
        for _ in range(CONNECTIONS):
            clients.append(KeptAlive(port))
            stack.callback(clients[-1].close)
        yield clients


def shares(service: Service) -> list[int]:
    """Return how many connections of clients each worker has."""
    found: list[int] = []
    for worker in service.workers():
        connections = psutil.Process(worker.pid).net_connections()
        found.append(len([one for one in connections if one.raddr and one.laddr.port == service.port]))
    return sorted(found)


def is_even(service: Service) -> bool:
    """Return whether all connections are accepted, and none of two workers has more than its part."""
    found = shares(service)
    return sum(found) == CONNECTIONS and len(found) == 2 and found[-1] <= OF_ONE_MAX


def kill(worker: int) -> None:
    """Kill a worker, and wait for its end."""
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: not psutil.pid_exists(worker))


def test_of_forty_kept_connections_no_worker_has_more_than_28_also_after_one_was_replaced(services: Services) -> None:
    service = services.ready("--workers", "2")
    killed, _ = ready_workers(service)
    with kept_alive(service.port) as clients:
        # Without a request, none is asked to leave: this is how they were accepted.
        wait_until(lambda: sum(shares(service)) == CONNECTIONS)
        assert is_even(service), shares(service)
        for client in clients:
            client.ask()

        kill(killed)
        # While there is one worker alone, it has all of them.
        for client in clients:
            client.ask()
        service.wait_for("worker.ready", times=2)
        for _ in range(3):
            for client in clients:
                client.ask()

        wait_until(lambda: sum(shares(service)) == CONNECTIONS)
        assert is_even(service), shares(service)
        assert [client.broken for client in clients] == [0] * CONNECTIONS


def test_what_is_queued_at_a_worker_that_hangs_or_dies_is_answered_by_the_other(services: Services) -> None:
    service = services.ready("--workers", "2")
    hung, _ = ready_workers(service)
    os.kill(hung, signal.SIGSTOP)

    # It has none, so each of them is left to it first.
    with kept_alive(service.port) as clients:
        for client in clients:
            client.ask()
        kill(hung)
        for client in clients:
            client.ask()

    assert [client.broken for client in clients] == [0] * CONNECTIONS
