"""What a vendor has made for its customers with the power of a takeover: links and tokens end, connections are off.

It is in the internal organizations of the customers, where `takeover_credentials.py` takes it back as anywhere. The
logs of vendor and customer record it, because no person reads the log of an internal organization.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from core.events.actions import AuditAction
from core.organizations import takeover_credentials
from core.organizations.takeovers import REASON, Acting, MadeThing, SetUpCustomer
from core.parts import ROWS_AT_ONCE_MAX

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def switch_off(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Take back what these have made for customers; return it as things of the vendors."""
    return [made for part in _parts(uow, acting) for made in _switch_off(uow, part)]


def _parts(uow: UnitOfWork, acting: Sequence[Acting]) -> Iterable[Sequence[SetUpCustomer]]:
    after = None
    while part := uow.takeover_credentials.set_up_customers(acting, after=after, limit=ROWS_AT_ONCE_MAX):
        yield part
        after = part[-1].internal_id


def _switch_off(uow: UnitOfWork, customers: Sequence[SetUpCustomer]) -> Iterable[MadeThing]:
    acting = [Acting(organization_id=one.internal_id, user_id=one.user_id, since=one.since) for one in customers]
    found = [
        *takeover_credentials.withdraw_setup_links(uow, acting),
        *takeover_credentials.withdraw_scim_tokens(uow, acting),
        *takeover_credentials.switch_connections_off(uow, acting),
    ]
    by_internal = {one.internal_id: one for one in customers}
    for internal_id in sorted({one.organization_id for one in found}):
        _tell(uow, by_internal[internal_id])
    return [replace(one, organization_id=by_internal[one.organization_id].vendor_id) for one in found]


def _tell(uow: UnitOfWork, customer: SetUpCustomer) -> None:
    relation = uow.service_customers.relation_of(customer.internal_id)
    if relation is None:
        # The customer has ended and can be restored; then it comes back with its things switched off.
        return
    uow.record(
        AuditAction.CUSTOMER_CHANGED,
        customer.customer_id,
        organization_id=customer.vendor_id,
        **relation.seen_by_vendor,
        setup_withdrawn=True,
        reason=REASON,
    )
    assert relation.customer_organization_id is not None, "a customer that has not ended has no organization"
    uow.audit_elsewhere(
        AuditAction.CUSTOMER_CHANGED,
        customer.customer_id,
        organization_id=relation.customer_organization_id,
        **relation.seen_by_customer,
        by="vendor",
        setup_withdrawn=True,
        reason=REASON,
    )
