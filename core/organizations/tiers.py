"""Tiers: the limits of organizations. They are rows that the schema inserts (decisions 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations.access import authorize_support

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The tier of a new organization.
FREE: Final = "free"


class TierUnknown(BadRequest):
    """The tier to assign does not exist."""

    default_message = "There is no such tier. GET /api/platform/tiers lists them."


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """A set of limits with a price; a limit of null means unlimited (operations 2.3)."""

    id: UUID
    name: str
    display_name: str
    default_max_services: int | None
    default_max_users: int | None
    price_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TierSummary:
    """A tier, as shown beside an organization."""

    id: UUID
    name: str
    display_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedTier:
    """A tier, and how many organizations have it; more than `COUNTED_MAX` are one more than that."""

    tier: Tier
    organizations: int


def list_all(uow: UnitOfWork) -> Sequence[Tier]:
    """List the tiers, the smallest first."""
    authorize_support(uow)
    return uow.tiers.all()


def list_counted(uow: UnitOfWork) -> Sequence[CountedTier]:
    """List the tiers with how many organizations have each, the smallest first."""
    authorize_support(uow)
    return uow.tiers.counted(COUNTED_MAX + 1)


def find(uow: UnitOfWork, tier_id: UUID) -> Tier:
    """Return the tier to assign to an organization; raise `TierUnknown` when it does not exist."""
    tier = uow.tiers.by_id(tier_id)
    if tier is None:
        raise TierUnknown
    return tier
