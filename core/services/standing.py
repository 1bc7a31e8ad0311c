"""The reader of a page of a service: their standing in the organization, and what a grant adds to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from core.lazy_dataclasses import dataclass
from core.organizations import relations
from core.organizations import standing as organization_standing
from core.organizations.access import Capability, Operation, RequiredStanding
from core.organizations.relations import RelationObject
from core.organizations.standing import Standing
from core.services import service_access
from core.services.service_access import GRANT_FOR, OF_MANAGERS, ServiceAccess
from core.services.services import Service

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceStanding:
    """The reader of a page of a service; `granted` are the capabilities that a grant gives them for this service."""

    reader: Standing
    service: Service
    granted: frozenset[Capability]

    def lacks(self, operation: Operation) -> Capability | RequiredStanding | None:
        """Return what the reader lacks for an operation on this service; None when they lack nothing."""
        return self._here.lacks(operation)

    def lacks_lasting(self, operation: Operation) -> Capability | RequiredStanding | None:
        """Do what `lacks` does for the part of an operation that would outlast an impersonation."""
        return self._here.lacks_lasting(operation)

    @property
    def _here(self) -> Standing:
        """The reader with what a grant on this service adds."""
        return replace(self.reader, capabilities=self.reader.capabilities | self.granted)


def read(
    uow: UnitOfWork,
    slug: str,
    service_slug: str,
    operation: Operation,
    use_case: Callable[Concatenate[UnitOfWork, str, str, Arguments], Found],
    /,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> tuple[ServiceStanding, Found]:
    """Authorize the caller for an operation on a service; return their standing and the result of the use case."""
    authorized = service_access.authorize(uow, slug, service_slug, operation)
    reader, found = organization_standing.read_authorized(
        uow, authorized, lambda: use_case(uow, slug, service_slug, *args, **kwargs)
    )
    return ServiceStanding(reader=reader, service=authorized.service, granted=_granted(uow, authorized)), found


def _granted(uow: UnitOfWork, authorized: ServiceAccess) -> frozenset[Capability]:
    """Return what grants on the service allow beyond the role; a role that manages services needs none."""
    if authorized.capabilities >= OF_MANAGERS:
        return frozenset()
    object_ = RelationObject(organization_id=authorized.organization.id, service_id=authorized.service.id)
    tuples = uow.relations.between(object_, authorized.membership.user_id)
    return frozenset(
        capability
        for capability in OF_MANAGERS
        if (relation := GRANT_FOR.get(capability)) is not None and relations.holds(tuples, object_, relation)
    )
