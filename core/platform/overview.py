"""The overview of the platform: what waits for its owners and its support, then numbers.

Each part is read from an index or from kept figures, so that none takes longer on a large platform. Support sees
nothing of platform owners here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.audit import sign_in_counts
from core.audit.sign_in_counts import SignInAnalytics
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations.authorization import authorize_support
from core.organizations.organizations import OrganizationStatus
from core.platform import mfa
from core.platform.health_figures import PlatformFigures
from core.platform.mails import ListedMailState, OutboxMail
from core.platform.mfa import MfaAlert
from core.platform.organization_records import ListedOrganization, shown_owner

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

PERIOD: Final = timedelta(days=1)
# New users, sign-ins and webhooks with a gone receiver are shown for so many days.
DAYS: Final = sign_in_counts.PERIOD_DAYS_DEFAULT
# Each part shows so many rows; the rest is on the page of its list.
SHOWN_MAX: Final = 5
# The overview looks at so many webhooks with lost deliveries of any time, whatever the number of deliveries.
WEBHOOKS_READ_MAX: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingWebhook:
    """A webhook with deliveries of the last day whose attempts have all failed.

    `lost` is exact up to `COUNTED_MAX`, and one more than that beyond.
    """

    organization_id: UUID
    organization_name: str
    name: str
    lost: int
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GoneWebhook:
    """A webhook that was switched off, because its receiver answered that it is gone (410)."""

    organization_id: UUID
    organization_name: str
    name: str
    off_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingStream:
    """A receiver of an audit log that has accepted nothing since a moment."""

    organization_id: UUID
    organization_name: str
    failing_since: datetime
    last_error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformSetup:
    """What is set up in an installation: a service, a sign-in to one, and a backup."""

    has_service: bool
    has_sign_in: bool
    has_backup: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformNumbers:
    """Numbers of the platform; `figures` is None until the first count.

    The numbers of organizations, mails and new users are exact up to `COUNTED_MAX`, and one more than that beyond. New
    users and sign-ins are of the last thirty days.
    """

    figures: PlatformFigures | None
    organizations: Mapping[OrganizationStatus, int]
    mails: Mapping[ListedMailState, int]
    new_users: int
    sign_ins: SignInAnalytics


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformOverview:
    """The overview: at most `SHOWN_MAX` rows of each part, with the number of all, here or in the numbers.

    Support does not see `owners_without_second_factor`, who are platform owners; `setup` is None for support.
    """

    setup: PlatformSetup | None
    waiting: Sequence[ListedOrganization]
    waiting_total: int
    alerts: Sequence[MfaAlert]
    alerts_total: int
    failed_mails: Sequence[OutboxMail]
    owners_without_second_factor: int
    webhooks: Sequence[FailingWebhook]
    webhooks_total: int
    gone_webhooks: Sequence[GoneWebhook]
    gone_webhooks_total: int
    streams: Sequence[FailingStream]
    streams_total: int
    numbers: PlatformNumbers

    @property
    def is_quiet(self) -> bool:
        """Whether nothing waits."""
        return not (
            self.waiting
            or self.alerts
            or self.failed_mails
            or self.owners_without_second_factor
            or self.webhooks
            or self.gone_webhooks
            or self.streams
        )


def show(uow: UnitOfWork) -> PlatformOverview:
    """Return the overview, as a platform owner or support."""
    sees_owners = authorize_support(uow).acts_as_platform_owner
    since, counted_max = uow.now - PERIOD, COUNTED_MAX + 1
    waiting = uow.elsewhere.organization_records.waiting(limit=SHOWN_MAX)
    organizations = uow.elsewhere.platform_overviews.organizations_by_status(counted_max=counted_max)
    alerts = mfa.suspicious(uow)
    # Their number is among the numbers.
    failed = uow.elsewhere.platform_mails.page(
        state=ListedMailState.FAILED,
        recipient=None,
        hides_owners=not sees_owners,
        limit=SHOWN_MAX,
        offset=0,
        counted_max=SHOWN_MAX,
    )
    webhooks, webhooks_total = uow.elsewhere.platform_overviews.failing_webhooks(
        since=since, webhooks_max=WEBHOOKS_READ_MAX, limit=SHOWN_MAX, counted_max=counted_max
    )
    gone_webhooks, gone_webhooks_total = uow.elsewhere.platform_overviews.gone_webhooks(
        since=uow.now - DAYS * PERIOD, limit=SHOWN_MAX, counted_max=counted_max
    )
    streams, streams_total = uow.elsewhere.platform_overviews.failing_streams(limit=SHOWN_MAX)
    return PlatformOverview(
        setup=uow.elsewhere.platform_overviews.setup() if sees_owners else None,
        waiting=[replace(one, owner=shown_owner(one.owner, sees_owners=sees_owners)) for one in waiting],
        waiting_total=organizations[OrganizationStatus.PENDING],
        alerts=alerts[:SHOWN_MAX],
        alerts_total=len(alerts),
        failed_mails=failed.mails,
        owners_without_second_factor=uow.elsewhere.platform_overviews.owners_without_second_factor()
        if sees_owners
        else 0,
        webhooks=webhooks,
        webhooks_total=webhooks_total,
        gone_webhooks=gone_webhooks,
        gone_webhooks_total=gone_webhooks_total,
        streams=streams,
        streams_total=streams_total,
        numbers=PlatformNumbers(
            figures=uow.elsewhere.figures.platform(),
            organizations=organizations,
            mails=uow.elsewhere.browsed_outbox.count_undelivered(counted_max=counted_max, hides_owners=not sees_owners),
            new_users=uow.elsewhere.platform_overviews.new_users(
                since=uow.now - DAYS * PERIOD, counted_max=counted_max
            ),
            sign_ins=sign_in_counts.of_organization(uow, None, DAYS),
        ),
    )
