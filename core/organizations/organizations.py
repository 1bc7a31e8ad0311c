"""Organizations, the customers of the product, with their statuses, and the memberships of users in them.

Creating one is in `management.py`, with what members do with it, deleting and restoring it in `deletion.py`, what
platform owners do in `core/platform/organizations.py`. An internal organization is the place of one customer of one
service, for which the vendor has made what it holds (`core/customers/setup_callers.py`).

A user manages an organization by a membership, in a role; the use cases are in `members.py`. No organization has power
over a person who has not consented. A membership that another person made is unconfirmed until its user proves the
address or uses the organization. `uow.members.organizations_of` lists the confirmed ones, to which events of a person
go; what gives an organization power over an account requires a confirmed membership.
"""

from __future__ import annotations

from dataclasses import field, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from core import text
from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.sessions.mfa_methods import MfaMethods
from core.wording import Wording

NAME_CHARACTERS_MIN: Final = 2
DEVICE_TRUST_DEFAULT: Final = timedelta(days=30)
# How long its owner may restore a deleted organization.
RESTORABLE_FOR: Final = timedelta(days=14)
# Longer than the lifetime of a device token, with which any trust ends.
DEVICE_TRUST_DAYS_MAX: Final = 365
# Left out of `changes`: every change sets `updated_at`, and no value of `metadata` is recorded.
_RECORDED_OTHERWISE: Final = frozenset({"updated_at", "metadata"})
# How the slug of an internal organization begins. A colon is in no slug that a person chooses, so no path names it.
INTERNAL_PREFIX: Final = "internal:"


class OrganizationStatus(StrEnum):
    """The status of an organization."""

    PENDING = "pending"
    ACTIVE = "active"
    SUSPENDED = "suspended"
    REJECTED = "rejected"
    # Its owner has deleted it, and may restore it until `deletes_at`; only the platform and its owner see it.
    DELETING = "deleting"


class WrongState(BadRequest):
    """The status of the organization does not allow this transition."""

    default_message = "The status of the organization does not allow this."


@dataclass(frozen=True, slots=True, kw_only=True)
class Organization:
    """An organization, with all its fields."""

    id: UUID
    slug: str
    name: str
    status: OrganizationStatus
    tier_id: UUID
    max_services: int | None
    max_users: int | None
    mfa_required: bool
    device_trust_days: int
    mfa_methods: MfaMethods = MfaMethods.ANY
    created_at: datetime
    updated_at: datetime
    approved_at: datetime | None
    approved_by: UUID | None
    rejected_at: datetime | None
    rejection_reason: str | None
    suspended_at: datetime | None
    suspension_reason: str | None
    deletes_at: datetime | None = None
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def is_internal(self) -> bool:
        """Whether it holds what a vendor has made for a customer; no person sees such an organization."""
        return self.slug.startswith(INTERNAL_PREFIX)

    @property
    def is_active(self) -> bool:
        """Whether the organization is active."""
        return self.status is OrganizationStatus.ACTIVE

    @property
    def device_trust(self) -> timedelta:
        """How long a device of its members remembers the second factor."""
        return timedelta(days=self.device_trust_days)

    @property
    def is_phishing_resistant(self) -> bool:
        """Whether a second factor counts only if it cannot be passed on to another site."""
        return self.mfa_methods is MfaMethods.PHISHING_RESISTANT

    def asks_less_than(self, before: Organization) -> bool:
        """Return whether these settings ask members for a second factor less often than the earlier ones did."""
        return before.mfa_required and (
            not self.mfa_required
            or self.device_trust > before.device_trust
            or (before.is_phishing_resistant and not self.is_phishing_resistant)
        )

    def approved(self, *, by: UUID | None, at: datetime) -> Organization:
        """Return the approved organization; `by` is None when the installation approves every organization."""
        self._require(OrganizationStatus.PENDING, "approved")
        return replace(self, status=OrganizationStatus.ACTIVE, approved_at=at, approved_by=by, updated_at=at)

    def rejected(self, reason: str, *, at: datetime) -> Organization:
        """Return the organization as rejected for good."""
        self._require(OrganizationStatus.PENDING, "rejected")
        return replace(self, status=OrganizationStatus.REJECTED, rejected_at=at, rejection_reason=reason, updated_at=at)

    def suspended(self, reason: str | None, *, at: datetime) -> Organization:
        """Return the organization as suspended until it is activated again."""
        self._require(OrganizationStatus.ACTIVE, "suspended")
        return self.suspended_for_review(reason, at=at)

    def suspended_for_review(self, reason: str | None, *, at: datetime) -> Organization:
        """Return the organization, active or not approved yet, as suspended until the platform has looked at it."""
        return replace(
            self, status=OrganizationStatus.SUSPENDED, suspended_at=at, suspension_reason=reason, updated_at=at
        )

    def activated(self, *, at: datetime) -> Organization:
        """Return the organization as active again; only the audit log keeps the reason of the suspension."""
        self._require(OrganizationStatus.SUSPENDED, "activated")
        return replace(self, status=OrganizationStatus.ACTIVE, suspended_at=None, suspension_reason=None, updated_at=at)

    def changes(self, before: Organization) -> dict[str, Any]:
        """Return the old and the new value of each changed field, in the form of an audit entry."""
        return {
            one.name: {"from": _json_value(getattr(before, one.name)), "to": _json_value(getattr(self, one.name))}
            for one in fields(self)
            if one.name not in _RECORDED_OTHERWISE and getattr(before, one.name) != getattr(self, one.name)
        }

    def _require(self, status: OrganizationStatus, verb: str) -> None:
        if self.status is not status:
            article = "an" if status is OrganizationStatus.ACTIVE else "a"
            raise WrongState(
                Wording(
                    "Only %(article)s %(status)s organization can be %(verb)s; this one is %(present)s.",
                    article=article,
                    status=status,
                    verb=verb,
                    present=self.status,
                )
            )


