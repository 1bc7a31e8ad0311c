"""When mails are sent, in virtual time with a real database."""

from __future__ import annotations

from functools import partial

import structlog
import trio
from trio.testing import MockClock

from actors.mail_couriers import (
    MAILS_AT_ONCE_MAX,
    REST_SECONDS,
    SEND_SECONDS_MAX,
)
from core.mail.mail import LEASE, RETRY_DELAYS, MailDeferred, MailRefused
from tests.actors.mail_courier.installation import Installation
from tests.mailboxes import keep_time, let_work


def counted(installation: Installation) -> set[str]:
    """Return what the metrics count of attempts."""
    name = "sso_mail_attempts_total"
    lines = installation.metrics.exposition().decode().splitlines()
    return {line.removeprefix(name) for line in lines if line.startswith(name)}


async def test_a_mail_is_sent_as_soon_as_it_is_committed(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    nursery.start_soon(installation.courier().run)
    await trio.sleep(1)

    await installation.queue("ada@example.org")
    await trio.sleep(0.1)

    assert installation.mail_server.delivered == ["ada@example.org"]
    assert installation.states() == {"ada@example.org": "sent"}
    assert installation.row("ada@example.org")["values_sealed"] is None


async def test_mails_that_come_right_after_another_one_are_claimed_together(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    keep_time(nursery, installation.courier())
    await trio.sleep(1)
    await installation.queue("ada@example.org")
    await trio.sleep(REST_SECONDS / 2)
    await installation.queue("ben@example.org", "cleo@example.org")

    await trio.sleep(REST_SECONDS / 4)
    before = list(installation.mail_server.delivered)
    await trio.sleep(REST_SECONDS / 2)

    assert before == ["ada@example.org"]
    assert sorted(installation.mail_server.delivered) == ["ada@example.org", "ben@example.org", "cleo@example.org"]


async def test_a_mail_whose_message_was_lost_is_sent_at_the_next_one(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    courier = installation.courier()
    nursery.start_soon(courier.run)
    await trio.sleep(1)

    await installation.queue_elsewhere("ada@example.org")
    await trio.sleep(1)
    before = list(installation.mail_server.delivered)
    await let_work(courier)
    await trio.sleep(0.1)

    assert before == []
    assert installation.mail_server.delivered == ["ada@example.org"]


async def test_mails_queued_before_the_start_are_sent_at_the_start(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    recipients = [f"{number}@example.org" for number in range(3 * MAILS_AT_ONCE_MAX)]
    await installation.queue_elsewhere(*recipients)

    nursery.start_soon(installation.courier().run)
    await trio.sleep(0.1)

    assert sorted(installation.mail_server.delivered) == sorted(recipients)


async def test_an_idle_courier_claims_at_its_start_alone(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    nursery.start_soon(installation.courier().run)

    await trio.sleep(1_000)

    assert installation.database.calls.count("lease") == 1


async def test_a_deferred_mail_is_retried_after_its_delay(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    async def defer_once() -> None:
        del installation.mail_server.reactions["ada@example.org"]
        raise MailDeferred("The mail server answered 451 busy")

    installation.mail_server.reactions["ada@example.org"] = defer_once
    await installation.queue("ada@example.org")
    courier = installation.courier()
    nursery.start_soon(courier.run)

    await trio.sleep(RETRY_DELAYS[0].total_seconds() - 1)
    meanwhile = installation.row("ada@example.org")
    await let_work(courier)
    assert installation.mail_server.delivered == []
    await trio.sleep(2)
    await let_work(courier)
    await trio.sleep(0.1)

    assert (meanwhile["state"], meanwhile["last_error"]) == ("queued", "The mail server answered 451 busy")
    assert installation.mail_server.delivered == ["ada@example.org"]
    assert installation.row("ada@example.org")["last_error"] is None
    assert {'{outcome="deferred",server="platform"} 1.0', '{outcome="sent",server="platform"} 1.0'} <= counted(
        installation
    )


async def test_mails_that_are_deferred_by_the_hundred_are_lines_at_intervals_with_their_number(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    async def defer() -> None:
        raise MailDeferred("The mail server answered 451 busy")

    recipients = [f"person{number}@example.org" for number in range(20)]
    for recipient in recipients:
        installation.mail_server.reactions[recipient] = defer
    with structlog.testing.capture_logs() as lines:
        await installation.queue(*recipients)
        courier = installation.courier()
        nursery.start_soon(courier.run)
        await trio.sleep(RETRY_DELAYS[0].total_seconds() / 2)
        first = [line["times"] for line in lines if line["event"] == "mail.deferred"]
        await trio.sleep(RETRY_DELAYS[0].total_seconds())
        await let_work(courier)
        await trio.sleep(1)

    deferred = [line for line in lines if line["event"] == "mail.deferred"]
    assert first == [1]
    # The next number includes what was left out, and each mail has its reason.
    assert deferred[1]["times"] == len(recipients)
    assert deferred[1]["reason"] == "The mail server answered 451 busy"
    assert {installation.row(one)["last_error"] for one in recipients} == {"The mail server answered 451 busy"}


async def test_a_refused_mail_fails_immediately_and_is_not_retried(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    attempts: list[float] = []

    async def refuse() -> None:
        attempts.append(trio.current_time())
        raise MailRefused("The mail server answered 550 no such user")

    installation.mail_server.reactions["nobody@example.org"] = refuse
    await installation.queue("nobody@example.org")
    nursery.start_soon(installation.courier().run)

    await trio.sleep(2 * LEASE.total_seconds())

    row = installation.row("nobody@example.org")
    assert len(attempts) == 1
    assert (row["state"], row["last_error"]) == ("failed", "The mail server answered 550 no such user")
    assert '{outcome="failed",server="platform"} 1.0' in counted(installation)


async def test_an_attempt_that_the_mail_server_does_not_answer_fails(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    installation.mail_server.reactions["ada@example.org"] = trio.sleep_forever
    await installation.queue("ada@example.org")
    nursery.start_soon(installation.courier().run)

    await trio.sleep(SEND_SECONDS_MAX - 1)
    before = installation.row("ada@example.org")["last_error"]
    await trio.sleep(2)
    after = installation.row("ada@example.org")["last_error"]

    assert before is None
    assert after == "The mail server did not take the mail within 30 seconds."


async def test_a_slow_mail_delays_no_other(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    quick = [f"{number}@example.org" for number in range(5 * MAILS_AT_ONCE_MAX)]
    installation.mail_server.reactions["slow@example.org"] = trio.sleep_forever
    await installation.queue("slow@example.org", *quick)

    nursery.start_soon(installation.courier().run)
    await trio.sleep(1)

    assert sorted(installation.mail_server.delivered) == sorted(quick)


async def test_the_number_of_concurrent_deliveries_is_limited(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    recipients = [f"{number}@example.org" for number in range(3 * MAILS_AT_ONCE_MAX)]
    installation.mail_server.reactions = dict.fromkeys(recipients, partial(trio.sleep, 1))
    await installation.queue(*recipients)

    nursery.start_soon(installation.courier().run)
    await trio.sleep(0.5)
    waiting = [installation.row(to)["attempts"] for to in recipients].count(0)
    await trio.sleep(5)

    assert installation.mail_server.concurrent_max == MAILS_AT_ONCE_MAX
    # A mail beyond the limit is not claimed either: another replica may send it.
    assert waiting == 2 * MAILS_AT_ONCE_MAX
    assert sorted(installation.mail_server.delivered) == sorted(recipients)


async def test_without_a_mail_server_mails_are_kept(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    await installation.queue("ada@example.org")

    nursery.start_soon(installation.courier(has_gateway=False).run)
    await trio.sleep(0.1)

    assert installation.states() == {"ada@example.org": "kept"}
    assert installation.row("ada@example.org")["values_sealed"] is not None


async def test_couriers_of_two_replicas_deliver_each_mail_once(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    recipients = [f"{number}@example.org" for number in range(5 * MAILS_AT_ONCE_MAX)]
    installation.mail_server.reactions = dict.fromkeys(recipients, partial(trio.sleep, 0.1))
    await installation.queue(*recipients)

    for _ in range(2):
        nursery.start_soon(installation.courier().run)
    await trio.sleep(5)

    assert sorted(installation.mail_server.delivered) == sorted(recipients)


async def test_every_attempt_is_measured(
    installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    installation.mail_server.reactions["ada@example.org"] = partial(trio.sleep, 2)
    await installation.queue("ada@example.org")

    nursery.start_soon(installation.courier().run)
    await trio.sleep(3)

    lines = installation.metrics.exposition().decode().splitlines()
    assert 'sso_job_processing_duration_seconds_count{job_type="mail"} 1.0' in lines
    assert 'sso_job_processing_duration_seconds_bucket{job_type="mail",le="1.0"} 0.0' in lines
    assert 'sso_job_processing_duration_seconds_bucket{job_type="mail",le="2.5"} 1.0' in lines
