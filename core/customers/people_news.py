"""What vendors are told of the people of their customers, as events: who was added, has changed or was removed.

A vendor is told of everybody whom it sees (`people.py`, decisions 15.7 and 15.8): who has signed in for a customer, and
who may where the customer shares its directory. Triggers note whom and what may have changed, because foreign keys end
things too, and one change may concern many; it is compared in batches with what the vendor was told. A batch is divided
among the organizations that have made changes, so that one that provisions many delays no other. When a customer ends,
its vendor is told that alone.
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

# Whom a batch looks at, at most, in whatever relations.
BATCH_PEOPLE_MAX: Final = 200


class PersonChange(Enum):
    """What has become of a person of a customer."""

    ADDED = AuditAction.CUSTOMER_USER_ADDED
    CHANGED = AuditAction.CUSTOMER_USER_CHANGED
    REMOVED = AuditAction.CUSTOMER_USER_REMOVED


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonNews:
    """What a vendor is told of a person of a customer; of one who was removed neither address nor name."""

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
class NewsBatch:
    """What has changed of a batch of people, and the last organization that had its turn; None when all had theirs."""

    news: Sequence[PersonNews]
    last_turn: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Whether more may wait, and the organization whose turn was the last one."""

    has_more: bool
    last_turn: UUID | None


def tell(uow: UnitOfWork, people_max: int, last_turn: UUID | None = None) -> Told:
    """Tell vendors what noted changes have changed, of the organizations after that one first.

    There is no more when nothing waits, and while another transaction tells it.
    """
    batch = uow.people_news.check(people_max, last_turn=last_turn)
    if batch is None:
        return Told(has_more=False, last_turn=last_turn)
    for change in PersonChange:
        if news := [_told(one) for one in batch.news if one.change is change]:
            uow.record_each_elsewhere(change.value, news)
    return Told(has_more=True, last_turn=batch.last_turn)


def _told(news: PersonNews) -> tuple[UUID, UUID, Mapping[str, Any], Mapping[str, Any]]:
    details: dict[str, Any] = {
        "customer_id": str(news.customer_id),
        "external_id": news.external_id,
        "client_id": str(news.client_id),
        "service_slug": news.service_slug,
        "user_id": str(news.user_id),
    }
    person: dict[str, Any] = {}
    if news.change is not PersonChange.REMOVED:
        details |= {"service_roles": news.service_roles}
        person = {"email": news.email, "name": news.name}
    return news.vendor_id, news.user_id, details, person
