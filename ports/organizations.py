"""What the core asks of the stored organizations, their members and their services."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.memberships import Membership
from core.organizations import Organization
from core.services import Service


class Organizations(Protocol):
    """Organizations."""

    def by_slug(self, slug: str) -> Organization | None:
        """Find an organization."""
        ...


class Memberships(Protocol):
    """Who manages which organization."""

    def of_user(self, organization_id: UUID, user_id: UUID) -> Membership | None:
        """Find a person's membership in an organization."""
        ...

    def organizations_of(self, user_id: UUID | None) -> Sequence[UUID]:
        """List the organizations that a person is a member of; nobody is of none."""
        ...


class Services(Protocol):
    """The applications of organizations, and who signs in with them."""

    def by_slug(self, organization_id: UUID, slug: str) -> Service | None:
        """Find a service of an organization."""
        ...

    def link_user(self, service: Service, user_id: UUID, *, at: datetime) -> None:
        """Remember that a person signed in with a service: the first time, and the last."""
        ...
