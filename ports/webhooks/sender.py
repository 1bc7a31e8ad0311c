"""Sending deliveries to receivers."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.attempts import Attempt
from core.secrets import Secret
from core.webhooks.deliveries import DueDelivery


class WebhookSender(Protocol):
    """Makes attempts; a failure of the receiver is returned, not raised."""

    async def send(
        self, organization_id: UUID, url: str, delivery: DueDelivery, secrets: Sequence[Secret], *, at: datetime
    ) -> Attempt:
        """Send a delivery of an organization, signed with each secret at that time.

        Return the outcome, within 15 seconds.
        """
        ...
