"""The migration to habits by person: they are read from the log, and deletions go on deleting sign-ins."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from adapters.postgres.schema import migrations
from adapters.postgres.sign_in.login_events import PostgresLoginEvents
from core.sign_in.risk import HABIT_SIGN_INS_MAX, Habits
from tests.ids import id_at
from tests.postgres import connected
from tests.transactions import transaction_on
from tests.world.builder import new_id

SIGN_INS_BY_PERSON = "sign_ins_by_person"


def test_people_of_before_keep_their_habits(empty_database_url: str) -> None:
    known = migrations.known()
    [version] = [migration.version for migration in known if migration.name == SIGN_INS_BY_PERSON]
    now = datetime.now(UTC).replace(minute=30)
    ada, eve, late = new_id(), new_id(), new_id()
    with migrations.connected(empty_database_url) as connection:
        migrations.migrate(connection, lambda _: None, known[: version - 1])
        for user_id in (ada, eve, late):
            connection.execute(
                "INSERT INTO users (id, email, created_at, updated_at) VALUES (%s, %s, %s, %s)",
                (user_id, f"{user_id}@example.com", now, now),
            )
        times = [now - timedelta(hours=hours) for hours in range(HABIT_SIGN_INS_MAX, 0, -1)]
        for user_id, at, country in [
            (ada, now - timedelta(days=80), "PT"),
            *((ada, at, "NL") for at in times),
            (eve, now - timedelta(days=3), None),
            (eve, now - timedelta(days=2), "PT"),
            (late, now - timedelta(days=100), "PT"),
        ]:
            connection.execute(
                """
                INSERT INTO login_events (id, user_id, organization_id, provider, success, risk_score, risk_factors,
                                          geo_country, created_at)
                VALUES (%s, %s, %s, 'password', true, 0, '{}', %s, %s)
                """,
                (id_at(at), user_id, user_id, country, at),
            )

        migrations.migrate(connection, lambda _: None, known[: version + 2])
    with connected(empty_database_url) as connection:
        found = {
            user_id: PostgresLoginEvents(transaction_on(connection, now=now)).defer_habits(user_id)()
            for user_id in (ada, eve, late)
        }
        connection.execute("DELETE FROM users WHERE id = %s", (eve,))
        left = connection.execute("SELECT DISTINCT user_id FROM login_events").fetchall()

    assert found == {
        ada: Habits(sign_ins=HABIT_SIGN_INS_MAX, countries=["NL"], hours=list(range(24)), failures=0),
        eve: Habits(sign_ins=2, countries=["PT"], hours=[now.hour], failures=0),
        late: Habits(sign_ins=0, countries=[], hours=[], failures=0),
    }
    assert {user_id for (user_id,) in left} == {ada, late}
