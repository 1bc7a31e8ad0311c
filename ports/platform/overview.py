"""The numbers of the platform's overview."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.mail.mail import MailState
from core.organizations.organizations import OrganizationStatus
from core.organizations.overview import SignInTotals
from core.platform.overview import FailingStream, FailingWebhook


class PlatformOverviews(Protocol):
    """Reads whose cost does not grow with the platform; each is a bounded range of an index."""

    def failing_webhooks(self, *, since: datetime, read_max: int, limit: int) -> tuple[Sequence[FailingWebhook], int]:
        """Return active webhooks that lost deliveries since then, the most losses first, and how many there are.

        At most `read_max` deliveries are read, the newest.
        """
        ...

    def failing_streams(self, *, limit: int) -> tuple[Sequence[FailingStream], int]:
        """Return receivers of audit logs that take nothing, the longest first, and how many there are."""
        ...

    def organizations_by_status(self, *, counted_max: int) -> Mapping[OrganizationStatus, int]:
        """Count the organizations of each status, each to a maximum."""
        ...

    def mails_by_state(self, *, counted_max: int) -> Mapping[MailState, int]:
        """Count the mails that wait, have failed or are kept, each to a maximum."""
        ...

    def sign_ins(self, *, after_id: UUID, counted_max: int) -> SignInTotals:
        """Count the sign-ins with a higher id, those that succeeded and those that were refused.

        At most `counted_max` are read.
        """
        ...
