"""The first proof of an address by another way than its verification link removes what was set up before it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.authenticators import Authenticator
from tests.world.builder import EMAIL, PASSWORD
from tests.world.passkeys import Keyring
from tests.world.second_factors import Person
from tests.world.world import World

VICTIM = "grace@example.com"
NEW_PASSWORD = "a quite different one"


@dataclass
class Trap:
    """An account that an attacker has prepared for the address of another person."""

    world: World
    keyring: Keyring
    app: Person
    passkey: Authenticator
    preauth_token: str
    device: dict[str, str]

    async def prove_by(self, way: str) -> str:
        """Prove the address as its owner does; return an access token of theirs."""
        if way == "magic link":
            await self.world.client.post("/api/auth/magic-link/request", body={"email": VICTIM})
            token = (await self.world.mail()).values["token"]
            answer = await self.world.client.post("/api/auth/magic-link/verify", body={"token": token})
        else:
            await self.world.client.post("/api/auth/forgot-password", body={"email": VICTIM})
            body = {"token": (await self.world.mail()).values["token"], "new_password": NEW_PASSWORD}
            assert (await self.world.client.post("/api/auth/reset-password", body=body)).status == 200
            answer = await self.world.log_in(VICTIM, NEW_PASSWORD)
        assert answer.status == 200, answer.text
        assert "mfa_required" not in answer.json
        return answer.json["access_token"]


@pytest.fixture
async def trap(world: World, keyring: Keyring) -> Trap:
    """Return an account with a password, a passkey, a second factor, a device and a half-finished sign-in."""
    await keyring.sign_up()
    passkey = await keyring.registered()
    await keyring.start_registration()
    app = Person(world, world.user_id(EMAIL), VICTIM, token=keyring.token)
    await app.set_up()
    app.backup_codes = (await app.mfa("POST", "/verify", {"code": app.code()})).json["backup_codes"]
    first, second = [(await world.log_in(EMAIL)).json["preauth_token"] for _ in range(2)]
    verified = await app.verify(first, app.code(), trust_device=True)
    world.set_unproved_address(EMAIL, VICTIM)
    await world.mails()
    return Trap(world, keyring, app, passkey, second, {"X-Device-Token": verified.json["device_token"]})


@pytest.mark.parametrize("way", ["magic link", "reset"])
async def test_the_owner_of_the_address_gets_in_and_the_attacker_does_not(trap: Trap, way: str) -> None:
    world, keyring = trap.world, trap.keyring
    trap.app.next_step()

    token = await trap.prove_by(way)

    status = await world.client.get("/api/user/mfa/status", token=token)
    assert status.json == {"enabled": False, "has_backup_codes": False}
    assert (await world.client.get("/api/user", token=keyring.token)).status == 401
    assert (await world.log_in(VICTIM, PASSWORD)).status == 401
    assert (await keyring.sign_in(trap.passkey, VICTIM)).status == 401
    assert (await trap.app.verify(trap.preauth_token, trap.app.code())).status == 401
    for table in ("totp_secrets", "backup_codes", "passkeys", "passkey_challenges WHERE purpose = 'register'"):
        assert world.value(f"SELECT count(*) FROM {table}") == 0, table
    devices = (await world.client.get("/api/user/devices", token=token)).json["devices"]
    assert len(devices) == 1


async def test_the_attackers_device_is_not_trusted_by_the_owners_own_second_factor(trap: Trap) -> None:
    token = await trap.prove_by("reset")
    trap.app.token = token
    await trap.app.set_up()
    await trap.app.mfa("POST", "/verify", {"code": trap.app.code()})

    answer = await trap.world.log_in(VICTIM, NEW_PASSWORD, headers=trap.device)

    assert answer.json["mfa_required"] is True
