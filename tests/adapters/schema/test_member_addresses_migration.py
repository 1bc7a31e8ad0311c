"""The migration to memberships with addresses: they are filled in, and follow the accounts."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.schema import migrations
from tests.world.builder import FREE_TIER, new_id

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
ADDRESSES = "member_addresses"


def add_user(connection: RawConnection, email: str) -> UUID:
    user_id = new_id()
    connection.execute(
        "INSERT INTO users (id, email, created_at, updated_at) VALUES (%s, %s, %s, %s)", (user_id, email, NOW, NOW)
    )
    return user_id


def add_member(connection: RawConnection, organization_id: UUID, user_id: UUID) -> None:
    connection.execute(
        "INSERT INTO memberships (id, organization_id, user_id, role, created_at) VALUES (%s, %s, %s, 'member', %s)",
        (new_id(), organization_id, user_id, NOW),
    )


def addresses(connection: RawConnection) -> list[str | None]:
    return [
        row[0] for row in connection.execute("SELECT member_email FROM memberships ORDER BY member_email").fetchall()
    ]


def test_members_of_before_get_their_addresses_and_all_follow_the_accounts(empty_database_url: str) -> None:
    known = migrations.known()
    [version] = [migration.version for migration in known if migration.name == ADDRESSES]
    with migrations.connected(empty_database_url) as connection:
        migrations.migrate(connection, lambda _: None, known[: version - 1])
        organization_id = new_id()
        connection.execute(
            """
            INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
            VALUES (%s, 'acme', 'Acme', 'active', %s, %s, %s)
            """,
            (organization_id, FREE_TIER, NOW, NOW),
        )
        ann, bob, cid, dora = (add_user(connection, f"{name}@example.com") for name in ("ann", "bob", "cid", "dora"))
        add_member(connection, organization_id, ann)
        add_member(connection, organization_id, bob)

        migrations.migrate(connection, lambda _: None, known[:version])
        # Between both migrations processes of an older version add members and change addresses.
        add_member(connection, organization_id, cid)
        connection.execute("UPDATE users SET email = 'bea@example.com' WHERE id = %s", (bob,))
        before = addresses(connection)
        migrations.migrate(connection, lambda _: None, known[: version + 1])
        after = addresses(connection)
        connection.execute("UPDATE users SET email = 'eve@example.com' WHERE id = %s", (ann,))
        connection.execute("UPDATE memberships SET user_id = %s WHERE user_id = %s", (dora, cid))
        changed = addresses(connection)
        connection.execute("DELETE FROM users WHERE id = %s", (ann,))

        assert before == ["cid@example.com", None, None]
        assert after == ["ann@example.com", "bea@example.com", "cid@example.com"]
        assert changed == ["bea@example.com", "dora@example.com", "eve@example.com"]
        assert addresses(connection) == ["bea@example.com", "dora@example.com"]
