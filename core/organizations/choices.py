"""The choices of a form: all where they are few, else what a search finds.

`of_members` is here; other areas have functions of their own. None in place of choices means that the reader may not
see them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from core.email_addresses import part_of_email
from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability
from core.organizations.authorization import OrganizationAccess

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# A longer list is no help to choose from, and makes the page heavy.
CHOICES_MAX: Final = 50
# Where there are more, a search shows so many.
CHOICES_FOUND_MAX: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A choice: the value that a form sends, its name, and what tells it from others of that name."""

    value: str
    name: str
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """All choices (`is_whole`), or the ones that a search finds, and whether it finds more."""

    found: Sequence[Choice]
    is_whole: bool
    has_more: bool = False


def choices(read: Callable[[str, int], Sequence[Choice | None]], search: str) -> Choices:
    """Return all choices where they are few, else the ones that a search finds.

    `read` takes a part of the name, empty for all, and a maximum number; it returns None for what cannot be chosen.
    """
    every = read("", CHOICES_MAX + 1)
    if len(every) <= CHOICES_MAX:
        return Choices(found=_possible(every), is_whole=True)
    return searched(read(search.strip(), CHOICES_FOUND_MAX + 1) if search.strip() else ())


def searched(found: Sequence[Choice | None]) -> Choices:
    """Return what a search has found, which is one more than `CHOICES_FOUND_MAX` where there are more."""
    has_more = len(found) > CHOICES_FOUND_MAX
    return Choices(found=_possible(found[:CHOICES_FOUND_MAX]), is_whole=False, has_more=has_more)


def of_members(uow: UnitOfWork, authorized: OrganizationAccess, search: str) -> Choices | None:
    """Return the active members by the ids of their accounts; a search takes a part of the address."""
    if Capability.ORG_MEMBERS_VIEW not in authorized.capabilities:
        return None

    def read(part: str, limit: int) -> Sequence[Choice | None]:
        wanted = part_of_email(part, uow.domain_names.to_ascii)
        found = uow.elsewhere.found_members.page(
            authorized.organization.id, part=wanted, role="", after=None, limit=limit
        )
        return [
            None if one.is_suspended else Choice(value=str(one.user_id), name=one.email, about=one.name or "")
            for one in found
        ]

    return choices(read, search)


def _possible(listed: Sequence[Choice | None]) -> Sequence[Choice]:
    return [one for one in listed if one is not None]
