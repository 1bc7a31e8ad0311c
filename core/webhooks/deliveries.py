"""Deliveries: each event for each webhook that subscribes to it, attempted until it arrives or the schedule ends.

`sequencing.py` makes them from committed events. A dispatcher leases a webhook (`lease`), sends its due deliveries
outside any transaction, records each outcome (`record`), and returns the webhook (`release`). If the process dies in
between, the lease ends, and the deliveries are sent again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from core.attempts import LEASE, ORGANIZATION_TARGETS_MAX, POSTPONEMENT, Attempt, next_attempt_at
from core.errors import Conflict, NotFound
from core.events.actions import AuditAction
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations.access import Operation
from core.organizations.authorization import OrganizationAccess, authorize
from core.positions import Pagination
from core.webhooks import webhooks
from core.webhooks.events import with_addresses, with_addresses_of_each, without_addresses
from core.webhooks.webhooks import SigningSecrets, Webhook, WebhookUnknown

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

REDELIVERED_MAX: Final = 10_000
# This answer of a receiver deactivates the webhook.
GONE: Final = 410
# The reason of a webhook that such an answer has deactivated.
RECEIVER_GONE: Final = "receiver_gone"


class DeliveryUnknown(NotFound):
    """The webhook has no delivery with that id."""

    default_message = "This webhook has no such delivery."


class DeliveryChanged(Conflict):
    """The delivery was attempted or queued again since the caller saw it."""

    default_message = (
        "This delivery was sent or queued again meanwhile. Check what is shown now, and send the form again if you"
        " still want it."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A delivery of an event to a webhook."""

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
    """A delivery to attempt now; `queued_at` is when its event happened, or when it was last queued again."""

    id: UUID
    payload: dict[str, Any] = field(repr=False)
    attempt_count: int
    queued_at: datetime

    @property
    def message_id(self) -> str:
        """The `webhook-id` of every attempt, which is the id of the event."""
        return str(self.payload["id"])


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
class DeliveryFilter:
    """The deliveries of a list."""

    event_type: EventType | None = None
    delivered: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryList:
    """A page of deliveries, newest first."""

    deliveries: list[Delivery]
    pagination: Pagination


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryOutcome:
    """The state of a delivery after an attempt."""

    delivery_id: UUID
    attempt: Attempt
    attempt_count: int
    next_retry_at: datetime | None


def list_page(
    uow: UnitOfWork, slug: str, webhook_id: UUID, wanted: DeliveryFilter, *, page: int, limit: int
) -> DeliveryList:
    """List the deliveries of a webhook, the newest first."""
    organization = authorize(uow, slug, Operation.WEBHOOKS_READ).organization
    found = uow.elsewhere.webhook_deliveries.page(
        organization.id, webhook_id, wanted, limit=limit, offset=(page - 1) * limit
    )
    if found is None:
        raise WebhookUnknown
    deliveries, total = found
    payloads = with_addresses(
        uow.elsewhere.known_addresses.of_each, organization.id, [one.payload for one in deliveries]
    )
    shown = [replace(one, payload=payload) for one, payload in zip(deliveries, payloads, strict=True)]
    return DeliveryList(deliveries=shown, pagination=Pagination.of(page, limit, total))


def test(uow: UnitOfWork, slug: str, webhook_id: UUID, event_type: EventType) -> UUID:
    """Queue a test for one webhook, whatever it subscribes to, and return the id of the delivery.

    This webhook gets an event of the given type whose data say that it is a test; the feed has it as a `webhook.test`.
    """
    authorized = authorize(uow, slug, Operation.WEBHOOKS_CHANGE)
    webhook = webhooks.find(uow, authorized.organization.id, webhook_id)
    delivery_id = uow.webhook_deliveries.add_test(
        authorized.organization.id,
        webhook_id,
        event_type=event_type,
        sample=_sample_of(event_type),
        actor_user_id=authorized.caller.actor_user_id,
        actor_email=authorized.caller.account.email if authorized.caller.limits.key_id is None else None,
    )
    assert delivery_id is not None, "the webhook was deleted in the same transaction"
    details = {} if event_type is EventType.WEBHOOK_TEST else {"event_type": event_type.value}
    _record(uow, authorized, AuditAction.WEBHOOK_TESTED, webhook, delivery_id=str(delivery_id), **details)
    return delivery_id


def redeliver(
    uow: UnitOfWork, slug: str, webhook_id: UUID, delivery_id: UUID, *, seen_at: datetime | None = None
) -> None:
    """Queue a delivery again, from the first attempt on; its `webhook-id` stays the same.

    Raise `DeliveryChanged` when it was changed after `seen_at`, the time of change that the caller has seen.
    """
    authorized = authorize(uow, slug, Operation.WEBHOOKS_CHANGE)
    organization_id = authorized.organization.id
    webhook = uow.webhooks.find(organization_id, webhook_id)
    if webhook is None:
        raise DeliveryUnknown
    if not uow.webhook_deliveries.queue_again(organization_id, webhook_id, delivery_id, seen_at=seen_at):
        raise DeliveryUnknown if seen_at is None else DeliveryChanged
    _record(uow, authorized, AuditAction.WEBHOOK_REDELIVERED, webhook, delivery_id=str(delivery_id), queued=1)


