"""A vendor with a service, and an organization that may become its customer: a view of the world."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.application import Answer
from tests.world.builder import Service
from tests.world.team import Team
from tests.world.world import World

ROLES = ("editor", "viewer")


@dataclass(frozen=True)
class Trade:
    """The vendor `acme` with the service `shop` for customers, and the organization `beta`, each with people."""

    vendor: Team
    customer: Team
    service: Service
    role_ids: dict[str, UUID]

    @property
    def world(self) -> World:
        """The world of both."""
        return self.vendor.world

    @property
    def product_path(self) -> str:
        """The path of the product below the customer's."""
        return f"/products/{self.service.client_id}"

    async def at_vendor(self, method: str, path: str = "", *, by: str = "owner", **options: Any) -> Answer:
        """Send a request below the customers of the service as a person of the vendor."""
        return await self.vendor.request(by, method, f"/services/shop/customers{path}", **options)

    async def at_customer(self, method: str, path: str | None = None, *, by: str = "head", **options: Any) -> Answer:
        """Send a request for the product, or to another path, as a person of the customer."""
        return await self.customer.request(by, method, self.product_path if path is None else path, **options)

    async def offer(self, organization: str = "beta", **others: Any) -> str:
        """Offer the service, and return the id of the offer."""
        answer = await self.at_vendor("POST", body={"organization": organization, **others})
        assert answer.status == 200, answer.text
        return str(answer.json["id"])

    async def send_acceptance(self, *, by: str = "head", client_id: object = None) -> Answer:
        """Begin to use the service, or the service of another client id."""
        body = {"client_id": str(client_id or self.service.client_id)}
        return await self.customer.request(by, "POST", "/products", body=body)

    async def accept(self) -> dict[str, Any]:
        """Accept the offer, and return the product."""
        answer = await self.send_acceptance()
        assert answer.status == 200, answer.text
        return answer.json

    async def begin(self, **others: Any) -> str:
        """Offer the service and accept it, and return the id of the record."""
        customer_id = await self.offer(**others)
        await self.accept()
        return customer_id

    async def change_product(self, **fields: Any) -> dict[str, Any]:
        """Change the product, and return it."""
        answer = await self.at_customer("PATCH", body=fields)
        assert answer.status == 200, answer.text
        return answer.json

    def set_policy(self, policy: str, individuals: str = "others") -> None:
        """Set which organizations may use the service, and who else may."""
        self.world.connection.execute(
            "UPDATE services SET customers = %s, individuals = %s WHERE id = %s",
            (policy, individuals, self.service.id),
        )

    def pass_time(self, duration: timedelta) -> None:
        """Let time pass; everybody signs in again."""
        self.world.clock.advance(duration)
        self.vendor.tokens.clear()
        self.customer.tokens.clear()

    def rechecks(self) -> set[UUID | None]:
        """Return the customers whose sessions wait to be checked, None for the whole service, and forget them."""
        found = self.world.rows("SELECT customer_id FROM customer_rechecks WHERE due_at IS NULL")
        self.world.connection.execute("DELETE FROM customer_rechecks")
        return {customer_id for (customer_id,) in found}

    def log_of(self, team: Team, prefix: str) -> list[tuple[str, UUID | None, dict[str, Any]]]:
        """Return the action, the actor and the details of the entries of an organization whose action begins so."""
        return [
            (action, actor, details)
            for action, actor, details in self.world.rows(
                """
                SELECT   action, actor_user_id, details
                FROM     audit_entries
                WHERE    organization_id = %s AND action LIKE %s
                ORDER BY id
                """,
                team.organization_id,
                f"{prefix}%",
            )
        ]


def insert_trade(world: World) -> Trade:
    """Insert both organizations and the service; the people of the customer have other names than the vendor's."""
    vendor, customer = world.team(), world.team("beta")
    for name in ("owner", "admin", "member"):
        vendor.add(name, name)
    for name, role in (("head", "owner"), ("chief", "admin"), ("worker", "member")):
        customer.add(name, role)
    service = world.service(vendor.organization_id)
    role_ids = world.serve_customers(service, *ROLES)
    return Trade(vendor, customer, service, role_ids)
