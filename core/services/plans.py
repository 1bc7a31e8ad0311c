"""Plans of a service, to which its end users subscribe: creating, listing, changing and deleting them.

Each service has one default plan, which holds for users without a subscription. Subscriptions are in
`subscriptions.py`; buying one is not part of this area.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import field, fields, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.errors import BadRequest, Conflict, NotFound, all_checked
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations.access import Operation
from core.positions import FoundRows, Position, found_rows
from core.services import service_access
from core.services.services import Service
from core.text import checked_name, checked_public_name
from core.wording import Grouped, Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

DEFAULT_PLAN_NAME: Final = "Free"
DEFAULT_CURRENCY: Final = "usd"
# Enough for any service, and few enough to be listed without pages.
PLANS_MAX: Final = 100
FEATURES_MAX: Final = 50
# The features of a plan are in every access token, which travels with every request.
FEATURES_JSON_CHARACTERS_MAX: Final = 2_000
BILLING_PRICE_ID_CHARACTERS_MAX: Final = 255

_CURRENCY: Final = re.compile("[a-z]{3}")
_BILLING_PRICE_ID: Final = re.compile(r"[\x21-\x7e]+")


class PlanUnknown(NotFound):
    """The service has no plan with that id."""

    default_message = "This service has no such plan."


class PriceTaken(Conflict):
    """Another plan of the installation has the price of the payment provider."""

    default_message = "Another plan has this billing_price_id already. A price belongs to one plan."


class PlanChanged(Conflict):
    """The plan is not as the caller has seen it."""

    default_message = (
        "Another person has changed this plan meanwhile. Above is how it is now; look at your changes, and save again."
    )


class PlanIsDefault(BadRequest):
    """The default plan cannot be deleted."""

    default_message = "The default plan cannot be deleted: it holds for everyone without a subscription."


class PlanInUse(BadRequest):
    """Users are subscribed to the plan."""

    default_message = (
        "This plan has active subscriptions. Move them to another plan, or cancel them, before deleting it."
    )


class TooManyPlans(BadRequest):
    """The service has the maximum number of plans."""

    default_message = Wording(
        "A service can have at most %(maximum)s plans. Delete one that is not in use.", maximum=PLANS_MAX
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFields:
    """What an organization sets for a plan."""

    name: str
    price_cents: int
    currency: str = DEFAULT_CURRENCY
    features: list[str] = field(default_factory=list)
    billing_price_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(PlanFields):
    """A plan; it can be bought when the payment provider has a price for it."""

    id: UUID
    organization_id: UUID
    service_id: UUID
    is_default: bool
    created_at: datetime

    @property
    def state(self) -> str:
        """A short text that changes with any field; a form sends the one that its page has shown."""
        shown = json.dumps([getattr(self, one.name) for one in fields(PlanFields)])
        return hashlib.sha256(shown.encode()).hexdigest()[:32]

    def changes(self, before: Plan) -> dict[str, Any]:
        """Return the old and the new value of each changed field, in the form of an audit entry."""
        return {
            one.name: {"from": getattr(before, one.name), "to": getattr(self, one.name)}
            for one in fields(self)
            if getattr(before, one.name) != getattr(self, one.name)
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedPlan:
    """A plan, and how many users are subscribed to it."""

    plan: Plan
    subscription_count: int

    @property
    def position(self) -> Position:
        """The place of the plan in the list."""
        return Position(at=self.plan.created_at, id=self.plan.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEnd:
    """A plan and its subscriptions: the ones that prevent its deletion, and the ones that go with it.

    Both numbers are exact up to `COUNTED_MAX`, and one more than that beyond.
    """

    plan: Plan
    live: int
    ended: int


def default_plan(uow: UnitOfWork, service: Service) -> Plan:
    """Return the default plan of a new service."""
    return Plan(
        id=uow.randomness.new_id(),
        organization_id=service.organization_id,
        service_id=service.id,
        name=DEFAULT_PLAN_NAME,
        price_cents=0,
        is_default=True,
        created_at=uow.now,
    )


def list_all(uow: UnitOfWork, slug: str, service_slug: str) -> Sequence[CountedPlan]:
    """List the plans of a service, the oldest first."""
    service = service_access.authorize(uow, slug, service_slug, Operation.PLANS_READ).service
    return uow.plans.of_service(service)


def search(
    uow: UnitOfWork, slug: str, service_slug: str, *, search: str, after: Position | None, limit: int
) -> FoundRows[CountedPlan]:
    """Find plans of a service by a part of their name, the oldest first; an empty text finds all.

    The numbers of subscriptions are exact up to `COUNTED_MAX`, and one more than that beyond.
    """
    service = service_access.authorize(uow, slug, service_slug, Operation.PLANS_READ).service
    part = search.strip()
    found = uow.elsewhere.plans.page(service, part=part, after=after, limit=limit + 1)
    return found_rows(
        found, after=after, limit=limit, count=partial(uow.elsewhere.plans.count_found, service, part=part)
    )


def show(uow: UnitOfWork, slug: str, service_slug: str, plan_id: UUID) -> PlanEnd:
    """Return a plan with its numbers of subscriptions; raise `PlanUnknown` when the service has none with that id."""
    service = service_access.authorize(uow, slug, service_slug, Operation.PLANS_READ).service
    return _with_numbers(uow, _find(uow, service, plan_id))


def show_end(uow: UnitOfWork, slug: str, service_slug: str, plan_id: UUID) -> PlanEnd:
    """Return what `show` does, to a caller who may delete the plan."""
    service = service_access.authorize(uow, slug, service_slug, Operation.PLANS_CHANGE).service
    return _with_numbers(uow, _find(uow, service, plan_id))


def require_changeable(uow: UnitOfWork, slug: str, service_slug: str) -> None:
    """Authorize the caller to change plans before they describe one."""
    service_access.authorize(uow, slug, service_slug, Operation.PLANS_CHANGE)


def create(uow: UnitOfWork, slug: str, service_slug: str, given: PlanFields) -> Plan:
    """Create a plan; raise `PriceTaken` when its price belongs to another one."""
    service = service_access.authorize_and_lock(uow, slug, service_slug, Operation.PLANS_CHANGE).service
    plan = Plan(
        id=uow.randomness.new_id(),
        organization_id=service.organization_id,
        service_id=service.id,
        is_default=False,
        created_at=uow.now,
        **_checked({one.name: getattr(given, one.name) for one in fields(PlanFields)}),
    )
    # The organization is locked, so no other transaction adds a plan meanwhile.
    if uow.plans.count(service) >= PLANS_MAX:
        raise TooManyPlans
    if not uow.plans.add(plan):
        raise PriceTaken
    _record(uow, AuditAction.PLAN_CREATED, service, plan, price_cents=plan.price_cents, currency=plan.currency)
    return plan


def change(
    uow: UnitOfWork,
    slug: str,
    service_slug: str,
    plan_id: UUID,
    changes: dict[str, Any],
    *,
    seen_state: str | None = None,
) -> Plan:
    """Change the given fields of a plan; None removes the price id, and leaves any other field as it is.

    Raise `PlanChanged` when the caller has seen another state of the plan than the stored one.
    """
    service = service_access.authorize_and_lock(uow, slug, service_slug, Operation.PLANS_CHANGE).service
    # Invalid input is refused before an unknown plan.
    checked = _checked(
        {name: value for name, value in changes.items() if value is not None or name == "billing_price_id"}
    )
    if not checked:
        raise BadRequest("Name at least one field to change.")
    before = _find(uow, service, plan_id)
    if seen_state not in {None, before.state}:
        raise PlanChanged
    after = replace(before, **checked)
    if after == before:
        return before
    if not uow.plans.save(after):
        raise PriceTaken
    _record(uow, AuditAction.PLAN_UPDATED, service, after, changes=after.changes(before))
    return after


def delete(uow: UnitOfWork, slug: str, service_slug: str, plan_id: UUID) -> None:
    """Delete a plan with its ended subscriptions; raise `PlanInUse` when it has active ones."""
    service = service_access.authorize_and_lock(uow, slug, service_slug, Operation.PLANS_CHANGE).service
    # Locked, so that no user subscribes between the check and the deletion.
    plan = uow.plans.lock(service, plan_id)
    if plan is None:
        raise PlanUnknown
    if plan.is_default:
        raise PlanIsDefault
    if uow.subscriptions.are_live_of_plan(plan):
        raise PlanInUse
    uow.plans.remove(plan)
    _record(uow, AuditAction.PLAN_DELETED, service, plan)


def _with_numbers(uow: UnitOfWork, plan: Plan) -> PlanEnd:
    live, ended = uow.plans.subscriptions(plan, counted_max=COUNTED_MAX + 1)
    return PlanEnd(plan=plan, live=live, ended=ended)


def _find(uow: UnitOfWork, service: Service, plan_id: UUID) -> Plan:
    plan = uow.plans.find(service.organization_id, service.id, plan_id)
    if plan is None:
        raise PlanUnknown
    return plan


def _record(uow: UnitOfWork, action: AuditAction, service: Service, plan: Plan, **details: Any) -> None:
    uow.record(
        action,
        plan.id,
        organization_id=service.organization_id,
        plan_id=str(plan.id),
        plan_name=plan.name,
        service_id=str(service.id),
        service_slug=service.slug,
        **details,
    )


def _checked(given: dict[str, Any]) -> dict[str, Any]:
    """Return the stored form of the given fields; raise `BadRequest` for invalid ones."""
    return all_checked(given, _CHECKS)


def _checked_currency(currency: str) -> str:
    if not _CURRENCY.fullmatch(currency):
        raise BadRequest.of_field("currency", "A currency has three lower-case letters, such as usd.")
    return currency


def _checked_features(features: Sequence[str]) -> list[str]:
    # Repetitions are dropped below, so this first bound is twice the maximum.
    if len(features) > 2 * FEATURES_MAX:
        raise _too_many_features()
    checked = list(dict.fromkeys(checked_name(feature, characters_min=1, field="features") for feature in features))
    if len(checked) > FEATURES_MAX or len(json.dumps(checked)) > FEATURES_JSON_CHARACTERS_MAX:
        raise _too_many_features()
    return checked


def _too_many_features() -> BadRequest:
    return BadRequest.of_field(
        "features",
        Wording(
            "A plan has at most %(maximum)s features, which take %(characters)s characters as"
            " JSON: they are in every access token.",
            maximum=FEATURES_MAX,
            characters=Grouped(FEATURES_JSON_CHARACTERS_MAX),
        ),
    )


def _checked_price_id(billing_price_id: str | None) -> str | None:
    if billing_price_id is None:
        return None
    is_possible = len(billing_price_id) <= BILLING_PRICE_ID_CHARACTERS_MAX
    if not is_possible or not _BILLING_PRICE_ID.fullmatch(billing_price_id):
        raise BadRequest.of_field(
            "billing_price_id", "This must be the id of a price at the payment provider, such as price_1234."
        )
    return billing_price_id


_CHECKS: Final[dict[str, Callable[[Any], Any]]] = {
    "name": checked_public_name,
    "currency": _checked_currency,
    "features": _checked_features,
    "billing_price_id": _checked_price_id,
}
