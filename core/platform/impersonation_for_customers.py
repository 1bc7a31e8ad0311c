"""Acting as a user for a customer of a service: for which one, and who is told of it (decisions 15.7).

The logs of the vendor and of the customer each have an entry, with the id of the platform owner, and the customer's
owner gets a mail, which does not name them. Nothing is confirmed by it: the user has come in for the customer before,
and did not sign in now.
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
    """Return the customer for which a session of this user acts at a service, None for one as an individual.

    Raise `BadRequest` for a customer that the user cannot come in for, or never has, and where one has to be named.
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
    """Return the refusal of a session whose context turned out not to be open to its user."""
    return _refusal(_DUE if place.customer is None else _CLOSED)


def tell(uow: UnitOfWork, place: Place, customer: CustomerStanding, user: User, session: Session) -> None:
    """Record a session that acts as a user for a customer in both logs, and tell the customer's owner by mail."""
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
