"""What people do with second factors: a passkey after the password, and an organization that accepts nothing else.

Each step ends what it has begun, so that the other steps go on to sign in with a password alone.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from tests.application import Answer
from tests.authenticators import Authenticator
from tests.tenants.acting import sign_in
from tests.tenants.judging import judge
from tests.tenants.model import Held, Violation
from tests.tenants.neighbourhood import Neighbourhood
from tests.tenants.taking import Story, step

LEAVING, SUSPENDING, REGISTERING = Story.LEAVING, Story.SUSPENDING, Story.REGISTERING
PASSKEYS = "/api/auth/passkeys"


@step(REGISTERING, LEAVING)
async def proves_a_passkey_after_the_password(hood: Neighbourhood, address: str) -> None:
    """The owner of an address makes a passkey a second factor, signs in with it, and turns it off again."""
    held = await _signed_in(hood, address)
    passkey = Authenticator(is_user_verified=False)
    passkey_id = await _registered(hood, held, passkey) if held is not None else None
    if held is None or passkey_id is None:
        return
    made = await _ask(hood, held, "PATCH", f"{PASSKEYS}/{passkey_id}", {"second_factor": True})
    if made.status == 200:
        held = await _both_factors(hood, held, passkey) or held
        await _ask(hood, held, "DELETE", "/api/user/mfa")
    await _ask(hood, held, "DELETE", f"{PASSKEYS}/{passkey_id}")


async def _both_factors(hood: Neighbourhood, held: Held, passkey: Authenticator) -> Held | None:
    """Sign in with the password and the passkey, and judge what that opened."""
    body = {"email": held.address, "password": held.person.password}
    begun = await hood.send("POST", "/api/auth/login", body, by=held.person)
    if begun.status == 200 and begun.json["refresh_token"]:
        raise Violation("second factor", f"{held}, whose second factor was not asked for")
    if begun.status != 200:
        return None
    token = {"preauth_token": begun.json["preauth_token"]}
    asked = await hood.send("POST", "/api/auth/mfa/passkey", token, by=held.person)
    if asked.status != 200:
        raise Violation("second factor", f"{held}, whose passkey was not asked for: {asked.text}")
    options = asked.json["options"]
    for strange in (Authenticator().get(options), passkey.get(options, challenge="AAAA")):
        wrong = await hood.send("POST", "/api/auth/mfa/verify", {**token, "credential": strange}, by=held.person)
        if wrong.status == 200:
            raise Violation("second factor", f"{held}, by a passkey that signed something else")
    options = (await hood.send("POST", "/api/auth/mfa/passkey", token, by=held.person)).json["options"]
    signed = {**token, "credential": passkey.get(options)}
    finished = hood.hold(held.person, await hood.send("POST", "/api/auth/mfa/verify", signed, by=held.person))
    await judge(hood, finished)
    return finished


@step(SUSPENDING, LEAVING)
async def works_with_passkeys_alone(hood: Neighbourhood, address: str, of: str) -> None:
    """An organization accepts passkeys alone for a while, and the owner of an address works in it without one."""
    held = await _signed_in(hood, address)
    if held is None:
        return
    organization = hood.organizations[of]
    async with _accepting_passkeys_alone(hood, organization.party.organization_id):
        answer = await _ask(hood, held, "POST", f"{organization.path}/select", {})
        if answer.status == 200:
            raise Violation("second factor", f"{held}, which opened an organization without a passkey")
        # Members of it add none with a password alone; for others nothing has changed.
        is_member = hood.world.rows(
            "SELECT FROM memberships WHERE organization_id = %s AND user_id = %s",
            organization.party.organization_id,
            held.user_id,
        )
        if is_member and (await _ask(hood, held, "POST", f"{PASSKEYS}/register/start")).status == 200:
            raise Violation("second factor", f"{held}, which may add a passkey by a password alone")


@asynccontextmanager
async def _accepting_passkeys_alone(hood: Neighbourhood, organization_id: Any) -> AsyncGenerator[None]:
    change = "UPDATE organizations SET mfa_required = %s, mfa_methods = %s WHERE id = %s"
    hood.world.connection.execute(change, (True, "phishing_resistant", organization_id))
    try:
        yield
    finally:
        hood.world.connection.execute(change, (False, "any", organization_id))


async def _signed_in(hood: Neighbourhood, address: str) -> Held | None:
    person = hood.model.owner_of(address)
    return await sign_in(hood, person, address) if person is not None else None


async def _registered(hood: Neighbourhood, held: Held, passkey: Authenticator) -> str | None:
    """Add a passkey; None where the session may not."""
    started = await _ask(hood, held, "POST", f"{PASSKEYS}/register/start")
    if started.status != 200:
        return None
    credential = passkey.create(started.json["options"])
    body = {"challenge_id": started.json["challenge_id"], "credential": credential}
    finished = await _ask(hood, held, "POST", f"{PASSKEYS}/register/finish", body)
    return finished.json["id"] if finished.status == 200 else None


async def _ask(hood: Neighbourhood, held: Held, method: str, path: str, body: Any = None) -> Answer:
    return await hood.send(method, path, body, token=held.access_token, by=held.person)
