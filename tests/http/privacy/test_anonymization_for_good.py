"""What an anonymized user can no longer do, from the moment of the anonymization on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
import trio

from adapters.postgres.unit_of_work import PostgresUnitOfWork
from core.privacy import anonymization
from core.sessions.callers import BACKGROUND
from tests.http.privacy.anonymizing import forget
from tests.waiting import waiting_for_a_lock
from tests.world.builder import EMAIL, PASSWORD

if TYPE_CHECKING:
    from adapters.postgres.unit_of_work import Tools
    from tests.application import Answer
    from tests.world.passkeys import Keyring
    from tests.world.platform import Platform
    from tests.world.world import World


BOB = "bob@example.com"


class TestForGood:
    """The account does not come back."""

    async def test_no_door_opens_to_the_old_address_nor_to_the_new_one(
        self, platform: Platform, world: World, keyring: Keyring
    ) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()
        tokens = await world.sign_in()
        ada = world.value("SELECT id FROM users WHERE email = %s", EMAIL)
        asked = await keyring.started()

        await forget(platform, ada)

        placeholder = world.value("SELECT email FROM users WHERE id = %s", ada)
        assert (await world.list_sessions(tokens)).status == 401
        assert (await world.refresh(tokens.refresh_token)).status == 401
        assert (await keyring.finish(asked, authenticator.get(asked["options"]))).status == 401
        for email in (EMAIL, placeholder):
            assert (await world.log_in(email)).status == 401
            for path in ("/api/auth/forgot-password", "/api/auth/magic-link/request", "/api/auth/resend-verification"):
                answer = await world.client.post(path, body={"email": email}, address=next(world.addresses))
                assert answer.status == 200
        assert world.rows("SELECT FROM one_time_tokens WHERE user_id = %s", ada) == []
        assert world.rows("SELECT FROM mails WHERE state <> 'discarded'") == []

    async def test_a_link_that_was_mailed_before_opens_nothing(self, platform: Platform, world: World) -> None:
        ada = world.user()
        await world.client.post("/api/auth/magic-link/request", body={"email": EMAIL}, address=next(world.addresses))
        assert world.rows("SELECT FROM one_time_tokens WHERE user_id = %s", ada) != []

        await forget(platform, ada)

        assert world.rows("SELECT FROM one_time_tokens WHERE user_id = %s", ada) == []
        assert world.rows("SELECT FROM mails WHERE recipient = %s", EMAIL) == []

    async def test_the_address_is_free_and_whoever_registers_it_is_somebody_else(
        self, platform: Platform, world: World
    ) -> None:
        ada = world.user()
        await forget(platform, ada)

        answer = await world.client.post(
            "/api/auth/register", body={"email": EMAIL, "password": PASSWORD}, address=next(world.addresses)
        )

        assert answer.status == 200, answer.text
        assert world.value("SELECT id FROM users WHERE email = %s", EMAIL) != ada

    @pytest.mark.parametrize(
        "change",
        [
            "deactivated_at = NULL",
            "password_hash = 'hash'",
            "email_verified_at = now()",
            "mfa_enabled_at = now()",
            "is_platform_owner = true",
        ],
    )
    async def test_the_schema_itself_keeps_it_shut(self, platform: Platform, world: World, change: str) -> None:
        ada = world.user()
        await forget(platform, ada)

        with pytest.raises(psycopg.errors.CheckViolation):
            world.connection.execute(f"UPDATE users SET {change} WHERE id = %s".encode(), (ada,))


class TestAtThisMoment:
    """Whoever knocks while they are forgotten is nobody, and leaves no more behind than a stranger."""

    NETWORK = "203.0.113."
    USER_AGENT = "Quixotic/9.9"

    @pytest.mark.parametrize(
        ("path", "body", "is_verified"),
        [
            ("/api/auth/login", {"password": "a wrong password"}, True),
            ("/api/auth/login", {"password": PASSWORD}, True),
            ("/api/auth/forgot-password", {}, True),
            ("/api/auth/magic-link/request", {}, True),
            ("/api/auth/resend-verification", {}, False),
        ],
    )
    async def test_nothing_is_written_about_them_any_more(
        self,
        platform: Platform,
        world: World,
        tools: Tools,
        path: str,
        body: dict[str, str],
        is_verified: bool,
    ) -> None:
        ada = world.user(is_verified=is_verified)
        session_id = world.value("SELECT id FROM sessions WHERE user_id = %s", platform.owner_id)
        answers: list[Answer] = []

        async def knock() -> None:
            answers.append(
                await world.client.post(
                    path,
                    body={"email": EMAIL, **body},
                    address=f"{self.NETWORK}7",
                    headers={"User-Agent": self.USER_AGENT},
                )
            )

        async with trio.open_nursery() as nursery:
            with world.connection.transaction():
                uow = PostgresUnitOfWork(world.connection, BACKGROUND, tools, session_id=session_id)
                anonymization.anonymize(uow, ada)
                nursery.start_soon(knock)
                await waiting_for_a_lock(world.connection)

        assert [answer.status for answer in answers] == [401 if "login" in path else 200]
        assert self.traces(world) == []

    async def test_while_an_invitation_is_answered_nobody_waits_for_each_other(
        self, platform: Platform, world: World
    ) -> None:
        ada, acme = world.user(), world.organization()
        world.member(acme, world.user(BOB), "owner")
        bob = await world.sign_in(BOB)
        invitation = {"email": EMAIL, "role": "member"}
        invited = await platform.request("POST", "/api/organizations/acme/invitations", invitation, by=bob)
        assert invited.status == 200, invited.text
        answers: list[Answer] = []

        async def be_forgotten() -> None:
            answers.append(await forget(platform, ada))

        async with trio.open_nursery() as nursery:
            with world.connection.transaction():
                # As accepting does: first the invitation, then the account.
                world.connection.execute("UPDATE invitations SET status = 'accepted'")
                nursery.start_soon(be_forgotten)
                await waiting_for_a_lock(world.connection)
                world.connection.execute("SELECT FROM users WHERE id = %s FOR NO KEY UPDATE NOWAIT", (ada,))

        assert [answer.status for answer in answers] == [200]

    def traces(self, world: World) -> list[tuple[str, str]]:
        """List the rows with the address, the network or the program; failures that are counted end by themselves."""
        tables = world.rows(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
            " AND relname <> 'sign_in_failures'"
        )
        words = [f"%{word}%" for word in (EMAIL, self.NETWORK, self.USER_AGENT)]
        return [
            (table, row)
            for (table,) in tables
            for (row,) in world.rows(f"SELECT t::text FROM {table} AS t WHERE t::text ILIKE ANY (%s)", words)
        ]
