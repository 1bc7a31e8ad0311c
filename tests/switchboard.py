"""The network among programs on this machine that stand for several: forwarders, by which one of them is cut off.

What a cut holds is neither delivered nor refused: a connection stays open and silent, as when a cable is pulled, and
what was sent arrives late once it is mended.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

CHUNK_BYTES: Final = 65536
BACKLOG: Final = 200
CONNECT_SECONDS_MAX: Final = 60.0

Address = tuple[str, int]


@dataclass(frozen=True)
class Cut:
    """What is held: every connection of a machine, and those to the others that begin with some bytes."""

    machine: str
    beginning: bytes


@dataclass(eq=False)
class _Relay:
    """One connection through a forwarder."""

    machine: str
    client: socket.socket
    # What the client sent first.
    beginning: bytes = b""
    flows: threading.Event = field(default_factory=threading.Event)

    def is_held_by(self, cut: Cut | None) -> bool:
        """Return whether a cut holds it."""
        return cut is not None and (self.machine == cut.machine or self.beginning.startswith(cut.beginning))

    def run(self, to: Address) -> None:
        """Connect, and pass everything on in both directions until both have ended."""
        # A server that refuses ends the connection of the client.
        with suppress(OSError), socket.create_connection(to, timeout=CONNECT_SECONDS_MAX) as server:
            server.settimeout(None)
            server.sendall(self.beginning)
            back = threading.Thread(target=self._pump, args=(server, self.client), daemon=True)
            back.start()
            self._pump(self.client, server)
            back.join()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        # A side that breaks ends the connection of the other.
        with suppress(OSError):
            while data := source.recv(CHUNK_BYTES):
                self.flows.wait()
                sink.sendall(data)
        self.flows.wait()
        with suppress(OSError):
            sink.shutdown(socket.SHUT_WR)
        with suppress(OSError):
            source.shutdown(socket.SHUT_RD)


@dataclass(eq=False)
class Switchboard:
    """Every connection among the machines; at most one of them is cut off."""

    _listeners: list[socket.socket] = field(default_factory=list[socket.socket])
    _relays: set[_Relay] = field(default_factory=set[_Relay])
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _cut: Cut | None = None

    def forward(self, machine: str, listen: Address, to: Address) -> None:
        """Lead one address to another, which is a server of this machine."""
        listener = socket.create_server(listen, backlog=BACKLOG)
        self._listeners.append(listener)
        threading.Thread(target=self._accept, args=(machine, listener, to), daemon=True).start()

    def cut_off(self, cut: Cut) -> None:
        """Hold these connections, also what is begun later."""
        self._apply(cut)

    def mend(self) -> None:
        """Deliver everything again, what was held first."""
        self._apply(None)

    def _apply(self, cut: Cut | None) -> None:
        with self._lock:
            self._cut = cut
            for relay in self._relays:
                self._decide(relay)

    def _decide(self, relay: _Relay) -> None:
        if relay.is_held_by(self._cut):
            relay.flows.clear()
        else:
            relay.flows.set()

    def close(self) -> None:
        """Accept nothing any more, and end what is open."""
        for listener in self._listeners:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        self.mend()
        with self._lock:
            open_relays = list(self._relays)
        for relay in open_relays:
            with suppress(OSError):
                relay.client.shutdown(socket.SHUT_RDWR)

    def _accept(self, machine: str, listener: socket.socket, to: Address) -> None:
        # It ends when the listener is closed.
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=self._run, args=(_Relay(machine, client), to), daemon=True).start()

    def _run(self, relay: _Relay, to: Address) -> None:
        # In all protocols here the client begins.
        with suppress(OSError):
            relay.beginning = relay.client.recv(CHUNK_BYTES)
        with self._lock:
            self._relays.add(relay)
            self._decide(relay)
        with relay.client:
            relay.flows.wait()
            relay.run(to)
        with self._lock:
            self._relays.discard(relay)
