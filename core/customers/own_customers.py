"""The customers of a service that a user has signed in for, so that its pages can offer to switch (decisions 15.8).

The token of the service shows those that are still open to its user. A session by the connection of an organization
shows that organization alone (decisions 10.8).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.sessions import callers

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# More than anybody works for; the latest come first.
SHOWN_MAX: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCustomer:
    """A customer of a service for which a user has signed in, and when they last did; its id is that of the record."""

    id: UUID
    organization_id: UUID
    internal_id: UUID | None
    slug: str
    name: str
    last_sign_in_at: datetime


def list_mine(uow: UnitOfWork) -> Sequence[OwnCustomer]:
    """List the customers of the service of the session that are open to the caller, who has signed in for them.

    The latest come first. A session of no service has none.
    """
    caller = callers.require_caller(uow)
    if caller.place.service_id is None:
        return []
    assert caller.place.organization_id is not None, "a session of a service names no organization"
    vendor_id, service_id, limits = caller.place.organization_id, caller.place.service_id, caller.limits.confinement
    found = uow.own_customers.of_user(vendor_id, service_id, caller.account.id, limit=SHOWN_MAX)
    return [
        one
        for one in found
        if limits is None or limits.allows_customer({one.organization_id, one.internal_id}, vendor_id, service_id)
    ]
