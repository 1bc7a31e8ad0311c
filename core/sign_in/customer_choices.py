"""For which customer a user signs in to a service that many organizations use, or for none.

This is the one place that decides who may sign in for which customer; `entitlement.py` says for which people a
connection speaks. A customer admits its active members, all of them or those that an assignment fits; what is read of a
user (`places.py`) names such customers only, so that an unknown customer, a paused one, and one without that user are
alike. A user whose membership the customer has deactivated reads that; for all others only the logs have the reason.

A membership that another person made, and that its user has not confirmed, decides nothing: it is not taken, and it
changes nothing for a user who signs in as an individual. It counts where it is named, and where the user chooses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from core.errors import ErrorCode, Forbidden, Refusal
from core.ids import id_or_none
from core.lazy_dataclasses import dataclass
from core.organizations.authorization import MembershipSuspended
from core.secrets import Secret
from core.services.services import CustomerPolicy, Individuals
from core.sessions.caller_limits import Confinement
from core.sessions.mfa_methods import MfaMethods
from core.sign_in.reasons import SignInReason

if TYPE_CHECKING:
    from core.services.services import Service

# Named in a request by a user who signs in as an individual.
AS_INDIVIDUAL = ""


class CustomerClosed(Forbidden):
    """The user cannot sign in for the customer that was named; one text for every reason."""

    default_message = (
        "You cannot use this application for that customer. Ask an administrator of your organization for access."
    )


class NoCustomer(Forbidden):
    """The service is for the people of its customers, and the user belongs to none."""

    default_message = (
        "This application is for people of the organizations that use it. Ask an administrator of your organization"
        " for access."
    )


class NoCustomerYet(Forbidden):
    """The service is for the people of its customers, the user belongs to none, and any organization may become one."""

    default_message = (
        "This application is for people of the organizations that use it. Ask an administrator of your organization"
        " for access, or create an organization that uses it."
    )


class CustomerMembershipSuspended(MembershipSuspended):
    """The user has confirmed a membership of a customer, which has deactivated it."""

    default_message = (
        "Your membership in the organization for which you use this application is deactivated. Ask its administrators"
        " to activate it."
    )


class CustomerDue(Forbidden):
    """The user has to choose for which customer they sign in, and this way cannot ask."""

    default_message = "First choose the organization for which you use this application, then try again."


class CustomerRequired(Refusal):
    """Every factor was right, and the user has to choose the customer; the token keeps the sign-in."""

    code = ErrorCode.CUSTOMER_REQUIRED
    default_message = (
        "Choose for which organization you use this application: send its id with the customer_token to"
        " POST /api/auth/customer."
    )

    def __init__(self, undecided: Undecided, token: Secret) -> None:
        super().__init__()
        self.undecided = undecided
        self.token = token


def name_of(text: str) -> UUID | str:
    """Return the name of a customer in a request: its id, else the slug of its organization.

    A text in the form of an id names no slug, or an organization could take the id of another customer as its slug.
    """
    return id_or_none(text) or text


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspendedCustomer:
    """A customer that has deactivated the membership of a user that it would otherwise admit."""

    id: UUID
    organization_id: UUID
    slug: str
    internal_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerStanding:
    """A customer of a service that is open to a user, and what the user is to it.

    `is_confirmed`: the user has confirmed the membership. `is_in_mail_domain`: the customer has proved the mail domain
    of the address. `last_sign_in_at` is the user's last sign-in for this customer; None before the first.
    `connection_id` is the only connection of the customer, if it has exactly one. `is_owned`: the user owns the
    organization. `internal_id` is the internal organization of what the vendor has made for the customer, if anything.
    `is_admitted`: the user is no member of the customer, and only what the vendor has made admits them.
    """

    id: UUID
    organization_id: UUID
    slug: str
    name: str
    is_confirmed: bool
    is_in_mail_domain: bool
    last_sign_in_at: datetime | None
    requires_mfa: bool
    mfa_methods: MfaMethods
    device_trust: timedelta
    connection_id: UUID | None
    is_owned: bool = False
    internal_id: UUID | None = None
    is_admitted: bool = False

    @property
    def admitting_organization_id(self) -> UUID:
        """The organization whose membership or admission admits the user."""
        return self.internal_id if self.is_admitted and self.internal_id is not None else self.organization_id

    @property
    def counts(self) -> bool:
        """Whether it counts where its user names no customer: no stranger has made it."""
        return self.is_confirmed or self.is_in_mail_domain

    @property
    def is_known(self) -> bool:
        """Whether its user has signed in for it before, and has confirmed the membership.

        An address that another person has proved since has its memberships unconfirmed, and may have had visits.
        """
        return self.is_confirmed and self.last_sign_in_at is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomersOfUser:
    """The customers of a service that are open to a user, the last choice first, and what else decides about the user.

    `is_of_customer`: the user belongs to a customer, active or paused. `is_of_vendor`: they are an active member of the
    vendor. `is_vendor_owned`: they own it. `has_come_alone`: they have used the service without a customer. `suspended`
    are the customers that would be open to the user, but for a deactivated membership. `is_admitted` says whether the
    service, which may be closed to strangers, admits them without a customer.
    """

    standings: Sequence[CustomerStanding]
    is_of_customer: bool
    is_of_vendor: bool
    has_come_alone: bool
    suspended: Sequence[SuspendedCustomer] = ()
    is_vendor_owned: bool = False
    is_admitted: bool = True

    def unconfirmed(self) -> CustomersOfUser:
        """Return the customers of a user whose memberships are all unconfirmed but an owner's.

        Without a confirmed membership it is the mail domain that makes the user one of a customer.
        """
        standings = [replace(one, is_confirmed=one.is_confirmed and one.is_owned) for one in self.standings]
        is_by_membership = bool(self.suspended) or any(one.is_confirmed for one in self.standings)
        return replace(
            self,
            standings=standings,
            is_of_customer=any(one.counts for one in standings) if is_by_membership else self.is_of_customer,
            is_of_vendor=self.is_of_vendor and self.is_vendor_owned,
            has_come_alone=False,
            suspended=[],
        )


@dataclass(frozen=True, slots=True)
class AsIndividual:
    """The user signs in as an individual."""


@dataclass(frozen=True, slots=True)
class ForCustomer:
    """The user signs in for this customer."""

    customer: CustomerStanding


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    """The user has to choose among these customers, or to sign in as an individual if that is open to them."""

    customers: Sequence[CustomerStanding]
    may_come_alone: bool

    @property
    def only(self) -> CustomerStanding | None:
        """The customer that the user only has to confirm; None when there is a choice."""
        return self.customers[0] if len(self.customers) == 1 and not self.may_come_alone else None


@dataclass(frozen=True, slots=True)
class NotOpen:
    """The user cannot sign in."""

    refusal: Refusal


Choice = AsIndividual | ForCustomer | Undecided | NotOpen
INDIVIDUALLY = AsIndividual()


def choose(
    service: Service | None,
    found: CustomersOfUser | None,
    named: str | None,
    limits: Confinement | None,
    *,
    on_page: bool = False,
    must_ask: bool = False,
    must_know: bool = False,
) -> Choice:
    """Return for which customer a user signs in to a service; `named` is a customer, `AS_INDIVIDUAL`, or None.

    On a page the user can be asked, and confirms there what is new. Elsewhere a customer is taken only if the user has
    signed in for it before. With `must_ask` the user is shown the customers again, even a single one. With `must_know`
    a named customer is taken only if the user has signed in for it before: another person may have named it.
    """
    if service is None or not service.serves_customers or found is None:
        return INDIVIDUALLY
    open_to_limits = [one for one in found.standings if _allows(limits, one, service)]
    suspended = [one for one in found.suspended if _allows(limits, one, service)]
    may_come_alone = _may_come_alone(service, found) and (
        limits is None or limits.allows(service.organization_id, service.id)
    )
    if named == AS_INDIVIDUAL:
        return INDIVIDUALLY if may_come_alone else NotOpen(_closed(service, suspended))
    if named is not None:
        return _named(open_to_limits, suspended, named, must_know=must_know)
    counting = [one for one in open_to_limits if one.counts]
    offered = open_to_limits if on_page else counting
    if must_ask and offered:
        return Undecided(customers=offered, may_come_alone=may_come_alone)
    has_come_alone = found.has_come_alone and may_come_alone
    if not counting and (has_come_alone or not offered):
        return INDIVIDUALLY if may_come_alone else NotOpen(_closed(service, suspended))
    if len(counting) == 1 and not has_come_alone and _is_taken(counting[0], on_page=on_page):
        return ForCustomer(counting[0])
    return Undecided(customers=offered, may_come_alone=may_come_alone)


def _named(
    standings: Sequence[CustomerStanding], suspended: Sequence[SuspendedCustomer], named: str, *, must_know: bool
) -> Choice:
    for one in standings:
        if _is_called(one, named):
            is_settled = one.is_known or not must_know
            return ForCustomer(one) if is_settled else Undecided(customers=[one], may_come_alone=False)
    is_suspended = any(_is_called(one, named) for one in suspended)
    refusal = CustomerMembershipSuspended() if is_suspended else CustomerClosed()
    return NotOpen(refusal.because(SignInReason.CUSTOMER_CLOSED))


def _is_called(customer: CustomerStanding | SuspendedCustomer, name: str) -> bool:
    """Return whether a request names a customer by this text, its id or the slug of its organization."""
    return name_of(name) in {customer.id, customer.slug}


def _is_taken(customer: CustomerStanding, *, on_page: bool) -> bool:
    return customer.is_confirmed and (on_page or customer.is_known)


def _allows(limits: Confinement | None, customer: CustomerStanding | SuspendedCustomer, service: Service) -> bool:
    return limits is None or limits.allows_customer(
        {customer.organization_id, customer.internal_id}, service.organization_id, service.id
    )


def _may_come_alone(service: Service, found: CustomersOfUser) -> bool:
    """Return whether the user may use the service without a customer."""
    if not found.is_admitted:
        return False
    if service.individuals is Individuals.ALL or found.is_of_vendor:
        return True
    return service.individuals is Individuals.OTHERS and not found.is_of_customer


def _closed(service: Service, suspended: Sequence[SuspendedCustomer]) -> Refusal:
    refusal = NoCustomerYet() if service.customers is CustomerPolicy.ANY else NoCustomer()
    return (CustomerMembershipSuspended() if suspended else refusal).because(SignInReason.NO_CUSTOMER)
