"""Where a sign-in leads: the organization and the service that it names, and what they are to the user.

All of it is read at once, after the account was locked (`core/sign_in/arrivals.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import Forbidden, NotFound, OrganizationNotActive
from core.organizations.access import MembershipSuspended
from core.sessions.security_profiles import OtherWayRefused
from core.sign_in.reasons import SignInReason

if TYPE_CHECKING:
    from uuid import UUID

    from core.errors import Refusal
    from core.organizations.organizations import Organization
    from core.services.services import Service
    from core.sign_in.proofs import Destination
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The organization and the service of a sign-in; None for one that is not named, or that does not exist."""

    organization: Organization | None = None
    service: Service | None = None
    is_member: bool = False
    # Whether the directory of the organization has deactivated the membership.
    is_suspended: bool = False

    @property
    def organization_id(self) -> UUID | None:
        """The organization of the session to begin."""
        return self.organization.id if self.organization is not None else None

    @property
    def service_id(self) -> UUID | None:
        """The service of the session to begin."""
        return self.service.id if self.service is not None else None

    @property
    def has_access(self) -> bool:
        """Whether the user has a membership that is not suspended."""
        return self.is_member and not self.is_suspended

    def require_open(self, destination: Destination) -> None:
        """Refuse a place that is not open to the user, in the order of decisions 1.6; any user may use a service."""
        if destination.organization_slug is None:
            return
        if self.organization is None:
            raise _unknown()
        if destination.service_slug is None and not self.has_access:
            raise Forbidden("You are not a member of this organization.").because(SignInReason.NOT_A_MEMBER)
        if not self.organization.is_active:
            raise OrganizationNotActive().because(SignInReason.ORGANIZATION_NOT_ACTIVE)
        if destination.service_slug is None:
            return
        if self.service is None:
            raise NotFound("This organization has no such service.").because(SignInReason.UNKNOWN_SERVICE)
        if self.is_suspended:
            # A suspended member may not use the organization's services either.
            raise MembershipSuspended().because(SignInReason.SUSPENDED)
        if self.service.security_profile is not None and not destination.is_pushed:
            raise OtherWayRefused().because(SignInReason.OTHER_WAY)


def require_known(uow: UnitOfWork, slug: str | None) -> Organization | None:
    """Return the organization that a sign-in names, None when it names none; raise `NotFound` for an unknown one."""
    if slug is None:
        return None
    organization = uow.organizations.by_slug(slug)
    if organization is None:
        raise _unknown()
    return organization


def _unknown() -> Refusal:
    return NotFound("There is no such organization.").because(SignInReason.UNKNOWN_ORGANIZATION)
