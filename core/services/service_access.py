"""Access to one service: by the caller's role in the organization, or by a grant on the service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from core.lazy_dataclasses import dataclass
from core.organizations import authorization, relations
from core.organizations.access import Capability, Operation, RequiredStanding
from core.organizations.authorization import OrganizationAccess
from core.organizations.link_callers import SetupLinkDead
from core.organizations.relations import RelationObject, ServiceRelation
from core.services.services import Service, ServiceUnknown
from core.tables import PartialTable

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The grant that allows an operation on its service, by the capability that the operation requires.
GRANT_FOR: Final[PartialTable[Capability | RequiredStanding, ServiceRelation]] = PartialTable(
    {
        Capability.SERVICES_MANAGE: ServiceRelation.MANAGER,
        Capability.SERVICES_VIEW: ServiceRelation.VIEWER,
    }
)

# The capabilities of a member for a service that a role or a grant lets them manage.
OF_MANAGERS: Final = frozenset({Capability.SERVICES_VIEW, Capability.SERVICES_MANAGE})


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAccess(OrganizationAccess):
    """The caller's authorized access to a service; `capabilities` come from their role, not from a grant."""

    service: Service


def authorize(uow: UnitOfWork, slug: str, service_slug: str, operation: Operation) -> ServiceAccess:
    """Authorize the caller for an operation on a service; raise `ServiceUnknown` after all other refusals.

    A setup link is for one service; raise `SetupLinkDead` for another.
    """

    def is_granted(member: OrganizationAccess) -> bool:
        relation = GRANT_FOR.get(operation.takes)
        granted = uow.services.by_slug(member.organization.id, service_slug) if relation is not None else None
        if granted is None or relation is None:
            return False
        object_ = RelationObject(organization_id=granted.organization_id, service_id=granted.id)
        return relations.check(uow, object_, relation, member.caller.account.id)

    authorized = authorization.authorize(uow, slug, operation, is_granted=is_granted)
    service = uow.services.by_slug(authorized.organization.id, service_slug)
    if service is None:
        raise ServiceUnknown
    link = authorized.caller.limits.link
    if link is not None and link.service_id != service.id:
        raise SetupLinkDead
    return ServiceAccess(
        caller=authorized.caller,
        organization=authorized.organization,
        membership=authorized.membership,
        capabilities=authorized.capabilities,
        service=service,
    )


def authorize_reader(uow: UnitOfWork, slug: str, service_slug: str, operation: Operation) -> Service:
    """Return a service to a caller who may do this, or to platform owners and support, for reading."""
    context = uow.access_context(slug)
    caller, organization = context.caller, context.organization
    # A key has only the rights that its maker has as a member.
    is_helper = context.narrowed is None and (caller.acts_as_platform_owner or caller.acts_as_platform_support)
    if organization is None or not is_helper:
        return authorize(uow, slug, service_slug, operation).service
    service = uow.services.by_slug(organization.id, service_slug)
    if service is None:
        raise ServiceUnknown
    return service


def authorize_and_lock(uow: UnitOfWork, slug: str, service_slug: str, operation: Operation) -> ServiceAccess:
    """Lock the organization, so that neither permissions nor its services change meanwhile, and authorize."""
    uow.organizations.lock(authorize(uow, slug, service_slug, operation).organization.id)
    # Again, because the transaction that held the lock before may have removed the caller or the service.
    return authorize(uow, slug, service_slug, operation)
