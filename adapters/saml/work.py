"""What each message takes, with the refusals of the core: the work of the ports of SAML."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, final

from adapters.saml import certificates, metadata, outgoing, received, upstream
from adapters.saml.documents import Unreadable
from core.errors import BadRequest
from core.saml.messages import AuthnRequest, EncodedMessage, LogoutResponse, MessageRefused, SamlLogoutRequest
from core.sign_in.upstream.saml import AnswerUnusable, MetadataUnusable, SamlAnswer, SamlDescription, SamlRecipient
from core.wording import Wording


@final
class Work:
    """What each message takes."""

    is_short = staticmethod(received.is_short)
    response = staticmethod(outgoing.response)
    logout_request = staticmethod(outgoing.logout_request)
    logout_response = staticmethod(outgoing.logout_response)
    provider_metadata = staticmethod(metadata.identity_provider)
    make_certificate = staticmethod(certificates.make_certificate)
    upstream_request = staticmethod(upstream.request)
    own_metadata = staticmethod(upstream.own_metadata)
    is_encrypted = staticmethod(upstream.is_encrypted)

    @staticmethod
    def upstream_answer(
        value: str, certificates: Sequence[str], recipient: SamlRecipient, *, takes_cbc: bool
    ) -> SamlAnswer:
        """Return the answer of an identity provider that has these certificates; raise `AnswerUnusable`."""
        try:
            return upstream.read_answer(value, certificates, recipient, takes_cbc=takes_cbc)
        except Unreadable as unreadable:
            raise AnswerUnusable(Wording.of(unreadable), unreadable.word) from None

    @staticmethod
    def upstream_metadata(given: bytes) -> SamlDescription:
        """Return what the metadata of an identity provider say; raise `MetadataUnusable`."""
        try:
            return upstream.read_metadata(given)
        except Unreadable as unreadable:
            raise MetadataUnusable(Wording.of(unreadable)) from None

    @staticmethod
    def read(message: EncodedMessage, certificate_pem: str | None) -> AuthnRequest | SamlLogoutRequest | LogoutResponse:
        """Return a received message; raise `MessageRefused`."""
        try:
            return received.read(message, certificate_pem)
        except Unreadable as unreadable:
            raise MessageRefused(Wording.of(unreadable)) from None

    @staticmethod
    def read_metadata(given: str, at: datetime) -> dict[str, Any]:
        """Return what the metadata of a service provider set; raise `BadRequest` of the field."""
        try:
            return metadata.service_provider(given.encode(), at=at)
        except Unreadable as unreadable:
            raise BadRequest.of_field("metadata", Wording.of(unreadable)) from None

    @staticmethod
    def normalized_certificate(given: str) -> str:
        """Return the certificate of a service provider as PEM; raise `BadRequest` of the field."""
        try:
            return certificates.normalized(given)
        except Unreadable as unreadable:
            raise BadRequest.of_field("sp_certificate", Wording.of(unreadable)) from None
