"""The connection over which one process tells all others what is due: LISTEN, NOTIFY and an advisory lock.

The process that holds the lock polls; the lock ends with its session. Whatever it finds is announced by the statement
that finds it, also when it finds nothing, so that the other processes hear that it is alive and send no statement.
Requests never notify: PostgreSQL commits transactions with notifications one after the other.

Every process shares another advisory lock while it listens. The poll counts the holders, so that a process that is gone
is no longer counted, however it has ended, and none writes anything to be counted.
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from typing import Any, Final, LiteralString
from uuid import uuid4

import psycopg
import trio

from adapters.postgres.announcing import CHANNEL, POLLS_CHANNEL
from adapters.postgres.driver.greenlets import run_in_greenlet
from adapters.postgres.driver.suitability import reason
from adapters.postgres.driver.timed_connection import ANSWER_SECONDS_MAX, TimedConnection, difference, open_unshared
from adapters.postgres.platform.polling import NEXT, parameters
from core.billing.provider import BillingMode
from core.secrets import Secret
from core.webhooks.events import RETENTION
from ports.listening import LIVE, ListeningFailed, Polled, Word

# The keepalives let PostgreSQL notice within some ten seconds that the machine of the polling process is gone; on the
# socket of the same machine they have no effect. A heartbeat that is lost in a crash of the server is no loss.
PREPARE: Final = f"""
    SET synchronous_commit = off;
    SET tcp_keepalives_idle = 5;
    SET tcp_keepalives_interval = 2;
    SET tcp_keepalives_count = 3;
    SELECT pg_advisory_lock_shared(hashtext('gatehouse.process'));
    LISTEN {CHANNEL};
    LISTEN {POLLS_CHANNEL}
"""
PROBE: Final = f"SELECT pg_notify('{CHANNEL}', %s)"
# It comes right after the answer to the statement.
PROBE_SECONDS_MAX: Final = 5.0
LEAD: Final = "SELECT pg_try_advisory_lock(hashtext('gatehouse.polling'))"
IGNORE_POLLS: Final = f"UNLISTEN {POLLS_CHANNEL}"
LEAVE: Final = f"SELECT pg_advisory_unlock(hashtext('gatehouse.polling')), pg_notify('{CHANNEL}', '{Word.LEFT.value}')"
COUNT: Final = """
    SELECT count(*)
    FROM   pg_locks
    WHERE  locktype = 'advisory' AND mode = 'ShareLock' AND objsubid = 1
    AND    objid = hashtext('gatehouse.process')::oid
    AND    database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
# A poll between has the last number: reading the locks takes a millisecond for each few hundred of them.
COUNT_SECONDS: Final = 4.5
POLL: Final = f"""
    WITH next AS MATERIALIZED ({NEXT}), living AS MATERIALIZED (
        SELECT coalesce(%(processes)s::bigint, ({COUNT})) AS processes
    ), announced AS MATERIALIZED (
        SELECT pg_notify('{POLLS_CHANNEL}', concat('{Word.POLLED.value} {LIVE}', (SELECT processes FROM living),
                                                   string_agg(' ' || work, '') FILTER (WHERE due_at <= %(now)s)))
        FROM   next)
    SELECT    next.work, next.due_at, (SELECT processes FROM living)
    FROM      announced
    LEFT JOIN next ON true
"""


class PostgresListening:
    """The port `Listening`."""

    def __init__(self, address: Secret, *, mode: BillingMode, database_address: Secret | None = None) -> None:
        self._address = address
        self._database_address = database_address or address
        self._mode: BillingMode = mode
        # Of its own, because others may use up the threads that are shared.
        self._threads = trio.CapacityLimiter(1)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[PostgresListeningConnection]:
        try:
            driver = await trio.to_thread.run_sync(self._opened, limiter=self._threads)
        except (psycopg.Error, OSError) as error:
            raise ListeningFailed(reason(error)) from None
        try:
            connection = PostgresListeningConnection(driver, self._mode)
            await connection.begin()
            yield connection
        finally:
            driver.close()

    def _opened(self) -> TimedConnection:
        address, database_address = self._address.reveal(), self._database_address.reveal()
        # Work that is due in another database says nothing about this one.
        if address != database_address and (problem := difference(address, database_address)):
            raise psycopg.OperationalError(problem)
        return open_unshared(address)


class PostgresListeningConnection:
    """The port `ListeningConnection`; one task uses it."""

    def __init__(self, driver: TimedConnection, mode: BillingMode) -> None:
        self._driver = driver
        self._mode: BillingMode = mode
        self._places = trio.CapacityLimiter(1)
        self._heard: list[str] = []
        self._processes = 0
        self._counts_at = -math.inf
        driver.add_notify_handler(lambda notify: self._heard.append(notify.payload))

    async def begin(self) -> None:
        """Listen from now on; raise `ListeningFailed` when notifications do not arrive."""
        await self._run(partial(self._driver.execute, PREPARE, prepare=False))
        probe = f"probe:{uuid4()}"
        await self._rows(PROBE, (probe,))
        with trio.move_on_after(PROBE_SECONDS_MAX):
            while {probe} not in await self.hear(PROBE_SECONDS_MAX):
                pass
            return
        raise ListeningFailed("notifications do not arrive, as behind a pooler in transaction mode")

    async def try_to_lead(self) -> bool:
        [[is_ours]] = await self._rows(LEAD)
        if is_ours:
            await self._run(partial(self._driver.execute, IGNORE_POLLS, prepare=False))
        return is_ours

    async def poll(self, now: datetime) -> Polled:
        values = parameters(now=now, events_since=now - RETENTION, mode=self._mode)
        is_counted = trio.current_time() < self._counts_at
        rows = await self._rows(POLL, {**values, "processes": self._processes if is_counted else None})
        if not is_counted:
            self._processes, self._counts_at = rows[0][2], trio.current_time() + COUNT_SECONDS
        return Polled({work: due_at for work, due_at, _ in rows if work is not None}, processes=self._processes)

    async def hear(self, seconds: float) -> Sequence[frozenset[str]]:
        with trio.move_on_after(seconds):
            while not self._heard:
                await self._receive()
        heard = [frozenset(payload.split()) for payload in self._heard]
        self._heard.clear()
        return heard

    async def leave(self) -> None:
        await self._rows(LEAVE)

    async def _receive(self) -> None:
        try:
            await trio.lowlevel.wait_readable(self._driver.pgconn.socket)
            self._driver.pgconn.consume_input()
            while received := self._driver.pgconn.notifies():
                self._heard.append(received.extra.decode())
        except psycopg.Error as error:
            raise ListeningFailed(reason(error)) from None

    async def _rows(
        self, statement: LiteralString, values: Mapping[str, object] | tuple[str] | None = None
    ) -> list[Any]:
        return await self._run(lambda: self._driver.execute(statement, values, prepare=False).fetchall())

    async def _run(self, work: Callable[[], Any]) -> Any:
        try:
            return await run_in_greenlet(work, places=self._places, wait_seconds_max=ANSWER_SECONDS_MAX)
        except psycopg.Error as error:
            raise ListeningFailed(reason(error)) from None
