"""The migration to credentials with makers: a SCIM token gets the present role of its maker."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from adapters.postgres.schema import migrations
from tests.world.builder import FREE_TIER, new_id

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
MAKERS = "credentials_of_makers"


def test_a_token_keeps_the_role_of_its_maker_of_today_and_the_log_says_how_many(empty_database_url: str) -> None:
    known = migrations.known()
    [version] = [migration.version for migration in known if migration.name == MAKERS]
    lines: list[str] = []
    with migrations.connected(empty_database_url) as connection:
        migrations.migrate(connection, lambda _: None, known[: version - 1])
        organization_id, service_id = new_id(), new_id()
        connection.execute(
            """
            INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
            VALUES (%s, 'acme', 'Acme', 'active', %s, %s, %s)
            """,
            (organization_id, FREE_TIER, NOW, NOW),
        )
        connection.execute(
            """
            INSERT INTO services (id, organization_id, slug, name, service_type, client_id, created_at, updated_at)
            VALUES (%s, %s, 'shop', 'Shop', 'web', %s, %s, %s)
            """,
            (service_id, organization_id, new_id(), NOW, NOW),
        )
        connection.execute(
            """
            INSERT INTO organization_roles (organization_id, slug, name, permissions, created_at, updated_at)
            VALUES (%s, 'connector', 'Connector', '{integrations.manage}', %s, %s)
            """,
            (organization_id, NOW, NOW),
        )

        def add(name: str, role: str | None) -> None:
            user_id: UUID | None = new_id() if role is not None or name == "left" else None
            if user_id is not None:
                connection.execute(
                    "INSERT INTO users (id, email, created_at, updated_at) VALUES (%s, %s, %s, %s)",
                    (user_id, f"{name}@example.com", NOW, NOW),
                )
            if role is not None:
                connection.execute(
                    """
                    INSERT INTO memberships (id, organization_id, user_id, role, created_at) VALUES (%s, %s, %s, %s, %s)
                    """,
                    (new_id(), organization_id, user_id, role, NOW),
                )
            connection.execute(
                """
                INSERT INTO scim_tokens (id, organization_id, name, prefix, token_hash, created_at, created_by)
                VALUES (%s, %s, %s, 'scim_live_000000', '', %s, %s)
                """,
                (new_id(), organization_id, name, NOW, user_id),
            )
            connection.execute(
                """
                INSERT INTO api_keys (id, organization_id, service_id, name, prefix, key_hash, permissions, created_at,
                                      created_by)
                VALUES (%s, %s, %s, %s, 'sk_000000', '', '{read:users}', %s, %s)
                """,
                (new_id(), organization_id, service_id, name, NOW, user_id),
            )

        add("admin", "admin")
        add("connector", "connector")
        add("left", None)
        add("gone", None)
        migrations.migrate(connection, lines.append, known[:version])

        rows = connection.execute("SELECT name, maker_role, maker_permissions FROM scim_tokens ORDER BY name")
        kept = rows.fetchall()
    assert kept == [
        ("admin", "admin", None),
        ("connector", "connector", ["integrations.manage"]),
        ("gone", None, None),
        ("left", None, None),
    ]
    said = [line.partition(": ")[2] for line in lines if line.startswith(f"{version:04}_{MAKERS}: ")]
    assert [line.partition(" ")[0] for line in said] == ["2", "2", "2"]
