"""Creating an organization: a user with a verified address creates and owns it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import BadRequest, Conflict, Forbidden, all_valid
from core.events import platform_actions
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations.memberships import OWNER, Membership
from core.organizations.organizations import DEVICE_TRUST_DEFAULT, Organization, OrganizationStatus, checked_name
from core.sessions import callers
from core.sessions.callers import Caller
from core.sessions.limits import Act
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
    platform_actions.record_impersonated(
        uow, "organization.created", organization_id=organization.id, slug=organization.slug
    )
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
