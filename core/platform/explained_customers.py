"""The facts that explain a sign-in for a customer of a service: the customer record, and the user's relation to it.

Each side sees its half. The vendor sees people who have signed in for the customer and, where the customer shares its
directory, people who may; never memberships, groups, assignments or rules there. The customer sees its own members, and
nothing of the vendor's members or of other customers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Final
from uuid import UUID

from core.customers.relations import CustomerSide, CustomerState
from core.lazy_dataclasses import dataclass
from core.sessions.mfa_methods import MfaMethods
from core.sign_in.places import Place
from core.sign_in.rules import Rule

# Hidden from the vendor: the customer's own requirements.
_OF_CUSTOMER: Final = frozenset({Rule.SINGLE_SIGN_ON, Rule.REQUIRED_SECOND_FACTOR})
# Hidden from the customer: the user's relation to the vendor, and the vendor's settings of its service.
_OF_VENDOR: Final = frozenset({Rule.ADDRESS_OWNED, Rule.NOT_SUSPENDED, Rule.SECURITY_PROFILE, Rule.ACCESS})


class CustomerMembership(StrEnum):
    """The relation of a user to the organization that is the customer."""

    NONE = "none"
    UNCONFIRMED = "unconfirmed"
    CONFIRMED = "confirmed"
    SUSPENDED = "suspended"
    # No member: something that the vendor has made admits the user.
    ADMITTED = "admitted"


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerOfUser:
    """A customer of a service, active or paused, and the relation of a user to it.

    `is_assigned` says that the customer's settings of who may use the service include the user, and `is_admitted` that
    the user is no member of it, but admitted by something that the vendor has made.
    """

    id: UUID
    organization_id: UUID
    slug: str
    name: str
    is_paused_by_vendor: bool
    is_paused_by_customer: bool
    shares_directory: bool
    has_signed_in: bool
    is_member: bool
    is_admitted: bool
    is_confirmed: bool
    is_suspended: bool
    is_assigned: bool

    @property
    def membership(self) -> CustomerMembership:
        """The relation of the user to the organization."""
        if not self.is_member:
            return CustomerMembership.NONE
        if self.is_suspended:
            return CustomerMembership.SUSPENDED
        if self.is_admitted:
            return CustomerMembership.ADMITTED
        return CustomerMembership.CONFIRMED if self.is_confirmed else CustomerMembership.UNCONFIRMED

    @property
    def shows_user(self) -> bool:
        """Whether the vendor may know that the user belongs to the customer.

        Visits count only while the membership is confirmed, else they may be another person's with the same address.
        """
        may_use = not self.is_suspended and self.is_assigned
        if self.is_admitted:
            return True
        return self.is_confirmed and (self.has_signed_in or (self.shares_directory and may_use))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedCustomer:
    """The customer of an explained sign-in; `membership` and `is_assigned` are None for the vendor."""

    id: UUID
    slug: str
    name: str
    state: CustomerState
    paused_by: Sequence[CustomerSide]
    has_signed_in: bool
    membership: CustomerMembership | None
    is_assigned: bool | None

    @classmethod
    def of(cls, customer: CustomerOfUser, side: CustomerSide | None) -> ExplainedCustomer:
        """Return what one side may see of a customer, or the platform for None."""
        pauses = {
            CustomerSide.VENDOR: customer.is_paused_by_vendor,
            CustomerSide.CUSTOMER: customer.is_paused_by_customer,
        }
        paused_by = [one for one, is_paused in pauses.items() if is_paused]
        is_vendor = side is CustomerSide.VENDOR
        return cls(
            id=customer.id,
            slug=customer.slug,
            name=customer.name,
            state=CustomerState.PAUSED if paused_by else CustomerState.ACTIVE,
            paused_by=paused_by,
            has_signed_in=customer.has_signed_in,
            membership=None if is_vendor else customer.membership,
            is_assigned=None if is_vendor else customer.is_assigned,
        )


def hidden_from(side: CustomerSide, customer: CustomerOfUser | None) -> frozenset[Rule]:
    """Return the rules that are hidden from one side.

    Without a customer, the vendor may also not know for which one a user would come, or whether they belong to one.
    """
    if side is CustomerSide.CUSTOMER:
        return _OF_VENDOR
    return _OF_CUSTOMER if customer is not None else frozenset({Rule.CUSTOMER})


def place_for(side: CustomerSide, place: Place, customer: CustomerOfUser | None) -> Place:
    """Return a place as one side may see it: for the vendor with this customer alone, or with none."""
    if place.customers is None:
        return place
    standings = [one for one in place.customers.standings if customer is not None and one.id == customer.id]
    if side is CustomerSide.CUSTOMER:
        return replace(
            place, is_member=False, is_suspended=False, customers=replace(place.customers, standings=standings)
        )
    if customer is None:
        return replace(place, customers=None)
    shown = [
        # What the customer requires, and whether the user has confirmed the membership, is the customer's.
        replace(one, is_confirmed=True, requires_mfa=False, mfa_methods=MfaMethods.ANY, connection_id=None)
        for one in standings
    ]
    return replace(place, customers=replace(place.customers, standings=shown))
