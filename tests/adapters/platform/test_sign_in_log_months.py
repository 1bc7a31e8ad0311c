"""The months of the log of sign-ins: what a dropped one leaves unchanged, and which of them the statements read."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, LiteralString

import pytest

from adapters.postgres.audit import analytics as analytics_sql
from adapters.postgres.audit import sign_in_counts as counts_sql
from adapters.postgres.audit import sign_in_log as log_sql
from adapters.postgres.driver.connection import Connection
from adapters.postgres.log_times import kept_values
from adapters.postgres.sign_in import sign_ins as sql
from core.audit import sign_in_counts, sign_in_log
from core.audit.analytics import Period
from core.audit.sign_in_counts import SignInFilter
from core.ids import FIRST_ID, SETTLES_AFTER, first_id_at, first_id_since, ids_of_days
from core.organizations.organizations import OrganizationStatus
from core.platform import housekeeping, log_months
from core.platform.housekeeping import Leftover
from core.platform.log_months import Log
from core.platform.organization_records import Matches, OrganizationFilter
from core.sign_in import risk, sign_ins
from core.sign_in.sign_ins import Scope
from ports.unit_of_work import UnitOfWork
from tests.clock import SettableClock
from tests.log_partitions import partitions_read
from tests.plans import blocks_read, explained, explained_statements, nodes_of, rows_read, table_of
from tests.world.builder import Builder

NOW: Final = datetime(2029, 3, 20, 12, tzinfo=UTC)
# The months before that one.
MONTHS: Final = 26
EACH: Final = 300
COUNTED: Final = 20
SIGN_INS: Final = """
    INSERT INTO login_events (id, user_id, organization_id, service_id, provider, success, reason, risk_score,
                              risk_factors, created_at)
    SELECT overlay(gen_random_uuid()::text placing left(first_id_at(at)::text, 13) from 1)::uuid, user_id,
           CASE WHEN n % 3 > 0 THEN organization_id ELSE user_id END, CASE WHEN n % 3 > 1 THEN service_id END,
           'password', n % 5 > 0, CASE WHEN n % 5 = 0 THEN 'wrong_password' END, 0, '{}', at
    FROM   generate_series(1, $1::integer) AS n
    CROSS  JOIN (VALUES ($2::uuid, $3::uuid, $4::uuid)) AS one (user_id, organization_id, service_id)
    CROSS  JOIN LATERAL (SELECT $5::timestamptz + n * interval '2 hours') AS moments (at)
