"""Storage of the credentials of organizations at external providers."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.accounts.providers import Provider
from core.sign_in.upstream.flows import ProviderClient


class OauthCredentials(Protocol):
    """Credentials by organization and provider; the secrets are encrypted."""

    def find(self, organization_id: UUID, provider: Provider) -> ProviderClient | None:
        """Return the credentials of an organization at a provider; None when it has none."""
        ...

    def providers_of(self, organization_id: UUID) -> Sequence[Provider]:
        """Return the providers at which an organization has credentials."""
        ...

    def save(self, organization_id: UUID, provider: Provider, client: ProviderClient) -> None:
        """Store the credentials of an organization at a provider, in place of those before."""
        ...

    def remove(self, organization_id: UUID, provider: Provider) -> bool:
        """Delete the credentials of an organization at a provider; False when it has none."""
        ...
