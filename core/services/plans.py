"""Plans of a service, which its end users subscribe to; `subscriptions.py` has the subscriptions, `billing/` the payment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - the reference is made from the fields of `Plan`
from typing import Final
from uuid import UUID  # noqa: TC003 - likewise

DEFAULT_PLAN_NAME: Final = "Free"
DEFAULT_CURRENCY: Final = "usd"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A plan (operations 2.2). It can be bought when the payment provider has a price for it."""

    id: UUID
    organization_id: UUID
    service_id: UUID
    name: str
    price_cents: int
    currency: str
    features: list[str]
    billing_price_id: str | None
    is_default: bool
    created_at: datetime
