"""User information: what a service learns about its user with an access token (OpenID Connect Core, 5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.openid import requested_claims, scopes
from core.openid.refusals import ContextInactive, InsufficientScope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.sessions.callers import Caller
    from ports.unit_of_work import UnitOfWork


def read(uow: UnitOfWork, scope: str | None, named: Sequence[str] = ()) -> dict[str, Any]:
    """Return the claims that the scopes of the token open, and those that were asked for by name.

    Raise `InsufficientScope` without the scope `openid`, and `ContextInactive` while the organization of the token is
    not active.

    `scope` is None for a token of the JSON interface, which was issued to the user and not granted to a service.
    """
    caller = uow.caller
    if not caller.is_organization_active:
        raise ContextInactive
    if scope is None:
        return scopes.claims_of(caller, scopes.ALL)
    granted = scope.split(" ")
    if scopes.OPENID not in granted:
        raise InsufficientScope
    return requested_claims.chosen(_known(caller), named) | scopes.claims_of(caller, granted)


def _known(caller: Caller) -> dict[str, Any]:
    """Return everything that can be asked for by name."""
    return scopes.claims_of(caller, scopes.ALL) | {
        "auth_time": int(caller.authenticated_at.timestamp()),
        "acr": scopes.context_class(caller.amr),
        "amr": caller.amr,
    }
