"""The migration that gives links to services their origin, and reopens accounts that a directory had closed wrongly."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.schema import migrations

# The last migration before the origins.
BEFORE = 25
ACME, GLOBEX = "00000000-0000-7000-8000-00000000000a", "00000000-0000-7000-8000-00000000000b"
MEMBER, FORMER, VISITOR, LINKED = (f"00000000-0000-7000-8000-00000000010{number}" for number in range(4))
NOW = "2026-01-01 00:00Z"


@pytest.fixture
def upgraded(empty_database_url: str) -> Iterator[tuple[RawConnection, list[str]]]:
    """Return an upgraded database, and what the upgrade reported."""
    reported: list[str] = []
    with psycopg.connect(empty_database_url, autocommit=True) as connection:
        migrations.migrate(connection, reported.append, migrations.known()[:BEFORE])
        fill(connection)
        reported.clear()
        migrations.migrate(connection, reported.append)
        yield connection, reported


def fill(connection: RawConnection) -> None:
    for organization, slug in ((ACME, "acme"), (GLOBEX, "globex")):
        values = {"id": organization, "slug": slug, "now": NOW}
        connection.execute(
            """
            INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
            SELECT %(id)s, %(slug)s, %(slug)s, 'active', id, %(now)s, %(now)s FROM tiers LIMIT 1
            """,
            values,
        )
        connection.execute(
            """
            INSERT INTO services (id, organization_id, slug, name, service_type, client_id, created_at, updated_at)
            VALUES (%(id)s, %(id)s, 'shop', 'Shop', 'web', gen_random_uuid(), %(now)s, %(now)s)
            """,
            values,
        )
    for user in (MEMBER, FORMER, VISITOR, LINKED):
        add_user(connection, user)
    # Another organization's members say nothing about this one's links.
    for organization, user in ((ACME, MEMBER), (GLOBEX, VISITOR)):
        connection.execute(
            "INSERT INTO memberships VALUES (gen_random_uuid(), %s, %s, 'member', %s, %s)",
            (organization, user, NOW, NOW),
        )
    # A key that removes an end user names the service.
    for user, details in ((FORMER, "{}"), (LINKED, '{"service_id": "1"}')):
        connection.execute(
            """
            INSERT INTO audit_entries (id, organization_id, action, target_type, target_id, success, details,
                                       created_at)
            VALUES (gen_random_uuid(), %s, 'user.removed', 'user', %s, true, %s, %s)
            """,
            (ACME, user, details, NOW),
        )
    connection.execute(
        "UPDATE users SET deactivated_at = %s, deactivated_by_organization_id = %s WHERE id IN (%s, %s)",
        (NOW, ACME, MEMBER, VISITOR),
    )
    connection.execute(
        """
        INSERT INTO upstream_connections (id, organization_id, type, name, scopes, attribute_mapping, trust_mfa,
                                          enabled, created_at, updated_at)
        VALUES (%(id)s, %(id)s, 'saml', 'x', '{}', '{}', false, false, %(now)s, %(now)s)
        """,
        {"id": ACME, "now": NOW},
    )
    connection.execute(
        """
        INSERT INTO domain_routes (id, organization_id, domain, connection_id, enforced, value, status, verified_at)
        VALUES (%(id)s, %(id)s, 'acme.example', %(id)s, false, 'value', 'verified', %(now)s)
        """,
        {"id": ACME, "now": NOW},
    )


def add_user(connection: RawConnection, user_id: str) -> None:
    """Insert a user with a link to the shop, in Acme's mail domain if they are its member."""
    domain = "acme.example" if user_id == MEMBER else "elsewhere.example"
    connection.execute(
        "INSERT INTO users (id, email, created_at, updated_at) VALUES (%s, %s, %s, %s)",
        (user_id, f"{user_id}@{domain}", NOW, NOW),
    )
    connection.execute(
        """
        INSERT INTO service_users (service_id, organization_id, user_id, first_login_at, last_login_at)
        VALUES (%s, %s, %s, %s, %s)
        """,
        (ACME, ACME, user_id, NOW, None if user_id == LINKED else NOW),
    )


def test_links_of_members_and_former_members_came_with_the_membership(
    upgraded: tuple[RawConnection, list[str]],
) -> None:
    connection, reported = upgraded

    found = dict(connection.execute("SELECT user_id::text, origin FROM service_users").fetchall())

    # The others keep the access that they had, because who gave it was not recorded.
    assert found == {MEMBER: "membership", FORMER: "membership", VISITOR: "key", LINKED: "key"}
    assert any("links of members" in line and line.endswith(": 1") for line in reported), reported
    assert any("links of former members" in line and line.endswith(": 1") for line in reported), reported


def test_an_account_stays_deactivated_in_the_mail_domain_alone(upgraded: tuple[RawConnection, list[str]]) -> None:
    connection, reported = upgraded

    found = connection.execute("SELECT id::text FROM users WHERE deactivated_at IS NOT NULL").fetchall()

    assert found == [(MEMBER,)]
    assert any("outside of their mail domains" in line and line.endswith(": 1") for line in reported), reported
