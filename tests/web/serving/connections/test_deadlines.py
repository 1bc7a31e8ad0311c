"""Deadlines: connections that are slow, silent or open for too long are closed."""

import math

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from entrypoints.server import KEEP_ALIVE_SECONDS
from entrypoints.web.serving.connection.connections import HEAD_SECONDS_MAX, LINGER_SECONDS_MAX, SEND_SECONDS_MAX
from entrypoints.web.serving.exchanges import BODY_SECONDS_MAX, RESPONSE_SECONDS_MAX
from tests.web.serving.connections.wires import GOOD, LARGE_BYTES, Running, request


@pytest.mark.usefixtures("complaints")
@pytest.mark.parametrize("data", [b"", b"\r\n"])
async def test_a_client_that_sends_no_request_is_disconnected(
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
@pytest.mark.parametrize("before", [b"", GOOD], ids=["first", "pipelined"])
@pytest.mark.parametrize("data", [b"\r", b"G", b"GET /good HT", request(b"GET /good HTTP/1.1", b"X: y")[:-2]])
async def test_a_client_that_never_finishes_a_request_is_disconnected(
    server: Running, data: bytes, before: bytes, autojump_clock: MockClock
) -> None:
    wire = await server.connect()
    began = trio.current_time()

    async with wire.stream:
        await wire.send(before + data)
        if before:
            await wire.answer()
        with trio.fail_after(2 * KEEP_ALIVE_SECONDS):
            rest = await wire.stream.receive_some()

    assert rest == b""
    assert trio.current_time() - began == pytest.approx(HEAD_SECONDS_MAX, abs=1)


@pytest.mark.usefixtures("complaints")
@pytest.mark.parametrize("requests_before", [0, 1])
async def test_a_client_that_sends_headers_slowly_is_disconnected(
    server: Running, requests_before: int, autojump_clock: MockClock
) -> None:
    wire = await server.connect()

    async with wire.stream:
        for _ in range(requests_before):
            await wire.send(GOOD)
            await wire.answer()
        began = trio.current_time()
        await wire.send(b"GET /good HTTP/1.1\r\nHost: x\r\n")
        with trio.move_on_after(3 * KEEP_ALIVE_SECONDS):
            while trio.current_time() - began < 2 * KEEP_ALIVE_SECONDS:
                try:
                    await wire.stream.send_all(b"X: y\r\n")
                except trio.BrokenResourceError:
                    break
                await trio.sleep(1)

    assert trio.current_time() - began == pytest.approx(HEAD_SECONDS_MAX, abs=5)


@pytest.mark.usefixtures("complaints")
async def test_a_head_that_arrives_in_time_gets_its_answer(server: Running, autojump_clock: MockClock) -> None:
    wire = await server.connect()
    statuses: list[int] = []

    async with wire.stream:
        for _ in range(3):
            await trio.sleep(KEEP_ALIVE_SECONDS / 2)
            await wire.send(GOOD[:10])
            await trio.sleep(HEAD_SECONDS_MAX - 1)
            await wire.send(GOOD[10:])
            statuses.append((await wire.answer()).status)

    assert statuses == [200] * 3


@pytest.mark.usefixtures("complaints")
async def test_a_client_that_sends_a_body_too_slowly_gets_408_and_is_disconnected(
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
async def test_data_after_the_last_answer_is_read_for_a_limited_time(
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
async def test_a_client_that_does_not_read_the_answer_is_disconnected(
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
async def test_a_stopping_server_closes_idle_connections_and_answers_the_others(server: Running) -> None:
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
async def test_an_answer_may_take_long_as_long_as_its_parts_do_not(server: Running, autojump_clock: MockClock) -> None:
    wire = await server.connect()

    async with wire.stream:
        await wire.send(request(f"GET /slow/{RESPONSE_SECONDS_MAX - 1:.0f} HTTP/1.1".encode()))
        await trio.sleep(3 * RESPONSE_SECONDS_MAX)
        answer = await wire.answer()

    assert answer.content == b"one two three"


async def test_an_answer_whose_next_part_takes_too_long_ends_without_its_end(
    server: Running, autojump_clock: MockClock
) -> None:
    wire = await server.connect()

    with capture_logs() as logs:
        async with wire.stream:
            await wire.send(request(f"GET /slow/{RESPONSE_SECONDS_MAX + 1:.0f} HTTP/1.1".encode()))
            await trio.sleep(2 * RESPONSE_SECONDS_MAX)
            rest = await wire.rest()

    assert rest.startswith(b"HTTP/1.1 200 ")
    assert rest.endswith(b"one \r\n")
    assert "response.cut_short" in [line["event"] for line in logs]
