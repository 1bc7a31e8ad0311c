"""A courier that is stopped."""

from __future__ import annotations

from functools import partial

import trio
from trio.testing import MockClock

from actors.supervision import DRAIN_SECONDS_MAX
from ports.mailboxes import Drain
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
                courier.box.send(Drain())
                await installation.queue("late@example.org")

        assert installation.states() == {"slow@example.org": "sent", "late@example.org": "queued"}

    async def test_an_idle_courier_that_is_drained_returns_immediately(
        self, installation: Installation, autojump_clock: MockClock
    ) -> None:
        courier = installation.courier()

        with trio.fail_after(2 * DRAIN_SECONDS_MAX):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(courier.run)
                await trio.sleep(1)
                began_at = trio.current_time()
                courier.box.send(Drain())

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
