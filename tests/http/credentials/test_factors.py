"""One factor does not switch off the rule that asks for two; a second one counts for the session that added it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import pytest

from tests.application import Client
from tests.authenticators import Authenticator
from tests.world.passkeys import Keyring
from tests.world.second_factors import Person, insert_person
from tests.world.signing_in import claims_of
from tests.world.world import World, assert_refused

Session: TypeAlias = Callable[[Person], Awaitable[None]]

PROVED = "Sign in again with your second factor to do this"
SELECT = "/api/organizations/engines/select"
PATH = "/api/organizations/engines"


@pytest.fixture
async def ada(world: World) -> Person:
    """A signed-in user without a second factor."""
    person = insert_person(world)
    await person.sign_in()
    return person


async def one_factor(ada: Person) -> None:
    """Turn MFA on in another session, so that the present one began with a password alone."""
    before = ada.token
    await ada.turn_mfa_on()
    ada.token = before


async def remembered(ada: Person) -> None:
    """Turn MFA on, and sign in on a device that is trusted in place of a code."""
    await ada.turn_mfa_on()
    trusted = await ada.verify(await ada.preauth_token(), ada.code(), trust_device=True)
    ada.next_step()
    answer = await ada.log_in(headers={"X-Device-Token": trusted.json["device_token"]})
    ada.token = answer.json["access_token"]
    assert claims_of(ada.token)["amr"] == ["pwd", "trusted"]


@pytest.mark.parametrize("session", [one_factor, remembered])
class TestOneFactor:
    """A session that has not proved the second factor of its account."""

    async def test_it_cannot_turn_mfa_off(self, world: World, ada: Person, session: Session) -> None:
        await session(ada)

        answer = await ada.mfa("DELETE", "")

        assert_refused(answer, 403, "FORBIDDEN")
        assert answer.json["error"].startswith(PROVED)
        assert world.value("SELECT mfa_enabled_at IS NOT NULL FROM users") is True

    async def test_it_cannot_renew_the_backup_codes(self, ada: Person, session: Session) -> None:
        await session(ada)

        assert_refused(await ada.mfa("POST", "/backup-codes/regenerate"), 403, "FORBIDDEN")

        assert (await ada.verify(await ada.preauth_token(), ada.backup_codes[0])).status == 200

    async def test_it_cannot_add_a_passkey_that_would_satisfy_the_rule_alone(
        self, ada: Person, keyring: Keyring, session: Session
    ) -> None:
        keyring.token = ada.token
        challenge = await keyring.start_registration()
        await session(ada)
        keyring.token = ada.token

        started = await keyring.ask("POST", "/register/start")
        finished = await keyring.finish_registration(challenge, Authenticator().create(challenge["options"]))

        assert_refused(started, 403, "FORBIDDEN")
        assert_refused(finished, 403, "FORBIDDEN")

    async def test_it_cannot_remove_a_passkey(self, ada: Person, keyring: Keyring, session: Session) -> None:
        keyring.token = ada.token
        passkey = await keyring.register(Authenticator(is_user_verified=False))
        await session(ada)
        keyring.token = ada.token

        assert_refused(await keyring.ask("DELETE", f"/{passkey.json['id']}"), 403, "FORBIDDEN")


async def test_where_only_an_organization_asks_for_two_a_password_alone_replaces_no_passkey(
    ada: Person, keyring: Keyring
) -> None:
    ada.join_organization(mfa_required=True)
    keyring.token = ada.token
    passkey = await keyring.register(Authenticator())
    await ada.sign_in()
    keyring.token = ada.token

    for answer in (
        await keyring.ask("DELETE", f"/{passkey.json['id']}"),
        await keyring.ask("POST", "/register/start"),
        await ada.mfa("POST", "/setup"),
    ):
        assert_refused(answer, 403, "FORBIDDEN")


async def test_a_passkey_that_has_never_verified_its_user_is_no_second_factor_to_protect(
    ada: Person, keyring: Keyring
) -> None:
    ada.join_organization(mfa_required=True)
    keyring.token = ada.token
    await keyring.register(Authenticator(is_user_verified=False))

    await ada.set_up()


async def test_a_passkey_that_verifies_its_user_later_is_a_second_factor_from_then_on(
    ada: Person, keyring: Keyring
) -> None:
    ada.join_organization(mfa_required=True)
    keyring.token = ada.token
    authenticator = await keyring.registered(is_user_verified=False)
    authenticator.is_user_verified = True
    await keyring.sign_in(authenticator)

    assert_refused(await ada.mfa("POST", "/setup"), 403, "FORBIDDEN")


async def test_a_platform_owner_with_one_factor_cannot_force_their_own_second_factor_off(world: World) -> None:
    root = Person(world, world.user("root@example.com", is_platform_owner=True), "root@example.com")
    await root.sign_in()
    await one_factor(root)
    path = f"/api/platform/users/{root.id}/mfa"

    answer = await world.client.request("DELETE", path, token=root.token, body={"reason": "lost"})

    assert_refused(answer, 403, "FORBIDDEN")


class TestRuleOfAnOrganization:
    """The setting `mfa_required`, and for how long a device is trusted."""

    @pytest.mark.parametrize("change", [{"mfa_required": False}, {"device_trust_days": 365}])
    @pytest.mark.parametrize("session", [one_factor, remembered])
    async def test_it_is_not_relaxed_by_a_session_that_has_not_proved_two(
        self, world: World, ada: Person, client: Client, change: dict[str, int], session: Session
    ) -> None:
        organization_id = world.organization("engines", mfa_required=True)
        world.member(organization_id, ada.id, "owner")
        await session(ada)

        answer = await client.patch(PATH, token=ada.token, body=change)

        assert_refused(answer, 403, "FORBIDDEN")
        assert world.value("SELECT mfa_required AND device_trust_days < 365 FROM organizations") is True

    async def test_an_impersonator_with_one_factor_does_not_switch_it_off(self, world: World, client: Client) -> None:
        owner = await world.signed_in_member(world.organization("engines", mfa_required=True))
        root = await world.signed_in_platform_owner()
        acting = await root.post(f"/api/platform/impersonate/{owner.id}", {"reason": "a question"})

        answer = await client.patch(PATH, token=acting.json["access_token"], body={"mfa_required": False})

        assert_refused(answer, 403, "FORBIDDEN")

    async def test_a_session_with_two_factors_switches_it_off(self, world: World, ada: Person, client: Client) -> None:
        world.member(world.organization("engines", mfa_required=True), ada.id, "owner")
        await ada.turn_mfa_on()

        answer = await client.patch(PATH, token=ada.token, body={"mfa_required": False})

        assert (answer.status, answer.json["organization"]["mfa_required"]) == (200, False)

    async def test_a_session_with_one_factor_makes_it_stricter(self, world: World, ada: Person, client: Client) -> None:
        world.member(world.organization("engines", mfa_required=True), ada.id, "owner")

        answer = await client.patch(PATH, token=ada.token, body={"device_trust_days": 1})

        assert answer.status == 200, answer.text


class TestEnabling:
    """A second factor that is added counts for the session in which it was proved."""

    async def test_after_a_code_an_organization_that_asks_for_two_admits_the_session(
        self, ada: Person, client: Client
    ) -> None:
        ada.join_organization(mfa_required=True)
        assert_refused(await client.post(SELECT, token=ada.token), 403, "FORBIDDEN")

        await ada.turn_mfa_on()

        selected = await client.post(SELECT, token=ada.token)
        assert selected.status == 200, selected.text
        assert claims_of(selected.json["access_token"])["amr"] == ["pwd", "otp", "mfa"]

    async def test_the_next_refresh_has_the_new_methods(self, world: World, ada: Person) -> None:
        tokens = await world.sign_in(ada.email)
        ada.token = tokens.access_token
        await ada.set_up()
        await ada.mfa("POST", "/verify", {"code": ada.code()})

        refreshed = await world.refresh(tokens.refresh_token)

        assert claims_of(refreshed.json["access_token"])["amr"] == ["pwd", "otp", "mfa"]

    async def test_the_other_sessions_keep_their_one_factor(self, ada: Person, client: Client) -> None:
        ada.join_organization(mfa_required=True)
        await one_factor(ada)

        assert_refused(await client.post(SELECT, token=ada.token), 403, "FORBIDDEN")

    @pytest.mark.parametrize(("is_user_verified", "status"), [(True, 200), (False, 403)])
    async def test_a_passkey_counts_when_it_has_verified_its_user(
        self, ada: Person, keyring: Keyring, client: Client, is_user_verified: bool, status: int
    ) -> None:
        ada.join_organization(mfa_required=True)
        keyring.token = ada.token

        await keyring.registered(is_user_verified=is_user_verified)

        assert (await client.post(SELECT, token=ada.token)).status == status

    async def test_a_refused_registration_counts_for_nothing(
        self, ada: Person, keyring: Keyring, client: Client
    ) -> None:
        ada.join_organization(mfa_required=True)
        keyring.token = ada.token

        assert (await keyring.register(Authenticator(origin="https://evil.example"))).status == 400

        assert_refused(await client.post(SELECT, token=ada.token), 403, "FORBIDDEN")


async def test_a_password_reset_ends_the_trust_in_every_device(world: World, ada: Person) -> None:
    await ada.turn_mfa_on()
    trusted = await ada.verify(await ada.preauth_token(), ada.code(), trust_device=True)
    device = {"X-Device-Token": trusted.json["device_token"]}
    assert "mfa_required" not in (await ada.log_in(headers=device)).json

    await world.client.post("/api/auth/forgot-password", body={"email": ada.email})
    token = next(mail.values["token"] for mail in await world.mails() if mail.template == "reset_password")
    await world.client.post("/api/auth/reset-password", body={"token": token, "new_password": "another phrase"})

    assert (await ada.log_in("another phrase", headers=device)).json["mfa_required"] is True


UNREADABLE = ["two\nlines", "bell\x07", "line\u2028separator", "gpj\u202eeslaf", "\u2066isolate", "next\x85line"]


async def test_names_of_devices_and_passkeys_take_no_control_or_direction_characters(
    ada: Person, keyring: Keyring, client: Client, subtests: pytest.Subtests
) -> None:
    keyring.token = ada.token
    device = (await client.get("/api/user/devices", token=ada.token)).json["devices"][0]
    passkey = await keyring.register(Authenticator())

    for name in UNREADABLE:
        with subtests.test(name=name):
            answers = [
                await client.patch(f"/api/user/devices/{device['id']}", token=ada.token, body={"name": name}),
                await keyring.ask("PATCH", f"/{passkey.json['id']}", {"name": name}),
                await keyring.register(Authenticator(), name=name),
            ]

            for answer in answers:
                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.json["details"][0]["field"] == "name"
