"""The deliveries of a webhook as the console shows them: found by what people choose, and one with its attempts.

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
from core.organizations.access import Operation, authorize
from core.positions import FoundRows, Position, found_rows
from core.webhooks.deliveries import Delivery, DeliveryUnknown
from core.webhooks.known_addresses import with_addresses
from core.webhooks.webhooks import Webhook, WebhookUnknown

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Of one delivery, the newest, and no others are kept: each time it is queued again it is attempted up to five times.
ATTEMPTS_SHOWN_MAX: Final = 10


class DeliveryState(StrEnum):
    """Where a delivery is: it has arrived, it waits for its next attempt, or it has failed for good."""

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
    """What a person has chosen or typed to find deliveries; an empty text finds any.

    `since` and `until` are about when deliveries were made, without a zone in UTC.
    """

    state: str = ""
    event_type: str = ""
    since: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverySearch:
    """Which deliveries of a webhook are found; None finds any."""

    state: DeliveryState | None
    event_type: str | None
    times: LogTimes


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDelivery:
    """A delivery in a list, with what the last attempt got."""

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
    """An attempt: what was sent and when, after which time what came back; `error` is None where it was taken."""

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
    """Return a webhook and its deliveries that are asked for, the newest first; raise `BadRequest` for no times."""
    organization_id = authorize(uow, slug, Operation.WEBHOOKS_READ).organization.id
    webhook = _webhook(uow, organization_id, webhook_id)
    wanted = search_of(asked)
    rows = uow.elsewhere.webhook_delivery_log.page(organization_id, webhook_id, wanted, after=after, limit=limit + 1)
    count = partial(uow.elsewhere.webhook_delivery_log.count, organization_id, webhook_id, wanted)
    return webhook, found_rows(rows, after=after, limit=limit, count=count)


def listed(
    uow: UnitOfWork, slug: str, webhook_id: UUID, asked: AskedDeliveries, *, after: Position | None, limit: int
) -> Sequence[ListedDelivery]:
    """Return a part of the deliveries that `search` finds, without counting; for files."""
    organization_id = authorize(uow, slug, Operation.WEBHOOKS_READ).organization.id
    _webhook(uow, organization_id, webhook_id)
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

    The caller is about to queue them again.
    """
    organization_id = authorize(uow, slug, Operation.WEBHOOKS_CHANGE).organization.id
    webhook = _webhook(uow, organization_id, webhook_id)
    wanted = search_of(AskedDeliveries(state=DeliveryState.FAILED.value, since=since))
    return webhook, uow.webhook_delivery_log.count(organization_id, webhook_id, wanted, counted_max=COUNTED_MAX + 1)


def show_history(uow: UnitOfWork, slug: str, webhook_id: UUID) -> tuple[Webhook, int, int]:
    """Return a webhook that the caller may be about to delete, and what ends with it.

    That is how many deliveries it has, and how many of them wait to be sent, each counted up to 10,001.
    """
    organization_id = authorize(uow, slug, Operation.WEBHOOKS_CHANGE).organization.id
    webhook = _webhook(uow, organization_id, webhook_id)
    kept = search_of(AskedDeliveries())
    waiting = replace(kept, state=DeliveryState.WAITING)
    count = partial(uow.webhook_delivery_log.count, organization_id, webhook_id, counted_max=COUNTED_MAX + 1)
    return webhook, count(kept), count(waiting)


def search_of(asked: AskedDeliveries) -> DeliverySearch:
    """Return the conditions of what was typed; raise `BadRequest` for what is no time. No known state finds any."""
    times = log_times.typed(asked.since, asked.until)
    state = DeliveryState(asked.state) if asked.state in set(DeliveryState) else None
    return DeliverySearch(state=state, event_type=asked.event_type or None, times=times)


def _webhook(uow: UnitOfWork, organization_id: UUID, webhook_id: UUID) -> Webhook:
    """Return a webhook of the organization; raise `WebhookUnknown`."""
    webhook = uow.webhooks.find(organization_id, webhook_id)
    if webhook is None:
        raise WebhookUnknown
    return webhook
