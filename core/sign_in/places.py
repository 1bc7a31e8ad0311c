"""Where a sign-in leads: the organization and the service that it names, and what they are to the user.

All of it is read at once, after the account was locked (`core/sign_in/fact_reading.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from core.errors import Forbidden, NotFound, OrganizationNotActive, Refusal
from core.lazy_dataclasses import dataclass
from core.organizations.authorization import MembershipSuspended
from core.organizations.organizations import Organization
from core.secrets import hash_token
from core.services.services import Admission
from core.sessions.security_profiles import OtherWayRefused
from core.sign_in.customer_choices import CustomersOfUser, CustomerStanding
from core.sign_in.proofs import Destination, Target
from core.sign_in.reasons import SignInReason

if TYPE_CHECKING:
    from core.deferred import Deferred
    from core.services.services import Service
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The organization and the service of a sign-in; None for one that is not named, or that does not exist."""

    organization: Organization | None = None
    service: Service | None = None
    is_member: bool = False
    # Whether the directory of the organization has deactivated the membership.
    is_suspended: bool = False
    # Whether the user has consented to the membership; the directory may have added a user who has not.
    is_confirmed: bool = False
    is_by_directory: bool = False
    is_owner: bool = False
    # At a service that is closed to strangers: whether an assignment fits the member, and a key has given them access.
    is_assigned: bool = False
    is_given: bool = False
    # Whether the user has never signed in to the service.
    is_first_visit: bool = False
    # The customers of the service that are open to the user; None for a service without customers.
    customers: CustomersOfUser | None = None
    # The customer for which the user signs in.
    customer: CustomerStanding | None = None

    @property
    def organization_id(self) -> UUID | None:
        """The organization of the session to begin."""
        return self.organization.id if self.organization is not None else None

    @property
    def service_id(self) -> UUID | None:
        """The service of the session to begin."""
        return self.service.id if self.service is not None else None

    @property
    def target(self) -> Target:
        """The organization and the service, by their ids."""
        return Target(
            organization_id=self.organization_id,
            service_id=self.service_id,
            customer_organization_id=self.customer.organization_id if self.customer is not None else None,
        )

    @property
    def has_access(self) -> bool:
        """Whether the user has a membership that is not suspended."""
        return self.is_member and not self.is_suspended

    @property
    def is_open(self) -> bool:
        """Whether the service admits everyone; also where no service is named."""
        return self.service is None or self.service.access is Admission.EVERYONE

    @property
    def is_unconfirmed(self) -> bool:
        """Whether the user has a membership to which they have not consented yet."""
        return self.has_access and not self.is_confirmed

    @property
    def is_known(self) -> bool:
        """Whether the organization is known to the user: by their membership, or because they have been here before.

        A user who does not know it may still have used another of its services.
        """
        return (self.has_access and self.is_confirmed) or (self.service is not None and not self.is_first_visit)

    def unconfirmed(self) -> Place:
        """Return the place for a user whose memberships are unconfirmed again, and who has not chosen a customer."""
        customers = self.customers.unconfirmed() if self.customers is not None else None
        return replace(self, customers=customers, customer=None, is_confirmed=self.is_confirmed and self.is_owner)


# The rules of a place, in the order in which they refuse; any user may use a service. Each returns its refusal, None
# when the place passes.
def refusal_of_unknown(place: Place, destination: Destination) -> Refusal | None:
    """Refuse an organization that is named and does not exist."""
    return unknown() if destination.organization_slug is not None and place.organization is None else None


def refusal_of_stranger(place: Place, destination: Destination) -> Refusal | None:
    """Refuse a user who is not a member, or whose membership is deactivated, where no service is named."""
    if place.organization is None or destination.service_slug is not None or place.has_access:
        return None
    if place.is_suspended:
        return MembershipSuspended().because(SignInReason.SUSPENDED)
    return Forbidden("You are not a member of this organization.").because(SignInReason.NOT_A_MEMBER)


