"""The health of webhooks for the console: the deliveries of the last day by hour, and the durations of their attempts.

Each number ends at a maximum, so that a webhook with very many deliveries is read as quickly as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.webhooks import webhooks
from core.webhooks.webhooks import Webhook

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

HOUR: Final = timedelta(hours=1)
HOURS: Final = 24
# The list counts so many of the newest deliveries of the day for each webhook.
LISTED_MAX: Final = 1_000
# The durations of so many of the newest attempts of the day are compared.
ATTEMPTS_MAX: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryCounts:
    """How many deliveries have arrived, wait for an attempt, and have failed for good.

    `retried` are the waiting ones whose last attempt has failed.
    """

    delivered: int
    waiting: int
    retried: int
    failed: int

    @property
    def total(self) -> int:
        """The number of all deliveries."""
        return self.delivered + self.waiting + self.failed

    @property
    def success_percent(self) -> float | None:
        """The share of attempted deliveries that have arrived, in percent; None without any."""
        attempted = self.delivered + self.retried + self.failed
        return 100 * self.delivered / attempted if attempted else None

    @property
    def is_failing(self) -> bool:
        """Whether a delivery has failed, for good or until its next attempt."""
        return self.failed + self.retried > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HourOfDeliveries(DeliveryCounts):
    """The deliveries that were made in one hour, of which at most 10,001 are counted."""

    since: datetime

    @property
    def until(self) -> datetime:
        """The end of the hour."""
        return self.since + HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedWebhook(DeliveryCounts):
    """A webhook in the list, with the newest deliveries of the last day and its last failed attempt of any day.

    `off_reason` and `off_at` are as in `HealthFigures`.
    """

    webhook: Webhook
    last_failure_at: datetime | None
    last_error: str | None
    off_reason: str | None = None
    off_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthFigures:
    """Figures of a webhook besides its hours.

    `p95_ms` is how long 95 of 100 attempts took at most, None without any. Until `previous_until` the previous secret
    signs as well, None when the time is over. `off_reason` is why Gatehouse switched it off, None when it did not, and
    `off_at` when, None also where the time is not known.
    """

    p95_ms: int | None
    previous_until: datetime | None
    last_failure_at: datetime | None
    last_error: str | None
    off_reason: str | None = None
    off_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookHealth(HealthFigures):
    """A webhook with the deliveries of its last 24 hours, the current one included, and its other figures."""

    webhook: Webhook
    hours: Sequence[HourOfDeliveries]

    @property
    def counts(self) -> DeliveryCounts:
        """The deliveries of all hours together."""
        return DeliveryCounts(
            delivered=sum(hour.delivered for hour in self.hours),
            waiting=sum(hour.waiting for hour in self.hours),
            retried=sum(hour.retried for hour in self.hours),
            failed=sum(hour.failed for hour in self.hours),
        )

    @property
    def is_exact(self) -> bool:
        """Whether all deliveries of the 24 hours are counted."""
        return all(hour.total <= COUNTED_MAX for hour in self.hours)


def list_all(uow: UnitOfWork, slug: str) -> Sequence[ListedWebhook]:
    """List the webhooks of an organization with their health, the oldest first."""
    organization_id = authorize(uow, slug, Operation.WEBHOOKS_READ).organization.id
    return uow.elsewhere.webhook_healths.of_organization(
        organization_id, since=first_hour(uow.now), counted_max=LISTED_MAX
    )


def show(uow: UnitOfWork, slug: str, webhook_id: UUID) -> WebhookHealth:
    """Return a webhook with its health; raise `WebhookUnknown` when the organization has none with that id."""
    organization_id = authorize(uow, slug, Operation.WEBHOOKS_READ).organization.id
    webhook = webhooks.find(uow, organization_id, webhook_id)
    first = first_hour(uow.now)
    hours = uow.elsewhere.webhook_healths.hours(
        organization_id, webhook_id, first=first, hours=HOURS, counted_max=COUNTED_MAX + 1
    )
    figures = uow.elsewhere.webhook_healths.figures(organization_id, webhook_id, since=first, attempts_max=ATTEMPTS_MAX)
    return WebhookHealth(webhook=webhook, hours=hours, **asdict(figures))


def first_hour(now: datetime) -> datetime:
    """Return the beginning of the first of the last 24 hours, the current one included."""
    return now.replace(minute=0, second=0, microsecond=0) - (HOURS - 1) * HOUR
