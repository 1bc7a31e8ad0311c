"""Bytes on real connections to the real server: whatever arrives is answered or hung up on, and others are served."""

import json
import logging
import math
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, MutableMapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from quart import Response
from structlog.testing import capture_logs
from trio.testing import MockClock

from entrypoints import server as servers
from entrypoints.server import ACCEPTED_IN_A_ROW_MAX, KEEP_ALIVE_SECONDS, Server, listen
from entrypoints.settings import Bind
from entrypoints.web.answers import Media
from entrypoints.web.application import BODY_SECONDS_MAX, Application
from entrypoints.web.calls import Call
from entrypoints.web.connections import LINGER_SECONDS_MAX, SEND_SECONDS_MAX
from entrypoints.web.credentials import public
from entrypoints.web.decoding import BODY_BYTES_MAX
from entrypoints.web.routes import Routes
from tests.web.probe import make_house, serving

GOOD = b"GET /good HTTP/1.1\r\nHost: x\r\n\r\n"
LARGE_BYTES = 30_000_000
ANSWER_SECONDS_MAX = 5.0


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
    """Give the word back."""
    return Note(text=word)


@routes.post("/notes")
@public
async def write(call: Call, body: Note) -> Note:
    """Take a body."""
    return body


@routes.delete("/notes", status=204)
@public
async def delete(call: Call) -> None:
    """Answer with nothing."""


@routes.get("/large")
@public
async def large(call: Call) -> Annotated[Response, Media("text/plain")]:
    """Answer with much."""
    return Response(b"x" * LARGE_BYTES, content_type="text/plain")


@routes.get("/streamed")
@public
async def streamed(call: Call) -> Annotated[Response, Media("text/plain")]:
    """Answer bit by bit."""

    async def bits() -> AsyncIterator[bytes]:
        yield b"one "
        await trio.lowlevel.checkpoint()
        yield b"two"

    return Response(bits(), content_type="text/plain")


@routes.get("/endless")
@public
async def endless(call: Call) -> Annotated[Response, Media("text/plain")]:
    """Answer without an end."""

    async def bits() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 2**20

    return Response(bits(), content_type="text/plain")


@dataclass(frozen=True)
class Answer:
    """What came back over a connection."""

    status: int
    headers: dict[str, str]
    content: bytes


class Wire:
    """A client's end of a connection."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self._buffer = bytearray()

    async def send(self, data: bytes) -> None:
        """Send it, as far as the other side takes it."""
        try:
            await self.stream.send_all(data)
        except trio.BrokenResourceError:
            # Hung up on; what it said before can still be read.
            return

    async def answer(self, *, is_to_head: bool = False) -> Answer:
        """Read one answer."""
        head = (await self._until(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:])
        content = b""
        if headers.get("transfer-encoding") == "chunked":
            while length := int(await self._until(b"\r\n"), 16):
                content += await self._bytes(length)
                await self._until(b"\r\n")
            await self._until(b"\r\n")
        elif not is_to_head:
            content = await self._bytes(int(headers.get("content-length", "0")))
        return Answer(status=int(head[0].split(" ")[1]), headers=headers, content=content)

    async def rest(self) -> bytes:
        """Read whatever comes until the other side hangs up."""
        try:
            while await self._more():
                pass
        except trio.BrokenResourceError:
            return b"reset"
        return bytes(self._buffer)

    async def _until(self, mark: bytes) -> bytes:
        while mark not in self._buffer:
            assert await self._more(), f"hung up before {mark!r}"
        end = self._buffer.index(mark)
        found = bytes(self._buffer[:end])
        del self._buffer[: end + len(mark)]
        return found

    async def _bytes(self, count: int) -> bytes:
        while len(self._buffer) < count:
            assert await self._more(), "hung up in the middle"
        found = bytes(self._buffer[:count])
        del self._buffer[:count]
        return found

    async def _more(self) -> bool:
        with trio.fail_after(ANSWER_SECONDS_MAX):
            data = await self.stream.receive_some()
        self._buffer += data
        return bool(data)


@dataclass(frozen=True)
class Running:
    """A server that runs."""

    port: int
    stopping: trio.Event
    application: Application

    async def connect(self) -> Wire:
        """Open a connection to it."""
        return Wire(await trio.open_tcp_stream("127.0.0.1", self.port))

    async def exchange(self, data: bytes) -> Answer:
        """Send this on a connection of its own and read one answer."""
        wire = await self.connect()
        async with wire.stream:
            await wire.send(data)
            return await wire.answer()


@asynccontextmanager
async def running(application: Application) -> AsyncGenerator[Running]:
    """Run a server on a port of its own."""
    stopping = trio.Event()
    with listen(Bind("127.0.0.1", 0)) as listener:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Server(application, listener, 5.0).serve, stopping)
            yield Running(listener.getsockname()[1], stopping, application)
            nursery.cancel_scope.cancel()


@pytest.fixture
async def server() -> AsyncIterator[Running]:
    """A running server of this test's routes."""
    async with running(serving(routes)) as server:
        yield server


