"""The migration to a kept security log: earlier anonymizations are in it again, and in the platform's log."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from adapters.postgres.schema import migrations
from core.ids import moment_of
from tests.ids import id_at
from tests.postgres import connected
from tests.world.builder import new_id

FIRST = "anonymizations_in_the_log_of_the_platform"


def test_the_logs_of_an_old_installation_have_every_anonymization(empty_database_url: str) -> None:
    known = migrations.known()
    [version] = [migration.version for migration in known if migration.name == FIRST]
    now = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
    logged, deleted, present = new_id(), new_id(), new_id()
    long_ago = now - timedelta(days=900)
    with migrations.connected(empty_database_url) as connection:
        migrations.migrate(connection, lambda _: None, known[: version - 1])
        for user_id, anonymized_at in ((logged, now), (deleted, long_ago), (present, None)):
            connection.execute(
                """
                INSERT INTO users (id, email, created_at, updated_at, anonymized_at, deactivated_at)
                VALUES (%s, %s, %s, %s, %s, %s)
                """,
                (user_id, f"{user_id}@example.com", long_ago, now, anonymized_at, anonymized_at),
            )
        for user_id, kind in ((logged, "user_anonymized"), (logged, "mfa_enabled"), (present, "mfa_enabled")):
            connection.execute(
                """
                INSERT INTO mfa_events (id, user_id, event_type, success, details, created_at)
                VALUES (%s, %s, %s, true, '{}', %s)
                """,
                (id_at(now), user_id, kind, now),
            )

        migrations.migrate(connection, lambda _: None, known[: version + 1])
        # As a process of the version before does, which goes on.
        connection.execute(
            """
            INSERT INTO mfa_events (id, user_id, event_type, success, details, created_at)
            VALUES (%s, %s, 'user_anonymized', true, '{}', %s)
            """,
            (id_at(now + timedelta(hours=1)), present, now + timedelta(hours=1)),
        )
    with connected(empty_database_url) as connection:
        security = connection.execute(
            "SELECT id, user_id::text, created_at FROM mfa_events WHERE event_type = 'user_anonymized' ORDER BY id"
        ).fetchall()
        platform = connection.execute(
            "SELECT id, target_id, created_at FROM platform_audit_entries WHERE action = 'user_anonymized' ORDER BY id"
        ).fetchall()

    assert [(user_id, at) for _, user_id, at in security] == [
        (str(deleted), long_ago),
        (str(logged), now),
        (str(present), now + timedelta(hours=1)),
    ]
    assert platform == security
    assert [moment_of(entry_id) for entry_id, *_ in platform] == [at for *_, at in platform]
