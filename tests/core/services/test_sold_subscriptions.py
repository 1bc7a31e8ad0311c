"""Which of the subscriptions that were sold are in force."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from core.services.subscriptions import ListedSubscription, SubscriptionStatus

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "is_live"), [("active", True), ("past_due", True), ("cancelled", False), ("expired", False)]
)
def test_a_subscription_is_in_force_until_it_has_ended(status: str, *, is_live: bool) -> None:
    sold = ListedSubscription(
        id=UUID(int=1),
        service_id=UUID(int=2),
        service_name="Shop",
        service_slug="shop",
        user_id=UUID(int=3),
        email="ann@example.com",
        plan_id=UUID(int=4),
        plan_name="Pro",
        price_cents=990,
        currency="usd",
        status=SubscriptionStatus(status),
        current_period_end=NOW,
        created_at=NOW,
        is_billed=False,
    )

    assert sold.is_live is is_live
