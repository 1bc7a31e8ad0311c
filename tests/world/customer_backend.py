"""The backend of a service that organizations use as customers, and people who sign in for one: a view of the world."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from tests.application import Answer
from tests.world.backend import KEY, Backend, insert_key
from tests.world.trade import Trade, insert_trade
from tests.world.world import World


@dataclass(frozen=True)
class CustomerBackend:
    """A vendor with a service for customers and its backend, and the organization `beta` with people."""

    trade: Trade
    backend: Backend

    def id_of(self, name: str) -> UUID:
        """Return the id of a person of the customer."""
        return self.trade.customer.ids[name]

    async def sign_in(self, name: str, *, customer: str = "beta") -> Answer:
        """Sign a person in to the service for a customer."""
        return await self.trade.world.log_in(
            f"{name}@example.com", org_slug="acme", service_slug="shop", customer=customer
        )

    def suspend(self, name: str, *, is_suspended: bool = True) -> None:
        """Suspend a person of the customer, or lift that."""
        self.trade.world.connection.execute(
            """
            UPDATE memberships SET suspended_at = CASE WHEN %s THEN now() END
            WHERE  organization_id = %s AND user_id = %s
            """,
            (is_suspended, self.trade.customer.organization_id, self.id_of(name)),
        )

    def add_unconfirmed(self, name: str) -> None:
        """Insert a person added by the customer, who has not confirmed that."""
        user_id = self.trade.customer.user(name)
        self.trade.world.member(self.trade.customer.organization_id, user_id, is_confirmed=False)

    async def remove(self, name: str) -> None:
        """Remove a person from the customer."""
        removed = await self.trade.customer.request("head", "POST", f"/members/{self.id_of(name)}")
        assert removed.status == 200, removed.text

    async def people(self, customer_id: str, query: str = "") -> Answer:
        """List the people of a customer with the key."""
        return await self.backend.request("GET", f"/customers/{customer_id}/users{query}")

    async def set_roles(self, customer_id: str, user_id: UUID, roles: list[str]) -> Answer:
        """Give a person roles of the vendor's own."""
        return await self.backend.request("PUT", f"/customers/{customer_id}/users/{user_id}", body={"roles": roles})

    async def give(self, customer_id: str, name: str, *roles: str) -> None:
        """Give a person of the customer these roles."""
        given = await self.set_roles(customer_id, self.id_of(name), list(roles))
        assert given.status == 200, given.text


def insert_customer_backend(world: World) -> CustomerBackend:
    """Insert a vendor with a service for customers, an organization, and a key that has every permission."""
    trade = insert_trade(world)
    insert_key(world, trade.vendor.organization_id, trade.service.id, KEY)
    return CustomerBackend(trade, Backend(world, trade.vendor.organization_id, trade.service.id))
