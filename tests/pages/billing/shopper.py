"""A buyer in the sandbox, for the tests in this folder."""

from __future__ import annotations

from typing import Any

from actors.sandbox_sender import SandboxSender
from tests.application import Answer
from tests.world.billing import CHECKOUT, Seller

FORM = "application/x-www-form-urlencoded"
BUTTON = {"subscription_id": "sub_sandbox_1", "action": "renew"}


class Shopper:
    """A buyer with a browser, and the sender of the sandbox's events, which runs when told to."""

    def __init__(self, seller: Seller, mailboxes: Any) -> None:
        self.seller = seller
        installation = seller.world.installation
        self.portal_address = ""
        self._sender = SandboxSender(
            database=installation.database,
            mailboxes=mailboxes,
            metrics=installation.metrics,
            receiver=installation.billing_receiver,
        )

    async def open(self, address: str) -> Answer:
        """Open a page by its address."""
        return await self.seller.world.client.get(address.removeprefix("http://localhost:8000"))

    async def press(
        self, address: str, fields: dict[str, str] | None = None, *, headers: dict[str, str] | None = None
    ) -> Answer:
        """Send the form of a page."""
        data = "&".join(f"{name}={value}" for name, value in (fields or {}).items()).encode()
        path = address.removeprefix("http://localhost:8000")
        return await self.seller.world.client.post(path, data=data, headers={"Content-Type": FORM} | (headers or {}))

    async def start(self, plan: str = "pro") -> dict[str, str]:
        """Start a checkout."""
        answer = await (await self.seller.buyer()).post(CHECKOUT, self.seller.purchase(plan))
        assert answer.status == 200, answer.text
        return answer.json

    async def buy(self) -> None:
        """Buy a plan, and let the events arrive."""
        assert (await self.press((await self.start())["checkout_url"])).status == 303
        await self.send()

    async def portal(self) -> str:
        """Open the portal as the owner; return its address."""
        owner = await self.seller.world.signed_in_member(self.seller.organization_id, email="owner@example.com")
        answer = await owner.post(
            "/api/organizations/acme/billing/portal", {"return_url": "https://app.example.com/billing"}
        )
        assert answer.status == 200, answer.text
        return answer.json["portal_url"]

    async def send(self) -> None:
        """Send the events that are due."""
        await self._sender.work()

    def subscription_id(self) -> str:
        """Return the id of the sandbox's subscription."""
        return self.seller.world.value("SELECT id FROM sandbox_subscriptions")

    def waiting(self) -> int:
        """Return how many events wait to be sent."""
        return self.seller.world.value("SELECT count(*) FROM sandbox_deliveries")
