"""Introspection and revocation of tokens (RFC 7662, RFC 7009): a client asks about its own tokens, and ends them.

A token of another client gets the answer of one that never existed. Revoking any token of a session ends the session,
with all its tokens. A token of the client itself has no session; its id is noted until it would have expired.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.openid import clients, scopes, workloads
from core.openid.clients import Client, PresentedClient
from core.secrets import hash_token
from core.sessions import refresh, sessions
from core.sessions.callers import Caller
from core.sessions.refresh import Refreshable
from core.sessions.token_additions import TokenSubject
from core.sessions.tokens import claims_of_rows

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

ACCESS_TOKEN: Final = "access_token"  # noqa: S105 - the name of a kind, not a secret
REFRESH_TOKEN: Final = "refresh_token"  # noqa: S105 - likewise
# What an access token says of itself and of its sign-in. Its claims about the user may have changed since, so
# introspection answers those by the present rows.
SHOWN: Final = (*("iss", "sub", "aud", "exp", "iat", "jti", "scope", "sid", "amr", "auth_time", "cnf", "org", "act"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class IntrospectedToken:
    """A token that a client asks about: its text, and its claims if it is a valid access token of ours."""

    text: str = field(repr=False)
    claims: Mapping[str, Any] | None = field(default=None, repr=False)


def introspect(uow: UnitOfWork, presented: PresentedClient, token: IntrospectedToken) -> dict[str, Any]:
    """Return what holds for a token of the client; only `active: false` for any other text."""
    describe = _defer_access_token(uow, token.claims) if token.claims is not None else None
    client = clients.authenticate_confidential(uow, presented)
    if describe is not None:
        return describe(client) or {"active": False}
    session = refresh.inspect(uow, token.text)
    if session is None or not _is_usable(session.caller, client) or not refresh.is_bound_as_required(session):
        return {"active": False}
    return _of_refresh_token(client, session)


def revoke(uow: UnitOfWork, presented: PresentedClient, token: IntrospectedToken) -> None:
    """End a token of the client, with its session; nothing happens for any other text."""
    client = clients.authenticate(uow, presented)
    if token.claims is not None and _is_of(client, token.claims) and "sid" not in token.claims:
        expires_at = datetime.fromtimestamp(token.claims["exp"], UTC)
        uow.single_uses.claim(_revocation_of(token.claims), until=expires_at)
        return
    if token.claims is not None:
        session_id = UUID(token.claims["sid"]) if _is_of(client, token.claims) else None
    else:
        session_id = refresh.session_of(uow, token.text)
    caller = uow.callers.of_session(session_id, is_limited=True) if session_id is not None else None
    if caller is None or caller.place.client_id != client.id:
        return
    ended = uow.sessions.revoke(caller.session.id, user_id=caller.account.id)
    sessions.record_ended(uow, caller.account.id, caller.account.email, ended, reason="token_revoked")


def _defer_access_token(uow: UnitOfWork, claims: Mapping[str, Any]) -> Callable[[Client], dict[str, Any] | None]:
    """Defer reading what holds for an access token; the result returns it for a client, None for an invalid token."""
    if "sid" not in claims:
        is_revoked = uow.single_uses.defer_has(_revocation_of(claims))

        def describe_own(client: Client) -> dict[str, Any] | None:
            if not _is_of(client, claims) or is_revoked() or workloads.has_ended(uow, client, claims):
                return None
            described = _described(claims, client)
            if "scope" in described:
                described["scope"] = " ".join(scopes.of_machines(described["scope"], client.service) or ())
            return described

        return describe_own
    found = uow.callers.defer_subject(UUID(claims["sid"]))

    def describe(client: Client) -> dict[str, Any] | None:
        subject = found() if _is_of(client, claims) else None
        caller = subject.caller if subject is not None else None
        is_bound = "cnf" in claims or client.security_profile is None
        if subject is None or caller is None or not _is_usable(caller, client) or not is_bound:
            return None
        described = _described(claims, client)
        if "scope" in described:
            described["scope"] = _still_allowed(subject, described["scope"].split(" "))
        return {**subject.own_claims, **described, **_as_now(subject)}

    return describe


def _of_refresh_token(client: Client, session: Refreshable) -> dict[str, Any]:
    caller = session.caller
    subject = TokenSubject(caller=caller, additions=session.additions)
    described: dict[str, Any] = {
        **subject.own_claims,
        "active": True,
        "client_id": str(client.id),
        "token_type": REFRESH_TOKEN,
        "sub": str(caller.account.id),
        "sid": str(caller.session.id),
        "exp": int(session.expires_at.timestamp()),
        **_as_now(subject),
    }
    if session.client_grant is not None:
        described["scope"] = _still_allowed(subject, session.client_grant.scopes)
    return described


def _still_allowed(subject: TokenSubject, scopes: Sequence[str]) -> str:
    """Return the scopes of a token that its user may have now, as one text."""
    return " ".join(subject.additions.still_allowed(scopes, subject.caller))


def _described(claims: Mapping[str, Any], client: Client) -> dict[str, Any]:
    return {
        "active": True,
        "client_id": str(client.id),
        "token_type": "DPoP" if "cnf" in claims else "Bearer",
        **{name: claims[name] for name in SHOWN if name in claims},
    }


def _as_now(subject: TokenSubject) -> dict[str, Any]:
    """Return the product's claims, the address, the role, the groups and the customer of a user by the present rows."""
    return {"username": subject.caller.account.email, **claims_of_rows(subject)}


def _is_usable(caller: Caller, client: Client) -> bool:
    """Return whether a session belongs to the client, and its user still uses the service and may."""
    if caller.place.client_id != client.id or caller.lacks_second_factor:
        return False
    return caller.belongs_to_context and caller.place.is_organization_active


def _is_of(client: Client, claims: Mapping[str, Any]) -> bool:
    # A token of the JSON interface has no client_id; its audience is the client.
    return claims.get("client_id", claims["aud"]) == str(client.id)


def _revocation_of(claims: Mapping[str, Any]) -> bytes:
    return hash_token(f"revoked {claims['jti']}")
