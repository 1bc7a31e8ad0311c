"""Putting an enforced route in force: sessions that began otherwise end.

From then on sign-ins are refused (`core/accounts/single_sign_on.py`), also half-finished ones, because every sign-in is
checked again at its end. Here the existing sessions end: of the organization's members and end users with an address of
the domain, on the platform or in the organization's context, except by the connection itself. The owner of the
organization and platform owners are exempt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.sessions import sessions

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def of_domain(uow: UnitOfWork, organization_id: UUID, connection_id: UUID, domain: str) -> int:
    """End the sessions of addresses of a domain that did not begin by a connection; return how many.

    The route is locked; sign-ins of such addresses wait for it.
    """
    ended = list(uow.sessions.revoke_not_by_connection(organization_id, connection_id, domain=domain))
    # A statement of its own: it finds the children that began while the one above waited for their parents.
    ended += uow.sessions.revoke_not_by_connection(organization_id, connection_id, domain=domain)
    sessions.record_ended_of(uow, ended, organization_id, reason="sso_enforced")
    return len(ended)


def of_connection(uow: UnitOfWork, organization_id: UUID, connection_id: UUID) -> int:
    """Do what `of_domain` does, for every route that enforces a connection which is switched on again."""
    return sum(
        of_domain(uow, organization_id, connection_id, claim.proof.domain)
        for claim in uow.domain_routes.enforced_to(organization_id, connection_id)
    )
