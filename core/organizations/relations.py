"""Relations: every access that somebody has is a tuple `object#relation@subject`, and checks are decided from these.

The tuples are a view over memberships and service grants, not a second copy of them (decisions 5.5). What the tuples
mean is here: a role in an organization is a relation to it, and implies relations to its services by what it allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from core.organizations.access import Capability, capabilities_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from ports.unit_of_work import UnitOfWork


class ServiceRelation(StrEnum):
    """What somebody can be to one service."""

    MANAGER = "manager"
    VIEWER = "viewer"


# What a grant on the service itself includes.
_INCLUDES: Final = {
    ServiceRelation.MANAGER: frozenset({ServiceRelation.MANAGER, ServiceRelation.VIEWER}),
    ServiceRelation.VIEWER: frozenset({ServiceRelation.VIEWER}),
}
# What a role in the organization makes somebody to each of its services.
_IMPLIED_BY: Final = {
    Capability.SERVICES_MANAGE: frozenset({ServiceRelation.MANAGER, ServiceRelation.VIEWER}),
    Capability.SERVICES_VIEW: frozenset({ServiceRelation.VIEWER}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Object:
    """What a relation is to: an organization, or one of its services."""

    organization_id: UUID
    service_id: UUID | None = None

    @property
    def organization(self) -> Object:
        """The organization that it belongs to, or that it is."""
        return Object(organization_id=self.organization_id)

    def __str__(self) -> str:
        """Write it as the tuples do."""
        if self.service_id is None:
            return f"organization:{self.organization_id}"
        return f"service:{self.service_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A tuple as stored, with what its relation allows where that is a custom role."""

    object: str
    relation: str
    subject: str
    custom_permissions: list[str] | None

    def __str__(self) -> str:
        """Write it as one text."""
        return f"{self.object}#{self.relation}@{self.subject}"


def check(uow: UnitOfWork, object_: Object, relation: str, user_id: UUID) -> bool:
    """Say whether somebody has a relation to an object, by a tuple or by what one implies; in one statement.

    To an organization a relation is a role or a capability, to a service one of `ServiceRelation`.
    """
    return holds(uow.relations.between(object_, user_id), object_, relation)


def holds(tuples: Sequence[Relation], object_: Object, relation: str) -> bool:
    """Say whether the tuples of one person at an object and its organization make a relation to the object."""
    return any(relation in _made_by(found, object_) for found in tuples)


def _made_by(found: Relation, object_: Object) -> frozenset[str]:
    """List what one tuple makes its subject to the object."""
    if found.object != str(object_.organization):
        return _INCLUDES[ServiceRelation(found.relation)] if found.object == str(object_) else frozenset()
    allowed = capabilities_of(found.relation, found.custom_permissions)
    if object_.service_id is None:
        return frozenset({found.relation, *allowed})
    return frozenset(made for capability in allowed for made in _IMPLIED_BY.get(capability, ()))
