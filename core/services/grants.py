"""Service grants: a member may manage or view one service, beyond what their role allows.

A member has at most one grant on a service, and it ends with the membership. `core/organizations/relations.py` defines
how grants and roles combine.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.email_addresses import part_of_email
from core.errors import Conflict, NotFound
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations.access import Capability, Operation
from core.organizations.authorization import OrganizationAccess, authorize, authorize_and_lock
from core.organizations.found_members import ListedMember
from core.organizations.members import MemberUnknown
from core.organizations.organizations import MembershipStatus
from core.organizations.relations import ServiceRelation
from core.positions import FoundRows, Position, found_rows
from core.services.services import Service, ServiceUnknown

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# A search for a member to grant access to shows so many.
CANDIDATES_MAX: Final = 10


class GrantUnknown(NotFound):
    """The member has no grant on the service."""

    default_message = "This member has no grant on the service."


class GrantChanged(Conflict):
    """The grant is not as the caller has seen it."""

    default_message = "Another person has changed the access of this member meanwhile. Here is how it is now."


@dataclass(frozen=True, slots=True, kw_only=True)
class Grantee:
    """The member who has a grant."""

    id: UUID
    email: str
    status: MembershipStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceGrant:
    """A member's grant on a service, with the user who granted it and when."""

    user: Grantee
    relation: ServiceRelation
    granted_by: UUID | None
    created_at: datetime

    @property
    def position(self) -> Position:
        """The place of the grant in the list."""
        return Position(at=self.created_at, id=self.user.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicePeople:
    """Who looks after a service, and how many people use it.

    `candidates` are the found members who may get access; None when the caller may not see the members, or searches for
    none. `end_users` is None when the caller may not see them.
    """

    service: Service
    grants: FoundRows[ServiceGrant]
    candidates: Sequence[ListedMember] | None
    end_users: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberAccess:
    """A member and their grant on a service; `relation` is None without one."""

    service: Service
    user_id: UUID
    email: str
    role: str
    relation: ServiceRelation | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantsPage:
    """A page of grants on a service, and their total number."""

    grants: Sequence[ServiceGrant]
    total: int


def list_page(uow: UnitOfWork, slug: str, service_slug: str, *, page: int, limit: int) -> GrantsPage:
    """List the grants on a service, the oldest first."""
    authorized = authorize(uow, slug, Operation.SERVICE_GRANTS_CHANGE)
    found = uow.elsewhere.service_grants.page(
        authorized.organization.id, service_slug, limit=limit, offset=(page - 1) * limit
    )
    if found is None:
        raise ServiceUnknown
    return found


def show_people(
    uow: UnitOfWork, slug: str, service_slug: str, *, search: str, find: str, after: Position | None, limit: int
) -> ServicePeople:
    """Return the grants on a service by a part of the address, the oldest first; raise `ServiceUnknown`.

    `find` is a part of the address of the members who may be granted access; empty for none.
    """
    authorized = authorize(uow, slug, Operation.SERVICE_GRANTS_CHANGE)
    service = _service(uow, authorized, service_slug)
    part, wanted = (part_of_email(one, uow.domain_names.to_ascii) for one in (search, find))
    found = uow.elsewhere.service_grants.found(service, part=part, after=after, limit=limit + 1)
    count = partial(uow.elsewhere.service_grants.count_found, service, part=part)
    return ServicePeople(
        service=service,
        grants=found_rows(found, after=after, limit=limit, count=count),
        candidates=uow.elsewhere.found_members.page(
            authorized.organization.id, part=wanted, role="", after=None, limit=CANDIDATES_MAX
        )
        if wanted and Capability.ORG_MEMBERS_VIEW in authorized.capabilities
        else None,
        end_users=uow.elsewhere.found_end_users.count(
            authorized.organization.id, part="", service=service.slug, counted_max=COUNTED_MAX + 1
        )
        if Capability.END_USERS_VIEW in authorized.capabilities
        else None,
    )


def show_access(uow: UnitOfWork, slug: str, service_slug: str, user_id: UUID) -> MemberAccess:
    """Return a member with their grant on a service; raise `ServiceUnknown`, then `MemberUnknown`."""
    authorized = authorize(uow, slug, Operation.SERVICE_GRANTS_CHANGE)
    service = _service(uow, authorized, service_slug)
    member = uow.found_members.find(authorized.organization.id, user_id)
    if member is None:
        raise MemberUnknown
    present = uow.service_grants.find(service, user_id)
    return MemberAccess(
        service=service,
        user_id=user_id,
        email=member.email,
        role=member.role,
        relation=present.relation if present is not None else None,
    )


def grant(
    uow: UnitOfWork,
    slug: str,
    service_slug: str,
    user_id: UUID,
    relation: ServiceRelation,
    *,
    seen_relation: str | None = None,
) -> ServiceGrant:
    """Make a member a manager or viewer of a service; this replaces their previous grant.

    `seen_relation` is the relation that the caller has seen, empty for none; raise `GrantChanged` for another.
    """
    authorized = authorize_and_lock(uow, slug, Operation.SERVICE_GRANTS_CHANGE)
    service = _service(uow, authorized, service_slug)
    member = uow.members.find(authorized.organization.id, user_id)
    if member is None:
        raise MemberUnknown
    before = uow.service_grants.find(service, user_id)
    if seen_relation not in {None, before.relation.value if before is not None else ""}:
        raise GrantChanged
    if before is not None and before.relation is relation:
        return before
    if before is None or relation is ServiceRelation.MANAGER:
        authorized.forbid_lasting()
    granted = ServiceGrant(
        user=Grantee(id=user_id, email=member.email, status=MembershipStatus.of(is_active=member.is_active)),
        relation=relation,
        granted_by=authorized.caller.maker_id,
        created_at=uow.now,
    )
    if not uow.service_grants.put(service, granted):
        raise ServiceUnknown
    replaced = before.relation.value if before is not None else None
    _record(uow, service, user_id, "access_granted", relation=relation, old_relation=replaced)
    return granted


def revoke(uow: UnitOfWork, slug: str, service_slug: str, user_id: UUID, *, seen_relation: str | None = None) -> None:
    """Revoke a member's grant on a service; what their role allows stays.

    Raise `GrantChanged` when its relation is not the one that the caller has seen.
    """
    authorized = authorize(uow, slug, Operation.SERVICE_GRANTS_CHANGE)
    service = _service(uow, authorized, service_slug)
    relation = uow.service_grants.remove(service, user_id)
    if relation is None:
        raise GrantUnknown
    if seen_relation not in {None, relation.value}:
        raise GrantChanged
    _record(uow, service, user_id, "access_revoked", relation=relation)


def _service(uow: UnitOfWork, authorized: OrganizationAccess, slug: str) -> Service:
    service = uow.services.by_slug(authorized.organization.id, slug)
    if service is None:
        raise ServiceUnknown
    return service


def _record(
    uow: UnitOfWork,
    service: Service,
    user_id: UUID,
    change: str,
    *,
    relation: ServiceRelation,
    old_relation: str | None = None,
) -> None:
    """Record a grant as a change to its service: grants have no actions of their own.

    Only the log, not the event, names the replaced relation; undoing a takeover of the account goes back to it.
    """
    uow.record(
        AuditAction.SERVICE_UPDATED,
        service.id,
        organization_id=service.organization_id,
        audit_only={"old_relation": old_relation} if old_relation is not None else None,
        event_only={"service_id": str(service.id)},
        service_slug=service.slug,
        change=change,
        user_id=str(user_id),
        relation=relation,
    )
