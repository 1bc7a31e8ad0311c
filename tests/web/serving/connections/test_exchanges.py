"""Sequences of requests and answers on one connection."""

import json
import socket

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from core.limits import BODY_BYTES_MAX
from entrypoints.web.serving.connection.connections import LINGER_SECONDS_MAX
from tests.waiting import WAIT_SECONDS_MAX
from tests.web.probe import serving
from tests.web.serving.connections.wires import GOOD, Running, Slow, assert_envelope, request, running


@pytest.mark.usefixtures("complaints")
async def test_pipelined_requests_are_answered_in_order(server: Running) -> None:
    wire = await server.connect()
    words = [b"a", b"b", b"c", b"d"]

    async with wire.stream:
        await wire.send(b"".join(request(b"GET /words/" + word + b" HTTP/1.1") for word in words))
        answers = [await wire.answer() for _ in words]

    assert [json.loads(answer.content)["text"] for answer in answers] == ["a", "b", "c", "d"]


@pytest.mark.usefixtures("complaints")
async def test_a_connection_is_reused_after_every_kind_of_answer(server: Running) -> None:
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
async def test_an_answer_of_unknown_length_is_chunked(server: Running) -> None:
    answer = await server.exchange(request(b"GET /streamed HTTP/1.1"))

    assert answer.content == b"one two"


@pytest.mark.usefixtures("complaints")
async def test_a_short_answer_is_sent_in_one_piece(server: Running) -> None:
    wire = await server.connect()

    async with wire.stream:
        await wire.send(GOOD)
        first = await wire.stream.receive_some()

    assert first.startswith(b"HTTP/1.1 200 ")
    assert first.endswith(b'{"text":"good"}')


@pytest.mark.usefixtures("complaints")
async def test_an_http_1_0_client_gets_its_answer_and_is_disconnected(server: Running) -> None:
    wire = await server.connect()

    async with wire.stream:
        await wire.send(b"GET /good HTTP/1.0\r\n\r\n")
        answer = await wire.answer()
        rest = await wire.rest()

    assert (answer.status, answer.headers["connection"], rest) == (200, "close", b"")


@pytest.mark.usefixtures("complaints")
async def test_a_client_that_expects_100_continue_gets_it(server: Running) -> None:
    wire = await server.connect()

    async with wire.stream:
        await wire.send(request(b"POST /notes HTTP/1.1", b"Content-Length: 2", b"Expect: 100-continue"))
        interim = await wire.answer()
        await wire.send(b"{}")
        answer = await wire.answer()

    assert (interim.status, answer.status) == (100, 200)
    assert "connection" not in interim.headers


