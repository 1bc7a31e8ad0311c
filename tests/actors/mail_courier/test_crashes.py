"""A courier that crashes, and a database that is unavailable: no mail is lost."""

from __future__ import annotations

from functools import partial

import pytest
import structlog
import trio
from trio.testing import MockClock

from actors.dispatching import RECORD_SECONDS_MAX
from actors.mail_couriers import SEND_SECONDS_MAX
from core.mail.mail import ATTEMPTS_MAX, LEASE
from tests.actors.mail_courier.installation import Crash, Installation

# The steps of a courier for two mails: a lease of both, a lease of none, and the rest for each.
STEPS = [
    (f"{moment} {step}", nth)
    for step, times in (("lease", 2), ("acceptance", 2), ("record_sent", 2))
    for moment in ("before", "after")
    for nth in range(1, times + 1)
]


class Killed(BaseException):
    """The process is killed, and its supervisor with it."""


class TestCrashes:
    """After a crash between any two steps, the next run continues from the tables."""

    @pytest.mark.parametrize("error", [Crash, pytest.param(Killed, marks=pytest.mark.long)])
    @pytest.mark.parametrize(("step", "nth"), STEPS)
    async def test_a_crash_between_any_two_steps_loses_no_mail(
        self, installation: Installation, autojump_clock: MockClock, step: str, nth: int, error: type[BaseException]
    ) -> None:
        recipients = ["ada@example.org", "eve@example.org"]
        await installation.queue(*recipients)
        installation.steps.raise_at(step, nth, error)

        def is_over() -> bool:
            return installation.all_sent() and (installation.steps.has_raised or not step.endswith(" lease"))

        try:
            await installation.run_courier(is_over)
        except* Killed:
            """The next process continues from the tables."""
        await installation.run_courier(installation.all_sent)

        # Only a mail that was accepted and not yet recorded is sent again.
        again = 1 if step in {"after acceptance", "before record_sent"} else 0
        assert installation.steps.has_raised
        assert set(installation.mail_server.delivered) == set(recipients)
        assert len(installation.mail_server.delivered) == len(recipients) + again

    async def test_a_mail_that_is_sent_again_has_the_same_id(
        self, installation: Installation, autojump_clock: MockClock
    ) -> None:
        await installation.queue("ada@example.org")
        installation.steps.raise_at("after acceptance")

        await installation.run_courier(installation.all_sent)

        first, second = installation.mail_server.ids
        assert first == second

    async def test_a_mail_that_crashes_every_courier_fails_and_affects_no_other(
        self, installation: Installation, autojump_clock: MockClock
    ) -> None:
        attempts: list[float] = []

        async def crash() -> None:
            attempts.append(trio.current_time())
            raise Crash

        installation.mail_server.reactions["poison@example.org"] = crash
        await installation.queue("poison@example.org", "ada@example.org")

        await installation.run_courier(lambda: installation.states()["poison@example.org"] == "failed")

        assert len(attempts) == ATTEMPTS_MAX
        assert installation.states()["ada@example.org"] == "sent"

    def test_the_lease_is_longer_than_sending_and_recording_a_mail(self) -> None:
        assert LEASE.total_seconds() / 2 > SEND_SECONDS_MAX + RECORD_SECONDS_MAX

    async def test_a_courier_whose_lease_has_ended_overwrites_nothing(
        self, installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
    ) -> None:
        installation.mail_server.reactions["ada@example.org"] = partial(trio.sleep, 5)
        await installation.queue("ada@example.org")
        with structlog.testing.capture_logs() as lines:
            nursery.start_soon(installation.courier().run)
            await trio.sleep(1)
            installation.take_over("ada@example.org")
            await trio.sleep(10)

        assert installation.states() == {"ada@example.org": "queued"}
        assert "mail.taken_over" in [line["event"] for line in lines]


class TestOutage:
    """The database is unavailable for a while."""

    async def test_a_sent_mail_is_recorded_after_an_outage_and_not_sent_again(
        self, installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
    ) -> None:
        installation.database.outages["record_sent"] = 5
        await installation.queue("ada@example.org")
        nursery.start_soon(installation.courier().run)

        await installation.wait_until(installation.all_sent)

        assert installation.mail_server.delivered == ["ada@example.org"]

    async def test_a_sent_mail_that_cannot_be_recorded_is_sent_again(
        self, installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
    ) -> None:
        installation.database.outages["record_sent"] = 1_000
        await installation.queue("ada@example.org")
        with structlog.testing.capture_logs() as lines:
            nursery.start_soon(installation.courier().run)
            await trio.sleep(RECORD_SECONDS_MAX + 1)
        installation.database.outages.clear()

        await installation.wait_until(installation.all_sent)

        assert "mail.not_recorded" in [line["event"] for line in lines]
        assert installation.mail_server.delivered == ["ada@example.org", "ada@example.org"]

    async def test_mails_wait_for_the_database_and_the_outage_is_logged_once(
        self, installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
    ) -> None:
        installation.database.outages["lease"] = 6
        await installation.queue("ada@example.org")

        with structlog.testing.capture_logs() as lines:
            nursery.start_soon(installation.courier().run)
            await installation.wait_until(installation.all_sent)

        assert installation.mail_server.delivered == ["ada@example.org"]
        assert [line["event"] for line in lines].count("mail.database_away") == 1
