"""An organization whose mail server takes no mail."""

from __future__ import annotations

from datetime import timedelta

from core.mail import routed_mail
from core.mail.mail import RETRY_DELAYS, MailTemplate
from core.mail.routed_mail import FAILURES_BEFORE_NOTICE, WAIT_MAX
from core.organizations.settings import smtp as settings
from tests.mail_server import PostOffice
from tests.world.mail_servers import MailServers
from tests.world.world import World

SECOND = timedelta(seconds=1)


class TestFailures:
    """A server that takes no mail."""

    async def test_mail_waits_and_leaves_by_no_other_server_and_the_settings_say_so(
        self, servers: MailServers, world: World, dead_port: int
    ) -> None:
        await servers.configure(port=dead_port)
        await servers.queue("ada@example.org", "bob@example.org")

        leased = [await servers.deliver(), await servers.deliver()]

        shown = await servers.show()
        assert leased == [1, 0]
        assert servers.states() == {"ada@example.org": ("routed", 0), "bob@example.org": ("routed", 0)}
        assert await world.mails() == []
        assert (shown["status"], shown["waiting_mails"]) == ("failing", 2)
        assert shown["last_error"] == "The mail server cannot be reached: it refused the connection."
        assert shown["failing_since"] == "2026-02-03T04:05:06Z"
        assert shown["next_attempt_at"] == "2026-02-03T04:06:06Z"

    async def test_the_owner_is_told_once_when_it_goes_on(
        self, servers: MailServers, world: World, dead_port: int
    ) -> None:
        await servers.configure(port=dead_port)
        await servers.queue("ada@example.org")
        told: list[int] = []

        for attempt in range(len(RETRY_DELAYS) + 2):
            assert await servers.deliver() == 1
            told.append(len(world.rows("SELECT FROM mails WHERE template = 'mail_server_failing'")))
            world.clock.advance(RETRY_DELAYS[min(attempt, len(RETRY_DELAYS) - 1)])

        silent = FAILURES_BEFORE_NOTICE - 1
        assert told == [0] * silent + [1] * (len(told) - silent)
        message = await world.mail()
        assert (message.to, message.template) == ("owner@example.com", MailTemplate.MAIL_SERVER_FAILING)
        assert message.values["server"] == f"127.0.0.1:{dead_port}"

    async def test_new_settings_and_a_successful_test_are_tried_at_once(
        self, servers: MailServers, office: PostOffice, dead_port: int
    ) -> None:
        await servers.configure(port=dead_port)
        await servers.queue("ada@example.org")
        await servers.deliver()

        configured = await servers.configure(port=office.port)
        office.answers["MAIL"] = "451 busy"
        await servers.deliver()
        failing = await servers.show()
        office.answers.clear()
        await servers.request("POST", "/test", body={"to": "bob@example.org"})
        tested = await servers.show()

        assert [one["status"] for one in (configured.json, failing, tested)] == ["working", "failing", "working"]
        assert await servers.deliver() == 1
        assert servers.states() == {"ada@example.org": ("sent", 1)}

    async def test_an_address_in_the_answer_of_a_server_is_not_kept(
        self, servers: MailServers, office: PostOffice
    ) -> None:
        office.answers["RCPT"] = "554 5.7.1 <ada@example.org>: Relay access denied"
        await servers.configure(port=office.port)
        await servers.queue("ada@example.org")

        await servers.deliver()

        assert (await servers.show())["last_error"] == "The mail server answered 554 5.7.1 …: Relay access denied"

    async def test_a_mail_that_its_recipient_s_server_refuses_fails_alone(
        self, servers: MailServers, office: PostOffice
    ) -> None:
        await servers.configure(port=office.port)
        await servers.queue("ada@example.org")
        office.answers["RCPT"] = "550 5.1.1 no such user"

        await servers.deliver()

        assert servers.states() == {"ada@example.org": ("failed", 1)}
        assert (await servers.show())["status"] == "working"

    async def test_a_mail_that_is_deferred_is_tried_again_later(self, servers: MailServers, office: PostOffice) -> None:
        await servers.configure(port=office.port)
        await servers.queue("ada@example.org")
        office.answers["RCPT"] = "451 4.2.1 try later"
        await servers.deliver()
        office.answers.clear()

        at_once = await servers.deliver()
        servers.team.world.clock.advance(RETRY_DELAYS[0])

        assert at_once == 0
        assert await servers.deliver() == 1
        assert servers.states() == {"ada@example.org": ("sent", 2)}

    async def test_a_mail_expires_after_seven_days(self, servers: MailServers, world: World, dead_port: int) -> None:
        await servers.configure(port=dead_port)
        await servers.queue("ada@example.org")
        database = world.installation.database

        world.clock.advance(WAIT_MAX)
        before = await database.transact(routed_mail.expire, 10)
        world.clock.advance(SECOND)
        after = await database.transact(routed_mail.expire, 10)

        assert (before, after) == (0, 1)
        [(state, sealed, error)] = world.rows("SELECT state, values_sealed, last_error FROM mails")
        assert (state, sealed, error) == ("failed", None, routed_mail.EXPIRED)

    async def test_settings_that_change_during_an_attempt_are_not_called_failing(
        self, servers: MailServers, world: World, office: PostOffice, dead_port: int
    ) -> None:
        await servers.configure(port=dead_port)
        await servers.queue("ada@example.org")
        [leased] = await world.installation.database.transact(routed_mail.lease, 1, 8)
        world.clock.advance(SECOND)

        await servers.configure(port=office.port)
        await world.installation.database.transact(
            settings.record_failure, leased, "The mail server cannot be reached.", leased.mails
        )

        assert (await servers.show())["status"] == "working"
        assert await servers.deliver() == 1
        assert servers.states() == {"ada@example.org": ("sent", 1)}
