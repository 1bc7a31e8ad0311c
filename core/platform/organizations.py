"""Managing organizations as a platform owner: approval, suspension, tiers and deletion.

Every change is recorded in the platform's audit log and, unless the organization is deleted, in the organization's. A
caller who names the status or the limits that they have seen is refused when these have changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.errors import BadRequest, Conflict, NotFound
from core.events.actions import PlatformAction
from core.lazy_dataclasses import dataclass
from core.organizations import deletion, management, tiers
from core.organizations.authorization import authorize_platform, authorize_support
from core.organizations.organizations import (
    Organization,
    OrganizationStatus,
)
from core.organizations.tiers import TierSummary
from core.text import checked_reason

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class OrganizationUnknown(NotFound):
    """There is no organization with this id."""

    default_message = "There is no such organization."


class OrganizationChanged(Conflict):
    """Another platform owner has changed the organization since the caller saw it."""

    default_message = (
        "Another platform owner has changed this organization meanwhile. Check what is shown now, and send the form"
        " again if you still want it."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationOwner:
    """The owner of an organization; placeholders when that user no longer exists."""

    id: str
    email: str
    is_platform_owner: bool
    created_at: datetime


OWNER_GONE: Final = OrganizationOwner(
    id="unknown",
    email="deleted-user@unknown",
    is_platform_owner=False,
    created_at=datetime(1970, 1, 1, tzinfo=UTC),
)
# What support sees in place of an organization's owner who is a platform owner.
OWNER_WITHHELD: Final = OrganizationOwner(
    id="unknown",
    email="platform-owner@unknown",
    is_platform_owner=True,
    created_at=datetime(1970, 1, 1, tzinfo=UTC),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenLimits:
    """The tier of an organization and its own limits, as the caller has seen them."""

    tier_id: UUID
    max_services: int | None
    max_users: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformOrganization:
    """An organization as the platform lists it.

    An unclaimed one, which a vendor has made for a customer, has no owner: its `owner` is None.
    """

    organization: Organization
    owner: OrganizationOwner | None
    unclaimed: bool
    tier: TierSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationPage:
    """A page of the matching organizations, and the number of all."""

    organizations: Sequence[PlatformOrganization]
    total: int

    def without_platform_owners(self) -> OrganizationPage:
        """Return the page for support."""
        return replace(
            self,
            organizations=[
                replace(
                    one,
                    organization=replace(one.organization, approved_by=None),
                    owner=OWNER_WITHHELD if one.owner is not None and one.owner.is_platform_owner else one.owner,
                )
                for one in self.organizations
            ],
        )


def list_all(
    uow: UnitOfWork, *, status: OrganizationStatus | None, tier_id: UUID | None, limit: int, offset: int
) -> OrganizationPage:
    """List organizations, the newest first, of one status and one tier where these are given.

    Support does not see which platform owner owns or has approved one.
    """
    caller = authorize_support(uow)
    page = uow.elsewhere.platform_organizations.page(status=status, tier_id=tier_id, limit=limit, offset=offset)
    return page if caller.acts_as_platform_owner else page.without_platform_owners()


def approve(
    uow: UnitOfWork, organization_id: UUID, *, tier_id: UUID | None, seen_status: str | None = None
) -> Organization:
    """Approve a pending organization, in the given tier or else the one it has."""
    owner = authorize_platform(uow)
    tier = tiers.find(uow, tier_id) if tier_id is not None else None
    before = _lock(uow, organization_id, seen_status)
    after = before.approved(by=owner.account.id, at=uow.now)
    if tier is not None:
        after = replace(after, tier_id=tier.id)
    return _store(uow, PlatformAction.ORGANIZATION_APPROVED, before, after, tier_id=str(after.tier_id))


def reject(uow: UnitOfWork, organization_id: UUID, reason: str, *, seen_status: str | None = None) -> Organization:
    """Reject a pending organization; its members can read the reason."""
    authorize_platform(uow)
    reason = reason.strip()
    if not reason:
        raise BadRequest.of_field("reason", "Give a reason; the organization's owner reads it.")
    reason = checked_reason(reason)
    before = _lock(uow, organization_id, seen_status)
    after = before.rejected(reason, at=uow.now)
    return _store(uow, PlatformAction.ORGANIZATION_REJECTED, before, after, reason=reason)


def suspend(
    uow: UnitOfWork, organization_id: UUID, reason: str | None, *, seen_status: str | None = None
) -> Organization:
    """Suspend an active organization, from the next request on."""
    authorize_platform(uow)
    reason = (reason or "").strip() or None
    before = _lock(uow, organization_id, seen_status)
    after = before.suspended(reason, at=uow.now)
    return _store(uow, PlatformAction.ORGANIZATION_SUSPENDED, before, after, reason=reason)


def activate(uow: UnitOfWork, organization_id: UUID, *, seen_status: str | None = None) -> Organization:
    """Reactivate a suspended organization."""
    authorize_platform(uow)
    before = _lock(uow, organization_id, seen_status)
    return _store(uow, PlatformAction.ORGANIZATION_ACTIVATED, before, before.activated(at=uow.now))


def change_tier(
    uow: UnitOfWork,
    organization_id: UUID,
    tier_id: UUID | None,
    limits: Mapping[str, int | None],
    *,
    seen: SeenLimits | None = None,
) -> Organization:
    """Change an organization's tier, if one is given, and the given limits of its own.

    None resets a limit to the tier's. A call that changes nothing is not recorded.
    """
    authorize_platform(uow)
    if tier_id is None and not limits:
        raise BadRequest("Name at least one field to change.")
    named = tiers.find(uow, tier_id) if tier_id is not None else None
    before = _lock(uow, organization_id)
    tier = named or tiers.find(uow, before.tier_id)
    if seen not in {None, limits_seen(before)}:
        raise OrganizationChanged
    after = replace(before, tier_id=tier.id, **limits)
    if after == before:
        return before
    after = replace(after, updated_at=uow.now)
    return _store(
        uow, PlatformAction.ORGANIZATION_TIER_CHANGED, before, after, tier=tier.name, changes=after.changes(before)
    )


def limits_seen(organization: Organization) -> SeenLimits:
    """Return the limits that a page with the present state of an organization shows."""
    return SeenLimits(
        tier_id=organization.tier_id, max_services=organization.max_services, max_users=organization.max_users
    )


def delete(uow: UnitOfWork, organization_id: UUID) -> None:
    """Delete an organization at once with everything that belongs to it, also one that its owner may restore.

    The platform's audit log keeps a record of it.
    """
    authorize_platform(uow)
    deletion.delete_for_good(uow, _lock(uow, organization_id))


def delete_for_reason(
    uow: UnitOfWork, organization_id: UUID, *, typed_slug: str, reason: str, seen_status: str
) -> Organization:
    """Delete an organization as `delete` does, after its slug was typed; record the reason, and return what it was."""
    authorize_platform(uow)
    organization = _lock(uow, organization_id, seen_status)
    if typed_slug.strip() != organization.slug:
        raise BadRequest.of_field(
            "slug", "This is not the slug of the organization. Type the slug exactly as shown above."
        )
    deletion.delete_for_good(uow, organization, reason=checked_reason(reason))
    return organization


def _lock(uow: UnitOfWork, organization_id: UUID, seen_status: str | None = None) -> Organization:
    """Lock an organization, so that of two concurrent decisions the second sees the result of the first.

    Raise `OrganizationChanged` when it no longer has the status that the caller has seen.
    """
    organization = uow.organizations.lock(organization_id)
    # An internal organization follows its customer, so the platform decides only about the customer's organization.
    if organization is None or organization.is_internal:
        raise OrganizationUnknown
    if seen_status not in {None, organization.status.value}:
        raise OrganizationChanged
    return organization


def _store(
    uow: UnitOfWork, action: PlatformAction, before: Organization, after: Organization, **details: Any
) -> Organization:
    uow.audit_platform(action, after.id, organization_id=after.id, slug=after.slug, **details)
    return management.save_and_record(uow, before, after)
