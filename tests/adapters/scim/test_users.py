"""Members as SCIM users in PostgreSQL: indexes for what a directory asks most, and totals that are never counted."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from adapters.domain_names import IdnaDomainNames
from adapters.postgres.driver.connection import Connection
from adapters.postgres.scim.users import PostgresScimUsers
from core.scim import filters, user_filters
from core.scim.tokens import presented
from tests.plans import explained_statements, indexes_used, rows_read, tables_read_whole
from tests.transactions import transaction_on
from tests.world.builder import Builder
from tests.world.directory import TOKEN, insert_scim_token

pytestmark = pytest.mark.long

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
MANY = 5_000
COUNT = 100


@pytest.fixture
def crowd(builder: Builder, connection: Connection) -> UUID:
    """An organization with many members described by its directory, beside another one with as many."""
    for slug in ("other", "acme"):
        organization_id = builder.organization(slug)
        connection.execute(
            """
            INSERT INTO users (id, email, created_at, updated_at)
            SELECT gen_random_uuid(), %s || n || '@example.com', now(), now() FROM generate_series(1, %s) AS n
            """,
            (slug, MANY),
        )
        connection.execute(
            """
            INSERT INTO memberships (id, organization_id, user_id, role, created_at)
            SELECT gen_random_uuid(), %s, id, 'member', now() FROM users WHERE starts_with(email, %s)
            """,
            (organization_id, slug),
        )
        connection.execute(
            """
            INSERT INTO scim_profiles (organization_id, user_id, user_name, external_id, updated_at)
            SELECT %s, id, CASE WHEN email LIKE '%%7@%%' THEN split_part(email, '@', 1) ELSE email END, 'x-' || email,
                   now()
            FROM   users
            WHERE  starts_with(email, %s)
            """,
            (organization_id, slug),
        )
    for table in ("users", "memberships", "scim_profiles"):
        connection.execute(f"ANALYZE {table}".encode())
    return organization_id


@pytest.mark.plans
@pytest.mark.parametrize(
    ("text", "index"),
    [
        ('userName eq "ACME42@example.com"', "users_email"),
        ('userName eq "Acme47"', "scim_profiles_login_name"),
        ('externalId eq "x-acme42@example.com"', "scim_profiles_external_id"),
    ],
)
def test_a_user_is_found_by_an_index_among_many(connection: Connection, crowd: UUID, text: str, index: str) -> None:
    condition = user_filters.condition_of(filters.parse(text), IdnaDomainNames().to_ascii)
    users = PostgresScimUsers(transaction_on(connection, now=NOW))

    with explained_statements(connection) as plans:
        page = users.matching(crowd, condition, limit=COUNT, offset=0)

    [plan] = plans
    assert page.total == len(page.users) == 1
    assert tables_read_whole(plan) == set()
    assert any(name.startswith(index) for name in indexes_used(plan)), indexes_used(plan)


@pytest.mark.one_server
def test_a_page_reads_its_own_rows_and_counts_nothing(builder: Builder, connection: Connection, crowd: UUID) -> None:
    token = presented(TOKEN)
    insert_scim_token(builder, crowd, TOKEN)
    users = PostgresScimUsers(replace(transaction_on(connection, now=NOW), scim_token=token))

    with explained_statements(connection) as plans:
        page = users.defer_page_of_token(limit=COUNT, offset=1_000)()

    [plan] = plans
    assert (page.total, len(page.users)) == (MANY, COUNT)
    assert tables_read_whole(plan) <= {"membership_totals", "scim_tokens"}
    assert rows_read(plan, "users") == rows_read(plan, "scim_profiles") == COUNT


def test_the_totals_follow_every_change_of_members(connection: Connection, crowd: UUID) -> None:
    def totals() -> list[tuple[Any, ...]]:
        kept = connection.execute("SELECT organization_id, members FROM membership_totals ORDER BY 1").fetchall()
        counted = connection.execute("SELECT organization_id, count(*) FROM memberships GROUP BY 1 ORDER BY 1")
        assert kept == counted.fetchall()
        return kept

    totals()
    connection.execute("DELETE FROM users WHERE email LIKE '%1@%'", prepare=False)
    totals()
    connection.execute("DELETE FROM memberships WHERE organization_id = %s", (crowd,))
    connection.execute("DELETE FROM membership_totals WHERE members = 0")
    totals()
    connection.execute("DELETE FROM organizations")
    assert totals() == []
