"""What happens between a vendor and a customer, as the logs of both organizations record it.

Each side's log names its own people alone: for an act of the other side it has no actor, no address and no key, and
says which side acted. The vendor's log has the name of a customer only after it has accepted, and the log of the
organization to which an offer was made has nothing of the offer.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.audit.audit_log import IMPERSONATION_SESSION, IMPERSONATOR
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from core.sessions.sessions import Session
    from ports.unit_of_work import UnitOfWork


class CustomerState(StrEnum):
    """Whether an organization only has the offer of a service, uses it, or may not use it for the time being."""

    OFFERED = "offered"
    ACTIVE = "active"
    PAUSED = "paused"


class CustomerSide(StrEnum):
    """Which of the two organizations has done something."""

    VENDOR = "vendor"
    CUSTOMER = "customer"


class RelationChange(Enum):
    """What happens between the two, as the vendor's log and the customer's log name it."""

    ACCEPTED = (AuditAction.CUSTOMER_ACCEPTED, AuditAction.PRODUCT_ACCESS_ACCEPTED)
    DECLINED = (AuditAction.CUSTOMER_DECLINED, AuditAction.PRODUCT_ACCESS_DECLINED)
    PAUSED = (AuditAction.CUSTOMER_PAUSED, AuditAction.PRODUCT_ACCESS_PAUSED)
    RESUMED = (AuditAction.CUSTOMER_RESUMED, AuditAction.PRODUCT_ACCESS_RESUMED)
    ENDED = (AuditAction.CUSTOMER_ENDED, AuditAction.PRODUCT_ACCESS_ENDED)

    @property
    def of_vendor(self) -> AuditAction:
        """The action in the vendor's log."""
        return self.value[0]

    @property
    def of_customer(self) -> AuditAction:
        """The action in the customer's log."""
        return self.value[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A customer or an offer, with what the logs name of the two organizations and the service.

    `customer_organization_id` and `customer_name` are None for an offer when the vendor acts.
    """

    customer_id: UUID
    vendor_id: UUID
    vendor_slug: str
    vendor_name: str
    service_slug: str
    service_name: str
    client_id: UUID
    external_id: str | None
    customer_organization_id: UUID | None
    customer_slug: str
    customer_name: str | None

    @property
    def seen_by_vendor(self) -> dict[str, Any]:
        """What the vendor's log has of it."""
        named = {"organization_name": self.customer_name} if self.customer_name is not None else {}
        return {
            "customer_id": str(self.customer_id),
            "client_id": str(self.client_id),
            "service_slug": self.service_slug,
            "external_id": self.external_id,
            "organization_slug": self.customer_slug,
            **named,
        }

    @property
    def seen_by_customer(self) -> dict[str, Any]:
        """What the customer's log has of it."""
        return {
            "customer_id": str(self.customer_id),
            "client_id": str(self.client_id),
            "service_name": self.service_name,
            "vendor_slug": self.vendor_slug,
            "vendor_name": self.vendor_name,
        }

    def record_end(self, uow: UnitOfWork, organization_id: UUID, *, reason: str | None = None) -> None:
        """Record that this organization, the vendor or the customer, has ended it; `reason` is for its own log."""
        why = {"reason": reason} if reason is not None else {}
        if organization_id == self.vendor_id:
            record_by_vendor(uow, self, RelationChange.ENDED, **why)
        else:
            record_by_customer(uow, self, RelationChange.ENDED, organization_id=organization_id, **why)


def renamed(relation: Relation, *, slug: str, name: str) -> Relation:
    """Return a relation to a customer whose organization has another slug and name now."""
    return replace(relation, customer_slug=slug, customer_name=name)


def state_of(*, is_accepted: bool, is_paused: bool) -> CustomerState:
    """Return the state of a customer, which either side may have paused."""
    if not is_accepted:
        return CustomerState.OFFERED
    return CustomerState.PAUSED if is_paused else CustomerState.ACTIVE


def record_by_vendor(uow: UnitOfWork, relation: Relation, change: RelationChange, **own: Any) -> None:
    """Record what the caller has done for the vendor; also in the log of the customer, if the relation names it.

    `own` has details for the vendor alone.
    """
    uow.record(
        change.of_vendor,
        relation.customer_id,
        organization_id=relation.vendor_id,
        by=CustomerSide.VENDOR,
        **relation.seen_by_vendor,
        **own,
    )
    if relation.customer_organization_id is not None:
        uow.record_elsewhere(
            change.of_customer,
            relation.customer_id,
            organization_id=relation.customer_organization_id,
            by=CustomerSide.VENDOR,
            **relation.seen_by_customer,
        )


def record_impersonation(uow: UnitOfWork, relation: Relation, user_id: UUID, session: Session) -> None:
    """Record in both logs that the platform impersonates a person for a customer; events do not say who does it."""
    assert relation.customer_organization_id is not None, "a person has come in for an offer"
    for organization_id, seen in (
        (relation.vendor_id, relation.seen_by_vendor),
        (relation.customer_organization_id, relation.seen_by_customer),
    ):
        uow.record_elsewhere(
            AuditAction.USER_IMPERSONATED,
            user_id,
            organization_id=organization_id,
            audit_only={IMPERSONATOR: str(session.impersonator_id)},
            user_id=str(user_id),
            **{IMPERSONATION_SESSION: str(session.id)},
            expires_at=session.expires_at.isoformat(),
            **seen,
        )


def record_by_customer(
    uow: UnitOfWork, relation: Relation, change: RelationChange, *, organization_id: UUID, **own: Any
) -> None:
    """Record what the caller has done for an organization to which a service is offered, or that uses it.

    `own` has details for the organization alone.
    """
    uow.record(
        change.of_customer,
        relation.customer_id,
        organization_id=organization_id,
        by=CustomerSide.CUSTOMER,
        **relation.seen_by_customer,
        **own,
    )
    uow.record_elsewhere(
        change.of_vendor,
        relation.customer_id,
        organization_id=relation.vendor_id,
        by=CustomerSide.CUSTOMER,
        **relation.seen_by_vendor,
    )
