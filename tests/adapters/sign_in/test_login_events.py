"""Login events in PostgreSQL: what the next sign-in is compared with, and what goes with its owner."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.sign_in.login_events import PostgresLoginEvents
from core.sign_in.login_events import LoginEvent, NamedPlace
from core.sign_in.reasons import SignInReason
from core.sign_in.risk import FAILURES_MAX, FAILURES_WINDOW, HABIT_SIGN_INS_MAX, HABITS_WINDOW, Habits
from tests.ids import id_at
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
    """Record an attempt to sign in."""
    event = attempt(id_at(at), user_id, None if success else SignInReason.WRONG_PASSWORD, at=at, country=country)
    PostgresLoginEvents(transaction_on(connection, now=at)).add(event, has_waited=False)


def habits(connection: Connection, user_id: UUID) -> Habits:
    """Return the user's habits."""
    return PostgresLoginEvents(transaction_on(connection, now=NOW)).defer_habits(user_id)()


def attempt(
    event_id: UUID,
    user_id: UUID,
    reason: SignInReason | None,
    *,
    organization_id: UUID | None = None,
    at: datetime = NOW,
    country: str | None = None,
) -> LoginEvent:
    """Return an attempt to sign in, which succeeded without a reason."""
    return LoginEvent(
        id=event_id,
        user_id=user_id,
        organization_id=organization_id or user_id,
        service_id=None,
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
        geo_country=country,
        geo_city=None,
        created_at=at,
    )


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


def test_the_newest_sign_ins_alone_make_habits_and_failures_displace_none(connection: Connection, ada: UUID) -> None:
    add_attempt(connection, ada, NOW - timedelta(days=2), "PT")
    for minutes in range(HABIT_SIGN_INS_MAX, 0, -1):
        add_attempt(connection, ada, NOW - timedelta(minutes=minutes), "NL")
    for _ in range(FAILURES_MAX):
        add_attempt(connection, ada, NOW, "PT", success=False)

    found = habits(connection, ada)

    assert (found.sign_ins, found.countries, found.failures) == (HABIT_SIGN_INS_MAX, ["NL"], FAILURES_MAX)


def test_a_country_that_is_no_code_is_none(connection: Connection, ada: UUID) -> None:
    add_attempt(connection, ada, NOW - timedelta(hours=2), "Nowhere")
    add_attempt(connection, ada, NOW - timedelta(hours=1), "NL")

    assert habits(connection, ada).countries == ["NL"]


def test_attempts_that_wait_are_counted_and_are_no_failures(connection: Connection, ada: UUID) -> None:
    log = PostgresLoginEvents(transaction_on(connection, now=NOW))
    for reason in (SignInReason.SECOND_FACTOR_ASKED, SignInReason.CUSTOMER_ASKED):
        log.add(attempt(id_at(NOW), ada, reason), has_waited=False)

    assert habits(connection, ada) == Habits(sign_ins=0, countries=[], hours=[], failures=0, waiting=2)


def test_the_outcome_replaces_an_attempt_of_its_organization_and_a_success_stays(
    connection: Connection, builder: Builder, ada: UUID
) -> None:
    acme, event_id = builder.organization("acme"), id_at(NOW)
    log = PostgresLoginEvents(transaction_on(connection, now=NOW))

    def add(reason: SignInReason | None, *, has_waited: bool = True) -> list[tuple[object, ...]]:
        with connection.transaction():
            log.add(attempt(event_id, ada, reason, organization_id=acme), has_waited=has_waited)
        return connection.execute("SELECT id, organization_id, success, reason FROM login_events").fetchall()

    waits = SignInReason.SECOND_FACTOR_ASKED
    assert add(waits, has_waited=False) == [(event_id, acme, False, waits)]
    assert add(SignInReason.WRONG_CODE) == [(event_id, acme, False, SignInReason.WRONG_CODE)]
    assert add(None) == [(event_id, acme, True, None)]
    # Whichever of two that finish one attempt comes last.
    assert add(SignInReason.WRONG_CODE) == [(event_id, acme, True, None)]


def test_what_is_passed_over_leaves_nothing(connection: Connection, ada: UUID) -> None:
    log = PostgresLoginEvents(transaction_on(connection, now=NOW))
    log.pass_over(attempt(id_at(NOW), ada, SignInReason.WRONG_PASSWORD))

    assert habits(connection, ada).failures == 0
    assert connection.execute("SELECT count(*) FROM login_events").fetchall() == [(0,)]


def test_a_refused_attempt_belongs_to_an_organization_that_exists_and_knows_its_user(
    connection: Connection, builder: Builder, ada: UUID
) -> None:
    acme, bolt = builder.organization("acme"), builder.organization("bolt")
    builder.member(acme, ada)

    def place(slug: str | None, *, through: UUID | None = None, is_for_known: bool = True) -> tuple[object, ...]:
        log = PostgresLoginEvents(transaction_on(connection, now=NOW))
        named = NamedPlace(
            organization_slug=slug,
            service_slug=None,
            through_organization_id=through,
            customer=None,
            is_for_known=is_for_known,
        )
        read = log.defer_refused(ada, SignInReason.TOO_MANY_FAILURES, named)()
        return read.place.organization_id, read.place.through_organization_id, read.is_one_too_many

    assert place("acme") == (acme, None, False)
    assert place("bolt") == (None, None, False)
    assert place("bolt", is_for_known=False) == (bolt, None, False)
    assert place(None, through=acme) == (None, acme, False)
    assert place(None, through=bolt) == (None, None, False)
    PostgresLoginEvents(transaction_on(connection, now=NOW)).add(
        attempt(id_at(NOW), ada, SignInReason.TOO_MANY_FAILURES), has_waited=False
    )
    assert (place(None), place("acme")) == ((None, None, True), (acme, None, False))
    connection.execute(
        "UPDATE organizations SET status = 'deleting', deletes_at = now(), status_before_deletion = 'active'"
        " WHERE id = %s",
        (acme,),
    )
    assert place("acme") == (None, None, True)


def test_sign_ins_go_with_their_account_and_outlive_their_service(
    connection: Connection, builder: Builder, ada: UUID
) -> None:
    acme = builder.organization("acme")
    shop, eve = builder.service(acme, "shop").id, account(connection)
    log = PostgresLoginEvents(transaction_on(connection, now=NOW))
    for user_id in (ada, eve):
        log.add(replace(attempt(id_at(NOW), user_id, None, organization_id=acme), service_id=shop), has_waited=False)
        log.add(attempt(id_at(NOW), user_id, None), has_waited=False)

    connection.execute("DELETE FROM users WHERE id = %s", (ada,))
    connection.execute("DELETE FROM services WHERE id = %s", (shop,))

    rows = connection.execute("SELECT user_id, organization_id, service_id FROM login_events").fetchall()
    assert set(rows) == {(eve, acme, None), (eve, eve, None)}
    assert connection.execute("SELECT user_id FROM sign_in_habits").fetchall() == [(eve,)]
