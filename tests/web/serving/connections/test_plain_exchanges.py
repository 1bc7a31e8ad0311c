"""Exchanges that begin plain, without h11: however their bytes arrive, and whatever happens while they are answered."""

import re
import tracemalloc
from typing import Annotated

import pytest
import trio
from quart import Response
from trio.testing import MockClock, wait_all_tasks_blocked

from entrypoints.server import CLIENTS_LEAVE_SECONDS, LAST_REQUESTS_SECONDS
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.answering.answers import Media
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes
from tests.web.probe import serving
from tests.web.serving.connections.wires import GOOD, LARGE_BYTES, Running, Slow, request, routes, running

LARGE = request(b"GET /large HTTP/1.1")
# Plain requests, requests for h11, and the last one of the connection.
CONVERSATION = (
    b"POST /notes HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n"
    b'{"text":"a"}\r\n'
    b"HEAD /good HTTP/1.1\r\nHost:x\r\n\r\n"
    b"DELETE /notes HTTP/1.1\r\nHost: x\r\n\r\n"
    b"POST /notes HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    b'5;x=y\r\n{"tex\r\n7\r\nt":"b"}\r\n0\r\n\r\n'
    b"GET /words/c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
)


async def said(server: Running, parts: list[bytes]) -> bytes:
    """Return all answers to bytes that arrive in these parts, without what differs in every answer."""
    wire = await server.connect()
    async with wire.stream:
        for part in parts:
            await wire.send(part)
            await wait_all_tasks_blocked()
        return re.sub(rb"(?m)^(?:x-request-id|date): .*\r\n", b"", await wire.rest())


@pytest.mark.usefixtures("complaints")
async def test_requests_that_arrive_byte_by_byte_are_answered_like_those_that_arrive_at_once(server: Running) -> None:
    whole = await said(server, [CONVERSATION])
    by_byte = await said(server, [CONVERSATION[at : at + 1] for at in range(len(CONVERSATION))])

    assert re.findall(rb"HTTP/1.1 (\d+) ", whole) == [b"200", b"200", b"204", b"200", b"200"]
    assert by_byte == whole


@pytest.mark.long
@pytest.mark.usefixtures("complaints")
async def test_the_answers_are_the_same_wherever_the_bytes_of_the_requests_are_divided(server: Running) -> None:
    whole = await said(server, [CONVERSATION])

    for at in range(1, len(CONVERSATION)):
        assert await said(server, [CONVERSATION[:at], CONVERSATION[at:]]) == whole, CONVERSATION[:at]


@pytest.mark.usefixtures("complaints")
async def test_a_client_that_half_closes_while_its_answer_is_sent_is_disconnected_after_it(server: Running) -> None:
    wire = await server.connect()

    async with wire.stream:
        await wire.send(LARGE)
        await trio.lowlevel.wait_readable(wire.stream.socket)
        await wire.stream.send_eof()
        await wait_all_tasks_blocked()
        answer = await wire.answer()
        rest = await wire.rest()

    assert (len(answer.content), rest) == (LARGE_BYTES, b"")


@pytest.mark.usefixtures("complaints")
async def test_no_request_begins_after_an_answer_with_which_a_stopping_server_closes_the_connection(
    slow: Slow, autojump_clock: MockClock
) -> None:
    slow.routes.routes.extend(routes.routes)
    async with running(serving(slow.routes)) as server:
        wire = await server.connect()
        async with wire.stream:
            await wire.send(LARGE + request(b"POST /slow HTTP/1.1", b"Content-Length: 2", body=b"{}"))
            await trio.lowlevel.wait_readable(wire.stream.socket)
            server.stopping.set()
            await trio.sleep(CLIENTS_LEAVE_SECONDS + LAST_REQUESTS_SECONDS + 1)
            answer = await wire.answer()
            rest = await wire.rest()

    assert (len(answer.content), rest) == (LARGE_BYTES, b"")
    assert not slow.begun.is_set()


class Steps(trio.abc.Instrument):
    """Counts how often a task gets its turn."""

    count = 0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        """Count a turn."""
        self.count += 1


@pytest.mark.usefixtures("complaints")
async def test_a_body_in_many_small_chunks_does_not_keep_others_waiting(server: Running) -> None:
    chunks, steps = 1000, Steps()
    wire = await server.connect()

    async with wire.stream:
        trio.lowlevel.add_instrument(steps)
        await wire.send(request(b"POST /notes HTTP/1.1", b"Transfer-Encoding: chunked"))
        await wire.send(b"1\r\n \r\n" * chunks + b"2\r\n{}\r\n0\r\n\r\n")
        answer = await wire.answer()
        trio.lowlevel.remove_instrument(steps)

    assert answer.status == 200
    assert steps.count > chunks / 2
    assert (await server.exchange(GOOD)).status == 200


@pytest.mark.usefixtures("complaints")
@pytest.mark.parametrize("headers", [[], [b"Connection: close"]], ids=["plain", "by h11"])
async def test_a_large_body_that_many_slow_clients_get_is_not_copied_for_each(headers: list[bytes]) -> None:
    shared, clients = bytes(2**24), 10
    routes = Routes("shared", "A route of this test.")

    @routes.get("/shared")
    @public
    async def body(call: Call) -> Annotated[Response, Media("text/plain")]:
        """Answer with bytes that are in memory already."""
        return Response(shared, content_type="text/plain")

    async with running(serving(routes)) as server:
        tracemalloc.start()
        for _ in range(clients):
            wire = await server.connect()
            await wire.send(request(b"GET /shared HTTP/1.1", *headers))
            await trio.lowlevel.wait_readable(wire.stream.socket)
        await wait_all_tasks_blocked()
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert held < len(shared)
