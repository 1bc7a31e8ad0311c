"""Service grants: a member may manage or view one service, beyond what their role allows (decisions 5.5).

A member has at most one grant on a service, and it ends with the membership. `relations.py` defines how grants and
roles combine.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - the reference is generated from the fields of `ServiceGrant`
from typing import TYPE_CHECKING
from uuid import UUID  # noqa: TC003 - likewise

from core.errors import NotFound
from core.events.actions import AuditAction
from core.organizations import access
from core.organizations.access import Operation
from core.organizations.members import MemberUnknown
from core.organizations.relations import ServiceRelation  # noqa: TC001 - likewise
from core.services.services import ServiceUnknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.organizations.access import OrganizationAccess
    from core.services.services import Service
    from ports.unit_of_work import UnitOfWork


class GrantUnknown(NotFound):
    """The member has no grant on the service."""

    default_message = "This member has no grant on the service."


@dataclass(frozen=True, slots=True, kw_only=True)
class Grantee:
    """The member who has a grant."""

    id: UUID
    email: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceGrant:
    """A member's grant on a service, with the user who granted it and when."""

    user: Grantee
    relation: ServiceRelation
    granted_by: UUID | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantsPage:
    """A page of grants on a service, and their total number."""

    grants: Sequence[ServiceGrant]
    total: int


def list_page(uow: UnitOfWork, slug: str, service_slug: str, *, page: int, limit: int) -> GrantsPage:
    """List the grants on a service, the oldest first."""
    authorized = access.authorize(uow, slug, Operation.SERVICE_GRANTS_CHANGE)
    found = uow.service_grants.page(authorized.organization.id, service_slug, limit=limit, offset=(page - 1) * limit)
    if found is None:
        raise ServiceUnknown
    return found


def grant(uow: UnitOfWork, slug: str, service_slug: str, user_id: UUID, relation: ServiceRelation) -> ServiceGrant:
    """Make a member a manager or viewer of a service; this replaces their previous grant."""
    authorized = access.authorize_and_lock(uow, slug, Operation.SERVICE_GRANTS_CHANGE)
    service = _service(uow, authorized, service_slug)
    member = uow.members.find(authorized.organization.id, user_id)
    if member is None:
        raise MemberUnknown
    before = uow.service_grants.find(service, user_id)
    if before is not None and before.relation is relation:
        return before
    granted = ServiceGrant(
        user=Grantee(id=user_id, email=member.email),
        relation=relation,
        granted_by=authorized.caller.user_id,
        created_at=uow.now,
    )
    if not uow.service_grants.put(service, granted):
        raise ServiceUnknown
    _record(uow, service, user_id, "access_granted", relation=relation)
    return granted


def revoke(uow: UnitOfWork, slug: str, service_slug: str, user_id: UUID) -> None:
    """Revoke a member's grant on a service; what their role allows stays."""
    authorized = access.authorize(uow, slug, Operation.SERVICE_GRANTS_CHANGE)
    service = _service(uow, authorized, service_slug)
    relation = uow.service_grants.remove(service, user_id)
    if relation is None:
        raise GrantUnknown
    _record(uow, service, user_id, "access_revoked", relation=relation)


def _service(uow: UnitOfWork, authorized: OrganizationAccess, slug: str) -> Service:
    service = uow.services.by_slug(authorized.organization.id, slug)
    if service is None:
        raise ServiceUnknown
    return service


def _record(uow: UnitOfWork, service: Service, user_id: UUID, change: str, *, relation: ServiceRelation) -> None:
    """Record a grant as a change to its service: operations 6.3 has no action of its own for grants."""
    uow.record(
        AuditAction.SERVICE_UPDATED,
        service.id,
        organization_id=service.organization_id,
        event_only={"service_id": str(service.id)},
        service_slug=service.slug,
        change=change,
        user_id=str(user_id),
        relation=relation,
    )