def refusal_of_inactive(place: Place, _destination: Destination) -> Refusal | None:
    """Refuse an organization that is not active."""
    if place.organization is None or place.organization.is_active:
        return None
    return OrganizationNotActive().because(SignInReason.ORGANIZATION_NOT_ACTIVE)


def refusal_of_unknown_service(place: Place, destination: Destination) -> Refusal | None:
    """Refuse a service that is named and does not exist."""
    if place.organization is None or destination.service_slug is None or place.service is not None:
        return None
    return NotFound("This organization has no such service.").because(SignInReason.UNKNOWN_SERVICE)


def refusal_of_suspended(place: Place, _destination: Destination | None = None) -> Refusal | None:
    """Refuse a suspended member, who may not use the organization's services either."""
    if place.service is None or not place.is_suspended:
        return None
    return MembershipSuspended().because(SignInReason.SUSPENDED)


def refusal_of_other_way(place: Place, destination: Destination) -> Refusal | None:
    """Refuse a service with a security profile that has not pushed the request."""
    if place.service is None or place.service.security_profile is None or destination.is_pushed:
        return None
    return OtherWayRefused().because(SignInReason.OTHER_WAY)


def defer_target(uow: UnitOfWork, destination: Destination, place: Deferred[Place]) -> Deferred[Target]:
    """Defer reading where a sign-in finally leads: to its place, or to the request that waits for it.

    A user who authenticates again goes on in the session that there is, with its limits.
    """
    browser = destination.browser
    if destination.organization_slug is not None:
        return lambda: place().target
    if browser is None or destination.target is not None:
        return lambda: destination.target or Target()
    if browser.is_again:
        return lambda: Target.within(browser.present.confinement if browser.present is not None else None)
    return defer_target_of_way(uow, browser.return_id, browser.organization_slug)


def defer_target_of_way(uow: UnitOfWork, return_id: str, organization_slug: str | None) -> Deferred[Target]:
    """Defer reading where a sign-in in a browser leads: to what a return names, else to the organization of a page.

    At a custom domain it is always the organization of the domain.
    """
    at_host = uow.origin.custom_host
    fallback = Target(organization_id=at_host.organization_id if at_host is not None else None)
    if not return_id and organization_slug is None:
        return lambda: fallback
    found = uow.sign_in_places.defer_target(hash_token(return_id) if return_id else None, organization_slug)
    return lambda: found() or fallback


def target_of_way(uow: UnitOfWork, return_id: str, organization_slug: str | None) -> Target:
    """Return what `defer_target_of_way` reads."""
    return defer_target_of_way(uow, return_id, organization_slug)()


def target_of(uow: UnitOfWork, user_id: UUID, organization_slug: str | None, service_slug: str | None) -> Target:
    """Return where a sign-in leads that names an organization and a service, without what does not exist."""
    return uow.sign_in_places.defer(user_id, organization_slug, service_slug)().target


def defer_is_known(uow: UnitOfWork, slug: str | None) -> Deferred[bool]:
    """Defer reading whether the organization that a sign-in names exists, if it names one."""
    if slug is None:
        return lambda: True
    found = uow.organizations.defer_by_slug(slug)
    return lambda: found() is not None


def require_known(uow: UnitOfWork, slug: str | None) -> Organization | None:
    """Return the organization that a sign-in names, None when it names none; raise `NotFound` for an unknown one."""
    return defer_known(uow, slug)()


def defer_known(uow: UnitOfWork, slug: str | None) -> Deferred[Organization | None]:
    """Defer `require_known`."""
    if slug is None:
        return lambda: None
    found = uow.organizations.defer_by_slug(slug)

    def known() -> Organization:
        organization = found()
        if organization is None:
            raise unknown()
        return organization

    return known


def unknown() -> Refusal:
    """Return the refusal of an organization that does not exist."""
    return NotFound("There is no such organization.").because(SignInReason.UNKNOWN_ORGANIZATION)
