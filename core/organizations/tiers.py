"""Tiers: the limits of organizations.

The schema inserts three; platform owners create, change and delete tiers. An organization gets its tier in
`core/platform/organizations.py`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.errors import BadRequest, Conflict, NotFound, all_checked
from core.events.actions import PlatformAction
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations.authorization import authorize_platform, authorize_support
from core.text import checked_name, checked_slug
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The tier of a new organization.
FREE: Final = "free"
# Enough for any platform, and few enough to choose from in one list.
TIERS_MAX: Final = 50


class TierUnknown(BadRequest):
    """The tier to assign does not exist."""

    default_message = "There is no such tier. GET /api/platform/tiers lists them."


class NoSuchTier(NotFound):
    """No tier has this id."""

    default_message = "There is no such tier."


class TierTaken(Conflict):
    """The name belongs to another tier."""

    default_message = "Another tier has this name. Choose another one."


class TierChanged(Conflict):
    """Another person has changed the tier since the caller saw it."""

    default_message = (
        "Another person has changed this tier meanwhile. Check what is shown now, and send the form again if you still"
        " want it."
    )


class TierInUse(Conflict):
    """Organizations have the tier."""

    default_message = "Organizations have this tier. Give them another one before you delete it."


class TierNeeded(Conflict):
    """New organizations begin in the tier."""

    default_message = "New organizations begin in this tier, so it cannot be deleted. Change its limits instead."


class TooManyTiers(BadRequest):
    """The platform has the maximum number of tiers."""

    default_message = Wording(
        "A platform can have at most %(maximum)s tiers. Delete one that is not in use.", maximum=TIERS_MAX
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TierFields:
    """What platform owners set for a tier; a limit of None is no limit, and the name never changes."""

    name: str
    display_name: str
    default_max_services: int | None
    default_max_users: int | None
    price_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier(TierFields):
    """A set of limits with a price; a limit of null means unlimited."""

    id: UUID

    @property
    def is_needed(self) -> bool:
        """Whether new organizations begin in it."""
        return self.name == FREE

    @property
    def state(self) -> str:
        """A short text that changes with any field; a form sends the one that its page has shown."""
        shown = json.dumps([getattr(self, one.name) for one in fields(TierFields)])
        return hashlib.sha256(shown.encode()).hexdigest()[:32]

    def changes(self, before: Tier) -> dict[str, Any]:
        """Return the old and the new value of each changed field, in the form of an audit entry."""
        return {
            one.name: {"from": getattr(before, one.name), "to": getattr(self, one.name)}
            for one in fields(TierFields)
            if getattr(before, one.name) != getattr(self, one.name)
        }


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


def show(uow: UnitOfWork, tier_id: UUID) -> CountedTier:
    """Return a tier with how many organizations have it; raise `NoSuchTier`."""
    authorize_support(uow)
    found = uow.tiers.counted(COUNTED_MAX + 1, tier_id=tier_id)
    if not found:
        raise NoSuchTier
    return found[0]


def show_to_owner(uow: UnitOfWork, tier_id: UUID) -> CountedTier:
    """Return what `show` returns, to platform owners alone, who are about to delete the tier."""
    authorize_platform(uow)
    return show(uow, tier_id)


def create(uow: UnitOfWork, given: TierFields) -> Tier:
    """Create a tier, as a platform owner; raise `TierTaken` when another one has its name."""
    authorize_platform(uow)
    tier = Tier(id=uow.randomness.new_id(), **all_checked(asdict(given), _CHECKS))
    # The free tier always exists: behind its lock no other transaction adds a tier.
    uow.tiers.lock_free()
    if uow.tiers.count() >= TIERS_MAX:
        raise TooManyTiers
    if not uow.tiers.add(tier):
        raise TierTaken
    uow.audit_platform(
        PlatformAction.TIER_CREATED, tier.id, **{one.name: getattr(tier, one.name) for one in fields(TierFields)}
    )
    return tier


def change(uow: UnitOfWork, tier_id: UUID, changes: Mapping[str, Any], *, seen_state: str | None = None) -> Tier:
    """Change the given fields of a tier but its name, as a platform owner; a limit of None is no limit.

    Its organizations have the new limits from their next request on; what they have beyond a lower one stays. Raise
    `TierChanged` when its state is not `seen_state`, which the caller has seen.
    """
    authorize_platform(uow)
    # Invalid input is refused before an unknown tier.
    checked = all_checked(dict(changes), _CHECKS)
    if not checked:
        raise BadRequest("Name at least one field to change.")
    before = _lock(uow, tier_id, seen_state)
    after = replace(before, **checked)
    if after == before:
        return before
    uow.tiers.save(after)
    uow.audit_platform(PlatformAction.TIER_CHANGED, tier_id, tier=after.name, changes=after.changes(before))
    return after


def delete(uow: UnitOfWork, tier_id: UUID, *, seen_state: str | None = None) -> None:
    """Delete a tier, as a platform owner; raise `TierInUse` when an organization has it.

    Raise `TierNeeded` for the tier of new organizations, and `TierChanged` as `change` does.
    """
    authorize_platform(uow)
    # Locked, so that no organization gets the tier between the check and the deletion.
    tier = _lock(uow, tier_id, seen_state)
    if tier.is_needed:
        raise TierNeeded
    if any(one.organizations for one in uow.tiers.counted(1, tier_id=tier_id)):
        raise TierInUse
    uow.tiers.remove(tier_id)
    uow.audit_platform(PlatformAction.TIER_DELETED, tier_id, tier=tier.name)


def find(uow: UnitOfWork, tier_id: UUID) -> Tier:
    """Return the tier to assign to an organization; the tier is not deleted before the transaction ends.

    Raise `TierUnknown` when it does not exist.
    """
    tier = uow.tiers.keep(tier_id)
    if tier is None:
        raise TierUnknown
    return tier


def _lock(uow: UnitOfWork, tier_id: UUID, seen_state: str | None) -> Tier:
    tier = uow.tiers.lock(tier_id)
    if tier is None:
        raise NoSuchTier
    if seen_state not in {None, tier.state}:
        raise TierChanged
    return tier


_CHECKS: Final[dict[str, Callable[[Any], Any]]] = {
    "name": partial(checked_slug, field="name"),
    "display_name": partial(checked_name, characters_min=1, field="display_name"),
}