"""


class SignInLog:
    """An organization with a member and two years of sign-ins, and the months of the log."""

    def __init__(self, builder: Builder, connection: Connection, clock: SettableClock, transact: Any) -> None:
        clock.now = datetime(2027, 1, 1, tzinfo=UTC)
        self.connection, self.clock, self.transact = connection, clock, transact
        self.user_id, self.organization_id = builder.user(), builder.organization("acme")
        self.service_id = builder.service(self.organization_id).id
        builder.member(self.organization_id, self.user_id)
        statement = SIGN_INS.replace("%", "%%")
        for number in range(1, 6):
            statement = statement.replace(f"${number}", "%s")
        for index in range(MONTHS + 3):
            first = date(2027 + index // 12, index % 12 + 1, 1)
            assert transact(lambda uow, first=first: uow.log_months.add(Log.LOGIN_EVENTS, first))
            if index <= MONTHS:
                begin = datetime(first.year, first.month, 1, tzinfo=UTC)
                count = EACH if index < MONTHS else 19 * 12
                connection.execute(
                    statement.encode(), (count, self.user_id, self.organization_id, self.service_id, begin)
                )
        clock.now = NOW

    def count(self) -> None:
        while self.transact(sign_in_counts.count_next, 5_000):
            pass

    def partitions(self) -> list[str]:
        rows = self.connection.execute(
            "SELECT name FROM log_partitions WHERE log = 'login_events' AND NOT is_last ORDER BY end_id"
        )
        return [name for (name,) in rows.fetchall()]


@pytest.fixture
def log(builder: Builder, connection: Connection, clock: SettableClock, transact: Any) -> SignInLog:
    return SignInLog(builder, connection, clock, transact)


def shown(uow: UnitOfWork, log: SignInLog) -> dict[str, Any]:
    """Return what pages and endpoints show of the log beside the rows of lists."""
    user_id, organization_id = log.user_id, log.organization_id
    ever = Period(start=date(2020, 1, 1), end=date(2030, 1, 1))
    scope = Scope(organization_id=organization_id, since=datetime(2027, 1, 1, tzinfo=UTC))
    found: dict[str, Any] = {
        "by day": uow.analytics.by_day(organization_id, ever),
        "by service": uow.analytics.by_service(organization_id, ever),
        "by provider": uow.analytics.by_provider(organization_id, ever),
        "recent": uow.analytics.recent(organization_id, 10_000),
        "of user": sign_ins.of_user(uow, user_id, None, page=1, limit=50),
        "of user in organization": sign_ins.of_user(uow, user_id, scope, page=1, limit=50),
        "affiliation": uow.sign_ins.affiliation(organization_id, user_id),
        "habits": risk.defer_habits(uow, user_id)(),
        "member": uow.found_members.find(organization_id, user_id),
        "exported": uow.privacy_export.count_logins(user_id, within=None),
        "exported rows": uow.privacy_export.newest_logins(user_id, 1_000, within=None),
        "organization": uow.organization_records.detail(organization_id, domains_max=1, counted_max=10),
        "organizations": uow.organization_records.page(
            OrganizationFilter(status=OrganizationStatus.ACTIVE), Matches(ids=set(), has_all=True), after=None, limit=5
        ),
    }
    for scope_id in (organization_id, None):
        for days in (7, 30, 90, 365):
            found[f"plots of {scope_id} and {days}"] = sign_in_counts.of_organization(uow, scope_id, days)
        for succeeded in (None, True, False):
            asked = SignInFilter(succeeded=succeeded)
            page = sign_in_log.find(uow, scope_id, asked, after=None, limit=25, days_max=40)
            found[f"list of {scope_id} and {succeeded}"] = page.total
        found[f"first of {scope_id}"] = uow.sign_in_counts.first_at(scope_id)
    return found


@pytest.mark.long
def test_nothing_that_is_shown_changes_when_months_are_dropped(log: SignInLog) -> None:
    log.count()
    before = log.transact(shown, log)
    [[to_organization]] = log.connection.execute(
        "SELECT count(*) FROM login_events WHERE organization_id = %s AND success", (log.organization_id,)
    ).fetchall()
    assert sum(one.count for one in before["by day"]) == to_organization

    dropped: list[str] = []
    while (name := log.transact(log_months.drop_next, Log.LOGIN_EVENTS, Log.LOGIN_EVENTS.kept_for)) is not None:
        dropped.append(name)
        after = log.transact(shown, log)
        for title, value in before.items():
            assert after[title] == value, (name, title)

    # The first partition is dropped as well where a test before has left an empty page in it.
    dropped = [name for name in dropped if name != "login_events_before"]
    # The thirteen months of 400 days, and the month in which they begin.
    assert dropped[:2] == ["login_events_2027_01", "login_events_2027_02"]
    assert log.partitions()[:2] == ["login_events_before", "login_events_2028_02"]
    assert len(dropped) == 13


@pytest.mark.one_server
def test_counting_a_batch_is_planned_for_the_months_that_it_reads(log: SignInLog) -> None:
    log.transact(sign_in_counts.count_next, EACH + 1)

    with explained_statements(log.connection) as plans:
        log.transact(sign_in_counts.count_next, COUNTED)

    reading = [plan for plan in plans if partitions_read(plan, Log.LOGIN_EVENTS)]
    planned = {
        node["Relation Name"]
        for plan in reading
        for node in nodes_of(plan)
        if table_of(node.get("Relation Name", "")) == Log.LOGIN_EVENTS.value
    }
    assert planned <= {"login_events_2027_01", "login_events_2027_02", "login_events_2027_03"}
    # One statement reads the batch; others read a row each, from which on it goes on.
    read = sorted(rows_read(plan, Log.LOGIN_EVENTS.value) for plan in reading)
    assert read[-1] == COUNTED
    assert all(rows <= 1 for rows in read[:-1])
    [counting] = [plan for plan in plans if plan.get("Relation Name") == "sign_in_counting" and "Plans" in plan]
    assert sum(blocks_read(plan) for plan in [*reading, counting]) <= 40 * COUNTED
    # For each day of a user one reading of the days around it, in each of two scopes.
    days = [node for node in nodes_of(counting) if node.get("Relation Name") == "active_days" and "Index Name" in node]
    assert sum(node["Actual Loops"] for node in days) <= 2 * COUNTED


def test_months_without_sign_ins_are_passed_over(log: SignInLog) -> None:
    log.connection.execute(
        "DELETE FROM login_events WHERE created_at BETWEEN '2027-03-01T00:00:00Z' AND '2028-11-01T00:00:00Z'"
    )
    [[left]] = log.connection.execute(
        "SELECT count(*) FROM login_events WHERE id < %s", (first_id_at(NOW - SETTLES_AFTER),)
    ).fetchall()

    assert log.transact(sign_in_counts.count_next, 100_000) == left

    assert log.transact(sign_in_counts.counting).until == NOW - SETTLES_AFTER
    [[counted]] = log.connection.execute("SELECT sum(sign_ins)::bigint FROM platform_sign_in_counts").fetchall()
    assert counted == left
    assert log.transact(sign_in_counts.count_next, 100_000) == 0


def test_a_month_is_dropped_when_all_of_it_is_counted(log: SignInLog) -> None:
    kept_for = Log.LOGIN_EVENTS.kept_for
    assert log.transact(log_months.drop_next, Log.LOGIN_EVENTS, kept_for) is None

    log.transact(sign_in_counts.count_next, EACH + 1)

    assert log.transact(log_months.drop_next, Log.LOGIN_EVENTS, kept_for) == "login_events_2027_01"
    assert log.transact(log_months.drop_next, Log.LOGIN_EVENTS, kept_for) is None


def test_sweeping_deletes_counted_rows_of_before_the_first_month_alone(log: SignInLog) -> None:
    log.connection.execute(
        "UPDATE login_events SET id = '018f0000-0000-7000-8000-000000000000'"
        " WHERE id IN (SELECT id FROM login_events ORDER BY id LIMIT 1)"
    )
    before = log.connection.execute("SELECT count(*) FROM login_events").fetchall()[0][0]
    assert log.transact(housekeeping.sweep, Leftover.LOGIN_EVENTS, Leftover.LOGIN_EVENTS.kept_for, 500) == 0
    log.count()

    assert log.transact(housekeeping.sweep, Leftover.LOGIN_EVENTS, Leftover.LOGIN_EVENTS.kept_for, 500) == 1
    assert log.transact(housekeeping.sweep, Leftover.LOGIN_EVENTS, Leftover.LOGIN_EVENTS.kept_for, 500) == 0
    assert log.connection.execute("SELECT count(*) FROM login_events").fetchall() == [(before - 1,)]


@pytest.mark.one_server
@pytest.mark.long
def test_statements_read_the_months_that_they_need(log: SignInLog, subtests: pytest.Subtests) -> None:
    log.count()
    log.connection.execute("VACUUM ANALYZE login_events")
    kept = kept_values(NOW)
    own: dict[str, object] = {"organization_id": log.organization_id, "user_id": log.user_id, **kept}
    month = Period(start=date(2029, 1, 5), end=date(2029, 1, 20))
    first_id, end_id = ids_of_days(month.start, month.end)
    day = {"days": [date(2029, 1, 5)], "from_ids": [first_id], "to_ids": [ids_of_days(month.start, month.start)[1]]}
    one_day = {"day": day["days"][0], "from_id": day["from_ids"][0], "to_id": day["to_ids"][0]}
    asked: dict[str, Any] = dict.fromkeys(("succeeded", "reason", "provider", "service_id", "address", "start", "end"))
    asked |= {"outcomes": [True, False], "limit": 26}
    period = {"start": month.start, "end": month.end, "log_from": date(2028, 2, 17), "from_id": first_id}
    period["end_id"] = end_id
    newer = {"newer_since": NOW - timedelta(hours=2), "newer_id": first_id_since(NOW - timedelta(hours=2))}
    newest = {"from_id": kept["kept_id"], "end_id": kept["now_id"], "since": datetime(2027, 1, 1, tzinfo=UTC)}
    # The partitions of 400 days; and the present one with two that are made ahead and the last one, which are empty.
    everything, with_those_ahead = 15, 4
    statements: tuple[tuple[str, LiteralString, dict[str, Any], int], ...] = (
        ("recent", analytics_sql.RECENT, {"limit": 10}, 1),
        ("by service", analytics_sql.BY_SERVICE, period, 1),
        ("by provider", analytics_sql.BY_PROVIDER, period, 1),
        ("first of the organization", counts_sql.FIRST_OF_ORGANIZATION, newest, 1),
        ("first of the platform", counts_sql.FIRST_OF_PLATFORM, newest, 1),
        ("figures of the organization", counts_sql.FIGURES_OF_ORGANIZATION, period | newer, with_those_ahead),
        ("figures of the platform", counts_sql.FIGURES_OF_PLATFORM, period | newer, with_those_ahead),
        ("active users of the organization", counts_sql.ACTIVE_OF_ORGANIZATION, period | newer, with_those_ahead),
        ("active users of the platform", counts_sql.ACTIVE_OF_PLATFORM, period | newer, with_those_ahead),
        ("days of the organization", counts_sql.BY_DAY_OF_ORGANIZATION, asked | period | newer, with_those_ahead),
        ("days of the platform", counts_sql.BY_DAY_OF_PLATFORM, asked | period | newer, with_those_ahead),
        ("list of the organization", log_sql.LISTED_OF_ORGANIZATION, asked | day, 2),
        ("list of the platform", log_sql.LISTED_OF_PLATFORM, asked | one_day, 2),
        ("list of a person in the organization", log_sql.OF_PERSON_IN_ORGANIZATION, asked | newest, 1),
        ("list of a person", log_sql.OF_PERSON, asked | newest, 1),
        ("active in the organization", log_sql.ACTIVE_IN_ORGANIZATION, period | {"after": FIRST_ID, "limit": 10}, 1),
        ("page of a user", sql.PAGE, newest | {"limit": 10, "offset": 0}, 1),
        (
            "page of a user in the organization",
            sql.PAGE_OF_ORGANIZATION,
            newest | {"limit": 10, "offset": 0},
            everything,
        ),
        ("own sign-ins", sql.FOLLOWING, newest | {"limit": 10}, 1),
        ("number of a user", sql.COUNT, newest, everything),
        ("number of a user in the organization", sql.COUNT_OF_ORGANIZATION, newest, everything),
    )
    for title, statement, values, partitions in statements:
        with subtests.test(title=title):
            plan = explained(log.connection, statement, own | {"service_id": None} | values)
            read = partitions_read(plan, Log.LOGIN_EVENTS)
            assert len(read) <= partitions, sorted(read)


@pytest.mark.plans
def test_an_attempt_to_sign_in_reads_its_habits_beside_the_log(log: SignInLog) -> None:
    with explained_statements(log.connection) as plans:
        log.transact(lambda uow: risk.defer_habits(uow, log.user_id)())

    assert len(plans) == 1
    assert partitions_read(plans[0], Log.LOGIN_EVENTS) == set()
