"""Login events in PostgreSQL: the habits of a user, and the bounded cost of reading them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.sign_in.login_events import PostgresLoginEvents
from core.sign_in.login_events import LoginEvent
from core.sign_in.reasons import SignInReason
from core.sign_in.risk import FAILURES_MAX, FAILURES_WINDOW, HABIT_SIGN_INS_MAX, HABITS_WINDOW, Habits
from tests.ids import id_at
from tests.plans import explained_statements, nodes_of
from tests.transactions import transaction_on
from tests.world.builder import Builder

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
MOMENT = timedelta(seconds=1)


@pytest.fixture
def ada(connection: Connection) -> UUID:
    """The id of an account."""
    return account(connection)


def account(connection: Connection) -> UUID:
    """Insert an account and return its id."""
    user_id = uuid4()
    connection.execute(
        "INSERT INTO users (id, email, created_at, updated_at) VALUES (%s, %s, %s, %s)",
        (user_id, f"{user_id}@example.com", NOW, NOW),
    )
    return user_id


def add_attempt(
    connection: Connection, user_id: UUID, at: datetime, country: str | None = None, *, success: bool = True
) -> None:
    """Insert an attempt to sign in."""
    connection.execute(
        """
        INSERT INTO login_events (id, user_id, provider, success, risk_score, risk_factors, geo_country, created_at)
        VALUES (%s, %s, 'password', %s, 0, '{}', %s, %s)
        """,
        (id_at(at), user_id, success, country, at),
    )


def habits(connection: Connection, user_id: UUID) -> Habits:
    """Return the user's habits, with the limits of the core."""
    return PostgresLoginEvents(transaction_on(connection, now=NOW)).defer_habits(
        user_id,
        since=NOW - HABITS_WINDOW,
        sign_ins_max=HABIT_SIGN_INS_MAX,
        failures_since=NOW - FAILURES_WINDOW,
        failures_max=FAILURES_MAX,
    )()


def test_a_new_user_has_no_habits(connection: Connection, ada: UUID) -> None:
    assert habits(connection, ada) == Habits(sign_ins=0, countries=[], hours=[], failures=0)


def test_each_country_and_hour_of_the_sign_ins_is_listed_once(connection: Connection, ada: UUID) -> None:
    for days, country in enumerate(["NL", "PT", None, "NL"], start=1):
        add_attempt(connection, ada, NOW - timedelta(days=days), country)
    add_attempt(connection, ada, datetime(2026, 2, 1, 23, 59, 59, tzinfo=UTC))

    assert habits(connection, ada) == Habits(sign_ins=5, countries=["NL", "PT"], hours=[4, 23], failures=0)


def test_hours_are_in_utc_whatever_the_time_zone_of_the_connection(connection: Connection, ada: UUID) -> None:
    connection.execute("SET timezone = 'Asia/Tokyo'")
    add_attempt(connection, ada, NOW - timedelta(days=1))

    assert habits(connection, ada).hours == [4]


def test_failures_count_for_fifteen_minutes_and_make_no_habits(connection: Connection, ada: UUID) -> None:
    for age in (MOMENT, FAILURES_WINDOW - MOMENT, FAILURES_WINDOW, timedelta(days=1)):
        add_attempt(connection, ada, NOW - age, "PT", success=False)

    assert habits(connection, ada) == Habits(sign_ins=0, countries=[], hours=[], failures=2)


def test_failures_are_counted_up_to_a_limit(connection: Connection, ada: UUID) -> None:
    for _ in range(FAILURES_MAX + 3):
        add_attempt(connection, ada, NOW, success=False)

    assert habits(connection, ada).failures == FAILURES_MAX


def test_sign_ins_before_the_window_are_ignored(connection: Connection, ada: UUID) -> None:
    add_attempt(connection, ada, NOW - HABITS_WINDOW, "NL")

    assert habits(connection, ada).sign_ins == 0


def test_the_attempts_of_other_users_are_ignored(connection: Connection, ada: UUID) -> None:
    eve = account(connection)
    add_attempt(connection, eve, NOW, "PT")
    add_attempt(connection, eve, NOW, success=False)

    assert habits(connection, ada) == Habits(sign_ins=0, countries=[], hours=[], failures=0)


def test_many_failures_do_not_displace_habits(connection: Connection, ada: UUID) -> None:
    add_attempt(connection, ada, NOW - timedelta(days=1), "NL")
    add_attempts(connection, ada, HABIT_SIGN_INS_MAX * 3, success=False)

    assert habits(connection, ada).countries == ["NL"]


