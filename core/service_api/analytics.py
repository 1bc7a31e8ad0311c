"""Figures about the users of a service, for its backend."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.services import api_keys
from core.services.api_keys import Permission

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

PERIOD: Final = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCount:
    """How many users are subscribed to a plan."""

    plan_id: UUID
    plan_name: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderCount:
    """How many sign-ins were made with a provider, such as `password`."""

    provider: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAnalytics:
    """Figures about a service: its users, their sign-ins of the last 30 days, and their active subscriptions."""

    total_users: int
    active_users_30d: int
    new_users_30d: int
    total_logins_30d: int
    active_subscriptions: int
    subscriptions_by_plan: list[PlanCount]
    logins_by_provider: list[ProviderCount]


def read(uow: UnitOfWork) -> ServiceAnalytics:
    """Return the figures of the service."""
    caller = api_keys.authorize(uow, Permission.READ_ANALYTICS)
    return uow.elsewhere.service_figures.read(caller, since=uow.now - PERIOD)
