"""The XML of SAML, whose long messages threads read: they take milliseconds of a processor."""

from datetime import datetime
from typing import Any, Protocol

from core.key_certificates import MadeCertificate, SamlSigningKey
from core.saml.identity_providers import ProviderMetadata
from core.saml.messages import (
    AuthnRequest,
    EncodedMessage,
    LogoutResponse,
    OutgoingLogout,
    OutgoingMessage,
    Response,
    SamlBinding,
    SamlLogoutRequest,
)


class SamlMessages(Protocol):
    """Reads and verifies messages, and builds and signs them. A cancelled call leaves nothing behind."""

    async def read(
        self, message: EncodedMessage, certificate_pem: str | None
    ) -> AuthnRequest | SamlLogoutRequest | LogoutResponse:
        """Return a received message; raise `MessageRefused` when it is malformed or its signature is wrong.

        With a certificate the signature is verified, and a message without one has `is_signed` false; without a
        certificate signatures are ignored.
        """
        ...

    async def response(self, content: Response, key: SamlSigningKey) -> str:
        """Return a signed response, as the value of `SAMLResponse` in the POST binding."""
        ...

    async def logout_message(
        self, content: OutgoingLogout, key: SamlSigningKey, binding: SamlBinding, relay_state: str | None
    ) -> OutgoingMessage:
        """Return a signed request for the end of a session, or a signed answer to one."""
        ...

    async def provider_metadata(self, content: ProviderMetadata) -> bytes:
        """Return the metadata of an identity provider."""
        ...

    async def read_metadata(self, given: str, *, at: datetime) -> dict[str, Any]:
        """Return the fields of a configuration that a service provider's metadata determine.

        Raise `BadRequest` of the field `metadata` when they are malformed or describe no service provider.
        """
        ...

    async def normalized_certificate(self, given: str) -> str:
        """Return the certificate of a service provider as PEM; raise `BadRequest` of the field `sp_certificate`."""
        ...

    async def make_certificate(self, common_name: str, *, valid_from: datetime) -> MadeCertificate:
        """Return a new key pair with its certificate. It takes tenths of a second, so one is made at a time."""
        ...
