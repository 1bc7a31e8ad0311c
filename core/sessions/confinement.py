"""What a session is limited to that began with the word of another party, or without a required sign-in."""

from __future__ import annotations

from uuid import UUID

from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """The organization beyond which a session signs in to nothing, and possibly the one service of it (decisions 10.8).

    `role` is set while nothing but the word of a connection says whose session it is: then that role and `member` are
    all that it opens (decisions 10.6).

    Such a session began with the word of another party: an identity provider of the organization, or an account that a
    service may have linked. Or it lacks the sign-in that another organization requires of its user (decisions 13.6).
    """

    organization_id: UUID
    service_id: UUID | None = None
    connection_id: UUID | None = None
    role: str | None = None

    def opens_role(self, role: str | None) -> bool:
        """Return whether its sessions act with a role that their user has in the organization."""
        return self.role is None or role in {None, "member", self.role}

    def allows(self, organization_id: UUID | None, service_id: UUID | None) -> bool:
        """Return whether its sessions may sign in there; in a browser they are on the platform, without any context."""
        if organization_id is None:
            return True
        return organization_id == self.organization_id and self.service_id in {None, service_id}

    def covers(self, own: Confinement | None, organization_id: UUID | None, service_id: UUID | None) -> bool:
        """Return whether a session with limits of its own opens nothing beyond these: it is confined, or a service's.

        A session that has only selected the organization can go on to another one.
        """
        if own is not None and self.allows(own.organization_id, own.service_id):
            return True
        return service_id is not None and self.allows(organization_id, service_id)
