"""Appointing a platform owner to whose address somebody else brought an account before (decisions 3.13)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from core.platform import owners
from tests.accounts import people
from tests.passkeys import keyring
from tests.second_factors import Person
from tests.sign_ins import EMAIL, door

if TYPE_CHECKING:
    from tests.accounts import People
    from tests.clock import SettableClock
    from tests.passkeys import Keyring

__all__ = ["door", "keyring", "people"]

OWNER = "owner@example.com"
OWNERS_PASSWORD = "what only the owner knows"


async def test_whoever_prepared_an_account_for_an_owner_is_locked_out_of_it(
    people: People, keyring: Keyring, clock: SettableClock
) -> None:
    await keyring.arrive()
    passkey = await keyring.registered()
    app = Person(client=people.client, clock=clock, id=people.user_id(), email=OWNER, token=keyring.token)
    await app.set_up()
    await app.mfa("POST", "/verify", {"code": app.code()})
    await people.client.patch("/api/user", token=keyring.token, body={"email": OWNER})
    [undo_token] = [
        message.values["token"] for message in await people.messages() if message.template == "email_changed"
    ]

    password_hash = await people.installation.passwords.hash(OWNERS_PASSWORD)
    appointment = await people.installation.database.transact(owners.found, OWNER, password_hash)

    assert appointment is not None
    assert appointment.is_new_account
    assert (await people.client.get("/api/user", token=keyring.token)).status == 401
    assert (await keyring.sign_in(passkey, OWNER)).status == 401
    pressed = await people.client.post(
        "/auth/undo-email-change",
        data=urlencode({"token": undo_token}).encode(),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert pressed.status == 400
    assert not people.has(EMAIL)
    entered = await app.log_in(OWNERS_PASSWORD)
    assert (entered.status, "mfa_required" in entered.json) == (200, False)
    profile = (await people.client.get("/api/user", token=entered.json["access_token"])).json
    assert (profile["is_platform_owner"], profile["email_verified"]) == (True, True)


async def test_an_address_that_may_go_back_to_another_account_gets_no_new_one(people: People) -> None:
    await people.client.patch("/api/user", token=await people.arrive(), body={"email": "ada@new.example"})

    with pytest.raises(owners.OwnerAddressPromised):
        await people.installation.database.transact(owners.appoint, EMAIL, "hash")

    assert not people.has(EMAIL)
