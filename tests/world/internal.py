"""What a vendor has made for a customer: an internal organization, a connection, a mail domain and a directory."""

from __future__ import annotations

from uuid import UUID

from core.customers import customers, setup_callers
from core.services.services import Service
from ports.unit_of_work import UnitOfWork
from tests.world.builder import new_id
from tests.world.world import World


async def internal_of(world: World, customer_id: UUID) -> UUID:
    """Return the internal organization of a customer record, which is made with the first thing that a vendor makes."""

    def add(uow: UnitOfWork) -> UUID:
        [(vendor_id, service_id)] = world.rows(
            "SELECT vendor_id, service_id FROM service_customers WHERE id = %s", customer_id
        )
        service = uow.services.by_id(vendor_id, service_id)
        assert isinstance(service, Service)
        return setup_callers.lock_or_add(uow, customers.find(uow, service, customer_id)).id

    return await world.installation.database.transact(add)


def give_connection(world: World, connection_id: UUID | str, internal_id: UUID) -> None:
    """Make a connection one that a vendor has made for a customer; its mail domains go, and their proofs."""
    world.connection.execute("DELETE FROM domain_routes WHERE connection_id = %s", (connection_id,))
    world.connection.execute(
        "UPDATE upstream_connections SET organization_id = %s, joins_as = NULL WHERE id = %s",
        (internal_id, connection_id),
    )


def add_mail_domain(world: World, connection_id: UUID | str, internal_id: UUID, domain: str) -> UUID:
    """Prove a mail domain for a customer, whose addresses sign in by a connection that is made for it."""
    route_id, now = new_id(), world.clock()
    world.connection.execute(
        """
        INSERT INTO domain_routes (id, organization_id, domain, connection_id, enforced, value, status, verified_at,
                                   proved_at)
        VALUES (%s, %s, %s, %s, false, 'proof', 'verified', %s, %s)
        """,
        (route_id, internal_id, domain, connection_id, now, now),
    )
    return route_id


def admit(
    world: World, internal_id: UUID, user_id: UUID, *, is_confirmed: bool = True, is_suspended: bool = False
) -> None:
    """Let a person in to the service for the customer, by what the vendor has made."""
    now = world.clock()
    world.connection.execute(
        """
        INSERT INTO memberships (id, organization_id, user_id, role, created_at, confirmed_at, suspended_at)
        VALUES (%s, %s, %s, 'member', %s, %s, %s)
        """,
        (new_id(), internal_id, user_id, now, now if is_confirmed else None, now if is_suspended else None),
    )