@pytest.fixture
def complaints(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[Any]]]:
    """Everything that the log says at warning and above, ours and the libraries'."""
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


@pytest.mark.usefixtures("complaints")
@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(50) + b"\r\n\r\n",
        b"GET /good\r\n\r\n",
        b"GET\r\n\r\n",
        b"\r\n\r\nGET /good HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET  /good  HTTP/1.1\r\n\r\n",
        b"GET /go od HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /good HTTP/1.1 \r\nHost: x\r\n\r\n",
        b"GET /good HTTP/11\r\nHost: x\r\n\r\n",
        b"GET /good HTTP/0.9\r\nHost: x\r\n\r\n",
        b"GET /good HTTP/1.2\r\nHost: x\r\n\r\n",
        b"GET /good HTTP/3.0\r\nHost: x\r\n\r\n",
        b"GET /good http/1.1\r\nHost: x\r\n\r\n",
        b"G\xc3\x96T /good HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /h\xffe HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET good HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET ?x HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET * HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET ftp://x/good HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http:///good HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n",
        b"GET /good HTTP/1.1\r\n\r\n",
        b"GET /good HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET /good HTTP/1.1\r\nHost: a b\r\n\r\n",
        b"GET /good HTTP/1.1\r\nHost: a/b\r\n\r\n",
        b"GET /good HTTP/1.1\r\nHost: a@b\r\n\r\n",
        b"GET /good HTTP/1.1\r\nHost: \xff\r\n\r\n",
        b"GET /good HTTP/1.1\r\nHost: [::1\r\n\r\n",
        b"GET /good HTTP/1.1\r\nHost: x:port\r\n\r\n",
        request(b"GET /good HTTP/1.1", b"X Y: z"),
        request(b"GET /good HTTP/1.1", b"X-Y : z"),
        request(b"GET /good HTTP/1.1", b"X\xff: z"),
        request(b"GET /good HTTP/1.1", b": z"),
        request(b"GET /good HTTP/1.1", b"no colon"),
        request(b"GET /good HTTP/1.1", b"X: a\x00b"),
        request(b"GET /good HTTP/1.1", b"X: " + b"a" * 100_000),
        request(b"GET /good HTTP/1.1", *[b"X: y"] * 10_000),
        request(b"GET /" + b"a" * 100_000 + b" HTTP/1.1"),
        request(b"POST /notes HTTP/1.1", b"Content-Length: -1"),
        request(b"POST /notes HTTP/1.1", b"Content-Length: x"),
        request(b"POST /notes HTTP/1.1", b"Content-Length: +2", body=b"{}"),
        request(b"POST /notes HTTP/1.1", b"Content-Length: " + b"9" * 100),
        request(b"POST /notes HTTP/1.1", b"Content-Length: 2", b"Content-Length: 3", body=b"{}"),
        request(b"POST /notes HTTP/1.1", b"Content-Length: 2, 3", body=b"{}"),
        request(
            b"POST /notes HTTP/1.1", b"Content-Length: 2", b"Transfer-Encoding: chunked", body=b"2\r\n{}\r\n0\r\n\r\n"
        ),
        request(
            b"POST /notes HTTP/1.1", b"Transfer-Encoding: chunked", b"Content-Length: 2", body=b"2\r\n{}\r\n0\r\n\r\n"
        ),
        request(b"POST /notes HTTP/1.1", b"Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n"),
        request(b"POST /notes HTTP/1.1", b"Transfer-Encoding: identity", body=b"{}"),
        request(
            b"POST /notes HTTP/1.1", b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"
        ),
        request(b"POST /notes HTTP/1.0", b"Transfer-Encoding: chunked", body=b"2\r\n{}\r\n0\r\n\r\n"),
        request(b"POST /notes HTTP/1.1", b"Transfer-Encoding: chunked", body=b"zz\r\n{}\r\n0\r\n\r\n"),
        request(b"POST /notes HTTP/1.1", b"Transfer-Encoding: chunked", body=b"-2\r\n{}\r\n0\r\n\r\n"),
        request(b"POST /notes HTTP/1.1", b"Transfer-Encoding: chunked", body=b"2\r\n{}xx0\r\n\r\n"),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
    ],
)
async def test_what_is_no_proper_request_is_400_in_our_words_and_the_end(server: Running, data: bytes) -> None:
    wire = await server.connect()

    async with wire.stream:
        await wire.send(data)
        answer = await wire.answer()
        rest = await wire.rest()

    assert_envelope(answer, 400, "BAD_REQUEST")
    assert answer.headers["connection"] == "close"
    assert rest == b""
    assert (await server.exchange(GOOD)).status == 200


