"""Clients that ask a server again and again, each on its own thread, and write down what became of every request.

They are as careful as HTTP asks them to be, and no more: one that was told that the connection closes opens another,
and so does one whose connection was closed before it said anything. Whatever else happens to a request is a loss.
"""

from __future__ import annotations

import random
import select
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

PATIENCE_SECONDS = 15.0
# Some pause between two requests, which is when a server may close what it believes to be idle.
PAUSE_SECONDS_MAX = 0.05


class _Lost(Exception):
    """A request that was sent had no complete answer; the message says how far it came."""


@dataclass(frozen=True)
class Asked:
    """An answer, and when it came; times are of the monotonic clock."""

    status: int
    headers: dict[str, str]
    body: bytes
    began_at: float
    ended_at: float


@dataclass
class Client(threading.Thread):
    """Asks for a path until it is told to end, or the door is closed to it; with `is_loyal`, on one connection."""

    port: int
    path: str
    is_loyal: bool
    answers: list[Asked] = field(default_factory=list[Asked])
    lost: list[str] = field(default_factory=list[str])
    is_turned_away: bool = False
    is_ending: bool = False

    def __post_init__(self) -> None:
        super().__init__(daemon=True)

    __hash__ = threading.Thread.__hash__

    def run(self) -> None:
        """Ask."""
        connection: socket.socket | None = None
        while not self.is_ending:
            try:
                connection = connection or socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_SECONDS)
            except (ConnectionRefusedError, ConnectionResetError):
                # The door was closed, or just closing; nothing had been said.
                self.is_turned_away = True
                return
            time.sleep(random.uniform(0, PAUSE_SECONDS_MAX))
            if not self._ask(connection):
                connection.close()
                connection = None
        if connection is not None:
            connection.close()

    def _ask(self, connection: socket.socket) -> bool:
        """Send one request; say whether the connection may be used again."""
        if select.select([connection], [], [], 0)[0]:
            # Nothing was asked, so this is the end, and the client may see it.
            return False
        began_at = time.monotonic()
        wish = "keep-alive" if self.is_loyal else "close"
        try:
            connection.sendall(f"GET {self.path} HTTP/1.1\r\nHost: x\r\nConnection: {wish}\r\n\r\n".encode())
            status, headers, body = _answer(connection)
        except (OSError, _Lost) as loss:
            self.lost.append(repr(loss))
            return False
        self.answers.append(Asked(status, headers, body, began_at, time.monotonic()))
        return headers.get("connection") != "close"


@contextmanager
def load(port: int, paths: Sequence[str], *, loyal: int, fickle: int) -> Generator[list[Client]]:
    """Keep so many clients asking on one connection each, and so many on a new one each time, while the block lasts."""
    clients = [Client(port, paths[number % len(paths)], is_loyal=number < loyal) for number in range(loyal + fickle)]
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
    """Give all answers, oldest first."""
    return sorted((answer for client in clients for answer in client.answers), key=lambda answer: answer.ended_at)


def losses(clients: Sequence[Client]) -> list[str]:
    """Give all that was lost."""
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
        raise _Lost(f"the connection ended where {expected} should have come")
    return data
