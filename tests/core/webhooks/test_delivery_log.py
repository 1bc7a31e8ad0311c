"""Where a delivery is, in the list and on its page."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from core.webhooks.deliveries import Delivery
from core.webhooks.delivery_log import DeliveryState, ListedDelivery, ShownDelivery
from core.webhooks.webhooks import Webhook

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
ID = UUID(int=1)
WEBHOOK = Webhook(
    id=ID,
    name="Receiver",
    url="https://receiver.example",
    events=["user.created"],
    is_active=True,
    created_at=NOW,
    updated_at=NOW,
)


@pytest.mark.parametrize(
    ("delivered", "next_retry_at", "state"),
    [
        (True, None, DeliveryState.DELIVERED),
        (False, NOW, DeliveryState.WAITING),
        (False, None, DeliveryState.FAILED),
    ],
)
def test_a_delivery_waits_as_long_as_it_is_attempted_again(
    *, delivered: bool, next_retry_at: datetime | None, state: DeliveryState
) -> None:
    listed = ListedDelivery(
        id=ID,
        event_type="user.created",
        created_at=NOW,
        updated_at=NOW,
        attempt_count=1,
        next_retry_at=next_retry_at,
        delivered=delivered,
        response_status_code=None,
        delivery_error=None,
    )
    shown = ShownDelivery(
        webhook=WEBHOOK,
        delivery=Delivery(
            id=ID,
            webhook_id=ID,
            webhook_name="Receiver",
            event_type="user.created",
            payload={},
            response_status_code=None,
            response_body=None,
            attempt_count=1,
            max_attempts=5,
            next_retry_at=next_retry_at,
            delivered=delivered,
            delivery_error=None,
            created_at=NOW,
            updated_at=NOW,
        ),
        attempts=[],
    )

    assert (listed.state, shown.state) == (state, state)
