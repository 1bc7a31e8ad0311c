"""What waits and what is late, read from a real database, and what the findings say of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adapters.postgres.driver.connection import Connection
from core.billing.provider import BillingMode
from core.ids import first_id_at
from core.platform import late_work, log_months, system
from core.platform.housekeeping import Leftover
from core.platform.late_work import LateWork
from core.platform.log_months import Log
from core.secrets import Secret
from entrypoints.settings import Settings
from entrypoints.shared.platform import late_work as shown
from entrypoints.shared.platform.checks import Finding
from ports.mailboxes import POLLED_WORK, WorkKind
from tests.clock import SettableClock
from tests.plans import explained_statements

Transact = Callable[..., Any]
BUFFERS_MAX = 5_000


def read(transact: Transact) -> LateWork:
    return transact(late_work.read, BillingMode.TEST, {}, {})


def findings(late: LateWork) -> dict[str, Finding]:
    settings = Settings(smtp_url=Secret("smtp://mail.example.com"))
    return {finding.subject: finding for finding in shown.findings(late, settings)}


@pytest.fixture
def nothing(transact: Transact) -> LateWork:
    """What is late in an empty installation."""
    return read(transact)


def test_nothing_is_late_in_an_empty_installation(nothing: LateWork) -> None:
    assert (nothing.overdue, nothing.uncounted_seconds, nothing.unswept) == ({}, 0.0, [])
    # It has not served yet, so it has no months.
    assert (nothing.missing, nothing.undropped) == ([], [])
    assert {finding.is_ok for finding in findings(nothing).values()} == {True}
    assert shown.log_months(nothing) is None


def test_mails_that_wait_after_an_attempt_are_named_with_the_last_error(
    transact: Transact, connection: Connection, clock: SettableClock
) -> None:
    connection.execute(
        """
        INSERT INTO mails (id, organization_id, recipient, template, state, attempts, due_at, last_error, created_at)
        SELECT gen_random_uuid(), '00000000-0000-0000-0000-000000000000', 'ann@example.org', 'welcome', state, 1,
               %(now)s::timestamptz + interval '5 minutes', error, %(now)s::timestamptz - age * interval '1 minute'
        FROM   (VALUES ('queued', 'It hangs.', 50), ('queued', 'It refuses.', 2), ('sent', NULL, 1))
               AS m (state, error, age)
        """,
        {"now": clock()},
    )

    late = read(transact)

    assert (late.recent_mails.attempted, late.recent_mails.not_taken, late.recent_mails.deferred) == (3, 2, 2)
    assert late.recent_mails.last_error == "It refuses."
    found = findings(late)["mails waiting"]
    assert not found.is_ok
    assert found.what == "waiting: 2, the oldest for 50 min; to be tried again: 2; the last error: It refuses."
    assert "mail.md" in found.advice


def test_expired_rows_and_sign_ins_that_stay_are_late(
    transact: Transact, connection: Connection, clock: SettableClock
) -> None:
    connection.execute(
        "INSERT INTO mail_counts (key, sent_at, expires_at) VALUES ('\\x00', '{}', %s)", (clock() - timedelta(days=2),)
    )
    connection.execute(
        """
        WITH ann AS (
            INSERT INTO users (id, email, created_at, updated_at)
            VALUES (gen_random_uuid(), 'ann@example.org', now(), now())
            RETURNING id)
        INSERT INTO login_events (id, user_id, organization_id, provider, success, risk_score, risk_factors, created_at)
        SELECT %s, id, id, 'password', true, 0, '{}', %s FROM ann
        """,
        (first_id_at(clock() - timedelta(hours=4)), clock()),
    )

    late = read(transact)

    assert late.unswept == [Leftover.MAIL_COUNTS]
    assert late.uncounted_seconds == pytest.approx(3 * 3600, abs=1)
    found = findings(late)
    assert found["housekeeping"].what == "not deleted for more than a day after its time: mail_counts"
    assert found["sign-in counts"].what == "sign-ins that could be counted for 3 h are not"
    assert not found["housekeeping"].is_ok
    assert not found["sign-in counts"].is_ok


def test_the_coming_month_of_a_log_is_missing_when_it_was_not_made_in_time(
    transact: Transact, clock: SettableClock
) -> None:
    # What was migrated today has months from the next one or two on.
    clock.advance(datetime.now(UTC) + timedelta(days=90) - clock())
    while transact(log_months.make_next, Log.LOGIN_EVENTS) is not None:
        pass
    assert read(transact).missing == []

    clock.advance(timedelta(days=120))
    late = read(transact)

    assert late.missing == [Log.LOGIN_EVENTS]
    assert late.undropped == []
    found = shown.log_months(late)
    assert found is not None
    assert (found.is_ok, found.what) == (False, "no partition for the coming month: login_events")
    # Its months are gone when nothing of them is kept any more.
    clock.advance(timedelta(days=3_000))
    assert read(transact).undropped == [Log.LOGIN_EVENTS]


# It is not known since when entries without a seal wait: their finding is the backlog.
@pytest.mark.parametrize("work", sorted(POLLED_WORK - {WorkKind.SEALING}))
def test_work_is_late_beyond_the_limit_of_the_alert_and_never_before(nothing: LateWork, work: str) -> None:
    within = replace(nothing, overdue={work: float(shown.DUE_SECONDS_MAX)})
    beyond = replace(nothing, overdue={work: shown.DUE_SECONDS_MAX + 1.0})

    settings = Settings(smtp_url=Secret("smtp://mail.example.com"), billing_secret_key=Secret("sk_live_1"))
    assert all(finding.is_ok for finding in shown.findings(within, settings))
    assert [finding.is_ok for finding in shown.findings(beyond, settings)].count(False) == 1


def test_what_organizations_cause_is_named_and_is_no_failure(nothing: LateWork) -> None:
    work = replace(nothing.work, deliveries=10_001, lagging_siems=2, siem_lag_max=123_456)
    late = replace(nothing, work=work, backlog=replace(nothing.backlog, failing_streams=2))

    found = findings(late)

    assert found["webhooks"] == Finding(
        "webhooks",
        True,
        "waiting: more than 10,000, none late",
        "They are due later, or receivers of organizations fail. See ops/runbooks/webhooks.md.",
    )
    assert found["SIEM streams"].is_ok
    assert found["SIEM streams"].what == "behind: 2, the slowest by 123,456 entries; whose receivers fail: 2"


def test_tables_without_statistics_are_named_when_they_are_large(transact: Transact, connection: Connection) -> None:
    connection.execute("ALTER TABLE user_count_changes SET (autovacuum_enabled = false)")
    connection.execute("INSERT INTO user_count_changes SELECT 0, 0 FROM generate_series(1, 40000)")

    assert "user_count_changes" in transact(system.missing)
    connection.execute("ANALYZE user_count_changes")
    assert "user_count_changes" not in transact(system.missing)


@pytest.mark.one_server
def test_a_long_backlog_is_read_by_few_buffers(
    transact: Transact, connection: Connection, clock: SettableClock
) -> None:
    connection.execute(
        """
        INSERT INTO mails (id, organization_id, recipient, template, state, attempts, due_at, last_error, created_at,
                           values_sealed)
        SELECT gen_random_uuid(), '00000000-0000-0000-0000-000000000000', 'ann@example.org', 'welcome', 'queued', 1,
               %(now)s::timestamptz + interval '1 hour', 'It hangs.', %(now)s::timestamptz - n * interval '1 second',
               decode(repeat('00', 300), 'hex')
        FROM   generate_series(1, 12000) AS n
        """,
        {"now": clock()},
    )
    connection.execute(
        """
        INSERT INTO events (id, type, organization_id, data, occurred_at)
        SELECT gen_random_uuid(), 'user.created', '00000000-0000-0000-0000-000000000000', '{}',
               %(now)s::timestamptz - n * interval '1 second'
        FROM   generate_series(1, 12000) AS n
        """,
        {"now": clock()},
    )

    plans: list[dict[str, Any]] = []

    def explained(uow: Any) -> LateWork:
        with explained_statements(uow._transaction.connection) as found:
            late = late_work.read(uow, BillingMode.TEST, {}, {})
        plans.extend(found)
        return late

    late = transact(explained)

    assert (late.work.mails, late.work.events) == (10_001, 10_001)
    assert findings(late)["events"].what.startswith("waiting: more than 10,000, the oldest for ")
    assert len(plans) >= 6
    assert sum(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] for plan in plans) <= BUFFERS_MAX
