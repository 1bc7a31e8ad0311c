"""The courier in virtual time, over a real database: nothing lost, nothing sent twice without need, nobody held up.

While a transaction works on its thread virtual time stands still, so that what happens does not depend on how fast this
machine is.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import structlog
import trio
from trio.testing import MockClock

from actors import mail_courier
from actors.doorbells import MemoryDoorbells
from actors.mail_courier import (
    DELETION_PERIOD_SECONDS,
    MAILS_AT_ONCE_MAX,
    PERIOD_SECONDS,
    RECORD_SECONDS_MAX,
    SEND_SECONDS_MAX,
    MailCourier,
)
from actors.supervision import DRAIN_SECONDS_MAX, Supervisor
from adapters.gateways.mail_renderer import JinjaMailRenderer
from adapters.prometheus import PrometheusMetrics
from core.errors import ServiceUnavailable
from core.mail import mail as messages
from core.mail.mail import ATTEMPTS_MAX, LEASE, RETENTION, RETRY_DELAYS, MailDeferred, MailRefused, MailTemplate
from tests.doorbells import RecordedDoorbells

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from uuid import UUID

    from adapters.postgres.database import PostgresDatabase
    from adapters.postgres.driver.connection import Connection
    from core.mail.mail import RenderedMail
    from core.sessions.callers import Origin
    from ports.database import Database

# Longer than anything that a letter may have to wait for here.
VIRTUAL_SECONDS_MAX = 4 * 3600


# All that a courier does about two letters: a claim that finds them, one that finds no more, and the rest for each.
STEPS = [
    (f"{moment} {step}", nth)
    for step, times in (("forget", 1), ("claim", 2), ("acceptance", 2), ("record_sent", 2))
    for moment in ("before", "after")
    for nth in range(1, times + 1)
]


class Crash(Exception):
    """Something that nobody foresaw."""


class Killed(BaseException):
    """The end of the process, which no supervisor survives."""


class Steps:
    """Follows what the courier does, and strikes once, at the step that the test has chosen."""

    def __init__(self) -> None:
        self.has_struck = False
        self._strike_at: tuple[str, int] | None = None
        self._blow: type[BaseException] = Crash
        self._taken: Counter[str] = Counter()

    def strike(self, step: str, nth: int = 1, blow: type[BaseException] = Crash) -> None:
        self._strike_at, self._blow = (step, nth), blow

    def take(self, step: str) -> None:
        self._taken[step] += 1
        if (step, self._taken[step]) == self._strike_at:
            self.has_struck = True
            raise self._blow(step)


class Post:
    """A mail server that takes what it is given, unless the test has made it react otherwise to an address."""

    def __init__(self, steps: Steps) -> None:
        self.delivered: list[str] = []
        self.ids: list[UUID] = []
        self.reactions: dict[str, Callable[[], Awaitable[None]]] = {}
        self.at_once = 0
        self.at_once_max = 0
        self._steps = steps

    async def send(self, mail_id: UUID, to: str, rendered: RenderedMail) -> None:
        self.at_once += 1
        self.at_once_max = max(self.at_once_max, self.at_once)
        try:
            await trio.lowlevel.checkpoint()
            self._steps.take("before acceptance")
            if to in self.reactions:
                await self.reactions[to]()
            self.delivered.append(to)
            self.ids.append(mail_id)
            self._steps.take("after acceptance")
        finally:
            self.at_once -= 1


class StillDatabase:
    """The database, on whose threads no virtual time passes; it can be away for some calls of a use case."""

    def __init__(self, database: PostgresDatabase, clock: MockClock, steps: Steps) -> None:
        self.absences: dict[str, int] = {}
        self.calls: list[str] = []
        self._database = database
        self._clock = clock
        self._steps = steps
        self._at_work = 0

    async def transact(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        name: str = getattr(use_case, "func", use_case).__name__
        self.calls.append(name)
        self._steps.take(f"before {name}")
        if self.absences.get(name, 0) > 0:
            self.absences[name] -= 1
            raise ServiceUnavailable(retry_after_seconds=1)
        result = await self.aside(use_case, *args, **kwargs)
        self._steps.take(f"after {name}")
        return result

    async def read(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the courier never only looks")

    async def step(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the courier works in transactions")

    def on_behalf_of(self, origin: Origin, session_id: object = None, client_id: object = None) -> Database:
        return self

    async def aside(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run a use case that is none of the courier's."""
        self._at_work += 1
        self._clock.autojump_threshold = math.inf
        try:
            return await self._database.transact(use_case, *args, **kwargs)
        finally:
            self._at_work -= 1
            if not self._at_work:
                self._clock.autojump_threshold = 0

    def deaf(self) -> StillDatabase:
        """Give the same database as another replica has it."""
        return StillDatabase(replace(self._database, doorbells=RecordedDoorbells()), self._clock, self._steps)


