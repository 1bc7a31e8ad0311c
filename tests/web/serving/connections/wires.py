"""A real server on a real socket, for tests of the bytes on connections."""

import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
import pytest
import trio
from quart import Response
from structlog.testing import capture_logs

from core.errors import Forbidden
from entrypoints.server import Server, listen
from entrypoints.setting_kinds import Bind
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.answering.answers import Media
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes
from tests.waiting import WAIT_SECONDS_MAX
from tests.web.probe import serving

GOOD = b"GET /good HTTP/1.1\r\nHost: x\r\n\r\n"
LARGE_BYTES = 30_000_000


class Note(msgspec.Struct):
    """A small body."""

    text: str = ""


routes = Routes("wires", "Routes of this test.")


@routes.get("/good")
@public
async def good(call: Call) -> Note:
    """Answer."""
    return Note(text="good")


@routes.get("/words/:word")
@public
async def word(call: Call, word: str) -> Note:
    """Return the word."""
    return Note(text=word)


@routes.post("/notes")
@public
async def write(call: Call, body: Note) -> Note:
    """Take a body."""
    return body


@routes.delete("/notes", status=204)
@public
async def delete(call: Call) -> None:
    """Answer without a body."""


@routes.get("/large")
@public
async def large(call: Call) -> Annotated[Response, Media("text/plain")]:
    """Answer with a large body."""
    return Response(b"x" * LARGE_BYTES, content_type="text/plain")


@routes.get("/streamed")
@public
async def streamed(call: Call) -> Annotated[Response, Media("text/plain")]:
    """Answer in pieces."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b"one "
        await trio.lowlevel.checkpoint()
        yield b"two"

    return Response(pieces(), content_type="text/plain")


@routes.get("/endless")
@public
async def endless(call: Call) -> Annotated[Response, Media("text/plain")]:
    """Answer without end."""

    async def pieces() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 2**20

    return Response(pieces(), content_type="text/plain")


@routes.get("/refused")
@public
async def refused(call: Call) -> Annotated[Response, Media("text/plain")]:
    """Refuse in the middle of an answer."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b"one "
        raise Forbidden

    return Response(pieces(), content_type="text/plain")


@routes.get("/slow/:seconds")
@public
async def paused(call: Call, seconds: str) -> Annotated[Response, Media("text/plain")]:
    """Answer in three pieces, with a pause before each but the first."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b"one "
        for piece in (b"two ", b"three"):
            await trio.sleep(int(seconds))
            yield piece

    return Response(pieces(), content_type="text/plain")


@dataclass(frozen=True)
class Answer:
    """An answer received on a connection."""

    status: int
    headers: dict[str, str]
    content: bytes


class Wire:
    """The client's side of a connection."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self._buffer = bytearray()

    async def send(self, data: bytes) -> None:
        """Send data, as far as the server reads it."""
        try:
            await self.stream.send_all(data)
        except trio.BrokenResourceError:
            # The server has closed the connection; what it sent before can still be read.
            return

    async def answer(self, *, is_to_head: bool = False) -> Answer:
        """Read one answer."""
        head = (await self._until(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:])
        content = b""
        if headers.get("transfer-encoding") == "chunked" and not is_to_head:
            while length := int(await self._until(b"\r\n"), 16):
                content += await self._bytes(length)
                await self._until(b"\r\n")
            await self._until(b"\r\n")
        elif not is_to_head:
            content = await self._bytes(int(headers.get("content-length", "0")))
        return Answer(status=int(head[0].split(" ")[1]), headers=headers, content=content)

    async def rest(self) -> bytes:
        """Return everything until the server closes the connection, or `reset` when it resets it."""
        try:
            while await self._more():
                pass
        except trio.BrokenResourceError:
            return b"reset"
        return bytes(self._buffer)

    async def _until(self, mark: bytes) -> bytes:
        while mark not in self._buffer:
            assert await self._more(), f"the connection was closed before {mark!r}"
        end = self._buffer.index(mark)
        found = bytes(self._buffer[:end])
        del self._buffer[: end + len(mark)]
        return found

    async def _bytes(self, count: int) -> bytes:
        while len(self._buffer) < count:
            assert await self._more(), "the connection was closed in the middle of a body"
        found = bytes(self._buffer[:count])
        del self._buffer[:count]
        return found

    async def _more(self) -> bool:
        with trio.fail_after(WAIT_SECONDS_MAX):
            data = await self.stream.receive_some()
        self._buffer += data
        return bool(data)


@dataclass(frozen=True)
class Running:
    """A running server."""

    port: int
    stopping: trio.Event
    application: Application
    wires: list[Wire] = field(default_factory=list[Wire])

    async def connect(self, *, from_address: str = "127.0.0.1") -> Wire:
        """Open a connection to it, which is closed at the end of the test."""
        wire = Wire(await trio.open_tcp_stream("127.0.0.1", self.port, local_address=from_address))
        self.wires.append(wire)
        return wire

    async def exchange(self, data: bytes) -> Answer:
        """Send data on a new connection and return one answer."""
        wire = await self.connect()
        async with wire.stream:
            await wire.send(data)
            return await wire.answer()


@asynccontextmanager
async def running(application: Application) -> AsyncGenerator[Running]:
    """Run a server on a free port."""
    stopping = trio.Event()
    with listen(Bind("127.0.0.1", 0)) as listener:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Server(application, listener, 5.0).serve, stopping)
            server = Running(listener.getsockname()[1], stopping, application)
            try:
                yield server
            finally:
                for wire in server.wires:
                    await trio.aclose_forcefully(wire.stream)
            nursery.cancel_scope.cancel()


@dataclass
class Slow:
    """A route that is answered when the test lets it, and what became of its requests."""

    routes: Routes
    begun: trio.Event = field(default_factory=trio.Event)
    may_end: trio.Event = field(default_factory=trio.Event)
    ended: trio.Event = field(default_factory=trio.Event)
    committed: int = 0
    cancelled: int = 0


@pytest.fixture
def slow() -> Slow:
    """A slow route."""
    slow = Slow(Routes("slow", "A route of this test."))

    @slow.routes.post("/slow")
    @public
    async def commit(call: Call, body: Note) -> Note:
        """Change something, when the test lets it."""
        slow.begun.set()
        try:
            await slow.may_end.wait()
            slow.committed += 1
        except trio.Cancelled:
            slow.cancelled += 1
            raise
        finally:
            slow.ended.set()
        return Note(text="committed")

    return slow


@pytest.fixture
async def server() -> AsyncIterator[Running]:
    """A running server with the routes of this module."""
    async with running(serving(routes)) as server:
        yield server


@pytest.fixture
def complaints(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[Any]]]:
    """A function that returns all log entries at warning and above, ours and the libraries'; there must be none."""
    with capture_logs() as logs:

        def complaints() -> list[MutableMapping[str, Any] | logging.LogRecord]:
            ours = [line for line in logs if line["log_level"] in {"warning", "error", "critical"}]
            return [*ours, *(record for record in caplog.get_records("call") if record.levelno >= logging.WARNING)]

        yield complaints
        assert complaints() == []


def assert_envelope(answer: Answer, status: int, code: str) -> None:
    assert (answer.status, json.loads(answer.content)["error_code"]) == (status, code)
    assert json.loads(answer.content)["request_id"] == answer.headers["x-request-id"]
    assert answer.headers["x-content-type-options"] == "nosniff"


def request(first_line: bytes, *headers: bytes, body: bytes = b"") -> bytes:
    return b"\r\n".join([first_line, b"Host: x", *headers, b"", body])
