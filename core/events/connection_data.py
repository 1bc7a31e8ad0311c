"""The data of events about single sign-on: connections to identity providers, mail domains that lead to them, SAML."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from core.events.data import ABSENT, Changes, EntryOnly, EventData, EventOnly
from core.lazy_dataclasses import dataclass


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
