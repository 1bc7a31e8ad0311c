"""For which customer a session goes on to a service, where its user can be asked on a page.

The user is asked where there are several, and once for each customer for which they have not signed in before: the
answer confirms a membership that another person has made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.lazy_dataclasses import dataclass
from core.sessions.confinement import Confinement
from core.sign_in import admission, customer_choices
from core.sign_in.customer_choices import (
    AS_INDIVIDUAL,
    CustomerStanding,
    ForCustomer,
    NotOpen,
    Undecided,
)

if TYPE_CHECKING:
    from core.sign_in.places import Place


@dataclass(frozen=True, slots=True)
class Settled:
    """The user signs in for this customer; None stands for a user who signs in as an individual."""

    standing: CustomerStanding | None

    @property
    def customer(self) -> str:
        """The text that names it: its id, empty for an individual."""
        return str(self.standing.id) if self.standing is not None else AS_INDIVIDUAL


@dataclass(frozen=True, slots=True)
class SignInAnew:
    """The session does not go there, and its user signs in for it."""


Settlement = Settled | Undecided | NotOpen | SignInAnew


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
    customers = admission.customers_of(place, confirms=True)
    choice = customer_choices.choose(
        place.service, customers, named, limits, on_page=True, must_ask=must_ask and not is_answered
    )
    match choice:
        case NotOpen():
            without_limits = customer_choices.choose(place.service, customers, named, None, on_page=True)
            return choice if isinstance(without_limits, NotOpen) else SignInAnew()
        case Undecided():
            return choice
        case ForCustomer():
            customer = choice.customer
            if is_answered or (customer.is_known and not must_confirm):
                return Settled(customer)
            return Undecided(customers=[customer], may_come_alone=False)
        case _:
            return Settled(None)
