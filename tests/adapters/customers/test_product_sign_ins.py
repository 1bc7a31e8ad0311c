"""The sign-ins at a product are read by the index of its record, each outcome by itself, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from core.customers.product_sign_ins import ProductSignIn
from core.sign_in.sign_ins import Scope
from ports.unit_of_work import UnitOfWork
from tests.plans import explained_statements, indexes_used, rows_read, tables_read_whole
from tests.world.builder import Builder, Service

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
SINCE = datetime(2026, 1, 1, tzinfo=UTC)
MANY = 20_000
LIMIT = 25
OF_RECORD = "login_events_newest_of_customer"


@dataclass(frozen=True)
class Market:
    """An organization that uses two services, the second one very much, and two of its people."""

    organization_id: UUID
    service: Service
    ann_id: UUID
    bob_id: UUID


def add_sign_ins(
    connection: Connection, number: int, *, of: UUID, to: Service, customer: tuple[UUID, UUID], succeeded: bool
) -> None:
    """Insert sign-ins of a user to a service for a customer, one a second."""
    connection.execute(
        """
        INSERT INTO login_events (id, user_id, organization_id, service_id, through_organization_id, customer_id,
                                  provider, success, reason, risk_score, risk_factors, created_at)
        SELECT overlay(gen_random_uuid()::text placing left(first_id_at(at)::text, 13) from 1)::uuid,
               %(user_id)s, s.organization_id, s.id, %(organization_id)s, %(customer_id)s, 'password', %(succeeded)s,
               CASE WHEN NOT %(succeeded)s THEN 'customer_closed' END, 0, '{}', at
        FROM   services s
        CROSS  JOIN generate_series(1, %(number)s) AS n
        CROSS  JOIN LATERAL (SELECT %(now)s::timestamptz - n * interval '1 second') AS moments (at)
        WHERE  s.id = %(service_id)s
        """,
        {
            "user_id": of,
            "service_id": to.id,
            "organization_id": customer[0],
            "customer_id": customer[1],
            "succeeded": succeeded,
            "number": number,
            "now": NOW,
        },
    )


@pytest.fixture
def market(connection: Connection, builder: Builder) -> Market:
    """Few of the sign-ins at the first service are refused, and few are of the second person."""
    vendor_id, user_id, other_id = [builder.organization(slug) for slug in ("vendor", "user", "other")]
    service, busy = builder.service(vendor_id), builder.service(vendor_id, "busy")
    for one in (service, busy):
        builder.serve_customers(one)
    ann_id, bob_id = [builder.user(f"{name}@example.com") for name in ("ann", "bob")]
    for organization_id in (user_id, other_id):
        for person in (ann_id, bob_id):
            builder.member(organization_id, person)
    used = (user_id, builder.customer(service, user_id))
    for customer, to, refused in (
        (used, service, 3),
        ((other_id, builder.customer(service, other_id)), service, MANY),
        ((user_id, builder.customer(busy, user_id)), busy, MANY),
    ):
        add_sign_ins(connection, MANY, of=ann_id, to=to, customer=customer, succeeded=True)
        add_sign_ins(connection, refused, of=ann_id, to=to, customer=customer, succeeded=False)
    add_sign_ins(connection, 4, of=bob_id, to=service, customer=used, succeeded=True)
    connection.execute("UPDATE memberships SET confirmed_at = %s", (SINCE,))
    connection.execute("VACUUM ANALYZE")
    return Market(user_id, service, ann_id, bob_id)


def read(
    uow: UnitOfWork, market: Market, *, of: UUID | None = None, succeeded: bool | None = None, after: UUID | None = None
) -> Sequence[ProductSignIn]:
    """Return a part of the sign-ins at the product, of all people or of one."""
    product = uow.products.find(market.organization_id, market.service.client_id, at=NOW)
    assert product is not None
    if of is None:
        return uow.product_sign_ins.newest(
            market.organization_id, product, succeeded=succeeded, after=after, limit=LIMIT
        )
    scope = Scope(organization_id=market.organization_id, since=SINCE)
    return uow.product_sign_ins.of_person(of, scope, product, succeeded=succeeded, after=after, limit=LIMIT)


@pytest.mark.one_server
@pytest.mark.long
def test_a_page_reads_no_more_rows_than_it_shows_of_each_outcome(
    connection: Connection, market: Market, transact: Callable[..., Any]
) -> None:
    everything = transact(read, market)
    with explained_statements(connection) as plans:
        shown = [
            transact(read, market),
            transact(read, market, after=everything[-1].id),
            transact(read, market, succeeded=True),
            transact(read, market, succeeded=False),
        ]

    assert [len(rows) for rows in shown] == [LIMIT, LIMIT, LIMIT, 3]
    assert [[one.id for one in rows] for rows in shown] == [
        sorted((one.id for one in rows), reverse=True) for rows in shown
    ]
    assert not {one.id for one in everything} & {one.id for one in shown[1]}
    of_log = [plan for plan in plans if rows_read(plan, "login_events")]
    assert len(of_log) == len(shown)
    for plan, rows in zip(of_log, shown, strict=True):
        assert OF_RECORD in indexes_used(plan)
        assert rows_read(plan, "login_events") <= len(rows) + LIMIT
        assert rows_read(plan, "memberships") <= 2 * LIMIT
    assert not any("login_events" in tables_read_whole(plan) for plan in plans)


@pytest.mark.one_server
@pytest.mark.long
def test_one_person_is_found_among_the_sign_ins_of_others(
    connection: Connection, market: Market, transact: Callable[..., Any]
) -> None:
    with explained_statements(connection) as plans:
        shown = [
            transact(read, market, of=market.bob_id),
            transact(read, market, of=market.bob_id, succeeded=False),
            transact(read, market, of=market.ann_id, succeeded=False),
        ]

    assert [len(rows) for rows in shown] == [4, 0, 3]
    assert {one.user_id for one in shown[0]} == {market.bob_id}
    assert [rows_read(plan, "login_events") for plan in plans if "login_events" in str(plan)] == [4, 0, 3]
