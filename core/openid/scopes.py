"""Scopes: what a service may learn about its user from the ID token and the user information endpoint."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.openid.refusals import ScopeInvalid
from core.services.problems import ProblemKind
from core.services.services import Service
from core.sessions.token_additions import TokenSubject

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

OPENID: Final = "openid"
EMAIL: Final = "email"
PROFILE: Final = "profile"
# Every grant of a user has a refresh token, so this scope asks for nothing more.
OFFLINE_ACCESS: Final = "offline_access"
ALL: Final = (OPENID, PROFILE, EMAIL, OFFLINE_ACCESS)

# Authentication context classes: what was proved at the sign-in.
ONE_FACTOR: Final = "urn:gatehouse:acr:one-factor"
TWO_FACTORS: Final = "urn:gatehouse:acr:two-factors"
CONTEXT_CLASSES: Final = (ONE_FACTOR, TWO_FACTORS)


def known(text: str | None, own: Collection[str] = ()) -> list[str]:
    """Return the scopes of a request that Gatehouse or, among its `own`, the service knows, each once.

    Others are left out (RFC 6749, 3.3). Extra blanks do not matter.
    """
    return [scope for scope in _named(text) if scope in ALL or scope in own]


def of_machines(text: str | None, service: Service) -> list[str] | None:
    """Return the scopes of a token for a machine of a service: the requested ones, else all that it may have.

    None for a service without scopes of its own, whose tokens have no `scope`.
    """
    if not service.scopes:
        return None
    allowed = [scope for scope in service.machine_scopes if scope in service.scope_names]
    return allowed if text is None else [scope for scope in _named(text) if scope in allowed]


def sentences(service: Service, asked: Collection[str]) -> list[str]:
    """Return the descriptions of the service's own scopes that a request asks for, for the consent page."""
    return [scope.description for scope in service.scopes if scope.name in asked]


def claim_of(scopes: Sequence[str] | None) -> dict[str, str]:
    """Return the claim with these scopes, which may be empty; no claim for None."""
    return {"scope": " ".join(scopes)} if scopes is not None else {}


def narrowed(text: str, granted: Sequence[str]) -> Sequence[str]:
    """Return the scopes that a refresh asks for; raise `ScopeInvalid` for one that was not granted."""
    wanted = _named(text)
    if not set(wanted) <= set(granted):
        raise ScopeInvalid().about(ProblemKind.SCOPE, text, granted)
    return wanted


def _named(text: str | None) -> list[str]:
    """Return the scopes of a list, each once (RFC 6749, 3.3: separated by the blank alone)."""
    return list(dict.fromkeys(scope for scope in (text or "").split(" ") if scope))


def context_class(amr: Collection[str]) -> str:
    """Return the class of a sign-in by these methods (OpenID Connect Core, 2)."""
    return TWO_FACTORS if "mfa" in amr else ONE_FACTOR


def names_of(uow: UnitOfWork, user_id: UUID, organization_id: UUID | None) -> dict[str, str]:
    """Return the claims about the names of a user, for the scope `profile` (OpenID Connect Core, 5.4).

    Of directories, only the one of the service's organization counts.
    """
    return uow.person_names.defer_of(user_id, organization_id)().profile_claims


def claims_of(uow: UnitOfWork, subject: TokenSubject, scopes: Collection[str]) -> dict[str, Any]:
    """Return the claims about a caller for these scopes (OpenID Connect Core, 5.4), and the claims of the product."""
    caller = subject.caller
    claims: dict[str, Any] = {**subject.own_claims, "sub": str(caller.account.id), **subject.group_claims}
    claims |= caller.service_claims
    if EMAIL in scopes:
        claims |= {"email": caller.account.email, "email_verified": caller.account.is_verified}
    if PROFILE in scopes:
        claims["preferred_username"] = caller.account.email
        claims |= names_of(uow, caller.account.id, caller.place.organization_id)
    return claims
