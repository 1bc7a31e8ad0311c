"""Many connections, broken ones among them: each gets its own answers, and none disturbs another."""

import socket
from contextlib import ExitStack

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from quart import Response
from structlog.testing import capture_logs

from entrypoints import server as servers
from entrypoints.server import ACCEPTED_IN_A_ROW_MAX
from entrypoints.web.application import Application
from entrypoints.web.calls import Call
from entrypoints.web.credentials import public
from entrypoints.web.routes import Routes
from tests.web.connections.wires import GOOD, Answer, Note, Running, assert_envelope, request, routes, running
from tests.web.probe import make_house, serving


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
