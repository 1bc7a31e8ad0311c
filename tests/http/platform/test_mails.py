"""The outbox as owners and support of the platform see it: states without contents, and sending a mail again."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from core.mail import mail
from core.mail.mail import MailTemplate
from core.platform import mails
from core.platform.mails import ListedMailState, MailContentGone, MailUnknown, OutboxFilter
from entrypoints.installation import Installation
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.shown_text import shows
from tests.world.builder import EMAIL
from tests.world.platform import PLATFORM_OWNER
from tests.world.support import SupportDesk
from tests.world.world import World, assert_refused

PATH = "/api/platform/mails"
UNKNOWN = "0191d3c1-0000-7000-8000-00000000000f"
SECRET = "s3cret-link"
NO_MAILBOX = "550 There is no such mailbox."


async def send(world: World, to: str = EMAIL, template: MailTemplate = MailTemplate.WELCOME, **more: object) -> UUID:
    """Queue a mail, and return its id."""
    values = {"organization": "Acme", "token": SECRET}
    await world.installation.database.transact(mail.send, to, template, **(values | more))  # pyright: ignore[reportArgumentType]
    return world.value("SELECT id FROM mails ORDER BY id DESC LIMIT 1")


async def fail(world: World, *mail_ids: UUID) -> None:
    """Let a courier fail with the mails that are due, for good."""
    claimed = await world.installation.database.transact(mail.claim, 100)
    for one in claimed:
        if one.id in mail_ids:
            await world.installation.database.transact(mail.record_failed, one, NO_MAILBOX)


class TestList:
    """Listing mails."""

    async def test_mails_are_listed_by_state_and_recipient_without_their_contents(
        self, desk: SupportDesk, world: World, clock: SettableClock
    ) -> None:
        world.connection.execute("DELETE FROM mails")
        failed = await send(world)
        await fail(world, failed)
        clock.advance(timedelta(minutes=1))
        waiting = await send(world, "eva@example.com", MailTemplate.MAGIC_LINK)
        await world.installation.database.transact(
            mail.send, "gone@example.com", MailTemplate.WELCOME, is_discarded=True
        )

        everything = await desk.request("GET", PATH)

        assert everything.json["total"] == 2
        assert [one["id"] for one in everything.json["mails"]] == [str(waiting), str(failed)]
        assert everything.json["mails"][1] == {
            "id": str(failed),
            "recipient": EMAIL,
            "template": "welcome",
            "state": "failed",
            "attempts": 1,
            "due_at": "2026-02-03T04:05:06Z",
            "last_error": NO_MAILBOX,
            "organization_id": None,
            "created_at": "2026-02-03T04:05:06Z",
        }
        assert not shows(everything.text, SECRET)
        for query, expected in (
            ("state=failed", [failed]),
            ("state=queued", [waiting]),
            ("state=sent", []),
            ("state=kept", []),
            ("state=routed", []),
            ("email=ADA@example.com", [failed]),
            ("email=ADA@example.com&state=queued", []),
            ("email=", []),
            ("email=nothing", []),
            ("limit=1&page=2", [failed]),
        ):
            found = await desk.request("GET", f"{PATH}?{query}")
            assert [one["id"] for one in found.json["mails"]] == [str(one) for one in expected], query

    async def test_support_sees_no_mail_to_a_platform_owner(self, desk: SupportDesk, world: World) -> None:
        world.connection.execute("DELETE FROM mails")
        to_owner = await send(world, PLATFORM_OWNER)

        for query in ("", "?state=queued", f"?email={PLATFORM_OWNER}"):
            assert (await desk.request("GET", f"{PATH}{query}")).json == {"mails": [], "total": 0}
            by_owner = (await desk.platform.request("GET", f"{PATH}{query}")).json
            assert [one["id"] for one in by_owner["mails"]] == [str(to_owner)]

    async def test_an_invalid_query_is_refused(self, desk: SupportDesk, subtests: pytest.Subtests) -> None:
        for query in ("state=discarded", "state=x", "page=0", "limit=0", f"email={'a' * 255}"):
            with subtests.test(query=query):
                assert_refused(await desk.request("GET", f"{PATH}?{query}"), 400, "BAD_REQUEST")


class TestRetry:
    """Sending a mail again."""

    async def test_a_mail_that_has_failed_is_sent_again_with_what_it_says(
        self, desk: SupportDesk, world: World
    ) -> None:
        mail_id = await send(world)
        await fail(world, mail_id)

        answer = await desk.request("POST", f"{PATH}/{mail_id}/retry")

        assert answer.status == 200, answer.text
        assert (answer.json["mail"]["state"], answer.json["mail"]["attempts"]) == ("queued", 0)
        claimed = await world.installation.database.transact(mail.claim, 100)
        assert [one.message.values["organization"] for one in claimed if one.id == mail_id] == ["Acme"]
        assert world.platform_audit_entries("mail.retried") == [(desk.person.id, str(mail_id), {})]

    async def test_a_mail_that_waits_for_its_next_attempt_is_due_at_once(
        self, desk: SupportDesk, world: World, clock: SettableClock
    ) -> None:
        mail_id = await send(world)
        [claimed] = [one for one in await world.installation.database.transact(mail.claim, 100) if one.id == mail_id]
        await world.installation.database.transact(mail.record_deferred, claimed, "busy")

        answer = await desk.request("POST", f"{PATH}/{mail_id}/retry")

        assert answer.json["mail"] | {"state": "queued", "attempts": 1, "last_error": "busy"} == answer.json["mail"]
        assert answer.json["mail"]["due_at"] == clock.now.isoformat().replace("+00:00", "Z")

    async def test_a_mail_of_an_organization_leaves_by_its_own_server_again(
        self, desk: SupportDesk, world: World
    ) -> None:
        acme = world.organization("acme")
        world.connection.execute(
            """
            INSERT INTO mail_servers (organization_id, host, port, tls, from_name, from_email, created_at, updated_at)
            VALUES (%s, 'mail.example.com', 587, 'starttls', 'Acme', 'post@example.com', now(), now())
            """,
            (acme,),
        )
        mail_id = await send(world, template=MailTemplate.TRIAL_ENDING, organization_id=acme)
        world.connection.execute("UPDATE mails SET state = 'failed' WHERE id = %s", (mail_id,))

        answer = await desk.request("POST", f"{PATH}/{mail_id}/retry")

        assert (answer.json["mail"]["state"], answer.json["mail"]["organization_id"]) == ("routed", str(acme))
        assert world.platform_audit_entries("mail.retried", "organization_id") == [(acme,)]

    async def test_a_mail_whose_link_has_expired_is_not_sent_again(
        self, desk: SupportDesk, world: World, clock: SettableClock
    ) -> None:
        mail_id = await send(world, template=MailTemplate.MAGIC_LINK)
        await fail(world, mail_id)
        clock.advance(timedelta(minutes=14))
        world.connection.execute("UPDATE sessions SET refreshed_at = %s", (clock.now,))
        desk.person.next_step()
        await desk.person.sign_in_with_second_factor()
        assert (await desk.request("POST", f"{PATH}/{mail_id}/retry")).status == 200
        world.connection.execute("UPDATE mails SET state = 'failed'")
        clock.advance(timedelta(minutes=1))

        answer = await desk.request("POST", f"{PATH}/{mail_id}/retry")

        assert_refused(answer, 409, "CONFLICT")
        assert "request a new" in answer.json["error"]

    async def test_what_was_sent_or_is_being_sent_or_was_erased_is_not_sent_again(
        self, desk: SupportDesk, world: World, subtests: pytest.Subtests
    ) -> None:
        mail_id = await send(world)
        for change in (
            "state = 'sent'",
            "leased_until = now() + interval '1 day'",
            "state = 'failed', values_sealed = NULL, leased_until = NULL",
        ):
            with subtests.test(change=change):
                world.connection.execute("UPDATE mails SET state = 'queued'")
                world.connection.execute(f"UPDATE mails SET {change}")
                assert_refused(await desk.request("POST", f"{PATH}/{mail_id}/retry"), 409, "CONFLICT")
        assert world.platform_audit_entries("mail.retried") == []

    async def test_a_mail_that_is_kept_is_refused_with_what_to_do(self, desk: SupportDesk, world: World) -> None:
        mail_id = await send(world)
        world.connection.execute("UPDATE mails SET state = 'kept'")

        answer = await desk.request("POST", f"{PATH}/{mail_id}/retry")

        assert_refused(answer, 409, "CONFLICT")
        assert "never sent" in answer.json["error"]
        assert "request a new mail" in answer.json["error"]

    async def test_an_unknown_mail_and_one_to_an_owner_are_not_found(self, desk: SupportDesk, world: World) -> None:
        to_owner = await send(world, PLATFORM_OWNER)
        await world.installation.database.transact(mail.send, EMAIL, MailTemplate.WELCOME, is_discarded=True)
        discarded = world.value("SELECT id FROM mails WHERE state = 'discarded'")

        for named in (UNKNOWN, "x", to_owner, discarded):
            assert_refused(await desk.request("POST", f"{PATH}/{named}/retry"), 404, "NOT_FOUND")
        assert (await desk.platform.request("POST", f"{PATH}/{to_owner}/retry")).status == 200

    async def test_a_mail_that_has_failed_is_queued_once_by_two_at_once(self, desk: SupportDesk, world: World) -> None:
        mail_id = await send(world)
        await fail(world, mail_id)

        answers = await at_once(*[lambda: desk.request("POST", f"{PATH}/{mail_id}/retry")] * 2)

        # The second finds it waiting, and makes it due once more.
        assert statuses_of(answers) == [200, 200]
        claimed = await world.installation.database.transact(mail.claim, 100)
        assert [one.attempts for one in claimed if one.id == mail_id] == [1]


async def test_an_operator_lists_and_retries_by_command(world: World, installation: Installation) -> None:
    mail_id = await send(world, PLATFORM_OWNER)
    await fail(world, mail_id)

    page = await installation.database.read(mails.find, OutboxFilter(state=ListedMailState.FAILED), page=1, limit=10)
    again = await installation.database.transact(mails.send_again, mail_id)

    assert [one.id for one in page.mails] == [mail_id]
    assert again.state == "queued"
    assert [entry[:2] for entry in world.platform_audit_entries("mail.retried")] == [(None, str(mail_id))]
    with pytest.raises(MailUnknown):
        await installation.database.transact(mails.send_again, world.user())
    world.connection.execute("UPDATE mails SET state = 'failed', values_sealed = NULL")
    with pytest.raises(MailContentGone):
        await installation.database.transact(mails.send_again, mail_id)
