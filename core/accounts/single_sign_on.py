"""Domains whose people sign in by their organization's own identity provider.

Enforcement is checked after right credentials only, so it reveals nothing about accounts. Exempt are platform owners,
and the organization's owner, but not at services that it uses as a customer: a provider that fails must not lock them
out of its settings. It holds where no organization is named, in the organization's own context, and in its context at
the services that it uses. On the way to another organization it refuses nothing: what begins there opens that
organization alone (`core/sign_in/rules.py`, ops/decisions/0052-enforcement-at-other-organizations.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts.users import User
from core.errors import SsoRequired
from core.lazy_dataclasses import dataclass
from core.secrets import hash_token

if TYPE_CHECKING:
    from core.deferred import Deferred
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredConnection:
    """The connection by which a user has to sign in, and the organization that enforces it.

    `is_of_owner`: the user owns that organization. `is_linking`: a browser comes from the connection to sign in to the
    account, so that the two are linked; there the connection refuses nothing that it requires elsewhere.
    """

    connection_id: UUID
    organization_id: UUID
    is_of_owner: bool = False
    is_linking: bool = False

    def holds_for(self, organization_id: UUID | None, customer_organization_id: UUID | None = None) -> bool:
        """Return whether it is required on the way to an organization, or to none.

        At a service that customers use, it is required in the context of that organization as the customer. The owner
        is exempt only in the organization's own context.
        """
        if customer_organization_id is not None:
            return customer_organization_id == self.organization_id
        return not self.is_of_owner and organization_id in {None, self.organization_id}


def defer_required_connection(
    uow: UnitOfWork, user_id: UUID, binding: str | None = None
) -> Deferred[RequiredConnection | None]:
    """Defer reading the connection by which a user has to sign in; None when every way is open.

    `binding` is the value of the cookie that binds the browser to its sign-ins with other providers; None without one.
    """
    browser_hash = hash_token(binding) if binding is not None else None
    return uow.domain_routes.defer_enforced_on(user_id, browser_hash)


def require_open(uow: UnitOfWork, user: User, organization_id: UUID | None) -> None:
    """Raise `SsoRequired` when the user has to sign in by a connection on the way to an organization, or to none."""
    if is_required(uow, user, organization_id):
        raise SsoRequired


def is_required(uow: UnitOfWork, user: User, organization_id: UUID | None) -> bool:
    """Return whether the user has to sign in by a connection on the way to an organization, or to none."""
    required = defer_required_connection(uow, user.id)()
    return required is not None and required.holds_for(organization_id)
