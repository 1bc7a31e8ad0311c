"""Users of the whole platform: a search, and a list by pages, each with a part of the address.

Platform owners and support use both; support finds no platform owner. Elsewhere: the record of one account in
`user_records.py`, second factors in `mfa.py`, impersonation in `impersonation.py`, anonymization in
`core/privacy/anonymization.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core import positions
from core.accounts import support_access
from core.accounts.support_access import NarrowedList, Narrowing
from core.email_addresses import part_of_email
from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.positions import Position

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

FOUND_DEFAULT: Final = 20
# The organizations that the user joined first are shown.
ORGANIZATIONS_SHOWN_MAX: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformUserOrganization:
    """An organization of a found user, and the user's role in it."""

    id: UUID
    slug: str
    name: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformUser:
    """A found user."""

    id: UUID
    email: str
    name: str | None
    is_platform_owner: bool
    mfa_enabled: bool
    created_at: datetime
    organizations: list[PlatformUserOrganization]


def search(uow: UnitOfWork, *, email: str | None, user_id: UUID | None, limit: int) -> Sequence[PlatformUser]:
    """Find users by a part of their address, by their id, or by both.

    Users whose address begins with the part come first, in alphabetical order, then the newest of the others.
    """
    wanted = Narrowing.of(email or "", user_id=user_id)
    hides_owners = not support_access.open_list(uow, NarrowedList.USERS, wanted).acts_as_platform_owner
    part = part_of_email(email or "", uow.domain_names.to_ascii)
    if user_id is not None:
        return uow.platform_users.with_id(
            user_id, email_part=part, organizations_max=ORGANIZATIONS_SHOWN_MAX, hides_owners=hides_owners
        )
    if not part:
        raise BadRequest.of_field("email", "Give a part of the email address here, or the id in user_id.")
    return uow.platform_users.with_email(
        part, limit=limit, organizations_max=ORGANIZATIONS_SHOWN_MAX, hides_owners=hides_owners
    )


# Of more organizations, the list says that there are more.
ORGANIZATIONS_LISTED_MAX: Final = 3
_AFTER_ADDRESS: Final = "address"
_AFTER_ACCOUNT: Final = "account"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserPosition:
    """The place of a user in a list: first come users whose address begins with the part, by address, then the others.

    `email` is the place among the first, None behind all of them; `account` is the place among the others, the newest
    first, None before all.
    """

    email: str | None = None
    account: Position | None = None

    def __str__(self) -> str:
        """Return the position as it stands in the address of a page."""
        return f"{_AFTER_ADDRESS}_{self.email}" if self.email is not None else f"{_AFTER_ACCOUNT}_{self.account}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedUser:
    """A user in the list, with the first of the organizations and whether there are more."""

    id: UUID
    email: str
    name: str | None
    created_at: datetime
    email_verified: bool
    mfa_enabled: bool
    is_platform_owner: bool
    is_platform_support: bool
    is_deactivated: bool
    is_closed: bool
    is_anonymized: bool
    organizations: list[PlatformUserOrganization]
    has_more_organizations: bool

    @property
    def position(self) -> Position:
        """The place of the account in the part of the list with the newest first."""
        return Position(at=self.created_at, id=self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundUsers:
    """A part of the found users.

    `total` is exact up to `COUNTED_MAX`, and one more than that beyond; the list goes on at `next`, None at its end.
    """

    found: Sequence[ListedUser]
    total: int
    next: UserPosition | None


def position_of(text: str) -> UserPosition:
    """Return the position that a text in the address of a page names; the beginning when it is empty or damaged."""
    kind, _, value = text.partition("_")
    if kind == _AFTER_ADDRESS and value:
        return UserPosition(email=value)
    return UserPosition(account=positions.position_of(value)) if kind == _AFTER_ACCOUNT else UserPosition()


def browse(uow: UnitOfWork, *, search: str, after: UserPosition, limit: int) -> FoundUsers:
    """Find users by a part of their address, or by their whole id; without either, list the newest of all."""
    caller = support_access.open_list(uow, NarrowedList.USERS, Narrowing.of(search))
    hides_owners = not caller.acts_as_platform_owner
    part = part_of_email(search, uow.domain_names.to_ascii)
    user_id = _id_of(part)
    if user_id is not None:
        found = uow.elsewhere.found_users.with_id(user_id, hides_owners=hides_owners)
        return FoundUsers(found=found, total=len(found), next=None)
    found = uow.elsewhere.found_users.page(part, after=after, limit=limit + 1, hides_owners=hides_owners)
    listed = found[:limit]
    is_whole = after == UserPosition() and len(found) <= limit
    return FoundUsers(
        found=listed,
        total=len(found)
        if is_whole
        else uow.elsewhere.found_users.count(part, counted_max=COUNTED_MAX + 1, hides_owners=hides_owners),
        next=_position_after(listed[-1], part) if len(found) > limit else None,
    )


def _id_of(text: str) -> UUID | None:
    try:
        # A part of an address may be 32 digits in a row.
        return UUID(text) if "-" in text else None
    except ValueError:
        return None


def _position_after(user: ListedUser, part: str) -> UserPosition:
    is_beginning = part != "" and user.email.startswith(part)
    return UserPosition(email=user.email) if is_beginning else UserPosition(account=user.position)
