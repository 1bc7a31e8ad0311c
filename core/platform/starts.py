"""Where a person begins in the browser: in the only organization where they work, among several, or elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.lazy_dataclasses import dataclass
from core.organizations import management
from core.platform import console

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where the person can begin; `only_slug` is the slug of the only organization, whose overview opens."""

    only_slug: str | None
    has_organizations: bool
    opens_platform: bool


def find(uow: UnitOfWork) -> Start:
    """Return where the caller begins.

    A membership that another person has made and the caller never used does not open by itself: that would confirm it.
    """
    mine = management.search_mine(uow, search="", after="", limit=1)
    return Start(
        only_slug=mine.found[0].organization.slug if mine.total == 1 and _opens(uow, mine) else None,
        has_organizations=mine.total > 0,
        opens_platform=console.is_open(uow),
    )


def _opens(uow: UnitOfWork, mine: management.OwnOrganizations) -> bool:
    return mine.found[0].organization.id in uow.members.organizations_of(uow.caller.account.id)