@pytest.mark.usefixtures("complaints")
@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET http://elsewhere.example/good HTTP/1.1\r\nHost: x\r\n\r\n", 200),
        (b"GET HTTPS://user@[::1]:1/good?a=http://b HTTP/1.1\r\nHost: x\r\n\r\n", 200),
        (b"GET http://x HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET http://x?y HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET //good HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET /./good HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET /../good HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET /good#part HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET /good;a=b HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET /good\\ HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET /words/%zz%ff%2f% HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET /words/%zz%ff% HTTP/1.1\r\nHost: x\r\n\r\n", 200),
        (b"GET /words/%00 HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b'GET /good?%zz&=&%00=%ff&"<>^`{|} HTTP/1.1\r\nHost: x\r\n\r\n', 200),
        (b"GET /good? HTTP/1.1\r\nHost: x\r\n\r\n", 200),
        (b"GET /good HTTP/1.1\nHost: x\n\n", 200),
        (b"GET /good HTTP/1.1\r\nHost:\r\n\r\n", 200),
        (b"GET /good HTTP/1.1\r\nHost: [2001:db8::1]:8000\r\n\r\n", 200),
        (b"GET /good HTTP/1.1\r\nHost: UPPER.example:\r\n\r\n", 200),
        (b"get /good HTTP/1.1\r\nHost: x\r\n\r\n", 200),
        (b"BREW /good HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (b"TRACE /good HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (b"CONNECT /good HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (b"A" * 5000 + b" /good HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (request(b"GET /good HTTP/1.1", b"X: \xff\xfe\x01\x7f"), 200),
        (request(b"GET /good HTTP/1.1", b"X: folded\r\n value"), 200),
        (request(b"GET /good HTTP/1.1", b"Content-Length: 0"), 200),
        (request(b"GET /good HTTP/1.1", b"Content-Length: 3", body=b"abc"), 200),
        (request(b"POST /notes HTTP/1.1", b"Content-Length: 2", b"Content-Length: 2", body=b"{}"), 200),
        (
            request(b"POST /notes HTTP/1.1", b"Transfer-Encoding: Chunked", body=b"2;x=y\r\n{}\r\n0\r\nA: b\r\n\r\n"),
            200,
        ),
        (request(b"POST /notes HTTP/1.1", b"Expect: 200-maybe", b"Content-Length: 2", body=b"{}"), 200),
        (b"GET /good HTTP/1.0\r\n\r\n", 200),
        (b"POST /notes HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}", 200),
    ],
)
async def test_what_is_unusual_and_can_be_meant_is_answered(server: Running, data: bytes, status: int) -> None:
    answer = await server.exchange(data)

    assert answer.status == status
    assert "x-request-id" in answer.headers
    assert (await server.exchange(GOOD)).status == 200


@pytest.mark.usefixtures("complaints")
@pytest.mark.parametrize("after", [b"", b"more", b"\x82\x85\x00\x00\x00\x00hello", GOOD])
@pytest.mark.parametrize(
    "headers",
    [
        [b"Upgrade: websocket", b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", b"Sec-WebSocket-Version: 13"],
        [b"Upgrade: websocket"],
        [b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"],
        [b"Upgrade: h2c", b"HTTP2-Settings: %%%"],
        [b"Upgrade: TLS/1.0"],
    ],
    ids=["websocket", "half a websocket", "h2c", "broken h2c", "tls"],
)
async def test_offers_to_speak_something_else_are_passed_over(
    server: Running, headers: list[bytes], after: bytes
) -> None:
    answer = await server.exchange(request(b"GET /good HTTP/1.1", b"Connection: Upgrade", *headers) + after)

    assert (answer.status, answer.content) == (200, b'{"text":"good"}')
    assert "upgrade" not in answer.headers
    assert (await server.exchange(GOOD)).status == 200


@pytest.mark.usefixtures("complaints")
async def test_requests_sent_at_once_are_answered_one_after_the_other(server: Running) -> None:
    wire = await server.connect()
    words = [b"a", b"b", b"c", b"d"]

    async with wire.stream:
        await wire.send(b"".join(request(b"GET /words/" + word + b" HTTP/1.1") for word in words))
        answers = [await wire.answer() for _ in words]

    assert [json.loads(answer.content)["text"] for answer in answers] == ["a", "b", "c", "d"]


@pytest.mark.usefixtures("complaints")
async def test_a_connection_is_used_again_after_every_kind_of_answer(server: Running) -> None:
    wire = await server.connect()

    async with wire.stream:
        statuses: list[int] = []
        for first_line in [
            b"HEAD /good",
            b"DELETE /notes",
            b"OPTIONS /good",
            b"GET /nothing",
            b"POST /good",
            b"GET /streamed",
        ]:
            await wire.send(request(first_line + b" HTTP/1.1"))
            answer = await wire.answer(is_to_head=first_line.startswith(b"HEAD"))
            statuses.append(answer.status)
        await wire.send(GOOD)
        last = await wire.answer()

    assert statuses == [200, 204, 204, 404, 405, 200]
    assert last.content == b'{"text":"good"}'


@pytest.mark.usefixtures("complaints")
async def test_an_answer_of_unknown_length_comes_in_chunks(server: Running) -> None:
    answer = await server.exchange(request(b"GET /streamed HTTP/1.1"))

    assert answer.content == b"one two"


@pytest.mark.usefixtures("complaints")
async def test_a_short_answer_leaves_in_one_piece(server: Running) -> None:
    wire = await server.connect()

    async with wire.stream:
        await wire.send(GOOD)
        first = await wire.stream.receive_some()

    assert first.startswith(b"HTTP/1.1 200 ")
    assert first.endswith(b'{"text":"good"}')


@pytest.mark.usefixtures("complaints")
async def test_an_old_client_gets_its_answer_and_the_end(server: Running) -> None:
    wire = await server.connect()

    async with wire.stream:
        await wire.send(b"GET /good HTTP/1.0\r\n\r\n")
        answer = await wire.answer()
        rest = await wire.rest()

    assert (answer.status, answer.headers["connection"], rest) == (200, "close", b"")


@pytest.mark.usefixtures("complaints")
async def test_who_waits_for_a_continue_is_told_to_go_on(server: Running) -> None:
    wire = await server.connect()

    async with wire.stream:
        await wire.send(request(b"POST /notes HTTP/1.1", b"Content-Length: 2", b"Expect: 100-continue"))
        interim = await wire.answer()
        await wire.send(b"{}")
        answer = await wire.answer()

    assert (interim.status, answer.status) == (100, 200)


@pytest.mark.usefixtures("complaints")
@pytest.mark.parametrize(
    "headers", [[b"Content-Length: 20000000"], [b"Transfer-Encoding: chunked"]], ids=["known length", "chunked"]
)
async def test_who_sends_too_much_hears_413_while_still_sending(server: Running, headers: list[bytes]) -> None:
    wire = await server.connect()
    is_chunked = headers == [b"Transfer-Encoding: chunked"]
    piece = b"10000\r\n" + bytes(2**16) + b"\r\n" if is_chunked else bytes(2**16)

    async with wire.stream:
        await wire.send(request(b"POST /notes HTTP/1.1", *headers))
        # All of it is sent before the answer is read, as simple clients do.
        for _ in range(4 * BODY_BYTES_MAX // 2**16):
            await wire.send(piece)
        answer = await wire.answer()
        rest = await wire.rest()

    assert_envelope(answer, 413, "PAYLOAD_TOO_LARGE")
    assert answer.headers["connection"] == "close"
    assert rest == b""
    assert (await server.exchange(GOOD)).status == 200


@pytest.mark.usefixtures("complaints")
async def test_who_sends_too_much_hears_at_once_that_this_is_the_end(
    server: Running, autojump_clock: MockClock
) -> None:
    wire = await server.connect()
    began = trio.current_time()

    async with wire.stream:
        await wire.send(request(b"POST /notes HTTP/1.1", b"Content-Length: 20000000"))
        while await wire.stream.receive_some():
            pass

    assert trio.current_time() - began < LINGER_SECONDS_MAX


@pytest.mark.usefixtures("complaints")
async def test_a_body_that_was_not_read_does_not_become_the_next_request(server: Running) -> None:
    wire = await server.connect()

    async with wire.stream:
        await wire.send(request(b"GET /good HTTP/1.1", b"Content-Length: 1000"))
        first = await wire.answer()
        await wire.send(GOOD)
        rest = await wire.rest()

    assert (first.status, first.headers["connection"]) == (200, "close")
    assert rest == b""


@pytest.mark.usefixtures("complaints")
async def test_who_closes_one_half_after_a_request_does_no_harm(server: Running) -> None:
    wire = await server.connect()

    async with wire.stream:
        await wire.send(GOOD)
        await wire.stream.send_eof()
        await wire.rest()

    assert (await server.exchange(GOOD)).status == 200


@pytest.mark.usefixtures("complaints")
@pytest.mark.parametrize(
    "data", [b"", b"GET", b"GET /good HTTP/1.1\r\nHos", request(b"POST /notes HTTP/1.1", b"Content-Length: 9") + b"{"]
)
@pytest.mark.parametrize("is_rude", [False, True], ids=["closes", "resets"])
async def test_who_hangs_up_in_the_middle_does_no_harm(server: Running, data: bytes, is_rude: bool) -> None:
    for _ in range(5):
        wire = await server.connect()
        await wire.send(data)
        if is_rude:
            wire.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        await wire.stream.aclose()

    assert (await server.exchange(GOOD)).status == 200


@pytest.mark.usefixtures("complaints")
@pytest.mark.parametrize("data", [b"", b"GET /good HT", request(b"GET /good HTTP/1.1", b"X: y")[:-2]])
async def test_who_never_finishes_a_request_is_hung_up_on(
    server: Running, data: bytes, autojump_clock: MockClock
) -> None:
    wire = await server.connect()
    began = trio.current_time()

    async with wire.stream:
        await wire.send(data)
        with trio.fail_after(2 * KEEP_ALIVE_SECONDS):
            rest = await wire.stream.receive_some()

    assert rest == b""
    assert trio.current_time() - began == pytest.approx(KEEP_ALIVE_SECONDS, abs=1)


@pytest.mark.usefixtures("complaints")
async def test_who_dribbles_the_headers_is_hung_up_on_all_the_same(server: Running, autojump_clock: MockClock) -> None:
    wire = await server.connect()
    began = trio.current_time()

    async with wire.stream:
        await wire.send(b"GET /good HTTP/1.1\r\nHost: x\r\n")
        with trio.move_on_after(3 * KEEP_ALIVE_SECONDS):
            while trio.current_time() - began < 2 * KEEP_ALIVE_SECONDS:
                try:
                    await wire.stream.send_all(b"X: y\r\n")
                except trio.BrokenResourceError:
                    break
                await trio.sleep(1)

    assert trio.current_time() - began == pytest.approx(KEEP_ALIVE_SECONDS, abs=5)


@pytest.mark.usefixtures("complaints")
async def test_who_is_too_slow_with_a_body_hears_408_and_is_hung_up_on(
    server: Running, autojump_clock: MockClock
) -> None:
    wire = await server.connect()
    began = trio.current_time()

    async with wire.stream:
        await wire.send(request(b"POST /notes HTTP/1.1", b"Content-Length: 1000", body=b"{"))
        with trio.fail_after(2 * BODY_SECONDS_MAX):
            first = await wire.stream.receive_some()
            answered = trio.current_time() - began
        while data := await wire.stream.receive_some():
            first += data

    assert first.startswith(b"HTTP/1.1 408 ")
    assert answered == pytest.approx(BODY_SECONDS_MAX, abs=1)


@pytest.mark.usefixtures("complaints")
async def test_who_goes_on_sending_after_the_end_is_listened_to_for_a_while_only(
    server: Running, autojump_clock: MockClock
) -> None:
    wire = await server.connect()
    began = math.inf

    async with wire.stream:
        await wire.send(b"nonsense\r\n\r\n")
        while data := await wire.stream.receive_some():
            began = trio.current_time() if data else began
        with trio.fail_after(10 * LINGER_SECONDS_MAX):
            while True:
                try:
                    await wire.stream.send_all(b"more")
                except trio.BrokenResourceError:
                    break
                await trio.sleep(LINGER_SECONDS_MAX / 4)

    # It takes the client two more attempts to notice.
    assert LINGER_SECONDS_MAX <= trio.current_time() - began <= 2 * LINGER_SECONDS_MAX


@pytest.mark.usefixtures("complaints")
@pytest.mark.parametrize("path", [b"/large", b"/endless"])
async def test_who_does_not_read_the_answer_is_hung_up_on(
    server: Running, path: bytes, autojump_clock: MockClock
) -> None:
    wire = await server.connect()
    began = trio.current_time()

    async with wire.stream:
        await wire.send(request(b"GET " + path + b" HTTP/1.1"))
        await trio.sleep(SEND_SECONDS_MAX + 1)
        received = 0
        try:
            while data := await wire.stream.receive_some():
                received += len(data)
        except trio.BrokenResourceError:
            pass

    assert received < LARGE_BYTES
    assert trio.current_time() - began < 2 * SEND_SECONDS_MAX


@pytest.mark.usefixtures("complaints")
async def test_a_large_answer_arrives_whole_when_it_is_read(server: Running) -> None:
    answer = await server.exchange(request(b"GET /large HTTP/1.1"))

    assert len(answer.content) == LARGE_BYTES


@pytest.mark.usefixtures("complaints")
async def test_when_the_server_stops_idle_connections_end_and_the_others_get_their_answer(server: Running) -> None:
    idle, busy = await server.connect(), await server.connect()
    await idle.send(GOOD)
    await idle.answer()
    await busy.send(request(b"POST /notes HTTP/1.1", b"Content-Length: 2"))
    server.stopping.set()

    async with idle.stream, busy.stream:
        end_of_idle = await idle.rest()
        await busy.send(b"{}")
        answer = await busy.answer()
        end_of_busy = await busy.rest()

    assert (end_of_idle, end_of_busy) == (b"", b"")
    assert (answer.status, answer.headers["connection"]) == (200, "close")


@pytest.mark.usefixtures("complaints")
async def test_who_is_gone_before_being_let_in_does_no_harm(server: Running) -> None:
    # Nothing here waits, so the server cannot have noticed the client before it is gone.
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")

    assert (await server.exchange(GOOD)).status == 200


class Doorkeeper(trio.abc.Instrument):
    """Writes down in which turn of the event loop connections begin to be served."""

    def __init__(self) -> None:
        self.turn = 0
        self.let_in: list[int] = []

    def before_io_wait(self, timeout: float) -> None:
        self.turn += 1

    def task_spawned(self, task: trio.lowlevel.Task) -> None:
        if task.name.endswith("_Clients._serve"):
            self.let_in.append(self.turn)


@pytest.mark.usefixtures("complaints")
async def test_some_who_come_at_once_are_let_in_in_the_same_turn(server: Running) -> None:
    doorkeeper = Doorkeeper()
    trio.lowlevel.add_instrument(doorkeeper)
    with ExitStack() as clients:
        # Nothing here waits, so they all come before the server looks.
        for _ in range(ACCEPTED_IN_A_ROW_MAX + 3):
            clients.enter_context(socket.create_connection(("127.0.0.1", server.port)))
        await trio.testing.wait_all_tasks_blocked()
    trio.lowlevel.remove_instrument(doorkeeper)

    first, *others = doorkeeper.let_in
    assert len(doorkeeper.let_in) == ACCEPTED_IN_A_ROW_MAX + 3
    assert [turn for turn in others if turn == first] == [first] * ACCEPTED_IN_A_ROW_MAX


@pytest.mark.usefixtures("complaints")
async def test_no_more_are_let_in_than_there_are_places_and_the_others_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "CONNECTIONS_MAX", 3)
    answers: list[Answer] = []

    async def ask(server: Running) -> None:
        answers.append(await server.exchange(request(b"GET /good HTTP/1.1", b"Connection: close")))

    async with running(serving(routes)) as server:
        doorkeeper = Doorkeeper()
        trio.lowlevel.add_instrument(doorkeeper)
        waiting = [await server.connect() for _ in range(4)]
        await trio.testing.wait_all_tasks_blocked()
        inside = len(doorkeeper.let_in)
        for wire in waiting:
            await wire.stream.aclose()
        async with trio.open_nursery() as nursery:
            for _ in range(10):
                nursery.start_soon(ask, server)
        trio.lowlevel.remove_instrument(doorkeeper)

    assert inside == 3
    assert len(answers) == 10


@pytest.mark.usefixtures("complaints")
async def test_who_breaks_the_protocol_while_being_answered_hears_one_answer_only() -> None:
    begun, may_end, ended = trio.Event(), trio.Event(), trio.Event()
    stubborn = Routes("stubborn", "A route of this test.")

    @stubborn.post("/stubborn")
    @public
    async def finish_whatever_happens(call: Call) -> Note:
        """Be in the middle of something that must not be left half done."""
        begun.set()
        with trio.CancelScope(shield=True):
            await may_end.wait()
        ended.set()
        return Note(text="done")

    async with running(serving(stubborn)) as server:
        wire = await server.connect()
        async with wire.stream:
            await wire.send(request(b"POST /stubborn HTTP/1.1", b"Transfer-Encoding: chunked"))
            await begun.wait()
            await wire.send(b"no chunk\r\n")
            answer = await wire.answer()
            may_end.set()
            rest = await wire.rest()
        await ended.wait()

    assert_envelope(answer, 400, "BAD_REQUEST")
    assert rest == b""


async def test_a_defect_that_one_connection_runs_into_ends_no_other() -> None:
    class Defective(Application):
        def malformed(self, message: str, *, peer: str | None) -> Response:
            raise RuntimeError("a defect of ours")

    async with running(Defective(make_house(), routes.routes)) as server:
        other = await server.connect()

        with capture_logs() as logs:
            broken = await server.connect()
            async with broken.stream:
                await broken.send(b"nonsense\r\n\r\n")
                end = await broken.rest()

        assert end == b""
        assert [line["event"] for line in logs] == ["connection.failed"]
        async with other.stream:
            await other.send(GOOD)
            assert (await other.answer()).status == 200


pieces = st.sampled_from(
    [
        *(b"GET ", b"POST ", b"/good", b"/notes", b"/words/%", b" HTTP/1.1", b" HTTP/1.0"),
        *(b"\r\n", b"\n", b"\r\n\r\n", b"Host: x", b"Content-Length: 2", b"Content-Length: 20"),
        *(b"Transfer-Encoding: chunked", b"Connection: Upgrade", b"Connection: close", b"Upgrade: websocket"),
        *(b"Upgrade: h2c", b"Expect: 100-continue", b"{}", b"2\r\n{}\r\n", b"0\r\n\r\n", b"\x00", b"\xff", b":", b" "),
        *(GOOD, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ]
)


@pytest.mark.usefixtures("complaints")
async def test_no_bytes_whatever_are_answered_with_500_or_disturb_the_server(server: Running) -> None:
    async def send_and_hang_up(data: bytes) -> bytes:
        wire = await server.connect()
        async with wire.stream:
            await wire.send(data)
            await wire.stream.send_eof()
            return await wire.rest()

    @settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(pieces | st.binary(max_size=20), max_size=15).map(b"".join))
    def no_500(data: bytes) -> None:
        received = trio.from_thread.run(send_and_hang_up, data)

        assert b"HTTP/1.1 5" not in received
        assert received in {b"", b"reset"} or received.startswith(b"HTTP/1.1 ")

    await trio.to_thread.run_sync(no_500)

    assert (await server.exchange(GOOD)).status == 200
