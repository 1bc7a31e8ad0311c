"""The refused sign-ins for a customer are read by its own index, however many its service has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from core.customers.refused_sign_ins import LOOKED_AT_MAX, SHOWN_MAX, WAITING, RefusedSignIn
from ports.unit_of_work import UnitOfWork
from tests.plans import explained_statements, rows_read, tables_read_whole
from tests.world.builder import Builder

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
MANY = 20_000


@pytest.mark.one_server
@pytest.mark.long
def test_a_customer_with_few_is_found_among_the_many_of_others(
    connection: Connection, builder: Builder, transact: Callable[..., Any]
) -> None:
    vendor_id, few_id, many_id = [builder.organization(slug) for slug in ("vendor", "few", "many")]
    service = builder.service(vendor_id)
    builder.serve_customers(service)
    customers = {builder.customer(service, one): one for one in (few_id, many_id)}
    user_id = builder.user("ann@example.com")
    for customer_id, organization_id in customers.items():
        builder.member(organization_id, user_id)
        connection.execute(
            """
            INSERT INTO customer_users (customer_id, organization_id, user_id, first_sign_in_at, last_sign_in_at)
            VALUES (%s, %s, %s, '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z')
            """,
            (customer_id, organization_id, user_id),
        )
        for reason, number in (("customer_closed", 3 if organization_id == few_id else MANY), (None, MANY)):
            connection.execute(
                """
                INSERT INTO login_events (id, user_id, organization_id, service_id, through_organization_id,
                                          customer_id, provider, success, reason, risk_score, risk_factors, created_at)
                SELECT overlay(gen_random_uuid()::text placing left(first_id_at(at)::text, 13) from 1)::uuid,
                       %s, %s, %s, %s, %s, 'password', %s, %s, 0, '{}', at
                FROM   generate_series(1, %s) AS n
                CROSS  JOIN LATERAL (SELECT %s::timestamptz - n * interval '1 second') AS moments (at)
                """,
                (
                    user_id,
                    vendor_id,
                    service.id,
                    organization_id,
                    customer_id,
                    reason is None,
                    reason,
                    number,
                    NOW,
                ),
            )
    connection.execute("UPDATE memberships SET confirmed_at = '2026-01-01T00:00:00Z'")
    connection.execute("VACUUM ANALYZE")

    def read(uow: UnitOfWork, customer_id: UUID) -> Sequence[RefusedSignIn]:
        found = uow.services.by_slug(vendor_id, "shop")
        assert found is not None
        customer = uow.service_customers.find(found, customer_id, at=uow.now)
        assert customer is not None
        return uow.refused_sign_ins.newest(
            found, customer, without=WAITING, looked_at_max=LOOKED_AT_MAX, limit=SHOWN_MAX
        )

    with explained_statements(connection) as plans:
        shown = {organization_id: len(transact(read, one)) for one, organization_id in customers.items()}

    assert shown == {few_id: 3, many_id: SHOWN_MAX}
    assert not any("login_events" in tables_read_whole(plan) for plan in plans)
    assert sum(rows_read(plan, "login_events") for plan in plans) <= LOOKED_AT_MAX + 3
