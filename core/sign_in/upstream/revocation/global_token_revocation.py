"""Global token revocation: the provider of a connection asks to end what a person holds here.

The protocol is draft-parecki-oauth-global-token-revocation. The provider authenticates by a token that it has signed
for this one address, and that is used once. Its signature is verified before the transaction, because its keys may have
to be fetched; here its claims are judged, its id is used up, and the person is found: by the id by which the provider
names the identity with which they sign in by this connection, even where the connection takes another stable id; or by
an address in a mail domain that the organization has proved.

It works even while the organization is suspended: otherwise what it ends would be back afterwards.

Sessions, refresh tokens, approvals of devices and grants of applications all belong to sessions, and end with them:
those in the organization, those by its connections, and those at services that it uses as a customer. Memberships and
ways to sign in stay; the provider decides whether the person signs in again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.accounts.sign_in_methods import Provider
from core.accounts.users import User
from core.email_addresses import canonical_email, domain_of
from core.errors import BadRequest, FieldError, Unauthorized
from core.events.actions import AuditAction
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.secrets import hash_token
from core.sessions import sessions
from core.sign_in.identities import IdentityContext
from core.sign_in.upstream.connections.connection_fields import ConnectionRecord
from core.sign_in.upstream.provider_answers import CLOCK_SKEW, is_token_id, moment_of

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

TOKEN_TYPE: Final = "global-token-revocation+jwt"  # noqa: S105 - the name of a kind, not a secret
LIFETIME_MAX: Final = timedelta(minutes=5)
# How many accounts one id of the provider may name: of a person whose other id has changed, which is rare.
NAMESAKES_MAX: Final = 10
_SUBJECT_CHARACTERS_MAX: Final = 500


class RevocationUnauthorized(Unauthorized):
    """The caller is not the provider of an enabled connection, or its token is not valid here and now."""

    default_message = (
        "The token is not accepted. Sign a new one for each request, as the issuer of this connection and for this"
        " address alone, which is valid for at most five minutes."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RevocationIssuer:
    """The issuer that may revoke by a connection; its keys verify its tokens."""

    organization_id: UUID
    issuer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RevocationToken:
    """The claims of a token whose signature was verified with the keys of this issuer."""

    issuer: str
    id: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokedSubject:
    """The person that a provider means (RFC 9493): by `issuer` and `subject`, or by an address."""

    issuer: str = ""
    subject: str = ""
    email: str | None = None


def find_issuer(uow: UnitOfWork, connection_id: UUID) -> RevocationIssuer:
    """Return the issuer that may revoke by a connection; raise `RevocationUnauthorized` where none may."""
    organization = uow.organizations.of_connection(connection_id, is_active=False)
    connection = uow.upstream_connections.find(organization.id, connection_id) if organization is not None else None
    issuer = issuer_of(connection) if connection is not None else None
    if organization is None or issuer is None:
        raise RevocationUnauthorized().because("connection_closed")
    return RevocationIssuer(organization_id=organization.id, issuer=issuer)


def issuer_of(connection: ConnectionRecord) -> str | None:
    """Return the issuer of a connection's tokens; None for one by SAML that names none."""
    return connection.token_issuer if connection.is_saml else connection.issuer


def judged(claims: Mapping[str, Any], *, issuer: str, audience: str, at: datetime) -> RevocationToken:
    """Return a token of this issuer, for this address alone and of these minutes; raise `RevocationUnauthorized`."""
    if claims.get("iss") != issuer:
        raise RevocationUnauthorized().because("other_issuer")
    if claims.get("aud") not in (audience, [audience]):
        raise RevocationUnauthorized().because("other_audience")
    identifier = claims.get("jti")
    if not is_token_id(identifier):
        raise RevocationUnauthorized().because("no_id")
    expires_at = moment_of(claims.get("exp"))
    latest = at + LIFETIME_MAX + CLOCK_SKEW
    if expires_at is None or not at - CLOCK_SKEW < expires_at <= latest:
        raise RevocationUnauthorized().because("expired")
    for name in ("iat", "nbf"):
        begins = moment_of(claims[name]) if name in claims else at
        if begins is None or begins > at + CLOCK_SKEW:
            raise RevocationUnauthorized().because("not_valid_yet")
        if name == "iat" and begins < at - LIFETIME_MAX - CLOCK_SKEW:
            raise RevocationUnauthorized().because("too_old")
    return RevocationToken(issuer=issuer, id=identifier, expires_at=expires_at)


