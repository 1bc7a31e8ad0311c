"""Services as OAuth clients, how they authenticate, and the checks of their security profile.

`web` and `api` services are confidential: they authenticate by their secret (in the header or in the body), or by an
assertion that they have signed (RFC 7523). `mobile` and `desktop` services are public: they name themselves, and prove
by PKCE that the code is theirs. The signature of an assertion is verified before the transaction, because its keys may
have to be fetched; this module judges its claims and uses up its id.

The rules of the FAPI 2.0 Security Profile are for clients that authenticate by `private_key_jwt` and bind their tokens
by DPoP (ops/decisions/0034); None, a client without a profile, passes each of them. What a profile means for the record
of a service, for sessions and for the signatures of tokens is in `core/sessions/security_profiles.py`. For every client
codes live 60 seconds (`token_grants.py`), and authorization responses have their `iss` (`authorization_endpoint.py`).
"""

from __future__ import annotations

import hmac
from collections.abc import Collection, Mapping
from dataclasses import field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.openid.dpop import DpopProof
from core.openid.refusals import ClientInvalid, ClientUnauthorized, GrantInvalid, ProofInvalid, WayUnauthorized
from core.secrets import Secret, hash_token
from core.services.problems import ProblemKind
from core.services.services import Service
from core.sessions.security_profiles import CLIENT_ALGORITHMS, SecurityProfile

if TYPE_CHECKING:
    from core.sign_in.places import Place
    from ports.unit_of_work import UnitOfWork

KeySet = Mapping[str, Any]
ASSERTION_TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
ASSERTION_LIFETIME_MAX: Final = timedelta(hours=1)
CLOCK_DIFFERENCE_MAX: Final = timedelta(seconds=30)
_ID_CHARACTERS_MAX: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A service with what authenticates it."""

    service: Service
    organization_slug: str
    is_organization_active: bool
    secret_hash: bytes | None = field(default=None, repr=False)
    # Of the previous secret, which is valid until `previous_secret_expires_at` of the service.
    previous_secret_hash: bytes | None = field(default=None, repr=False)

    def takes(self, secret: Secret, *, at: datetime) -> bool:
        """Return whether a secret is the present one, or the previous one while that is kept."""
        given, kept_until = hash_token(secret.reveal()), self.service.previous_secret_expires_at
        previous = self.previous_secret_hash if kept_until is not None and kept_until > at else None
        return any(hmac.compare_digest(given, one) for one in (self.secret_hash, previous) if one is not None)

    @property
    def id(self) -> UUID:
        """The client id."""
        return self.service.client_id

    @property
    def security_profile(self) -> SecurityProfile | None:
        """The stricter rules for the client; None for the usual ones."""
        return self.service.security_profile

    @property
    def is_confidential(self) -> bool:
        """Whether the client authenticates."""
        return self.service.service_type.is_confidential


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySource:
    """Where the public keys of a service are: in its record, or at an address; and how strict its assertions are."""

    organization_id: UUID
    security_profile: SecurityProfile | None = None
    key_set: KeySet | None = None
    uri: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAssertion:
    """The claims of an assertion whose signature was verified with the keys of its client."""

    id: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentedClient:
    """The client as a request presents it; without secret and assertion the request only names it."""

    client_id: UUID
    secret: Secret | None = None
    assertion: ClientAssertion | None = None
    # An empty secret in the Authorization header says that the client has none.
    is_public: bool = False

    @property
    def authenticates(self) -> bool:
        """Whether the client tries to authenticate."""
        return self.secret is not None or self.assertion is not None

    @property
    def limited_as(self) -> str:
        """What the requests of this client are counted by: with a secret its hash.

        Others know the client id, and must not use up the client's limit.
        """
        proved = hash_token(self.secret.reveal()).hex() if self.secret is not None else "assertion"
        return f"{self.client_id} {proved}"


def find(uow: UnitOfWork, client_id: UUID) -> Client | None:
    """Return a client; None when there is none, or under the custom host of another organization."""
    client = uow.clients.find(client_id)
    return client if client is not None and _is_here(uow, client) else None


def of_place(uow: UnitOfWork, place: Place) -> Client | None:
    """Return the client of a place that was read, without its secrets; None where `find` finds none."""
    if place.organization is None or place.service is None:
        return None
    client = Client(
        service=place.service,
        organization_slug=place.organization.slug,
        is_organization_active=place.organization.is_active,
    )
    return client if _is_here(uow, client) else None


def key_source(uow: UnitOfWork, client_id: UUID) -> KeySource:
    """Return where the keys of a confidential service are; raise `ClientInvalid` when it has none."""
    client = find(uow, client_id)
    if client is None or not client.is_confidential:
        raise ClientInvalid
    service = client.service
    if service.jwks is None and service.jwks_uri is None:
        raise ClientInvalid("The service has registered no keys. Set its jwks or its jwks_uri.")
    return KeySource(
        organization_id=service.organization_id,
        security_profile=service.security_profile,
        key_set=service.jwks,
        uri=service.jwks_uri,
    )


def judged_assertion(
    claims: Mapping[str, Any], client_id: UUID, *, issuer: str, endpoints: Collection[str], at: datetime
) -> ClientAssertion:
    """Return an assertion for the client itself, for this server and this time; raise `ClientInvalid`.

    Its audience is the issuer alone. An endpoint as a single string is accepted too: the token endpoint, which RFC 7523
    recommended, and for pushed requests their own endpoint, which clients name by RFC 9126, 2.
    """
    identifier, expires = claims.get("jti"), claims.get("exp")
    if claims.get("iss") != str(client_id) or claims.get("sub") != str(client_id):
        raise ClientInvalid("The assertion names another client as iss or sub.")
    audience = claims.get("aud")
    if audience != [issuer] and (not isinstance(audience, str) or audience not in {issuer, *endpoints}):
        raise ClientInvalid("The assertion is for another server: its aud must be the issuer alone.")
    if not isinstance(identifier, str) or not 0 < len(identifier) <= _ID_CHARACTERS_MAX:
        raise ClientInvalid("The assertion needs a jti.")
    expires_at = moment(expires)
    if expires_at is None or not at - CLOCK_DIFFERENCE_MAX < expires_at <= at + ASSERTION_LIFETIME_MAX:
        raise ClientInvalid("The assertion has expired, or is valid for more than an hour.")
    for begins in (moment(claims.get(name, 0)) for name in ("nbf", "iat")):
        if begins is None or begins > at + CLOCK_DIFFERENCE_MAX:
            raise ClientInvalid("The assertion is not valid yet.")
    return ClientAssertion(id=identifier, expires_at=expires_at)


def authenticate(uow: UnitOfWork, presented: PresentedClient) -> Client:
    """Return the client, authenticated if it is confidential; raise `ClientInvalid`."""
    client = identify(uow, presented)
    if client.is_confidential != presented.authenticates:
        raise ClientInvalid
    return client


def authenticate_confidential(uow: UnitOfWork, presented: PresentedClient) -> Client:
    """Return the authenticated client; raise `ClientUnauthorized` for a public one."""
    client = authenticate(uow, presented)
    if not client.is_confidential:
        raise ClientUnauthorized
    return client


def identify(uow: UnitOfWork, presented: PresentedClient) -> Client:
    """Return the client that a request names; raise `ClientInvalid` when it authenticates and fails."""
    client = find(uow, presented.client_id)
    if client is None or not client.is_organization_active:
        raise ClientInvalid
    if presented.is_public and client.is_confidential:
        raise ClientInvalid
    require_no_secret(client.security_profile, presented.secret)
    if presented.secret is not None and not client.takes(presented.secret, at=uow.now):
        raise ClientInvalid
    if presented.assertion is not None:
        mark = hash_token(f"assertion {client.id} {presented.assertion.id}")
        if not uow.single_uses.claim(mark, until=presented.assertion.expires_at + CLOCK_DIFFERENCE_MAX):
            raise ClientInvalid("The assertion was used already. Sign a new one for each request.")
    return client


def _is_here(uow: UnitOfWork, client: Client) -> bool:
    host = uow.origin.custom_host
    return host is None or client.service.organization_id == host.organization_id


def moment(value: object) -> datetime | None:
    """Return the moment of a numeric date (RFC 7519, 2); None for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return datetime.fromtimestamp(value, UTC)
    except (OverflowError, ValueError, OSError):
        return None


