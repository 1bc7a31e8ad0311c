"""A passkey that its owner has made a second factor: it turns MFA on, beside an app, and off again as the last one."""

from __future__ import annotations

import pytest

from tests.application import Answer
from tests.authenticators import Authenticator
from tests.concurrency import at_once
from tests.world.domains import insert_verified
from tests.world.passkeys import Keyring
from tests.world.second_factors import Person, insert_person
from tests.world.world import World, assert_refused


@pytest.fixture
async def ada(world: World, keyring: Keyring) -> Person:
    """A user who is signed in and has no second factor, as the owner of the key ring."""
    person = insert_person(world)
    await person.sign_in()
    keyring.token = person.token
    return person


async def made_factor(keyring: Keyring, authenticator: Authenticator) -> Answer:
    """Register a passkey, and make it a second factor."""
    passkey_id = (await keyring.register(authenticator)).json["id"]
    answer = await keyring.ask("PATCH", f"/{passkey_id}", {"second_factor": True})
    assert answer.status == 200, answer.text
    return answer


async def test_a_passkey_alone_turns_nothing_on(ada: Person, keyring: Keyring) -> None:
    await keyring.register()

    assert (await ada.mfa("GET", "/status")).json == {"enabled": False, "has_backup_codes": False}
    assert (await ada.log_in()).json.get("mfa_required") is None


async def test_the_first_factor_brings_backup_codes_and_is_told(world: World, ada: Person, keyring: Keyring) -> None:
    answer = await made_factor(keyring, Authenticator())

    assert answer.json["second_factor"] is True
    assert len(answer.json["backup_codes"]) == 10
    assert (await keyring.ask("GET")).json["passkeys"][0]["second_factor"] is True
    assert (await ada.mfa("GET", "/status")).json == {"enabled": True, "has_backup_codes": True}
    assert [mail.template.value for mail in await world.mails()] == ["passkey_added", "mfa_enabled"]
    assert len(world.events("user.mfa.enabled")) == 1
    assert ("passkey_made_second_factor", True, {"passkey_id": answer.json["id"]}) in keyring.security_log()
    assert (await ada.verify(await ada.preauth_token(), answer.json["backup_codes"][0])).status == 200


async def test_a_further_factor_brings_none(world: World, ada: Person, keyring: Keyring) -> None:
    first = await made_factor(keyring, Authenticator())
    await world.mails()

    second = await made_factor(keyring, Authenticator())
    await ada.set_up()
    app = await ada.mfa("POST", "/verify", {"code": ada.code()})

    assert "backup_codes" not in second.json
    assert app.json == {"enabled": True, "backup_codes": []}
    assert len(world.events("user.mfa.enabled")) == 1
    assert (await ada.verify(await ada.preauth_token(), first.json["backup_codes"][0])).status == 200
    templates = [mail.template.value for mail in await world.mails()]
    assert templates.count("mfa_factor_added") == 2


async def test_the_same_again_changes_nothing(world: World, ada: Person, keyring: Keyring) -> None:
    passkey_id = (await made_factor(keyring, Authenticator())).json["id"]
    await world.mails()

    again = await keyring.ask("PATCH", f"/{passkey_id}", {"second_factor": True, "name": "Blue"})

    assert (again.json["name"], again.json["second_factor"]) == ("Blue", True)
    assert "backup_codes" not in again.json
    assert await world.mails() == []
    assert (await ada.mfa("GET", "/status")).json["enabled"] is True


async def test_the_last_factor_removed_turns_mfa_off(world: World, ada: Person, keyring: Keyring) -> None:
    passkey = Authenticator()
    for take_away in (
        lambda passkey_id: keyring.ask("PATCH", f"/{passkey_id}", {"second_factor": False}),
        lambda passkey_id: keyring.ask("DELETE", f"/{passkey_id}"),
    ):
        passkey_id = (await made_factor(keyring, passkey)).json["id"]

        await take_away(passkey_id)

        assert (await ada.mfa("GET", "/status")).json == {"enabled": False, "has_backup_codes": False}
        assert world.value("SELECT has_passkey_factor FROM users") is False
        assert (await ada.log_in()).json.get("mfa_required") is None
        passkey = Authenticator()
    assert len(world.events("user.mfa.disabled")) == 2
    assert "mfa_disabled" in [mail.template.value for mail in await world.mails()]


async def test_one_of_two_factors_removed_leaves_the_other(world: World, ada: Person, keyring: Keyring) -> None:
    passkey = Authenticator()
    passkey_id = (await made_factor(keyring, passkey)).json["id"]
    await ada.set_up()
    assert (await ada.mfa("POST", "/verify", {"code": ada.code()})).status == 200

    await keyring.ask("PATCH", f"/{passkey_id}", {"second_factor": False})

    assert world.value("SELECT mfa_enabled_at IS NOT NULL AND NOT has_passkey_factor FROM users") is True
    assert (await ada.mfa("GET", "/status")).json["has_backup_codes"] is True
    assert "mfa_factor_removed" in [mail.template.value for mail in await world.mails()]
    assert (await keyring.sign_in(passkey)).status == 200


async def test_turning_mfa_off_ends_both_kinds(world: World, ada: Person, keyring: Keyring) -> None:
    passkey = Authenticator()
    await made_factor(keyring, passkey)
    await ada.set_up()
    await ada.mfa("POST", "/verify", {"code": ada.code()})

    assert (await ada.mfa("DELETE", "")).status == 200

    assert world.value("SELECT count(*) FROM totp_secrets") == 0
    assert (await keyring.ask("GET")).json["passkeys"][0]["second_factor"] is False
    assert (await ada.log_in()).json.get("mfa_required") is None
    assert (await keyring.sign_in(passkey)).status == 200


async def test_one_factor_makes_no_passkey_another(ada: Person, keyring: Keyring) -> None:
    passkey_id = (await keyring.register(Authenticator(is_user_verified=False))).json["id"]
    before = ada.token
    await ada.turn_mfa_on()
    keyring.token = before

    assert_refused(await keyring.ask("PATCH", f"/{passkey_id}", {"second_factor": True}), 403, "FORBIDDEN")


async def test_a_passkey_of_a_custom_domain_is_no_factor(world: World, ada: Person, keyring: Keyring) -> None:
    passkey_id = (await keyring.register()).json["id"]
    insert_verified(world, ada.join_organization())
    world.connection.execute("UPDATE passkeys SET domain_id = (SELECT id FROM custom_domains)")

    assert_refused(await keyring.ask("PATCH", f"/{passkey_id}", {"second_factor": True}), 400, "BAD_REQUEST")


async def test_a_passkey_of_another_account_is_not_found(ada: Person, keyring: Keyring) -> None:
    passkey_id = (await keyring.register()).json["id"]
    await keyring.sign_up("bob@example.com")

    assert_refused(await keyring.ask("PATCH", f"/{passkey_id}", {"second_factor": True}), 404, "NOT_FOUND")


async def test_two_removals_at_once_of_two_factors_leave_mfa_off(world: World, ada: Person, keyring: Keyring) -> None:
    ids = [(await made_factor(keyring, Authenticator())).json["id"] for _ in range(2)]

    await at_once(*(lambda one=one: keyring.ask("PATCH", f"/{one}", {"second_factor": False}) for one in ids))

    assert world.value("SELECT mfa_enabled_at IS NULL AND NOT has_passkey_factor FROM users") is True
    assert world.value("SELECT count(*) FROM backup_codes") == 0
    assert len(world.events("user.mfa.disabled")) == 1
