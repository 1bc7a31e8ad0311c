"""Forgetting somebody for good: who may, and what it does (identity 3 and 4.7, decisions 5.9)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import psycopg
import pytest
import trio

from adapters.postgres.unit_of_work import PostgresUnitOfWork
from core.privacy import anonymization
from core.sessions.callers import BACKGROUND
from tests.passkeys import Keyring, keyring
from tests.platform import OWNER, Platform, platform
from tests.second_factors import at_once
from tests.sign_ins import EMAIL, PASSWORD, Door, Entered, assert_refused, door
from tests.waiting import waiting_for_a_lock

if TYPE_CHECKING:
    from uuid import UUID

    from adapters.postgres.unit_of_work import Tools
    from tests.application import Answer

__all__ = ["door", "keyring", "platform"]

UNKNOWN = "0191d3c1-0000-7000-8000-00000000000f"
BOB = "bob@example.com"
PLACEHOLDER = re.compile(r"anonymized-20260203040506\d{6}@deleted\.local")


async def forget(platform: Platform, user_id: UUID | str, *, by: Entered | None = None) -> Answer:
    return await platform.ask("DELETE", f"/api/privacy/forget/{user_id}", by=by)


def is_forgotten(door: Door, user_id: UUID) -> bool:
    return door.value("SELECT anonymized_at IS NOT NULL FROM users WHERE id = %s", user_id)


class TestWhoMay:
    """Owners of everything that the person belongs to, and platform owners."""

    async def test_the_owner_of_every_organization_of_the_person_may(self, platform: Platform, door: Door) -> None:
        ada, bob = door.account(), door.account(BOB)
        for slug in ("acme", "bolt"):
            organization_id = door.organization(slug)
            door.member(organization_id, ada)
            door.member(organization_id, bob, "owner")

        answer = await forget(platform, ada, by=await door.enter(BOB))

        assert (answer.status, answer.json["success"], answer.json["user_id"]) == (200, True, str(ada))
        assert set(answer.json) == {"success", "message", "user_id"}
        assert is_forgotten(door, ada)

    @pytest.mark.parametrize("role_elsewhere", ["admin", "member", None])
    async def test_who_does_not_own_all_of_them_may_not(
        self, platform: Platform, door: Door, role_elsewhere: str | None
    ) -> None:
        ada, bob = door.account(), door.account(BOB)
        acme, bolt = door.organization("acme"), door.organization("bolt")
        door.member(acme, ada)
        door.member(acme, bob, "owner")
        door.member(bolt, ada)
        if role_elsewhere is not None:
            door.member(bolt, bob, role_elsewhere)

        assert_refused(await forget(platform, ada, by=await door.enter(BOB)), 403, "FORBIDDEN")
        assert not is_forgotten(door, ada)

    @pytest.mark.parametrize("status", ["pending", "suspended", "rejected"])
    async def test_an_owner_may_not_while_one_of_them_is_not_active(
        self, platform: Platform, door: Door, status: str
    ) -> None:
        ada, bob = door.account(), door.account(BOB)
        for slug in ("acme", "bolt"):
            organization_id = door.organization(slug)
            door.member(organization_id, ada)
            door.member(organization_id, bob, "owner")
        entered = await door.enter(BOB)
        door.connection.execute("UPDATE organizations SET status = %s WHERE slug = 'bolt'", (status,))

        assert_refused(await forget(platform, ada, by=entered), 403, "ORGANIZATION_NOT_ACTIVE")
        assert not is_forgotten(door, ada)

    async def test_an_owner_may_not_with_one_factor_where_two_are_asked_for(
        self, platform: Platform, door: Door
    ) -> None:
        ada, bob = door.account(), door.account(BOB)
        acme = door.organization(mfa_required=True)
        door.member(acme, ada)
        door.member(acme, bob, "owner")
        entered = await door.enter(BOB)

        refused = await forget(platform, ada, by=entered)

        assert_refused(refused, 403, "FORBIDDEN")
        assert "multi-factor" in refused.json["error"]
        door.connection.execute("UPDATE sessions SET amr = '{pwd,otp,mfa}'")
        assert (await forget(platform, ada, by=entered)).status == 200

    async def test_an_owner_may_not_when_the_person_uses_a_service_of_somebody_else(
        self, platform: Platform, door: Door
    ) -> None:
        ada, bob = door.account(), door.account(BOB)
        acme = door.organization("acme")
        door.member(acme, ada)
        door.member(acme, bob, "owner")
        door.service(door.organization("bolt"))
        await door.enter(org_slug="bolt", service_slug="shop")

        assert_refused(await forget(platform, ada, by=await door.enter(BOB)), 403, "FORBIDDEN")

    async def test_an_owner_may_not_when_the_person_is_an_end_user_alone(self, platform: Platform, door: Door) -> None:
        ada, bob = door.account(), door.account(BOB)
        acme = door.organization("acme")
        door.member(acme, bob, "owner")
        door.service(acme)
        await door.enter(org_slug="acme", service_slug="shop")

        assert_refused(await forget(platform, ada, by=await door.enter(BOB)), 403, "FORBIDDEN")

    async def test_who_has_no_organization_is_forgotten_by_platform_owners_alone(
        self, platform: Platform, door: Door
    ) -> None:
        ada = door.account()
        door.account(BOB)

        for asking in (await door.enter(BOB), await door.enter()):
            assert_refused(await forget(platform, ada, by=asking), 403, "FORBIDDEN")
        assert (await forget(platform, ada)).status == 200

    async def test_nobody_forgets_themselves_while_they_own_an_organization(
        self, platform: Platform, door: Door
    ) -> None:
        ada = door.account()
        door.member(door.organization(), ada, "owner")

        assert_refused(await forget(platform, ada, by=await door.enter()), 403, "FORBIDDEN")
        assert not is_forgotten(door, ada)

    async def test_a_platform_owner_is_demoted_first(self, platform: Platform, door: Door) -> None:
        ada = door.account(is_platform_owner=True)

        for user_id in (ada, platform.owner_id):
            assert_refused(await forget(platform, user_id), 403, "FORBIDDEN")
        await platform.ask("DELETE", f"/api/platform/owners/{ada}")
        assert (await forget(platform, ada)).status == 200

    async def test_who_is_not_there_is_not_found_by_who_may_ask_about_anybody(
        self, platform: Platform, door: Door
    ) -> None:
        door.account()

        assert_refused(await forget(platform, UNKNOWN), 404, "NOT_FOUND")
        assert_refused(await forget(platform, UNKNOWN, by=await door.enter()), 403, "FORBIDDEN")

    async def test_once_more_changes_nothing(self, platform: Platform, door: Door) -> None:
        ada = door.account()
        await forget(platform, ada)
        email = door.value("SELECT email FROM users WHERE id = %s", ada)

        answer = await forget(platform, ada)

        assert answer.status == 200
        assert door.value("SELECT email FROM users WHERE id = %s", ada) == email
        assert len(platform.log("user.anonymized")) == 1

    async def test_of_two_who_do_it_at_once_one_does(self, platform: Platform, door: Door) -> None:
        ada = door.account()

        assert await at_once(lambda: forget(platform, ada)) == [200, 200]
        assert len(platform.log("user.anonymized")) == 1
        assert len(door.events("user.anonymized")) == 1


class TestRecords:
    """What is written down about it."""

    async def test_each_organization_and_the_logs_are_told(self, platform: Platform, door: Door) -> None:
        ada = door.account()
        acme, bolt = door.organization("acme"), door.organization("bolt")
        door.member(acme, ada)
        door.service(bolt)
        await door.enter(org_slug="bolt", service_slug="shop")

        await forget(platform, ada)

        assert platform.audited("user.anonymized") == [
            (organization_id, platform.owner_id, str(ada), {}) for organization_id in sorted((acme, bolt))
        ]
        assert door.events("user.anonymized") == [
            (organization_id, OWNER, {"user_id": str(ada)}) for organization_id in sorted((acme, bolt))
        ]
        assert door.rows("SELECT event_type, ip_address, user_agent FROM mfa_events WHERE user_id = %s", ada) == [
            ("user_anonymized", "0.0.0.0", "anonymized")
        ]
        assert platform.log("user.anonymized") == [(platform.owner_id, str(ada), {})]

    async def test_what_an_organization_did_is_not_in_the_platforms_log(self, platform: Platform, door: Door) -> None:
        ada, bob, acme = door.account(), door.account(BOB), door.organization()
        door.member(acme, ada)
        door.member(acme, bob, "owner")

        await forget(platform, ada, by=await door.enter(BOB))

        assert platform.log("user.anonymized") == []
        assert platform.audited("user.anonymized") == [(acme, bob, str(ada), {})]

    async def test_without_an_organization_the_event_is_nobodys(self, platform: Platform, door: Door) -> None:
        ada = door.account()

        await forget(platform, ada)

        assert door.events("user.anonymized") == [(None, OWNER, {"user_id": str(ada)})]


class TestWhatIsKept:
    """The number without a name."""

    async def test_the_account_has_a_placeholder_and_nothing_to_sign_in_with(
        self, platform: Platform, door: Door, keyring: Keyring
    ) -> None:
        await keyring.arrive()
        await keyring.registered()
        ada = door.value("SELECT id FROM users WHERE email = %s", EMAIL)

        await forget(platform, ada)

        [(email, password_hash, verified_at, deactivated_at)] = door.rows(
            "SELECT email, password_hash, email_verified_at, deactivated_at FROM users WHERE id = %s", ada
        )
        assert PLACEHOLDER.fullmatch(email)
        assert (password_hash, verified_at) == (None, None)
        assert deactivated_at is not None
        for table in ("passkeys", "devices", "sessions", "totp_secrets", "backup_codes", "one_time_tokens"):
            assert door.rows(f"SELECT FROM {table} WHERE user_id = %s", ada) == []

    async def test_two_who_are_forgotten_in_one_moment_have_two_placeholders(
        self, platform: Platform, door: Door
    ) -> None:
        people = [door.account(f"person{number}@example.com") for number in range(3)]

        statuses = await at_once(*[lambda user_id=user_id: forget(platform, user_id) for user_id in people])

        assert statuses == [200, 200, 200]
        assert door.value("SELECT count(DISTINCT email) FROM users WHERE anonymized_at IS NOT NULL") == 3

    async def test_memberships_counts_and_entries_stay_without_an_address(
        self, platform: Platform, door: Door, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # So that they are several batches.
        monkeypatch.setattr("adapters.postgres.privacy.anonymization.ROWS_AT_ONCE", 1)
        ada, acme = door.account(), door.organization()
        door.member(acme, ada)
        await door.enter()
        await door.knock(password="a wrong password")

        await forget(platform, ada)

        assert door.rows("SELECT role FROM memberships WHERE user_id = %s", ada) == [("member",)]
        assert door.rows("SELECT DISTINCT ip_address, geo_city FROM login_events WHERE user_id = %s", ada) == [
            ("0.0.0.0", None)
        ]
        assert door.value("SELECT count(*) FROM login_events WHERE user_id = %s", ada) == 2

    async def test_what_is_said_of_their_organizations_no_longer_names_them(
        self, platform: Platform, door: Door
    ) -> None:
        ada = door.account()
        door.member(door.organization(), ada, "owner")
        reason = {"reason": f"{EMAIL.upper()} does not pay, xada@example.com does."}
        [[acme]] = door.rows("UPDATE organizations SET name = %s RETURNING id", f"{EMAIL}'s")
        await platform.ask("POST", f"/api/platform/organizations/{acme}/suspend", reason)

        assert (await forget(platform, ada)).status == 200

        placeholder = door.value("SELECT email FROM users WHERE id = %s", ada)
        assert door.rows("SELECT name, suspension_reason, rejection_reason FROM organizations") == [
            (f"{placeholder}'s", f"{placeholder} does not pay, xada@example.com does.", None)
        ]

    async def test_an_invitation_that_waits_for_the_address_is_withdrawn(self, platform: Platform, door: Door) -> None:
        ada, acme = door.account(), door.organization()
        for status in ("pending", "rejected"):
            door.connection.execute(
                """
                INSERT INTO invitations (id, organization_id, email, role, status, token_hash, token_sealed, proof_hash,
                                         created_at, expires_at)
                VALUES (gen_random_uuid(), %s, %s, 'member', %s, %s, 'sealed', 'proof', now(), now())
                """,
                (acme, EMAIL, status, status.encode()),
            )

        await forget(platform, ada)

        kept = door.rows("SELECT status, token_sealed FROM invitations ORDER BY status")
        assert kept == [("cancelled", None), ("rejected", None)]


class TestForGood:
    """The account does not come back."""

    async def test_no_door_opens_to_the_old_address_nor_to_the_new_one(
        self, platform: Platform, door: Door, keyring: Keyring
    ) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered()
        entered = await door.enter()
        ada = door.value("SELECT id FROM users WHERE email = %s", EMAIL)
        asked = await keyring.started()

        await forget(platform, ada)

        placeholder = door.value("SELECT email FROM users WHERE id = %s", ada)
        assert (await door.ask(entered)).status == 401
        assert (await door.refresh(entered.refresh_token)).status == 401
        assert (await keyring.finish(asked, authenticator.get(asked["options"]))).status == 401
        for email in (EMAIL, placeholder):
            assert (await door.knock(email)).status == 401
            for path in ("/api/auth/forgot-password", "/api/auth/magic-link/request", "/api/auth/resend-verification"):
                answer = await door.client.post(path, body={"email": email}, address=next(door.addresses))
                assert answer.status == 200
        assert door.rows("SELECT FROM one_time_tokens WHERE user_id = %s", ada) == []
        assert door.rows("SELECT FROM mails WHERE state <> 'discarded'") == []

    async def test_a_link_that_was_mailed_before_opens_nothing(self, platform: Platform, door: Door) -> None:
        ada = door.account()
        await door.client.post("/api/auth/magic-link/request", body={"email": EMAIL}, address=next(door.addresses))
        assert door.rows("SELECT FROM one_time_tokens WHERE user_id = %s", ada) != []

        await forget(platform, ada)

        assert door.rows("SELECT FROM one_time_tokens WHERE user_id = %s", ada) == []
        assert door.rows("SELECT FROM mails WHERE recipient = %s", EMAIL) == []

    async def test_the_address_is_free_and_whoever_registers_it_is_somebody_else(
        self, platform: Platform, door: Door
    ) -> None:
        ada = door.account()
        await forget(platform, ada)

        answer = await door.client.post(
            "/api/auth/register", body={"email": EMAIL, "password": PASSWORD}, address=next(door.addresses)
        )

        assert answer.status == 200, answer.text
        assert door.value("SELECT id FROM users WHERE email = %s", EMAIL) != ada

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
    async def test_the_schema_itself_keeps_it_shut(self, platform: Platform, door: Door, change: str) -> None:
        ada = door.account()
        await forget(platform, ada)

        with pytest.raises(psycopg.errors.CheckViolation):
            door.connection.execute(f"UPDATE users SET {change} WHERE id = %s".encode(), (ada,))


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
        door: Door,
        tools: Tools,
        path: str,
        body: dict[str, str],
        is_verified: bool,
    ) -> None:
        ada = door.account(is_verified=is_verified)
        session_id = door.value("SELECT id FROM sessions WHERE user_id = %s", platform.owner_id)
        answers: list[Answer] = []

        async def knock() -> None:
            answers.append(
                await door.client.post(
                    path,
                    body={"email": EMAIL, **body},
                    address=f"{self.NETWORK}7",
                    headers={"User-Agent": self.USER_AGENT},
                )
            )

        async with trio.open_nursery() as nursery:
            with door.connection.transaction():
                uow = PostgresUnitOfWork(door.connection, BACKGROUND, tools, session_id=session_id)
                anonymization.forget(uow, ada)
                nursery.start_soon(knock)
                await waiting_for_a_lock(door.connection)

        assert [answer.status for answer in answers] == [401 if "login" in path else 200]
        assert self.traces(door) == []

    async def test_while_an_invitation_is_answered_nobody_waits_for_each_other(
        self, platform: Platform, door: Door
    ) -> None:
        ada, acme = door.account(), door.organization()
        door.member(acme, door.account(BOB), "owner")
        bob = await door.enter(BOB)
        invitation = {"email": EMAIL, "role": "member"}
        invited = await platform.ask("POST", "/api/organizations/acme/invitations", invitation, by=bob)
        assert invited.status == 200, invited.text
        answers: list[Answer] = []

        async def be_forgotten() -> None:
            answers.append(await forget(platform, ada))

        async with trio.open_nursery() as nursery:
            with door.connection.transaction():
                # As accepting does: first the invitation, then the account.
                door.connection.execute("UPDATE invitations SET status = 'accepted'")
                nursery.start_soon(be_forgotten)
                await waiting_for_a_lock(door.connection)
                door.connection.execute("SELECT FROM users WHERE id = %s FOR NO KEY UPDATE NOWAIT", (ada,))

        assert [answer.status for answer in answers] == [200]

    def traces(self, door: Door) -> list[tuple[str, str]]:
        """List the rows with the address, the network or the program; failures that are counted end by themselves."""
        tables = door.rows(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
            " AND relname <> 'sign_in_failures'"
        )
        words = [f"%{word}%" for word in (EMAIL, self.NETWORK, self.USER_AGENT)]
        return [
            (table, row)
            for (table,) in tables
            for (row,) in door.rows(f"SELECT t::text FROM {table} AS t WHERE t::text ILIKE ANY (%s)", words)
        ]
