"""Whether a service that is closed to strangers admits its user without a customer, and for which customer else.

Every sign-in asks it, also the child of a browser session. Requests with the tokens of a service are judged by the rows
that each of them reads (`core/sessions/callers.py`, ops/decisions/0098-who-may-sign-in-to-a-service.md).

Where its user can be asked on a page, this module also says for which customer a session goes on to a service. The user
is asked where there are several, and once for each customer for which they have not signed in before: the answer
confirms a membership that another person has made.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

from core.errors import Forbidden, Refusal
from core.lazy_dataclasses import dataclass
from core.services.services import Admission
from core.sessions.caller_limits import Confinement
from core.sign_in import customer_choices
from core.sign_in.customer_choices import (
    AS_INDIVIDUAL,
    CustomerStanding,
    ForCustomer,
    NotOpen,
    Undecided,
)
from core.sign_in.reasons import SignInReason

if TYPE_CHECKING:
    from core.sign_in.customer_choices import CustomersOfUser
    from core.sign_in.places import Place


class ServiceNotOpenToUser(Forbidden):
    """The service is for members of its organization, or for those that it assigns; one text for every reason."""

    default_message = (
        "You may not use this application with this account. Ask an administrator of the organization for access."
    )


def refusal_of(place: Place, *, confirms: bool = False) -> Refusal | None:
    """Refuse a user that a service does not admit; one who `confirms` their membership counts as a member.

    Access that a key has given counts only for a user who is no member: when a member signs in, the link becomes one of
    the membership.
    """
    if place.is_open or (place.is_given and not place.is_member):
        return None
    if not place.has_access or not (place.is_confirmed or confirms):
        return ServiceNotOpenToUser().because(SignInReason.NOT_MEMBER)
    if place.service is not None and place.service.access is Admission.ASSIGNED and not place.is_assigned:
        return ServiceNotOpenToUser().because(SignInReason.NOT_ASSIGNED)
    return None


class AddedBy(StrEnum):
    """What has made a membership to which its user has not consented yet."""

    DIRECTORY = "directory"
    ORGANIZATION = "organization"


def added_by(place: Place) -> AddedBy | None:
    """Return what has added the user to the organization, so that a service's page asks; None where it does not."""
    if not place.is_unconfirmed:
        return None
    return AddedBy.DIRECTORY if place.is_by_directory else AddedBy.ORGANIZATION


def must_confirm(place: Place, *, confirms: bool, can_be_asked: bool) -> bool:
    """Return whether a user has to confirm their membership before they sign in without a customer.

    A service that is open to everyone still admits a user who cannot be asked, as one who is no member yet.
    """
    return place.is_unconfirmed and not confirms and (can_be_asked or refusal_of(place) is not None)


def customers_of(place: Place, *, confirms: bool = False) -> CustomersOfUser | None:
    """Return the customers of a service that are open to a user, and whether it admits the user without one.

    A user who `confirms` the membership counts as the vendor's, at a service that admits only its own people.
    """
    if place.customers is None:
        return None
    is_confirming = confirms and place.is_unconfirmed and not place.is_open
    return replace(
        place.customers,
        is_admitted=refusal_of(place, confirms=confirms) is None,
        is_of_vendor=place.customers.is_of_vendor or is_confirming,
    )


@dataclass(frozen=True, slots=True)
class Settled:
    """The user signs in for this customer; None stands for a user who signs in as an individual."""

    standing: CustomerStanding | None

    @property
    def customer(self) -> str:
        """The text that names it: its id, empty for an individual."""
        return str(self.standing.id) if self.standing is not None else AS_INDIVIDUAL


@dataclass(frozen=True, slots=True)
class SignInAgain:
    """The session does not go there, and its user signs in for it."""


Settlement = Settled | Undecided | NotOpen | SignInAgain


def settle_customer(
    place: Place,
    named: str | None,
    limits: Confinement | None,
    *,
    is_answered: bool = False,
    must_ask: bool = False,
    must_confirm: bool = False,
) -> Settlement:
    """Return for which customer a session with these limits goes on to a service, or what comes before that.

    `is_answered`: the user was asked, and has named the customer. With `must_ask` the user chooses anew, and with
    `must_confirm` they are asked even for a customer for which they have signed in before.
    """
    # A user who is asked confirms their membership of the service's organization by the answer.
    customers = customers_of(place, confirms=True)
    choice = customer_choices.choose(
        place.service, customers, named, limits, on_page=True, must_ask=must_ask and not is_answered
    )
    match choice:
        case NotOpen():
            without_limits = customer_choices.choose(place.service, customers, named, None, on_page=True)
            return choice if isinstance(without_limits, NotOpen) else SignInAgain()
        case Undecided():
            return choice
        case ForCustomer():
            customer = choice.customer
            if is_answered or (customer.is_known and not must_confirm):
                return Settled(customer)
            return Undecided(customers=[customer], may_come_alone=False)
        case _:
            return Settled(None)
