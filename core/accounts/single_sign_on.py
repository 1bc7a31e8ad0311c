"""Domains whose people sign in by their organization's own identity provider (decisions 13.6).

Enforcement is checked after right credentials only, so it tells nothing about accounts. It exempts the organization's
owner and platform owners, so that a provider that fails locks nobody out of its settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts.users import User
from core.errors import SsoRequired

if TYPE_CHECKING:
    from core.deferred import Deferred
    from ports.unit_of_work import UnitOfWork


def defer_required_connection(uow: UnitOfWork, user_id: UUID) -> Deferred[UUID | None]:
    """Defer reading the connection by which a user has to sign in; None when any way is open."""
    return uow.domain_routes.defer_enforced_on(user_id)


def require_open(uow: UnitOfWork, user: User) -> None:
    """Raise `SsoRequired` when the user has to sign in by a connection."""
    if defer_required_connection(uow, user.id)() is not None:
        raise SsoRequired
