"""User information: what a service learns about its user with an access token (OpenID Connect Core, 5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.openid import scopes
from core.openid.refusals import InsufficientScope

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def read(uow: UnitOfWork, scope: str | None) -> dict[str, Any]:
    """Return the claims that the scopes of the token open; raise `InsufficientScope` without `openid`.

    `scope` is None for a token of the JSON interface, which was issued to the user and not granted to a service.
    """
    if scope is None:
        return scopes.claims_of(uow, scopes.ALL)
    granted = scope.split(" ")
    if scopes.OPENID not in granted:
        raise InsufficientScope
    return scopes.claims_of(uow, granted)
