"""The queue of streams: leased once, found by an index, and never made due too late."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import trio
from structlog.testing import capture_logs

from adapters.crypto.vault import MasterKey, Vault
from adapters.postgres.audit.siem import EVENTS, LEASE
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.transaction import Tools
from core.audit import chain, siem_stream
from core.audit.siem import SiemOptions, SiemProvider, SiemStream
from core.audit.siem_stream import BATCH_EVERY, SCANNED_MAX, LeasedStream, StreamReceipt
from core.ids import FIRST_ID, LAST_ID
from core.secrets import Secret
from tests.audit_chains import BATCH_ENTRIES, add_entry, seal_all
from tests.clock import SettableClock
from tests.plans import explained, indexes_used, rows_read, tables_read_whole
from tests.world.builder import Builder, new_id

Transact = Callable[..., Any]


NOTHING = StreamReceipt(received=0, status_code=None, error=None)


@pytest.fixture
def acme(builder: Builder, clock: SettableClock, transact: Transact) -> UUID:
    """An organization with a stream."""
    organization_id = builder.organization()
    transact(save, organization_id, clock)
    return organization_id


def save(uow: Any, organization_id: UUID, clock: SettableClock, *, event_filter: list[str] | None = None) -> None:
    """Store a stream of an organization from the beginning of its log."""
    stream = SiemStream(
        id=new_id(),
        provider=SiemProvider.HTTP,
        endpoint="https://siem.example.com",
        has_token=True,
        options=SiemOptions(),
        event_filter=event_filter,
        enabled=True,
        starts_at=None,
        position=0,
        sealed_through=0,
        failures=0,
        last_success_at=None,
        last_error=None,
        created_at=clock(),
        updated_at=clock(),
    )
    uow.siem_streams.save(organization_id, stream, Secret("a-token-of-a-receiver"), keeps_token=False)


def lease(transact: Transact) -> list[LeasedStream]:
    """Lease all streams that are due."""
    return list(transact(siem_stream.lease, 100))


def pass_over(transact: Transact, stream: LeasedStream) -> None:
    """Record that everything that is sealed was received."""
    batch = transact(siem_stream.next_batch, stream)
    received = StreamReceipt(received=len(batch.events), status_code=200, error=None)
    assert transact(siem_stream.record, stream, batch, received) is not None


def test_a_stream_without_anything_to_send_is_due_again_when_entries_are_sealed(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact
) -> None:
    [stream] = lease(transact)
    pass_over(transact, stream)
    clock.advance(timedelta(days=1))
    assert lease(transact) == []

    add_entry(builder.connection, acme, clock)
    seal_all(transact)

    assert [one.id for one in lease(transact)] == [stream.id]


def test_entries_make_only_the_stream_of_their_organization_due(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact
) -> None:
    bolt = builder.organization("bolt")
    transact(save, bolt, clock)
    for stream in lease(transact):
        pass_over(transact, stream)
    add_entry(builder.connection, bolt, clock)
    seal_all(transact)
    clock.advance(BATCH_EVERY)

    assert [stream.organization_id for stream in lease(transact)] == [bolt]


async def test_a_stream_is_leased_by_one_of_several_streamers(acme: UUID, database: PostgresDatabase) -> None:
    leased: list[LeasedStream] = []

    async def lease_once() -> None:
        leased.extend(await database.transact(siem_stream.lease, 10))

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(lease_once)

    assert len(leased) == 1


async def test_sealing_and_recording_at_once_never_leave_a_stream_asleep_with_entries_to_send(
    builder: Builder, acme: UUID, clock: SettableClock, database: PostgresDatabase
) -> None:
    async def seal() -> None:
        await database.transact(chain.seal_next, BATCH_ENTRIES)

    async def serve() -> None:
        for stream in await database.transact(siem_stream.lease, 10):
            batch = await database.read(siem_stream.next_batch, stream)
            receipt = StreamReceipt(received=len(batch.events), status_code=200, error=None)
            await database.transact(siem_stream.record, stream, batch, receipt)

    for _ in range(30):
        add_entry(builder.connection, acme, clock)
        clock.advance(BATCH_EVERY)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(seal)
            nursery.start_soon(serve)

        [(is_behind, is_due)] = builder.rows(
            """
            SELECT c.sealed_through > s.position, s.due_at IS NOT NULL
            FROM   siem_streams s JOIN audit_chains c USING (organization_id)
            """
        )
        assert is_due or not is_behind


def test_a_filter_that_admits_little_passes_many_entries_at_a_time(
    builder: Builder, clock: SettableClock, transact: Transact
) -> None:
    acme = builder.organization()
    transact(save, acme, clock, event_filter=["user."])
    # The positions alone matter here.
    builder.connection.execute(
        """
        INSERT INTO audit_entries (id, organization_id, action, target_type, target_id, success, details, created_at,
                                   position)
        SELECT gen_random_uuid(), %s, CASE n %% 4000 WHEN 0 THEN 'user.joined' ELSE 'plan.created' END, 'plan', 'x',
               true, '{}', now(), n
        FROM   generate_series(1, %s) AS n
        """,
        (acme, SCANNED_MAX + 4000),
    )
    builder.connection.execute(
        """
        INSERT INTO audit_seals (organization_id, position, entry_id, hash, digests, salts)
        SELECT organization_id, position, id, 'x', '{}', '{}' FROM audit_entries
        """
    )
    builder.connection.execute(
        "INSERT INTO audit_chains (organization_id, sealed_through, head, sealed_at) VALUES (%s, %s, 'x', now())",
        (acme, SCANNED_MAX + 4000),
    )
    seen: list[tuple[int, int, bool]] = []
    for _ in range(2):
        [stream] = lease(transact)
        batch = transact(siem_stream.next_batch, stream)
        seen.append((len(batch.events), batch.through, batch.has_more))
        receipt = StreamReceipt(received=len(batch.events), status_code=200, error=None)
        transact(siem_stream.record, stream, batch, receipt)

    assert seen == [(1, SCANNED_MAX, True), (1, SCANNED_MAX + 4000, False)]
    assert lease(transact) == []


def test_hardly_more_bytes_are_read_than_a_batch_has(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact
) -> None:
    for number in range(30):
        add_entry(builder.connection, acme, clock, n=number, text="x" * 100_000)
    seal_all(transact)
    [stream] = lease(transact)

    batch = transact(siem_stream.next_batch, stream)

    assert (len(batch.events), batch.through, batch.has_more) == (11, 11, True)


def test_a_token_that_cannot_be_opened_holds_up_no_other_stream(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact, tools: Tools
) -> None:
    bolt = builder.organization("bolt")
    lost = Vault([MasterKey.generate()])
    [stream_id] = [value for (value,) in builder.rows("SELECT id FROM siem_streams")]
    sealed = lost.seal(b"x", row=stream_id, table="siem_streams", column="token_sealed")
    builder.connection.execute("UPDATE siem_streams SET token_sealed = %s", (sealed,))
    transact(save, bolt, clock)

    with capture_logs() as lines:
        leased = lease(transact)

    assert [stream.organization_id for stream in leased] == [bolt]
    assert [line["event"] for line in lines] == ["siem.unreadable"]


@pytest.mark.one_server
def test_neither_the_queue_nor_the_entries_are_read_whole(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact
) -> None:
    builder.connection.execute(
        """
        WITH made AS (
            INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
            SELECT gen_random_uuid(), 'org-' || n, 'Org', 'active', id, now(), now()
            FROM   generate_series(1, 2000) AS n, tiers
            WHERE  tiers.name = 'free'
            RETURNING id)
        INSERT INTO siem_streams (id, organization_id, provider, endpoint, options, enabled, position, created_at,
                                  updated_at)
        SELECT gen_random_uuid(), id, 'http', 'https://siem.example.com', '{}', true, 0, now(), now() FROM made
        """
    )
    for number in range(1000):
        add_entry(builder.connection, acme, clock, n=number)
    seal_all(transact)
    builder.connection.execute("ANALYZE organizations, siem_streams, audit_entries, audit_seals")

    leasing = explained(builder.connection, LEASE, {"now": clock(), "leased_until": clock(), "streams_max": 10})
    events = explained(
        builder.connection,
        EVENTS,
        {
            "organization_id": acme,
            "after": 700,
            "through": 1000,
            "first_sealed_id": FIRST_ID,
            "last_sealed_id": LAST_ID,
            "starts_at": None,
            "prefixes": ["service."],
            "limit": 50,
            "bytes_max": 10_000,
        },
    )

    assert tables_read_whole(leasing) | tables_read_whole(events) == set()
    assert "siem_streams_due" in indexes_used(leasing)
    assert rows_read(leasing, "organizations") <= 2
    assert rows_read(events, "audit_entries") <= 51
