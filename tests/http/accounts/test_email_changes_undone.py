"""Undoing a change of address removes everything that an intruder has set up since."""

from __future__ import annotations

from datetime import timedelta

from adapters.postgres.driver.connection import Connection
from tests.authenticators import Authenticator
from tests.clock import SettableClock
from tests.secret_watch import WATCH
from tests.world.builder import EMAIL, PASSWORD
from tests.world.victim import NEW, Victim
from tests.world.world import World, assert_refused

MINUTE = timedelta(minutes=1)


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


async def test_a_passkey_that_stays_as_a_second_factor_finishes_sign_ins_and_begins_none(
    victim: Victim, clock: SettableClock
) -> None:
    passkey = Authenticator()
    passkey_id = (await victim.keyring.register(passkey)).json["id"]
    assert (await victim.keyring.ask("PATCH", f"/{passkey_id}", {"second_factor": True})).status == 200
    clock.advance(MINUTE)
    victim.keyring.token = (await victim.keyring.sign_in(passkey)).json["access_token"]
    await victim.take_over()

    recovered = await victim.recover()

    for email in (EMAIL, None):
        assert (await victim.keyring.sign_in(passkey, email)).status == 401
    options = (await victim.app.ask_passkey(recovered.json["preauth_token"])).json["options"]
    answer = await victim.app.answer(recovered.json["preauth_token"], passkey.get(options))
    victim.keyring.token = answer.json["access_token"]
    # Its owner adds it anew.
    assert (await victim.keyring.ask("DELETE", f"/{passkey_id}")).status == 204
    assert (await victim.keyring.register(passkey)).status == 200
    assert (await victim.keyring.sign_in(passkey)).status == 200


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


async def test_an_older_passkey_factor_stays_and_those_of_the_intruder_go(
    victim: Victim, clock: SettableClock, connection: Connection
) -> None:
    own, theirs = Authenticator(), Authenticator()
    passkey_id = (await victim.keyring.register(own)).json["id"]
    await victim.keyring.ask("PATCH", f"/{passkey_id}", {"second_factor": True})
    clock.advance(MINUTE)
    victim.keyring.token = victim.app.token = (await victim.app.verify_with(own)).json["access_token"]
    await victim.take_over()
    passkey_id = (await victim.keyring.register(theirs)).json["id"]
    await victim.keyring.ask("PATCH", f"/{passkey_id}", {"second_factor": True})

    answer = await victim.recover()

    assert answer.json["mfa_required"] is True
    assert connection.execute("SELECT count(*) FROM passkeys").fetchone() == (1,)
    options = (await victim.app.ask_passkey(answer.json["preauth_token"])).json["options"]
    assert (await victim.app.answer(answer.json["preauth_token"], own.get(options))).status == 200


async def test_backup_codes_made_before_the_change_stay(victim: Victim, clock: SettableClock) -> None:
    await victim.turn_mfa_on()
    clock.advance(MINUTE)
    await victim.sign_in_again()
    await victim.take_over()

    await victim.recover()

    assert (await victim.log_in_with_backup_code(victim.app.backup_codes[0])).status == 200


async def test_keys_of_organizations_end_also_those_that_an_intruder_made_before_the_change(
    victim: Victim, world: World
) -> None:
    world.member(world.organization("acme"), victim.app.id, "admin")
    body = {"name": "Terraform", "permissions": ["org.members.view"]}
    keys = "/api/organizations/acme/keys"
    earlier = (await world.client.post(keys, token=victim.token, body=body)).json["secret"]
    await victim.take_over()
    later = (await world.client.post(keys, token=victim.token, body=body)).json["secret"]
    WATCH.add(earlier)
    WATCH.add(later)

    await victim.undo()

    for key in (earlier, later):
        answer = await world.client.get("/api/organizations/acme/members", headers={"X-Api-Key": key})
        assert_refused(answer, 401, "UNAUTHORIZED")
    entries = world.audit_entries("organization_key.deleted", "details ->> 'reason'")
    assert entries == [("email_change_undone",)] * 2


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

    async def test_a_role_that_was_raised_since_falls_back(self, victim: Victim, world: World) -> None:
        acme = world.organization()
        world.member(acme, victim.app.id)
        await victim.take_over()
        world.connection.execute("UPDATE memberships SET role = 'admin'")

        await victim.undo()

        assert world.rows("SELECT role FROM memberships") == [("member",)]

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
                INSERT INTO service_users (service_id, organization_id, user_id, first_login_at, last_login_at, email)
                SELECT id, organization_id, %s, %s, %s, '' FROM services WHERE slug = %s
                """,
                (victim.app.id, at, at, slug),
            )
        await victim.take_over()

        await victim.undo()

        assert world.value("SELECT slug FROM services JOIN service_users ON service_id = id") == "old"
