"""Waiting for a socket as the driver asks: until it can be read, until it can be written, or in vain."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import psycopg
import pytest
import trio
from psycopg.waiting import Ready, Wait

from adapters.postgres.waiting import answer, ready_now

if TYPE_CHECKING:
    from collections.abc import Generator

    from adapters.postgres.database import PostgresDatabase

# More than a socket takes in one piece, so that the driver must write, read and write again.
MANY_BYTES = 4 * 1024 * 1024


@pytest.fixture
def ends() -> Generator[tuple[socket.socket, socket.socket]]:
    """Two ends of a connection."""
    here, there = socket.socketpair()
    with here, there:
        here.setblocking(False)
        yield here, there


def driver(*wanted: Wait) -> Generator[Wait, int, list[int]]:
    """Want one after the other, as the driver does, and give what came."""
    came: list[int] = []
    for each in wanted:
        ready = yield each
        came.append(ready)
    return came


async def test_what_wants_nothing_is_not_waited_for(ends: tuple[socket.socket, socket.socket]) -> None:
    assert await answer(driver(), ends[0].fileno()) == []


async def test_what_can_be_written_at_once_is_not_waited_for(ends: tuple[socket.socket, socket.socket]) -> None:
    assert await answer(driver(Wait.W, Wait.RW), ends[0].fileno()) == [Ready.W, Ready.W]


async def test_what_is_to_be_read_is_waited_for(
    ends: tuple[socket.socket, socket.socket], nursery: trio.Nursery
) -> None:
    here, there = ends
    came: list[list[int]] = []

    async def wait() -> None:
        came.append(await answer(driver(Wait.R, Wait.RW), here.fileno()))

    nursery.start_soon(wait)
    await trio.testing.wait_all_tasks_blocked()
    assert came == []
    there.send(b"answer")
    await trio.testing.wait_all_tasks_blocked()

    assert came == [[Ready.R, Ready.RW]]


@pytest.mark.parametrize("does_read", [True, False])
async def test_where_nothing_can_be_written_either_end_may_go_first(
    ends: tuple[socket.socket, socket.socket], nursery: trio.Nursery, *, does_read: bool
) -> None:
    here, there = ends
    fill(here)
    came: list[list[int]] = []

    async def wait() -> None:
        came.append(await answer(driver(Wait.RW), here.fileno()))

    nursery.start_soon(wait)
    await trio.testing.wait_all_tasks_blocked()
    assert came == []
    if does_read:
        there.recv(MANY_BYTES)
    else:
        there.send(b"answer")
    await trio.testing.wait_all_tasks_blocked()

    assert came == [[Ready.W if does_read else Ready.R]]


async def test_who_waits_no_longer_is_told_by_the_drivers_error(ends: tuple[socket.socket, socket.socket]) -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        with pytest.raises(psycopg.OperationalError, match="no answer in time"):
            await answer(driver(Wait.R), ends[0].fileno())


async def test_a_closed_end_is_ready_to_be_read(ends: tuple[socket.socket, socket.socket]) -> None:
    here, there = ends
    there.close()

    assert ready_now(here.fileno(), Wait.R) == Ready.R


async def test_a_statement_longer_than_the_socket_holds_arrives_whole(database: PostgresDatabase) -> None:
    def echo(uow: object) -> int:
        connection: psycopg.Connection[tuple[int]] = vars(uow)["_connection"]
        row = connection.execute("SELECT length(%s)", ("x" * MANY_BYTES,)).fetchone()
        assert row is not None
        return row[0]

    assert await database.read(echo) == MANY_BYTES


def fill(end: socket.socket) -> None:
    """Write until nothing more can be written."""
    while ready_now(end.fileno(), Wait.W):
        end.send(b"x" * 1024)
