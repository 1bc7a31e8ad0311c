"""The users of a service: lists, assignments, grants, metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from core.organizations.relations import ServiceRelation
from core.positions import Position
from core.services.assignments import Assignment
from core.services.end_users import EndUserDetails, EndUsersPage, ListedEndUser
from core.services.first_sign_ins import FirstSignIn
from core.services.grants import GrantsPage, ServiceGrant
from core.services.services import Service
from core.services.user_metadata import HeldUser, ServiceUser


class EndUsers(Protocol):
    """The users who have signed in to a service of an organization; other users are never returned."""

    def page(
        self, organization_id: UUID, *, part: str, service_id: UUID | None, limit: int, offset: int
    ) -> EndUsersPage:
        """Return the end users whose address contains `part`, of the given service or of any, in one statement."""
        ...

    def find(self, organization_id: UUID, user_id: UUID) -> EndUserDetails | None:
        """Return an end user in detail, in one statement; None when the organization has no such end user."""
        ...

    def email_of(self, organization_id: UUID, user_id: UUID) -> str | None:
        """Return the address of an end user; None when the organization has no such end user."""
        ...


class FoundEndUsers(Protocol):
    """Reads of the users who are linked to a service of an organization; other users are never returned."""

    def page(
        self, organization_id: UUID, *, part: str, service: str, after: Position | None, limit: int
    ) -> Sequence[ListedEndUser]:
        """List end users after a position, the newest accounts first; an empty part or service filters nothing.

        `service` is a slug; one that the organization does not have finds nothing.
        """
        ...

    def newest(self, organization_id: UUID, *, part: str, looked_at_max: int, limit: int) -> Sequence[ListedEndUser]:
        """List the newest end users with a part in their address, among the `looked_at_max` newest links."""
        ...

    def count(self, organization_id: UUID, *, part: str, service: str, counted_max: int) -> int:
        """Count the same end users, up to a maximum."""
        ...

    def find(self, organization_id: UUID, user_id: UUID) -> ListedEndUser | None:
        """Return an end user; None when the organization has no such end user."""
        ...

    def count_sessions(self, organization_id: UUID, user_id: UUID) -> int:
        """Count the live sessions of a user that the organization can end."""
        ...


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


class ServiceGrants(Protocol):
    """Grants of members on services."""

    def page(self, organization_id: UUID, service_slug: str, *, limit: int, offset: int) -> GrantsPage | None:
        """Return the grants on a service, the oldest first, in one statement; None when the service does not exist."""
        ...

    def found(self, service: Service, *, part: str, after: Position | None, limit: int) -> Sequence[ServiceGrant]:
        """Return the grants of members with a part in their address, after a position, the oldest first."""
        ...

    def count_found(self, service: Service, *, part: str, counted_max: int) -> int:
        """Count the same grants, up to a maximum."""
        ...

    def find(self, service: Service, user_id: UUID) -> ServiceGrant | None:
        """Return a member's grant on a service; None when they have none."""
        ...

    def put(self, service: Service, granted: ServiceGrant) -> bool:
        """Store a member's grant, replacing a previous one; False when the service no longer exists."""
        ...

    def remove(self, service: Service, user_id: UUID) -> ServiceRelation | None:
        """Delete a grant and return its relation; None when there is none. Of concurrent calls one gets it."""
        ...


class FirstSignIns(Protocol):
    """The first sign-in to each service that is kept."""

    def find(self, organization_id: UUID, service_id: UUID, *, since: datetime) -> FirstSignIn | None:
        """Return the first sign-in since then, with the address of its user; None when there is none."""
        ...


class ServiceUserMetadata(Protocol):
    """The metadata of users with a link to a service, and of people who have signed in to it for a customer."""

    def find(self, organization_id: UUID, service_id: UUID, known_id: UUID) -> ServiceUser | None:
        """Return the user of a service that its organization knows by this id; None for any other account."""
        ...

    def hold(self, organization_id: UUID, service_id: UUID, known_id: UUID) -> HeldUser | None:
        """Do what `find` does, and keep the account a user of the service until this transaction ends."""
        ...

    def lock(self, organization_id: UUID, service_id: UUID, user_id: UUID) -> Mapping[str, Any]:
        """Return the metadata of a held user, possibly empty, and let no other transaction change them."""
        ...

    def save(self, organization_id: UUID, service_id: UUID, user_id: UUID, metadata: Mapping[str, Any]) -> None:
        """Store the metadata of a locked user."""
        ...
