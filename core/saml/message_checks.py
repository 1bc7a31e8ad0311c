"""The checks of a received message: meant for this service, from its provider, signed, and fresh.

Answers of identity providers are checked in `core/sign_in/upstream/saml.py`, signatures in `adapters/saml/`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import parse_qsl

from core.saml.identity_providers import SamlProvider
from core.saml.messages import (
    CUSTOMER,
    AuthnRequest,
    LogoutResponse,
    MessageRefused,
    NameIdFormat,
    ReceivedMessage,
    SamlBinding,
    SamlLogoutRequest,
    SamlStatus,
    StatusOf,
)
from core.sign_in.upstream.provider_answers import CLOCK_SKEW

# How old a message may be, and how far the clock of its sender may be ahead.
AGE_MAX: Final = timedelta(minutes=5)
SKEW_MAX: Final = CLOCK_SKEW

PASSWORD_CONTEXT: Final = "urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport"  # noqa: S105 - a name
MFA_CONTEXT: Final = "https://refeds.org/profile/mfa"
# Every sign-in here satisfies these classes: some applications request them by default, whatever the method.
_SATISFIED: Final = frozenset(
    {
        PASSWORD_CONTEXT,
        "urn:oasis:names:tc:SAML:2.0:ac:classes:Password",
        "urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified",
    }
)
_COMPARISONS: Final = frozenset({"exact", "minimum"})


def without_customer(request: AuthnRequest, customer: str | None) -> AuthnRequest:
    """Return a request to the address of a customer as a request to the address of the service.

    A Destination that names another customer than the address stays, and is refused later.
    """
    address, _, query = (request.destination or "").partition("?")
    if customer is None or parse_qsl(query, keep_blank_values=True) != [(CUSTOMER, customer)]:
        return request
    return replace(request, destination=address)


def require_acceptable(message: ReceivedMessage, provider: SamlProvider, destination: str, at: datetime) -> None:
    """Raise `MessageRefused` for a message that is not from the service provider, not for `destination`, or stale.

    Answers need no signature: they carry the id of a request that only this browser and the service provider have seen,
    and many service providers do not sign them.
    """
    if message.issuer != provider.audience:
        raise MessageRefused("Its Issuer is not the entity id that is configured for this service.")
    is_required = provider.configuration.sp_certificate is not None and not isinstance(message, LogoutResponse)
    if is_required and not message.is_signed:
        raise MessageRefused("It is not signed, and this service requires a signature.")
    _require_timely(message, destination, at)


def require_from_connection(message: ReceivedMessage, entity_id: str, destination: str, at: datetime) -> None:
    """Raise `MessageRefused` for a message that is not from the identity provider of a connection, or not for us.

    Its requests have to be signed, because they end sessions whatever browser brings them.
    """
    if message.issuer != entity_id:
        raise MessageRefused("Its Issuer is not the identity provider of this connection.")
    if not message.is_signed and not isinstance(message, LogoutResponse):
        raise MessageRefused("It is not signed by the identity provider of this connection.")
    _require_timely(message, destination, at)


def _require_timely(message: ReceivedMessage, destination: str, at: datetime) -> None:
    """Raise `MessageRefused` for a message for another address, or a stale one."""
    if message.destination is not None and message.destination != destination:
        raise MessageRefused("Its Destination is another address.")
    if message.is_signed and message.destination is None:
        # Else a signed message could be sent on to another service with the same certificate.
        raise MessageRefused("It is signed and names no Destination.")
    if not at - AGE_MAX - SKEW_MAX <= message.issued_at <= at + SKEW_MAX:
        raise MessageRefused("It is too old, or the clock of the application is wrong.")


def require_answerable(request: AuthnRequest, provider: SamlProvider) -> None:
    """Raise `MessageRefused` for a request whose answer would have to go to another address."""
    if request.acs_url is not None and request.acs_url != provider.acs_url:
        raise MessageRefused("Its AssertionConsumerServiceURL is not the one that is configured for this service.")


def require_current(request: SamlLogoutRequest, at: datetime) -> None:
    """Raise `MessageRefused` for a request for a logout that has expired."""
    if request.not_on_or_after is not None and at >= request.not_on_or_after + SKEW_MAX:
        raise MessageRefused("It has expired.")


def unsupported(request: AuthnRequest, provider: SamlProvider) -> StatusOf | None:
    """Return the status for a request that the configuration cannot serve; None when it can."""
    if request.protocol_binding not in {None, SamlBinding.POST}:
        return StatusOf(first=SamlStatus.REQUESTER, second=SamlStatus.UNSUPPORTED_BINDING)
    name_format = provider.configuration.effective_format
    if request.name_id_format not in {None, NameIdFormat.UNSPECIFIED, name_format}:
        return StatusOf(first=SamlStatus.REQUESTER, second=SamlStatus.INVALID_NAME_ID_POLICY)
    if request.name_qualifier not in {None, provider.audience}:
        return StatusOf(first=SamlStatus.REQUESTER, second=SamlStatus.INVALID_NAME_ID_POLICY)
    return None


def context_class(context_classes: tuple[str, ...], comparison: str, *, has_second_factor: bool) -> str | None:
    """Return the class of the authentication in an assertion; None when it satisfies no requested class.

    The order is the application's order of preference (saml-core-2.0, 3.3.2.2.1).
    """
    if not context_classes:
        return MFA_CONTEXT if has_second_factor else PASSWORD_CONTEXT
    if comparison not in _COMPARISONS:
        return None
    for requested in context_classes:
        if requested == MFA_CONTEXT and has_second_factor:
            return MFA_CONTEXT
        if requested in _SATISFIED:
            return requested
    return None
