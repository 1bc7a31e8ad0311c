"""The state of a customer of a service."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from core.customers.customers import ServiceCustomer
from core.customers.relation_log import CustomerState

CUSTOMER = ServiceCustomer(
    id=UUID(int=1),
    organization_id=UUID(int=2),
    slug="beta",
    name="Beta",
    external_id=None,
    metadata={},
    is_accepted=True,
    is_paused_by_vendor=False,
    is_paused_by_customer=False,
    shares_directory=False,
    is_unclaimed=False,
    has_internal=False,
    last_sign_in_at=None,
    created_at=datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC),
)


def test_a_customer_is_paused_while_either_side_has_paused_it() -> None:
    assert CUSTOMER.state is CustomerState.ACTIVE
    assert replace(CUSTOMER, is_paused_by_vendor=True).state is CustomerState.PAUSED
    assert replace(CUSTOMER, is_paused_by_customer=True).state is CustomerState.PAUSED
    assert replace(CUSTOMER, is_accepted=False).state is CustomerState.OFFERED
