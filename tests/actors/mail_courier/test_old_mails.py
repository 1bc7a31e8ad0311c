"""Old mails: deleted in batches, and failed where their mail server was away for too long."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from actors import mail_couriers
from actors.mail_couriers import OldMails
from core.mail.mail import RETENTION
from tests.actors.mail_courier.installation import Installation
from tests.mailboxes import let_work


def deleter(installation: Installation, *, is_settled: Callable[[], bool] = lambda: True) -> OldMails:
    """Return the actor of an installation."""
    return OldMails(
        database=installation.database,
        metrics=installation.metrics,
        mailboxes=installation.mailboxes,
        is_settled=is_settled,
    )


async def test_old_mails_are_deleted_in_batches(
    installation: Installation,
    nursery: trio.Nursery,
    autojump_clock: MockClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await installation.queue(*(f"{number}@example.org" for number in range(5)))
    await installation.run_courier(installation.all_sent)
    installation.age_mails(RETENTION + timedelta(minutes=1))
    installation.database.calls.clear()
    monkeypatch.setattr(mail_couriers, "OLD_MAILS_AT_ONCE_MAX", 2)
    one = deleter(installation)
    nursery.start_soon(one.run)

    with capture_logs() as lines:
        await let_work(one)

    assert installation.states() == {}
    assert installation.database.calls.count("delete_old") == 3
    assert [(line["event"], line["mails"]) for line in lines] == [("mail.deleted", 5)]


async def test_after_an_outage_they_are_deleted_at_the_next_message(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    installation.database.outages["delete_old"] = 1
    await installation.queue("ada@example.org")
    await installation.run_courier(installation.all_sent)
    installation.age_mails(RETENTION)
    one = deleter(installation)
    nursery.start_soon(one.run)

    await let_work(one)
    during = installation.states()
    await let_work(one)

    assert (during, installation.states()) == ({"ada@example.org": "sent"}, {})


async def test_no_mail_is_deleted_until_the_time_is_settled(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    await installation.queue("ada@example.org")
    await installation.run_courier(installation.all_sent)
    installation.age_mails(RETENTION)
    is_settled = False
    one = deleter(installation, is_settled=lambda: is_settled)
    nursery.start_soon(one.run)

    with capture_logs() as logged:
        await let_work(one)
    before = installation.states()
    is_settled = True
    # It has rested for its period.
    await trio.sleep(one.period_seconds)
    await let_work(one)

    assert (before, installation.states()) == ({"ada@example.org": "sent"}, {})
    assert [(line["event"], line["job"]) for line in logged] == [("job.waits_for_clock", OldMails.job_type)]
