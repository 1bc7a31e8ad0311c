"""The invitation sweeper: it expires invitations in batches."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from actors.invitation_sweeper import BATCH_ROWS_MAX, PAUSE_SECONDS, InvitationSweeper
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from adapters.prometheus import PrometheusMetrics
from core.invitations.invitations import DueInvitation, Swept, are_due, sweep
from ports.database import Database
from ports.mailboxes import Changed, Due, Figure, Mailboxes, WorkKind
from tests.clock import SettableClock
from tests.mailboxes import RecordedMailboxes, let_work
from tests.postgres import connected
from tests.world.builder import Builder

# Tests in which time passes take the clock as an argument, because pytest-trio finds it only among their own arguments.

LAST = DueInvitation(id=UUID(int=1), expires_at=SettableClock().now)


class FakeDatabase:
    """A fake database of due invitations that records when and from where they were swept."""

    def __init__(self, rows: int = 0) -> None:
        self.rows = rows
        self.calls: list[tuple[float, DueInvitation | None]] = []

    async def step(self, use_case: object) -> bool:
        assert use_case is are_due
        return True

    async def transact(self, use_case: object, after: DueInvitation | None, limit: int) -> Swept:
        assert use_case is sweep
        await trio.lowlevel.checkpoint()
        self.calls.append((trio.current_time(), after))
        taken = min(self.rows, limit)
        self.rows -= taken
        return Swept(expired=taken, continue_after=LAST if taken == limit else None)


@pytest.fixture
def metrics() -> PrometheusMetrics:
    """Metrics of this test alone."""
    return PrometheusMetrics(version="1.2.3")


def sweeper(database: object, metrics: PrometheusMetrics, mailboxes: Mailboxes | None = None) -> InvitationSweeper:
    """A sweeper of that database."""
    return InvitationSweeper(
        database=cast("Database", cast("Any", database)), metrics=metrics, mailboxes=mailboxes or RecordedMailboxes()
    )


async def test_it_sweeps_at_every_message(
    nursery: trio.Nursery, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    fake = FakeDatabase()
    one = sweeper(fake, metrics)
    nursery.start_soon(one.run)

    await let_work(one)
    await let_work(one)

    assert len(fake.calls) == 2
    assert f'{{job_type="{InvitationSweeper.job_type}"}} 2.0' in metrics.exposition().decode()


async def test_many_invitations_expire_in_consecutive_batches_with_pauses_and_figures_have_changed(
    nursery: trio.Nursery, metrics: PrometheusMetrics, autojump_clock: MockClock
) -> None:
    fake, began_at = FakeDatabase(2 * BATCH_ROWS_MAX + 7), trio.current_time()
    mailboxes = RecordedMailboxes()
    one = sweeper(fake, metrics, mailboxes)
    nursery.start_soon(one.run)

    with capture_logs() as lines:
        await let_work(one)
    told = list(mailboxes.sent)
    await let_work(one)

    assert [moment - began_at for moment, _ in fake.calls[:3]] == pytest.approx([0, PAUSE_SECONDS, 2 * PAUSE_SECONDS])
    assert [after for _, after in fake.calls[:3]] == [None, LAST, LAST]
    assert [(line["event"], line["invitations"]) for line in lines] == [("invitations.expired", 2 * BATCH_ROWS_MAX + 7)]
    # Nothing has changed since.
    assert told == mailboxes.sent == [(WorkKind.FIGURES, Changed(Figure.PLATFORM))]


def insert_invitations(
    connection: Connection, organization_id: UUID, name: str, count: int, *, expires_in: timedelta
) -> None:
    """Insert pending invitations."""
    now = SettableClock().now
    connection.execute(
        """
        INSERT INTO invitations (id, organization_id, email, role, status, token_hash, token_sealed, proof_hash,
                                 created_at, expires_at)
        SELECT gen_random_uuid(), %s, %s || number, 'member', 'pending', sha256(gen_random_uuid()::text::bytea), '',
               '', %s, %s
        FROM   generate_series(1, %s) AS number
        """,
        (organization_id, name, now - timedelta(days=8), now + expires_in, count),
    )


def count_by_status(connection: Connection) -> dict[str, int]:
    """Count the invitations of each status."""
    return dict(connection.execute("SELECT status, count(*) FROM invitations GROUP BY status").fetchall())


async def test_concurrent_sweepers_expire_and_record_every_invitation_once(
    nursery: trio.Nursery,
    database: PostgresDatabase,
    connection: Connection,
    builder: Builder,
    metrics: PrometheusMetrics,
    autojump_clock: MockClock,
) -> None:
    acme = builder.organization("acme")
    due = 4 * BATCH_ROWS_MAX + 3
    insert_invitations(connection, acme, "late", due, expires_in=timedelta())
    insert_invitations(connection, acme, "early", 5, expires_in=timedelta(seconds=1))

    sweepers = [sweeper(database, metrics) for _ in range(3)]
    async with trio.open_nursery() as telling:
        for one in sweepers:
            nursery.start_soon(one.run)
            telling.start_soon(let_work, one)
    # What one of them had locked, the others have skipped.
    await let_work(sweepers[0])

    assert count_by_status(connection) == {"expired": due, "pending": 5}
    entries = connection.execute(
        """
        SELECT count(DISTINCT target_id), count(*),
               count(*) FILTER (WHERE ip_address IS NULL AND user_agent IS NULL AND actor_user_id IS NULL)
        FROM   audit_entries
        WHERE  organization_id = %s AND action = 'invitation.expired' AND target_type = 'invitation'
        """,
        (acme,),
    ).fetchone()
    assert entries == (due, due, due)
    assert connection.execute(
        "SELECT count(DISTINCT data ->> 'invitation_id'), count(*) FROM events WHERE type = 'invitation.expired'"
    ).fetchone() == (due, due)
    assert connection.execute(
        "SELECT count(*) FROM invitations WHERE status = 'expired' AND token_sealed IS NOT NULL"
    ).fetchone() == (0,)


async def test_invitations_of_an_inactive_organization_stay_pending_and_block_no_others(
    nursery: trio.Nursery,
    database: PostgresDatabase,
    connection: Connection,
    builder: Builder,
    metrics: PrometheusMetrics,
    autojump_clock: MockClock,
) -> None:
    asleep, awake = builder.organization("asleep"), builder.organization("awake")
    connection.execute("UPDATE organizations SET status = 'suspended' WHERE id = %s", (asleep,))
    insert_invitations(connection, asleep, "a", 2 * BATCH_ROWS_MAX, expires_in=-timedelta(hours=1))
    insert_invitations(connection, awake, "b", 3, expires_in=timedelta())

    one = sweeper(database, metrics)
    nursery.start_soon(one.run)
    await let_work(one)
    assert count_by_status(connection) == {"pending": 2 * BATCH_ROWS_MAX, "expired": 3}
    connection.execute("UPDATE organizations SET status = 'active' WHERE id = %s", (asleep,))
    await let_work(one)
    assert count_by_status(connection) == {"expired": 2 * BATCH_ROWS_MAX + 3}


async def test_the_commit_tells_the_sequencer_that_events_are_there(
    database: PostgresDatabase,
    connection: Connection,
    builder: Builder,
    metrics: PrometheusMetrics,
    mailboxes: RecordedMailboxes,
) -> None:
    insert_invitations(connection, builder.organization("acme"), "a", 1, expires_in=timedelta())

    await sweeper(database, metrics, mailboxes).work()

    assert mailboxes.sent == [
        (WorkKind.EVENTS, Due(database.tools.clock())),
        (WorkKind.FIGURES, Changed(Figure.PLATFORM)),
    ]


def test_locked_invitations_and_organizations_are_skipped_without_waiting(
    connection: Connection, builder: Builder, transact: Callable[..., Any], database_url: str
) -> None:
    held, gone, free = (builder.organization(slug) for slug in ("held", "gone", "free"))
    for organization_id in (held, gone, free):
        insert_invitations(connection, organization_id, "a", 1, expires_in=timedelta())
    connection.execute("SET lock_timeout = '1ms'")

    with connected(database_url) as holder, holder.transaction():
        holder.execute("SELECT FROM invitations WHERE organization_id = %s FOR UPDATE", (held,))
        holder.execute("SELECT FROM organizations WHERE id = %s FOR UPDATE", (gone,))
        swept = transact(sweep, None, 10)

    assert swept == Swept(expired=1, continue_after=None)
    assert transact(are_due)
    assert transact(sweep, None, 10).expired == 2
    assert not transact(are_due)


def test_a_pass_continues_after_the_previous_batch_and_passes_those_of_inactive_organizations(
    connection: Connection, builder: Builder, transact: Callable[..., Any]
) -> None:
    acme, globex = builder.organization("acme"), builder.organization("globex")
    connection.execute("UPDATE organizations SET status = 'pending' WHERE id = %s", (globex,))
    for organization_id, name in ((globex, "a"), (acme, "b"), (globex, "c")):
        insert_invitations(connection, organization_id, name, 5, expires_in=timedelta())
    seen: list[DueInvitation | None] = [None]

    for _ in range(2):
        swept = transact(sweep, seen[-1], 2)
        assert swept.expired == 2
        seen.append(swept.continue_after)

    assert len(set(seen)) == 3
    assert transact(sweep, seen[-1], 2) == Swept(expired=1, continue_after=None)
    assert not transact(are_due)
