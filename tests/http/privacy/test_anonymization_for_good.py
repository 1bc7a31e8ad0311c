"""What an anonymized user can no longer do, from the moment of the anonymization on."""

from __future__ import annotations

import psycopg
import pytest
import trio

from adapters.postgres.unit_of_work import PostgresUnitOfWork, Tools
from core.privacy import anonymization
from core.sessions.origins import BACKGROUND
from tests.application import Answer
from tests.http.privacy.anonymizing import anonymize
from tests.waiting import waiting_for_a_lock
from tests.world.builder import EMAIL, PASSWORD
from tests.world.passkeys import Keyring
from tests.world.platform import Platform
from tests.world.world import World

BOB = "bob@example.com"


class TestPermanence:
    """The account cannot be used again."""

    async def test_no_sign_in_or_link_works_for_the_old_address_or_the_placeholder(
        self, platform: Platform, world: World, keyring: Keyring
    ) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()
        tokens = await world.sign_in()
        ada = world.value("SELECT id FROM users WHERE email = %s", EMAIL)
        started = await keyring.started()

        await anonymize(platform, ada)

        placeholder = world.value("SELECT email FROM users WHERE id = %s", ada)
        assert (await world.list_sessions(tokens)).status == 401
        assert (await world.refresh(tokens.refresh_token)).status == 401
        assert (await keyring.finish(started, authenticator.get(started["options"]))).status == 401
        for email in (EMAIL, placeholder):
            assert (await world.log_in(email)).status == 401
            for path in ("/api/auth/forgot-password", "/api/auth/magic-link/request", "/api/auth/resend-verification"):
                answer = await world.client.post(path, body={"email": email}, address=next(world.addresses))
                assert answer.status == 200
        assert world.rows("SELECT FROM one_time_tokens WHERE user_id = %s", ada) == []
        assert world.rows("SELECT FROM mails WHERE state <> 'discarded'") == []

    async def test_a_link_mailed_before_the_anonymization_is_deleted(self, platform: Platform, world: World) -> None:
        ada = world.user()
        await world.client.post("/api/auth/magic-link/request", body={"email": EMAIL}, address=next(world.addresses))
        assert world.rows("SELECT FROM one_time_tokens WHERE user_id = %s", ada) != []

        await anonymize(platform, ada)

        assert world.rows("SELECT FROM one_time_tokens WHERE user_id = %s", ada) == []
        assert world.rows("SELECT FROM mails WHERE recipient = %s", EMAIL) == []

    async def test_the_address_can_be_registered_again_as_a_new_account(self, platform: Platform, world: World) -> None:
        ada = world.user()
        await anonymize(platform, ada)

        answer = await world.client.post(
            "/api/auth/register", body={"email": EMAIL, "password": PASSWORD}, address=next(world.addresses)
        )

        assert answer.status == 200, answer.text
        assert world.value("SELECT id FROM users WHERE email = %s", EMAIL) != ada

    async def test_the_schema_prevents_a_reactivation(
        self, platform: Platform, world: World, subtests: pytest.Subtests
    ) -> None:
        ada = world.user()
        await anonymize(platform, ada)

        for change in (
            "deactivated_at = NULL",
            "password_hash = 'hash'",
            "email_verified_at = now()",
            "mfa_enabled_at = now()",
            "is_platform_owner = true",
        ):
            with subtests.test(change=change), pytest.raises(psycopg.errors.CheckViolation):
                world.connection.execute(f"UPDATE users SET {change} WHERE id = %s".encode(), (ada,))


class TestConcurrentRequests:
    """A request during the anonymization is treated like one for an unknown address and leaves no personal data."""

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
    async def test_a_request_during_the_anonymization_records_no_personal_data(
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

        async def send_request() -> None:
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
                nursery.start_soon(send_request)
                await waiting_for_a_lock(world.connection)

        assert [answer.status for answer in answers] == [401 if "login" in path else 200]
        assert self.traces(world) == []

    async def test_an_anonymization_and_an_answer_to_an_invitation_do_not_deadlock(
        self, platform: Platform, world: World
    ) -> None:
        ada, acme = world.user(), world.organization()
        world.member(acme, world.user(BOB), "owner")
        bob = await world.sign_in(BOB)
        invitation = {"email": EMAIL, "role": "member"}
        invited = await platform.request("POST", "/api/organizations/acme/invitations", invitation, by=bob)
        assert invited.status == 200, invited.text
        answers: list[Answer] = []

        async def request_anonymization() -> None:
            answers.append(await anonymize(platform, ada))

        async with trio.open_nursery() as nursery:
            with world.connection.transaction():
                # Acceptance locks in the same order: first the invitation, then the account.
                world.connection.execute("UPDATE invitations SET status = 'accepted'")
                nursery.start_soon(request_anonymization)
                await waiting_for_a_lock(world.connection)
                world.connection.execute("SELECT FROM users WHERE id = %s FOR NO KEY UPDATE NOWAIT", (ada,))

        assert [answer.status for answer in answers] == [200]

    def traces(self, world: World) -> list[tuple[str, str]]:
        """Return the rows that contain the address, network or user agent; counted failures expire by themselves."""
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
