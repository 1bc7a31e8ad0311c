"""Undoing a change of address removes everything that an intruder has set up since."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
import trio

from adapters.postgres.unit_of_work import PostgresUnitOfWork
from core.accounts import email_changes, one_time_tokens
from core.accounts.one_time_tokens import TokenPurpose
from core.sessions.callers import BACKGROUND
from tests.authenticators import Authenticator
from tests.concurrency import at_once, statuses_of
from tests.waiting import waiting_for_a_lock
from tests.world.builder import EMAIL, PASSWORD
from tests.world.second_factors import Person
from tests.world.world import World, assert_refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from adapters.postgres.driver.connection import Connection
    from adapters.postgres.unit_of_work import Tools
    from tests.application import Answer
    from tests.clock import SettableClock
    from tests.world.passkeys import Keyring

NEW = "eve@example.com"
THIRD = "eve@other.example"
NEW_PASSWORD = "a quite different one"
FORM = "application/x-www-form-urlencoded"
MINUTE = timedelta(minutes=1)
ROUNDS = 50


@dataclass
class Victim:
    """An account to which an intruder is signed in."""

    world: World
    keyring: Keyring
    app: Person
    undo_token: str = ""

    @property
    def token(self) -> str:
        """The access token that the owner and the intruder share."""
        return self.keyring.token

    async def change(self, email: str = NEW) -> Answer:
        """Change the address."""
        return await self.world.client.patch("/api/user", token=self.token, body={"email": email})

    async def take_over(self) -> None:
        """Change the address as the intruder would, and keep the undo link of the notice."""
        await self.world.mails()
        assert (await self.change()).status == 200
        [self.undo_token] = [message.values["token"] for message in await self.world.mails() if message.to == EMAIL]

    async def undo(self) -> Answer:
        """Submit the form behind the undo link."""
        return await self.world.client.post(
            "/auth/undo-email-change",
            data=urlencode({"token": self.undo_token}).encode(),
            headers={"Content-Type": FORM},
        )

    async def recover(self, headers: dict[str, str] | None = None) -> Answer:
        """Undo the change, choose a password with the page's link, and sign in with it."""
        page = await self.undo()
        assert page.status == 200, page.text
        token = page.text.partition("/auth/reset-password?token=")[2].partition('"')[0]
        body = {"token": token, "new_password": NEW_PASSWORD}
        assert (await self.world.client.post("/api/auth/reset-password", body=body)).status == 200
        return await self.app.log_in(NEW_PASSWORD, headers=headers)

    async def turn_mfa_on(self) -> None:
        """Set an authenticator app up and turn the second factor on."""
        await self.app.set_up()
        answer = await self.app.mfa("POST", "/verify", {"code": self.app.code()})
        self.app.backup_codes = answer.json["backup_codes"]

    async def log_in_with_backup_code(self, code: str) -> Answer:
        """Sign in with the new password and a backup code."""
        preauth_token = (await self.app.log_in(NEW_PASSWORD)).json["preauth_token"]
        return await self.app.verify(preauth_token, code)


@pytest.fixture
async def victim(world: World, keyring: Keyring) -> Victim:
    """Return an account that is signed in and has not yet been taken over."""
    await keyring.sign_up()
    app = Person(world, world.user_id(EMAIL), EMAIL, token=keyring.token)
    return Victim(world, keyring, app)


async def test_passkeys_registered_after_the_change_are_removed_and_older_ones_stay(
    victim: Victim, clock: SettableClock, connection: Connection
) -> None:
    mine = await victim.keyring.registered()
    clock.advance(MINUTE)
    await victim.take_over()
    theirs = await victim.keyring.registered()

    await victim.undo()

    assert (await victim.keyring.sign_in(theirs)).status == 401
    assert (await victim.keyring.sign_in(mine)).status == 200
    assert connection.execute("SELECT details FROM mfa_events WHERE event_type = 'email_change_undone'").fetchall() == [
        ({"passkeys_removed": 1},)
    ]


