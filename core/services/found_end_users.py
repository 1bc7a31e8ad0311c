"""The end users of an organization as the console shows them: a search by address and service, and one in detail.

Ending their sessions, and what the JSON interface lists, is in `end_users.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.email_addresses import part_of_email
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation, authorize
from core.positions import FoundRows, Position, found_rows
from core.services import end_users
from core.services.end_users import EndUserUnknown
from core.sessions.sessions import SessionsChanged

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

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


def search(
    uow: UnitOfWork, slug: str, *, search: str, service: str, after: Position | None, limit: int
) -> FoundRows[ListedEndUser]:
    """Find end users by a part of their address and by the slug of a service, the newest accounts first."""
    organization = authorize(uow, slug, Operation.END_USERS_READ).organization
    part = part_of_email(search, uow.domain_names.to_ascii)
    found = uow.elsewhere.found_end_users.page(
        organization.id, part=part, service=service, after=after, limit=limit + 1
    )
    count = partial(uow.elsewhere.found_end_users.count, organization.id, part=part, service=service)
    return found_rows(found, after=after, limit=limit, count=count)


def listed(
    uow: UnitOfWork, slug: str, *, search: str, service: str, after: Position | None, limit: int
) -> Sequence[ListedEndUser]:
    """Return a part of what `search` finds, without a count; for files."""
    organization = authorize(uow, slug, Operation.END_USERS_READ).organization
    part = part_of_email(search, uow.domain_names.to_ascii)
    return uow.elsewhere.found_end_users.page(organization.id, part=part, service=service, after=after, limit=limit)


def newest(uow: UnitOfWork, slug: str, typed: str, *, limit: int) -> Sequence[ListedEndUser]:
    """Return the first that `search` finds among the `LOOKED_AT_MAX` newest end users."""
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
    return end_users.end_sessions(uow, slug, user_id)


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
