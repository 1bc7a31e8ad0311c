"""The mail server of an organization: set over HTTP, and served by the courier when the test says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from actors.mail_couriers import MAILS_OF_LEASE_MAX, SERVERS_AT_ONCE_MAX, RoutedMailCourier
from core.mail import mail, routed_mail
from core.mail.mail import MailTemplate
from tests.application import Answer
from tests.mailboxes import RecordedMailboxes
from tests.world.team import Team

SERVER: dict[str, Any] = {
    "host": "127.0.0.1",
    "port": 587,
    "tls": "none",
    "from_name": "Acme",
    "from_email": "post@acme.example",
}
LOGIN: dict[str, Any] = {"tls": "starttls", "username": "acme", "password": "of the mail server"}


@dataclass(frozen=True)
class MailServers:
    """A team that has a mail server."""

    team: Team

    async def request(self, method: str, path: str = "", **options: Any) -> Answer:
        """Send a request of the owner below the path of the mail server."""
        return await self.team.request("owner", method, f"/smtp{path}", **options)

    async def configure(self, **changes: Any) -> Answer:
        """Set the mail server."""
        answer = await self.request("PUT", body=SERVER | changes)
        assert answer.status == 200, answer.text
        return answer

    async def show(self) -> dict[str, Any]:
        """Return the settings."""
        return (await self.request("GET")).json

    async def queue(self, *recipients: str) -> None:
        """Queue mails of the organization's context."""
        database = self.team.world.installation.database
        for to in recipients:
            await database.transact(
                mail.send,
                to,
                MailTemplate.TRIAL_ENDING,
                organization_id=self.team.organization_id,
                service="Shop",
                organization="Acme",
                link="",
            )

    async def deliver(self) -> int:
        """Attempt what is due, as the courier does; return how many servers were leased."""
        installation = self.team.world.installation
        courier = RoutedMailCourier(
            database=installation.database,
            mailboxes=RecordedMailboxes(),
            renderer=installation.mail_renderer,
            gateway=installation.routing_gateway,
            metrics=installation.metrics,
        )
        leased = await installation.database.transact(routed_mail.lease, SERVERS_AT_ONCE_MAX, MAILS_OF_LEASE_MAX)
        for server in leased:
            await courier.serve(server)
        return len(leased)

    def states(self) -> dict[str, tuple[str, int]]:
        """Return the state and the attempts of each mail of the organization, by its recipient."""
        rows = self.team.world.rows(
            "SELECT recipient, state, attempts FROM mails WHERE organization_id = %s ORDER BY id",
            self.team.organization_id,
        )
        return {recipient: (state, attempts) for recipient, state, attempts in rows}
