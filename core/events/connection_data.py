"""The data of events about single sign-on: connections to identity providers, mail domains that lead to them, SAML."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from core.events.data import ABSENT, Changes, EntryOnly, EventData, EventOnly
from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionData(EventData):
    """A connection to an identity provider as it is now, or was last, and what the change has ended."""

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
    """Of which connection how many certificates are others."""

    provider_id: UUID
    provider_name: str
    issuer: str | None
    certificates_added: int
    certificates_removed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainRouteData(EventData):
    """Which mail domain leads to which connection, and how many sessions enforcing it has ended."""

    route_id: UUID
    domain: str
    provider_id: UUID
    enforced: bool
    sessions_ended: int = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderCredentialsData(EventData):
    """For which identity provider of the installation the organization has credentials of its own, or has none."""

    provider: str
    client_id: str | None
    removed: bool
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlConfigurationData(EventData):
    """How a service is connected by SAML."""

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
    """Which certificate signs for a service, and until when."""

    service_id: EventOnly[UUID]
    service_slug: str
    certificate_id: UUID
    valid_until: datetime
