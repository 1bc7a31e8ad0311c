"""A customer whose owner adopts what its vendor has made: a view of the world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.application import Answer
from tests.world.backend import Backend, insert_key
from tests.world.customer_setups import KEY, CustomerSetup
from tests.world.trade import Trade

ALL_PARTS = ["upstream", "mail_domain", "scim", "groups"]
THINGS = "/made-for-us"
DOMAIN = "globex.com"


@dataclass(frozen=True)
class Adoption:
    """The organization `beta`, which lets the vendor `acme` set everything up, and whose owner is `head`."""

    trade: Trade
    setup: CustomerSetup

    @property
    def world(self) -> Any:
        """The world of both."""
        return self.trade.world

    async def make(self, path: str, **body: Any) -> dict[str, Any]:
        """Make something for the customer with the key of the service."""
        answer = await self.setup.by_key("POST", path, body=body)
        assert answer.status == 200, answer.text
        return answer.json

    async def things(self, *, by: str = "head") -> list[dict[str, Any]]:
        """Return what the owner reads."""
        answer = await self.trade.customer.request(by, "GET", THINGS)
        assert answer.status == 200, answer.text
        assert answer.json["total"] == len(answer.json["things"])
        return answer.json["things"]

    async def adopt(self, thing_id: str, *, by: str = "head") -> Answer:
        """Adopt a thing."""
        return await self.trade.customer.request(by, "POST", f"{THINGS}/{thing_id}/adopt")

    async def remove(self, thing_id: str, *, by: str = "head") -> Answer:
        """Remove a thing."""
        return await self.trade.customer.request(by, "DELETE", f"{THINGS}/{thing_id}")

    async def own(self, method: str, path: str, **options: Any) -> Answer:
        """Send a request of the owner below the organization."""
        return await self.trade.customer.request("head", method, path, **options)

    async def prove(self, domain: str = DOMAIN) -> str:
        """Prove a mail domain for the customer itself, by a connection without metadata; return the route's id."""
        connection = await self.own("POST", "/upstream-providers", body={"type": "saml", "name": "Placeholder"})
        assert connection.status == 200, connection.text
        body = {"domain": domain, "provider_id": connection.json["id"], "enforced": False}
        route = await self.own("POST", "/domain-routes", body=body)
        assert route.status == 200, route.text
        self.world.connection.execute(
            """
            UPDATE domain_routes
            SET    status = 'verified', verified_at = %(now)s, proved_at = %(now)s
            WHERE  id = %(id)s
            """,
            {"now": self.world.clock(), "id": route.json["id"]},
        )
        return route.json["id"]


async def make_adoption(trade: Trade) -> Adoption:
    """Let the organization become a customer that the vendor sets up, with a key."""
    customer_id = await trade.begin()
    insert_key(
        trade.world,
        trade.vendor.organization_id,
        trade.service.id,
        KEY,
        permissions=["setup:customers"],
        made_by=trade.vendor.ids["admin"],
    )
    trade.world.connection.execute(
        "UPDATE service_customers SET vendor_setup = %s WHERE id = %s", (ALL_PARTS, customer_id)
    )
    backend = Backend(trade.world, trade.vendor.organization_id, trade.service.id, KEY)
    return Adoption(trade, CustomerSetup(trade, backend, customer_id))
