"""Listing the sign-ins of a user among very many reads a page of an index."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.sign_in.sign_ins import PostgresSignIns
from core.sign_in.sign_ins import Scope
from tests.plans import explained_statements, nodes_of
from tests.transactions import transaction_on
from tests.world.builder import Builder

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
USERS = 100
EACH = 1_000
PAGE = 50


def add_many(connection: Connection, organization_id: UUID, user_id: UUID) -> None:
    """Insert the refused and successful sign-ins of many users, also elsewhere and through a connection."""
    connection.execute(
        """
        INSERT INTO users (id, email, created_at, updated_at)
        SELECT gen_random_uuid(), 'user-' || n || '@example.com', %(now)s, %(now)s
        FROM   generate_series(2, %(users)s) AS n
        """,
        {"now": NOW, "users": USERS},
    )
    connection.execute(
        """
        INSERT INTO login_events (id, user_id, organization_id, through_organization_id, provider, success, reason,
                                  risk_score, risk_factors, created_at)
        SELECT overlay(gen_random_uuid()::text placing left(first_id_at(at)::text, 13) from 1)::uuid, u.id,
               CASE WHEN n %% 4 < 2 THEN %(organization_id)s::uuid ELSE u.id END,
               CASE WHEN n %% 4 = 2 THEN %(organization_id)s::uuid END,
               'password', n %% 2 = 0, CASE WHEN n %% 2 = 1 THEN 'wrong_password' END, 0, '{}',
               at
        FROM   users u, generate_series(1, %(each)s) AS n
        CROSS  JOIN LATERAL (SELECT %(now)s::timestamptz - n * interval '1 minute') AS moments (at)
        """,
        {"organization_id": organization_id, "now": NOW, "each": EACH},
    )
    connection.execute("VACUUM ANALYZE login_events")


def rows_read(plan: dict[str, Any]) -> int:
    """Return how many rows of the log a plan has read, all of them by an index."""
    scans = [node for node in nodes_of(plan) if node.get("Relation Name", "").startswith("login_events")]
    assert all("Index Name" in node or "Bitmap" in node["Node Type"] for node in scans), scans
    return sum(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in scans)


@pytest.mark.one_server
@pytest.mark.long
@pytest.mark.parametrize("is_platform", [False, True])
def test_a_page_reads_no_more_rows_than_it_shows_of_each_range(
    connection: Connection, builder: Builder, *, is_platform: bool
) -> None:
    user_id, organization_id = builder.user("user-1@example.com"), builder.organization("acme")
    add_many(connection, organization_id, user_id)
    scope = None if is_platform else Scope(organization_id=organization_id, since=NOW - timedelta(days=90))
    sign_ins = PostgresSignIns(transaction_on(connection, now=NOW))

    with explained_statements(connection) as plans:
        shown = sign_ins.page(user_id, scope, limit=PAGE, offset=0)
        total = sign_ins.defer_count(user_id, scope)()

    assert len(shown) == PAGE
    assert [one.created_at for one in shown] == sorted((one.created_at for one in shown), reverse=True)
    assert total == (EACH if is_platform else EACH * 3 // 4)
    page, count = plans
    assert rows_read(page) <= 2 * PAGE + 2
    assert rows_read(count) == total


@pytest.mark.one_server
@pytest.mark.long
@pytest.mark.parametrize("is_limited", [False, True])
def test_any_part_of_one_s_own_reads_no_more_rows_than_it_shows_of_each_range(
    connection: Connection, builder: Builder, *, is_limited: bool
) -> None:
    user_id, organization_id = builder.user("user-1@example.com"), builder.organization("acme")
    add_many(connection, organization_id, user_id)
    scope = Scope(organization_id=organization_id, since=NOW - timedelta(days=90)) if is_limited else None
    sign_ins = PostgresSignIns(transaction_on(connection, now=NOW))
    [middle] = sign_ins.page(user_id, scope, limit=1, offset=EACH // 2)

    with explained_statements(connection) as plans:
        first = sign_ins.following(user_id, scope, after=None, limit=PAGE)
        later = sign_ins.following(user_id, scope, after=middle.id, limit=PAGE)
        found = sign_ins.find(user_id, middle.id, scope)

    newest = sign_ins.page(user_id, scope, limit=EACH, offset=0)
    assert [one.id for one in first] == [one.id for one in newest[:PAGE]]
    assert [one.id for one in later] == [one.id for one in newest[EACH // 2 + 1 :][:PAGE]]
    assert found == middle
    for plan in plans[:2]:
        assert rows_read(plan) <= 2 * PAGE + 4
    assert rows_read(plans[2]) == 1


def test_an_unknown_user_has_no_affiliation(connection: Connection, builder: Builder) -> None:
    sign_ins = PostgresSignIns(transaction_on(connection, now=NOW))

    assert sign_ins.affiliation(builder.organization("acme"), uuid4()) is None
    assert sign_ins.affiliated(uuid4(), "ada@example.com") is None
