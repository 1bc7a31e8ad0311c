"""A customer that a vendor has made, which a member and a program of the vendor set up: a view of the world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.application import Answer
from tests.world.backend import Backend, insert_key
from tests.world.trade import Trade

KEY = f"sk_setup1_{'s' * 43}"
CONNECTION = {
    "type": "oidc",
    "name": "Globex",
    "issuer": "https://login.globex.com",
    "client_id": "gatehouse",
    "client_secret": "very-secret",
}


@dataclass(frozen=True)
class CustomerSetup:
    """A customer that the vendor has made, which a member and a program of the vendor set up."""

    trade: Trade
    backend: Backend
    customer_id: str

    async def by_member(self, method: str, path: str, *, by: str = "owner", **options: Any) -> Answer:
        """Send a request below the customer as a person of the vendor."""
        return await self.trade.at_vendor(method, f"/{self.customer_id}{path}", by=by, **options)

    async def by_key(self, method: str, path: str, **options: Any) -> Answer:
        """Send a request below the customer with the key of the service."""
        return await self.backend.request(method, f"/customers/{self.customer_id}{path}", **options)

    async def connect(self, **fields: Any) -> dict[str, Any]:
        """Make a connection, and return it."""
        answer = await self.by_key("POST", "/connections", body=CONNECTION | fields)
        assert answer.status == 200, answer.text
        return answer.json

    async def link(self, *parts: str, **fields: Any) -> dict[str, Any]:
        """Make a setup link with the key, and return it."""
        answer = await self.by_key("POST", "/setup-links", body={"parts": list(parts), **fields})
        assert answer.status == 200, answer.text
        return answer.json

    @property
    def internal_id(self) -> Any:
        """The id of the internal organization of the customer; None before anything is set up."""
        return self.trade.world.value("SELECT id FROM organizations WHERE internal_of = %s", self.customer_id)

    def claim(self, *parts: str) -> None:
        """Give the organization of the customer an owner, who lets the vendor set up these parts."""
        self.trade.world.connection.execute(
            """
            UPDATE organizations SET is_unclaimed = false
            WHERE  id = (SELECT organization_id FROM service_customers WHERE id = %s)
            """,
            (self.customer_id,),
        )
        self.trade.world.connection.execute(
            "UPDATE service_customers SET vendor_setup = %s WHERE id = %s", (list(parts), self.customer_id)
        )


async def make_customer_setup(trade: Trade, name: str = "Globex", *, key: str = KEY) -> CustomerSetup:
    """Make a customer, and a key that sets it up, which an admin of the vendor has made."""
    made = await trade.at_vendor("POST", body={"name": name})
    assert made.status == 200, made.text
    insert_key(trade.world, trade.vendor.organization_id, trade.service.id, key, permissions=["setup:customers"])
    trade.world.connection.execute("UPDATE api_keys SET created_by = %s", (trade.vendor.ids["admin"],))
    backend = Backend(trade.world, trade.vendor.organization_id, trade.service.id, key)
    return CustomerSetup(trade, backend, made.json["id"])
