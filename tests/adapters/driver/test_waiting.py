"""Waiting for a socket as the driver requests: until it can be read, until it can be written, or until a deadline."""

from __future__ import annotations

import socket
from collections.abc import Generator

import psycopg
import pytest
import trio
from psycopg.waiting import Ready, Wait

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.columns import scalar_row
from adapters.postgres.driver.connection import Connection
from adapters.postgres.driver.greenlets import run_in_greenlet
from adapters.postgres.driver.timed_connection import answer_of, ready_now

# More than a socket takes at once, so that the driver must write, read and write again.
MANY_BYTES = 4 * 1024 * 1024
LONG_SECONDS = 10.0
SHORT_SECONDS = 0.01


@pytest.fixture
def ends() -> Generator[tuple[socket.socket, socket.socket]]:
    """The two ends of a socket pair."""
    here, there = socket.socketpair()
    with here, there:
        here.setblocking(False)
        yield here, there


def driver(*wanted: Wait) -> Generator[Wait, int, list[int]]:
    """Request one readiness after the other, as the driver does, and return the answers."""
    answers: list[int] = []
    for each in wanted:
        ready = yield each
        answers.append(ready)
    return answers


async def answered(end: socket.socket, *wanted: Wait, seconds_max: float = LONG_SECONDS) -> list[int]:
    """Wait for the driver's requests as a use case does."""
    return await run_in_greenlet(
        lambda: answer_of(driver(*wanted), end.fileno(), seconds_max=seconds_max, spare_seconds=0.0),
        places=trio.CapacityLimiter(1),
        wait_seconds_max=LONG_SECONDS,
    )


async def test_work_without_a_request_does_not_wait(ends: tuple[socket.socket, socket.socket]) -> None:
    assert await answered(ends[0]) == []


async def test_a_socket_that_can_be_written_at_once_is_not_waited_for(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    assert await answered(ends[0], Wait.W, Wait.RW) == [Ready.W, Ready.W]


async def test_a_request_to_read_waits_for_data(
    ends: tuple[socket.socket, socket.socket], nursery: trio.Nursery
) -> None:
    here, there = ends
    answers: list[list[int]] = []

    async def wait() -> None:
        answers.append(await answered(here, Wait.R, Wait.RW))

    nursery.start_soon(wait)
    await trio.testing.wait_all_tasks_blocked()
    assert answers == []
    there.send(b"answer")
    await trio.testing.wait_all_tasks_blocked()

    assert answers == [[Ready.R, Ready.RW]]


@pytest.mark.parametrize("does_read", [True, False])
async def test_a_request_to_read_or_write_waits_for_either(
    ends: tuple[socket.socket, socket.socket], nursery: trio.Nursery, *, does_read: bool
) -> None:
    here, there = ends
    fill(here)
    answers: list[list[int]] = []

    async def wait() -> None:
        answers.append(await answered(here, Wait.RW))

    nursery.start_soon(wait)
    await trio.testing.wait_all_tasks_blocked()
    assert answers == []
    if does_read:
        there.recv(MANY_BYTES)
    else:
        there.send(b"answer")
    await trio.testing.wait_all_tasks_blocked()

    assert answers == [[Ready.W if does_read else Ready.R]]


@pytest.mark.parametrize("wanted", [Wait.R, Wait.W, Wait.RW])
async def test_the_drivers_error_is_raised_at_the_deadline(
    ends: tuple[socket.socket, socket.socket], wanted: Wait
) -> None:
    here, _ = ends
    fill(here)

    with pytest.raises(psycopg.OperationalError, match="no answer in time"):
        await answered(here, wanted, seconds_max=SHORT_SECONDS)


async def test_a_closed_end_is_ready_to_be_read(ends: tuple[socket.socket, socket.socket]) -> None:
    here, there = ends
    there.close()

    assert ready_now(here.fileno(), Wait.R) == Ready.R


async def test_a_statement_larger_than_the_socket_buffer_arrives_complete(database: PostgresDatabase) -> None:
    def echo(uow: object) -> int:
        connection: Connection = vars(uow)["_transaction"].connection
        row = connection.execute("SELECT length(%s)", ("x" * MANY_BYTES,)).fetchone()
        assert row is not None
        return row[0]

    assert await database.read(echo) == MANY_BYTES


async def test_large_statements_and_answers_at_the_same_time_arrive_complete(database: PostgresDatabase) -> None:
    def echo(uow: object) -> list[int]:
        connection: Connection = vars(uow)["_transaction"].connection
        cursors = [
            connection.cursor(row_factory=scalar_row).defer("SELECT %s::text", ("x" * MANY_BYTES,)) for _ in range(3)
        ]
        return [len(text) for cursor in cursors for text in cursor]

    assert await database.read(echo) == [MANY_BYTES] * 3


def fill(end: socket.socket) -> None:
    """Write until the socket takes no more."""
    while ready_now(end.fileno(), Wait.W):
        end.send(b"x" * 1024)


async def test_after_a_deadline_of_its_own_a_use_case_can_wait_for_another_answer(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    def ask_twice() -> list[int]:
        with pytest.raises(psycopg.OperationalError, match="no answer in time"):
            answer_of(driver(Wait.R), ends[0].fileno(), seconds_max=SHORT_SECONDS, spare_seconds=None)
        ends[1].send(b"answer")
        return answer_of(driver(Wait.R), ends[0].fileno(), seconds_max=LONG_SECONDS, spare_seconds=0.0)

    answered = await run_in_greenlet(ask_twice, places=trio.CapacityLimiter(1), wait_seconds_max=LONG_SECONDS)

    assert answered == [Ready.R]
