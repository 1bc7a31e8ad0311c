"""Many connections, some of them broken: each gets its own answers, and none affects another."""

import ipaddress
import socket
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from quart import Response
from structlog.testing import capture_logs
from trio.testing import MockClock

from entrypoints import server as servers
from entrypoints.server import ACCEPTED_IN_A_ROW_MAX, FULL_SECONDS_MAX
from entrypoints.settings import Settings
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.connection.open_connections import IDLE_SECONDS_MIN
from entrypoints.web.serving.routes import Routes
from tests.web.probe import make_installation, serving
from tests.web.serving.connections.wires import (
    GOOD,
    Answer,
    Note,
    Running,
    Wire,
    assert_envelope,
    request,
    routes,
    running,
)


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


@asynccontextmanager
async def limited(
    monkeypatch: pytest.MonkeyPatch, *, total_max: int, of_a_client_max: int = 100, settings: Settings | None = None
) -> AsyncGenerator[Running]:
    """Run a server with few connections, and a route that waits until the test lets it end."""
    monkeypatch.setattr(servers, "CONNECTIONS_MAX", total_max)
    monkeypatch.setattr(servers, "CONNECTIONS_OF_A_CLIENT_MAX", of_a_client_max)
    async with running(serving(routes, settings)) as server:
        yield server


def counted(server: Running, series: str) -> float:
    """Return what the metrics say."""
    lines = server.application.installation.metrics.exposition().decode().splitlines()
    [value] = [line for line in lines if line.startswith(f"{series} ")]
    return float(value.rpartition(" ")[2])


async def is_open(wire: Wire) -> bool:
    """Send a request, and return whether the connection was still open for it."""
    await wire.send(GOOD)
    try:
        return bool(await wire.answer())
    except (AssertionError, trio.BrokenResourceError):
        return False


BEHIND_A_PROXY = Settings(trusted_proxies=(ipaddress.ip_network("127.0.0.1/32"),))
UNFINISHED = request(b"POST /notes HTTP/1.1", b"Content-Length: 2")


@pytest.mark.usefixtures("complaints")
async def test_the_longest_idle_connection_gives_way_when_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async with limited(monkeypatch, total_max=3, settings=BEHIND_A_PROXY) as server:
        first, second, third = [await server.connect() for _ in range(3)]
        await trio.sleep(IDLE_SECONDS_MIN)
        # Now the second one has been idle for the longest time.
        await first.send(GOOD)
        await first.answer()
        await trio.sleep(IDLE_SECONDS_MIN)

        answer = await server.exchange(GOOD)

        assert answer.status == 200
        assert await second.rest() == b""
        assert [await is_open(wire) for wire in (first, third)] == [True, True]


@pytest.mark.usefixtures("complaints")
@pytest.mark.parametrize("begun", [GOOD[:1], GOOD[:-2], UNFINISHED], ids=["one byte", "head", "body"])
async def test_a_connection_on_which_a_request_has_begun_never_gives_way(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock, begun: bytes
) -> None:
    async with limited(monkeypatch, total_max=3, settings=BEHIND_A_PROXY) as server:
        busy = [await server.connect() for _ in range(2)]
        for wire in busy:
            await wire.send(begun)
        idle = await server.connect()
        await trio.sleep(2 * IDLE_SECONDS_MIN)

        answer = await server.exchange(GOOD)
        for wire in busy:
            await wire.send(b"{}" if begun == UNFINISHED else GOOD[len(begun) :])
        statuses = [(await wire.answer()).status for wire in busy]

        assert answer.status == 200
        assert statuses == [200, 200]
        assert await idle.rest() == b""


