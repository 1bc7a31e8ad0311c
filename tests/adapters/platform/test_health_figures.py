"""The figures behind the gauges, counted in PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from core.mail import mail
from core.mail.mail import MailTemplate
from core.platform import health_figures
from core.platform.health_figures import PlatformFigures

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.postgres.driver.connection import Connection


def test_every_figure_of_an_empty_platform_is_zero(transact: Callable[..., Any]) -> None:
    assert transact(health_figures.platform) == PlatformFigures(
        active_users=0, organizations=0, mfa_users=0, queued_mails=0, queued_deliveries=0
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

    assert transact(health_figures.platform) == PlatformFigures(
        active_users=2, organizations=3, mfa_users=1, queued_mails=1, queued_deliveries=0
    )


def test_a_probe_succeeds_when_the_database_answers(transact: Callable[..., Any]) -> None:
    assert transact(health_figures.probe) is None


def test_the_time_of_the_database_is_the_present_time(transact: Callable[..., Any]) -> None:
    assert abs(transact(health_figures.database_time) - datetime.now(UTC)) < timedelta(minutes=1)
