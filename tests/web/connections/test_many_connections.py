"""Many connections, some of them broken: each gets its own answers, and none affects another."""

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
from tests.web.probe import make_installation, serving


@pytest.mark.usefixtures("complaints")
async def test_a_client_that_disconnects_before_being_accepted_does_no_harm(server: Running) -> None:
    # Nothing here waits, so the client is gone before the server accepts it.
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")

    assert (await server.exchange(GOOD)).status == 200


class AcceptanceRecorder(trio.abc.Instrument):
    """Records in which iteration of the event loop each connection begins to be served."""

    def __init__(self) -> None:
        self.iteration = 0
        self.accepted_at: list[int] = []

    def before_io_wait(self, timeout: float) -> None:
        self.iteration += 1

    def task_spawned(self, task: trio.lowlevel.Task) -> None:
        if task.name.endswith("_Clients._serve"):
            self.accepted_at.append(self.iteration)


@pytest.mark.usefixtures("complaints")
async def test_several_concurrent_connections_are_accepted_in_one_iteration_of_the_event_loop(server: Running) -> None:
    recorder = AcceptanceRecorder()
    trio.lowlevel.add_instrument(recorder)
    with ExitStack() as clients:
        # Nothing here waits, so they all connect before the server accepts one.
        for _ in range(ACCEPTED_IN_A_ROW_MAX + 3):
            clients.enter_context(socket.create_connection(("127.0.0.1", server.port)))
        await trio.testing.wait_all_tasks_blocked()
    trio.lowlevel.remove_instrument(recorder)

    first, *others = recorder.accepted_at
    assert len(recorder.accepted_at) == ACCEPTED_IN_A_ROW_MAX + 3
    assert [iteration for iteration in others if iteration == first] == [first] * ACCEPTED_IN_A_ROW_MAX


@pytest.mark.usefixtures("complaints")
async def test_no_more_connections_than_the_maximum_are_served_and_the_others_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(servers, "CONNECTIONS_MAX", 3)
    answers: list[Answer] = []

    async def ask(server: Running) -> None:
        answers.append(await server.exchange(request(b"GET /good HTTP/1.1", b"Connection: close")))

    async with running(serving(routes)) as server:
        recorder = AcceptanceRecorder()
        trio.lowlevel.add_instrument(recorder)
        waiting = [await server.connect() for _ in range(4)]
        await trio.testing.wait_all_tasks_blocked()
        served = len(recorder.accepted_at)
        for wire in waiting:
            await wire.stream.aclose()
        async with trio.open_nursery() as nursery:
            for _ in range(10):
                nursery.start_soon(ask, server)
        trio.lowlevel.remove_instrument(recorder)

    assert served == 3
    assert len(answers) == 10


@pytest.mark.usefixtures("complaints")
async def test_a_protocol_error_during_a_request_gets_only_one_answer() -> None:
    begun, may_end, ended = trio.Event(), trio.Event(), trio.Event()
    shielded = Routes("shielded", "A route of this test.")

    @shielded.post("/shielded")
    @public
    async def finish_shielded(call: Call) -> Note:
        """Finish even when the request is cancelled."""
        begun.set()
        with trio.CancelScope(shield=True):
            await may_end.wait()
        ended.set()
        return Note(text="done")

    async with running(serving(shielded)) as server:
        wire = await server.connect()
        async with wire.stream:
            await wire.send(request(b"POST /shielded HTTP/1.1", b"Transfer-Encoding: chunked"))
            await begun.wait()
            await wire.send(b"no chunk\r\n")
            answer = await wire.answer()
            may_end.set()
            rest = await wire.rest()
        await ended.wait()

    assert_envelope(answer, 400, "BAD_REQUEST")
    assert rest == b""


async def test_a_defect_on_one_connection_ends_no_other() -> None:
    class Defective(Application):
        def malformed(self, message: str, *, peer: str | None) -> Response:
            raise RuntimeError("a defect")

    async with running(Defective(make_installation(), routes.routes)) as server:
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
async def test_no_bytes_are_answered_with_500_or_affect_the_server(server: Running) -> None:
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
