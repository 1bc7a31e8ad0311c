"""Who may sign in to a service without a customer: everyone, members of its organization, or assigned members.

An organization closes a service of its own to strangers by `access`, and gives its members roles of the service by
assignments, whatever `access` says (ops/decisions/0098). An end user that a key has linked may always sign in.
`core/sign_in/admission.py` judges a sign-in, and every request judges its session again by the present rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, Operation
from core.organizations.authorization import OrganizationAccess
from core.services import assignments, service_access
from core.services.assignments import Assignable, Assignment, NamedAssignment
from core.services.services import Admission, Service

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignedService:
    """A service with its assignments; None for a reader who may not see the members."""

    service: Service
    assignments: list[Assignment] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionDetail:
    """The assignments of a service, with names, and the possible ones; None for a reader who sees no members."""

    assignments: Sequence[NamedAssignment] | None = None
    assignable: Assignable | None = None


def read(uow: UnitOfWork, slug: str, service_slug: str) -> AssignedService:
    """Return a service with its assignments."""
    authorized = service_access.authorize(uow, slug, service_slug, Operation.SERVICE_READ)
    service = authorized.service
    return AssignedService(service=service, assignments=shown(uow, authorized, service))


def show(uow: UnitOfWork, slug: str, service_slug: str, *, find: str = "") -> AdmissionDetail:
    """Return the assignments of a service for the console; `find` searches the subjects of a new one."""
    authorized = service_access.authorize(uow, slug, service_slug, Operation.SERVICE_READ)
    assigned = shown(uow, authorized, authorized.service)
    if assigned is None:
        return AdmissionDetail()
    return AdmissionDetail(
        assignments=assignments.named(assigned, assignments.names(uow, authorized, assigned)),
        assignable=assignments.assignable(uow, authorized, find),
    )


def assign(uow: UnitOfWork, slug: str, service_slug: str, subject: str, roles: Sequence[str]) -> None:
    """Assign a service to everyone, to a role, a group or a person, with these roles of the service alone.

    This requires `org.members.view`. Raise `BadRequest` for a subject that the organization does not have.
    """
    _reassign(uow, slug, service_slug, lambda present: assignments.with_one(present, subject, roles))


def unassign(uow: UnitOfWork, slug: str, service_slug: str, subject: str) -> None:
    """Take a service from a subject; without an assignment nothing changes."""
    _reassign(
        uow, slug, service_slug, lambda present: assignments.without(present, assignments.checked_subject(subject))
    )


def shown(uow: UnitOfWork, authorized: OrganizationAccess, service: Service) -> list[Assignment] | None:
    """Return the assignments of a service; None for a caller who may not see the members."""
    is_shown = Capability.ORG_MEMBERS_VIEW in authorized.capabilities
    return uow.service_assignments.of_service(service) if is_shown else None


def begin(
    uow: UnitOfWork, authorized: OrganizationAccess, service: Service, assigned: Sequence[Assignment] | None
) -> None:
    """Store the assignments of a new service, and record who may sign in to it unless everyone may."""
    wanted: Sequence[Assignment] = ()
    if assigned is not None:
        wanted = _assign(uow, authorized, service, [], assigned)
    if wanted or service.access is not Admission.EVERYONE:
        _record(uow, service, [], wanted)


def follow(
    uow: UnitOfWork,
    authorized: OrganizationAccess,
    before: Service,
    after: Service,
    assigned: Sequence[Assignment] | None,
) -> None:
    """Store new assignments of a changed service, unless they are None, and record who may sign in to it now."""
    if assigned is None and after.access is before.access:
        return
    present = uow.service_assignments.of_service(after)
    wanted = _assign(uow, authorized, after, present, assigned) if assigned is not None else present
    if wanted != present or after.access is not before.access:
        _record(uow, after, present, wanted)


def fall_back(
    uow: UnitOfWork, service: Service, present: Sequence[Assignment], kept: Sequence[Assignment], *, reason: str
) -> None:
    """Give a service its earlier assignments back, and record why."""
    uow.service_assignments.save(service, kept)
    _record(uow, service, present, kept, reason=reason)


def _reassign(
    uow: UnitOfWork, slug: str, service_slug: str, changed: Callable[[Sequence[Assignment]], Sequence[Assignment]]
) -> None:
    """Change the present assignments of a service; the organization is locked, so that nothing else does meanwhile."""
    authorized = service_access.authorize_and_lock(uow, slug, service_slug, Operation.SERVICE_UPDATE)
    service = authorized.service
    follow(uow, authorized, service, service, changed(uow.service_assignments.of_service(service)))


def _assign(
    uow: UnitOfWork,
    authorized: OrganizationAccess,
    service: Service,
    present: Sequence[Assignment],
    assigned: Sequence[Assignment],
) -> Sequence[Assignment]:
    """Store assignments and return their stored form; raise `BadRequest` for invalid ones."""
    authorized.require(Capability.ORG_MEMBERS_VIEW)
    wanted = assignments.added_up(assigned)
    if wanted == present:
        return present
    assignments.require_known(uow, service.organization_id, service, wanted, before=present)
    if not assignments.are_within(wanted, present):
        authorized.forbid_lasting()
    uow.service_assignments.save(service, wanted)
    return wanted


def _record(
    uow: UnitOfWork, service: Service, before: Sequence[Assignment], after: Sequence[Assignment], **details: Any
) -> None:
    uow.record(
        AuditAction.SERVICE_ACCESS_CHANGED,
        service.id,
        organization_id=service.organization_id,
        event_only={"service_id": str(service.id)},
        **service.named,
        access=service.access,
        added=[asdict(one) for one in after if one not in before],
        removed=[asdict(one) for one in before if one not in after],
        **details,
    )
