"""What people do with their organizations: create them, read and change their settings, and select one.

A user with a verified address creates an organization and owns it. Selecting one makes it the context of the caller's
session, as if the session had begun there; the organization's requirements for a sign-in apply here as well, else
signing in elsewhere and then selecting it would bypass its settings. Deleting one is in `deletion.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core import metadata
from core.errors import BadRequest, Conflict, Forbidden, all_valid
from core.events import actions
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.metadata import MetadataPatch
from core.organizations import session_strength
from core.organizations.access import Operation
from core.organizations.authorization import authorize, authorize_and_lock
from core.organizations.organizations import (
    DEVICE_TRUST_DEFAULT,
    OWNER,
    Membership,
    Organization,
    OrganizationStatus,
    checked_name,
)
from core.organizations.tiers import Tier
from core.sessions import callers, refresh
from core.sessions.caller_limits import Act
from core.sessions.callers import Caller
from core.sessions.tokens import TokenGrant
from core.text import checked_slug
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Names that an installation may need for itself, in a path or as a subdomain.
RESERVED_SLUGS: Final = frozenset(
    {
        *("api", "www", "mail", "admin", "root", "support", "help", "docs", "status", "health"),
        *("cdn", "assets", "static", "platform", "auth", "saml", "scim"),
    }
)
PENDING_MAX: Final = 5
# Of the random slugs of organizations that no person owns yet.
_SLUG_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
_SLUG_CHARACTERS: Final = 8


class SlugTaken(Conflict):
    """Another organization has this slug."""

    default_message = "Another organization has this slug already. Choose another one."


class TooManyPending(BadRequest):
    """The user owns the maximum number of organizations that wait for approval."""

    default_message = Wording(
        "You already own %(maximum)s organizations that are waiting for approval, which is the"
        " maximum. Wait until one of them is approved, or delete one.",
        maximum=PENDING_MAX,
    )


class AddressNotVerified(Forbidden):
    """Creating an organization, or inviting in one's own name, requires a verified address."""

    default_message = "Verify your email address first: open the link that was sent to you, or ask for a new one."


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonSummary:
    """A user, as shown beside an organization."""

    id: UUID
    email: str
    is_platform_owner: bool
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedOrganization:
    """A new organization, with its owner."""

    organization: Organization
    owner: PersonSummary
    membership: Membership


def create(uow: UnitOfWork, slug: str, name: str, *, is_welcome: bool) -> CreatedOrganization:
    """Create an organization; it waits for approval unless `is_welcome` is set."""
    caller = uow.caller
    caller.require(Act.WITHOUT_CONTEXT)
    if not caller.account.is_verified:
        raise AddressNotVerified
    slug, name = all_valid(lambda: checked_new_slug(slug), lambda: checked_name(name))
    organization = new_organization(uow, slug, name)
    # Locked, so that the count is right when a user creates several at once, and so that a person who loses the account
    # at this moment does not become an owner with it.
    caller = callers.lock_account(uow)
    if is_welcome:
        organization = organization.approved(by=None, at=uow.now)
    else:
        require_pending_room(uow, caller)
    if not uow.organizations.add(organization):
        raise SlugTaken
    membership = Membership(
        id=uow.randomness.new_id(),
        organization_id=organization.id,
        user_id=caller.account.id,
        role=OWNER,
        created_at=uow.now,
    )
    uow.members.defer_add(membership, is_confirmed=True)
    # Only in the log, and without an action of its own: a new organization has no webhook yet.
    uow.audit(
        AuditAction.ORGANIZATION_UPDATED,
        organization.id,
        organization_id=organization.id,
        change="organization_created",
        slug=organization.slug,
        name=organization.name,
    )
    actions.record_impersonated(uow, "organization.created", organization_id=organization.id, slug=organization.slug)
    return CreatedOrganization(organization=organization, owner=person_of(caller), membership=membership)


def person_of(caller: Caller) -> PersonSummary:
    """Return the caller as a `PersonSummary`."""
    return PersonSummary(
        id=caller.account.id,
        email=caller.account.email,
        is_platform_owner=caller.account.is_platform_owner,
        created_at=caller.account.created_at,
    )


def add_unclaimed(uow: UnitOfWork, organization: Organization) -> Organization:
    """Store an organization that no person owns under a random, unused slug, and return it with that slug."""
    while True:
        named = replace(organization, slug=f"c-{uow.randomness.choice(_SLUG_ALPHABET, _SLUG_CHARACTERS)}")
        if uow.organizations.add(named, is_unclaimed=True):
            return named


def require_pending_room(uow: UnitOfWork, caller: Caller) -> None:
    """Raise `TooManyPending` when a person, whose account is locked, owns the maximum of pending organizations."""
    owned = [one.organization_id for one in uow.members.of_account(caller.account.id) if one.role == OWNER]
    if uow.organizations.count_pending(owned) >= PENDING_MAX:
        raise TooManyPending


def new_organization(uow: UnitOfWork, slug: str, name: str) -> Organization:
    """Return a new organization, which waits for approval; it is not stored."""
    return Organization(
        id=uow.randomness.new_id(),
        slug=slug,
        name=name,
        status=OrganizationStatus.PENDING,
        tier_id=uow.tiers.free().id,
        max_services=None,
        max_users=None,
        mfa_required=False,
        device_trust_days=DEVICE_TRUST_DEFAULT.days,
        created_at=uow.now,
        updated_at=uow.now,
        approved_at=None,
        approved_by=None,
        rejected_at=None,
        rejection_reason=None,
        suspended_at=None,
        suspension_reason=None,
    )


def checked_new_slug(text: str) -> str:
    """Return the valid form of a slug for a new organization; raise `BadRequest`. It may be taken."""
    slug = checked_slug(text)
    if slug in RESERVED_SLUGS:
        raise BadRequest.of_field("slug", "This slug is reserved. Choose another one.")
    return slug


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """The user, their membership in the selected organization, and their new tokens."""

    user: PersonSummary
    membership: Membership
    grant: TokenGrant


def select(uow: UnitOfWork, slug: str) -> Selected:
    """Make an organization the context of the caller's session, and return the session's next tokens."""
    authorized = authorize(uow, slug, Operation.ORGANIZATION_SELECT)
    session_strength.require_device_trust(uow, authorized.caller, authorized.organization)
    return Selected(
        user=person_of(authorized.caller),
        membership=authorized.membership,
        grant=refresh.move(uow, authorized.caller.session.id, authorized.organization.id),
    )
