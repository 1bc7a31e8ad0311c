"""An organization's own credentials at the external providers; they win over the platform's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts.sign_in_methods import Provider
from core.errors import BadRequest, NotFound, all_valid
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import authorize, authorize_and_lock
from core.secrets import Secret
from core.sign_in.upstream.flows import ProviderClient
from core.sign_in.upstream.providers import ExternalProvider

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_PRINTABLE: Final = re.compile(r"[\x21-\x7e]{1,500}")


class CredentialsUnset(NotFound):
    """The organization has no credentials at the provider."""

    default_message = "This organization has no credentials of its own at this provider."


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCredentials:
    """The credentials of an organization at a provider, without the secret."""

    provider: str
    client_id: str
    has_secret: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCredentials:
    """An organization's credentials without the secret; an added provider's secret goes to this issuer alone."""

    provider: Provider
    client_id: str
    issuer: str | None = None

    def are_for(self, external: ExternalProvider) -> bool:
        """Return whether they are for this provider, and not for another one that had its name before."""
        return (self.provider, self.issuer) == (external.provider, external.issuer)


def show(uow: UnitOfWork, slug: str, provider: Provider | None) -> OwnCredentials:
    """Return the credentials of an organization; raise `CredentialsUnset` without them."""
    organization = authorize(uow, slug, Operation.OAUTH_CREDENTIALS_READ).organization
    own = uow.oauth_credentials.of_organization(organization.id)
    found = next((one for one in own if one.provider == provider), None)
    if found is None:
        raise CredentialsUnset
    return OwnCredentials(provider=found.provider, client_id=found.client_id)


def save(
    uow: UnitOfWork, slug: str, external: ExternalProvider | None, *, client_id: str, client_secret: str
) -> OwnCredentials:
    """Set the credentials of an organization in place of the previous ones."""
    organization = authorize_and_lock(uow, slug, Operation.OAUTH_CREDENTIALS_SET).organization
    client_id, client_secret = all_valid(
        lambda: _checked(client_id, "client_id"), lambda: _checked(client_secret, "client_secret")
    )
    if external is None:
        raise CredentialsUnset
    uow.oauth_credentials.save(
        organization.id, external, ProviderClient(client_id=client_id, client_secret=Secret(client_secret))
    )
    _record(uow, organization.id, external.provider, client_id=client_id)
    return OwnCredentials(provider=external.provider, client_id=client_id)


def remove(uow: UnitOfWork, slug: str, provider: Provider | None) -> None:
    """Delete the credentials of an organization; raise `CredentialsUnset` without them."""
    organization = authorize_and_lock(uow, slug, Operation.OAUTH_CREDENTIALS_CHANGE).organization
    if provider is None or not uow.oauth_credentials.remove(organization.id, provider):
        raise CredentialsUnset
    _record(uow, organization.id, provider, client_id=None)


def _record(uow: UnitOfWork, organization_id: UUID, provider: Provider, *, client_id: str | None) -> None:
    uow.record(
        AuditAction.SERVICE_OAUTH_CREDENTIALS_UPDATED,
        organization_id,
        organization_id=organization_id,
        provider=provider.value,
        client_id=client_id,
        removed=client_id is None,
    )


def _checked(text: str, field: str) -> str:
    stripped = text.strip()
    if not _PRINTABLE.fullmatch(stripped):
        raise BadRequest.of_field(field, "1 to 500 characters, without blanks.")
    return stripped
