"""A courier that is stopped, and what it deletes while it runs."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from actors import mail_courier
from actors.mail_courier import (
    DELETION_JOB,
    DELETION_PERIOD_SECONDS,
    PERIOD_SECONDS,
)
from actors.supervision import DRAIN_SECONDS_MAX
from core.mail.mail import RETENTION
from tests.actors.mail_courier.installation import Installation


class TestShutdown:
    """The end of a process loses no mail."""

    async def test_a_draining_courier_finishes_its_claimed_mails_and_claims_no_more(
        self, installation: Installation, autojump_clock: MockClock
    ) -> None:
        installation.mail_server.reactions["slow@example.org"] = partial(trio.sleep, DRAIN_SECONDS_MAX / 2)
        await installation.queue("slow@example.org")
        courier = installation.courier()

        with trio.fail_after(2 * DRAIN_SECONDS_MAX):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(courier.run)
                await trio.sleep(1)
                courier.drain()
                await installation.queue("late@example.org")

        assert installation.states() == {"slow@example.org": "sent", "late@example.org": "queued"}

    async def test_an_idle_courier_that_is_drained_returns_immediately(
        self, installation: Installation, autojump_clock: MockClock
    ) -> None:
        courier = installation.courier()

        with trio.fail_after(2 * DRAIN_SECONDS_MAX):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(courier.run)
                await trio.sleep(PERIOD_SECONDS / 2)
                began_at = trio.current_time()
                courier.drain()

        assert trio.current_time() - began_at < 1

    async def test_a_mail_whose_delivery_was_cancelled_is_sent_after_its_lease(
        self, installation: Installation, autojump_clock: MockClock
    ) -> None:
        installation.mail_server.reactions["slow@example.org"] = trio.sleep_forever
        await installation.queue("slow@example.org")
        began_at = trio.current_time()
        await installation.run_courier(lambda: installation.mail_server.concurrent == 1)
        ended_at = trio.current_time()
        installation.mail_server.reactions.clear()

        await installation.run_courier(installation.all_sent)

        assert ended_at - began_at < DRAIN_SECONDS_MAX + 2
        assert installation.mail_server.delivered == ["slow@example.org"]

    async def test_an_accepted_mail_is_recorded_although_the_courier_is_cancelled(
        self, installation: Installation, autojump_clock: MockClock
    ) -> None:
        installation.database.outages["record_sent"] = 3
        await installation.queue("ada@example.org")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(installation.courier().run)
            await installation.wait_until(lambda: bool(installation.mail_server.delivered))
            nursery.cancel_scope.cancel()

        assert installation.states() == {"ada@example.org": "sent"}


class TestHousekeeping:
    """Old mails are deleted."""

    async def test_old_mails_are_deleted_in_batches(
        self,
        installation: Installation,
        nursery: trio.Nursery,
        autojump_clock: MockClock,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        await installation.queue(*(f"{number}@example.org" for number in range(5)))
        await installation.run_courier(installation.all_sent)
        installation.age_mails(RETENTION + timedelta(minutes=1))
        installation.database.calls.clear()

        monkeypatch.setattr(mail_courier, "DELETED_MAILS_MAX", 2)
        nursery.start_soon(installation.courier().run)
        await trio.sleep(1)

        assert installation.states() == {}
        assert installation.database.calls.count("delete_old") == 3

    async def test_old_mails_are_deleted_every_hour_even_after_an_outage(
        self, installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
    ) -> None:
        installation.database.outages["delete_old"] = 1
        await installation.queue("ada@example.org")
        await installation.run_courier(installation.all_sent)
        installation.age_mails(RETENTION)

        nursery.start_soon(installation.courier().run)
        await trio.sleep(DELETION_PERIOD_SECONDS * 1.5)

        assert installation.states() == {}

    async def test_no_mail_is_deleted_until_the_time_is_settled(
        self, installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
    ) -> None:
        await installation.queue("ada@example.org")
        await installation.run_courier(installation.all_sent)
        installation.age_mails(RETENTION)
        installation.database.calls.clear()
        settled_at = trio.current_time() + DELETION_PERIOD_SECONDS * 1.5

        with capture_logs() as logged:
            nursery.start_soon(installation.courier(is_settled=lambda: trio.current_time() >= settled_at).run)
            await trio.sleep(DELETION_PERIOD_SECONDS * 1.25)
            before = installation.database.calls.count("delete_old")
            await trio.sleep(DELETION_PERIOD_SECONDS)

        assert (before, installation.states()) == (0, {})
        waits = [line for line in logged if line["event"] == "job.waits_for_clock"]
        assert [line["job"] for line in waits] == [DELETION_JOB] * 2
