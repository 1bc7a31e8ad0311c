"""Events, deliveries and attempts by month: which months their statements read, with two years of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final, LiteralString, NamedTuple, TypeAlias
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.platform import polling
from adapters.postgres.privacy import personal_data
from core.attempts import Attempt
from core.billing.provider import BillingMode
from core.log_times import LogTimes
from core.organizations.overview import AttentionKind
from core.platform.housekeeping import Leftover
from core.platform.log_months import Log
from core.privacy.anonymization import Anonymous
from core.webhooks.deliveries import DeliveryFilter, DeliveryOutcome
from core.webhooks.delivery_log import DeliverySearch
from core.webhooks.events import RETENTION
from core.webhooks.sequencing import WaitingEvent
from ports.unit_of_work import UnitOfWork
from tests.adapters.webhooks.queues import Sender
from tests.clock import SettableClock
from tests.log_partitions import MONTHS, PARTITIONS, id_at, make_months, partitions_read, times
from tests.marks import mark_due
from tests.plans import explained, explained_statements, tables_read_whole

Transact = Callable[..., Any]


LOGS: Final = (Log.EVENTS, Log.WEBHOOK_DELIVERIES, Log.WEBHOOK_ATTEMPTS)
PER_MONTH: Final = 120
EMAIL: Final = "ada@example.com"
NOW: Final = MONTHS[-1] + timedelta(days=9)
SINCE: Final = NOW - timedelta(hours=24)
# This month and three before it, and what is after the last one.
KEPT: Final = 5
FAILED: Final = Attempt(status_code=500, body="no", error="The receiver answered 500.")
# Of the middle of a month that is kept.
KEPT_TIME: Final = MONTHS[-2] + timedelta(hours=40)


class Years(NamedTuple):
    """An organization whose webhook has got an event in each hour, and a person who has caused some."""

    acme: UUID
    webhook: UUID
    ada: UUID


Read: TypeAlias = "Callable[[UnitOfWork, Years], object]"


@pytest.fixture
def years(sender: Sender, connection: Connection, clock: SettableClock) -> Years:
    """Events with deliveries and attempts in all months; the last ten events wait, and ten deliveries."""
    acme, ada, webhook = sender.builder.organization("acme"), sender.builder.user(EMAIL), sender.webhook
    hook = webhook(acme)
    clock.now = NOW
    make_months(connection, *LOGS)
    moments = times(PER_MONTH)
    connection.execute(
        """
        INSERT INTO events (id, type, organization_id, actor_user_id, actor_email, data, occurred_at, position)
        -- Nothing is delivered of those that wait, because what is explained is executed twice.
        SELECT id, CASE WHEN n <= %(positions)s THEN 'user.invited' ELSE 'user.joined' END, %(acme)s,
               CASE n %% 50 WHEN 0 THEN %(ada)s::uuid END,
               CASE n %% 50 WHEN 0 THEN 'ada@example.com' END,
               CASE n %% 50 WHEN 1 THEN '{"email": "ada@example.com"}' ELSE '{}' END::jsonb, at,
               CASE WHEN n <= %(positions)s THEN n ELSE 0 END
        FROM   unnest(%(ids)s::uuid[], %(times)s::timestamptz[]) WITH ORDINALITY AS one (id, at, n)
        """,
        {
            "acme": acme,
            "ada": ada,
            "positions": len(moments) - 10,
            "ids": [id_at(moment) for moment in moments],
            "times": list(moments),
        },
    )
    connection.execute("INSERT INTO event_positions VALUES (%s, %s)", (acme, len(moments) - 10))
    mark_due(connection, acme)
    connection.execute(
        """
        INSERT INTO webhook_deliveries (id, organization_id, webhook_id, event_id, event_type, queued_at, attempt_count,
                                        next_retry_at, delivered, created_at, updated_at)
        SELECT id, organization_id, %(hook)s, id, type, occurred_at, 1,
               CASE WHEN position > %(due_after)s THEN occurred_at END, position %% 10 <> 0, occurred_at, occurred_at
        FROM   events
        WHERE  position > 0
        """,
        {"hook": hook, "due_after": len(moments) - 20},
    )
    connection.execute(
        """
        INSERT INTO webhook_attempts (id, organization_id, webhook_id, delivery_id, attempted_at, duration_ms,
                                      request_headers, response_body, error)
        SELECT id, organization_id, webhook_id, id, created_at, 7, '{}', 'fine', CASE WHEN NOT delivered THEN 'no' END
        FROM   webhook_deliveries
        """
    )
    connection.execute("UPDATE webhook_queues SET due_at = %s, lost_at = %s", (NOW, NOW))
    connection.execute("VACUUM ANALYZE events, webhook_deliveries, webhook_attempts, webhooks, webhook_queues")
    return Years(acme, hook, ada)


def search(**conditions: Any) -> DeliverySearch:
    values: dict[str, Any] = {"state": None, "event_type": None, "times": LogTimes()}
    return DeliverySearch(**(values | conditions))


def lease(uow: UnitOfWork, _: Years) -> object:
    return uow.webhook_deliveries.lease(
        webhooks_max=8, of_organization_max=8, deliveries_max=8, leased_until=NOW + timedelta(minutes=1)
    )


def assign_positions(uow: UnitOfWork, years: Years) -> object:
    last = times(PER_MONTH)[-5:]
    return uow.event_sequencing.assign_positions(
        [
            WaitingEvent(
                id=id_at(moment),
                organization_id=years.acme,
                type="user.joined",
                occurred_at=moment,
                is_old=False,
                webhooks=1,
                last_position=3_000,
            )
            for moment in last
        ]
    )


def save(uow: UnitOfWork, years: Years) -> object:
    outcome = DeliveryOutcome(
        delivery_id=id_at(times(PER_MONTH)[-15]), attempt=FAILED, attempt_count=2, next_retry_at=NOW
    )
    return uow.webhook_deliveries.save(years.acme, years.webhook, outcome)


def release(uow: UnitOfWork, years: Years) -> object:
    until = NOW + timedelta(minutes=1)
    lease(uow, years)
    return uow.webhook_deliveries.release(years.acme, years.webhook, leased_until=until)


# What is done, and of how many partitions of events, deliveries and attempts one statement may read rows or an index.
READS: Final[dict[str, tuple[Read, tuple[int, int, int]]]] = {
    "whose events wait": (
        lambda uow, _: uow.event_sequencing.waiting(400, after=None, kept_since=NOW - RETENTION),
        (KEPT, 0, 0),
    ),
    "handing on": (assign_positions, (1, 1, 0)),
    "a page of the feed": (
        lambda uow, y: uow.event_feed.page(y.acme, after=2_800, types=None, limit=50, kept_since=NOW - RETENTION),
        (KEPT, 0, 0),
    ),
    "up to where a reader has read": (
        lambda uow, y: uow.event_feed.last_read(y.acme, position=2_900, read_at=NOW, kept_since=NOW - RETENTION),
        (KEPT, 0, 0),
    ),
    "a lease": (lease, (1, KEPT, 0)),
    "an outcome": (save, (0, 1, 1)),
    "the end of a lease": (release, (1, KEPT, 0)),
    "the deliveries": (
        lambda uow, y: uow.webhook_deliveries.page(y.acme, y.webhook, DeliveryFilter(), limit=50, offset=0),
        (2, KEPT, 0),
    ),
    "queueing one again": (
        lambda uow, y: uow.webhook_deliveries.queue_again(y.acme, y.webhook, id_at(KEPT_TIME), seen_at=None),
        (0, 1, 0),
    ),
    "queueing those of a day again": (
        lambda uow, y: uow.webhook_deliveries.queue_failed_again(y.acme, y.webhook, since=SINCE, limit=100),
        (0, 2, 0),
    ),
    "the page of the console": (
        lambda uow, y: uow.webhook_delivery_log.page(y.acme, y.webhook, search(), after=None, limit=50),
        (0, KEPT, 0),
    ),
    "the page of the console since yesterday": (
        lambda uow, y: uow.webhook_delivery_log.page(
            y.acme, y.webhook, search(times=LogTimes(since=SINCE)), after=None, limit=50
        ),
        (0, 2, 0),
    ),
    "the number of deliveries": (
        lambda uow, y: uow.webhook_delivery_log.count(y.acme, y.webhook, search(), counted_max=1000),
        (0, KEPT, 0),
    ),
    "a delivery": (lambda uow, y: uow.webhook_delivery_log.find(y.acme, y.webhook, id_at(KEPT_TIME)), (1, 1, 0)),
    "the attempts of a delivery": (
        lambda uow, y: uow.webhook_delivery_log.attempts(y.acme, id_at(KEPT_TIME), limit=10),
        (0, 0, 3),
    ),
    "the webhooks with their numbers": (
        lambda uow, y: uow.webhook_healths.of_organization(y.acme, since=SINCE, counted_max=100),
        (0, 2, KEPT),
    ),
    "the hours of a webhook": (
        lambda uow, y: uow.webhook_healths.hours(y.acme, y.webhook, first=SINCE, hours=24, counted_max=100),
        (0, 2, 0),
    ),
    "the figures of a webhook": (
        lambda uow, y: uow.webhook_healths.figures(y.acme, y.webhook, since=SINCE, attempts_max=100),
        (0, 0, KEPT),
    ),
    "what fails in an organization": (
        lambda uow, y: uow.overviews.attention_items(y.acme, list(AttentionKind), default_seats=5, of_kind_max=10),
        (0, KEPT, 2),
    ),
    "what fails on the platform": (
        lambda uow, _: uow.platform_overviews.failing_webhooks(since=SINCE, webhooks_max=9, limit=5, counted_max=10),
        (0, 2, 0),
    ),
    # These have a partial index of what waits, and count in all partitions.
    "the work that waits": (lambda uow, _: uow.system.work(100), (PARTITIONS, PARTITIONS, 0)),
    "the figures of the platform": (lambda uow, _: uow.figures.backlog(), (0, PARTITIONS, 0)),
    # What is deleted is in the oldest partitions.
    "deleting old deliveries": (
        lambda uow, _: uow.housekeeping.delete(Leftover.WEBHOOK_DELIVERIES, MONTHS[0] + timedelta(hours=9), 1000),
        (0, 2, 0),
    ),
    "deleting old events": (
        lambda uow, _: uow.housekeeping.delete(Leftover.EVENTS, MONTHS[0] + timedelta(hours=9), 1000),
        (2, 0, 0),
    ),
    "the addresses of a person": (lambda uow, y: uow.anonymization.addresses(y.ada), (PARTITIONS, 0, 0)),
}


@pytest.mark.one_server
def test_each_statement_reads_the_months_that_it_needs(
    years: Years, connection: Connection, transact: Transact
) -> None:
    too_many: dict[str, tuple[int, ...]] = {}

    for name, (read, partitions_max) in READS.items():
        with explained_statements(connection) as plans:
            transact(read, years)
        assert plans, name
        most = tuple(max(len(partitions_read(plan, log)) for plan in plans) for log in LOGS)
        if any(found > allowed for found, allowed in zip(most, partitions_max, strict=True)):
            too_many[name] = most

    assert too_many == {}
    due = polling.parameters(now=NOW, events_since=NOW - RETENTION, mode=BillingMode.SANDBOX)
    assert len(partitions_read(explained(connection, polling.NEXT, due), Log.EVENTS)) <= KEPT


# What forgetting a person reads and changes.
OF_ALL_MONTHS: Final[tuple[LiteralString, ...]] = (
    *(
        find
        for find, _ in (*personal_data.ADDRESSES_IN_LOGS, *personal_data.WORDS, *personal_data.ORIGINS_IN_LOGS)
        if "FROM events" in " ".join(find.split())
    ),
)


@pytest.mark.one_server
def test_forgetting_reads_all_months_by_indexes_and_changes_those_of_the_events(
    years: Years, connection: Connection
) -> None:
    connection.execute("SET enable_seqscan = off")
    values = {"user_id": years.ada, "addresses": [EMAIL]}
    assert len(OF_ALL_MONTHS) == 4

    for statement in OF_ALL_MONTHS:
        plan = explained(connection, statement, values)
        assert len(partitions_read(plan, Log.EVENTS)) == PARTITIONS, statement
        assert tables_read_whole(plan) == set(), statement
    [change] = [change for find, change in personal_data.WORDS if "FROM events" in find]
    with explained_statements(connection) as plans:
        connection.execute(change.encode(), ("{}", years.acme, id_at(KEPT_TIME)))
    assert [partitions_read(plan, Log.EVENTS) for plan in plans] == [{"events_2028_11"}]


def test_a_person_is_forgotten_in_all_months(years: Years, connection: Connection, transact: Transact) -> None:
    def forget(uow: UnitOfWork) -> None:
        anonymous = Anonymous(email="gone@deleted.local")
        uow.anonymization.replace_addresses(years.ada, [EMAIL], [], anonymous, at=NOW)
        uow.anonymization.replace_origins(years.ada, anonymous)

    transact(forget)

    assert connection.execute("SELECT id FROM events WHERE events::text LIKE '%ada@example.com%'").fetchall() == []
    [[kept]] = connection.execute(
        """
        SELECT count(*)
        FROM   webhook_attempts a
        JOIN   events e ON e.organization_id = a.organization_id AND e.id = a.delivery_id
        WHERE  (e.actor_user_id IS NOT NULL OR e.data::text LIKE '%@%') AND a.response_body IS NOT NULL
        """
    ).fetchall()
    assert kept == 0


def test_a_month_goes_when_its_rows_were_deleted_to_the_day(years: Years, transact: Transact) -> None:
    for leftover in (Leftover.WEBHOOK_DELIVERIES, Leftover.EVENTS):
        transact(lambda uow, one=leftover: uow.housekeeping.delete(one, MONTHS[1] + timedelta(hours=5), 10_000))

    for log in LOGS:
        dropped = [
            transact(lambda uow, one=log: uow.log_months.drop(one, id_at(MONTHS[2]), only_empty=True)) for _ in range(3)
        ]
        assert dropped == [f"{log.value}_before", f"{log.value}_2027_01", None]
