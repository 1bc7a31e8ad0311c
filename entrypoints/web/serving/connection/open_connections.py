"""The open connections of a process: how many there may be, and which of them gives way to a new one.

What gives way is the connection on which no request has begun for the longest time. A client that has its share of
connections makes room for each new one itself, so that no client shuts out the others. Trusted proxies have no share:
all their clients use the same address.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import trio

from entrypoints.web.serving.connection.connections import ClientConnection

# A browser opens six, and a building behind one address some hundreds; a process answers far fewer at a time.
CONNECTIONS_OF_A_CLIENT_MAX: Final = 256
# A client sends its request right after the handshake, and the next one of several right after the response. Before
# this time, a request may be on its way that would get no response.
IDLE_SECONDS_MIN: Final = 1.0


@dataclass(slots=True)
class _Share:
    """The connections of one client; the idle ones by the time at which they became idle, in that order."""

    open: int = 0
    idle: dict[ClientConnection, float] = field(default_factory=dict["ClientConnection", float])


class OpenConnections:
    """Counts connections, and knows which ones are idle."""

    def __init__(self, *, total_max: int, of_a_client_max: int) -> None:
        self._total_max = total_max
        self._of_a_client_max = min(of_a_client_max, max(1, total_max // 4))
        self._clients: dict[ClientConnection, str | None] = {}
        self._shares: dict[str, _Share] = {}
        # By the time at which they became idle, in that order.
        self._idle: dict[ClientConnection, float] = {}

    @property
    def is_full(self) -> bool:
        """Whether another connection needs room first."""
        return len(self._clients) >= self._total_max

    def add(self, connection: ClientConnection, client: str | None) -> bool:
        """Count a connection of a client; None is a client without a share of its own.

        Return False, and do not count it, when the client has its share and none of its connections gives way.
        """
        if client is not None:
            share = self._shares.get(client, _Share())
            if share.open >= self._of_a_client_max and not self._make_room(share.idle):
                return False
            share.open += 1
            self._shares[client] = share
        self._clients[connection] = client
        return True

    def remove(self, connection: ClientConnection) -> None:
        """Forget a connection that is closed."""
        if connection not in self._clients:
            return
        self.note_busy(connection)
        client = self._clients.pop(connection)
        if client is not None:
            share = self._shares[client]
            share.open -= 1
            if not share.open:
                del self._shares[client]

    def note_idle(self, connection: ClientConnection) -> None:
        """Note that a connection has no unanswered request."""
        for idle in self._idle_with(connection):
            idle.pop(connection, None)
            idle[connection] = trio.current_time()

    def note_busy(self, connection: ClientConnection) -> None:
        """Note that a request has begun on a connection."""
        for idle in self._idle_with(connection):
            idle.pop(connection, None)

    def make_room(self) -> bool:
        """Close the connection that has been idle for the longest time; return False when none has been for long."""
        return self._make_room(self._idle)

    def _make_room(self, idle: dict[ClientConnection, float]) -> bool:
        while idle:
            longest_idle, idle_since = next(iter(idle.items()))
            if trio.current_time() - idle_since < IDLE_SECONDS_MIN:
                return False
            if longest_idle.give_way():
                self.remove(longest_idle)
                return True
            # A request has begun on it; it comes back when that is answered.
            self.note_busy(longest_idle)
        return False

    def _idle_with(self, connection: ClientConnection) -> Iterator[dict[ClientConnection, float]]:
        if connection in self._clients:
            yield self._idle
            client = self._clients[connection]
            if client is not None:
                yield self._shares[client].idle