@pytest.mark.usefixtures("complaints")
@pytest.mark.parametrize(
    "headers", [[b"Content-Length: 20000000"], [b"Transfer-Encoding: chunked"]], ids=["known length", "chunked"]
)
async def test_a_client_that_sends_too_much_gets_413_while_still_sending(server: Running, headers: list[bytes]) -> None:
    wire = await server.connect()
    is_chunked = headers == [b"Transfer-Encoding: chunked"]
    piece = b"10000\r\n" + bytes(2**16) + b"\r\n" if is_chunked else bytes(2**16)

    async with wire.stream:
        await wire.send(request(b"POST /notes HTTP/1.1", *headers))
        # Everything is sent before the answer is read, as by simple clients.
        for _ in range(4 * BODY_BYTES_MAX // 2**16):
            await wire.send(piece)
        answer = await wire.answer()
        rest = await wire.rest()

    assert_envelope(answer, 413, "PAYLOAD_TOO_LARGE")
    assert answer.headers["connection"] == "close"
    assert rest == b""
    assert (await server.exchange(GOOD)).status == 200


@pytest.mark.usefixtures("complaints")
async def test_the_server_closes_its_side_immediately_after_413(server: Running, autojump_clock: MockClock) -> None:
    wire = await server.connect()
    began = trio.current_time()

    async with wire.stream:
        await wire.send(request(b"POST /notes HTTP/1.1", b"Content-Length: 20000000"))
        while await wire.stream.receive_some():
            pass

    assert trio.current_time() - began < LINGER_SECONDS_MAX


@pytest.mark.usefixtures("complaints")
async def test_an_unread_body_does_not_become_the_next_request(server: Running) -> None:
    wire = await server.connect()

    async with wire.stream:
        await wire.send(request(b"GET /good HTTP/1.1", b"Content-Length: 1000"))
        first = await wire.answer()
        await wire.send(GOOD)
        rest = await wire.rest()

    assert (first.status, first.headers["connection"]) == (200, "close")
    assert rest == b""


LAST_REQUESTS = {
    "Connection: close": request(b"POST /slow HTTP/1.1", b"Connection: close", b"Content-Length: 2", body=b"{}"),
    "HTTP/1.0": b"POST /slow HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}",
}


@pytest.mark.usefixtures("complaints")
@pytest.mark.parametrize("after", [b"\r\n", b"more", b"nonsense\r\n\r\n", GOOD, GOOD * 1000])
@pytest.mark.parametrize("last", LAST_REQUESTS.values(), ids=LAST_REQUESTS)
@pytest.mark.parametrize("is_later", [False, True], ids=["at once", "while the request is answered"])
async def test_bytes_after_the_last_request_of_a_connection_do_not_change_its_answer(
    slow: Slow, last: bytes, after: bytes, is_later: bool
) -> None:
    async with running(serving(slow.routes)) as server:
        wire = await server.connect()
        async with wire.stream:
            await wire.send(last if is_later else last + after)
            await slow.begun.wait()
            if is_later:
                await wire.send(after)
                await trio.testing.wait_all_tasks_blocked()
            slow.may_end.set()
            answer = await wire.answer()
            rest = await wire.rest()

    assert (answer.status, answer.content) == (200, b'{"text":"committed"}')
    assert (rest, slow.committed, slow.cancelled) == (b"", 1, 0)


@pytest.mark.usefixtures("complaints")
async def test_bytes_after_a_request_that_the_server_answers_with_close_do_not_change_its_answer(slow: Slow) -> None:
    async with running(serving(slow.routes)) as server:
        wire = await server.connect()
        async with wire.stream:
            await wire.send(request(b"POST /slow HTTP/1.1", b"Content-Length: 2", body=b"{}"))
            await slow.begun.wait()
            await wire.send(b"nonsense\r\n\r\n")
            server.stopping.set()
            await trio.testing.wait_all_tasks_blocked()
            slow.may_end.set()
            answer = await wire.answer()
            rest = await wire.rest()

    assert (answer.status, answer.headers["connection"], rest) == (200, "close", b"")


@pytest.mark.usefixtures("complaints")
@pytest.mark.parametrize(
    "data",
    [
        request(b"POST /slow HTTP/1.1", b"Content-Length: 2", body=b"{}"),
        request(b"POST /slow HTTP/1.1", b"Transfer-Encoding: chunked", body=b"2\r\n{}\r\n0\r\n\r\n"),
        request(b"POST /slow HTTP/1.1", b"Connection: Upgrade", b"Upgrade: h2c", b"Content-Length: 2", body=b"{}"),
        *LAST_REQUESTS.values(),
    ],
    ids=["length", "chunked", "upgrade", *LAST_REQUESTS],
)
@pytest.mark.parametrize("is_later", [False, True], ids=["at once", "while the request is answered"])
async def test_a_client_that_half_closes_after_a_request_gets_its_answer(
    slow: Slow, data: bytes, is_later: bool
) -> None:
    async with running(serving(slow.routes)) as server:
        wire = await server.connect()
        async with wire.stream:
            await wire.send(data)
            if is_later:
                await slow.begun.wait()
            await wire.stream.send_eof()
            await slow.begun.wait()
            await trio.testing.wait_all_tasks_blocked()
            slow.may_end.set()
            answer = await wire.answer()
            rest = await wire.rest()

    assert (answer.status, answer.content, rest) == (200, b'{"text":"committed"}', b"")


@pytest.mark.usefixtures("complaints")
async def test_a_connection_whose_client_has_ended_its_side_is_closed_with_the_answer(
    server: Running, autojump_clock: MockClock
) -> None:
    wire = await server.connect()
    began = trio.current_time()

    async with wire.stream:
        await wire.send(GOOD * 3)
        await wire.stream.send_eof()
        answers = [await wire.answer() for _ in range(3)]
        rest = await wire.rest()

    assert [answer.status for answer in answers] == [200] * 3
    assert rest == b""
    assert trio.current_time() - began < LINGER_SECONDS_MAX


@pytest.mark.usefixtures("complaints")
async def test_a_request_whose_client_resets_the_connection_is_cancelled(slow: Slow) -> None:
    async with running(serving(slow.routes)) as server:
        wire = await server.connect()
        await wire.send(request(b"POST /slow HTTP/1.1", b"Content-Length: 2", body=b"{}"))
        await slow.begun.wait()
        wire.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        await wire.stream.aclose()
        with trio.fail_after(WAIT_SECONDS_MAX):
            await slow.ended.wait()

    assert (slow.committed, slow.cancelled) == (0, 1)


@pytest.mark.usefixtures("complaints")
@pytest.mark.parametrize("pieces", [[b"\r\n" + GOOD], [b"\r\n", GOOD], [b"\r", b"\n", GOOD], [b"\r", b"\n" + GOOD]])
async def test_an_empty_line_before_each_request_is_ignored(server: Running, pieces: list[bytes]) -> None:
    wire = await server.connect()
    statuses: list[int] = []

    async with wire.stream:
        for _ in range(2):
            await wire.send(request(b"POST /notes HTTP/1.1", b"Content-Length: 2", body=b"{}"))
            statuses.append((await wire.answer()).status)
            for piece in pieces:
                await wire.send(piece)
                await trio.testing.wait_all_tasks_blocked()
            statuses.append((await wire.answer()).status)

    assert statuses == [200] * 4


@pytest.mark.usefixtures("complaints")
async def test_an_empty_line_after_a_body_does_not_separate_it_from_a_pipelined_request(server: Running) -> None:
    wire = await server.connect()

    async with wire.stream:
        await wire.send((request(b"POST /notes HTTP/1.1", b"Content-Length: 2", body=b"{}") + b"\r\n") * 3)
        answers = [await wire.answer() for _ in range(3)]

    assert [answer.status for answer in answers] == [200] * 3


@pytest.mark.usefixtures("complaints")
@pytest.mark.parametrize(
    "data", [b"", b"GET", b"GET /good HTTP/1.1\r\nHos", request(b"POST /notes HTTP/1.1", b"Content-Length: 9") + b"{"]
)
@pytest.mark.parametrize("is_reset", [False, True], ids=["closes", "resets"])
async def test_a_client_that_disconnects_in_the_middle_does_no_harm(
    server: Running, data: bytes, is_reset: bool
) -> None:
    for _ in range(5):
        wire = await server.connect()
        await wire.send(data)
        if is_reset:
            wire.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        await wire.stream.aclose()

    assert (await server.exchange(GOOD)).status == 200


async def test_a_refusal_in_the_middle_of_an_answer_ends_it_without_its_end(server: Running) -> None:
    wire = await server.connect()

    with capture_logs() as logs:
        async with wire.stream:
            await wire.send(request(b"GET /refused HTTP/1.1"))
            rest = await wire.rest()

    assert rest.startswith(b"HTTP/1.1 200 ")
    assert rest.endswith(b"one \r\n")
    assert [line for line in logs if line["log_level"] != "info"] == [
        {"event": "response.cut_short", "log_level": "warning", "error_code": "FORBIDDEN"}
    ]


@pytest.mark.usefixtures("complaints")
async def test_a_head_request_makes_no_part_of_an_answer(server: Running) -> None:
    wire = await server.connect()

    async with wire.stream:
        await wire.send(request(b"HEAD /endless HTTP/1.1") + GOOD)
        head = await wire.answer(is_to_head=True)
        answer = await wire.answer()

    assert head.status == 200
    assert answer.content == b'{"text":"good"}'
