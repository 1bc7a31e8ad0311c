"""Organizations in PostgreSQL: queries and deletions among many organizations use indexes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest

from adapters.crypto.randomness import SystemRandomness
from adapters.postgres.driver.connection import Connection
from adapters.postgres.organizations import organizations
from adapters.postgres.organizations.organizations import OF_MEMBER
from adapters.postgres.platform.audit_log import PAGE as AUDIT_PAGE
from adapters.postgres.platform.organizations import PAGE
from tests.postgres import Databases

MANY = 4000
MEMBERS = 4
NO_TIER = "00000000-0000-7000-8000-00000000000f"


@pytest.fixture(scope="module")
def many(databases: Databases) -> Iterator[Connection]:
    """A database with many organizations, one of a hundred of them pending, which no test changes."""
    with databases.for_plans() as url, databases.connection(url) as connection:
        fill(connection)
        yield connection


def fill(connection: Connection) -> None:
    """Insert many organizations with an owner, some members and a platform audit entry each."""
    connection.execute(
        """
        INSERT INTO users (id, email, created_at, updated_at)
        SELECT gen_random_uuid(), 'owner' || n || '@example.com', now(), now() FROM generate_series(1, %s) AS n
        """,
        (MANY,),
    )
    connection.execute(
        """
        INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
        SELECT gen_random_uuid(), 'org-' || n, 'Organization',
               CASE WHEN n %% 100 = 0 THEN 'pending' ELSE 'active' END,
               '00000000-0000-7000-8000-000000000001', now() - n * interval '1 minute', now()
        FROM   generate_series(1, %s) AS n
        """,
        (MANY,),
    )
    connection.execute(
        """
        INSERT INTO memberships (id, organization_id, user_id, role, created_at)
        SELECT gen_random_uuid(), o.id, u.id, 'owner', now()
        FROM   organizations o
        JOIN   users u ON u.email = 'owner' || substr(o.slug, 5) || '@example.com'
        """
    )
    connection.execute(
        """
        INSERT INTO memberships (id, organization_id, user_id, role, created_at)
        SELECT gen_random_uuid(), o.id, u.id, 'member', now()
        FROM   organizations o
        CROSS  JOIN generate_series(1, %s) AS k
        JOIN   users u ON u.email = 'owner' || 1 + (substr(o.slug, 5)::int + k) %% %s || '@example.com'
        ON CONFLICT DO NOTHING
        """,
        (MEMBERS, MANY),
    )
    connection.execute(
        """
        INSERT INTO platform_audit_entries (id, actor_user_id, action, target_type, target_id, organization_id, success,
                                            details, created_at)
        SELECT gen_random_uuid(), NULL,
               CASE WHEN status = 'pending' THEN 'organization.suspended' ELSE 'organization.approved' END,
               'organization', id, id, true, '{}', now()
        FROM   organizations
        """
    )
    connection.execute("VACUUM ANALYZE users, organizations, memberships, platform_audit_entries")


def plan(connection: Connection, query: str, values: Any) -> str:
    """Return the plan of a query."""
    rows = connection.execute(b"EXPLAIN " + query.encode(), values).fetchall()
    return "\n".join(line for (line,) in rows)


@pytest.mark.parametrize(
    ("status", "tier_id", "index"),
    [
        (None, None, "organizations_newest"),
        ("pending", None, "organizations_of_status"),
        ("rejected", None, "organizations_of_status"),
        (None, NO_TIER, "organizations_of_tier"),
        ("pending", NO_TIER, "organizations_of_"),
    ],
)
@pytest.mark.long
def test_a_page_of_organizations_is_a_range_of_an_index(
    many: Connection, status: str | None, tier_id: str | None, index: str
) -> None:
    values = {"status": status, "tier_id": tier_id, "limit": 50, "offset": 0}

    found = plan(many, PAGE, values)

    assert index in found
    assert "Seq Scan on organizations" not in found.partition("->  Limit")[2], found
    for table in ("memberships", "users"):
        assert f"Seq Scan on {table}" not in found, found


@pytest.mark.long
def test_the_organizations_of_a_member_are_found_by_an_index(many: Connection) -> None:
    [user_id] = many.execute("SELECT id FROM users LIMIT 1").fetchall()

    found = plan(many, OF_MEMBER, user_id)

    for table in ("memberships", "organizations"):
        assert f"Seq Scan on {table}" not in found, found


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        ({}, "platform_audit_entries_pkey"),
        ({"action": "organization.suspended"}, "platform_audit_entries_action"),
        ({"target_type": "organization", "target_id": "x"}, "platform_audit_entries_target"),
    ],
)
@pytest.mark.long
def test_a_page_of_the_platform_audit_log_is_a_range_of_an_index(
    many: Connection, wanted: dict[str, str], index: str
) -> None:
    no_filter = {"action": None, "target_type": None, "target_id": None}

    found = plan(many, AUDIT_PAGE, no_filter | wanted | {"limit": 50, "offset": 0})

    assert index in found.partition("->  Limit")[2], found


def test_rows_that_are_deleted_with_an_organization_service_or_membership_are_found_by_an_index(
    connection: Connection,
) -> None:
    # An index suffices for a foreign key if it begins with the key's columns, in any order, and omits only nulls.
    unindexed = connection.execute(
        """
        SELECT f.conrelid::regclass::text, f.conname
        FROM   pg_constraint f
        WHERE  f.contype = 'f'
          AND  f.confrelid IN ('organizations'::regclass, 'services'::regclass, 'memberships'::regclass)
          AND  NOT EXISTS (
                   SELECT FROM pg_index i
                   WHERE  i.indrelid = f.conrelid
                     AND  (i.indkey::int2[])[0:cardinality(f.conkey) - 1] @> f.conkey
                     AND  coalesce(pg_get_expr(i.indpred, i.indrelid) LIKE '(% IS NOT NULL)', true))
        """
    ).fetchall()

    assert unindexed == []


def test_an_organization_with_more_rows_than_one_batch_is_deleted_completely(
    connection: Connection, transact: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(organizations, "DELETED_AT_ONCE_MAX", 10)
    acme, bolt = (organization(connection, slug) for slug in ("acme", "bolt"))
    for organization_id in (acme, bolt):
        connection.execute(
            """
            INSERT INTO events (id, type, organization_id, data, occurred_at)
            SELECT gen_random_uuid(), 'user.joined', %s, '{}', now() FROM generate_series(1, 25)
            """,
            (organization_id,),
        )

    transact(lambda uow: uow.organizations.delete(acme))

    assert connection.execute("SELECT slug FROM organizations").fetchall() == [("bolt",)]
    assert connection.execute("SELECT organization_id, count(*) FROM events GROUP BY 1").fetchall() == [(bolt, 25)]


def organization(connection: Connection, slug: str) -> UUID:
    """Insert an organization and return its id."""
    organization_id = SystemRandomness().new_id()
    connection.execute(
        """
        INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
        SELECT %s, %s, 'Name', 'active', id, now(), now() FROM tiers WHERE name = 'free'
        """,
        (organization_id, slug),
    )
    return organization_id
