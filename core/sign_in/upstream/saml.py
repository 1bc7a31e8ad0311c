"""SAML connections: what the identity provider of an organization asserts, and which of it is accepted.

Gatehouse is the service provider here. The state of a sign-in travels as the RelayState, and the id of the request
derives from it, so that an assertion answers exactly one request of one browser, once. The XML is in `adapters/saml/`,
which returns only what the provider's key has signed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from core.accounts.sign_in_methods import Provider
from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from core.sign_in.identities import ProvenIdentity, ProviderSession
from core.sign_in.reasons import SignInReason
from core.sign_in.upstream import asserted
from core.sign_in.upstream.provider_answers import (
    CLOCK_SKEW,
    SUBJECT_CHARACTERS_MAX,
    UpstreamFailed,
    checked_address,
    checked_subject,
    given_address,
)
from core.sign_in.upstream.provider_problems import ProviderProblem
from core.wording import Wording

# The longest persistent name (saml-core-2.0, 8.3.7).
NAME_CHARACTERS_MAX: Final = 256
SUCCESS: Final = "urn:oasis:names:tc:SAML:2.0:status:Success"
TRANSIENT: Final = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
EMAIL_ADDRESS: Final = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
PERSISTENT: Final = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
UNSPECIFIED: Final = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"
# The formats that a connection may ask for; a transient name identifies no one.
NAME_FORMATS: Final = (PERSISTENT, EMAIL_ADDRESS, UNSPECIFIED)
# The user has not signed in there, or may not (saml-core-2.0, 3.2.2.2).
_DECLINED: Final = frozenset(
    f"urn:oasis:names:tc:SAML:2.0:status:{name}"
    for name in ("AuthnFailed", "NoPassive", "RequestDenied", "UnknownPrincipal")
)
# The attributes in which identity providers name the address, unless the connection maps it.
_ADDRESSES: Final = (
    "email",
    "mail",
    "urn:oid:0.9.2342.19200300.100.1.3",
    # The OID of PKCS #9, and what pysaml2 makes of it.
    "urn:oid:1.2.840.113549.1.9.1",
    "urn:oid:1.2.840.113549.1.9.1.1",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
)


class MetadataUnusable(UpstreamFailed):
    """The metadata of an identity provider cannot be used; `problem` says why, to the person who configured them."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.reason = problem
        self.word = ProviderProblem.METADATA


class MetadataExpired(UpstreamFailed):
    """The metadata of an identity provider have ended, and with them the trust in its certificates."""

    default_message = (
        "The metadata of your organization's identity provider have expired. Ask your IT staff to renew them, and tell"
        " them the id below."
    )

    def __init__(self) -> None:
        super().__init__("The metadata have expired.")
        self.reason = SignInReason.METADATA_EXPIRED


