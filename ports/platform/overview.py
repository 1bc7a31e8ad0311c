"""Reading the numbers of the platform's overview."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from core.organizations.organizations import OrganizationStatus
from core.platform.overview import FailingStream, FailingWebhook, GoneWebhook, PlatformSetup


class PlatformOverviews(Protocol):
    """Reads whose cost does not grow with the platform; each is a bounded range of an index."""

    def setup(self) -> PlatformSetup:
        """Return which parts of the installation are set up."""
        ...

    def failing_webhooks(
        self, *, since: datetime, webhooks_max: int, limit: int, counted_max: int
    ) -> tuple[Sequence[FailingWebhook], int]:
        """Return active webhooks that lost deliveries since then, the newest loss first, and how many there are.

        At most `webhooks_max` are read, and the losses of those returned are counted up to a maximum, so that no
        webhook hides others by its many losses.
        """
        ...

    def gone_webhooks(self, *, since: datetime, limit: int, counted_max: int) -> tuple[Sequence[GoneWebhook], int]:
        """Return webhooks that were switched off since then because their receiver is gone, the newest first.

        The second value counts them all, up to a maximum.
        """
        ...

    def failing_streams(self, *, limit: int) -> tuple[Sequence[FailingStream], int]:
        """Return receivers of audit logs that take nothing, the longest first, and how many there are."""
        ...

    def owners_without_second_factor(self) -> int:
        """Count the platform owners whose account has neither a second factor nor a passkey that checks its user."""
        ...

    def organizations_by_status(self, *, counted_max: int) -> Mapping[OrganizationStatus, int]:
        """Count the organizations of each status, each up to a maximum."""
        ...

    def new_users(self, *, since: datetime, counted_max: int) -> int:
        """Count the accounts that were made since then, up to a maximum."""
        ...
