"""Whether a service that is closed to strangers admits its user without a customer.

Every sign-in asks it, also the child of a browser session. Requests with the tokens of a service are judged by the rows
that each of them reads (`core/sessions/callers.py`, ops/decisions/0098-who-may-sign-in-to-a-service.md).
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

from core.errors import Forbidden, Refusal
from core.services.services import Admission
from core.sign_in.reasons import SignInReason

if TYPE_CHECKING:
    from core.sign_in.customer_choices import CustomersOfUser
    from core.sign_in.places import Place


class NotLetIn(Forbidden):
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
        return NotLetIn().because(SignInReason.NOT_MEMBER)
    if place.service is not None and place.service.access is Admission.ASSIGNED and not place.is_assigned:
        return NotLetIn().because(SignInReason.NOT_ASSIGNED)
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
