"""The customers of all services of a vendor, as they are found while a name is typed: by reading a bounded number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from core.customers.found_customers import LOOKED_AT_MAX, NamedCustomer
from ports.unit_of_work import UnitOfWork
from tests.plans import explained_statements, rows_read, tables_read_whole
from tests.world.builder import Builder

MANY = 20_000
LIMIT = 10
MANY_CUSTOMERS = """
    WITH new AS (
        INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
        SELECT gen_random_uuid(), 'place-' || n, 'Place ' || n, 'active', (SELECT min(id::text)::uuid FROM tiers),
               now(), now()
        FROM   generate_series(1, %s) AS n
        RETURNING id)
    INSERT INTO service_customers (id, vendor_id, service_id, organization_id, accepted_at, created_at)
    SELECT gen_random_uuid(), s.organization_id, s.id, new.id, now(), now()
    FROM   services s, new
    WHERE  s.id = %s
"""


def named(uow: UnitOfWork, vendor_id: UUID, part: str, later: timedelta = timedelta()) -> Sequence[NamedCustomer]:
    """Return the customers of a vendor with a part."""
    return uow.found_customers.named(vendor_id, part=part, at=uow.now + later, looked_at_max=LOOKED_AT_MAX, limit=LIMIT)


def test_those_of_every_service_of_the_vendor_are_found_and_no_others(
    builder: Builder, transact: Callable[..., Any]
) -> None:
    acme, globex = builder.organization("acme"), builder.organization("globex")
    shop, desk = builder.service(acme, "shop"), builder.service(acme, "desk", name="Help desk")
    beta = builder.organization("beta", name="Stone Works")
    for service in (shop, desk, builder.service(globex, "till")):
        builder.customer(service, beta)
    builder.customer(shop, builder.organization("gamma"))
    builder.connection.execute(
        """
        INSERT INTO service_customers (id, vendor_id, service_id, offered_slug, offer_expires_at, created_at)
        SELECT gen_random_uuid(), %s, %s, 'workshop', %s::timestamptz + interval '30 days', %s
        """,
        (acme, shop.id, builder.clock(), builder.clock()),
    )

    def found(part: str, later: timedelta = timedelta()) -> list[tuple[str, str | None, str, str]]:
        return [(one.slug, one.name, one.service_slug, one.service_name) for one in transact(named, acme, part, later)]

    at_both = {("beta", "Stone Works", "shop", "shop"), ("beta", "Stone Works", "desk", "Help desk")}
    assert {(slug, name, service) for slug, name, service, _ in found("beta")} == {one[:3] for one in at_both}
    assert ("beta", "Stone Works", "desk", "Help desk") in found("stone w")
    assert [slug for slug, *_ in found("work")] == ["beta", "beta", "workshop"]
    assert [slug for slug, *_ in found("work", timedelta(days=31))] == ["beta", "beta"]
    assert found("till") == []


@pytest.mark.one_server
@pytest.mark.long
def test_of_many_customers_a_thousand_are_read_and_a_whole_slug_is_always_found(
    connection: Connection, builder: Builder, transact: Callable[..., Any]
) -> None:
    acme = builder.organization("acme")
    shop = builder.service(acme, "shop")
    builder.serve_customers(shop)
    connection.execute(MANY_CUSTOMERS, (MANY, shop.id))
    connection.execute("VACUUM ANALYZE")

    with explained_statements(connection) as plans:
        shown = [[one.slug for one in transact(named, acme, part)] for part in ("place", f"place-{MANY}", "nothing")]

    assert [len(slugs) for slugs in shown] == [LIMIT, 1, 0]
    assert shown[1] == [f"place-{MANY}"]
    of_customers = [plan for plan in plans if rows_read(plan, "service_customers")]
    assert len(of_customers) == len(shown)
    for plan in of_customers:
        assert rows_read(plan, "service_customers") <= LOOKED_AT_MAX + 1
        assert "organizations" not in tables_read_whole(plan)
