"""The work of the port `SamlMessages`, for threads: what each message takes, with the refusals of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from adapters.saml import certificates, metadata, outgoing, received
from adapters.saml.documents import Unreadable
from core.errors import BadRequest
from core.saml.messages import MessageRefused

if TYPE_CHECKING:
    from core.saml.messages import AuthnRequest, EncodedMessage, LogoutRequest, LogoutResponse


@final
class Work:
    """What each message takes."""

    response = staticmethod(outgoing.response)
    logout_request = staticmethod(outgoing.logout_request)
    logout_response = staticmethod(outgoing.logout_response)
    provider_metadata = staticmethod(metadata.identity_provider)
    make_certificate = staticmethod(certificates.make_certificate)

    @staticmethod
    def read(message: EncodedMessage, certificate_pem: str | None) -> AuthnRequest | LogoutRequest | LogoutResponse:
        """Return a received message; raise `MessageRefused`."""
        try:
            return received.read(message, certificate_pem)
        except Unreadable as unreadable:
            raise MessageRefused(str(unreadable)) from None

    @staticmethod
    def read_metadata(given: str) -> dict[str, Any]:
        """Return what the metadata of a service provider set; raise `BadRequest` of the field."""
        try:
            return metadata.service_provider(given.encode())
        except Unreadable as unreadable:
            raise BadRequest.of_field("metadata", str(unreadable)) from None

    @staticmethod
    def normalized_certificate(given: str) -> str:
        """Return the certificate of a service provider as PEM; raise `BadRequest` of the field."""
        try:
            return certificates.normalized(given)
        except Unreadable as unreadable:
            raise BadRequest.of_field("sp_certificate", str(unreadable)) from None
