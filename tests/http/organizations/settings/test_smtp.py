"""The mail server of an organization: its settings, and testing it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from adapters.gateways.mail_renderer import TEMPLATES_FOLDER
from core.mail.mail import BY_ORGANIZATION, MailTemplate
from tests.application import serving_with_rate_limits
from tests.concurrency import at_once, statuses_of
from tests.mail_server import PostOffice
from tests.shown_text import shows
from tests.world.billing import Seller
from tests.world.mail_servers import LOGIN, SERVER, MailServers
from tests.world.world import World, assert_refused

SECOND = timedelta(seconds=1)


class TestSettings:
    """GET, PUT and DELETE /smtp."""

    async def test_the_settings_are_shown_without_the_password_and_recorded(self, servers: MailServers) -> None:
        assert_refused(await servers.request("GET"), 404, "NOT_FOUND")
        answer = await servers.configure(**LOGIN)

        shown = await servers.show()
        assert answer.json == shown
        assert shown == {
            **SERVER,
            "tls": "starttls",
            "username": "acme",
            "has_password": True,
            "status": "working",
            "failing_since": None,
            "last_error": None,
            "next_attempt_at": None,
            "last_success_at": None,
            "last_tested_at": None,
            "last_test_accepted": None,
            "last_test_answer": None,
            "waiting_mails": 0,
            "created_at": "2026-02-03T04:05:06Z",
            "updated_at": "2026-02-03T04:05:06Z",
        }
        world = servers.team.world
        [(_, actor, target, details)] = world.audit_entries("organization.smtp.configured")
        assert (actor, target) == (servers.team.ids["owner"], str(servers.team.organization_id))
        assert details == {**SERVER, "tls": "starttls", "username": "acme"}

    async def test_the_password_is_stored_encrypted(self, servers: MailServers) -> None:
        await servers.configure(**LOGIN)

        [row, sealed] = servers.team.world.rows("SELECT mail_servers::text, password_sealed FROM mail_servers")[0]
        assert LOGIN["password"] not in row
        assert LOGIN["password"].encode() not in bytes(sealed)

    async def test_invalid_settings_are_refused_with_the_field(
        self, servers: MailServers, subtests: pytest.Subtests
    ) -> None:
        for field, changes in (
            *(("host", {"host": ""}), ("host", {"host": "10.0.0.1"}), ("host", {"host": "a b"})),
            *(("host", {"host": "a" * 254}), ("host", {"host": "http://mail.example.com"})),
            *(("port", {"port": 0}), ("port", {"port": 65536}), ("tls", {"tls": "ssl"})),
            *(("from_name", {"from_name": ""}), ("from_name", {"from_name": "=?utf-8?q?a?="})),
            *(("from_name", {"from_name": "A\nBcc: b@example.com"}), ("from_email", {"from_email": "acme"})),
            *(("from_email", {"from_email": "ädä@example.com"}), ("from_email", {"from_email": "=?a?=@example.com"})),
            *(("tls", LOGIN | {"tls": "none"}), ("password", LOGIN | {"password": None})),
            *(("password", LOGIN | {"password": "ä"}), ("username", LOGIN | {"username": "a\nb"})),
            *(("username", {"password": "a password"}), ("password", LOGIN | {"password": ""})),
        ):
            with subtests.test(field=field, changes=changes):
                answer = await servers.request("PUT", body=SERVER | changes)

                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.invalid_fields == [field]
                assert_refused(await servers.request("GET"), 404, "NOT_FOUND")

    async def test_all_invalid_fields_are_named(self, servers: MailServers) -> None:
        body = SERVER | {"host": "", "from_name": "", "from_email": "", "password": "of no user"}

        answer = await servers.request("PUT", body=body)

        assert answer.invalid_fields == ["host", "from_name", "from_email", "username"]

    async def test_a_stored_password_stays_for_the_same_login_and_goes_to_no_other_server(
        self, servers: MailServers
    ) -> None:
        await servers.configure(**LOGIN)
        without_password = {name: value for name, value in LOGIN.items() if name != "password"}

        same = await servers.configure(**without_password, from_name="Acme & Sons")
        others = [
            await servers.request("PUT", body=SERVER | without_password | change)
            for change in ({"host": "mail.evil.example"}, {"port": 588}, {"tls": "tls"}, {"username": "other"})
        ]

        assert (same.json["has_password"], same.json["from_name"]) == (True, "Acme & Sons")
        assert [answer.invalid_fields for answer in others] == [["password"]] * 4

    async def test_a_login_that_is_left_out_is_removed(self, servers: MailServers) -> None:
        await servers.configure(**LOGIN)

        answer = await servers.configure()

        assert (answer.json["username"], answer.json["has_password"]) == (None, False)

    async def test_a_removed_server_is_gone_and_recorded(self, servers: MailServers) -> None:
        await servers.configure()

        assert (await servers.request("DELETE")).status == 204

        assert_refused(await servers.request("DELETE"), 404, "NOT_FOUND")
        assert [row[3] for row in servers.team.world.audit_entries("organization.smtp.removed")] == [
            {"host": "127.0.0.1"}
        ]

    async def test_another_tenant_neither_sees_nor_uses_it(
        self, servers: MailServers, world: World, office: PostOffice
    ) -> None:
        await servers.configure(port=office.port)
        globex = world.team("globex")
        globex.add("olga", "owner")

        shown = await globex.request("olga", "GET", "/smtp")
        await MailServers(globex).queue("ada@example.org")

        assert_refused(shown, 404, "NOT_FOUND")
        assert [message.to for message in await world.mails()] == ["ada@example.org"]


class TestTest:
    """POST /smtp/test."""

    async def test_the_answer_is_what_the_server_said(self, servers: MailServers, office: PostOffice) -> None:
        await servers.configure(port=office.port)

        answer = await servers.request("POST", "/test", body={"to": "ada@example.org"})

        assert answer.json == {"success": True, "message": "The mail server answered 250 OK"}
        assert [received.recipients for received in office.received] == [("ada@example.org",)]
        shown = await servers.show()
        assert shown["last_success_at"] == "2026-02-03T04:05:06Z"
        assert shown["last_tested_at"] == "2026-02-03T04:05:06Z"
        assert (shown["last_test_accepted"], shown["last_test_answer"]) == (True, "The mail server answered 250 OK")
        [(_, actor, _, details)] = servers.team.world.audit_entries("organization.smtp.tested")
        assert actor == servers.team.ids["owner"]
        assert details == {"host": "127.0.0.1", "to": "ada@example.org"}

    @pytest.mark.parametrize(
        ("command", "reply"), [("RCPT", "550 5.1.1 no such user"), ("MAIL", "451 busy"), ("DATA", "554 5.7.1 no")]
    )
    async def test_a_refusal_is_answered_too(
        self, servers: MailServers, office: PostOffice, command: str, reply: str
    ) -> None:
        office.answers[command] = reply
        await servers.configure(port=office.port)

        answer = await servers.request("POST", "/test", body={"to": "ada@example.org"})

        assert answer.json == {"success": False, "message": f"The mail server answered {reply}"}
        shown = await servers.show()
        assert (shown["status"], shown["last_success_at"]) == ("working", None)
        assert shown["last_tested_at"] == "2026-02-03T04:05:06Z"
        assert (shown["last_test_accepted"], shown["last_test_answer"]) == (False, answer.json["message"])

    async def test_a_test_is_kept_without_addresses_until_the_settings_change(
        self, servers: MailServers, office: PostOffice
    ) -> None:
        office.answers["RCPT"] = "554 5.7.1 <ada@example.org>: Relay access denied"
        await servers.configure(port=office.port)
        await servers.request("POST", "/test", body={"to": "ada@example.org"})

        tested = await servers.show()
        await servers.configure(port=office.port, from_name="Acme Inc.")
        changed = await servers.show()

        assert tested["last_test_answer"] == "The mail server answered 554 5.7.1 …: Relay access denied"
        names = ("last_tested_at", "last_test_accepted", "last_test_answer")
        assert [changed[name] for name in names] == [None, None, None]

    async def test_without_a_server_or_an_address_it_is_refused(self, servers: MailServers) -> None:
        unset = await servers.request("POST", "/test", body={"to": "ada@example.org"})
        invalid = await servers.request("POST", "/test", body={"to": "ada"})

        assert_refused(unset, 404, "NOT_FOUND")
        assert invalid.invalid_fields == ["to"]

    async def test_tests_are_limited(self, servers: MailServers, world: World, office: PostOffice) -> None:
        await servers.configure(port=office.port)
        client, token = serving_with_rate_limits(world.installation), await servers.team.token("owner")

        answers = [
            await client.post(f"{servers.team.path}/smtp/test", token=token, body={"to": f"{number}@example.org"})
            for number in range(21)
        ]

        assert [answer.status for answer in answers] == [200] * 20 + [429]
        assert len(office.received) == 20


class TestRouting:
    """Which mails leave through the server of their organization."""

    def test_no_mail_with_an_account_s_secret_leaves_by_it(self) -> None:
        def text(template: MailTemplate) -> str:
            return Path(TEMPLATES_FOLDER / f"{template}.html").read_text()

        assert [
            one for one in BY_ORGANIZATION if any(shows(text(one), word) for word in ("token", "proof", "code"))
        ] == []
        assert MailTemplate.MAIL_SERVER_FAILING not in BY_ORGANIZATION

    async def test_mail_of_the_organization_s_context_leaves_by_it(self, seller: Seller, office: PostOffice) -> None:
        team = seller.world.team("second")
        team = type(team)(seller.world, seller.organization_id, "acme")
        team.add("olga", "admin")
        await team.request("olga", "PUT", "/smtp", body=SERVER | {"port": office.port})
        await seller.sell()

        await seller.report("customer.subscription.trial_will_end", seller.subscription("trialing"))
        await MailServers(team).deliver()

        [received] = office.received
        assert received.recipients == ("buyer@example.com",)
        assert received.message["From"] == "Acme <post@acme.example>"
        assert await seller.world.mails() == []

    async def test_links_to_sign_in_leave_by_the_platform_s_own(
        self, servers: MailServers, world: World, office: PostOffice
    ) -> None:
        await servers.configure(port=office.port)

        body = {"email": "member@example.com", "org_slug": "acme"}
        await world.client.post("/api/auth/magic-link/request", body=body)

        assert await servers.deliver() == 0
        assert [message.template for message in await world.mails()] == [MailTemplate.MAGIC_LINK]

    async def test_what_waits_when_a_server_is_set_leaves_by_it(
        self, servers: MailServers, world: World, office: PostOffice
    ) -> None:
        await servers.queue("ada@example.org")

        await servers.configure(port=office.port)
        await servers.deliver()

        assert await world.mails() == []
        assert [received.recipients for received in office.received] == [("ada@example.org",)]

    async def test_what_waits_when_it_is_removed_leaves_by_the_platform_s_own(
        self, servers: MailServers, world: World
    ) -> None:
        await servers.configure()
        await servers.queue("ada@example.org")
        before = await world.mails()

        await servers.request("DELETE")

        assert before == []
        assert [message.to for message in await world.mails()] == ["ada@example.org"]

    async def test_a_mail_queued_while_the_server_is_removed_is_never_left_behind(self, servers: MailServers) -> None:
        for _ in range(5):
            await servers.configure()

            async def queue() -> Any:
                await servers.queue("ada@example.org")
                return await servers.request("GET")

            answers = await at_once(lambda: servers.request("DELETE"), queue)

            assert statuses_of(answers)[0] in {200, 204}
            assert {state for state, _ in servers.states().values()} == {"queued"}

    async def test_mail_of_an_organization_that_is_not_active_waits(
        self, servers: MailServers, world: World, office: PostOffice
    ) -> None:
        await servers.configure(port=office.port)
        await servers.queue("ada@example.org")
        world.set_organization_status(servers.team.organization_id, "suspended")

        leased = await servers.deliver()
        world.set_organization_status(servers.team.organization_id, "active")

        assert leased == 0
        assert await servers.deliver() == 1
        assert servers.states() == {"ada@example.org": ("sent", 1)}
