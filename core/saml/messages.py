"""The messages of SAML 2.0, as values: the requests of service providers, our answers, and the vocabulary of both.

The XML of all messages is in `adapters/saml/`. The checks of a received message are in `message_checks.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Final

from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.wording import Wording

# The last part of the path of each endpoint below `{base_url}/saml/<org>/<service>`.
SINGLE_SIGN_ON: Final = "sso"
SINGLE_LOGOUT: Final = "slo"
# The parameter that names a customer of the service in the addresses of a sign-in.
CUSTOMER: Final = "customer"
RELAY_STATE_CHARACTERS_MAX: Final = 2_000


class SamlBinding(StrEnum):
    """How a browser carries a message (saml-bindings-2.0, 3.4 and 3.5)."""

    REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
    POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"


class NameIdFormat(StrEnum):
    """A format of the name of a user."""

    EMAIL_ADDRESS = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
    UNSPECIFIED = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"
    PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
    TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"


class SamlStatus(StrEnum):
    """A status of an answer (saml-core-2.0, 3.2.2.2); the names of the second level say what went wrong."""

    SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success"
    REQUESTER = "urn:oasis:names:tc:SAML:2.0:status:Requester"
    RESPONDER = "urn:oasis:names:tc:SAML:2.0:status:Responder"
    INVALID_NAME_ID_POLICY = "urn:oasis:names:tc:SAML:2.0:status:InvalidNameIDPolicy"
    NO_AUTHN_CONTEXT = "urn:oasis:names:tc:SAML:2.0:status:NoAuthnContext"
    NO_PASSIVE = "urn:oasis:names:tc:SAML:2.0:status:NoPassive"
    PARTIAL_LOGOUT = "urn:oasis:names:tc:SAML:2.0:status:PartialLogout"
    REQUEST_DENIED = "urn:oasis:names:tc:SAML:2.0:status:RequestDenied"
    UNKNOWN_PRINCIPAL = "urn:oasis:names:tc:SAML:2.0:status:UnknownPrincipal"
    UNSUPPORTED_BINDING = "urn:oasis:names:tc:SAML:2.0:status:UnsupportedBinding"


class MessageRefused(BadRequest):
    """A message that gets no SAML answer: it is malformed, forged, stale, used, or meant for another service.

    The user gets a page, because there is no address to which an answer could safely go. `problem` is a sentence for
    the administrator.
    """

    default_message = (
        "The application sent a message that cannot be used. Go back to the application and start again. If this page"
        " comes again, show it to the administrator of the application."
    )

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(
            Wording("%(message)s For the administrator: %(problem)s", message=self.default_message, problem=problem)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedMessage:
    """A message as a browser carries it: the value of `SAMLRequest` or `SAMLResponse`, and the relay state.

    `query` is the unchanged query string of the redirect binding, whose signature covers its bytes.
    """

    binding: SamlBinding
    value: str = field(repr=False)
    is_response: bool = False
    relay_state: str | None = field(default=None, repr=False)
    query: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NameId:
    """The name under which a service provider knows a user."""

    value: str
    format: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedMessage:
    """The fields of all received messages; `is_signed` means that the certificate of the configuration verified it."""

    id: str
    issuer: str
    issued_at: datetime
    destination: str | None
    is_signed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthnRequest(ReceivedMessage):
    """A service provider asks for a user to be signed in (saml-core-2.0, 3.4.1).

    `context_classes` are the requested authentication contexts, and `comparison` how they are meant; both may be empty.
    """

    acs_url: str | None
    protocol_binding: str | None
    name_id_format: str | None
    name_qualifier: str | None
    subject: str | None
    force_authn: bool
    is_passive: bool
    context_classes: tuple[str, ...]
    comparison: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlLogoutRequest(ReceivedMessage):
    """A service provider asks for the end of a user's sessions (saml-core-2.0, 3.7.1)."""

    name_id: NameId
    session_indexes: tuple[str, ...]
    not_on_or_after: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutResponse(ReceivedMessage):
    """A service provider answers that it has ended a user's session, or could not (saml-core-2.0, 3.7.2)."""

    in_response_to: str | None
    is_success: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusOf:
    """The status of an answer: the first level, and the second one where it says more."""

    first: SamlStatus
    second: SamlStatus | None = None


SUCCESS: Final = StatusOf(first=SamlStatus.SUCCESS)


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedAssertion:
    """The content of an assertion about a user who has signed in."""

    id: str
    name_id: NameId
    session_index: str
    authenticated_at: datetime
    session_ends_at: datetime
    context_class: str
    # A field without a value is an attribute without one.
    attributes: tuple[tuple[str, str | Sequence[str] | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """The answer to an `AuthnRequest`, or an unsolicited one; without an assertion it is a refusal."""

    id: str
    issuer: str
    audience: str
    destination: str
    in_response_to: str | None
    issued_at: datetime
    status: StatusOf
    assertion: IssuedAssertion | None
    sign_response: bool = True
    sign_assertion: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingLogoutRequest:
    """Gatehouse tells a service provider, or the identity provider of a connection, that a user's session has ended.

    `audience` is the qualifier of the name for a service provider; an identity provider gets the name that it gave.
    """

    id: str
    issuer: str
    destination: str
    issued_at: datetime
    name_id: NameId
    audience: str | None
    session_index: str | None
    name_qualifier: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingLogoutResponse:
    """Gatehouse answers the party that asked for a logout: it has ended the user's sessions."""

    id: str
    issuer: str
    destination: str
    issued_at: datetime
    in_response_to: str
    status: StatusOf


OutgoingLogout = OutgoingLogoutRequest | OutgoingLogoutResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingMessage:
    """A signed message for a browser to carry to `url`.

    With the redirect binding `url` is complete. With the POST binding a form sends `parameter` and the relay state to
    it.
    """

    binding: SamlBinding
    url: str = field(repr=False)
    parameter: str = ""
    value: str = field(default="", repr=False)
    relay_state: str | None = field(default=None, repr=False)
