"""Storage of the credentials of organizations at external providers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from core.accounts.providers import Provider
from core.sign_in.upstream.flows import ProviderClient
from core.sign_in.upstream.providers import ExternalProvider

if TYPE_CHECKING:
    from core.sign_in.upstream.oauth_credentials import StoredCredentials


class OauthCredentials(Protocol):
    """Credentials by organization and provider; the secrets are encrypted."""

    def find(self, organization_id: UUID, external: ExternalProvider) -> ProviderClient | None:
        """Return the credentials of an organization at a provider; None when it has none for the present issuer."""
        ...

    def of_organization(self, organization_id: UUID) -> Sequence[StoredCredentials]:
        """Return all credentials of an organization without their secrets, by the name of the provider."""
        ...

    def save(self, organization_id: UUID, external: ExternalProvider, client: ProviderClient) -> None:
        """Store the credentials of an organization at a provider, replacing earlier ones."""
        ...

    def remove(self, organization_id: UUID, provider: Provider) -> bool:
        """Delete the credentials of an organization at a provider; False when it has none."""
        ...
