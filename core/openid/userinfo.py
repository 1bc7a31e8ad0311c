"""User information: what a service learns about its user with an access token (OpenID Connect Core, 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core.openid import requested_claims, scopes
from core.openid.refusals import ContextInactive, InsufficientScope
from core.sessions.token_additions import TokenSubject

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def read(uow: UnitOfWork, scope: str | None, named: Sequence[str] = ()) -> dict[str, Any]:
    """Return the claims for the scopes of the token, and the claims that were requested by name.

    Raise `InsufficientScope` without the scope `openid`, and `ContextInactive` while the organization of the token is
    not active. `scope` is None for a token of the JSON interface, which was issued to the user and not granted to a
    service.
    """
    subject = uow.token_subject
    if not subject.caller.place.is_organization_active:
        raise ContextInactive
    if scope is None:
        return scopes.claims_of(uow, subject, scopes.ALL)
    granted = scope.split(" ")
    if scopes.OPENID not in granted:
        raise InsufficientScope
    claims = scopes.claims_of(uow, subject, granted)
    return requested_claims.chosen(_known(uow, subject), named) | claims if named else claims


def _known(uow: UnitOfWork, subject: TokenSubject) -> dict[str, Any]:
    """Return every claim that can be requested by name."""
    caller = subject.caller
    return scopes.claims_of(uow, subject, scopes.ALL) | {
        "auth_time": int(caller.session.authenticated_at.timestamp()),
        "acr": scopes.context_class(caller.session.amr),
        "amr": caller.session.amr,
    }
