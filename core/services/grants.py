"""Service grants: that a member may manage or see one service, beyond what their role allows (decisions 5.5).

A member has at most one grant on a service, and it ends with the membership. What a grant is worth beside the roles is
decided in `relations.py`; services themselves have a capability of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - the reference is made from the fields of `ServiceGrant`
from typing import TYPE_CHECKING
from uuid import UUID  # noqa: TC003 - likewise

from core.errors import NotFound
from core.events.actions import AuditAction
from core.organizations import access, relations
from core.organizations.access import Capability, Operation
from core.organizations.members import MemberUnknown
from core.organizations.relations import Object, ServiceRelation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.organizations.access import OrganizationAccess
    from core.services.services import Service
    from ports.unit_of_work import UnitOfWork


class ServiceUnknown(NotFound):
    """The organization has no service of that slug."""

    default_message = "This organization has no such service."


class GrantUnknown(NotFound):
    """Nothing was granted to that person on the service."""

    default_message = "This member has no grant on the service."


@dataclass(frozen=True, slots=True, kw_only=True)
class Grantee:
    """Who has a grant."""

    id: UUID
    email: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceGrant:
    """What a member was granted on a service, by whom and when."""

    user: Grantee
    relation: ServiceRelation
    granted_by: UUID | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantsPage:
    """Some grants on a service, and how many there are."""

    grants: Sequence[ServiceGrant]
    total: int


def may_manage_service(uow: UnitOfWork, place: OrganizationAccess, service: Service) -> bool:
    """Say whether the caller's role, or a grant on this service, lets them manage it."""
    return Capability.SERVICES_MANAGE in place.capabilities or _is(uow, place, service, ServiceRelation.MANAGER)


def may_view_service(uow: UnitOfWork, place: OrganizationAccess, service: Service) -> bool:
    """Say whether the caller's role, or a grant on this service, lets them see it."""
    return Capability.SERVICES_VIEW in place.capabilities or _is(uow, place, service, ServiceRelation.VIEWER)


def list_page(uow: UnitOfWork, slug: str, service_slug: str, *, page: int, limit: int) -> GrantsPage:
    """List what was granted on a service, the first first."""
    place = access.authorize(uow, slug, Operation.SERVICE_GRANTS_CHANGE)
    found = uow.service_grants.page(place.organization.id, service_slug, limit=limit, offset=(page - 1) * limit)
    if found is None:
        raise ServiceUnknown
    return found


def grant(uow: UnitOfWork, slug: str, service_slug: str, user_id: UUID, relation: ServiceRelation) -> ServiceGrant:
    """Make a member a manager or viewer of a service, in place of what they were to it."""
    place = access.authorize_and_lock(uow, slug, Operation.SERVICE_GRANTS_CHANGE)
    service = _service(uow, place, service_slug)
    member = uow.members.find(place.organization.id, user_id)
    if member is None:
        raise MemberUnknown
    before = uow.service_grants.find(service, user_id)
    if before is not None and before.relation is relation:
        return before
    granted = ServiceGrant(
        user=Grantee(id=user_id, email=member.email),
        relation=relation,
        granted_by=place.caller.user_id,
        created_at=uow.now,
    )
    if not uow.service_grants.put(service, granted):
        raise ServiceUnknown
    _record(uow, service, user_id, "access_granted", relation=relation)
    return granted


def revoke(uow: UnitOfWork, slug: str, service_slug: str, user_id: UUID) -> None:
    """Take back what was granted to a member on a service; what their role allows stays."""
    place = access.authorize(uow, slug, Operation.SERVICE_GRANTS_CHANGE)
    service = _service(uow, place, service_slug)
    relation = uow.service_grants.remove(service, user_id)
    if relation is None:
        raise GrantUnknown
    _record(uow, service, user_id, "access_revoked", relation=relation)


def _is(uow: UnitOfWork, place: OrganizationAccess, service: Service, relation: ServiceRelation) -> bool:
    object_ = Object(organization_id=place.organization.id, service_id=service.id)
    return relations.check(uow, object_, relation, place.caller.user_id)


def _service(uow: UnitOfWork, place: OrganizationAccess, slug: str) -> Service:
    service = uow.services.by_slug(place.organization.id, slug)
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
