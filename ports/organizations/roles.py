"""Storage of custom roles."""

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from core.organizations.role_records import RoleHolders
from core.organizations.roles import Role


class Roles(Protocol):
    """Custom roles. A transaction that changes or assigns one has locked the organization."""

    def of_organization(self, organization_id: UUID) -> Sequence[Role]:
        """List the custom roles of an organization, by slug."""
        ...

    def by_slug(self, organization_id: UUID, slug: str) -> Role | None:
        """Return a custom role of an organization; None when there is none with that slug."""
        ...

    def add(self, organization_id: UUID, role: Role) -> None:
        """Store a new role."""
        ...

    def save(self, organization_id: UUID, role: Role) -> None:
        """Store the new state of a role; its slug does not change."""
        ...

    def holders(self, organization_id: UUID, slugs: Sequence[str], *, counted_max: int) -> Mapping[str, RoleHolders]:
        """Count the members and the pending invitations with each of these roles, each up to `counted_max`."""
        ...

    def is_in_use(self, organization_id: UUID, slug: str) -> bool:
        """Return whether a member or a pending invitation has the role."""
        ...

    def remove(self, organization_id: UUID, slug: str) -> None:
        """Delete a role."""
        ...
