"""What external providers are asked: OpenID Connect and SAML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.key_certificates import SamlSigningKey
from core.saml.messages import OutgoingMessage
from core.secrets import Secret
from core.sign_in.identities import ProvenIdentity, ProviderTokens
from core.sign_in.upstream.discovery import Discovered
from core.sign_in.upstream.flows import ProviderClient
from core.sign_in.upstream.provider_problems import ProviderProblem
from core.sign_in.upstream.providers import CodeExchange, ExternalProvider, OpenIdAnswer
from core.sign_in.upstream.saml import (
    OwnMetadata,
    SamlAnswer,
    SamlDescription,
    SamlMetadata,
    SamlRecipient,
    SamlRequest,
)


class UpstreamGateway(Protocol):
    """Exchanges with providers, each within a few seconds; every failure is `UpstreamFailed`, and logged."""

    async def authorize_url(self, provider: ExternalProvider) -> str:
        """Return the authorization endpoint of a provider; for an added one it may be some minutes old."""
        ...

    async def require_own_answer(self, provider: ExternalProvider, issuer: str) -> None:
        """Raise `UpstreamFailed` when the issuer that a browser names is not that of an added provider (RFC 9207)."""
        ...

    async def identify(self, provider: ExternalProvider, exchange: CodeExchange) -> ProvenIdentity:
        """Return the account of a code at an external provider."""
        ...

    async def refresh(
        self, provider: ExternalProvider, client: ProviderClient, refresh_token: Secret, scopes: Sequence[str]
    ) -> ProviderTokens | None:
        """Return fresh tokens; None when the provider has ended the access."""
        ...


class ConnectionGateway(Protocol):
    """Exchanges with OpenID providers, and otherwise as `UpstreamGateway`.

    `organization_id` is the organization that has named the provider, None when the operator has.
    """

    async def discover(self, organization_id: UUID | None, issuer: str, *, is_fresh: bool = False) -> Discovered:
        """Return the discovery document of a provider, which may be some minutes old unless `is_fresh`."""
        ...

    async def identify(self, organization_id: UUID | None, issuer: str, exchange: CodeExchange) -> OpenIdAnswer:
        """Exchange a code; return the claims of the verified ID token and of the provider's userinfo endpoint."""
        ...

    async def try_credentials(
        self, organization_id: UUID | None, issuer: str, client: ProviderClient, *, redirect_uri: str
    ) -> ProviderProblem | None:
        """Return the provider's objection to our credentials, tried without a user; None when they are right."""
        ...


class SamlConnectionGateway(Protocol):
    """Reads metadata and answers of identity providers, and writes what Gatehouse sends them.

    Every failure is `UpstreamFailed` within a few seconds, and logged.
    """

    async def describe(
        self, organization_id: UUID, metadata: SamlMetadata, *, is_fresh: bool = False
    ) -> SamlDescription:
        """Return the description in an organization's metadata, which may be some minutes old unless `is_fresh`.

        Raise `MetadataUnusable` when they describe no identity provider, or another one than they should.
        """
        ...

    async def request(self, content: SamlRequest, key: SamlSigningKey | None) -> OutgoingMessage:
        """Return a request as a browser carries it to the identity provider, signed if there is a key."""
        ...

    async def try_request(self, organization_id: UUID, request: OutgoingMessage) -> int | None:
        """Send a request as a browser without a session there would; return the status of the answer.

        None when there is no answer: the sign-in page may be reachable only from the people's own network.
        """
        ...

    async def read_answer(
        self, organization_id: UUID, metadata: SamlMetadata, value: str, recipient: SamlRecipient
    ) -> SamlAnswer:
        """Return an answer whose assertion, if there is one, a key of the identity provider has signed.

        An encrypted assertion is decrypted. If the decryption fails, or its result is refused, the refusal is the same,
        and is raised at the same moment.
        """
        ...

    async def own_metadata(self, content: OwnMetadata) -> bytes:
        """Return our metadata for an identity provider."""
        ...
