"""What a key of an organization has made, and what of it ends when the key is deleted.

API keys of services, SCIM tokens and setup links keep the id of the key that made them, also for customers of the
organization. Setup links act within the capabilities of the key, and end with it. The others stay, so that keys can be
replaced, unless the person who deletes the key ends them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.events.actions import AuditAction
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.parts import ROWS_AT_ONCE_MAX

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The reason in the log for what ends with the key.
REASON: Final = "organization_key_deleted"
# The page that deletes a key shows so many and counts the others.
SHOWN_MAX: Final = 50


class MadeByKeyKind(StrEnum):
    """A kind of thing that a key makes, and that calls Gatehouse by itself."""

    API_KEY = "api_key"
    SCIM_TOKEN = "scim_token"  # noqa: S105 - a kind of token
    SETUP_LINK = "setup_link"


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeByKey:
    """Something that a key has made; the name of a setup link is its parts.

    `service_slug` is the service of an API key, of a link for SAML, or of the customer that `customer_id` names.
    """

    kind: MadeByKeyKind
    id: UUID
    name: str
    service_slug: str | None
    customer_id: UUID | None
    made_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeByKeyPage:
    """A page of what a key has made, the newest first, and the total number."""

    things: Sequence[MadeByKey]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedWithKey:
    """Something that ends with the key that made it, and the details by which an audit entry names it.

    What was made for a customer is in the customer's internal organization.
    """

    kind: MadeByKeyKind
    id: UUID
    organization_id: UUID
    customer_id: UUID | None
    recorded: dict[str, Any]


_ENDED: Final = {
    MadeByKeyKind.API_KEY: AuditAction.API_KEY_DELETED,
    MadeByKeyKind.SCIM_TOKEN: AuditAction.SCIM_TOKEN_REVOKED,
    MadeByKeyKind.SETUP_LINK: AuditAction.ORGANIZATION_UPDATED,
}


def end(uow: UnitOfWork, organization_id: UUID, key_id: UUID) -> None:
    """End the API keys and SCIM tokens of a key, in parts; the organization is locked, so it makes none meanwhile."""
    while ended := uow.made_by_keys.end(organization_id, key_id, limit=ROWS_AT_ONCE_MAX):
        record_ended(uow, organization_id, ended)


def record_ended(uow: UnitOfWork, organization_id: UUID, ended: Sequence[EndedWithKey]) -> None:
    """Record what has ended with the key that made it."""
    for one in ended:
        if one.customer_id is not None:
            _record_at_customer(uow, one, one.customer_id)
            continue
        target_id = one.id if one.kind is MadeByKeyKind.API_KEY else organization_id
        uow.record(_ENDED[one.kind], target_id, organization_id=organization_id, **one.recorded, reason=REASON)


def _record_at_customer(uow: UnitOfWork, ended: EndedWithKey, customer_id: UUID) -> None:
    uow.audit_at_customer(
        _ENDED[ended.kind], customer_id, ended.organization_id, is_of_vendor=True, **ended.recorded, reason=REASON
    )
    if ended.kind is MadeByKeyKind.SCIM_TOKEN:
        uow.tell_vendor(
            EventType.CUSTOMER_DIRECTORY_CHANGED,
            ended.organization_id,
            scim_token_id=str(ended.id),
            state="removed",
        )