class Installation:
    """Everything around a courier."""

    def __init__(
        self, database: PostgresDatabase, connection: Connection, doorbells: MemoryDoorbells, clock: MockClock
    ) -> None:
        self.steps = Steps()
        self.database = StillDatabase(database, clock, self.steps)
        self.post = Post(self.steps)
        self.metrics = PrometheusMetrics(version="test")
        self._doorbells = doorbells
        self._connection = connection

    def courier(self, *, has_gateway: bool = True) -> MailCourier:
        return MailCourier(
            database=self.database,
            doorbells=self._doorbells,
            renderer=JinjaMailRenderer(base_url="https://id.example.com"),
            gateway=self.post if has_gateway else None,
            metrics=self.metrics,
        )

    async def queue(self, *recipients: str) -> None:
        """Queue letters as a request to this process does."""
        for to in recipients:
            await self.database.aside(messages.send, to, MailTemplate.TEST)

    async def queue_elsewhere(self, *recipients: str) -> None:
        """Queue letters as another replica does, whose ring is not heard here."""
        for to in recipients:
            await self.database.deaf().aside(messages.send, to, MailTemplate.TEST)

    def states(self) -> dict[str, str]:
        return dict(self._connection.execute("SELECT recipient, state FROM mails").fetchall())

    def row(self, to: str) -> dict[str, Any]:
        row = self._connection.execute("SELECT to_jsonb(mails) FROM mails WHERE recipient = %s", (to,)).fetchone()
        assert row is not None
        return row[0]

    def take_over(self, to: str) -> None:
        """Claim a letter as another courier does after the lease."""
        self._connection.execute("UPDATE mails SET attempts = attempts + 1 WHERE recipient = %s", (to,))

    def grow_old(self, age: timedelta) -> None:
        self._connection.execute("UPDATE mails SET created_at = created_at - %s", (age,))

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Let virtual time pass until it is so."""
        for _ in range(VIRTUAL_SECONDS_MAX):
            if is_so():
                return
            await trio.sleep(1)
        raise AssertionError("It did not come to be so.")

    async def live(self, until: Callable[[], bool]) -> None:
        """Be a process with a supervised courier until then, and stop properly."""
        async with trio.open_nursery() as nursery:
            supervisor = Supervisor(nursery, clock=lambda: datetime.now(UTC), metrics=self.metrics)
            courier = self.courier()
            supervisor.supervise("mail_courier", courier.run, drain=courier.drain)
            await self.until(until)
            await supervisor.stop()

    def all_sent(self) -> bool:
        return set(self.states().values()) == {"sent"}


@pytest.fixture
def autojump_clock() -> MockClock:
    """Virtual time that jumps at once, except while a transaction works."""
    return MockClock(autojump_threshold=0)


@pytest.fixture
def clock(autojump_clock: MockClock) -> Callable[[], datetime]:
    """The clock of the transactions, which is the virtual one too."""
    return lambda: datetime(2026, 2, 3, tzinfo=UTC) + timedelta(seconds=autojump_clock.current_time())


@pytest.fixture
def doorbells() -> MemoryDoorbells:
    return MemoryDoorbells()


@pytest.fixture
async def installation(
    database: PostgresDatabase, connection: Connection, doorbells: MemoryDoorbells, autojump_clock: MockClock
) -> Installation:
    return Installation(database, connection, doorbells, autojump_clock)


async def test_a_letter_leaves_as_soon_as_its_cause_is_committed(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    nursery.start_soon(installation.courier().run)
    await trio.sleep(PERIOD_SECONDS / 2)

    await installation.queue("ada@example.org")
    await trio.sleep(0.1)

    assert installation.post.delivered == ["ada@example.org"]
    assert installation.states() == {"ada@example.org": "sent"}
    assert installation.row("ada@example.org")["values_sealed"] is None


async def test_a_letter_whose_ring_nobody_heard_leaves_after_the_period(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    nursery.start_soon(installation.courier().run)
    await trio.sleep(PERIOD_SECONDS / 2)

    await installation.queue_elsewhere("ada@example.org")
    await trio.sleep(PERIOD_SECONDS / 4)
    before = list(installation.post.delivered)
    await trio.sleep(PERIOD_SECONDS / 2)

    assert before == []
    assert installation.post.delivered == ["ada@example.org"]


async def test_letters_that_waited_for_the_start_leave_at_the_start(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    recipients = [f"{number}@example.org" for number in range(3 * MAILS_AT_ONCE_MAX)]
    await installation.queue_elsewhere(*recipients)

    nursery.start_soon(installation.courier().run)
    await trio.sleep(0.1)

    assert sorted(installation.post.delivered) == sorted(recipients)


async def test_a_courier_with_nothing_to_do_asks_once_a_period(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    nursery.start_soon(installation.courier().run)

    await trio.sleep(10.5 * PERIOD_SECONDS)

    assert installation.database.calls.count("claim") == 11


async def test_a_deferred_letter_is_tried_again_after_its_delay(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    async def be_busy_once() -> None:
        del installation.post.reactions["ada@example.org"]
        raise MailDeferred("The mail server answered 451 busy")

    installation.post.reactions["ada@example.org"] = be_busy_once
    await installation.queue("ada@example.org")
    nursery.start_soon(installation.courier().run)

    await trio.sleep(RETRY_DELAYS[0].total_seconds() - 1)
    meanwhile = installation.row("ada@example.org")
    await trio.sleep(PERIOD_SECONDS + 2)

    assert (meanwhile["state"], meanwhile["last_error"]) == ("queued", "The mail server answered 451 busy")
    assert installation.post.delivered == ["ada@example.org"]
    assert installation.row("ada@example.org")["last_error"] is None


async def test_a_refused_letter_fails_at_once_and_is_not_tried_again(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    attempts: list[float] = []

    async def refuse() -> None:
        attempts.append(trio.current_time())
        raise MailRefused("The mail server answered 550 no such user")

    installation.post.reactions["nobody@example.org"] = refuse
    await installation.queue("nobody@example.org")
    nursery.start_soon(installation.courier().run)

    await trio.sleep(2 * LEASE.total_seconds())

    row = installation.row("nobody@example.org")
    assert len(attempts) == 1
    assert (row["state"], row["last_error"]) == ("failed", "The mail server answered 550 no such user")


async def test_a_mail_server_that_never_answers_counts_as_an_attempt_that_failed(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    installation.post.reactions["ada@example.org"] = trio.sleep_forever
    await installation.queue("ada@example.org")
    nursery.start_soon(installation.courier().run)

    await trio.sleep(SEND_SECONDS_MAX - 1)
    before = installation.row("ada@example.org")["last_error"]
    await trio.sleep(2)
    after = installation.row("ada@example.org")["last_error"]

    assert before is None
    assert after == "The mail server did not take the mail within 30 seconds."


async def test_one_slow_letter_holds_up_no_other(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    quick = [f"{number}@example.org" for number in range(5 * MAILS_AT_ONCE_MAX)]
    installation.post.reactions["slow@example.org"] = trio.sleep_forever
    await installation.queue("slow@example.org", *quick)

    nursery.start_soon(installation.courier().run)
    await trio.sleep(1)

    assert sorted(installation.post.delivered) == sorted(quick)


async def test_no_more_letters_are_on_their_way_at_once_than_there_are_places(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    recipients = [f"{number}@example.org" for number in range(3 * MAILS_AT_ONCE_MAX)]
    installation.post.reactions = dict.fromkeys(recipients, partial(trio.sleep, 1))
    await installation.queue(*recipients)

    nursery.start_soon(installation.courier().run)
    await trio.sleep(0.5)
    waiting = [installation.row(to)["attempts"] for to in recipients].count(0)
    await trio.sleep(5)

    assert installation.post.at_once_max == MAILS_AT_ONCE_MAX
    # What has no place is not claimed either: another replica may take it.
    assert waiting == 2 * MAILS_AT_ONCE_MAX
    assert sorted(installation.post.delivered) == sorted(recipients)


async def test_without_a_mail_server_letters_are_kept(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    await installation.queue("ada@example.org")

    nursery.start_soon(installation.courier(has_gateway=False).run)
    await trio.sleep(0.1)

    assert installation.states() == {"ada@example.org": "kept"}
    assert installation.row("ada@example.org")["values_sealed"] is not None


async def test_couriers_of_two_replicas_deliver_each_letter_once(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    recipients = [f"{number}@example.org" for number in range(5 * MAILS_AT_ONCE_MAX)]
    installation.post.reactions = dict.fromkeys(recipients, partial(trio.sleep, 0.1))
    await installation.queue(*recipients)

    for _ in range(2):
        nursery.start_soon(installation.courier().run)
    await trio.sleep(5)

    assert sorted(installation.post.delivered) == sorted(recipients)


async def test_every_attempt_is_measured(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    installation.post.reactions["ada@example.org"] = partial(trio.sleep, 2)
    await installation.queue("ada@example.org")

    nursery.start_soon(installation.courier().run)
    await trio.sleep(3)

    lines = installation.metrics.exposition().decode().splitlines()
    assert 'sso_job_processing_duration_seconds_count{job_type="mail"} 1.0' in lines
    assert 'sso_job_processing_duration_seconds_bucket{job_type="mail",le="1.0"} 0.0' in lines
    assert 'sso_job_processing_duration_seconds_bucket{job_type="mail",le="2.5"} 1.0' in lines


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
        assert installation.database.calls.count("forget") == 3

    async def test_it_is_done_every_hour_even_after_the_database_was_away(
        self, installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
    ) -> None:
        installation.database.absences["forget"] = 1
        await installation.queue("ada@example.org")
        await installation.live(installation.all_sent)
        installation.grow_old(RETENTION)

        nursery.start_soon(installation.courier().run)
        await trio.sleep(DELETION_PERIOD_SECONDS * 1.5)

        assert installation.states() == {}
