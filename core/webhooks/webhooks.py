"""Webhooks of an organization: their addresses, the events that they subscribe to, and the secrets that sign these.

Deliveries are in `deliveries.py`; pulling events instead of receiving them is in `events.py`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from uuid import UUID

from core.errors import BadRequest, Conflict, NotFound, all_valid
from core.events.actions import AuditAction
from core.events.events import EventType, EventTypeItem
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import authorize, authorize_and_lock
from core.organizations.departures import MadeCredentialKind, record_maker
from core.outbound import Network, checked_url
from core.secrets import Secret
from core.text import checked_name
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

WEBHOOKS_MAX: Final = 50
# For this long after a rotation both secrets sign.
ROTATION_OVERLAP: Final = timedelta(hours=24)
SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - the beginning of every secret, which is no secret


class WebhookUnknown(NotFound):
    """The organization has no webhook with that id."""

    default_message = "This organization has no such webhook."


class WebhookChanged(Conflict):
    """Another person has changed the webhook since the caller saw it."""

    default_message = (
        "Another person has changed this webhook meanwhile. Check what is shown now, and send the form again if you"
        " still want it."
    )


class WebhookNameTaken(BadRequest):
    """Another webhook of the organization has the name."""

    default_message = "Another webhook of this organization has this name. Choose another name."


class TooManyWebhooks(BadRequest):
    """The organization has the maximum number of webhooks."""

    default_message = Wording(
        "An organization can have at most %(maximum)s webhooks. Delete one that is not in use.", maximum=WEBHOOKS_MAX
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """A webhook; its secrets are in `SigningSecrets`."""

    id: UUID
    name: str
    url: str
    events: list[str]
    is_active: bool
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookChanges:
    """The fields of a webhook to change; None leaves one as it is."""

    name: str | None = None
    url: str | None = None
    events: list[str] | None = None
    is_active: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningSecrets:
    """The secret of a webhook, and the previous one, which signs as well until `previous_until`."""

    current: Secret = field(repr=False)
    previous: Secret | None = field(default=None, repr=False)
    previous_until: datetime | None = None

    def at(self, moment: datetime) -> list[Secret]:
        """Return the secrets that sign at that time, the current one first."""
        if self.previous is None or self.previous_until is None or self.previous_until <= moment:
            return [self.current]
        return [self.current, self.previous]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookWithSecret:
    """A webhook and its new secret, which is shown only once.

    The previous secret signs as well until `previous_until`; None without one.
    """

    webhook: Webhook
    secret: Secret
    previous_until: datetime | None = None


def event_types(uow: UnitOfWork, slug: str) -> Sequence[EventTypeItem]:
    """List the event types that a webhook can subscribe to."""
    authorize(uow, slug, Operation.WEBHOOKS_READ)
    return [event.item for event in EventType]


def create(
    uow: UnitOfWork, slug: str, *, name: str, url: str, events: Sequence[str], allowed: Iterable[Network]
) -> WebhookWithSecret:
    """Create an active webhook; `allowed` are the private networks that the operator has opened to targets."""
    # Locked, so that the number of webhooks is the same when this one is added.
    authorized = authorize_and_lock(uow, slug, Operation.WEBHOOK_CONFIGURE)
    organization = authorized.organization
    new_name, new_url, new_events = all_valid(
        lambda: checked_name(name, characters_min=1),
        lambda: checked_url(url, allowed),
        lambda: _checked_events(events),
    )
    webhook = Webhook(
        id=uow.randomness.new_id(),
        name=new_name,
        url=new_url,
        events=new_events,
        is_active=True,
        created_at=uow.now,
        updated_at=uow.now,
    )
    if uow.webhooks.count(organization.id) >= WEBHOOKS_MAX:
        raise TooManyWebhooks
    secret = new_secret(uow)
    if not uow.webhooks.add(organization.id, webhook, SigningSecrets(current=secret)):
        raise WebhookNameTaken
    record_maker(uow, MadeCredentialKind.WEBHOOK, organization.id, webhook.id, authorized.caller.maker_id)
    record(uow, organization.id, "webhook_created", webhook)
    return WebhookWithSecret(webhook=webhook, secret=secret)


def list_all(uow: UnitOfWork, slug: str) -> Sequence[Webhook]:
    """List the webhooks of an organization, the oldest first."""
    organization = authorize(uow, slug, Operation.WEBHOOKS_READ).organization
    return uow.webhooks.of_organization(organization.id)


def show(uow: UnitOfWork, slug: str, webhook_id: UUID) -> Webhook:
    """Return a webhook; raise `WebhookUnknown` when the organization has none with that id."""
    return find(uow, authorize(uow, slug, Operation.WEBHOOKS_READ).organization.id, webhook_id)


def find(uow: UnitOfWork, organization_id: UUID, webhook_id: UUID) -> Webhook:
    """Do what `show` does for an authorized caller."""
    found = uow.webhooks.find(organization_id, webhook_id)
    if found is None:
        raise WebhookUnknown
    return found


def change(
    uow: UnitOfWork,
    slug: str,
    webhook_id: UUID,
    wanted: WebhookChanges,
    *,
    allowed: Iterable[Network],
    seen_at: datetime | None = None,
) -> Webhook:
    """Change the given fields of a webhook.

    While it is inactive it receives nothing and no deliveries are made for it; waiting ones go on when it is active
    again. Raise `WebhookChanged` when it was changed after `seen_at`, the time of change that the caller has seen.
    """
    authorized = authorize_and_lock(uow, slug, Operation.WEBHOOK_CONFIGURE)
    organization = authorized.organization
    # Invalid input is refused before an unknown webhook.
    new_name, new_url, new_events = all_valid(
        lambda: checked_name(wanted.name, characters_min=1) if wanted.name is not None else None,
        lambda: checked_url(wanted.url, allowed) if wanted.url is not None else None,
        lambda: _checked_events(wanted.events) if wanted.events is not None else None,
    )
    before = find(uow, organization.id, webhook_id)
    _require_unchanged(before, seen_at)
    after = replace(
        before,
        name=before.name if new_name is None else new_name,
        url=before.url if new_url is None else new_url,
        events=before.events if new_events is None else new_events,
        is_active=before.is_active if wanted.is_active is None else wanted.is_active,
    )
    if after == before:
        return before
    after = replace(after, updated_at=uow.now)
    if not uow.webhooks.save(organization.id, after):
        raise WebhookNameTaken
    if after.url != before.url:
        record_maker(uow, MadeCredentialKind.WEBHOOK, organization.id, webhook_id, authorized.caller.maker_id)
    if after.is_active and not before.is_active:
        uow.webhook_deliveries.make_due(organization.id, webhook_id)
    record(uow, organization.id, "webhook_updated", after)
    return after


def rotate_secret(
    uow: UnitOfWork, slug: str, webhook_id: UUID, *, seen_at: datetime | None = None
) -> WebhookWithSecret:
    """Give a webhook a new secret; for 24 hours the old one signs as well.

    With `seen_at`, raise `WebhookChanged` as `change` does: a second rotation would end the secret before the first.
    """
    authorized = authorize_and_lock(uow, slug, Operation.WEBHOOK_CONFIGURE)
    organization = authorized.organization
    webhook = find(uow, organization.id, webhook_id)
    _require_unchanged(webhook, seen_at)
    webhook = replace(webhook, updated_at=uow.now)
    before = uow.webhooks.secrets_of(organization.id, webhook_id)
    secret = new_secret(uow)
    rotated = SigningSecrets(current=secret, previous=before.current, previous_until=uow.now + ROTATION_OVERLAP)
    uow.webhooks.save_secrets(organization.id, webhook_id, rotated)
    record_maker(uow, MadeCredentialKind.WEBHOOK, organization.id, webhook_id, authorized.caller.maker_id)
    record(uow, organization.id, "webhook_secret_rotated", webhook)
    return WebhookWithSecret(webhook=webhook, secret=secret, previous_until=rotated.previous_until)


def delete(uow: UnitOfWork, slug: str, webhook_id: UUID, *, seen_at: datetime | None = None) -> None:
    """Delete a webhook and the history of its deliveries; `seen_at` is as in `change`."""
    organization = authorize_and_lock(uow, slug, Operation.WEBHOOKS_CHANGE).organization
    webhook = find(uow, organization.id, webhook_id)
    _require_unchanged(webhook, seen_at)
    uow.webhooks.remove(organization.id, webhook_id)
    record(uow, organization.id, "webhook_deleted", webhook)


def record(uow: UnitOfWork, organization_id: UUID, change: str, webhook: Webhook) -> None:
    """Record a change of a webhook as a change of the organization: webhooks have no actions of their own."""
    uow.record(
        AuditAction.ORGANIZATION_UPDATED,
        organization_id,
        organization_id=organization_id,
        change=change,
        webhook_id=str(webhook.id),
        webhook_name=webhook.name,
        # Not the whole URL: its path or query may contain a secret.
        webhook_host=urlsplit(webhook.url).hostname,
        webhook_events=webhook.events,
        is_active=webhook.is_active,
    )


def new_secret(uow: UnitOfWork) -> Secret:
    """Return a secret in the form of Standard Webhooks: a prefix and standard base64."""
    raw = base64.urlsafe_b64decode(uow.randomness.token().reveal() + "=")
    return Secret(SECRET_PREFIX + base64.b64encode(raw).decode())


def _require_unchanged(webhook: Webhook, seen_at: datetime | None) -> None:
    if seen_at is not None and webhook.updated_at != seen_at:
        raise WebhookChanged


def _checked_events(events: Sequence[str]) -> list[str]:
    """Return the event types in the order of their declaration, each once; raise `BadRequest` for any other text."""
    if not events:
        raise BadRequest.of_field("events", "Name at least one event type.")
    known = [str(event.value) for event in EventType]
    unknown = sorted(set(events) - set(known))
    if unknown:
        raise BadRequest.of_field(
            "events",
            Wording(
                "There is no event type %(unknown)s. Valid event types: %(known)s.",
                unknown=", ".join(unknown[:5]),
                known=", ".join(known),
            ),
        )
    return [event for event in known if event in events]
