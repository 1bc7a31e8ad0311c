"""The records of the embedded sandbox provider: its customers, its pages, and its subscriptions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from core.lazy_dataclasses import dataclass


class SessionKind(StrEnum):
    """A kind of page of the sandbox."""

    CHECKOUT = "checkout"
    PORTAL = "portal"


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxCustomer:
    """A customer of the sandbox."""

    id: str
    organization_id: UUID
    name: str
    default_payment_method: str | None
    created_at: datetime
    service_id: UUID | None = None
    user_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSession:
    """A page of the sandbox; its id, which cannot be guessed, opens it."""

    id: str
    kind: SessionKind
    customer_id: str
    return_url: str
    expires_at: datetime
    created_at: datetime
    price_id: str | None = None
    price_cents: int | None = None
    currency: str | None = None
    service_name: str | None = None
    plan_name: str | None = None
    metadata: Mapping[str, str]
    success_url: str | None = None
    subscription_id: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether the checkout can still be paid."""
        return self.subscription_id is None


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSubscription:
    """A subscription of the sandbox; the status is one of the provider's words."""

    id: str
    customer_id: str
    price_id: str
    price_cents: int
    currency: str
    description: str
    status: str
    metadata: Mapping[str, str]
    current_period_start: datetime
    current_period_end: datetime
    created_at: datetime

    @property
    def has_ended(self) -> bool:
        """Whether it has ended for good."""
        return self.status == "canceled"
