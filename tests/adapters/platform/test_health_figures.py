"""The figures behind the gauges, counted in PostgreSQL."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.platform import health_figures as figures_in_postgres
from core.mail import mail
from core.mail.mail import MailTemplate
from core.platform import health_figures
from core.platform.health_figures import Backlog, PlatformFigures
from tests.postgres import connected
from tests.world.builder import Builder


def counted(transact: Callable[..., Any]) -> PlatformFigures:
    """Return the figures as the process counts them that does so."""
    waiting = transact(health_figures.backlog)
    figures = transact(health_figures.count, waiting)
    if figures is None:
        transact(health_figures.count_accounts)
        figures = transact(health_figures.count, waiting)
    assert transact(health_figures.platform) == figures
    return figures


def accounts(connection: Connection, *, mfa: bool = False, deactivated: bool = False, number: int = 1) -> None:
    """Add accounts by one statement."""
    connection.execute(
        """
        INSERT INTO users (id, email, created_at, updated_at, mfa_enabled_at, deactivated_at)
        SELECT id, id || '@example.org', now(), now(), CASE WHEN %s THEN now() END, CASE WHEN %s THEN now() END
        FROM   (SELECT gen_random_uuid() AS id FROM generate_series(1, %s)) AS made
        """,
        (mfa, deactivated, number),
    )


def test_without_a_count_there_are_no_figures(transact: Callable[..., Any], connection: Connection) -> None:
    accounts(connection)

    assert (transact(health_figures.platform), transact(health_figures.count, Backlog())) == (None, None)
    assert counted(transact).active_users == 1


def test_every_figure_of_an_empty_platform_is_zero(transact: Callable[..., Any]) -> None:
    assert counted(transact) == PlatformFigures(
        active_users=0, organizations=0, mfa_users=0, queued_mails=0, queued_deliveries=0, certificates_ending=0
    )


def test_users_organizations_and_queued_mails_are_counted(transact: Callable[..., Any], connection: Connection) -> None:
    connection.execute(
        """
        INSERT INTO users (id, email, created_at, updated_at, mfa_enabled_at, deactivated_at)
        VALUES (gen_random_uuid(), 'plain@example.org', now(), now(), NULL, NULL),
               (gen_random_uuid(), 'mfa@example.org', now(), now(), now(), NULL),
               (gen_random_uuid(), 'gone@example.org', now(), now(), now(), now())
        """
    )
    connection.execute(
        """
        INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
        SELECT gen_random_uuid(), slug, slug, 'active', id, now(), now()
        FROM   tiers, unnest(ARRAY['acme', 'globex', 'initech']) AS slug
        WHERE  tiers.name = 'free'
        """
    )
    transact(mail.send, "plain@example.org", MailTemplate.TEST)
    transact(mail.send, "mfa@example.org", MailTemplate.TEST)
    connection.execute("UPDATE mails SET state = 'sent' WHERE recipient = 'mfa@example.org'")

    assert counted(transact) == PlatformFigures(
        active_users=2, organizations=3, mfa_users=1, queued_mails=1, queued_deliveries=0, certificates_ending=0
    )


def test_the_last_backup_and_the_last_restore_that_was_tried_are_told_once_there_are_any(
    transact: Callable[..., Any], connection: Connection
) -> None:
    before = transact(health_figures.backlog)
    connection.execute(
        """
        INSERT INTO recovery_runs (kind, succeeded_at)
        VALUES ('backup', to_timestamp(1800000000)), ('restore_drill', to_timestamp(1700000000))
        """
    )
    after = transact(health_figures.backlog)

    assert (before.backup_seconds, before.restore_drill_seconds) == (0, 0)
    assert (after.backup_seconds, after.restore_drill_seconds) == (1_800_000_000, 1_700_000_000)


def test_a_probe_succeeds_when_the_database_answers(transact: Callable[..., Any]) -> None:
    assert transact(health_figures.probe) is None


def test_the_time_of_the_database_is_the_present_time(transact: Callable[..., Any]) -> None:
    before = datetime.now(UTC)
    assert before <= transact(health_figures.database_time) <= datetime.now(UTC)


def test_accounts_that_come_change_and_go_are_counted_without_reading_all_of_them(
    transact: Callable[..., Any], connection: Connection
) -> None:
    accounts(connection, number=3)
    accounts(connection, mfa=True, number=2)
    before = counted(transact)
    accounts(connection, number=4)
    accounts(connection, mfa=True, deactivated=True)
    come = counted(transact)
    connection.execute("UPDATE users SET updated_at = now()")
    connection.execute("UPDATE users SET mfa_enabled_at = now()")
    all_with_mfa = counted(transact)
    connection.execute("UPDATE users SET deactivated_at = now(), mfa_enabled_at = NULL WHERE deactivated_at IS NULL")
    none_in_use = counted(transact)
    connection.execute("UPDATE users SET deactivated_at = NULL")
    back = counted(transact)
    connection.execute("DELETE FROM users")

    assert [(one.active_users, one.mfa_users) for one in (before, come, all_with_mfa, none_in_use, back)] == [
        (5, 2),
        (9, 2),
        (9, 9),
        (0, 0),
        (10, 1),
    ]
    assert (counted(transact).active_users, counted(transact).mfa_users) == (0, 0)


def test_a_second_count_of_all_accounts_changes_nothing(transact: Callable[..., Any], connection: Connection) -> None:
    accounts(connection)
    counted(transact)
    accounts(connection)

    transact(health_figures.count_accounts)

    assert counted(transact).active_users == 2


def test_an_account_that_is_made_during_the_first_count_is_counted_once(
    transact: Callable[..., Any], connection: Connection, database_url: str
) -> None:
    accounts(connection)
    with connected(database_url) as other, other.transaction():
        accounts(other)
        first = counted(transact).active_users

    assert (first, counted(transact).active_users) == (1, 2)


def test_long_queues_are_estimated(
    transact: Callable[..., Any], connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures_in_postgres, "COUNTED_MAX", 10)
    connection.execute(
        """
        INSERT INTO mails (organization_id, id, recipient, template, state, attempts, due_at, created_at)
        SELECT '00000000-0000-0000-0000-000000000000',
               gen_random_uuid(), 'a@example.org', 'test', 'queued', 0, now(), now() FROM generate_series(1, 30)
        """
    )
    before = counted(transact).queued_mails
    connection.execute("ANALYZE mails")

    assert (before, counted(transact).queued_mails) == (10, 30)


def test_nothing_waits_on_an_empty_platform(transact: Callable[..., Any]) -> None:
    backlog = transact(health_figures.backlog)

    assert backlog == Backlog(is_on_cluster=backlog.is_on_cluster)


def test_the_oldest_mails_and_entries_that_wait_and_the_failing_streams_are_found(
    transact: Callable[..., Any], connection: Connection
) -> None:
    now: datetime = transact(lambda uow: uow.now)
    builder = Builder(connection, lambda: now)
    organizations = [builder.organization(slug) for slug in ("acme", "globex")]
    connection.execute(
        """
        INSERT INTO mails (organization_id, id, recipient, template, state, attempts, due_at, created_at)
        SELECT '00000000-0000-0000-0000-000000000000',
               gen_random_uuid(), 'a@example.org', 'test', state, 0, %(now)s, %(now)s - age
        FROM   (VALUES ('queued', interval '1 minute'), ('queued', interval '10 minutes'), ('sent', interval '1 day'),
                       ('routed', interval '2 hours')) AS mail (state, age)
        """,
        {"now": now},
    )
    for organization_id, minutes, position in (
        (organizations[0], 3, None),
        (organizations[0], 60, 1),
        (organizations[1], 5, None),
        (organizations[1], 4, None),
    ):
        connection.execute(
            """
            INSERT INTO audit_entries (id, organization_id, action, target_type, target_id, success, details,
                                       created_at, position)
            VALUES (gen_random_uuid(), %s, 'user.joined', 'user', 'x', true, '{}', %s, %s)
            """,
            (organization_id, now - timedelta(minutes=minutes), position),
        )
    for organization_id, failures in zip(organizations, (0, 3), strict=True):
        connection.execute(
            """
            INSERT INTO siem_streams (id, organization_id, provider, endpoint, options, enabled, position, failures,
                                      created_at, updated_at)
            VALUES (gen_random_uuid(), %s, 'http', 'https://siem.example', '{}', true, 0, %s, now(), now())
            """,
            (organization_id, failures),
        )

    backlog = transact(health_figures.backlog)

    assert [round(seconds / 60) for seconds in (backlog.mail_seconds, backlog.routed_mail_seconds)] == [10, 120]
    assert round(backlog.unsealed_seconds / 60) == 5
    assert backlog.failing_streams == 1


@pytest.mark.one_server
def test_what_waits_is_found_by_indexes_alone(connection: Connection) -> None:
    # On empty tables only this shows which indexes have the order of the statement.
    connection.execute("SET enable_seqscan = off")
    connection.execute("SET enable_sort = off")
    connection.execute("SET enable_bitmapscan = off")
    values = {
        "now": datetime(2026, 2, 3, tzinfo=UTC),
        "entries_max": figures_in_postgres.BACKLOG_ENTRIES_MAX,
        "counted_max": figures_in_postgres.COUNTED_MAX,
    }

    plan = "\n".join(row[0] for row in connection.execute(f"EXPLAIN {figures_in_postgres.BACKLOG}", values).fetchall())

    assert "Index" in plan
    assert "Seq Scan" not in plan
    # The months of a log are merged by a sort key, and not sorted.
    assert not re.search(r"Sort  \(", plan)
