"""A courier that crashes, and a database that is away: no mail is lost."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
import structlog
import trio

from actors.mail_courier import (
    RECORD_SECONDS_MAX,
    SEND_SECONDS_MAX,
)
from core.mail.mail import ATTEMPTS_MAX, LEASE
from tests.actors.mail_courier.installation import Crash, Installation

if TYPE_CHECKING:
    from trio.testing import MockClock


# All that a courier does about two letters: a claim that finds them, one that finds no more, and the rest for each.
STEPS = [
    (f"{moment} {step}", nth)
    for step, times in (("delete_old", 1), ("claim", 2), ("acceptance", 2), ("record_sent", 2))
    for moment in ("before", "after")
    for nth in range(1, times + 1)
]


class Killed(BaseException):
    """The end of the process, which no supervisor survives."""


class TestCrashes:
    """Whatever happens between two steps, the tables know how to go on."""

    @pytest.mark.parametrize("blow", [Crash, Killed])
    @pytest.mark.parametrize(("step", "nth"), STEPS)
    async def test_between_any_two_steps_it_loses_no_letter(
        self, installation: Installation, autojump_clock: MockClock, step: str, nth: int, blow: type[BaseException]
    ) -> None:
        recipients = ["ada@example.org", "eve@example.org"]
        await installation.queue(*recipients)
        installation.steps.strike(step, nth, blow)

        try:
            await installation.live(installation.all_sent)
        except* Killed:
            """The next process begins from the tables."""
        await installation.live(installation.all_sent)

        # Only what was accepted and not yet recorded goes out again.
        again = 1 if step in {"after acceptance", "before record_sent"} else 0
        assert installation.steps.has_struck
        assert set(installation.post.delivered) == set(recipients)
        assert len(installation.post.delivered) == len(recipients) + again

    async def test_a_letter_that_goes_out_again_has_the_same_id(
        self, installation: Installation, autojump_clock: MockClock
    ) -> None:
        await installation.queue("ada@example.org")
        installation.steps.strike("after acceptance")

        await installation.live(installation.all_sent)

        first, second = installation.post.ids
        assert first == second

    async def test_a_letter_of_which_every_courier_dies_is_given_up_and_takes_no_other_with_it(
        self, installation: Installation, autojump_clock: MockClock
    ) -> None:
        attempts: list[float] = []

        async def die() -> None:
            attempts.append(trio.current_time())
            raise Crash

        installation.post.reactions["poison@example.org"] = die
        await installation.queue("poison@example.org", "ada@example.org")

        await installation.live(lambda: installation.states()["poison@example.org"] == "failed")

        assert len(attempts) == ATTEMPTS_MAX
        assert installation.states()["ada@example.org"] == "sent"

    def test_the_lease_is_longer_than_all_that_a_courier_does_with_a_letter(self) -> None:
        assert LEASE.total_seconds() / 2 > SEND_SECONDS_MAX + RECORD_SECONDS_MAX

    async def test_a_courier_that_was_too_slow_overwrites_nothing(
        self, installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
    ) -> None:
        installation.post.reactions["ada@example.org"] = partial(trio.sleep, 5)
        await installation.queue("ada@example.org")
        with structlog.testing.capture_logs() as lines:
            nursery.start_soon(installation.courier().run)
            await trio.sleep(1)
            installation.take_over("ada@example.org")
            await trio.sleep(10)

        assert installation.states() == {"ada@example.org": "queued"}
        assert "mail.taken_over" in [line["event"] for line in lines]


class TestAbsence:
    """The database is away for a while."""

    async def test_a_letter_that_is_out_waits_for_the_database_and_goes_out_once(
        self, installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
    ) -> None:
        installation.database.absences["record_sent"] = 5
        await installation.queue("ada@example.org")
        nursery.start_soon(installation.courier().run)

        await installation.until(installation.all_sent)

        assert installation.post.delivered == ["ada@example.org"]

    async def test_a_letter_that_is_out_and_cannot_be_recorded_goes_out_again(
        self, installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
    ) -> None:
        installation.database.absences["record_sent"] = 1_000
        await installation.queue("ada@example.org")
        with structlog.testing.capture_logs() as lines:
            nursery.start_soon(installation.courier().run)
            await trio.sleep(RECORD_SECONDS_MAX + 1)
        installation.database.absences.clear()

        await installation.until(installation.all_sent)

        assert "mail.not_recorded" in [line["event"] for line in lines]
        assert installation.post.delivered == ["ada@example.org", "ada@example.org"]

    async def test_letters_wait_for_the_database_and_the_log_says_so_once(
        self, installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
    ) -> None:
        installation.database.absences["claim"] = 6
        await installation.queue("ada@example.org")

        with structlog.testing.capture_logs() as lines:
            nursery.start_soon(installation.courier().run)
            await installation.until(installation.all_sent)

        assert installation.post.delivered == ["ada@example.org"]
        assert [line["event"] for line in lines].count("mail.database_away") == 1