async def test_a_second_factor_set_up_after_the_change_is_removed(victim: Victim, connection: Connection) -> None:
    await victim.take_over()
    await victim.turn_mfa_on()
    await victim.world.mails()

    answer = await victim.recover()

    assert "mfa_required" not in answer.json
    victim.app.token = answer.json["access_token"]
    status = await victim.app.mfa("GET", "/status")
    assert status.json == {"enabled": False, "has_backup_codes": False}
    assert victim.world.mfa_log(victim.app.id)[-2:] == ["mfa_disabled", "email_change_undone"]
    assert len(victim.world.events("user.mfa.disabled")) == len(victim.world.events("security.mfa.disabled")) == 1
    assert "mfa_disabled" in [message.template.value for message in await victim.world.mails() if message.to == EMAIL]


async def test_a_second_factor_that_replaced_the_owners_is_removed(victim: Victim, clock: SettableClock) -> None:
    await victim.turn_mfa_on()
    clock.advance(MINUTE)
    await victim.take_over()
    await victim.app.mfa("DELETE", "")
    await victim.turn_mfa_on()

    assert "mfa_required" not in (await victim.recover()).json


async def test_an_unfinished_setup_of_a_second_factor_is_deleted(victim: Victim, connection: Connection) -> None:
    await victim.take_over()
    await victim.app.set_up()

    await victim.undo()

    assert connection.execute("SELECT count(*) FROM totp_secrets").fetchone() == (0,)
    assert victim.world.events("user.mfa.disabled") == []


async def test_an_older_second_factor_stays_without_the_backup_codes_made_after_the_change(
    victim: Victim, clock: SettableClock
) -> None:
    await victim.turn_mfa_on()
    clock.advance(MINUTE)
    await victim.take_over()
    theirs = (await victim.app.mfa("POST", "/backup-codes/regenerate")).json["backup_codes"]

    answer = await victim.recover()

    assert answer.json["mfa_required"] is True
    assert (await victim.log_in_with_backup_code(theirs[0])).status == 401
    assert (await victim.app.verify(answer.json["preauth_token"], victim.app.code())).status == 200


async def test_backup_codes_made_before_the_change_stay(victim: Victim, clock: SettableClock) -> None:
    await victim.turn_mfa_on()
    clock.advance(MINUTE)
    await victim.take_over()

    await victim.recover()

    assert (await victim.log_in_with_backup_code(victim.app.backup_codes[0])).status == 200


async def test_all_devices_lose_recognition_and_trust(victim: Victim, clock: SettableClock) -> None:
    await victim.turn_mfa_on()
    clock.advance(MINUTE)
    preauth_token = (await victim.app.log_in(PASSWORD)).json["preauth_token"]
    answer = await victim.app.verify(preauth_token, victim.app.code(), trust_device=True)
    device = {"X-Device-Token": answer.json["device_token"]}
    assert "mfa_required" not in (await victim.app.log_in(PASSWORD, headers=device)).json
    await victim.take_over()

    assert (await victim.recover(headers=device)).json["mfa_required"] is True


async def test_the_undo_pages_list_what_is_undone_and_the_next_step(victim: Victim) -> None:
    await victim.take_over()

    before = await victim.world.client.get(f"/auth/undo-email-change?token={victim.undo_token}")
    after = await victim.undo()

    for page in (before, after):
        for phrase in ("old email address again", "signed", "no device is trusted", "passkeys", "backup codes"):
            assert phrase in page.text.lower()
    assert "Choose a password" in after.text


