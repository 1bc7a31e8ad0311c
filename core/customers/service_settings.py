"""Settings of a service for its customers in the console: who may use it, and its roles.

The rules are in `core/services/services.py`. The roles are a list of the service's record: programs replace it as
a whole, the console changes one role at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from core.errors import BadRequest, NotFound
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations.access import Operation
from core.services import management, service_access
from core.services.client_records import Outside
from core.services.services import CustomerPolicy, Individuals, Service, ServiceRole

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class ServiceRoleUnknown(NotFound):
    """The service has no role with this name."""

    default_message = "This service has no role with this name."


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleUses:
    """What names a role: each number is exact up to `COUNTED_MAX`, and one more than that beyond.

    `assignments` are the customers', `own_assignments` the vendor's own, and `people` have the role from the vendor's
    program.
    """

    assignments: int
    own_assignments: int
    people: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRemoval:
    """A role, and what ends with it."""

    role: ServiceRole
    uses: RoleUses


def read(uow: UnitOfWork, slug: str, service_slug: str) -> Service:
    """Return a service to those who manage its customers."""
    return service_access.authorize(uow, slug, service_slug, Operation.CUSTOMERS_READ).service


def set_policy(
    uow: UnitOfWork,
    slug: str,
    service_slug: str,
    customers: CustomerPolicy,
    individuals: Individuals,
    *,
    outside: Outside,
    seen: str,
) -> Service:
    """Set which organizations may use a service, and who may without a customer; that counts only if it has customers.

    Raise `CustomersRemain`, and `ServiceChanged` when the service is no longer as the caller saw it.
    """
    of_individuals = {"individuals": individuals} if customers is not CustomerPolicy.NONE else {}
    changes = {"customers": customers, **of_individuals}
    return management.change(uow, slug, service_slug, changes, outside=outside, seen=seen)


def show_role(uow: UnitOfWork, slug: str, service_slug: str, name: str) -> ServiceRole:
    """Return a role of a service; raise `ServiceRoleUnknown`."""
    return _found(read(uow, slug, service_slug), name)


def add_role(uow: UnitOfWork, slug: str, service_slug: str, role: ServiceRole, *, outside: Outside) -> Service:
    """Add a role to a service; raise `BadRequest` for one that it has already, and for one that no service can have."""
    before = service_access.authorize_and_lock(uow, slug, service_slug, Operation.SERVICE_UPDATE).service
    if role.name in {one.name for one in before.roles}:
        raise BadRequest.of_field("roles", "This service has a role with this name already. Choose another name.")
    return _save(uow, before, slug, [*before.roles, role], outside)


def change_role(uow: UnitOfWork, slug: str, service_slug: str, role: ServiceRole, *, outside: Outside) -> Service:
    """Change the title, the description and the scopes of the role with this name; raise `ServiceRoleUnknown`.

    Programs know a role by its name, so with another name it would be another role.
    """
    before = service_access.authorize_and_lock(uow, slug, service_slug, Operation.SERVICE_UPDATE).service
    found = _found(before, role.name)
    changed = replace(found, title=role.title, description=role.description, scopes=role.scopes)
    return _save(uow, before, slug, [changed if one == found else one for one in before.roles], outside)


def show_removal(uow: UnitOfWork, slug: str, service_slug: str, name: str) -> RoleRemoval:
    """Return what ends with a role of a service; raise `ServiceRoleUnknown`."""
    service = service_access.authorize(uow, slug, service_slug, Operation.SERVICE_UPDATE).service
    role = _found(service, name)
    return RoleRemoval(role=role, uses=uow.service_role_uses.count(service, role.name, counted_max=COUNTED_MAX + 1))


def remove_role(uow: UnitOfWork, slug: str, service_slug: str, name: str, *, outside: Outside) -> Service:
    """Remove a role with all that names it; raise `ServiceRoleUnknown`.

    A later role of the same name inherits nothing.
    """
    before = service_access.authorize_and_lock(uow, slug, service_slug, Operation.SERVICE_UPDATE).service
    found = _found(before, name)
    return _save(uow, before, slug, [one for one in before.roles if one != found], outside)


def _found(service: Service, name: str) -> ServiceRole:
    role = next((one for one in service.roles if one.name == name), None)
    if role is None:
        raise ServiceRoleUnknown
    return role


def _save(uow: UnitOfWork, before: Service, slug: str, roles: Sequence[ServiceRole], outside: Outside) -> Service:
    return management.change(uow, slug, before.slug, {"roles": list(roles)}, outside=outside)
