"""What members do with their organization: read it and change its settings.

Deleting it is in `deletion.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core import metadata
from core.errors import Conflict, all_valid
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.metadata import MetadataPatch
from core.organizations import session_strength
from core.organizations.access import Operation, authorize, authorize_and_lock
from core.organizations.memberships import Membership
from core.organizations.organizations import Organization, checked_name
from core.organizations.tiers import Tier

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class OrganizationRenamed(Conflict):
    """Another person has changed the name of the organization since the caller saw it."""

    default_message = (
        "Another person has changed the name of the organization meanwhile. Check what is shown now, and send the form"
        " again if you still want it."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationUse:
    """What an organization has and may have: each number is exact up to `COUNTED_MAX`, and one more than that beyond.

    A limit of None is no limit.
    """

    tier: Tier
    members: int
    services: int
    end_users: int
    sessions: int
    subscriptions: int
    max_members: int | None
    max_services: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationMembership:
    """An organization of the user, with their membership and its tier; a suspended one gives no access."""

    organization: Organization
    membership: Membership
    tier: Tier
    is_suspended: bool

    @property
    def is_usable(self) -> bool:
        """Whether the user may work in the organization."""
        return self.organization.is_active and not self.is_suspended


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnOrganizations:
    """A part of the user's organizations, in the order of their slugs.

    `total` is exact up to `COUNTED_MAX`, and one more than that beyond; `is_last` means that no more follow.
    """

    found: Sequence[OrganizationMembership]
    total: int
    is_last: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationDetails:
    """An organization as its members see it."""

    organization: Organization
    membership_count: int
    service_count: int
    tier: Tier


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationSettings:
    """The settings that an organization can change; None leaves a setting unchanged."""

    name: str | None = None
    mfa_required: bool | None = None
    device_trust_days: int | None = None

    def applied_to(self, organization: Organization) -> Organization:
        """Return the organization with these settings; raise `BadRequest` when the name is invalid."""
        settings = {
            "name": checked_name(self.name) if self.name is not None else None,
            "mfa_required": self.mfa_required,
            "device_trust_days": self.device_trust_days,
        }
        return replace(organization, **{name: value for name, value in settings.items() if value is not None})


def list_mine(uow: UnitOfWork) -> Sequence[OrganizationMembership]:
    """List the organizations of which the caller is a member, with any status, also where they are deactivated.

    A session that is confined to an organization, or a session of a service, shows that organization alone.
    """
    mine, only = uow.organizations.of_member(uow.caller.account.id), uow.caller.only_organization_id
    return [one for one in mine if only in {None, one.organization.id}]


def search_mine(uow: UnitOfWork, *, search: str, after: str, limit: int) -> OwnOrganizations:
    """Return the caller's organizations whose name or slug contains a text, beginning after a slug.

    A session that is confined to an organization, or a session of a service, shows that organization alone.
    """
    caller = uow.caller
    found, total = uow.organizations.search_of_member(
        caller.account.id,
        only=caller.only_organization_id,
        part=search.strip().lower(),
        after=after,
        limit=limit + 1,
        counted_max=COUNTED_MAX + 1,
    )
    return OwnOrganizations(found=found[:limit], total=total, is_last=len(found) <= limit)


def read(uow: UnitOfWork, slug: str) -> OrganizationDetails:
    """Return an organization, with any status."""
    return uow.organizations.detail(authorize(uow, slug, Operation.ORGANIZATION_READ).organization)


def show_use(uow: UnitOfWork, slug: str, operation: Operation = Operation.ORGANIZATION_READ) -> OrganizationUse:
    """Return what an organization has and may have, to a caller who may do the operation."""
    organization = authorize(uow, slug, operation).organization
    found = uow.organization_records.detail(organization.id, domains_max=0, counted_max=COUNTED_MAX + 1)
    assert found is not None, "an organization has no record"
    return OrganizationUse(
        tier=found.tier,
        members=found.figures.members,
        services=found.figures.services,
        end_users=found.figures.end_users,
        sessions=found.figures.sessions,
        subscriptions=found.figures.subscriptions,
        max_members=found.max_users,
        max_services=found.max_services,
    )


def rename(uow: UnitOfWork, slug: str, name: str, *, seen_name: str) -> Organization:
    """Change the name; raise `OrganizationRenamed` when it is not `seen_name`, which the caller has seen."""
    before = authorize_and_lock(uow, slug, Operation.ORGANIZATION_UPDATE).organization
    wanted = checked_name(name)
    if before.name not in {seen_name, wanted}:
        raise OrganizationRenamed
    return change(uow, slug, OrganizationSettings(name=wanted))


def change(
    uow: UnitOfWork, slug: str, settings: OrganizationSettings, noted: MetadataPatch | None = None
) -> Organization:
    """Change the settings of an organization; without a difference nothing is stored or recorded.

    Raise `SecondFactorRequired` and `NoFactorOfOwn`, as the change of the sign-in rules does.
    """
    authorized = authorize_and_lock(uow, slug, Operation.ORGANIZATION_UPDATE)
    before = authorized.organization
    after, metadata_after = all_valid(
        lambda: settings.applied_to(before),
        lambda: noted.applied_to(before.metadata) if noted is not None else before.metadata,
    )
    # Compared apart: for Python `true` equals 1.
    is_noted = metadata.is_changed(before.metadata, metadata_after)
    is_changed = after != before or is_noted
    if is_noted:
        # Claims of services may carry it, and products decide by claims who may do what.
        authorized.forbid_lasting()
        after = replace(after, metadata=metadata_after)
    session_strength.require_to_loosen(authorized.caller, before, after)
    session_strength.require_own_factor(uow, authorized.caller, before, after)
    return save_and_record(uow, before, replace(after, updated_at=uow.now)) if is_changed else before


def save_and_record(uow: UnitOfWork, before: Organization, after: Organization) -> Organization:
    """Store the new state of a locked organization, and record the changes."""
    changes = after.changes(before)
    is_noted = metadata.is_changed(before.metadata, after.metadata)
    noted: dict[str, Any] = {}
    if is_noted:
        noted["metadata"] = metadata.changed_names(before.metadata, after.metadata)
    uow.organizations.save(after)
    uow.record(AuditAction.ORGANIZATION_UPDATED, after.id, organization_id=after.id, changes=changes, **noted)
    return after
