"""What the core asks of the stored custom roles."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.organizations.roles import Role


class Roles(Protocol):
    """The roles that organizations made. Whoever changes them, or gives one away, has locked the organization."""

    def of_organization(self, organization_id: UUID) -> Sequence[Role]:
        """List the roles of an organization by their slugs."""
        ...

    def by_slug(self, organization_id: UUID, slug: str) -> Role | None:
        """Find a role of an organization."""
        ...

    def add(self, organization_id: UUID, role: Role) -> None:
        """Store a new role."""
        ...

    def save(self, organization_id: UUID, role: Role) -> None:
        """Store the new state of a role; its slug stays what it is."""
        ...

    def is_in_use(self, organization_id: UUID, slug: str) -> bool:
        """Say whether a member has the role, or somebody is invited to it."""
        ...

    def remove(self, organization_id: UUID, slug: str) -> None:
        """Delete a role."""
        ...
