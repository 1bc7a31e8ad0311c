"""The pages of a person's account read ranges of indexes by user, among very many rows of others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from adapters.postgres.billing.own_subscriptions import PostgresSubscriptionsOfUser
from adapters.postgres.driver.connection import Connection
from adapters.postgres.services.applications import PostgresApplicationsOfUser
from adapters.postgres.sign_in.own_account import PostgresFiguresOfUser, PostgresSessionsOfUser
from core.billing.provider import BillingMode
from core.sessions.caller_limits import Confinement
from tests.plans import explained_statements, nodes_of
from tests.transactions import transaction_on
from tests.world.builder import Builder

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
USERS = 3_000
SERVICES = 60
EACH = 12
OF_USER = 300
TABLES = ("users", "sessions", "client_grants", "service_users", "subscriptions", "memberships", "billing_customers")


def add_many(connection: Connection, builder: Builder, organization_id: UUID, user_id: UUID) -> None:
    """Insert many users with sessions, links and subscriptions at many services; one of them has more than others."""
    for number in range(SERVICES):
        builder.service(organization_id, f"app-{number}")
    values = {"now": NOW, "users": USERS, "each": EACH, "of_user": OF_USER, "user_id": user_id}
    for statement in (
        """
        INSERT INTO users (id, email, created_at, updated_at)
        SELECT gen_random_uuid(), 'user-' || n || '@example.com', %(now)s, %(now)s
        FROM   generate_series(2, %(users)s) AS n
        """,
        """
        CREATE TEMPORARY TABLE uses AS
        SELECT u.id AS user_id, u.email, n, gen_random_uuid() AS session_id, v.id AS service_id, v.organization_id
        FROM   users u
        CROSS  JOIN LATERAL generate_series(1, CASE WHEN u.id = %(user_id)s THEN %(of_user)s ELSE %(each)s END) AS n
        JOIN   (SELECT id, organization_id, row_number() OVER () AS number FROM services) v
               ON v.number = 1 + (hashtext(u.id::text)::bigint + 2147483648 + n) %% (SELECT count(*) FROM services)
        """,
        """
        INSERT INTO sessions (id, user_id, organization_id, service_id, provider, amr, authenticated_at, refresh_hash,
                              refreshed_at, expires_at, created_at)
        SELECT session_id, user_id, organization_id, service_id, 'password', '{pwd}', %(now)s,
               decode(md5(session_id::text), 'hex'), %(now)s, %(now)s::timestamptz + interval '9 days', %(now)s
        FROM   uses
        """,
        "INSERT INTO client_grants (session_id, scopes) SELECT session_id, '{openid,email}' FROM uses",
        """
        INSERT INTO service_users (service_id, organization_id, user_id, email, first_login_at, last_login_at)
        SELECT service_id, organization_id, user_id, email, %(now)s, %(now)s
        FROM   uses
        ON     CONFLICT DO NOTHING
        """,
        """
        INSERT INTO subscriptions (id, organization_id, service_id, user_id, plan_id, status, created_at, updated_at)
        SELECT gen_random_uuid(), u.organization_id, u.service_id, user_id, p.id,
               CASE WHEN n = 1 THEN 'active' ELSE 'cancelled' END, %(now)s, %(now)s
        FROM   uses u
        JOIN   plans p ON p.service_id = u.service_id
        """,
        """
        INSERT INTO billing_customers (id, mode, seller_organization_id, service_id, user_id, created_at, updated_at)
        SELECT 'cus_' || session_id, 'sandbox', organization_id, service_id, user_id, %(now)s, %(now)s
        FROM   uses
        ON     CONFLICT DO NOTHING
        """,
        """
        INSERT INTO memberships (id, organization_id, user_id, role, created_at, confirmed_at)
        SELECT gen_random_uuid(), o.id, u.id, 'member', %(now)s, %(now)s
        FROM   users u, organizations o
        """,
    ):
        used = {name: value for name, value in values.items() if f"%({name})s" in statement}
        connection.execute(statement, used)
    for table in TABLES:
        connection.execute(f"VACUUM ANALYZE {table}")


def read_by_indexes(plan: dict[str, Any]) -> int:
    """Return how many rows of the tables that grow a plan has read, all of them by an index."""
    scans = [node for node in nodes_of(plan) if node.get("Relation Name") in TABLES]
    assert all("Index Name" in node or "Bitmap" in node["Node Type"] for node in scans), scans
    return sum(
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        for node in scans
        if node["Node Type"] != "Bitmap Index Scan"
    )


@pytest.mark.one_server
@pytest.mark.long
@pytest.mark.parametrize("is_limited", [False, True])
def test_the_pages_of_an_account_read_what_is_the_user_s_alone(
    connection: Connection, builder: Builder, *, is_limited: bool
) -> None:
    user_id, organization_id = builder.user("user-1@example.com"), builder.organization("acme")
    add_many(connection, builder, organization_id, user_id)
    limits = Confinement(organization_id=organization_id, service_id=None) if is_limited else None
    transaction = transaction_on(connection, now=NOW + timedelta(minutes=1))
    sessions, applications = PostgresSessionsOfUser(transaction), PostgresApplicationsOfUser(transaction)
    subscriptions = PostgresSubscriptionsOfUser(transaction)
    [[service_id]] = connection.execute("SELECT service_id FROM sessions WHERE user_id = %s LIMIT 1", (user_id,))

    with explained_statements(connection) as plans:
        shown, total = sessions.alive_of(user_id, limits=limits, current_id=uuid4(), limit=200)
        sessions.support_of(user_id, only_organization_id=None, since=NOW - timedelta(days=90), limit=10)
        sessions.organization_of(user_id, service_id, limits=limits)
        used, services = applications.of_user(user_id, limits=limits, limit=100)
        applications.find(user_id, service_id, limits=limits)
        subscribed, _ = subscriptions.of_user(user_id, BillingMode.SANDBOX, limits=limits, limit=100)
        subscriptions.customer_of(user_id, service_id, BillingMode.SANDBOX, limits=limits)
        PostgresFiguresOfUser(transaction).of_user(
            user_id, limits=limits, only_organization_id=None, current_id=uuid4(), figure_max=1_000
        )

    assert (len(shown), total) == (200, OF_USER)
    assert (len(used), services, len(subscribed)) == (SERVICES, SERVICES, SERVICES)
    assert [read_by_indexes(plan) <= 5 * OF_USER for plan in plans] == [True] * 8
