"""The owner of a customer at the payment provider: bound once, an organization or an end user of a service."""

from __future__ import annotations

from adapters.postgres.database import PostgresDatabase
from core.billing.provider import BillingMode
from tests.world.billing import Seller

CUSTOMER = "cus_ada"


async def test_the_customer_of_a_person_is_never_bound_to_an_organization(
    database: PostgresDatabase, seller: Seller
) -> None:
    acme, service_id = seller.organization_id, seller.service.id
    ada = seller.world.user()
    await database.transact(
        lambda uow: uow.billing_customers.bind_to_user(CUSTOMER, acme, service_id, ada, BillingMode.TEST)
    )

    is_bound = await database.transact(lambda uow: uow.billing_customers.bind(CUSTOMER, acme, BillingMode.TEST))

    assert not is_bound
    assert seller.world.rows("SELECT organization_id, user_id FROM billing_customers") == [(None, ada)]


async def test_the_customer_of_an_organization_is_never_bound_to_a_person(
    database: PostgresDatabase, seller: Seller
) -> None:
    acme, service_id = seller.organization_id, seller.service.id
    ada = seller.world.user()
    await database.transact(lambda uow: uow.billing_customers.bind(CUSTOMER, acme, BillingMode.TEST))

    is_bound = await database.transact(
        lambda uow: uow.billing_customers.bind_to_user(CUSTOMER, acme, service_id, ada, BillingMode.TEST)
    )

    assert not is_bound
    assert seller.world.rows("SELECT organization_id, user_id FROM billing_customers") == [(acme, None)]