class AnswerUnusable(UpstreamFailed):
    """The answer of an identity provider is malformed or not signed by it; `problem` is for the log."""

    def __init__(self, problem: str, word: ProviderProblem = ProviderProblem.UNREADABLE) -> None:
        super().__init__(problem)
        self.reason = problem
        self.word = word


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlMetadata:
    """Where the metadata of an identity provider are: at an address, or in a text.

    `entity_id` is the one that they must have; None when it is not known yet.
    """

    url: str | None
    xml: str | None
    entity_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutEndpoint:
    """Where an identity provider takes requests for a logout, where answers to its own, and how a browser brings them.

    `is_post` stands for the POST binding; otherwise it is the redirect binding.
    """

    url: str
    response_url: str
    is_post: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlDescription:
    """The content of an identity provider's metadata: its entity id, where it signs users in, and its keys.

    `takes_posts_alone`: requests are posted to `sso_url`; otherwise a redirect carries them. `valid_until` is None
    for metadata without an end.
    """

    entity_id: str
    sso_url: str
    certificates: tuple[str, ...]
    takes_posts_alone: bool = False
    wants_signed_requests: bool = False
    valid_until: datetime | None = None
    logout: LogoutEndpoint | None = None

    def is_expired(self, at: datetime) -> bool:
        """Return whether the metadata have ended, after which nothing that they say counts."""
        return self.valid_until is not None and self.valid_until <= at


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceProvider:
    """What Gatehouse is for the identity provider of one connection."""

    entity_id: str
    acs_url: str
    slo_url: str

    @classmethod
    def of(cls, base_url: str, connection_id: UUID) -> ServiceProvider:
        """Return the names of a connection."""
        at = f"{base_url}/auth/upstream/{connection_id}"
        return cls(entity_id=f"{at}/metadata", acs_url=f"{at}/acs", slo_url=f"{at}/slo")


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlRecipient:
    """The recipient of encrypted assertions: our entity id, and our private keys (PEM) that decrypt."""

    entity_id: str
    private_pems: Sequence[Secret] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSide:
    """A SAML connection of an active organization, and whether we sign our requests to its identity provider."""

    organization_id: UUID
    signs_requests: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnMetadata:
    """The content of our metadata for the identity provider of a connection; the first certificate is active."""

    provider: ServiceProvider
    certificates: Sequence[str]
    signs_requests: bool
    valid_until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlRequest:
    """A request for a sign-in, for a browser to carry to the identity provider.

    It lets the identity provider name a user that it has not named to us before, in the format of the connection.
    """

    id: str
    issued_at: datetime
    destination: str
    relay_state: str
    provider: ServiceProvider
    name_id_format: str
    is_posted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """Who may use an assertion: the party that brings it to `recipient`, in answer to that request, in time."""

    recipient: str | None
    in_response_to: str | None
    not_before: datetime | None
    not_on_or_after: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlAssertion:
    """What an identity provider has signed about a user."""

    issuer: str
    name_id: str
    name_id_format: str | None
    confirmations: Sequence[Confirmation]
    # One entry for each restriction; each has to name us.
    audiences: Sequence[Sequence[str]]
    not_before: datetime | None
    not_on_or_after: datetime | None
    # When the user's session there ends, the earliest of several ends; None for no end.
    session_ends_at: datetime | None
    attributes: Mapping[str, Sequence[str]]
    name_qualifier: str | None = None
    sp_name_qualifier: str | None = None
    session_index: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlAnswer:
    """The answer of an identity provider. `statuses` are the names of its levels; only the assertion is signed.

    A certificate among `certificates` has verified its signature.
    """

    issuer: str | None
    destination: str | None
    in_response_to: str | None
    statuses: Sequence[str]
    assertion: SamlAssertion | None
    certificates: Sequence[str] = ()

    @property
    def is_declined(self) -> bool:
        """Whether the user has not signed in at the provider, or may not."""
        return not _DECLINED.isdisjoint(self.statuses)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The issuer of the answer that is expected, and the request that it answers."""

    issuer: str
    provider: ServiceProvider
    request_id: str


def require_current(described: SamlDescription, *, at: datetime) -> SamlDescription:
    """Return the content of metadata that are to be set; raise `MetadataUnusable` when they have expired."""
    if described.is_expired(at):
        assert described.valid_until is not None, "metadata without an end have expired"
        raise MetadataUnusable(
            Wording(
                "These metadata have expired on %(date)s (validUntil). Export them again at the"
                " identity provider, and set the new ones.",
                date=described.valid_until.date(),
            )
        )
    return described


def require_for_us(answer: SamlAnswer, expected: Expected, *, at: datetime) -> SamlAssertion:
    """Return the assertion of an answer to our request; raise `UpstreamFailed` (saml-profiles-2.0, 4.1.4.3)."""
    if answer.statuses[:1] != (SUCCESS,):
        raise UpstreamFailed().because("refused")
    assertion = answer.assertion
    if assertion is None:
        raise UpstreamFailed().because("no_assertion")
    if answer.destination not in {None, expected.provider.acs_url}:
        raise UpstreamFailed().because("wrong_destination")
    if answer.in_response_to not in {None, expected.request_id}:
        raise UpstreamFailed().because("answer_to_another_request")
    if answer.issuer not in {None, expected.issuer} or assertion.issuer != expected.issuer:
        raise UpstreamFailed().because("assertion_of_another_issuer")
    own = expected.provider.entity_id
    if not assertion.audiences or not all(own in audiences for audiences in assertion.audiences):
        raise UpstreamFailed().because("wrong_audience")
    if not _is_within(assertion.not_before, assertion.not_on_or_after, at):
        raise UpstreamFailed().because("expired")
    if assertion.session_ends_at is not None and assertion.session_ends_at <= at:
        raise UpstreamFailed().because(SignInReason.SESSION_OVER_THERE)
    problem = _problem_of_confirmations(assertion.confirmations, expected, at)
    if problem is not None:
        raise UpstreamFailed().because(problem)
    return assertion


def identity(assertion: SamlAssertion, mapping: Mapping[str, str]) -> ProvenIdentity:
    """Return the identity that an assertion proves.

    A name that changes with every sign-in identifies no one; then the connection has to map an attribute.
    """
    mapped = mapping.get("id")
    if mapped is None and assertion.name_id_format == TRANSIENT:
        raise UpstreamFailed().because("transient_name")
    return ProvenIdentity(
        provider=Provider.UPSTREAM,
        subject=checked_subject(assertion.name_id if mapped is None else _first(assertion, (mapped,))),
        own_subject=assertion.name_id if mapped is not None and _is_kept(assertion.name_id) else None,
        email=_address(assertion, mapping.get("email")),
        provider_session=_provider_session(assertion),
        session_ends_at=assertion.session_ends_at,
        groups=asserted.groups_in_attributes(assertion.attributes, mapping.get("groups")),
        names=asserted.names_in_attributes(assertion.attributes, mapping),
    )


def _is_kept(name_id: str) -> bool:
    return len(name_id) <= SUBJECT_CHARACTERS_MAX and name_id.isprintable()


def _provider_session(assertion: SamlAssertion) -> ProviderSession | None:
    """Return how the identity provider names the session; None when the name is longer than what is kept."""
    known = ProviderSession(
        name_id=assertion.name_id,
        name_format=assertion.name_id_format,
        name_qualifier=assertion.name_qualifier,
        sp_name_qualifier=assertion.sp_name_qualifier,
        session_index=assertion.session_index,
    )
    given = (known.name_id, known.name_format, known.name_qualifier, known.sp_name_qualifier, known.session_index)
    return known if all(len(one or "") <= NAME_CHARACTERS_MAX for one in given) else None


def _address(assertion: SamlAssertion, mapped: str | None) -> str | None:
    """Return the address that an assertion gives; without one, what it gives in its place."""
    given = [
        value for name in (_ADDRESSES if mapped is None else (mapped,)) for value in assertion.attributes.get(name, ())
    ]
    if mapped is None and assertion.name_id_format == EMAIL_ADDRESS:
        given.append(assertion.name_id)
    addresses = (value for value in given if checked_address(value) is not None)
    return next(addresses, None) or next((value for value in given if given_address(value) is not None), None)


def _first(assertion: SamlAssertion, names: Sequence[str]) -> str | None:
    values = (value for name in names for value in assertion.attributes.get(name, ()))
    return next(values, None)


def _problem_of_confirmations(confirmations: Sequence[Confirmation], expected: Expected, at: datetime) -> str | None:
    """Return why none of the confirmations of an assertion fits our request now; None when one does."""
    if not confirmations:
        return "not_confirmed"
    for_us = [one for one in confirmations if one.recipient == expected.provider.acs_url]
    if not for_us:
        return "wrong_recipient"
    asked_for = [one for one in for_us if one.in_response_to == expected.request_id]
    if not asked_for:
        return "unsolicited"
    is_confirmed = any(
        one.not_on_or_after is not None and _is_within(one.not_before, one.not_on_or_after, at) for one in asked_for
    )
    return None if is_confirmed else "confirmation_ended"


def _is_within(not_before: datetime | None, not_on_or_after: datetime | None, at: datetime) -> bool:
    return (not_before is None or not_before - CLOCK_SKEW <= at) and (
        not_on_or_after is None or at < not_on_or_after + CLOCK_SKEW
    )