class TestGrantsToTheNewAddress:
    """Memberships and service links made after the change end; older ones stay."""

    async def test_memberships_gained_after_the_change_end_and_are_recorded(
        self, victim: Victim, world: World, clock: SettableClock
    ) -> None:
        acme, bolt = world.organization("acme"), world.organization("bolt")
        world.member(acme, victim.app.id, "admin")
        clock.advance(MINUTE)
        await victim.take_over()
        clock.advance(MINUTE)
        world.member(bolt, victim.app.id, "admin")

        await victim.undo()

        assert world.rows("SELECT organization_id FROM memberships WHERE user_id = %s", victim.app.id) == [(acme,)]
        details = {"role": "admin", "reason": "email_change_undone"}
        entries = world.rows(
            "SELECT organization_id, actor_user_id, details FROM audit_entries WHERE action LIKE 'user.%%'"
        )
        assert entries == [(bolt, None, details)]
        assert world.events("user.removed") == [(bolt, None, {"user_id": str(victim.app.id), **details})]

    async def test_an_invitation_accepted_through_the_new_address_gives_the_owner_no_membership(
        self, victim: Victim, world: World
    ) -> None:
        acme, owner = world.organization(), "owner@example.com"
        world.member(acme, world.user(owner), "owner")
        await victim.take_over()
        invited = await world.client.post(
            "/api/organizations/acme/invitations",
            token=(await world.sign_in(owner)).access_token,
            body={"email": NEW, "role": "admin"},
        )
        [message] = [one for one in await victim.world.mails() if one.values.get("proof")]
        accepted = await world.client.post(
            "/api/invitations/accept", body={"token": invited.json["token"], "proof": message.values["proof"]}
        )
        assert accepted.status == 200, accepted.text

        recovered = await victim.recover()

        answer = await world.client.get("/api/organizations/acme", token=recovered.json["access_token"])
        assert_refused(answer, 403, "FORBIDDEN")

    async def test_an_ownership_gained_after_the_change_stays(self, victim: Victim, world: World) -> None:
        await victim.take_over()
        acme = world.organization()
        world.member(acme, victim.app.id, "owner")

        await victim.undo()

        assert world.value("SELECT role FROM memberships WHERE organization_id = %s", acme) == "owner"

    async def test_links_to_services_made_after_the_change_are_deleted(
        self, victim: Victim, world: World, clock: SettableClock
    ) -> None:
        acme = world.organization()
        for slug, at in (("old", clock() - MINUTE), ("new", clock() + MINUTE)):
            world.service(acme, slug)
            world.connection.execute(
                """
                INSERT INTO service_users (service_id, organization_id, user_id, first_login_at, email)
                SELECT id, organization_id, %s, %s, '' FROM services WHERE slug = %s
                """,
                (victim.app.id, at, slug),
            )
        await victim.take_over()

        await victim.undo()

        assert world.value("SELECT slug FROM services JOIN service_users ON service_id = id") == "old"


class TestConcurrentUndo:
    """An intruder's action during the undo either commits before it and is undone, or is refused."""

    async def test_of_two_concurrent_uses_of_an_undo_link_exactly_one_succeeds(self, victim: Victim) -> None:
        database = victim.world.installation.database
        for _ in range(ROUNDS):
            token = await database.transact(one_time_tokens.issue, TokenPurpose.UNDO_EMAIL_CHANGE, victim.app.id, EMAIL)
            victim.undo_token = token.reveal()

            assert statuses_of(await at_once(victim.undo, victim.undo)) == [200, 400]

    @pytest.mark.parametrize("action", ["address", "first password", "passkey", "second factor", "backup codes"])
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
                email_changes.undo(PostgresUnitOfWork(connection, BACKGROUND, tools), victim.undo_token)
                nursery.start_soon(try_to_commit)
                await waiting_for_a_lock(connection)

        assert statuses == [401]
        assert victim.world.has_user(EMAIL)
        assert connection.execute("SELECT password_hash, mfa_enabled_at FROM users").fetchall() == [(None, None)]
        assert connection.execute("SELECT count(*) FROM passkeys").fetchone() == (0,)


async def _prepare(victim: Victim, action: str) -> Callable[[], Awaitable[Answer]]:
    """Do all but the last step of an intruder's action; return the last step."""
    match action:
        case "address":
            return partial(victim.change, THIRD)
        case "first password":
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
        case "second factor":
            await victim.app.set_up()
            return partial(victim.app.mfa, "POST", "/verify", {"code": victim.app.code()})
        case _:
            await victim.app.set_up()
            connection = victim.world.connection
            connection.execute("UPDATE totp_secrets SET enabled_at = created_at - interval '1 day'")
            return partial(victim.app.mfa, "POST", "/backup-codes/regenerate")
