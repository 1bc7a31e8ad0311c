"""When mails leave, in virtual time over a real database."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import trio

from actors.mail_courier import (
    MAILS_AT_ONCE_MAX,
    PERIOD_SECONDS,
    SEND_SECONDS_MAX,
)
from core.mail.mail import LEASE, RETRY_DELAYS, MailDeferred, MailRefused

if TYPE_CHECKING:
    from trio.testing import MockClock

    from tests.actors.mail_courier.installation import Installation


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
