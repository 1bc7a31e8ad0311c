"""Organizations, the customers of the product: what one is, and through which states it goes.

How one comes to be is in `organization_creation.py`, what its own people do with it in `organization_management.py` and
`organization_selection.py`, what platform owners do in `platform_organizations.py`. Members, invitations and services
have capabilities of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from core import text
from core.errors import BadRequest

NAME_CHARACTERS_MIN: Final = 2
DEVICE_TRUST_DEFAULT: Final = timedelta(days=30)
# More than the life of a device's token, within which any trust ends (decisions 4.2).
DEVICE_TRUST_DAYS_MAX: Final = 365

# What `changes` leaves out: it follows from every change.
_UPDATED_AT: Final = "updated_at"


class OrganizationStatus(StrEnum):
    """Where in its life an organization is (operations 3)."""

    PENDING = "pending"
    ACTIVE = "active"
    SUSPENDED = "suspended"
    REJECTED = "rejected"


class WrongState(BadRequest):
    """An organization in this state does not go into that one."""

    default_message = "The organization is not in a state in which this can be done."


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

    def approved(self, *, by: UUID | None, at: datetime) -> Organization:
        """Let work begin; nobody approves where every organization is welcome."""
        self._require(OrganizationStatus.PENDING, "approved")
        return replace(self, status=OrganizationStatus.ACTIVE, approved_at=at, approved_by=by, updated_at=at)

    def rejected(self, reason: str, *, at: datetime) -> Organization:
        """Turn the organization away for good."""
        self._require(OrganizationStatus.PENDING, "rejected")
        return replace(self, status=OrganizationStatus.REJECTED, rejected_at=at, rejection_reason=reason, updated_at=at)

    def suspended(self, reason: str | None, *, at: datetime) -> Organization:
        """Close the organization until it is activated again."""
        self._require(OrganizationStatus.ACTIVE, "suspended")
        return replace(
            self, status=OrganizationStatus.SUSPENDED, suspended_at=at, suspension_reason=reason, updated_at=at
        )

    def activated(self, *, at: datetime) -> Organization:
        """Open the organization again; why it was closed is in the audit log from now on."""
        self._require(OrganizationStatus.SUSPENDED, "activated")
        return replace(self, status=OrganizationStatus.ACTIVE, suspended_at=None, suspension_reason=None, updated_at=at)

    def changes(self, before: Organization) -> dict[str, Any]:
        """List what is not as it was before, field by field, as an audit entry holds it."""
        return {
            field.name: {"from": _plain(getattr(before, field.name)), "to": _plain(getattr(self, field.name))}
            for field in fields(self)
            if field.name != _UPDATED_AT and getattr(before, field.name) != getattr(self, field.name)
        }

    def _require(self, status: OrganizationStatus, verb: str) -> None:
        if self.status is not status:
            article = "an" if status is OrganizationStatus.ACTIVE else "a"
            raise WrongState(f"Only {article} {status} organization can be {verb}; this one is {self.status}.")


def checked_name(name: str) -> str:
    """Give the spelling under which the name of an organization is stored; refuse what is none."""
    return text.checked_name(name, characters_min=NAME_CHARACTERS_MIN)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        # As times are written everywhere (decisions 1.1).
        return value.isoformat().replace("+00:00", "Z")
    return str(value) if isinstance(value, UUID | StrEnum) else value


def is_trusted(mfa_trusted_at: datetime | None, period: timedelta, *, at: datetime) -> bool:
    """Say whether a second factor that was given then is still remembered."""
    return mfa_trusted_at is not None and at < mfa_trusted_at + period
