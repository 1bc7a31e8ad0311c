"""An installation whose clock is set back: requests to it, and its background work, happen at the time of the clock.

Everything goes through the application and the use cases, so counters, chains and ids are what they would have been.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

import httpx

from core.attempts import Attempt
from core.audit import chain
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.webhooks import deliveries, sequencing
from core.webhooks.deliveries import DueDelivery, LeasedWebhook
from entrypoints.refusals import CannotStart

if TYPE_CHECKING:
    from entrypoints.installation import Installation
    from entrypoints.web.serving.application import Application

PORT: Final = 50_000
ROWS_MAX: Final = 400
LINK: Final = re.compile(r"/(auth/verify-email|invitations/accept)\?token=[a-z0-9&=-]+")


@dataclass
class PastClock:
    """The port `Clock`: it stands still until it is moved forward."""

    now: datetime

    def __call__(self) -> datetime:
        """Return the time that was set."""
        return self.now

    def move_to(self, moment: datetime) -> None:
        """Set a time that is not before the present one, because ids are made in the order of time."""
        self.now = max(self.now, moment)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Where requests come from: the network address and the browser of a person or program."""

    address: str
    user_agent: str


@dataclass
class Past:
    """Sends requests to an installation in its past."""

    installation: Installation
    application: Application
    clock: PastClock
    # Answers as the receiver at an address did at a time.
    receiver: Callable[[str, datetime], Attempt]
    _turn: UUID | None = field(default=None, init=False)
    _links: dict[str, str] = field(default_factory=dict[str, str], init=False)

    async def request(
        self,
        visitor: Visitor,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        token: str = "",
        key: str = "",
        refused: int | None = None,
    ) -> Any:
        """Send a request, and return the answer; raise `CannotStart` when it is refused otherwise than as expected."""
        headers = {"User-Agent": visitor.user_agent, "Accept": "application/json"}
        headers |= {"Content-Type": "application/json"} if body is not None else {}
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        headers |= {"X-Api-Key": key} if key else {}
        # The types of ASGI come from another library.
        transport = httpx.ASGITransport(cast("Any", self.application), client=(visitor.address, PORT))
        async with httpx.AsyncClient(transport=transport, base_url=self.installation.settings.base_url) as client:
            response = await client.request(
                method, path, content=None if body is None else json.dumps(body), headers=headers
            )
        content = response.content
        if response.status_code != refused and not 200 <= response.status_code < 400:
            raise CannotStart(f"The demo cannot be filled: {method} {path} answered {content.decode()}")
        return json.loads(content) if content.startswith((b"{", b"[")) else None

    async def mailed_link(self, email: str) -> str:
        """Return the path in the newest mail to an address; all mails go to the mailbox of the development mode."""
        database, renderer = self.installation.database, self.installation.mail_renderer
        while claimed := await database.transact(mail.claim, ROWS_MAX):
            for one in claimed:
                text = renderer.render(one.message, one.brand).text
                found = LINK.search(text)
                if found is not None:
                    self._links[one.message.to] = found.group()
                await database.transact(mail.record_kept, mail=one)
        return self._links.pop(email)

    async def work(self) -> None:
        """Do what the background tasks would have done by now: sequence events, and deliver what is due."""
        database = self.installation.database
        while True:
            sequenced = await database.transact(sequencing.assign_positions, ROWS_MAX, self._turn)
            self._turn = sequenced.continue_after
            if not sequenced.has_more:
                break
        while webhooks := await database.transact(deliveries.lease, ROWS_MAX, ROWS_MAX):
            for webhook in webhooks:
                for delivery in webhook.deliveries:
                    await self._deliver(webhook, delivery)
                await database.transact(deliveries.release, webhook)

    async def seal(self) -> None:
        """Seal the audit entries that were written by now."""
        while await self.installation.database.transact(chain.seal_next, ROWS_MAX):
            pass

    async def _deliver(self, webhook: LeasedWebhook, delivery: DueDelivery) -> None:
        attempt = self.receiver(webhook.url, self.clock())
        await self.installation.database.transact(
            deliveries.record, webhook=webhook, delivery=delivery, attempt=attempt
        )
