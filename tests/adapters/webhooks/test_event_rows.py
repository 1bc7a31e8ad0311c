"""What depends on events, deliveries and webhooks is deleted with them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from psycopg.errors import ForeignKeyViolation

from adapters.postgres.webhooks.events import EVENT_PAYLOAD
from core.attempts import Attempt
from core.events.events import EventType
from core.ids import PLATFORM
from core.platform.housekeeping import Leftover
from core.webhooks import deliveries
from tests.adapters.webhooks.queues import Sender, publish_all
from tests.world.builder import Builder, new_id

Transact = Callable[..., Any]


FAILED = Attempt(status_code=500, body="no", error="The receiver answered 500.")
COUNTS = """
    SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM webhook_deliveries),
           (SELECT count(*) FROM webhook_attempts), (SELECT count(*) FROM event_positions)
"""


@pytest.fixture
def attempted(sender: Sender, acme: UUID) -> UUID:
    """A webhook with two deliveries that were attempted, beside another organization's; return its id."""
    globex = sender.builder.organization("globex")
    hooks = [sender.webhook(organization_id) for organization_id in (acme, globex)]
    sender.publish(acme, "a", "b")
    sender.publish(globex, "c")
    for leased in sender.lease():
        for delivery in leased.deliveries:
            sender.transact(deliveries.record, leased, delivery, FAILED)
    assert sender.builder.rows(COUNTS) == [(3, 3, 3, 2)]
    return hooks[0]


def test_a_webhook_takes_its_deliveries_and_their_attempts_along(attempted: UUID, acme: UUID, sender: Sender) -> None:
    assert sender.transact(lambda uow: uow.webhooks.remove(acme, attempted))

    assert sender.builder.rows(COUNTS) == [(3, 1, 1, 2)]


def test_an_old_event_takes_its_deliveries_and_their_attempts_along(attempted: UUID, sender: Sender) -> None:
    connection = sender.builder.connection
    [(event_id, old_id)] = connection.execute(
        """
        SELECT id, overlay(id::text placing left(first_id_at('2025-01-01')::text, 13) from 1)::uuid
        FROM   events
        WHERE  data ->> 'name' = 'a'
        """
    )
    connection.execute("UPDATE events SET id = %s, occurred_at = '2025-01-01' WHERE id = %s", (old_id, event_id))
    connection.execute("UPDATE webhook_deliveries SET event_id = %s WHERE event_id = %s", (old_id, event_id))

    assert (
        sender.transact(lambda uow: uow.housekeeping.delete(Leftover.EVENTS, datetime(2025, 1, 2, tzinfo=UTC), 9)) == 1
    )

    assert sender.builder.rows(COUNTS) == [(2, 2, 2, 2)]


@pytest.mark.parametrize("at_once", [50_000, 1])
def test_an_organization_takes_everything_of_its_webhooks_along(
    attempted: UUID, acme: UUID, sender: Sender, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr("adapters.postgres.organizations.organizations.DELETED_AT_ONCE_MAX", at_once)

    sender.transact(lambda uow: uow.organizations.delete(acme))

    assert sender.builder.rows(COUNTS) == [(1, 1, 1, 1)]


def test_a_process_that_deletes_an_organization_alone_leaves_nothing_of_it(
    attempted: UUID, acme: UUID, builder: Builder
) -> None:
    builder.connection.execute("DELETE FROM organizations WHERE id = %s", (acme,))

    assert builder.rows(COUNTS) == [(1, 1, 1, 1)]


def test_an_event_of_an_organization_that_does_not_exist_is_refused(transact: Transact) -> None:
    with pytest.raises(ForeignKeyViolation):
        transact(publish_all, new_id(), "a")


def test_events_of_the_platform_have_its_id_and_show_no_organization(builder: Builder, transact: Transact) -> None:
    transact(lambda uow: uow.publish(EventType.USER_INVITED))

    rows = builder.rows(f"SELECT organization_id, ({EVENT_PAYLOAD}) ->> 'organization_id' FROM events e")
    assert rows == [(PLATFORM, None)]
