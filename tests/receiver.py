"""A receiver of webhooks: a server on loopback that records requests, and answers as the test says."""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import trio

Answering = Callable[[trio.abc.Stream], Awaitable[None]]


CHUNK_BYTES = 65536
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine"


@dataclass(frozen=True)
class Received:
    """A request that arrived."""

    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def payload(self) -> dict[str, Any]:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass
class Receiver:
    """What has arrived, and how it is answered; `connections` counts those that were opened."""

    port: int = 0
    received: list[Received] = field(default_factory=list[Received])
    connections: int = 0
    answering: Answering | None = None

    @property
    def url(self) -> str:
        """The URL of the receiver."""
        return f"http://127.0.0.1:{self.port}/hook"

    def answers(self, answer: bytes) -> None:
        """Answer every request with these bytes from now on."""
        self.answering = partial(_send, answer)

    async def serve(self, stream: trio.abc.Stream) -> None:
        """Serve a connection until the client or the answer closes it."""
        self.connections += 1
        async with stream:
            try:
                while (received := await _request(stream)) is not None:
                    self.received.append(received)
                    await (self.answering or partial(_send, OK))(stream)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                """The client did not wait for the end of the answer."""


@asynccontextmanager
async def open_receiver(tls: ssl.SSLContext | None = None) -> AsyncGenerator[Receiver]:
    """Open a receiver on a free port; with TLS if a context is given."""
    receiver = Receiver()
    async with trio.open_nursery() as nursery:
        if tls is None:
            listeners = await nursery.start(partial(trio.serve_tcp, receiver.serve, 0, host="127.0.0.1"))
        else:
            listeners = await nursery.start(
                partial(trio.serve_ssl_over_tcp, receiver.serve, 0, tls, host="127.0.0.1", https_compatible=True)
            )
            listeners = [listener.transport_listener for listener in listeners]
        receiver.port = listeners[0].socket.getsockname()[1]
        yield receiver
        nursery.cancel_scope.cancel()


async def _send(answer: bytes, stream: trio.abc.Stream) -> None:
    await stream.send_all(answer)


async def _request(stream: trio.abc.Stream) -> Received | None:
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = await stream.receive_some(CHUNK_BYTES)
        if not chunk:
            return None
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    request_line, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += await stream.receive_some(CHUNK_BYTES)
    return Received(request_line.split()[1], headers, bytes(body))
