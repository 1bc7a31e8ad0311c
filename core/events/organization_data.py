"""The data of events about an organization: its settings, keys, domains, webhooks and logs."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from core.events.data import ABSENT, Changes, EntryOnly, EventData, EventOnly, UserAddress
from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationUpdatedData(EventData):
    """What was changed: `changes` of its own fields, else `change` names it, or `setup_link` is what it is about."""

    changes: Changes = ABSENT
    change: str = ABSENT
    reason: str = ABSENT
    metadata: dict[str, list[str]] = ABSENT
    webhook_id: UUID = ABSENT
    webhook_name: str = ABSENT
    webhook_host: str | None = ABSENT
    webhook_events: list[str] = ABSENT
    is_active: bool = ABSENT
    setup_link: dict[str, Any] = ABSENT
    role_slug: str = ABSENT
    role: str = ABSENT
    source: str = ABSENT
    group: str = ABSENT
    slug: EntryOnly[str] = ABSENT
    name: EntryOnly[str] = ABSENT
    role_name: EntryOnly[str] = ABSENT
    permissions: EntryOnly[list[str]] = ABSENT
    old_permissions: EntryOnly[list[str]] = ABSENT
    scopes: EntryOnly[list[str]] = ABSENT
    old_scopes: EntryOnly[list[str]] = ABSENT
    group_rules: EntryOnly[list[dict[str, Any]]] = ABSENT
    group_rule: EntryOnly[dict[str, Any]] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationDeletedData(EventData):
    """Until when it can be restored, and how many subscriptions were live."""

    restorable_until: datetime
    subscriptions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationRestoredData(EventData):
    """The event names the organization."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationClaimedData(EventData):
    """For which product its vendor had made the organization, and what the vendor may go on setting up."""

    customer_id: UUID
    client_id: UUID
    service_name: str
    vendor_slug: str
    vendor_name: str
    slug: str
    name: str
    vendor_setup: list[str]
    setup_links_ended: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServerData(EventData):
    """Which mail server was removed or tested."""

    host: str
    to: EntryOnly[str] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServerConfiguredData(EventData):
    """Which mail server was set."""

    host: str
    port: int
    tls: str
    username: str | None
    from_name: str
    from_email: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BrandingUpdatedData(EventData):
    """Which fields of the branding were changed."""

    changes: Changes


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainData(EventData):
    """Which custom domain was verified or removed."""

    domain: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainSetData(EventData):
    """Which custom domain was set, and which one it replaces."""

    domain: str
    replaced: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationKeyCreatedData(EventData):
    """Which management key was created."""

    key_id: EventOnly[UUID]
    key_name: str
    key_prefix: str | None
    permissions: list[str]
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationKeyDeletedData(EventData):
    """Which management key was deleted, and why if no person has deleted it."""

    key_id: EventOnly[UUID]
    key_name: str
    key_prefix: str | None
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ScimTokenData(EventData):
    """Which token for a directory was created or revoked."""

    scim_token_id: UUID
    scim_token_name: str
    scim_token_prefix: str
    groups: str = ABSENT
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class SiemConfiguredData(EventData):
    """Where the audit log is sent, or from when it is sent again."""

    provider: str
    host: str | None
    enabled: bool = ABSENT
    include: list[str] = ABSENT
    restarted_from: str = ABSENT
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class SiemRemovedData(EventData):
    """The event names the organization."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiemTestedData(EventData):
    """To which receiver a test event was sent."""

    provider: str
    host: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLogExportedData(EventData):
    """Up to which position of the chain the log was exported, or in which format what a search has found."""

    sealed_through: int = ABSENT
    format: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class PortalOpenedData(EventData):
    """In which mode the portal was opened; and for which user of which service, if it is theirs."""

    mode: str
    service_id: UUID = ABSENT
    user_id: UUID = ABSENT
    user_email: UserAddress = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTestData(EventData):
    """Which webhook is tested; and as which event, with the data that it is sent with, if another type was chosen."""

    webhook_id: UUID
    event_type: str = ABSENT
    sample: dict[str, Any] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTestedData(EventData):
    """For which webhook a test was requested."""

    webhook_id: UUID
    webhook_name: str
    delivery_id: UUID
    event_type: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRedeliveredData(EventData):
    """How many deliveries were queued again: one, or all that have failed since a moment."""

    webhook_id: UUID
    webhook_name: str
    queued: int
    delivery_id: UUID = ABSENT
    since: datetime = ABSENT
