"""Webhooks: how soon a committed event is attempted, how many deliveries a second arrive, and what a backlog changes.

The receiver answers at once and runs in the same process, so its work counts as well.
"""

from __future__ import annotations

import logging
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import psycopg
import structlog
import trio

from core.events.events import EventType
from core.webhooks import deliveries as rules
from core.webhooks import webhooks
from core.webhooks.webhooks import SigningSecrets, Webhook
from entrypoints import database, main, settings
from entrypoints.installation import Installation
from ops.benchmarks.comparing import Spread
from ops.benchmarks.progress import Say
from ops.benchmarks.standing import StandingFigure
from ports.unit_of_work import UnitOfWork

EVENTS_PER_SECOND: Final = 100
SECONDS: Final = 10
FIRST_ATTEMPT_P99_MS_MAX: Final = 100.0
FLOOD_EVENTS: Final = 2_000
FLOOD_WEBHOOKS: Final = 8
BACKLOG: Final = 1_000_000
BACKLOG_WEBHOOKS: Final = webhooks.WEBHOOKS_MAX
LEASES: Final = 50
WAIT_SECONDS_MAX: Final = 300.0
ANSWER: Final = b"HTTP/1.1 204 No Content\r\n\r\n"
BIG: Final = ("events", "webhook_deliveries")
# A UUIDv7 of the present.
ID: Final = """
    (lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint), 12, '0') || '7'
     || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid
"""
READ_WHOLE: Final = """
    SELECT coalesce(sum(seq_tup_read), 0)::bigint
    FROM   pg_stat_user_tables
    WHERE  regexp_replace(relname, '_(before|default|[0-9_]+)$', '') = ANY (%s)
"""


