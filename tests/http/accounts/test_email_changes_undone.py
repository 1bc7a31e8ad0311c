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
from core.accounts import email_change_undo, one_time_tokens
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
LONG_AGO = "2026-01-01T00:00:00+00:00"


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

    async def ask(self, email: str = NEW) -> Answer:
        """Ask for another address."""
        return await self.world.client.patch("/api/user", token=self.token, body={"email": email})

    async def change(self, email: str = NEW) -> dict[str, str]:
        """Change the address; return the tokens of the mails that this sends, by template."""
        await self.world.mails()
        assert (await self.ask(email)).status == 200
        tokens = {message.template.value: message.values["token"] for message in await self.world.mails()}
        answer = await self.submit("/auth/verify-email", tokens["verify_new_email"])
        assert answer.status == 200, answer.text
        return tokens | {message.template.value: message.values["token"] for message in await self.world.mails()}

    async def take_over(self) -> None:
        """Change the address as the intruder would; the owner keeps the undo link of the notice."""
        self.undo_token = (await self.change())["email_changed"]

    async def sign_in_again(self) -> None:
        """Begin another session, with a code if the account has a second factor."""
        answer = await self.app.log_in(PASSWORD)
        if "mfa_required" in answer.json:
            answer = await self.app.verify(answer.json["preauth_token"], self.app.code())
        self.keyring.token = self.app.token = answer.json["access_token"]

    async def submit(self, path: str, token: str) -> Answer:
        """Press the button of a page."""
        data = urlencode({"token": token}).encode()
        return await self.world.client.post(path, data=data, headers={"Content-Type": FORM})

    async def undo(self) -> Answer:
        """Submit the form behind the undo link."""
        return await self.submit("/auth/undo-email-change", self.undo_token)

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


async def test_all_passkeys_are_removed_also_those_that_an_intruder_registered_before_the_change(
    victim: Victim, clock: SettableClock, connection: Connection
) -> None:
    earlier = await victim.keyring.registered()
    clock.advance(MINUTE)
    await victim.take_over()
    later = await victim.keyring.registered()

    await victim.undo()

    assert [(await victim.keyring.sign_in(each)).status for each in (earlier, later)] == [401, 401]
    assert connection.execute("SELECT details FROM mfa_events WHERE event_type = 'email_change_undone'").fetchall() == [
        ({"passkeys_removed": 2},)
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
    await victim.sign_in_again()
    await victim.take_over()
    await victim.app.mfa("DELETE", "")
    await victim.turn_mfa_on()

    assert "mfa_required" not in (await victim.recover()).json


async def test_a_second_factor_set_up_before_the_change_in_the_same_session_is_removed(
    victim: Victim, clock: SettableClock
) -> None:
    clock.advance(MINUTE)
    await victim.sign_in_again()
    clock.advance(MINUTE)
    await victim.turn_mfa_on()
    clock.advance(MINUTE)
    await victim.take_over()

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
    await victim.sign_in_again()
    await victim.take_over()
    clock.advance(MINUTE)
    theirs = (await victim.app.mfa("POST", "/backup-codes/regenerate")).json["backup_codes"]

    answer = await victim.recover()

    assert answer.json["mfa_required"] is True
    assert (await victim.log_in_with_backup_code(theirs[0])).status == 401
    assert (await victim.app.verify(answer.json["preauth_token"], victim.app.code())).status == 200


async def test_backup_codes_made_before_the_change_stay(victim: Victim, clock: SettableClock) -> None:
    await victim.turn_mfa_on()
    clock.advance(MINUTE)
    await victim.sign_in_again()
    await victim.take_over()

    await victim.recover()

    assert (await victim.log_in_with_backup_code(victim.app.backup_codes[0])).status == 200


async def test_all_devices_lose_recognition_and_trust(victim: Victim, clock: SettableClock) -> None:
    await victim.turn_mfa_on()
    clock.advance(MINUTE)
    preauth_token = (await victim.app.log_in(PASSWORD)).json["preauth_token"]
    answer = await victim.app.verify(preauth_token, victim.app.code(), trust_device=True)
    device = {"X-Device-Token": answer.json["device_token"]}
    trusted = (await victim.app.log_in(PASSWORD, headers=device)).json
    assert "mfa_required" not in trusted
    victim.keyring.token = trusted["access_token"]
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

    async def test_a_membership_whose_role_was_changed_since_ends(self, victim: Victim, world: World) -> None:
        acme = world.organization()
        world.member(acme, victim.app.id)
        await victim.take_over()
        world.connection.execute("UPDATE memberships SET role = 'admin'")

        await victim.undo()

        assert world.rows("SELECT role FROM memberships") == []

    async def test_grants_on_services_given_after_the_change_end(
        self, victim: Victim, world: World, clock: SettableClock
    ) -> None:
        acme = world.organization()
        old, new = world.service(acme, "old"), world.service(acme, "new")
        world.member(acme, victim.app.id)
        world.grant(acme, old.id, victim.app.id, "viewer")
        clock.advance(MINUTE)
        await victim.take_over()
        world.grant(acme, new.id, victim.app.id, "manager")

        await victim.undo()

        assert world.rows("SELECT service_id FROM service_grants") == [(old.id,)]

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

    async def test_the_founder_of_an_organization_since_the_change_is_left_alone(self, victim: Victim) -> None:
        await victim.take_over()
        body = {"slug": "acme", "name": "Acme"}
        assert (await victim.world.client.post("/api/organizations", token=victim.token, body=body)).status == 200

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
        assert "2026-02-03 at 04:05 UTC" in answers[-1].text
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
                email_change_undo.undo(PostgresUnitOfWork(connection, BACKGROUND, tools), victim.undo_token)
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
            return partial(victim.ask, THIRD)
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