# A client's clock may be this much ahead; the FAPI 2.0 Security Profile, 5.3.2.1, requires at least 10 seconds.
AHEAD_SECONDS_MAX: Final = 30


def assertion_algorithms(profile: SecurityProfile | None) -> frozenset[str] | None:
    """Return the algorithms by which a client may sign its assertions; None for all that we accept."""
    return CLIENT_ALGORITHMS if profile is not None else None


def require_assertion(profile: SecurityProfile | None, claims: Mapping[str, Any], issuer: str) -> None:
    """Raise `ClientInvalid` unless an assertion names the issuer, alone and as a text, as its audience."""
    if profile is not None and claims.get("aud") != issuer:
        raise ClientInvalid("The aud of the assertion must be the issuer, as a single string.")


def require_no_secret(profile: SecurityProfile | None, secret: Secret | None) -> None:
    """Raise `ClientInvalid` when a client with a profile authenticates by a secret."""
    if profile is not None and secret is not None:
        raise ClientInvalid("This service authenticates by private_key_jwt alone. Send a client_assertion.")


def requires_challenge(profile: SecurityProfile | None, *, is_confidential: bool) -> bool:
    """Return whether an authorization request needs a `code_challenge`: from public clients, and with a profile."""
    return not is_confidential or profile is not None


def require_code_grant(profile: SecurityProfile | None) -> None:
    """Raise `WayUnauthorized` when a client with a profile uses another grant than codes and refresh tokens."""
    if profile is not None:
        raise WayUnauthorized


def require_challenged(profile: SecurityProfile | None, code_challenge: str | None) -> None:
    """Raise `GrantInvalid` for a code without PKCE, which was issued before the profile was turned on."""
    if profile is not None and code_challenge is None:
        refusal = GrantInvalid("The authorization request had no code_challenge. Start again, with PKCE.")
        raise refusal.about(ProblemKind.PKCE, None)


def require_proof(profile: SecurityProfile | None, proof: DpopProof | None, *, at: datetime) -> None:
    """Raise `ProofInvalid` unless a token request has a proof by an algorithm of the profile, not from the future."""
    if profile is None:
        return
    if proof is None:
        raise ProofInvalid("This service binds its tokens to a key. Send a DPoP proof.")
    require_proof_if_any(profile, proof, at=at)


def require_proof_if_any(profile: SecurityProfile | None, proof: DpopProof | None, *, at: datetime) -> None:
    """Do what `require_proof` does for a pushed request, which may come without a proof."""
    if profile is None or proof is None:
        return
    if proof.algorithm not in CLIENT_ALGORITHMS:
        raise ProofInvalid("This service signs its DPoP proofs by ES256 or PS256.")
    if proof.valid_from > at.timestamp() + AHEAD_SECONDS_MAX:
        raise ProofInvalid("The DPoP proof is from the future. Correct the clock of the service.")
