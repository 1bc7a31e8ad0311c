"""Relations: a user's access is a set of tuples `object#relation@subject`, from which checks are decided.

The tuples are a view over memberships and service grants, not a second copy of them. This module defines their meaning:
a role in an organization is a relation to it, and its capabilities imply relations to services.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, capabilities_of
from core.tables import PartialTable

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class ServiceRelation(StrEnum):
    """A user's relation to a service."""

    MANAGER = "manager"
    VIEWER = "viewer"


# The relations that a grant on the service includes.
_INCLUDES: Final = {
    ServiceRelation.MANAGER: frozenset({ServiceRelation.MANAGER, ServiceRelation.VIEWER}),
    ServiceRelation.VIEWER: frozenset({ServiceRelation.VIEWER}),
}
# The relations to each service that a capability of a role in the organization implies.
_IMPLIED_BY: Final = PartialTable(
    {
        Capability.SERVICES_MANAGE: frozenset({ServiceRelation.MANAGER, ServiceRelation.VIEWER}),
        Capability.SERVICES_VIEW: frozenset({ServiceRelation.VIEWER}),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationObject:
    """The object of a relation: an organization, or one of its services."""

    organization_id: UUID
    service_id: UUID | None = None

    @property
    def organization(self) -> RelationObject:
        """The organization itself, or the one that the service belongs to."""
        return RelationObject(organization_id=self.organization_id)

    def __str__(self) -> str:
        """Return the notation of the tuples."""
        if self.service_id is None:
            return f"organization:{self.organization_id}"
        return f"service:{self.service_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A stored tuple, with the permissions of its relation if the relation is a custom role."""

    object: str
    relation: str
    subject: str
    custom_permissions: list[str] | None

    def __str__(self) -> str:
        """Return the notation `object#relation@subject`."""
        return f"{self.object}#{self.relation}@{self.subject}"


def check(uow: UnitOfWork, object_: RelationObject, relation: str, user_id: UUID) -> bool:
    """Return whether a user has a relation to an object, stored or implied; in one statement.

    A relation to an organization is a role or a capability, a relation to a service is a `ServiceRelation`.
    """
    return holds(uow.relations.between(object_, user_id), object_, relation)


def holds(tuples: Sequence[Relation], object_: RelationObject, relation: str) -> bool:
    """Return whether a user's tuples for an object and its organization include or imply a relation to the object."""
    return any(relation in _relations_of(found, object_) for found in tuples)


def _relations_of(found: Relation, object_: RelationObject) -> frozenset[str]:
    """Return the relations to the object that one tuple includes or implies."""
    if found.object != str(object_.organization):
        return _INCLUDES[ServiceRelation(found.relation)] if found.object == str(object_) else frozenset()
    allowed = capabilities_of(found.relation, found.custom_permissions)
    if object_.service_id is None:
        return frozenset({found.relation, *allowed})
    return frozenset(implied for capability in allowed for implied in _IMPLIED_BY.get(capability, ()))