def subject_of(described: Mapping[str, Any]) -> RevokedSubject:
    """Return the person that a request means; raise `BadRequest` for `sub_id` in a format that is not understood."""
    match described.get("format"):
        case "iss_sub":
            return RevokedSubject(issuer=_text(described, "iss"), subject=_text(described, "sub"))
        case "email":
            return RevokedSubject(email=_text(described, "email"))
        case _:
            raise BadRequest.of_field("sub_id.format", "This must be iss_sub or email.")


def revoke(uow: UnitOfWork, connection_id: UUID, token: RevocationToken, subject: RevokedSubject) -> None:
    """End what a person holds in the organization of a connection, if there is such a person; the token is used up.

    Raise `RevocationUnauthorized` when it was used before, or the connection was changed since it was verified.
    """
    known = find_issuer(uow, connection_id)
    if known.issuer != token.issuer:
        raise RevocationUnauthorized().because("connection_changed")
    mark = hash_token(f"global token revocation {connection_id} {token.id}")
    if not uow.single_uses.claim(mark, until=token.expires_at + CLOCK_SKEW):
        raise RevocationUnauthorized().because("used")
    connection = uow.upstream_connections.find(known.organization_id, connection_id)
    assert connection is not None, "an issuer was found without its connection"
    for user in _people(uow, known.organization_id, connection, subject):
        _end(uow, known.organization_id, user, connection_id=connection_id, is_linked=subject.email is None)


def _people(
    uow: UnitOfWork, organization_id: UUID, connection: ConnectionRecord, subject: RevokedSubject
) -> list[User]:
    """Return the accounts of the person that the provider means, among those that it may mean.

    There are several where the connection takes another id of the person, which has changed.
    """
    found = [uow.users.by_id(one) for one in _ids(uow, organization_id, connection, subject)]
    return [user for user in found if user is not None]


def _ids(
    uow: UnitOfWork, organization_id: UUID, connection: ConnectionRecord, subject: RevokedSubject
) -> Sequence[UUID]:
    if subject.email is not None:
        address = canonical_email(subject.email, uow.domain_names.to_ascii)
        is_own = "@" in address and uow.domain_routes.is_own_domain(organization_id, domain_of(address))
        user = uow.users.by_email(address) if is_own else None
        return [user.id] if user is not None else []
    if subject.issuer not in {connection.issuer, issuer_of(connection)}:
        return []
    context = IdentityContext(organization_id=organization_id, connection_id=connection.id)
    if connection.maps_id:
        return uow.identities.users_named(subject.subject, context, NAMESAKES_MAX)
    identity = uow.identities.find(Provider.UPSTREAM, subject.subject, context)
    return [identity.user_id] if identity is not None else []


def _text(described: Mapping[str, Any], name: str) -> str:
    value = described.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= _SUBJECT_CHARACTERS_MAX:
        raise BadRequest.of_fields([FieldError(field=f"sub_id.{name}", message="This must be a text.")])
    return value


def _end(uow: UnitOfWork, organization_id: UUID, user: User, *, connection_id: UUID, is_linked: bool) -> None:
    """End what a person holds in the context of an organization.

    Refresh tokens, approvals of devices and grants of applications all belong to sessions, and end with them: those in
    the organization, those by its connections, and those at services that it uses as a customer. Memberships and ways
    to sign in stay; the provider decides whether the person signs in again. `is_linked`: the person signs in by the
    connection. The log of the organization has an entry even where nothing ended, but none about an account that is
    unrelated to it: the entry would reveal that there is one. A vendor is told how many sessions at its services have
    ended.
    """
    details: dict[str, Any] = {"connection_id": str(connection_id), "reason": "global_token_revocation"}
    contexts = sessions.end_in_organization(uow, organization_id, user.id)
    of_vendors = [one for one in contexts if one is not None and one != organization_id]
    ended = len(contexts) - len(of_vendors)
    if contexts or is_linked or _knows(uow, organization_id, user.id):
        uow.audit(
            AuditAction.SESSION_REVOKED, user.id, organization_id=organization_id, sessions=len(contexts), **details
        )
    if ended:
        uow.publish_to_each(
            EventType.SESSION_REVOKED,
            (organization_id,),
            actor_user_id=user.id,
            actor_email=user.email,
            sessions=ended,
            **details,
        )
    sessions.record_ended(uow, user.id, user.email, of_vendors)


def _knows(uow: UnitOfWork, organization_id: UUID, user_id: UUID) -> bool:
    """Return whether a person is a member or an end user of the organization."""
    return (
        uow.members.of_user(organization_id, user_id) is not None
        or uow.end_users.email_of(organization_id, user_id) is not None
    )
