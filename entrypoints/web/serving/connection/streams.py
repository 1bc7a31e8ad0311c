"""One request on a connection: the ASGI callables through which the application receives it and sends its response.

Hypercorn's own stream passes each part of a body through a channel, and the application needs a second task to learn
that the client has disconnected. Here the application takes the parts when it wants them, and its task is cancelled.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Protocol
from urllib.parse import unquote

import trio
from hypercorn.protocol.events import Body, EndBody, Event, StreamClosed
from hypercorn.protocol.h11 import STREAM_ID
from hypercorn.typing import ASGIReceiveEvent, ASGISendEvent
from hypercorn.utils import suppress_body

from entrypoints.web.serving.admission.unfinished_bodies import (
    UNCOUNTED_OF_LARGE_BYTES_MAX,
    NoRoomForBody,
    UnfinishedBody,
)
from entrypoints.web.serving.application import Application

# More of a body is not read before the application has taken what has arrived. With the piece of 16 KiB that passes it,
# that is what `unfinished_bodies.py` does not count of a large body, which needs no room of strangers to be verified.
UNTAKEN_BYTES_MAX: Final = UNCOUNTED_OF_LARGE_BYTES_MAX // 2
_ASGI: Final = {"spec_version": "2.1", "version": "3.0"}


class Wire(Protocol):
    """The protocol on the connection, as a stream uses it."""

    client: tuple[str, int] | None
    server: tuple[str, int] | None

    async def respond(self, start: Any, body: bytes, *, is_last: bool) -> None:
        """Send a part of the application's response, with the message that starts it for the first one."""
        ...

    async def stream_send(self, event: Event) -> None:
        """Pass an event on, such as that the stream has ended."""
        ...


class Stream:
    """A request that is being answered."""

    def __init__(
        self,
        application: Application,
        wire: Wire,
        *,
        method: bytes,
        target: bytes,
        headers: Iterable[tuple[bytes, bytes]],
        http_version: str,
    ) -> None:
        self._application = application
        self._wire = wire
        path, _, query_string = target.partition(b"?")
        self._scope: Any = {
            "type": "http",
            "http_version": http_version,
            "asgi": _ASGI,
            "method": method.decode().upper(),
            "scheme": "http",
            "path": unquote(path.decode("ascii")),
            "raw_path": path,
            "query_string": query_string,
            "root_path": "",
            "headers": headers,
            "client": wire.client,
            "server": wire.server,
            "extensions": {},
        }
        # The parts of the body that have arrived; None while there are none, or all of it came at once.
        self._unfinished: UnfinishedBody | None = None
        self._has_no_room = False
        self._untaken = bytearray()
        self._is_whole = False
        # Set when a part of the body arrives, or its end; and when one is taken, or the stream ends.
        self._has_arrived = trio.Event()
        self._has_room = trio.Event()
        self._answering = trio.CancelScope()
        self._is_closed = False
        self._start: Any = None
        self._has_body = False

    @property
    def is_head(self) -> bool:
        """Whether the request takes a response without its body."""
        return self._scope["method"] == "HEAD"

    async def handle(self, event: Event) -> None:
        """Take a part of the body, its end, or the end of the stream, which cancels the application."""
        match event:
            case Body(data=data):
                if self._untaken:
                    # A body in many small chunks must not keep the other clients waiting.
                    await trio.lowlevel.checkpoint()
                await self.append(data)
            case EndBody():
                self.end()
            case _:
                assert isinstance(event, StreamClosed), "the protocol passes no other events on"
                if not self._is_closed:
                    self._close()
                    self._answering.cancel()

    async def append(self, part: bytes) -> None:
        """Take a part of the body; wait while the application has not taken enough of what came before."""
        if self._has_no_room or self._is_closed:
            return
        if not self._is_whole and not self._has_room_for(len(part)):
            # The rest is not kept, and the connection ends with the response.
            self._has_no_room = True
            self._untaken.clear()
            self._has_arrived.set()
            return
        self._untaken += part
        self._has_arrived.set()
        while len(self._untaken) > UNTAKEN_BYTES_MAX and not self._is_closed:
            self._has_room = trio.Event()
            await self._has_room.wait()

    def end(self) -> None:
        """Note that the body is whole."""
        self._is_whole = True
        if self._unfinished is not None:
            self._unfinished.complete()
        self._has_arrived.set()

    async def answer(self) -> None:
        """Let the application answer the request."""
        try:
            with self._answering:
                await self._application(self._scope, self._receive, self._send)
        finally:
            if self._unfinished is not None:
                self._unfinished.end()
        if not self._is_closed:
            # It has sent less than a response.
            await self._wire.stream_send(StreamClosed(stream_id=STREAM_ID))

    def _has_room_for(self, number: int) -> bool:
        """Count bytes of a body that is not complete; return whether there is room for them."""
        if self._unfinished is None:
            self._unfinished = self._application.unfinished_bodies.of(self._scope)
        return self._unfinished.grow(number)

    async def _receive(self) -> ASGIReceiveEvent:
        """Return what has arrived of the body since the last call; raise `NoRoomForBody` where it is not kept."""
        while not self._untaken and not self._is_whole and not self._has_no_room:
            self._has_arrived = trio.Event()
            await self._has_arrived.wait()
        if self._has_no_room:
            raise NoRoomForBody
        body = bytes(self._untaken)
        self._untaken.clear()
        self._has_room.set()
        return {"type": "http.request", "body": body, "more_body": not self._is_whole}

    async def _send(self, message: ASGISendEvent) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            self._has_body = not suppress_body(self._scope["method"], message["status"])
            return
        assert message["type"] == "http.response.body", "the application sends no other messages"
        # The start is sent together with what follows, so that a short response leaves in one piece.
        start, self._start = self._start, None
        if not message["more_body"]:
            self._close()
        body = bytes(message["body"]) if self._has_body else b""
        await self._wire.respond(start, body, is_last=self._is_closed)
        if not self._is_closed:
            # A client that reads quickly must not keep the others waiting.
            await trio.lowlevel.checkpoint()

    def _close(self) -> None:
        self._is_closed = True
        # The connection may stay for a while, and nothing reads the rest.
        self._untaken.clear()
        self._has_room.set()
