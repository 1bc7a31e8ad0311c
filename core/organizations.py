"""Organizations, the customers of the product: what one is, and what its status allows.

How they come to be, change and end is governance; members, invitations and services have capabilities of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

DEVICE_TRUST_DEFAULT: Final = timedelta(days=30)


class OrganizationStatus(StrEnum):
    """Where in its life an organization is (operations 3)."""

    PENDING = "pending"
    ACTIVE = "active"
    SUSPENDED = "suspended"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Organization:
    """The whole record (decisions 5.2)."""

    id: UUID
    slug: str
    name: str
    status: OrganizationStatus
    tier_id: UUID
    max_services: int | None
    max_users: int | None
    mfa_required: bool
    device_trust_days: int
    created_at: datetime
    updated_at: datetime
    approved_at: datetime | None
    approved_by: UUID | None
    rejected_at: datetime | None
    rejection_reason: str | None
    suspended_at: datetime | None
    suspension_reason: str | None

    @property
    def is_active(self) -> bool:
        """Whether the organization may be worked in."""
        return self.status is OrganizationStatus.ACTIVE

    @property
    def device_trust(self) -> timedelta:
        """How long a device of its members remembers the second factor."""
        return timedelta(days=self.device_trust_days)
