"""Subscriptions of end users to the plans of a service; a user has at most one live subscription to a service."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - the reference is made from the fields of `Subscription`
from enum import StrEnum
from typing import Final
from uuid import UUID  # noqa: TC003 - likewise


class SubscriptionStatus(StrEnum):
    """The state of a subscription (identity 2.4)."""

    ACTIVE = "active"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    PAST_DUE = "past_due"


# A subscription in one of these states is the one live subscription of its user to the service (decisions 6.5).
LIVE: Final = frozenset({SubscriptionStatus.ACTIVE, SubscriptionStatus.PAST_DUE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A subscription (identity 2.4)."""

    id: UUID
    organization_id: UUID
    service_id: UUID
    user_id: UUID
    plan_id: UUID
    plan_name: str
    status: SubscriptionStatus
    current_period_end: datetime | None
    created_at: datetime
