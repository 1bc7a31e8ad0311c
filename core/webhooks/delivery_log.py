"""The deliveries of a webhook as the console shows them: a search, and one delivery with its attempts.

Making, attempting and queueing them again is in `deliveries.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core import log_times
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.log_times import LogTimes
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.positions import FoundRows, Position, found_rows
from core.webhooks import webhooks
from core.webhooks.deliveries import Delivery, DeliveryUnknown
from core.webhooks.events import with_addresses
from core.webhooks.webhooks import Webhook

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The newest attempts of a delivery, and no others are kept: each time it is queued again it has up to five.
ATTEMPTS_SHOWN_MAX: Final = 10


class DeliveryState(StrEnum):
    """The state of a delivery: it has arrived, waits for its next attempt, or has failed for good."""

    DELIVERED = "delivered"
    WAITING = "waiting"
    FAILED = "failed"

    @classmethod
    def of(cls, *, delivered: bool, next_retry_at: datetime | None) -> DeliveryState:
        """Return the state of a delivery."""
        if delivered:
            return cls.DELIVERED
        return cls.WAITING if next_retry_at is not None else cls.FAILED


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedDeliveries:
    """The deliveries to find, as a person has typed or chosen; an empty text finds any.

    `since` and `until` concern the time when deliveries were made, without a zone in UTC.
    """

    state: str = ""
    event_type: str = ""
    since: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverySearch:
    """The conditions of a search for deliveries; None finds any."""

    state: DeliveryState | None
    event_type: str | None
    times: LogTimes


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDelivery:
    """A delivery in a list, with the result of the last attempt."""

    id: UUID
    event_type: str
    created_at: datetime
    updated_at: datetime
    attempt_count: int
    next_retry_at: datetime | None
    delivered: bool
    response_status_code: int | None
    delivery_error: str | None

    @property
    def state(self) -> DeliveryState:
        """Where the delivery is."""
        return DeliveryState.of(delivered=self.delivered, next_retry_at=self.next_retry_at)

    @property
    def position(self) -> Position:
        """The place of the delivery in the list."""
        return Position(at=self.created_at, id=self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryAttempt:
    """An attempt: the request, its time and duration, and the answer; `error` is None if it was accepted."""

    id: UUID
    attempted_at: datetime
    duration_ms: int
    request_headers: Mapping[str, Any]
    status_code: int | None
    response_body: str | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDelivery:
    """A delivery of a webhook, with its newest attempts, the newest first."""

    webhook: Webhook
    delivery: Delivery
    attempts: Sequence[DeliveryAttempt]

    @property
    def state(self) -> DeliveryState:
        """Where the delivery is."""
        return DeliveryState.of(delivered=self.delivery.delivered, next_retry_at=self.delivery.next_retry_at)


def search(
    uow: UnitOfWork, slug: str, webhook_id: UUID, asked: AskedDeliveries, *, after: Position | None, limit: int
) -> tuple[Webhook, FoundRows[ListedDelivery]]:
    """Return a webhook and its wanted deliveries, the newest first; raise `BadRequest` for an invalid time."""
    organization_id = authorize(uow, slug, Operation.WEBHOOKS_READ).organization.id
    webhook = webhooks.find(uow, organization_id, webhook_id)
    wanted = search_of(asked)
    rows = uow.elsewhere.webhook_delivery_log.page(organization_id, webhook_id, wanted, after=after, limit=limit + 1)
    count = partial(uow.elsewhere.webhook_delivery_log.count, organization_id, webhook_id, wanted)
    return webhook, found_rows(rows, after=after, limit=limit, count=count)


def listed(
    uow: UnitOfWork, slug: str, webhook_id: UUID, asked: AskedDeliveries, *, after: Position | None, limit: int
) -> Sequence[ListedDelivery]:
    """Return a part of the deliveries that `search` finds, without a count; for files."""
    organization_id = authorize(uow, slug, Operation.WEBHOOKS_READ).organization.id
    webhooks.find(uow, organization_id, webhook_id)
    return uow.elsewhere.webhook_delivery_log.page(
        organization_id, webhook_id, search_of(asked), after=after, limit=limit
    )


def show(uow: UnitOfWork, slug: str, webhook_id: UUID, delivery_id: UUID) -> ShownDelivery:
    """Return a delivery with its attempts; raise `DeliveryUnknown` when the webhook has none with that id."""
    organization_id = authorize(uow, slug, Operation.WEBHOOKS_READ).organization.id
    webhook = uow.webhooks.find(organization_id, webhook_id)
    delivery = uow.elsewhere.webhook_delivery_log.find(organization_id, webhook_id, delivery_id)
    if webhook is None or delivery is None:
        raise DeliveryUnknown
    attempts = uow.elsewhere.webhook_delivery_log.attempts(organization_id, delivery_id, limit=ATTEMPTS_SHOWN_MAX)
    [payload] = with_addresses(uow.elsewhere.known_addresses.of_each, organization_id, [delivery.payload])
    return ShownDelivery(webhook=webhook, delivery=replace(delivery, payload=payload), attempts=attempts)


def show_failed(uow: UnitOfWork, slug: str, webhook_id: UUID, since: str) -> tuple[Webhook, int]:
    """Return a webhook, and how many of its deliveries since a moment have failed for good, counted up to 10,001.

    The page shows it before the caller queues them again.
    """
    organization_id = authorize(uow, slug, Operation.WEBHOOKS_CHANGE).organization.id
    webhook = webhooks.find(uow, organization_id, webhook_id)
    wanted = search_of(AskedDeliveries(state=DeliveryState.FAILED.value, since=since))
    return webhook, uow.webhook_delivery_log.count(organization_id, webhook_id, wanted, counted_max=COUNTED_MAX + 1)


def show_history(uow: UnitOfWork, slug: str, webhook_id: UUID) -> tuple[Webhook, int, int]:
    """Return a webhook with the numbers of its deliveries and of its waiting ones, each counted up to 10,001.

    The page shows it before the caller deletes the webhook.
    """
    organization_id = authorize(uow, slug, Operation.WEBHOOKS_CHANGE).organization.id
    webhook = webhooks.find(uow, organization_id, webhook_id)
    kept = search_of(AskedDeliveries())
    waiting = replace(kept, state=DeliveryState.WAITING)
    count = partial(uow.webhook_delivery_log.count, organization_id, webhook_id, counted_max=COUNTED_MAX + 1)
    return webhook, count(kept), count(waiting)


def search_of(asked: AskedDeliveries) -> DeliverySearch:
    """Return the conditions of a typed search; raise `BadRequest` for an invalid time. An unknown state finds any."""
    times = log_times.typed(asked.since, asked.until)
    state = DeliveryState(asked.state) if asked.state in set(DeliveryState) else None
    return DeliverySearch(state=state, event_type=asked.event_type or None, times=times)