def redeliver_failed(uow: UnitOfWork, slug: str, webhook_id: UUID, since: datetime) -> int:
    """Queue deliveries again that failed for good since a moment, at most `REDELIVERED_MAX`; return how many."""
    authorized = authorize(uow, slug, Operation.WEBHOOKS_CHANGE)
    organization_id = authorized.organization.id
    webhook = webhooks.find(uow, organization_id, webhook_id)
    queued = uow.webhook_deliveries.queue_failed_again(organization_id, webhook_id, since=since, limit=REDELIVERED_MAX)
    _record(uow, authorized, AuditAction.WEBHOOK_REDELIVERED, webhook, since=_utc(since), queued=queued)
    return queued


def lease(uow: UnitOfWork, webhooks_max: int, deliveries_max: int) -> Sequence[LeasedWebhook]:
    """Lease webhooks that have something due, each with its next deliveries, fairly among organizations.

    Webhooks of an organization that is not active wait until it is. No organization has more than
    `ORGANIZATION_TARGETS_MAX` at once; dispatchers that lease at the same moment may exceed that.
    """
    uow.webhook_deliveries.postpone_inactive(webhooks_max=webhooks_max, until=uow.now + POSTPONEMENT)
    leased = uow.webhook_deliveries.lease(
        webhooks_max=webhooks_max,
        of_organization_max=ORGANIZATION_TARGETS_MAX,
        deliveries_max=deliveries_max,
        leased_until=uow.now + LEASE,
    )
    due = [(webhook.organization_id, one.payload) for webhook in leased for one in webhook.deliveries]
    payloads = iter(with_addresses_of_each(uow.known_addresses.of_each, due))
    return [
        replace(webhook, deliveries=[replace(one, payload=next(payloads)) for one in webhook.deliveries])
        for webhook in leased
    ]


def record(uow: UnitOfWork, webhook: LeasedWebhook, delivery: DueDelivery, attempt: Attempt) -> DeliveryOutcome | None:
    """Record the result of an attempt; None when another dispatcher has recorded the same attempt.

    The answer 410 deactivates the webhook, unless it has another URL meanwhile, and tells the owner.
    """
    # The webhook before the delivery, because a deletion of the webhook takes their locks in this order.
    if attempt.status_code == GONE:
        deactivated = uow.webhooks.switch_off(webhook.organization_id, webhook.id, RECEIVER_GONE, url=webhook.url)
        if deactivated is not None:
            webhooks.record(uow, webhook.organization_id, "webhook_deactivated", deactivated)
            _tell_owner(uow, webhook.organization_id, deactivated)
    outcome = outcome_of(delivery, without_addresses(attempt, delivery.payload), at=uow.now)
    return outcome if uow.webhook_deliveries.save(webhook.organization_id, webhook.id, outcome) else None


def _tell_owner(uow: UnitOfWork, organization_id: UUID, webhook: Webhook) -> None:
    owner = uow.mail_servers.owner_contact(organization_id)
    mail.send(
        uow,
        owner.email,
        MailTemplate.WEBHOOK_OFF,
        organization_id=organization_id,
        organization=owner.organization_name,
        webhook=webhook.name,
        # Not the whole URL: its path or query may contain a secret.
        host=urlsplit(webhook.url).hostname or "",
        at=uow.now.strftime("%Y-%m-%d %H:%M UTC"),
    )


def outcome_of(delivery: DueDelivery, attempt: Attempt, *, at: datetime) -> DeliveryOutcome:
    """Return the state of a delivery after an attempt: over, or due again after the next delay of the schedule."""
    attempts = delivery.attempt_count + 1
    is_over = attempt.is_success or attempt.status_code == GONE
    return DeliveryOutcome(
        delivery_id=delivery.id,
        attempt=attempt,
        attempt_count=attempts,
        next_retry_at=None if is_over else next_attempt_at(delivery.id, attempts, at=at),
    )


def release(uow: UnitOfWork, webhook: LeasedWebhook) -> None:
    """End the lease of a webhook; it queues behind the others when it has more due."""
    uow.webhook_deliveries.release(webhook.organization_id, webhook.id, leased_until=webhook.leased_until)


def _sample_of(event_type: EventType) -> dict[str, Any]:
    """Return the data of a test event of this type."""
    about_login = {"provider": "password", "service_id": None} if event_type is EventType.USER_LOGIN_SUCCESS else {}
    return {"is_test": True, **about_login}


def _record(
    uow: UnitOfWork, authorized: OrganizationAccess, action: AuditAction, webhook: Webhook, **details: Any
) -> None:
    uow.record(
        action,
        authorized.organization.id,
        organization_id=authorized.organization.id,
        webhook_id=str(webhook.id),
        webhook_name=webhook.name,
        **details,
    )


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
