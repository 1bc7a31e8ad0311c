"""End users, who sign in to the services of an organization: finding them, and ending their sessions.

Who manages the organization is in `members.py`; somebody may be both. An organization sees of a person only what
happened in its own services.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime  # noqa: TC003 - the reference is made from the fields of the views
from typing import TYPE_CHECKING
from uuid import UUID  # noqa: TC003 - likewise

from core.email_addresses import canonical_email
from core.errors import NotFound
from core.events import platform_actions
from core.organizations.access import Operation, authorize
from core.sessions import sessions

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class EndUserUnknown(NotFound):
    """Nobody who signed in to one of this organization's services, whoever they may be elsewhere."""

    default_message = "This organization has no such end user."


@dataclass(frozen=True, slots=True, kw_only=True)
class EndUser:
    """An end user in a list; `services` are slugs (operations 2.10)."""

    id: UUID
    email: str
    created_at: datetime
    last_login_at: datetime | None
    mfa_enabled: bool
    services: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedService:
    """A service, and since when somebody uses it."""

    id: UUID
    slug: str
    name: str
    first_login_at: datetime
    last_login_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedIdentity:
    """An account elsewhere that somebody signs in with."""

    provider: str
    provider_user_id: str
    email: str | None
    linked_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """How many sessions in this organization are alive, and when the last one began."""

    active_count: int
    last_created_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndUserDetail:
    """Everything that an organization sees of an end user."""

    id: UUID
    email: str
    email_verified: bool
    created_at: datetime
    updated_at: datetime
    last_login_at: datetime | None
    mfa_enabled: bool
    services: list[UsedService]
    sessions: SessionSummary
    # Nobody can link one yet.
    linked_identities: list[LinkedIdentity] = field(default_factory=list[LinkedIdentity])


@dataclass(frozen=True, slots=True, kw_only=True)
class EndUsersPage:
    """Some end users, and how many there are."""

    users: list[EndUser]
    total: int


def list_page(
    uow: UnitOfWork, slug: str, *, search: str | None, service_id: UUID | None, page: int, limit: int
) -> EndUsersPage:
    """List end users, the newest accounts first: all, those of a service, those with a part of an address."""
    organization = authorize(uow, slug, Operation.END_USERS_READ).organization
    part = canonical_email(search or "")
    return uow.end_users.page(organization.id, part=part, service_id=service_id, limit=limit, offset=(page - 1) * limit)


def show(uow: UnitOfWork, slug: str, user_id: UUID) -> EndUserDetail:
    """Show an end user."""
    organization = authorize(uow, slug, Operation.END_USERS_READ).organization
    found = uow.end_users.find(organization.id, user_id)
    if found is None:
        raise EndUserUnknown
    return found


def end_sessions(uow: UnitOfWork, slug: str, user_id: UUID) -> int:
    """End the sessions that an end user has in this organization, and no others; say how many those were."""
    place = authorize(uow, slug, Operation.END_USERS_CHANGE)
    email = uow.end_users.email_of(place.organization.id, user_id)
    if email is None:
        raise EndUserUnknown
    ended = uow.sessions.revoke_in_organization(place.organization.id, user_id=user_id)
    sessions.record_ended(uow, user_id, email, ended, revoked_by=str(place.caller.user_id))
    platform_actions.record_impersonated(
        uow, "sessions.ended", organization_id=place.organization.id, user_id=str(user_id), sessions=len(ended)
    )
    return len(ended)
