"""The identity provider of one service for its public endpoints, found by the slugs of its path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from core.errors import NotFound, OrganizationNotActive
from core.lazy_dataclasses import dataclass
from core.organizations.organizations import OrganizationStatus
from core.saml.configuration import SamlConfiguration
from core.saml.messages import SINGLE_LOGOUT, SINGLE_SIGN_ON, NameIdFormat

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class ProviderUnknown(NotFound):
    """There is no such service, or SAML is not set up for it; the answer is the same."""

    default_message = (
        "There is no SAML sign-in at this address. Check the address with the administrator of the application."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlProvider:
    """An enabled identity provider with an active certificate, in an active organization."""

    organization_id: UUID
    organization_slug: str
    organization_name: str
    organization_status: OrganizationStatus
    service_id: UUID
    service_slug: str
    service_name: str
    has_certificate: bool
    configuration: SamlConfiguration
    # Whether other organizations use the service.
    serves_customers: bool
    # Whether assertions say claims of the product.
    has_claims: bool = False

    @property
    def path(self) -> str:
        """The path below which the endpoints are."""
        return f"/saml/{self.organization_slug}/{self.service_slug}"

    @property
    def audience(self) -> str:
        """The entity id of the service provider."""
        assert self.configuration.entity_id is not None, "an enabled configuration has an entity id"
        return self.configuration.entity_id

    @property
    def acs_url(self) -> str:
        """The only address to which assertions go."""
        assert self.configuration.acs_url is not None, "an enabled configuration has an ACS URL"
        return self.configuration.acs_url

    def entity_id(self, base_url: str) -> str:
        """Return the entity id of the identity provider."""
        return f"{base_url}{self.path}"

    def sso_url(self, base_url: str) -> str:
        """Return the address to which requests for a sign-in go."""
        return f"{base_url}{self.path}/{SINGLE_SIGN_ON}"

    def slo_url(self, base_url: str) -> str:
        """Return the address to which messages about a logout go."""
        return f"{base_url}{self.path}/{SINGLE_LOGOUT}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderMetadata:
    """The content of the metadata of an identity provider."""

    entity_id: str
    sso_url: str
    slo_url: str
    name_id_format: NameIdFormat
    certificates: Sequence[str]


def find(uow: UnitOfWork, organization_slug: str, service_slug: str) -> SamlProvider:
    """Return the identity provider of a service; raise `ProviderUnknown` or `OrganizationNotActive`."""
    return require_usable(uow.saml_providers.find(organization_slug, service_slug))


def require_usable(provider: SamlProvider | None) -> SamlProvider:
    """Return an identity provider that was found; raise `ProviderUnknown` or `OrganizationNotActive`."""
    if provider is None or not is_usable(provider):
        raise ProviderUnknown
    if provider.organization_status is not OrganizationStatus.ACTIVE:
        raise OrganizationNotActive
    return provider


def is_usable(provider: SamlProvider) -> bool:
    """Return whether an identity provider is enabled and can sign."""
    return provider.configuration.enabled and provider.has_certificate


def metadata(uow: UnitOfWork, organization_slug: str, service_slug: str, base_url: str) -> ProviderMetadata:
    """Return the metadata of a service's identity provider; raise as `find` does."""
    provider = find(uow, organization_slug, service_slug)
    certificates = uow.saml_certificates.published(provider.organization_id, provider.service_id, at=uow.now)
    return ProviderMetadata(
        entity_id=provider.entity_id(base_url),
        sso_url=provider.sso_url(base_url),
        slo_url=provider.slo_url(base_url),
        name_id_format=provider.configuration.effective_format,
        certificates=[one.public_key for one in certificates],
    )
