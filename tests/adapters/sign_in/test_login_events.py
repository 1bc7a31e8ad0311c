"""What is remembered of a person's sign-ins, and that looking back is cheap however much there is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import pytest

from adapters.postgres.sign_in.login_events import PostgresLoginEvents
from core.sign_in.risk import FAILURES_MAX, FAILURES_WINDOW, HABIT_SIGN_INS_MAX, HABITS_WINDOW, Habits
from tests.plans import explained_statements, nodes_of
from tests.transactions import transaction_on

if TYPE_CHECKING:
    from adapters.postgres.driver.connection import Connection

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
MOMENT = timedelta(seconds=1)


@pytest.fixture
def ada(connection: Connection) -> UUID:
    """An account."""
    return account(connection)


def account(connection: Connection) -> UUID:
    """Make an account."""
    user_id = uuid4()
    connection.execute(
        "INSERT INTO users (id, email, created_at, updated_at) VALUES (%s, %s, %s, %s)",
        (user_id, f"{user_id}@example.com", NOW, NOW),
    )
    return user_id


def remember(
    connection: Connection, user_id: UUID, at: datetime, country: str | None = None, *, success: bool = True
) -> None:
    """Remember an attempt."""
    connection.execute(
        """
        INSERT INTO login_events (id, user_id, provider, success, risk_score, risk_factors, geo_country, created_at)
        VALUES (%s, %s, 'password', %s, 0, '{}', %s, %s)
        """,
        (uuid4(), user_id, success, country, at),
    )


def habits(connection: Connection, user_id: UUID) -> Habits:
    """Look back as the core does."""
    return PostgresLoginEvents(transaction_on(connection)).defer_habits(
        user_id,
        since=NOW - HABITS_WINDOW,
        sign_ins_max=HABIT_SIGN_INS_MAX,
        failures_since=NOW - FAILURES_WINDOW,
        failures_max=FAILURES_MAX,
    )()


def test_somebody_new_has_none(connection: Connection, ada: UUID) -> None:
    assert habits(connection, ada) == Habits(sign_ins=0, countries=[], hours=[], failures=0)


def test_sign_ins_tell_countries_and_hours_each_once(connection: Connection, ada: UUID) -> None:
    for days, country in enumerate(["NL", "PT", None, "NL"], start=1):
        remember(connection, ada, NOW - timedelta(days=days), country)
    remember(connection, ada, datetime(2026, 2, 1, 23, 59, 59, tzinfo=UTC))

    assert habits(connection, ada) == Habits(sign_ins=5, countries=["NL", "PT"], hours=[4, 23], failures=0)


def test_hours_are_those_of_utc_whatever_the_session_of_the_database_thinks(connection: Connection, ada: UUID) -> None:
    connection.execute("SET timezone = 'Asia/Tokyo'")
    remember(connection, ada, NOW - timedelta(days=1))

    assert habits(connection, ada).hours == [4]


def test_refused_attempts_are_counted_for_fifteen_minutes_and_tell_nothing_else(
    connection: Connection, ada: UUID
) -> None:
    for age in (MOMENT, FAILURES_WINDOW - MOMENT, FAILURES_WINDOW, timedelta(days=1)):
        remember(connection, ada, NOW - age, "PT", success=False)

    assert habits(connection, ada) == Habits(sign_ins=0, countries=[], hours=[], failures=2)


def test_no_more_failures_are_counted_than_matter(connection: Connection, ada: UUID) -> None:
    for _ in range(FAILURES_MAX + 3):
        remember(connection, ada, NOW, success=False)

    assert habits(connection, ada).failures == FAILURES_MAX


def test_what_is_too_old_is_forgotten(connection: Connection, ada: UUID) -> None:
    remember(connection, ada, NOW - HABITS_WINDOW, "NL")

    assert habits(connection, ada).sign_ins == 0


def test_others_have_habits_of_their_own(connection: Connection, ada: UUID) -> None:
    eve = account(connection)
    remember(connection, eve, NOW, "PT")
    remember(connection, eve, NOW, success=False)

    assert habits(connection, ada) == Habits(sign_ins=0, countries=[], hours=[], failures=0)


def test_a_flood_of_failures_does_not_wash_habits_away(connection: Connection, ada: UUID) -> None:
    remember(connection, ada, NOW - timedelta(days=1), "NL")
    many(connection, ada, HABIT_SIGN_INS_MAX * 3, success=False)

    assert habits(connection, ada).countries == ["NL"]


@pytest.mark.parametrize("success", [True, False], ids=["sign-ins", "failures"])
def test_looking_back_reads_a_handful_of_rows_whatever_there_is_of_the_other_kind(
    connection: Connection, ada: UUID, *, success: bool
) -> None:
    many(connection, ada, 50_000, success=success)
    connection.execute("ANALYZE login_events")
    with explained_statements(connection) as plans:
        habits(connection, ada)

    [plan] = plans
    scans = [node for node in nodes_of(plan) if node.get("Relation Name") == "login_events"]
    assert {node["Index Name"] for node in scans} == {"login_events_of_user"}
    rows = sum(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in scans)
    assert rows <= HABIT_SIGN_INS_MAX + FAILURES_MAX


def many(connection: Connection, user_id: UUID, number: int, *, success: bool) -> None:
    """Remember many attempts of the last minutes."""
    connection.execute(
        """
        INSERT INTO login_events (id, user_id, provider, success, risk_score, risk_factors, geo_country, created_at)
        SELECT gen_random_uuid(), %s, 'password', %s, 0, '{}', 'PT', %s - n * interval '1 millisecond'
        FROM   generate_series(1, %s) AS n
        """,
        (user_id, success, NOW, number),
    )
