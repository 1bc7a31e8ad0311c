"""Requests to other providers."""

from collections.abc import Sequence
from typing import Protocol

from core.secrets import Secret
from core.sign_in.identities import ProvenIdentity, ProviderTokens
from core.sign_in.upstream.flows import ProviderClient
from core.sign_in.upstream.providers import CodeExchange, ExternalProvider


class UpstreamGateway(Protocol):
    """Exchanges with providers, each within a few seconds; every failure is `UpstreamFailed`, and logged."""

    async def identify(self, provider: ExternalProvider, exchange: CodeExchange) -> ProvenIdentity:
        """Return the account of a code at an external provider."""
        ...

    async def refresh(
        self, provider: ExternalProvider, client: ProviderClient, refresh_token: Secret, scopes: Sequence[str]
    ) -> ProviderTokens | None:
        """Return fresh tokens; None when the provider has ended the access."""
        ...
