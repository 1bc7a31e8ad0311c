"""Searching for users of the whole platform, as a platform owner or as support, which finds no platform owner.

Elsewhere: the record of one account in `user_records.py`, second factors in `mfa.py`, impersonation in
`impersonation.py`, anonymization in `core/privacy/anonymization.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import helped_accounts
from core.accounts.helped_accounts import NarrowedList, Narrowing
from core.email_addresses import part_of_email
from core.errors import BadRequest
from core.lazy_dataclasses import dataclass

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


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSearch:
    """The wanted users: by a part of the address, an id, or both."""

    text: str = ""
    user_id: UUID | None = None

    @property
    def narrowing(self) -> Narrowing | None:
        """The person to which the search is narrowed; None without anything."""
        text = self.text.strip().lower()
        return Narrowing(text=text or None, id=self.user_id) if text or self.user_id is not None else None


def search(uow: UnitOfWork, *, email: str | None, user_id: UUID | None, limit: int) -> Sequence[PlatformUser]:
    """Find users by a part of their address, by their id, or by both.

    Users whose address begins with the part come first, in alphabetical order, then the newest of the others.
    """
    wanted = UserSearch(text=email or "", user_id=user_id)
    hides_owners = not helped_accounts.open_list(uow, NarrowedList.USERS, wanted).acts_as_platform_owner
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
