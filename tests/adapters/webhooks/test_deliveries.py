"""Deliveries in PostgreSQL: leases, outcomes and sequencing exclude each other and read no table whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import structlog

from adapters.crypto.vault import MasterKey, Vault
from adapters.postgres.driver.connection import Connection
from adapters.postgres.target_queues import CANDIDATES_MAX
from adapters.postgres.webhooks.deliveries import PostgresWebhookDeliveries
from adapters.postgres.webhooks.events import PostgresEventFeed
from adapters.postgres.webhooks.sequencing import PostgresEventSequencing
from adapters.postgres.webhooks.webhooks import PostgresWebhooks
from core.attempts import LEASE, ORGANIZATION_TARGETS_MAX, POSTPONEMENT, Attempt
from core.webhooks import deliveries
from core.webhooks.deliveries import DeliveryFilter
from core.webhooks.delivery_log import ATTEMPTS_SHOWN_MAX
from core.webhooks.events import RETENTION
from tests.adapters.webhooks.queues import SECRETS, Sender, names
from tests.clock import SettableClock
from tests.marks import mark_due
from tests.plans import explained_statements, rows_read, tables_read_whole
from tests.postgres import Databases, connected
from tests.transactions import transaction_on
from tests.world.builder import Builder

Transact = Callable[..., Any]


BIG = {"events", "webhook_deliveries", "webhooks", "organizations"}
SECOND = timedelta(seconds=1)
FAILED = Attempt(status_code=500, body="no", error="The receiver answered 500.")
DONE = Attempt(status_code=200, body="fine", error=None)
DELIVERIES = """
    SELECT d.id, e.data ->> 'name'
    FROM   webhook_deliveries d
    JOIN   events e ON e.organization_id = d.organization_id AND e.id = d.event_id
"""
ATTEMPTS = """
    SELECT   e.data ->> 'name', a.response_body
    FROM     webhook_attempts a
    JOIN     webhook_deliveries d ON d.organization_id = a.organization_id AND d.id = a.delivery_id
    JOIN     events e ON e.organization_id = d.organization_id AND e.id = d.event_id
    ORDER BY 1, a.id
"""
# 600 organizations with five webhooks each, and ten deliveries that are due of each webhook.
MANY = b"""
    INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
    SELECT gen_random_uuid(), 'org-' || n, 'Org', 'active', tiers.id, now(), now()
    FROM   generate_series(1, 600) AS n, tiers WHERE tiers.name = 'free';
    INSERT INTO webhooks (id, organization_id, name, url, events, secret_sealed, created_at, updated_at)
    SELECT gen_random_uuid(), id, 'hook ' || n, 'https://example.com', '{user.invited}', '', '2026-01-01', '2026-01-01'
    FROM   organizations, generate_series(1, 5) AS n;
    INSERT INTO events (id, type, organization_id, data, occurred_at, position)
    SELECT (left(first_id_at('2026-02-01')::text, 14) || substr(gen_random_uuid()::text, 15))::uuid,
           'user.invited', id, '{}', '2026-02-01', row_number() OVER ()
    FROM   organizations, generate_series(1, 10) AS n;
    INSERT INTO webhook_deliveries (id, organization_id, webhook_id, event_id, event_type, queued_at, next_retry_at,
                                    created_at, updated_at)
    SELECT (left(first_id_at(now())::text, 14) || substr(gen_random_uuid()::text, 15))::uuid,
           w.organization_id, w.id, e.id, e.type, e.occurred_at, '2026-02-01', '2026-02-01', now()
    FROM   webhooks w JOIN events e ON e.organization_id = w.organization_id;
    INSERT INTO webhook_queues (webhook_id, organization_id, due_at)
    SELECT id, organization_id, '2026-02-01' FROM webhooks
