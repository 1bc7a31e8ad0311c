"""The data of events about an organization: its settings, keys, domains, webhooks, logs, and single sign-on."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from core.events.data import ABSENT, Changes, EntryOnly, EventData, EventOnly, UserAddress
from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationUpdatedData(EventData):
    """The change: `changes` of the organization's own fields, else its name in `change`, or a `setup_link`."""

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
    """The time until which the organization can be restored, and the number of live subscriptions."""

    restorable_until: datetime
    subscriptions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationRestoredData(EventData):
    """The event names the organization."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationClaimedData(EventData):
    """The product for which its vendor made the organization, and what the vendor may still set up."""

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
    """The mail server that was removed or tested."""

    host: str
    to: EntryOnly[str] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServerConfiguredData(EventData):
    """The mail server that was set."""

    host: str
    port: int
    tls: str
    username: str | None
    from_name: str
    from_email: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BrandingUpdatedData(EventData):
    """The changed fields of the branding."""

    changes: Changes


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainData(EventData):
    """The custom domain that was verified or removed."""

    domain: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainSetData(EventData):
    """The new custom domain, and the one that it replaces."""

    domain: str
    replaced: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationKeyCreatedData(EventData):
    """The new management key."""

    key_id: EventOnly[UUID]
    key_name: str
    key_prefix: str | None
    permissions: list[str]
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationKeyDeletedData(EventData):
    """The deleted management key, and the reason if no person deleted it."""

    key_id: EventOnly[UUID]
    key_name: str
    key_prefix: str | None
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ScimTokenData(EventData):
    """The token for a directory that was created or revoked."""

    scim_token_id: UUID
    scim_token_name: str
    scim_token_prefix: str
    groups: str = ABSENT
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class SiemConfiguredData(EventData):
    """The receiver of the audit log, or the time from which the log is sent again."""

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
    """The receiver of a test event."""

    provider: str
    host: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLogExportedData(EventData):
    """The position of the chain up to which the log was exported, or the format of exported search results."""

    sealed_through: int = ABSENT
    format: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class PortalOpenedData(EventData):
    """The mode of the opened portal; for the portal of a user of a service, also that user and that service."""

    mode: str
    service_id: UUID = ABSENT
    user_id: UUID = ABSENT
    user_email: UserAddress = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTestData(EventData):
    """The tested webhook; and the event type with its sample data, if another type was chosen."""

    webhook_id: UUID
    event_type: str = ABSENT
    sample: dict[str, Any] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTestedData(EventData):
    """The webhook for which a test was requested."""

    webhook_id: UUID
    webhook_name: str
    delivery_id: UUID
    event_type: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRedeliveredData(EventData):
    """The number of deliveries that were queued again: one, or all that failed since a given time."""

    webhook_id: UUID
    webhook_name: str
    queued: int
    delivery_id: UUID = ABSENT
    since: datetime = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionData(EventData):
    """A connection to an identity provider as it is now, or was last, and what the change ended."""

    provider_id: UUID
    provider_name: str
    issuer: str | None
    enabled: bool
    joins_as: str | None = ABSENT
    trust_mfa: bool = ABSENT
    token_issuer: str = ABSENT
    name_id_format: str = ABSENT
    signs_out_at_provider: bool = ABSENT
    cause: str = ABSENT
    certificate_id: UUID = ABSENT
    leads_elsewhere: bool = ABSENT
    sessions_ended: int = ABSENT
    identities_unlinked: int = ABSENT
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificatesReplacedData(EventData):
    """The connection, and the numbers of its new and its removed certificates."""

    provider_id: UUID
    provider_name: str
    issuer: str | None
    certificates_added: int
    certificates_removed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainRouteData(EventData):
    """The mail domain, its connection, and the number of sessions that enforcing it ended."""

    route_id: UUID
    domain: str
    provider_id: UUID
    enforced: bool
    sessions_ended: int = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderCredentialsData(EventData):
    """The identity provider of the installation for which the organization set or removed credentials of its own."""

    provider: str
    client_id: str | None
    removed: bool
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlConfigurationData(EventData):
    """The SAML configuration of a service."""

    service_id: EventOnly[UUID]
    service_slug: str
    enabled: bool
    entity_id: str | None
    acs_url: str | None
    change: str
    deleted_entity_id: str | None = ABSENT
    reason: str = ABSENT
    changes: EntryOnly[Changes] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlCertificateData(EventData):
    """The certificate that signs for a service, and the end of its validity."""

    service_id: EventOnly[UUID]
    service_slug: str
    certificate_id: UUID
    valid_until: datetime
