"""The customers that a user has signed in for at a service, so that its pages can offer to switch.

The token of the service shows the customers that are still open to its user. A session by the connection of an
organization shows that organization alone.
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

# More than a person works for; the latest come first.
SHOWN_MAX: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCustomer:
    """A customer for which a user has signed in to a service, and when they last did; the id is the record's."""

    id: UUID
    organization_id: UUID
    internal_id: UUID | None
    slug: str
    name: str
    last_sign_in_at: datetime


def list_mine(uow: UnitOfWork) -> Sequence[OwnCustomer]:
    """List the open customers that the caller has signed in for at the service of the session, the latest first.

    A session without a service has none.
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