@pytest.mark.parametrize("success", [True, False], ids=["sign-ins", "failures"])
@pytest.mark.long
def test_reading_habits_reads_a_bounded_number_of_rows(connection: Connection, ada: UUID, *, success: bool) -> None:
    add_attempts(connection, ada, 50_000, success=success)
    add_attempts(connection, account(connection), 50_000, success=success)
    connection.execute("ANALYZE login_events")
    with explained_statements(connection) as plans:
        habits(connection, ada)

    [plan] = plans
    scans = [node for node in nodes_of(plan) if node.get("Relation Name", "").startswith("login_events")]
    assert {node["Index Name"] for node in scans} == {"login_events_before_newest_of_user"}
    rows = sum(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in scans)
    assert rows <= HABIT_SIGN_INS_MAX + FAILURES_MAX


def add_attempts(connection: Connection, user_id: UUID, number: int, *, success: bool) -> None:
    """Insert many attempts of the last minutes."""
    connection.execute(
        """
        INSERT INTO login_events (id, user_id, provider, success, risk_score, risk_factors, geo_country, created_at)
        SELECT overlay(gen_random_uuid()::text placing left(first_id_at(at)::text, 13) from 1)::uuid, %s, 'password',
               %s, 0, '{}', 'PT', at
        FROM   generate_series(1, %s) AS n
        CROSS  JOIN LATERAL (SELECT %s - n * interval '1 millisecond') AS moments (at)
        """,
        (user_id, success, number, NOW),
    )


def attempt(event_id: UUID, user_id: UUID, reason: SignInReason | None) -> LoginEvent:
    """Return an attempt to sign in, which succeeded without a reason."""
    return LoginEvent(
        id=event_id,
        user_id=user_id,
        device_id=None,
        connection_id=None,
        customer_id=None,
        through_organization_id=None,
        provider="password",
        mailed_proof=None,
        success=reason is None,
        reason=reason,
        ip_address=None,
        user_agent=None,
        request_id=None,
        risk_score=0,
        risk_factors=[],
        geo_country=None,
        geo_city=None,
        created_at=NOW,
    )


def test_the_outcome_replaces_an_attempt_whichever_organization_it_names_and_a_success_stays(
    connection: Connection, builder: Builder, ada: UUID
) -> None:
    acme, event_id = builder.organization("acme"), id_at(NOW)
    log = PostgresLoginEvents(transaction_on(connection, now=NOW))

    def unfinished() -> None:
        log.add_unfinished(
            attempt(event_id, ada, SignInReason.SECOND_FACTOR_ASKED),
            organization_slug=None,
            service_slug=None,
            customer=None,
            affiliated_only=False,
            since=NOW - MOMENT,
            rows_max=10,
        )

    rows = "SELECT id, organization_id, success FROM login_events"
    with connection.transaction():
        unfinished()
    assert connection.execute(rows).fetchall() == [(event_id, ada, False)]
    with connection.transaction():
        log.add(attempt(event_id, ada, None), organization_id=acme, service_id=None)
    assert connection.execute(rows).fetchall() == [(event_id, acme, True)]
    # Whichever of two that finish one attempt comes last.
    with connection.transaction():
        unfinished()
    assert connection.execute(rows).fetchall() == [(event_id, acme, True)]


def test_nothing_is_stored_of_a_sign_in_to_an_organization_that_is_deleted(
    connection: Connection, builder: Builder, ada: UUID
) -> None:
    acme = builder.organization("acme")
    log = PostgresLoginEvents(transaction_on(connection, now=NOW))
    with connection.transaction():
        log.add(attempt(id_at(NOW), ada, None), organization_id=acme, service_id=None)
        log.add(attempt(id_at(NOW), ada, None), organization_id=None, service_id=None)

    connection.execute("DELETE FROM organizations WHERE id = %s", (acme,))
    with connection.transaction():
        log.add(attempt(id_at(NOW), ada, None), organization_id=acme, service_id=None)

    assert connection.execute("SELECT organization_id FROM login_events").fetchall() == [(ada,)]


def test_servers_of_before_may_name_no_organization(connection: Connection, ada: UUID) -> None:
    add_attempt(connection, ada, NOW)

    assert connection.execute("SELECT organization_id FROM login_events").fetchall() == [(ada,)]
