"""The SAML identity providers of connections."""

from typing import Protocol
from uuid import UUID

from core.key_certificates import SamlSigningKey
from core.saml.messages import OutgoingMessage
from core.sign_in.upstream.saml import (
    OwnMetadata,
    SamlAnswer,
    SamlDescription,
    SamlMetadata,
    SamlRecipient,
    SamlRequest,
)


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
