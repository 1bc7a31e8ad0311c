"""Events about the people of customers, for their vendors: who was added, has changed or was removed.

A vendor gets events about the people that it sees (`people.py`): who has signed in for a customer and, where the
customer shares its directory, who may. Triggers note who may have changed, because foreign keys end things too, and one
change may concern many. Batches compare that with the last events. A batch is divided among the organizations that have
made changes, so that one that provisions many delays no other. When a customer ends, its vendor gets that event alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# A batch looks at so many people, over all relations.
BATCH_PEOPLE_MAX: Final = 200


class PersonChange(Enum):
    """What has become of a person of a customer."""

    ADDED = AuditAction.CUSTOMER_USER_ADDED
    CHANGED = AuditAction.CUSTOMER_USER_CHANGED
    REMOVED = AuditAction.CUSTOMER_USER_REMOVED


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonEvent:
    """An event about a person of a customer, for the vendor; without address and name if the person was removed."""

    change: PersonChange
    vendor_id: UUID
    customer_id: UUID
    external_id: str | None
    client_id: UUID
    service_slug: str
    user_id: UUID
    email: str | None
    name: str | None
    service_roles: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonEventBatch:
    """The changes of a batch of people, and the last organization that had its turn; None when all had theirs."""

    events: Sequence[PersonEvent]
    last_turn: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedBatch:
    """Whether more may wait, and the organization that had the last turn."""

    has_more: bool
    last_turn: UUID | None


def publish_batch(uow: UnitOfWork, people_max: int, last_turn: UUID | None = None) -> PublishedBatch:
    """Publish events for a batch of noted changes, beginning with the organizations after `last_turn`.

    There is no more when nothing waits, and while another transaction does this.
    """
    batch = uow.people_events.check(people_max, last_turn=last_turn)
    if batch is None:
        return PublishedBatch(has_more=False, last_turn=last_turn)
    for change in PersonChange:
        if events := [_recorded(one) for one in batch.events if one.change is change]:
            uow.record_each_elsewhere(change.value, events)
    return PublishedBatch(has_more=True, last_turn=batch.last_turn)


def _recorded(event: PersonEvent) -> tuple[UUID, UUID, Mapping[str, Any], Mapping[str, Any]]:
    details: dict[str, Any] = {
        "customer_id": str(event.customer_id),
        "external_id": event.external_id,
        "client_id": str(event.client_id),
        "service_slug": event.service_slug,
        "user_id": str(event.user_id),
    }
    person: dict[str, Any] = {}
    if event.change is not PersonChange.REMOVED:
        details |= {"service_roles": event.service_roles}
        person = {"email": event.email, "name": event.name}
    return event.vendor_id, event.user_id, details, person