@pytest.mark.usefixtures("complaints")
async def test_a_connection_whose_request_is_in_the_kernel_does_not_give_way(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async with limited(monkeypatch, total_max=3, settings=BEHIND_A_PROXY) as server:
        wires = [await server.connect() for _ in range(3)]
        await trio.sleep(2 * IDLE_SECONDS_MIN)

        # Nothing here waits, so the server learns of the requests and of the new connections at the same time.
        for wire in wires:
            await wire.stream.socket.send(GOOD)
        with socket.create_connection(("127.0.0.1", server.port)):
            statuses = [(await wire.answer()).status for wire in wires]

    assert statuses == [200] * 3


async def test_when_no_connection_is_idle_a_new_one_waits_and_the_log_says_so_once(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async with limited(monkeypatch, total_max=3, settings=BEHIND_A_PROXY) as server:
        busy = [await server.connect() for _ in range(3)]
        for wire in busy:
            await wire.send(UNFINISHED)
        await trio.testing.wait_all_tasks_blocked()

        with capture_logs() as logs:
            waiting = [await server.connect() for _ in range(3)]
            for wire in waiting:
                await wire.send(request(b"GET /good HTTP/1.1", b"Connection: close"))
            await trio.sleep(2 * FULL_SECONDS_MAX)
            await busy[0].send(b"{}")
            statuses = [(await wire.answer()).status for wire in [busy[0], *waiting]]

    assert statuses == [200] * 4
    assert [line["connections"] for line in logs if line["event"] == "server.full"] == [3]
    # Connections behind the first one wait in the kernel, where they are not counted.
    assert counted(server, 'sso_connections_refused_total{reason="full"}') == 1


@pytest.mark.usefixtures("complaints")
async def test_many_requests_at_once_are_all_answered_over_few_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Answer] = []

    async def ask(server: Running) -> None:
        answers.append(await server.exchange(request(b"GET /good HTTP/1.1", b"Connection: close")))

    async with limited(monkeypatch, total_max=3, settings=BEHIND_A_PROXY) as server, trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(ask, server)

    assert [answer.status for answer in answers] == [200] * 10


@pytest.mark.usefixtures("complaints")
async def test_a_client_with_many_idle_connections_makes_room_for_its_own_new_ones_only(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async with limited(monkeypatch, total_max=100, of_a_client_max=5) as server:
        other = await server.connect(from_address="127.0.0.2")
        many = [await server.connect() for _ in range(5)]
        for _ in range(4):
            await trio.sleep(IDLE_SECONDS_MIN)
            many.append(await server.connect())

        await trio.testing.wait_all_tasks_blocked()
        assert [await wire.rest() for wire in many[:4]] == [b""] * 4
        assert [await is_open(wire) for wire in [*many[4:], other]] == [True] * 6


@pytest.mark.usefixtures("complaints")
async def test_a_client_whose_connections_are_all_in_use_is_refused_another_one_and_other_clients_are_not(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async with limited(monkeypatch, total_max=100, of_a_client_max=2) as server:
        busy = [await server.connect() for _ in range(2)]
        for wire in busy:
            await wire.send(UNFINISHED)
        await trio.sleep(2 * IDLE_SECONDS_MIN)

        with capture_logs() as logs:
            refused = await server.connect()
            end = await refused.rest()
        by_other = await server.connect(from_address="127.0.0.2")

        assert end == b""
        assert [line["client"] for line in logs if line["event"] == "connection.refused"] == ["127.0.0.1"]
        assert counted(server, 'sso_connections_refused_total{reason="share"}') == 1
        await trio.testing.wait_all_tasks_blocked()
        assert counted(server, "sso_connections_open") == 3
        assert await is_open(by_other)
        for wire in busy:
            await wire.send(b"{}")
            assert (await wire.answer()).status == 200
        await busy[0].stream.aclose()
        await trio.testing.wait_all_tasks_blocked()
        assert await is_open(await server.connect())


@pytest.mark.usefixtures("complaints")
@pytest.mark.parametrize("settings", [BEHIND_A_PROXY, Settings(rate_limits=False)], ids=["proxy", "load test"])
async def test_a_trusted_proxy_and_a_load_test_may_open_any_number_of_connections(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    async with limited(monkeypatch, total_max=100, of_a_client_max=2, settings=settings) as server:
        wires = [await server.connect() for _ in range(10)]

        assert [await is_open(wire) for wire in wires] == [True] * 10


@pytest.mark.usefixtures("complaints")
async def test_the_open_connections_are_counted_exactly_however_they_end(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async with limited(monkeypatch, total_max=100, of_a_client_max=3) as server:
        for _ in range(5):
            ended, reset, refused = [await server.connect() for _ in range(3)]
            await ended.stream.send_eof()
            reset.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            await reset.stream.aclose()
            await refused.send(b"nonsense\r\n\r\n")
            await refused.rest()
            await ended.rest()
            await refused.stream.aclose()
            await trio.testing.wait_all_tasks_blocked()

        assert [await is_open(await server.connect()) for _ in range(3)] == [True] * 3


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


@pytest.mark.hypothesis
@pytest.mark.usefixtures("complaints")
async def test_no_bytes_are_answered_with_500_or_affect_the_server(server: Running) -> None:
    async def send_and_hang_up(data: bytes) -> bytes:
        wire = await server.connect()
        async with wire.stream:
            await wire.send(data)
            await wire.stream.send_eof()
            return await wire.rest()

    @settings(max_examples=2 * settings().max_examples, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(pieces | st.binary(max_size=20), max_size=15).map(b"".join))
    def no_500(data: bytes) -> None:
        received = trio.from_thread.run(send_and_hang_up, data)

        assert b"HTTP/1.1 5" not in received
        assert received in {b"", b"reset"} or received.startswith(b"HTTP/1.1 ")

    await trio.to_thread.run_sync(no_500)

    assert (await server.exchange(GOOD)).status == 200
