"""End users, who sign in to the services of an organization: listing and finding them, and ending their sessions.

Members, who manage the organization, are in `core/organizations/members.py`; a user may be both. Of an end user, an
organization sees only the account and what happened in its own services.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.email_addresses import part_of_email
from core.errors import NotFound
from core.events import actions
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.positions import Listing, Position, listing
from core.sessions import sessions
from core.sessions.sessions import SessionsChanged

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class EndUserUnknown(NotFound):
    """The user has not signed in to a service of this organization, whether or not they have an account."""

    default_message = "This organization has no such end user."


@dataclass(frozen=True, slots=True, kw_only=True)
class EndUser:
    """An end user in a list; `services` holds slugs.

    `name` is the person's own once they have signed in to a service and proved the address, else the directory's.
    """

    id: UUID
    email: str
    name: str | None
    created_at: datetime
    last_login_at: datetime | None
    mfa_enabled: bool
    services: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndUserService:
    """A service that the end user has signed in to: when first and last, and what the service notes about them."""

    id: UUID
    slug: str
    name: str
    first_login_at: datetime
    last_login_at: datetime | None
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedIdentity:
    """An account at an external identity provider with which the end user signs in."""

    provider: str
    provider_user_id: str
    email: str | None
    linked_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """The number of live sessions in this organization, and when the latest session began."""

    active_count: int
    last_created_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndUserDetails:
    """An end user in detail, as the organization sees them."""

    id: UUID
    email: str
    name: str | None
    email_verified: bool
    created_at: datetime
    updated_at: datetime
    last_login_at: datetime | None
    mfa_enabled: bool
    services: list[EndUserService]
    sessions: SessionSummary
    # Always empty: accounts at external providers cannot be linked.
    linked_identities: list[LinkedIdentity] = field(default_factory=list[LinkedIdentity])


@dataclass(frozen=True, slots=True, kw_only=True)
class EndUsersPage:
    """A page of end users, and their total number."""

    users: list[EndUser]
    total: int


def list_page(
    uow: UnitOfWork, slug: str, *, search: str | None, service_id: UUID | None, page: int, limit: int
) -> EndUsersPage:
    """List end users, the newest accounts first, optionally of one service and by a part of their address."""
    organization = authorize(uow, slug, Operation.END_USERS_READ).organization
    part = part_of_email(search or "", uow.domain_names.to_ascii)
    return uow.elsewhere.end_users.page(
        organization.id, part=part, service_id=service_id, limit=limit, offset=(page - 1) * limit
    )


def show(uow: UnitOfWork, slug: str, user_id: UUID) -> EndUserDetails:
    """Return an end user; raise `EndUserUnknown` when the organization has none with that id."""
    organization = authorize(uow, slug, Operation.END_USERS_READ).organization
    found = uow.end_users.find(organization.id, user_id)
    if found is None:
        raise EndUserUnknown
    return found


def end_sessions(uow: UnitOfWork, slug: str, user_id: UUID) -> int:
    """End the sessions of an end user in this organization; return how many ended.

    For an account that the organization created, in one of its verified mail domains, all sessions end.
    """
    authorized = authorize(uow, slug, Operation.END_USERS_CHANGE)
    organization_id = authorized.organization.id
    email = uow.end_users.email_of(organization_id, user_id)
    if email is None:
        raise EndUserUnknown
    belonging = uow.own_accounts.lock(organization_id, user_id)
    if belonging is not None and belonging.is_in_own_domain and belonging.is_own_of(organization_id):
        ended = sessions.end_all(uow, user_id, email)
    else:
        contexts = sessions.end_in_organization(uow, organization_id, user_id)
        sessions.record_ended(uow, user_id, email, contexts, revoked_by=authorized.caller.actor)
        ended = len(contexts)
    actions.record_impersonated(
        uow, "sessions.ended", organization_id=organization_id, user_id=str(user_id), sessions=ended
    )
    return ended


# A search while the address is typed looks at so many of the newest end users.
LOOKED_AT_MAX: Final = 10_000


class EndUserState(StrEnum):
    """Whether an end user uses a service, as far as the organization may know.

    It knows the state of the account itself for people who have signed in to a service, and for accounts that it has
    made. A member that its directory has deactivated uses no service.
    """

    ADDED = "added"
    ACTIVE = "active"
    CLOSED = "closed"
    DEACTIVATED = "deactivated"
    SUSPENDED = "suspended"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedEndUser:
    """An end user in the console; `services` holds slugs, and `plans` the names of the live subscriptions' plans.

    `has_second_factor` and `is_verified` are None as long as the organization may know nothing of the account.
    """

    id: UUID
    email: str
    name: str | None
    created_at: datetime
    state: EndUserState
    is_verified: bool | None
    has_second_factor: bool | None
    last_sign_in_at: datetime | None
    services: list[str]
    plans: list[str]

    @property
    def position(self) -> Position:
        """The place of the end user in the list, which the id alone decides."""
        return Position(at=self.created_at, id=self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsEnding:
    """What ends when an organization ends the sessions of an end user.

    `is_everywhere` says that all other sessions end as well, because the organization made the account and its address
    is in the organization's mail domain.
    """

    email: str
    sessions: int
    is_everywhere: bool


def found(uow: UnitOfWork, slug: str, *, search: str, service: str) -> Listing[ListedEndUser]:
    """Find end users by a part of their address and by the slug of a service, the newest accounts first."""
    organization_id = authorize(uow, slug, Operation.END_USERS_READ).organization.id
    part = part_of_email(search, uow.domain_names.to_ascii)
    page, count = uow.elsewhere.found_end_users.page, uow.elsewhere.found_end_users.count
    return listing(page, count, organization_id, part=part, service=service)


def newest(uow: UnitOfWork, slug: str, typed: str, *, limit: int) -> Sequence[ListedEndUser]:
    """Return the first that `found` finds among the `LOOKED_AT_MAX` newest end users."""
    organization = authorize(uow, slug, Operation.END_USERS_READ).organization
    part = part_of_email(typed, uow.domain_names.to_ascii)
    return uow.elsewhere.found_end_users.newest(organization.id, part=part, looked_at_max=LOOKED_AT_MAX, limit=limit)


def end_shown(uow: UnitOfWork, slug: str, user_id: UUID, *, seen: int) -> int:
    """End the sessions of an end user after a page has shown their number; return how many ended.

    Raise `SessionsChanged` when there are fewer by now: a person that another admin has helped, and who has signed in
    again, must not be signed out once more. Additional sessions do not matter.
    """
    organization_id = authorize(uow, slug, Operation.END_USERS_CHANGE).organization.id
    if uow.found_end_users.count_sessions(organization_id, user_id) < seen:
        raise SessionsChanged
    return end_sessions(uow, slug, user_id)


def show_ending(uow: UnitOfWork, slug: str, user_id: UUID) -> SessionsEnding:
    """Return what ends with the sessions of an end user; raise `EndUserUnknown`."""
    organization_id = authorize(uow, slug, Operation.END_USERS_CHANGE).organization.id
    email = uow.end_users.email_of(organization_id, user_id)
    if email is None:
        raise EndUserUnknown
    belonging = uow.own_accounts.belonging(organization_id, user_id)
    return SessionsEnding(
        email=email,
        sessions=uow.found_end_users.count_sessions(organization_id, user_id),
        is_everywhere=belonging is not None and belonging.is_in_own_domain and belonging.is_own_of(organization_id),
    )