def checked_name(name: str) -> str:
    """Return the form in which an organization's name is stored; raise `BadRequest` when it is invalid."""
    return text.checked_public_name(name, characters_min=NAME_CHARACTERS_MIN)


def _json_value(value: Any) -> Any:
    if isinstance(value, datetime):
        # RFC 3339, in UTC with `Z`, as everywhere in the interface.
        return value.isoformat().replace("+00:00", "Z")
    return str(value) if isinstance(value, UUID | StrEnum) else value


def is_device_trusted(mfa_trusted_at: datetime | None, period: timedelta, *, at: datetime) -> bool:
    """Return whether a device that was trusted at that time still is; None stands for one that never was."""
    return mfa_trusted_at is not None and at < mfa_trusted_at + period


class MadeThrough(StrEnum):
    """How a vendor has made something for a customer."""

    MEMBER = "member"
    PROGRAM = "program"
    SETUP_LINK = "setup_link"


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalPlace:
    """The customer record of an internal organization, with the service and both organizations."""

    internal_id: UUID
    customer_id: UUID
    vendor_id: UUID
    vendor_slug: str
    service_id: UUID
    service_slug: str
    service_name: str
    customer_organization_id: UUID


OWNER: Final = "owner"
ADMIN: Final = "admin"
MEMBER: Final = "member"
BUILT_IN_ROLES: Final = (OWNER, ADMIN, MEMBER)


class MembershipStatus(StrEnum):
    """Whether a membership gives access; an inactive one can be activated again."""

    ACTIVE = "active"
    INACTIVE = "inactive"

    @classmethod
    def of(cls, *, is_active: bool) -> MembershipStatus:
        """Return the status of a membership."""
        return cls.ACTIVE if is_active else cls.INACTIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSource:
    """The rule that gave a role: `source` is `scim` or the id of a connection, `group` the group that it names."""

    source: str
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """A user's membership in an organization; `role` is a built-in role or the slug of a custom role."""

    id: UUID
    organization_id: UUID
    user_id: UUID
    role: str
    created_at: datetime
