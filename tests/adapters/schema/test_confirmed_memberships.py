"""The migration to unconfirmed memberships: existing ones are confirmed, later ones only when a statement says so."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from adapters.postgres.schema import migrations
from tests.world.builder import FREE_TIER, new_id

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
UNCONFIRMED = "unconfirmed_memberships"


def test_the_memberships_that_stand_are_confirmed_and_new_ones_are_not(empty_database_url: str) -> None:
    known = migrations.known()
    [version] = [migration.version for migration in known if migration.name == UNCONFIRMED]
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

        def add_member() -> UUID:
            user_id = new_id()
            connection.execute(
                "INSERT INTO users (id, email, created_at, updated_at) VALUES (%s, %s, %s, %s)",
                (user_id, f"{user_id}@example.com", NOW, NOW),
            )
            connection.execute(
                "INSERT INTO memberships (id, organization_id, user_id, role, created_at) VALUES (%s, %s, %s, %s, %s)",
                (new_id(), organization_id, user_id, "member", NOW),
            )
            return user_id

        earlier = add_member()
        migrations.migrate(connection, lambda _: None)
        later = add_member()

        rows = connection.execute("SELECT user_id, confirmed_at IS NOT NULL FROM memberships").fetchall()
    assert dict(rows) == {earlier: True, later: False}
