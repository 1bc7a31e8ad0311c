"""The link that undoes a change of address: when it is refused, how long it is valid, and concurrent requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial

import pytest
import trio

from adapters.postgres.driver.connection import Connection
from adapters.postgres.unit_of_work import PostgresUnitOfWork, Tools
from core.accounts import email_change_undo, one_time_tokens
from core.accounts.one_time_tokens import TokenPurpose
from core.sessions.origins import BACKGROUND
from tests.application import Answer
from tests.authenticators import Authenticator
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.waiting import waiting_for_a_lock
from tests.world.builder import EMAIL, PASSWORD
from tests.world.victim import NEW, NEW_PASSWORD, Victim
from tests.world.world import World

THIRD = "eve@other.example"
MINUTE = timedelta(minutes=1)
ROUNDS = 50
LONG_AGO = "2026-01-01T00:00:00+00:00"


class TestAnAccountThatGoverns:
    """A change is not undone when the account has become an owner since."""

    async def assert_refused(self, victim: Victim) -> None:
        """Assert that the undo is refused with what to do next, and changes nothing."""
        answer = await victim.undo()

        assert answer.status == 400
        assert "ask the operator of this service for help" in answer.text
        assert victim.world.has_user(NEW)
        assert (await victim.world.client.get("/api/user", token=victim.token)).status == 200

    async def test_a_platform_owner_since_the_change_is_left_alone(self, victim: Victim, world: World) -> None:
        await victim.take_over()
        world.connection.execute("UPDATE users SET is_platform_owner = true")

        await self.assert_refused(victim)

    async def test_a_member_who_became_the_owner_since_is_left_alone_with_all_memberships(
        self, victim: Victim, world: World
    ) -> None:
        acme = world.organization()
        world.member(acme, victim.app.id)
        await victim.take_over()
        world.connection.execute("UPDATE memberships SET role = 'owner'")
        world.member(world.organization("bolt"), victim.app.id)

        await self.assert_refused(victim)
        assert len(world.rows("SELECT FROM memberships")) == 2

    async def test_who_governed_before_the_change_gets_the_account_back_with_everything(
        self, victim: Victim, world: World
    ) -> None:
        world.member(world.organization(), victim.app.id, "owner")
        world.connection.execute("UPDATE users SET is_platform_owner = true")
        await victim.take_over()

        assert (await victim.recover()).status == 200

        assert world.rows("SELECT role FROM memberships") == [("owner",)]
        assert world.value("SELECT is_platform_owner FROM users") is True


class TestTheLink:
    """The link to the old address: a page with a button, once and for a week."""

    async def test_opening_its_page_changes_nothing(self, victim: Victim) -> None:
        await victim.take_over()
        path = f"/auth/undo-email-change?token={victim.undo_token}"

        client = victim.world.client
        answers = [await client.get(path), await client.request("HEAD", path), await client.get(path)]

        assert [answer.status for answer in answers] == [200, 200, 200]
        assert "3 February 2026, 04:05 UTC" in answers[-1].text
        assert victim.world.has_user(NEW)

    async def test_the_notice_does_not_disclose_the_new_address(self, victim: Victim) -> None:
        await victim.ask()
        [link] = [one.values["token"] for one in await victim.world.mails() if one.to == NEW]
        await victim.submit("/auth/verify-email", link)

        notice = await victim.world.mail()

        assert (notice.to, notice.template) == (EMAIL, "email_changed")
        assert NEW not in victim.world.installation.mail_renderer.render(notice).text

    async def test_it_restores_the_address_and_ends_sessions_and_the_password(self, victim: Victim) -> None:
        await victim.take_over()

        assert (await victim.undo()).status == 200

        assert victim.world.has_user(EMAIL)
        assert not victim.world.has_user(NEW)
        assert (await victim.world.client.get("/api/user", token=victim.token)).status == 401
        assert (await victim.world.log_in(EMAIL, PASSWORD)).status == 401

    async def test_it_leads_to_a_new_password(self, victim: Victim) -> None:
        await victim.take_over()

        assert (await victim.recover()).status == 200

    async def test_links_that_were_mailed_to_the_new_address_end(self, victim: Victim) -> None:
        await victim.take_over()
        await victim.world.client.post("/api/auth/forgot-password", body={"email": NEW})
        body = {"token": (await victim.world.mail()).values["token"], "new_password": NEW_PASSWORD}

        await victim.undo()

        assert (await victim.world.client.post("/api/auth/reset-password", body=body)).status == 400

    async def test_it_is_valid_once(self, victim: Victim) -> None:
        await victim.take_over()
        await victim.undo()

        again = await victim.undo()

        assert again.status == 400
        assert "used already" in again.text

    async def test_it_is_valid_for_seven_days(self, victim: Victim, clock: SettableClock) -> None:
        await victim.take_over()

        clock.advance(timedelta(days=7))
        opened = await victim.world.client.get(f"/auth/undo-email-change?token={victim.undo_token}")

        assert (opened.status, (await victim.undo()).status) == (400, 400)
        assert "expired" in opened.text

    async def test_the_first_address_of_a_chain_can_undo_all_of_it(self, victim: Victim, clock: SettableClock) -> None:
        await victim.take_over()
        clock.advance(MINUTE)
        later = (await victim.change(THIRD))["email_changed"]

        assert (await victim.undo()).status == 200

        assert victim.world.has_user(EMAIL)
        victim.undo_token = later
        assert (await victim.undo()).status == 400

    async def test_an_undo_by_a_later_address_of_a_chain_leaves_the_first_ones_link_valid(
        self, victim: Victim, clock: SettableClock
    ) -> None:
        await victim.take_over()
        first = victim.undo_token
        clock.advance(MINUTE)
        victim.undo_token = (await victim.change(THIRD))["email_changed"]

        assert (await victim.undo()).status == 200
        assert victim.world.has_user(NEW)
        victim.undo_token = first
        assert (await victim.undo()).status == 200
        assert victim.world.has_user(EMAIL)

    async def test_an_account_that_took_the_old_address_without_proving_it_is_removed(self, victim: Victim) -> None:
        await victim.take_over()
        assert (await victim.world.register(EMAIL, "a password of a stranger")).status == 200

        assert (await victim.undo()).status == 200

        assert victim.world.user_id(EMAIL) == victim.app.id
        assert (await victim.world.log_in(EMAIL, "a password of a stranger")).status == 401

    async def test_an_old_address_that_another_account_has_proved_is_not_restored(self, victim: Victim) -> None:
        await victim.take_over()
        await victim.world.register_and_verify(EMAIL, "another person's password")

        answer = await victim.undo()

        assert answer.status == 400
        assert "belongs to another account now" in answer.text
        assert victim.world.has_user(NEW)

    async def test_the_change_of_a_deactivated_account_is_not_undone(self, victim: Victim) -> None:
        await victim.take_over()
        victim.world.deactivate(NEW)

        assert (await victim.undo()).status == 400


class TestConcurrentUndo:
    """An intruder's action during the undo either commits before it and is undone, or is refused."""

    async def test_of_two_concurrent_uses_of_an_undo_link_exactly_one_succeeds(self, victim: Victim) -> None:
        database = victim.world.installation.database
        for _ in range(ROUNDS):
            issue = partial(one_time_tokens.issue, memberships={}, is_platform_owner=False, signed_in_at=LONG_AGO)
            token = await database.transact(issue, TokenPurpose.UNDO_EMAIL_CHANGE, victim.app.id, EMAIL)
            victim.undo_token = token.reveal()

            assert statuses_of(await at_once(victim.undo, victim.undo)) == [200, 400]

    @pytest.mark.parametrize("action", ["address", "password", "passkey", "factor", "codes", "organization"])
    async def test_an_intruders_action_that_commits_after_the_undo_is_refused(
        self, victim: Victim, connection: Connection, tools: Tools, action: str
    ) -> None:
        commit = await _prepare(victim, action)
        await victim.take_over()
        statuses: list[int] = []

        async def try_to_commit() -> None:
            statuses.append((await commit()).status)

        async with trio.open_nursery() as nursery:
            with connection.transaction():
                email_change_undo.undo(PostgresUnitOfWork(connection, BACKGROUND, tools), victim.undo_token)
                nursery.start_soon(try_to_commit)
                await waiting_for_a_lock(connection)

        assert statuses == [401]
        assert victim.world.has_user(EMAIL)
        # An app that is older than the session of the intruder stays.
        expected = [(None, action == "codes")]
        assert connection.execute("SELECT password_hash, mfa_enabled_at IS NOT NULL FROM users").fetchall() == expected
        assert connection.execute("SELECT count(*) FROM passkeys").fetchone() == (0,)


async def _prepare(victim: Victim, action: str) -> Callable[[], Awaitable[Answer]]:
    """Do all but the last step of an intruder's action; return the last step."""
    match action:
        case "address":
            return partial(victim.ask, THIRD)
        case "password":
            victim.world.remove_password()
            return partial(
                victim.world.client.post,
                "/api/user/set-password",
                token=victim.token,
                body={"new_password": NEW_PASSWORD},
            )
        case "passkey":
            started = await victim.keyring.start_registration()
            credential = Authenticator().create(started["options"])
            return partial(victim.keyring.finish_registration, started, credential)
        case "organization":
            body = {"slug": "acme", "name": "Acme"}
            return partial(victim.world.client.post, "/api/organizations", token=victim.token, body=body)
        case "factor":
            await victim.app.set_up()
            return partial(victim.app.mfa, "POST", "/verify", {"code": victim.app.code()})
        case _:
            await victim.app.set_up()
            connection = victim.world.connection
            connection.execute("UPDATE totp_secrets SET enabled_at = created_at - interval '1 day'")
            return partial(victim.app.mfa, "POST", "/backup-codes/regenerate")
