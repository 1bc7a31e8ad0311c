"""Sealing audit entries: in batches, fairly, beside other transactions, and by one replica at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import psycopg
import pytest
import trio

from adapters.postgres.audit import chain as sql
from adapters.postgres.audit.chain import MARKED, ORGANIZATIONS_MAX, UNSEALED, WAITING
from adapters.postgres.audit.chain_verification import PAGE
from adapters.postgres.database import PostgresDatabase
from core.audit import chain
from core.audit.chain import FIRST_HASH, SealingBacklog, UnsealedLog
from core.audit.chain_verification import ChainBroken
from core.ids import FIRST_ID, LAST_ID, first_id_at
from ports.unit_of_work import UnitOfWork
from tests.audit_chains import BATCH_ENTRIES, add_entry, seal_all, verify
from tests.clock import SettableClock
from tests.marks import mark_due
from tests.plans import explained, rows_read, tables_read_whole
from tests.postgres import connected
from tests.world.builder import Builder

Transact = Callable[..., Any]


PAGE_AFTER_100 = {"after": 100, "through": 1000, "limit": 10, "first_hash": FIRST_HASH}


@pytest.fixture
def acme(builder: Builder) -> UUID:
    """An organization."""
    return builder.organization()


def positions(builder: Builder, organization_id: UUID) -> dict[UUID, int | None]:
    """Return the position of each entry."""
    return dict(
        builder.rows("SELECT id, position FROM audit_entries WHERE organization_id = %s ORDER BY id", organization_id)
    )


def test_entries_get_the_positions_of_their_organization_in_their_order(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact
) -> None:
    bolt = builder.organization("bolt")
    for number in range(3):
        add_entry(builder.connection, acme, clock, number=number)
        add_entry(builder.connection, bolt, clock, number=number)

    seal_all(transact)

    assert list(positions(builder, acme).values()) == [1, 2, 3]
    assert list(positions(builder, bolt).values()) == [1, 2, 3]
    assert transact(verify, acme) == transact(verify, bolt) == 3


def test_a_chain_goes_on_where_it_ended(builder: Builder, acme: UUID, clock: SettableClock, transact: Transact) -> None:
    for number in range(2):
        add_entry(builder.connection, acme, clock, number=number)
        seal_all(transact)

    assert transact(verify, acme) == 2


def test_a_log_without_entries_has_the_first_hash(acme: UUID, transact: Transact) -> None:
    end = transact(lambda uow: uow.audit_chains.end(acme))

    assert (end.sealed_through, end.hash, end.sealed_at) == (0, FIRST_HASH, None)
    assert transact(verify, acme) == 0


def test_an_entry_that_is_committed_late_gets_a_later_position(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact, database_url: str
) -> None:
    mark_due(builder.connection, acme)
    with connected(database_url) as slow, slow.transaction():
        late = add_entry(slow, acme, clock, name="late")
        early = add_entry(builder.connection, acme, clock, name="early")
        seal_all(transact)
        assert positions(builder, acme) == {early: 1}

    seal_all(transact)

    assert positions(builder, acme) == {late: 2, early: 1}
    assert transact(verify, acme) == 2


def test_an_entry_that_is_being_changed_is_left_for_later_and_nothing_waits_for_it(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact, database_url: str
) -> None:
    changed, other = (add_entry(builder.connection, acme, clock, number=number) for number in range(2))
    builder.connection.execute("SET lock_timeout = '1ms'")

    with connected(database_url) as changing, changing.transaction():
        changing.execute("UPDATE audit_entries SET ip_address = '0.0.0.0' WHERE id = %s", (changed,))
        seal_all(transact)
        assert positions(builder, acme) == {changed: None, other: 1}

    seal_all(transact)

    assert positions(builder, acme) == {changed: 2, other: 1}
    assert transact(verify, acme) == 2


def test_an_organization_that_is_being_deleted_is_left_out(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact, database_url: str
) -> None:
    bolt = builder.organization("bolt")
    for organization_id in (acme, bolt):
        add_entry(builder.connection, organization_id, clock)
    builder.connection.execute("SET lock_timeout = '1ms'")

    with connected(database_url) as deleting, deleting.transaction():
        deleting.execute("DELETE FROM organizations WHERE id = %s", (acme,))
        transact(chain.seal_next, BATCH_ENTRIES)
        transact(chain.seal_next, BATCH_ENTRIES)

        assert list(positions(builder, acme).values()) == [None]
        assert list(positions(builder, bolt).values()) == [1]
    assert builder.rows("SELECT 1 FROM audit_seals WHERE organization_id = %s", acme) == []


def test_a_log_with_a_backlog_delays_no_other_log(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact
) -> None:
    others = [builder.organization(f"org-{number}") for number in range(2 * ORGANIZATIONS_MAX)]
    for number in range(20 * BATCH_ENTRIES):
        add_entry(builder.connection, acme, clock, number=number)
    for organization_id in others:
        add_entry(builder.connection, organization_id, clock)

    # Every organization has its turn once in so many batches.
    for _ in range(3):
        assert transact(chain.seal_next, BATCH_ENTRIES) <= BATCH_ENTRIES

    assert builder.value("SELECT count(*) FROM audit_chains WHERE organization_id = ANY (%s)", others) == len(others)


def test_new_entries_of_a_log_with_a_backlog_are_sealed_before_the_old_ones(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact
) -> None:
    old = [add_entry(builder.connection, acme, clock, number=number) for number in range(20)]
    clock.advance(2 * chain.FRESH)
    new = [add_entry(builder.connection, acme, clock, number=number) for number in range(2)]

    assert transact(chain.seal_next, 6) == 6

    sealed = [entry for entry, position in positions(builder, acme).items() if position is not None]
    assert sealed == [*old[:4], *new]
    seal_all(transact)
    assert transact(verify, acme) == 22


def test_a_large_log_is_sealed_beside_more_organizations_than_a_batch_has(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact
) -> None:
    others = [builder.organization(f"org-{number}") for number in range(2 * ORGANIZATIONS_MAX)]
    for organization_id in others:
        for number in range(2):
            add_entry(builder.connection, organization_id, clock, number=number)
    for number in range(3 * BATCH_ENTRIES):
        add_entry(builder.connection, acme, clock, number=number)
    largest = [UnsealedLog(organization_id=acme, entries=3 * BATCH_ENTRIES)]

    # In no more than two of these batches it is the turn of the large log.
    for _ in range(6):
        transact(chain.seal_next, BATCH_ENTRIES, largest)

    assert transact(lambda uow: uow.audit_chains.end(acme)).sealed_through == 3 * BATCH_ENTRIES
    assert builder.value("SELECT count(*) FROM audit_chains WHERE organization_id = ANY (%s)", others) == len(others)


def test_the_backlog_names_the_largest_logs(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact
) -> None:
    bolt = builder.organization("bolt")
    for organization_id, entries in ((acme, 5), (bolt, 9)):
        for number in range(entries):
            add_entry(builder.connection, organization_id, clock, number=number)
    before = transact(chain.backlog)
    transact(lambda uow: uow.audit_log.count_next(UUID(int=2**128 - 1), 100))
    counted = transact(chain.backlog)
    transact(chain.seal_next, 6)
    while_sealing = transact(chain.backlog)
    seal_all(transact)

    assert (before.entries, counted.entries, while_sealing.entries) == (0, 14, 8)
    assert [log.organization_id for log in counted.largest] == [bolt, acme]
    assert transact(chain.backlog) == SealingBacklog(entries=0, largest=[])


def test_a_log_that_is_alone_gets_the_whole_batch(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact
) -> None:
    for number in range(BATCH_ENTRIES + 1):
        add_entry(builder.connection, acme, clock, number=number)

    assert [transact(chain.seal_next, BATCH_ENTRIES) for _ in range(3)] == [BATCH_ENTRIES, 1, 0]


async def test_replicas_that_seal_at_once_make_one_chain(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact, database: PostgresDatabase
) -> None:
    for number in range(40):
        add_entry(builder.connection, acme, clock, number=number)

    async def seal_often() -> None:
        for _ in range(10):
            await database.transact(chain.seal_next, 3)

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(seal_often)
    seal_all(transact)

    assert set(positions(builder, acme).values()) == set(range(1, 41))
    assert transact(verify, acme) == 40


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("DELETE FROM audit_chains", "Entry 3 .* was changed: it does not fit its hash"),
        ("UPDATE audit_entries SET position = NULL WHERE position = 2", "Entry 2 was removed"),
        ("UPDATE audit_entries SET position = 7 WHERE position = 2", "Entry 2 was removed"),
    ],
)
def test_tables_that_were_changed_by_hand_break_the_chain_and_stop_no_sealing(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact, change: str, sentence: str
) -> None:
    bolt = builder.organization("bolt")
    for number in range(2):
        add_entry(builder.connection, acme, clock, number=number)
    seal_all(transact)
    builder.connection.execute(change.encode())

    for organization_id in (acme, bolt):
        add_entry(builder.connection, organization_id, clock)
    seal_all(transact)

    assert transact(verify, bolt) == 1
    with pytest.raises(ChainBroken, match=sentence):
        transact(verify, acme)


@pytest.mark.one_server
def test_nothing_reads_sealed_entries_to_find_unsealed_ones(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact
) -> None:
    for number in range(300):
        add_entry(builder.connection, acme, clock, number=number)
    seal_all(transact)
    waiting = builder.organization("bolt")
    for organization_id in (acme, waiting):
        add_entry(builder.connection, organization_id, clock)
    builder.connection.execute("VACUUM ANALYZE audit_entries, audit_seals")

    everything = {"since_id": FIRST_ID, "end_id": LAST_ID}
    marked = explained(builder.connection, MARKED, {"first_id": FIRST_ID, "marks_max": 5})
    found = explained(builder.connection, WAITING, everything | {"organization_ids": [acme, waiting], "limit": 5})
    wanted = everything | {"organization_id": acme, "share": 10, "fresh_share": 5, "fresh_since": clock() - chain.FRESH}
    unsealed = explained(builder.connection, UNSEALED, wanted)
    page = explained(builder.connection, PAGE, PAGE_AFTER_100 | {"organization_id": acme})

    for plan in (found, unsealed, page):
        assert tables_read_whole(plan) == set()
    assert rows_read(marked, "log_dues") == 2
    assert rows_read(found, "audit_entries") == 2
    # Each entry once among the fresh ones, once among the oldest, and once by its id.
    assert rows_read(unsealed, "audit_entries") == 3
    assert rows_read(page, "audit_entries") <= 11


@pytest.mark.one_server
def test_a_page_of_a_chain_without_statistics_reads_nothing_else(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact
) -> None:
    # As after sealing a log that is older than its chain: PostgreSQL counts no rows yet.
    builder.connection.execute("ANALYZE audit_entries, audit_seals")
    for number in range(1000):
        add_entry(builder.connection, acme, clock, number=number)
    seal_all(transact)

    page = explained(builder.connection, PAGE, PAGE_AFTER_100 | {"organization_id": acme})

    assert tables_read_whole(page) == set()
    assert rows_read(page, "audit_entries") <= 11
    assert rows_read(page, "audit_seals") <= 22


def test_two_transactions_cannot_give_one_position_twice(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact
) -> None:
    # As two processes would that seal at once, of which each sees the same end of the chain.
    for number in range(2):
        add_entry(builder.connection, acme, clock, number=number)

    def seal_one_of_two(uow: UnitOfWork) -> None:
        [unsealed] = uow.audit_chains.unsealed({acme: 1}, fresh_since=clock(), part=chain.EVERYTHING)
        uow.audit_chains.store(chain.appended(uow, unsealed))

    def seal_the_other_at_the_same_position(uow: UnitOfWork) -> None:
        [unsealed] = uow.audit_chains.unsealed({acme: 1}, fresh_since=clock(), part=chain.EVERYTHING)
        seen_before = replace(unsealed, end=replace(unsealed.end, sealed_through=0), last_position=0)
        uow.audit_chains.store(chain.appended(uow, seen_before))

    transact(seal_one_of_two)
    # On a cluster it is an internal error, because the node reports it while rows are copied to it.
    with pytest.raises((psycopg.errors.UniqueViolation, psycopg.errors.InternalError_), match="audit_seals_pkey"):
        transact(seal_the_other_at_the_same_position)

    assert list(positions(builder, acme).values()) == [1, None]
    seal_all(transact)
    assert list(positions(builder, acme).values()) == [1, 2]
    assert transact(verify, acme) == 2


def test_old_entries_are_sealed_by_a_search_of_all_months(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact
) -> None:
    old = UUID(int=first_id_at(clock() - 2 * chain.SEALED_WITHIN).int + 1)
    builder.connection.execute(
        "UPDATE audit_entries SET id = %s WHERE id = %s", (old, add_entry(builder.connection, acme, clock))
    )

    assert transact(chain.seal_next, BATCH_ENTRIES, (), chain.SEALED_WITHIN) == 0
    assert sum(transact(chain.seal_next, BATCH_ENTRIES, (), part) for part in transact(chain.parts)) == 1
    assert positions(builder, acme) == {old: 1}


def marks(builder: Builder) -> set[UUID]:
    """Return the organizations that are marked."""
    return {
        organization_id for (organization_id,) in builder.rows("SELECT organization_id FROM log_dues WHERE entries")
    }


def test_the_mark_of_an_organization_goes_when_nothing_waits_and_no_transaction_writes(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact, database_url: str
) -> None:
    bolt, idle = builder.organization("bolt"), builder.organization("idle")
    mark_due(builder.connection, idle)
    for organization_id in (acme, bolt, bolt):
        add_entry(builder.connection, organization_id, clock)
    builder.connection.execute("SET lock_timeout = '1ms'")

    with connected(database_url) as writing, writing.transaction():
        add_entry(writing, acme, clock)
        # One of the two of bolt is left.
        assert transact(chain.seal_next, 2) == 2
        assert marks(builder) == {acme, bolt}
        assert transact(chain.seal_next, 2) == 1
        assert marks(builder) == {acme}

    assert seal_all(transact) == 1
    assert marks(builder) == set()
    assert (transact(verify, acme), transact(verify, bolt)) == (2, 2)


def test_an_entry_that_is_being_changed_keeps_the_mark(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Transact, database_url: str
) -> None:
    changed = add_entry(builder.connection, acme, clock)

    with connected(database_url) as changing, changing.transaction():
        changing.execute("UPDATE audit_entries SET ip_address = '0.0.0.0' WHERE id = %s", (changed,))
        transact(chain.seal_next, BATCH_ENTRIES)
        assert marks(builder) == {acme}

    assert seal_all(transact) == 1
    assert marks(builder) == set()


def test_more_marks_than_are_looked_at_together_are_looked_at_in_turn(
    builder: Builder, clock: SettableClock, transact: Transact, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "MARKS_MAX", 2)
    organizations = sorted(builder.organization(f"org-{number}") for number in range(5))
    for organization_id in organizations:
        mark_due(builder.connection, organization_id)
    add_entry(builder.connection, organizations[2], clock)
    add_entry(builder.connection, organizations[4], clock)

    assert [transact(chain.seal_next, BATCH_ENTRIES) for _ in range(4)] == [0, 1, 1, 0]
    assert marks(builder) == set()
