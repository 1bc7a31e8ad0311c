"""Counting sign-ins in advance: exactly once, in any batches, and always in agreement with the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, LiteralString
from uuid import UUID

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.postgres.audit import sign_in_counts as sql
from adapters.postgres.audit import sign_in_log as log_sql
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from adapters.postgres.log_times import kept_values
from adapters.postgres.transaction import Tools
from adapters.postgres.unit_of_work import PostgresUnitOfWork
from core.audit import sign_in_counts
from core.audit.analytics import Period
from core.audit.sign_in_counts import SignInFilter, count_next, counting, forget_days, of_organization
from core.audit.sign_in_log import NO_SERVICE, LoggedSignIn, find, find_active
from core.ids import FIRST_ID, first_id_at, ids_of_days
from core.positions import Position
from core.sessions.origins import BACKGROUND
from ports.unit_of_work import UnitOfWork
from tests.clock import SettableClock
from tests.plans import explained, explained_statements, pages_read, rows_read, tables_read_whole
from tests.seeds import Numbers
from tests.world.builder import Builder

BEGIN: Final = datetime(2026, 1, 1, tzinfo=UTC)
PARTS: Final = 5
PERIOD_DAYS: Final = 60
_numbers = Numbers()
EMPTYING: Final = (
    "DELETE FROM login_events",
    "DELETE FROM sign_in_counting",
    "DELETE FROM sign_in_counts",
    "DELETE FROM platform_sign_in_counts",
    "DELETE FROM active_user_changes",
    "DELETE FROM platform_active_user_changes",
    "DELETE FROM active_days",
)


@dataclass(frozen=True, kw_only=True)
class Event:
    """A sign-in of the test."""

    organization: int | None
    user: int
    service: int | None
    provider: str
    reason: str
    minute: int

    @property
    def at(self) -> datetime:
        return BEGIN + timedelta(minutes=self.minute)

    @property
    def day(self) -> date:
        return self.at.date()


events = st.builds(
    Event,
    organization=st.sampled_from([0, 0, 0, 1, None]),
    user=st.integers(0, 3),
    service=st.sampled_from([None, 0, 1]),
    provider=st.sampled_from(["password", "passkey", "okta"]),
    reason=st.sampled_from(["", "", "", "wrong_password", "not_a_member"]),
    # Days with several sign-ins, and pauses that are longer than a window.
    minute=st.one_of(st.integers(0, 3 * 1440), st.integers(0, (PERIOD_DAYS - 2) * 1440)),
)


class Log:
    """Two organizations with their users and services, whose sign-ins are written with ids of their time."""

    def __init__(self, builder: Builder, connection: Connection, clock: SettableClock, transact: Any) -> None:
        self.connection, self.clock, self.transact = connection, clock, transact
        self.users = [builder.user(f"user-{number}@example.com") for number in range(4)]
        self.organizations = [builder.organization("acme"), builder.organization("bolt")]
        self.services = [
            [builder.service(organization, f"service-{number}").id for number in range(2)]
            for organization in self.organizations
        ]
        for organization in self.organizations:
            for user in self.users:
                builder.member(organization, user)
        connection.execute("UPDATE memberships SET confirmed_at = '2025-01-01T00:00:00Z'")

    def write(self, event: Event) -> UUID:
        organization = self.organizations[event.organization] if event.organization is not None else None
        event_id = UUID(int=first_id_at(event.at).int + next(_numbers))
        self.connection.execute(
            """
            INSERT INTO login_events (id, user_id, organization_id, service_id, provider, success, reason, ip_address,
                                      risk_score, risk_factors, created_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, '192.0.2.1', 0, '{}', %s)
            """,
            (
                event_id,
                self.users[event.user],
                organization or self.users[event.user],
                self.service_of(event),
                event.provider,
                not event.reason,
                event.reason or None,
                event.at,
            ),
        )
        return event_id

    def service_of(self, event: Event) -> UUID | None:
        if event.organization is None or event.service is None:
            return None
        return self.services[event.organization][event.service]

    def empty(self) -> None:
        for statement in EMPTYING:
            self.connection.execute(statement)

    def show(self, organization: int | None, days: int = PERIOD_DAYS) -> sign_in_counts.SignInAnalytics:
        organization_id = self.organizations[organization] if organization is not None else None
        return self.transact(of_organization, organization_id, days)

    def listed(self, organization: int | None, asked: SignInFilter) -> Iterator[LoggedSignIn]:
        """Return all pages of the list."""
        organization_id = self.organizations[organization] if organization is not None else None
        after: Position | None = None
        while True:
            page = self.transact(find, organization_id, asked, after=after, limit=3, days_max=2)
            yield from page.found
            after = page.next
            if after is None:
                return

    def active(self, organization: int | None, window: Period) -> list[UUID]:
        """Return all pages of the active users."""
        organization_id = self.organizations[organization] if organization is not None else None
        found: list[UUID] = []
        after = UUID(int=0)
        while True:
            page = self.transact(find_active, organization_id, window, after=after, limit=2)
            found += [one.user_id for one in page.found]
            if page.next is None:
                assert page.total in {None, len(found)}
                return found
            after = page.next


@pytest.fixture
def log(builder: Builder, connection: Connection, clock: SettableClock, transact: Any) -> Log:
    return Log(builder, connection, clock, transact)


def assert_agrees(log: Log, written: list[Event], organization: int | None) -> None:
    """Compare what plots show, and the lists behind each bar, with the sign-ins themselves."""
    mine = [event for event in written if organization is None or event.organization == organization]
    shown = log.show(organization)
    for one in shown.days:
        of_day = [event for event in mine if event.day == one.day]
        assert (one.succeeded, one.refused) == outcomes(of_day), one.day
    for reason in shown.figures.reasons:
        asked = SignInFilter(reason=reason.reason, since=shown.period.start, until=shown.period.end)
        assert len(list(log.listed(organization, asked))) == reason.refused
    assert {one.reason: one.refused for one in shown.figures.reasons} == Counter(
        event.reason for event in mine if event.reason
    )
    for method in shown.figures.methods:
        asked = SignInFilter(provider=method.provider, succeeded=True)
        assert len(list(log.listed(organization, asked))) == method.succeeded
    assert {one.provider: (one.succeeded, one.refused) for one in shown.figures.methods} == {
        provider: outcomes([event for event in mine if event.provider == provider])
        for provider in {event.provider for event in mine}
    }
    if organization is not None:
        assert {one.service_id: one.succeeded + one.refused for one in shown.figures.services} == Counter(
            log.service_of(event) or NO_SERVICE for event in mine
        )
    for active in shown.active:
        assert (active.users, active.week, active.month) == tuple(
            len({event.user for event in mine if not event.reason and 0 <= (active.day - event.day).days < days})
            for days in (1, 7, 30)
        ), active
        for days, number in ((1, active.users), (7, active.week), (30, active.month)):
            window = Period(start=active.day - timedelta(days=days - 1), end=active.day)
            # The platform has the last windows alone.
            if organization is not None or window.start > shown.period.end - timedelta(days=30):
                assert len(log.active(organization, window)) == number
    listed = list(log.listed(organization, SignInFilter()))
    assert [one.created_at for one in listed] == sorted((event.at for event in mine), reverse=True)
    assert len({one.id for one in listed}) == len(mine)
    for day in {event.day for event in mine}:
        asked = SignInFilter(since=day, until=day, succeeded=False)
        refused = next(one for one in shown.days if one.day == day).refused
        assert len(list(log.listed(organization, asked))) == refused


def outcomes(found: list[Event]) -> tuple[int, int]:
    return sum(not event.reason for event in found), sum(bool(event.reason) for event in found)


# An example asks some hundred questions. In parts, so that several processes share them, and each ends long before a
# test is taken for stuck.
@pytest.mark.parametrize("_part", range(PARTS))
@settings(max_examples=settings().max_examples // PARTS, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    history=st.lists(events, max_size=25),
    batches=st.lists(st.integers(1, 7), min_size=1, max_size=6),
    counted_until=st.integers(0, (PERIOD_DAYS - 1) * 1440),
)
def test_plots_and_lists_agree_with_the_log_however_much_of_it_is_counted(
    log: Log, _part: int, history: list[Event], batches: list[int], counted_until: int
) -> None:
    log.empty()
    end = BEGIN + timedelta(days=PERIOD_DAYS) - timedelta(minutes=1)
    written = sorted(history, key=lambda event: event.minute)
    for event in written:
        log.write(event)
    log.clock.now = BEGIN + timedelta(minutes=counted_until)
    for limit in batches:
        log.transact(count_next, limit)
    log.transact(forget_days, 10)
    log.clock.now = end
    # What is left is counted; or little enough of it is, and pages add it.
    if not log.transact(counting).is_complete:
        while log.transact(count_next, batches[0]):
            pass

    for organization in (0, 1, None):
        assert_agrees(log, written, organization)


def event(minute: int, user: int = 0, **fields: Any) -> Event:
    return replace(
        Event(organization=0, user=user, service=None, provider="password", reason="", minute=minute), **fields
    )


DAY: Final = 1440


def count_all(log: Log) -> None:
    while log.transact(count_next, 2):
        pass


def counted(log: Log) -> int:
    [(number,)] = log.connection.execute("SELECT coalesce(sum(sign_ins), 0) FROM platform_sign_in_counts").fetchall()
    return number


class ProcessKilledError(Exception):
    """The process ended before the transaction was committed."""


def test_a_batch_that_was_not_committed_is_counted_once_all_the_same(log: Log) -> None:
    for minute in (1, 2, 3, DAY + 1):
        log.write(event(minute))
    log.clock.now = BEGIN + timedelta(days=3)

    def killed(uow: UnitOfWork) -> None:
        count_next(uow, 3)
        raise ProcessKilledError

    log.transact(count_next, 1)
    with pytest.raises(ProcessKilledError):
        log.transact(killed)
    count_all(log)
    count_all(log)

    assert counted(log) == 4
    shown = log.show(0, days=4)
    assert [one.succeeded for one in shown.days] == [3, 1, 0, 0]
    assert [(one.users, one.week, one.month) for one in shown.active] == [(1, 1, 1), (1, 1, 1), (0, 1, 1), (0, 1, 1)]


async def test_processes_that_count_at_once_count_each_sign_in_once(log: Log, database: PostgresDatabase) -> None:
    for minute in range(20):
        log.write(event(minute, user=minute % 4))
    log.clock.now = BEGIN + timedelta(days=1)

    async def count_once() -> None:
        await database.transact(count_next, 5)

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(count_once)
    count_all(log)

    assert counted(log) == 20
    assert log.show(0, days=2).active[0].users == 4


def test_a_sign_in_of_the_last_hour_is_shown_and_counted_later(log: Log) -> None:
    log.write(event(0))
    log.clock.now = BEGIN + timedelta(minutes=59)
    count_all(log)
    assert (counted(log), log.show(0, days=7).succeeded, log.show(None, days=7).succeeded) == (0, 1, 1)

    log.clock.now = BEGIN + timedelta(minutes=61)
    count_all(log)
    assert (counted(log), log.show(0, days=7).succeeded, log.show(None, days=7).succeeded) == (1, 1, 1)


def test_while_counting_is_behind_nothing_is_added_and_pages_are_told(log: Log) -> None:
    log.clock.now = BEGIN + timedelta(days=9)
    before = log.transact(counting)
    assert (before.until, before.is_complete, before.newer_since) == (None, False, None)
    assert log.show(0).succeeded == 0
    for day in range(3):
        log.write(event(day * DAY))

    log.transact(count_next, 2)

    behind = log.show(0, days=10)
    assert (behind.counting.is_complete, behind.counting.until) == (False, BEGIN + timedelta(days=1))
    assert (behind.succeeded, behind.log_since) == (2, BEGIN)
    page = log.transact(find, log.organizations[0], SignInFilter(), after=None, limit=5, days_max=5)
    assert (page.total, len(page.found)) == (None, 2)


def test_a_new_day_before_others_is_counted_once_in_each_window(log: Log) -> None:
    # Clocks differ: the id is later than the time.
    for minute in (20 * DAY, 10 * DAY, 15 * DAY):
        log.clock.now = BEGIN + timedelta(days=21)
        log.write(event(minute))
        log.transact(count_next, 10)
        log.connection.execute("UPDATE sign_in_counting SET counted_through = %s", (UUID(int=0),))
        log.connection.execute("DELETE FROM login_events")

    shown = {one.day.day: (one.users, one.week, one.month) for one in log.show(0, days=21).active}
    assert shown[11] == (1, 1, 1)
    assert [shown[day][1] for day in (10, 11, 16, 17, 18, 21, 22)] == [0, 1, 1, 1, 1, 1, 1]
    assert [shown[day][2] for day in (10, 11, 22)] == [0, 1, 1]


def test_who_is_deleted_stays_counted_and_leaves_no_trace(log: Log) -> None:
    log.write(event(0, user=1))
    log.write(event(1, user=1, organization=1))
    log.clock.now = BEGIN + timedelta(hours=2)
    count_all(log)

    log.connection.execute("DELETE FROM users WHERE id = %s", (log.users[1],))
    log.connection.execute("DELETE FROM organizations WHERE id = %s", (log.organizations[1],))

    assert log.connection.execute("SELECT FROM active_days").fetchall() == []
    assert log.show(0, days=7).now_active.week == 1
    assert log.show(None, days=7).succeeded == 2
    assert log.connection.execute("SELECT DISTINCT organization_id FROM sign_in_counts").fetchall() == [
        (log.organizations[0],)
    ]
    # The plot has more than the list, which is said on its page.
    assert list(log.listed(0, SignInFilter())) == []


def test_the_counts_outlive_a_part_of_the_log(log: Log) -> None:
    log.write(event(0))
    log.clock.now = BEGIN + timedelta(days=50)
    count_all(log)

    assert log.transact(forget_days, 10) == 2
    log.connection.execute("DELETE FROM login_events")

    assert log.show(0, days=60).succeeded == 1
    assert log.show(0, days=60).active[9].users == 1


def test_days_are_not_forgotten_before_anything_is_counted(log: Log) -> None:
    assert log.transact(forget_days, 10) == 0


def test_a_list_reads_so_many_days_and_goes_on_before_them(log: Log) -> None:
    for day in range(5):
        log.write(event(day * DAY))
    log.clock.now = BEGIN + timedelta(days=6)
    count_all(log)

    for organization_id in (log.organizations[0], None):
        first = log.transact(find, organization_id, SignInFilter(), after=None, limit=5, days_max=2)
        second = log.transact(find, organization_id, SignInFilter(), after=first.next, limit=5, days_max=2)

        assert [one.created_at.day for one in (*first.found, *second.found)] == [5, 4, 3, 2]
        assert (first.looked_back_to, second.looked_back_to) == (date(2026, 1, 4), date(2026, 1, 2))


def test_a_list_by_address_is_found_whatever_lies_between(log: Log) -> None:
    for day in range(5):
        log.write(event(day * DAY))
    log.connection.execute("UPDATE login_events SET ip_address = '2001:db8::1' WHERE created_at = %s", (BEGIN,))
    log.clock.now = BEGIN + timedelta(days=6)
    count_all(log)
    asked = SignInFilter(address="2001:db8::1")

    for organization in (0, None):
        assert [one.ip_address for one in log.listed(organization, asked)] == ["2001:db8::1"]
        assert [one.ip_address for one in log.listed(organization, replace(asked, since=BEGIN.date()))]
        assert list(log.listed(organization, replace(asked, since=date(2026, 1, 2)))) == []
    assert list(log.listed(1, asked)) == []


def test_a_list_by_address_with_other_filters_goes_on_where_it_stopped(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.audit.sign_in_log.LOOKED_AT_MAX", 2)
    log.write(event(0, reason="wrong_password"))
    for day in range(1, 5):
        log.write(event(day * DAY))
    log.clock.now = BEGIN + timedelta(days=6)
    asked = SignInFilter(address="192.0.2.1", reason="wrong_password")

    for organization_id in (log.organizations[0], None):
        first = log.transact(find, organization_id, asked, after=None, limit=5, days_max=2)
        assert (first.found, first.total, first.looked_back_to) == ([], None, date(2026, 1, 4))
    for organization in (0, None):
        assert [one.reason for one in log.listed(organization, asked)] == ["wrong_password"]
        assert len(list(log.listed(organization, SignInFilter(address="192.0.2.1", succeeded=True)))) == 4


@pytest.mark.parametrize("are_many", [True, False])
def test_active_users_who_are_not_counted_yet_are_added_in_either_way(log: Log, are_many: bool) -> None:
    for minute, user in ((0, 0), (4 * DAY, 0), (8 * DAY, 1)):
        log.write(event(minute, user=user))
    log.clock.now = BEGIN + timedelta(days=9)
    count_all(log)
    if not are_many:
        # So many others were active before that users who are not counted are looked up one by one.
        for table in ("platform_active_user_changes (day", "active_user_changes (organization_id, day"):
            organization = (log.organizations[0],) if "organization" in table else ()
            log.connection.execute(
                f"""
                INSERT INTO {table}, users, week_change, month_change)
                VALUES ({"%s, " * len(organization)} '2025-12-31', 100000, 0, 0)
                """.encode(),
                organization,
            )
    log.clock.now = BEGIN + timedelta(days=9, hours=20)
    for minute, user in ((9 * DAY + 5, 1), (9 * DAY + 6, 0), (9 * DAY + 7, 1), (9 * DAY + 8, 2)):
        log.write(event(minute, user=user))

    for organization in (0, None):
        active = {one.day.day: (one.users, one.week, one.month) for one in log.show(organization, 10).active}
        assert (active[9], active[10]) == ((1, 2, 2), (3, 3, 3))


@pytest.mark.one_server
def test_a_list_by_address_and_the_active_users_of_a_busy_hour_read_few_pages(log: Log, tools: Tools) -> None:
    log.connection.execute(
        """
        WITH added AS (
            INSERT INTO users (id, email, created_at, updated_at)
            SELECT gen_random_uuid(), n || '@example.org', now(), now() FROM generate_series(1, 3000) AS n
            RETURNING id, substring(email FROM '^[0-9]+')::integer AS n)
        INSERT INTO login_events (id, user_id, organization_id, provider, success, ip_address, risk_score, risk_factors,
                                  created_at)
        SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '70008'
                || lpad((n * 2 + turn)::text, 15, '0'))::uuid,
               id, %s, 'password', true, '192.0.2.' || n %% 250, 0, '{}', at
        FROM   added
        CROSS  JOIN generate_series(0, 1) AS turn
        -- Each signs in on the first two days, and again within a minute of the third.
        CROSS  JOIN LATERAL (SELECT '2026-01-01T00:00:00Z'::timestamptz
                                    + CASE turn WHEN 0 THEN n * interval '30 seconds'
                                                ELSE interval '2 days' + n * interval '20 milliseconds' END)
                    AS moments (at)
        """,
        (log.organizations[0],),
    )
    log.clock.now = BEGIN + timedelta(days=2)
    while log.transact(count_next, 5_000):
        pass
    log.clock.now = BEGIN + timedelta(days=2, minutes=30)
    log.connection.execute("VACUUM ANALYZE")

    for organization_id in (log.organizations[0], None):
        for address in ("192.0.2.7", "198.51.100.1"):
            with explained_statements(log.connection) as plans, log.connection.transaction():
                uow = PostgresUnitOfWork(log.connection, BACKGROUND, tools)
                asked = SignInFilter(address=address)
                page = find(uow, organization_id, asked, after=None, limit=20, days_max=2)
            assert len(page.found) == (20 if address == "192.0.2.7" else 0)
            assert sum(map(pages_read, plans)) <= 400, [pages_read(plan) for plan in plans]
            assert sum(rows_read(plan, "login_events") for plan in plans) <= 60
        with explained_statements(log.connection) as plans, log.connection.transaction():
            uow = PostgresUnitOfWork(log.connection, BACKGROUND, tools)
            analytics = of_organization(uow, organization_id, 30)
        assert analytics.active[-1].users == 3000
        [pages] = [pages_read(plan) for plan in plans if "WindowAgg" in str(plan)]
        # At most a page for each active day, where PostgreSQL does not know yet that it is visible.
        assert pages <= 3_000 + 700, pages


def test_an_organization_is_told_of_its_own_people_alone(log: Log, builder: Builder) -> None:
    stranger = builder.user("stranger@example.com")
    log.users.append(stranger)
    log.write(event(0, user=4, reason="not_a_member"))
    log.write(event(1, user=0, reason="wrong_password"))
    log.clock.now = BEGIN + timedelta(hours=2)
    count_all(log)

    own, foreign = log.listed(0, SignInFilter())
    assert (own.email, own.user_id, own.ip_address) == ("user-0@example.com", log.users[0], "192.0.2.1")
    assert (foreign.email, foreign.user_id, foreign.ip_address) == (None, None, None)
    assert [one.email for one in log.listed(None, SignInFilter())] == ["user-0@example.com", "stranger@example.com"]


@pytest.mark.one_server
def test_no_query_of_a_page_reads_the_log_whole(log: Log) -> None:
    log.connection.execute(
        """
        INSERT INTO login_events (id, user_id, organization_id, provider, success, reason, risk_score, risk_factors,
                                  created_at)
        SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '70008'
                || lpad(n::text, 15, '0'))::uuid,
               %s, %s, 'password', n %% 10 <> 0, CASE WHEN n %% 10 = 0 THEN 'wrong_password' END, 0, '{}', at
        FROM   generate_series(0, 19999) AS n
        CROSS  JOIN LATERAL (SELECT '2026-01-01T00:00:00Z'::timestamptz + n * interval '4 minutes') AS moments (at)
        """,
        (log.users[0], log.organizations[0]),
    )
    log.clock.now = BEGIN + timedelta(days=56)
    while log.transact(count_next, 5_000):
        pass
    log.connection.execute("VACUUM ANALYZE")
    organization_id, newer_since = log.organizations[0], log.transact(counting).newer_since
    period = {
        "start": date(2026, 1, 27),
        "end": date(2026, 2, 25),
        "newer_since": newer_since,
        "newer_id": first_id_at(newer_since),
    }
    asked: dict[str, Any] = dict.fromkeys(("succeeded", "reason", "provider", "service_id", "address", "at", "after"))
    days = {"days": [date(2026, 2, 1)], "outcomes": [True, False], "limit": 26}
    first_id, end_id = ids_of_days(date(2026, 2, 1), date(2026, 2, 1))
    ids = {"from_ids": [first_id], "to_ids": [end_id], "start": None, "end": None, **kept_values(log.clock.now)}
    person = {
        "user_id": log.users[0],
        "since": BEGIN,
        "start": None,
        "end": None,
        "from_id": FIRST_ID,
        "end_id": kept_values(log.clock.now)["now_id"],
    }
    queries: tuple[tuple[LiteralString, dict[str, Any], int], ...] = (
        (sql.FIGURES_OF_ORGANIZATION, period, 100),
        (sql.FIGURES_OF_PLATFORM, period, 100),
        (sql.ACTIVE_OF_ORGANIZATION, period, 100),
        (sql.ACTIVE_OF_PLATFORM, period, 100),
        (sql.BY_DAY_OF_ORGANIZATION, period | asked, 100),
        (log_sql.LISTED_OF_ORGANIZATION, asked | days | ids, 2 * 400),
        (
            log_sql.LISTED_OF_PLATFORM,
            asked | days | ids | {"day": date(2026, 2, 1), "from_id": first_id, "to_id": end_id},
            400,
        ),
        (
            log_sql.OF_PERSON_IN_ORGANIZATION,
            asked | person | {"outcomes": [True, False], "limit": 26} | kept_values(log.clock.now),
            26,
        ),
        (log_sql.OF_PERSON, asked | person | {"outcomes": [True, False], "limit": 26}, 26 * 2 + 26),
    )
    for query, values, rows in queries:
        plan = explained(log.connection, query, {"organization_id": organization_id, **values})

        assert "login_events" not in tables_read_whole(plan), query
        assert rows_read(plan, "login_events") <= rows, query
