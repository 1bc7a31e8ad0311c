"""The migration that notes, for changes of customers' people, the organization whose turn they take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, LiteralString
from uuid import UUID

import psycopg

from adapters.postgres.schema import migrations

# The last migration before the turns.
BEFORE = 104
VENDOR, GLOBEX, INITECH, SERVICE, CUSTOMER, FORMER, MEMBER, GONE = (
    UUID(f"00000000-0000-7000-8000-00000000000{number}") for number in range(1, 9)
)

WAITING: Final[Sequence[tuple[LiteralString, UUID]]] = (
    ("user_id", MEMBER),
    ("user_id", FORMER),
    ("user_id", GONE),
    ("customer_id", CUSTOMER),
    ("customer_id", GONE),
    ("service_id", SERVICE),
    ("service_id", GONE),
)


def test_what_waits_keeps_waiting_for_each_organization_that_it_concerns(empty_database_url: str) -> None:
    with psycopg.connect(empty_database_url, autocommit=True) as connection:
        migrations.migrate(connection, lambda _: None, migrations.known()[:BEFORE])
        for organization_id, slug in ((VENDOR, "acme"), (GLOBEX, "globex"), (INITECH, "initech")):
            connection.execute(
                """
                INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
                SELECT %s, %s, 'Name', 'active', id, now(), now() FROM tiers LIMIT 1
                """,
                (organization_id, slug),
            )
        connection.execute(
            """
            INSERT INTO services (id, organization_id, slug, name, service_type, client_id, created_at, updated_at)
            VALUES (%s, %s, 'shop', 'Shop', 'web', gen_random_uuid(), now(), now())
            """,
            (SERVICE, VENDOR),
        )
        connection.execute(
            "INSERT INTO users (id, email, created_at, updated_at) VALUES (%s, 'ada@example.com', now(), now())",
            (MEMBER,),
        )
        connection.execute(
            """
            INSERT INTO memberships (id, organization_id, user_id, role, created_at)
            VALUES (gen_random_uuid(), %s, %s, 'member', now())
            """,
            (INITECH, MEMBER),
        )
        connection.execute(
            """
            INSERT INTO service_customers (id, vendor_id, service_id, organization_id, accepted_at, created_at)
            VALUES (%s, %s, %s, %s, now(), now())
            """,
            (CUSTOMER, VENDOR, SERVICE, GLOBEX),
        )
        for user_id in (MEMBER, FORMER):
            connection.execute("INSERT INTO customer_users_told VALUES (%s, %s, '')", (CUSTOMER, user_id))
        connection.execute("DELETE FROM customer_user_checks")
        for about, of in WAITING:
            connection.execute(
                f"INSERT INTO customer_user_checks (id, {about}, created_at) VALUES (gen_random_uuid(), %s, now())",
                (of,),
            )

        migrations.migrate(connection, lambda _: None)

        waiting = connection.execute(
            "SELECT organization_id, coalesce(user_id, customer_id, service_id) FROM customer_user_checks"
        ).fetchall()
    assert sorted(waiting) == sorted(
        [(INITECH, MEMBER), (GLOBEX, MEMBER), (GLOBEX, FORMER), (GLOBEX, CUSTOMER), (VENDOR, SERVICE)]
    )