@dataclass(slots=True)
class _Receiver:
    """Answers every request, and notes when it came; an event is known by its name in the body."""

    arrived: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])
    port: int = 0

    async def serve(self, stream: trio.SocketStream) -> None:
        """Answer the requests of one connection."""
        data = b""
        async with stream:
            while chunk := await stream.receive_some():
                data += chunk
                head, blank, body = data.partition(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
                if blank and len(body) >= length:
                    name = body.rpartition(b'"name":"')[2] or body
                    self.arrived.append((name.partition(b'"')[0].decode(), trio.current_time()))
                    data = b""
                    await stream.send_all(ANSWER)

    async def wait_for(self, count: int) -> None:
        """Wait until this many deliveries have arrived."""
        with trio.fail_after(WAIT_SECONDS_MAX):
            while True:
                if len(self.arrived) >= count:
                    return
                await trio.sleep(0.01)


def deliveries(say: Say) -> list[StandingFigure]:
    """Measure deliveries in a fresh data folder."""
    with _quiet_log(), tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder:
        read = settings.load({"GATEHOUSE_DATA_DIR": str(Path(folder) / "data"), "GATEHOUSE_DEV": "on"})
        database.make_data_folder(read.data_dir)
        with database.address_of(read) as address:
            database.migrate(address, lambda _line: None)
            with psycopg.connect(address.reveal(), autocommit=True) as connection:
                return [
                    *trio.run(_first_attempts, read, address, connection, say),
                    *trio.run(_flood, read, address, connection, say),
                    *trio.run(_backlog, read, address, connection, say),
                ]


@contextmanager
def _quiet_log() -> Generator[None]:
    """Log failures only, because a line for each delivery would hide the figures."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        yield
    finally:
        structlog.configure(**before)


@asynccontextmanager
async def _running(
    read: settings.Settings, address: Any, *, with_actors: bool = True
) -> AsyncGenerator[tuple[Installation, _Receiver]]:
    receiver = _Receiver()
    async with main.connected(read, address) as connected, trio.open_nursery() as nursery:
        await connected.load_secrets()
        [listener] = await nursery.start(partial(trio.serve_tcp, receiver.serve, 0, host="127.0.0.1"))
        receiver.port = listener.socket.getsockname()[1]
        if with_actors:
            connected.start_actors()
        yield connected.installation, receiver
        nursery.cancel_scope.cancel()


async def _webhook(
    installation: Installation, connection: psycopg.Connection[Any], receiver: _Receiver, slug: str, count: int
) -> UUID:
    """Insert an organization with webhooks that lead to the receiver; return its id."""
    [[organization_id]] = connection.execute(
        """
        INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
        SELECT gen_random_uuid(), %s, 'Bench', 'active', id, now(), now() FROM tiers WHERE name = 'free'
        RETURNING id
        """,
        (slug,),
    ).fetchall()

    def add(uow: UnitOfWork) -> None:
        for number in range(count):
            webhook = Webhook(
                id=uow.randomness.new_id(),
                name=f"hook {number}",
                url=f"http://127.0.0.1:{receiver.port}/{number}",
                events=[EventType.USER_INVITED.value],
                is_active=True,
                created_at=uow.now,
                updated_at=uow.now,
            )
            uow.webhooks.add(organization_id, webhook, SigningSecrets(current=webhooks.new_secret(uow)))

    await installation.database.transact(add)
    return organization_id


def _publish(uow: UnitOfWork, organization_id: UUID, *names: str) -> None:
    for name in names:
        uow.publish(EventType.USER_INVITED, organization_id=organization_id, name=name)


async def _first_attempts(
    read: settings.Settings, address: Any, connection: psycopg.Connection[Any], say: Say
) -> list[StandingFigure]:
    """Publish events at a steady rate, and measure from each commit to the arrival."""
    committed: dict[str, float] = {}
    async with _running(read, address) as (installation, receiver):
        organization_id = await _webhook(installation, connection, receiver, "steady", 1)

        async def publish(name: str) -> None:
            await installation.database.transact(_publish, organization_id, name)
            committed[name] = trio.current_time()

        began_at = trio.current_time()
        async with trio.open_nursery() as nursery:
            for number in range(EVENTS_PER_SECOND * SECONDS):
                await trio.sleep_until(began_at + number / EVENTS_PER_SECOND)
                nursery.start_soon(publish, str(number))
        await receiver.wait_for(EVENTS_PER_SECOND * SECONDS)
    took = [max(0.0, at - committed[name]) * 1000 for name, at in receiver.arrived if name in committed]
    percentiles = statistics.quantiles(took, n=100, method="inclusive")
    say(f"first attempts: p50 {percentiles[49]:.1f} ms, p99 {percentiles[98]:.1f} ms after the commit")
    return [
        StandingFigure(
            name=f"webhooks: commit to arrival at {EVENTS_PER_SECOND} events/s, p50",
            unit="ms",
            values=Spread.of([percentiles[49]]),
        ),
        StandingFigure(
            name=f"webhooks: commit to arrival at {EVENTS_PER_SECOND} events/s, p99",
            unit="ms",
            values=Spread.of([percentiles[98]]),
            maximum=FIRST_ATTEMPT_P99_MS_MAX,
        ),
    ]


async def _flood(
    read: settings.Settings, address: Any, connection: psycopg.Connection[Any], say: Say
) -> list[StandingFigure]:
    """Publish many events at once for a few webhooks, and count what arrives a second."""
    async with _running(read, address) as (installation, receiver):
        organization_id = await _webhook(installation, connection, receiver, "flood", FLOOD_WEBHOOKS)
        names = [str(number) for number in range(FLOOD_EVENTS)]
        await installation.database.transact(_publish, organization_id, *names)
        began_at, began_with = trio.current_time(), time.process_time()
        await receiver.wait_for(FLOOD_EVENTS * FLOOD_WEBHOOKS)
        rate = len(receiver.arrived) / (trio.current_time() - began_at)
        processor_ms = (time.process_time() - began_with) * 1000 / len(receiver.arrived)
    say(f"flood: {rate:,.0f} deliveries/s to {FLOOD_WEBHOOKS} webhooks, {processor_ms:.1f} ms of a processor each")
    return [
        StandingFigure(name="webhooks: deliveries", unit="1/s", values=Spread.of([rate])),
        # One process does not send more than a processor allows; this does not depend on the neighbours.
        StandingFigure(
            name="webhooks: Python's processor time per delivery", unit="ms", values=Spread.of([processor_ms])
        ),
    ]


async def _backlog(
    read: settings.Settings, address: Any, connection: psycopg.Connection[Any], say: Say
) -> list[StandingFigure]:
    """Lease with few and with very many deliveries that wait; the second must read no table whole."""
    async with _running(read, address, with_actors=False) as (installation, receiver):
        organization_id = await _webhook(installation, connection, receiver, "backlog", BACKLOG_WEBHOOKS)
        _queue(connection, organization_id, LEASES)
        without = await _leases(installation)
        _queue(connection, organization_id, BACKLOG // BACKLOG_WEBHOOKS)
        say(f"{BACKLOG:,} deliveries wait")
        [[before]] = connection.execute(READ_WHOLE, (list(BIG),)).fetchall()
        took = await _leases(installation)
        await trio.sleep(2)  # PostgreSQL publishes its counters about once a second.
        [[after]] = connection.execute(READ_WHOLE, (list(BIG),)).fetchall()
    with_backlog, usual = statistics.median(took), statistics.median(without)
    say(f"lease: p50 {with_backlog:.1f} ms with the backlog, {usual:.1f} ms without")
    return [
        StandingFigure(name="webhooks: lease with few waiting", unit="ms", values=Spread.of(without)),
        StandingFigure(name=f"webhooks: lease with {BACKLOG:,} waiting", unit="ms", values=Spread.of(took)),
        StandingFigure(
            name="webhooks: rows of big tables read whole", unit="", values=Spread.of([after - before]), maximum=0.0
        ),
    ]


def _queue(connection: psycopg.Connection[Any], organization_id: UUID, events: int) -> None:
    """Make this many events due for each webhook of the organization."""
    connection.execute(
        f"""
        WITH made AS (
            INSERT INTO events (id, type, organization_id, data, occurred_at, position)
            SELECT {ID}, 'user.invited', %s, '{{"name": "x"}}', now(), 1000000 + n
            FROM   generate_series(1, %s) AS n
            RETURNING *
        )
        INSERT INTO webhook_deliveries (id, organization_id, webhook_id, event_id, event_type, queued_at, next_retry_at,
                                        created_at, updated_at)
        SELECT {ID}, w.organization_id, w.id, made.id, made.type, now(), now(), now(), now()
        FROM   webhooks w JOIN made USING (organization_id)
        """.encode(),  # noqa: S608 - made of a constant
        (organization_id, events),
    )
    connection.execute("UPDATE webhook_queues SET due_at = now() WHERE organization_id = %s", (organization_id,))
    # Otherwise PostgreSQL's own work after this many rows would run during the measurement.
    connection.execute("VACUUM ANALYZE")


async def _leases(installation: Installation) -> list[float]:
    """Lease and release repeatedly; return how long each lease took in milliseconds."""
    took: list[float] = []
    for _ in range(LEASES):
        began_at = trio.current_time()
        leased = await installation.database.transact(rules.lease, 8, 8)
        took.append((trio.current_time() - began_at) * 1000)
        for webhook in leased:
            await installation.database.transact(rules.release, webhook)
    return took
