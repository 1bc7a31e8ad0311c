"""Clients that send requests to a server in a loop, each on its own thread, and record the result of every request.

They follow HTTP and do no more: a client opens a new connection after `Connection: close`, and when the server closed
the connection before the client sent anything. Any other request without a complete answer is a loss.
"""

from __future__ import annotations

import random
import select
import socket
import ssl
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

TIMEOUT_SECONDS = 60.0
# Between two requests, because a server may close an idle connection.
PAUSE_SECONDS_MAX = 0.05


class _Lost(Exception):
    """A request had no complete answer; the message states what is missing."""


@dataclass(frozen=True)
class Asked:
    """An answer, and when its request began and ended on the monotonic clock."""

    status: int
    headers: dict[str, str]
    body: bytes
    began_at: float
    ended_at: float


@dataclass
class Client(threading.Thread):
    """Requests a path until `is_ending` is set or a connection is refused; with `is_loyal`, on one connection."""

    port: int
    path: str
    is_loyal: bool
    # With both, the connections are of TLS, for that name.
    host: str = "x"
    tls: ssl.SSLContext | None = None
    answers: list[Asked] = field(default_factory=list[Asked])
    lost: list[str] = field(default_factory=list[str])
    is_turned_away: bool = False
    is_ending: bool = False

    def __post_init__(self) -> None:
        super().__init__(daemon=True)

    __hash__ = threading.Thread.__hash__

    def run(self) -> None:
        """Send requests."""
        connection: socket.socket | None = None
        while not self.is_ending:
            try:
                connection = connection or self._connect()
            except (ConnectionRefusedError, ConnectionResetError):
                # The server no longer listens; no request was sent.
                self.is_turned_away = True
                return
            time.sleep(random.uniform(0, PAUSE_SECONDS_MAX))
            if not self._request(connection):
                connection.close()
                connection = None
        if connection is not None:
            connection.close()

    def _connect(self) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_SECONDS)
        return connection if self.tls is None else self.tls.wrap_socket(connection, server_hostname=self.host)

    def _request(self, connection: socket.socket) -> bool:
        """Send one request; return whether the connection may be used again."""
        if select.select([connection], [], [], 0)[0]:
            # No request is open, so the server has closed the connection, which is no loss.
            return False
        began_at = time.monotonic()
        connection_option = "keep-alive" if self.is_loyal else "close"
        try:
            connection.sendall(
                f"GET {self.path} HTTP/1.1\r\nHost: {self.host}\r\nConnection: {connection_option}\r\n\r\n".encode()
            )
            status, headers, body = _answer(connection)
        except (OSError, _Lost) as loss:
            self.lost.append(repr(loss))
            return False
        self.answers.append(Asked(status, headers, body, began_at, time.monotonic()))
        return headers.get("connection") != "close"


@contextmanager
def load(
    port: int,
    paths: Sequence[str],
    *,
    loyal: int,
    fickle: int,
    host: str = "x",
    tls: ssl.SSLContext | None = None,
) -> Generator[list[Client]]:
    """Run clients during the block: `loyal` ones on one connection each, `fickle` ones with a new one per request."""
    clients = [
        Client(port, paths[number % len(paths)], is_loyal=number < loyal, host=host, tls=tls)
        for number in range(loyal + fickle)
    ]
    for client in clients:
        client.start()
    try:
        yield clients
    finally:
        for client in clients:
            client.is_ending = True
        for client in clients:
            client.join()


def answers(clients: Sequence[Client]) -> list[Asked]:
    """Return all answers, oldest first."""
    return sorted((answer for client in clients for answer in client.answers), key=lambda answer: answer.ended_at)


def losses(clients: Sequence[Client]) -> list[str]:
    """Return the losses of all clients."""
    return [loss for client in clients for loss in client.lost]


def _answer(connection: socket.socket) -> tuple[int, dict[str, str], bytes]:
    head, body = _until_the_blank_line(connection)
    status_line, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers["content-length"]):
        body += _some(connection, "the body")
    return int(status_line.split()[1]), headers, body


def _until_the_blank_line(connection: socket.socket) -> tuple[bytes, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        data += _some(connection, "the headers" if data else "anything")
    head, _, rest = data.partition(b"\r\n\r\n")
    return head, rest


def _some(connection: socket.socket, expected: str) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise _Lost(f"the connection ended before {expected} was received")
    return data
