"""Logout tokens of OpenID providers (OpenID Connect Back-Channel Logout 1.0): the end of sessions that began by one.

A provider says by a token that it has signed, without any browser, that a user or one session there has signed out.
Its signature is verified before the transaction, because its keys may have to be fetched; here its claims are judged,
its id is used up, and the sessions end that this connection has begun for that `sub` or `sid`. The user's other
sessions stay: `global_token_revocation.py` ends all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

from core.errors import BadRequest
from core.events import person_events
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.secrets import hash_token
from core.sign_in.upstream.provider_answers import CLOCK_SKEW, is_session_id, is_subject, is_token_id, moment_of

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

TOKEN_TYPE: Final = "logout+jwt"  # noqa: S105 - the name of a kind, not a secret
EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"
# How old a token may be, and how long its id is remembered: providers send it at once, and some try again.
AGE_MAX: Final = timedelta(minutes=10)
# A token that names more sessions than this ends the newest of the live ones.
SESSIONS_MAX: Final = 100
# The types of a signed token that is not marked as a logout token; an ID token has a nonce.
_TYPES: Final = frozenset({None, "jwt", TOKEN_TYPE})


class LogoutTokenRefused(BadRequest):
    """The token is no logout token of the provider of an enabled connection, or not valid here and now."""

    default_message = (
        "The logout token is not accepted. It has to be signed by the provider of this connection, for its client id"
        " and just now, and to name a user or a session; each is taken once."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutIssuer:
    """The logout tokens that a connection takes: of this issuer, verified by its keys, for this client."""

    organization_id: UUID
    issuer: str
    client_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutToken:
    """A token that was verified: its issuer and its id, and its user or session, by `subject`, `session_id` or both."""

    issuer: str
    client_id: str
    id: str
    subject: str | None
    session_id: str | None


def find_issuer(uow: UnitOfWork, connection_id: UUID) -> LogoutIssuer:
    """Return the issuer of the tokens that a connection takes; raise `LogoutTokenRefused` where it takes none.

    It takes them even while the organization is suspended: otherwise its sessions would be back afterwards.
    """
    organization = uow.organizations.of_connection(connection_id, is_active=False)
    connection = uow.upstream_connections.find(organization.id, connection_id) if organization is not None else None
    if organization is None or connection is None or connection.issuer is None or connection.client_id is None:
        raise LogoutTokenRefused().because("connection_closed")
    return LogoutIssuer(organization_id=organization.id, issuer=connection.issuer, client_id=connection.client_id)


def judged(claims: Mapping[str, Any], kind: Any, issuer: LogoutIssuer, *, at: datetime) -> LogoutToken:
    """Return a token of this issuer whose signature was verified; raise `LogoutTokenRefused` (section 2.6).

    `kind` is the `typ` of its header.
    """
    if kind is not None and (not isinstance(kind, str) or kind.lower().removeprefix("application/") not in _TYPES):
        raise LogoutTokenRefused().because("other_type")
    problem = _problem_of(claims, issuer, at)
    if problem is not None:
        raise LogoutTokenRefused().because(problem)
    return LogoutToken(
        issuer=issuer.issuer,
        client_id=issuer.client_id,
        id=claims["jti"],
        subject=claims.get("sub"),
        session_id=claims.get("sid"),
    )


def log_out(uow: UnitOfWork, connection_id: UUID, token: LogoutToken) -> None:
    """End the sessions that a token names; the token is used up.

    Raise `LogoutTokenRefused` when it was used before, or the connection was changed since it was verified.
    """
    known = find_issuer(uow, connection_id)
    if (known.issuer, known.client_id) != (token.issuer, token.client_id):
        raise LogoutTokenRefused().because("connection_changed")
    mark = hash_token(f"logout token {connection_id} {token.id}")
    if not uow.single_uses.claim(mark, until=uow.now + AGE_MAX + 2 * CLOCK_SKEW):
        raise LogoutTokenRefused().because("used")
    states = uow.saml_sessions.states(_named(uow, known.organization_id, connection_id, token))
    # In the order of their ids, as everywhere, so that two logouts at once do not wait for each other.
    for user_id, email in sorted({(one.user_id, one.email) for one in states}):
        uow.users.defer_lock(user_id)
        own = [one.session_id for one in states if one.user_id == user_id]
        # The sessions of service providers that began from them end too.
        alive = uow.saml_sessions.defer_alive_of(user_id, own, limit=SESSIONS_MAX)()
        if uow.sessions.revoke_each([*own, *alive], user_id=user_id):
            person_events.publish(uow, EventType.USER_LOGOUT, user_id, email, organization_id=known.organization_id)


def _named(uow: UnitOfWork, organization_id: UUID, connection_id: UUID, token: LogoutToken) -> Sequence[UUID]:
    """Return the sessions that a connection has begun for a user, or for one session there, ended ones too."""
    if token.subject is None:
        assert token.session_id is not None, "a logout token that names no user or session was accepted"
        return uow.provider_sessions.of_index(organization_id, connection_id, token.session_id, limit=SESSIONS_MAX)
    indexes = [token.session_id] if token.session_id is not None else []
    return uow.provider_sessions.named(organization_id, connection_id, token.subject, indexes, limit=SESSIONS_MAX)


def _problem_of(claims: Mapping[str, Any], issuer: LogoutIssuer, at: datetime) -> str | None:
    if claims.get("iss") != issuer.issuer:
        return "other_issuer"
    audience = claims.get("aud")
    if issuer.client_id not in (cast("list[Any]", audience) if isinstance(audience, list) else [audience]):
        return "other_audience"
    events = claims.get("events")
    if not isinstance(events, dict) or not isinstance(cast("dict[str, Any]", events).get(EVENT), dict):
        return "no_logout"
    if "nonce" in claims:
        return "nonce"
    if not is_token_id(claims.get("jti")):
        return "no_id"
    return _problem_of_times(claims, at) or _problem_of_names(claims)


def _problem_of_times(claims: Mapping[str, Any], at: datetime) -> str | None:
    issued = moment_of(claims.get("iat"))
    if issued is None or issued > at + CLOCK_SKEW:
        return "not_valid_yet"
    # Earlier versions of the protocol have no end.
    expires = moment_of(claims["exp"]) if "exp" in claims else issued + AGE_MAX
    if expires is None or expires <= at - CLOCK_SKEW or issued < at - AGE_MAX - CLOCK_SKEW:
        return "expired"
    return None


def _problem_of_names(claims: Mapping[str, Any]) -> str | None:
    if "sub" in claims and not is_subject(claims["sub"]):
        return "no_subject"
    if "sid" in claims and not is_session_id(claims["sid"]):
        return "no_session"
    return None if claims.keys() & {"sub", "sid"} else "no_subject_or_session"
