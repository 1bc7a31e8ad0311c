"""A courier that is told to stop, and what it deletes while it runs."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import trio

from actors import mail_courier
from actors.mail_courier import (
    DELETION_PERIOD_SECONDS,
    PERIOD_SECONDS,
)
from actors.supervision import DRAIN_SECONDS_MAX
from core.mail.mail import RETENTION

if TYPE_CHECKING:
    import pytest
    from trio.testing import MockClock

    from tests.actors.mail_courier.installation import Installation


class TestShutdown:
    """The end of a process is not the end of a letter."""

    async def test_drained_it_finishes_the_letters_in_hand_and_takes_no_more(
        self, installation: Installation, autojump_clock: MockClock
    ) -> None:
        installation.post.reactions["slow@example.org"] = partial(trio.sleep, DRAIN_SECONDS_MAX / 2)
        await installation.queue("slow@example.org")
        courier = installation.courier()

        with trio.fail_after(2 * DRAIN_SECONDS_MAX):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(courier.run)
                await trio.sleep(1)
                courier.drain()
                await installation.queue("late@example.org")

        assert installation.states() == {"slow@example.org": "sent", "late@example.org": "queued"}

    async def test_drained_while_it_rests_it_returns_at_once(
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

    async def test_a_letter_that_was_cut_short_goes_out_when_its_lease_has_ended(
        self, installation: Installation, autojump_clock: MockClock
    ) -> None:
        installation.post.reactions["slow@example.org"] = trio.sleep_forever
        await installation.queue("slow@example.org")
        began_at = trio.current_time()
        await installation.live(lambda: installation.post.at_once == 1)
        ended_at = trio.current_time()
        installation.post.reactions.clear()

        await installation.live(installation.all_sent)

        assert ended_at - began_at < DRAIN_SECONDS_MAX + 2
        assert installation.post.delivered == ["slow@example.org"]

    async def test_a_letter_that_was_accepted_is_recorded_though_time_is_up(
        self, installation: Installation, autojump_clock: MockClock
    ) -> None:
        installation.database.absences["record_sent"] = 3
        await installation.queue("ada@example.org")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(installation.courier().run)
            await installation.until(lambda: bool(installation.post.delivered))
            nursery.cancel_scope.cancel()

        assert installation.states() == {"ada@example.org": "sent"}


class TestHousekeeping:
    """Letters that were dealt with do not stay for ever."""

    async def test_old_letters_are_forgotten_a_few_at_a_time(
        self,
        installation: Installation,
        nursery: trio.Nursery,
        autojump_clock: MockClock,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        await installation.queue(*(f"{number}@example.org" for number in range(5)))
        await installation.live(installation.all_sent)
        installation.grow_old(RETENTION + timedelta(minutes=1))
        installation.database.calls.clear()

        monkeypatch.setattr(mail_courier, "DELETED_MAILS_MAX", 2)
        nursery.start_soon(installation.courier().run)
        await trio.sleep(1)

        assert installation.states() == {}
        assert installation.database.calls.count("delete_old") == 3

    async def test_it_is_done_every_hour_even_after_the_database_was_away(
        self, installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
    ) -> None:
        installation.database.absences["delete_old"] = 1
        await installation.queue("ada@example.org")
        await installation.live(installation.all_sent)
        installation.grow_old(RETENTION)

        nursery.start_soon(installation.courier().run)
        await trio.sleep(DELETION_PERIOD_SECONDS * 1.5)

        assert installation.states() == {}
