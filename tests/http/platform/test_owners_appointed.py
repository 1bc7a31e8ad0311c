"""Appointing a platform owner, after another user had registered the owner's address."""

from __future__ import annotations

from core.platform import owners
from tests.world.builder import EMAIL
from tests.world.passkeys import Keyring
from tests.world.second_factors import Person
from tests.world.world import World

OWNER = "owner@example.com"
OWNERS_PASSWORD = "what only the owner knows"


async def test_a_user_who_prepared_an_account_for_an_owner_is_locked_out_of_it(world: World, keyring: Keyring) -> None:
    await keyring.sign_up()
    passkey = await keyring.registered()
    app = Person(world, world.user_id(EMAIL), OWNER, token=keyring.token)
    await app.set_up()
    await app.mfa("POST", "/verify", {"code": app.code()})
    world.set_unproved_address(EMAIL, OWNER)

    password_hash = await world.installation.passwords.hash(OWNERS_PASSWORD)
    appointment = await world.installation.database.transact(owners.appoint_first, OWNER, password_hash)

    assert appointment is not None
    assert appointment.is_new_account
    assert (await world.client.get("/api/user", token=keyring.token)).status == 401
    assert (await keyring.sign_in(passkey, OWNER)).status == 401
    logged_in = await app.log_in(OWNERS_PASSWORD)
    assert (logged_in.status, "mfa_required" in logged_in.json) == (200, False)
    profile = (await world.client.get("/api/user", token=logged_in.json["access_token"])).json
    assert (profile["is_platform_owner"], profile["email_verified"]) == (True, True)
