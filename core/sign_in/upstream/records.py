"""What the audit log says of connections and domain routes.

Operations 6.3 has no actions of their own for them, so each change is one to the organization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.events.actions import AuditAction

if TYPE_CHECKING:
    from uuid import UUID

    from core.sign_in.upstream.connections import Connection
    from core.sign_in.upstream.domain_routes import RouteClaim
    from ports.unit_of_work import UnitOfWork


def connection_changed(
    uow: UnitOfWork, organization_id: UUID, connection: Connection, what: str, **details: Any
) -> None:
    """Record that a connection was created, changed or deleted."""
    uow.record(
        AuditAction.ORGANIZATION_UPDATED,
        organization_id,
        organization_id=organization_id,
        change=f"upstream_provider.{what}",
        provider_id=str(connection.id),
        provider_name=connection.name,
        **details,
    )


def route_changed(uow: UnitOfWork, claim: RouteClaim, what: str, **details: Any) -> None:
    """Record that a domain route was created, changed, verified or deleted."""
    uow.record(
        AuditAction.ORGANIZATION_UPDATED,
        claim.organization_id,
        organization_id=claim.organization_id,
        change=f"domain_route.{what}",
        domain=claim.proof.domain,
        provider_id=str(claim.connection_id),
        enforced=claim.enforced,
        **details,
    )
