"""Storage of the people, roles and groups that an organization assigns to its own services."""

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from core.services.assignments import Assignment
from core.services.services import Service


class ServiceAssignments(Protocol):
    """The assignments of services. A transaction that changes them has locked the organization and the service."""

    def of_service(self, service: Service) -> list[Assignment]:
        """Return the assignments in their order, except those that named roles none of which the service still has."""
        ...

    def save(self, service: Service, assigned: Sequence[Assignment]) -> None:
        """Store the assignments in this order, with the ids of the roles that they name."""
        ...

    def unknown_subjects(
        self, organization_id: UUID, *, roles: Sequence[str], group_ids: Sequence[UUID], user_ids: Sequence[UUID]
    ) -> Sequence[str]:
        """Return which of these custom roles, groups and active members an organization does not have."""
        ...

    def names(
        self, organization_id: UUID, *, group_ids: Sequence[UUID], user_ids: Sequence[UUID]
    ) -> Mapping[UUID, str]:
        """Return the names of groups of an organization and the addresses of its members, by their ids."""
        ...
