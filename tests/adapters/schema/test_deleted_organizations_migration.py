"""The migration to organizations that can be restored: which existing ones may have had another member."""

from __future__ import annotations

from datetime import UTC, datetime

import psycopg
import pytest

from adapters.postgres.schema import migrations
from tests.world.builder import FREE_TIER, new_id

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
NAME = "deleted_organizations"


def test_one_of_before_counts_as_having_had_another_member_unless_it_was_never_approved(
    empty_database_url: str,
) -> None:
    known = migrations.known()
    [version] = [migration.version for migration in known if migration.name == NAME]
    with migrations.connected(empty_database_url) as connection:
        migrations.migrate(connection, lambda _: None, known[: version - 1])

        def add(slug: str, status: str) -> None:
            connection.execute(
                """
                INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
                VALUES (%s, %s, 'Acme', %s, %s, %s, %s)
                """,
                (new_id(), slug, status, FREE_TIER, NOW, NOW),
            )

        for status in ("pending", "rejected", "active", "suspended"):
            add(status, status)
        migrations.migrate(connection, lambda _: None)
        add("later", "active")

        rows = connection.execute("SELECT slug, had_other_members FROM organizations").fetchall()
        assert dict(rows) == {"pending": False, "rejected": False, "active": True, "suspended": True, "later": False}
        for change in ("status = 'deleting'", "deletes_at = now()", "status_before_deletion = 'active'"):
            with pytest.raises(psycopg.errors.CheckViolation):
                connection.execute(f"UPDATE organizations SET {change} WHERE slug = 'active'".encode())
