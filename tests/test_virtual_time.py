"""Virtual time: the clock jumps at once when every task sleeps, and never while work is outstanding."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial

import pytest
import trio
from trio.testing import MockClock, open_stream_to_socket_listener

from adapters.crypto.passwords import Argon2Cost, Argon2PasswordHasher
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from adapters.postgres.listening import PostgresListening, PostgresListeningConnection
from core.billing.provider import BillingMode
from core.secrets import Secret
from tests.adapters.counters import sql
from tests.waiting import wait_until

JUMPS = 1000
HOUR_SECONDS = 3600.0
MESSAGES = 100
IS_SENT = "SELECT state = 'idle' AND query ~ 'WITH next' FROM pg_stat_activity WHERE pid = %s"
LOCK = "SELECT pg_advisory_xact_lock(1)"


class RealWaits(trio.abc.Instrument):
    """Counts how often a loop waits in real time; when it first does, it calls what the test wants to happen then.

    It calls that after a wrong jump as well, so that the test fails instead of hanging.
    """

    def __init__(self) -> None:
        self.count = 0
        self.meanwhile: Callable[[], object] | None = None

    def before_io_wait(self, timeout: float) -> None:
        self.count += timeout > 0
        if self.meanwhile is not None and (timeout > 0 or trio.current_time() > 0):
            meanwhile, self.meanwhile = self.meanwhile, None
            meanwhile()


@pytest.fixture
async def real_waits() -> RealWaits:
    """The real waits of the test's loop."""
    real_waits = RealWaits()
    trio.lowlevel.add_instrument(real_waits)
    return real_waits


async def seconds_beside_a_sleep(work: Callable[[], Awaitable[object]]) -> float:
    """Return how much virtual time passes during some work while another task sleeps."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep, HOUR_SECONDS)
        began_at = trio.current_time()
        await work()
        return trio.current_time() - began_at


async def test_many_jumps_wait_for_nothing(real_waits: RealWaits, autojump_clock: MockClock) -> None:
    async def sleep_often() -> None:
        for _ in range(JUMPS):
            await trio.sleep(HOUR_SECONDS)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(sleep_often)
        nursery.start_soon(sleep_often)

    assert trio.current_time() == JUMPS * HOUR_SECONDS
    assert real_waits.count == 0


async def test_no_time_passes_while_a_thread_runs(real_waits: RealWaits, autojump_clock: MockClock) -> None:
    may_end = threading.Event()
    real_waits.meanwhile = may_end.set

    async def work() -> None:
        await trio.to_thread.run_sync(may_end.wait)

    assert await seconds_beside_a_sleep(work) == 0
    # After the thread the other task slept to its end.
    assert trio.current_time() == HOUR_SECONDS


async def test_no_time_passes_until_the_last_of_several_threads_has_ended(
    real_waits: RealWaits, autojump_clock: MockClock
) -> None:
    may_end = threading.Event()
    real_waits.meanwhile = may_end.set

    async def work() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.to_thread.run_sync, may_end.wait)
            await trio.to_thread.run_sync(str)

    assert await seconds_beside_a_sleep(work) == 0


async def test_no_time_passes_while_a_statement_waits_for_a_lock(
    real_waits: RealWaits, database: PostgresDatabase, connection: Connection, autojump_clock: MockClock
) -> None:
    # So that the statement below finds a connection and waits for nothing else.
    await database.transact(lambda uow: sql(uow, "SELECT 1"))
    connection.begin()
    connection.execute(LOCK)
    real_waits.meanwhile = connection.rollback

    assert await seconds_beside_a_sleep(partial(database.transact, lambda uow: sql(uow, LOCK))) == 0


def resume_when_sent(
    connection: Connection, sender: PostgresListeningConnection, other: PostgresListeningConnection
) -> None:
    try:
        wait_until(lambda: connection.execute(IS_SENT, (sender._driver.info.backend_pid,)).fetchone() == (True,))
    finally:
        # Also where it was not sent, so that no test leaves a process that is stopped.
        os.kill(other._driver.info.backend_pid, signal.SIGCONT)


async def test_an_announcement_is_heard_before_its_sender_goes_on(
    database_url: str, connection: Connection, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    listening = PostgresListening(Secret(database_url), mode=BillingMode.SANDBOX)
    heard = list[frozenset[str]]()

    async def hear(other: PostgresListeningConnection) -> None:
        heard.extend(await other.hear(HOUR_SECONDS))

    async with listening.open() as sender, listening.open() as other:
        await sender.try_to_lead()
        nursery.start_soon(hear, other)
        # PostgreSQL answers the sender, and delivers nothing to the other.
        os.kill(other._driver.info.backend_pid, signal.SIGSTOP)
        resumer = threading.Thread(target=resume_when_sent, args=(connection, sender, other))
        resumer.start()
        await sender.poll(datetime(2026, 2, 3, tzinfo=UTC))
        is_heard = bool(heard)
        resumer.join()

    assert is_heard


async def test_no_time_passes_while_a_password_is_hashed(real_waits: RealWaits, autojump_clock: MockClock) -> None:
    hasher = Argon2PasswordHasher(places=1, cost=Argon2Cost(memory_kib=8, passes=1))
    may_end = threading.Event()
    real_waits.meanwhile = may_end.set

    assert await seconds_beside_a_sleep(partial(hasher._when_there_is_room, may_end.wait)) == 0


async def test_no_time_passes_while_a_child_process_runs(real_waits: RealWaits, autojump_clock: MockClock) -> None:
    its_input, ours = os.pipe()
    process = await trio.lowlevel.open_process(["cat"], stdin=its_input)
    os.close(its_input)
    real_waits.meanwhile = partial(os.close, ours)

    assert await seconds_beside_a_sleep(process.wait) == 0


async def test_no_time_passes_while_bytes_are_on_their_way(
    real_waits: RealWaits, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")

    async def echo(stream: trio.SocketStream) -> None:
        async for data in stream:
            await stream.send_all(data)

    async def talk() -> None:
        async with await open_stream_to_socket_listener(listener) as client:
            for _ in range(MESSAGES):
                await client.send_all(b"hello")
                assert await client.receive_some() == b"hello"

    nursery.start_soon(trio.serve_listeners, echo, [listener])

    assert await seconds_beside_a_sleep(talk) == 0
    nursery.cancel_scope.cancel()


async def test_a_deadline_passes_at_once_when_a_peer_hangs(
    real_waits: RealWaits, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    client = await open_stream_to_socket_listener(listener)
    await client.send_all(b"hello")

    with pytest.raises(trio.TooSlowError), trio.fail_after(HOUR_SECONDS):
        await client.receive_some()

    assert trio.current_time() == HOUR_SECONDS
    assert real_waits.count == 0
    await client.aclose()
    await listener.aclose()


async def test_the_loop_of_another_thread_is_not_counted(autojump_clock: MockClock) -> None:
    has_begun, may_end = threading.Event(), threading.Event()

    def run() -> None:
        has_begun.set()
        may_end.wait()

    async def work() -> None:
        await trio.to_thread.run_sync(run)

    other = threading.Thread(target=trio.run, args=(work,))
    other.start()
    await trio.to_thread.run_sync(has_begun.wait)
    await trio.sleep(HOUR_SECONDS)
    may_end.set()
    other.join()

    assert trio.current_time() == HOUR_SECONDS
