"""A customer of a service as the console shows it to the vendor: its users, its owner, what is made for it and fails.

What the vendor has made, thing by thing, is in `connections.py`, `mail_domains.py`, `scim_tokens.py`, `group_rules.py`
and `setup_links.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING
from uuid import UUID

from core.customers import customers, found_customers, refused_sign_ins, setup_callers, setup_progress
from core.customers.claiming import NamedOwner
from core.customers.found_customers import CustomerInNumbers
from core.customers.refused_sign_ins import RefusedSignIn
from core.customers.setup_progress import SetupProgress
from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, Operation
from core.organizations.link_callers import Part
from core.services import access
from core.sessions.months import month_of

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerInDetail:
    """A customer or an open offer in numbers, with what the vendor has made and what fails.

    `refused` are the latest refused sign-ins; None where the reader may not see the people of customers. `owner` is
    the person that the vendor last asked to own it, None for an offer or if it asked no person. `parts` are the parts
    that the vendor may set up, and `active_people` is how many have used the service for it in this month.
    """

    numbers: CustomerInNumbers
    refused: Sequence[RefusedSignIn] | None
    progress: SetupProgress
    owner: NamedOwner | None
    parts: Sequence[Part]
    active_people: int
    month: date


def show(uow: UnitOfWork, slug: str, service_slug: str, customer_id: UUID) -> CustomerInDetail:
    """Return a customer or open offer in detail; raise `CustomerUnknown`."""
    authorized = access.authorize(uow, slug, service_slug, Operation.CUSTOMERS_READ)
    service = authorized.service
    customer = customers.find(uow, service, customer_id)
    month = month_of(uow.now)
    progress = setup_progress.of_customers(uow, service, [customer])[customer.id]
    refused = setup_progress.refused_call(uow, customer)
    sees_people = Capability.END_USERS_VIEW in authorized.capabilities
    return CustomerInDetail(
        numbers=found_customers.in_numbers(uow, service, customer),
        refused=refused_sign_ins.told(uow, service, customer) if sees_people else None,
        progress=replace(progress, troubles=[refused, *progress.troubles]) if refused is not None else progress,
        owner=uow.customer_claims.named(service, customer.id) if customer.is_accepted else None,
        parts=setup_callers.open_parts(customer),
        active_people=uow.customer_usage.of_customer(service, customer.id, month),
        month=month,
    )