"""


def queue_again(uow: Any, organization_id: UUID, webhook_id: UUID, delivery_id: UUID) -> None:
    """Queue a delivery again."""
    assert uow.webhook_deliveries.queue_again(organization_id, webhook_id, delivery_id, seen_at=None)


@pytest.fixture(scope="module")
def many(databases: Databases) -> Iterator[Connection]:
    """Very many deliveries that are due."""
    with databases.for_plans() as url, databases.raw_connection(url) as connection:
        connection.execute(MANY)
        connection.execute("VACUUM ANALYZE")
        yield Connection(connection)


class TestLease:
    """One dispatcher serves a webhook at a time."""

    def test_a_leased_webhook_is_leased_again_only_after_the_lease(
        self, sender: Sender, acme: UUID, clock: SettableClock
    ) -> None:
        sender.webhook(acme)
        sender.publish(acme, "a")

        assert names(sender.lease()) == ["a"]
        clock.advance(LEASE - SECOND)
        assert sender.lease() == []
        clock.advance(SECOND)
        assert names(sender.lease()) == ["a"]

    def test_concurrent_leases_take_different_webhooks_without_waiting(
        self, sender: Sender, acme: UUID, database_url: str, connection: Connection, vault: Vault, clock: SettableClock
    ) -> None:
        for name in ("one", "two"):
            sender.webhook(acme, name)
        sender.publish(acme, "a")
        until = clock() + LEASE

        with connected(database_url) as other, other.transaction(), connection.transaction():
            other.execute("SET lock_timeout = '1ms'")
            leased = [
                PostgresWebhookDeliveries(transaction_on(one, vault, now=clock())).lease(
                    webhooks_max=limit, of_organization_max=8, deliveries_max=8, leased_until=until
                )
                for one, limit in ((connection, 1), (other, 5))
            ]

        assert [len(webhooks) for webhooks in leased] == [1, 1]
        assert len({webhook.id for webhooks in leased for webhook in webhooks}) == 2

    def test_deliveries_come_in_the_order_of_their_events_and_at_most_eight(self, sender: Sender, acme: UUID) -> None:
        sender.webhook(acme)
        sender.publish(acme, *"abcdefghijkl")

        [webhook] = sender.lease()

        assert names([webhook]) == list("abcdefgh")

    def test_a_webhook_with_more_due_queues_behind_the_others(
        self, sender: Sender, acme: UUID, clock: SettableClock
    ) -> None:
        flooded = sender.webhook(acme, "flooded")
        sender.publish(acme, *"abcdefghijkl")
        clock.advance(SECOND)
        other = sender.webhook(acme, "other")
        sender.publish(acme, "m")
        [leased] = sender.lease(1)
        assert leased.id == flooded
        for delivery in leased.deliveries:
            sender.transact(deliveries.record, leased, delivery, DONE)
        clock.advance(SECOND)
        sender.transact(deliveries.release, leased)

        assert [sender.lease(1)[0].id for _ in range(2)] == [other, flooded]

    def test_a_flood_of_one_organization_leaves_places_to_another(
        self, sender: Sender, acme: UUID, clock: SettableClock
    ) -> None:
        flooded = {sender.webhook(acme, f"flooded {number}") for number in range(20)}
        sender.publish(acme, *"abcdefghijkl")
        clock.advance(SECOND)
        globex = sender.builder.organization("globex")
        late = sender.webhook(globex)
        sender.publish(globex, "m")

        leased = [webhook.id for webhook in sender.lease(9)]

        assert late in leased
        assert len(flooded & set(leased)) == ORGANIZATION_TARGETS_MAX

    def test_the_first_webhook_of_an_organization_comes_before_the_second_of_another(
        self, sender: Sender, acme: UUID, clock: SettableClock
    ) -> None:
        for number in range(3):
            sender.webhook(acme, f"early {number}")
        sender.publish(acme, "a")
        clock.advance(SECOND)
        globex = sender.builder.organization("globex")
        sender.webhook(globex)
        sender.publish(globex, "b")

        leased = [sender.lease(1)[0].organization_id for _ in range(4)]

        assert leased == [acme, globex, acme, acme]

    def test_a_webhook_without_anything_due_leaves_the_queue(
        self, sender: Sender, acme: UUID, clock: SettableClock
    ) -> None:
        sender.webhook(acme)
        sender.publish(acme, "a")
        [leased] = sender.lease()
        sender.transact(deliveries.record, leased, leased.deliveries[0], DONE)

        sender.transact(deliveries.release, leased)

        assert sender.queue() == [(None, None)]

    def test_a_webhook_is_due_again_at_the_next_retry(self, sender: Sender, acme: UUID) -> None:
        sender.webhook(acme)
        sender.publish(acme, "a")
        [leased] = sender.lease()
        outcome = sender.transact(deliveries.record, leased, leased.deliveries[0], FAILED)

        sender.transact(deliveries.release, leased)

        assert sender.queue() == [(outcome.next_retry_at, None)]

    def test_a_release_after_the_end_of_the_lease_leaves_the_next_lease_alone(
        self, sender: Sender, acme: UUID, clock: SettableClock
    ) -> None:
        sender.webhook(acme)
        sender.publish(acme, "a")
        [first] = sender.lease()
        clock.advance(LEASE)
        [second] = sender.lease()

        sender.transact(deliveries.release, first)

        assert [leased_until for _, leased_until in sender.queue()] == [second.leased_until]

    def test_an_outcome_is_recorded_once(self, sender: Sender, acme: UUID, clock: SettableClock) -> None:
        sender.webhook(acme)
        sender.publish(acme, "a")
        [first] = sender.lease()
        clock.advance(LEASE)
        [second] = sender.lease()

        assert sender.transact(deliveries.record, second, second.deliveries[0], FAILED) is not None
        assert sender.transact(deliveries.record, first, first.deliveries[0], DONE) is None

        assert sender.builder.rows("SELECT delivered, attempt_count FROM webhook_deliveries") == [(False, 1)]

    def test_queueing_again_keeps_no_more_attempts_than_are_shown(
        self, sender: Sender, acme: UUID, clock: SettableClock
    ) -> None:
        webhook_id = sender.webhook(acme)
        sender.publish(acme, "a", "other")
        for number in range(ATTEMPTS_SHOWN_MAX + 3):
            [leased] = sender.lease()
            for delivery in leased.deliveries:
                sender.transact(deliveries.record, leased, delivery, replace(DONE, body=str(number)))
            [(first, _)] = [one for one in sender.builder.rows(DELIVERIES) if one[1] == "a"]
            sender.transact(queue_again, acme, webhook_id, first)
            sender.transact(deliveries.release, leased)
            clock.advance(SECOND)

        kept = sender.builder.rows(ATTEMPTS)
        assert kept == [
            *(("a", str(number)) for number in range(3, ATTEMPTS_SHOWN_MAX + 3)),
            ("other", "0"),
        ]

    def test_a_webhook_whose_secret_cannot_be_decrypted_delays_no_other(
        self, sender: Sender, acme: UUID, clock: SettableClock
    ) -> None:
        unreadable = sender.webhook(acme, "unreadable")
        foreign = PostgresWebhooks(transaction_on(sender.builder.connection, Vault([MasterKey.generate()])))
        foreign.save_secrets(acme, unreadable, SECRETS)
        sender.webhook(acme, "good")
        sender.publish(acme, "a")

        with structlog.testing.capture_logs() as lines:
            leased = sender.lease()

        assert names(leased) == ["a"]
        assert [(line["event"], line["webhook_id"]) for line in lines] == [("webhook.unreadable", str(unreadable))]
        assert sender.lease() == []

    def test_inactive_webhooks_leave_the_front_of_the_queue(
        self, sender: Sender, builder: Builder, clock: SettableClock
    ) -> None:
        asleep = builder.organization("asleep")
        for number in range(3):
            sender.webhook(asleep, f"hook {number}")
        sender.publish(asleep, "a")
        builder.set_organization_status(asleep, "suspended")
        clock.advance(SECOND)
        awake = builder.organization("awake")
        sender.webhook(awake)
        sender.publish(awake, "b")

        assert names(sender.lease()) == ["b"]
        assert [due_at for due_at, leased_until in sender.queue() if not leased_until] == [clock() + POSTPONEMENT] * 3


@pytest.mark.long
class TestPlans:
    """With 30,000 deliveries that wait, nothing reads a big table whole."""

    @pytest.mark.one_server
    def test_a_lease_reads_only_what_it_leases(self, many: Connection, clock: SettableClock) -> None:
        aggregate = PostgresWebhookDeliveries(transaction_on(many, now=clock()))
        with explained_statements(many) as plans:
            aggregate.postpone_inactive(webhooks_max=64, until=clock() + POSTPONEMENT)
            with structlog.testing.capture_logs():
                aggregate.lease(webhooks_max=64, of_organization_max=8, deliveries_max=8, leased_until=clock() + LEASE)

        assert len(plans) == 2
        for plan in plans:
            assert tables_read_whole(plan) & BIG == set()
            assert rows_read(plan, "webhook_deliveries") <= 64 * 8
            assert rows_read(plan, "webhooks") <= CANDIDATES_MAX + 64 * 3

    @pytest.mark.one_server
    def test_recording_releasing_and_listing_read_only_their_webhook(
        self, many: Connection, clock: SettableClock
    ) -> None:
        [[organization_id, webhook_id, delivery_id]] = many.execute(
            "SELECT organization_id, webhook_id, id FROM webhook_deliveries LIMIT 1"
        ).fetchall()
        many.execute("UPDATE webhook_queues SET leased_until = %s WHERE webhook_id = %s", (clock(), webhook_id))
        due = deliveries.DueDelivery(id=delivery_id, payload={}, attempt_count=0, queued_at=clock())
        aggregate = PostgresWebhookDeliveries(transaction_on(many, now=clock()))
        with explained_statements(many) as plans, many.transaction():
            aggregate.page(organization_id, webhook_id, DeliveryFilter(), limit=50, offset=0)
            aggregate.page(organization_id, webhook_id, DeliveryFilter(delivered=False), limit=50, offset=0)
            aggregate.save(organization_id, webhook_id, deliveries.outcome_of(due, FAILED, at=clock()))
            aggregate.release(organization_id, webhook_id, leased_until=clock())
            aggregate.queue_failed_again(organization_id, webhook_id, since=clock(), limit=100)

        assert len(plans) >= 8
        assert [tables_read_whole(plan) & BIG for plan in plans] == [set()] * len(plans)

    @pytest.mark.one_server
    def test_handing_on_and_reading_the_feed_read_only_their_events(
        self, many: Connection, clock: SettableClock
    ) -> None:
        [[organization_id]] = many.execute("SELECT organization_id FROM webhooks LIMIT 1").fetchall()
        many.execute(
            """
            INSERT INTO events (id, type, organization_id, data, occurred_at)
            SELECT (left(first_id_at(at)::text, 14) || substr(gen_random_uuid()::text, 15))::uuid,
                   'user.joined', %s, '{}', at
            FROM   generate_series(1, 20), CAST(%s AS timestamptz) AS at
            """,
            (organization_id, clock()),
        )
        many.execute("INSERT INTO event_positions VALUES (%s, 20000)", (organization_id,))
        mark_due(many, organization_id)
        sequencer = PostgresEventSequencing(transaction_on(many, now=clock()))
        feed = PostgresEventFeed(transaction_on(many, now=clock()))
        with explained_statements(many) as plans, many.transaction():
            waiting = sequencer.waiting(500, after=organization_id, kept_since=clock() - RETENTION)
            sequencer.assign_positions(waiting.events)
            sequencer.unmark(waiting.complete, kept_since=clock() - RETENTION)
            feed.page(organization_id, after=10, types=None, limit=101, kept_since=clock() - RETENTION)

        assert [tables_read_whole(plan) & BIG for plan in plans] == [set()] * len(plans)
