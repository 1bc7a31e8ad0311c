"""Which of a person's subscriptions are in force."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from core.billing.own_subscriptions import PersonalSubscription
from core.services.subscriptions import SubscriptionStatus


@pytest.mark.parametrize(
    ("status", "is_live"),
    [
        (SubscriptionStatus.ACTIVE, True),
        (SubscriptionStatus.PAST_DUE, True),
        (SubscriptionStatus.CANCELLED, False),
        (SubscriptionStatus.EXPIRED, False),
    ],
)
def test_a_subscription_is_in_force_until_it_has_ended(status: SubscriptionStatus, *, is_live: bool) -> None:
    subscription = PersonalSubscription(
        service_id=UUID(int=1),
        service_name="Shop",
        organization_name="Acme",
        plan_name="Basic",
        status=status,
        current_period_end=None,
        created_at=datetime(2026, 2, 3, tzinfo=UTC),
        is_billed=False,
        is_own_customer=False,
    )

    assert subscription.is_live is is_live
