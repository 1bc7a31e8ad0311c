"""Customers that a vendor makes, their internal organizations, and people who claim them: a view of the world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from core.customers import customers, setup_callers
from core.mail.mail import MailTemplate
from core.services.services import Service
from ports.unit_of_work import UnitOfWork
from tests.application import Answer
from tests.world.trade import Trade
from tests.world.visitor import Visitor

ANN = "ann@globex.example"
CLAIMS = "/app/claims"
OWN = "/app/claims/own"


@dataclass(frozen=True)
class Claims:
    """A vendor that makes customers, and a person it asks to own one."""

    trade: Trade

    async def make(self, name: str = "Globex", **others: object) -> str:
        """Make a customer, and return its id."""
        answer = await self.trade.at_vendor("POST", body={"name": name, **others})
        assert answer.status == 200, answer.text
        return str(answer.json["id"])

    async def record(self, customer_id: str) -> dict[str, object]:
        """Return the customer as its vendor sees it."""
        return (await self.trade.at_vendor("GET", f"/{customer_id}")).json

    async def token(self, customer_id: str, email: str = ANN) -> str:
        """Name the owner of a customer, and return the token of the mailed link."""
        answer = await self.trade.at_vendor("POST", f"/{customer_id}/owner", body={"email": email})
        assert answer.status == 200, answer.text
        return await self.mailed_token()

    async def mailed_token(self) -> str:
        """Return the token of the one link that was mailed since the last call."""
        [message] = [one for one in await self.trade.world.mails() if one.template is MailTemplate.CUSTOMER_CLAIM]
        return message.values["token"]

    async def browser(self, email: str = ANN) -> Visitor:
        """Sign a person in, in a browser of their own; an account is made where there is none."""
        if not self.trade.world.rows("SELECT FROM users WHERE email = %s", email):
            self.trade.world.user(email)
        visitor = Visitor(self.trade.world.client)
        await visitor.sign_in(email)
        return visitor

    async def claim(
        self, browser: Visitor, token: str, *, slug: str = "globex", name: str = "Globex", **fields: Any
    ) -> Answer:
        """Open the page of a link, and send its form."""
        page = await browser.open(f"{OWN}?token={token}")
        if page.status != 200 or f'action="{OWN}"' not in page.text:
            return page
        return await browser.submit(page, OWN, name=name, slug=slug, **fields)

    async def claimed(self, name: str = "Globex", slug: str = "globex", **fields: str) -> str:
        """Make a customer that Ann claims, and return its id."""
        customer_id = await self.make(name)
        answer = await self.claim(await self.browser(), await self.token(customer_id), slug=slug, **fields)
        assert answer.status == 200, answer.text
        return customer_id

    async def internal(self, customer_id: str) -> UUID:
        """Return the internal organization of a customer, made if there is none."""

        def add(uow: UnitOfWork) -> UUID:
            service = uow.services.by_slug(self.trade.vendor.organization_id, "shop")
            assert isinstance(service, Service)
            return setup_callers.lock_or_add(uow, customers.find(uow, service, UUID(customer_id))).id

        return await self.trade.world.installation.database.transact(add)

    def organization_of(self, customer_id: str) -> UUID:
        """Return the organization of a customer, ended or not."""
        query = "SELECT coalesce(organization_id, ended_organization_id) FROM service_customers WHERE id = %s"
        return self.trade.world.value(query, customer_id)
