"""Deliveries: each event for each webhook that subscribes to it, attempted until it arrives or the schedule ends.

The sequencer (`hand_on`) gives committed events their position in the feed and makes the deliveries. A dispatcher leases
a webhook (`lease`), sends what is due for it outside any transaction, records each outcome (`record`), and returns the
webhook (`release`). A lease that ends because the process died leaves the delivery due, so it is sent again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID  # noqa: TC003 - the reference is made from the fields of `Delivery`

from core.errors import NotFound
from core.events.events import EventType
from core.organizations.access import Operation, authorize
from core.webhooks.webhooks import SigningSecrets, WebhookUnknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ports.unit_of_work import UnitOfWork

# The delay after each failed attempt; the attempt after the last delay is the last one (decisions 7.4).
RETRY_DELAYS: Final = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=2))
ATTEMPTS_MAX: Final = len(RETRY_DELAYS) + 1
# Delays vary by up to a tenth, so that what failed together is not retried together.
JITTER: Final = 0.1
# Longer than the slowest attempt and the time to record it; after it another dispatcher may send.
LEASE: Final = timedelta(seconds=60)
RESPONSE_CHARACTERS_MAX: Final = 10_000
ERROR_CHARACTERS_MAX: Final = 500
# This answer of a receiver deactivates the webhook (decisions 7.4).
GONE: Final = 410


class DeliveryUnknown(NotFound):
    """The webhook has no delivery with that id."""

    default_message = "This webhook has no such delivery."


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A delivery (operations 2.7)."""

    id: UUID
    webhook_id: UUID
    webhook_name: str
    event_type: str
    payload: dict[str, Any]
    response_status_code: int | None
    response_body: str | None
    attempt_count: int
    max_attempts: int
    next_retry_at: datetime | None
    delivered: bool
    delivery_error: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDelivery:
    """A delivery to attempt now; its id is the `webhook-id` of every attempt."""

    id: UUID
    payload: dict[str, Any] = field(repr=False)
    attempt_count: int
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedWebhook:
    """A webhook that this dispatcher alone serves until the lease ends, with the deliveries to attempt."""

    id: UUID
    organization_id: UUID
    url: str
    secrets: SigningSecrets = field(repr=False)
    leased_until: datetime
    deliveries: Sequence[DueDelivery]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What an attempt got: a status and the beginning of the body, or the reason why there is no answer."""

    status_code: int | None
    body: str | None
    error: str | None

    @property
    def is_success(self) -> bool:
        """Whether the receiver took the delivery."""
        return self.status_code is not None and 200 <= self.status_code < 300  # noqa: PLR2004 - the class of success


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryFilter:
    """Which deliveries a list shows."""

    event_type: EventType | None = None
    delivered: bool | None = None
