"""The links of end users to services: a search reads one index, and their addresses follow the accounts."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import psycopg
import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.services import end_users as sql
from adapters.postgres.services.end_users import FOUND_NEWEST
from tests.plans import explained, indexes_used, nodes_of, rows_read, tables_read_whole
from tests.postgres import Databases, connected

ACME = UUID("02000000-0000-7000-8000-000000000001")
ADA = UUID("01000000-0000-7000-8000-000000000001")
SHOP = UUID("03000000-0000-7000-8000-000000000001")
# 10,000 users in fifty organizations with a service each.
MANY = b"""
    INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
    SELECT ('02000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'org-' || n, 'Org', 'active', id, now(), now()
    FROM   generate_series(1, 50) AS n, tiers
    WHERE  tiers.name = 'free';
    INSERT INTO services (id, organization_id, slug, name, service_type, client_id, created_at, updated_at)
    SELECT ('03000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid,
           ('02000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'shop', 'Shop', 'web', gen_random_uuid(),
           now(), now()
    FROM   generate_series(1, 50) AS n;
    INSERT INTO users (id, email, created_at, updated_at)
    SELECT ('01000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, n || '@example.com', now(), now()
    FROM   generate_series(1, 10000) AS n;
    INSERT INTO service_users (service_id, organization_id, user_id, first_login_at)
    SELECT ('03000000-0000-7000-8000-' || lpad((1 + n % 50)::text, 12, '0'))::uuid,
           ('02000000-0000-7000-8000-' || lpad((1 + n % 50)::text, 12, '0'))::uuid,
           ('01000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, now()
    FROM   generate_series(1, 10000) AS n
"""
END_USERS_OF_ONE = 200
LIMIT = 20


@pytest.fixture(scope="module")
def many(databases: Databases) -> Iterator[Connection]:
    """A database with many end users, which no test changes."""
    with databases.for_plans() as url, databases.raw_connection(url) as connection:
        connection.execute(MANY)
        connection.execute("VACUUM ANALYZE")
        yield Connection(connection)


@pytest.mark.long
def test_a_list_of_all_end_users_counts_them_and_reads_no_user_beyond_the_page(many: Connection) -> None:
    plan = explained(many, sql.PAGE_OF_ALL, {"organization_id": ACME, "limit": LIMIT, "offset": 0})

    assert plan["Actual Rows"] == LIMIT
    assert tables_read_whole(plan) & {"service_users", "users"} == set()
    # Without the nodes that read the links of each user on the page.
    links = [node for node in nodes_of(plan) if node.get("Alias", "l").startswith("service_users")]
    assert sorted(node["Actual Rows"] for node in links) == [LIMIT, END_USERS_OF_ONE]
    assert rows_read(plan, "users") <= LIMIT


@pytest.mark.parametrize("part", ["", "example.com", "99", "nobody"])
@pytest.mark.long
def test_a_search_reads_the_links_of_one_organization_in_their_index(many: Connection, part: str) -> None:
    values = {"organization_id": ACME, "part": part, "service_id": None, "limit": LIMIT, "offset": 0}
    plan = explained(many, sql.PAGE, values)

    assert tables_read_whole(plan) & {"service_users", "users"} == set()
    [search] = [node for node in nodes_of(plan) if node.get("Alias") == "service_users"]
    assert rows_read(search, "service_users") == END_USERS_OF_ONE
    assert "service_users_of_organization" in indexes_used(plan)
    assert rows_read(plan, "users") <= LIMIT


@pytest.mark.long
def test_while_an_address_is_typed_so_many_of_the_newest_links_are_read(many: Connection) -> None:
    values = {"organization_id": ACME, "part": "nobody", "looked_at_max": 50, "limit": LIMIT}
    plan = explained(many, FOUND_NEWEST, values)

    assert tables_read_whole(plan) & {"service_users", "users"} == set()
    assert rows_read(plan, "service_users") == 50


@pytest.fixture
def _ada(connection: Connection) -> None:
    """A user, and a service of an organization."""
    connection.execute(
        """
        INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
        SELECT %s, 'acme', 'Acme', 'active', id, now(), now() FROM tiers WHERE name = 'free'
        """,
        (ACME,),
    )
    connection.execute(
        """
        INSERT INTO services (id, organization_id, slug, name, service_type, client_id, created_at, updated_at)
        VALUES (%s, %s, 'shop', 'Shop', 'web', gen_random_uuid(), now(), now())
        """,
        (SHOP, ACME),
    )
    connection.execute(
        "INSERT INTO users (id, email, created_at, updated_at) VALUES (%s, 'ada@example.com', now(), now())", (ADA,)
    )


def link(connection: Connection) -> None:
    connection.execute(
        "INSERT INTO service_users (service_id, organization_id, user_id, first_login_at) VALUES (%s, %s, %s, now())",
        (SHOP, ACME, ADA),
    )


def linked(connection: Connection) -> list[str]:
    return [email for (email,) in connection.execute("SELECT email FROM service_users")]


@pytest.mark.usefixtures("_ada")
def test_a_link_has_the_address_of_the_account_and_follows_its_changes(connection: Connection) -> None:
    link(connection)
    assert linked(connection) == ["ada@example.com"]

    connection.execute("UPDATE users SET email = 'countess@example.com'")

    assert linked(connection) == ["countess@example.com"]


@pytest.mark.usefixtures("_ada")
def test_a_change_of_the_address_waits_for_an_uncommitted_link_and_reaches_it(
    connection: Connection, database_url: str
) -> None:
    with connected(database_url) as other, other.transaction():
        link(other)
        connection.execute("SET lock_timeout = '50ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            connection.execute("UPDATE users SET email = 'countess@example.com'")

    connection.execute("UPDATE users SET email = 'countess@example.com'")
    assert linked(connection) == ["countess@example.com"]


@pytest.mark.usefixtures("_ada")
def test_a_link_waits_for_an_uncommitted_change_of_the_address(connection: Connection, database_url: str) -> None:
    with connected(database_url) as other, other.transaction():
        other.execute("UPDATE users SET email = 'countess@example.com'")
        connection.execute("SET lock_timeout = '50ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            link(connection)

    link(connection)
    assert linked(connection) == ["countess@example.com"]


@pytest.mark.usefixtures("_ada")
def test_deleting_a_user_deletes_its_links(connection: Connection) -> None:
    link(connection)

    connection.execute("DELETE FROM users")

    assert linked(connection) == []
