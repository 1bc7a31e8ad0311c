"""Tiers: what an organization may use. They are rows that come with the schema (decisions 5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID  # noqa: TC003 - the reference is made from the fields of `Tier`

from core.errors import BadRequest
from core.organizations.access import authorize_platform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ports.unit_of_work import UnitOfWork

# What an organization begins with.
FREE: Final = "free"


class TierUnknown(BadRequest):
    """An organization was to get a tier that there is not."""

    default_message = "There is no such tier. GET /api/platform/tiers lists them."


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """A set of limits with a price; a limit of null is no limit (operations 2.3)."""

    id: UUID
    name: str
    display_name: str
    default_max_services: int | None
    default_max_users: int | None
    price_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TierSummary:
    """A tier as it is named beside an organization."""

    id: UUID
    name: str
    display_name: str


def list_all(uow: UnitOfWork) -> Sequence[Tier]:
    """List the tiers, the smallest first."""
    authorize_platform(uow)
    return uow.tiers.all()


def find(uow: UnitOfWork, tier_id: UUID) -> Tier:
    """Find the tier that an organization is to get."""
    tier = uow.tiers.by_id(tier_id)
    if tier is None:
        raise TierUnknown
    return tier
