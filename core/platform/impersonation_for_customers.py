"""Impersonating a user for a customer of a service: the choice of the customer, and the notices.

The logs of the vendor and of the customer each get an entry with the id of the platform owner, and the customer's owner
gets a mail, which does not name them. It confirms nothing: the user has signed in for the customer before, and does not
sign in now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from core.customers import customers, relations
from core.errors import BadRequest
from core.mail import mail
from core.mail.mail import MailTemplate
from core.sign_in import customer_choices
from core.sign_in.customer_choices import AS_INDIVIDUAL, CustomerStanding, ForCustomer, NotOpen

if TYPE_CHECKING:
    from core.accounts.users import User
    from core.sessions.sessions import Session
    from core.sign_in.places import Place
    from ports.unit_of_work import UnitOfWork

_MINUTE: Final = "%Y-%m-%d %H:%M UTC"
_CLOSED: Final = "This user has never signed in to this service for such a customer, or it is not open to them now."
_DUE: Final = (
    "This user does not use this service without a customer. Name the customer for which you act as this user, by its"
    " id or slug."
)


def chosen(place: Place, named: str | None) -> CustomerStanding | None:
    """Return the customer for which a session of this user acts at a service, None to act without one.

    Raise `BadRequest` for a customer for which the user cannot sign in or never has, and if a required one is missing.
    """
    name = named or AS_INDIVIDUAL
    choice = customer_choices.choose(place.service, place.customers, name, None, must_know=True)
    if not name:
        if isinstance(choice, NotOpen):
            raise _refusal(_DUE)
        return None
    if not isinstance(choice, ForCustomer) or place.is_suspended:
        raise _refusal(_CLOSED)
    return choice.customer


def refusal_of(place: Place) -> BadRequest:
    """Return the refusal of a session whose context is not open to its user."""
    return _refusal(_DUE if place.customer is None else _CLOSED)


def tell(uow: UnitOfWork, place: Place, customer: CustomerStanding, user: User, session: Session) -> None:
    """Record an impersonation for a customer in both logs, and mail it to the customer's owner."""
    assert place.organization is not None, "a customer was chosen without its vendor"
    assert place.service is not None, "a customer was chosen without its service"
    found = uow.service_customers.find(place.service, customer.id, at=uow.now)
    assert found is not None, "a session was begun for a customer that there is not"
    relation = customers.relation(place.organization, place.service, found)
    relations.record_impersonation(uow, relation, user.id, session)
    owner = uow.mail_servers.owner_contact(customer.organization_id)
    mail.send(
        uow,
        owner.email,
        MailTemplate.CUSTOMER_IMPERSONATION_STARTED,
        person=user.email,
        service=relation.service_name,
        vendor=relation.vendor_name,
        organization=owner.organization_name,
        slug=customer.slug,
        at=uow.now.strftime(_MINUTE),
        until=session.expires_at.strftime(_MINUTE),
    )


def _refusal(text: str) -> BadRequest:
    return BadRequest.of_field("customer", text)
