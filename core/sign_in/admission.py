"""Whether a service that is closed to strangers lets its user in for no customer (decisions 22.1 to 22.3).

It is asked of every sign-in, also of the child of a browser session. What requests with the tokens of a service are
judged by is in the rows that each of them reads (`core/sessions/callers.py`).
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

from core.errors import Forbidden, Refusal
from core.services.customer_rules import Admission
from core.sign_in.reasons import SignInReason

if TYPE_CHECKING:
    from core.sign_in.customer_choices import CustomersOfUser
    from core.sign_in.places import Place


class NotLetIn(Forbidden):
    """The service is for members of its organization, or for those whom it assigns; one text for every reason."""

    default_message = (
        "You may not use this application with this account. Ask an administrator of the organization for access."
    )


def refusal_of(place: Place, *, confirms: bool = False) -> Refusal | None:
    """Refuse a user whom a service does not let in; one who `confirms` their membership counts as a member.

    What a key has given counts for who is no member: the sign-in of a member makes the link one of the membership.
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
    """Return what has added the user to the organization, whom the page of a service asks; None where nothing asks."""
    if not place.is_unconfirmed:
        return None
    return AddedBy.DIRECTORY if place.is_by_directory else AddedBy.ORGANIZATION


def must_confirm(place: Place, *, confirms: bool, can_be_asked: bool) -> bool:
    """Return whether a user has to confirm their membership before they come in for no customer (decisions 22.3).

    Who cannot be asked comes in to a service that is open to everyone all the same, as one who is no member yet.
    """
    return place.is_unconfirmed and not confirms and (can_be_asked or refusal_of(place) is not None)


def customers_of(place: Place, *, confirms: bool = False) -> CustomersOfUser | None:
    """Return the customers of a service that are open to a user, with whether it lets them in for none.

    Who `confirms` the membership counts as one of the vendor, at a service that lets in none but its people.
    """
    if place.customers is None:
        return None
    is_confirming = confirms and place.is_unconfirmed and not place.is_open
    return replace(
        place.customers,
        is_admitted=refusal_of(place, confirms=confirms) is None,
        is_of_vendor=place.customers.is_of_vendor or is_confirming,
    )
